// SPDX-License-Identifier: Apache-2.0
#include "sim/lidar.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/check.hpp"
#include "core/math.hpp"

namespace pitwall::sim {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr float kTooNear = std::numeric_limits<float>::quiet_NaN();
// A hair of a beam spacing: which beams are tried is no part of the answer, only its cost.
constexpr double kSpanSlack_rad = 1e-6;
// The same of a step: a beam on its very end belongs to it, however its time rounds.
constexpr double kStepSlack = 1e-9;
// The mount turns about base_link within a step, which bends the sensor's way by less than this.
constexpr double kBend_m = 1e-3;
// Neighbours whose ranges part by more, and by more than the ranges beside them do, see an edge.
constexpr double kEdge_m = 0.2;
constexpr double kEdgeOverSlope = 3.0;
// The slope of a wall is taken over this many beams to either side, which cells of 5 cm do not hide.
constexpr std::size_t kSlopeBeams = 8;
constexpr double kLeastShare = 0.05;
constexpr double kFlat_m = 0.1;

std::string stream(std::string_view car_name, std::string_view sensor) { return std::string(car_name) + "/" + std::string(sensor); }

Pose2 true_mount(const Pose2& nominal, const LidarSettings& settings, std::uint64_t seed, std::string_view car_name) {
  const Rng draw(seed, stream(car_name, "lidar_mount"));
  const auto xy = draw.normal_pair(0, 0);
  return {nominal.x + settings.mount_error_m * xy[0], nominal.y + settings.mount_error_m * xy[1],
          nominal.yaw + settings.mount_error_rad * draw.normal(0, 1)};
}

}  // namespace

void BlindSector::fields(FieldVisitor& f) {
  f.number("centre_rad", centre_rad, {"rad", -math::kPi, math::kPi, "middle, to the left of ahead"});
  f.number("width_rad", width_rad, {"rad", 0.0, 2.0 * math::kPi, "full width; 0: none"});
}

void LidarSettings::fields(FieldVisitor& f) {
  f.flag("enabled", enabled, "whether there are scans");
  f.number("period_s", period_s, {"s", 1e-4, 10.0, "first beam to first beam of the next scan"});
  f.number("latency_s", latency_s, {"s", 0.0, 10.0, "first beam to arrival, never before the last beam"});
  f.integer("beams", beams, {"", 2, 100000, "beams of one scan"});
  f.number("fov_rad", fov_rad, {"rad", 0.01, 2.0 * math::kPi, "first to last beam"});
  f.number("range_min_m", range_min_m, {"m", 0.0, 10.0, "shortest range that can be measured"});
  f.number("range_max_m", range_max_m, {"m", 0.1, 1000.0, "longest range that can be measured"});
  f.flag("sweep", sweep, "beams leave one after the other; else all at the stamp");
  f.number("resolution_m", resolution_m, {"m", 0.0, 0.1, "step of a range; 0: none"});
  f.number("noise_std_m", noise_std_m, {"m", 0.0, 1.0, "range noise; 0: none"});
  f.number("dropout_rate", dropout_rate, {"", 0.0, 1.0, "beams that return nothing, at random; 0: none"});
  f.number("grazing_dropout", grazing_dropout, {"", 0.0, 1.0, "beams that return nothing at 90 degrees of incidence; 0: none"});
  f.number("grazing_from_rad", grazing_from_rad, {"rad", 0.1, 1.55, "incidence from which beams are lost"});
  f.number("mixed_pixel_rate", mixed_pixel_rate, {"", 0.0, 1.0, "edges at which a beam reads a range between the two; 0: none"});
  f.number("mount_error_m", mount_error_m, {"m", 0.0, 0.1, "of x and y of the mount, drawn once a run; 0: none"});
  f.number("mount_error_rad", mount_error_rad, {"rad", 0.0, 0.2, "of its yaw; 0: none"});
  f.nested("blind_1", blind[0]);
  f.nested("blind_2", blind[1]);
}

double LidarSettings::time_increment_s() const {
  return sweep ? period_s * fov_rad / (2.0 * math::kPi) / static_cast<double>(beams - 1) : 0.0;
}

Duration LidarSettings::sweep_time() const { return from_seconds(time_increment_s() * static_cast<double>(beams - 1)); }

double ray_to_rectangle(Vec2 origin_map, Vec2 direction_map, const SeenCar& car) {
  const Vec2 ahead = unit_vector(car.T_map_base.yaw);
  const Vec2 from = origin_map - car.T_map_base.position();
  // Slabs of the rectangle in its own frame.
  const std::array<double, 2> p{dot(from, ahead), cross(ahead, from)};
  const std::array<double, 2> d{dot(direction_map, ahead), cross(ahead, direction_map)};
  const std::array<double, 2> low{car.chassis.rear_m, -car.chassis.half_width_m};
  const std::array<double, 2> high{car.chassis.front_m, car.chassis.half_width_m};
  double enter = 0.0;
  double leave = kInfinity;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    if (d[axis] == 0.0) {
      if (p[axis] < low[axis] || p[axis] > high[axis]) return kInfinity;
      continue;
    }
    const double a = (low[axis] - p[axis]) / d[axis];
    const double b = (high[axis] - p[axis]) / d[axis];
    enter = std::max(enter, std::min(a, b));
    leave = std::min(leave, std::max(a, b));
  }
  return enter <= leave ? enter : kInfinity;
}

Lidar::Lidar(std::shared_ptr<const tracks::RayCaster> rays, const LidarSettings& settings, const Pose2& T_base_lidar, std::uint64_t seed,
             std::string_view car_name)
    : rays_(std::move(rays)),
      settings_(settings),
      T_base_lidar_(true_mount(T_base_lidar, settings, seed, car_name)),
      fan_(-0.5 * settings.fov_rad, 0.5 * settings.fov_rad, static_cast<int>(settings.beams)),
      noise_(seed, stream(car_name, "lidar")),
      dropout_(seed, stream(car_name, "lidar_dropout")),
      grazing_(seed, stream(car_name, "lidar_grazing")),
      mixed_(seed, stream(car_name, "lidar_mixed")),
      true_ranges_(static_cast<std::size_t>(settings.beams), kInfinity),
      ranges_(true_ranges_),
      read_(true_ranges_),
      fractions_(true_ranges_.size(), 0.0) {}

LaserScan Lidar::blank() const {
  LaserScan scan;
  const double half = 0.5 * settings_.fov_rad;
  scan.angle_min = static_cast<float>(-half);
  scan.angle_max = static_cast<float>(half);
  scan.angle_increment = static_cast<float>(settings_.fov_rad / static_cast<double>(settings_.beams - 1));
  scan.time_increment = static_cast<float>(settings_.time_increment_s());
  scan.scan_time = static_cast<float>(settings_.period_s);
  scan.range_min = static_cast<float>(settings_.range_min_m);
  scan.range_max = static_cast<float>(settings_.range_max_m);
  scan.ranges.assign(true_ranges_.size(), std::numeric_limits<float>::infinity());
  return scan;
}

void Lidar::reset() {
  std::fill(true_ranges_.begin(), true_ranges_.end(), kInfinity);
  dropped_beams_ = 0;
  scan_ = nullptr;
  cover_ = {};
}

void Lidar::measure(std::uint64_t sample, const Pose2& T_map_base, std::span<const SeenCar> others, LaserScan& scan) {
  const Pose2 T_map_sensor = T_map_base * T_base_lidar_;
  rays_->cast_fan(T_map_sensor, fan_, settings_.range_max_m, ranges_);
  for (const SeenCar& car : others) see(car, T_map_sensor);
  finish(sample, scan);
}

void Lidar::begin_sweep(std::uint64_t sample, LaserScan& scan) {
  PITWALL_CHECK(scan_ == nullptr);
  scan_ = &scan;
  began_ = scan.stamp;
  sample_ = sample;
  next_beam_ = 0;
}

void Lidar::sweep(Time from, Duration step, const Motion& base, std::span<const SeenMotion> others) {
  if (scan_ == nullptr) return;
  const std::size_t first = next_beam_;
  const double increment = settings_.time_increment_s();
  const double start = (from - began_).seconds();
  const double length = step.seconds();
  std::size_t end = first;
  for (; end < ranges_.size(); ++end) {
    const double u = (static_cast<double>(end) * increment - start) / length;
    if (u > 1.0 + kStepSlack) break;
    fractions_[end] = std::clamp(u, 0.0, 1.0);
    const Pose2 T_map_sensor = pose_at(base, fractions_[end]) * T_base_lidar_;
    const Vec2 direction = rotate(T_map_sensor.yaw, fan_.directions[end]);
    ranges_[end] = rays_->cast(T_map_sensor.position(), direction, settings_.range_max_m);
  }
  next_beam_ = end;
  for (const SeenMotion& other : others) see_moving(other, base, first, end);
  if (next_beam_ < ranges_.size()) return;
  finish(sample_, *scan_);
  scan_ = nullptr;
}

// The beams of [first, end) that may meet the other one, wherever both are within the step.
void Lidar::see_moving(const SeenMotion& other, const Motion& base, std::size_t first, std::size_t end) {
  if (first == end) return;
  const BodyRectangle& body = other.chassis;
  const Vec2 middle{0.5 * (body.rear_m + body.front_m), 0.0};
  const Vec2 at_start = inverse(base.from * T_base_lidar_) * (other.motion.from * middle);
  const Vec2 at_end = inverse(base.to * T_base_lidar_) * (other.motion.to * middle);
  const double turn = std::abs(wrap_angle(base.to.yaw - base.from.yaw)) + std::abs(wrap_angle(other.motion.to.yaw - other.motion.from.yaw));
  const double way =
      distance(base.from.position(), base.to.position()) + distance(other.motion.from.position(), other.motion.to.position());
  const double radius = norm({0.5 * (body.front_m - body.rear_m), body.half_width_m}) + kBend_m + 0.5 * turn * norm(middle);
  const double away = std::min(norm(at_start), norm(at_end)) - 0.5 * way - turn * norm(T_base_lidar_.position());
  if (away - radius > settings_.range_max_m) return;
  std::size_t from = first;
  std::size_t to = end;
  if (away > radius) {
    const double half = math::atan2(radius, std::sqrt(away * away - radius * radius));
    const double bearing = math::atan2(at_start.y, at_start.x);
    const double change = wrap_angle(math::atan2(at_end.y, at_end.x) - bearing);
    const double low = bearing + std::min(0.0, change) - half - turn;
    const double high = bearing + std::max(0.0, change) + half + turn;
    // The span may lie across the cut behind the sensor; then all beams of the piece are tried.
    if (low >= -math::kPi && high <= math::kPi) {
      const double first_beam = std::floor((low - fan_.angle_min_rad) / fan_.angle_increment_rad);
      const double end_beam = std::ceil((high - fan_.angle_min_rad) / fan_.angle_increment_rad) + 1.0;
      from = static_cast<std::size_t>(std::clamp(first_beam, static_cast<double>(first), static_cast<double>(end)));
      to = static_cast<std::size_t>(std::clamp(end_beam, static_cast<double>(first), static_cast<double>(end)));
    }
  }
  for (std::size_t i = from; i < to; ++i) {
    const Pose2 T_map_sensor = pose_at(base, fraction(i)) * T_base_lidar_;
    const SeenCar seen{body, pose_at(other.motion, fraction(i))};
    ranges_[i] = std::min(ranges_[i], ray_to_rectangle(T_map_sensor.position(), rotate(T_map_sensor.yaw, fan_.directions[i]), seen));
  }
}

void Lidar::see(const SeenCar& car, const Pose2& T_map_sensor) {
  const Pose2 T_sensor_car = inverse(T_map_sensor) * car.T_map_base;
  const BodyRectangle& body = car.chassis;
  const Vec2 centre = T_sensor_car * Vec2{0.5 * (body.rear_m + body.front_m), 0.0};
  const double radius = norm({0.5 * (body.front_m - body.rear_m), body.half_width_m});
  const double away = norm(centre);
  if (away - radius > settings_.range_max_m) return;
  if (away <= radius) return see_between(car, T_map_sensor, -2.0 * math::kPi, 2.0 * math::kPi);
  const double bearing = math::atan2(centre.y, centre.x);
  double low = 0.0;
  double high = 0.0;
  for (const Vec2 corner : {Vec2{body.rear_m, -body.half_width_m}, Vec2{body.rear_m, body.half_width_m},
                            Vec2{body.front_m, -body.half_width_m}, Vec2{body.front_m, body.half_width_m}}) {
    const Vec2 p = T_sensor_car * corner;
    const double off = math::atan2(cross(centre, p), dot(centre, p));
    low = std::min(low, off);
    high = std::max(high, off);
  }
  // The span may lie across the cut behind the sensor.
  for (const double turn : {-2.0 * math::kPi, 0.0, 2.0 * math::kPi}) {
    see_between(car, T_map_sensor, bearing + low + turn - kSpanSlack_rad, bearing + high + turn + kSpanSlack_rad);
  }
}

void Lidar::see_between(const SeenCar& car, const Pose2& T_map_sensor, double from_rad, double to_rad) {
  const double last = static_cast<double>(ranges_.size()) - 1.0;
  const double first_beam = std::max(0.0, std::ceil((from_rad - fan_.angle_min_rad) / fan_.angle_increment_rad));
  const double last_beam = std::min(last, std::floor((to_rad - fan_.angle_min_rad) / fan_.angle_increment_rad));
  if (first_beam > last_beam) return;
  const auto [s, c] = math::sincos(T_map_sensor.yaw);
  for (auto i = static_cast<std::size_t>(first_beam); i <= static_cast<std::size_t>(last_beam); ++i) {
    const Vec2 d = fan_.directions[i];
    const double range = ray_to_rectangle(T_map_sensor.position(), {c * d.x - s * d.y, s * d.x + c * d.y}, car);
    ranges_[i] = std::min(ranges_[i], range);
  }
}

void Lidar::finish(std::uint64_t sample, LaserScan& scan) {
  PITWALL_CHECK(scan.ranges.size() == ranges_.size(), scan.ranges.size());
  std::swap(true_ranges_, ranges_);
  std::copy(true_ranges_.begin(), true_ranges_.end(), read_.begin());
  if (settings_.mixed_pixel_rate > 0.0) mix_pixels(sample);
  write_ranges(sample, scan);
  if (settings_.dropout_rate > 0.0) drop_at_random(sample, scan);
  if (settings_.grazing_dropout > 0.0) drop_grazing(sample, scan);
  for (const BlindSector& sector : settings_.blind) blind(sector, scan);
  blind(cover_, scan);
}

// The spot of a beam has a size: at an edge it may fall on both sides, and the echoes blend.
void Lidar::mix_pixels(std::uint64_t sample) {
  const std::vector<double>& r = true_ranges_;
  for (std::size_t i = 1; i + 2 < r.size(); ++i) {
    const double step = std::abs(r[i + 1] - r[i]);
    if (!(step > kEdge_m) || !(std::max(r[i], r[i + 1]) <= settings_.range_max_m)) continue;
    const double beside = std::max(std::abs(r[i] - r[i - 1]), std::abs(r[i + 2] - r[i + 1]));
    if (!(step > kEdgeOverSlope * beside)) continue;
    const double u = mixed_.uniform(sample, static_cast<std::uint32_t>(i));
    if (u >= settings_.mixed_pixel_rate) continue;
    const std::size_t far = r[i + 1] > r[i] ? i + 1 : i;
    read_[far] = std::min(r[i], r[i + 1]) + step * (u / settings_.mixed_pixel_rate);
  }
}

void Lidar::write_ranges(std::uint64_t sample, LaserScan& scan) const {
  const double step = settings_.resolution_m;
  const auto reading = [&](double range, double noise) {
    if (!(range <= settings_.range_max_m)) return std::numeric_limits<float>::infinity();
    if (range < settings_.range_min_m) return kTooNear;
    double measured = range + noise;
    if (step > 0.0) measured = std::floor(measured / step + 0.5) * step;
    return std::clamp(static_cast<float>(measured), scan.range_min, scan.range_max);
  };
  const std::size_t n = read_.size();
  if (settings_.noise_std_m <= 0.0) {
    for (std::size_t i = 0; i < n; ++i) scan.ranges[i] = reading(read_[i], 0.0);
    return;
  }
  // Two beams share one block of the generator: half the cost.
  for (std::size_t i = 0; i < n; i += 2) {
    const auto normal = noise_.normal_pair(sample, static_cast<std::uint32_t>(i / 2));
    scan.ranges[i] = reading(read_[i], settings_.noise_std_m * normal[0]);
    if (i + 1 < n) scan.ranges[i + 1] = reading(read_[i + 1], settings_.noise_std_m * normal[1]);
  }
}

void Lidar::drop_at_random(std::uint64_t sample, LaserScan& scan) {
  // From one lost beam to the next the distance is geometric: as many draws as losses rather than one per beam.
  const double log_kept = math::log(1.0 - settings_.dropout_rate);
  double beam = -1.0;
  for (std::uint32_t draw = 0;; ++draw) {
    beam += 1.0 + std::floor(math::log(1.0 - dropout_.uniform(sample, draw)) / log_kept);
    if (!(beam < static_cast<double>(scan.ranges.size()))) break;
    scan.ranges[static_cast<std::size_t>(beam)] = std::numeric_limits<float>::infinity();
    ++dropped_beams_;
  }
}

// The wall at a beam is the chord between what beams to both sides see, where the beam's own point lies on it.
void Lidar::drop_grazing(std::uint64_t sample, LaserScan& scan) {
  const std::vector<double>& r = true_ranges_;
  const auto [s, c] = math::sincos(static_cast<double>(kSlopeBeams) * fan_.angle_increment_rad);
  const double tan_from = math::tan(settings_.grazing_from_rad);
  const double span = 0.5 * math::kPi - settings_.grazing_from_rad;
  for (std::size_t i = kSlopeBeams; i + kSlopeBeams < r.size(); ++i) {
    const double near = r[i - kSlopeBeams];
    const double far = r[i + kSlopeBeams];
    const double along = std::abs(c * (far - near));
    const double across = s * (far + near);
    if (!(along > tan_from * across) || !(along < kInfinity)) continue;
    // Not the edge of something: the point lies between both, away from either, and near the chord.
    const double share = (r[i] - near) / (far - near);
    if (!(share > kLeastShare && share < 1.0 - kLeastShare)) continue;
    const double off = (c * (far - near)) * (s * near) - across * (r[i] - c * near);
    if (!(std::abs(off) < kFlat_m * std::sqrt(along * along + across * across))) continue;
    const double incidence = math::atan2(along, across);
    const double lost = settings_.grazing_dropout * (incidence - settings_.grazing_from_rad) / span;
    if (grazing_.uniform(sample, static_cast<std::uint32_t>(i)) >= lost) continue;
    scan.ranges[i] = std::numeric_limits<float>::infinity();
    ++dropped_beams_;
  }
}

void Lidar::blind(const BlindSector& sector, LaserScan& scan) const {
  if (sector.width_rad <= 0.0) return;
  for (std::size_t i = 0; i < scan.ranges.size(); ++i) {
    const double angle = fan_.angle_min_rad + static_cast<double>(i) * fan_.angle_increment_rad;
    if (std::abs(wrap_angle(angle - sector.centre_rad)) <= 0.5 * sector.width_rad) scan.ranges[i] = kTooNear;
  }
}

}  // namespace pitwall::sim

// SPDX-License-Identifier: Apache-2.0
#include "sim/lidar.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/check.hpp"
#include "core/math.hpp"
#include "core/rng.hpp"

namespace pitwall::sim {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// A hair of a beam spacing: which beams are tried is no part of the answer, only its cost.
constexpr double kSpanSlack_rad = 1e-6;
// The same of a step: a beam on its very end belongs to it, however its time rounds.
constexpr double kStepSlack = 1e-9;
// The mount turns about base_link within a step, which bends the sensor's way by less than this.
constexpr double kBend_m = 1e-3;

Pose2 true_mount(const Pose2& nominal, const LidarSettings& settings, std::uint64_t seed, std::string_view car_name) {
  const Rng draw(seed, std::string(car_name) + "/lidar_mount");
  const auto xy = draw.normal_pair(0, 0);
  return {nominal.x + settings.mount_error_m * xy[0], nominal.y + settings.mount_error_m * xy[1],
          nominal.yaw + settings.mount_error_rad * draw.normal(0, 1)};
}

}  // namespace

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
      errors_(settings, seed, car_name),
      true_ranges_(static_cast<std::size_t>(settings.beams), kInfinity),
      ranges_(true_ranges_),
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
  errors_.reset();
  scan_ = nullptr;
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
  std::swap(true_ranges_, ranges_);
  errors_.spoil(sample, true_ranges_, scan.ranges);
}

}  // namespace pitwall::sim

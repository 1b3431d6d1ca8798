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

// A hair of a beam spacing: which beams are tried is no part of the answer, only its cost.
constexpr double kSpanSlack_rad = 1e-6;
// The middle of a chassis turns about its base_link within a step, which bends its way by less than this.
constexpr double kBend_m = 1e-3;
// An angle below 30 degrees is at most this times its sine: a few beams more than need be are looked at, for want of an arcsine.
constexpr double kAsinBound = 1.0472;
// Of a turn, with room for one more knot than the caster's limit asks for.
constexpr double kMostPieces = tracks::Sweep::kMaxKnots - 2;

struct Circle {
  Vec2 middle;  // in the frame of the body
  double radius_m;
};

Circle circle_about(const BodyRectangle& body) {
  return {{0.5 * (body.rear_m + body.front_m), 0.0}, norm({0.5 * (body.front_m - body.rear_m), body.half_width_m})};
}

Pose2 true_mount(const Pose2& nominal, const LidarSettings& settings, std::uint64_t seed, std::string_view car_name) {
  const Rng draw(seed, std::string(car_name) + "/lidar_mount");
  const auto xy = draw.normal_pair(0, 0);
  return {nominal.x + settings.mount_error_m * xy[0], nominal.y + settings.mount_error_m * xy[1],
          nominal.yaw + settings.mount_error_rad * draw.normal(0, 1)};
}

// `v` turned by the angle of the unit vector `axis`.
Vec2 turned(Vec2 axis, Vec2 v) { return {axis.x * v.x - axis.y * v.y, axis.y * v.x + axis.x * v.y}; }

// Of the farthest corner from base_link.
double reach_of(const BodyRectangle& body) { return norm({std::max(-body.rear_m, body.front_m), body.half_width_m}); }

}  // namespace

double ray_to_rectangle(Vec2 origin_map, Vec2 direction_map, const SeenCar& car) {
  return ray_to_rectangle(origin_map - car.T_map_base.position(), direction_map, unit_vector(car.T_map_base.yaw), car.chassis);
}

double ray_to_rectangle(Vec2 from, Vec2 direction, Vec2 ahead, const BodyRectangle& chassis) {
  // Slabs of the rectangle in its own frame.
  const std::array<double, 2> p{dot(from, ahead), cross(ahead, from)};
  const std::array<double, 2> d{dot(direction, ahead), cross(ahead, direction)};
  const std::array<double, 2> low{chassis.rear_m, -chassis.half_width_m};
  const std::array<double, 2> high{chassis.front_m, chassis.half_width_m};
  double enter = 0.0;
  double leave = math::kInfinity;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    if (d[axis] == 0.0) {
      if (p[axis] < low[axis] || p[axis] > high[axis]) return math::kInfinity;
      continue;
    }
    const double a = (low[axis] - p[axis]) / d[axis];
    const double b = (high[axis] - p[axis]) / d[axis];
    enter = std::max(enter, std::min(a, b));
    leave = std::min(leave, std::max(a, b));
  }
  return enter <= leave ? enter : math::kInfinity;
}

Lidar::Lidar(std::shared_ptr<const tracks::RayCaster> rays, const LidarSettings& settings, const Pose2& T_base_lidar, std::uint64_t seed,
             std::string_view car_name)
    : rays_(std::move(rays)),
      settings_(settings),
      T_base_lidar_(true_mount(T_base_lidar, settings, seed, car_name)),
      fan_(std::make_shared<const tracks::BeamFan>(-0.5 * settings.fov_rad, 0.5 * settings.fov_rad, static_cast<int>(settings.beams))),
      errors_(settings, seed, car_name),
      true_ranges_(static_cast<std::size_t>(settings.beams), math::kInfinity),
      things_(settings.sweep ? true_ranges_ : std::vector<double>{}) {
  knots_.reserve(tracks::Sweep::kMaxKnots);
}

bool Lidar::share_fan(const Lidar& other) {
  if (fan_->directions != other.fan_->directions) return false;
  fan_ = other.fan_;
  return true;
}

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
  std::fill(true_ranges_.begin(), true_ranges_.end(), math::kInfinity);
  errors_.reset();
  scan_ = nullptr;
}

void Lidar::measure(std::uint64_t sample, const Pose2& T_map_base, std::span<const SeenCar> others, LaserScan& scan, std::size_t self) {
  const Pose2 T_map_sensor = T_map_base * T_base_lidar_;
  rays_->cast_fan(T_map_sensor, *fan_, settings_.range_max_m, true_ranges_);
  const Vec2 axis = unit_vector(T_map_sensor.yaw);
  for (std::size_t k = 0; k < others.size(); ++k) {
    if (k != self) see(others[k], T_map_sensor, axis);
  }
  errors_.spoil(sample, true_ranges_, scan.ranges);
}

void Lidar::begin_sweep(std::uint64_t sample, LaserScan& scan) {
  PITWALL_CHECK(scan_ == nullptr);
  scan_ = &scan;
  began_ = scan.stamp;
  sample_ = sample;
  knots_.clear();
  std::fill(things_.begin(), things_.end(), math::kInfinity);
}

void Lidar::sweep(Time from, Duration step, const Motion& base, std::span<const SeenMotion> others, std::size_t self) {
  if (scan_ == nullptr) return;
  const double increment_s = settings_.time_increment_s();
  Piece piece;
  piece.first_beam = (from - began_).seconds() / increment_s;
  piece.last_beam = (from + step - began_).seconds() / increment_s;
  piece.sensor = {base.from * T_base_lidar_, base.to * T_base_lidar_};
  piece.way_m = distance(piece.sensor.from.position(), piece.sensor.to.position());
  const double turn = std::abs(wrap_angle(piece.sensor.to.yaw - piece.sensor.from.yaw));
  const double from_rad = fan_->angle_min_rad + fan_->angle_increment_rad * piece.first_beam - turn;
  const double to_rad = std::min(-fan_->angle_min_rad, fan_->angle_min_rad + fan_->angle_increment_rad * piece.last_beam) + turn;
  piece.right = unit_vector(piece.sensor.from.yaw + from_rad);
  piece.left = unit_vector(piece.sensor.from.yaw + to_rad);
  piece.narrow = to_rad - from_rad < 3.0;
  // Steps much shorter than a turn are taken together: the way between is straight to within micrometres.
  const double last = static_cast<double>(things_.size() - 1);
  if (knots_.empty() || piece.first_beam >= knots_.back().beam + last / kMostPieces)
    knots_.push_back({piece.first_beam, piece.sensor.from});
  for (std::size_t k = 0; k < others.size(); ++k) {
    if (k != self) see_moving(others[k], piece);
  }
  if (piece.last_beam < last) return;
  knots_.push_back({piece.last_beam, piece.sensor.to});
  rays_->cast_sweep(knots_, *fan_, settings_.range_max_m, true_ranges_);
  for (std::size_t i = 0; i < true_ranges_.size(); ++i) true_ranges_[i] = std::min(true_ranges_[i], things_[i]);
  errors_.spoil(sample_, true_ranges_, scan_->ranges);
  scan_ = nullptr;
}

// The beams from low_rad to high_rad, in the sensor's frame and up to a turn away, as far as they are among first ... last.
template <class Range>
void Lidar::see_between(double low_rad, double high_rad, double first, double last, std::span<double> ranges, const Range& range) {
  for (const double turn : {-2.0 * math::kPi, 0.0, 2.0 * math::kPi}) {
    const double from = std::max(first, std::ceil((low_rad + turn - fan_->angle_min_rad) / fan_->angle_increment_rad));
    const double to = std::min(last, std::floor((high_rad + turn - fan_->angle_min_rad) / fan_->angle_increment_rad));
    if (from > to) continue;
    const auto end = static_cast<std::size_t>(to) + 1;
    for (auto i = static_cast<std::size_t>(from); i < end; ++i) ranges[i] = std::min(ranges[i], range(i));
  }
}

// The other one wherever both are within the step.
void Lidar::see_moving(const SeenMotion& other, const Piece& piece) {
  // Most are too far away or to the side of these beams, which needs no trigonometry.
  const Vec2 start = other.motion.from.position() - piece.sensor.from.position();
  const double reach = reach_of(other.chassis) + piece.way_m + distance(other.motion.from.position(), other.motion.to.position());
  const double farthest = settings_.range_max_m + reach;
  if (dot(start, start) > farthest * farthest) return;
  if (piece.narrow && (cross(piece.right, start) < -reach || cross(start, piece.left) < -reach)) return;
  const Circle body = circle_about(other.chassis);
  // From beam to beam both turn by as much: a rotation, which needs its sine and cosine only once.
  const double sensor_turn = wrap_angle(piece.sensor.to.yaw - piece.sensor.from.yaw);
  const double other_turn = wrap_angle(other.motion.to.yaw - other.motion.from.yaw);
  const Vec2 middle = turned(unit_vector(other.motion.from.yaw), body.middle);
  const Vec2 from = start + middle;
  const Vec2 to = other.motion.to.position() + middle - piece.sensor.to.position();
  const double turn = std::abs(sensor_turn) + std::abs(other_turn);
  const double way = norm(to - from);
  const double radius = body.radius_m + kBend_m + turn * norm(body.middle);
  const double away = std::sqrt(std::min(dot(from, from), dot(to, to))) - 0.5 * way;
  if (away - radius > settings_.range_max_m) return;
  double low = -math::kPi;
  double high = math::kPi;
  if (const double sine = radius / away, change = cross(from, to) / (away * away); sine > 0.0 && sine < 0.5 && std::abs(change) < 0.5) {
    const double bearing = wrap_angle(math::atan2(from.y, from.x) - piece.sensor.from.yaw);
    low = bearing + kAsinBound * (std::min(0.0, change) - sine) - turn;
    high = bearing + kAsinBound * (std::max(0.0, change) + sine) + turn;
  }
  const double beams = piece.last_beam - piece.first_beam;
  const double last = std::min(piece.last_beam, static_cast<double>(things_.size() - 1));
  std::size_t next = things_.size();
  Vec2 sensor_axis;
  Vec2 other_axis;
  Vec2 sensor_step;
  Vec2 other_step;
  see_between(low, high, std::ceil(piece.first_beam), last, things_, [&](std::size_t i) {
    const double u = (static_cast<double>(i) - piece.first_beam) / beams;
    if (i == next) {
      sensor_axis = turned(sensor_step, sensor_axis);
      other_axis = turned(other_step, other_axis);
    } else {
      sensor_axis = unit_vector(piece.sensor.from.yaw + u * sensor_turn);
      other_axis = unit_vector(other.motion.from.yaw + u * other_turn);
      sensor_step = unit_vector(sensor_turn / beams);
      other_step = unit_vector(other_turn / beams);
    }
    next = i + 1;
    const Vec2 sensor = piece.sensor.from.position() + u * (piece.sensor.to.position() - piece.sensor.from.position());
    const Vec2 base = other.motion.from.position() + u * (other.motion.to.position() - other.motion.from.position());
    return ray_to_rectangle(sensor - base, turned(sensor_axis, fan_->directions[i]), other_axis, other.chassis);
  });
}

void Lidar::see(const SeenCar& car, const Pose2& T_map_sensor, Vec2 axis) {
  const Vec2 start = car.T_map_base.position() - T_map_sensor.position();
  const double farthest = settings_.range_max_m + reach_of(car.chassis);
  if (dot(start, start) > farthest * farthest) return;
  const Circle body = circle_about(car.chassis);
  const Vec2 ahead = unit_vector(car.T_map_base.yaw);
  const Vec2 to = start + turned(ahead, body.middle);
  const double away = norm(to);
  if (away - body.radius_m > settings_.range_max_m) return;
  double low = -math::kPi;
  double high = math::kPi;
  if (const double sine = body.radius_m / away; sine < 0.5) {
    const double bearing = wrap_angle(math::atan2(to.y, to.x) - T_map_sensor.yaw);
    const double half = kAsinBound * sine + kSpanSlack_rad;
    low = bearing - half;
    high = bearing + half;
  }
  const double nearest = away - body.radius_m;
  see_between(low, high, 0.0, static_cast<double>(true_ranges_.size() - 1), true_ranges_, [&](std::size_t i) {
    // Behind a wall.
    if (true_ranges_[i] <= nearest) return math::kInfinity;
    return ray_to_rectangle(-start, turned(axis, fan_->directions[i]), ahead, car.chassis);
  });
}

}  // namespace pitwall::sim

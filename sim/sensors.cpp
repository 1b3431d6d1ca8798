// SPDX-License-Identifier: Apache-2.0
#include "sim/sensors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "core/check.hpp"
#include "core/math.hpp"

namespace pitwall::sim {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLeastSpeedForNoise_mps = 0.1;
// A hair of a beam spacing: which beams are tried is no part of the answer, only its cost.
constexpr double kSpanSlack_rad = 1e-6;

FieldInfo period(std::string_view doc) { return {"s", 1e-4, 10.0, doc}; }
FieldInfo latency(std::string_view doc) { return {"s", 0.0, 10.0, doc}; }
FieldInfo instant(std::string_view doc) { return {"s", 0.0, 1e6, doc}; }

std::string stream(std::string_view car_name, std::string_view sensor) { return std::string(car_name) + "/" + std::string(sensor); }

}  // namespace

void LidarSettings::fields(FieldVisitor& f) {
  f.flag("enabled", enabled, "whether there are scans");
  f.number("period_s", period_s, period("first beam to first beam of the next scan"));
  f.number("latency_s", latency_s, latency("first beam to arrival"));
  f.integer("beams", beams, {"", 2, 100000, "beams of one scan"});
  f.number("fov_rad", fov_rad, {"rad", 0.01, 2.0 * math::kPi, "first to last beam"});
  f.number("range_min_m", range_min_m, {"m", 0.0, 10.0, "shortest range that can be measured"});
  f.number("range_max_m", range_max_m, {"m", 0.1, 1000.0, "longest range that can be measured"});
  f.number("noise_std_m", noise_std_m, {"m", 0.0, 1.0, "range noise; 0: none"});
  f.number("dropout_rate", dropout_rate, {"", 0.0, 1.0, "beams that return nothing, at random; 0: none"});
}

void OdometrySettings::fields(FieldVisitor& f) {
  f.flag("enabled", enabled, "whether there is odometry");
  f.number("period_s", period_s, period("between messages"));
  f.number("latency_s", latency_s, latency("measurement to arrival"));
  f.number("speed_scale", speed_scale, {"", 0.1, 10.0, "measured over the wheels' speed"});
  f.flag("wheel_slip", wheel_slip, "the wheels' own speed is measured, which slip makes higher than the car's");
  f.number("speed_noise", speed_noise, {"", 0.0, 1.0, "standard deviation relative to max(|v|, 0.1 m/s); 0: none"});
  f.number("deadband_mps", deadband_mps, {"m/s", 0.0, 1.0, "slower than this reads 0"});
}

void PoseSettings::fields(FieldVisitor& f) {
  f.flag("enabled", enabled, "whether there are pose estimates");
  f.number("period_s", period_s, period("between estimates"));
  f.number("latency_s", latency_s, latency("measurement to arrival"));
  f.number("noise_xy_m", noise_xy_m, {"m", 0.0, 10.0, "each of x and y; 0: none"});
  f.number("noise_yaw_rad", noise_yaw_rad, {"rad", 0.0, 1.0, "yaw; 0: none"});
  f.number("frozen_from_s", frozen_from_s, instant("from here on the last estimate is repeated"));
}

void JoySettings::fields(FieldVisitor& f) {
  f.flag("enabled", enabled, "whether there is a joystick");
  f.number("period_s", period_s, period("between messages"));
  f.number("latency_s", latency_s, latency("measurement to arrival"));
  f.integer("button", button, {"", 0, 31, "index of the deadman button"});
  f.number("released_from_s", released_from_s, instant("from here on the deadman button is released"));
  f.number("silent_from_s", silent_from_s, instant("from here on no message comes"));
}

void SensorSettings::fields(FieldVisitor& f) {
  f.nested("lidar", lidar);
  f.nested("odometry", odometry);
  f.nested("pose", pose);
  f.nested("joy", joy);
}

SensorSettings SensorSettings::of(const CarParameters& car, bool errors) {
  SensorSettings s;
  s.lidar.period_s = 1.0 / car.lidar_rate_hz;
  s.lidar.beams = car.lidar_beams;
  s.lidar.fov_rad = car.lidar_fov_rad;
  s.lidar.range_min_m = car.lidar_range_min_m;
  s.lidar.range_max_m = car.lidar_range_max_m;
  if (!errors) return s;
  s.lidar.latency_s = car.lidar_delay_s;
  s.lidar.noise_std_m = car.lidar_noise_std_m;
  s.lidar.dropout_rate = car.lidar_dropout_rate;
  s.odometry.speed_scale = 1.0 / car.odometry_scale;
  s.odometry.wheel_slip = true;
  s.odometry.speed_noise = car.odometry_speed_noise;
  s.pose.latency_s = car.pose_delay_s;
  s.pose.noise_xy_m = car.pose_noise_xy_m;
  s.pose.noise_yaw_rad = car.pose_noise_yaw_rad;
  return s;
}

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
      T_base_lidar_(T_base_lidar),
      fan_(-0.5 * settings.fov_rad, 0.5 * settings.fov_rad, static_cast<int>(settings.beams)),
      noise_(seed, stream(car_name, "lidar")),
      dropout_(seed, stream(car_name, "lidar_dropout")),
      true_ranges_(static_cast<std::size_t>(settings.beams), kInfinity) {}

LaserScan Lidar::blank() const {
  LaserScan scan;
  const double half = 0.5 * settings_.fov_rad;
  scan.angle_min = static_cast<float>(-half);
  scan.angle_max = static_cast<float>(half);
  scan.angle_increment = static_cast<float>(settings_.fov_rad / static_cast<double>(settings_.beams - 1));
  scan.time_increment = 0.0F;  // the simulated scan is of one instant
  scan.scan_time = static_cast<float>(settings_.period_s);
  scan.range_min = static_cast<float>(settings_.range_min_m);
  scan.range_max = static_cast<float>(settings_.range_max_m);
  scan.ranges.assign(true_ranges_.size(), std::numeric_limits<float>::infinity());
  return scan;
}

void Lidar::reset() {
  std::fill(true_ranges_.begin(), true_ranges_.end(), kInfinity);
  dropped_beams_ = 0;
}

void Lidar::measure(std::uint64_t sample, const Pose2& T_map_base, std::span<const SeenCar> others, LaserScan& scan) {
  PITWALL_CHECK(scan.ranges.size() == true_ranges_.size(), scan.ranges.size());
  const Pose2 T_map_sensor = T_map_base * T_base_lidar_;
  rays_->cast_fan(T_map_sensor, fan_, settings_.range_max_m, true_ranges_);
  for (const SeenCar& car : others) see(car, T_map_sensor);
  write_ranges(sample, scan);
  if (settings_.dropout_rate <= 0.0) return;
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
  const double last = static_cast<double>(true_ranges_.size()) - 1.0;
  const double first_beam = std::max(0.0, std::ceil((from_rad - fan_.angle_min_rad) / fan_.angle_increment_rad));
  const double last_beam = std::min(last, std::floor((to_rad - fan_.angle_min_rad) / fan_.angle_increment_rad));
  if (first_beam > last_beam) return;
  const auto [s, c] = math::sincos(T_map_sensor.yaw);
  for (auto i = static_cast<std::size_t>(first_beam); i <= static_cast<std::size_t>(last_beam); ++i) {
    const Vec2 d = fan_.directions[i];
    const double range = ray_to_rectangle(T_map_sensor.position(), {c * d.x - s * d.y, s * d.x + c * d.y}, car);
    true_ranges_[i] = std::min(true_ranges_[i], range);
  }
}

void Lidar::write_ranges(std::uint64_t sample, LaserScan& scan) const {
  const auto reading = [&](double range, double noise) {
    if (!(range <= settings_.range_max_m)) return std::numeric_limits<float>::infinity();
    if (range < settings_.range_min_m) return 0.0F;
    return std::clamp(static_cast<float>(range + noise), scan.range_min, scan.range_max);
  };
  const std::size_t n = true_ranges_.size();
  if (settings_.noise_std_m <= 0.0) {
    for (std::size_t i = 0; i < n; ++i) scan.ranges[i] = reading(true_ranges_[i], 0.0);
    return;
  }
  // Two beams share one block of the generator: half the cost.
  for (std::size_t i = 0; i < n; i += 2) {
    const auto normal = noise_.normal_pair(sample, static_cast<std::uint32_t>(i / 2));
    scan.ranges[i] = reading(true_ranges_[i], settings_.noise_std_m * normal[0]);
    if (i + 1 < n) scan.ranges[i + 1] = reading(true_ranges_[i + 1], settings_.noise_std_m * normal[1]);
  }
}

OdometrySensor::OdometrySensor(const OdometrySettings& settings, const CarParameters& car, std::uint64_t seed, std::string_view car_name)
    : settings_(settings),
      wheelbase_m_(car.wheelbase_m),
      left_rad_(car.steering_max_left_rad),
      right_rad_(car.steering_max_right_rad),
      noise_(seed, stream(car_name, "odometry")) {}

void OdometrySensor::reset() { T_odom_base_ = {}; }

void OdometrySensor::measure(std::uint64_t sample, double speed_mps, double commanded_steering_rad, Odometry& message) {
  double speed = settings_.speed_scale * speed_mps;
  if (settings_.speed_noise > 0.0) {
    speed += settings_.speed_noise * std::max(std::abs(speed_mps), kLeastSpeedForNoise_mps) * noise_.normal(sample);
  }
  if (std::abs(speed) < settings_.deadband_mps) speed = 0.0;
  const double steering = std::clamp(commanded_steering_rad, right_rad_, left_rad_);
  const double yaw_rate = speed * math::tan(steering) / wheelbase_m_;
  if (sample > 0) {
    const Vec2 way = (speed * settings_.period_s) * unit_vector(T_odom_base_.yaw);
    T_odom_base_ = {T_odom_base_.x + way.x, T_odom_base_.y + way.y, wrap_angle(T_odom_base_.yaw + yaw_rate * settings_.period_s)};
  }
  message.position = T_odom_base_.position();
  message.orientation = to_quaternion(T_odom_base_.yaw);
  message.speed_mps = speed;
  message.yaw_rate_radps = yaw_rate;
}

PoseSensor::PoseSensor(const PoseSettings& settings, std::uint64_t seed, std::string_view car_name)
    : settings_(settings), noise_(seed, stream(car_name, "pose")) {}

void PoseSensor::reset() {
  last_ = {};
  max_error_m_ = 0.0;
}

void PoseSensor::measure(std::uint64_t sample, const Pose2& T_map_base, PoseEstimate& message) {
  const bool frozen = sample > 0 && message.stamp >= Time{} + from_seconds(settings_.frozen_from_s);
  if (!frozen) {
    last_ = T_map_base;
    if (settings_.noise_xy_m > 0.0) {
      const auto normal = noise_.normal_pair(sample, 0);
      last_.x += settings_.noise_xy_m * normal[0];
      last_.y += settings_.noise_xy_m * normal[1];
    }
    if (settings_.noise_yaw_rad > 0.0) last_.yaw = wrap_angle(last_.yaw + settings_.noise_yaw_rad * noise_.normal(sample, 1));
  }
  max_error_m_ = std::max(max_error_m_, distance(last_.position(), T_map_base.position()));
  message.position = last_.position();
  message.orientation = to_quaternion(last_.yaw);
}

bool joy_speaks(const JoySettings& settings, Time now) { return now < Time{} + from_seconds(settings.silent_from_s); }

Joy blank_joy(const JoySettings& settings) {
  Joy joy;
  joy.buttons.assign(static_cast<std::size_t>(std::max<std::int64_t>(settings.button + 1, 8)), 0);
  return joy;
}

void measure_joy(const JoySettings& settings, Joy& message) {
  const bool pressed = message.stamp < Time{} + from_seconds(settings.released_from_s);
  message.buttons[static_cast<std::size_t>(settings.button)] = pressed ? 1 : 0;
}

}  // namespace pitwall::sim

// SPDX-License-Identifier: Apache-2.0
#include "sim/sensors.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/math.hpp"

namespace pitwall::sim {
namespace {

constexpr double kLeastSpeedForNoise_mps = 0.1;
constexpr double kMillimetre_m = 0.001;  // the unit of the device
// Worst against nominal.
constexpr double kWorse = 3.0;
constexpr double kLater = 2.0;

FieldInfo period(std::string_view doc) { return {"s", 1e-4, 10.0, doc}; }
FieldInfo latency(std::string_view doc) { return {"s", 0.0, 10.0, doc}; }

std::string sensor_stream(std::string_view car_name, std::string_view sensor) { return std::string(car_name) + "/" + std::string(sensor); }

}  // namespace

void OdometrySettings::fields(FieldVisitor& f) {
  f.flag("enabled", enabled, "whether there is odometry");
  f.number("period_s", period_s, period("between messages"));
  f.number("latency_s", latency_s, latency("measurement to arrival"));
  f.number("speed_scale", speed_scale, {"", 0.1, 10.0, "measured over the wheels' speed"});
  f.flag("wheel_slip", wheel_slip, "the wheels' own speed is measured, which slip makes higher than the car's");
  f.number("speed_noise", speed_noise, {"", 0.0, 1.0, "standard deviation relative to max(|v|, 0.1 m/s); 0: none"});
  f.number("quantum_mps", quantum_mps, {"m/s", 0.0, 1.0, "step of the measured speed; 0: none"});
  f.number("deadband_mps", deadband_mps, {"m/s", 0.0, 1.0, "slower than this reads 0"});
}

void PoseSettings::fields(FieldVisitor& f) {
  f.flag("enabled", enabled, "whether there are pose estimates");
  f.number("period_s", period_s, period("between estimates"));
  f.number("latency_s", latency_s, latency("measurement to arrival"));
  f.number("noise_xy_m", noise_xy_m, {"m", 0.0, 10.0, "each of x and y; 0: none"});
  f.number("noise_yaw_rad", noise_yaw_rad, {"rad", 0.0, 1.0, "yaw; 0: none"});
  f.number("drift_xy_m", drift_xy_m, {"m", 0.0, 10.0, "lasting error of each of x and y; 0: none"});
  f.number("drift_yaw_rad", drift_yaw_rad, {"rad", 0.0, 1.0, "lasting error of yaw; 0: none"});
  f.number("drift_time_s", drift_time_s, {"s", 0.001, 1000.0, "how long such an error lasts"});
  f.number("jump_rate_hz", jump_rate_hz, {"Hz", 0.0, 10.0, "corrections of the localiser; 0: none"});
  f.number("jump_m", jump_m, {"m", 0.0, 10.0, "offset after a correction"});
}

void JoySettings::fields(FieldVisitor& f) {
  f.flag("enabled", enabled, "whether there is a joystick");
  f.number("period_s", period_s, period("between messages"));
  f.number("latency_s", latency_s, latency("measurement to arrival"));
  f.integer("button", button, {"", 0, 31, "index of the deadman button"});
}

void ImuSettings::fields(FieldVisitor& f) {
  f.flag("enabled", enabled, "whether there is an IMU");
  f.number("period_s", period_s, period("between messages"));
  f.number("latency_s", latency_s, latency("measurement to arrival"));
  f.number("gyro_noise", gyro_noise, {"rad/s/sqrt(Hz)", 0.0, 1.0, "noise density of the angular velocity; 0: none"});
  f.number("gyro_bias_radps", gyro_bias_radps, {"rad/s", 0.0, 1.0, "of its bias when switched on; 0: none"});
  f.number("gyro_bias_walk", gyro_bias_walk, {"rad/s/sqrt(s)", 0.0, 1.0, "random walk of its bias; 0: none"});
  f.number("gyro_scale_error", gyro_scale_error, {"", 0.0, 0.5, "relative, drawn once a run; 0: none"});
  f.number("accelerometer_noise", accelerometer_noise, {"m/s^2/sqrt(Hz)", 0.0, 10.0, "noise density of the acceleration; 0: none"});
  f.number("accelerometer_bias_mps2", accelerometer_bias_mps2, {"m/s^2", 0.0, 10.0, "of its bias when switched on; 0: none"});
  f.number("accelerometer_bias_walk", accelerometer_bias_walk, {"m/s^2/sqrt(s)", 0.0, 10.0, "random walk of its bias; 0: none"});
  f.number("accelerometer_scale_error", accelerometer_scale_error, {"", 0.0, 0.5, "relative, drawn once a run; 0: none"});
}

void SensorChoice::fields(FieldVisitor& f) {
  f.enumeration("lidar", lidar, kSensorProfileNames, "errors and delay of the scans");
  f.enumeration("odometry", odometry, kSensorProfileNames, "of the odometry");
  f.enumeration("pose", pose, kSensorProfileNames, "of the pose estimates");
  f.enumeration("imu", imu, kSensorProfileNames, "of the IMU");
}

void SensorSettings::fields(FieldVisitor& f) {
  f.nested("lidar", lidar);
  f.nested("odometry", odometry);
  f.nested("pose", pose);
  f.nested("joy", joy);
  f.nested("imu", imu);
}

namespace {

double worse(SensorProfile profile) { return profile == SensorProfile::kWorst ? kWorse : 1.0; }
double later(SensorProfile profile) { return profile == SensorProfile::kWorst ? kLater : 1.0; }
double rate(double nominal, double factor) { return std::min(1.0, nominal * factor); }

void spoil(const CarParameters& car, SensorProfile profile, LidarSettings& s) {
  if (profile == SensorProfile::kOff) return;
  const double k = worse(profile);
  s.latency_s = later(profile) * car.lidar_delay_s;
  s.sweep = true;
  s.resolution_m = kMillimetre_m;
  s.noise_std_m = k * car.lidar_noise_std_m;
  s.dropout_rate = rate(car.lidar_dropout_rate, k);
  s.grazing_dropout = rate(car.lidar_grazing_dropout, k);
  s.mixed_pixel_rate = rate(car.lidar_mixed_pixel_rate, k);
  s.mount_error_m = k * car.lidar_mount_error_m;
  s.mount_error_rad = k * car.lidar_mount_error_rad;
  // Two posts of a roll bar or an antenna, 15 mm at 0.2 m.
  if (profile == SensorProfile::kWorst) s.blind = {{{1.9, 0.075}, {-1.9, 0.075}}};
}

void spoil(const CarParameters& car, SensorProfile profile, OdometrySettings& s) {
  if (profile == SensorProfile::kOff) return;
  s.latency_s = later(profile) * car.odometry_delay_s;
  s.speed_scale = 1.0 / car.odometry_scale;
  s.wheel_slip = true;
  s.speed_noise = worse(profile) * car.odometry_speed_noise;
  // At worst counted by the motor's own steps: 2.17 mm in a period of 20 ms.
  s.quantum_mps = profile == SensorProfile::kWorst ? std::max(0.1085, car.odometry_quantum_mps) : car.odometry_quantum_mps;
}

void spoil(const CarParameters& car, SensorProfile profile, PoseSettings& s) {
  if (profile == SensorProfile::kOff) return;
  const double k = worse(profile);
  s.latency_s = later(profile) * car.pose_delay_s;
  s.noise_xy_m = k * car.pose_noise_xy_m;
  s.noise_yaw_rad = k * car.pose_noise_yaw_rad;
  s.drift_xy_m = k * car.pose_drift_xy_m;
  s.drift_yaw_rad = k * car.pose_drift_yaw_rad;
  s.drift_time_s = car.pose_drift_time_s;
  s.jump_rate_hz = rate(car.pose_jump_rate_hz, k);
  s.jump_m = k * car.pose_jump_m;
}

void spoil(const CarParameters& car, SensorProfile profile, ImuSettings& s) {
  if (profile == SensorProfile::kOff) return;
  const double k = worse(profile);
  s.latency_s = later(profile) * car.imu_delay_s;
  s.gyro_noise = k * car.imu_gyro_noise;
  s.gyro_bias_radps = k * car.imu_gyro_bias_radps;
  s.gyro_bias_walk = k * car.imu_gyro_bias_walk;
  s.gyro_scale_error = k * car.imu_gyro_scale_error;
  s.accelerometer_noise = k * car.imu_accel_noise;
  s.accelerometer_bias_mps2 = k * car.imu_accel_bias_mps2;
  s.accelerometer_bias_walk = k * car.imu_accel_bias_walk;
  s.accelerometer_scale_error = k * car.imu_accel_scale_error;
}

}  // namespace

SensorSettings SensorSettings::of(const CarParameters& car, const SensorChoice& choice) {
  SensorSettings s;
  s.lidar.period_s = 1.0 / car.lidar_rate_hz;
  s.lidar.beams = car.lidar_beams;
  s.lidar.fov_rad = car.lidar_fov_rad;
  s.lidar.range_min_m = car.lidar_range_min_m;
  s.lidar.range_max_m = car.lidar_range_max_m;
  s.imu.period_s = 1.0 / car.imu_rate_hz;
  spoil(car, choice.lidar, s.lidar);
  spoil(car, choice.odometry, s.odometry);
  spoil(car, choice.pose, s.pose);
  spoil(car, choice.imu, s.imu);
  return s;
}

OdometrySensor::OdometrySensor(const OdometrySettings& settings, const CarParameters& car, std::uint64_t seed, std::string_view car_name)
    : settings_(settings),
      wheelbase_m_(car.wheelbase_m),
      left_rad_(car.steering_max_left_rad),
      right_rad_(car.steering_max_right_rad),
      noise_(seed, sensor_stream(car_name, "odometry")) {}

void OdometrySensor::reset() { T_odom_base_ = {}; }

void OdometrySensor::measure(std::uint64_t sample, double speed_mps, double commanded_steering_rad, Odometry& message) {
  double speed = settings_.speed_scale * speed_mps;
  if (settings_.speed_noise > 0.0) {
    speed += settings_.speed_noise * std::max(std::abs(speed_mps), kLeastSpeedForNoise_mps) * noise_.normal(sample);
  }
  if (settings_.quantum_mps > 0.0) speed = std::floor(speed / settings_.quantum_mps + 0.5) * settings_.quantum_mps;
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
    : settings_(settings),
      kept_(math::exp(-settings.period_s / settings.drift_time_s)),
      noise_(seed, sensor_stream(car_name, "pose")),
      drift_stream_(seed, sensor_stream(car_name, "pose_drift")),
      jump_stream_(seed, sensor_stream(car_name, "pose_jump")) {}

void PoseSensor::reset() {
  last_ = {};
  last_stamp_ = {};
  drift_ = {};
  offset_ = {};
  max_error_m_ = 0.0;
}

Pose2 PoseSensor::estimate(std::uint64_t sample, const Pose2& T_map_base) {
  Pose2 pose = T_map_base;
  if (settings_.noise_xy_m > 0.0) {
    const auto normal = noise_.normal_pair(sample, 0);
    pose.x += settings_.noise_xy_m * normal[0];
    pose.y += settings_.noise_xy_m * normal[1];
  }
  if (settings_.noise_yaw_rad > 0.0) pose.yaw += settings_.noise_yaw_rad * noise_.normal(sample, 1);
  if (settings_.drift_xy_m > 0.0 || settings_.drift_yaw_rad > 0.0) {
    const double kept = sample == 0 ? 0.0 : kept_;
    const double fresh = std::sqrt(1.0 - kept * kept);
    const auto normal = drift_stream_.normal_pair(sample, 0);
    drift_[0] = kept * drift_[0] + fresh * settings_.drift_xy_m * normal[0];
    drift_[1] = kept * drift_[1] + fresh * settings_.drift_xy_m * normal[1];
    drift_[2] = kept * drift_[2] + fresh * settings_.drift_yaw_rad * drift_stream_.normal(sample, 1);
  }
  if (settings_.jump_rate_hz > 0.0 && jump_stream_.uniform(sample, 0) < settings_.jump_rate_hz * settings_.period_s)
    offset_ = settings_.jump_m * unit_vector(2.0 * math::kPi * jump_stream_.uniform(sample, 1));
  return {pose.x + drift_[0] + offset_.x, pose.y + drift_[1] + offset_.y, wrap_angle(pose.yaw + drift_[2])};
}

void PoseSensor::measure(std::uint64_t sample, const Pose2& T_map_base, PoseEstimate& message, const PoseFault& fault) {
  const Pose2 now = estimate(sample, T_map_base);
  const bool repeated = sample > 0 && (fault.frozen || fault.stale);
  if (!repeated) {
    last_ = {now.x + fault.jump.x, now.y + fault.jump.y, now.yaw};
    last_stamp_ = message.stamp;
  }
  if (repeated && fault.stale) message.stamp = last_stamp_;
  max_error_m_ = std::max(max_error_m_, distance(last_.position(), T_map_base.position()));
  message.position = last_.position();
  message.orientation = to_quaternion(last_.yaw);
}

ImuSensor::ImuSensor(const ImuSettings& settings, std::uint64_t seed, std::string_view car_name)
    : settings_(settings),
      noisy_(settings.gyro_noise > 0.0 || settings.accelerometer_noise > 0.0 || settings.gyro_bias_walk > 0.0 ||
             settings.accelerometer_bias_walk > 0.0),
      noise_(seed, sensor_stream(car_name, "imu")),
      bias_stream_(seed, sensor_stream(car_name, "imu_bias")) {
  const Rng scale(seed, sensor_stream(car_name, "imu_scale"));
  for (std::uint32_t k = 0; k < 6; ++k)
    scale_[k] = 1.0 + (k < 3 ? settings.gyro_scale_error : settings.accelerometer_scale_error) * scale.normal(0, k);
  reset();
}

void ImuSensor::reset() {
  for (std::uint32_t k = 0; k < 6; ++k)
    bias_[k] = (k < 3 ? settings_.gyro_bias_radps : settings_.accelerometer_bias_mps2) * bias_stream_.normal(0, k);
}

void ImuSensor::measure(std::uint64_t sample, const ImuTruth& truth, Imu& message) {
  const double per_sample = std::sqrt(0.5 / settings_.period_s);
  const double walked = std::sqrt(settings_.period_s);
  std::array<float, 12> normals{};  // of the noise, then of the walk
  if (noisy_) noise_.normals(sample, normals);
  for (std::uint32_t k = 0; k < 6; ++k) {
    const bool gyro = k < 3;
    const double density = gyro ? settings_.gyro_noise : settings_.accelerometer_noise;
    const double walk = gyro ? settings_.gyro_bias_walk : settings_.accelerometer_bias_walk;
    if (sample > 0 && walk > 0.0) bias_[k] += walk * walked * static_cast<double>(normals[6 + k]);
    double value = scale_[k] * (gyro ? truth.angular_velocity_radps[k] : truth.specific_force_mps2[k - 3]) + bias_[k];
    if (density > 0.0) value += density * per_sample * static_cast<double>(normals[k]);
    (gyro ? message.angular_velocity_radps[k] : message.linear_acceleration_mps2[k - 3]) = value;
  }
}

Joy blank_joy(const JoySettings& settings) {
  Joy joy;
  joy.buttons.assign(static_cast<std::size_t>(std::max<std::int64_t>(settings.button + 1, 8)), 0);
  return joy;
}

void press(const JoySettings& settings, bool pressed, Joy& message) {
  message.buttons[static_cast<std::size_t>(settings.button)] = pressed ? 1 : 0;
}

}  // namespace pitwall::sim

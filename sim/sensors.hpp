// SPDX-License-Identifier: Apache-2.0
// What a simulated car measures besides its scans (lidar.hpp), and how wrong. Every sensor draws from its own streams
// ("car0/odometry", "car0/pose", "car0/imu", ...), addressed by the number of the sample: no sensor or car moves another's noise.
//
// Odometry: the driver's own dead reckoning, speed from the wheels in steps of the motor controller's unit, yaw rate from the
// commanded steering, Euler steps with the yaw before the step.
//
// Pose estimate: truth + white noise + an error that lasts (first-order Gauss-Markov: e' = a e + sqrt(1 - a^2) s n, with
// a = exp(-period / drift time)) + the offset of the last correction: a localiser that pulls itself together jumps, at random
// instants of rate jump_rate, to an offset of length jump in a random direction.
//
// IMU: rate and specific force at base_link, per axis (1 + scale error) x truth + bias + noise. A noise density D gives samples
// of D sqrt(rate / 2); the bias is drawn when switched on and walks: W sqrt(period) n a sample.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/car.hpp"
#include "core/fields.hpp"
#include "core/messages.hpp"
#include "core/rng.hpp"
#include "core/time.hpp"
#include "sim/lidar.hpp"

namespace pitwall::sim {

/// Speed and yaw rate as the car's own electronics report them.
struct OdometrySettings {
  bool enabled = true;
  double period_s = 0.02;
  double latency_s = 0.0;
  double speed_scale = 1.0;    ///< measured over the wheels' speed
  bool wheel_slip = false;     ///< whether the wheels' own speed is measured, which slip makes higher than the car's
  double speed_noise = 0.0;    ///< standard deviation relative to max(|v|, 0.1 m/s)
  double quantum_mps = 0.0;    ///< the speed comes in whole multiples of it; 0: as it is
  double deadband_mps = 0.05;  ///< slower than this reads 0
  void fields(FieldVisitor& f);
};

/// The pose that a localiser would give.
struct PoseSettings {
  bool enabled = true;
  double period_s = 0.025;
  double latency_s = 0.0;
  double noise_xy_m = 0.0;
  double noise_yaw_rad = 0.0;
  double drift_xy_m = 0.0;  ///< standard deviation of the error that lasts
  double drift_yaw_rad = 0.0;
  double drift_time_s = 1.0;
  double jump_rate_hz = 0.0;  ///< corrections a second
  double jump_m = 0.0;        ///< length of a correction's offset
  void fields(FieldVisitor& f);
};

/// The operator's joystick.
struct JoySettings {
  bool enabled = true;
  double period_s = 0.02;
  double latency_s = 0.0;
  std::int64_t button = 4;  ///< the deadman's index
  void fields(FieldVisitor& f);
};

/// The inertial sensor.
struct ImuSettings {
  bool enabled = true;
  double period_s = 0.01;
  double latency_s = 0.0;
  double gyro_noise = 0.0;           ///< density, rad/s per square root of Hz
  double gyro_bias_radps = 0.0;      ///< standard deviation when switched on
  double gyro_bias_walk = 0.0;       ///< rad/s per square root of s
  double gyro_scale_error = 0.0;     ///< standard deviation, drawn once a run
  double accelerometer_noise = 0.0;  ///< density, m/s^2 per square root of Hz
  double accelerometer_bias_mps2 = 0.0;
  double accelerometer_bias_walk = 0.0;
  double accelerometer_scale_error = 0.0;
  void fields(FieldVisitor& f);
};

/// How wrong and late a sensor is.
enum class SensorProfile {
  kOff,      ///< neither wrong nor late
  kNominal,  ///< as the car's profile says
  kWorst     ///< three times the noise and its like, twice the delay, and sectors that something covers
};
inline constexpr std::array<std::string_view, 3> kSensorProfileNames = {"off", "nominal", "worst"};

/// One profile a sensor.
struct SensorChoice {
  SensorProfile lidar = SensorProfile::kNominal;
  SensorProfile odometry = SensorProfile::kNominal;
  SensorProfile pose = SensorProfile::kNominal;
  SensorProfile imu = SensorProfile::kNominal;
  void fields(FieldVisitor& f);
  static SensorChoice all(SensorProfile profile) { return {profile, profile, profile, profile}; }
};

/// All sensors of one car.
struct SensorSettings {
  LidarSettings lidar;
  OdometrySettings odometry;
  PoseSettings pose;
  JoySettings joy;
  ImuSettings imu;
  void fields(FieldVisitor& f);

  /// The sensors of that car.
  static SensorSettings of(const CarParameters& car, const SensorChoice& choice);
  /// All nominal, or all off.
  static SensorSettings of(const CarParameters& car, bool errors) {
    return of(car, SensorChoice::all(errors ? SensorProfile::kNominal : SensorProfile::kOff));
  }
};

/// Dead reckoning of the drive.
class OdometrySensor {
 public:
  OdometrySensor(const OdometrySettings& settings, const CarParameters& car, std::uint64_t seed, std::string_view car_name);
  void reset();
  /// `speed_mps` is the speed of base_link along body x, or with wheel_slip that of the wheels, `commanded_steering_rad` the last command
  /// (clamped to the locks).
  void measure(std::uint64_t sample, double speed_mps, double commanded_steering_rad, Odometry& message);

 private:
  OdometrySettings settings_;
  double wheelbase_m_;
  double left_rad_;
  double right_rad_;
  Rng noise_;
  Pose2 T_odom_base_;
};

/// What a fault does to the pose estimates, from outside.
struct PoseFault {
  bool frozen = false;  ///< the last estimate is repeated with new stamps: a localiser that stalls
  bool stale = false;   ///< ... with its old stamp: one whose output is stuck
  Vec2 jump;            ///< m, map frame, added to what is reported
};

/// A localiser.
class PoseSensor {
 public:
  PoseSensor(const PoseSettings& settings, std::uint64_t seed, std::string_view car_name);
  void reset();
  void measure(std::uint64_t sample, const Pose2& T_map_base, PoseEstimate& message, const PoseFault& fault = {});
  /// Largest distance in m between estimate and truth, at the time of measurement, since reset.
  [[nodiscard]] double max_error_m() const { return max_error_m_; }

 private:
  [[nodiscard]] Pose2 estimate(std::uint64_t sample, const Pose2& T_map_base);

  PoseSettings settings_;
  double kept_;  ///< a of the lasting error
  Rng noise_;
  Rng drift_stream_;
  Rng jump_stream_;
  std::array<double, 3> drift_{};
  Vec2 offset_;
  Pose2 last_;
  Time last_stamp_;
  double max_error_m_ = 0.0;
};

/// What the accelerometer and the gyro would read without error; body axes.
struct ImuTruth {
  std::array<double, 3> angular_velocity_radps{};
  std::array<double, 3> specific_force_mps2{};
};

class ImuSensor {
 public:
  /// Draws scale errors.
  ImuSensor(const ImuSettings& settings, std::uint64_t seed, std::string_view car_name);
  /// Draws the biases anew, to the same values.
  void reset();
  void measure(std::uint64_t sample, const ImuTruth& truth, Imu& message);

 private:
  ImuSettings settings_;
  bool noisy_;
  Rng noise_;
  Rng bias_stream_;
  std::array<double, 6> bias_{};  // gyro, then accelerometer
  std::array<double, 6> scale_{};
};

Joy blank_joy(const JoySettings& settings);
void press(const JoySettings& settings, bool pressed, Joy& message);

}  // namespace pitwall::sim

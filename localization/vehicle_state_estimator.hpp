// SPDX-License-Identifier: Apache-2.0
// How a car moves, sideways too, from gyro, accelerometer and wheels, and from whatever else is known of its velocity or place: an extended
// Kalman filter of
//
//   x, y, yaw           base_link in the frame that the first pose sets
//   vx, vy, r           velocity of base_link (rear axle) in its axes, yaw rate
//   bias, scale         of the gyro: it reads (1 + scale) r + bias
//   ax bias, ay bias    of the accelerometer, tilt included
//
// Prediction: vx' = ax + r vy, vy' = ay - r vx, pose along the arc; r, biases and scale are random
// walks. Updates are in Joseph's form. What the
// filter does beyond the textbook:
//
// - Wheels that spin or lock are not believed. They slip when their speed changes by more than the accelerometer accounts for, or
//   contradicts the filter, and do so until they agree again.
// - Without load sideways the rear axle does not slide (vy = 0). Standing still (standstill.hpp) sets velocity and turn to zero and shows
// the
//   gyro's bias and what the accelerometer reads by tilt. A creeping car is not told to stand.
// - A measurement may be late: it is compared with what the filter believed at its stamp, and the difference is applied now.
// - External measurements pass a chi-square gate of 99 %; after three in a row that fail the next is taken.
//
// Driven by the stamps of its input alone: the same object serves the car, the simulator and a replay. Calls go in order of arrival.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/car.hpp"
#include "core/fields.hpp"
#include "core/geometry.hpp"
#include "core/messages.hpp"
#include "core/time.hpp"
#include "localization/small_matrix.hpp"
#include "localization/standstill.hpp"
#include "localization/twist.hpp"

namespace pitwall::localization {

struct VehicleStateParameters {
  // Where the IMU sits, from base_link; its axes are those of the car.
  double imu_x_m = 0.0;
  double imu_y_m = 0.0;
  // Noise of the prediction, per square root of s.
  double accel_noise = 0.1;      ///< m/s
  double yaw_accel_noise = 8.0;  ///< rad/s
  double bias_walk = 3e-4;       ///< rad/s
  double scale_walk = 1e-4;
  double accel_bias_walk = 0.005;  ///< m/s^2
  double place_noise = 0.01;       ///< m
  double yaw_noise = 1e-3;         ///< rad
  // Noise of the measurements.
  double gyro_sigma_radps = 0.01;
  double wheel_sigma_mps = 0.08;
  double wheel_sigma_share = 0.02;  ///< of the speed, in addition
  double no_slide_sigma_mps = 0.15;
  double velocity_sigma_mps = 0.1;
  double heading_sigma_rad = 0.035;
  double yaw_rate_sigma_radps = 0.02;
  double place_sigma_m = 0.05;
  // What is known at the start.
  double bias_radps = 0.0;
  double bias_sigma_radps = 0.02;
  double scale_sigma = 0.02;
  double accel_bias_sigma_mps2 = 0.3;
  // Wheels.
  double slip_change_mps = 0.3;  ///< that the accelerometer does not account for, over slip_window_s
  double slip_window_s = 0.2;
  double slip_longest_s = 4.0;  ///< after which wheels are believed again
  double no_slide_mps2 = 1.0;   ///< sideways load below which the rear axle does not slide
  double no_slide_from_mps = 0.3;
  double history_s = 2.0;  ///< how late a measurement may be
  StandstillParameters standstill{};
  void fields(FieldVisitor& f);

  /// With what a car's profile says of its IMU and wheels.
  static VehicleStateParameters for_car(const CarParameters& car);
};

struct VehicleState {
  Time stamp;
  Pose2 pose;                   ///< T_map_base, or T_start_base before the first pose; yaw wrapped
  Twist velocity;               ///< of base_link
  double slip_angle_rad = 0.0;  ///< atan2(vy, vx) of base_link; 0 below 0.3 m/s
  double wheel_slip = 0.0;      ///< (wheel - vx) / max(|vx|, 0.5)
  double gyro_bias_radps = 0.0;
  double gyro_scale = 0.0;
  Vec2 accel_bias_mps2;
  double std_bias_radps = 0.0;
  double std_scale = 0.0;
  double std_vx_mps = 0.0;
  double std_vy_mps = 0.0;
  double std_yaw_rad = 0.0;
  bool standing = false;
  bool wheels_slip = false;
};

/// What an attentive operator would want to hear.
struct VehicleStateHealth {
  bool bias_large = false;            ///< |bias| above 0.3 deg/s
  bool gravity_wrong = false;         ///< standing, and the accelerometer is off g by more than 0.1 m/s^2
  bool no_heading_reference = false;  ///< none for 120 s
};

enum class Measurement : std::uint8_t { kGyro, kWheels, kVelocity, kHeading, kYawRate, kPose };
inline constexpr std::size_t kMeasurements = 6;

struct MeasurementCounts {
  std::int64_t used = 0;
  std::int64_t refused = 0;  ///< not finite, out of order, too late
  std::int64_t gated = 0;    ///< contradicted the filter, or slipped
  double sum_nis = 0.0;      ///< normalised innovation squared of the used ones; its mean is the number of components if all is consistent
};

class VehicleStateEstimator {
 public:
  explicit VehicleStateEstimator(const VehicleStateParameters& parameters);

  /// Forgets everything but what it knows of the errors of gyro and accelerometer.
  void reset();

  /// A sample of the IMU in the axes of the car. Where its roll and pitch are known gravity is taken off with them; otherwise the floor is
  /// level.
  void add_imu(const Imu& imu, double roll_rad = 0.0, double pitch_rad = 0.0);
  /// Speed of the driven wheels.
  void add_wheels(Time stamp, double speed_mps);
  /// Velocity of base_link in its axes, as scan matching has it; `sigma` 0: the parameter's.
  void add_velocity(Time stamp, Vec2 velocity_mps, Vec2 sigma_mps = {});
  void add_heading(Time stamp, double yaw_rad, double sigma_rad = 0.0);
  void add_yaw_rate(Time stamp, double yaw_rate_radps, double sigma_radps = 0.0);
  /// T_map_base of a localiser. The first one sets the frame.
  void add_pose(Time stamp, const Pose2& T_map_base);

  [[nodiscard]] VehicleState state() const;
  [[nodiscard]] VehicleStateHealth health() const;
  [[nodiscard]] const MeasurementCounts& counts(Measurement m) const { return counts_[static_cast<std::size_t>(m)]; }
  /// The bias worth keeping for the next start: known to 0.1 deg/s.
  [[nodiscard]] std::optional<double> bias_to_keep() const;

 private:
  static constexpr std::size_t kStates = 10;
  enum Index : std::size_t { kX, kY, kYaw, kVx, kVy, kR, kBias, kScale, kAx, kAy };
  using StateVector = Vector<kStates>;
  using StateMatrix = Matrix<kStates, kStates>;
  struct Past {
    Time stamp;
    StateVector x;        // yaw not wrapped
    double pushed = 0.0;  // what the accelerometer has added to vx since the start
  };

  // What a measurement of M numbers says against what was expected of it.
  template <std::size_t M>
  struct Observed {
    Vector<M> innovation;
    Matrix<M, kStates> jacobian;
    std::array<double, M> variance{};
  };
  struct WheelSample {
    Time stamp;
    double speed_mps = 0.0;
    double pushed = 0.0;
  };

  void start(Time stamp);
  // Moves the state on to `stamp`, unless it is there.
  void advance(Time stamp);
  void remember();
  [[nodiscard]] std::optional<Past> past(Time stamp) const;
  // The state at the stamp of a measurement; nothing where it cannot be used.
  [[nodiscard]] std::optional<Past> taken_at(Measurement kind, Time stamp, bool finite);
  // `from`: since when the state was wrong by what is put right now.
  template <std::size_t M>
  void correct(const Observed<M>& seen, const Matrix<M, M>& inverse_s, Time from);
  template <std::size_t M>
  bool update(Measurement kind, const Observed<M>& seen, bool gated, Time from);
  void set_frame(const Pose2& T_map_base, const Past& then, const std::array<double, 3>& variance);
  [[nodiscard]] double wheel_sigma(double speed_mps) const;
  [[nodiscard]] bool wheels_contradict(const WheelSample& sample, double innovation_mps);
  void stand(Vec2 level_mps2);
  MeasurementCounts& counted(Measurement m) { return counts_[static_cast<std::size_t>(m)]; }

  VehicleStateParameters parameters_;
  StandstillDetector standstill_;
  bool started_ = false;
  bool framed_ = false;  // by a heading or a pose
  bool placed_ = false;  // by a pose
  Time now_;
  StateVector x_;
  StateMatrix p_;
  double pushed_ = 0.0;
  // The last sample of the IMU.
  std::optional<Time> imu_stamp_;
  double gyro_ = 0.0;
  double gyro_acceleration_ = 0.0;
  Vec2 accel_;  // at base_link, gravity taken off, bias not
  double gravity_off_ = 0.0;
  bool standing_ = false;
  // Wheels.
  std::vector<WheelSample> recent_wheels_;  // of the slip window, oldest first
  std::optional<WheelSample> wheels_;
  std::optional<Time> slip_since_;
  int agreeing_ = 0;
  Time heading_reference_;
  std::array<int, kMeasurements> refused_in_a_row_{};
  std::array<MeasurementCounts, kMeasurements> counts_{};
  std::vector<Past> history_;  // ring
  std::size_t history_next_ = 0;
  std::size_t history_count_ = 0;
};

}  // namespace pitwall::localization

// SPDX-License-Identifier: Apache-2.0
// What a simulated car measures, and how wrong. Every sensor draws from its own stream ("car0/lidar", "car0/odometry",
// "car0/pose"), addressed by the number of the sample and the beam: no sensor or car moves another's noise.
//
// Rules of the scan, true range r at a beam:
//   no return within range_max            -> +inf
//   r < range_min                         -> 0 (invalid: nearer than the sensor can measure)
//   otherwise r + N(0, noise_std), clipped to [range_min, range_max]
//   then, with probability dropout_rate   -> +inf
// The odometry is the driver's own dead reckoning: speed from the wheels, yaw rate from the commanded steering, Euler
// steps with the yaw before the step.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/car.hpp"
#include "core/fields.hpp"
#include "core/messages.hpp"
#include "core/rng.hpp"
#include "core/time.hpp"
#include "tracks/raycast.hpp"

namespace pitwall::sim {

/// The LiDAR at its mount on the car.
struct LidarSettings {
  bool enabled = true;
  double period_s = 0.025;
  double latency_s = 0.0;  ///< from the first beam to arrival
  std::int64_t beams = 1081;
  double fov_rad = 1.5 * math::kPi;  ///< first to last beam, centred ahead of the mount
  double range_min_m = 0.05;
  double range_max_m = 25.0;
  double noise_std_m = 0.0;
  double dropout_rate = 0.0;
  void fields(FieldVisitor& f);
};

/// Speed and yaw rate as the car's own electronics report them.
struct OdometrySettings {
  bool enabled = true;
  double period_s = 0.02;
  double latency_s = 0.0;
  double speed_scale = 1.0;    ///< measured over the wheels' speed
  bool wheel_slip = false;     ///< whether the wheels' own speed is measured, which slip makes higher than the car's
  double speed_noise = 0.0;    ///< standard deviation relative to max(|v|, 0.1 m/s)
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
  double frozen_from_s = 1e6;  ///< from here on the estimate is repeated with new stamps: a localiser that stalls
  void fields(FieldVisitor& f);
};

/// The operator's joystick.
struct JoySettings {
  bool enabled = true;
  double period_s = 0.02;
  double latency_s = 0.0;
  std::int64_t button = 4;       ///< the deadman's index
  double released_from_s = 1e6;  ///< the operator lets go
  double silent_from_s = 1e6;    ///< the joystick is unplugged: no more messages
  void fields(FieldVisitor& f);
};

/// All sensors of one car.
struct SensorSettings {
  LidarSettings lidar;
  OdometrySettings odometry;
  PoseSettings pose;
  JoySettings joy;
  void fields(FieldVisitor& f);

  /// The sensors of that car; without `errors` they neither err nor delay.
  static SensorSettings of(const CarParameters& car, bool errors);
};

/// Another car as a scanner sees it.
struct SeenCar {
  BodyRectangle chassis;
  Pose2 T_map_base;
};

/// Distance from `origin` along the unit vector `direction` to a rectangle; 0 from within, +inf where it is missed.
double ray_to_rectangle(Vec2 origin_map, Vec2 direction_map, const SeenCar& car);

/// A planar scanner on its mount, seeing walls and the chassis of other cars.
class Lidar {
 public:
  Lidar(std::shared_ptr<const tracks::RayCaster> rays, const LidarSettings& settings, const Pose2& T_base_lidar, std::uint64_t seed,
        std::string_view car_name);

  /// A scan with every field but the stamp and the ranges filled in.
  [[nodiscard]] LaserScan blank() const;
  void reset();
  /// Fills `scan.ranges` (sized by blank()) as measured at one instant.
  void measure(std::uint64_t sample, const Pose2& T_map_base, std::span<const SeenCar> others, LaserScan& scan);

  /// Ranges of the last scan in m before any error: +inf where there is no return.
  [[nodiscard]] std::span<const double> true_ranges() const { return true_ranges_; }
  /// Beams lost to dropout since reset.
  [[nodiscard]] std::int64_t dropped_beams() const { return dropped_beams_; }

 private:
  void see(const SeenCar& car, const Pose2& T_map_sensor);
  void see_between(const SeenCar& car, const Pose2& T_map_sensor, double from_rad, double to_rad);
  void write_ranges(std::uint64_t sample, LaserScan& scan) const;

  std::shared_ptr<const tracks::RayCaster> rays_;
  LidarSettings settings_;
  Pose2 T_base_lidar_;
  tracks::BeamFan fan_;
  Rng noise_;
  Rng dropout_;
  std::vector<double> true_ranges_;
  std::int64_t dropped_beams_ = 0;
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

/// A localiser with white errors on x, y and yaw.
class PoseSensor {
 public:
  PoseSensor(const PoseSettings& settings, std::uint64_t seed, std::string_view car_name);
  void reset();
  void measure(std::uint64_t sample, const Pose2& T_map_base, PoseEstimate& message);
  /// Largest distance in m between estimate and truth, at the time of measurement, since reset.
  [[nodiscard]] double max_error_m() const { return max_error_m_; }

 private:
  PoseSettings settings_;
  Rng noise_;
  Pose2 last_;
  double max_error_m_ = 0.0;
};

/// Whether the joystick speaks at `now`, and its buttons.
bool joy_speaks(const JoySettings& settings, Time now);
Joy blank_joy(const JoySettings& settings);
void measure_joy(const JoySettings& settings, Joy& message);

}  // namespace pitwall::sim

// SPDX-License-Identifier: Apache-2.0
// A recording as the reports about IMUs need it: every IMU and every odometry in it, the motor, and the motion by scans, all in SI units
// and in the order of their stamps. imu_report, imu_spectrum, yaw_tracking and estimator_replay begin here.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/decisions.hpp"
#include "analysis/gate.hpp"
#include "analysis/motion.hpp"
#include "analysis/npz.hpp"
#include "analysis/run_data.hpp"
#include "analysis/track.hpp"
#include "core/car.hpp"
#include "recording/imu_units.hpp"

namespace pitwall::analysis {

struct ImuTrack {
  std::string topic;
  ImuSeries series;           ///< m/s^2 and rad/s
  recording::ImuUnits units;  ///< those it was recorded in
  std::size_t backward = 0;   ///< stamps that were not after the one before, when received
};

struct OdometryTrack {
  std::string topic;
  OdometrySeries series;
  std::string frame;               ///< that its pose is in
  bool rate_from_heading = false;  ///< it says no turn rate while its heading turns: differences stand in
};

/// Electrical revolutions per minute, as the motor controller counts them.
struct MotorSeries {
  std::vector<double> t_s, erpm;
};

struct ImuRunOptions {
  std::filesystem::path run;
  std::filesystem::path out;  ///< empty: the run's analysis folder
  std::string recorded_car;
  std::vector<std::string> topics;  ///< "role=name" of load_run
  DriverOptions driver;             ///< whose car gives wheelbase and mount
  localization::ScanTrackParameters matching;
  bool refresh = false;
  recording::BagProgress progress;
};

struct ImuRun {
  RunData run;
  MotionSeries motion;
  CarParameters car;
  std::string car_source;  ///< where the car's parameters come from
  std::vector<ImuTrack> imus;
  std::vector<OdometryTrack> odometries;
  MotorSeries motor;
  std::vector<Track> corrections;  ///< of a localiser: edges of /tf from a frame called map ("map", "car/map") to another
  std::vector<std::string> warnings;
  std::string cache;  ///< one line about motion.npz
  std::filesystem::path out;
};

/// Errors: as load_run, and a recording without any IMU where `needs_imu` (with the names looked for).
Result<ImuRun> load_imu_run(const ImuRunOptions& options, bool needs_imu);

/// Speed at instants: by scans where the walls tell it, else by the first odometry; NaN where neither.
std::vector<double> speed_at(const ImuRun& run, const std::vector<double>& at_s);

/// What such a program hands to its main.
struct ReportResult {
  Document document;
  Gate gate;
  std::filesystem::path out;
  std::optional<NpzWriter> arrays;  ///< <name>.npz
};

/// The first section of each of these reports.
Section section_of_recording(const ImuRun& run);

}  // namespace pitwall::analysis

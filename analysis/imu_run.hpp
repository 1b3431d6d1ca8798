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
#include "core/car.hpp"
#include "core/signal.hpp"
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
  std::vector<std::string> warnings;
  std::string cache;  ///< one line about motion.npz
  std::filesystem::path out;
};

/// Errors: as load_run, and a recording without any IMU where `needs_imu` (with the names looked for).
Result<ImuRun> load_imu_run(const ImuRunOptions& options, bool needs_imu);

/// A turn rate that something measured: sample i is the mean over [begin_s[i], end_s[i]].
struct RateSource {
  enum class Kind { kGyro, kOdometry, kScans, kTruth, kCommand };
  Kind kind = Kind::kGyro;
  std::string name;  ///< "gyro /imu", "odometry /odom", "scans", "truth"
  std::vector<double> begin_s, end_s, rate_radps, weight;
  [[nodiscard]] std::size_t size() const { return begin_s.size(); }
  [[nodiscard]] double middle_s(std::size_t i) const { return 0.5 * (begin_s[i] + end_s[i]); }
};
/// All of them: gyros, odometries, scans where the walls tell the turn, the truth of a simulated run.
std::vector<RateSource> rate_sources(const ImuRun& run);

/// What was commanded: the turn rate itself, or the measured (else commanded) speed times tan(steering) / wheelbase.
RateSource commanded_rate(const ImuRun& run);

/// How source b reads beside source a: b(t) = scale a(t - delay) + bias.
struct RatePair {
  std::string a, b;
  RateSource::Kind kind_a = RateSource::Kind::kGyro;
  RateSource::Kind kind_b = RateSource::Kind::kGyro;
  signals::Estimate delay_s, scale, bias_radps;
  double rms_radps = NAN;
  double correlation = NAN;
};
RatePair compare_rates(const RateSource& a, const RateSource& b);

/// Speed at instants: by scans where the walls tell it, else by the first odometry; NaN where neither.
std::vector<double> speed_at(const ImuRun& run, const std::vector<double>& at_s);

/// What such a program hands to its main.
struct ReportResult {
  Document document;
  bool passed = true;  ///< its gate
  std::filesystem::path out;
  std::optional<NpzWriter> arrays;  ///< <name>.npz
};

/// The first section of each of these reports.
Section section_of_recording(const ImuRun& run);

}  // namespace pitwall::analysis

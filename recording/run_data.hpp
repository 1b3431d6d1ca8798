// SPDX-License-Identifier: Apache-2.0
// A recorded run as series: what was commanded, pressed, measured, and on a simulated run what was true. analysis/run_data.hpp reads one.
//
// Times are seconds since `origin`, the first message of the recording. `t_s` is the stamp inside the message (the time of receipt where
// that is 0), for lags and physics; `arrival_s` is when it was received, for what a program could have known. Stamps of another clock
// than the recorder's (a minute or more apart) are shifted by the first of them. Series are in the order of receipt; sorted_by_stamp()
// gives those that a fit needs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/geometry.hpp"
#include "core/time.hpp"
#include "recording/replay.hpp"
#include "recording/run_folder.hpp"

namespace pitwall::recording {

/// What was commanded: steering angle and speed (ackermann_msgs; the speed is NaN where an acceleration stands for it), or speed and yaw
/// rate (geometry_msgs/Twist); what a message does not have is NaN.
struct CommandSeries {
  std::vector<double> t_s, arrival_s, speed_mps, steering_rad, yaw_rate_radps, acceleration_mps2;
  [[nodiscard]] std::size_t size() const { return t_s.size(); }
  [[nodiscard]] bool empty() const { return t_s.empty(); }
};

struct OdometrySeries {
  std::vector<double> t_s, arrival_s, x_m, y_m, yaw_rad, speed_mps, yaw_rate_radps;
  [[nodiscard]] std::size_t size() const { return t_s.size(); }
};

/// As recorded; whoever uses it decides on units (a VESC's own driver publishes g and deg/s).
struct ImuSeries {
  std::vector<double> t_s, arrival_s, gyro_x, gyro_y, gyro_z, accel_x, accel_y, accel_z;
  [[nodiscard]] std::size_t size() const { return t_s.size(); }
};

struct PoseSeries {
  std::vector<double> t_s, arrival_s, x_m, y_m, yaw_rad;
  [[nodiscard]] std::size_t size() const { return t_s.size(); }
};

/// The operator's deadman button: 1 pressed, 0 not, -1 a message without such a button.
struct JoySeries {
  std::vector<double> arrival_s, pressed;
  [[nodiscard]] std::size_t size() const { return arrival_s.size(); }
};

/// `t_s` is the first beam's instant.
struct ScanSeries {
  std::vector<double> t_s, arrival_s, beams;
  [[nodiscard]] std::size_t size() const { return t_s.size(); }
};

/// base_link of the simulated car: map frame, velocities in the body frame.
struct TruthSeries {
  std::vector<double> t_s, x_m, y_m, yaw_rad, speed_mps, lateral_mps, yaw_rate_radps, steering_rad;
  [[nodiscard]] std::size_t size() const { return t_s.size(); }
};

/// A topic that was read, and how good its clock is.
struct UsedTopic {
  std::string role;  ///< "scan", "command", ...
  std::string name;
  std::string type;
  std::uint64_t count = 0;
  std::uint64_t unreadable = 0;       ///< messages that are not what their type says
  std::uint64_t zero_stamps = 0;      ///< the time of receipt stands in for them
  std::uint64_t backward_stamps = 0;  ///< not after the stamp before
  double rate_hz = 0.0;
  double worst_gap_s = 0.0;       ///< between arrivals
  double median_latency_s = 0.0;  ///< arrival minus stamp, after the shift
  double clock_shift_s = 0.0;     ///< added to its stamps, where they are of another clock than the recorder's
};

/// A topic that was not read.
struct MissingTopic {
  std::string role;
  std::string why;          ///< "no /joy, and no other topic of type sensor_msgs/msg/Joy"
  std::string consequence;  ///< what cannot be said without it
};

struct RunData {
  std::filesystem::path path;
  std::optional<RunManifest> manifest;  ///< of a run folder
  RecordedCar car;                      ///< name and prefix of its topics
  Time origin;
  double duration_s = 0.0;
  std::optional<Pose2> T_base_lidar;  ///< by /tf_static

  CommandSeries command;  ///< what the car was told: /ackermann_cmd where it was recorded, else /drive, else /cmd_vel
  CommandSeries drive;    ///< what the controller published
  CommandSeries teleop;   ///< what the operator steered
  OdometrySeries odometry;
  ImuSeries imu;
  PoseSeries pose;
  JoySeries joy;
  ScanSeries scan;
  double scan_period_s = 0.0;  ///< by number and duration, known before the first scan is read
  TruthSeries truth;
  std::vector<ParameterChange> parameter_changes;  ///< by time of receipt; "node/name" as recorded
  bool has_ticks = false;

  std::vector<UsedTopic> topics;
  std::vector<MissingTopic> missing;
  std::vector<std::string> findings;  ///< what is odd about the files
  bool damaged = false;
  std::uint64_t messages = 0;

  [[nodiscard]] const UsedTopic* topic(std::string_view role) const;
};

/// Seconds since the origin.
inline double seconds_since(Time origin, Time time) { return (time - origin).seconds(); }

/// Indices that put times in order, each time once (the last received of equal ones).
std::vector<std::size_t> sorted_by_stamp(const std::vector<double>& t_s);

}  // namespace pitwall::recording

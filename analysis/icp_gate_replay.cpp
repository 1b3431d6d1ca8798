// SPDX-License-Identifier: Apache-2.0
#include "analysis/icp_gate_replay.hpp"

#include <algorithm>
#include <cmath>
#include <system_error>
#include <utility>

#include "localization/odometry_guard.hpp"
#include "recording/bag_writer.hpp"
#include "recording/recorder.hpp"
#include "ros_messages/convert.hpp"
#include "ros_messages/graph.hpp"
#include "ros_messages/known_types.hpp"

namespace pitwall::analysis {

namespace {

namespace fs = std::filesystem;
namespace ros = ros_messages;
using localization::GatedPose;
using localization::GateVerdict;

constexpr const char* kOdomFrame = "odom";
constexpr const char* kBaseFrame = "base_footprint";
constexpr const char* kWheelFrame = "odom_wheel";
constexpr const char* kGatedTopic = "/odometry_gate/odometry";

Time time_of(const OdometryTracks& tracks, double t_s) { return tracks.origin + from_seconds(t_s); }

ros::Quaternion quaternion_of(double yaw) {
  const PlanarQuaternion q = to_quaternion(yaw);
  ros::Quaternion out;
  out.z = q.z;
  out.w = q.w;
  return out;
}

ros::Header header_of(Time stamp, const char* frame) {
  ros::Header header;
  header.stamp = ros::to_stamp(stamp);
  header.frame_id = frame;
  return header;
}

ros::TFMessage transform(Time stamp, const char* parent, const char* child, const Pose2& pose) {
  ros::TransformStamped t;
  t.header = header_of(stamp, parent);
  t.child_frame_id = child;
  t.transform.translation.x = pose.x;
  t.transform.translation.y = pose.y;
  t.transform.rotation = quaternion_of(pose.yaw);
  ros::TFMessage m;
  m.transforms.push_back(std::move(t));
  return m;
}

ros::Odometry odometry(const GatedPose& pose) {
  ros::Odometry m;
  m.header = header_of(pose.stamp, kOdomFrame);
  m.child_frame_id = kBaseFrame;
  m.pose.pose.position.x = pose.T_odom_base.x;
  m.pose.pose.position.y = pose.T_odom_base.y;
  m.pose.pose.orientation = quaternion_of(pose.T_odom_base.yaw);
  m.twist.twist.linear.x = pose.velocity.x_mps;
  m.twist.twist.linear.y = pose.velocity.y_mps;
  m.twist.twist.angular.z = pose.velocity.yaw_radps;
  return m;
}

/// Writes messages in the order of their stamps.
class GatedBag {
 public:
  static Result<GatedBag> create(const fs::path& folder) {
    Result<recording::BagWriter> writer = recording::BagWriter::create(folder);
    if (!writer) return writer.error();
    GatedBag bag{*std::move(writer)};
    const auto tf = bag.writer_.add_topic(recording::topic_for<ros::TFMessage>("/tf"));
    if (!tf) return tf.error();
    const auto odometry = bag.writer_.add_topic(recording::topic_for<ros::Odometry>(kGatedTopic));
    if (!odometry) return odometry.error();
    bag.tf_ = *tf;
    bag.odometry_ = *odometry;
    return bag;
  }

  Status wheels(Time stamp, const Pose2& T_odom_base) {
    return put(tf_, stamp, transform(stamp, kBaseFrame, kWheelFrame, inverse(T_odom_base)));
  }
  Status gated(const GatedPose& pose) {
    if (const Status done = put(tf_, pose.stamp, transform(pose.stamp, kOdomFrame, kBaseFrame, pose.T_odom_base)); !done) return done;
    return put(odometry_, pose.stamp, odometry(pose));
  }
  Status close() { return writer_.close(); }

 private:
  explicit GatedBag(recording::BagWriter writer) : writer_(std::move(writer)) {}
  template <class Message>
  Status put(std::size_t topic, Time stamp, const Message& message) {
    ros::write(message, bytes_);
    return writer_.write(topic, stamp, stamp, recording::as_bytes(bytes_));
  }
  recording::BagWriter writer_;
  std::size_t tf_ = 0;
  std::size_t odometry_ = 0;
  std::string bytes_;
};

Status write_all(const fs::path& folder, const OdometryTracks& tracks, const GateReplay& replay) {
  Result<GatedBag> bag = GatedBag::create(folder);
  if (!bag) return bag.error();
  std::size_t w = 0;
  const auto wheels_until = [&](double t_s) -> Status {
    for (; w < tracks.wheels.size() && tracks.wheels.t_s[w] <= t_s; ++w) {
      if (const Status done = bag->wheels(time_of(tracks, tracks.wheels.t_s[w]), tracks.wheels.pose[w]); !done) return done;
    }
    return {};
  };
  for (std::size_t i = 0; i < replay.poses.size(); ++i) {
    if (const Status done = wheels_until(tracks.scans.t_s[i]); !done) return done;
    const GateVerdict verdict = replay.poses[i].verdict;
    if (verdict == GateVerdict::kNotFinite || verdict == GateVerdict::kOutOfOrder) continue;
    if (const Status done = bag->gated(replay.poses[i]); !done) return done;
  }
  if (const Status done = wheels_until(INFINITY); !done) return done;
  return bag->close();
}

Table verdicts_of(const GateReplay& replay) {
  Table table{
      "verdicts",
      "Verdicts",
      "too_fast and too_sharp are jumps, too_long a pose that outruns the wheels over the window, gap a step over a hole in the poses",
      {{"verdict", "verdict"}, {"poses", "poses"}},
      {}};
  for (std::size_t v = 0; v < replay.counts.verdicts.size(); ++v) {
    table.rows.push_back(
        {text(std::string(to_string(static_cast<GateVerdict>(v)))), number(static_cast<double>(replay.counts.verdicts[v]), 0)});
  }
  return table;
}

Table replaced_of(const OdometryTracks& tracks, const GateReplay& replay) {
  Table table{
      "replaced",
      "Steps that are replaced",
      "raw: the step by scans; taken: that of the wheels over the same time, or where they do not cover it the raw one cut to the bound",
      {{"t_s", "t [s]"},
       {"verdict", "verdict"},
       {"raw_forward_m", "raw forward [m]"},
       {"raw_left_m", "raw left [m]"},
       {"raw_yaw_deg", "raw turn [deg]"},
       {"taken_forward_m", "taken forward [m]"},
       {"taken_left_m", "taken left [m]"},
       {"taken_yaw_deg", "taken turn [deg]"},
       {"by_wheels", "by wheels"}},
      {}};
  for (std::size_t i = 0; i < replay.poses.size(); ++i) {
    const GatedPose& p = replay.poses[i];
    if (!p.replaced()) continue;
    table.rows.push_back({number(tracks.scans.t_s[i], 1), text(std::string(to_string(p.verdict))), number(p.step_raw.x, 4),
                          number(p.step_raw.y, 4), number(math::degrees(p.step_raw.yaw), 2), number(p.step_taken.x, 4),
                          number(p.step_taken.y, 4), number(math::degrees(p.step_taken.yaw), 2), flag(p.by_wheels)});
  }
  return table;
}

double change_percent(const GateReplay& replay) { return 100.0 * (replay.gated_way_m - replay.raw_way_m) / replay.raw_way_m; }

Section section_of(const OdometryTracks& tracks, const GateReplay& replay) {
  Section s;
  s.key = "icp_gate_replay";
  s.title = tracks.path.string();
  s.notes.push_back(
      "how to read it: on a drive without excursions nothing is replaced and both ways are the same to the last digit; a way that gets "
      "much "
      "shorter is jumps taken out, or a bound that driving breaks (odom_health shows which)");
  s.facts = {{"recording", "recording", text(tracks.path.string())},
             {"wheels", "wheels", text(tracks.wheels.source)},
             {"scans", "scans", text(tracks.scans.source)},
             {"poses", "poses", count(replay.poses.size())},
             {"replaced", "steps replaced", number(static_cast<double>(replay.counts.replaced()), 0)},
             {"without_wheels", "of them without wheels", number(static_cast<double>(replay.counts.without_wheels), 0)},
             {"absorbed_m", "way between raw and taken steps, summed [m]", number(replay.counts.absorbed_m)},
             {"absorbed_deg", "turn between them, summed [deg]", number(math::degrees(replay.counts.absorbed_rad), 2)},
             {"raw_path_m", "path before [m]", number(replay.raw_way_m, 2)},
             {"gated_path_m", "path after [m]", number(replay.gated_way_m, 2)},
             {"path_change_percent", "change of the path [%]", number(change_percent(replay), 2)},
             {"windows", "windows of a second", count(replay.windows)},
             {"quiet_windows", "of them without slip", count(replay.quiet_windows)},
             {"quiet_wheels_m", "path of the wheels in these [m]", number(replay.quiet_wheels_m, 2)},
             {"quiet_raw_m", "path before in these [m]", number(replay.quiet_raw_m, 2)},
             {"quiet_gated_m", "path after in these [m]", number(replay.quiet_gated_m, 2)},
             {"quiet_off_percent", "path after off the wheels' in these [%]", number(replay.quiet_off_percent(), 2)},
             {"raw_fastest_mps", "fastest step before [m/s]", number(replay.raw_fastest_mps)},
             {"gated_fastest_mps", "fastest step after [m/s]", number(replay.gated_fastest_mps)}};
  s.tables = {verdicts_of(replay), replaced_of(tracks, replay)};
  return s;
}

void add_window(GateReplay& replay, const localization::SlipMonitorParameters& thresholds, const localization::SlipResidual& raw,
                const localization::SlipResidual& gated) {
  ++replay.windows;
  if (localization::classify(thresholds, raw, std::nullopt) != localization::SlipState::kOk) return;
  ++replay.quiet_windows;
  replay.quiet_wheels_m += raw.wheel_mps * thresholds.window_s;
  replay.quiet_raw_m += raw.scan_mps * thresholds.window_s;
  replay.quiet_gated_m += gated.scan_mps * thresholds.window_s;
}

}  // namespace

GateReplay replay_gate(const OdometryTracks& tracks, const localization::OdometryGateParameters& parameters) {
  const auto thresholds = localization::SlipMonitorParameters::for_speed(parameters.envelope.max_speed_mps);
  localization::OdometryGuard guard(parameters, thresholds);
  localization::SlipMonitor gated(thresholds);  // measures the gated pose as the guard's does the raw one
  const Duration window = from_seconds(thresholds.window_s);
  std::optional<Time> window_end;
  GateReplay replay;
  std::size_t w = 0;
  for (std::size_t i = 0; i < tracks.scans.size(); ++i) {
    // Up to the first sample of the wheels that is not before the pose.
    for (; w < tracks.wheels.size() && (w == 0 || tracks.wheels.t_s[w - 1] < tracks.scans.t_s[i]); ++w) {
      guard.add_wheels(time_of(tracks, tracks.wheels.t_s[w]), tracks.wheels.pose[w]);
      gated.add_wheels(time_of(tracks, tracks.wheels.t_s[w]), tracks.wheels.pose[w]);
    }
    Pose2 raw = tracks.scans.pose[i];
    raw.yaw = wrap_angle(raw.yaw);
    const Time now = time_of(tracks, tracks.scans.t_s[i]);
    const GatedPose pose = guard.add_pose(now, raw);
    gated.add_scan_pose(now, pose.T_odom_base);
    replay.poses.push_back(pose);
    if (!window_end) window_end = now + window;
    if (now >= *window_end) {
      window_end = *window_end + window;
      add_window(replay, thresholds, guard.monitor().residual(now), gated.residual(now));
    }
    if (i == 0) continue;
    const double dt_s = tracks.scans.t_s[i] - tracks.scans.t_s[i - 1];
    const double raw_m = norm(pose.step_raw.position());
    const double taken_m = norm(pose.step_taken.position());
    replay.raw_way_m += raw_m;
    replay.gated_way_m += taken_m;
    replay.raw_fastest_mps = std::max(replay.raw_fastest_mps, raw_m / dt_s);
    replay.gated_fastest_mps = std::max(replay.gated_fastest_mps, taken_m / dt_s);
  }
  replay.counts = guard.gate().counts();
  return replay;
}

Status write_gated(const fs::path& out, const OdometryTracks& tracks, const GateReplay& replay) {
  std::error_code failed;
  if (fs::exists(out, failed)) return Error{out.string() + ": exists; name a folder that does not"};
  const fs::path beside = out.string() + ".part";
  fs::remove_all(beside, failed);
  Status done = write_all(beside, tracks, replay);
  if (done) {
    fs::rename(beside, out, failed);
    if (failed) done = Error{out.string() + ": cannot be made: " + failed.message()};
  }
  if (!done) fs::remove_all(beside, failed);
  return done;
}

GatedReport icp_gate_replay(const fs::path& recording, const GateReplayOptions& options) {
  GatedReport report;
  report.document.title = "Odometry gate, replayed";
  const auto refuse = [&report](const Error& error) {
    report.refused.push_back(error.message);
    return report;
  };
  std::error_code ignored;
  if (!options.out.empty() && fs::exists(options.out, ignored))
    return refuse({options.out.string() + ": exists; name a folder that does not"});
  const Result<OdometryTracks> tracks = load_tracks(recording, options.tracks);
  if (!tracks) return refuse(tracks.error());
  const GateReplay replay = replay_gate(*tracks, options.gate);
  if (!options.out.empty()) {
    if (const Status written = write_gated(options.out, *tracks, replay); !written) return refuse(written.error());
    report.written.push_back(options.out.string());
  }
  report.document.sections.push_back(section_of(*tracks, replay));
  report.document.warnings = tracks->warnings;
  report.gate.at_most(recording.string() + ": steps replaced", options.max_replaced, static_cast<double>(replay.counts.replaced()));
  report.gate.at_most(recording.string() + ": change of the path", options.max_path_percent, change_percent(replay), "%");
  report.gate.at_most(recording.string() + ": path off the wheels' where nothing slips", options.max_quiet_percent,
                      replay.quiet_off_percent(), "%");
  report.gate.add_to(report.document);
  return report;
}

}  // namespace pitwall::analysis

// SPDX-License-Identifier: Apache-2.0
#include "analysis/path_recording.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/signal.hpp"
#include "ros_messages/graph.hpp"

namespace pitwall::analysis {

namespace {

namespace fs = std::filesystem;
namespace ros = ros_messages;
using tracks::PathSample;

constexpr double kCommandHeld_s = 0.5;

/// Poses of the wheel odometry in `frame`, by /tf at each stamp; nothing where no chain leads there.
Result<std::optional<Track>> odometry_in(const fs::path& path, const std::string& frame, StampClock& clock, const Track& odometry) {
  if (odometry.frame == frame) return std::optional(odometry);
  const Result<Track> correction = read_edge_track(path, {frame, odometry.frame}, clock);
  if (!correction) return correction.error();
  if (correction->size() == 0) return std::optional<Track>{};
  Track out;
  out.source = odometry.source + " in " + frame;
  for (std::size_t i = 0; i < odometry.size(); ++i) {
    // Before the first correction nobody knows; between two it is interpolated, after the last it holds.
    const double at_s = odometry.t_s[i];
    if (at_s < correction->t_s.front()) continue;
    const Pose2 T = correction->at(at_s, INFINITY).value_or(correction->pose.back());
    out.t_s.push_back(at_s);
    out.pose.push_back(T * odometry.pose[i]);
  }
  return std::optional(std::move(out));
}

/// The poses in `frame`: wheel odometry through /tf, else those of a localiser.
Result<Track> poses_in(const fs::path& path, const RunData& run, const std::string& frame, StampClock& clock, Track& recorded) {
  if (const UsedTopic* topic = run.topic("odometry"); topic != nullptr) {
    Result<Track> odometry = read_topic_track(path, topic->name, clock);
    if (!odometry) return odometry.error();
    recorded = *std::move(odometry);
    Result<std::optional<Track>> in_frame = odometry_in(path, frame, clock, recorded);
    if (!in_frame) return in_frame.error();
    if (*in_frame) return **std::move(in_frame);
  }
  if (run.pose.size() > 0 && frame == "map") {
    std::vector<Pose2> poses;
    for (std::size_t i = 0; i < run.pose.size(); ++i) poses.push_back({run.pose.x_m[i], run.pose.y_m[i], run.pose.yaw_rad[i]});
    return track_of(run.topic("pose")->name, run.pose.t_s, poses);
  }
  if (run.topic("odometry") == nullptr) return Error{path.string() + ": no odometry and no pose in frame '" + frame + "'"};
  return Error{path.string() + ": the plan is in frame '" + frame + "', and /tf has no transform from there to the frame of " +
               run.topic("odometry")->name};
}

template <class Series>
std::vector<double> sorted_values(const Series& order, const std::vector<double>& values) {
  std::vector<double> out;
  for (const std::size_t i : order) out.push_back(values[i]);
  return out;
}

/// Speed and command at each pose.
std::vector<PathSample> samples_of(const Track& track, const RunData& run) {
  const auto by = [&](const std::vector<double>& t_s, const std::vector<double>& values, signals::Between between, double gap_s) {
    const auto order = sorted_by_stamp(t_s);
    if (order.empty()) return std::vector<double>(track.size(), NAN);
    return signals::resample(sorted_values(order, t_s), sorted_values(order, values), track.t_s, between, gap_s);
  };
  const auto speed = by(run.odometry.t_s, run.odometry.speed_mps, signals::Between::kLinear, 0.5);
  const auto command = by(run.command.t_s, run.command.speed_mps, signals::Between::kHeld, kCommandHeld_s);
  std::vector<PathSample> samples;
  for (std::size_t i = 0; i < track.size(); ++i) {
    PathSample s;
    s.time_s = track.t_s[i];
    s.pose = track.pose[i];
    s.pose.yaw = wrap_angle(s.pose.yaw);
    const std::size_t a = i > 0 ? i - 1 : i;
    const std::size_t b = i > 0 ? i : std::min(i + 1, track.size() - 1);
    const double along =
        b > a ? dot(track.pose[b].position() - track.pose[a].position(), unit_vector(s.pose.yaw)) / (track.t_s[b] - track.t_s[a]) : 0.0;
    s.speed_mps = std::isfinite(speed[i]) ? speed[i] : along;
    if (std::isfinite(command[i])) s.commanded_mps = command[i];
    samples.push_back(s);
  }
  return samples;
}

}  // namespace

Result<PathRecording> load_path_recording(const fs::path& path, const PathReportOptions& options) {
  PathRecording r;
  LoadOptions load;
  load.car = options.car;
  Result<RunData> run = load_run(path, load);
  if (!run) return run.error();
  r.run = *std::move(run);
  r.plan_frame = "map";
  StampClock clock(r.run.origin);
  if (options.line.empty()) {
    if (!has_messages(path, options.plan_topic)) {
      return Error{path.string() + ": no plan: there is no " + options.plan_topic +
                   " with messages (--plan TOPIC, or --line FILE for a line of your own)"};
    }
    const Status read = each_message<ros::Path>(path, options.plan_topic, [&](const ros::Path& m, Time arrival) {
      TimedPlan plan{clock.seconds(m.header.stamp, arrival), {}};
      for (const ros::PoseStamped& pose : m.poses) plan.points.push_back({pose.pose.position.x, pose.pose.position.y});
      if (plan.points.empty()) return;
      r.plan_frame = m.header.frame_id;
      r.plans.push_back(std::move(plan));
    });
    if (!read) return read.error();
    if (r.plans.empty()) return Error{path.string() + ": no plan: every message of " + options.plan_topic + " is empty or unreadable"};
  }
  const Result<Track> track = poses_in(path, r.run, r.plan_frame, clock, r.odometry);
  if (!track) return track.error();
  if (track->size() == 0) return Error{path.string() + ": no pose in frame '" + r.plan_frame + "'"};
  r.samples = samples_of(*track, r.run);
  if (track->left_out > 0) r.warnings.push_back(path.string() + ": " + std::to_string(track->left_out) + " poses left out");
  if (r.run.damaged) r.warnings.push_back(path.string() + " is damaged: what can be read is used");
  return r;
}

}  // namespace pitwall::analysis

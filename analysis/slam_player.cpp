// SPDX-License-Identifier: Apache-2.0
#include "analysis/slam_player.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "recording/bag_reader.hpp"
#include "ros_messages/convert.hpp"
#include "ros_messages/nav.hpp"

namespace pitwall::analysis {

namespace {

namespace ros = ros_messages;

constexpr std::size_t kMostMissingInARow = 10;
constexpr std::uint64_t kPlayProgressEvery = 1024;

// The z axis of the scanner, seen from the base, points down.
bool is_upside_down(const recording::Pose3& p) { return p.qx * p.qx + p.qy * p.qy > 0.5; }

std::vector<std::string> topics_to_copy(const recording::BagReader& all, const std::string& scan_topic) {
  std::vector<std::string> names;
  for (const recording::Topic& topic : all.topics()) {
    if (topic.type == ros::TFMessage::kType || topic.type == ros::Odometry::kType || topic.name == scan_topic) names.push_back(topic.name);
  }
  return names;
}

}  // namespace

PoseSequenceError pose_sequence_error(const PosesByStamp& recorded, const PosesByStamp& replayed) {
  PoseSequenceError error;
  for (const auto& [stamp, pose] : recorded) {
    const auto again = replayed.find(stamp);
    if (again == replayed.end()) {
      ++error.missing;
      continue;
    }
    ++error.compared;
    const Pose2 a = pose.planar();
    const Pose2 b = again->second.planar();
    error.max_position_m = std::max(error.max_position_m, distance(a.position(), b.position()));
    error.max_heading_deg = std::max(error.max_heading_deg, std::abs(wrap_angle(b.yaw - a.yaw)) / math::kDegree);
  }
  error.extra = replayed.size() - error.compared;
  return error;
}

Status SlamPlayer::make_engine(const Waiting& scan) {
  const auto mount = run_.tree.lookup(run_.base_frame, scan.frame, scan.scan.stamp);
  if (!mount) {
    return Error{run_.path.string() + ": the transforms do not say where the scanner '" + scan.frame + "' sits on '" + run_.base_frame +
                 "'"};
  }
  if (is_upside_down(*mount)) return Error{run_.path.string() + ": the scanner '" + scan.frame + "' hangs upside down, which is not read"};
  engine_ = options_.engine == ReplayEngine::kOwn ? own_engine(parameters_, mount->planar()) : recorded_engine(run_.poses);
  return {};
}

Status SlamPlayer::give(const Waiting& scan, Time start) {
  const Time stamp = scan.scan.stamp;
  const bool planned = options_.mode == ReplayMode::kAdmitted;
  std::optional<recording::Pose3> pose;
  if (const auto T_odom_base = run_.tree.planar(run_.odom_frame, run_.base_frame, stamp); !T_odom_base) {
    drop(scan, "no transform");
  } else {
    if (!engine_) {
      if (const Status made = make_engine(scan); !made) return made;
    }
    ++given_;
    pose = engine_->add(scan.scan, *T_odom_base, velocity_at(run_.tree, run_.odom_frame, run_.base_frame, stamp));
    if (pose) T_map_odom_ = pose->planar() * inverse(*T_odom_base);
  }
  if (!pose) {
    if (planned) missing_in_a_row_.push_back(stamp);
    if (missing_in_a_row_.size() > kMostMissingInARow) gave_up_after_ = missing_in_a_row_;
    return {};
  }
  missing_in_a_row_.clear();
  poses_.try_emplace(stamp, *pose);
  // Time of the recording passes `rate` times as fast as that of the engine.
  free_at_ = options_.mode == ReplayMode::kRate ? start + from_seconds(1e-3 * options_.cost_ms * options_.rate) : start;
  worst_latency_s_ = std::max(worst_latency_s_, (free_at_ - scan.arrival).seconds());
  return bag_.pose(free_at_, stamp, *pose);
}

Status SlamPlayer::arrived(Waiting&& scan) {
  if (options_.mode == ReplayMode::kAdmitted) {
    if (!recorded_.contains(scan.scan.stamp) || poses_.contains(scan.scan.stamp)) return {};
    return give(scan, scan.arrival);
  }
  if (options_.mode == ReplayMode::kAllScans) return give(scan, scan.arrival);
  if (waiting_ && free_at_ <= scan.arrival) {
    const Waiting first = *std::exchange(waiting_, std::nullopt);
    if (const Status given = give(first, free_at_); !given) return given;
  }
  if (free_at_ <= scan.arrival) return give(scan, scan.arrival);
  if (waiting_) drop(*waiting_, "busy");
  waiting_ = std::move(scan);
  return {};
}

Status SlamPlayer::play() {
  const auto all = recording::BagReader::open(run_.path);
  if (!all) return all.error();
  recording::ReadOptions only;
  only.topics = topics_to_copy(*all, run_.scan_topic);
  auto reader = recording::BagReader::open(run_.path, only);
  if (!reader) return reader.error();
  ros::LaserScan wire;
  std::uint64_t done = 0;
  while (const recording::BagMessage* message = reader->next()) {
    const recording::Topic& topic = reader->topics()[message->topic];
    if (const Status copied = bag_.copy(topic, *message); !copied) return copied;
    if (++done % kPlayProgressEvery == 0 && options_.progress && !options_.progress(done, reader->message_count()))
      return Error{"interrupted"};
    if (topic.name != run_.scan_topic || !ros::read(recording::as_text(message->data), wire)) continue;
    const Time now = message->log_time;
    Waiting scan{ros::from_ros(wire), frame_name(wire.header.frame_id), now};
    const Time stamp = scan.scan.stamp;
    if (const Status taken = arrived(std::move(scan)); !taken) return taken;
    if (!gave_up_after_.empty()) return {};
    if (!T_map_odom_) continue;
    if (const Status said = bag_.correction(now, stamp, *T_map_odom_); !said) return said;
  }
  if (waiting_) {
    if (const Status given = give(*waiting_, free_at_); !given) return given;
  }
  return engine_ ? engine_->finish() : Status();
}

}  // namespace pitwall::analysis

// SPDX-License-Identifier: Apache-2.0
#include "analysis/track.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/text.hpp"
#include "recording/bag_reader.hpp"
#include "ros_messages/convert.hpp"
#include "ros_messages/graph.hpp"

namespace pitwall::analysis {

namespace fs = std::filesystem;
namespace ros = ros_messages;

std::optional<Pose2> Track::at(double at_s, double longest_gap_s) const {
  const auto after = std::lower_bound(t_s.begin(), t_s.end(), at_s);
  if (after == t_s.end()) return std::nullopt;
  const auto i = static_cast<std::size_t>(after - t_s.begin());
  if (*after == at_s) return pose[i];
  if (i == 0 || t_s[i] - t_s[i - 1] > longest_gap_s) return std::nullopt;
  const double share = (at_s - t_s[i - 1]) / (t_s[i] - t_s[i - 1]);
  const auto between = [share](double a, double b) { return a + share * (b - a); };
  return Pose2{between(pose[i - 1].x, pose[i].x), between(pose[i - 1].y, pose[i].y), between(pose[i - 1].yaw, pose[i].yaw)};
}

Track track_of(std::string source, const std::vector<double>& t_s, const std::vector<Pose2>& poses) {
  std::vector<double> finite_s;
  std::vector<Pose2> finite;
  for (std::size_t i = 0; i < poses.size(); ++i) {
    if (!std::isfinite(poses[i].x) || !std::isfinite(poses[i].y) || !std::isfinite(poses[i].yaw) || !std::isfinite(t_s[i])) continue;
    finite_s.push_back(t_s[i]);
    finite.push_back(poses[i]);
  }
  Track track;
  track.source = std::move(source);
  for (const std::size_t i : sorted_by_stamp(finite_s)) {
    Pose2 pose = finite[i];
    if (!track.pose.empty()) pose.yaw = track.pose.back().yaw + wrap_angle(pose.yaw - track.pose.back().yaw);
    track.t_s.push_back(finite_s[i]);
    track.pose.push_back(pose);
  }
  track.left_out = poses.size() - track.size();
  return track;
}

std::optional<FrameEdge> FrameEdge::parse(std::string_view text) {
  constexpr std::string_view kArrow = "->";
  const std::size_t arrow = text.find(kArrow);
  if (arrow == std::string_view::npos) return std::nullopt;
  return FrameEdge{std::string(trim(text.substr(0, arrow))), std::string(trim(text.substr(arrow + kArrow.size())))};
}

bool has_messages(const fs::path& recording, std::string_view topic) {
  const auto bag = recording::BagReader::open(recording);
  return bag && std::any_of(bag->topics().begin(), bag->topics().end(),
                            [&](const recording::Topic& t) { return t.name == topic && t.message_count > 0; });
}

Status each_transform(const fs::path& recording, const std::vector<std::string>& topics, StampClock& clock,
                      const std::function<void(const FrameEdge& edge, double t_s, const Pose2& T_parent_child)>& take) {
  for (const std::string& topic : topics) {
    if (!has_messages(recording, topic)) continue;
    const Status read = each_message<ros::TFMessage>(recording, topic, [&](const ros::TFMessage& m, Time arrival) {
      for (const ros::TransformStamped& each : m.transforms) {
        const auto& q = each.transform.rotation;
        take({each.header.frame_id, each.child_frame_id}, clock.seconds(each.header.stamp, arrival),
             {each.transform.translation.x, each.transform.translation.y, yaw_of({q.z, q.w})});
      }
    });
    if (!read) return read.error();
  }
  return {};
}

bool is_pose_type(std::string_view type) {
  return type == ros::Odometry::kType || type == ros::PoseStamped::kType || type == ros::PoseWithCovarianceStamped::kType;
}

namespace {

const ros::Pose& pose_of(const ros::PoseStamped& m) { return m.pose; }
const ros::Pose& pose_of(const ros::PoseWithCovarianceStamped& m) { return m.pose.pose; }
const ros::Pose& pose_of(const ros::Odometry& m) { return m.pose.pose; }

template <class Message>
Result<Track> read_poses(const fs::path& recording, const std::string& topic, StampClock& clock) {
  std::vector<double> t_s;
  std::vector<Pose2> poses;
  std::string frame;
  const Status read = each_message<Message>(recording, topic, [&](const Message& m, Time arrival) {
    const ros::Pose& pose = pose_of(m);
    frame = m.header.frame_id;
    t_s.push_back(clock.seconds(m.header.stamp, arrival));
    poses.push_back({pose.position.x, pose.position.y, yaw_of({pose.orientation.z, pose.orientation.w})});
  });
  if (!read) return read.error();
  Track track = track_of(topic, t_s, poses);
  track.frame = frame;
  return track;
}

}  // namespace

Result<Track> read_topic_track(const fs::path& recording, const std::string& topic, StampClock& clock) {
  const auto bag = recording::BagReader::open(recording);
  if (!bag) return bag.error();
  for (const recording::Topic& each : bag->topics()) {
    if (each.name != topic) continue;
    if (each.type == ros::PoseStamped::kType) return read_poses<ros::PoseStamped>(recording, topic, clock);
    if (each.type == ros::PoseWithCovarianceStamped::kType) return read_poses<ros::PoseWithCovarianceStamped>(recording, topic, clock);
    return read_poses<ros::Odometry>(recording, topic, clock);
  }
  return Error{recording.string() + ": no topic " + topic};
}

Result<Track> read_edge_track(const fs::path& recording, const FrameEdge& edge, StampClock& clock) {
  std::vector<double> t_s;
  std::vector<Pose2> poses;
  const Status read =
      each_transform(recording, {"/tf", "/tf_static"}, clock, [&](const FrameEdge& found, double stamp_s, const Pose2& T_parent_child) {
        const bool along = found.parent == edge.parent && found.child == edge.child;
        const bool against = found.parent == edge.child && found.child == edge.parent;
        if (!along && !against) return;
        t_s.push_back(stamp_s);
        poses.push_back(along ? T_parent_child : inverse(T_parent_child));
      });
  if (!read) return read.error();
  Track track = track_of(edge.text(), t_s, poses);
  track.frame = edge.parent;
  return track;
}

}  // namespace pitwall::analysis

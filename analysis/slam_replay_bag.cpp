// SPDX-License-Identifier: Apache-2.0
#include "analysis/slam_replay_bag.hpp"

#include <algorithm>
#include <utility>

#include "recording/recorder.hpp"
#include "ros_messages/convert.hpp"

namespace pitwall::analysis {

namespace {

namespace ros = ros_messages;
constexpr const char* kReplayMapFrame = "map";

ros::TransformStamped transform(Time stamp, const std::string& child, const recording::Pose3& p) {
  ros::TransformStamped t;
  t.header.stamp = ros::to_stamp(stamp);
  t.header.frame_id = kReplayMapFrame;
  t.child_frame_id = child;
  t.transform.translation = {p.x, p.y, p.z};
  t.transform.rotation = {p.qx, p.qy, p.qz, p.qw};
  return t;
}

}  // namespace

Result<ReplayBag> ReplayBag::create(const std::filesystem::path& folder, std::string odom_frame) {
  auto writer = recording::BagWriter::create(folder);
  if (!writer) return writer.error();
  ReplayBag bag{*std::move(writer)};
  const auto tf = bag.writer_.add_topic(recording::topic_for<ros::TFMessage>("/tf"));
  if (!tf) return tf.error();
  const auto pose = bag.writer_.add_topic(recording::topic_for<ros::PoseWithCovarianceStamped>("/pose"));
  if (!pose) return pose.error();
  bag.tf_ = *tf;
  bag.pose_ = *pose;
  bag.odom_frame_ = std::move(odom_frame);
  return bag;
}

template <class Message>
Status ReplayBag::put(std::size_t topic, Time now, const Message& message) {
  ros::write(message, bytes_);
  return writer_.write(topic, now, now, recording::as_bytes(bytes_));
}

Status ReplayBag::copy(const recording::Topic& topic, const recording::BagMessage& message) {
  if (topic.type == ros::TFMessage::kType && topic.name != "/tf_static") {
    if (!ros::read(recording::as_text(message.data), transforms_)) return {};
    auto& all = transforms_.transforms;
    all.erase(std::remove_if(all.begin(), all.end(), [](const auto& t) { return frame_name(t.header.frame_id) == kReplayMapFrame; }),
              all.end());
    return all.empty() ? Status() : put(tf_, message.log_time, transforms_);
  }
  auto found = copied_.find(topic.name);
  if (found == copied_.end()) {
    const auto index = writer_.add_topic(topic);
    if (!index) return index.error();
    found = copied_.emplace(topic.name, *index).first;
  }
  return writer_.write(found->second, message.log_time, message.publish_time, message.data);
}

Status ReplayBag::pose(Time now, Time stamp, const recording::Pose3& p) {
  ros::PoseWithCovarianceStamped m;
  m.header.stamp = ros::to_stamp(stamp);
  m.header.frame_id = kReplayMapFrame;
  m.pose.pose.position = {p.x, p.y, p.z};
  m.pose.pose.orientation = {p.qx, p.qy, p.qz, p.qw};
  return put(pose_, now, m);
}

Status ReplayBag::correction(Time now, Time stamp, const Pose2& T_map_odom) {
  ros::TFMessage m;
  m.transforms.push_back(transform(stamp, odom_frame_, recording::Pose3::of(T_map_odom)));
  return put(tf_, now, m);
}

}  // namespace pitwall::analysis

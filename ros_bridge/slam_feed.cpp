// SPDX-License-Identifier: Apache-2.0
#include "ros_bridge/slam_feed.hpp"

#include <algorithm>
#include <utility>

#include "core/log.hpp"
#include "core/text.hpp"
#include "recording/bytes.hpp"
#include "ros_bridge/typed.hpp"
#include "ros_messages/convert.hpp"
#include "ros_messages/geometry.hpp"
#include "ros_messages/sensors.hpp"

namespace pitwall::ros_bridge {
namespace {

namespace ros = ros_messages;

constexpr std::size_t kSacrifices = 3;

std::string nanoseconds(const std::vector<Time>& stamps) {
  std::vector<std::string> text;
  std::transform(stamps.begin(), stamps.end(), std::back_inserter(text), [](Time t) { return std::to_string(t.ns); });
  return join(text);
}

}  // namespace

Result<AdmissionPlan> plan_admissions(const std::set<Time>& admitted, const std::set<Time>& scans) {
  std::vector<Time> without;
  std::set_difference(admitted.begin(), admitted.end(), scans.begin(), scans.end(), std::back_inserter(without));
  if (!without.empty())
    return Error{std::to_string(without.size()) + " poses have no scan of their stamp, the first at " + std::to_string(without.front().ns) +
                 " ns"};
  AdmissionPlan plan{admitted, {}};
  if (admitted.size() < 2) return plan;
  const Time second = *std::next(admitted.begin());
  for (auto scan = scans.upper_bound(*admitted.begin()); *scan < second && plan.sacrificed.size() < kSacrifices; ++scan)
    plan.sacrificed.insert(*scan);
  if (plan.sacrificed.size() == kSacrifices) return plan;
  return Error{"only " + std::to_string(plan.sacrificed.size()) +
               " scans lie between the first two that were taken in; slam_toolbox rejects three"};
}

Status SlamFeed::open(Graph& graph) {
  return subscribe<ros::PoseWithCovarianceStamped>(
      graph, options_.pose_topic, Qos::subscribe(100), [this](const auto& m, const Arrival& /*arrival*/) {
        const Time stamp = ros::to_time(m.header.stamp);
        const ros::Pose& p = m.pose.pose;
        poses_.try_emplace(stamp, recording::Pose3{p.position.x, p.position.y, p.position.z, p.orientation.x, p.orientation.y,
                                                   p.orientation.z, p.orientation.w});
        if (options_.plan.sacrificed.contains(stamp) && wrong_)
          wrong_ = Error{"the scan of " + std::to_string(stamp.ns) + " ns was taken in, which slam_toolbox would have rejected"};
      });
}

Status SlamFeed::give(const recording::BusMessage& message) {
  if (!wrong_) return wrong_;
  if (message.topic == options_.scan_topic) return give_scan(message);
  if (message.topic == "/tf") return give_transforms(message);
  return player_.give(message);
}

Status SlamFeed::give_transforms(const recording::BusMessage& message) {
  auto tf = ros::read<ros::TFMessage>(recording::as_text(message.data));
  if (!tf) return player_.give(message);
  const auto of_slam = [&](const ros::TransformStamped& t) {
    return t.header.frame_id == options_.map_frame || t.header.frame_id == "/" + options_.map_frame;
  };
  if (std::none_of(tf->transforms.begin(), tf->transforms.end(), of_slam)) return player_.give(message);
  std::erase_if(tf->transforms, of_slam);
  if (tf->transforms.empty()) return {};
  const std::string bytes = ros::write(*tf);
  return player_.give({message.topic, message.type, message.time, recording::as_bytes(bytes)});
}

Status SlamFeed::give_scan(const recording::BusMessage& message) {
  const AdmissionPlan& plan = options_.plan;
  if (plan.admitted.empty()) {
    ++scans_given_;
    return player_.give(message);
  }
  const auto scan = ros::read<ros::LaserScan>(recording::as_text(message.data));
  if (!scan) return Error{message.topic + ": " + scan.error().message};
  const Time stamp = ros::to_time(scan->header.stamp);
  if (!plan.admitted.contains(stamp) && !plan.sacrificed.contains(stamp)) return {};
  ++scans_given_;
  if (Status given = player_.give(message); !given) return given;
  if (!plan.admitted.contains(stamp)) return {};
  if (Status status = player_.wait_for([&] { return poses_.contains(stamp) || !wrong_; }, options_.patience); !status) return status;
  if (!wrong_) return wrong_;
  if (poses_.contains(stamp)) {
    missing_.clear();
    return {};
  }
  missing_.push_back(stamp);
  log::warn("no pose of the scan of " + std::to_string(stamp.ns) + " ns");
  if (missing_.size() <= options_.most_missing) return {};
  return Error{std::to_string(missing_.size()) + " poses in a row did not come: " + nanoseconds(missing_) + " ns"};
}

}  // namespace pitwall::ros_bridge

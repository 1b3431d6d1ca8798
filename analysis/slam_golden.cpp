// SPDX-License-Identifier: Apache-2.0
#include "analysis/slam_golden.hpp"

#include <optional>
#include <string>
#include <utility>

#include "analysis/slam_engine.hpp"
#include "analysis/transform_tree.hpp"
#include "core/hash.hpp"
#include "localization/pose_track.hpp"
#include "localization/slam/evaluation.hpp"
#include "recording/bag.hpp"
#include "ros_messages/convert.hpp"
#include "ros_messages/nav.hpp"

namespace pitwall::analysis {

namespace {

namespace ros = ros_messages;
using recording::BusMessage;

constexpr Duration kOdometryHorizon{2'000'000'000};

/// What the handlers share.
struct Listener {
  TransformTree mounts;
  localization::PoseTrack odometry{kOdometryHorizon};
  std::string base_frame;
  std::optional<slam::Slam> slam;
  std::optional<Error> failed;

  template <class Message>
  std::optional<Message> read(const BusMessage& message) {
    if (failed) return std::nullopt;
    auto read = ros::read<Message>(recording::as_text(message.data));
    if (read) return *std::move(read);
    failed = Error{message.topic + ": " + read.error().message};
    return std::nullopt;
  }

  void transforms(const BusMessage& message) {
    const auto list = read<ros::TFMessage>(message);
    if (!list) return;
    for (const auto& each : list->transforms) mounts.add(each, true);
    mounts.complete();
  }

  void odometry_came(const BusMessage& message) {
    const auto wire = read<ros::Odometry>(message);
    if (!wire) return;
    const pitwall::Odometry o = ros::from_ros(*wire);
    base_frame = frame_name(wire->child_frame_id);
    odometry.add(o.stamp, {o.position.x, o.position.y, yaw_of(o.orientation)});
  }

  void scan_came(const BusMessage& message) {
    const auto wire = read<ros::LaserScan>(message);
    if (!wire) return;
    const LaserScan scan = ros::from_ros(*wire);
    const auto T_odom_base = odometry.empty() ? std::nullopt : odometry.at(scan.stamp);
    if (!T_odom_base) return;
    if (!slam) {
      const std::string frame = frame_name(wire->header.frame_id);
      const auto mount = frame == base_frame ? Pose2{} : mounts.planar(base_frame, frame, scan.stamp);
      if (!mount) {
        failed = Error{"/tf_static does not say where the scanner '" + frame + "' sits on '" + base_frame + "'"};
        return;
      }
      slam.emplace(slam::SlamParameters{}, *mount);
    }
    slam->add(scan, *T_odom_base);
  }
};

Result<recording::MapFacts> facts_of(const slam::Slam& slam) {
  const auto built = slam.build_map();
  if (!built) return built.error();
  std::vector<LaserScan> scans;
  std::vector<Pose2> T_map_sensor;
  for (std::size_t k = 0; k < slam.nodes().size(); ++k) {
    scans.push_back(slam.nodes()[k].scan);
    T_map_sensor.push_back(slam.graph().poses[k] * slam.T_base_sensor());
  }
  recording::MapFacts facts;
  facts.hash = to_hex(built->map.content_hash());
  facts.width = built->map.width();
  facts.height = built->map.height();
  facts.crispness_cells = static_cast<std::int64_t>(slam::crispness_cells(scans, T_map_sensor, slam.parameters().registration.max_range_m));
  return facts;
}

}  // namespace

Result<recording::Mapping> map_by_slam(const recording::GoldenScenario& scenario, const std::vector<std::filesystem::path>& recordings,
                                       const recording::PlayerOptions& how) {
  Listener listener;
  recording::Bus bus;
  bus.subscribe("/tf_static", [&](const BusMessage& message) { listener.transforms(message); });
  bus.subscribe(scenario.topic, [&](const BusMessage& message) { listener.odometry_came(message); });
  bus.subscribe("/scan", [&](const BusMessage& message) { listener.scan_came(message); });
  const auto played = play(recordings, bus, how);
  if (!played) return played.error();
  if (listener.failed) return *listener.failed;
  if (!listener.slam) return Error{"no scan on /scan whose stamp " + scenario.topic + " covers"};
  slam::Slam& slam = *listener.slam;
  if (const Status solved = slam.finish(); !solved) return solved.error();
  recording::Mapping mapping;
  mapping.graph = pose_graph_of(slam.graph());
  for (const slam::Placed& placed : slam.trajectory()) {
    if (placed.placement == slam::Placement::kCarried) continue;
    mapping.trajectory.push_back({placed.stamp, recording::Pose3::of(placed.T_map_base)});
  }
  auto facts = facts_of(slam);
  if (!facts) return facts.error();
  mapping.map = *std::move(facts);
  return mapping;
}

}  // namespace pitwall::analysis

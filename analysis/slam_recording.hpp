// SPDX-License-Identifier: Apache-2.0
// A recorded run as the reports about SLAM need it: the transform tree, the corrections of a SLAM as they were received, the poses it
// published, the odometries. Whose SLAM it was does not matter: what is read are standard topics.
//
//   /tf, /tf_static   the tree; the edge from the map frame down is the SLAM's correction of an odometry
//   /pose             PoseWithCovarianceStamped at the stamp of each scan that the SLAM took in: the list of admissions
//   nav_msgs/Odometry where there is no /tf: from its frame to its child frame
//   /map, /scan, /rosout, /parameter_events, any nav_msgs/Odometry
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/transform_tree.hpp"
#include "core/messages.hpp"
#include "core/result.hpp"
#include "recording/bag_info.hpp"
#include "recording/run_folder.hpp"
#include "tracks/map.hpp"

namespace pitwall::analysis {

/// One message of the edge map -> odom.
struct MapOdomSample {
  Time arrival;
  Time stamp;
  Pose2 T_map_odom;
  std::optional<Time> car;  ///< stamp of the newest odometry that had come by then
};

struct PublishedPose {
  Time arrival;
  Time stamp;
  recording::Pose3 pose;
};

struct NamedOdometry {
  std::string topic;
  std::vector<Time> arrival, stamp;
  std::vector<Pose2> pose;
  std::vector<double> speed_mps;
};

struct SlamRecording {
  std::filesystem::path path;
  std::optional<recording::RunManifest> manifest;
  Time origin;  ///< of the times of receipt
  double duration_s = 0.0;
  TransformTree tree;     ///< with the map edge
  std::string map_frame;  ///< empty where nothing is below "map"
  std::string odom_frame;
  std::string base_frame;
  std::vector<MapOdomSample> corrections;  ///< every message, in the order of receipt
  std::vector<PublishedPose> poses;        ///< of /pose, in the order of receipt
  std::vector<NamedOdometry> odometries;
  std::string scan_topic;  ///< empty: none
  std::uint64_t scans = 0;
  std::vector<Time> log_drops;  ///< times of receipt of lines of /rosout about dropped scans
  bool has_rosout = false;
  std::map<std::string, std::string> slam_parameters;  ///< of a node with "slam" in its name, by /parameter_events
  std::optional<tracks::OccupancyMap> map;             ///< the last of /map, else map.yaml of the folder
  std::string map_source;
  std::vector<std::string> warnings;

  /// Where the car was by the SLAM, at a stamp.
  [[nodiscard]] std::optional<Pose2> T_map_base(Time stamp) const { return tree.planar(map_frame, base_frame, stamp); }
};

struct SlamReadOptions {
  std::string odom_frame;  ///< empty: the child of the map frame, else "odom"
  recording::BagProgress progress;
};

/// Errors: nothing there, no transforms, an odometry frame that is not among them (with those that are), interrupted.
Result<SlamRecording> load_slam_recording(const std::filesystem::path& path, const SlamReadOptions& options);

/// Calls `take(scan, frame, arrival)` for every scan of the recording; false stops. Errors of reading.
using TakeScan = std::function<bool(const LaserScan& scan, const std::string& frame, Time arrival)>;
Status each_scan(const SlamRecording& recording, const TakeScan& take);

}  // namespace pitwall::analysis

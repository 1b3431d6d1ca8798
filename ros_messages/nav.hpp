// SPDX-License-Identifier: Apache-2.0
// nav_msgs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ros_messages/geometry.hpp"
#include "ros_messages/standard.hpp"

namespace pitwall::ros_messages {

struct Odometry {
  static constexpr std::string_view kType = "nav_msgs/msg/Odometry";
  Header header;
  std::string child_frame_id;
  PoseWithCovariance pose;    ///< of child_frame_id in header.frame_id
  TwistWithCovariance twist;  ///< in child_frame_id
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("header", m.header)("child_frame_id", m.child_frame_id)("pose", m.pose)("twist", m.twist);
  }
  bool operator==(const Odometry&) const = default;
};

struct Path {
  static constexpr std::string_view kType = "nav_msgs/msg/Path";
  Header header;
  std::vector<PoseStamped> poses;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("header", m.header)("poses", m.poses);
  }
  bool operator==(const Path&) const = default;
};

struct MapMetaData {
  static constexpr std::string_view kType = "nav_msgs/msg/MapMetaData";
  Stamp map_load_time;
  float resolution = 0.0F;   ///< m per cell
  std::uint32_t width = 0;   ///< cells
  std::uint32_t height = 0;  ///< cells
  Pose origin;               ///< of the lower left corner of cell (0, 0)
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("map_load_time", m.map_load_time)("resolution", m.resolution)("width", m.width)("height", m.height)("origin", m.origin);
  }
  bool operator==(const MapMetaData&) const = default;
};

struct OccupancyGrid {
  static constexpr std::string_view kType = "nav_msgs/msg/OccupancyGrid";
  Header header;
  MapMetaData info;
  std::vector<std::int8_t> data;  ///< row by row from the bottom: 0 free to 100 occupied, -1 unknown
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("header", m.header)("info", m.info)("data", m.data);
  }
  bool operator==(const OccupancyGrid&) const = default;
};

}  // namespace pitwall::ros_messages

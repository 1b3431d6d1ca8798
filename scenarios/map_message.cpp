// SPDX-License-Identifier: Apache-2.0
#include "scenarios/map_message.hpp"

#include "core/messages.hpp"
#include "recording/pose_graph.hpp"

namespace pitwall::scenarios {

ros_messages::OccupancyGrid map_message(const tracks::OccupancyMap& map) {
  ros_messages::OccupancyGrid out;
  out.header.frame_id = "map";
  out.info.resolution = static_cast<float>(map.resolution_m());
  out.info.width = static_cast<std::uint32_t>(map.width());
  out.info.height = static_cast<std::uint32_t>(map.height());
  const PlanarQuaternion q = to_quaternion(map.origin().yaw);
  out.info.origin = {{map.origin().x, map.origin().y, 0.0}, {0.0, 0.0, q.z, q.w}};
  out.data.reserve(static_cast<std::size_t>(map.width()) * static_cast<std::size_t>(map.height()));
  for (int j = 0; j < map.height(); ++j) {
    for (int i = 0; i < map.width(); ++i) out.data.push_back(map.value(i, j));
  }
  return out;
}

Result<tracks::OccupancyMap> map_of(const ros_messages::OccupancyGrid& message) {
  const ros_messages::Pose& o = message.info.origin;
  const Pose2 origin =
      recording::Pose3{o.position.x, o.position.y, 0.0, o.orientation.x, o.orientation.y, o.orientation.z, o.orientation.w}.planar();
  return tracks::OccupancyMap::make(static_cast<int>(message.info.width), static_cast<int>(message.info.height),
                                    double{message.info.resolution}, origin, message.data);
}

}  // namespace pitwall::scenarios

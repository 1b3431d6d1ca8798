// SPDX-License-Identifier: Apache-2.0
// For tests: a node that behaves like slam_toolbox on the outside. It takes in the first scan, rejects the second to the fourth, takes in
// the others, and says on /pose where odometry was at that scan; now and then a /map. echo_slam PARAMS [eager | mute]: eager rejects none,
// mute says nothing any more after the fifth pose.
#include <csignal>
#include <cstdio>
#include <string>

#include "core/files.hpp"
#include "ros_bridge/dds/dds_graph.hpp"
#include "ros_bridge/tf_buffer.hpp"
#include "ros_bridge/typed.hpp"
#include "ros_messages/convert.hpp"

namespace {

using namespace pitwall;
namespace ros = ros_messages;

volatile std::sig_atomic_t ending = 0;

int run(const std::string& file, const std::string& how) {
  const auto parameters = read_file(file);
  if (!parameters || parameters->find("throttle_scans: 1\n") == std::string::npos ||
      parameters->find("odom_frame: odom\n") == std::string::npos)
    return 2;
  const auto settings = ros_bridge::settings_from_environment();
  if (!settings) return 2;
  auto graph = ros_bridge::DdsGraph::make({"/slam_toolbox", *settings});
  if (!graph) return 2;
  ros_bridge::TfBuffer tf;
  ros_bridge::Publisher<ros::PoseWithCovarianceStamped> pose;
  ros_bridge::Publisher<ros::OccupancyGrid> map;
  int scans = 0;
  int poses = 0;
  Status opened = pose.open(**graph, "/pose", ros_bridge::Qos::publish());
  if (opened) opened = map.open(**graph, "/map", ros_bridge::Qos::latched());
  for (const bool fixed : {false, true}) {
    const ros_bridge::Qos qos = fixed ? ros_bridge::Qos::latched(100) : ros_bridge::Qos::subscribe(100);
    if (opened)
      opened = ros_bridge::subscribe<ros::TFMessage>(**graph, fixed ? "/tf_static" : "/tf", qos,
                                                     [&, fixed](const auto& m, const auto&) { tf.add(m, fixed); });
  }
  if (opened) {
    opened = ros_bridge::subscribe<ros::LaserScan>(**graph, "/scan", ros_bridge::Qos::subscribe(), [&](const auto& scan, const auto&) {
      ++scans;
      if (how != "eager" && scans > 1 && scans < 5) return;
      const auto T = tf.lookup("odom", "base_link", ros::to_time(scan.header.stamp));
      if (!T || (how == "mute" && poses >= 5)) return;
      ros::PoseWithCovarianceStamped message{{scan.header.stamp, "map"}, {}};
      message.pose.pose = {{T->x, T->y, T->z}, {T->qx, T->qy, T->qz, T->qw}};
      pose.publish(message);
      if (++poses % 10 != 1) return;
      ros::OccupancyGrid grid;
      grid.info.resolution = 0.05F;
      grid.info.width = grid.info.height = 40;
      grid.data.assign(1600, static_cast<std::int8_t>(0));
      map.publish(grid);
    });
  }
  if (!opened) return 2;
  while (ending == 0) (*graph)->wait((*graph)->now() + from_milliseconds(200));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGINT, [](int) { ending = 1; });
  std::signal(SIGTERM, [](int) { ending = 1; });
  return argc < 2 ? 2 : run(argv[1], argc > 2 ? argv[2] : "");
}

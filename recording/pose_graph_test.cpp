// SPDX-License-Identifier: Apache-2.0
#include "recording/pose_graph.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "core/files.hpp"
#include "core/math.hpp"
#include "recording/graph_comparison.hpp"
#include "tests/support/test_data.hpp"

namespace pitwall::recording {
namespace {

std::string g2o_error(const std::string& text) {
  const auto graph = parse_g2o(text, "g");
  return graph ? std::string() : graph.error().message;
}
std::string tum_error(const std::string& text) {
  const auto trajectory = parse_tum(text, "t");
  return trajectory ? std::string() : trajectory.error().message;
}

}  // namespace

TEST_CASE("g2o: planar, spatial, landmarks, links, edges to nodes that are not there; written and read again it is the same") {
  const std::string planar =
      "PARAMS_SE2OFFSET 0 0 0 0\nVERTEX_XY 7 1 2\nVERTEX_SE2 3 1.5 -2 0.25\nVERTEX_SE2 1 0 0 0\nEDGE_SE2 1 3 1 0 0.1 1 0 0 1 0 1 "
      "1\nEDGE_SE2 3 99 "
      "1 0 0.1 1 0 0 1 0 1\nEDGE_SE2_XY 1 7 1 2 1 0 1 8\n";
  const auto graph = parse_g2o(planar, "g");
  REQUIRE(graph.ok());
  CHECK(graph->planar);
  REQUIRE(graph->nodes.size() == 2);
  CHECK(graph->nodes[0].id == 1);
  CHECK(graph->find(3)->pose.x == 1.5);
  CHECK(std::fabs(graph->find(3)->pose.planar().yaw - 0.25) < 1e-15);
  CHECK(graph->find(2) == nullptr);
  CHECK(graph->landmarks.at(0).pose.y == 2.0);
  REQUIRE(graph->edges.size() == 2);
  CHECK(graph->edges[0].is_global_closure());
  CHECK(graph->edges[1].link == 0);
  const std::string written = to_g2o(*graph);
  CHECK(to_g2o(*parse_g2o(written, "again")) == written);

  const std::string spatial =
      "VERTEX_SE3:QUAT 0 1 2 3 0 0 0.1 0.995\nEDGE_SE3:QUAT 0 0 1 2 3 0 0 0 1 1 0 0 0 0 0 1 0 0 0 0 1 0 0 0 1 0 0 1 0 1\n";
  const auto deep = parse_g2o(spatial, "g");
  REQUIRE(deep.ok());
  CHECK_FALSE(deep->planar);
  CHECK(deep->nodes[0].pose.z == 3.0);
  CHECK(to_g2o(*deep) == spatial);
}

TEST_CASE("g2o and TUM that are none are refused with file and line") {
  CHECK(g2o_error("VERTEX_SE2 1 0 0 0\nNODE 2\n") == "g:2: unknown tag 'NODE'");
  CHECK(g2o_error("VERTEX_SE2 1 0 zero 0\n") == "g:1: 'zero' is no finite number");
  CHECK(g2o_error("VERTEX_SE2 one 0 0 0\n") == "g:1: 'one' is no node id");
  CHECK(g2o_error("VERTEX_SE2 1 0 0\n").find("g:1: has 2 numbers") == 0);
  CHECK(g2o_error("EDGE_SE2 1 2 0 0 0 1 0 0 1 0 1 0.5\n").find("the kind of link") != std::string::npos);
  CHECK(g2o_error("VERTEX_SE2 1 0 0 0\nVERTEX_SE2 1 1 0 0\n") == "g: node 1 is given twice");
  CHECK(g2o_error("VERTEX_SE2 1 0 0 0\nVERTEX_SE3:QUAT 2 0 0 0 0 0 0 1\n") == "g:2: planar and spatial poses in one graph");
  CHECK(tum_error("# x\n1 0 0 0 0 0 0\n") == "t:2: has 7 columns, needs 8: stamp x y z qx qy qz qw");
  CHECK(tum_error("x 0 0 0 0 0 0 1\n") == "t:1: 'x' is no stamp in s");
  CHECK(tum_error("2 0 0 0 0 0 0 1\n2 0 0 0 0 0 0 1\n") == "t:2: stamps must rise");
  CHECK(tum_error("2 0 0 nan 0 0 0 1\n") == "t:1: 'nan' is no finite number");
}

TEST_CASE("TUM stamps keep their nanoseconds") {
  const std::string text = "#timestamp x y z qx qy qz qw\n1368730003.896619001 1 2 0 0 0 0 1\n1368730004.000000000 1.1 2 0 0 0 0 1\n";
  const auto trajectory = parse_tum(text, "t");
  REQUIRE(trajectory.ok());
  CHECK((*trajectory)[0].stamp.ns == 1368730003896619001);
  CHECK(to_tum(*trajectory) == text);
}

TEST_CASE("between two poses: half way in place and turn, the shorter way round") {
  const StampedPose a{{0}, Pose3::of({0.0, 0.0, 3.0})};
  const StampedPose b{{1'000'000'000}, Pose3::of({2.0, 4.0, -3.0})};
  const Pose3 half = interpolate(a, b, {500'000'000});
  CHECK(half.x == 1.0);
  CHECK(half.y == 2.0);
  CHECK(std::fabs(std::fabs(half.planar().yaw) - math::kPi) < 1e-12);
  CHECK(interpolate(a, a, {7}) == a.pose);
}

TEST_CASE("public graphs read, with the counts of their lines") {
  const auto root = test_data("slam");
  if (!root) return;
  const auto summary_of = [&](const std::string& name) {
    const auto graph = parse_g2o(read_file(*root / name).value(), name);
    REQUIRE_MESSAGE(graph.ok(), (graph.ok() ? "" : graph.error().message));
    const std::string written = to_g2o(*graph);
    CHECK(to_g2o(*parse_g2o(written, "again")) == written);
    return std::pair(summarize(*graph), graph->edges.size());
  };
  CHECK(summary_of("g2o/intel.g2o").first.nodes == 1728);
  CHECK(summary_of("g2o/intel.g2o").second == 2512);
  CHECK(summary_of("g2o/CSAIL.g2o").second == 1172);
  CHECK(summary_of("g2o/manhattan.g2o").second == 5453);
  CHECK(summary_of("g2o/toyExample.g2o").first.nodes == 5);
  const auto [robot, robot_edges] = summary_of("golden/robot_mapping_excerpt.g2o");
  CHECK(robot.nodes == 13);
  CHECK(robot_edges == 12);
  const auto [object, object_edges] = summary_of("golden/find_object_excerpt.g2o");
  CHECK(object.nodes == 5);
  CHECK(object_edges == 4);
  CHECK(parse_tum(read_file(*root / "golden" / "robot_mapping_excerpt.tum").value(), "tum").ok());
}

}  // namespace pitwall::recording

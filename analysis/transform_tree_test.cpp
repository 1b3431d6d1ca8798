// SPDX-License-Identifier: Apache-2.0
#include "analysis/transform_tree.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace pitwall;
using namespace pitwall::analysis;
using recording::Pose3;

namespace {

ros_messages::TransformStamped transform(double t_s, const char* parent, const char* child, const Pose2& pose) {
  ros_messages::TransformStamped t;
  const std::int64_t ns = from_seconds(t_s).ns;
  t.header.stamp.sec = static_cast<std::int32_t>(ns / 1'000'000'000);
  t.header.stamp.nanosec = static_cast<std::uint32_t>(ns % 1'000'000'000);
  t.header.frame_id = parent;
  t.child_frame_id = child;
  const Pose3 p = Pose3::of(pose);
  t.transform.translation = {p.x, p.y, p.z};
  t.transform.rotation = {p.qx, p.qy, p.qz, p.qw};
  return t;
}

Time at(double t_s) { return Time{} + from_seconds(t_s); }

bool near(const Pose2& a, const Pose2& b) {
  return distance(a.position(), b.position()) < 1e-12 && std::abs(wrap_angle(a.yaw - b.yaw)) < 1e-12;
}

/// The base turns in odom, odom drifts in the map, the scanner is mounted behind.
TransformTree made() {
  TransformTree tree;
  tree.add(transform(0.0, "base_link", "/laser", {0.3, 0.1, 0.5}), true);
  tree.add(transform(2.0, "odom", "base_link", {2.0, 0.0, 1.0}), false);
  tree.add(transform(1.0, "odom", "base_link", {1.0, 0.0, 0.0}), false);
  tree.add(transform(1.0, "map", "odom", {10.0, 0.0, 0.2}), false);
  tree.add(transform(3.0, "map", "odom", {10.0, 2.0, 0.4}), false);
  tree.complete();
  return tree;
}

}  // namespace

TEST_CASE("edges are interpolated each, and then composed") {
  const TransformTree tree = made();
  const Pose2 T_map_odom{10.0, 0.5, 0.25};
  const Pose2 T_odom_base{1.5, 0.0, 0.5};
  CHECK(near(*tree.planar("odom", "base_link", at(1.5)), T_odom_base));
  CHECK(near(*tree.planar("map", "laser", at(1.5)), T_map_odom * T_odom_base * Pose2{0.3, 0.1, 0.5}));
  CHECK(near(*tree.planar("laser", "map", at(1.5)), inverse(T_map_odom * T_odom_base * Pose2{0.3, 0.1, 0.5})));
  CHECK(near(*tree.planar("base_link", "base_link", at(9.0)), Pose2{}));
}

TEST_CASE("a stamp that was recorded gives the very numbers") {
  const TransformTree tree = made();
  const auto pose = tree.lookup("odom", "base_link", at(2.0));
  REQUIRE(pose);
  CHECK(*pose == Pose3::of({2.0, 0.0, 1.0}));
}

TEST_CASE("nothing is extrapolated, and frames that nothing joins have no pose") {
  const TransformTree tree = made();
  CHECK_FALSE(tree.planar("odom", "base_link", at(0.999)));
  CHECK_FALSE(tree.planar("odom", "base_link", at(2.001)));
  CHECK_FALSE(tree.planar("map", "camera", at(1.5)));
  CHECK(tree.planar("base_link", "laser", at(99.0)));
}

TEST_CASE("a second parent and numbers that are none are left out and counted") {
  TransformTree tree;
  tree.add(transform(1.0, "odom", "base_link", {1.0, 0.0, 0.0}), false);
  tree.add(transform(1.0, "map", "base_link", {5.0, 0.0, 0.0}), false);
  tree.add(transform(2.0, "odom", "base_link", {NAN, 0.0, 0.0}), false);
  tree.complete();
  CHECK(tree.second_parents() == 1);
  CHECK(tree.not_finite() == 1);
  CHECK(tree.samples_of("base_link") == 1);
  CHECK(near(*tree.planar("odom", "base_link", at(1.0)), {1.0, 0.0, 0.0}));
}

TEST_CASE("parents that go round in a circle end the way") {
  TransformTree tree;
  tree.add(transform(1.0, "a", "b", {}), false);
  tree.add(transform(1.0, "b", "a", {}), false);
  tree.complete();
  CHECK_FALSE(tree.planar("map", "b", at(1.0)));
}

TEST_CASE("the spatial composition is that of rotations") {
  // A quarter turn about x, then one about z: the second frame's x axis points along z of the first.
  const double h = std::sqrt(0.5);
  const Pose3 about_x{1.0, 0.0, 0.0, h, 0.0, 0.0, h};
  const Pose3 about_z{0.0, 2.0, 0.0, 0.0, 0.0, h, h};
  const Pose3 both = composed(about_x, about_z);
  CHECK(both.x == doctest::Approx(1.0));
  CHECK(both.y == doctest::Approx(0.0));
  CHECK(both.z == doctest::Approx(2.0));
  const Pose3 none = composed(both, inverted(both));
  CHECK(none.x == doctest::Approx(0.0));
  CHECK(none.z == doctest::Approx(0.0));
  CHECK(none.qw == doctest::Approx(1.0));
}

TEST_CASE("the velocity is that of the last 50 ms, and zero where nothing is known") {
  const TransformTree tree = made();
  const localization::Twist v = velocity_at(tree, "odom", "base_link", at(1.5));
  CHECK(v.yaw_radps == doctest::Approx(1.0));
  CHECK(std::hypot(v.x_mps, v.y_mps) == doctest::Approx(1.0).epsilon(1e-3));
  CHECK(velocity_at(tree, "odom", "base_link", at(1.0)) == localization::Twist{});
}

// SPDX-License-Identifier: Apache-2.0
#include "analysis/odometry_tracks.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/tracks.hpp"

using namespace pitwall;
using namespace pitwall::analysis;

TEST_CASE("percentiles are those of numpy") {
  CHECK(percentile({4.0, 1.0, 3.0, 2.0}, 0.5) == 2.5);
  CHECK(percentile({1.0, 2.0, 3.0}, 0.99) == doctest::Approx(2.98));
  CHECK(percentile({7.0}, 0.99) == 7.0);
  CHECK(std::isnan(percentile({}, 0.5)));
}

TEST_CASE("a track leaves out what is no pose and turns on past half a turn") {
  const Track track = track_of("x", {0.0, 2.0, 1.0, 2.0, 3.0}, {{0, 0, 3.0}, {9, 9, 9}, {1, 0, -3.0}, {2, 0, -2.0}, {NAN, 0, 0}});
  REQUIRE(track.size() == 3);
  CHECK(track.left_out == 2);
  CHECK(track.pose[1].yaw == doctest::Approx(2.0 * math::kPi - 3.0));
  CHECK(track.at(1.5, 2.0)->x == doctest::Approx(1.5));
  CHECK_FALSE(track.at(1.5, 0.5));
  CHECK_FALSE(track.at(2.1));
  CHECK_FALSE(track.at(-0.1));
  CHECK(track.at(2.0)->x == 2.0);
}

TEST_CASE("the tracks of a small robot's transforms: the leaf of the wheels, inverted, and the edge by scans") {
  const TempFolder folder("odometry_tracks");
  const std::vector<Pose2> wheels = chain(std::vector<Pose2>(20, {0.02, 0.0, 0.05}));
  const std::vector<Pose2> scans = chain(std::vector<Pose2>(20, {0.021, 0.0, 0.04}));
  const auto bag = tracks_bag(folder.path() / "bag", wheels, scans);
  const auto tracks = load_tracks(bag, {});
  REQUIRE_MESSAGE(tracks.ok(), tracks.error().message);
  CHECK(tracks->wheels.source == "odom_wheel->base_footprint");
  CHECK(tracks->scans.source == "odom->base_footprint");
  REQUIRE(tracks->wheels.size() == 21);
  CHECK(distance(tracks->wheels.pose[20].position(), wheels[20].position()) < 1e-9);
  const TrackIntervals intervals = intervals_of(*tracks);
  REQUIRE(intervals.all.size() == 20);
  CHECK(intervals.all[7].wheels.x == doctest::Approx(0.02));
  CHECK(intervals.all[7].scans.yaw == doctest::Approx(0.04));
  CHECK(intervals.way_m(true) == doctest::Approx(0.42));
  CHECK(intervals.turned_rad(false) == doctest::Approx(1.0));

  TrackOptions options;
  options.wheels = "odom->base_fotprint";
  CHECK(load_tracks(bag, options).error().message.find("did you mean 'odom->base_footprint'") != std::string::npos);
  options.wheels = "base_footprint->odom";
  options.scans = "odom->base_footprint";
  CHECK(load_tracks(bag, options).error().message.find("compared with itself") != std::string::npos);
}

TEST_CASE("tracks that are too short, too far apart or not there are refused in words") {
  const TempFolder folder("odometry_tracks_refused");
  const std::vector<Pose2> longer = chain(std::vector<Pose2>(20, {0.02, 0.0, 0.0}));
  const auto shorter = tracks_bag(folder.path() / "short", longer, chain(std::vector<Pose2>(3, {0.02, 0.0, 0.0})));
  CHECK(load_tracks(shorter, {}).error().message.find("insufficient odometry: 4 poses of odom->base_footprint, needed are 10") !=
        std::string::npos);
  const auto text = recording::small_bag(folder, "text");
  CHECK(load_tracks(text, {}).error().message.find("no wheels odometry: looked for") != std::string::npos);
  CHECK_FALSE(load_tracks(folder.path() / "nothing", {}).ok());
}

TEST_CASE("the recording of a TurtleBot: way, turn and rate of its odometry as published") {
  const auto bag = test_data("bags/evo_nav2_turtlebot");
  if (!bag) return;
  TrackOptions options;
  options.scans = "odom->base_link";
  const auto tracks = load_tracks(*bag, options);
  REQUIRE_MESSAGE(tracks.ok(), tracks.error().message);
  const TrackIntervals intervals = intervals_of(*tracks);
  CHECK(std::abs(intervals.way_m(false) - 34.32) < 0.005);
  CHECK(std::abs(intervals.turned_rad(false) * 180.0 / math::kPi - 806.9) < 0.05);
  std::vector<double> periods;
  for (const TrackInterval& each : intervals.all) periods.push_back(each.dt_s);
  // By the median interval; by number and duration, with its holes, it is 27.3 Hz.
  CHECK(std::abs(1.0 / percentile(periods, 0.5) - 27.8) < 0.05);
}

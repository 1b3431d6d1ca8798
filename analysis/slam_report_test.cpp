// SPDX-License-Identifier: Apache-2.0
#include "analysis/slam_report.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "analysis/plan_picture.hpp"
#include "tests/support/slam_drive.hpp"
#include "tests/support/test_data.hpp"

using namespace pitwall;
using namespace pitwall::analysis;

namespace {

/// A car on a circle of 10 m about the origin, by the SLAM; a lap takes 40 s.
DrivenPath circling(double laps, double closing_error_m) {
  DrivenPath path;
  const int steps = static_cast<int>(std::lround(400.0 * laps));
  for (int k = 0; k <= steps; ++k) {
    const double angle = 2.0 * math::kPi * k / 400.0;
    const double radius = 10.0 + closing_error_m * std::floor(angle / (2.0 * math::kPi) + 1e-9);
    path.t_s.push_back(0.1 * k);
    path.stamp.push_back(Time{} + from_seconds(0.1 * k));
    path.T_map_base.push_back({radius * math::cos(angle), radius * math::sin(angle), wrap_angle(angle + 0.5 * math::kPi)});
    path.odom_yaw_rad.push_back(angle + 0.5 * math::kPi);
  }
  return path;
}

}  // namespace

TEST_CASE("nav2_turtlebot: the published figures of its map corrections") {
  const auto file = test_data("bags/evo_nav2_turtlebot/nav2_turtlebot.mcap");
  if (!file) return;
  const auto facts = slam_facts(*file, {});
  REQUIRE_MESSAGE(facts.ok(), (facts.ok() ? "" : facts.error().message));
  CHECK(facts->run.corrections.size() == 921);
  REQUIRE(facts->corrections.size() == 132);
  double origin = 0.0;
  double car = 0.0;
  double turn = 0.0;
  for (const Correction& c : facts->corrections) {
    origin = std::max(origin, c.at_origin_m);
    car = std::max(car, c.at_car_m);
    turn = std::max(turn, c.turn_rad);
  }
  CHECK(origin == doctest::Approx(0.364).epsilon(0.001));
  CHECK(turn / math::kDegree == doctest::Approx(2.12).epsilon(0.002));
  CHECK(car == doctest::Approx(0.0735).epsilon(0.005));
  REQUIRE(facts->ways.size() == 1);
  CHECK(facts->ways[0].whole_m == doctest::Approx(34.32).epsilon(0.0005));
  CHECK(facts->ways[0].turned_deg == doctest::Approx(806.9).epsilon(0.0005));
  CHECK(facts->ways[0].rate_hz == doctest::Approx(27.8).epsilon(0.003));
}

TEST_CASE("a turn about the car moves the frame's origin and not the car; what is sent again is no correction") {
  const TempFolder folder("slam_report_turn");
  const std::filesystem::path path = folder.path() / "bag";
  {
    recording::BagWriter bag = recording::writer_at(path);
    const std::size_t tf = *bag.add_topic(recording::topic_for<ros_messages::TFMessage>("/tf"));
    const Pose2 T_odom_base{100.0, 0.0, 0.0};
    const Pose2 turned = Pose2{100.0, 0.0, 0.01} * inverse(T_odom_base);
    const Pose2 jumped = Pose2{100.0, 0.5, 0.01} * inverse(T_odom_base);
    const std::vector<Pose2> sent{{}, {}, turned, turned, jumped};
    for (std::size_t k = 0; k < sent.size(); ++k) {
      const Time now{static_cast<std::int64_t>(k + 1) * 100 * recording::kMs};
      recording::put(bag, tf, now.ns, tf_message(now, "odom", "base_link", T_odom_base));
      recording::put(bag, tf, now.ns, tf_message(now, "map", "odom", sent[k]));
    }
    REQUIRE(bag.close().ok());
  }
  const auto facts = slam_facts(path, {});
  REQUIRE_MESSAGE(facts.ok(), (facts.ok() ? "" : facts.error().message));
  CHECK(facts->run.corrections.size() == 5);
  REQUIRE(facts->corrections.size() == 2);
  CHECK(facts->corrections[0].at_car_m == doctest::Approx(0.0));
  CHECK(facts->corrections[0].at_origin_m == doctest::Approx(1.0).epsilon(0.001));
  CHECK(facts->corrections[0].turn_rad == doctest::Approx(0.01));
  CHECK(facts->corrections[1].at_car_m == doctest::Approx(0.5));
  SlamReportOptions options;
  options.out = folder.path() / "out";
  options.max_correction_m = 0.6;
  CHECK(slam_report(path, options).gate.failures().empty());
  options.max_correction_m = 0.4;
  CHECK(slam_report(path, options).gate.failures().size() == 1);
  options.min_consistency_percent = 50.0;  // without a map it is not known, and does not hold
  CHECK(slam_report(path, options).gate.failures().size() == 2);
}

TEST_CASE("a run whose SLAM never published is refused") {
  const TempFolder folder("slam_report_none");
  const std::filesystem::path path = folder.path() / "bag";
  {
    recording::BagWriter bag = recording::writer_at(path);
    const std::size_t tf = *bag.add_topic(recording::topic_for<ros_messages::TFMessage>("/tf"));
    recording::put(bag, tf, recording::kMs, tf_message(Time{recording::kMs}, "odom", "base_link", {}));
    REQUIRE(bag.close().ok());
  }
  const auto facts = slam_facts(path, {});
  REQUIRE_FALSE(facts.ok());
  CHECK(facts.error().message.find("the SLAM never published") != std::string::npos);
}

TEST_CASE("laps close at the nearest approach to the start, and the gate holds them") {
  const std::vector<Correction> corrections{{10.0, 5.0, 0.2, 0.0}, {50.0, 5.0, 0.11, 0.0}, {60.0, 0.0, 0.13, 0.0}, {61.0, 0.0, 2.0, 0.0}};
  const std::vector<SlamLap> laps = slam_laps(circling(2.5, 0.2), corrections);
  REQUIRE(laps.size() == 3);
  CHECK(laps[0].closed);
  CHECK(laps[0].end_s == doctest::Approx(40.0).epsilon(0.01));
  CHECK(laps[0].distance_m == doctest::Approx(62.8).epsilon(0.01));
  CHECK(laps[0].closest_m < 0.21);
  CHECK(laps[0].absorbed == 1);
  CHECK(laps[1].closest_m == doctest::Approx(0.3).epsilon(0.5));
  CHECK(laps[1].absorbed == 2);
  CHECK_FALSE(laps[2].closed);
  CHECK(slam_laps(circling(1.0, 0.0), {}).front().closed);
  // 2 m off when it comes round, 16 cm off at the sample before: a gate of 10 cm stays shut.
  LapRules narrow;
  narrow.closure_m = 0.1;
  const std::vector<SlamLap> open = slam_laps(circling(1.1, 2.0), {}, narrow);
  REQUIRE(open.size() == 1);
  CHECK_FALSE(open[0].closed);
}

TEST_CASE("the log gives closures and verdicts, of the last requested laps alone") {
  const SlamLog log = read_slam_log(
      "[a] [INFO] [1.0] [x]: Closed mapping lap 1/2 detected (126.0m, 700 samples).\n"
      "[slam_toolbox] Loop closed with scan 17\n"
      "[slam_toolbox]: Message Filter dropping message: frame 'laser' at time 1.0\n"
      "[a] [INFO] [2.0] [x]: Closed mapping lap 2/2 detected (125.0m, 690 samples).\n"
      "[a] [INFO] [3.0] [x]: racing profile at /tmp/raceline.csv\n");
  CHECK(log.closures == 1);
  CHECK(log.drops == 1);
  REQUIRE(log.laps.size() == 2);
  CHECK(log.laps[0].verdict == "not judged");
  CHECK(log.laps[1].verdict == "passed");
  CHECK(log.laps[1].line == 5);
  CHECK(read_slam_log("Closed mapping lap 2/2 detected\n").laps.at(0).verdict == "unknown");
  CHECK(read_slam_log("Closed mapping lap 2/2\nlap 2/2 failed: 29.2 deg of 15\nracing profile at x\n").laps.at(0).verdict == "failed");
  CHECK(read_slam_log("lap 4/2 rejected, kept at the lap limit\n").laps.at(0).verdict == "failed (accepted at the ceiling)");
}

TEST_CASE("CPU is that of the SLAM, whatever the order of the columns") {
  const CpuSeries cpu =
      read_slam_cpu("pid,t,name,cpu_percent\n7,100.5,async_slam_toolbox,97.5\n8,100.5,rviz,50\n7,101.5,async_slam_toolbox,x\n");
  REQUIRE(cpu.t_s.size() == 1);
  CHECK(cpu.t_s[0] == 100.5);
  CHECK(cpu.percent[0] == 97.5);
  CHECK(read_slam_cpu("a,b\n1,2\n").t_s.empty());
}

TEST_CASE("a plan shows walls, lines and links") {
  const auto map = tracks::OccupancyMap::make(3, 2, 1.0, {}, {0, 100, 100, -1, 0, 0});
  REQUIRE(map.ok());
  const std::string svg =
      to_svg(Plan{"Map", &*map, {{"trajectory", {{0.0, 0.0}, {3.0, 2.0}}}}, {{"closures", {{{0.0, 0.0}, {1.0, 1.0}}}}}});
  CHECK(svg.find("M") != std::string::npos);
  CHECK(svg.find("trajectory") != std::string::npos);
  CHECK(svg.find("closures") != std::string::npos);
  CHECK(svg.find("nan") == std::string::npos);
  CHECK(to_svg(Plan{"empty", nullptr, {}, {}}).find("inf") == std::string::npos);
}

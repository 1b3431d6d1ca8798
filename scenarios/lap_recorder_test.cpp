// SPDX-License-Identifier: Apache-2.0
#include "scenarios/lap_recorder.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "core/math.hpp"

namespace pitwall::scenarios {
namespace {

/// On a circle of that radius, counter-clockwise from (0, 0) heading +x, at 1 m/s and 40 Hz.
Pose2 on_circle(double radius_m, double angle_rad) {
  return {radius_m * math::sin(angle_rad), radius_m * (1.0 - math::cos(angle_rad)), wrap_angle(angle_rad)};
}

struct Drive {
  LapRecorder recorder;
  double radius_m = 4.0;
  Pose2 T_map_odom;  ///< what the SLAM corrects
  double step_rad = 0.025 / 4.0;
  double angle_rad = 0.0;
  std::int64_t tick = 0;

  explicit Drive(const LapRules& rules = {}) : recorder(rules) {}
  /// Until the car has turned so far, or a lap closes.
  bool until(double to_rad) {
    while (angle_rad < to_rad) {
      const Pose2 T_odom_base = on_circle(radius_m, angle_rad);
      const bool closed = recorder.add({25'000'000 * tick}, T_map_odom * T_odom_base, T_odom_base);
      angle_rad += step_rad;
      ++tick;
      if (closed) return true;
    }
    return false;
  }
};

}  // namespace

TEST_CASE("a round closes as soon as the start is within reach in its direction, and not before") {
  Drive drive;
  REQUIRE(drive.until(20.0));
  // 330 degrees: the heading is within 30 degrees of the start's; the chord is then 2 r sin(15 deg) = 2.07 m, so the gap of 1.5 m decides:
  // r = 4 m, 2 asin(1.5 / 8) = 21.6 degrees before the start.
  const Lap& lap = drive.recorder.closed().front();
  CHECK(std::fabs(lap.turned_rad / math::kDegree - (360.0 - 21.6)) < 3.0);
  CHECK(lap.gap_m <= 1.5);
  CHECK(lap.gap_m > 1.3);
  CHECK(std::fabs(lap.distance_m - 4.0 * lap.turned_rad) < 0.2);
  CHECK(std::fabs(lap.departed_m - 8.0) < 1e-3);
  CHECK(lap.corrections == 0);
  CHECK(lap.missing.empty());
  // Points every 0.15 m and a little more, since there is a tick every 2.5 cm.
  CHECK(lap.points.size() > 23.0 / 0.18);
  CHECK(lap.points.size() <= 23.8 / 0.15);
  // The next lap begins where this one ended.
  CHECK(drive.recorder.current().points.front().stamp == lap.end);
  REQUIRE(drive.until(20.0));
  CHECK(std::fabs(drive.recorder.closed().back().turned_rad / math::kDegree - (360.0 - 21.6)) < 3.0);
}

TEST_CASE("each rule keeps a lap open by itself, and says so") {
  struct Case {
    const char* word;
    void (*stricter)(LapRules&);
  };
  const Case cases[] = {
      {"away from the start 8 m, needed 9 m", [](LapRules& r) { r.departed_m = 9.0; }},
      {"driven 25", [](LapRules& r) { r.distance_m = 40.0; }},
      {"turned 36", [](LapRules& r) { r.turned_rad = 600.0 * math::kDegree; }},
      {"lasted 25", [](LapRules& r) { r.lasted_s = 40.0; }},
      {"points 14", [](LapRules& r) { r.points = 300; }},
  };
  for (const Case& each : cases) {
    LapRules rules;
    each.stricter(rules);
    Drive drive(rules);
    drive.until(2.0 * math::kPi);
    CHECK(drive.recorder.closed().empty());
    const Lap lap = drive.recorder.current();
    REQUIRE(lap.missing.size() == 1);
    CHECK_MESSAGE(lap.missing.front().find(each.word) == 0, lap.missing.front());
  }
}

TEST_CASE("back at the start in another direction, or too far off, is no lap") {
  // Turned by 340 degrees on the way round by odometry, but with the heading of 320 degrees.
  LapRules rules;
  rules.heading_rad = 5.0 * math::kDegree;
  Drive drive(rules);
  drive.until(350.0 * math::kDegree);
  CHECK(drive.recorder.closed().empty());
  CHECK(drive.recorder.current().missing.front().find("heading against the start") == 0);
  rules = {};
  rules.closure_m = 0.1;
  rules.widest_m = 0.1;
  Drive wide(rules);
  wide.until(340.0 * math::kDegree);
  REQUIRE(wide.recorder.current().missing.size() == 1);
  CHECK(wide.recorder.current().missing.front().find("from the start 1.4") == 0);
}

TEST_CASE("the closure widens by 1.5 m a revolution beyond 1.25, up to 4 m") {
  LapRules rules;
  rules.departed_m = 100.0;  // never closed
  Drive drive(rules);
  drive.until(1.2 * 2.0 * math::kPi);
  CHECK(drive.recorder.current().allowed_gap_m == 1.5);
  drive.until(2.25 * 2.0 * math::kPi);
  CHECK(std::fabs(drive.recorder.current().allowed_gap_m - 3.0) < 0.01);
  drive.until(4.0 * 2.0 * math::kPi);
  CHECK(drive.recorder.current().allowed_gap_m == 4.0);
}

TEST_CASE("a correction of the SLAM moves the lap with it and is no way driven; motion is not taken for one") {
  Drive drive;
  drive.until(90.0 * math::kDegree);
  const Lap before = drive.recorder.current();
  drive.T_map_odom = {1.0, -0.5, 0.1};
  drive.until(92.0 * math::kDegree);
  const Lap after = drive.recorder.current();
  CHECK(after.corrections == 1);
  CHECK(std::fabs(after.distance_m - before.distance_m) < 0.3);
  const Pose2 moved = drive.T_map_odom * before.points.front().T_map_base;
  CHECK(distance(after.points.front().T_map_base.position(), moved.position()) < 1e-9);
  CHECK(std::fabs(wrap_angle(after.points.front().T_map_base.yaw - moved.yaw)) < 1e-9);
  // The lap then closes as it would have without.
  REQUIRE(drive.until(20.0));
  CHECK(std::fabs(drive.recorder.closed().front().turned_rad / math::kDegree - 338.4) < 3.0);

  // Steps of 0.3 m between poses are motion where odometry has them too.
  Drive fast;
  fast.step_rad = 0.3 / fast.radius_m;
  fast.until(360.0 * math::kDegree);
  CHECK(fast.recorder.current().corrections == 0);
}

TEST_CASE("of a lap that closed late no more than 1.25 revolutions are kept") {
  LapRules rules;
  rules.lasted_s = 45.0;  // 1.8 revolutions of 25 s
  Drive drive(rules);
  REQUIRE(drive.until(20.0));
  const Lap& lap = drive.recorder.closed().front();
  CHECK(std::fabs(lap.turned_rad) > 1.8 * 2.0 * math::kPi);
  CHECK(lap.turned_rad - lap.points.front().turned_rad <= 2.5 * math::kPi);
  CHECK(lap.turned_rad - lap.points.front().turned_rad > 2.48 * math::kPi);
  CHECK(lap.start.ns == 0);
}

}  // namespace pitwall::scenarios

// SPDX-License-Identifier: Apache-2.0
#include "drivers/turn.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/math.hpp"
#include "drivers/test_bytes.hpp"

using namespace pitwall;
using namespace pitwall::drivers;
using namespace pitwall::drivers::test;

namespace {}  // namespace

TEST_CASE("a turn is a scan counter-clockwise, whatever the points' angles; nearest of two, NaN where none was") {
  TurnAssembler turn({.beams = 360, .range_min_m = 0.1F, .range_max_m = 10.0F});
  std::optional<LaserScan> scan;
  // Clockwise from the front; range tells the angle: left is 1, front 2, right 3, behind 4 m.
  const auto range_at = [](int deg) { return static_cast<float>(deg < 45 || deg >= 315 ? 2 : deg < 135 ? 3 : deg < 225 ? 4 : 1); };
  Time now = ms(1000);
  int scans = 0;
  for (int i = 0; i < 3 * 360; ++i) {
    const int deg = i % 360;
    now = now + from_milliseconds(1);
    if ((deg >= 89 && deg <= 91) || deg == 60 || deg == 134) {
      continue;  // three beams straight to the right; single ones between points
    }
    if (auto done = turn.add({deg * math::kDegree + 0.3 * math::kDegree, range_at(deg), now})) {
      scan = done;
      ++scans;
    }
  }
  CHECK(scans == 2);  // the first turn began in front, so half of it was seen
  REQUIRE(scan);
  const auto at = [&](double left_deg) {
    return scan->ranges[static_cast<std::size_t>(std::lround((left_deg * math::kDegree - scan->angle_min) / scan->angle_increment))];
  };
  CHECK(scan->ranges.size() == 360);
  CHECK(at(0.5) == 2.0F);
  CHECK(at(60.5) == 1.0F);
  CHECK(at(-60.5) == 3.0F);
  CHECK(at(179.5) == 4.0F);
  CHECK(at(-179.5) == 4.0F);
  CHECK(std::isnan(at(-90.5)));
  CHECK(at(-134.5) == 3.0F);  // the nearer of 3 and 4
  CHECK(std::count_if(scan->ranges.begin(), scan->ranges.end(), [](float r) { return std::isnan(r); }) == 3);
  CHECK(scan->time_increment == doctest::Approx(-1e-3).epsilon(0.01).scale(0.0));
  CHECK(scan->scan_time == doctest::Approx(0.36).epsilon(0.01).scale(0.0));
}

TEST_CASE("beams between two points lie on their line where that is one surface") {
  TurnAssembler turn({.beams = 360, .range_min_m = 0.1F, .range_max_m = 10.0F});
  std::optional<LaserScan> scan;
  for (int i = 0; i < 3 * 120; ++i) {
    // A point every three degrees, 9 cm farther from one to the next over the front third, half as far again over the rest.
    const float range = i % 2 == 0 ? 2.0F : i % 120 < 20 || i % 120 >= 100 ? 2.09F : 3.0F;
    if (auto done = turn.add({(3 * i + 0.5) * math::kDegree, range, ms(i)})) scan = done;
  }
  REQUIRE(scan);
  // From 0 to 6 degrees to the right: 2, 2.09, 2 m; behind on the left: 2, 3, 2 m.
  for (const auto& [beam, range] :
       {std::pair{179, 2.0}, {178, 2.03}, {177, 2.06}, {176, 2.09}, {175, 2.06}, {323, 2.0}, {322, 2.0}, {320, 3.0}})
    CHECK(scan->ranges[static_cast<std::size_t>(beam)] == doctest::Approx(range).epsilon(1e-4));
}

TEST_CASE("a turn with a gap is dropped and counted; too near, too far and no return are told apart") {
  TurnAssembler turn({.beams = 36, .range_min_m = 0.1F, .range_max_m = 10.0F});
  Time now = ms(0);
  std::vector<LaserScan> scans;
  for (int i = 0; i < 4 * 360; ++i) {
    now = now + from_milliseconds(1);
    if (i > 600 && i < 720) {
      continue;
    }
    const float range = i % 360 < 10 ? 0.05F : i % 360 < 20 ? 20.0F : i % 360 < 30 ? HUGE_VALF : 3.0F;
    if (auto scan = turn.add({(i + 0.3) * math::kDegree, range, now})) {
      scans.push_back(*scan);
    }
  }
  CHECK(scans.size() == 2);
  CHECK(turn.incomplete_turns() >= 1);
  CHECK(std::isnan(scans[0].ranges[17]));  // right of the front
  CHECK(scans[0].ranges[16] == HUGE_VALF);
  CHECK(scans[0].ranges[15] == HUGE_VALF);
  CHECK(scans[0].ranges[14] == 3.0F);
}

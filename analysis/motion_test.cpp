// SPDX-License-Identifier: Apache-2.0
#include "analysis/motion.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "core/rng.hpp"

using namespace pitwall;
using namespace pitwall::analysis;

namespace {

/// Scans of a 6 m x 4 m room with a pillar, from a scanner that drives a slow circle.
std::vector<LaserScan> scans(std::size_t count) {
  std::vector<LaserScan> all;
  const Rng errors(3, "errors");
  for (std::size_t k = 0; k < count; ++k) {
    const double turned = 0.0125 * static_cast<double>(k);
    LaserScan scan;
    scan.stamp = Time{} + from_seconds(0.025 * static_cast<double>(k));
    scan.angle_min = -2.35F;
    scan.angle_increment = 0.02F;
    scan.range_min = 0.05F;
    scan.range_max = 20.0F;
    const Vec2 at{0.8 * math::sin(turned), 0.8 * (1.0 - math::cos(turned))};
    for (int b = 0; b < 236; ++b) {
      const double bearing = turned - 2.35 + 0.02 * b;
      const Vec2 d = unit_vector(bearing);
      const double x_wall = (d.x > 0.0 ? 3.0 - at.x : -3.0 - at.x) / d.x;
      const double y_wall = (d.y > 0.0 ? 2.5 - at.y : -1.5 - at.y) / d.y;
      const double range = std::min(x_wall, y_wall) + 0.003 * errors.normal(k, static_cast<std::uint32_t>(b));
      scan.ranges.push_back(static_cast<float>(range));
    }
    scan.angle_max = scan.angle_min + 235.0F * scan.angle_increment;
    all.push_back(scan);
  }
  return all;
}

MotionSeries motion_of(const std::vector<LaserScan>& all, unsigned threads) {
  MotionTracker tracker({}, {0.2, 0.0, 0.0}, {}, threads);
  for (const LaserScan& scan : all) tracker.add(scan);
  return tracker.finish();
}

}  // namespace

TEST_CASE("the motion is the same however many threads there are, and no pair is lost between pieces") {
  const std::vector<LaserScan> all = scans(2 * MotionTracker::kPiece + 300);
  const MotionSeries one = motion_of(all, 1);
  const MotionSeries three = motion_of(all, 3);
  CHECK(one.size() == all.size() - 2);
  CHECK(one.scans == static_cast<std::int64_t>(all.size()));
  CHECK(one.speed_mps == three.speed_mps);
  CHECK(one.yaw_rate_radps == three.yaw_rate_radps);
  CHECK(one.begin_s == three.begin_s);
  double worst = 0.0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (i > 0) REQUIRE(one.begin_s[i] > one.begin_s[i - 1]);
    worst = std::max(worst, std::abs(one.yaw_rate_radps[i] - 0.5));
  }
  CHECK(worst < 0.06);
  CHECK(motion_of({}, 2).size() == 0);
}

// SPDX-License-Identifier: Apache-2.0
// 4 * 10^6 beams of sensors that move at up to 10 m/s and turn at up to 8 rad/s, on every map of the test data, against the
// plain cell walk from each beam's own origin: from random free cells, along the centre line where there is one, and
// adversarial. Every bit counts, at corners too.
#include <doctest/doctest.h>

#include <array>
#include <string>

#include "tests/support/all_maps.hpp"
#include "tests/support/sweep_check.hpp"

using namespace pitwall;
using namespace pitwall::tracks;

namespace {

// Every fifth drives ahead as a car does, every seventh along an axis of the grid, others any way; some hardly or not at all.
MovingSensor moving(const Rng& rng, std::uint64_t k) {
  const double speed = k % 11 == 0 ? 0.0 : k % 11 == 1 ? 1e-8 * rng.uniform(k, 20) : 10.0 * rng.uniform(k, 20);
  const double aside = k % 5 == 0 ? 0.0 : 2.0 * math::kPi * rng.uniform(k, 21);
  const double yaw_rate = k % 7 == 0 ? 0.0 : 16.0 * rng.uniform(k, 22) - 8.0;
  return {speed * unit_vector(k % 7 == 0 ? 0.0 : aside), yaw_rate, 0.01875, 1 + k % 6};
}

}  // namespace

TEST_CASE("of 4 * 10^6 beams of moving sensors on every map none differs from the walk") {
  const BeamFan fan(-0.75 * math::kPi, 0.75 * math::kPi, 1081);
  const auto maps = for_all_maps([&](const MapSite& site) {
    const Rng rng(61, site.name());
    SweepCheck check;
    std::array<std::size_t, 3> walked{};
    std::array<std::size_t, 3> cast{};
    for (std::uint64_t k = 0; check.beams < 4'000'000; ++k) {
      const auto pose = site.pose(rng, k);
      if (!pose) continue;
      const std::vector<SweepKnot> knots = moving(rng, k).knots(*pose, 1081);
      walked[k % 3] += check.compare(site.rays(), knots, fan, 30.0);
      cast[k % 3] += 1081;
    }
    const auto percent = [&](std::size_t kind) { return 100.0 * static_cast<double>(walked[kind]) / static_cast<double>(cast[kind]); };
    MESSAGE(site.name() << ": " << check.beams << " beams, " << check.differing << " differ; walked " << percent(0) << " % of random, "
                        << percent(1) << " % of adversarial, " << percent(2) << " % of "
                        << std::string(site.has_line() ? "centre-line" : "random") << " ones");
    const Pose2& first = check.first_knot.T_map_sensor;
    CHECK_MESSAGE(check.differing == 0, "first from " << first.x << " " << first.y << " " << first.yaw << " beam " << check.first_beam);
  });
  if (maps) CHECK(*maps >= 15);
}

// SPDX-License-Identifier: Apache-2.0
// 10^7 beams on every map of the test data against the plain cell walk: fans from random free cells, along the centre line
// where there is one, and adversarial. Every bit counts, at corners too.
#include <doctest/doctest.h>

#include "tests/support/all_maps.hpp"

using namespace pitwall;
using namespace pitwall::tracks;

TEST_CASE("of 10^7 beams on every map none differs from the walk") {
  const BeamFan fan(-0.75 * math::kPi, 0.75 * math::kPi, 1081);
  const auto maps = for_all_maps([&](const MapSite& site) {
    const RayCaster& rays = site.rays();
    const Rng rng(51, site.name());
    FanCheck check;
    for (std::uint64_t k = 0; check.beams < 10'000'000; ++k) {
      if (const auto pose = site.pose(rng, k)) check.compare(rays, *pose, fan, 30.0);
    }
    MESSAGE(site.name() << ": " << rays.map().width() << " x " << rays.map().height() << ", " << rays.walls().vertices().size()
                        << " corners, " << rays.bytes() / 1024 << " KiB, " << check.beams << " beams, " << check.differing << " differ");
    CHECK_MESSAGE(check.differing == 0, "first from " << check.first_pose.x << " " << check.first_pose.y << " " << check.first_pose.yaw);
    CHECK(rays.walls().available());
  });
  if (maps) CHECK(*maps >= 15);
}

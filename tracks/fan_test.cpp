// SPDX-License-Identifier: Apache-2.0
#include "tracks/fan.hpp"

#include <doctest/doctest.h>
#include <hwy/targets.h>

#include "tests/support/allocation_guard.hpp"
#include "tests/support/fan_check.hpp"
#include "tests/support/noise_map.hpp"

using namespace pitwall;
using namespace pitwall::tracks;

namespace {

void check_none_differs(const FanCheck& check) {
  INFO(check.beams << " beams, first from " << check.first_pose.x << " " << check.first_pose.y << " " << check.first_pose.yaw << " beam "
                   << check.first_beam);
  CHECK(check.differing == 0);
}

}  // namespace

TEST_CASE("fans of any width and spacing equal the walk to the bit") {
  const Rng rng(22, "poses");
  const std::vector<BeamFan> fans{{-0.75 * math::kPi, 0.75 * math::kPi, 271},
                                  {-math::kPi, math::kPi, 361},
                                  {0.0, 2.0 * math::kPi, 200},
                                  {-3.0, 7.0, 500},
                                  {1.0, 1.5, 3000},
                                  {-0.5, 0.5, 30},
                                  {-0.01, 0.01, 200},
                                  {-1e-4, 1e-4, 100},
                                  {0.3, 0.3, 1}};
  for (const double density : {0.0, 0.002, 0.05, 0.3}) {
    const RayCaster rays(noise_map(21, 150, 97, density));
    FanCheck check;
    std::uint64_t k = 0;
    for (const BeamFan& fan : fans) {
      for (int n = 0; n < 6; ++n, ++k)
        check.compare(rays, {150.0 * rng.uniform(k, 0), 97.0 * rng.uniform(k, 1), 7.0 * rng.uniform(k, 2) - 3.5}, fan, 60.0);
    }
    check_none_differs(check);
  }
}

TEST_CASE("fans from cell centres, grid lines and corners equal the walk to the bit") {
  const Rng rng(23, "poses");
  const BeamFan fan(-math::kPi, math::kPi, 361);  // beams along the axes and the diagonals
  for (const double density : {0.003, 0.03, 0.3}) {
    for (const Pose2 origin : {Pose2{}, Pose2{3.0, -2.0, 0.5}}) {
      const RayCaster rays(noise_map(21, 70, 53, density, 0.25, origin));
      FanCheck check;
      for (std::uint64_t k = 0; k < 60; ++k) {
        check.compare(
            rays, adversarial_pose(rays.map(), static_cast<int>(70 * rng.uniform(k, 0)), static_cast<int>(53 * rng.uniform(k, 1)), rng, k),
            fan, 1e9);
      }
      check_none_differs(check);
    }
  }
}

TEST_CASE("long walls close beside, ahead and behind the sensor") {
  std::vector<std::int8_t> values(400 * 20, 0);
  for (std::size_t i = 0; i < 400; ++i) values[i] = values[19 * 400 + i] = 100;
  Result<OccupancyMap> map = OccupancyMap::make(400, 20, 1.0, {}, std::move(values));
  REQUIRE(map.ok());
  const RayCaster rays(std::make_shared<const OccupancyMap>(std::move(map).value()));
  FanCheck check;
  const BeamFan fan(-0.75 * math::kPi, 0.75 * math::kPi, 1081);
  for (int k = 0; k < 48; ++k) {
    const double gap = k % 4 == 0 ? 1e-3 : k % 4 == 1 ? 1e-6 : k % 4 == 2 ? 1e-9 : 1e-13;
    check.compare(rays, {200.3, k % 2 == 0 ? 1.0 + gap : 19.0 - gap, k * math::kPi / 8.0}, fan, 1e9);
  }
  check_none_differs(check);
}

TEST_CASE("every instruction set gives the same bits") {
  const RayCaster rays(noise_map(21, 300, 280, 0.01));
  const BeamFan fan(-0.75 * math::kPi, 0.75 * math::kPi, 1081);
  const Rng rng(24, "poses");
  std::vector<std::vector<double>> first;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    std::size_t differing = 0;
    for (std::uint64_t k = 0; k < 20; ++k) {
      std::vector<double> out(1081);
      rays.cast_fan({300.0 * rng.uniform(k, 0), 280.0 * rng.uniform(k, 1), 6.3 * rng.uniform(k, 2)}, fan, 100.0, out);
      if (first.size() <= k) first.push_back(out);
      for (std::size_t b = 0; b < 1081; ++b) differing += out[b] != first[k][b] ? 1 : 0;
    }
    CHECK_MESSAGE(differing == 0, hwy::TargetName(target));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

TEST_CASE("the first fan from a tile allocates nothing either, nor do strides") {
  const RayCaster rays(noise_map(21, 200, 200, 0.02));
  const BeamFan fan(-2.0, 2.0, 1001);
  std::vector<double> out(1001);
  const AllocationGuard guard;
  for (int k = 0; k < 20; ++k) rays.cast_fan({9.7 * k + 3.1, 190.3 - 8.9 * k, 0.1 * k}, fan, 30.0, out, 1 + k % 3);
  const std::size_t allocations = guard.count();
  CHECK(allocations == 0);
}

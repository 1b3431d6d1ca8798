// SPDX-License-Identifier: Apache-2.0
#include "tracks/sweep.hpp"

#include <doctest/doctest.h>
#include <hwy/targets.h>

#include "core/rng.hpp"
#include "tests/support/allocation_guard.hpp"
#include "tests/support/noise_map.hpp"
#include "tests/support/sweep_check.hpp"
#include "tracks/raycast.hpp"
#include "tracks/sweep_way.hpp"

using namespace pitwall;
using namespace pitwall::tracks;

namespace {

void check_none_differs(const SweepCheck& check) {
  INFO(check.beams << " beams, first from " << check.first_knot.T_map_sensor.x << " " << check.first_knot.T_map_sensor.y << " "
                   << check.first_knot.T_map_sensor.yaw << " beam " << check.first_beam);
  CHECK(check.differing == 0);
  CHECK(check.beams > 0);
}

const BeamFan kFan(-0.75 * math::kPi, 0.75 * math::kPi, 1081);

}  // namespace

TEST_CASE("a beam leaves from where the sensor is between two knots") {
  const auto map = noise_map(31, 100, 80, 0.0, 0.05, {2.0, -1.0, 0.4});
  const std::array<SweepKnot, 3> knots{{{10.0, {3.0, 1.0, 3.1}}, {510.0, {3.2, 1.1, -3.1}}, {900.5, {3.3, 1.3, -2.9}}}};
  const Sweep sweep(*map, kFan, knots);
  const auto check = [&](std::size_t beam, const Pose2& pose) {
    const Vec2 p = map->to_map(sweep.origin_cells(beam));
    CHECK(distance(p, pose.position()) < 1e-13);
    const Vec2 expected = rotate(pose.yaw - map->origin().yaw, kFan.directions[beam]);
    CHECK(distance(sweep.direction_cells(beam), expected) < 1e-13);
  };
  check(0, {3.0, 1.0, 3.1});  // stands still before the first knot
  check(10, {3.0, 1.0, 3.1});
  const double turn = 2.0 * math::kPi - 6.2;  // the short way round
  check(110, {3.04, 1.02, 3.1 + 0.2 * turn});
  check(385, {3.15, 1.075, 3.1 + 0.75 * turn});
  const double u = 300.0 / 390.5;
  check(810, {3.2 + 0.1 * u, 1.1 + 0.2 * u, -3.1 + 0.2 * u});
  check(901, {3.3, 1.3, -2.9});
  check(1080, {3.3, 1.3, -2.9});
}

TEST_CASE("a sensor that spins faster than pieces suffice for still has its poses") {
  const auto map = noise_map(31, 100, 80, 0.0);
  std::vector<SweepKnot> knots;
  for (int k = 0; k < 64; ++k) knots.push_back({17.0 * k, {50.0, 40.0, k % 2 == 0 ? 0.0 : 3.0}});
  const Sweep sweep(*map, kFan, knots);
  CHECK_FALSE(sweep.gentle());
  for (const std::size_t beam : {0UL, 5UL, 17UL, 600UL, 1080UL}) {
    const double at = static_cast<double>(beam) / 17.0;
    const double u = at - std::floor(at);
    const double yaw = beam > 17 * 63 ? 3.0 : (static_cast<int>(at) % 2 == 0 ? 3.0 * u : 3.0 - 3.0 * u);
    CHECK(distance(sweep.direction_cells(beam), rotate(yaw, kFan.directions[beam])) < 1e-13);
  }
  const RayCaster rays(noise_map(31, 100, 80, 0.02));
  SweepCheck check;
  check.compare(rays, knots, kFan, 1e9);
  check_none_differs(check);
}

TEST_CASE("sweeping fans equal the walk from each beam's own origin to the bit") {
  const Rng rng(32, "poses");
  const std::vector<BeamFan> fans{{-0.75 * math::kPi, 0.75 * math::kPi, 1081},
                                  {-math::kPi, math::kPi, 361},
                                  {-3.0, 7.0, 500},
                                  {1.0, 1.5, 3000},
                                  {-0.5, 0.5, 30},
                                  {0.3, 0.3, 1}};
  for (const double density : {0.0, 0.002, 0.02, 0.2}) {
    const RayCaster rays(noise_map(31, 150, 97, density, 0.0625, {1.0, 2.0, 0.3}));
    SweepCheck check;
    std::uint64_t k = 0;
    for (const BeamFan& fan : fans) {
      for (int n = 0; n < 8; ++n, ++k) {
        const Vec2 p = rays.map().to_map({150.0 * rng.uniform(k, 0), 97.0 * rng.uniform(k, 1)});
        const MovingSensor sensor{
            {20.0 * rng.uniform(k, 2) - 10.0, 4.0 * rng.uniform(k, 3) - 2.0}, 16.0 * rng.uniform(k, 4) - 8.0, 0.01875, 1 + k % 7};
        check.compare(rays, sensor.knots({p.x, p.y, 6.3 * rng.uniform(k, 5)}, fan.directions.size()), fan, 4.0);
      }
    }
    check_none_differs(check);
  }
}

TEST_CASE("a sensor that does not move sweeps the bits of a still fan, faces too") {
  const RayCaster rays(noise_map(31, 120, 110, 0.01, 0.05, {-3.0, 1.0, 0.2}));
  const Rng rng(33, "poses");
  std::vector<double> still(1081);
  std::vector<double> swept(1081);
  std::vector<Face> still_faces(1081);
  std::vector<Face> swept_faces(1081);
  for (std::uint64_t k = 0; k < 40; ++k) {
    const Vec2 p = rays.map().to_map({120.0 * rng.uniform(k, 0), 110.0 * rng.uniform(k, 1)});
    const Pose2 pose{p.x, p.y, 7.0 * rng.uniform(k, 2)};
    const std::array<SweepKnot, 3> knots{{{-0.5, pose}, {300.2, pose}, {1080.5, pose}}};
    rays.cast_fan(pose, kFan, 3.0, still, 1, still_faces);
    rays.cast_sweep(knots, kFan, 3.0, swept, swept_faces);
    CHECK(still == swept);
    CHECK(still_faces == swept_faces);
  }
}

TEST_CASE("a face is the side of the square on which a beam ends") {
  const RayCaster rays(noise_map(31, 120, 110, 0.02));
  const Rng rng(34, "poses");
  std::vector<double> ranges(1081);
  std::vector<Face> faces(1081);
  std::size_t returns = 0;
  for (std::uint64_t k = 0; k < 30; ++k) {
    const Pose2 pose{120.0 * rng.uniform(k, 0), 110.0 * rng.uniform(k, 1), 7.0 * rng.uniform(k, 2)};
    rays.cast_fan(pose, kFan, 80.0, ranges, 1, faces);
    for (std::size_t b = 0; b < 1081; ++b) {
      if (!(ranges[b] > 0.0 && ranges[b] <= 80.0)) {
        CHECK(faces[b] == Face::kNone);
        continue;
      }
      ++returns;
      const Vec2 hit = pose.position() + ranges[b] * rotate(pose.yaw, kFan.directions[b]);
      const double off_x = std::fabs(hit.x - std::floor(hit.x + 0.5));
      const double off_y = std::fabs(hit.y - std::floor(hit.y + 0.5));
      if (std::max(off_x, off_y) < 1e-9) continue;
      CHECK(faces[b] == (off_x < off_y ? Face::kAcrossX : Face::kAcrossY));
    }
  }
  CHECK(returns > 10000);
}

TEST_CASE("at a point of a wall where a grid line crosses it the face is the wall's, at a corner the one across x") {
  std::vector<std::int8_t> values(20 * 20, 0);
  for (std::size_t k = 0; k < 20; ++k) values[19 * 20 + k] = values[k * 20 + 19] = 100;
  values[5 * 20 + 5] = 100;
  Result<OccupancyMap> map = OccupancyMap::make(20, 20, 1.0, {}, std::move(values));
  REQUIRE(map.ok());
  const RayCaster rays(std::make_shared<const OccupancyMap>(std::move(map).value()));
  const BeamFan fan(0.0, 0.0, 1);
  double range = 0.0;
  Face face = Face::kNone;
  const auto look = [&](const Pose2& pose) {
    rays.cast_fan(pose, fan, 50.0, {&range, 1}, 1, {&face, 1});
    return face;
  };
  CHECK(look({10.0, 10.0, 0.5 * math::kPi}) == Face::kAcrossY);
  CHECK(look({10.0, 10.0, 0.0}) == Face::kAcrossX);
  CHECK(look({11.0, 15.0, math::atan2(4.0, 3.0)}) == Face::kAcrossY);
  CHECK(look({16.0, 11.0, math::atan2(4.0, 3.0)}) == Face::kAcrossX);
  CHECK(look({8.0, 8.0, -0.75 * math::kPi}) == Face::kAcrossX);
  CHECK(look({5.5, 5.5, 0.0}) == Face::kNone);
}

TEST_CASE("every instruction set sweeps the same bits") {
  const RayCaster rays(noise_map(31, 300, 280, 0.01));
  const Rng rng(35, "poses");
  std::vector<std::vector<double>> first;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    std::size_t differing = 0;
    for (std::uint64_t k = 0; k < 20; ++k) {
      std::vector<double> out(1081);
      const MovingSensor sensor{{80.0 * rng.uniform(k, 3), 0.0}, 16.0 * rng.uniform(k, 4) - 8.0, 0.01875, 5};
      rays.cast_sweep(sensor.knots({300.0 * rng.uniform(k, 0), 280.0 * rng.uniform(k, 1), 6.3 * rng.uniform(k, 2)}, 1081), kFan, 100.0,
                      out);
      if (first.size() <= k) first.push_back(out);
      for (std::size_t b = 0; b < 1081; ++b) differing += out[b] != first[k][b] ? 1 : 0;
    }
    CHECK_MESSAGE(differing == 0, hwy::TargetName(target));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

TEST_CASE("a sweeping fan allocates nothing, the first one from a tile included") {
  const RayCaster rays(noise_map(31, 200, 200, 0.02));
  std::vector<double> out(1081);
  std::vector<Face> faces(1081);
  const MovingSensor sensor{{40.0, 3.0}, 5.0, 0.01875, 4};
  std::vector<std::vector<SweepKnot>> knots;
  for (int k = 0; k < 20; ++k) knots.push_back(sensor.knots({9.7 * k + 3.1, 190.3 - 8.9 * k, 0.1 * k}, 1081));
  const AllocationGuard guard;
  for (const auto& k : knots) rays.cast_sweep(k, kFan, 30.0, out, faces);
  const std::size_t allocations = guard.count();
  CHECK(allocations == 0);
}

TEST_CASE("sensors that pass corners closely equal the walk to the bit") {
  std::vector<std::int8_t> values(80 * 80, 0);
  for (const std::size_t cell : {40UL * 80 + 40, 41UL * 80 + 41, 30UL * 80 + 52, 55UL * 80 + 25}) values[cell] = 100;
  Result<OccupancyMap> map = OccupancyMap::make(80, 80, 0.05, {}, std::move(values));
  REQUIRE(map.ok());
  const RayCaster rays(std::make_shared<const OccupancyMap>(std::move(map).value()));
  const Rng rng(36, "poses");
  SweepCheck check;
  for (std::uint64_t k = 0; k < 300; ++k) {
    const double bearing = 2.0 * math::kPi * rng.uniform(k, 0);
    const double away = 0.03 + 0.35 * rng.uniform(k, 1);
    const Vec2 p = Vec2{2.025, 2.025} + away * unit_vector(bearing);
    const MovingSensor sensor{10.0 * rng.uniform(k, 2) * unit_vector(6.3 * rng.uniform(k, 3)), 16.0 * rng.uniform(k, 4) - 8.0, 0.01875,
                              1 + k % 5};
    check.compare(rays, sensor.knots({p.x, p.y, 6.3 * rng.uniform(k, 5)}, 1081), kFan, 30.0);
  }
  check_none_differs(check);
}

TEST_CASE("sensors that are shaken about equal the walk to the bit") {
  const RayCaster rays(noise_map(31, 200, 160, 0.003, 0.05));
  const Rng rng(37, "poses");
  SweepCheck check;
  for (std::uint64_t k = 0; k < 200; ++k) {
    Pose2 at{10.0 * rng.uniform(k, 0), 8.0 * rng.uniform(k, 1), 6.3 * rng.uniform(k, 2)};
    std::vector<SweepKnot> knots;
    for (std::uint32_t n = 0; n <= 6; ++n) {
      knots.push_back({180.3 * n - 1.0, at});
      at.x += 0.03 * (rng.uniform(k, 10 + n) - 0.5);
      at.y += 0.03 * (rng.uniform(k, 20 + n) - 0.5);
      at.yaw += 0.05 * (rng.uniform(k, 30 + n) - 0.5) * static_cast<double>(k % 4);
    }
    check.compare(rays, knots, kFan, 30.0);
  }
  check_none_differs(check);
}

TEST_CASE("what is seen from several tiles is joined without repeating or losing an edge") {
  const std::vector<EdgeRange> a{{10, 5}, {40, 4}, {60, 3}};
  const std::vector<EdgeRange> b{{2, 3}, {12, 10}, {21, 2}, {61, 1}};
  const std::vector<EdgeRange> c{{20, 3}, {44, 2}};
  const std::array<std::span<const EdgeRange>, 3> lists{a, b, c};
  for (const std::array<std::size_t, 3> order : {std::array<std::size_t, 3>{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}) {
    const std::array<std::span<const EdgeRange>, 3> shuffled{lists[order[0]], lists[order[1]], lists[order[2]]};
    tracks::detail::RangeUnion ranges(shuffled);
    std::vector<std::array<std::uint32_t, 2>> joined;
    for (EdgeRange range{}; ranges.next(range);) joined.push_back({range.first, range.count});
    CHECK(joined == std::vector<std::array<std::uint32_t, 2>>{{2, 3}, {10, 13}, {40, 4}, {44, 2}, {60, 3}});
  }
}

TEST_CASE("no beam of a car between walls has to be walked") {
  std::vector<std::int8_t> values(400 * 40, 0);
  for (std::size_t i = 0; i < 400; ++i) {
    for (const std::size_t j : {i % 7 == 0 ? 1UL : 0UL, i % 5 == 0 ? 38UL : 39UL, 0UL, 39UL}) values[j * 400 + i] = 100;
  }
  Result<OccupancyMap> map = OccupancyMap::make(400, 40, 0.05, {}, std::move(values));
  REQUIRE(map.ok());
  const RayCaster rays(std::make_shared<const OccupancyMap>(std::move(map).value()));
  SweepCheck check;
  for (std::size_t k = 0; k < 60; ++k) {
    const double at = static_cast<double>(k);
    const MovingSensor sensor{{0.16 * at, 0.02 * at - 0.5}, 0.25 * at - 7.9, 0.01875, 1 + k % 6};
    const std::size_t walked = check.compare(rays, sensor.knots({1.013 + 0.3 * at, 0.71 + 0.0101 * at, 0.1051 * at}, 1081), kFan, 30.0);
    CHECK_MESSAGE(walked <= 2, k);
  }
  check_none_differs(check);
}

TEST_CASE("a pose that is no number gives no returns") {
  const RayCaster rays(noise_map(31, 50, 50, 0.1));
  std::vector<double> out(1081, 1.0);
  const std::array<SweepKnot, 2> knots{{{0.0, {20.0, 20.0, 0.0}}, {1080.0, {std::numeric_limits<double>::quiet_NaN(), 20.0, 0.0}}}};
  rays.cast_sweep(knots, kFan, 30.0, out);
  for (const double range : out) CHECK(range == std::numeric_limits<double>::infinity());
}

// SPDX-License-Identifier: Apache-2.0
#include "tracks/footprint.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/rng.hpp"

namespace pitwall::tracks {
namespace {

constexpr BodyRectangle kBody{-0.13, 0.49, 0.155};

// Free between y = -1 and y = 1, walls beyond.
OccupancyMap corridor() {
  std::vector<std::int8_t> cells;
  for (int j = 0; j < 120; ++j) {
    for (int i = 0; i < 400; ++i) cells.push_back(j < 40 || j >= 80 ? 100 : 0);
  }
  return OccupancyMap::make(400, 120, 0.05, {-10.0, -3.0, 0.0}, std::move(cells)).value();
}

TEST_CASE("the clearance of a standing chassis is that of its nearest corner") {
  const OccupancyMap map = corridor();
  const DistanceField field(map);
  CHECK(footprint_clearance_m(kBody, {0.0, 0.0, 0.0}, field, 2.0) == doctest::Approx(1.0 - 0.155));
  CHECK(footprint_clearance_m(kBody, {0.0, 0.2, 0.0}, field, 2.0) == doctest::Approx(0.8 - 0.155));
  const double yaw = 0.3;
  const double corner = kBody.front_m * math::sin(yaw) + kBody.half_width_m * math::cos(yaw);
  CHECK(footprint_clearance_m(kBody, {0.0, 0.0, yaw}, field, 2.0) == doctest::Approx(1.0 - corner).epsilon(1e-9));
  CHECK(footprint_clearance_m(kBody, {0.0, 0.0, 0.0}, field, 0.5) == 0.5);
  CHECK(footprint_clearance_m(kBody, {0.0, 0.9, 0.0}, field, 2.0) == 0.0);
}

TEST_CASE("it equals a search over every point of the outline without any bound") {
  std::vector<std::int8_t> cells(100 * 100, 0);
  const Rng rng(3, "walls");
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = rng.uniform(i) < 0.004 ? 100 : 0;
  const OccupancyMap map = OccupancyMap::make(100, 100, 0.05, {0.0, 0.0, 0.4}, std::move(cells)).value();
  const DistanceField field(map);
  for (std::uint64_t k = 0; k < 300; ++k) {
    const Vec2 p = map.to_map({20.0 + 60.0 * rng.uniform(20'000 + 3 * k), 20.0 + 60.0 * rng.uniform(20'001 + 3 * k)});
    const Pose2 pose{p.x, p.y, 6.0 * rng.uniform(20'002 + 3 * k)};
    double brute = 1.0;
    const Vec2 corners[4] = {{kBody.rear_m, -kBody.half_width_m},
                             {kBody.front_m, -kBody.half_width_m},
                             {kBody.front_m, kBody.half_width_m},
                             {kBody.rear_m, kBody.half_width_m}};
    for (int side = 0; side < 4; ++side) {
      const Vec2 from = corners[side];
      const Vec2 to = corners[(side + 1) % 4];
      const int pieces = static_cast<int>(std::ceil(distance(from, to) / 0.02));
      for (int i = 0; i < pieces; ++i) brute = std::min(brute, clearance_m(map, pose * (from + (1.0 * i / pieces) * (to - from)), 1.0));
    }
    CHECK(std::fabs(footprint_clearance_m(kBody, pose, field, 1.0) - brute) < 1e-12);
  }
}

TEST_CASE("swept: the front swings out of a turn, where the centre of the rear axle does not") {
  const OccupancyMap map = corridor();
  const DistanceField field(map);
  std::vector<Vec2> straight;
  for (int i = 0; i <= 40; ++i) straight.push_back({-5.0 + 0.2 * i, 0.3});
  const SweptClearance along = swept_clearance(kBody, Path::make(straight, false).value(), field, 2.0);
  CHECK(along.clearance_m == doctest::Approx(0.7 - 0.155));
  // A turn that begins along the wall and leads away from it.
  std::vector<Vec2> turn;
  const double radius = 1.0;
  for (int i = 0; i <= 100; ++i) turn.push_back(Vec2{0.0, 0.5 - radius} + radius * unit_vector(0.5 * math::kPi + 0.6 - 0.01 * i));
  const SweptClearance out = swept_clearance(kBody, Path::make(turn, false).value(), field, 2.0);
  const double swing = std::sqrt((radius + 0.155) * (radius + 0.155) + 0.49 * 0.49) - radius;
  CHECK(out.clearance_m == doctest::Approx(0.5 - swing).epsilon(0.02));
  CHECK(out.clearance_m < 0.5 - 0.155 - 0.08);
  CHECK(out.s_m > 0.1);
}

TEST_CASE("the clearance at the points of a line, and its limit") {
  const OccupancyMap map = corridor();
  const DistanceField field(map);
  std::vector<Vec2> slope;
  for (int i = 0; i <= 40; ++i) slope.push_back({-5.0 + 0.2 * i, 0.01 * i});
  const Path path = Path::make(slope, false).value();
  const std::vector<double> clearance = clearance_along(kBody, path, field, 0.6);
  REQUIRE(clearance.size() == path.size());
  CHECK(clearance.front() == 0.6);
  CHECK(clearance.back() < 0.45);
  for (std::size_t i = 1; i < clearance.size(); ++i) CHECK(clearance[i] <= clearance[i - 1] + 1e-12);
}

}  // namespace
}  // namespace pitwall::tracks

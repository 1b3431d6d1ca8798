// SPDX-License-Identifier: Apache-2.0
#include "tracks/distance_field.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "core/math.hpp"
#include "core/rng.hpp"
#include "tests/support/noise_map.hpp"

using namespace pitwall;
using namespace pitwall::tracks;

namespace {

double brute_centre_distance(const OccupancyMap& map, int i, int j) {
  double best = math::kInfinity;
  for (int row = 0; row < map.height(); ++row) {
    for (int column = 0; column < map.width(); ++column) {
      if (map.blocked(column, row)) best = std::min(best, norm({1.0 * (column - i), 1.0 * (row - j)}));
    }
  }
  return best;
}

double brute_clearance_cells(const OccupancyMap& map, Vec2 p) {
  double best = math::kInfinity;
  for (int row = 0; row < map.height(); ++row) {
    for (int column = 0; column < map.width(); ++column) {
      if (!map.blocked(column, row)) continue;
      const Vec2 nearest{std::min(std::max(p.x, 1.0 * column), column + 1.0), std::min(std::max(p.y, 1.0 * row), row + 1.0)};
      best = std::min(best, distance(p, nearest));
    }
  }
  return best;
}

}  // namespace

TEST_CASE("the distance of every cell is that of brute force") {
  for (const double density : {0.002, 0.02, 0.3}) {
    const OccupancyMap map = *noise_map(21, 41, 29, density, 0.05);
    const DistanceField field(map);
    for (int j = 0; j < map.height(); ++j) {
      for (int i = 0; i < map.width(); ++i)
        CHECK(field.centre_distance_m(i, j) == doctest::Approx(0.05 * brute_centre_distance(map, i, j)).epsilon(1e-6));
    }
  }
}

TEST_CASE("one blocked cell in a map of one row or one column") {
  for (const bool flat : {true, false}) {
    std::vector<std::int8_t> values(300, 0);
    values[200] = 100;
    Result<OccupancyMap> map = flat ? OccupancyMap::make(300, 1, 1.0, {}, values) : OccupancyMap::make(1, 300, 1.0, {}, values);
    const DistanceField field(*map);
    for (int k = 0; k < 300; ++k) {
      const double distance = field.centre_distance_m(flat ? k : 0, flat ? 0 : k);
      CHECK(distance == std::abs(k - 200));
      CHECK(field.centre_distance_m(flat ? k : 0, flat ? 0 : k, 50.0) == std::min(distance, 50.0));
    }
  }
}

TEST_CASE("a map without walls is free everywhere and outside it nothing is promised") {
  const OccupancyMap map = *noise_map(21, 20, 10, 0.0);
  const DistanceField field(map);
  CHECK(field.lower_bound_m({5, 5}) > 16380.0);
  CHECK(std::isfinite(field.lower_bound_m({5, 5})));
  CHECK(field.lower_bound_m({-0.1, 5}) == 0.0);
  CHECK(field.lower_bound_m({20.1, 5}) == 0.0);
  CHECK(field.lower_bound_m({std::numeric_limits<double>::quiet_NaN(), 5}) == 0.0);
  CHECK(field.clearance_m({5, 5}, math::kInfinity) == math::kInfinity);
  CHECK(clearance_m(map, {5, 5}, 1e3) == math::kInfinity);
}

TEST_CASE("the lower bound is never above the distance to a blocked square and at most 2 sqrt 2 cells below") {
  const Rng rng(22, "points");
  for (const Pose2& origin : {Pose2{}, Pose2{-3.0, 4.0, 2.2}}) {
    for (const double density : {0.004, 0.05}) {
      const OccupancyMap map = *noise_map(21, 50, 34, density, 0.1, origin);
      const DistanceField field(map);
      for (std::uint64_t k = 0; k < 1500; ++k) {
        Vec2 p{50.0 * rng.uniform(k, 0), 34.0 * rng.uniform(k, 1)};
        if (k % 5 == 0) p = {std::floor(p.x) + 1e-9, std::floor(p.y) + 1e-9};  // as far from the centre as can be
        const double truth = 0.1 * brute_clearance_cells(map, p);
        const double bound = field.lower_bound_m(map.to_map(p));
        CHECK(bound <= truth + 1e-12);
        CHECK(bound >= truth - 0.1 * 2.8285);
        CHECK(field.lower_bound_m(map.to_map(p), 0.35) == doctest::Approx(std::min(bound, 0.35)).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("the field outlives its map") {
  auto map = std::make_unique<OccupancyMap>(*noise_map(21, 20, 10, 0.1));
  const DistanceField field(*map);
  const double before = field.lower_bound_m({7.3, 4.1});
  map.reset();
  CHECK(field.lower_bound_m({7.3, 4.1}) == before);
}

TEST_CASE("clearance is that of brute force, inside and outside, turned maps too") {
  const Rng rng(23, "points");
  for (const Pose2& origin : {Pose2{}, Pose2{2.0, -1.0, -0.9}}) {
    for (const double density : {0.003, 0.03, 0.3}) {
      const OccupancyMap map = *noise_map(21, 40, 31, density, 0.05, origin);
      const DistanceField field(map);
      for (std::uint64_t k = 0; k < 700; ++k) {
        Vec2 p{60.0 * rng.uniform(k, 0) - 10.0, 51.0 * rng.uniform(k, 1) - 10.0};
        if (k % 4 == 0) p = {std::floor(p.x), std::floor(p.y)};
        const double truth = 0.05 * brute_clearance_cells(map, p);
        CHECK(clearance_m(map, map.to_map(p), 100.0) == doctest::Approx(truth).epsilon(1e-9));
        const double limited = clearance_m(map, map.to_map(p), 0.2);
        if (truth < 0.2 - 1e-9) CHECK(limited == doctest::Approx(truth).epsilon(1e-9));
        if (truth > 0.2 + 1e-9) CHECK(limited == math::kInfinity);
        for (const double limit : {math::kInfinity, 100.0, 0.2})
          CHECK(field.clearance_m(map.to_map(p), limit) == clearance_m(map, map.to_map(p), limit));
      }
    }
  }
}

TEST_CASE("clearance at and within a square is 0, at the limit it is still seen") {
  std::vector<std::int8_t> values(100, 0);
  values[55] = 100;  // [5, 6] x [5, 6]
  const Result<OccupancyMap> map = OccupancyMap::make(10, 10, 1.0, {}, values);
  const DistanceField field(*map);
  const auto both = [&](Vec2 p, double limit_m) {
    const double clearance = field.clearance_m(p, limit_m);
    CHECK(clearance_m(*map, p, limit_m) == clearance);
    return clearance;
  };
  CHECK(both({5.5, 5.5}, 1.0) == 0.0);
  CHECK(both({5.0, 5.0}, 0.0) == 0.0);
  CHECK(both({6.0, 5.5}, 0.0) == 0.0);
  CHECK(both({8.0, 5.5}, 2.0) == 2.0);
  CHECK(both({8.0, 5.5}, 1.999) == math::kInfinity);
  CHECK(both({2.0, 1.0}, math::kInfinity) == 5.0);
  CHECK(both({-1e12, 1.0}, math::kInfinity) == math::kInfinity);
}

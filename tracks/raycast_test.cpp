// SPDX-License-Identifier: Apache-2.0
#include "tracks/raycast.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "core/math.hpp"
#include "core/rng.hpp"
#include "tests/support/allocation_guard.hpp"
#include "tests/support/noise_map.hpp"

using namespace pitwall;
using namespace pitwall::tracks;

namespace {

std::shared_ptr<const OccupancyMap> make_map(int width, int height, double resolution, const Pose2& origin,
                                             std::vector<std::int8_t> values) {
  Result<OccupancyMap> map = OccupancyMap::make(width, height, resolution, origin, std::move(values));
  REQUIRE_MESSAGE(map.ok(), map.error().message);
  return std::make_shared<const OccupancyMap>(std::move(map).value());
}

// Rows as one sees them: the last one is the bottom; '#' is a wall.
std::shared_ptr<const OccupancyMap> picture(const std::vector<std::string>& rows, double resolution = 1.0, const Pose2& origin = {}) {
  std::vector<std::int8_t> values;
  for (std::size_t k = rows.size(); k-- > 0;) {
    for (const char c : rows[k]) values.push_back(c == '#' ? 100 : 0);
  }
  return make_map(static_cast<int>(rows[0].size()), static_cast<int>(rows.size()), resolution, origin, std::move(values));
}

// Independent of any walk: the ray against every blocked closed square (slabs).
double slab_cast(const OccupancyMap& map, Vec2 o, Vec2 d) {
  double best = math::kInfinity;
  for (int j = 0; j < map.height(); ++j) {
    for (int i = 0; i < map.width(); ++i) {
      if (!map.blocked(i, j)) continue;
      double low = 0.0;
      double high = math::kInfinity;
      const auto slab = [&](double from, double along, double a) {
        if (along == 0.0) {
          if (from < a || from > a + 1.0) high = -1.0;
          return;
        }
        const double t1 = (a - from) / along;
        const double t2 = (a + 1.0 - from) / along;
        low = std::max(low, std::min(t1, t2));
        high = std::min(high, std::max(t1, t2));
      };
      slab(o.x, d.x, i);
      slab(o.y, d.y, j);
      if (low <= high) best = std::min(best, low);
    }
  }
  return best;
}

double cast(const RayCaster& rays, Vec2 o, double angle, double range = 1e6) { return rays.cast(o, unit_vector(angle), range); }

}  // namespace

TEST_CASE("distances to a wall straight ahead, diagonal and behind") {
  const RayCaster rays(picture({"#####", "#...#", "#...#", "#...#", "#####"}, 0.5));
  CHECK(rays.cast({1.25, 1.25}, {1, 0}, 30) == 0.75);
  CHECK(rays.cast({1.25, 1.25}, {-1, 0}, 30) == 0.75);
  CHECK(rays.cast({1.25, 1.25}, {0, 1}, 30) == 0.75);
  CHECK(rays.cast({1.0, 1.25}, {0, -1}, 30) == 0.75);
  CHECK(cast(rays, {1.25, 1.25}, math::kPi / 4) == doctest::Approx(0.75 * std::sqrt(2.0)).epsilon(1e-14));
}

TEST_CASE("inside or on the edge of a blocked square the distance is 0") {
  const RayCaster rays(picture({"...", ".#.", "..."}));
  for (const Vec2 p : {Vec2{1.5, 1.5}, Vec2{1, 1}, Vec2{2, 2}, Vec2{1.5, 2}, Vec2{1, 1.7}}) {
    for (double a = 0.0; a < 6.3; a += 0.1) CHECK(cast(rays, p, a) == 0.0);
  }
  CHECK(cast(rays, {0.999, 1.5}, math::kPi) == math::kInfinity);
}

TEST_CASE("a ray that leaves the map does not return, nor one beyond the range") {
  const RayCaster rays(picture({"....", "...#", "...."}));
  CHECK(rays.cast({0.5, 0.5}, {1, 0}, 30) == math::kInfinity);
  CHECK(rays.cast({0.5, 1.5}, {1, 0}, 30) == 2.5);
  CHECK(rays.cast({0.5, 1.5}, {1, 0}, 2.5) == 2.5);
  CHECK(rays.cast({0.5, 1.5}, {1, 0}, std::nextafter(2.5, 0.0)) == math::kInfinity);
  CHECK(rays.cast({0.5, 1.5}, {1, 0}, math::kInfinity) == 2.5);
  CHECK(rays.cast({0.5, 0.5}, {1, 0}, math::kInfinity) == math::kInfinity);
  CHECK(rays.cast({0.5, 1.5}, {1, 0}, 0.0) == math::kInfinity);
}

TEST_CASE("nothing passes between diagonal cells") {
  const RayCaster rays(picture({"..#", ".#.", "#.."}));
  // Through the shared corners, exactly.
  CHECK(rays.cast({0.25, 1.75}, {std::sqrt(0.5), -std::sqrt(0.5)}, 30) == doctest::Approx(0.75 * std::sqrt(2.0)));
  CHECK(rays.cast({2.75, 1.25}, {-std::sqrt(0.5), std::sqrt(0.5)}, 30) == doctest::Approx(0.75 * std::sqrt(2.0)));
  const RayCaster other(picture({"#..", ".#.", "..#"}));
  CHECK(other.cast({0.25, 1.25}, {std::sqrt(0.5), std::sqrt(0.5)}, 30) == doctest::Approx(0.75 * std::sqrt(2.0)));
}

TEST_CASE("what touches a corner or runs along an edge hits: squares are closed") {
  const RayCaster rays(picture({".....", "...#.", ".....", "....."}));
  const double h = std::sqrt(0.5);
  CHECK(rays.cast({1.5, 1.5}, {h, -h}, 30) == math::kInfinity);
  CHECK(rays.cast({2.5, 1.5}, {h, h}, 30) == doctest::Approx(h));   // through (3, 2)
  CHECK(rays.cast({4.5, 1.5}, {-h, h}, 30) == doctest::Approx(h));  // grazes (4, 2)
  CHECK(rays.cast({2.5, 3.5}, {h, -h}, 30) == doctest::Approx(h));  // grazes (3, 3)
  CHECK(rays.cast({0.5, 3.0}, {1, 0}, 30) == 2.5);
  CHECK(rays.cast({0.5, 2.0}, {1, 0}, 30) == 2.5);
  CHECK(rays.cast({3.0, 0.5}, {0, 1}, 30) == 1.5);
  CHECK(rays.cast({4.0, 4.0}, {0, -1}, 30) == 1.0);
  CHECK(rays.cast({0.5, std::nextafter(2.0, 0.0)}, {1, 0}, 30) == math::kInfinity);
}

TEST_CASE("a ray from outside walks in, or misses") {
  const RayCaster rays(picture({"....", "...#", "#..."}));
  CHECK(rays.cast({-5.0, 1.5}, {1, 0}, 30) == 8.0);
  CHECK(rays.cast({-5.0, 1.5}, {-1, 0}, 30) == math::kInfinity);
  CHECK(rays.cast({-5.0, 3.5}, {1, 0}, 30) == math::kInfinity);
  CHECK(rays.cast({0.5, -2.0}, {0, 1}, 30) == 2.0);
  CHECK(rays.cast({9.5, 1.25}, {-1, 0}, 30) == 5.5);
  CHECK(rays.cast({-5.0, 1.5}, {1, 0}, 7.9) == math::kInfinity);
  const auto map = noise_map(3, 12, 9, 0.15);
  const RayCaster around(map);
  const Rng rng(5, "outside");
  for (std::uint64_t k = 0; k < 2000; ++k) {
    const Vec2 o{40.0 * rng.uniform(k, 0) - 14.0, 40.0 * rng.uniform(k, 1) - 15.0};
    const Vec2 d = unit_vector(6.2832 * rng.uniform(k, 2));
    const double truth = slab_cast(*map, o, d);
    const double range = around.cast(o, d, math::kInfinity);
    CHECK((range == truth || std::fabs(range - truth) < 1e-9));
  }
  // Whole and half coordinates, axes and diagonals: the corners of the map among them.
  for (int x = -6; x <= 30; ++x) {
    for (int y = -6; y <= 26; ++y) {
      for (int dx = -2; dx <= 2; ++dx) {
        for (int dy = -2; dy <= 2; ++dy) {
          if (dx == 0 && dy == 0) continue;
          const Vec2 o{0.5 * x, 0.5 * y};
          const Vec2 d = (1.0 / norm({1.0 * dx, 1.0 * dy})) * Vec2{1.0 * dx, 1.0 * dy};
          const double truth = slab_cast(*map, o, d);
          const double range = around.cast(o, d, math::kInfinity);
          CHECK((range == truth || std::fabs(range - truth) < 1e-9));
        }
      }
    }
  }
}

TEST_CASE("an origin or direction that is not finite has no return") {
  const RayCaster rays(picture({"#.#"}));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(rays.cast({nan, 0.5}, {1, 0}, 30) == math::kInfinity);
  CHECK(rays.cast({1.5, math::kInfinity}, {1, 0}, 30) == math::kInfinity);
  CHECK(rays.cast({1.5, 0.5}, {nan, 0}, 30) == math::kInfinity);
  CHECK(rays.cast({1.5, 0.5}, {0, 0}, math::kInfinity) == math::kInfinity);
  CHECK(rays.cast({1e300, 0.5}, {-1, 0}, math::kInfinity) == math::kInfinity);
}

TEST_CASE("the beams of a fan point where the scanner's stand, first and last exactly") {
  const BeamFan fan(-0.75 * math::kPi, 0.75 * math::kPi, 1081);
  CHECK(fan.directions.size() == 1081);
  CHECK(fan.angle_increment_rad == doctest::Approx(math::kPi / 720).epsilon(1e-15));
  CHECK(fan.directions.front() == unit_vector(-0.75 * math::kPi));
  CHECK(fan.directions.back() == unit_vector(0.75 * math::kPi));
  CHECK(fan.directions[540].x == doctest::Approx(1.0).epsilon(1e-15));
  for (std::size_t i = 0; i < 1081; ++i) {
    const double angle = math::atan2(fan.directions[i].y, fan.directions[i].x);
    CHECK(std::fabs(angle - (-0.75 * math::kPi + static_cast<double>(i) * math::kPi / 720)) < 1e-14);
  }
}

TEST_CASE("a fan is its beams, strided and turned, on a rotated map too") {
  const auto map = noise_map(3, 60, 40, 0.02, 0.05, {3.0, -2.0, 0.7});
  const RayCaster rays(map);
  const BeamFan fan(-2.0, 2.0, 101);
  const Vec2 p = map->to_map({29.3, 20.1});
  const Pose2 pose{p.x, p.y, 0.4};
  std::vector<double> all(101);
  rays.cast_fan(pose, fan, 10.0, all);
  std::vector<double> some(34, -1.0);
  rays.cast_fan(pose, fan, 10.0, some, 3);
  for (std::size_t i = 0; i < 101; ++i) {
    const double one = rays.cast(p, rotate(pose.yaw, fan.directions[i]), 10.0);
    CHECK((one == all[i] || std::fabs(one - all[i]) < 1e-9));
    if (i % 3 == 0) CHECK(some[i / 3] == all[i]);
  }
}

TEST_CASE("turning the map and the ray together changes nothing") {
  const auto straight = noise_map(3, 50, 30, 0.05, 0.1);
  const auto turned = noise_map(3, 50, 30, 0.05, 0.1, {-4.0, 7.0, -2.1});
  const RayCaster a(straight);
  const RayCaster b(turned);
  const Rng rng(6, "turn");
  for (std::uint64_t k = 0; k < 2000; ++k) {
    const Vec2 o{5.0 * rng.uniform(k, 0), 3.0 * rng.uniform(k, 1)};
    const double angle = 6.2832 * rng.uniform(k, 2);
    const double here = cast(a, o, angle, 30);
    const double there = cast(b, Pose2{-4.0, 7.0, -2.1} * o, angle - 2.1, 30);
    CHECK((here == there || std::fabs(here - there) < 1e-9));
  }
}

TEST_CASE("a fan allocates nothing") {
  const RayCaster rays(noise_map(3, 60, 40, 0.02));
  const BeamFan fan(-2.0, 2.0, 101);
  std::vector<double> out(101);
  const AllocationGuard guard;
  rays.cast_fan({30.5, 20.5, 0.3}, fan, 30.0, out);
  const std::size_t allocations = guard.count();
  CHECK(allocations == 0);
}

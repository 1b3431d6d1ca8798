// SPDX-License-Identifier: Apache-2.0
#include "controllers/gap_finder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/math.hpp"
#include "tests/support/toy_world.hpp"

using namespace pitwall;
using namespace pitwall::controllers;

namespace {

constexpr double kHalf = 0.335;

struct Found {
  ScanView view{toy::car()};
  GapFinder finder;
  explicit Found(const LaserScan& scan, double fov = math::kPi, double half = kHalf) {
    view.reset();
    finder.reset();
    REQUIRE(view.update(scan));
    finder.prepare(view, view.window(0.0, 0.5 * fov), half, 0.4, 10.0);
  }
  [[nodiscard]] std::optional<Gap> best(const GapQuery& query = {}) const { return finder.best(view, query); }
};

// 721 beams of a quarter degree over 180 degrees; range(i) by degree.
template <class Range>
LaserScan scene(Range range) {
  CarParameters car = toy::car();
  car.lidar_fov_rad = math::kPi;
  LaserScan scan = toy::empty_scan(car, 721);
  for (int i = 0; i < 721; ++i) scan.ranges[static_cast<std::size_t>(i)] = static_cast<float>(range(0.25 * i - 90.0));
  return scan;
}

bool between(double value, double low, double high) { return value >= low && value <= high; }

}  // namespace

TEST_CASE("of two gaps the larger is taken, whichever comes first") {
  for (const double sign : {1.0, -1.0}) {
    const LaserScan scan = scene([sign](double degree) {
      const double d = sign * degree;
      return between(d, 10.0, 70.0) ? 5.0 : between(d, -60.0, -30.0) ? 5.0 : 1.2;
    });
    const auto gap = Found(scan).best();
    REQUIRE(gap);
    // 16.2 degrees of each edge are lost to half the car at 1.2 m: asin(0.335 / 1.2).
    CHECK(sign * gap->aim_rad / math::kDegree == doctest::Approx(40.0).epsilon(0.01));
    CHECK(gap->depth_m == 5.0);
  }
}

TEST_CASE("a deep alcove loses against a corridor of the same width times depth plus a bit") {
  const LaserScan scan = scene([](double d) { return between(d, -70.0, -20.0) ? 9.9 : between(d, 10.0, 75.0) ? 9.0 : 1.5; });
  const auto gap = Found(scan).best();
  REQUIRE(gap);
  CHECK(gap->aim_rad > 0.0);
}

TEST_CASE("disparity extension never raises a range and clears half the car beside an edge") {
  const Rng rng(3, "ranges");
  const LaserScan scan = scene([&rng](double d) { return 0.3 + 9.0 * rng.uniform(static_cast<std::uint64_t>(4.0 * (d + 90.0))); });
  const Found found(scan);
  for (std::size_t i = 0; i < 721; ++i) REQUIRE(found.finder.prepared_depth_m(i) <= std::min(found.view.depth_m(i), 10.0));

  const Found edge(scene([](double d) { return d < 0.0 ? 1.0 : 6.0; }));
  // Beams 0 .. 359 are near; asin(0.335) = 19.57 degrees = 78.3 beams after beam 359.
  CHECK(edge.finder.prepared_depth_m(359 + 79) == 1.0);
  CHECK(edge.finder.prepared_depth_m(359 + 80) == 6.0);
}

TEST_CASE("the one-pass extension equals the plain one on random scans") {
  const Rng rng(5, "ranges");
  for (std::uint64_t trial = 0; trial < 20; ++trial) {
    const LaserScan scan = scene([&](double d) {
      const auto lane = static_cast<std::uint32_t>(4.0 * (d + 90.0)) / 16;
      return 0.2 + 6.0 * rng.uniform(trial, lane);
    });
    const Found found(scan);
    const ScanView& view = found.view;
    std::vector<double> capped(721);
    for (std::size_t i = 0; i < 721; ++i) capped[i] = std::min(view.depth_m(i), 10.0);
    std::vector<double> slow = capped;
    for (std::size_t i = 0; i + 1 < 721; ++i) {
      const double a = capped[i];
      const double b = capped[i + 1];
      if (std::abs(a - b) <= 0.4) continue;
      const double near = std::min(a, b);
      const double angle = kHalf >= near ? 0.5 * math::kPi : std::asin(kHalf / near);
      const int n = static_cast<int>(std::ceil(angle / view.step_rad() - 1e-9));
      for (int k = 1; k <= n; ++k) {
        const std::ptrdiff_t at = b > a ? static_cast<std::ptrdiff_t>(i) + k : static_cast<std::ptrdiff_t>(i) + 1 - k;
        if (at >= 0 && at < 721) slow[static_cast<std::size_t>(at)] = std::min(slow[static_cast<std::size_t>(at)], near);
      }
    }
    const NearestBeam nearest = view.nearest_range(found.finder.window());
    const double angle = kHalf >= nearest.value_m ? 0.5 * math::kPi : std::asin(kHalf / nearest.value_m);
    const int n = static_cast<int>(std::ceil(angle / view.step_rad() - 1e-9));
    for (int k = std::max(0, nearest.beam - n); k <= std::min(720, nearest.beam + n); ++k) slow[static_cast<std::size_t>(k)] = 0.0;
    for (std::size_t i = 0; i < 721; ++i) REQUIRE(found.finder.prepared_depth_m(i) == slow[i]);
  }
}

TEST_CASE("the bubble is wider the closer the nearest point is") {
  const auto closed = [](double range) {
    const Found found(scene([range](double d) { return d == 30.0 ? range : range + 0.3; }));
    int count = 0;
    for (std::size_t i = 0; i < 721; ++i) count += found.finder.prepared_depth_m(i) == 0.0 ? 1 : 0;
    return count;
  };
  // 2 ceil(asin(0.335 / r) / 0.25 degrees) + 1 beams.
  CHECK(closed(1.0) == 2 * 79 + 1);
  CHECK(closed(2.0) == 2 * 39 + 1);
  CHECK(closed(4.0) == 2 * 20 + 1);
}

TEST_CASE("a uniform scan stays uniform: no point at the end of the window is invented") {
  const Found found(scene([](double) { return 5.0; }));
  const std::size_t nearest = static_cast<std::size_t>(found.view.nearest_range(found.finder.window()).beam);
  for (std::size_t i = 0; i < 721; ++i) {
    const bool in_bubble = i <= nearest + 16 && i + 16 >= nearest;
    if (!in_bubble) REQUIRE(found.finder.prepared_depth_m(i) == 5.0);
  }
}

TEST_CASE("a gap that is too narrow for the car is refused, and so is one too narrow for its centre") {
  // Between posts at 2 m: half the car needs 9.65 degrees on each side.
  const auto open_degrees = [](double width) { return scene([width](double d) { return std::abs(d) <= 0.5 * width ? 6.0 : 2.0; }); };
  GapQuery query;
  query.min_depth_m = 2.5;
  CHECK_FALSE(Found(open_degrees(19.0)).best(query));
  CHECK(Found(open_degrees(23.0)).best(query));
  query.min_chord_m = 0.9;  // about 3 degrees at 6 m are left: 0.37 m
  CHECK_FALSE(Found(open_degrees(23.0)).best(query));
  query.min_chord_m = 0.2;
  CHECK(Found(open_degrees(23.0)).best(query));
}

TEST_CASE("nothing deep enough gives no gap") {
  CHECK_FALSE(Found(scene([](double) { return 1.9; })).best());
  CHECK_FALSE(Found(scene([](double) { return 0.05; })).best());
  CHECK_FALSE(Found(scene([](double) { return math::kInfinityF; })).best());
}

TEST_CASE("hysteresis keeps the gap of the last aim until another scores the margin more") {
  const auto two = [](double left_depth) {
    return scene([left_depth](double d) { return between(d, 20.0, 70.0) ? left_depth : between(d, -70.0, -20.0) ? 5.0 : 1.5; });
  };
  GapQuery query;
  query.previous_aim_rad = -45.0 * math::kDegree;
  CHECK(Found(two(5.9)).best(query)->aim_rad < 0.0);
  CHECK(Found(two(5.9)).best(query)->kept);
  CHECK(Found(two(6.1)).best(query)->aim_rad > 0.0);
  CHECK_FALSE(Found(two(6.1)).best(query)->kept);
  query.previous_aim_rad.reset();
  CHECK(Found(two(5.9)).best(query)->aim_rad > 0.0);
  query.previous_aim_rad = 0.0;  // in no gap
  CHECK(Found(two(5.9)).best(query)->aim_rad > 0.0);
  query.previous_aim_rad = -45.0 * math::kDegree;
  query.switch_margin = 1.0;
  CHECK(Found(two(5.9)).best(query)->aim_rad > 0.0);
}

TEST_CASE("a gap that touches the window's end is entered at its deep beam nearest to straight ahead") {
  // Opens to the left from 30 degrees to the end.
  const auto gap = Found(scene([](double d) { return d >= 30.0 ? 6.0 : 1.5; })).best();
  REQUIRE(gap);
  CHECK(gap->aim_rad / math::kDegree == doctest::Approx(30.0 + 12.75).epsilon(0.02));  // 12.9 degrees of half car at 1.5 m
}

TEST_CASE("in such a gap a beam counts as deep from 95 percent of the deepest on") {
  const auto step = [](double near_depth) {
    return scene([near_depth](double d) { return d >= 60.0 ? 6.0 : d >= 20.0 ? near_depth : 1.5; });
  };
  // 20 degrees and the half car at 1.5 m: asin(0.335 / 1.5) is 12.9 degrees, so beam 33.0 is the first that is left.
  CHECK(Found(step(5.71)).best()->aim_rad / math::kDegree == doctest::Approx(32.75).epsilon(0.01));
  CHECK(Found(step(5.69)).best()->aim_rad / math::kDegree == doctest::Approx(60.0).epsilon(0.01));
}

TEST_CASE("an isolated drop-out opens no gap and closes none") {
  LaserScan wall = scene([](double) { return 1.5; });
  LaserScan open = scene([](double d) { return std::abs(d) <= 40.0 ? 6.0 : 1.5; });
  const auto before = Found(open).best();
  REQUIRE(before);
  for (std::size_t i = 3; i < 720; i += 40) {
    for (const std::size_t k : {i, i + 1}) {
      wall.ranges[k] = math::kInfinityF;
      open.ranges[k] = math::kInfinityF;
    }
  }
  CHECK_FALSE(Found(wall).best());
  const auto after = Found(open).best();
  REQUIRE(after);
  CHECK(after->aim_rad == doctest::Approx(before->aim_rad).epsilon(1e-12));
}

TEST_CASE("a hall longer than the sensor reaches is open, a blind scan and a broken sector are not") {
  LaserScan hall = scene([](double d) {
    return std::abs(d) <= 10.0 ? static_cast<double>(math::kInfinityF) : std::min(24.0, 4.0 / std::abs(std::sin(d * math::kDegree)));
  });
  auto gap = Found(hall).best();
  REQUIRE(gap);
  CHECK(std::abs(gap->aim_rad) < 0.01);
  for (float& range : hall.ranges) range = std::isinf(range) ? std::numeric_limits<float>::quiet_NaN() : range;
  gap = Found(hall).best();
  REQUIRE(gap);
  CHECK(std::abs(gap->aim_rad) > 10.0 * math::kDegree);
}

TEST_CASE("a mirrored scan gives the mirrored gap to the bit") {
  const Rng rng(9, "ranges");
  int gaps = 0;
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    const LaserScan scan = scene([&](double d) {
      const auto lane = static_cast<std::uint32_t>(4.0 * (d + 90.0)) / 24;
      return 1.0 + 6.0 * rng.uniform(trial, lane) + 0.02 * rng.uniform(trial, 1000 + static_cast<std::uint32_t>(4.0 * (d + 90.0)));
    });
    GapQuery query;
    GapQuery mirrored_query;
    query.previous_aim_rad = rng.uniform(trial, 5000) - 0.5;
    mirrored_query.previous_aim_rad = -*query.previous_aim_rad;
    const auto a = Found(scan).best(query);
    const auto b = Found(toy::mirrored(scan)).best(mirrored_query);
    REQUIRE(a.has_value() == b.has_value());
    if (!a) continue;
    ++gaps;
    REQUIRE(a->aim_rad == doctest::Approx(-b->aim_rad).epsilon(1e-12));
  }
  CHECK(gaps > 100);
}

TEST_CASE("symmetric scenes with an odd or an even number of beams aim straight ahead") {
  for (const int beams : {720, 721}) {
    CarParameters car = toy::car();
    car.lidar_fov_rad = math::kPi;
    const LaserScan scan = toy::look(car, toy::corridor(-5.0, 30.0, 2.0), {}, beams);
    ScanView view(car);
    GapFinder finder;
    view.reset();
    finder.reset();
    REQUIRE(view.update(scan));
    // No bubble: the two walls tie for the nearest point.
    finder.prepare(view, view.window(0.0, 0.5 * math::kPi), 0.01, 0.4, 10.0);
    const auto gap = finder.best(view, {});
    REQUIRE(gap);
    CHECK(gap->aim_rad == doctest::Approx(0.0).epsilon(1e-12));
  }
}

TEST_CASE("the near part of a gap is where its beams are no deeper than asked") {
  const Found found(scene([](double d) { return between(d, 0.0, 20.0) ? 2.3 : between(d, 20.0, 60.0) ? 6.0 : 1.8; }));
  const auto gap = found.best();
  REQUIRE(gap);
  const auto near = found.finder.near_bearing(found.view, *gap, 2.5);
  REQUIRE(near);
  CHECK(*near < gap->aim_rad);
  CHECK_FALSE(found.finder.near_bearing(found.view, *gap, 1.0));
  CHECK_FALSE(found.finder.near_bearing(found.view, *gap, 9.0));
}

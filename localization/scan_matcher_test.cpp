// SPDX-License-Identifier: Apache-2.0
#include "localization/scan_matcher.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "localization/test_scenes.hpp"
#include "tests/support/allocation_guard.hpp"

using namespace pitwall;
using namespace pitwall::localization;

namespace {

const scenes::Scene& hall() {
  static const scenes::Scene scene = scenes::hall();
  return scene;
}

bool same(const ScanMatch& a, const ScanMatch& b) {
  return a.T_first_second == b.T_first_second && a.covariance == b.covariance && a.information == b.information && a.rounds == b.rounds &&
         a.pairs == b.pairs && a.median_distance_m == b.median_distance_m && a.middle == b.middle && a.velocity == b.velocity;
}

double miss_m(const ScanMatch& match, const scenes::Pair& pair) {
  return distance(match.T_first_second.position(), pair.T_first_second.position());
}

}  // namespace

TEST_CASE("without noise the motion is found to half a millimetre") {
  for (std::uint64_t n = 0; n < 10; ++n) {
    const scenes::Pair pair = scenes::pair(hall(), {.noise_m = 0.0}, 3.0, 1.0, n);
    ScanMatcher matcher;
    const ScanMatch match = matcher.match(pair.first, pair.second, {});
    CHECK(match.status == MatchStatus::kMatched);
    CHECK(match.settled);
    CHECK(miss_m(match, pair) < 5e-4);
    CHECK(match.T_first_second.yaw == doctest::Approx(pair.T_first_second.yaw).epsilon(1e-3));
    CHECK(match.velocity.x_mps == doctest::Approx(3.0).epsilon(3e-3));
    CHECK(match.velocity.yaw_radps == doctest::Approx(pair.velocity.yaw_radps).epsilon(3e-3));
  }
}

TEST_CASE("a mirrored pair moves the mirrored way") {
  const scenes::Pair pair = scenes::pair(hall(), {}, 3.0, 1.0, 4);
  const auto mirrored = [](LaserScan scan) {
    std::reverse(scan.ranges.begin(), scan.ranges.end());
    return scan;
  };
  ScanMatcher matcher;
  const Pose2 T = matcher.match(pair.first, pair.second, {}).T_first_second;
  const Pose2 M = matcher.match(mirrored(pair.first), mirrored(pair.second), {}).T_first_second;
  CHECK(M.x == doctest::Approx(T.x).epsilon(1e-3));
  CHECK(M.y == doctest::Approx(-T.y).epsilon(1e-2));
  CHECK(M.yaw == doctest::Approx(-T.yaw).epsilon(1e-3));
}

TEST_CASE("beams that turn clockwise give the same motion") {
  const scenes::Pair pair = scenes::pair(hall(), {}, 3.0, 1.0, 4);
  const auto clockwise = [](LaserScan scan) {
    std::reverse(scan.ranges.begin(), scan.ranges.end());
    std::swap(scan.angle_min, scan.angle_max);
    scan.angle_increment = -scan.angle_increment;
    return scan;
  };
  ScanMatcher matcher;
  const ScanMatch a = matcher.match(pair.first, pair.second, {});
  const ScanMatch b = matcher.match(clockwise(pair.first), clockwise(pair.second), {});
  CHECK(distance(a.T_first_second.position(), b.T_first_second.position()) < 1e-4);
  CHECK(b.pairs > 900);
}

TEST_CASE("a result is timed to the middle of the sweeps and of the pair") {
  const scenes::Pair pair = scenes::pair(hall(), {.sweep_s = 0.02}, 3.0, 1.0, 2);
  ScanMatcher matcher;
  const ScanMatch match = matcher.match(pair.first, pair.second, {});
  CHECK(std::abs((match.middle - pair.first.stamp).seconds() - 0.035) < 1e-6);
  CHECK(match.dt_s == doctest::Approx(0.05));
  // Sweeps of different length: the second begins when it begins, but its middle comes later.
  scenes::Pair longer = pair;
  longer.second.time_increment *= 2.0F;
  CHECK(matcher.match(longer.first, longer.second, {}).dt_s == doctest::Approx(0.06));
}

TEST_CASE("beams without a measurement may be 0, inf, NaN, 65.533 or negative: the result is the same to the bit") {
  const scenes::Pair pair = scenes::pair(hall(), {.sweep_s = 0.02}, 3.0, 1.0, 7);
  const Rng lost(8, "lost");
  const auto with = [&](float nothing) {
    scenes::Pair p = pair;
    for (LaserScan* scan : {&p.first, &p.second}) {
      for (std::size_t i = 0; i < scan->ranges.size(); ++i) {
        if (lost.uniform(scan->stamp.ns % 7, static_cast<std::uint32_t>(i)) < 0.3) scan->ranges[i] = nothing;
      }
    }
    return p;
  };
  for (const MatchMetric metric : {MatchMetric::kLine, MatchMetric::kPoint}) {
    ScanMatcher matcher({.metric = metric});
    const scenes::Pair absent = with(std::numeric_limits<float>::infinity());
    const ScanMatch wanted = matcher.match(absent.first, absent.second, {});
    CHECK(miss_m(wanted, pair) < (metric == MatchMetric::kLine ? 0.01 : 0.15));
    CHECK_FALSE(same(wanted, matcher.match(pair.first, pair.second, {})));
    for (const float nothing : {0.0F, std::numeric_limits<float>::quiet_NaN(), 65.533F, -1.0F, -std::numeric_limits<float>::infinity()}) {
      CAPTURE(nothing);
      const scenes::Pair p = with(nothing);
      CHECK(same(matcher.match(p.first, p.second, {}), wanted));
    }
  }
}

TEST_CASE("same scans and guess, same bits, whatever was matched before") {
  const scenes::Pair a = scenes::pair(hall(), {.sweep_s = 0.02}, 3.0, 1.0, 1);
  const scenes::Pair b = scenes::pair(scenes::corridor(), {.beams = 700}, 3.0, 1.0, 2);
  ScanMatcher fresh;
  ScanMatcher used;
  const ScanMatch before = used.match(b.first, b.second, b.T_first_second);
  CHECK(before.status == MatchStatus::kMatched);
  CHECK(same(fresh.match(a.first, a.second, {}), used.match(a.first, a.second, {})));
}

TEST_CASE("nothing is allocated once a pair of that size has been matched") {
  const scenes::Pair a = scenes::pair(hall(), {.sweep_s = 0.02}, 3.0, 1.0, 1);
  const scenes::Pair b = scenes::pair(scenes::corridor(), {.sweep_s = 0.02}, 3.0, 1.0, 2);
  for (const MatchMetric metric : {MatchMetric::kLine, MatchMetric::kPoint}) {
    ScanMatcher matcher({.metric = metric});
    std::size_t pairs = matcher.match(a.first, a.second, {}).pairs;
    const AllocationGuard guard;
    pairs += matcher.match(b.first, b.second, {}).pairs;
    pairs += matcher.match(a.first, a.second, a.T_first_second).pairs;
    CHECK(guard.count() == 0);
    CHECK(pairs > 1500);
  }
}

TEST_CASE("scans that say nothing leave the guess, with a flag and finite numbers") {
  const Pose2 guess{0.15, 0.01, 0.02};
  const scenes::Pair pair = scenes::pair(hall(), {}, 3.0, 1.0, 1);
  LaserScan blind = pair.second;
  for (float& range : blind.ranges) range = std::numeric_limits<float>::infinity();
  LaserScan empty = pair.second;
  empty.ranges.clear();
  // A scan of a room that is nowhere near the other one's walls.
  LaserScan elsewhere = pair.second;
  for (float& range : elsewhere.ranges) range = 0.1F;
  for (const MatchMetric metric : {MatchMetric::kLine, MatchMetric::kPoint}) {
    ScanMatcher matcher({.metric = metric});
    for (const LaserScan& second : {blind, empty, elsewhere}) {
      for (const bool swapped : {false, true}) {
        const ScanMatch match = swapped ? matcher.match(second, pair.first, guess) : matcher.match(pair.first, second, guess);
        CHECK(match.status != MatchStatus::kMatched);
        CHECK(match.degenerate);
        CHECK(match.T_first_second == guess);
        CHECK(match.sigma_along_m({1.0, 0.0}) == doctest::Approx(kUnobserved));
        CHECK(std::isfinite(match.velocity.x_mps));
      }
    }
  }
}

TEST_CASE("a pair of the same instant has a motion but no velocity") {
  scenes::Pair pair = scenes::pair(hall(), {.sweep_s = 0.02}, 0.0, 0.0, 1);
  pair.second.stamp = pair.first.stamp;
  ScanMatcher matcher;
  const ScanMatch match = matcher.match(pair.first, pair.second, {});
  CHECK(match.status == MatchStatus::kMatched);
  CHECK(match.dt_s == 0.0);
  CHECK(match.velocity == Twist{});
}

TEST_CASE("a wall that has moved, as a door does, is outvoted") {
  double robust = 0.0;
  double plain = 0.0;
  for (std::uint64_t n = 0; n < 10; ++n) {
    scenes::Pair pair = scenes::pair(hall(), {}, 3.0, 1.0, n);
    // About a metre of it, to the right, 10 cm nearer than it was.
    for (std::size_t i = 110; i < 270; ++i) pair.second.ranges[i] -= 0.10F;
    ScanMatcher lines;
    ScanMatcher squares({.robust_scale_m = 1.0});
    robust += miss_m(lines.match(pair.first, pair.second, pair.T_first_second), pair);
    plain += miss_m(squares.match(pair.first, pair.second, pair.T_first_second), pair);
  }
  MESSAGE("mean miss " << 100.0 * robust << " mm robust, " << 100.0 * plain << " mm plain");
  CHECK(robust < 0.5 * plain);
}

TEST_CASE("scans of different beam counts and fields of view are matched") {
  const scenes::Pair pair = scenes::pair(hall(), {}, 3.0, 1.0, 8);
  scenes::Pair other = scenes::pair(hall(), {.beams = 541, .fov_rad = math::kPi}, 3.0, 1.0, 8);
  ScanMatcher matcher;
  const ScanMatch match = matcher.match(pair.first, other.second, {});
  CHECK(match.status == MatchStatus::kMatched);
  CHECK(miss_m(match, pair) < 0.01);
}

TEST_CASE("in a corridor the way along it stays at the guess, and only that") {
  const scenes::Pair pair = scenes::pair(scenes::corridor(), {}, 3.0, 1.0, 3);
  ScanMatcher matcher;
  const ScanMatch match = matcher.match(pair.first, pair.second, {});
  CHECK(match.degenerate);
  CHECK(match.unobservable == 1);
  CHECK(match.T_first_second.yaw == doctest::Approx(pair.T_first_second.yaw).epsilon(0.05));
  // The walls' direction in the frame of the first scan, from the walls themselves.
  const Vec2 along{match.directions(0, 0), match.directions(1, 0)};
  CHECK(norm(along) > 0.99);
  CHECK(std::abs(dot(along, match.T_first_second.position())) < 1e-3);
  const Vec2 across = perpendicular(along);
  CHECK(dot(across, match.T_first_second.position()) == doctest::Approx(dot(across, pair.T_first_second.position())).epsilon(0.2));
  CHECK(match.sigma_along_m(along) > 100.0 * match.sigma_along_m(across));
  CHECK(match.sigma_along_m(across) < 0.002);
}

TEST_CASE("a car ahead in a corridor is not taken for a wall: the way along stays unknown rather than relative to it") {
  const Twist velocity{3.0, 0.0, 0.0};
  const auto seen = [&](double own_m, double other_m, std::uint64_t sample) {
    scenes::Scene scene = scenes::corridor();
    // The other car's back, and its side.
    scene.panels.push_back({{other_m, -0.4}, {other_m, -0.1}});
    scene.panels.push_back({{other_m, -0.1}, {other_m + 0.55, -0.1}});
    return scenes::scan(scene, {}, {own_m, 0.1, 0.0}, velocity, Time{static_cast<std::int64_t>(sample) * 50'000'000}, sample);
  };
  const LaserScan first = seen(0.0, 2.0, 0);
  const LaserScan second = seen(0.15, 2.1, 1);  // at 2 m/s
  const ScanMatch match = ScanMatcher().match(first, second, {0.15, 0.0, 0.0});
  CHECK(match.degenerate);
  CHECK(match.T_first_second.x == doctest::Approx(0.15).epsilon(0.01));
  // Believed, it would give the speed between the two.
  ScanMatcher believing({.least_extent_m = 0.0});
  const ScanMatch wrong = believing.match(first, second, {0.15, 0.0, 0.0});
  CHECK_FALSE(wrong.degenerate);
  CHECK(wrong.T_first_second.x < 0.10);
}

TEST_CASE("the two faces of a thin wall are no pair") {
  scenes::Scene scene;
  scene.panels = {{{1.0, -2.0}, {1.0, 2.0}}};
  const LaserScan front = scenes::scan(scene, {}, {}, {}, Time{0}, 0);
  const LaserScan back = scenes::scan(scene, {}, {2.0, 0.0, math::kPi}, {}, Time{50'000'000}, 1);
  const ScanMatch match = ScanMatcher().match(front, back, {2.0, 0.0, math::kPi});
  CHECK(match.status == MatchStatus::kTooFewPairs);
  CHECK(match.T_first_second == Pose2{2.0, 0.0, math::kPi});
}

TEST_CASE("a wall that closes the corridor makes the way along it known") {
  scenes::Scene scene = scenes::corridor();
  scene.panels.push_back({{6.0, -1.0}, {6.0, 1.0}});
  const LaserScan first = scenes::scan(scene, {}, {0.0, 0.0, 0.0}, {}, Time{0}, 0);
  const LaserScan second = scenes::scan(scene, {}, {0.15, 0.0, 0.0}, {}, Time{50'000'000}, 1);
  ScanMatcher matcher;
  const ScanMatch match = matcher.match(first, second, {});
  CHECK_FALSE(match.degenerate);
  CHECK(match.T_first_second.x == doctest::Approx(0.15).epsilon(0.05));
}

TEST_CASE("in a round room a turn is not known, and the way is") {
  scenes::Scene scene;
  constexpr int kSides = 720;
  for (int i = 0; i < kSides; ++i) {
    scene.panels.push_back({4.0 * unit_vector(2.0 * math::kPi * i / kSides), 4.0 * unit_vector(2.0 * math::kPi * (i + 1) / kSides)});
  }
  const LaserScan first = scenes::scan(scene, {}, {}, {}, Time{0}, 0);
  const LaserScan second = scenes::scan(scene, {}, {0.0, 0.0, 0.3}, {}, Time{50'000'000}, 1);
  ScanMatcher matcher;
  const ScanMatch match = matcher.match(first, second, {});
  CHECK(match.degenerate);
  CHECK(match.sigma_yaw_rad() > 0.9 * kUnobserved);
  CHECK(match.sigma_along_m({1.0, 0.0}) < 0.01);
  CHECK(std::abs(match.T_first_second.yaw) < 1e-3);
}

TEST_CASE("metric point follows the plain rule: pairs of nearest points and the best rigid motion") {
  const scenes::Pair pair = scenes::pair(hall(), {.noise_m = 0.0}, 6.0, 1.0, 9);
  ScanMatcher matcher({.metric = MatchMetric::kPoint, .deskew = false});
  const ScanMatch still = matcher.match(pair.first, pair.first, {});
  CHECK(norm(still.T_first_second.position()) < 1e-9);
  CHECK(still.median_distance_m < 1e-9);
  CHECK(still.pair_share == 1.0);
  // It sticks to its guess where walls are smooth; the covariance says so.
  const ScanMatch match = matcher.match(pair.first, pair.second, {});
  CHECK(match.rounds == 30);
  const double miss = miss_m(match, pair);
  CHECK(miss > 0.01);
  const Vec2 off = match.T_first_second.position() - pair.T_first_second.position();
  CHECK(match.sigma_along_m((1.0 / miss) * off) > 0.5 * miss);
}

TEST_CASE("parameters are checked and named") {
  ScanMatcherParameters parameters;
  CHECK(check_fields("matcher", parameters));
  parameters.max_range_m = -1.0;
  CHECK_FALSE(check_fields("matcher", parameters));
  CHECK(describe_fields(ScanMatcherParameters{}).front().range == "line | point");
}

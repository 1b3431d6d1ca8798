// SPDX-License-Identifier: Apache-2.0
#include "localization/scan_points.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "localization/test_scenes.hpp"

using namespace pitwall;
using namespace pitwall::localization;

namespace {
constexpr double kSweep = 0.01875;
}

TEST_CASE("the middle of a sweep lies half of it after the stamp") {
  LaserScan scan;
  scan.stamp = Time{1000};
  scan.time_increment = 1e-5F;
  scan.ranges.resize(1001);
  CHECK(std::abs((middle_of(scan) - scan.stamp).seconds() - 0.005) < 1e-9);
  scan.ranges.clear();
  CHECK(middle_of(scan) == scan.stamp);
}

TEST_CASE("pieces of two walls lie on them and look at the sensor") {
  const scenes::Scene scene = scenes::corridor();
  ScanPoints points;
  points.read(scenes::scan(scene, {.noise_m = 0.0}, {0.0, 0.3, 0.2}, {}, {}, 0), {}, {});
  REQUIRE(points.pieces().size() > 900);
  CHECK(points.pieces().size() == points.centres().size());
  for (std::size_t i = 0; i < points.pieces().size(); ++i) {
    const Vec2 centre = Pose2{0.0, 0.3, 0.2} * points.centres().at[i];
    const Vec2 normal = rotate(0.2, points.pieces()[i].normal);
    CHECK(std::abs(centre.y) == doctest::Approx(1.0).epsilon(1e-6));
    CHECK(normal.y == doctest::Approx(centre.y > 0.0 ? -1.0 : 1.0).epsilon(1e-6));
  }
}

TEST_CASE("the uncertainty of a normal is that of its noise") {
  const scenes::Scene scene = scenes::corridor();
  ScanPoints points;
  double squared = 0.0;
  double claimed = 0.0;
  double scatter = 0.0;
  double count = 0.0;
  for (std::uint64_t n = 0; n < 20; ++n) {
    points.read(scenes::scan(scene, {.noise_m = 0.01}, {}, {}, {}, n), {}, {});
    for (std::size_t i = 0; i < points.pieces().size(); ++i) {
      const WallPiece& piece = points.pieces()[i];
      if (piece.points < 20.0) continue;
      const double angle = math::asin(piece.normal.x);
      squared += angle * angle;
      claimed += piece.angle_variance;
      scatter += piece.scatter_m2;
      count += 1.0;
    }
  }
  CHECK(squared / claimed == doctest::Approx(1.0).epsilon(0.15));
  // Range noise of 1 cm, seen under up to 45 degrees.
  CHECK(std::sqrt(scatter / count) > 0.007);
  CHECK(std::sqrt(scatter / count) < 0.0105);
}

TEST_CASE("no piece reaches over a gap or a corner") {
  scenes::Scene scene;
  scene.panels = {{{2, -1}, {2, 0.4}}, {{2.6, 0.4}, {2.6, 3}}, {{2, -1}, {-2, -1}}};
  scene.range_max_m = 25.0;
  ScanPoints points;
  points.read(scenes::scan(scene, {.noise_m = 0.0}, {}, {}, {}, 0), {}, {});
  REQUIRE(points.pieces().size() > 300);
  for (std::size_t i = 0; i < points.pieces().size(); ++i) {
    const Vec2 c = points.centres().at[i];
    const double off = std::min({std::abs(c.x - 2.0), std::abs(c.x - 2.6), std::abs(c.y + 1.0)});
    CHECK(off < 0.03);
    // At the corner a few pieces are rounded off, by no more than what counts as scatter.
    CHECK(std::sqrt(points.pieces()[i].scatter_m2) <= 0.03);
  }
}

TEST_CASE("walls seen while driving and turning are put where the middle beam saw them") {
  const scenes::Scene scene = scenes::corridor();
  const Twist velocity{6.0, 0.5, 4.0};
  const scenes::Scanner scanner{.noise_m = 0.0, .sweep_s = kSweep};
  const LaserScan scan = scenes::scan(scene, scanner, {0.0, 0.2, 0.1}, velocity, {}, 0);
  ScanPoints points;
  const auto worst = [&] {
    double off = 0.0;
    for (const Vec2 p : points.points().at) off = std::max(off, std::abs(std::abs((Pose2{0.0, 0.2, 0.1} * p).y) - 1.0));
    return off;
  };
  points.read(scan, velocity, {});
  CHECK(worst() < 2e-5);
  points.read(scan, {}, {});
  CHECK(worst() > 0.03);
}

TEST_CASE("beams without a measurement are absent, whatever stands there") {
  const scenes::Scene scene = scenes::corridor();
  const LaserScan whole = scenes::scan(scene, {}, {}, {}, {}, 0);
  const float infinite = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  ScanPoints absent;
  LaserScan scan = whole;
  for (std::size_t i = 0; i < scan.ranges.size(); i += 3) scan.ranges[i] = infinite;
  absent.read(scan, {}, {});
  CHECK(absent.points().size() < whole.ranges.size());
  for (const float nothing : {0.0F, nan, -infinite, -1.0F, 65.533F, 0.019F, whole.range_max, 1e9F}) {
    CAPTURE(nothing);
    for (std::size_t i = 0; i < scan.ranges.size(); i += 3) scan.ranges[i] = nothing;
    ScanPoints points;
    points.read(scan, {}, {});
    CHECK(points.points().at == absent.points().at);
    CHECK(points.centres().at == absent.centres().at);
  }
}

TEST_CASE("a scan of unusable geometry has no points") {
  const LaserScan whole = scenes::scan(scenes::corridor(), {}, {}, {}, {}, 0);
  ScanPoints points;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float increment : {0.0F, nan, std::numeric_limits<float>::infinity(), 0.1F}) {
    LaserScan scan = whole;
    scan.angle_increment = increment;
    points.read(scan, {}, {});
    CHECK(points.points().size() == 0);
    CHECK(points.pieces().empty());
  }
  LaserScan scan = whole;
  scan.angle_min = nan;
  points.read(scan, {}, {});
  CHECK(points.points().size() == 0);
  scan = whole;
  scan.time_increment = nan;
  points.read(scan, {1.0, 0.0, 1.0}, {});
  CHECK(points.points().size() > 900);
  points.read({}, {}, {});
  CHECK(points.points().size() == 0);
  points.read(whole, {}, {});
  CHECK(points.points().size() > 900);
}

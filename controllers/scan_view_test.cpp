// SPDX-License-Identifier: Apache-2.0
#include "controllers/scan_view.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/math.hpp"
#include "tests/support/toy_world.hpp"

using namespace pitwall;
using namespace pitwall::controllers;

namespace {

constexpr float kNanF = std::numeric_limits<float>::quiet_NaN();

ScanView view_of(const LaserScan& scan, const CarParameters& car = toy::car()) {
  ScanView view(car);
  view.reset();
  REQUIRE(view.update(scan));
  return view;
}

// 101 beams of 0.01 rad from -0.5 rad.
LaserScan fan(float range) {
  LaserScan scan = toy::empty_scan(toy::car(), 101);
  scan.angle_min = -0.5F;
  scan.angle_max = 0.5F;
  scan.angle_increment = 0.01F;
  scan.ranges.assign(101, range);
  return scan;
}

}  // namespace

TEST_CASE("bearings are exact for odd and even beam counts over 270 degrees") {
  for (const int beams : {1080, 1081, 819, 2}) {
    CAPTURE(beams);
    CarParameters car = toy::car();
    const ScanView view = view_of(toy::empty_scan(car, beams));
    const double fov = 2.0 * static_cast<double>(static_cast<float>(0.5 * car.lidar_fov_rad));
    double worst = 0.0;
    for (int i = 0; i < beams; ++i) {
      const double exact = -0.5 * fov + i * fov / (beams - 1);
      worst = std::max(worst, std::abs(view.bearing_rad(static_cast<std::size_t>(i)) - exact));
    }
    CHECK(worst < 1e-14);
  }
}

TEST_CASE("a cropped scan keeps the angles of the beams that are left, even where its angle_max was forgotten") {
  const LaserScan whole = toy::empty_scan(toy::car(), 1081);
  LaserScan cropped = whole;
  cropped.ranges.resize(300);
  cropped.angle_min = whole.angle_min + 200.0F * whole.angle_increment;
  const ScanView all = view_of(whole);
  const ScanView part = view_of(cropped);
  for (std::size_t i = 0; i < 300; i += 23) CHECK(part.bearing_rad(i) == doctest::Approx(all.bearing_rad(i + 200)).epsilon(1e-6));
}

TEST_CASE("bearings and boundaries of a symmetric scan are symmetric to the bit") {
  const ScanView view = view_of(toy::empty_scan(toy::car(), 1081));
  for (std::size_t i = 0; i < 1081; ++i) {
    REQUIRE(view.bearing_rad(i) == -view.bearing_rad(1080 - i));
    REQUIRE(view.sin_bearing(i) == -view.sin_bearing(1080 - i));
    REQUIRE(view.boundary_m(i) == view.boundary_m(1080 - i));
  }
}

TEST_CASE("the mount's yaw turns every bearing, also by half a turn") {
  CarParameters car = toy::car();
  car.lidar_yaw_rad = 0.2;
  CHECK(view_of(fan(1.0F), car).bearing_rad(50) == doctest::Approx(0.2));
  car.lidar_yaw_rad = math::kPi;
  const ScanView back = view_of(fan(1.0F), car);
  CHECK(back.bearing_rad(50) == doctest::Approx(math::kPi));
  CHECK(back.window(0.0, 1.0).empty());
}

TEST_CASE("boundary distances have the closed form of a rectangle view_of from the LiDAR") {
  // Padded body: x from -0.11 to 0.47, |y| <= 0.155; LiDAR at x = 0.26.
  const BodyRectangle body = toy::car().padded_body();
  const Vec2 lidar{0.26, 0.0};
  CHECK(distance_to_edge(body, lidar, {1.0, 0.0}) == doctest::Approx(0.21));
  CHECK(distance_to_edge(body, lidar, {-1.0, 0.0}) == doctest::Approx(0.37));
  CHECK(distance_to_edge(body, lidar, {0.0, 1.0}) == doctest::Approx(0.155));
  CHECK(distance_to_edge(body, lidar, {0.0, -1.0}) == doctest::Approx(0.155));
  const double to_corner = std::atan2(0.155, 0.21);
  CHECK(distance_to_edge(body, lidar, unit_vector(to_corner)) == doctest::Approx(std::hypot(0.155, 0.21)));
  CHECK(distance_to_edge(body, lidar, unit_vector(0.3)) == doctest::Approx(0.21 / std::cos(0.3)));
  CHECK(distance_to_edge(body, lidar, unit_vector(1.2)) == doctest::Approx(0.155 / std::sin(1.2)));
  CHECK(distance_to_edge(body, {0.26, 0.05}, {0.0, 1.0}) == doctest::Approx(0.105));
  CHECK(distance_to_edge(body, {0.6, 0.0}, {1.0, 0.0}) == 0.0);
}

TEST_CASE("what a beam may say: valid from range_min to range_max, everything else is unknown") {
  LaserScan scan = fan(3.0F);
  scan.ranges[10] = kNanF;
  scan.ranges[20] = math::kInfinityF;
  scan.ranges[30] = -math::kInfinityF;
  scan.ranges[40] = 0.04F;
  scan.ranges[50] = 25.1F;
  scan.ranges[60] = 0.05F;
  scan.ranges[70] = 25.0F;
  scan.ranges[80] = -1.0F;
  const ScanView view = view_of(scan);
  CHECK(view.kind(10) == BeamKind::kInvalid);
  CHECK(view.kind(20) == BeamKind::kNoReturn);
  CHECK(view.kind(30) == BeamKind::kInvalid);
  CHECK(view.kind(40) == BeamKind::kInvalid);
  CHECK(view.kind(50) == BeamKind::kNoReturn);
  CHECK(view.valid(60));
  CHECK(view.valid(70));
  CHECK(view.kind(80) == BeamKind::kInvalid);
  CHECK(view.valid_count() == 95);
  scan.range_min = 0.0F;
  scan.ranges[0] = 0.0F;
  CHECK(view_of(scan).kind(0) == BeamKind::kInvalid);
}

TEST_CASE("a drop-out is believed as its nearer neighbour: it opens nothing and closes nothing") {
  LaserScan scan = fan(8.0F);
  for (std::size_t i = 0; i < 50; ++i) scan.ranges[i] = 1.0F;
  scan.ranges[20] = math::kInfinityF;
  scan.ranges[50] = math::kInfinityF;  // at the edge between near and far
  scan.ranges[80] = kNanF;
  const ScanView view = view_of(scan);
  CHECK(view.depth_m(20) == 1.0);
  CHECK(view.depth_m(50) == 1.0);
  CHECK(view.depth_m(80) == 8.0);
  CHECK(view.clearance_m(20) == std::numeric_limits<double>::infinity());
}

TEST_CASE("a wide sector without returns is believed as deep as its deeper flank; one of invalid beams is closed") {
  LaserScan hall = fan(24.0F);
  for (std::size_t i = 30; i < 70; ++i) hall.ranges[i] = math::kInfinityF;
  for (std::size_t i = 0; i < 30; ++i) hall.ranges[i] = 0.6F;
  CHECK(view_of(hall).depth_m(50) == 24.0);
  LaserScan black = fan(2.0F);
  for (std::size_t i = 30; i < 70; ++i) black.ranges[i] = math::kInfinityF;
  CHECK(view_of(black).depth_m(50) == 2.0);
  LaserScan broken = fan(24.0F);
  for (std::size_t i = 30; i < 70; ++i) broken.ranges[i] = kNanF;
  CHECK(view_of(broken).depth_m(50) == 0.0);
  LaserScan edge = fan(5.0F);
  for (std::size_t i = 60; i < 101; ++i) edge.ranges[i] = math::kInfinityF;
  CHECK(view_of(edge).depth_m(100) == 5.0);
  CHECK(view_of(fan(math::kInfinityF)).depth_m(50) == 0.0);
}

TEST_CASE("windows include the beams on their edges, on both sides alike, and clamp to the scan") {
  const ScanView view = view_of(fan(1.0F));
  const BeamWindow w = view.window(0.0, 0.2);
  CHECK(w.first == 30);
  CHECK(w.end == 71);
  CHECK(view.window(0.0, 9.0).size() == 101);
  CHECK(view.window(2.0, 0.5).empty());
  CHECK(view.beam_at(0.004) == 50);
  CHECK(view.beam_at(0.006) == 51);
  CHECK(view.beam_at(-9.0) == 0);
  CHECK(view.beam_at(9.0) == 100);
}

TEST_CASE("nearest values skip unknown beams, and an unseen window has none") {
  LaserScan scan = fan(3.0F);
  scan.ranges[20] = math::kInfinityF;
  scan.ranges[33] = 1.5F;
  const ScanView view = view_of(scan);
  CHECK(view.nearest_range(view.all()).beam == 33);
  CHECK(view.nearest_clearance(view.all()).value_m == doctest::Approx(1.5 - view.boundary_m(33)));
  const NearestBeam none = view_of(fan(math::kInfinityF)).nearest_range(view.all());
  CHECK(none.beam == -1);
  CHECK(none.value_m == std::numeric_limits<double>::infinity());
}

TEST_CASE("malformed scans are refused and change nothing") {
  const LaserScan good = fan(2.0F);
  REQUIRE(is_well_formed(good));
  std::vector<LaserScan> bad(9, good);
  bad[0].ranges.clear();
  bad[1].ranges.resize(1);
  bad[2].ranges.resize(kMaxScanBeams + 1);
  bad[3].angle_increment = 0.0F;
  bad[4].angle_increment = kNanF;
  bad[5].angle_increment = -0.01F;
  bad[6].angle_min = math::kInfinityF;
  bad[7].range_max = 0.01F;
  bad[8].angle_increment = 1.0F;  // 100 rad in all
  ScanView view = view_of(good);
  for (const LaserScan& scan : bad) {
    CHECK_FALSE(is_well_formed(scan));
    CHECK_FALSE(view.update(scan));
  }
  CHECK(view.size() == 101);
  CHECK(view.range_m(50) == 2.0);
}

TEST_CASE("tables follow a scan whose geometry changes") {
  ScanView view = view_of(fan(2.0F));
  LaserScan other = fan(2.0F);
  other.angle_min = -0.25F;
  other.angle_max = 0.25F;
  other.angle_increment = 0.005F;
  REQUIRE(view.update(other));
  CHECK(view.bearing_rad(0) == doctest::Approx(-0.25));
  REQUIRE(view.update(fan(2.0F)));
  CHECK(view.bearing_rad(0) == doctest::Approx(-0.5));
}

// SPDX-License-Identifier: Apache-2.0
#include "controllers/opponents.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "core/rng.hpp"
#include "tests/support/straight_track.hpp"

using namespace pitwall;
using namespace pitwall::controllers;

namespace {

Time seconds(double s) { return Time{} + from_seconds(10.0 + s); }

struct OpponentBench {
  CarParameters car = toy::car();
  toy::StraightTrack track;
  OpponentDetector detector{{}, car, track.line.rays};
  OpponentTracker tracker{{}, 0.15, car.length_m, car.width_m};

  std::span<const Cluster> detect(const Pose2& truth, const std::vector<Pose2>& others, const Pose2& believed,
                                  const std::vector<toy::Wall>& more = {}) {
    scan = track.look(car, truth, others, more);
    return detector.detect(scan, believed, believed);
  }
  /// Sees `others` from `truth` at time t and follows them.
  void see(double t, const Pose2& truth, const std::vector<Pose2>& others, const Pose2& believed) {
    const auto clusters = detect(truth, others, believed);
    tracker.observe(*track.line.path, clusters, detector.sensor_map(), track.line.path->project(believed.position()).s_m, seconds(t));
    tracker.forget(seconds(t));
  }
  LaserScan scan;
};

tracks::Path ring_track() {
  std::vector<Vec2> points;
  for (int i = 0; i < 200; ++i) points.push_back(8.0 * unit_vector(2.0 * math::kPi * i / 200));
  return tracks::Path::make(points, true).value();
}

}  // namespace

TEST_CASE("an empty track shows nothing, even from a pose that is wrong by 2 cm and 0.6 degrees each way") {
  OpponentBench b;
  for (const double dx : {-0.02, 0.0, 0.02}) {
    for (const double dy : {-0.02, 0.02}) {
      for (const double yaw : {-0.0105, 0.0105}) {
        const Pose2 truth{10.0, 0.3, 0.05};
        CHECK(b.detect(truth, {}, {truth.x + dx, truth.y + dy, truth.yaw + yaw}).empty());
        CHECK(b.detector.unexplained_beams().empty());
      }
    }
  }
}

TEST_CASE("the edge of a mapped wall seen from a wrong pose is no opponent, a box free of the wall is") {
  // A wall with a step: a beam that passes the edge by error ends metres before what the map promises there.
  constexpr int kColumns = 400;
  constexpr int kRows = 80;
  std::vector<std::int8_t> cells(kColumns * kRows, 0);
  for (int j = 0; j < kRows; ++j) {
    for (int i = 0; i < kColumns; ++i) {
      if (j < 4 || j >= kRows - 4 || (i >= 200 && i < 208 && j >= 40)) cells[static_cast<std::size_t>(j * kColumns + i)] = 100;
    }
  }
  auto map =
      std::make_shared<const tracks::OccupancyMap>(tracks::OccupancyMap::make(kColumns, kRows, 0.05, {0, -2, 0}, std::move(cells)).value());
  auto rays = std::make_shared<const tracks::RayCaster>(map);
  const CarParameters car = toy::car();
  OpponentDetector detector({}, car, rays);
  const auto scan_from = [&](const Pose2& T) {
    LaserScan scan = toy::empty_scan(car, 1081);
    const Pose2 T_map_lidar = T * car.lidar_mount();
    for (std::size_t i = 0; i < scan.ranges.size(); ++i) {
      const double angle = T_map_lidar.yaw + (static_cast<double>(i) - 540.0) * car.lidar_fov_rad / 1080.0;
      scan.ranges[i] = static_cast<float>(rays->cast(T_map_lidar.position(), unit_vector(angle), 25.0));
    }
    return scan;
  };
  const auto clusters = [&](double x, double off_m, double off_rad, double sign) {
    const Pose2 truth{x, -1.0, 0.0};
    const Pose2 believed{x + off_m * sign, -1.0 - off_m * sign, off_rad * sign};
    return detector.detect(scan_from(truth), believed, believed).size();
  };
  for (const double sign : {-1.0, 1.0}) {
    for (const double x : {3.0, 5.0, 7.0, 9.0}) CHECK(clusters(x, 0.02, 0.0105, sign) == 0);
    // A localiser that has just stepped.
    for (const double x : {3.0, 5.0, 7.0, 9.0, 12.0}) CHECK(clusters(x, 0.12, 0.0105, sign) == 0);
  }
}

TEST_CASE("a car a hand's breadth from the wall is still seen, from a pose that is off") {
  OpponentBench b;
  const Pose2 ego{10.0, 0.0, 0.0};
  const double beside = 1.1 - 0.5 * b.car.body_width_m - 0.10;
  for (const double ahead : {1.5, 3.0, 5.0}) {
    for (const double side : {-1.0, 1.0}) {
      const auto clusters = b.detect(ego, {toy::centred_at(b.car, 10.0 + ahead, side * beside)}, {10.02, 0.02, 0.005});
      CAPTURE(ahead);
      REQUIRE(clusters.size() == 1);
      CHECK(clusters[0].width_m > 0.15);
    }
  }
}

TEST_CASE("a car ahead is one cluster as wide as the car, at its rear face") {
  OpponentBench b;
  for (const double ahead : {1.0, 2.0, 4.0, 6.0, 7.5}) {
    const Pose2 ego{10.0, 0.0, 0.0};
    const auto clusters = b.detect(ego, {toy::centred_at(b.car, 10.0 + ahead, 0.0)}, ego);
    REQUIRE(clusters.size() == 1);
    CHECK(std::abs(clusters[0].width_m - b.car.body_width_m) < 0.06 + 0.01 * ahead);
    CHECK_FALSE(clusters[0].cut);
  }
}

TEST_CASE("a car beyond the range, a wall that nobody mapped and a thin post begin no track") {
  OpponentBench b;
  const Pose2 ego{10.0, 0.0, 0.0};
  CHECK(b.detect(ego, {toy::centred_at(b.car, 20.0, 0.0)}, ego).empty());
  CHECK(b.detect(ego, {}, ego, {{{13.0, -0.9}, {13.0, 0.7}}}).empty());
  CHECK_FALSE(b.detector.unexplained_beams().empty());
  b.see(0.0, ego, {}, ego);
  const auto post = b.detect(ego, {}, ego, {{{13.0, -0.04}, {13.0, 0.04}}});
  b.tracker.observe(*b.track.line.path, post, b.detector.sensor_map(), 8.0, seconds(0.1));
  CHECK(b.tracker.opponents().empty());
}

TEST_CASE("drop-outs do not split or hide a car") {
  OpponentBench b;
  const Pose2 ego{10.0, 0.0, 0.0};
  LaserScan scan = b.track.look(b.car, ego, {toy::centred_at(b.car, 12.5, 0.0)});
  for (std::size_t i = 0; i < scan.ranges.size(); i += 5) scan.ranges[i] = INFINITY;
  const auto clusters = b.detector.detect(scan, ego, ego);
  REQUIRE(clusters.size() == 1);
  CHECK(clusters[0].width_m > 0.25);
}

TEST_CASE("without a map, a car that stands free of what is behind it is seen, a wall is not") {
  OpponentBench b;
  OpponentDetector blind({}, b.car, nullptr);
  const Pose2 ego{10.0, 0.0, 0.0};
  const auto empty = b.track.look(b.car, ego, {});
  CHECK(blind.detect(empty, ego, ego).empty());
  const auto scan = b.track.look(b.car, ego, {toy::centred_at(b.car, 12.5, 0.0)});
  const auto clusters = blind.detect(scan, ego, ego);
  REQUIRE(clusters.size() == 1);
  CHECK(clusters[0].points_map[0].x == doctest::Approx(12.5 - 0.5 * b.car.body_length_m).epsilon(0.01));
  CHECK(blind.unexplained_beams().empty());
}

TEST_CASE("the place of a car is its centre, from behind and from beside it") {
  for (const double behind : {-2.5, -1.2, -0.6, -0.3}) {
    OpponentBench b;
    const Pose2 ego = toy::centred_at(b.car, 20.0 + behind, -0.45);
    b.see(0.0, ego, {toy::centred_at(b.car, 20.0, 0.2)}, ego);
    REQUIRE(b.tracker.opponents().size() == 1);
    const Opponent& o = b.tracker.opponents()[0];
    CHECK(std::abs(o.s_m - 18.0) < 0.05);
    CHECK(std::abs(o.lateral_m - 0.2) < 0.04);
  }
}

TEST_CASE("an opponent's rate settles within a quarter second to 0.3 m/s, from noisy poses and ranges") {
  for (const double rate : {0.0, 1.0, 2.0, 3.5}) {
    OpponentBench b;
    const Rng noise(3, "test");
    for (int k = 0; k <= 40; ++k) {
      const double t = 0.025 * k;
      const auto sample = static_cast<std::uint64_t>(k);
      const Pose2 ego{5.0 + 2.0 * t, 0.0, 0.0};
      const Pose2 believed{ego.x + 0.01 * noise.normal(sample, 0), 0.01 * noise.normal(sample, 1), 0.005 * noise.normal(sample, 2)};
      b.see(t, ego, {toy::centred_at(b.car, 9.0 + rate * t, 0.1)}, believed);
      if (k < 12) continue;
      REQUIRE(b.tracker.opponents().size() == 1);
      CHECK(b.tracker.confirmed(b.tracker.opponents()[0]));
      CHECK(std::abs(b.tracker.opponents()[0].rate_mps - rate) < 0.3);
    }
    CHECK(b.tracker.opponents()[0].id == 1);
    CHECK(std::abs(b.tracker.opponents()[0].s_m - (7.0 + rate)) < 0.06);
  }
}

TEST_CASE("two cars keep their identities, also side by side") {
  OpponentBench b;
  for (int k = 0; k <= 60; ++k) {
    const double t = 0.025 * k;
    const Pose2 ego{5.0, 0.0, 0.0};
    b.see(t, ego, {toy::centred_at(b.car, 8.0 + 1.5 * t, 0.5), toy::centred_at(b.car, 9.5 + 0.5 * t, -0.5)}, ego);
  }
  REQUIRE(b.tracker.opponents().size() == 2);
  for (const Opponent& o : b.tracker.opponents()) {
    const bool left = o.lateral_m > 0.0;
    CHECK(std::abs(o.rate_mps - (left ? 1.5 : 0.5)) < 0.15);
    CHECK(o.hits > 50);
  }
}

TEST_CASE("unseen, a track is dead-reckoned at its rate, is fresh for a second, and is forgotten after three") {
  OpponentBench b;
  const Pose2 ego{5.0, 0.0, 0.0};
  for (int k = 0; k <= 40; ++k) b.see(0.025 * k, ego, {toy::centred_at(b.car, 8.0 + 1.0 * 0.025 * k, 0.0)}, ego);
  REQUIRE(b.tracker.opponents().size() == 1);
  const double s = b.tracker.opponents()[0].s_m;
  for (int k = 41; k <= 100; ++k) b.see(0.025 * k, ego, {}, ego);
  REQUIRE(b.tracker.opponents().size() == 1);
  const Opponent now = b.tracker.at(*b.track.line.path, b.tracker.opponents()[0], seconds(2.5));
  CHECK(std::abs(now.s_m - (s + 1.5)) < 0.1);
  CHECK(b.tracker.fresh(now, seconds(1.9)));
  CHECK_FALSE(b.tracker.fresh(now, seconds(2.1)));
  b.tracker.forget(seconds(3.9));
  CHECK(b.tracker.opponents().size() == 1);
  b.tracker.forget(seconds(4.1));
  CHECK(b.tracker.opponents().empty());
}

TEST_CASE("something seen once or twice is forgotten soon and never confirmed") {
  OpponentBench b;
  const Pose2 ego{5.0, 0.0, 0.0};
  b.see(0.0, ego, {toy::centred_at(b.car, 8.0, 0.0)}, ego);
  b.see(0.025, ego, {toy::centred_at(b.car, 8.0, 0.0)}, ego);
  REQUIRE(b.tracker.opponents().size() == 1);
  CHECK_FALSE(b.tracker.confirmed(b.tracker.opponents()[0]));
  b.see(0.5, ego, {}, ego);
  CHECK(b.tracker.opponents().empty());
}

TEST_CASE("a car that leaves the field of view does not pull its track along") {
  OpponentBench b;
  Pose2 ego = toy::centred_at(b.car, 9.0, -0.5);
  for (int k = 0; k <= 80; ++k) {
    ego.x += 0.05;  // 2 m/s past a car that stands at x = 11
    b.see(0.025 * k, ego, {toy::centred_at(b.car, 11.0, 0.15)}, ego);
    if (k < 10) continue;
    REQUIRE(b.tracker.opponents().size() == 1);
    CHECK(std::abs(b.tracker.opponents()[0].lateral_m - 0.15) < 0.06);
    CHECK(std::abs(b.tracker.opponents()[0].s_m - 9.0) < 0.15);
  }
}

TEST_CASE("lead has a sign and is the shortest way over the seam") {
  const tracks::Path path = ring_track();
  const double length = path.length_m();
  CHECK(lead_m(path, 2.0, 1.0) == doctest::Approx(1.0));
  CHECK(lead_m(path, 1.0, 2.0) == doctest::Approx(-1.0));
  CHECK(lead_m(path, 0.5, length - 0.5) == doctest::Approx(1.0));
  CHECK(lead_m(path, length - 0.5, 0.5) == doctest::Approx(-1.0));
}

TEST_CASE("a track runs over the seam of a closed line without a jump of place or rate") {
  const tracks::Path path = ring_track();
  OpponentTracker tracker({}, 0.15, 0.58, 0.31);
  const double length = path.length_m();
  for (int k = 0; k <= 80; ++k) {
    const double s = length - 2.0 + 2.0 * 0.025 * k;
    // The rear face of a car at s, as seen from 3 m behind.
    const double yaw = path.heading_at(s);
    const Vec2 rear = path.point_at(s) - 0.29 * unit_vector(yaw);
    const Vec2 across{-math::sin(yaw), math::cos(yaw)};
    const Vec2 points[] = {rear - 0.15 * across, rear, rear + 0.15 * across};
    const Cluster cluster{points, 0.3, 3.0, false};
    tracker.observe(path, {&cluster, 1}, path.point_at(s - 3.0), path.wrap_s(s - 3.0), seconds(0.025 * k));
    REQUIRE(tracker.opponents().size() == 1);
    CHECK(std::abs(path.s_difference(tracker.opponents()[0].s_m, s)) < 0.06);
    if (k > 20) CHECK(std::abs(tracker.opponents()[0].rate_mps - 2.0) < 0.1);
  }
}

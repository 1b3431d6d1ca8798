// SPDX-License-Identifier: Apache-2.0
#include "localization/localizer/localizer.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/rng.hpp"
#include "tests/support/allocation_guard.hpp"

namespace pitwall::localization {
namespace {

constexpr double kCell = 0.05;

/// A room of 8 x 5 m from the origin on, with walls of 0.2 m, an alcove and a post, so that no two places look alike.
tracks::OccupancyMap room(double yaw = 0.0) {
  const int width = 168;
  const int height = 108;
  std::vector<std::int8_t> values;
  for (int j = 0; j < height; ++j) {
    for (int i = 0; i < width; ++i) {
      const double x = (i + 0.5) * kCell - 0.2;
      const double y = (j + 0.5) * kCell - 0.2;
      const bool inside = x > 0.0 && x < 8.0 && y > 0.0 && y < 5.0;
      const bool corner = x < 1.0 && y < 1.5;
      const bool post = std::fabs(x - 5.5) < 0.2 && std::fabs(y - 3.5) < 0.2;
      values.push_back(inside && !corner && !post ? 0 : 100);
    }
  }
  const Vec2 at = rotate(yaw, {-0.2, -0.2});
  return *tracks::OccupancyMap::make(width, height, kCell, {at.x, at.y, yaw}, std::move(values));
}

struct Rig {
  explicit Rig(const tracks::OccupancyMap& of = room())
      : map(std::make_shared<const tracks::OccupancyMap>(of)),
        rays(std::make_shared<const tracks::RayCaster>(map)),
        known(LocalizerMap::make(*map, rays)) {}
  std::shared_ptr<const tracks::OccupancyMap> map;
  std::shared_ptr<const tracks::RayCaster> rays;
  std::shared_ptr<const LocalizerMap> known;
  Pose2 T_base_lidar{0.27, 0.0, 0.0};

  [[nodiscard]] LaserScan scan(const Pose2& T_map_base, double stamp_s, double noise_m = 0.01) const {
    LaserScan scan;
    scan.stamp = Time{} + from_seconds(stamp_s);
    constexpr int kBeams = 1080;
    scan.angle_min = static_cast<float>(-0.75 * math::kPi);
    scan.angle_increment = static_cast<float>(1.5 * math::kPi / (kBeams - 1));
    scan.angle_max = -scan.angle_min;
    scan.range_min = 0.05F;
    scan.range_max = 20.0F;
    const Pose2 T = T_map_base * T_base_lidar;
    const Rng noise(3, "scan");
    for (int k = 0; k < kBeams; ++k) {
      const double bearing = T.yaw + static_cast<double>(scan.angle_min) + k * static_cast<double>(scan.angle_increment);
      const double range = rays->cast(T.position(), unit_vector(bearing), 20.0);
      scan.ranges.push_back(
          static_cast<float>(range + noise_m * noise.normal(static_cast<std::uint64_t>(scan.stamp.ns), static_cast<std::uint32_t>(k))));
    }
    return scan;
  }
};

Odometry odometry(const Pose2& pose, double stamp_s) {
  Odometry o;
  o.stamp = Time{} + from_seconds(stamp_s);
  o.position = pose.position();
  o.orientation = to_quaternion(pose.yaw);
  return o;
}

TEST_CASE("the signed field says how far the face of a wall is, on both sides, and in which direction") {
  for (const double yaw : {0.0, 0.4}) {
    const SignedField field(room(yaw), 0.6);
    for (const double d : {0.31, 0.1, 0.0, -0.06}) {
      const SignedDistance right = field.at(rotate(yaw, {8.0 - d, 2.52}));
      CHECK(right.value_m == doctest::Approx(d).epsilon(0.001));
      CHECK(rotate(-yaw, right.gradient).x == doctest::Approx(-1.0).epsilon(0.001));
      CHECK(field.at(rotate(yaw, {3.02, d})).value_m == doctest::Approx(d).epsilon(0.001));
    }
    CHECK(field.at(rotate(yaw, {3.0, 2.5})).value_m == doctest::Approx(0.6).epsilon(0.1));
    CHECK(field.at({100.0, 0.0}).value_m == 0.6);
    CHECK(field.at({NAN, 0.0}).gradient == Vec2{});
  }
}

TEST_CASE("a still car's pose is known to 5 mm, from a start that is off by 0.2 m and 6 degrees, and its covariance covers that") {
  const Rig rig;
  for (const Pose2 truth : {Pose2{2.0, 2.5, 0.3}, Pose2{6.5, 1.0, 2.0}, Pose2{4.0, 4.2, -2.5}}) {
    Localizer localizer(rig.known, rig.T_base_lidar);
    localizer.reset(Pose2{truth.x + 0.15, truth.y - 0.12, truth.yaw + 0.1});
    Localization found;
    for (int k = 0; k < 10; ++k) {
      localizer.add_odometry(odometry({}, 0.025 * k));
      found = localizer.add_scan(rig.scan(truth, 0.025 * k));
    }
    CHECK(found.status == LocalizerStatus::kTracking);
    CHECK(distance(found.T_map_base.position(), truth.position()) < 0.005);
    CHECK(std::fabs(wrap_angle(found.T_map_base.yaw - truth.yaw)) < 0.003);
    CHECK(found.fit > 0.97);
    CHECK(found.against == 0.0);
    CHECK(std::sqrt(found.covariance(0, 0)) < 0.02);
    CHECK(found.covariance(2, 2) > 0.0);
  }
}

TEST_CASE("along a corridor the odometry leads and the covariance says so") {
  std::vector<std::int8_t> values;
  for (int j = 0; j < 60; ++j) {
    for (int i = 0; i < 2000; ++i) values.push_back(j < 10 || j >= 50 ? 100 : 0);
  }
  const Rig rig(*tracks::OccupancyMap::make(2000, 60, kCell, {}, std::move(values)));
  Localizer localizer(rig.known, rig.T_base_lidar);
  localizer.reset(Pose2{40.0, 1.5, 0.0});
  Localization found;
  for (int k = 0; k < 80; ++k) {
    // The wheels count 5 % too much.
    localizer.add_odometry(odometry({0.05 * 1.05 * k, 0.0, 0.0}, 0.025 * k));
    found = localizer.add_scan(rig.scan({40.0 + 0.05 * k, 1.55, 0.02}, 0.025 * k));
  }
  CHECK(found.T_map_base.x == doctest::Approx(40.0 + 0.05 * 1.05 * 79).epsilon(0.002));
  CHECK(found.T_map_base.y == doctest::Approx(1.55).epsilon(0.01));
  CHECK(found.T_map_base.yaw == doctest::Approx(0.02).epsilon(0.1));
  CHECK(found.covariance(0, 0) > 100.0 * found.covariance(1, 1));
}

TEST_CASE("the search gives the pose that trying every one gives, whatever its portions") {
  const Rig rig;
  const GlobalSearchSettings settings{0.1, 60};
  const auto map = std::make_shared<const SearchMap>(*rig.map, 0.1);
  for (const Pose2 truth : {Pose2{2.0, 2.5, 0.3}, Pose2{6.5, 1.0, 2.0}}) {
    ScanPoints points;
    points.read(rig.scan(truth, 1.0), {}, {});
    std::vector<Vec2> in_base;
    for (std::size_t k = 0; k < points.points().size(); k += 5) in_base.push_back(rig.T_base_lidar * points.points().at[k]);
    GlobalSearch search(map, settings);
    search.begin(in_base, 0.2);
    while (!search.advance(7)) {
    }
    const auto found = search.result();
    REQUIRE(found);
    GlobalSearch at_once(map, settings);
    at_once.begin(in_base, 0.2);
    REQUIRE(at_once.advance(100'000'000));
    CHECK(at_once.result()->T_map_scan == found->T_map_scan);
    // Every pose on free floor, with the same points.
    std::vector<Vec2> used;
    for (std::size_t k = 0; k < 60; ++k) used.push_back(in_base[k * in_base.size() / 60]);
    double best = 0.0;
    const int turns = static_cast<int>(std::ceil(2.0 * math::kPi / 0.1));
    std::size_t poses = 0;
    for (int t = 0; t < turns; ++t) {
      for (double y = map->low.y; y <= map->high.y; y += 0.1) {
        for (double x = map->low.x; x <= map->high.x; x += 0.1) {
          const Vec2 cell = rig.map->to_grid({x + 0.05, y + 0.05});
          if (rig.map->blocked(static_cast<int>(cell.x), static_cast<int>(cell.y))) continue;
          ++poses;
          best = std::max(best, map->walls.response(used, {x, y, 2.0 * math::kPi * t / turns}));
        }
      }
    }
    CHECK(found->response >= best - 1e-9);
    CHECK(found->response < best + 0.02);
    CHECK(found->tried < poses / 2);
    CHECK(distance(found->T_map_scan.position(), truth.position()) < 0.15);
    CHECK(std::fabs(wrap_angle(found->T_map_scan.yaw - truth.yaw)) < 0.1);
    // Elsewhere it fits worse, and not near there.
    search.begin_elsewhere({found->T_map_scan, 0.5, 0.4}, 0.1);
    REQUIRE(search.advance(100'000'000));
    REQUIRE(search.result());
    CHECK(search.result()->response < found->response);
    CHECK((distance(search.result()->T_map_scan.position(), truth.position()) > 0.4 ||
           std::fabs(wrap_angle(search.result()->T_map_scan.yaw - truth.yaw)) > 0.2));
  }
}

TEST_CASE("nothing is allocated once a scan has been seen, not even while the map is searched; a lost car is found") {
  const Rig rig;
  LocalizerParameters parameters;
  parameters.search_blocks = 500;
  Localizer localizer(rig.known, rig.T_base_lidar, parameters);
  const Pose2 truth{2.0, 2.5, 0.3};
  localizer.reset(truth);
  std::vector<LaserScan> scans;
  for (int k = 0; k < 400; ++k) scans.push_back(rig.scan(k < 20 ? truth : Pose2{6.5, 1.0, 2.0}, 0.025 * k));
  (void)localizer.add_scan(scans[0]);
  int lost = 0;
  std::size_t allocated = 1;
  {
    const AllocationGuard guard;
    for (std::size_t k = 1; k < scans.size(); ++k) {
      localizer.add_odometry(odometry({}, 0.025 * static_cast<double>(k)));
      if (localizer.add_scan(scans[k]).lost()) ++lost;
    }
    allocated = guard.count();
  }
  CHECK(allocated == 0);
  CHECK(lost > 5);
  CHECK(lost < 300);
  CHECK(localizer.latest().status == LocalizerStatus::kTracking);
  CHECK(distance(localizer.latest().T_map_base.position(), {6.5, 1.0}) < 0.01);
}

TEST_CASE("a car that gets lost where two places look alike is found where odometry has brought it; one that never knew stays lost") {
  std::vector<std::int8_t> values;
  for (int j = 0; j < 108; ++j) {
    for (int i = 0; i < 168; ++i) values.push_back(i < 4 || j < 4 || i >= 164 || j >= 104 ? 100 : 0);
  }
  const Rig rig(*tracks::OccupancyMap::make(168, 108, kCell, {-0.2, -0.2, 0.0}, std::move(values)));
  const Pose2 truth{2.0, 1.5, 0.3};
  for (const bool knew : {true, false}) {
    Localizer localizer(rig.known, rig.T_base_lidar);
    localizer.reset(knew ? std::optional<Pose2>(truth) : std::nullopt);
    Localization found;
    bool was_lost = false;
    for (int k = 0; k < 400; ++k) {
      localizer.add_odometry(odometry({}, 0.025 * k));
      // For half a second it sees what is seen from elsewhere.
      const bool astray = knew && k >= 20 && k < 40;
      found = localizer.add_scan(rig.scan(astray ? Pose2{5.0, 2.6, -1.0} : truth, 0.025 * k));
      was_lost = was_lost || found.lost();
    }
    CHECK(was_lost);
    CHECK(found.lost() != knew);
    CHECK(found.ambiguous != knew);
    if (knew) CHECK(distance(found.T_map_base.position(), truth.position()) < 0.02);
  }
}

TEST_CASE("an obstacle before the car is no reason for doubt, a wall that it looks through is") {
  const Rig rig;
  Localizer localizer(rig.known, rig.T_base_lidar);
  const Pose2 truth{2.0, 2.5, 0.3};
  localizer.reset(truth);
  for (int k = 0; k < 60; ++k) {
    LaserScan scan = rig.scan(truth, 0.025 * k);
    for (std::size_t b = 480; b < 600; ++b) scan.ranges[b] = 1.0F;
    CHECK(localizer.add_scan(scan).status == LocalizerStatus::kTracking);
  }
  for (int k = 60; k < 120; ++k) {
    LaserScan scan = rig.scan(truth, 0.025 * k);
    for (std::size_t b = 480; b < 700; ++b) scan.ranges[b] += 3.0F;
    (void)localizer.add_scan(scan);
  }
  CHECK(localizer.latest().lost());
}

}  // namespace
}  // namespace pitwall::localization

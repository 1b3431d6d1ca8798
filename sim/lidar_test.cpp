// SPDX-License-Identifier: Apache-2.0
#include "sim/lidar.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "sim/contact.hpp"
#include "sim/moments.hpp"
#include "sim/test_world.hpp"

using namespace pitwall;
using namespace pitwall::sim;
using namespace pitwall::sim::testing;

namespace {

LidarSettings clean() { return SensorSettings::of(test_car(), false).lidar; }

struct Scanner {
  Place place;
  Lidar lidar;
  LaserScan scan;
  explicit Scanner(Place p, const LidarSettings& settings, const Pose2& mount = {}, std::uint64_t seed = 1, std::string_view name = "car0")
      : place(std::move(p)), lidar(place.rays, settings, mount, seed, name), scan(lidar.blank()) {}
  const std::vector<float>& look(const Pose2& T_map_base, std::span<const SeenCar> others = {}, std::uint64_t sample = 0) {
    lidar.measure(sample, T_map_base, others, scan);
    return scan.ranges;
  }
};

}  // namespace

TEST_CASE("first and last beam lie at the stated angles, with n - 1 increments between them") {
  Scanner s(room(8, 6), clean());
  CHECK(s.scan.ranges.size() == 1081);
  CHECK(s.scan.angle_min == static_cast<float>(-0.75 * math::kPi));
  CHECK(s.scan.angle_max == static_cast<float>(0.75 * math::kPi));
  CHECK(static_cast<double>(s.scan.angle_increment) * 1080 == within(1.5 * math::kPi, 1e-6));
  LidarSettings old = clean();
  old.beams = 819;
  Scanner legacy(room(8, 6), old);
  CHECK(legacy.scan.ranges.size() == 819);
  CHECK(static_cast<double>(legacy.scan.angle_increment) * 818 == within(1.5 * math::kPi, 1e-6));
}

TEST_CASE("every range of a scan in a room is the closed form at that beam's angle") {
  Scanner s(room(8.0, 6.0), clean());
  const Pose2 pose{3.0, 2.0, 0.3};
  const auto& ranges = s.look(pose);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const double angle = pose.yaw - 0.75 * math::kPi + 1.5 * math::kPi * static_cast<double>(i) / 1080.0;
    const double c = std::cos(angle);
    const double d = std::sin(angle);
    const double x = c > 0 ? (7.75 - pose.x) / c : (0.25 - pose.x) / c;
    const double y = d > 0 ? (5.75 - pose.y) / d : (0.25 - pose.y) / d;
    CHECK(static_cast<double>(ranges[i]) == within(std::min(x, y), 1e-6));
  }
}

TEST_CASE("ranges are measured from the mount: a wall d ahead of base_link reads d - mount_x") {
  Scanner s(room(8.0, 6.0), clean(), {0.27, 0.0, 0.0});
  CHECK(static_cast<double>(s.look({3.0, 3.0, 0.0})[540]) == doctest::Approx(4.75 - 0.27));
  // A scanner that looks to the left, and sits to the left.
  Scanner turned(room(8.0, 6.0), clean(), {0.0, 0.1, 0.5 * math::kPi});
  CHECK(static_cast<double>(turned.look({3.0, 3.0, 0.0})[540]) == doctest::Approx(2.75 - 0.1));
}

TEST_CASE("the beam to +y sees what the map has at +y") {
  // An L: a block to the left of the car only.
  Scanner s(place_of(make_map(6.0, 4.0, 0.05, {{2.0, 3.0, 4.0, 3.5}})), clean());
  const auto& ranges = s.look({3.0, 2.0, 0.0});
  CHECK(static_cast<double>(ranges[540 + 360]) == doctest::Approx(1.0));
  CHECK(std::isinf(ranges[540 - 360]));
}

TEST_CASE("a ray that leaves the map, or goes beyond the sensor's range, is no return: +inf, with noise too") {
  LidarSettings settings = clean();
  settings.range_max_m = 3.0;
  settings.noise_std_m = 0.5;
  Scanner s(place_of(make_map(12.0, 4.0, 0.05, {{8.0, 0.0, 8.1, 4.0}})), settings);
  for (std::uint64_t sample = 0; sample < 20; ++sample) {
    for (const float r : s.look({1.0, 2.0, 0.0}, {}, sample)) CHECK(std::isinf(r));
  }
  CHECK(static_cast<double>(s.look({6.0, 2.0, 0.0})[540]) <= 3.0);
}

TEST_CASE("noise never takes a range out of [range_min, range_max], nor below zero or to NaN") {
  LidarSettings settings = clean();
  settings.noise_std_m = 1.0;
  settings.range_max_m = 4.0;
  Scanner s(room(8.0, 6.0), settings);
  int at_min = 0;
  int at_max = 0;
  for (std::uint64_t sample = 0; sample < 20; ++sample) {
    for (const float r : s.look({0.6, 0.6, 0.3}, {}, sample)) {
      const bool valid = r >= s.scan.range_min && r <= s.scan.range_max;
      CHECK((valid || std::isinf(r)));
      at_min += r == s.scan.range_min ? 1 : 0;
      at_max += r == s.scan.range_max ? 1 : 0;
    }
  }
  CHECK(at_min > 0);
  CHECK(at_max > 0);
}

TEST_CASE("nearer than range_min reads NaN, which is invalid, and inside a wall too") {
  Scanner s(room(8.0, 6.0), clean());
  CHECK(std::isnan(s.look({7.75 - 0.04, 3.0, 0.0})[540]));
  CHECK(s.look({7.75 - 0.06, 3.0, 0.0})[540] == within(0.06, 1e-4));
  CHECK(std::isnan(s.look({7.9, 3.0, 0.0})[540]));
}

TEST_CASE("range noise has the stated deviation and no bias; beams and samples are independent") {
  LidarSettings settings = clean();
  settings.noise_std_m = 0.03;
  Scanner s(room(8.0, 6.0), settings);
  Moments errors;
  Moments neighbours;
  Moments successive;
  std::vector<double> before;
  for (std::uint64_t sample = 0; sample < 20; ++sample) {
    const auto& ranges = s.look({3.0, 2.0, 0.3}, {}, sample);
    const auto truth = s.lidar.true_ranges();
    std::vector<double> now;
    for (std::size_t i = 0; i < ranges.size(); ++i) now.push_back(static_cast<double>(ranges[i]) - truth[i]);
    for (std::size_t i = 0; i < now.size(); ++i) {
      errors.add(now[i]);
      if (i > 0) neighbours.add(now[i] * now[i - 1] / 9e-4);
      if (!before.empty()) successive.add(now[i] * before[i] / 9e-4);
    }
    before = now;
  }
  // 21620 draws: the standard error of the mean is 0.0002.
  CHECK(std::abs(errors.mean()) < 0.0008);
  CHECK(errors.deviation() == within(0.03, 0.02));
  CHECK(std::abs(neighbours.mean()) < 0.03);
  CHECK(std::abs(successive.mean()) < 0.03);
}

TEST_CASE("noise off is exact: two samples are equal and equal the truth as float32") {
  Scanner s(room(8.0, 6.0), clean());
  const auto first = s.look({3.0, 2.0, 0.3}, {}, 0);
  const auto second = s.look({3.0, 2.0, 0.3}, {}, 1);
  CHECK(first == second);
  for (std::size_t i = 0; i < first.size(); ++i) CHECK(first[i] == static_cast<float>(s.lidar.true_ranges()[i]));
}

TEST_CASE("a stream repeats for its seed and name, and differs for another seed, car or sample") {
  LidarSettings settings = clean();
  settings.noise_std_m = 0.01;
  const Pose2 pose{3.0, 2.0, 0.3};
  Scanner a(room(8, 6), settings, {}, 1, "car0");
  Scanner again(room(8, 6), settings, {}, 1, "car0");
  Scanner seed(room(8, 6), settings, {}, 2, "car0");
  Scanner name(room(8, 6), settings, {}, 1, "car1");
  const auto first = a.look(pose, {}, 5);
  CHECK(again.look(pose, {}, 5) == first);
  CHECK(seed.look(pose, {}, 5) != first);
  CHECK(name.look(pose, {}, 5) != first);
  CHECK(a.look(pose, {}, 6) != first);
  // Addressed, not drawn in sequence.
  CHECK(a.look(pose, {}, 5) == first);
}

TEST_CASE("dropout loses the stated share of beams, evenly over the scan, all for 1 and none for 0") {
  LidarSettings settings = clean();
  settings.dropout_rate = 0.02;
  Scanner s(room(8.0, 6.0), settings);
  int lost = 0;
  int lost_left = 0;
  int pairs = 0;
  for (std::uint64_t sample = 0; sample < 100; ++sample) {
    const auto& ranges = s.look({3.0, 2.0, 0.0}, {}, sample);
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      lost += std::isinf(ranges[i]) ? 1 : 0;
      lost_left += std::isinf(ranges[i]) && i > 540 ? 1 : 0;
      pairs += i > 0 && std::isinf(ranges[i]) && std::isinf(ranges[i - 1]) ? 1 : 0;
    }
  }
  // 2162 expected, standard deviation 46; both halves alike; neighbours independent: 43 pairs expected.
  CHECK(std::abs(lost - 2162) < 200);
  CHECK(std::abs(lost_left - 1080) < 140);
  CHECK(std::abs(pairs - 43) < 30);
  CHECK(s.lidar.dropped_beams() == lost);
  s.lidar.reset();
  CHECK(s.lidar.dropped_beams() == 0);
  settings.dropout_rate = 1.0;
  Scanner blind(room(8.0, 6.0), settings);
  for (const float r : blind.look({3.0, 2.0, 0.0})) CHECK(std::isinf(r));
  settings.dropout_rate = 0.0;
  Scanner clear(room(8.0, 6.0), settings);
  for (const float r : clear.look({3.0, 2.0, 0.0})) CHECK(std::isfinite(r));
}

TEST_CASE("another car is seen as its chassis, at every bearing, as brute force over all beams says") {
  Scanner s(room(12.0, 12.0), clean(), {0.27, 0.0, 0.0});
  Scanner empty(room(12.0, 12.0), clean(), {0.27, 0.0, 0.0});
  const Pose2 pose{6.0, 6.0, 0.4};
  const BodyRectangle chassis = test_car().chassis();
  for (int k = 0; k < 40; ++k) {
    const double bearing = 2.0 * math::kPi * k / 40;
    const double away = 0.7 + 0.1 * (k % 30);
    const SeenCar other{chassis, {6.0 + away * math::cos(bearing), 6.0 + away * math::sin(bearing), 0.7 * k}};
    const auto with = s.look(pose, std::span(&other, 1));
    const auto without = empty.look(pose);
    const Pose2 sensor = pose * Pose2{0.27, 0.0, 0.0};
    int hits = 0;
    for (std::size_t i = 0; i < with.size(); ++i) {
      const double angle = sensor.yaw - 0.75 * math::kPi + 1.5 * math::kPi * static_cast<double>(i) / 1080.0;
      const double range = ray_to_rectangle(sensor.position(), unit_vector(angle), other);
      const double expected = std::min(range, static_cast<double>(without[i]));
      CHECK(static_cast<double>(with[i]) == within(expected, 1e-6));
      hits += range < static_cast<double>(without[i]) ? 1 : 0;
    }
    CHECK((hits > 0 || std::abs(wrap_angle(bearing - pose.yaw)) > 2.0));
  }
}

TEST_CASE("a car across the cut behind a scanner that sees all round is seen on both sides of it") {
  LidarSettings all_round = clean();
  all_round.fov_rad = 2.0 * math::kPi;
  Scanner s(room(12.0, 12.0), all_round);
  const SeenCar behind{{-0.10, 0.43, 0.15}, {5.0, 6.0, 0.0}};
  const auto& ranges = s.look({6.0, 6.0, 0.0}, std::span(&behind, 1));
  for (const std::size_t beam : {0U, 5U, 1075U, 1080U}) CHECK(ranges[beam] == within(0.57, 0.01));
  CHECK(ranges[540] > 5.0F);
}

TEST_CASE("the part of a car that is beyond the sensor's range is no return") {
  LidarSettings near_sighted = clean();
  near_sighted.range_max_m = 3.0;
  Scanner s(room(12.0, 4.0), near_sighted);
  const SeenCar oblique{{-0.10, 0.43, 0.15}, {4.1, 2.0, 0.0}};
  CHECK(s.look({1.0, 2.0, 0.0}, std::span(&oblique, 1))[540] == within(3.0, 1e-6));
  const SeenCar farther{{-0.10, 0.43, 0.15}, {4.11, 2.0, 0.0}};
  CHECK(std::isinf(s.look({1.0, 2.0, 0.0}, std::span(&farther, 1))[540]));
}

TEST_CASE("a car ahead reads the distance from the mount to its tail, one behind a wall is not seen") {
  Scanner s(room(12.0, 4.0), clean(), {0.27, 0.0, 0.0});
  const SeenCar ahead{{-0.10, 0.43, 0.15}, {5.0, 2.0, 0.0}};
  CHECK(static_cast<double>(s.look({1.0, 2.0, 0.0}, std::span(&ahead, 1))[540]) == doctest::Approx(4.0 - 0.27 - 0.10));
  const SeenCar behind_wall{{-0.10, 0.43, 0.15}, {13.0, 2.0, 0.0}};
  CHECK(static_cast<double>(s.look({1.0, 2.0, 0.0}, std::span(&behind_wall, 1))[540]) == doctest::Approx(11.75 - 1.27));
}

TEST_CASE("rays and contact have one geometry: a beam shorter than the car's own outline means overlap") {
  const Place place = place_of(make_map(4.0, 3.0, 0.05, {{2.0, 1.0, 2.05, 1.05}, {0.5, 2.0, 3.5, 2.2}, {3.0, 0.3, 3.1, 0.9}}));
  const CarParameters car = test_car();
  Scanner s(place, clean(), car.lidar_mount());
  const Rng rng(5, "poses");
  const SeenCar self{car.chassis(), {}};
  int overlapping = 0;
  for (std::uint64_t k = 0; k < 150; ++k) {
    const Pose2 pose{0.6 + 2.8 * rng.uniform(k, 0), 0.6 + 1.8 * rng.uniform(k, 1), 6.3 * rng.uniform(k, 2)};
    s.look(pose);
    bool shorter = false;
    for (std::size_t i = 0; i < s.lidar.true_ranges().size(); ++i) {
      // From inside the rectangle, the outline along the beam: where the reversed ray from far away enters.
      const Vec2 d = unit_vector(-0.75 * math::kPi + 1.5 * math::kPi * static_cast<double>(i) / 1080.0);
      const Vec2 mount = car.lidar_mount().position();
      const double outline = 10.0 - ray_to_rectangle(mount + 10.0 * d, -d, self);
      shorter = shorter || s.lidar.true_ranges()[i] < outline - 1e-9;
    }
    const bool overlap = overlaps(car.chassis(), pose, *place.map);
    overlapping += overlap ? 1 : 0;
    if (shorter) CHECK(overlap);
    // The other way round only where the obstacle is ahead of the blind sector; a wall all along is always seen.
  }
  CHECK(overlapping > 20);
}

TEST_CASE("a ray to a rectangle: from within 0, past it none, along its edge its corner") {
  const SeenCar box{{0.0, 2.0, 0.5}, {1.0, 0.0, 0.0}};
  CHECK(ray_to_rectangle({2.0, 0.0}, {1.0, 0.0}, box) == 0.0);
  CHECK(ray_to_rectangle({0.0, 0.0}, {1.0, 0.0}, box) == doctest::Approx(1.0));
  CHECK(ray_to_rectangle({0.0, 0.5}, {1.0, 0.0}, box) == doctest::Approx(1.0));
  CHECK(std::isinf(ray_to_rectangle({0.0, 0.51}, {1.0, 0.0}, box)));
  CHECK(std::isinf(ray_to_rectangle({0.0, 0.0}, {-1.0, 0.0}, box)));
  CHECK(ray_to_rectangle({2.0, 2.5}, {0.0, -1.0}, box) == doctest::Approx(2.0));
}

// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>

#include "sim/lidar.hpp"
#include "sim/moments.hpp"
#include "sim/test_world.hpp"

using namespace pitwall;
using namespace pitwall::sim;
using namespace pitwall::sim::testing;

namespace {

LidarSettings clean_settings() { return SensorSettings::of(test_car(), false).lidar; }

constexpr Duration kEffectStep = from_milliseconds(5);

/// One turn of a scanner whose car and neighbour move at constant speed.
struct Turn {
  Pose2 from;
  Pose2 rate;  // per second
  [[nodiscard]] Pose2 at(double t) const { return {from.x + t * rate.x, from.y + t * rate.y, from.yaw + t * rate.yaw}; }
  [[nodiscard]] Motion step(int k) const { return {at(0.005 * k), at(0.005 * (k + 1))}; }
};

/// Where the scanner is: straight from step to step.
Pose2 sensor_at(const Turn& base, const Pose2& mount, double t) {
  const int k = static_cast<int>(t / 0.005);
  return pose_at({base.at(0.005 * k) * mount, base.at(0.005 * (k + 1)) * mount}, t / 0.005 - k);
}

/// Sweeps; gives the number of steps that the turn took.
int turn(Lidar& lidar, LaserScan& scan, const Turn& base, const BodyRectangle* other_body = nullptr, const Turn& other = {}) {
  scan.stamp = Time{from_milliseconds(100).ns};
  lidar.begin_sweep(4, scan);
  int k = 0;
  for (; lidar.sweeping(); ++k) {
    std::vector<SeenMotion> others;
    if (other_body != nullptr) others.push_back({*other_body, other.step(k)});
    lidar.sweep(scan.stamp + Duration{k * kEffectStep.ns}, kEffectStep, base.step(k), others);
  }
  return k;
}

}  // namespace

TEST_CASE("a turn of 270 of 360 degrees at 40 Hz takes 18.75 ms, and the message says so") {
  LidarSettings settings = clean_settings();
  CHECK(settings.sweep_time() == Duration{0});
  settings.sweep = true;
  CHECK(settings.sweep_time() == Duration{18'750'000});
  const Place place = room(8, 6);
  const Lidar lidar(place.rays, settings, {}, 1, "car0");
  CHECK(static_cast<double>(lidar.blank().time_increment) == within(0.025 / 1440, 1e-6));
}

TEST_CASE("each beam of a sweep is cast from where scanner and neighbour are when it leaves") {
  LidarSettings settings = clean_settings();
  settings.sweep = true;
  const Place place = room(12, 8);
  const Pose2 mount{0.27, 0.05, 0.1};
  Lidar lidar(place.rays, settings, mount, 1, "car0");
  LaserScan scan = lidar.blank();
  const Turn base{{5.0, 4.0, 0.4}, {3.0, 1.0, 2.5}};
  const Turn other{{6.5, 5.2, 1.0}, {-4.0, 2.0, -3.0}};
  const BodyRectangle body{-0.1, 0.43, 0.15};
  CHECK(turn(lidar, scan, base, &body, other) == 4);
  int seen = 0;
  double most = 0.0;
  for (std::size_t i = 0; i < scan.ranges.size(); ++i) {
    const double t = 0.025 / 1440 * static_cast<double>(i);
    const Pose2 sensor = sensor_at(base, mount, t);
    CHECK(distance(sensor.position(), (base.at(t) * mount).position()) < 1e-5);
    const double angle = -0.75 * math::kPi + 1.5 * math::kPi * static_cast<double>(i) / 1080.0;
    const Vec2 d = unit_vector(sensor.yaw + angle);
    const double wall = place.rays->cast(sensor.position(), d, 25.0);
    const double car = ray_to_rectangle(sensor.position(), d, {body, other.at(t)});
    CHECK(lidar.true_ranges()[i] == within(std::min(wall, car), 1e-9));
    seen += car < wall ? 1 : 0;
    const Pose2 first = base.at(0.0) * mount;
    most = std::max(most, std::abs(place.rays->cast(first.position(), unit_vector(first.yaw + angle), 25.0) - wall));
  }
  CHECK(seen > 20);
  CHECK(most > 0.1);  // an instantaneous scan would be that wrong
}

TEST_CASE("another car is found by the sweep at every bearing, as trying all beams would") {
  LidarSettings settings = clean_settings();
  settings.sweep = true;
  settings.fov_rad = 2.0 * math::kPi;
  settings.beams = 721;
  const Place place = room(12, 12);
  Lidar lidar(place.rays, settings, {0.27, 0.0, 0.0}, 1, "car0");
  LaserScan scan = lidar.blank();
  const BodyRectangle body{-0.1, 0.43, 0.15};
  for (int k = 0; k < 24; ++k) {
    const double bearing = 2.0 * math::kPi * k / 24;
    const double away = k % 3 == 0 ? 0.8 : 3.0;
    const Turn base{{6.0, 6.0, 0.3}, {4.0, 0.0, -3.0}};
    const Turn other{{6.0 + away * std::cos(bearing), 6.0 + away * std::sin(bearing), 0.7 * k}, {-3.0, 2.0, 4.0}};
    turn(lidar, scan, base, &body, other);
    for (std::size_t i = 0; i < scan.ranges.size(); ++i) {
      const double t = 0.025 / 720 * static_cast<double>(i);
      const Pose2 sensor = sensor_at(base, {0.27, 0.0, 0.0}, t);
      const Vec2 d = unit_vector(sensor.yaw - math::kPi + 2.0 * math::kPi * static_cast<double>(i) / 720.0);
      const double expected =
          std::min(place.rays->cast(sensor.position(), d, 25.0), ray_to_rectangle(sensor.position(), d, {body, other.at(t)}));
      CHECK(lidar.true_ranges()[i] == within(expected, 1e-9));
    }
  }
}

TEST_CASE("a scan arrives only after its last beam, however short its latency") {
  for (const bool sweep : {false, true}) {
    Time first;
    CarSetup car = setup("car0", {4, 3, 0}, nullptr, false);
    car.sensors.lidar.sweep = sweep;
    car.controller = std::make_unique<Scripted>([&first](const Observation& obs) {
      if (first == Time{}) first = obs.now;
      return drive(0.0, 0.0);
    });
    auto world = World::make(room(8, 6), {}, cars(std::move(car)));
    REQUIRE(world);
    run(*world, 0.01);
    CHECK((world->observation(0).scan.message != nullptr) == !sweep);
    run(*world, 0.02);
    const Source<LaserScan> scan = world->observation(0).scan;
    REQUIRE(scan.message != nullptr);
    CHECK(scan.arrival - scan.message->stamp == (sweep ? Duration{20'000'000} : Duration{0}));
  }
}

TEST_CASE("at the edges of a post, and nowhere else, a mixed pixel reads between post and wall") {
  LidarSettings settings = clean_settings();
  const Place place = place_of(make_map(10.0, 8.0, 0.05, {{8.0, 0.0, 8.25, 8.0}, {4.0, 3.9, 4.1, 4.1}}));
  for (const double rate : {0.0, 0.3, 1.0}) {
    settings.mixed_pixel_rate = rate;
    Lidar lidar(place.rays, settings, {}, 1, "car0");
    LaserScan scan = lidar.blank();
    int mixed = 0;
    int edges = 0;
    for (std::uint64_t sample = 0; sample < 100; ++sample) {
      lidar.measure(sample, {2.0, 4.0, 0.0}, {}, scan);
      const auto truth = lidar.true_ranges();
      for (std::size_t i = 500; i <= 580; ++i) {
        if (std::abs(truth[i + 1] - truth[i]) > 1.0) ++edges;
        if (scan.ranges[i] == static_cast<float>(truth[i])) continue;
        ++mixed;
        CHECK(static_cast<double>(scan.ranges[i]) > 2.0);
        CHECK(static_cast<double>(scan.ranges[i]) < truth[i]);
        CHECK((std::abs(truth[i] - truth[i - 1]) > 1.0 || std::abs(truth[i + 1] - truth[i]) > 1.0));
      }
    }
    CHECK(edges == 200);
    if (rate == 0.0) CHECK(mixed == 0);
    if (rate == 0.3) CHECK(std::abs(mixed - 60) < 25);
    if (rate == 1.0) CHECK(mixed == 200);
  }
}

TEST_CASE("beams that see a wall edge-on are lost, the more the flatter; others never") {
  LidarSettings settings = clean_settings();
  const Place place = room(30.0, 4.0, 0.05, 0.25);
  for (const double rate : {0.0, 1.0}) {
    settings.grazing_dropout = rate;
    Lidar lidar(place.rays, settings, {}, 1, "car0");
    LaserScan scan = lidar.blank();
    int steep_lost = 0;
    Moments flat;
    Moments flatter;
    for (std::uint64_t sample = 0; sample < 50; ++sample) {
      lidar.measure(sample, {3.0, 1.0, 0.0}, {}, scan);
      for (std::size_t i = 0; i < scan.ranges.size(); ++i) {
        const double angle = -0.75 * math::kPi + 1.5 * math::kPi * static_cast<double>(i) / 1080.0;
        const double incidence = 0.5 * math::kPi - std::abs(angle);  // of the walls to the sides, ahead of the car
        const bool lost = std::isinf(scan.ranges[i]);
        if (angle > 0.0) continue;  // the far wall is out of range where it is flat
        if (incidence > 1.42 && incidence < 1.46) flat.add(lost ? 1.0 : 0.0);
        if (incidence > 1.48 && incidence < 1.50) flatter.add(lost ? 1.0 : 0.0);
        if (incidence > 0.0 && incidence < 1.38 && lost) ++steep_lost;
      }
    }
    REQUIRE(flat.n > 200);
    REQUIRE(flatter.n >= 200);
    CHECK(steep_lost == 0);
    if (rate == 0.0) {
      CHECK(flat.mean() == 0.0);
      CHECK(flatter.mean() == 0.0);
    } else {
      // Linear from 1.4 rad: (1.44 - 1.4) / (pi/2 - 1.4) = 0.23 and 0.53.
      CHECK(flat.mean() == within(0.23, 0.15));
      CHECK(flatter.mean() == within(0.53, 0.15));
    }
  }
}

TEST_CASE("ranges come in whole millimetres, or as they are") {
  LidarSettings settings = clean_settings();
  settings.noise_std_m = 0.01;
  const Place place = room(8.0, 6.0);
  const auto off_grid = [&] {
    Lidar lidar(place.rays, settings, {}, 1, "car0");
    LaserScan scan = lidar.blank();
    lidar.measure(0, {3.0, 2.0, 0.3}, {}, scan);
    int count = 0;
    for (const float r : scan.ranges)
      count += std::abs(1000.0 * static_cast<double>(r) - std::round(1000.0 * static_cast<double>(r))) > 1e-3;
    return count;
  };
  CHECK(off_grid() > 900);
  settings.resolution_m = 0.001;
  CHECK(off_grid() == 0);
}

TEST_CASE("the mount is off by as much as stated, from run to run, and the ranges with it") {
  LidarSettings settings = clean_settings();
  const Pose2 nominal{0.27, 0.0, 0.0};
  const Place place = room(8.0, 6.0);
  CHECK(Lidar(place.rays, settings, nominal, 1, "car0").mount() == nominal);
  settings.mount_error_m = 0.004;
  settings.mount_error_rad = 0.01;
  Moments x;
  Moments y;
  Moments yaw;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const Pose2 mount = Lidar(place.rays, settings, nominal, seed, "car0").mount();
    x.add(mount.x - nominal.x);
    y.add(mount.y);
    yaw.add(mount.yaw);
  }
  CHECK(x.deviation() == within(0.004, 0.1));
  CHECK(y.deviation() == within(0.004, 0.1));
  CHECK(yaw.deviation() == within(0.01, 0.1));
  Lidar lidar(place.rays, settings, nominal, 5, "car0");
  LaserScan scan = lidar.blank();
  lidar.measure(0, {3.0, 3.0, 0.0}, {}, scan);
  const Vec2 ahead = unit_vector(lidar.mount().yaw);
  CHECK(static_cast<double>(scan.ranges[540]) == within((4.75 - lidar.mount().x) / ahead.x, 1e-6));
}

TEST_CASE("in its blind sectors, and where something covers the window, a scanner reads NaN, elsewhere never") {
  LidarSettings settings = clean_settings();
  settings.blind[0] = {1.0, 0.2};
  const Place place = room(8.0, 6.0);
  Lidar lidar(place.rays, settings, {}, 1, "car0");
  LaserScan scan = lidar.blank();
  for (const bool covered : {false, true}) {
    lidar.cover(covered ? BlindSector{-0.5, 0.4} : BlindSector{});
    lidar.measure(0, {3.0, 2.0, 0.3}, {}, scan);
    for (std::size_t i = 0; i < scan.ranges.size(); ++i) {
      const double angle = -0.75 * math::kPi + 1.5 * math::kPi * static_cast<double>(i) / 1080.0;
      const bool expected = std::abs(angle - 1.0) <= 0.1 || (covered && std::abs(angle + 0.5) <= 0.2);
      CHECK(std::isnan(scan.ranges[i]) == expected);
    }
  }
}

TEST_CASE("each error of a scan has its own stream: switching one on moves no other") {
  LidarSettings settings = clean_settings();
  settings.noise_std_m = 0.01;
  const Place place = place_of(make_map(10.0, 8.0, 0.05, {{8.0, 0.0, 8.25, 8.0}, {4.0, 3.9, 4.1, 4.1}}));
  Lidar plain(place.rays, settings, {}, 1, "car0");
  settings.dropout_rate = 0.05;
  settings.mixed_pixel_rate = 0.5;
  settings.grazing_dropout = 1.0;
  Lidar spoilt(place.rays, settings, {}, 1, "car0");
  LaserScan a = plain.blank();
  LaserScan b = spoilt.blank();
  plain.measure(3, {2.0, 4.0, 0.0}, {}, a);
  spoilt.measure(3, {2.0, 4.0, 0.0}, {}, b);
  int same = 0;
  for (std::size_t i = 0; i < a.ranges.size(); ++i) same += a.ranges[i] == b.ranges[i] ? 1 : 0;
  CHECK(same > 900);
}

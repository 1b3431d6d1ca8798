// SPDX-License-Identifier: Apache-2.0
// The order of things inside a step: looking, arrival, deciding, moving; bad input; laps; what reset() undoes.
#include "sim/world.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "sim/test_world.hpp"
#include "tests/support/allocation_guard.hpp"

using namespace pitwall;
using namespace pitwall::sim;
using namespace pitwall::sim::testing;

namespace {

std::string error_of(Result<World> world) { return world ? std::string("no error") : world.error().message; }
bool says(const std::string& message, const std::string& part) {
  INFO(message);
  return message.find(part) != std::string::npos;
}

// A controller that keeps what it saw.
struct Seen {
  Time now;
  Time scan_stamp, scan_arrival;
  std::uint64_t scans, odometries, poses, joys;
  Time pose_stamp, odometry_stamp;
};
std::unique_ptr<Controller> watcher(std::vector<Seen>& seen, std::optional<Duration> period = {}, Command command = {}) {
  return std::make_unique<Scripted>(
      [&seen, command](const Observation& obs) {
        Seen s{};
        s.now = obs.now;
        if (obs.scan.message != nullptr) s.scan_stamp = obs.scan.message->stamp;
        if (obs.pose.message != nullptr) s.pose_stamp = obs.pose.message->stamp;
        if (obs.odometry.message != nullptr) s.odometry_stamp = obs.odometry.message->stamp;
        s.scan_arrival = obs.scan.arrival;
        s.scans = obs.scan.sequence;
        s.odometries = obs.odometry.sequence;
        s.poses = obs.pose.sequence;
        s.joys = obs.joy.sequence;
        seen.push_back(s);
        return command;
      },
      period);
}

}  // namespace

TEST_CASE("after make and after reset the time is 0 and nothing has moved") {
  auto world = World::make(room(8, 6), {}, cars(setup("car0", {2, 3, 0.1}, steady(0.1, 2.0))));
  REQUIRE(world);
  CHECK(world->now() == Time{});
  CHECK(world->car(0).T_map_base.x == doctest::Approx(2.0).epsilon(1e-12));
  CHECK(world->car(0).ticks == 0);
  run(*world, 0.5);
  CHECK(world->now() == Time{500'000'000});
  world->reset();
  CHECK(world->now() == Time{});
  CHECK(world->car(0).velocity_mps.x == 0.0);
  CHECK(world->car(0).ticks == 0);
  CHECK(world->observation(0).scan.message == nullptr);
}

TEST_CASE("a message arrives its latency after its stamp, and the controller runs at that very time") {
  std::vector<Seen> seen;
  CarSetup car = setup("car0", {2, 3, 0}, watcher(seen));
  car.sensors.lidar.latency_s = 0.0173;  // no multiple of anything
  car.sensors.lidar.sweep = false;       // a sweep is not over by then
  auto world = World::make(room(8, 6), {}, cars(std::move(car)));
  REQUIRE(world);
  run(*world, 0.2);
  REQUIRE(seen.size() == 8);
  for (std::size_t k = 0; k < seen.size(); ++k) {
    CHECK(seen[k].scan_stamp == Time{static_cast<std::int64_t>(k) * 25'000'000});
    CHECK(seen[k].scan_arrival == seen[k].scan_stamp + Duration{17'300'000});
    CHECK(seen[k].now == seen[k].scan_arrival);
    CHECK(seen[k].scans == k + 1);
    // Odometry without latency every 20 ms, poses 50 ms late.
    CHECK(seen[k].odometries == static_cast<std::uint64_t>(seen[k].now.ns / 20'000'000) + 1);
    CHECK(seen[k].odometry_stamp.ns == seen[k].now.ns / 20'000'000 * 20'000'000);
    CHECK(seen[k].poses == (seen[k].now.ns < 50'000'000 ? 0 : static_cast<std::uint64_t>((seen[k].now.ns - 50'000'000) / 25'000'000) + 1));
  }
}

TEST_CASE("more than one message may be under way") {
  std::vector<Seen> seen;
  CarSetup car = setup("car0", {2, 3, 0}, watcher(seen));
  car.sensors.lidar.latency_s = 0.110;
  auto world = World::make(room(8, 6), {}, cars(std::move(car)));
  REQUIRE(world);
  run(*world, 0.3);
  REQUIRE(seen.size() == 8);
  CHECK(seen[0].now == Time{110'000'000});
  CHECK(seen[7].scan_stamp == Time{175'000'000});
}

TEST_CASE("what arrives at the instant of a decision is seen by it") {
  std::vector<Seen> seen;
  auto world = World::make(room(8, 6), {}, cars(setup("car0", {2, 3, 0}, watcher(seen), false)));
  REQUIRE(world);
  run(*world, 0.101);
  REQUIRE(seen.size() == 5);
  CHECK(seen[0].now == Time{});
  CHECK(seen[4].now == Time{100'000'000});
  CHECK(seen[4].odometry_stamp == seen[4].now);
  CHECK(seen[4].pose_stamp == seen[4].now);
}

TEST_CASE("a controller with a rate runs at it, from 0 on, whatever the physics step and the sensors do") {
  std::vector<Seen> seen;
  auto world = World::make(room(8, 6), {}, cars(setup("car0", {2, 3, 0}, watcher(seen, Duration{7'000'001}))));
  REQUIRE(world);
  run(*world, 0.1);
  REQUIRE(seen.size() == 15);
  for (std::size_t k = 0; k < seen.size(); ++k) CHECK(seen[k].now == Time{static_cast<std::int64_t>(k) * 7'000'001});
  seen.clear();
  world->reset();
  run(*world, 0.1);
  REQUIRE(seen.size() == 15);
  CHECK(seen[0].now == Time{});
}

TEST_CASE("every scan is of one instant: all cars at its stamp, whatever their order") {
  // Two cars pass each other at 4 m/s; what each sees is where the other is at the stamp, not a step before or after.
  const auto make = [](bool swapped) {
    CarSetup a = setup("a", {2.0, 2.0, 0.0}, steady(0.0, 4.0), false);
    CarSetup b = setup("b", {8.0, 2.8, math::kPi}, steady(0.0, 4.0), false);
    a.start_speed_mps = b.start_speed_mps = 4.0;
    auto all = swapped ? cars(std::move(b), std::move(a)) : cars(std::move(a), std::move(b));
    return World::make(room(12, 5), {}, std::move(all));
  };
  auto world = make(false);
  auto swapped = make(true);
  REQUIRE(world);
  REQUIRE(swapped);
  for (int k = 0; k < 100; ++k) {
    const bool scanned = world->now().ns % 25'000'000 == 0;
    const std::array<CarState, 2> at{world->car(0), world->car(1)};
    world->step();
    swapped->step();
    if (!scanned) continue;
    for (std::size_t i = 0; i < 2; ++i) {
      const auto ranges = world->true_ranges(i);
      const auto other = swapped->true_ranges(1 - i);
      CHECK(std::equal(ranges.begin(), ranges.end(), other.begin()));
      const Pose2 sensor = at[i].T_map_base * test_car().lidar_mount();
      const SeenCar seen{test_car().chassis(), at[1 - i].T_map_base};
      for (std::size_t beam = 0; beam < ranges.size(); beam += 9) {
        const double angle = sensor.yaw - 0.75 * math::kPi + 1.5 * math::kPi * static_cast<double>(beam) / 1080.0;
        const double car_range = ray_to_rectangle(sensor.position(), unit_vector(angle), seen);
        if (car_range < 2.0) CHECK(ranges[beam] == doctest::Approx(car_range).epsilon(1e-9));
      }
    }
  }
}

TEST_CASE("the motion hardly depends on the physics step") {
  // Speed and steering are commanded at the same times; only the integration grid differs.
  const auto end_of = [](double step_s) {
    WorldSettings settings;
    settings.step_s = step_s;
    auto world = World::make(room(20, 20), settings, cars(setup("car0", {5, 5, 0}, steady(0.1, 4.0), false)));
    REQUIRE(world);
    run(*world, 2.0);
    return world->car(0).T_map_base;
  };
  const Pose2 fine = end_of(0.001);
  const Pose2 coarse = end_of(0.005);
  CHECK(distance(fine.position(), coarse.position()) < 1e-3);
  CHECK(distance(fine.position(), {5, 5}) > 3.0);
}

TEST_CASE("a car's friction report and its floor come from the settings") {
  WorldSettings settings;
  auto calibrated = World::make(room(8, 6), settings, cars(setup("car0", {2, 3, 0}, nullptr)));
  settings.surface_friction = 0.4;
  auto slippery = World::make(room(8, 6), settings, cars(setup("car0", {2, 3, 0}, nullptr)));
  REQUIRE(calibrated);
  REQUIRE(slippery);
  CHECK(calibrated->friction(0).limit_mps2 == doctest::Approx(0.9 * 9.81));
  CHECK(slippery->friction(0).limit_mps2 == doctest::Approx(0.4 * 9.81));
}

TEST_CASE("a command that is not finite fails the run, names controller, car and tick, and becomes a stop") {
  for (const bool steering : {true, false}) {
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
      int ticks = 0;
      auto law = [&ticks, bad, steering](const Observation&) {
        Command command = drive(0.0, 2.0);
        if (++ticks == 12) (steering ? command.steering_angle_rad : command.speed_mps) = bad;
        return command;
      };
      auto world = World::make(room(12, 6), {}, cars(setup("ego", {2, 3, 0}, std::make_unique<Scripted>(law, std::nullopt, "gap_follow"))));
      REQUIRE(world);
      run(*world, 1.2);
      CHECK(world->failed());
      CHECK(world->car(0).failure == Failure::kCommandNotFinite);
      CHECK(world->failure_text(0) == "controller 'gap_follow' of ego: command not finite at tick 12 (t = 0.3 s)");
      CHECK(ticks == 12);
      CHECK(world->car(0).command.speed_mps == 0.0F);
      CHECK(std::abs(world->car(0).velocity_mps.x) < 0.01);
      world->reset();
      CHECK_FALSE(world->failed());
      CHECK(world->failure_text(0).empty());
    }
  }
}

TEST_CASE("a start in a wall, outside the map, in another car or not finite is refused with its values") {
  CHECK(says(error_of(World::make(room(8, 6), {}, cars(setup("car0", {7.5, 3, 0}, nullptr)))), "car0: start (7.5, 3, 0 rad) is in a wall"));
  CHECK(says(error_of(World::make(room(8, 6), {}, cars(setup("car0", {9, 3, 0}, nullptr)))),
             "car0: start (9, 3, 0 rad) is outside the map of 8 x 6 m"));
  CHECK(says(error_of(World::make(room(8, 6), {}, cars(setup("a", {3, 3, 0}, nullptr), setup("b", {3.2, 3.1, 1}, nullptr)))),
             "b: start (3.2, 3.1, 1 rad) is in a at (3, 3, 0 rad)"));
  CHECK(says(error_of(World::make(room(8, 6), {}, cars(setup("car0", {std::nan(""), 3, 0}, nullptr)))), "is not finite"));
  CarSetup fast = setup("car0", {3, 3, 0}, nullptr);
  fast.start_speed_mps = std::numeric_limits<double>::infinity();
  CHECK(says(error_of(World::make(room(8, 6), {}, cars(std::move(fast)))), "start_speed_mps"));
  // Side by side is allowed.
  CHECK(World::make(room(8, 6), {}, cars(setup("a", {3, 3, 0}, nullptr), setup("b", {3, 3.31, 0}, nullptr))).ok());
}

TEST_CASE("periods off the grid, equal names, bad settings and a controller without its trigger are refused") {
  CarSetup car = setup("car0", {3, 3, 0}, nullptr);
  car.sensors.lidar.period_s = 1.0 / 30.0;
  CHECK(says(error_of(World::make(room(8, 6), {}, cars(std::move(car)))), "car0: sensors.lidar.period_s = "));
  CHECK(says(error_of(World::make(room(8, 6), {}, cars(setup("x", {2, 3, 0}, nullptr), setup("x", {4, 3, 0}, nullptr)))), "'x'"));
  WorldSettings settings;
  settings.step_s = 0.0;
  CHECK(says(error_of(World::make(room(8, 6), settings, cars(setup("car0", {3, 3, 0}, nullptr)))), "step_s"));
  CarSetup blind = setup("car0", {3, 3, 0}, steady(0, 1));
  blind.sensors.lidar.enabled = false;
  CHECK(says(error_of(World::make(room(8, 6), {}, cars(std::move(blind)))), "sensors.lidar.enabled"));
  CarSetup wrong = setup("car0", {3, 3, 0}, nullptr);
  wrong.parameters.wheelbase_m = -1.0;
  CHECK(says(error_of(World::make(room(8, 6), {}, cars(std::move(wrong)))), "wheelbase_m"));
  CarSetup noisy = setup("car0", {3, 3, 0}, nullptr);
  noisy.sensors.lidar.dropout_rate = 1.5;
  CHECK(says(error_of(World::make(room(8, 6), {}, cars(std::move(noisy)))), "dropout_rate"));
  CarSetup idle = setup("car0", {3, 3, 0}, std::make_unique<Scripted>([](const Observation&) { return Command{}; }, Duration{0}));
  CHECK(says(error_of(World::make(room(8, 6), {}, cars(std::move(idle)))), "period"));
}

TEST_CASE("a sensor that is switched off says nothing, the others go on") {
  std::vector<Seen> seen;
  CarSetup car = setup("car0", {2, 3, 0}, watcher(seen, from_milliseconds(25)), false);
  car.sensors.lidar.enabled = false;
  car.sensors.joy.enabled = false;
  car.sensors.pose.enabled = false;
  auto world = World::make(room(8, 6), {}, cars(std::move(car)));
  REQUIRE(world);
  run(*world, 0.2);
  CHECK(seen.back().scans == 0);
  CHECK(seen.back().joys == 0);
  CHECK(seen.back().poses == 0);
  CHECK(seen.back().odometries > 0);
}

TEST_CASE("a joystick that falls silent keeps its last message; odometry turns with the commanded steering") {
  CarSetup car = setup("car0", {4, 3, 0}, steady(0.2, 1.0), false);
  Surroundings surroundings;
  surroundings.faults.push_back({.name = "unplugged", .kind = FaultKind::kJoyLoss, .start_s = 0.1, .length_s = 10.0});
  auto world = World::make(room(8, 6), {}, cars(std::move(car)), surroundings);
  REQUIRE(world);
  run(*world, 0.5);
  const Observation obs = world->observation(0);
  REQUIRE(obs.joy.message != nullptr);
  CHECK(obs.joy.message->stamp == Time{80'000'000});
  CHECK(obs.joy.message->buttons.at(4) == 1);
  REQUIRE(obs.odometry.message != nullptr);
  CHECK(obs.odometry.message->yaw_rate_radps ==
        doctest::Approx(obs.odometry.message->speed_mps * std::tan(static_cast<double>(0.2F)) / 0.33).epsilon(1e-9));
}

TEST_CASE("laps are each car's own, and a car that drives round the line finishes its lap") {
  // Full-lock circles in a big room; the line is the circle that the car drives.
  const double radius = 0.33 / std::tan(0.3);
  std::vector<Vec2> points;
  for (int k = 0; k < 90; ++k) points.push_back(Vec2{5.0, 5.0} + radius * unit_vector(2.0 * math::kPi * k / 90));
  Place place = room(10, 10);
  place.line.emplace();
  place.line->path = std::make_shared<const tracks::Path>(tracks::Path::make(points, true).value());
  place.line->width_left_m.assign(90, 0.5);
  place.line->width_right_m.assign(90, 0.5);
  auto round = [](const Observation&) { return drive(0.3, 0.45); };
  CarSetup a = setup("a", {5.0 + radius, 5.0, 0.5 * math::kPi}, std::make_unique<Scripted>(round, from_milliseconds(25)));
  CarSetup b = setup("b", {1.5, 1.5, 0.0}, nullptr);
  a.sensors.lidar.enabled = b.sensors.lidar.enabled = false;  // for the test's own speed
  auto world = World::make(place, {}, cars(std::move(a), std::move(b)));
  REQUIRE(world);
  run(*world, 2.2 * 2.0 * math::kPi * radius / 0.45);
  CHECK(world->car(0).lap.laps == 2);
  CHECK(world->lap_times(0).size() == 2);
  CHECK(world->lap_times(0)[1] == doctest::Approx(2.0 * math::kPi * radius / 0.45).epsilon(0.05));
  CHECK(world->car(1).lap.laps == 0);
  CHECK(std::abs(world->car(1).lap.progress_m) < 1e-9);
  const CarState kept = world->car(0);
  world->reset();
  CHECK(kept.lap.laps == 2);
  CHECK(world->car(0).lap.laps == 0);
  CHECK(world->lap_times(0).empty());
}

TEST_CASE("stepping allocates nothing, with two cars, every sensor, contacts and laps") {
  Place place = room(8, 6);
  place.line.emplace();
  place.line->path = std::make_shared<const tracks::Path>(tracks::Path::make({{2, 2}, {6, 2}, {6, 4}, {2, 4}}, true).value());
  WorldSettings settings;
  settings.on_contact = ContactPolicy::kRecord;
  auto world = World::make(place, settings, cars(setup("a", {2, 2, 0}, steady(0.0, 3.0)), setup("b", {4, 2, math::kPi}, steady(0.1, 3.0))));
  REQUIRE(world);
  const AllocationGuard guard;
  run(*world, 2.0);
  const std::size_t allocations = guard.count();
  CHECK(allocations == 0);
  CHECK(world->contacts().size() >= 3);
}

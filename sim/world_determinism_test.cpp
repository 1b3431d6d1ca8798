// SPDX-License-Identifier: Apache-2.0
// The world is a value of its inputs.
#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "sim/test_world.hpp"
#include "tests/support/allocation_guard.hpp"
#include "tests/support/instruction_sets.hpp"

using namespace pitwall;
using namespace pitwall::sim;
using namespace pitwall::sim::testing;

namespace {

// Steers for the widest beam: whatever is wrong with a scan moves the car.
std::unique_ptr<Controller> wanderer() {
  return std::make_unique<Scripted>([](const Observation& obs) {
    std::size_t best = 270;
    const auto& ranges = obs.scan.message->ranges;
    for (std::size_t i = ranges.size() / 4; i < 3 * ranges.size() / 4; ++i) {
      if (ranges[i] > ranges[best]) best = i;
    }
    const double angle = -0.75 * math::kPi + 1.5 * math::kPi * static_cast<double>(best) / static_cast<double>(ranges.size() - 1);
    return drive(0.3 * angle, 1.0 + 0.1 * static_cast<double>(ranges[best] < 50.0F ? ranges[best] : 0.0F));
  });
}

// Two cars that drift; car0 comes from a start 0.3 m from the wall, at speed.
World world_of(std::int64_t seed, ContactPolicy policy = ContactPolicy::kStop, Place place = room(8, 6)) {
  WorldSettings settings;
  settings.seed = seed;
  settings.on_contact = policy;
  CarSetup near = setup("car0", {7.0, 2, 0.2}, wanderer());
  near.start_speed_mps = 4.0;
  auto world = World::make(std::move(place), settings, cars(std::move(near), setup("car1", {5, 4, 2.0}, wanderer())));
  REQUIRE(world);
  return std::move(*world);
}

std::vector<std::uint64_t> hashes(World& world, double seconds) {
  std::vector<std::uint64_t> all;
  const Time end = world.now() + from_seconds(seconds);
  while (world.now() < end) {
    world.step();
    all.push_back(world.trace_hash());
  }
  return all;
}

}  // namespace

TEST_CASE("ten runs of one scenario have one hash, in fresh worlds and after reset, step by step") {
  for (const ContactPolicy policy : {ContactPolicy::kStop, ContactPolicy::kRecord, ContactPolicy::kRespond}) {
    World first = world_of(12345, policy);
    // Near enough to the walls for contacts within this time.
    const auto expected = hashes(first, 0.15);
    for (int k = 0; k < 4; ++k) {
      first.reset();
      CHECK(hashes(first, 0.15) == expected);
    }
    for (int k = 0; k < 5; ++k) {
      World again = world_of(12345, policy);
      CHECK(hashes(again, 0.15) == expected);
    }
    CHECK(first.contacts().size() > 0);
  }
}

TEST_CASE("reset in the middle of things leaves nothing behind: delay lines, messages under way, contacts, counters") {
  World world = world_of(1);
  const auto expected = hashes(world, 0.5);
  run(world, 0.8);
  const std::vector<ContactEvent> contacts(world.contacts().begin(), world.contacts().end());
  CHECK(contacts.size() > 0);
  world.reset();
  CHECK(world.contacts().empty());
  CHECK_FALSE(world.car(0).contact);
  CHECK(world.car(0).dropped_beams == 0);
  CHECK(world.car(0).max_pose_error_m == 0.0);
  CHECK(hashes(world, 0.5) == expected);
  run(world, 0.8);
  REQUIRE(world.contacts().size() == contacts.size());
  for (std::size_t k = 0; k < contacts.size(); ++k) CHECK(world.contacts()[k].time == contacts[k].time);
}

TEST_CASE("another seed is another run") {
  std::set<std::uint64_t> seen;
  for (std::int64_t seed = 0; seed < 5; ++seed) {
    World world = world_of(seed);
    seen.insert(hashes(world, 0.3).back());
  }
  CHECK(seen.size() == 5);
}

TEST_CASE("two worlds with two maps, stepped in turn, do not touch each other") {
  World a_alone = world_of(1, ContactPolicy::kStop, room(8, 6));
  World b_alone = world_of(2, ContactPolicy::kStop, room(9, 7, 0.1));
  const auto a_expected = hashes(a_alone, 0.3);
  const auto b_expected = hashes(b_alone, 0.3);
  World a = world_of(1, ContactPolicy::kStop, room(8, 6));
  World b = world_of(2, ContactPolicy::kStop, room(9, 7, 0.1));
  for (std::size_t k = 0; k < a_expected.size(); ++k) {
    a.step();
    b.step();
    CHECK(a.trace_hash() == a_expected[k]);
    CHECK(b.trace_hash() == b_expected[k]);
  }
}

TEST_CASE("worlds may share one map, and their cars do not see each other") {
  const Place shared = room(8, 6);
  World a = world_of(1, ContactPolicy::kStop, shared);
  World b = world_of(1, ContactPolicy::kStop, shared);
  CHECK(hashes(a, 0.5) == hashes(b, 0.5));
}

TEST_CASE("neither another car out of sight nor another sensor moves a car's noise") {
  // The wall hides the second car from the first.
  const Place place = place_of(make_map(8.0, 6.0, 0.05, {{0, 2.9, 8.0, 3.1}, {0, 0, 8.0, 0.2}}));
  const auto scans_of = [&](bool companion, const std::function<void(SensorSettings&)>& change) {
    std::vector<float> all;
    CarSetup car = setup("car0", {2, 1.5, 0}, std::make_unique<Scripted>([&all](const Observation& obs) {
                           all.insert(all.end(), obs.scan.message->ranges.begin(), obs.scan.message->ranges.end());
                           return drive(0.0, 0.5);
                         }));
    change(car.sensors);
    auto list = cars(std::move(car));
    if (companion) list.insert(list.begin(), setup("car1", {4, 4.5, 1.0}, wanderer()));
    auto world = World::make(place, {}, std::move(list));
    REQUIRE(world);
    run(*world, 0.4);
    return all;
  };
  const auto usual = scans_of(false, [](SensorSettings&) {});
  REQUIRE(usual.size() > 10'000);
  CHECK(scans_of(true, [](SensorSettings&) {}) == usual);
  CHECK(scans_of(false, [](SensorSettings& s) { s.pose.enabled = false; }) == usual);
  CHECK(scans_of(false, [](SensorSettings& s) { s.odometry.period_s = 0.005; }) == usual);
  CHECK(scans_of(false, [](SensorSettings& s) { s.joy.enabled = false; }) == usual);
}

TEST_CASE("two cars at mirrored places draw different noise") {
  auto world = World::make(room(8, 6), {}, cars(setup("car0", {2, 3, 0}, nullptr), setup("car1", {6, 3, math::kPi}, nullptr)));
  REQUIRE(world);
  run(*world, 0.1);
  CHECK(world->true_ranges(0)[400] == doctest::Approx(world->true_ranges(1)[400]).epsilon(1e-9));
  CHECK(world->observation(0).scan.message->ranges != world->observation(1).scan.message->ranges);
  CHECK(world->observation(0).pose.message->position.y != world->observation(1).pose.message->position.y);
}

TEST_CASE("the hash covers the state, the commands and what the sensors said") {
  const auto hash_of = [](double speed, double noise, std::int32_t beam) {
    CarSetup car = setup("car0", {2, 3, 0}, std::make_unique<Scripted>([=](const Observation&) {
                           Command command = drive(0.0, speed);
                           command.beam = beam;
                           return command;
                         }),
                         false);
    car.sensors.lidar.noise_std_m = noise;
    auto world = World::make(room(8, 6), {}, cars(std::move(car)));
    REQUIRE(world);
    run(*world, 0.1);
    return world->trace_hash();
  };
  const std::uint64_t base = hash_of(1.0, 0.0, -1);
  CHECK(hash_of(1.0, 0.0, -1) == base);
  CHECK(hash_of(1.0001, 0.0, -1) != base);
  CHECK(hash_of(1.0, 0.001, -1) != base);
  CHECK(hash_of(1.0, 0.0, 5) != base);
}

TEST_CASE("a run has the same bits on every instruction set of this machine") {
  std::vector<std::uint64_t> first;
  pitwall::testing::on_every_instruction_set([&](const char* name) {
    World world = world_of(3);
    const auto got = hashes(world, 0.2);
    if (first.empty()) first = got;
    CHECK_MESSAGE(got == first, name);
  });
}

TEST_CASE("the order in which cars are listed moves none of them, nor what they measure") {
  const auto seen = [](bool turned) {
    auto list = cars(setup("car0", {2.0, 2.0, 0.2}, wanderer()), setup("car1", {5.0, 4.0, 2.0}, wanderer()),
                     setup("car2", {6.0, 2.5, -1.0}, wanderer()));
    if (turned) std::swap(list[0], list[2]);
    WorldSettings settings;
    settings.on_contact = ContactPolicy::kRecord;
    auto world = World::make(room(8, 6), settings, std::move(list));
    REQUIRE(world);
    run(*world, 0.6);
    std::vector<std::vector<float>> scans;
    std::vector<double> states;
    for (const std::size_t k : {0U, 1U, 2U}) {
      const std::size_t i = turned ? 2 - k : k;
      CHECK(world->name(i) == "car" + std::to_string(k));
      scans.push_back(world->observation(i).scan.message->ranges);
      for (float& r : scans.back()) r = std::isnan(r) ? -1.0F : r;
      const CarState& car = world->car(i);
      states.insert(states.end(), {car.T_map_base.x, car.T_map_base.y, car.T_map_base.yaw, car.velocity_mps.x, car.max_pose_error_m});
    }
    return std::pair(scans, states);
  };
  CHECK(seen(false) == seen(true));
}

TEST_CASE("a step with sweeping scanners, other cars and every error allocates nothing") {
  World world = world_of(5, ContactPolicy::kRecord);
  run(world, 0.05);
  const AllocationGuard guard;
  for (int k = 0; k < 60; ++k) world.step();
  const std::size_t allocations = guard.count();
  CHECK(allocations == 0);
}

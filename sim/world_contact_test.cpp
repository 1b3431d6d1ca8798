// SPDX-License-Identifier: Apache-2.0
// Contact as the world reports it, and the three policies.
#include <doctest/doctest.h>

#include <cmath>

#include "sim/contact.hpp"
#include "sim/test_world.hpp"

using namespace pitwall;
using namespace pitwall::sim;
using namespace pitwall::sim::testing;

namespace {

WorldSettings with(ContactPolicy policy) {
  WorldSettings settings;
  settings.on_contact = policy;
  return settings;
}

World one_car(ContactPolicy policy, double speed = 3.0, double yaw = 0.0, Place place = room(8.0, 3.0)) {
  auto world = World::make(std::move(place), with(policy), cars(setup("car0", {1.0, 1.5, yaw}, steady(0.0, speed))));
  REQUIRE(world);
  return std::move(*world);
}

// Everybody finite and nobody deeper in a wall or another car than a hair.
bool sound(const World& world, const tracks::OccupancyMap& map) {
  const BodyRectangle c = test_car().chassis();
  const BodyRectangle core{c.rear_m + 0.003, c.front_m - 0.003, c.half_width_m - 0.003};
  bool ok = true;
  for (std::size_t i = 0; i < world.size(); ++i) {
    const CarState& s = world.car(i);
    ok = ok && std::isfinite(s.T_map_base.x) && std::isfinite(s.T_map_base.yaw) && std::isfinite(s.velocity_mps.x) &&
         s.failure == Failure::kNone;
    ok = ok && !overlaps(core, s.T_map_base, map);
    for (std::size_t j = 0; j < i; ++j) ok = ok && !overlaps(core, s.T_map_base, core, world.car(j).T_map_base);
  }
  return ok;
}

}  // namespace

TEST_CASE("policy stop: the car stands where it touched, one event says when, where and how fast") {
  World world = one_car(ContactPolicy::kStop);
  run(world, 4.0);
  REQUIRE(world.contacts().size() == 1);
  const ContactEvent& event = world.contacts()[0];
  CHECK(event.car == 0);
  CHECK(event.partner == kWall);
  CHECK(event.point.x == doctest::Approx(7.75));
  CHECK(event.point.y == doctest::Approx(1.5));
  CHECK(event.normal.x == doctest::Approx(-1.0));
  CHECK(event.closing_speed_mps == doctest::Approx(3.0).epsilon(0.02));
  CHECK(event.speed_mps == doctest::Approx(3.0).epsilon(0.02));
  CHECK(event.time.seconds() == doctest::Approx(2.3).epsilon(0.1));
  const CarState& state = world.car(0);
  CHECK(state.contact);
  CHECK(state.touching);
  CHECK(state.stopped);
  CHECK(state.contact_steps > 100);
  CHECK(state.T_map_base.x == doctest::Approx(7.75 - 0.43));
  CHECK(std::abs(state.T_map_base.yaw) < 1e-9);
  CHECK(state.velocity_mps.x == 0.0);
}

TEST_CASE("the motion that a collision leaves behind reads back, forwards and in reverse, and keeps wheels and targets") {
  auto plant = plant::Plant::make(test_car(), {}, 0.9);
  REQUIRE(plant);
  plant->reset({0, 0, 0}, 2.0);
  REQUIRE(plant->command(0.3, 2.0, {}) == plant::CommandStatus::kAccepted);
  plant->step({}, from_milliseconds(100));
  const double wheels = plant->steering_rad();
  for (const Vec2 velocity : {Vec2{1.2, 0.3}, Vec2{-1.2, 0.3}, Vec2{}}) {
    plant->set_motion({3.0, -1.0, 0.7}, velocity, 2.0);
    CHECK(plant->base_velocity().x == doctest::Approx(velocity.x));
    CHECK(plant->base_velocity().y == doctest::Approx(velocity.y));
    CHECK(plant->yaw_rate_radps() == 2.0);
    CHECK(distance(plant->base_pose().position(), {3.0, -1.0}) < 1e-12);
    CHECK(plant->base_pose().yaw == 0.7);
    CHECK(plant->steering_rad() == wheels);
    CHECK(plant->steering_target_rad() == 0.3);
  }
}

TEST_CASE("a car that stands for good may be commanded for ever") {
  CarSetup car =
      setup("car0", {1.0, 1.5, 0.0}, std::make_unique<Scripted>([](const Observation&) { return drive(0.0, 3.0); }, from_milliseconds(5)));
  car.sensors.lidar.enabled = false;
  auto world = World::make(room(3.0, 3.0), with(ContactPolicy::kStop), cars(std::move(car)));
  REQUIRE(world);
  run(*world, 10.0);
  CHECK(world->car(0).stopped);
  CHECK(world->car(0).ticks == 2000);
  CHECK_FALSE(world->failed());
}

TEST_CASE("more commands under way than the delay lines hold fail the run by name") {
  CarSetup car = setup("car0", {1.0, 1.5, 0.0},
                       std::make_unique<Scripted>([](const Observation&) { return drive(0.0, 1.0); }, Duration{200'000}, "hasty"));
  car.sensors.lidar.enabled = false;
  car.parameters.speed_delay_s = 0.5;
  auto world = World::make(room(3.0, 3.0), with(ContactPolicy::kStop), cars(std::move(car)));
  REQUIRE(world);
  run(*world, 0.3);
  CHECK(world->car(0).failure == Failure::kTooManyCommands);
  CHECK(world->failure_text(0).find("'hasty' of car0: more than 512 commands") != std::string::npos);
}

TEST_CASE("policy record: the car drives on through the wall, the latch stays, every step of contact is counted") {
  // A screen across the room, 0.1 m thick.
  World world = one_car(ContactPolicy::kRecord, 3.0, 0.0, place_of(make_map(12.0, 3.0, 0.05, {{5.0, 0.0, 5.1, 3.0}})));
  run(world, 3.0);
  REQUIRE(world.contacts().size() == 1);
  CHECK(world.contacts()[0].point.x == doctest::Approx(5.0));
  const CarState& state = world.car(0);
  CHECK(state.T_map_base.x > 6.0);
  CHECK(state.contact);
  CHECK_FALSE(state.touching);
  CHECK_FALSE(state.stopped);
  // Its own length and the screen's, at 3 m/s: 0.63 m in 210 ms.
  CHECK(std::abs(static_cast<double>(state.contact_steps) - 0.63 / 3.0 / 0.005) <= 2.0);
}

TEST_CASE("policy respond: the car comes back from the wall, slower, its yaw kept, and never inside it") {
  const Place place = room(8.0, 3.0);
  World world = one_car(ContactPolicy::kRespond, 3.0, 0.0, place);
  double fastest_back = 0.0;
  bool ok = true;
  while (world.now() < Time{} + from_seconds(3.0)) {
    world.step();
    fastest_back = std::min(fastest_back, world.car(0).velocity_mps.x);
    ok = ok && sound(world, *place.map);
  }
  CHECK(ok);
  CHECK(world.car(0).contact);
  CHECK_FALSE(world.car(0).stopped);
  CHECK(fastest_back < -0.5);
  CHECK(fastest_back > -1.5);
  CHECK(std::abs(world.car(0).T_map_base.yaw) < 0.05);
}

TEST_CASE("policy respond: an oblique car is turned along the wall and does not pass it") {
  const Place place = room(8.0, 3.0);
  World world = one_car(ContactPolicy::kRespond, 3.0, 0.5, place);
  bool ok = true;
  while (world.now() < Time{} + from_seconds(2.0)) {
    world.step();
    ok = ok && sound(world, *place.map);
  }
  CHECK(ok);
  CHECK(world.car(0).contact);
  CHECK(world.car(0).T_map_base.x > 2.5);
}

TEST_CASE("policy respond: a car that is run into from behind is pushed") {
  const Place place = room(12.0, 3.0);
  CarSetup behind = setup("behind", {2.0, 1.5, 0.0}, steady(0.0, 3.0));
  CarSetup front = setup("front", {4.0, 1.5, 0.0}, nullptr);
  auto world = World::make(place, with(ContactPolicy::kRespond), cars(std::move(behind), std::move(front)));
  REQUIRE(world);
  bool ok = true;
  double fastest = 0.0;
  while (world->now() < Time{} + from_seconds(2.5)) {
    world->step();
    fastest = std::max(fastest, world->car(1).velocity_mps.x);
    ok = ok && sound(*world, *place.map);
  }
  CHECK(ok);
  CHECK(world->car(0).contact);
  CHECK(world->car(1).contact);
  CHECK(fastest > 0.8);
  CHECK(world->car(1).T_map_base.x > 4.2);
}

TEST_CASE("cars that meet head-on have one event each, with each other as partner") {
  auto world = World::make(room(12.0, 3.0), with(ContactPolicy::kStop),
                           cars(setup("a", {2.0, 1.5, 0.0}, steady(0.0, 3.8)), setup("b", {10.0, 1.5, math::kPi}, steady(0.0, 3.8))));
  REQUIRE(world);
  run(*world, 3.0);
  REQUIRE(world->contacts().size() == 2);
  const ContactEvent& first = world->contacts()[0];
  const ContactEvent& second = world->contacts()[1];
  CHECK(first.time == second.time);
  CHECK(first.car + second.car == 1);
  CHECK(first.partner == second.car);
  CHECK(second.partner == first.car);
  CHECK(first.closing_speed_mps == doctest::Approx(7.6).epsilon(0.03));
  CHECK(first.normal.x == doctest::Approx(-second.normal.x));
  CHECK(distance(world->car(0).T_map_base.position(), world->car(1).T_map_base.position()) == doctest::Approx(0.86).epsilon(1e-4));
  CHECK(world->car(0).stopped);
  CHECK(world->car(1).stopped);
}

TEST_CASE("contact does not depend on the scanner: none, fewer beams, another mount") {
  const auto contact_of = [](const std::function<void(CarSetup&)>& change) {
    CarSetup car = setup("car0", {1.0, 1.5, 0.0},
                         std::make_unique<Scripted>([](const Observation&) { return drive(0.02, 3.0); }, from_milliseconds(25)));
    change(car);
    car.start_speed_mps = 3.0;
    auto world = World::make(room(3.0, 3.0), {}, cars(std::move(car)));
    REQUIRE(world);
    run(*world, 0.6);
    REQUIRE(world->contacts().size() == 1);
    return world->contacts()[0];
  };
  const ContactEvent usual = contact_of([](CarSetup&) {});
  for (const auto& change : std::vector<std::function<void(CarSetup&)>>{[](CarSetup& c) { c.sensors.lidar.enabled = false; },
                                                                        [](CarSetup& c) { c.sensors.lidar.beams = 7; },
                                                                        [](CarSetup& c) { c.parameters.lidar_x_m = 0.0; }}) {
    const ContactEvent other = contact_of(change);
    CHECK(other.time == usual.time);
    CHECK(other.point == usual.point);
  }
}

TEST_CASE("leaving the map is a verdict of its own, not a contact") {
  for (const ContactPolicy policy : {ContactPolicy::kStop, ContactPolicy::kRecord}) {
    World world = one_car(policy, 3.0, 0.0, place_of(make_map(5.0, 3.0, 0.05, {})));
    run(world, 4.0);
    const CarState& state = world.car(0);
    CHECK(state.off_map);
    CHECK_FALSE(state.contact);
    CHECK(state.contact_steps == 0);
    REQUIRE(world.contacts().size() == 1);
    CHECK(world.contacts()[0].partner == kMapEdge);
    CHECK(world.contacts()[0].time == state.off_map_time);
    CHECK(world.contacts()[0].T_map_base.x == doctest::Approx(5.0 - 0.43).epsilon(1e-4));
    CHECK(state.stopped == (policy == ContactPolicy::kStop));
  }
}

TEST_CASE("events beyond the list's length are counted") {
  // Posts in a row, each its own contact, forth and back.
  std::vector<Block> posts;
  for (int k = 0; k < 60; ++k) posts.push_back({3.0 + 0.8 * k, 1.65, 3.05 + 0.8 * k, 1.7});
  int tick = 0;
  auto law = [&tick](const Observation&) { return drive(0.0, (tick++ / 1300) % 2 == 0 ? 4.0 : -4.0); };
  CarSetup car = setup("car0", {1.0, 1.6, 0.0}, std::make_unique<Scripted>(law, from_milliseconds(10)));
  car.sensors.lidar.enabled = false;
  auto world = World::make(place_of(make_map(120.0, 3.0, 0.05, posts)), with(ContactPolicy::kRecord), cars(std::move(car)));
  REQUIRE(world);
  for (int k = 0; k < 300'000 && world->lost_contacts() == 0; ++k) world->step();
  CHECK(world->contacts().size() == 1024);
  CHECK(world->lost_contacts() > 0);
}

TEST_CASE("twelve cars drive, look and touch in one world") {
  std::vector<CarSetup> all;
  for (int k = 0; k < 12; ++k) {
    all.push_back(setup("car" + std::to_string(k), {1.0 + (k % 4) * 2.0, 1.0 + (k / 4) * 2.0, 0.3 * k}, steady(0.05 * (k - 6), 2.0)));
    all.back().start_speed_mps = 2.0;
    all.back().sensors.lidar.beams = 181;
  }
  auto world = World::make(room(9.0, 7.0), with(ContactPolicy::kStop), std::move(all));
  REQUIRE(world);
  run(*world, 0.7);
  CHECK(world->size() == 12);
  CHECK(world->contacts().size() > 3);
  for (const ContactEvent& event : world->contacts()) {
    if (event.partner >= 0) CHECK(world->car(static_cast<std::size_t>(event.partner)).contact);
  }
}

// SPDX-License-Identifier: Apache-2.0
#include "sim/faults.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "sim/moments.hpp"
#include "sim/test_world.hpp"
#include "tests/support/allocation_guard.hpp"

using namespace pitwall;
using namespace pitwall::sim;
using namespace pitwall::sim::testing;

namespace {

Result<World> world_with(const Fault& fault, std::unique_ptr<Controller> controller, double start_speed = 0.0,
                         WorldSettings settings = {}) {
  CarSetup car = setup("car0", {2, 3, 0}, std::move(controller), false);
  car.start_speed_mps = start_speed;
  Surroundings surroundings;
  surroundings.faults.push_back(fault);
  return World::make(room(40, 6), settings, cars(std::move(car)), surroundings);
}

Fault fault_of(FaultKind kind, double size = 0.0, double start_s = 0.5, double length_s = 1.0) {
  Fault fault;
  fault.name = "f";
  fault.kind = kind;
  fault.start_s = start_s;
  fault.length_s = length_s;
  fault.size = size;
  return fault;
}

std::unique_ptr<Controller> at_40_hz(double steering, double speed) {
  return std::make_unique<Scripted>([=](const Observation&) { return drive(steering, speed); }, Duration{25'000'000});
}

}  // namespace

TEST_CASE("while a source is lost nothing of it arrives, and afterwards it goes on") {
  const auto sequence = [](const World& world, FaultKind kind) {
    const Observation obs = world.observation(0);
    if (kind == FaultKind::kScanLoss) return obs.scan.sequence;
    if (kind == FaultKind::kOdometryLoss) return obs.odometry.sequence;
    if (kind == FaultKind::kPoseLoss) return obs.pose.sequence;
    return obs.joy.sequence;
  };
  for (const FaultKind kind : {FaultKind::kScanLoss, FaultKind::kOdometryLoss, FaultKind::kPoseLoss, FaultKind::kJoyLoss}) {
    auto world = world_with(fault_of(kind), nullptr);
    REQUIRE(world);
    run(*world, 0.5);
    const auto before = sequence(*world, kind);
    run(*world, 1.0);
    CHECK(sequence(*world, kind) == before);
    for (const FaultKind other : {FaultKind::kScanLoss, FaultKind::kOdometryLoss, FaultKind::kPoseLoss, FaultKind::kJoyLoss})
      if (other != kind) CHECK(sequence(*world, other) >= 59);
    run(*world, 0.1);
    CHECK(sequence(*world, kind) > before);
  }
}

TEST_CASE("a pose that jumps is off by the size in a direction that the seed draws, and comes back") {
  Vec2 first;
  for (const std::int64_t seed : {1, 2}) {
    Fault fault = fault_of(FaultKind::kPoseJump, 0.5);
    fault.seed = seed;
    auto world = world_with(fault, nullptr);
    REQUIRE(world);
    run(*world, 0.4);
    CHECK(distance(world->observation(0).pose.message->position, {2, 3}) < 1e-12);
    run(*world, 0.5);
    const Vec2 off = world->observation(0).pose.message->position - Vec2{2, 3};
    CHECK(norm(off) == doctest::Approx(0.5));
    if (seed == 1) first = off;
    if (seed == 2) CHECK(distance(off, first) > 0.01);
    run(*world, 0.7);
    CHECK(distance(world->observation(0).pose.message->position, {2, 3}) < 1e-12);
  }
}

TEST_CASE("frozen poses come under new stamps, stale ones under their old one") {
  for (const bool stale : {false, true}) {
    auto world = world_with(fault_of(stale ? FaultKind::kPoseStale : FaultKind::kPoseFrozen), nullptr, 2.0);
    REQUIRE(world);
    run(*world, 1.0);
    const Source<PoseEstimate> pose = world->observation(0).pose;
    CHECK(pose.message->position.x == within(2.0 + 2.0 * 0.475, 0.02));
    CHECK(pose.arrival == Time{975'000'000});
    CHECK(pose.message->stamp == Time{stale ? 475'000'000 : 975'000'000});
  }
}

TEST_CASE("a released deadman button reads 0 and joystick messages go on") {
  auto world = world_with(fault_of(FaultKind::kDeadmanReleased), nullptr);
  REQUIRE(world);
  run(*world, 0.5);
  CHECK(world->observation(0).joy.message->buttons.at(4) == 1);
  run(*world, 0.1);
  CHECK(world->observation(0).joy.message->buttons.at(4) == 0);
  CHECK(world->observation(0).joy.sequence == 30);
  run(*world, 1.0);
  CHECK(world->observation(0).joy.message->buttons.at(4) == 1);
}

TEST_CASE("without commands for 0.15 s the driver commands zero speed, holds the servo, and goes on with the next command") {
  auto world = world_with(fault_of(FaultKind::kCommandLoss), at_40_hz(0.1, 2.0), 2.0);
  REQUIRE(world);
  // The last command before 0.5 s is that of 0.475 s.
  run(*world, 0.625);
  CHECK(world->car(0).driven_speed_mps == doctest::Approx(2.0));
  world->step();
  CHECK(world->car(0).driven_speed_mps == 0.0);
  CHECK(world->car(0).command_timed_out);
  CHECK(world->fault_records()[0].last_good == Time{475'000'000});
  run(*world, 0.8);
  CHECK(std::abs(world->car(0).velocity_mps.x) < 0.1);
  CHECK(world->car(0).steering_rad == within(0.1, 0.01));
  run(*world, 1.0);
  CHECK(world->car(0).velocity_mps.x > 1.0);
  CHECK_FALSE(world->car(0).command_timed_out);
}

TEST_CASE("with the driver's timeout switched off a car drives on without commands") {
  WorldSettings settings;
  settings.command_timeout_s = 0.0;
  auto world = world_with(fault_of(FaultKind::kCommandLoss), at_40_hz(0.0, 2.0), 2.0, settings);
  REQUIRE(world);
  run(*world, 1.4);
  CHECK(world->car(0).driven_speed_mps == doctest::Approx(2.0));
  CHECK(world->car(0).velocity_mps.x > 1.8);
}

TEST_CASE("a stuck servo stays at its angle, and follows again afterwards") {
  double wanted = 0.1;
  auto world = world_with(fault_of(FaultKind::kServoStuck),
                          std::make_unique<Scripted>([&wanted](const Observation&) { return drive(wanted, 1.0); }, Duration{25'000'000}));
  REQUIRE(world);
  run(*world, 0.5);
  const double angle = world->car(0).steering_rad;
  CHECK(angle == within(0.1, 0.01));
  wanted = -0.2;
  run(*world, 1.0);
  CHECK(world->car(0).steering_rad == angle);
  run(*world, 0.5);
  CHECK(world->car(0).steering_rad == within(-0.2, 0.01));
}

TEST_CASE("a battery that sags takes top speed and power with it, and recovers") {
  const auto speed_after = [](double size) {
    CarSetup car = setup("car0", {2, 3, 0}, at_40_hz(0.0, 6.0), false);
    car.parameters.motor_free_speed_mps = 8.0;
    car.parameters.drive_power_max_w = 100.0;
    Surroundings surroundings;
    if (size > 0.0) surroundings.faults.push_back(fault_of(FaultKind::kBatterySag, size, 0.0, 2.0));
    auto world = World::make(room(60, 6), {}, cars(std::move(car)), surroundings);
    REQUIRE(world);
    run(*world, 2.0);
    const double sagging = world->car(0).velocity_mps.x;
    run(*world, 3.0);
    CHECK(world->car(0).velocity_mps.x == within(6.0, 0.05));
    return sagging;
  };
  CHECK(speed_after(0.0) > 5.0);
  CHECK(speed_after(0.5) < 4.0);
}

TEST_CASE("a slippery patch acts where it lies and while it is there, and is on record once driven over") {
  Fault fault = fault_of(FaultKind::kSlipperyPatch, 0.6, 0.0, 100.0);
  fault.place = {8.0, 3.0};
  fault.radius_m = 1.0;
  auto world = world_with(fault, at_40_hz(0.0, 2.0), 2.0);
  REQUIRE(world);
  const double grip = world->friction(0).limit_mps2;
  run(*world, 1.0);
  CHECK_FALSE(world->fault_records()[0].begun);
  CHECK(world->friction(0).limit_mps2 == grip);
  while (!world->fault_records()[0].begun && world->now().seconds() < 5.0) world->step();
  CHECK(world->car(0).T_map_base.x + 0.165 == within(7.0, 0.005));
  run(*world, 0.3);
  CHECK(world->friction(0).limit_mps2 == doctest::Approx(0.4 * grip));
  run(*world, 1.5);
  CHECK(world->friction(0).limit_mps2 == doctest::Approx(grip));
  CHECK_FALSE(world->fault_records()[0].over);
  CHECK((world->fault_records()[0].ended - world->fault_records()[0].began).seconds() == within(1.0, 0.02));
  world->reset();
  CHECK_FALSE(world->fault_records()[0].begun);
}

TEST_CASE("on a slippery patch a car corners no harder than its friction allows, off it the car does") {
  const auto hardest = [](double size) {
    Surroundings surroundings;
    Fault fault = fault_of(FaultKind::kSlipperyPatch, size, 0.0, 100.0);
    fault.place = {20.0, 20.0};
    fault.radius_m = 30.0;
    if (size > 0.0) surroundings.faults.push_back(fault);
    CarSetup car = setup("car0", {20, 15, 0}, at_40_hz(0.25, 3.0), false);
    car.start_speed_mps = 3.0;
    auto world = World::make(room(40, 40), {}, cars(std::move(car)), surroundings);
    REQUIRE(world);
    double most = 0.0;
    for (int k = 0; k < 300; ++k) {
      world->step();
      const auto force = world->observation(0).imu.message;
      if (force != nullptr) most = std::max(most, std::abs(force->linear_acceleration_mps2[1]));
    }
    return most;
  };
  const double grip = 0.9 * 9.81;
  CHECK(hardest(0.0) > 0.45 * grip);
  CHECK(hardest(0.7) < 0.4 * grip);
}

TEST_CASE("a blind sector is NaN while it lasts") {
  Fault fault = fault_of(FaultKind::kBlindSector, 0.5);
  fault.bearing_rad = -0.7;
  auto world = world_with(fault, nullptr);
  REQUIRE(world);
  const auto blind = [&] {
    int count = 0;
    for (const float r : world->observation(0).scan.message->ranges) count += std::isnan(r) ? 1 : 0;
    return count;
  };
  run(*world, 0.4);
  CHECK(blind() == 0);
  run(*world, 0.6);
  CHECK(blind() == within(0.5 / (1.5 * math::kPi / 1080.0), 0.02));
  run(*world, 0.7);
  CHECK(blind() == 0);
}

TEST_CASE("every fault is in the trace: another kind, start, length or size is another hash, the same one is the same") {
  const auto hash_of = [](const Fault& fault) {
    auto world = world_with(fault, at_40_hz(0.0, 1.0));
    REQUIRE(world);
    run(*world, 2.0);
    const std::uint64_t hash = world->trace_hash();
    world->reset();
    run(*world, 2.0);
    CHECK(world->trace_hash() == hash);
    return hash;
  };
  const Fault base = fault_of(FaultKind::kBatterySag, 0.1);
  const std::uint64_t hash = hash_of(base);
  CHECK(hash_of(base) == hash);
  Fault other = base;
  other.size = 0.2;
  CHECK(hash_of(other) != hash);
  other = base;
  other.start_s = 0.6;
  CHECK(hash_of(other) != hash);
  other = base;
  other.length_s = 0.9;
  CHECK(hash_of(other) != hash);
  // Even one that has no effect on a standing car's messages.
  CHECK(hash_of(fault_of(FaultKind::kServoStuck)) != hash_of(fault_of(FaultKind::kServoStuck, 0.0, 5.0)));
}

TEST_CASE("a fault acts on its own car alone, and nobody else's noise moves") {
  Surroundings surroundings;
  surroundings.faults.push_back(fault_of(FaultKind::kScanLoss));
  auto world = World::make(room(40, 6), {}, cars(setup("a", {2, 2, 0}, nullptr), setup("b", {2, 4, 0}, nullptr)), surroundings);
  auto healthy = World::make(room(40, 6), {}, cars(setup("a", {2, 2, 0}, nullptr), setup("b", {2, 4, 0}, nullptr)));
  REQUIRE(world);
  REQUIRE(healthy);
  run(*world, 1.2);
  run(*healthy, 1.2);
  CHECK(world->observation(0).scan.sequence < healthy->observation(0).scan.sequence);
  CHECK(world->observation(1).scan.sequence == healthy->observation(1).scan.sequence);
  run(*world, 1.0);
  run(*healthy, 1.0);
  for (const std::size_t i : {0U, 1U}) {
    const auto& a = world->observation(i).scan.message->ranges;
    const auto& b = healthy->observation(i).scan.message->ranges;
    int differ = 0;
    for (std::size_t k = 0; k < a.size(); ++k) differ += a[k] == b[k] ? 0 : 1;
    CHECK(differ == 0);
  }
}

TEST_CASE("stepping with faults, obstacles and sweeping scans allocates nothing") {
  Surroundings surroundings;
  surroundings.faults.push_back(fault_of(FaultKind::kBlindSector, 0.5, 0.1));
  surroundings.faults.push_back(fault_of(FaultKind::kCommandLoss, 0.0, 0.3));
  Fault patch = fault_of(FaultKind::kSlipperyPatch, 0.5, 0.0, 10.0);
  patch.place = {4.0, 2.0};
  patch.radius_m = 0.5;
  surroundings.faults.push_back(patch);
  surroundings.obstacles.push_back({.name = "cart", .T_map_centre = {5.0, 4.0, 0.0}, .speed_mps = 1.0, .travel_m = 2.0});
  auto world = World::make(room(12, 6), {}, cars(setup("a", {2, 2, 0}, at_40_hz(0.0, 2.0)), setup("b", {2, 5, 0}, at_40_hz(0.0, 1.0))),
                           surroundings);
  REQUIRE(world);
  const AllocationGuard guard;
  run(*world, 1.5);
  const std::size_t allocations = guard.count();
  CHECK(allocations == 0);
}

TEST_CASE("faults that make no sense are refused by name and value") {
  const auto message = [](const Fault& fault) {
    const auto world = world_with(fault, nullptr);
    REQUIRE_FALSE(world.ok());
    return world.error().message;
  };
  CHECK(message(fault_of(FaultKind::kScanLoss, 1.0)).find("size = 1") != std::string::npos);
  CHECK(message(fault_of(FaultKind::kPoseJump)).find("size = 0") != std::string::npos);
  CHECK(message(fault_of(FaultKind::kSlipperyPatch, 0.5)).find("radius_m") != std::string::npos);
  CHECK(message(fault_of(FaultKind::kScanLoss, 0.0, -1.0)).find("start_s = -1") != std::string::npos);
  CHECK(message(fault_of(FaultKind::kScanLoss, 0.0, 1.0, 0.0)).find("length_s = 0") != std::string::npos);
  Fault elsewhere = fault_of(FaultKind::kScanLoss);
  elsewhere.car = 3;
  CHECK(message(elsewhere).find("no car 3") != std::string::npos);
}

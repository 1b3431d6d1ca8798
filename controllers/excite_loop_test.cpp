// SPDX-License-Identifier: Apache-2.0
// excite in the simulator, with every sensing error of profile `car`, on cars and floors that it does not know. Label scenario.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "calibration/car_profile.hpp"
#include "controllers/make.hpp"
#include "core/rng.hpp"
#include "sim/world.hpp"
#include "tests/support/source_dir.hpp"
#include "tracks/build/generator.hpp"

using namespace pitwall;

namespace {

struct Outcome {
  Reason reason = Reason::kDrive;
  double least_room_m = 1e9;
  double most_lateral_mps2 = 0.0;
};

sim::Place hall() {
  auto track = tracks::build::make_track(tracks::build::load_plan(source_dir() / "tracks/data/halls/hall.yaml").value()).value();
  sim::Place place;
  place.map = std::make_shared<const tracks::OccupancyMap>(std::move(track.map));
  place.rays = std::make_shared<const tracks::RayCaster>(place.map);
  place.distance = std::make_shared<const tracks::DistanceField>(*place.map);
  return place;
}

/// The padded body within the 10 m x 6 m of the defaults.
double room_m(const CarParameters& car, const Pose2& T_map_base) {
  const BodyRectangle body = car.padded_body();
  double room = 1e9;
  for (const double x : {body.front_m, body.rear_m}) {
    for (const double y : {body.half_width_m, -body.half_width_m}) {
      const Vec2 p = T_map_base * Vec2{x, y};
      room = std::min({room, 5.0 - std::abs(p.x), 3.0 - std::abs(p.y)});
    }
  }
  return room;
}

Outcome drive(const sim::Place& place, const CarParameters& profile, const CarParameters& truth, std::int64_t seed) {
  sim::CarSetup s;
  s.name = "car0";
  s.parameters = truth;
  s.plant = plant::Options::of(plant::Fidelity::kCar);
  s.sensors = sim::SensorSettings::of(profile, true);
  s.sensors.lidar.enabled = false;
  s.controller = std::move(controllers::make("excite", Node{}, profile, nullptr).value());
  s.start = {0.0, -1.5, 0.0};
  sim::WorldSettings settings;
  settings.seed = seed;
  std::vector<sim::CarSetup> cars;
  cars.push_back(std::move(s));
  auto world = sim::World::make(place, settings, std::move(cars)).value();
  Outcome out;
  while (world.now().seconds() < 300.0 && out.reason != Reason::kEndOfPath) {
    world.step();
    const sim::CarState& car = world.car(0);
    out.reason = car.command.reason;
    out.least_room_m = std::min(out.least_room_m, room_m(profile, car.T_map_base));
    out.most_lateral_mps2 = std::max(out.most_lateral_mps2, std::abs(car.velocity_mps.x * car.yaw_rate_radps));
  }
  return out;
}

}  // namespace

TEST_CASE("excite: whatever the car and the floor, it drives all of its plan, reaches the limit of grip and never leaves its area") {
  const sim::Place place = hall();
  for (const std::string name : {"f1tenth", "rb2"}) {
    const CarParameters profile = calibration::load_car(name, source_dir() / "calibration/cars").value().parameters;
    for (std::int64_t seed = 1; seed <= 12; ++seed) {
      const Rng draw(static_cast<std::uint64_t>(seed), "truth");
      const auto between = [&](std::uint32_t lane, double low, double high) { return low + (high - low) * draw.uniform(0, lane); };
      CarParameters truth = profile;
      truth.steering_delay_s = between(0, 0.02, 0.12);
      truth.speed_delay_s = between(1, 0.02, 0.12);
      truth.steering_servo_gain_per_s = between(2, 12.0, 30.0);
      truth.steering_rate_max_radps = between(3, 2.0, 4.0);
      truth.steering_gain = between(4, 0.88, 1.1);
      truth.steering_bias_rad = between(5, -0.03, 0.03);
      truth.speed_loop_accel_gain_per_s = between(6, 2.5, 8.0);
      truth.speed_loop_brake_gain_per_s = between(7, 2.5, 10.0);
      truth.surface_friction = between(8, 0.35, 0.9);
      CAPTURE(name);
      CAPTURE(seed);
      const Outcome out = drive(place, profile, truth, seed);
      CHECK(out.reason == Reason::kEndOfPath);
      CHECK(out.least_room_m > 0.0);
      // Soft tyres at full lock give out a little before the floor does.
      CHECK(out.most_lateral_mps2 > 0.75 * truth.surface_friction * 9.81);
    }
  }
}

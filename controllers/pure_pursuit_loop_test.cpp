// SPDX-License-Identifier: Apache-2.0
// pure_pursuit and the scripted opponent in the simulator, sensing errors and delays of profile `car` included: laps of a
// circuit of our own alone and in traffic. Label scenario.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "calibration/car_profile.hpp"
#include "controllers/make.hpp"
#include "sim/world.hpp"
#include "tests/support/source_dir.hpp"
#include "tracks/build/generator.hpp"
#include "tracks/build/plan.hpp"
#include "tracks/speed_profile.hpp"

using namespace pitwall;

namespace {

struct Circuit {
  sim::Place place;
  controllers::LineToFollow line;

  explicit Circuit(const std::string& name) {
    const std::string source = source_dir().string();
    const auto plan = tracks::build::load_plan(source + "/tracks/data/" + name + ".yaml").value();
    auto track = tracks::build::make_track(plan).value();
    place.map = std::make_shared<const tracks::OccupancyMap>(std::move(track.map));
    place.rays = std::make_shared<const tracks::RayCaster>(place.map);
    place.distance = std::make_shared<const tracks::DistanceField>(*place.map);
    line.path = std::make_shared<const tracks::Path>(tracks::Path::make(track.centre.points, true).value());
    line.speed_mps = tracks::speed_profile(*line.path, {});
    line.rays = place.rays;
    place.line = sim::LapLine{line.path, {}, {}, {}};
  }
};

sim::CarSetup setup(const std::string& name, const std::string& controller, const Circuit& circuit, double s_m) {
  sim::CarSetup s;
  s.name = name;
  s.parameters = calibration::load_car("f1tenth", source_dir().string() + "/calibration/cars").value().parameters;
  s.plant = plant::Options::of(plant::Fidelity::kCar);
  s.sensors = sim::SensorSettings::of(s.parameters, true);
  s.controller = std::move(controllers::make(controller, Node{}, s.parameters, &circuit.line).value());
  const Vec2 p = circuit.line.path->point_at(s_m);
  s.start = {p.x, p.y, circuit.line.path->heading_at(s_m)};
  return s;
}

struct Pursuit {
  bool contact = false;
  double progress_m = 0.0;
  double max_cross_track_m = 0.0;
  double time_s = 0.0;
  int passes = 0;
};

Pursuit run(const Circuit& circuit, std::vector<sim::CarSetup> cars, std::int64_t seed, double distance_m) {
  sim::WorldSettings settings;
  settings.seed = seed;
  const bool traffic = cars.size() > 1;
  auto world = sim::World::make(circuit.place, settings, std::move(cars)).value();
  Pursuit out;
  bool behind = true;
  while (world.now().seconds() < 120.0 && world.contacts().empty() && out.progress_m < distance_m) {
    world.step();
    const sim::LapState& lap = world.car(0).lap;
    out.progress_m = lap.progress_m;
    out.max_cross_track_m = std::max(out.max_cross_track_m, std::abs(lap.lateral_m));
    if (!traffic) continue;
    const double lead = circuit.line.path->s_difference(lap.s_m, world.car(1).lap.s_m);
    if (behind && lead > 1.0 && lead < 5.0) ++out.passes;
    behind = behind ? lead <= 1.0 : lead < 0.0;
  }
  out.contact = !world.contacts().empty();
  out.time_s = world.now().seconds();
  return out;
}

}  // namespace

TEST_CASE("it laps a circuit of our own with every sensing error of profile car, near the line and near the profile's time") {
  const Circuit circuit("circuits/larkfield");
  std::vector<sim::CarSetup> cars;
  cars.push_back(setup("car0", "pure_pursuit", circuit, 0.0));
  const Pursuit out = run(circuit, std::move(cars), 12345, circuit.line.path->length_m());
  CHECK_FALSE(out.contact);
  CHECK(out.progress_m >= circuit.line.path->length_m());
  CHECK(out.max_cross_track_m < 0.2);
  CHECK(out.time_s < 1.05 * tracks::lap_time_s(*circuit.line.path, circuit.line.speed_mps) + 1.0);
}

TEST_CASE("in traffic it passes the scripted opponent and completes the lap without contact, two seeds") {
  const Circuit circuit("circuits/larkfield");
  for (const std::int64_t seed : {12345, 12346}) {
    std::vector<sim::CarSetup> cars;
    cars.push_back(setup("car0", "pure_pursuit", circuit, 0.0));
    cars.push_back(setup("car1", "line_follower", circuit, 6.0));
    const Pursuit out = run(circuit, std::move(cars), seed, circuit.line.path->length_m());
    CAPTURE(seed);
    CHECK_FALSE(out.contact);
    CHECK(out.progress_m >= circuit.line.path->length_m());
    CHECK(out.passes >= 1);
  }
}

TEST_CASE("where the track is too narrow to pass, it follows for a lap without contact or standstill") {
  const Circuit circuit("indoor/asb_10000");
  std::vector<sim::CarSetup> cars;
  cars.push_back(setup("car0", "pure_pursuit", circuit, 0.0));
  cars.push_back(setup("car1", "line_follower", circuit, 5.0));
  const Pursuit out = run(circuit, std::move(cars), 12345, circuit.line.path->length_m());
  CHECK_FALSE(out.contact);
  CHECK(out.progress_m >= circuit.line.path->length_m());
  CHECK(out.passes == 0);
}

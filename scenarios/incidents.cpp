// SPDX-License-Identifier: Apache-2.0
#include "scenarios/incidents.hpp"

#include <algorithm>
#include <cmath>

#include "core/math.hpp"
#include "core/rng.hpp"
#include "core/text.hpp"

namespace pitwall::scenarios {
namespace {

constexpr double kAnyDelay_s = 0.2;  // longer than any message of ours is under way

Pose2 place_on(const tracks::Path& line, double s_m, double lateral_m) {
  const double s = line.wrap_s(s_m);
  const double heading = line.heading_at(s);
  const Vec2 p = line.point_at(s) + lateral_m * perpendicular(unit_vector(heading));
  return {p.x, p.y, heading};
}

/// Where the line bends most, the first of equals.
double tightest_bend_s(const tracks::Path& line) {
  std::size_t tightest = 0;
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (std::abs(line.vertex_curvature(i)) > std::abs(line.vertex_curvature(tightest))) tightest = i;
  }
  return line.s_of(tightest);
}

Status check_named(const Node& group, const std::string& what) {
  if (group.is_map() || group.is_null()) return {};
  return Error{group.where() + ": " + what + " must give each of them a name: {name: {...}, ...}"};
}

std::size_t index_of(const std::string& name, const std::vector<CarSpec>& cars) {
  for (std::size_t i = 0; i < cars.size(); ++i) {
    if (cars[i].name == name) return i;
  }
  return 0;
}

}  // namespace

void ObstacleSpec::fields(FieldVisitor& f) {
  f.enumeration("shape", shape, kShapes, "a post is a square box of its width");
  f.integer("count", count, {"", 1, 1000, "how many"});
  f.number("s_m", s_m, {"m", -1e4, 1e4, "place along the followed line"});
  f.number("s_spread_m", s_spread_m, {"m", 0, 1e4, "drawn evenly within this of it"});
  f.number("lateral_m", lateral_m, {"m", -100, 100, "to the left of the line"});
  f.number("lateral_spread_m", lateral_spread_m, {"m", 0, 100, "drawn evenly within this of it"});
  f.number("heading_rad", heading_rad, {"rad", -3.2, 3.2, "of its own x axis, against the line's heading"});
  f.number("length_m", length_m, {"m", 0.001, 100, "of a box, along its own x"});
  f.number("width_m", width_m, {"m", 0.001, 100, "of a box or a post"});
  f.number("speed_mps", speed_mps, {"m/s", 0, 50, "along its own x, to the end of its way and back; 0: it stands"});
  f.number("travel_m", travel_m, {"m", 0, 1000, "length of its way; where on it it begins is drawn"});
}

void FaultSpec::fields(FieldVisitor& f) {
  f.enumeration("kind", kind, sim::kFaultKindNames, "what goes wrong");
  f.text("car", car, "whose; empty: the car under test");
  f.number("start_s", start_s, {"s", 0, 1e6, "begin"});
  f.number("start_spread_s", start_spread_s, {"s", 0, 1e6, "drawn evenly up to this later"});
  f.number("length_s", length_s, {"s", 0.001, 1e6, "how long"});
  f.number("size", size, {"", 0, 100, "pose_jump: m; blind_sector: rad; battery_sag, slippery_patch: share that is lost"});
  f.integer("seed", seed, {"", 0, 9.0e15, "of what is drawn; 0: the run's"});
  f.number("bearing_rad", bearing_rad, {"rad", -3.1416, 3.1416, "blind_sector: its middle, to the left of ahead"});
  f.flag("tightest_bend", tightest_bend, "slippery_patch: at_s_m counts from where the line bends most");
  f.number("at_s_m", at_s_m, {"m", -1e4, 1e4, "slippery_patch: place along the followed line"});
  f.number("lateral_m", lateral_m, {"m", -100, 100, "slippery_patch: to the left of the line"});
  f.number("radius_m", radius_m, {"m", 0, 100, "slippery_patch: of the disc"});
  f.enumeration("expect", expect, kExpectations, "what the car under test owes besides no contact");
  f.number("within_s", within_s, {"s", 0, 100, "deadline: of a stop, after the last good input; of a recovery, after the fault's end"});
  f.number("back_within_m", back_within_m, {"m", 0.01, 10, "recover: largest distance from the line then"});
}

Result<std::vector<ObstacleSpec>> load_obstacles(const Scenario& scenario) {
  if (const Status named = check_named(scenario.obstacles, scenario.id + ".obstacles"); !named) return named.error();
  std::vector<ObstacleSpec> obstacles;
  for (const auto& [name, node] : scenario.obstacles.entries) {
    ObstacleSpec obstacle;
    obstacle.name = name;
    const Status loaded = load_fields(node, scenario.id + ".obstacles." + name, obstacle);
    if (!loaded) return loaded.error();
    obstacles.push_back(std::move(obstacle));
  }
  return obstacles;
}

Result<std::vector<FaultSpec>> load_faults(const Scenario& scenario) {
  if (const Status named = check_named(scenario.faults, scenario.id + ".faults"); !named) return named.error();
  std::vector<std::string> car_names;
  for (const auto& [name, node] : scenario.cars.entries) car_names.push_back(name);
  std::vector<FaultSpec> faults;
  for (const auto& [name, node] : scenario.faults.entries) {
    FaultSpec fault;
    fault.name = name;
    const std::string what = scenario.id + ".faults." + name;
    const Status loaded = load_fields(node, what, fault);
    if (!loaded) return loaded.error();
    if (!fault.car.empty() && std::find(car_names.begin(), car_names.end(), fault.car) == car_names.end())
      return Error{node.where() + ": " + what + ": " + unknown_name("car", fault.car, car_names)};
    if (fault.expect == Expect::kStop && fault.length_s < fault.within_s + kAnyDelay_s) {
      return Error{node.where() + ": " + what + ".length_s = " + format_exact(fault.length_s) + ": a stop within " +
                   format_exact(fault.within_s) + " s can only be judged on a fault of at least " +
                   format_exact(fault.within_s + kAnyDelay_s) + " s"};
    }
    faults.push_back(std::move(fault));
  }
  return faults;
}

sim::Surroundings surroundings_of(const std::vector<ObstacleSpec>& obstacles, const std::vector<FaultSpec>& faults,
                                  const std::vector<CarSpec>& cars, const tracks::Path& line, std::int64_t seed) {
  const auto run_seed = static_cast<std::uint64_t>(seed);
  sim::Surroundings surroundings;
  for (const ObstacleSpec& spec : obstacles) {
    const Rng draw(run_seed, "obstacle/" + spec.name);
    for (std::int64_t i = 0; i < spec.count; ++i) {
      const auto sample = static_cast<std::uint64_t>(i);
      const auto within = [&](double middle, double spread, std::uint32_t lane) {
        return middle + spread * (2.0 * draw.uniform(sample, lane) - 1.0);
      };
      sim::Obstacle obstacle;
      obstacle.name = spec.count == 1 ? spec.name : spec.name + std::to_string(i);
      obstacle.T_map_centre = place_on(line, within(spec.s_m, spec.s_spread_m, 0), within(spec.lateral_m, spec.lateral_spread_m, 1));
      obstacle.T_map_centre.yaw = wrap_angle(obstacle.T_map_centre.yaw + spec.heading_rad);
      obstacle.width_m = spec.width_m;
      obstacle.length_m = spec.shape == Shape::kPost ? spec.width_m : spec.length_m;
      obstacle.speed_mps = spec.speed_mps;
      obstacle.travel_m = spec.travel_m;
      obstacle.phase_m = spec.speed_mps > 0.0 ? 2.0 * spec.travel_m * draw.uniform(sample, 2) : 0.0;
      surroundings.obstacles.push_back(std::move(obstacle));
    }
  }
  for (const FaultSpec& spec : faults) {
    sim::Fault fault;
    fault.name = spec.name;
    fault.kind = spec.kind;
    fault.car = index_of(spec.car, cars);
    fault.seed = spec.seed > 0 ? spec.seed : seed;
    const Rng draw(static_cast<std::uint64_t>(fault.seed), "fault_start/" + spec.name);
    fault.start_s = spec.start_s + spec.start_spread_s * draw.uniform(0);
    fault.length_s = spec.length_s;
    fault.size = spec.size;
    fault.bearing_rad = spec.bearing_rad;
    fault.place = place_on(line, spec.at_s_m + (spec.tightest_bend ? tightest_bend_s(line) : 0.0), spec.lateral_m).position();
    fault.radius_m = spec.radius_m;
    surroundings.faults.push_back(std::move(fault));
  }
  return surroundings;
}

}  // namespace pitwall::scenarios

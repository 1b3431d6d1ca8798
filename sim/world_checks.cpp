// SPDX-License-Identifier: Apache-2.0
#include "sim/world_checks.hpp"

#include <array>
#include <cmath>
#include <utility>

#include "core/check.hpp"
#include "core/text.hpp"
#include "sim/contact.hpp"

namespace pitwall::sim {
namespace {

std::string text(const Pose2& pose) {
  return "(" + format_number(pose.x, 6) + ", " + format_number(pose.y, 6) + ", " + format_number(pose.yaw, 6) + " rad)";
}

Status check_period(const std::string& car, const std::string& key, double period_s, const WorldSettings& settings) {
  const std::int64_t period = from_seconds(period_s).ns;
  const std::int64_t step = from_seconds(settings.step_s).ns;
  if (period % step == 0) return {};
  return Error{car + ": " + key + " = " + format_exact(period_s) +
               ": must be a multiple of the physics step, step_s = " + format_exact(settings.step_s)};
}

Status check_sensors(const CarSetup& car, const WorldSettings& settings) {
  if (const Status status = check_fields(car.name + ": sensors", car.sensors); !status) return status;
  const std::array<std::pair<const char*, double>, 5> periods{{{"sensors.lidar.period_s", car.sensors.lidar.period_s},
                                                               {"sensors.odometry.period_s", car.sensors.odometry.period_s},
                                                               {"sensors.pose.period_s", car.sensors.pose.period_s},
                                                               {"sensors.joy.period_s", car.sensors.joy.period_s},
                                                               {"sensors.imu.period_s", car.sensors.imu.period_s}}};
  for (const auto& [key, period_s] : periods) {
    if (const Status status = check_period(car.name, key, period_s, settings); !status) return status;
  }
  if (car.sensors.lidar.range_min_m >= car.sensors.lidar.range_max_m) {
    return Error{car.name + ": sensors.lidar.range_min_m = " + format_exact(car.sensors.lidar.range_min_m) +
                 ": must be below range_max_m = " + format_exact(car.sensors.lidar.range_max_m)};
  }
  return {};
}

Status check_controller(const CarSetup& car) {
  if (!car.controller) return {};
  const Trigger trigger = car.controller->trigger();
  const std::string who = car.name + ": controller '" + std::string(car.controller->name()) + "'";
  if (trigger.period && trigger.period->ns < 100'000) {
    return Error{who + ": period " + format_exact(trigger.period->seconds()) + " s; allowed: 0.0001 s or more"};
  }
  if (!trigger.period && !car.sensors.lidar.enabled) return Error{who + " runs on scans, but sensors.lidar.enabled is false"};
  return {};
}

Status check_start(const CarSetup& car, const Place& place) {
  const Pose2& start = car.start;
  if (!std::isfinite(start.x) || !std::isfinite(start.y) || !std::isfinite(start.yaw))
    return Error{car.name + ": start " + text(start) + " is not finite"};
  if (!std::isfinite(car.start_speed_mps))
    return Error{car.name + ": start_speed_mps = " + format_exact(car.start_speed_mps) + " is not finite"};
  const BodyRectangle chassis = car.parameters.chassis();
  if (!inside(chassis, start, *place.map)) {
    return Error{car.name + ": start " + text(start) + " is outside the map of " +
                 format_number(place.map->width() * place.map->resolution_m(), 5) + " x " +
                 format_number(place.map->height() * place.map->resolution_m(), 5) + " m with its corner at " + text(place.map->origin())};
  }
  if (overlaps(chassis, start, *place.map)) return Error{car.name + ": start " + text(start) + " is in a wall"};
  return {};
}

Status check_pairs(const std::vector<CarSetup>& cars) {
  for (std::size_t i = 0; i < cars.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (cars[i].name == cars[j].name) {
        return Error{"cars " + std::to_string(j) + " and " + std::to_string(i) + " are both named '" + cars[i].name +
                     "'; names must differ"};
      }
      if (overlaps(cars[i].parameters.chassis(), cars[i].start, cars[j].parameters.chassis(), cars[j].start)) {
        return Error{cars[i].name + ": start " + text(cars[i].start) + " is in " + cars[j].name + " at " + text(cars[j].start)};
      }
    }
  }
  return {};
}

Status check_surroundings(const Surroundings& surroundings, const std::vector<CarSetup>& cars) {
  for (const Obstacle& obstacle : surroundings.obstacles) {
    if (const Status status = check(obstacle); !status) return status;
    for (const CarSetup& car : cars) {
      if (overlaps(car.parameters.chassis(), car.start, obstacle.body(), obstacle.at({})))
        return Error{car.name + ": start " + text(car.start) + " is in obstacle '" + obstacle.name + "'"};
    }
  }
  for (const Fault& fault : surroundings.faults) {
    if (const Status status = check(fault, cars.size()); !status) return status;
  }
  return {};
}

Status check_place(const Place& place) {
  if (!place.map || !place.rays || !place.distance) return Error{"world: no map"};
  PITWALL_CHECK(&place.rays->map() == place.map.get());
  return place.line ? check_lap_line(*place.line) : Status{};
}

}  // namespace

Status check_world(const Place& place, const WorldSettings& settings, const std::vector<CarSetup>& cars, const Surroundings& surroundings) {
  if (const Status status = check_fields("world", settings); !status) return status;
  if (const Status status = check_place(place); !status) return status;
  for (const CarSetup& car : cars) {
    if (const Status status = check_fields(car.name, car.parameters); !status) return status;
    if (const Status status = check_sensors(car, settings); !status) return status;
    if (const Status status = check_controller(car); !status) return status;
    if (const Status status = check_start(car, place); !status) return status;
  }
  if (const Status status = check_pairs(cars); !status) return status;
  return check_surroundings(surroundings, cars);
}

}  // namespace pitwall::sim

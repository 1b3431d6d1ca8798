// SPDX-License-Identifier: Apache-2.0
// For tests only: a car, rooms, rings and small controllers that say what they are told.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/test_car.hpp"
#include "sim/world.hpp"

namespace pitwall::sim::testing {

/// A plausible 1:10 car; noise and delays as in profile `car`.
inline CarParameters test_car() {
  CarParameters car = pitwall::testing::base_car();
  car.wheelbase_m = 0.33;
  car.body_length_m = 0.53;
  car.lidar_x_m = 0.27;
  car.yaw_inertia_kgm2 = 0.04712;
  car.cog_height_m = 0.074;
  car.cog_front_fraction = 0.5;
  car.cornering_stiffness_front = 4.718;
  car.cornering_stiffness_rear = 5.4562;
  car.surface_friction = 0.9;
  car.longitudinal_grip_coupling = 1.0;
  car.steering_max_left_rad = 0.4;
  car.steering_max_right_rad = -0.35;
  car.steering_delay_s = 0.025;
  car.speed_max_mps = 12.0;
  car.speed_min_mps = -5.0;
  car.acceleration_max_mps2 = 9.0;
  car.speed_loop_accel_gain_per_s = 4.0;
  car.speed_loop_brake_gain_per_s = 8.0;
  car.speed_delay_s = 0.025;
  car.lidar_noise_std_m = 0.01;
  car.lidar_dropout_rate = 0.002;
  car.lidar_delay_s = 0.025;
  car.pose_delay_s = 0.05;
  car.pose_noise_xy_m = 0.02;
  car.pose_noise_yaw_rad = 0.01;
  car.odometry_speed_noise = 0.05;
  return car;
}

/// A map of width x height metres with blocked rectangles (x0, y0, x1, y1 in m of the grid frame), each at least a cell.
struct Block {
  double x0, y0, x1, y1;
};
inline tracks::OccupancyMap make_map(double width_m, double height_m, double resolution_m, const std::vector<Block>& blocks,
                                     const Pose2& origin = {}) {
  const int w = static_cast<int>(width_m / resolution_m + 0.5);
  const int h = static_cast<int>(height_m / resolution_m + 0.5);
  std::vector<std::int8_t> values(static_cast<std::size_t>(w) * static_cast<std::size_t>(h), 0);
  for (int j = 0; j < h; ++j) {
    for (int i = 0; i < w; ++i) {
      const Vec2 centre{(i + 0.5) * resolution_m, (j + 0.5) * resolution_m};
      for (const Block& b : blocks) {
        if (centre.x > b.x0 && centre.x < b.x1 && centre.y > b.y0 && centre.y < b.y1) {
          values[static_cast<std::size_t>(j) * static_cast<std::size_t>(w) + static_cast<std::size_t>(i)] = 100;
        }
      }
    }
  }
  return tracks::OccupancyMap::make(w, h, resolution_m, origin, std::move(values)).value();
}

inline Place place_of(tracks::OccupancyMap map) {
  Place place;
  place.map = std::make_shared<const tracks::OccupancyMap>(std::move(map));
  place.rays = std::make_shared<const tracks::RayCaster>(place.map);
  place.distance = std::make_shared<const tracks::DistanceField>(*place.map);
  return place;
}

/// A walled room: free inside, blocked for `wall_m` along its edges.
inline Place room(double width_m, double height_m, double resolution_m = 0.05, double wall_m = 0.25) {
  return place_of(make_map(width_m, height_m, resolution_m,
                           {{0, 0, width_m, wall_m},
                            {0, height_m - wall_m, width_m, height_m},
                            {0, 0, wall_m, height_m},
                            {width_m - wall_m, 0, width_m, height_m}}));
}

/// Answers with whatever the test's function says.
class Scripted final : public Controller {
 public:
  using Law = std::function<Command(const Observation&)>;
  explicit Scripted(Law law, std::optional<Duration> period = {}, std::string name = "scripted")
      : law_(std::move(law)), period_(period), name_(std::move(name)) {}
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] Trigger trigger() const override { return {period_}; }
  void reset(const Observation&) override {}
  Command update(const Observation& obs) override { return law_(obs); }

 private:
  Law law_;
  std::optional<Duration> period_;
  std::string name_;
};

inline Command drive(double steering_rad, double speed_mps) {
  Command command;
  command.steering_angle_rad = static_cast<float>(steering_rad);
  command.speed_mps = static_cast<float>(speed_mps);
  return command;
}
inline std::unique_ptr<Controller> steady(double steering_rad, double speed_mps) {
  return std::make_unique<Scripted>([=](const Observation&) { return drive(steering_rad, speed_mps); });
}

inline CarSetup setup(std::string name, const Pose2& start, std::unique_ptr<Controller> controller, bool errors = true) {
  CarSetup car;
  car.name = std::move(name);
  car.parameters = test_car();
  car.sensors = SensorSettings::of(car.parameters, errors);
  car.controller = std::move(controller);
  car.start = start;
  return car;
}

template <class... Setups>
std::vector<CarSetup> cars(Setups... setups) {
  std::vector<CarSetup> all;
  (all.push_back(std::move(setups)), ...);
  return all;
}

inline void run(World& world, double seconds) {
  const Time end = world.now() + from_seconds(seconds);
  while (world.now() < end) world.step();
}

}  // namespace pitwall::sim::testing

// SPDX-License-Identifier: Apache-2.0
// Drives of a simulated car whose parameters are known, as they would have been recorded.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>

#include "calibration/fit/fit.hpp"
#include "core/check.hpp"
#include "core/math.hpp"
#include "core/rng.hpp"
#include "plant/plant.hpp"

namespace pitwall::fit {

/// Steering and speed commanded at a time.
struct Asked {
  double steering_rad = 0.0;
  double speed_mps = 0.0;
};
using Script = std::function<Asked(double t_s)>;

/// Steps and sweeps of both, some of them to the limit of the floor.
inline Asked lively(double t_s) {
  const auto piece = static_cast<int>(t_s / 2.5);
  static constexpr std::array<double, 8> kSpeeds = {1.5, 3.0, 2.0, 3.4, 1.2, 2.6, 3.2, 1.8};
  static constexpr std::array<double, 9> kAngles = {0.25, -0.1, 0.14, 0.0, -0.24, 0.08, -0.18, 0.2, -0.05};
  const double sweep = piece % 3 == 2 ? 0.08 * math::sin(2.0 * t_s * (1.0 + 0.1 * (piece % 7))) : 0.0;
  return {kAngles[static_cast<std::size_t>(t_s / 1.3) % kAngles.size()] + sweep, kSpeeds[static_cast<std::size_t>(piece) % kSpeeds.size()]};
}

struct RecordOptions {
  double seconds = 60.0;
  double noise_mps = 0.03;
  double noise_radps = 0.03;
  std::uint64_t seed = 1;
  bool poses = false;  ///< a track too, with 5 mm and 5 mrad
};

/// Drives the script at 40 Hz and records speed, sideways speed and yaw rate at 40 Hz.
inline Drive record(const Subject& subject, const Script& script, const RecordOptions& options) {
  plant::Plant plant = plant::Plant::make(subject.car, plant::Options::of(plant::Fidelity::kCar), subject.car.surface_friction).value();
  plant.reset({}, 0.0);
  Drive drive;
  drive.name = "simulated";
  Series speed{Quantity::kSpeed, "scan matching", options.noise_mps, {}, {}, 0.0};
  Series across{Quantity::kLateral, "scan matching", options.noise_mps, {}, {}, 0.0};
  Series turn{Quantity::kYawRate, "scan matching", options.noise_radps, {}, {}, 0.0};
  Series wheel{Quantity::kWheelSpeed, "odometry", options.noise_mps, {}, {}, 0.0};
  Track track{"pose", 0.005, 0.005, {}, {}, {}, {}};
  const Rng noise(options.seed, "noise");
  Time now;
  const Duration tick = from_milliseconds(25);
  for (std::uint64_t k = 0; now.seconds() < options.seconds; ++k) {
    const Asked asked = script(now.seconds());
    PITWALL_CHECK(plant.command(asked.steering_rad, asked.speed_mps, now) == plant::CommandStatus::kAccepted);
    drive.commands.t_s.push_back(now.seconds());
    drive.commands.steering_rad.push_back(asked.steering_rad);
    drive.commands.speed_mps.push_back(asked.speed_mps);
    drive.commands.acceleration_mps2.push_back(0.0);
    const Vec2 velocity = rotate(-subject.mount_yaw_rad, plant.base_velocity());
    const double t_s = now.seconds();
    const auto add = [&](Series& series, double value, std::uint32_t lane) {
      series.t_s.push_back(t_s);
      series.value.push_back(value + series.sigma * noise.normal(k, lane));
    };
    add(speed, velocity.x, 0);
    add(across, velocity.y, 1);
    add(turn, plant.yaw_rate_radps(), 2);
    add(wheel, plant.wheel_speed_mps() / subject.car.odometry_scale, 3);
    const Pose2 pose = plant.base_pose();
    track.t_s.push_back(t_s);
    track.x_m.push_back(pose.x + track.sigma_m * noise.normal(k, 4));
    track.y_m.push_back(pose.y + track.sigma_m * noise.normal(k, 5));
    track.yaw_rad.push_back(pose.yaw + track.sigma_rad * noise.normal(k, 6));
    plant.step(now, tick);
    now = now + tick;
  }
  drive.series = {speed, across, turn, wheel};
  if (options.poses) drive.track = track;
  return drive;
}

}  // namespace pitwall::fit

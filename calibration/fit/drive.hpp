// SPDX-License-Identifier: Apache-2.0
// A recorded drive as a fit sees it: what was commanded, and what was measured of the motion that followed. Times are seconds on one
// clock and increase within each series.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pitwall::fit {

/// Held until the next one. The speed is NaN where the car was commanded an acceleration instead.
struct Commands {
  std::vector<double> t_s, steering_rad, speed_mps, acceleration_mps2;
  [[nodiscard]] std::size_t size() const { return t_s.size(); }
};

enum class Quantity : std::uint8_t {
  kSpeed,       ///< of base_link along body x, m/s
  kWheelSpeed,  ///< odometry's: wheel speed over odometry_scale, m/s
  kLateral,     ///< of base_link to the left, m/s
  kYawRate,     ///< rad/s
  kAhead,       ///< pose increment along the older pose's x, m
  kAcross,      ///< pose increment along its y, m
  kTurn         ///< pose increment in yaw, rad
};
inline constexpr std::array<std::string_view, 7> kQuantityNames = {"speed",     "wheel speed", "lateral speed", "yaw rate",
                                                                   "way ahead", "way across",  "turn"};
inline constexpr std::array<std::string_view, 7> kQuantityUnits = {"m/s", "m/s", "m/s", "rad/s", "m", "m", "rad"};

/// One measured quantity of the motion. Not kAhead, kAcross, kTurn, which are made of a track.
struct Series {
  Quantity quantity = Quantity::kSpeed;
  std::string source;   ///< "scan matching", "pose", "mocap", "IMU", "odometry"
  double sigma = 0.05;  ///< first guess of its noise, in the quantity's unit; the fit finds its own
  std::vector<double> t_s, value;
  double span_s = 0.0;  ///< a value is the mean over so long, its time in the middle; not for wheel speeds
};

/// Measured poses, for increments; they may jump. A pose of NaN breaks it: no increment goes across.
struct Track {
  std::string source;
  double sigma_m = 0.02;
  double sigma_rad = 0.02;
  std::vector<double> t_s, x_m, y_m, yaw_rad;
};

struct Drive {
  std::string name;
  std::string date;  ///< of the recording, "2026-10-19"; empty: not known
  Commands commands;
  std::vector<Series> series;
  std::optional<Track> track;
  double odometry_scale = NAN;  ///< true over odometry's speed as the track has it; NaN: the car's

  [[nodiscard]] const Series* find(Quantity quantity) const {
    for (const Series& each : series) {
      if (each.quantity == quantity) return &each;
    }
    return nullptr;
  }
};

}  // namespace pitwall::fit

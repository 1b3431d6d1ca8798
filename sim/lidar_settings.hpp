// SPDX-License-Identifier: Apache-2.0
// What a scanner is and how wrong it is: numbers only. Rules of its readings: scan_errors.hpp.
#pragma once

#include <array>
#include <cstdint>

#include "core/fields.hpp"
#include "core/math.hpp"
#include "core/time.hpp"

namespace pitwall::sim {

/// Directions in the sensor's frame in which something covers the window.
struct BlindSector {
  double centre_rad = 0.0;
  double width_rad = 0.0;  ///< 0: none
  void fields(FieldVisitor& f);
};

/// The LiDAR at its mount on the car.
struct LidarSettings {
  bool enabled = true;
  double period_s = 0.025;
  double latency_s = 0.0;  ///< from the first beam to arrival, at the earliest at the end of the step with the last beam
  std::int64_t beams = 1081;
  double fov_rad = 1.5 * math::kPi;  ///< first to last beam, centred ahead of the mount
  double range_min_m = 0.05;
  double range_max_m = 25.0;
  bool sweep = false;  ///< whether the beams leave one after the other; else all of them at the stamp
  double resolution_m = 0.0;
  double noise_std_m = 0.0;
  double dropout_rate = 0.0;
  double grazing_dropout = 0.0;   ///< at 90 degrees of incidence; none below grazing_from, linear in between
  double grazing_from_rad = 1.4;  ///< incidence against the wall's normal
  double mixed_pixel_rate = 0.0;
  double mount_error_m = 0.0;  ///< standard deviations, drawn once a run
  double mount_error_rad = 0.0;
  std::array<BlindSector, 2> blind;
  void fields(FieldVisitor& f);

  /// From one beam to the next; 0 without a sweep.
  [[nodiscard]] double time_increment_s() const;
  /// From the first to the last beam: 18.75 ms for 270 of 360 degrees at 40 Hz; 0 without a sweep.
  [[nodiscard]] Duration sweep_time() const;
};

}  // namespace pitwall::sim

// SPDX-License-Identifier: Apache-2.0
// Recorded commands played into the simulator's own plant: delays, servo, speed loop, tyres. What comes out is the motion that the
// car of those parameters would have made.
//
// A stretch begins with a warm-up from the measured speed, so that wheels, delay lines and speed loop hold what the commands before it
// put there. Where the speed is commanded the loop then has forgotten the seed; a stretch that says so is put on the measured speed
// once more where it begins.
//
// A log with accelerations for speeds is played through the same loop: each step the target is set to what makes the loop give the
// acceleration due, so that motor, battery, tyres and resistances still act on it.
#pragma once

#include <cmath>
#include <vector>

#include "calibration/fit/drive.hpp"
#include "calibration/fit/parameters.hpp"
#include "core/result.hpp"

namespace pitwall::fit {

/// A stretch of a drive, seeded from measurement.
struct Stretch {
  std::size_t drive = 0;
  double warm_s = 0.0;   ///< where the simulation begins
  double begin_s = 0.0;  ///< from here on it is compared
  double end_s = 0.0;
  double warm_speed_mps = 0.0;
  bool reseed = false;  ///< put on the measured speed and yaw rate at begin_s
  double begin_speed_mps = 0.0;
  double begin_yaw_rate_radps = NAN;  ///< NaN: the simulated one goes on
};

/// Motion of base_link at an instant of the playback, in the frame of its start.
struct Moved {
  double x_m = 0.0, y_m = 0.0, yaw_rad = 0.0;  ///< yaw goes on beyond pi
  double speed_mps = 0.0, lateral_mps = 0.0, yaw_rate_radps = 0.0;
  double wheel_mps = 0.0;  ///< where asked for
};

/// The motion on a grid of time.
struct Played {
  double begin_s = 0.0;
  double step_s = 0.005;
  std::vector<Moved> moved;
  /// Linear in between; `t_s` within the stretch.
  [[nodiscard]] Moved at(double t_s) const;
};

struct PlaybackOptions {
  double step_s = 0.005;  ///< of the grid; the plant takes as many as it needs
  bool wheel_speed = true;
};

/// Plays a stretch; `into` is overwritten (its memory is reused). Errors: a car that the plant refuses, or whose motion left the
/// numbers.
Status play(const Drive& drive, const Stretch& stretch, const Subject& subject, const PlaybackOptions& options, Played& into);

}  // namespace pitwall::fit

// SPDX-License-Identifier: Apache-2.0
// What a car's wheels and steering really do, from runs along a tape measure and around circles (spec, section 9.3):
//
//   offset    median eRPM of a car that stands, over at least 5 s
//   gain      integral of (eRPM - offset) over the tape's length; at least 3 trials, their median and spread
//   steering  atan(wheelbase / radius) of circles at known servo positions, and a line through them
//
// A gain that comes out negative is a fault of direction (motor phases, or a driver that negates), and is said, never turned about.
#pragma once

#include <string>
#include <vector>

#include "core/result.hpp"

namespace pitwall::onboard {

/// eRPM over time, by stamp.
struct ErpmSeries {
  std::vector<double> t_s;
  std::vector<double> erpm;
};

/// The motor controller's eRPM in a recording (vesc_msgs/VescStateStamped; car_run writes /sensors/core), by stamp. `negated`: a
/// recording of the f1tenth ROS driver, which turns the sign about. Errors: no recording, none of that in it.
Result<ErpmSeries> read_erpm(const std::string& recording, bool negated);

/// A recording cut where the car sets off.
struct RestAndDrive {
  ErpmSeries rest;   ///< up to half a second before
  ErpmSeries drive;  ///< from there on; empty where it never moved
};
RestAndDrive split_at_start(const ErpmSeries& series);

/// One run along the tape: begins and ends standing, goes forwards.
struct TapeTrial {
  std::string name;
  ErpmSeries series;
  double tape_m = 0.0;
};

struct MeasuredGain {
  double gain = 0.0;           ///< eRPM s/m, median of the trials
  double spread = 0.0;         ///< median absolute deviation of them
  std::vector<double> trials;  ///< in their order
};

/// Median eRPM at rest. Errors: less than 5 s, or a car that moved (eRPM beyond 100 of the median).
Result<double> measure_offset(const ErpmSeries& standing);

/// Errors: fewer than 3 trials, a tape shorter than 1 m, samples further apart than 0.2 s, a trial that does not begin and end at rest,
/// a negative gain (the message says what to look at), trials that differ by more than 5 %.
Result<MeasuredGain> measure_gain(const std::vector<TapeTrial>& trials, double offset_erpm);

/// One circle at a crawl.
struct CircleTrial {
  double servo = 0.0;       ///< position that was sent, 0 to 1
  double diameter_m = 0.0;  ///< of the rear axle's middle; +inf: it went straight
  bool to_the_left = false;
};

struct MeasuredSteering {
  double gain_per_rad = 0.0;  ///< servo position = gain * steering angle + offset
  double offset = 0.0;
  double residual_rad = 0.0;  ///< largest
};

/// Least squares. Errors: fewer than 3 circles, none to one of the sides, servo positions that are all the same, a diameter that is not
/// positive, a line off by more than 0.05 rad.
Result<MeasuredSteering> measure_steering(const std::vector<CircleTrial>& circles, double wheelbase_m);

/// The text of a car profile with another value of `key`, measured, and its source; the other lines stay as they are. Errors: no such key.
Result<std::string> with_measured(const std::string& profile, const std::string& key, double value, const std::string& source);

}  // namespace pitwall::onboard

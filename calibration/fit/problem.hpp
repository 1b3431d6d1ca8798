// SPDX-License-Identifier: Apache-2.0
// Recorded drives cut into stretches, and what of them is compared with the simulated car.
//
// Stretches follow one another wherever the car moves and commands and measurements are there. Every third one is held out: no fit
// sees it. Compared are measured speeds and yaw rates, sample by sample, and increments of measured poses over half a second.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "calibration/fit/drive.hpp"
#include "calibration/fit/parameters.hpp"
#include "calibration/fit/playback.hpp"
#include "core/result.hpp"

namespace pitwall::fit {

struct ProblemOptions {
  double stretch_s = 3.0;
  double warm_s = 1.0;         ///< simulated before each stretch
  double increment_s = 0.5;    ///< of pose increments
  double block_s = 0.5;        ///< residuals this far apart count as independent
  double longest_gap_s = 0.5;  ///< of commands and measurements
  double least_speed_mps = 0.3;
  double least_motion_s = 10.0;
  PlaybackOptions playback;
};

/// The residuals of one quantity from one source of one drive.
struct Channel {
  std::size_t drive = 0;
  Quantity quantity = Quantity::kSpeed;
  std::string source;
  double sigma = 1.0;
  double span_s = 0.0;
};

/// One compared number.
struct Row {
  std::size_t channel = 0;
  double at_s = 0.0;
  double from_s = 0.0;  ///< begin of an increment
  double measured = 0.0;
  std::size_t block = 0;  ///< counted through the problem
};

struct Piece {
  Stretch stretch;
  bool held_out = false;
  std::vector<Row> rows;
};

struct Problem {
  CarParameters base;
  std::vector<Drive> drives;
  std::vector<Channel> channels;
  std::vector<Piece> pieces;
  std::size_t blocks = 0;
  double motion_s = 0.0;
  ProblemOptions options;

  [[nodiscard]] std::size_t rows(bool held_out) const;
};

/// Errors, named by drive: no commands, no measured speed, no motion, or less of it than least_motion_s (all drives together).
Result<Problem> make_problem(const CarParameters& base, std::vector<Drive> drives, const ProblemOptions& options);

/// Simulated less measured, in the rows' units, for one piece; `scratch` is overwritten.
Status residuals_of(const Problem& problem, const Piece& piece, const Subject& subject, Played& scratch, double* into);

/// What a measured speed is at a time: straight line through the samples within a tenth of a second; NaN where there are none.
/// Forward speed where it is measured, else the odometry's times the drive's scale, else times `odometry_scale`.
double measured_speed(const Drive& drive, double t_s, double odometry_scale);
double measured_yaw_rate(const Drive& drive, double t_s);

/// The speed over ground that 99 % of the measured ones stay below, m/s; infinite where none is measured.
double fastest_mps(const Problem& problem);

}  // namespace pitwall::fit

// SPDX-License-Identifier: Apache-2.0
// The beams of a scanner that moves while it turns: each leaves from where the sensor is at its own instant. Between knots
// the sensor moves linearly in x, y and yaw. This is the one definition of each beam's origin and direction, to the bit:
// what RayCaster::cast_sweep casts, by whatever method and instruction set, and what a plain walk is compared with.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "core/geometry.hpp"
#include "tracks/beam_fan.hpp"
#include "tracks/map.hpp"

namespace pitwall::tracks {

/// Coordinates in cells beyond which no ray looks for anything; keeps conversions to int defined.
inline constexpr double kFarCells = 1e9;

/// Where the sensor is when beam number `beam` leaves, which may be a fraction, below 0 or past the last one.
struct SweepKnot {
  double beam = 0.0;
  Pose2 T_map_sensor;
};

/// Sine and cosine of an angle of at most half of Sweep::kMaxTurn, by their series; in vector code the same operations in the same order.
inline math::SinCos sincos_of_small(double x) {
  const double q = x * x;
  double s = q * (-1.0 / 5040.0) + 1.0 / 120.0;
  s = q * s - 1.0 / 6.0;
  double c = q * (1.0 / 40320.0) - 1.0 / 720.0;
  c = q * c + 1.0 / 24.0;
  c = q * c - 0.5;
  return {x + x * (q * s), 1.0 + q * c};
}

/// Beams during which the sensor moves uniformly.
struct SweepPiece {
  std::size_t first = 0;  // beam
  std::size_t end = 0;
  double start = 0.0;  // beam number at which the motion starts
  double per_beam = 0.0;
  Vec2 origin;              // at the start, in cells
  Vec2 way;                 // from start to end
  double middle_cos = 1.0;  // half way, from the sensor to the grid frame
  double middle_sin = 0.0;
  double turn_rad = 0.0;  // from start to end
  double yaw_rad = 0.0;   // at the start, since the first knot

  /// Share of the way done when a beam leaves.
  [[nodiscard]] double share(std::size_t beam) const { return (static_cast<double>(beam) - start) * per_beam; }
  [[nodiscard]] Vec2 origin_at(std::size_t beam) const {
    const double u = share(beam);
    return {origin.x + u * way.x, origin.y + u * way.y};
  }
};

/// How a sensor moves while the beams of one fan leave. Before the first and after the last knot it stands still.
class Sweep {
 public:
  static constexpr std::size_t kMaxKnots = 64;
  static constexpr std::size_t kMaxPieces = 128;
  /// Of one piece; the series above are exact within rounding for it.
  static constexpr double kMaxTurn = 0.125;

  /// 1 to kMaxKnots knots, their beam numbers finite and rising; from yaw to yaw the short way round. `fan` must outlive this.
  Sweep(const OccupancyMap& map, const BeamFan& fan, std::span<const SweepKnot> knots);

  /// Whether all poses are finite; else nothing more may be asked.
  [[nodiscard]] bool finite() const { return finite_; }
  /// Whether no piece turns by more than kMaxTurn: only a sensor that spins like a top does.
  [[nodiscard]] bool gentle() const { return gentle_; }
  /// Those that hold beams, in their order; together they hold all.
  [[nodiscard]] std::span<const SweepPiece> pieces() const { return {pieces_.data(), used_}; }
  [[nodiscard]] const SweepPiece& piece_of(std::size_t beam) const;

  /// Where a beam starts, in the grid frame (cells).
  [[nodiscard]] Vec2 origin_cells(std::size_t beam) const { return piece_of(beam).origin_at(beam); }
  /// The unit vector it follows, in the grid frame.
  [[nodiscard]] Vec2 direction_cells(std::size_t beam) const;
  [[nodiscard]] const BeamFan& fan() const { return fan_; }

 private:
  struct Leg;
  void add(const Leg& leg, std::size_t parts);
  void add_still(const OccupancyMap& map, const SweepKnot& knot, double yaw_rad, std::size_t end);

  const BeamFan& fan_;
  Vec2 axis_x_;  // of the grid frame, in the map frame
  bool finite_ = true;
  bool gentle_ = true;
  std::size_t used_ = 0;
  std::array<SweepPiece, kMaxPieces> pieces_;
};

}  // namespace pitwall::tracks

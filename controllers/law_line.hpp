// SPDX-License-Identifier: Apache-2.0
// The line as a steering law sees it: points, heading, curvature, speed and room by arc length, and the same shifted sideways.
#pragma once

#include <span>
#include <vector>

#include "controllers/line_following.hpp"
#include "core/geometry.hpp"
#include "tracks/path.hpp"

namespace pitwall::controllers {

/// A line with its speeds and room. Every s is wrapped on a closed path; beyond the end of an open one its last segment goes
/// straight on, at the last speed.
class LawLine {
 public:
  /// One value per point of the path in every vector; the rooms may be empty. What is given outlives the object.
  LawLine(const tracks::Path& path, std::span<const double> speed_mps, std::span<const double> free_right_m,
          std::span<const double> free_left_m);

  [[nodiscard]] const tracks::Path& path() const { return *path_; }
  /// Signed curvature in 1/m, left positive: that of the path averaged over kSmoothing_m, interpolated.
  [[nodiscard]] double curvature_at(double s_m) const;
  /// Speed of the profile, m/s (linear in v^2 between points).
  [[nodiscard]] double speed_at(double s_m) const;
  /// The highest speed of the profile, m/s.
  [[nodiscard]] double fastest_mps() const { return fastest_mps_; }
  [[nodiscard]] double heading_at(double s_m) const;
  /// Whether the room beside the line is known.
  [[nodiscard]] bool room_known() const { return !free_right_m_.empty() && !free_left_m_.empty(); }
  /// From the line to the nearest wall, m: what the axis of the car has on this side, within half a metre along the line.
  [[nodiscard]] double room_right_at(double s_m) const;
  [[nodiscard]] double room_left_at(double s_m) const;

  /// Place, direction and bend of the shifted line beside s.
  struct Frame {
    Vec2 point;
    double heading_rad = 0.0;
    double curvature_per_m = 0.0;
    double stretch = 1.0;  ///< way along the shifted line per way along the line: 1 - kappa shift
  };
  [[nodiscard]] Frame at(double s_m, const LineShift& shift) const;

  static constexpr double kSmoothing_m = 0.4;

 private:
  [[nodiscard]] double interpolated(std::span<const double> values, double s_m) const;

  const tracks::Path* path_;
  std::span<const double> speed_mps_;
  std::span<const double> free_right_m_;
  std::span<const double> free_left_m_;
  std::vector<double> curvature_;
  double fastest_mps_;
};

}  // namespace pitwall::controllers

// SPDX-License-Identifier: Apache-2.0
// What pairs of pieces of wall say about a motion (x, y, yaw): the sums of one round of Gauss-Newton, and which directions they tell once
// what the noise of the normals fakes is taken off (scan_matcher.hpp has the method). Shared by whatever registers walls.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "core/geometry.hpp"
#include "localization/scan_points.hpp"
#include "localization/small_matrix.hpp"

namespace pitwall::localization {

/// Standard deviation, in m and rad, that stands for "not measured".
inline constexpr double kUnobserved = 1.0;
/// A yaw of 1 rad counts as much as a way of 1 m.
inline constexpr double kRadian_m = 1.0;
/// Walls are not the same where their normals differ by more than 35 degrees.
inline constexpr double kLeastCosine = 0.82;

/// A vector (x, y, yaw) and a matrix of such with the yaw in m.
Vector3 in_metres(const Vector3& v);
Matrix3 in_metres(Matrix3 m);
Vector3 column(const Matrix3& m, std::size_t k);
double dot3(const Vector3& a, const Vector3& b);
/// Adds k a a^T.
void add_square(Matrix3& m, double k, const Vector3& a);

struct WallPairSums {
  Matrix3 information;        ///< sum of w J^T J
  Matrix3 false_information;  ///< what the noise of the normals puts into it
  Vector3 gradient;
  double weight = 0.0;
  double scatter_m2 = 0.0;   ///< weighted sums
  double residual_m2 = 0.0;  ///< scaled to single beams
  std::size_t pairs = 0;

  /// Adds the pair of a known piece, `here` at `centre`, and one that is moved: its centre is now at `position`, `arm` from the point that
  /// it turns about, and its normal is `normal`. Half weight at a residual of `robust_scale_m`. The residual; nothing where the normals
  /// contradict each other, which adds nothing.
  std::optional<double> add(const WallPiece& here, Vec2 centre, const WallPiece& moved, Vec2 position, Vec2 arm, Vec2 normal,
                            double robust_scale_m);
};

/// What the sums say about the directions.
struct WallDirections {
  Eigen3 scaled;                 ///< of the information, with yaw in m
  std::array<double, 3> left{};  ///< of the eigenvalues when the false information is taken off
  std::array<double, 3> sigma_m{};
  std::array<bool, 3> observable{};
};

/// `noise_m2` is the variance of a single beam; a direction less certain than `max_sigma_m` is not observable.
WallDirections directions_of(const WallPairSums& sums, double noise_m2, double max_sigma_m);

}  // namespace pitwall::localization

// SPDX-License-Identifier: Apache-2.0
// How a 2D laser scanner moved between two of its scans, and how far that may be believed.
//
// Metric `line`: iterated closest pieces of wall. Residual of a piece of the second scan against its nearest piece of the first is their
// distance along the mean of the two normals (point-to-line: Censi, "An ICP variant using a point-to-line metric", ICRA 2008; normals of
// both sides: Rusinkiewicz, "A symmetric objective function for ICP", SIGGRAPH 2019), weighted by Cauchy's function; Gauss-Newton on
// (x, y, yaw). Metric `point`: the plain rule of nearest points and the closed-form rigid motion, as reference. Either way:
//
// - A sweep takes time. Points are put where the middle beam would have measured them, with the velocity of the
//   result itself.
// - The information matrix A = sum of w J^T J says which motions the walls can tell. What the noise of the normals alone would put into it,
//   F, is taken off first: in a straight corridor A is not zero along the walls, A - F is. Along an eigenvector that is left with
//   less than twice of F, or with a standard deviation above `max_sigma_m`, the result keeps to the guess (Zhang, Kaess, Singh, "On
//   degeneracy of optimization-based state estimation problems", ICRA 2016) and says so; a metre and a radian count alike there.
// - The covariance is 2 s^2 inv(A - F), s the noise of single beams, since both scans have it.
//
// Same scans and guess, same bits. Nothing is allocated once scans of that size have been seen.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/fields.hpp"
#include "core/geometry.hpp"
#include "core/messages.hpp"
#include "core/time.hpp"
#include "localization/scan_points.hpp"
#include "localization/small_matrix.hpp"
#include "localization/twist.hpp"
#include "localization/wall_pairs.hpp"

namespace pitwall::localization {

enum class MatchMetric : std::uint8_t { kLine, kPoint };

struct ScanMatcherParameters {
  MatchMetric metric = MatchMetric::kLine;
  std::int64_t max_rounds = 30;
  double pair_distance_m = 0.5;        ///< farther than this nothing is a pair, in the first round
  double pair_distance_factor = 0.85;  ///< per round
  double pair_distance_least_m = 0.15;
  double robust_scale_m = 0.05;  ///< residual at which a pair counts half
  double settled_m = 5e-5;       ///< a step below this, and below as many rad, ends the search
  double max_sigma_m = 0.01;     ///< directions less certain than this are unobservable
  double max_range_m = 30.0;
  double half_window_m = 0.2;
  double least_extent_m = 0.7;  ///< smaller things, with gaps on both sides, are no walls: a car ahead may move
  double max_scatter_m = 0.03;
  bool deskew = true;
  std::int64_t least_points = 50;
  void fields(FieldVisitor& f);
};

enum class MatchStatus : std::uint8_t {
  kMatched,
  kTooFewPoints,  ///< one of the scans has fewer than least_points; T_first_second is the guess
  kTooFewPairs,   ///< so few of them meet that nothing can be said; T_first_second is the guess
};

struct ScanMatch {
  MatchStatus status = MatchStatus::kTooFewPoints;
  Time middle;           ///< between the middles of both sweeps: what the velocity is timed to
  double dt_s = 0.0;     ///< from middle to middle of the sweeps
  Pose2 T_first_second;  ///< of the sensor, between the middles of its sweeps
  Twist velocity;        ///< of the sensor; 0 where dt_s is
  Matrix3 covariance;    ///< of x, y, yaw of T_first_second; m^2, m rad, rad^2; positive definite
  /// Standard deviations in m along the columns of `directions` (x, y in m, yaw in rad; first frame), the worst first; kUnobserved where
  /// the walls say nothing.
  std::array<double, 3> sigma_m{kUnobserved, kUnobserved, kUnobserved};
  Matrix3 directions = identity<3>();
  /// Eigenvalues of A - F in 1/m^2 over s^2, of the same columns.
  std::array<double, 3> information{};
  int unobservable = 3;    ///< how many of the columns keep to the guess
  bool degenerate = true;  ///< any of them
  std::size_t pairs = 0;
  double pair_share = 0.0;         ///< pairs over points (pieces) of the second scan
  double median_distance_m = 0.0;  ///< of the pairs: residual along the normal, or between points
  int rounds = 0;
  bool settled = false;
  /// Standard deviation of the way along `direction` (unit vector, first frame), m.
  [[nodiscard]] double sigma_along_m(Vec2 direction) const;
  [[nodiscard]] double sigma_yaw_rad() const;
};

class ScanMatcher {
 public:
  explicit ScanMatcher(const ScanMatcherParameters& parameters = {}) : parameters_(parameters) {}

  /// The motion of the sensor from `first` to `second`, from a guess of it (between the middles of the sweeps). `acceleration` (of the
  /// velocity in the sensor's axes, per s) tells the two sweeps apart where it is known.
  [[nodiscard]] ScanMatch match(const LaserScan& first, const LaserScan& second, const Pose2& guess_first_second,
                                const Twist& acceleration = {});

  [[nodiscard]] const ScanMatcherParameters& parameters() const { return parameters_; }

 private:
  [[nodiscard]] WallPairSums evaluate(const Pose2& T, double cutoff_m);
  [[nodiscard]] static Vector3 step_of(const WallPairSums& sums, const WallDirections& directions);
  void search_lines(ScanMatch& result);
  void search_points(ScanMatch& result);
  void read(const LaserScan& first, const LaserScan& second, const Twist& velocity_first, const Twist& velocity_second);
  void seed(const PointList& second, const PointList& first, const Pose2& guess);
  void conclude(const Pose2& guess, ScanMatch& result);

  ScanMatcherParameters parameters_;
  ScanPoints first_;
  ScanPoints second_;
  std::vector<std::uint32_t> nearest_;  // of each point of the second scan, from the last round
  std::vector<double> distances_;
};

}  // namespace pitwall::localization

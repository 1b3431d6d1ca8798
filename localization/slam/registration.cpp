// SPDX-License-Identifier: Apache-2.0
#include "localization/slam/registration.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "localization/wall_pairs.hpp"

namespace pitwall::slam {

namespace {

using localization::add_square;
using localization::column;
using localization::dot3;
using localization::Vector3;
using localization::WallDirections;
using localization::WallPairSums;

constexpr std::size_t kFewestPairs = 20;
constexpr double kSettled = 5e-5;
// What the noise of a scanner is at least believed to be.
constexpr double kLeastNoise_m = 0.005;
// A direction is told if its standard deviation is below this.
constexpr double kToldSigma_m = 0.2;

Vector3 difference(const Pose2& a, const Pose2& b) { return {{a.x - b.x, a.y - b.y, wrap_angle(a.yaw - b.yaw)}}; }

// Every n-th piece of the scan, at most so many.
class Walls {
 public:
  Walls(const WallMap& map, const WallPieces& scan, const RegistrationParameters& parameters)
      : map_(map), scan_(scan), parameters_(parameters) {
    const std::size_t count = scan.centres.size();
    const auto most = static_cast<std::size_t>(parameters.max_pieces);
    used_ = std::min(count, most);
    for (std::size_t k = 0; k < used_; ++k) chosen_.push_back(count <= most ? k : k * count / most);
  }
  [[nodiscard]] std::size_t used() const { return used_; }

  WallPairSums pair(const Pose2& T, double cutoff_m, std::vector<double>* residuals) const {
    WallPairSums sums;
    const math::SinCos turn = math::sincos(T.yaw);
    const auto turned = [&](Vec2 v) { return Vec2{turn.cos * v.x - turn.sin * v.y, turn.sin * v.x + turn.cos * v.y}; };
    for (const std::size_t i : chosen_) {
      const Vec2 arm = turned(scan_.centres[i]);
      const Vec2 at = arm + T.position();
      const Vec2 normal = turned(scan_.walls[i].normal);
      const WallMap::Nearest found = map_.nearest(at, normal, cutoff_m);
      if (!found.any) continue;
      const auto residual =
          sums.add(map_.wall(found.index), map_.centre(found.index), scan_.walls[i], at, arm, normal, parameters_.robust_scale_m);
      if (residual && residuals != nullptr) residuals->push_back(std::abs(*residual));
    }
    return sums;
  }

 private:
  const WallMap& map_;
  const WallPieces& scan_;
  const RegistrationParameters& parameters_;
  std::size_t used_ = 0;
  std::vector<std::size_t> chosen_;
};

// What the walls say, as information and as the pull of their gradient, in directions that they tell.
struct Told {
  Matrix3 information;
  Vector3 pull;
  int untold = 0;
};

Told told_by(const WallPairSums& sums) {
  const double noise_m2 = std::max(std::max(sums.scatter_m2, sums.residual_m2) / sums.weight, kLeastNoise_m * kLeastNoise_m);
  const WallDirections d = directions_of(sums, noise_m2, kToldSigma_m);
  const Vector3 gradient = localization::in_metres(sums.gradient);
  Told told;
  for (std::size_t k = 0; k < 3; ++k) {
    if (!d.observable[k]) {
      ++told.untold;
      continue;
    }
    Vector3 v = column(d.scaled.vectors, k);
    const double along = dot3(v, gradient);
    // From metres back to radians: information about the yaw is that about kRadian_m of it.
    v.v[2] *= localization::kRadian_m;
    add_square(told.information, d.left[k] / (2.0 * noise_m2), v);
    told.pull = told.pull + (-along / (2.0 * noise_m2)) * v;
  }
  return told;
}

double median_of(std::vector<double>& values) {
  if (values.empty()) return 0.0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

Registration register_walls(const WallMap& map, const WallPieces& scan, const Prior& prior, const Pose2& start,
                            const RegistrationParameters& parameters) {
  Registration result;
  result.T_map_scan = start;
  result.covariance = localization::inverse_of(prior.information);
  const Walls walls(map, scan, parameters);
  Pose2& T = result.T_map_scan;
  double cutoff = parameters.pair_distance_m;
  bool settled = false;
  for (std::int64_t round = 0; round < parameters.max_rounds && !settled; ++round) {
    const WallPairSums sums = walls.pair(T, cutoff, nullptr);
    if (sums.pairs < kFewestPairs) return result;
    const Told told = told_by(sums);
    const Matrix3 curvature = told.information + prior.information;
    const Vector3 step = localization::inverse_of(curvature) * (told.pull + prior.information * difference(prior.T_map_scan, T));
    T = {T.x + step.v[0], T.y + step.v[1], wrap_angle(T.yaw + step.v[2])};
    ++result.rounds;
    settled = cutoff <= parameters.pair_distance_least_m && std::abs(step.v[2]) < kSettled && norm({step.v[0], step.v[1]}) < kSettled;
    cutoff = std::max(cutoff * parameters.pair_distance_factor, parameters.pair_distance_least_m);
  }
  std::vector<double> residuals;
  residuals.reserve(walls.used());
  const WallPairSums sums = walls.pair(T, parameters.pair_distance_least_m, &residuals);
  result.pairs = sums.pairs;
  result.pair_share = static_cast<double>(sums.pairs) / static_cast<double>(std::max<std::size_t>(walls.used(), 1));
  if (sums.pairs < kFewestPairs) return result;
  result.median_m = median_of(residuals);
  const Told told = told_by(sums);
  result.information = told.information;
  result.unobservable = told.untold;
  result.covariance = localization::inverse_of(told.information + prior.information);
  const Vector3 moved = difference(T, prior.T_map_scan);
  result.prior_chi2 = (transposed(moved) * (prior.information * moved)).v[0];
  result.usable = result.pair_share >= parameters.min_share;
  return result;
}

void RegistrationParameters::fields(FieldVisitor& f) {
  f.number("max_range_m", max_range_m, {"m", 1, 200, "farther beams are left out"});
  f.number("half_window_m", half_window_m, {"m", 0.01, 1, "points within this of a point make its piece of wall"});
  f.number("least_extent_m", least_extent_m, {"m", 0, 10, "what is smaller, with gaps on both sides, is no wall"});
  f.number("max_scatter_m", max_scatter_m, {"m", 0.001, 0.5, "points that stray farther from a line are no wall"});
  f.integer("max_rounds", max_rounds, {"", 1, 1000, "of pairing and moving"});
  f.number("pair_distance_m", pair_distance_m, {"m", 0.01, 5, "nothing farther away is a pair, in the first round"});
  f.number("pair_distance_factor", pair_distance_factor, {"", 0.1, 0.99, "on it, per round"});
  f.number("pair_distance_least_m", pair_distance_least_m, {"m", 0.01, 5, "what it shrinks to"});
  f.number("robust_scale_m", robust_scale_m, {"m", 0.001, 1, "residual at which a pair counts half"});
  f.number("min_share", min_share, {"", 0, 1, "share of the pieces of a scan that must find a pair"});
  f.number("sure_share", sure_share, {"", 0, 1, "where fewer find one, the window around the prediction is searched as well"});
  f.integer("max_pieces", max_pieces, {"", 50, 10000, "of a scan that are registered"});
  f.number("odometry_share", odometry_share, {"", 0, 1, "standard deviation of odometry, of the way"});
  f.number("odometry_least_m", odometry_least_m, {"m", 1e-4, 1, "and at least"});
  f.number("odometry_yaw_share", odometry_yaw_share, {"", 0, 1, "standard deviation of its yaw, of the turn"});
  f.number("odometry_yaw_per_m", odometry_yaw_per_m, {"rad/m", 0, 1, "and per way"});
  f.number("odometry_yaw_least_rad", odometry_yaw_least_rad, {"rad", 1e-5, 1, "and at least"});
  f.number("match_least_m", match_least_m, {"m", 1e-5, 1, "standard deviation that a registration has at least"});
  f.number("match_least_rad", match_least_rad, {"rad", 1e-6, 1, "and in yaw"});
}

}  // namespace pitwall::slam

// SPDX-License-Identifier: Apache-2.0
#include "localization/slam/front_end.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "localization/slam/correlative.hpp"

namespace pitwall::slam {

namespace {

// chi2 of three numbers that one in a thousand exceeds: then registration and prediction contradict each other.
constexpr double kContradiction = 16.27;
constexpr double kCell_m = 0.05;
constexpr int kLevels = 3;
// The window of the search, in standard deviations of the prediction, and at least.
constexpr double kWindowSigmas = 4.0;
constexpr double kLeastWindow_m = 0.3;
constexpr double kLeastWindow_rad = 0.5;
// Odometry may have the sign of the way wrong, as in a log whose wheels count forwards whichever way they turn.
constexpr double kReversed = 2.2;
constexpr double kMostReversed_m = 0.8;
constexpr double kLeastResponse = 0.3;
// What a search knows.
constexpr double kSearched_m = 0.1;
constexpr double kSearched_rad = 0.03;
// A pose that a search has found replaces a registered one if its response is better by this.
constexpr double kClearlyBetter = 0.05;
constexpr double kThin_m = 0.08;

Matrix3 information_of(const Matrix3& covariance) { return localization::inverse_of(covariance); }

Matrix3 odometry_covariance(const Pose2& motion, const RegistrationParameters& p) {
  const double way = norm(motion.position());
  return round_covariance(p.odometry_least_m + p.odometry_share * way,
                          p.odometry_yaw_least_rad + p.odometry_yaw_share * std::abs(motion.yaw) + p.odometry_yaw_per_m * way);
}

}  // namespace

FrontEndResult place_node(const Survey& survey, const WallPieces& walls, const Pose2& motion, const SlamParameters& parameters) {
  const RegistrationParameters& rules = parameters.registration;
  const Pose2 predicted = survey.graph.poses.back() * motion;
  const Matrix3 prior_covariance = odometry_covariance(motion, rules);
  FrontEndResult result{Placement::kOdometry, predicted, prior_covariance, true};
  const std::size_t count = survey.nodes.size();
  const std::size_t first = count - std::min(count, static_cast<std::size_t>(parameters.submap_nodes));
  WallMap map;
  gather(survey, first, count - 1, {}, map, nullptr);
  map.build();
  if (map.size() == 0 || walls.centres.empty()) return result;
  const Prior prior{predicted, information_of(prior_covariance)};
  Registration found = register_walls(map, walls, prior, predicted, rules);
  const bool holds = found.usable && found.prior_chi2 <= kContradiction;
  result.placement = Placement::kMatched;
  if (!holds || found.unobservable > 0 || found.pair_share < rules.sure_share) {
    std::vector<Vec2> known;
    WallMap none;
    gather(survey, first, count - 1, {}, none, &known);
    const ResponseGrid grid(thinned(known, kCell_m), kCell_m, kCell_m, kLevels);
    const std::vector<Vec2> seen = thinned(walls.points, kThin_m);
    const double registered = found.usable ? grid.response(seen, found.T_map_scan) : 0.0;
    const double reversed = std::min(kMostReversed_m, kReversed * norm(motion.position()));
    const SearchWindow window{predicted,
                              std::max({kLeastWindow_m, reversed, kWindowSigmas * std::sqrt(prior_covariance(0, 0))}),
                              std::max(kLeastWindow_rad, kWindowSigmas * std::sqrt(prior_covariance(2, 2))),
                              0.01,
                              std::sqrt(prior_covariance(0, 0)),
                              0.0};
    const auto best = search(grid, seen, window, std::max(kLeastResponse, registered + kClearlyBetter));
    if (best) {
      Registration again = register_walls(map, walls, prior, best->T_map_scan, rules);
      // Where the walls do not take it further, the search itself is as good as its cells.
      if (!again.usable || grid.response(seen, again.T_map_scan) < best->response - kClearlyBetter) {
        again.T_map_scan = best->T_map_scan;
        again.covariance = round_covariance(kSearched_m, kSearched_rad);
      }
      found = again;
      result.placement = Placement::kSearched;
    }
    if (result.placement != Placement::kSearched && !holds && registered < kLeastResponse) {
      result.placement = Placement::kOdometry;
      return result;
    }
  }
  result.T_map_base = found.T_map_scan;
  result.covariance = found.covariance + round_covariance(rules.match_least_m, rules.match_least_rad);
  result.degenerate = found.unobservable > 0;
  return result;
}

}  // namespace pitwall::slam

// SPDX-License-Identifier: Apache-2.0
#include "localization/scan_matcher.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "localization/nearest_bearing.hpp"

namespace pitwall::localization {

namespace {

constexpr std::size_t kFewestPairs = 10;
constexpr int kMostSweeps = 3;

double median_of(std::vector<double>& values) {
  if (values.empty()) return 0.0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

void ScanMatcherParameters::fields(FieldVisitor& f) {
  static constexpr std::array<std::string_view, 2> kMetrics{"line", "point"};
  f.enumeration("metric", metric, kMetrics, "what is made small: distances between pieces of wall along their normals, or between points");
  f.integer("max_rounds", max_rounds, {"", 1, 1000, "of pairing and moving"});
  f.number("pair_distance_m", pair_distance_m, {"m", 0.01, 5, "nothing farther away is a pair, in the first round"});
  f.number("pair_distance_factor", pair_distance_factor, {"", 0.1, 1, "on it, per round"});
  f.number("pair_distance_least_m", pair_distance_least_m, {"m", 0.01, 5, "what it shrinks to"});
  f.number("robust_scale_m", robust_scale_m, {"m", 0.001, 1, "residual at which a pair counts half"});
  f.number("settled_m", settled_m, {"m, rad", 1e-9, 0.01, "a smaller step ends the search"});
  f.number("max_sigma_m", max_sigma_m, {"m, rad", 1e-4, 1, "a direction known less well is unobservable"});
  f.number("max_range_m", max_range_m, {"m", 1, 200, "farther beams are left out"});
  f.number("half_window_m", half_window_m, {"m", 0.01, 1, "points within this of a point make its piece of wall"});
  f.number("least_extent_m", least_extent_m, {"m", 0, 10, "what is smaller, with gaps on both sides, is no wall"});
  f.number("max_scatter_m", max_scatter_m, {"m", 0.001, 0.5, "points that stray farther from a line are no wall"});
  f.flag("deskew", deskew, "put points where the middle beam of the sweep would have measured them");
  f.integer("least_points", least_points, {"", 10, 10000, "a scan with fewer is not matched"});
}

double ScanMatch::sigma_along_m(Vec2 direction) const {
  const double variance = direction.x * direction.x * covariance(0, 0) + 2.0 * direction.x * direction.y * covariance(0, 1) +
                          direction.y * direction.y * covariance(1, 1);
  return std::sqrt(variance);
}

double ScanMatch::sigma_yaw_rad() const { return std::sqrt(covariance(2, 2)); }

void ScanMatcher::read(const LaserScan& first, const LaserScan& second, const Twist& velocity_first, const Twist& velocity_second) {
  const ScanPointsSettings settings{parameters_.max_range_m, parameters_.half_window_m, parameters_.least_extent_m,
                                    parameters_.max_scatter_m};
  first_.read(first, velocity_first, settings);
  second_.read(second, velocity_second, settings);
}

// First candidate of each point: the beam of the first scan that points the same way.
void ScanMatcher::seed(const PointList& second, const PointList& first, const Pose2& guess) {
  nearest_.reserve(second_.beams());
  nearest_.resize(second.size());
  std::size_t k = 0;
  for (std::size_t i = 0; i < second.size(); ++i) {
    const double bearing = second_.first_bearing_rad() + second.beam[i] * second_.increment_rad() + guess.yaw;
    const double beam = (bearing - first_.first_bearing_rad()) / first_.increment_rad();
    while (k + 1 < first.size() && first.beam[k] < beam) ++k;
    while (k > 0 && first.beam[k - 1] >= beam) --k;
    nearest_[i] = static_cast<std::uint32_t>(k);
  }
}

WallPairSums ScanMatcher::evaluate(const Pose2& T, double cutoff_m) {
  WallPairSums sum;
  distances_.reserve(second_.beams());
  distances_.clear();
  const math::SinCos turn = math::sincos(T.yaw);
  const BearingSearch search(first_.centres(), first_.increment_rad());
  for (std::size_t i = 0; i < second_.centres().size(); ++i) {
    const Vec2 c = second_.centres().at[i];
    const Vec2 arm{turn.cos * c.x - turn.sin * c.y, turn.sin * c.x + turn.cos * c.y};
    const Vec2 q = arm + T.position();
    const NearestPoint found = search.nearest(q, nearest_[i], cutoff_m * cutoff_m);
    nearest_[i] = found.index;
    if (!found.any) continue;
    const WallPiece& piece = second_.pieces()[i];
    const Vec2 n{turn.cos * piece.normal.x - turn.sin * piece.normal.y, turn.sin * piece.normal.x + turn.cos * piece.normal.y};
    const std::optional<double> residual =
        sum.add(first_.pieces()[found.index], first_.centres().at[found.index], piece, q, arm, n, parameters_.robust_scale_m);
    if (residual) distances_.push_back(std::abs(*residual));
  }
  return sum;
}

// Along a direction that is not observable it stands still.
Vector3 ScanMatcher::step_of(const WallPairSums& sums, const WallDirections& directions) {
  const Vector3 gradient = in_metres(sums.gradient);
  Vector3 step;
  for (std::size_t k = 0; k < 3; ++k) {
    if (!directions.observable[k]) continue;
    const Vector3 v = column(directions.scaled.vectors, k);
    step = step + (-dot3(v, gradient) / directions.left[k]) * v;
  }
  step.v[2] /= kRadian_m;
  return step;
}

void ScanMatcher::search_lines(ScanMatch& result) {
  Pose2& T = result.T_first_second;
  double cutoff = parameters_.pair_distance_m;
  result.settled = false;
  for (std::int64_t round = 0; round < parameters_.max_rounds && !result.settled; ++round) {
    const WallPairSums sum = evaluate(T, cutoff);
    if (sum.pairs < kFewestPairs) return;
    const Vector3 step = step_of(sum, directions_of(sum, sum.scatter_m2 / sum.weight, parameters_.max_sigma_m));
    T = {T.x + step.v[0], T.y + step.v[1], wrap_angle(T.yaw + step.v[2])};
    ++result.rounds;
    result.settled = std::abs(step.v[2]) < parameters_.settled_m && norm({step.v[0], step.v[1]}) < parameters_.settled_m;
    cutoff = std::max(cutoff * parameters_.pair_distance_factor, parameters_.pair_distance_least_m);
  }
}

void ScanMatcher::search_points(ScanMatch& result) {
  Pose2& T = result.T_first_second;
  double cutoff = parameters_.pair_distance_m;
  const PointList& points = second_.points();
  const BearingSearch search(first_.points(), first_.increment_rad());
  result.settled = false;
  for (std::int64_t round = 0; round < parameters_.max_rounds && !result.settled; ++round) {
    distances_.clear();
    const math::SinCos turn = math::sincos(T.yaw);
    Vec2 sum_p;
    Vec2 sum_q;
    double sum_dot = 0.0;
    double sum_cross = 0.0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Vec2 p =
          Vec2{turn.cos * points.at[i].x - turn.sin * points.at[i].y, turn.sin * points.at[i].x + turn.cos * points.at[i].y} + T.position();
      const NearestPoint found = search.nearest(p, nearest_[i], cutoff * cutoff);
      nearest_[i] = found.index;
      if (!found.any) continue;
      const Vec2 q = first_.points().at[found.index];
      sum_p = sum_p + p;
      sum_q = sum_q + q;
      sum_dot += dot(p, q);
      sum_cross += cross(p, q);
      distances_.push_back(std::sqrt(found.distance2));
    }
    result.pairs = distances_.size();
    if (result.pairs < kFewestPairs) return;
    const double n = static_cast<double>(result.pairs);
    const double angle = math::atan2(sum_cross - cross(sum_p, sum_q) / n, sum_dot - dot(sum_p, sum_q) / n);
    const Vec2 shift = (1.0 / n) * (sum_q - rotate(angle, sum_p));
    T = Pose2{shift.x, shift.y, angle} * T;
    ++result.rounds;
    result.settled = std::abs(angle) < parameters_.settled_m && norm(shift) < parameters_.settled_m;
    cutoff = std::max(cutoff * parameters_.pair_distance_factor, parameters_.pair_distance_least_m);
  }
  result.median_distance_m = median_of(distances_);
}

// What the walls say about the result, whichever way it was found.
void ScanMatcher::conclude(const Pose2& guess, ScanMatch& result) {
  const WallPairSums sum = evaluate(result.T_first_second, parameters_.pair_distance_least_m);
  const bool by_lines = parameters_.metric == MatchMetric::kLine;
  if (by_lines) {
    result.pairs = sum.pairs;
    result.median_distance_m = median_of(distances_);
  }
  const std::size_t of = by_lines ? second_.centres().size() : second_.points().size();
  result.pair_share = of > 0 ? static_cast<double>(result.pairs) / static_cast<double>(of) : 0.0;
  if (sum.pairs < kFewestPairs || result.pairs < kFewestPairs) {
    result.status = MatchStatus::kTooFewPairs;
    return;
  }
  result.status = MatchStatus::kMatched;
  const double noise_m2 = std::max(sum.scatter_m2, sum.residual_m2) / sum.weight;
  const WallDirections d = directions_of(sum, noise_m2, parameters_.max_sigma_m);
  result.covariance = {};
  result.unobservable = 0;
  // What one more step would change is an error too: nothing where the search has settled on lines.
  const Vector3 missed = step_of(sum, d);
  add_square(result.covariance, 1.0, missed);
  for (std::size_t k = 0; k < 3; ++k) {
    Vector3 v = column(d.scaled.vectors, k);
    v.v[2] /= kRadian_m;
    const double sigma = d.observable[k] ? d.sigma_m[k] : kUnobserved;
    result.sigma_m[k] = sigma;
    result.information[k] = std::max(0.0, d.left[k]) / noise_m2;
    for (std::size_t i = 0; i < 3; ++i) result.directions(i, k) = v.v[i];
    add_square(result.covariance, sigma * sigma, v);
    if (d.observable[k]) continue;
    ++result.unobservable;
    // It may have seemed observable on the way.
    Pose2& T = result.T_first_second;
    const double strayed =
        by_lines ? dot3(column(d.scaled.vectors, k), {{T.x - guess.x, T.y - guess.y, kRadian_m * wrap_angle(T.yaw - guess.yaw)}}) : 0.0;
    T = {T.x - strayed * v.v[0], T.y - strayed * v.v[1], wrap_angle(T.yaw - strayed * v.v[2])};
  }
  result.degenerate = result.unobservable > 0;
}

ScanMatch ScanMatcher::match(const LaserScan& first, const LaserScan& second, const Pose2& guess_first_second, const Twist& acceleration) {
  ScanMatch result;
  const Time begin = middle_of(first);
  const Time end = middle_of(second);
  result.middle = {begin.ns + (end.ns - begin.ns) / 2};
  result.dt_s = (end - begin).seconds();
  result.covariance = kUnobserved * kUnobserved * identity<3>();
  result.T_first_second = guess_first_second;
  const bool moves = result.dt_s > 0.0;
  Twist velocity = moves ? velocity_of(guess_first_second, result.dt_s) : Twist{};
  // Of a sensor that turns clockwise the middle lies before the stamp.
  const double half_sweep_s =
      parameters_.deskew && moves ? std::abs(0.5 * (begin - first.stamp).seconds() + 0.5 * (end - second.stamp).seconds()) : 0.0;
  const bool by_lines = parameters_.metric == MatchMetric::kLine;
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    const Twist gained = 0.5 * result.dt_s * acceleration;
    parameters_.deskew ? read(first, second, velocity + (-1.0) * gained, velocity + gained) : read(first, second, {}, {});
    const PointList& from = by_lines ? first_.centres() : first_.points();
    const PointList& to = by_lines ? second_.centres() : second_.points();
    const auto least = static_cast<std::size_t>(parameters_.least_points);
    if (first_.points().size() < least || second_.points().size() < least) return result;
    seed(to, from, result.T_first_second);
    by_lines ? search_lines(result) : search_points(result);
    const Twist found = moves ? velocity_of(result.T_first_second, result.dt_s) : Twist{};
    const Twist change = found + (-1.0) * velocity;
    velocity = found;
    // Only a point 10 m away or more would be put elsewhere by more than a millimetre.
    if (half_sweep_s * (std::abs(change.x_mps) + std::abs(change.y_mps) + 10.0 * std::abs(change.yaw_radps)) < 1e-3) break;
  }
  if (!by_lines) seed(second_.centres(), first_.centres(), result.T_first_second);
  conclude(guess_first_second, result);
  if (result.status != MatchStatus::kMatched) {
    result.T_first_second = guess_first_second;
    result.covariance = kUnobserved * kUnobserved * identity<3>();
  }
  if (moves) result.velocity = velocity_of(result.T_first_second, result.dt_s);
  return result;
}

}  // namespace pitwall::localization

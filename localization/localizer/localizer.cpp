// SPDX-License-Identifier: Apache-2.0
#include "localization/localizer/localizer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "localization/twist.hpp"

namespace pitwall::localization {
namespace {

// Walls are felt from this far.
constexpr double kReach_m = 0.6;
constexpr double kHorizon_s = 2.0;
// Odometry that has fallen silent is not taken to go on for longer.
constexpr double kLongestGuess_s = 0.5;
// What a single scan adds to the doubt at most.
constexpr double kLongestDoubt_s = 0.1;
// How well a pose is known that was given, or found by searching.
constexpr double kGiven_m = 0.2;
constexpr double kGiven_rad = 0.1;
// Beams that are followed through the map.
constexpr std::size_t kFollowed = 120;
constexpr std::size_t kSearchPoints = 100;
constexpr double kOtherHeading_rad = 0.3;
// Where the prior knows nothing of the motion.
constexpr double kNoOdometry_m = 0.1;
constexpr double kNoOdometry_rad = 0.1;

Matrix3 square(double m, double rad) { return diagonal<3>({m * m, m * m, rad * rad}); }

/// What a motion `delta`, in the axes of the frame that it leads from, makes of the covariance of a pose at yaw.
Matrix3 moved(const Matrix3& covariance, double yaw, const Pose2& delta) {
  Matrix3 f = identity<3>();
  const Vec2 arm = perpendicular(rotate(yaw, delta.position()));
  f(0, 2) = arm.x;
  f(1, 2) = arm.y;
  return sandwich(f, covariance);
}

/// A diagonal covariance in the axes of a frame at yaw, in those of the map.
Matrix3 turned(const std::array<double, 3>& sigma, double yaw) {
  const auto [s, c] = math::sincos(yaw);
  return sandwich(Matrix3{{c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0}},
                  diagonal<3>({sigma[0] * sigma[0], sigma[1] * sigma[1], sigma[2] * sigma[2]}));
}

}  // namespace

void LocalizerParameters::fields(FieldVisitor& f) {
  f.number("max_range_m", max_range_m, {"m", 1, 200, "farther beams are left out"});
  f.number("point_spacing_m", point_spacing_m, {"m", 0.01, 1, "between points of the scan that are used, along the walls"});
  f.integer("least_points", least_points, {"", 5, 1000, "a scan with fewer is no measurement"});
  f.integer("most_points", most_points, {"", 20, 10000, "of a scan that are used"});
  f.number("sigma_m", sigma_m, {"m", 1e-3, 1, "of a point on a wall of the map"});
  f.number("independent_points", independent_points, {"", 1, 10000, "as how many measurements all points of a scan count"});
  f.number("robust_scale_m", robust_scale_m, {"m", 0.01, 1, "distance from a wall at which a point counts half"});
  f.integer("max_rounds", max_rounds, {"", 1, 1000, "of Gauss-Newton"});
  f.number("settled_m", settled_m, {"m, rad", 1e-9, 0.01, "a smaller step ends it"});
  f.number("way_share", way_share, {"", 0, 1, "standard deviation of the odometry's way, of the way"});
  f.number("turn_share", turn_share, {"", 0, 1, "of its turn, of the turn"});
  f.number("turn_per_m", turn_per_m, {"rad/m", 0, 1, "of its turn, per way"});
  f.number("aside_per_m", aside_per_m, {"", 0, 1, "of the way sideways, of the way"});
  f.number("least_m", least_m, {"m", 1e-5, 1, "of its way, at least, per scan"});
  f.number("least_rad", least_rad, {"rad", 1e-5, 1, "of its turn, at least, per scan"});
  f.number("fit_m", fit_m, {"m", 0.01, 0.5, "a point within this of a wall is on it"});
  f.number("through_m", through_m, {"m", 0.01, 10, "a beam longer than the map has it by this went through a wall"});
  f.number("least_fit", least_fit, {"", 0, 1, "share of points on walls below which a pose is doubted"});
  f.number("foreign_m", foreign_m, {"m", 0.1, 10, "points off the map's walls that stretch over this are a wall"});
  f.number("most_against", most_against, {"", 0, 1, "share of points against a pose above which it is doubted"});
  f.number("lost_after_s", lost_after_s, {"s", 0, 60, "of doubt the car is lost"});
  f.number("blind_after_s", blind_after_s, {"s", 0, 60, "without a measurement likewise"});
  f.number("search_resolution_m", search_resolution_m, {"m", 0.02, 1, "between poses that a search tries"});
  f.number("search_step_rad", search_step_rad, {"rad", 0.002, 0.2, "between their headings"});
  f.number("search_spacing_m", search_spacing_m, {"m", 0.02, 2, "between points of the scan that is looked for"});
  f.integer("search_blocks", search_blocks, {"", 1, 100000000, "of poses that a search looks at per scan"});
  f.number("found_response", found_response, {"", 0, 1, "of a place; what responds less is none"});
  f.number("found_alone", found_alone, {"", 0, 1, "of it, from which another place makes it ambiguous"});
  f.number("other_place_m", other_place_m, {"m", 0.1, 100, "distance from which a place is another"});
  f.number("found_fit", found_fit, {"", 0, 1, "share of points on walls from which a place that was found is believed"});
}

std::string_view name(LocalizerStatus status) {
  switch (status) {
    case LocalizerStatus::kTracking:
      return "tracking";
    case LocalizerStatus::kDoubtful:
      return "doubtful";
    case LocalizerStatus::kBlind:
      return "blind";
    case LocalizerStatus::kLost:
      break;
  }
  return "lost";
}

std::shared_ptr<const LocalizerMap> LocalizerMap::make(const tracks::OccupancyMap& map, std::shared_ptr<const tracks::RayCaster> rays,
                                                       const LocalizerParameters& parameters) {
  return std::make_shared<const LocalizerMap>(
      LocalizerMap{std::move(rays), SignedField(map, kReach_m), std::make_shared<const SearchMap>(map, parameters.search_resolution_m)});
}

Localizer::Localizer(std::shared_ptr<const LocalizerMap> map, const Pose2& T_base_lidar, const LocalizerParameters& parameters)
    : map_(std::move(map)),
      T_base_lidar_(T_base_lidar),
      parameters_(parameters),
      odometry_(from_seconds(kHorizon_s)),
      search_(map_->search, {parameters.search_step_rad, kSearchPoints}) {
  reset(std::nullopt);
}

void Localizer::reset(const std::optional<Pose2>& T_map_base) {
  odometry_.clear();
  any_odometry_ = false;
  latest_ = {};
  if (T_map_base) {
    latest_.status = LocalizerStatus::kTracking;
    latest_.T_map_base = *T_map_base;
    latest_.covariance = square(kGiven_m, kGiven_rad);
  }
  was_sure_ = T_map_base.has_value();
  searching_ = false;
  started_ = false;
  T_odom_base_.reset();
}

void Localizer::add_odometry(const Odometry& odometry) {
  if (!std::isfinite(odometry.speed_mps) || !std::isfinite(odometry.yaw_rate_radps)) return;
  if (!odometry_.add(odometry.stamp, {odometry.position.x, odometry.position.y, yaw_of(odometry.orientation)})) return;
  last_odometry_ = odometry;
  any_odometry_ = true;
}

std::optional<Pose2> Localizer::odometry_at(Time t) const {
  if (!any_odometry_) return std::nullopt;
  if (const auto covered = odometry_.at(t)) return covered;
  if (t < odometry_.oldest()) return odometry_.at(odometry_.oldest());
  const double late_s = std::min((t - odometry_.newest()).seconds(), kLongestGuess_s);
  return *odometry_.at(odometry_.newest()) * travelled({last_odometry_.speed_mps, 0.0, last_odometry_.yaw_rate_radps}, late_s);
}

// Takes the pose on to the middle of the scan.
void Localizer::predict(Time stamp) {
  const std::optional<Pose2> now = odometry_at(stamp);
  if (started_) {
    const double yaw = latest_.T_map_base.yaw;
    const Pose2 delta = now && T_odom_base_ ? increment(*T_odom_base_, *now) : Pose2{};
    const LocalizerParameters& p = parameters_;
    const double way = norm(delta.position());
    std::array<double, 3> sigma{kNoOdometry_m, kNoOdometry_m, kNoOdometry_rad};
    if (now && T_odom_base_)
      sigma = {p.least_m + p.way_share * way, p.least_m + p.aside_per_m * way,
               p.least_rad + p.turn_share * std::fabs(delta.yaw) + p.turn_per_m * way};
    latest_.covariance = moved(latest_.covariance, yaw, delta) + turned(sigma, yaw);
    latest_.T_map_base = latest_.T_map_base * delta;
  } else {
    doubt_s_ = 0.0;
    seen_ = stamp;
    started_ = true;
  }
  T_odom_base_ = now;
  latest_.stamp = stamp;
}

// Points of the scan as base_link has them, `spacing_m` apart along the walls.
void Localizer::sample(const LaserScan& scan) {
  const Twist velocity = any_odometry_ ? Twist{last_odometry_.speed_mps, 0.0, last_odometry_.yaw_rate_radps} : Twist{};
  scan_.read(scan, at_frame(velocity, T_base_lidar_), {parameters_.max_range_m, 0.2, 0.3, 0.05});
  thin(parameters_.point_spacing_m, static_cast<std::size_t>(parameters_.most_points));
}

void Localizer::thin(double spacing_m, std::size_t most) {
  points_.reserve(scan_.beams());
  points_.clear();
  const math::SinCos turn = math::sincos(T_base_lidar_.yaw);
  Vec2 last;
  for (const Vec2 p : scan_.points().at) {
    if (!points_.empty() && distance(last, p) < spacing_m) continue;
    last = p;
    points_.push_back(Vec2{turn.cos * p.x - turn.sin * p.y, turn.sin * p.x + turn.cos * p.y} + T_base_lidar_.position());
  }
  if (points_.size() <= most) return;
  for (std::size_t k = 0; k < most; ++k) points_[k] = points_[k * points_.size() / most];
  points_.resize(most);
}

// Gauss-Newton from the prediction.
void Localizer::correct(const Matrix3& prior_information) {
  const Pose2 prior = latest_.T_map_base;
  Pose2& T = latest_.T_map_base;
  const LocalizerParameters& p = parameters_;
  const double scale2 = p.robust_scale_m * p.robust_scale_m;
  const double per_point = p.independent_points / (static_cast<double>(points_.size()) * p.sigma_m * p.sigma_m);
  latest_.rounds = 0;
  for (bool settled = false; !settled && latest_.rounds < p.max_rounds; ++latest_.rounds) {
    Matrix3 information = prior_information;
    Vector3 gradient = prior_information * Vector3{{T.x - prior.x, T.y - prior.y, wrap_angle(T.yaw - prior.yaw)}};
    const math::SinCos turn = math::sincos(T.yaw);
    for (const Vec2 point : points_) {
      const Vec2 arm{turn.cos * point.x - turn.sin * point.y, turn.sin * point.x + turn.cos * point.y};
      const SignedDistance d = map_->field.at(arm + T.position());
      const double weight = per_point * scale2 / (scale2 + d.value_m * d.value_m);
      const std::array<double, 3> j{d.gradient.x, d.gradient.y, cross(arm, d.gradient)};
      for (std::size_t a = 0; a < 3; ++a) {
        gradient.v[a] += weight * d.value_m * j[a];
        for (std::size_t b = 0; b < 3; ++b) information(a, b) += weight * j[a] * j[b];
      }
    }
    latest_.covariance = inverse_of(information);
    const Vector3 step = latest_.covariance * gradient;
    T = {T.x - step.v[0], T.y - step.v[1], wrap_angle(T.yaw - step.v[2])};
    settled = norm({step.v[0], step.v[1]}) < p.settled_m && std::fabs(step.v[2]) < p.settled_m;
  }
}

// How many points lie on something that is longer than a car and not in the map.
std::size_t Localizer::foreign_points() {
  constexpr double kNeighbours_m = 0.35;
  std::size_t foreign = 0;
  std::size_t first = 0;
  for (std::size_t k = 0; k < points_.size(); ++k) {
    if (fitting_[k] != 0) continue;
    const bool goes_on = k > 0 && fitting_[k - 1] == 0 && distance(points_[k - 1], points_[k]) < kNeighbours_m;
    if (!goes_on) first = k;
    const bool ends = k + 1 == points_.size() || fitting_[k + 1] != 0 || distance(points_[k], points_[k + 1]) >= kNeighbours_m;
    if (ends && distance(points_[first], points_[k]) >= parameters_.foreign_m) foreign += k + 1 - first;
  }
  return foreign;
}

// Asks the beams whether the pose can be.
/// Whether the beam is longer than the map has it, and would be so moved aside either way: what grazes a wall is no proof against a map
/// whose walls, or a pose that, are a cell off. On a map of our own SLAM, 14 % of the beams round the inside of a bend did.
bool Localizer::went_through(Vec2 sensor, Vec2 p) const {
  const double length = distance(sensor, p);
  if (length <= parameters_.through_m) return false;
  const Vec2 along = (1.0 / length) * (p - sensor);
  const Vec2 aside = parameters_.fit_m * perpendicular(along);
  const auto blocked = [&](Vec2 from) { return std::isfinite(map_->rays->cast(from, along, length - parameters_.through_m)); };
  return blocked(sensor) && blocked(sensor + aside) && blocked(sensor - aside);
}

void Localizer::judge() {
  const Pose2& T = latest_.T_map_base;
  const math::SinCos turn = math::sincos(T.yaw);
  const Vec2 sensor = (T * T_base_lidar_).position();
  fitting_.reserve(scan_.beams());
  fitting_.clear();
  std::size_t followed = 0;
  std::size_t through = 0;
  const std::size_t every = 1 + points_.size() / kFollowed;
  for (std::size_t k = 0; k < points_.size(); ++k) {
    const Vec2 p =
        Vec2{turn.cos * points_[k].x - turn.sin * points_[k].y, turn.sin * points_[k].x + turn.cos * points_[k].y} + T.position();
    fitting_.push_back(std::fabs(map_->field.at(p).value_m) < parameters_.fit_m ? 1 : 0);
    if (k % every != 0) continue;
    ++followed;
    if (went_through(sensor, p)) ++through;
  }
  const auto count = static_cast<double>(points_.size());
  latest_.fit = static_cast<double>(std::count(fitting_.begin(), fitting_.end(), 1)) / count;
  latest_.against = static_cast<double>(through) / static_cast<double>(followed) + static_cast<double>(foreign_points()) / count;
}

void Localizer::settle_status() {
  const bool good = latest_.fit >= parameters_.least_fit && latest_.against <= parameters_.most_against;
  const double since_s = std::min((latest_.stamp - seen_).seconds(), kLongestDoubt_s);
  seen_ = latest_.stamp;
  // One scan that fits by chance does not take all doubt away.
  doubt_s_ = std::max(0.0, doubt_s_ + (good ? -since_s : since_s));
  was_sure_ = was_sure_ || good;
  latest_.status = doubt_s_ > parameters_.lost_after_s ? LocalizerStatus::kLost
                   : good                              ? LocalizerStatus::kTracking
                                                       : LocalizerStatus::kDoubtful;
}

// One portion of the search: for the place that fits best, then for another that fits as well.
void Localizer::search() {
  if (!searching_) {
    thin(parameters_.search_spacing_m, static_cast<std::size_t>(parameters_.most_points));
    if (points_.size() < static_cast<std::size_t>(parameters_.least_points)) return;
    search_.begin(points_, parameters_.found_response);
    found_.reset();
    T_odom_searched_ = T_odom_base_.value_or(Pose2{});
    searching_ = true;
  }
  if (!search_.advance(static_cast<std::size_t>(parameters_.search_blocks))) return;
  const auto best = search_.result();
  if (!found_ && best) {
    found_ = best;
    search_.begin_elsewhere({best->T_map_scan, parameters_.other_place_m, kOtherHeading_rad}, parameters_.found_alone * best->response);
    return;
  }
  searching_ = false;
  latest_.ambiguous = found_ && best;
  // Of two places that look alike, the one where odometry has brought the car since it was last sure.
  std::optional<Pose2> taken;
  if (found_) taken = !best ? found_->T_map_scan : expected_one(found_->T_map_scan, best->T_map_scan);
  if (taken && take(*taken)) {
    latest_.ambiguous = false;
    was_sure_ = true;
    latest_.status = LocalizerStatus::kTracking;
    doubt_s_ = 0.0;
    seen_ = latest_.stamp;
  }
}

// The one of two places that is where the car is expected; nothing where both are, neither is, or it was never sure enough.
std::optional<Pose2> Localizer::expected_one(const Pose2& a, const Pose2& b) const {
  const double sigma_m = std::sqrt(latest_.covariance(0, 0) + latest_.covariance(1, 1));
  if (!was_sure_ || sigma_m > 0.5 * parameters_.other_place_m) return std::nullopt;
  const auto expected = [&](const Pose2& T_found) {
    const Pose2 now = T_found * since_search();
    return distance(now.position(), latest_.T_map_base.position()) < parameters_.other_place_m &&
           std::fabs(wrap_angle(now.yaw - latest_.T_map_base.yaw)) < kOtherHeading_rad;
  };
  if (expected(a) == expected(b)) return std::nullopt;
  return expected(a) ? a : b;
}

Pose2 Localizer::since_search() const { return T_odom_base_ ? increment(T_odom_searched_, *T_odom_base_) : Pose2{}; }

// Lays the scan of now where the one that was looked for leads to; whether it fits there. If not, odometry goes on from where it was.
bool Localizer::take(const Pose2& T_found) {
  const Localization before = latest_;
  latest_.T_map_base = T_found * since_search();
  thin(parameters_.point_spacing_m, static_cast<std::size_t>(parameters_.most_points));
  correct(inverse_of(square(kGiven_m, kGiven_rad)));
  judge();
  if (latest_.fit >= parameters_.found_fit && latest_.against <= parameters_.most_against) return true;
  latest_.T_map_base = before.T_map_base;
  latest_.covariance = before.covariance;
  return false;
}

const Localization& Localizer::add_scan(const LaserScan& scan) {
  predict(middle_of(scan));
  sample(scan);
  latest_.points = points_.size();
  latest_.fit = 0.0;
  latest_.against = 0.0;
  const bool sees = points_.size() >= static_cast<std::size_t>(parameters_.least_points);
  if (latest_.lost()) {
    if (sees) search();
  } else if (sees) {
    correct(inverse_of(latest_.covariance));
    judge();
    settle_status();
  } else {
    const bool too_long = (latest_.stamp - seen_).seconds() > parameters_.blind_after_s;
    latest_.status = too_long ? LocalizerStatus::kLost : LocalizerStatus::kBlind;
  }
  return latest_;
}

std::optional<PoseEstimate> Localizer::add(const LaserScan& scan) {
  const Localization& found = add_scan(scan);
  if (found.lost()) return std::nullopt;
  return PoseEstimate{found.stamp, found.T_map_base.position(), to_quaternion(found.T_map_base.yaw)};
}

}  // namespace pitwall::localization

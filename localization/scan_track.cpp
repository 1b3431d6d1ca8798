// SPDX-License-Identifier: Apache-2.0
#include "localization/scan_track.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/check.hpp"

namespace pitwall::localization {

namespace {

constexpr double kAnchorEvery_s = 0.25;
// 99 % of the chi-square distribution of three numbers.
constexpr double kInsignificant = 11.34;

// Whether the motion could be the noise of a car that stands.
bool could_stand(const ScanMatch& match) {
  if (match.status != MatchStatus::kMatched || match.degenerate) return false;
  const Pose2& T = match.T_first_second;
  double chi2 = 0.0;
  for (std::size_t k = 0; k < 3; ++k) {
    const double along = match.directions(0, k) * T.x + match.directions(1, k) * T.y + match.directions(2, k) * T.yaw;
    chi2 += along * along / (match.sigma_m[k] * match.sigma_m[k]);
  }
  return chi2 < kInsignificant;
}

}  // namespace

void ScanTrackParameters::fields(FieldVisitor& f) {
  static constexpr std::array<std::string_view, 2> kGuesses{"constant_velocity", "standing"};
  f.nested("matcher", matcher);
  f.integer("stride", stride, {"", 1, 100, "a scan is matched against the one this many before"});
  f.number("max_pair_s", max_pair_s, {"s", 0.01, 10, "scans farther apart are no pair"});
  f.enumeration("guess", guess, kGuesses, "where the search begins");
  f.flag("standing", standing, "measure a standing car over up to a second");
}

ScanTrack::ScanTrack(const ScanTrackParameters& parameters, const Pose2& T_base_sensor)
    : parameters_(parameters), T_base_sensor_(T_base_sensor), T_sensor_base_(inverse(T_base_sensor)), matcher_(parameters.matcher) {
  PITWALL_CHECK(parameters.stride >= 1, parameters.stride);
  recent_.resize(static_cast<std::size_t>(parameters.stride));
  anchors_.resize(kAnchors);
}

MotionSample ScanTrack::sample_of(const ScanMatch& match) const {
  MotionSample s;
  s.stamp = match.middle;
  s.dt_s = match.dt_s;
  s.velocity = at_frame(match.velocity, T_sensor_base_);
  s.status = match.status;
  s.degenerate = match.degenerate;
  s.pair_share = match.pair_share;
  s.median_distance_m = match.median_distance_m;
  s.rounds = match.rounds;
  s.settled = match.settled;
  // A small change of T_first_second as a change of the velocity of base_link, linear: first into the axes halfway, then to the base.
  Matrix3 to_base;
  for (std::size_t k = 0; k < 3; ++k) {
    const Vec2 v = rotate(-0.5 * match.T_first_second.yaw, {k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0});
    const Twist t = at_frame({v.x, v.y, k == 2 ? 1.0 : 0.0}, T_sensor_base_);
    to_base(0, k) = t.x_mps;
    to_base(1, k) = t.y_mps;
    to_base(2, k) = t.yaw_radps;
  }
  const Matrix3 way = sandwich(to_base, match.covariance);
  s.covariance = 1.0 / (match.dt_s * match.dt_s) * way;
  const double limit = parameters_.matcher.max_sigma_m;
  const bool matched = match.status == MatchStatus::kMatched;
  s.forward_observable = matched && way(0, 0) <= limit * limit;
  s.yaw_observable = matched && way(2, 2) <= limit * limit;
  Matrix3 plane = way;
  for (std::size_t k = 0; k < 3; ++k) plane(2, k) = plane(k, 2) = 0.0;
  const Eigen3 axes = eigen_symmetric(plane);
  s.weakest = {axes.vectors(0, 2), axes.vectors(1, 2)};
  s.weakest_sigma_m = std::sqrt(axes.values[2]);
  return s;
}

void ScanTrack::measure_standing(const LaserScan& scan, const ScanMatch& match, MotionSample& sample) {
  if (!could_stand(match)) {
    anchor_count_ = 0;
    return;
  }
  if (anchor_count_ > 0 && scan.stamp - anchors_[0].stamp >= from_seconds(kAnchorEvery_s)) {
    const ScanMatch longer = matcher_.match(anchors_[0], scan, {});
    if (!could_stand(longer)) {
      anchor_count_ = 0;
      return;
    }
    const Time stamp = sample.stamp;
    sample = sample_of(longer);
    sample.stamp = stamp;
    sample.standing = true;
  }
  if (anchor_count_ > 0 && scan.stamp - anchors_[anchor_count_ - 1].stamp < from_seconds(kAnchorEvery_s)) return;
  if (anchor_count_ == kAnchors) {
    std::rotate(anchors_.begin(), anchors_.begin() + 1, anchors_.end());
    --anchor_count_;
  }
  anchors_[anchor_count_++] = scan;
}

void ScanTrack::chain(MotionSample& sample) {
  if (!last_) return;
  const double dt_s = (sample.stamp - last_->stamp).seconds();
  sample.T_track_base = last_->T_track_base * travelled(0.5 * (last_->velocity + sample.velocity), dt_s);
}

// Half of what the last two samples say and half of what was believed: their noise is as large as the acceleration of a car.
void ScanTrack::accelerate(const MotionSample& sample) {
  const bool knows = last_ && !sample.degenerate && !last_->degenerate && sample.status == MatchStatus::kMatched;
  const double dt_s = last_ ? (sample.stamp - last_->stamp).seconds() : 0.0;
  if (!knows || !(dt_s > 0.0) || dt_s > parameters_.max_pair_s) {
    acceleration_ = {};
    return;
  }
  const Twist gained = at_frame(sample.velocity + (-1.0) * last_->velocity, T_base_sensor_);
  acceleration_ = 0.5 * acceleration_ + (0.5 / dt_s) * gained;
}

std::optional<MotionSample> ScanTrack::add(const LaserScan& scan, const std::optional<Twist>& expected) {
  ++counts_.scans;
  const std::size_t stride = recent_.size();
  if (taken_ > 0 && scan.stamp <= recent_[(taken_ - 1) % stride].stamp) {
    ++counts_.out_of_order;
    return std::nullopt;
  }
  LaserScan& older = recent_[taken_ % stride];
  const bool full = taken_ >= stride;
  ++taken_;
  if (!full) {
    older = scan;
    return std::nullopt;
  }
  const double dt_s = (middle_of(scan) - middle_of(older)).seconds();
  if (!(dt_s > 0.0) || dt_s > parameters_.max_pair_s) {
    ++counts_.gaps;
    anchor_count_ = 0;
    acceleration_ = {};
    older = scan;
    return std::nullopt;
  }
  Twist guess;
  if (parameters_.guess == FirstGuess::kConstantVelocity) {
    const bool fresh = last_ && (scan.stamp - last_->stamp).seconds() <= 2.0 * parameters_.max_pair_s;
    guess = expected && is_finite(*expected) ? *expected : fresh ? last_->velocity : Twist{};
  }
  const ScanMatch match = matcher_.match(older, scan, travelled(at_frame(guess, T_base_sensor_), dt_s), acceleration_);
  MotionSample sample = sample_of(match);
  if (parameters_.standing) measure_standing(scan, match, sample);
  chain(sample);
  accelerate(sample);
  ++counts_.samples;
  counts_.failed += sample.status != MatchStatus::kMatched ? 1 : 0;
  counts_.degenerate += sample.status == MatchStatus::kMatched && sample.degenerate ? 1 : 0;
  older = scan;
  last_ = sample;
  return sample;
}

std::vector<MotionSample> track_of(const std::vector<LaserScan>& scans, const ScanTrackParameters& parameters, const Pose2& T_base_sensor) {
  ScanTrack track(parameters, T_base_sensor);
  std::vector<MotionSample> samples;
  for (const LaserScan& scan : scans) {
    if (const auto sample = track.add(scan)) samples.push_back(*sample);
  }
  return samples;
}

}  // namespace pitwall::localization

// SPDX-License-Identifier: Apache-2.0
// How a car moved over a whole recording by its scans alone: each scan is matched against the one `stride` scans before, which gives the
// velocity of base_link at the middle of the pair; these are chained to poses. Nothing but stamps and ranges goes in, so that what comes
// out can judge odometry; a velocity expected by odometry may be given as the guess of a pair, otherwise the last one is.
//
// A car that stands is measured against a scan up to a second old instead: over 50 ms the noise of a scanner of 1 cm is worth 20 mm/s. It
// counts as standing while neither pair shows a motion above the noise, so that one that creeps is never told to stand.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/fields.hpp"
#include "core/geometry.hpp"
#include "core/messages.hpp"
#include "core/time.hpp"
#include "localization/scan_matcher.hpp"
#include "localization/small_matrix.hpp"
#include "localization/twist.hpp"

namespace pitwall::localization {

enum class FirstGuess : std::uint8_t {
  kConstantVelocity,  ///< the velocity expected by the caller, else that of the sample before
  kStanding,          ///< none: every search begins with no motion
};

struct ScanTrackParameters {
  ScanMatcherParameters matcher;
  std::int64_t stride = 2;
  double max_pair_s = 0.25;  ///< scans farther apart are no pair
  FirstGuess guess = FirstGuess::kConstantVelocity;
  bool standing = true;  ///< measure a standing car over a longer time
  void fields(FieldVisitor& f);
};

/// What one pair of scans says.
struct MotionSample {
  Time stamp;                       ///< the middle of the pair
  double dt_s = 0.0;                ///< from middle to middle of the two sweeps
  Twist velocity;                   ///< of base_link, in its axes
  Matrix3 covariance;               ///< of it: m^2/s^2, m rad/s^2, rad^2/s^2
  bool forward_observable = false;  ///< where false, velocity.x_mps is the guess
  bool yaw_observable = false;      ///< likewise velocity.yaw_radps
  bool degenerate = true;           ///< some direction keeps to the guess
  bool standing = false;
  Pose2 T_track_base;  ///< at `stamp`; the track frame is base_link at the first sample. After a gap it goes on where it was
  MatchStatus status = MatchStatus::kTooFewPoints;
  Vec2 weakest;  ///< direction of the way least well known, in the axes of base_link (unit vector)
  double weakest_sigma_m = kUnobserved;
  double pair_share = 0.0;
  double median_distance_m = 0.0;
  int rounds = 0;
  bool settled = false;
  [[nodiscard]] double sigma_forward_mps() const { return std::sqrt(covariance(0, 0)); }
  [[nodiscard]] double sigma_yaw_radps() const { return std::sqrt(covariance(2, 2)); }
};

/// What became of the scans.
struct ScanTrackCounts {
  std::int64_t scans = 0;
  std::int64_t out_of_order = 0;  ///< stamp not after the one before: left out
  std::int64_t gaps = 0;          ///< no pair since the older scan is too old
  std::int64_t samples = 0;
  std::int64_t failed = 0;      ///< of the samples: too few points or pairs
  std::int64_t degenerate = 0;  ///< of the samples that did not fail
};

class ScanTrack {
 public:
  ScanTrack(const ScanTrackParameters& parameters, const Pose2& T_base_sensor);

  /// The motion of the pair that `scan` completes; nothing for the first `stride` scans, after a gap, and for a scan that is not newer than
  /// the last. `expected` is the velocity of base_link that odometry has for about the middle of the pair.
  std::optional<MotionSample> add(const LaserScan& scan, const std::optional<Twist>& expected = std::nullopt);

  [[nodiscard]] const ScanTrackCounts& counts() const { return counts_; }

 private:
  [[nodiscard]] MotionSample sample_of(const ScanMatch& match) const;
  void measure_standing(const LaserScan& scan, const ScanMatch& match, MotionSample& sample);
  void chain(MotionSample& sample);
  void accelerate(const MotionSample& sample);

  ScanTrackParameters parameters_;
  Pose2 T_base_sensor_;
  Pose2 T_sensor_base_;
  ScanMatcher matcher_;
  ScanTrackCounts counts_;
  // The last `stride` scans; number i is in slot i % stride.
  std::vector<LaserScan> recent_;
  std::size_t taken_ = 0;
  // Scans since the car stands, oldest first.
  static constexpr std::size_t kAnchors = 4;
  std::vector<LaserScan> anchors_;
  std::size_t anchor_count_ = 0;
  std::optional<MotionSample> last_;
  Twist acceleration_;  // of the sensor, between the last samples
};

/// The samples of scans in order.
std::vector<MotionSample> track_of(const std::vector<LaserScan>& scans, const ScanTrackParameters& parameters, const Pose2& T_base_sensor);

}  // namespace pitwall::localization

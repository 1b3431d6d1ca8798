// SPDX-License-Identifier: Apache-2.0
// How the car moved by its scans, over a whole recording: localization/scan_track on every scan, in pieces side by side.
//
// A piece is a fixed number of scans and begins a little earlier, so that its first guess and its standing scans have settled: the result
// is the same however many threads there are.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/geometry.hpp"
#include "core/messages.hpp"
#include "localization/scan_track.hpp"

namespace pitwall::analysis {

/// Sample i is the mean velocity of base_link, in its axes, over [begin_s[i], end_s[i]]: from the middle of one sweep to that of another.
struct MotionSeries {
  std::vector<double> begin_s, end_s, speed_mps, lateral_mps, yaw_rate_radps;
  std::vector<double> speed_sigma_mps, yaw_sigma_radps;
  std::vector<double> speed_seen, yaw_seen;  ///< 1 where the walls tell it; where 0, the value is only the guess
  std::vector<double> residual_m;            ///< median distance of matched pieces of wall
  std::int64_t scans = 0;
  std::int64_t out_of_order = 0;  ///< stamp not after the one before: left out
  std::int64_t gaps = 0;          ///< scans too far from the one before to be a pair
  std::int64_t failed = 0;        ///< pairs with too little in common
  [[nodiscard]] std::size_t size() const { return begin_s.size(); }
  [[nodiscard]] double middle_s(std::size_t i) const { return 0.5 * (begin_s[i] + end_s[i]); }
};

class MotionTracker {
 public:
  static constexpr std::size_t kPiece = 1024;
  static constexpr std::size_t kBefore = 44;  ///< 1.1 s at 40 Hz

  /// `threads` 0: as many as the machine has.
  MotionTracker(const localization::ScanTrackParameters& parameters, const Pose2& T_base_lidar, Time origin, unsigned threads = 0);
  ~MotionTracker();
  MotionTracker(const MotionTracker&) = delete;
  MotionTracker& operator=(const MotionTracker&) = delete;

  /// The next scan, in order of receipt. Waits while too many pieces lie about.
  void add(const LaserScan& scan);
  /// Everything; the tracker is used up.
  MotionSeries finish();

 private:
  struct Workers;
  std::unique_ptr<Workers> workers_;
  std::vector<LaserScan> piece_;
  std::size_t skip_ = 0;  ///< scans at the beginning of the piece that belong to the one before
};

}  // namespace pitwall::analysis

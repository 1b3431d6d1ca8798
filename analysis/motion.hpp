// SPDX-License-Identifier: Apache-2.0
// How the car moved by its scans, over a whole recording: localization/scan_track on every scan, in pieces side by side.
//
// A piece is a fixed number of scans and begins a little earlier, so that its first guess and its standing scans have settled: the result
// is the same however many threads there are.
#pragma once

#include <memory>
#include <vector>

#include "core/geometry.hpp"
#include "core/messages.hpp"
#include "localization/motion_series.hpp"
#include "localization/scan_track.hpp"

namespace pitwall::analysis {

using localization::MotionSeries;

/// A scanner too slow for pairs of every second scan is matched scan by scan.
localization::ScanTrackParameters paired(localization::ScanTrackParameters parameters, double period_s);

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

// SPDX-License-Identifier: Apache-2.0
// Follow-the-gap on one scan (Sezer and Gokasan, "A novel obstacle avoidance algorithm: Follow the Gap Method", Robotics
// and Autonomous Systems 60, 2012; disparity extension after the "Disparity Extender" of UNC's F1TENTH team; spec 5.3):
// where obstacles end, the free side is narrowed by half a car; a bubble around the nearest point is closed; runs of
// deep beams are scored by width times depth; the aim is chosen inside the best one.
//
// An obstacle at distance r keeps a car of half width h out of asin(h / r) to its side (atan would let the corner of the
// car cut it). Everything is linear in the number of beams whatever the scan holds, and mirror-symmetric: a mirrored
// scan gives the mirrored aim, except where two gaps tie to the bit (then the left one).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "controllers/scan_view.hpp"

namespace pitwall::controllers {

/// A run of beams first .. last that is deeper than asked.
struct Gap {
  std::size_t first = 0;
  std::size_t last = 0;
  double score = 0.0;    ///< sum of the depths of its beams times the beam step: rad m
  double aim_rad = 0.0;  ///< bearing in the body frame
  double depth_m = 0.0;  ///< depth at the aim
  double min_depth_m = 0.0;
  bool kept = false;  ///< hysteresis held it against a slightly better one
};

/// What counts as a gap.
struct GapQuery {
  double min_depth_m = 2.0;
  double min_chord_m = 0.10;   ///< width at the run's smallest depth
  double switch_margin = 1.2;  ///< a better gap must score this much more than the one of the previous aim
  std::optional<double> previous_aim_rad;
};

/// Finds the gap and the aim in the depths of one scan; remembers the last gap for its hysteresis.
class GapFinder {
 public:
  /// Sizes the buffers; nothing allocates afterwards.
  void reset();

  /// Reads the depths of a window (capped at max_range_m), extends disparities by `half_width_m` and closes the bubble
  /// around the nearest valid beam of the window.
  void prepare(const ScanView& scan, BeamWindow window, double half_width_m, double disparity_threshold_m, double max_range_m);
  /// The best gap of the prepared window; nothing where no run qualifies.
  [[nodiscard]] std::optional<Gap> best(const ScanView& scan, const GapQuery& query) const;

  /// Prepared depth of a beam of the window, m; for tests and displays.
  [[nodiscard]] double prepared_depth_m(std::size_t beam) const { return prepared_[beam]; }
  [[nodiscard]] BeamWindow window() const { return window_; }
  /// Mean bearing of the beams of a gap that are no deeper than `near_depth_m`; nothing if all or none are.
  [[nodiscard]] std::optional<double> near_bearing(const ScanView& scan, const Gap& gap, double near_depth_m) const;

 private:
  struct Reach {  // an edge whose depth bounds the beams up to `end`
    double depth_m;
    std::ptrdiff_t end;
  };
  void size_sines(double step_rad);
  [[nodiscard]] std::ptrdiff_t half_beams(double half_width_m, double range_m) const;
  template <bool kForward>
  void extend(double half_width_m, double threshold_m);
  [[nodiscard]] double aim_of(const ScanView& scan, const Gap& gap, const GapQuery& query) const;

  BeamWindow window_;
  double step_rad_ = 0.0;
  std::size_t quarter_ = 0;     // beams in a quarter turn
  std::vector<double> sines_;   // of k steps, k = 0 .. quarter
  std::vector<double> capped_;  // depths before extension
  std::vector<double> prepared_;
  std::vector<Reach> reaches_;
};

}  // namespace pitwall::controllers

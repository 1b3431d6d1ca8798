// SPDX-License-Identifier: Apache-2.0
// Laps by arc length along a closed line with corridor widths: no start boxes, no numbers per map.
//
// Progress q is the arc length from the lap line, unwrapped: it grows by the signed way of the foot point, which is
// searched in a window around the last one, so that it cannot jump to another part of the track that passes nearby.
//
//  - The first crossing of the line forwards starts lap 1; a start on the line, or up to `start_tolerance_m` past it, counts
//    as crossed at the start. From then on lap n ends when q has grown by n lengths, at the interpolated time.
//    Backing over the line and crossing it again therefore adds nothing. Before lap 1 has started, backing over the line
//    is undone: the next crossing forwards starts it.
//  - Outside the corridor (|d| beyond the width of that side) q stands still and no line is crossed. It goes on
//    where the corridor was left: at a foot within `reentry_m` of the place of leaving, and not across the line from it. Whoever
//    cuts across the infield, past the line or beside it gains nothing until it comes by that place again.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/fields.hpp"
#include "core/geometry.hpp"
#include "core/time.hpp"
#include "tracks/path.hpp"

namespace pitwall::sim {

/// Where and how strictly laps are counted.
struct LapSettings {
  double line_s_m = 0.0;           ///< where the lap line crosses the path
  double start_tolerance_m = 0.5;  ///< a start this far past the line counts as on it
  double reentry_m = 1.0;          ///< how near to the place of leaving the corridor counts as re-entry
  void fields(FieldVisitor& f);
};

/// The line that laps are counted on. Without widths the corridor has no end.
struct LapLine {
  std::shared_ptr<const tracks::Path> path;
  std::vector<double> width_right_m;  ///< per point, or empty
  std::vector<double> width_left_m;   ///< per point, or empty
  LapSettings settings;
};

/// Refused: an open path, widths of another length than the path, settings out of range.
Status check_lap_line(const LapLine& line);

/// Where a car stands in its laps; plain values, safe to keep.
struct LapState {
  int laps = 0;                ///< completed
  bool started = false;        ///< lap 1 has begun
  bool in_corridor = true;     ///< false from leaving the corridor until re-entry where it was left
  double s_m = 0.0;            ///< arc length of the foot point, frozen outside the corridor
  double lateral_m = 0.0;      ///< signed distance from the line, left positive
  double progress_m = 0.0;     ///< signed way along the line since the start, driven inside the corridor
  double lap_started_s = 0.0;  ///< when the lap under way began
  double last_lap_s = 0.0;     ///< time of the last completed lap; 0 before the first
  double best_lap_s = 0.0;     ///< shortest so far; 0 before the first
};

/// Counts the laps of one car. The line must outlive it.
class LapCounter {
 public:
  explicit LapCounter(const LapLine& line);

  /// Starts over at `p_map`, projected onto the whole line; allocates for lap_times().
  void reset(Time now, Vec2 p_map);
  /// The car has moved to `p_map` by `now`; steps are assumed shorter than a metre.
  void update(Time now, Vec2 p_map);

  [[nodiscard]] const LapState& state() const { return state_; }
  /// Times of the completed laps in s, the first 256 of them.
  [[nodiscard]] std::span<const double> lap_times() const { return lap_times_; }

 private:
  [[nodiscard]] bool in_corridor(const tracks::Projection& foot) const;
  void advance_to(Time now, const tracks::Projection& foot);
  void cross(double crossing_s);

  const LapLine* line_;
  LapState state_;
  std::vector<double> lap_times_;
  Vec2 position_;
  Time time_;
  double from_line_m_ = 0.0;  // q
  double next_line_m_ = 0.0;  // the q that the next crossing has
};

}  // namespace pitwall::sim

// SPDX-License-Identifier: Apache-2.0
// What is measured on the car under test (car 0) while a world runs, always from the truth: distance from the line it
// follows, clearance of its chassis, passes, what it decided.
#pragma once

#include <cstdint>
#include <vector>

#include "scenarios/outcome.hpp"
#include "scenarios/resolve.hpp"
#include "sim/world.hpp"
#include "tracks/path.hpp"
#include "tracks/path_metrics.hpp"

namespace pitwall::scenarios {

/// Counts overtaken cars by true progress: close behind, then at least `kClearLead_m` ahead. (Half a lap apart the lead changes its sign
/// as well, and side by side it may do so many times: neither is a pass.)
class PassCounter {
 public:
  static constexpr double kClearLead_m = 1.0;
  static constexpr double kClose_m = 5.0;
  explicit PassCounter(std::size_t others) : behind_(others, false) {}
  /// `lead_m`: how far the car is ahead of that one along the line, in (-length/2, length/2].
  void update(std::size_t other, double lead_m);
  [[nodiscard]] std::int64_t completed() const { return completed_; }

 private:
  std::vector<bool> behind_;
  std::int64_t completed_ = 0;
};

/// Distance from a standing chassis to the nearest wall, to within a millimetre or two (outline sampled every 2 cm); `limit_m` where
/// there is none nearer.
double chassis_clearance_m(const BodyRectangle& chassis, const Pose2& T_map_base, const tracks::Track& track, double limit_m);

/// Follows one run. Call after_step() after every World::step().
class Metrics {
 public:
  Metrics(const ResolvedRun& run, const tracks::Path& line, const sim::World& world);

  void after_step(const sim::World& world);
  /// Writes what was measured.
  void report(const sim::World& world, Outcome& outcome) const;

  [[nodiscard]] std::int64_t completed_passes() const { return passes_.completed(); }
  [[nodiscard]] double cross_track_m() const { return cross_track_m_; }

 private:
  void after_decision(const sim::World& world);
  void report_distances(Outcome& outcome) const;
  void look(const sim::World& world);

  const ResolvedRun& run_;
  const tracks::Path& line_;
  const tracks::Path& centre_;
  PassCounter passes_;
  std::uint64_t ticks_ = 0;
  double line_s_m_ = 0.0;
  double cross_track_m_ = 0.0;
  double max_cross_track_m_ = 0.0;
  std::vector<tracks::PathSample> samples_;  ///< one a decision
  double min_clearance_m_;
  double min_forward_m_;
  double corridor_offset_sum_m_ = 0.0;
  std::int64_t corridor_samples_ = 0;
  std::vector<std::int64_t> reasons_;
  double min_commanded_mps_;
  double max_commanded_mps_ = 0.0;
};

}  // namespace pitwall::scenarios

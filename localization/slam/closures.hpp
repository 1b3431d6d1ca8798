// SPDX-License-Identifier: Apache-2.0
// Places that were seen before: which ones to look at, what they measure, and whether that is believed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/fields.hpp"
#include "core/geometry.hpp"
#include "localization/small_matrix.hpp"

namespace pitwall::slam {

struct ClosureParameters {
  double search_distance_m = 3.0;  ///< nodes this near, and what the drift since may be, are looked at
  double max_window_m = 4.0;       ///< half width of the search at most
  double max_window_rad = 0.5;
  std::int64_t min_nodes_apart = 20;  ///< nodes that follow each other are no closure
  double min_way_apart_m = 5.0;
  std::int64_t chain_nodes = 5;  ///< on both sides of the nearest one make the map that is searched
  std::int64_t query_nodes = 5;  ///< the last ones together are looked for
  std::int64_t max_chains = 3;   ///< per node
  double min_coarse_response = 0.45;
  double min_response = 0.6;     ///< share of the points that lie on walls
  double max_ambiguity = 0.9;    ///< the second-best place is below this share of the best
  double max_chi2 = 16.27;       ///< of the closure in the optimum with it
  double max_chi2_rise = 16.27;  ///< of the whole graph, per closure ...
  double match_least_m = 0.02;   ///< what a closure is at most believed to know
  double match_least_rad = 0.005;
  void fields(FieldVisitor& f);
};

/// What became of a closure.
enum class ClosureOutcome : std::uint8_t {
  kAccepted,
  kNoOverlap,      ///< coarse response too low
  kAmbiguous,      ///< a second place fits as well
  kNotRegistered,  ///< the walls do not fit where the search had put them
  kLowResponse,    ///< too few points on walls
  kContradicts,    ///< its own chi2 in the optimum is too large
  kStrains,        ///< the chi2 of the graph rises too much
  kOutvoted,       ///< taken back at the end: it does not go with the other closures
};
const char* name_of(ClosureOutcome outcome);

struct ClosureAttempt {
  std::size_t node = 0;   ///< the newer one
  std::size_t other = 0;  ///< the older one
  ClosureOutcome outcome = ClosureOutcome::kNoOverlap;
  bool searched = false;         ///< else registered from where the graph has it
  Pose2 T_other_node;            ///< as measured
  double coarse_response = 0.0;  ///< 0 .. 1
  double response = 0.0;         ///< 0 .. 1, after registration
  double ambiguity = 0.0;        ///< second-best response over the best; 0: none above the bar
  double chi2 = 0.0;             ///< of the closure after the trial
  double chi2_rise = 0.0;        ///< of the graph by the trial
};

}  // namespace pitwall::slam

// SPDX-License-Identifier: Apache-2.0
// Finds and measures closures (closures.hpp), and tries them on the graph.
//
// A closure that agrees with the optimum of the graph already, to within the gate, cannot raise its chi2 by more than its own chi2 there
// nor have a larger one afterwards: such closures are taken without a solve, and solved for together. Every other one is tried: added,
// solved, and taken back if its own chi2 or the rise of the whole is beyond the gate.
#pragma once

#include <cstddef>
#include <vector>

#include "core/result.hpp"
#include "localization/slam/closures.hpp"
#include "localization/slam/registration.hpp"
#include "localization/slam/survey.hpp"

namespace pitwall::slam {

class LoopCloser {
 public:
  LoopCloser(const ClosureParameters& parameters, const RegistrationParameters& registration)
      : parameters_(parameters), registration_(registration) {}

  /// Looks for places that the last node has in common with older ones. The poses of the survey may move.
  Status close(Survey& survey);
  /// Solves for what was taken without.
  Status settle(Survey& survey);
  /// Looks at all closures together, takes back those that are outvoted, and goes to the optimum.
  Status finish(Survey& survey);

  [[nodiscard]] const std::vector<ClosureAttempt>& attempts() const { return attempts_; }

 private:
  // How far, by the edges of the graph, a node may be from the last one.
  struct Reach {
    double sigma_m = 0.0;
    double sigma_rad = 0.0;
  };
  struct Candidate {
    std::size_t node = 0;
    double distance_m = 0.0;
    Reach reach;
  };
  [[nodiscard]] std::vector<Reach> reach_from_last(const Survey& survey) const;
  [[nodiscard]] std::vector<Candidate> candidates(const Survey& survey) const;
  // What the walls say; the outcome is kAccepted where there is an edge to try.
  ClosureAttempt measure(const Survey& survey, const Candidate& candidate, Edge& edge) const;
  Status attempt(Survey& survey, const Edge& edge, ClosureAttempt& attempt);

  ClosureParameters parameters_;
  RegistrationParameters registration_;
  std::vector<ClosureAttempt> attempts_;
  std::vector<std::size_t> attempt_of_edge_;  // of each closure among the edges, in their order
  double settled_chi2_ = 0.0;                 // of the graph at its last optimum
  std::size_t unsettled_ = 0;                 // closures taken without a solve since
};

}  // namespace pitwall::slam

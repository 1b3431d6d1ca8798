// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <vector>

#include "localization/slam/graph.hpp"

namespace pitwall::slam {

namespace {

// How fast the convex surrogate becomes the truncated one; the paper's value.
constexpr double kGrowth = 1.4;
constexpr int kMostRounds = 200;

// Weight of a term of chi2 r2 at the control parameter mu: 1 well below the gate, 0 well above, in between what makes the surrogate.
double weight_of(double r2, double gate, double mu) {
  if (r2 <= mu / (mu + 1.0) * gate) return 1.0;
  if (r2 >= (mu + 1.0) / mu * gate) return 0.0;
  return std::sqrt(gate * mu * (mu + 1.0) / r2) - mu;
}

// Poses by what is no closure alone.
Status open_start(Graph& graph, std::vector<double>& weights) {
  for (std::size_t k = 0; k < graph.edges.size(); ++k) weights[k] = graph.edges[k].closure ? 0.0 : 1.0;
  return chordal_start(graph, weights);
}

}  // namespace

Result<RobustOptimum> optimize_robustly(Graph& graph, double gate, bool from_poses) {
  Graph solved = graph;
  std::vector<double> weights(graph.edges.size(), 1.0);
  if (!from_poses) {
    if (const Status status = open_start(solved, weights); !status) return status.error();
  }
  const OptimizerSettings rough{5, 1e-4};
  double worst = 0.0;
  for (const Edge& edge : solved.edges) worst = edge.closure ? std::max(worst, chi2_of(edge, solved.poses)) : worst;
  double mu = worst > gate ? gate / (2.0 * worst - gate) : 1e6;
  bool decided = false;
  for (int round = 0; round < kMostRounds && !decided; ++round, mu *= kGrowth) {
    decided = true;
    for (std::size_t k = 0; k < weights.size(); ++k) {
      if (!solved.edges[k].closure) {
        weights[k] = 1.0;
        continue;
      }
      weights[k] = weight_of(chi2_of(solved.edges[k], solved.poses), gate, mu);
      decided = decided && (weights[k] == 0.0 || weights[k] == 1.0);
    }
    if (const Result<Optimum> step = optimize(solved, rough, weights); !step) return step.error();
  }
  RobustOptimum result;
  for (double& weight : weights) {
    weight = weight >= 0.5 ? 1.0 : 0.0;
    result.accepted.push_back(weight > 0.0);
  }
  const Result<Optimum> optimum = optimize(solved, {}, weights);
  if (!optimum) return optimum.error();
  result.optimum = *optimum;
  graph.poses = std::move(solved.poses);
  return result;
}

}  // namespace pitwall::slam

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
// With this control parameter every weight is 0 or 1.
constexpr double kDecided = 1e6;

// Weight of a term of chi2 r2 at the control parameter mu: 1 well below the gate, 0 well above, in between what makes the surrogate.
double weight_of(double r2, double gate, double mu) {
  if (r2 <= mu / (mu + 1.0) * gate) return 1.0;
  if (r2 >= (mu + 1.0) / mu * gate) return 0.0;
  return std::sqrt(gate * mu * (mu + 1.0) / r2) - mu;
}

struct Attempt {
  Graph graph;
  RobustOptimum result;
  double truncated = 0.0;  // chi2 with no closure counting more than the gate: what is made least
};

// From the poses of the graph.
Result<Attempt> anneal(Graph graph, double gate) {
  std::vector<double> weights(graph.edges.size(), 1.0);
  const OptimizerSettings rough{5, 1e-4};
  double worst = 0.0;
  for (const Edge& edge : graph.edges) worst = edge.closure ? std::max(worst, chi2_of(edge, graph.poses)) : worst;
  double mu = worst > gate ? gate / (2.0 * worst - gate) : kDecided;
  bool decided = false;
  for (int round = 0; round < kMostRounds && !decided; ++round, mu *= kGrowth) {
    decided = true;
    for (std::size_t k = 0; k < weights.size(); ++k) {
      if (!graph.edges[k].closure) continue;
      weights[k] = weight_of(chi2_of(graph.edges[k], graph.poses), gate, mu);
      decided = decided && (weights[k] == 0.0 || weights[k] == 1.0);
    }
    if (const Result<Optimum> step = optimize(graph, rough, weights); !step) return step.error();
  }
  Attempt attempt;
  for (double& weight : weights) {
    weight = weight >= 0.5 ? 1.0 : 0.0;
    attempt.result.accepted.push_back(weight > 0.0);
  }
  const Result<Optimum> optimum = optimize(graph, {}, weights);
  if (!optimum) return optimum.error();
  attempt.result.optimum = *optimum;
  for (const Edge& edge : graph.edges) {
    const double r2 = chi2_of(edge, graph.poses);
    attempt.truncated += edge.closure ? std::min(r2, gate) : r2;
  }
  attempt.graph = std::move(graph);
  return attempt;
}

// From what the edges of these weights have it.
Result<Attempt> anneal_from(Graph graph, std::span<const double> weights, double gate) {
  if (const Status status = chordal_start(graph, weights); !status) return status.error();
  if (const Result<Optimum> first = optimize(graph, {20, 1e-4}, weights); !first) return first.error();
  return anneal(std::move(graph), gate);
}

}  // namespace

Result<RobustOptimum> optimize_robustly(Graph& graph, double gate, RobustStart start) {
  std::vector<double> trusted(graph.edges.size(), 1.0);
  Result<Attempt> best = start == RobustStart::kPoses ? anneal(graph, gate) : anneal_from(graph, trusted, gate);
  if (!best) return best.error();
  if (start == RobustStart::kNone) {
    // Few false closures leave the relaxed problem with all edges near the truth; many do not, and then the way alone is nearer.
    for (std::size_t k = 0; k < graph.edges.size(); ++k) trusted[k] = graph.edges[k].closure ? 0.0 : 1.0;
    Result<Attempt> other = anneal_from(graph, trusted, gate);
    if (!other) return other.error();
    if (other->truncated < best->truncated) best = std::move(other);
  }
  graph.poses = std::move(best->graph.poses);
  return std::move(best->result);
}

}  // namespace pitwall::slam

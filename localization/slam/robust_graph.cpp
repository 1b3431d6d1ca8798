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
const OptimizerSettings kRough{10, 1e-4};
// What a closure that is brought back may cost, in gates.
constexpr double kMostStrain = 2.0;

// Weight of a term of chi2 r2 at the control parameter mu: 1 well below the gate, 0 well above, in between what makes the surrogate.
double weight_of(double r2, double gate, double mu) {
  if (r2 <= mu / (mu + 1.0) * gate) return 1.0;
  if (r2 >= (mu + 1.0) / mu * gate) return 0.0;
  return std::sqrt(gate * mu * (mu + 1.0) / r2) - mu;
}

struct Attempt {
  Graph graph;
  std::vector<double> weights;  // 1 of what is accepted, else 0
  double truncated = 0.0;       // chi2 with no closure counting more than the gate: what is made least
};

// Chi2 with no closure counting more than the gate, and which closures are within it.
double judge(const Graph& graph, double gate, std::vector<double>& weights) {
  double sum = 0.0;
  for (std::size_t k = 0; k < graph.edges.size(); ++k) {
    const double r2 = chi2_of(graph.edges[k], graph.poses);
    const bool within = !graph.edges[k].closure || r2 <= gate;
    weights[k] = within ? 1.0 : 0.0;
    sum += within ? r2 : gate;
  }
  return sum;
}

// The surrogate minima one after the other. With `relax`, each round starts from its relaxed problem instead of the round before: steps
// between rounds may be large.
Status anneal(Graph& graph, double gate, bool relax, std::vector<double>& weights) {
  double worst = 0.0;
  for (const Edge& edge : graph.edges) worst = edge.closure ? std::max(worst, chi2_of(edge, graph.poses)) : worst;
  if (worst <= gate) return {};
  double mu = gate / (2.0 * worst - gate);
  bool decided = false;
  for (int round = 0; round < kMostRounds && !decided; ++round, mu *= kGrowth) {
    decided = true;
    for (std::size_t k = 0; k < weights.size(); ++k) {
      if (!graph.edges[k].closure) continue;
      weights[k] = weight_of(chi2_of(graph.edges[k], graph.poses), gate, mu);
      decided = decided && (weights[k] == 0.0 || weights[k] == 1.0);
    }
    if (relax) {
      if (const Status status = chordal_start(graph, weights); !status) return status;
    }
    if (const Result<Optimum> step = optimize(graph, kRough, weights); !step) return step.error();
  }
  return {};
}

std::ptrdiff_t accepted(const Attempt& attempt) { return std::count(attempt.weights.begin(), attempt.weights.end(), 1.0); }

// Annealing loses true closures that pull on many others: on their own they cost more than the gate. Each one that is left out is tried,
// and kept if it comes within the gate and as many of the others stay within it, at the price of two gates at most.
Status bring_back(Attempt& attempt, double gate, bool relax) {
  for (std::size_t k = 0; k < attempt.weights.size(); ++k) {
    if (attempt.weights[k] > 0.0) continue;
    Attempt trial = attempt;
    trial.weights[k] = 1.0;
    if (relax) {
      if (const Status status = chordal_start(trial.graph, trial.weights); !status) return status;
    }
    if (const Result<Optimum> step = optimize(trial.graph, kRough, trial.weights); !step) return step.error();
    trial.truncated = judge(trial.graph, gate, trial.weights);
    if (accepted(trial) > accepted(attempt) && trial.truncated < attempt.truncated + kMostStrain * gate) attempt = std::move(trial);
  }
  return {};
}

// From the poses of the graph.
Result<Attempt> settle(Graph graph, double gate, bool relax) {
  Attempt attempt{std::move(graph), {}, 0.0};
  attempt.weights.assign(attempt.graph.edges.size(), 1.0);
  if (const Status status = anneal(attempt.graph, gate, relax, attempt.weights); !status) return status.error();
  attempt.truncated = judge(attempt.graph, gate, attempt.weights);
  return attempt;
}

// From what the edges of these weights have it.
Result<Attempt> settle_from(Graph graph, std::span<const double> weights, double gate) {
  if (const Status status = chordal_start(graph, weights); !status) return status.error();
  if (const Result<Optimum> first = optimize(graph, {20, 1e-4}, weights); !first) return first.error();
  return settle(std::move(graph), gate, true);
}

}  // namespace

Result<RobustOptimum> optimize_robustly(Graph& graph, double gate, RobustStart start) {
  std::vector<double> trusted(graph.edges.size(), 1.0);
  Result<Attempt> best = start == RobustStart::kPoses ? settle(graph, gate, false) : settle_from(graph, trusted, gate);
  if (!best) return best.error();
  if (start == RobustStart::kNone) {
    // Few false closures leave the relaxed problem with all edges near the truth; many do not, and then the way alone is nearer.
    for (std::size_t k = 0; k < graph.edges.size(); ++k) trusted[k] = graph.edges[k].closure ? 0.0 : 1.0;
    Result<Attempt> other = settle_from(graph, trusted, gate);
    if (!other) return other.error();
    if (other->truncated < best->truncated) best = std::move(other);
  }
  if (const Status status = bring_back(*best, gate, start == RobustStart::kNone); !status) return status.error();
  const Result<Optimum> optimum = optimize(best->graph, {}, best->weights);
  if (!optimum) return optimum.error();
  graph.poses = std::move(best->graph.poses);
  RobustOptimum result{*optimum, {}};
  for (const double weight : best->weights) result.accepted.push_back(weight > 0.0);
  return result;
}

}  // namespace pitwall::slam

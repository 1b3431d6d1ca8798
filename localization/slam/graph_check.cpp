// SPDX-License-Identifier: Apache-2.0
#include "localization/slam/graph_check.hpp"

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

namespace pitwall::slam::detail {

namespace {

bool is_finite(const Pose2& pose) { return std::isfinite(pose.x) && std::isfinite(pose.y) && std::isfinite(pose.yaw); }

// Sylvester's criterion; false for NaN.
bool is_positive_definite(const Matrix3& m) {
  const double minor2 = m(0, 0) * m(1, 1) - m(0, 1) * m(1, 0);
  const double determinant =
      m(0, 2) * (m(1, 0) * m(2, 1) - m(1, 1) * m(2, 0)) - m(1, 2) * (m(0, 0) * m(2, 1) - m(0, 1) * m(2, 0)) + m(2, 2) * minor2;
  return m(0, 0) > 0.0 && minor2 > 0.0 && determinant > 0.0 && std::isfinite(determinant);
}

// Which set an element belongs to, by its smallest member.
class Sets {
 public:
  explicit Sets(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }
  std::size_t of(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::size_t a, std::size_t b) {
    a = of(a);
    b = of(b);
    a < b ? parent_[b] = a : parent_[a] = b;
  }

 private:
  std::vector<std::size_t> parent_;
};

}  // namespace

Status check(const Graph& graph, std::span<const double> weights) {
  if (!weights.empty() && weights.size() != graph.edges.size()) {
    return Error{"pose graph: " + std::to_string(weights.size()) + " weights for " + std::to_string(graph.edges.size()) + " edges"};
  }
  for (std::size_t i = 0; i < graph.poses.size(); ++i) {
    if (!is_finite(graph.poses[i])) return Error{"pose graph: pose " + std::to_string(i) + " is not finite"};
  }
  Sets sets(graph.poses.size());
  for (std::size_t k = 0; k < graph.edges.size(); ++k) {
    const Edge& edge = graph.edges[k];
    const std::string name = "pose graph: edge " + std::to_string(k);
    if (edge.from >= graph.poses.size() || edge.to >= graph.poses.size() || edge.from == edge.to) {
      return Error{name + " joins poses " + std::to_string(edge.from) + " and " + std::to_string(edge.to) + " of " +
                   std::to_string(graph.poses.size())};
    }
    if (!is_finite(edge.T_from_to)) return Error{name + ": its measurement is not finite"};
    if (!is_positive_definite(edge.information)) return Error{name + ": its information matrix is not positive definite"};
    if (!weights.empty() && !(weights[k] >= 0.0)) return Error{name + ": its weight is negative"};
    if (weights.empty() || weights[k] > 0.0) sets.join(edge.from, edge.to);
  }
  for (std::size_t i = 1; i < graph.poses.size(); ++i) {
    if (sets.of(i) != 0) return Error{"pose graph: no edges join pose " + std::to_string(i) + " to the first"};
  }
  return {};
}

}  // namespace pitwall::slam::detail

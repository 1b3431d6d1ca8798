// SPDX-License-Identifier: Apache-2.0
#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>
#include <complex>
#include <span>
#include <vector>

#include "localization/slam/graph.hpp"
#include "localization/slam/graph_check.hpp"

namespace pitwall::slam {

namespace {

using Complex = std::complex<double>;

// Normal equations, filled entry by entry. The first pose is known: its columns go to the right-hand side.
template <class Scalar>
class Normal {
 public:
  explicit Normal(std::size_t unknowns)
      : size_(static_cast<Eigen::Index>(unknowns)), right_(Eigen::Matrix<Scalar, Eigen::Dynamic, 1>::Zero(size_)) {}
  void add(std::size_t row, std::size_t column, Scalar value) {
    entries_.emplace_back(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(column), value);
  }
  void add_right(std::size_t row, Scalar value) { right_[static_cast<Eigen::Index>(row)] += value; }
  // The solution; empty where the matrix is not positive definite in numbers.
  [[nodiscard]] Eigen::Matrix<Scalar, Eigen::Dynamic, 1> solve() const {
    Eigen::SparseMatrix<Scalar> matrix(size_, size_);
    matrix.setFromTriplets(entries_.begin(), entries_.end());
    const Eigen::SimplicialLDLT<Eigen::SparseMatrix<Scalar>> factor(matrix);
    if (factor.info() != Eigen::Success) return {};
    return factor.solve(right_);
  }

 private:
  Eigen::Index size_;
  std::vector<Eigen::Triplet<Scalar>> entries_;
  Eigen::Matrix<Scalar, Eigen::Dynamic, 1> right_;
};

double weight_of(std::span<const double> weights, std::size_t k) { return weights.empty() ? 1.0 : weights[k]; }

// Headings as complex numbers r of any length: least sum of kappa |r_to - z r_from|^2, kappa the information about the yaw.
bool relax_headings(Graph& graph, std::span<const double> weights) {
  const Complex first{math::sincos(graph.poses[0].yaw).cos, math::sincos(graph.poses[0].yaw).sin};
  Normal<Complex> normal(graph.poses.size() - 1);
  for (std::size_t k = 0; k < graph.edges.size(); ++k) {
    const Edge& edge = graph.edges[k];
    const double kappa = weight_of(weights, k) * edge.information(2, 2);
    if (kappa <= 0.0) continue;
    const math::SinCos turn = math::sincos(edge.T_from_to.yaw);
    const Complex z{turn.cos, turn.sin};
    const std::size_t a = edge.from;
    const std::size_t b = edge.to;
    if (a > 0) normal.add(a - 1, a - 1, kappa);
    if (b > 0) normal.add(b - 1, b - 1, kappa);
    if (a > 0 && b > 0) {
      normal.add(b - 1, a - 1, -kappa * z);
      normal.add(a - 1, b - 1, -kappa * std::conj(z));
    }
    if (a == 0) normal.add_right(b - 1, kappa * z * first);
    if (b == 0) normal.add_right(a - 1, kappa * std::conj(z) * first);
  }
  const auto r = normal.solve();
  if (r.size() == 0) return false;
  for (std::size_t i = 1; i < graph.poses.size(); ++i) {
    const Complex& value = r[static_cast<Eigen::Index>(i - 1)];
    graph.poses[i].yaw = math::atan2(value.imag(), value.real());
  }
  return true;
}

// Positions for these headings: the least chi2 where the errors in yaw are left out of account.
bool relax_positions(Graph& graph, std::span<const double> weights) {
  Normal<double> normal(2 * (graph.poses.size() - 1));
  for (std::size_t k = 0; k < graph.edges.size(); ++k) {
    const Edge& edge = graph.edges[k];
    const double weight = weight_of(weights, k);
    if (weight <= 0.0) continue;
    // Information in the axes of the map.
    const auto [s, c] = math::sincos(graph.poses[edge.from].yaw + edge.T_from_to.yaw);
    const localization::Matrix<2, 2> turn{{c, -s, s, c}};
    const localization::Matrix<2, 2> seen{{edge.information(0, 0), edge.information(0, 1), edge.information(1, 0), edge.information(1, 1)}};
    const localization::Matrix<2, 2> omega = weight * sandwich(turn, seen);
    const Vec2 way = rotate(graph.poses[edge.from].yaw, edge.T_from_to.position());
    const Vec2 pull{omega(0, 0) * way.x + omega(0, 1) * way.y, omega(1, 0) * way.x + omega(1, 1) * way.y};
    const Vec2 first = graph.poses[0].position();
    const Vec2 held{omega(0, 0) * first.x + omega(0, 1) * first.y, omega(1, 0) * first.x + omega(1, 1) * first.y};
    const auto add = [&](std::size_t i, std::size_t j, double sign) {
      for (std::size_t p = 0; p < 2; ++p) {
        for (std::size_t q = 0; q < 2; ++q) normal.add(2 * (i - 1) + p, 2 * (j - 1) + q, sign * omega(p, q));
      }
    };
    const auto push = [&](std::size_t i, Vec2 value) {
      normal.add_right(2 * (i - 1), value.x);
      normal.add_right(2 * (i - 1) + 1, value.y);
    };
    const std::size_t a = edge.from;
    const std::size_t b = edge.to;
    if (a > 0) add(a, a, 1.0), push(a, -pull);
    if (b > 0) add(b, b, 1.0), push(b, pull);
    if (a > 0 && b > 0) add(a, b, -1.0), add(b, a, -1.0);
    if (a == 0) push(b, held);
    if (b == 0) push(a, held);
  }
  const auto p = normal.solve();
  if (p.size() == 0) return false;
  for (std::size_t i = 1; i < graph.poses.size(); ++i) {
    graph.poses[i].x = p[static_cast<Eigen::Index>(2 * (i - 1))];
    graph.poses[i].y = p[static_cast<Eigen::Index>(2 * (i - 1) + 1)];
  }
  return true;
}

}  // namespace

Status chordal_start(Graph& graph, std::span<const double> weights) {
  if (Status status = detail::check(graph, weights); !status) return status;
  if (graph.poses.size() < 2) return {};
  Graph relaxed = graph;
  if (!relax_headings(relaxed, weights) || !relax_positions(relaxed, weights)) return Error{"pose graph: the relaxed problem is singular"};
  graph.poses = std::move(relaxed.poses);
  return {};
}

}  // namespace pitwall::slam

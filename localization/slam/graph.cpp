// SPDX-License-Identifier: Apache-2.0
#include "localization/slam/graph.hpp"

#include <ceres/ceres.h>

#include <array>
#include <cmath>
#include <memory>
#include <string>

#include "localization/slam/graph_check.hpp"

namespace pitwall::slam {

namespace {

using localization::Vector3;
using InformationBlock = std::array<double, 3>;

Vector3 error_of(const Edge& edge, const Pose2& from, const Pose2& to) {
  const Pose2 e = inverse(edge.T_from_to) * (inverse(from) * to);
  return {{e.x, e.y, e.yaw}};
}

// L^T of Omega = L L^T, so that |L^T e|^2 is the chi2.
Matrix3 root_of(const Matrix3& omega) {
  Matrix3 l;
  for (std::size_t j = 0; j < 3; ++j) {
    double pivot = omega(j, j);
    for (std::size_t k = 0; k < j; ++k) pivot -= l(j, k) * l(j, k);
    l(j, j) = std::sqrt(pivot);
    for (std::size_t i = j + 1; i < 3; ++i) {
      double sum = omega(i, j);
      for (std::size_t k = 0; k < j; ++k) sum -= l(i, k) * l(j, k);
      l(i, j) = sum / l(j, j);
    }
  }
  return transposed(l);
}

// The whitened error of one edge, with its derivatives by the poses of both ends.
class EdgeCost final : public ceres::SizedCostFunction<3, 3, 3> {
 public:
  EdgeCost(const Edge& edge, double weight)
      : measured_(edge.T_from_to), turn_(math::sincos(edge.T_from_to.yaw)), root_(std::sqrt(weight) * root_of(edge.information)) {}

  bool Evaluate(double const* const* blocks, double* residuals, double** jacobians) const override {
    const double* a = blocks[0];
    const double* b = blocks[1];
    const auto [s, c] = math::sincos(a[2]);
    const double dx = b[0] - a[0];
    const double dy = b[1] - a[1];
    const Vec2 seen{c * dx + s * dy, c * dy - s * dx};
    const Vec2 p = unturned(seen - measured_.position());
    const Vector3 e{{p.x, p.y, wrap_angle(b[2] - a[2] - measured_.yaw)}};
    const Vector3 r = root_ * e;
    for (std::size_t k = 0; k < 3; ++k) residuals[k] = r.v[k];
    if (jacobians == nullptr) return true;
    const Vec2 x = unturned({c, -s});
    const Vec2 y = unturned({s, c});
    const Vec2 turned = unturned({seen.y, -seen.x});
    const Matrix3 by_b{{x.x, y.x, 0.0, x.y, y.y, 0.0, 0.0, 0.0, 1.0}};
    const Matrix3 by_a{{-x.x, -y.x, turned.x, -x.y, -y.y, turned.y, 0.0, 0.0, -1.0}};
    write(by_a, jacobians[0]);
    write(by_b, jacobians[1]);
    return true;
  }

 private:
  [[nodiscard]] Vec2 unturned(Vec2 v) const { return {turn_.cos * v.x + turn_.sin * v.y, turn_.cos * v.y - turn_.sin * v.x}; }
  void write(const Matrix3& by_block, double* jacobian) const {
    if (jacobian == nullptr) return;
    const Matrix3 whitened = root_ * by_block;
    for (std::size_t k = 0; k < 9; ++k) jacobian[k] = whitened.v[k];
  }
  Pose2 measured_;
  math::SinCos turn_;
  Matrix3 root_;
};

ceres::Solver::Options options_of(const OptimizerSettings& settings) {
  ceres::Solver::Options options;
  options.linear_solver_type = ceres::SPARSE_NORMAL_CHOLESKY;
  options.sparse_linear_algebra_library_type = ceres::EIGEN_SPARSE;
  // Sums of several threads come in any order.
  options.num_threads = 1;
  options.max_num_iterations = settings.max_iterations;
  options.function_tolerance = settings.function_tolerance;
  options.gradient_tolerance = 1e-12;
  options.parameter_tolerance = 1e-12;
  // The poses are near their minimum or come from the relaxed problem: trust the step, damp where it fails.
  options.initial_trust_region_radius = 1e8;
  options.logging_type = ceres::SILENT;
  return options;
}

}  // namespace

double chi2_of(const Edge& edge, std::span<const Pose2> poses) {
  const Vector3 e = error_of(edge, poses[edge.from], poses[edge.to]);
  return (transposed(e) * (edge.information * e)).v[0];
}

double chi2_of(const Graph& graph) {
  double sum = 0.0;
  for (const Edge& edge : graph.edges) sum += chi2_of(edge, graph.poses);
  return sum;
}

Result<Optimum> optimize(Graph& graph, const OptimizerSettings& settings, std::span<const double> weights) {
  if (const Status status = detail::check(graph, weights); !status) return status.error();
  std::vector<InformationBlock> blocks;
  blocks.reserve(graph.poses.size());
  for (const Pose2& pose : graph.poses) blocks.push_back({pose.x, pose.y, pose.yaw});
  if (blocks.size() < 2) return Optimum{0.0, 0, true};
  ceres::Problem::Options problem_options;
  problem_options.disable_all_safety_checks = true;
  ceres::Problem problem(problem_options);
  for (InformationBlock& block : blocks) problem.AddParameterBlock(block.data(), 3);
  problem.SetParameterBlockConstant(blocks.front().data());
  for (std::size_t k = 0; k < graph.edges.size(); ++k) {
    const Edge& edge = graph.edges[k];
    const double weight = weights.empty() ? 1.0 : weights[k];
    if (weight <= 0.0) continue;
    problem.AddResidualBlock(std::make_unique<EdgeCost>(edge, weight).release(), nullptr, blocks[edge.from].data(), blocks[edge.to].data());
  }
  ceres::Solver::Summary summary;
  ceres::Solve(options_of(settings), &problem, &summary);
  if (!summary.IsSolutionUsable()) return Error{"pose graph: " + summary.message};
  for (std::size_t i = 1; i < blocks.size(); ++i) graph.poses[i] = {blocks[i][0], blocks[i][1], wrap_angle(blocks[i][2])};
  return Optimum{2.0 * summary.final_cost, static_cast<int>(summary.iterations.size()) - 1, summary.termination_type == ceres::CONVERGENCE};
}

}  // namespace pitwall::slam

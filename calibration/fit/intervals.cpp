// SPDX-License-Identifier: Apache-2.0
#include "calibration/fit/intervals.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "calibration/fit/objective.hpp"
#include "core/rng.hpp"
#include "core/signal.hpp"

namespace pitwall::fit {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

constexpr double kNormal95 = 1.96;

struct Normal {
  Matrix h;
  Vector g;
};

/// Second derivative of the loss over the square of the slope that a row of the Jacobian carries: what Gauss and Newton leave out. For
/// normal noise it is 0.9, and intervals would be that much too narrow.
double curvature_left(double row) {
  const double w = 1.0 + 0.5 * row * row / (kLoss * kLoss);
  return 2.0 / (w * (w + 1.0));
}

/// The normal equations of each block that has rows.
std::vector<Normal> normals_of(const std::vector<double>& f, const std::vector<double>& jacobian, const std::vector<std::size_t>& block,
                               std::size_t n) {
  std::vector<Normal> normals;
  std::vector<std::size_t> place;
  const auto columns = static_cast<Eigen::Index>(n);
  for (std::size_t i = 0; i < f.size(); ++i) {
    if (block[i] >= place.size()) place.resize(block[i] + 1, SIZE_MAX);
    std::size_t& at = place[block[i]];
    if (at == SIZE_MAX) {
      at = normals.size();
      normals.push_back({Matrix::Zero(columns, columns), Vector::Zero(columns)});
    }
    const Eigen::Map<const Vector> row(jacobian.data() + i * n, columns);
    normals[at].h.noalias() += curvature_left(f[i]) * row * row.transpose();
    normals[at].g.noalias() += f[i] * row;
  }
  return normals;
}

}  // namespace

Uncertainty bootstrap(const std::vector<double>& f, const std::vector<double>& jacobian, const std::vector<std::size_t>& block,
                      const std::vector<double>& z, int replicates, std::uint64_t seed) {
  const std::size_t n = z.size();
  const auto columns = static_cast<Eigen::Index>(n);
  std::vector<Normal> blocks = normals_of(f, jacobian, block, n);
  const Rng draw(seed, "fit/blocks");
  const Rng prior(seed, "fit/priors");
  Matrix all = Matrix::Identity(columns, columns);
  Vector gradient = Eigen::Map<const Vector>(z.data(), columns);
  for (const Normal& each : blocks) all += each.h;
  const Eigen::LDLT<Matrix> solved(all);
  // A block that says much about a parameter pulls the fit towards itself and leaves too little: as if it had been left out of the fit
  // (the jackknife form of cluster-robust errors, CR3: Bell and McCaffrey, Survey Methodology 28, 2002).
  for (Normal& each : blocks) {
    each.g = all * Matrix(all - each.h).ldlt().solve(each.g);
    gradient += each.g;
  }
  Matrix spread = Matrix::Zero(columns, columns);
  for (int k = 0; k < replicates; ++k) {
    Vector g(columns);
    for (std::size_t i = 0; i < n; ++i) {
      g(static_cast<Eigen::Index>(i)) = z[i] - prior.normal(static_cast<std::uint64_t>(k), static_cast<std::uint32_t>(i));
    }
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const double u = draw.uniform(static_cast<std::uint64_t>(k), static_cast<std::uint32_t>(b));
      g += blocks[std::min(blocks.size() - 1, static_cast<std::size_t>(u * static_cast<double>(blocks.size())))].g;
    }
    // The optimum's own gradient is left out: the solver stops short of 0. The curvature is that of all blocks: with hardly more blocks
    // than parameters, that of a draw would be singular.
    const Vector shift = solved.solve(gradient - g);
    spread.noalias() += shift * shift.transpose();
  }
  spread /= std::max(1, replicates);
  // Parameters that the data and not the priors hold take degrees of freedom from the blocks.
  const double held_by_prior = solved.solve(Matrix::Identity(columns, columns)).trace();
  const double left = std::max(2.0, static_cast<double>(blocks.size()) - (static_cast<double>(n) - held_by_prior));
  const double factor = signals::student_t95(static_cast<std::size_t>(left));
  Uncertainty out;
  for (Eigen::Index i = 0; i < columns; ++i) {
    out.half_width.push_back(factor * std::sqrt(spread(i, i)));
    out.correlation.emplace_back();
    for (Eigen::Index j = 0; j < columns; ++j) {
      const double scale = std::sqrt(spread(i, i) * spread(j, j));
      out.correlation.back().push_back(scale > 0.0 ? spread(i, j) / scale : (i == j ? 1.0 : 0.0));
    }
  }
  return out;
}

std::vector<double> expected_half_widths(const std::vector<double>& jacobian, std::size_t columns) {
  const auto n = static_cast<Eigen::Index>(columns);
  Matrix h = Matrix::Identity(n, n);
  for (std::size_t i = 0; i + columns <= jacobian.size(); i += columns) {
    const Eigen::Map<const Vector> row(jacobian.data() + i, n);
    h.noalias() += row * row.transpose();
  }
  const Matrix covariance = h.ldlt().solve(Matrix::Identity(n, n));
  std::vector<double> half;
  for (Eigen::Index i = 0; i < n; ++i) half.push_back(kNormal95 * std::sqrt(covariance(i, i)));
  return half;
}

}  // namespace pitwall::fit

// SPDX-License-Identifier: Apache-2.0
#include "localization/accelerometer_fit.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/math.hpp"
#include "core/text.hpp"

namespace pitwall::localization {

namespace {

constexpr std::size_t kFewestPoses = 6;
constexpr std::size_t kFullFrom = 12;
constexpr std::size_t kMost = 9;  // numbers that are fitted: bias, diagonal, xy, xz, yz
constexpr int kRounds = 200;

using Unknowns = Vector<kMost>;

double length_of(const Vector3& v) { return std::sqrt(v.v[0] * v.v[0] + v.v[1] * v.v[1] + v.v[2] * v.v[2]); }

std::size_t count_of(AccelerometerModel model) {
  return model == AccelerometerModel::kBias ? 3 : model == AccelerometerModel::kDiagonal ? 6 : 9;
}

Matrix3 matrix_of(const Unknowns& u) { return {{u.v[3], u.v[6], u.v[7], u.v[6], u.v[4], u.v[8], u.v[7], u.v[8], u.v[5]}}; }
Vector3 bias_of(const Unknowns& u) { return {{u.v[0], u.v[1], u.v[2]}}; }

// |A (raw - bias)| - g and its derivatives.
double residual_of(const Vector3& raw, const Unknowns& u, Unknowns& gradient) {
  const Matrix3 a = matrix_of(u);
  const Vector3 d = raw - bias_of(u);
  const Vector3 c = a * d;
  const double length = length_of(c);
  const Vector3 unit = (1.0 / length) * c;
  const Vector3 back = a * unit;  // A is symmetric
  for (std::size_t i = 0; i < 3; ++i) {
    gradient.v[i] = -back.v[i];
    gradient.v[3 + i] = unit.v[i] * d.v[i];
  }
  gradient.v[6] = unit.v[0] * d.v[1] + unit.v[1] * d.v[0];
  gradient.v[7] = unit.v[0] * d.v[2] + unit.v[2] * d.v[0];
  gradient.v[8] = unit.v[1] * d.v[2] + unit.v[2] * d.v[1];
  return length - math::kStandardGravity_mps2;
}

double rms_of(std::span<const Vector3> poses, const Unknowns& u) {
  double squares = 0.0;
  for (const Vector3& raw : poses) {
    const double off = length_of(matrix_of(u) * (raw - bias_of(u))) - math::kStandardGravity_mps2;
    squares += off * off;
  }
  return std::sqrt(squares / static_cast<double>(poses.size()));
}

// The sums J^T J and J^T r over the poses.
struct Normal {
  Matrix<kMost, kMost> a;
  Unknowns b;
};

Normal normal_of(std::span<const Vector3> poses, const Unknowns& u, std::size_t count) {
  Normal n;
  for (const Vector3& raw : poses) {
    Unknowns g;
    const double r = residual_of(raw, u, g);
    for (std::size_t i = 0; i < count; ++i) {
      n.b.v[i] += g.v[i] * r;
      for (std::size_t k = 0; k < count; ++k) n.a(i, k) += g.v[i] * g.v[k];
    }
  }
  return n;
}

// Smallest pivot over largest of the scaled normal matrix: 0 where something is undetermined.
double determination_of(const Normal& n, std::size_t count) {
  Matrix<kMost, kMost> a;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < count; ++k) a(i, k) = n.a(i, k) / std::sqrt(n.a(i, i) * n.a(k, k));
  }
  double least = 1.0;
  for (std::size_t k = 0; k < count; ++k) {
    least = std::min(least, a(k, k));
    if (!(a(k, k) > 0.0)) return 0.0;
    for (std::size_t i = k + 1; i < count; ++i) {
      const double f = a(i, k) / a(k, k);
      for (std::size_t j = k; j < count; ++j) a(i, j) -= f * a(k, j);
    }
  }
  return least;
}

Unknowns step_of(Normal n, std::size_t count, double damping) {
  for (std::size_t i = 0; i < kMost; ++i) n.a(i, i) = i < count ? n.a(i, i) * (1.0 + damping) : 1.0;
  return -1.0 * (inverse_of(n.a) * n.b);
}

}  // namespace

AccelerometerModel model_for(std::size_t poses) { return poses >= kFullFrom ? AccelerometerModel::kFull : AccelerometerModel::kDiagonal; }

Result<AccelerometerFit> fit_accelerometer(std::span<const Vector3> poses, AccelerometerModel model) {
  if (poses.size() < kFewestPoses) return Error{"accelerometer fit: " + std::to_string(poses.size()) + " poses; at least 6 are needed"};
  std::vector<double> lengths;
  for (const Vector3& raw : poses) {
    const double length = length_of(raw);
    if (!(length > 0.5 * math::kStandardGravity_mps2 && length < 2.0 * math::kStandardGravity_mps2)) {
      return Error{"accelerometer fit: pose " + std::to_string(lengths.size() + 1) + " reads " + format_number(length, 4) +
                   "; a still sensor reads about 9.81 m/s^2 (one that reads about 1 is in g)"};
    }
    lengths.push_back(length);
  }
  std::nth_element(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2), lengths.end());
  const double scale = math::kStandardGravity_mps2 / lengths[lengths.size() / 2];
  const std::size_t count = count_of(model);
  Unknowns u;
  for (std::size_t i = 3; i < 6; ++i) u.v[i] = 1.0;
  AccelerometerFit fit;
  fit.model = model;
  fit.rms_before_mps2 = rms_of(poses, u);
  for (std::size_t i = 3; i < std::min<std::size_t>(count, 6); ++i) u.v[i] = scale;
  constexpr double kLeastDetermination = 1e-6;
  if (determination_of(normal_of(poses, u, count), count) < kLeastDetermination) {
    return Error{"accelerometer fit: the poses leave an axis undetermined; turn the sensor to point each axis up and down"};
  }
  double damping = 1e-3;
  double rms = rms_of(poses, u);
  for (int round = 0; round < kRounds && damping < 1e12; ++round) {
    const Unknowns step = step_of(normal_of(poses, u, count), count, damping);
    const Unknowns tried = u + step;
    const double tried_rms = rms_of(poses, tried);
    if (!(tried_rms <= rms)) {
      damping *= 10.0;
      continue;
    }
    u = tried;
    rms = tried_rms;
    damping *= 0.1;
    double largest = 0.0;
    for (const double x : step.v) largest = std::max(largest, std::abs(x));
    if (largest < 1e-13) break;
  }
  fit.bias = bias_of(u);
  fit.inverse = matrix_of(u);
  fit.rms_after_mps2 = rms;
  return fit;
}

Result<double> leave_one_out_rms(std::span<const Vector3> poses, AccelerometerModel model) {
  double squares = 0.0;
  for (std::size_t out = 0; out < poses.size(); ++out) {
    std::vector<Vector3> others;
    for (std::size_t i = 0; i < poses.size(); ++i) {
      if (i != out) others.push_back(poses[i]);
    }
    const auto fit = fit_accelerometer(others, model);
    if (!fit) return fit.error();
    const double off = length_of(fit->calibrated(poses[out])) - math::kStandardGravity_mps2;
    squares += off * off;
  }
  return std::sqrt(squares / static_cast<double>(poses.size()));
}

}  // namespace pitwall::localization

// SPDX-License-Identifier: Apache-2.0
#include "localization/accelerometer_fit.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "core/math.hpp"
#include "tests/support/test_data.hpp"

using namespace pitwall;
using namespace pitwall::localization;

namespace {

// Directions spread over the sphere.
std::vector<Vector3> readings(std::size_t count, const Vector3& bias, const Matrix3& inverse) {
  std::vector<Vector3> all;
  for (std::size_t i = 0; i < count; ++i) {
    const double z = -1.0 + (2.0 * static_cast<double>(i) + 1.0) / static_cast<double>(count);
    const double around = 2.4 * static_cast<double>(i);
    const double r = std::sqrt(1.0 - z * z);
    const Vector3 g{{math::kStandardGravity_mps2 * r * math::cos(around), math::kStandardGravity_mps2 * r * math::sin(around),
                     math::kStandardGravity_mps2 * z}};
    all.push_back(inverse_of(inverse) * g + bias);
  }
  return all;
}

}  // namespace

TEST_CASE("bias, scales and angles that were put in are found") {
  const Vector3 bias{{0.2, -0.3, 0.1}};
  const Matrix3 inverse{{1.02, 0.01, -0.005, 0.01, 0.97, 0.008, -0.005, 0.008, 1.005}};
  const auto fit = fit_accelerometer(readings(14, bias, inverse), AccelerometerModel::kFull);
  REQUIRE_MESSAGE(fit.ok(), fit.error().message);
  for (std::size_t i = 0; i < 3; ++i) CHECK(std::abs(fit->bias.v[i] - bias.v[i]) < 1e-9);
  for (std::size_t i = 0; i < 9; ++i) CHECK(std::abs(fit->inverse.v[i] - inverse.v[i]) < 1e-9);
  CHECK(fit->rms_before_mps2 > 0.1);
  CHECK(fit->rms_after_mps2 < 1e-9);
  const auto diagonal = fit_accelerometer(readings(8, bias, localization::diagonal<3>({1.02, 0.97, 1.01})), model_for(8));
  REQUIRE(diagonal.ok());
  CHECK(diagonal->model == AccelerometerModel::kDiagonal);
  CHECK(std::abs(diagonal->inverse(1, 1) - 0.97) < 1e-9);
  CHECK(diagonal->inverse(0, 1) == 0.0);
  CHECK(model_for(11) == AccelerometerModel::kDiagonal);
  CHECK(model_for(12) == AccelerometerModel::kFull);
}

TEST_CASE("too few poses, another unit and an axis that never pointed anywhere are refused") {
  const auto good = readings(12, {}, identity<3>());
  CHECK_FALSE(fit_accelerometer(std::span(good).first(5), AccelerometerModel::kDiagonal));
  auto in_g = good;
  for (Vector3& v : in_g) v = (1.0 / math::kStandardGravity_mps2) * v;
  const auto refused = fit_accelerometer(in_g, AccelerometerModel::kFull);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("in g") != std::string::npos);
  auto broken = good;
  broken[3].v[1] = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(fit_accelerometer(broken, AccelerometerModel::kFull));
  const std::vector<Vector3> flat(12, Vector3{{0.0, 0.0, 9.8}});
  CHECK_FALSE(fit_accelerometer(flat, AccelerometerModel::kFull));
  CHECK_FALSE(leave_one_out_rms(std::span(good).first(6), AccelerometerModel::kDiagonal));
}

TEST_CASE("the published fit of a motor controller's accelerometer, to the printed digits") {
  const auto folder = test_data("runs/vesc_imu");
  if (!folder) return;
  std::ifstream in(*folder / "vesc_accel_poses.csv");
  std::vector<Vector3> poses;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#' || line[0] == 'a') continue;
    std::stringstream cells(line);
    Vector3 v;
    char comma = 0;
    cells >> v.v[0] >> comma >> v.v[1] >> comma >> v.v[2];
    poses.push_back(v);
  }
  REQUIRE(poses.size() == 12);
  const auto fit = fit_accelerometer(poses, model_for(poses.size()));
  REQUIRE(fit.ok());
  const std::array<double, 3> bias{-0.01287, 0.14552, 0.07897};
  for (std::size_t i = 0; i < 3; ++i) CHECK(std::abs(fit->bias.v[i] - bias[i]) < 0.6e-5);
  const std::array<double, 3> scale{0.99520, 1.00083, 0.99124};
  for (std::size_t i = 0; i < 3; ++i) CHECK(std::abs(fit->inverse(i, i) - scale[i]) < 0.6e-5);
  CHECK(std::abs(fit->inverse(0, 1) + 0.00050) < 0.6e-5);
  CHECK(std::abs(fit->inverse(0, 2) - 0.00684) < 0.6e-5);
  CHECK(std::abs(fit->inverse(1, 2) - 0.00045) < 0.6e-5);
  CHECK(std::abs(fit->rms_before_mps2 - 0.1190) < 0.5e-4);
  CHECK(std::abs(fit->rms_after_mps2 - 0.00666) < 0.5e-5);
  const auto out = [&poses](AccelerometerModel model) { return leave_one_out_rms(poses, model); };
  CHECK(std::abs(*out(AccelerometerModel::kBias) - 0.091) < 0.5e-3);
  CHECK(std::abs(*out(AccelerometerModel::kDiagonal) - 0.065) < 0.5e-3);
  CHECK(std::abs(*out(AccelerometerModel::kFull) - 0.033) < 0.5e-3);
}

// SPDX-License-Identifier: Apache-2.0
// Calibration of an accelerometer from poses in which it lies still: whatever way it points, it must read g. Model
//
//   calibrated = A (raw - bias),   A symmetric,
//
// with bias and A such that the sum of (|calibrated| - g)^2 over the poses is least (Gauss-Newton with Levenberg's damping).
#pragma once

#include <array>
#include <span>

#include "core/result.hpp"
#include "localization/small_matrix.hpp"

namespace pitwall::localization {

/// How much of A is fitted.
enum class AccelerometerModel : std::uint8_t {
  kBias,      ///< A is the unit matrix
  kDiagonal,  ///< a scale per axis
  kFull,      ///< and the angles between the axes
};

struct AccelerometerFit {
  AccelerometerModel model = AccelerometerModel::kFull;
  Vector3 bias;                     ///< m/s^2
  Matrix3 inverse = identity<3>();  ///< A
  double rms_before_mps2 = 0.0;     ///< of |raw| - g
  double rms_after_mps2 = 0.0;      ///< of |calibrated| - g
  [[nodiscard]] Vector3 calibrated(const Vector3& raw) const { return inverse * (raw - bias); }
};

/// The model that so many poses carry: full from 12 on, else diagonal.
AccelerometerModel model_for(std::size_t poses);

/// The fit to mean raw readings (m/s^2) of at least 6 poses. Refused: fewer, readings that are not finite or so far from g that they are in
/// another unit, poses that leave an axis undetermined.
Result<AccelerometerFit> fit_accelerometer(std::span<const Vector3> poses, AccelerometerModel model);

/// RMS of | |calibrated| - g | over the poses, each calibrated by a fit to the others.
Result<double> leave_one_out_rms(std::span<const Vector3> poses, AccelerometerModel model);

}  // namespace pitwall::localization

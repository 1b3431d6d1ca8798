// SPDX-License-Identifier: Apache-2.0
// What an IMU says while the car stands and while its motor runs steadily: bias, white noise and bias instability of every axis, and the
// lines in its spectrum beside the orders of motor and wheels, aliased ones where they belong. How late and how strong each gyro reads
// beside the scans, how turning answers steering by frequency, and which setting each of these numbers would replace.
#pragma once

#include <optional>

#include "analysis/imu_run.hpp"

namespace pitwall::analysis {

struct ImuSpectrumOptions {
  ImuRunOptions run;
  double pole_pairs = 2.0;
  double wheel_radius_m = 0.05;
  std::optional<double> max_gyro_noise;  ///< deg/s per square root of Hz, any axis, parked
};

/// With arrays: "0/topic", "0/parked/gyro_x/allan_s", ".../allan"; "0/steady0/frequency_hz", ".../gyro_x" (densities); and
/// "response0/source", ".../frequency_hz", "gain", "phase_rad", "coherence". Errors: as load_imu_run.
Result<ReportResult> imu_spectrum(const ImuSpectrumOptions& options);

}  // namespace pitwall::analysis

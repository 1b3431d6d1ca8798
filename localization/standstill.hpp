// SPDX-License-Identifier: Apache-2.0
// Whether a car stands, from its wheels and from how quiet its IMU is. The spread of the gyro counts, not its value: one with a bias can be
// set to zero again. Neither do wheels alone decide, which also stand when they lock, nor quiet alone, which a smooth straight is too.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "core/fields.hpp"
#include "core/time.hpp"

namespace pitwall::localization {

struct StandstillParameters {
  double window_s = 0.5;
  double coverage = 0.9;    ///< share of the window between its first and last sample
  double wheel_mps = 0.02;  ///< from this on the car moves, and the window begins anew
  double gyro_std_radps = 0.01;
  double accel_std_mps2 = 0.08;
  double accel_mean_mps2 = 1.0;   ///< horizontal; more is a car that brakes with locked wheels
  double gyro_mean_radps = 0.03;  ///< tested only while the wheels are not known
  void fields(FieldVisitor& f);
};

class StandstillDetector {
 public:
  explicit StandstillDetector(const StandstillParameters& parameters) : parameters_(parameters) { window_.reserve(1024); }

  void clear() { window_.clear(); }
  /// Takes a sample of the IMU (rad/s, m/s^2) and the speed of the wheels, where it is known; whether the car stands now.
  bool update(Time stamp, const std::array<double, 3>& gyro, const std::array<double, 3>& accel, const std::optional<double>& wheel_mps);

  /// Means over the window, after update() was true.
  [[nodiscard]] const std::array<double, 3>& mean_gyro() const { return mean_gyro_; }
  [[nodiscard]] const std::array<double, 3>& mean_accel() const { return mean_accel_; }

 private:
  struct Sample {
    Time stamp;
    std::array<double, 3> gyro;
    std::array<double, 3> accel;
  };
  StandstillParameters parameters_;
  std::vector<Sample> window_;  // oldest first
  std::array<double, 3> mean_gyro_{};
  std::array<double, 3> mean_accel_{};
};

}  // namespace pitwall::localization

// SPDX-License-Identifier: Apache-2.0
// Which speeds of the car its accelerometer allows, to compare with what its wheels say: for wheels in the air, wheels that spin, and a
// gain that is wrong. The estimator's own speed will not do: it believes wheels that change slowly, and takes the rest for tilt.
//
//   low'  = a - e + (wheels - low)  / T        a   acceleration forward, less what it reads when the car stands
//   high' = a + e + (wheels - high) / T        e   what it may be off: tilt while driving, and r^2 times how far from base_link it may sit
//                                              T   2 s: a steady difference is forgotten, one that comes with acceleration is not
#pragma once

#include <optional>

#include "core/messages.hpp"
#include "core/time.hpp"

namespace pitwall::onboard {

struct SpeedRange {
  double low_mps = 0.0;
  double high_mps = 0.0;
};

class ImuSpeed {
 public:
  /// In the axes of the car.
  void add_imu(const Imu& imu);
  void add_wheels(Time stamp, double speed_mps);
  /// Nothing before the car has stood for a while with an IMU, and 0.1 s after the last sample.
  [[nodiscard]] std::optional<SpeedRange> range(Time now) const;

 private:
  [[nodiscard]] bool rests(Time now) const;

  double wheels_mps_ = 0.0;
  std::optional<Time> standing_since_;
  std::optional<Time> last_;
  double tilt_mps2_ = 0.0;
  int samples_at_rest_ = 0;
  SpeedRange range_;
};

}  // namespace pitwall::onboard

// SPDX-License-Identifier: Apache-2.0
#include "onboard/imu_speed.hpp"

#include <algorithm>
#include <cmath>

namespace pitwall::onboard {
namespace {

constexpr double kForget_s = 2.0;
constexpr double kTilt_mps2 = 0.15;  // 0.9 degrees
constexpr double kOffset_m = 0.1;
constexpr double kStanding_mps = 0.05;
// Wheels that lock stand too, while the car slides.
constexpr Duration kAtRest = from_milliseconds(1'000);
constexpr int kSamplesAtRest = 30;
constexpr double kTiltShare = 0.01;  // of a sample
constexpr Duration kLongestGap = from_milliseconds(100);

}  // namespace

bool ImuSpeed::rests(Time now) const { return standing_since_ && now - *standing_since_ >= kAtRest; }

void ImuSpeed::add_wheels(Time stamp, double speed_mps) {
  wheels_mps_ = speed_mps;
  if (std::abs(speed_mps) > kStanding_mps) standing_since_.reset();
  if (std::abs(speed_mps) <= kStanding_mps && !standing_since_) standing_since_ = stamp;
}

void ImuSpeed::add_imu(const Imu& imu) {
  const double forward_mps2 = imu.linear_acceleration_mps2[0];
  const bool gap = !last_ || imu.stamp - *last_ > kLongestGap || imu.stamp < *last_;
  const double dt_s = gap ? 0.0 : (imu.stamp - *last_).seconds();
  last_ = imu.stamp;
  if (rests(imu.stamp)) {
    tilt_mps2_ += (forward_mps2 - tilt_mps2_) * std::max(kTiltShare, 1.0 / ++samples_at_rest_);
    range_ = {};
    return;
  }
  if (gap) range_ = {wheels_mps_, wheels_mps_};
  const double a = forward_mps2 - tilt_mps2_;
  const double r = imu.angular_velocity_radps[2];
  const double error_mps2 = kTilt_mps2 + kOffset_m * r * r;
  range_.low_mps += dt_s * (a - error_mps2 + (wheels_mps_ - range_.low_mps) / kForget_s);
  range_.high_mps += dt_s * (a + error_mps2 + (wheels_mps_ - range_.high_mps) / kForget_s);
}

std::optional<SpeedRange> ImuSpeed::range(Time now) const {
  const bool known = last_ && now - *last_ <= kLongestGap && samples_at_rest_ >= kSamplesAtRest;
  return known ? std::optional(range_) : std::nullopt;
}

}  // namespace pitwall::onboard

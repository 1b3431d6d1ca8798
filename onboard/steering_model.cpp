// SPDX-License-Identifier: Apache-2.0
#include "onboard/steering_model.hpp"

#include <algorithm>

#include "core/math.hpp"

namespace pitwall::onboard {
namespace {

// The servo's time constant is 40 ms; steps of a twentieth of it.
constexpr Duration kStep = from_milliseconds(2);
constexpr Duration kLongest = from_milliseconds(1'000);

}  // namespace

void SteeringModel::advance(Time now) {
  if (!started_ || now - last_ > kLongest) last_ = now - std::min(kLongest, started_ ? now - last_ : Duration{});
  started_ = true;
  while (last_ < now) {
    const Duration dt = std::min(kStep, now - last_);
    last_ = last_ + dt;
    while (!under_way_.empty() && under_way_.next_due() <= last_) target_rad_ = under_way_.pop();
    angle_rad_ += servo_.rate(target_rad_, angle_rad_) * dt.seconds();
  }
}

double SteeringModel::yaw_rate_radps(double speed_mps) const { return speed_mps * math::tan(angle_rad_) / wheelbase_m_; }

}  // namespace pitwall::onboard

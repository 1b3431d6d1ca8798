// SPDX-License-Identifier: Apache-2.0
#include "controllers/steering_law.hpp"

#include <algorithm>
#include <limits>

namespace pitwall::controllers {

StabilityMargin stability_margin(const SteeringLaw& law, const LawSetup& setup) {
  constexpr double kStep_mps = 0.5;
  StabilityMargin least{std::numeric_limits<double>::infinity(), 0.0};
  const double delay = setup.total_delay_s();
  const auto look_at = [&](double v) {
    const double margin = delay > 0.0 ? law.delay_margin_s(v) / delay : std::numeric_limits<double>::infinity();
    if (margin < least.value) least = {margin, v};
  };
  for (double v = kStep_mps; v < setup.max_speed_mps; v += kStep_mps) look_at(v);
  look_at(setup.max_speed_mps);
  return least;
}

}  // namespace pitwall::controllers

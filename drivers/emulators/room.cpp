// SPDX-License-Identifier: Apache-2.0
#include "drivers/emulators/room.hpp"

#include <algorithm>
#include <cmath>

namespace pitwall::emulators {

double room_range_m(double bearing_rad) {
  const double x = std::cos(bearing_rad);
  const double y = std::sin(bearing_rad);
  const double along = x > 0.0 ? 3.0 / x : x < 0.0 ? -2.0 / x : 1e9;
  const double across = y > 0.0 ? 1.5 / y : y < 0.0 ? -1.0 / y : 1e9;
  return std::min(along, across);
}

int millimetres_of(double range_m) { return std::isfinite(range_m) ? static_cast<int>(std::lround(1e3 * range_m)) : 0; }

}  // namespace pitwall::emulators

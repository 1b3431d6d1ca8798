// SPDX-License-Identifier: Apache-2.0
#include "controllers/swept_arc.hpp"

#include <algorithm>
#include <cmath>

namespace pitwall::controllers {

NearestBeam swept_clearance(const ScanView& scan, double wheelbase_m, double steering_rad, double half_band_m,
                            std::span<const std::uint8_t> mask, std::uint8_t wanted) {
  const double kappa = math::tan(steering_rad) / wheelbase_m;
  const bool straight = std::abs(kappa) < 1e-6;
  const double radius = straight ? 0.0 : 1.0 / std::abs(kappa);
  const double centre_y = straight ? 0.0 : 1.0 / kappa;
  const double inner = std::max(0.0, radius - half_band_m);
  const double outer = radius + half_band_m;
  NearestBeam nearest;
  for (std::size_t i = 0; i < scan.size(); ++i) {
    if (!mask.empty() && mask[i] != wanted) continue;
    if (scan.cos_bearing(i) <= 0.0 || !(scan.clearance_m(i) < nearest.value_m)) continue;
    const Vec2 p = scan.point_base(i);
    const double y = p.y - centre_y;
    const double squared = p.x * p.x + y * y;
    const bool in_band = straight ? std::abs(p.y) < half_band_m : squared > inner * inner && squared < outer * outer;
    if (in_band) nearest = {scan.clearance_m(i), static_cast<std::int32_t>(i)};
  }
  return nearest;
}

}  // namespace pitwall::controllers

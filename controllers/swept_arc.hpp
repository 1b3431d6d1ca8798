// SPDX-License-Identifier: Apache-2.0
// What lies in the way of a car that keeps its steering angle: the returns within a band about the circle that its rear
// axle drives.
#pragma once

#include <cstdint>
#include <span>

#include "controllers/scan_view.hpp"

namespace pitwall::controllers {

/// Smallest clearance among the beams that end within `half_band_m` of the arc which the rear axle drives at `steering_rad`,
/// ahead of the car; with a mask, only beams whose entry equals `wanted`.
NearestBeam swept_clearance(const ScanView& scan, double wheelbase_m, double steering_rad, double half_band_m,
                            std::span<const std::uint8_t> mask = {}, std::uint8_t wanted = 0);

}  // namespace pitwall::controllers

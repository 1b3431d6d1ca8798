// SPDX-License-Identifier: Apache-2.0
// Whether a stop was needed: how far the car's body could have gone on along its arc, against the way in which it stops.
//
//   clear way   smallest arc length of base_link after which a valid beam's end lies in the body, the rear axle on the circle of curvature
//               tan(steering) / wheelbase; closed form, for the chassis and for the padded body
//   stopping    v^2 / (2 a) + v t, a: stopping_decel of the safety stage, t: lag of the speed response
//   verdict     false alarm: the tripping beam ends outside the body's path and clear way >= 1.5 stopping;
//               justified: clear way < stopping; marginal: between
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

#include "controllers/scan_view.hpp"
#include "core/car.hpp"
#include "core/geometry.hpp"

namespace pitwall::analysis {

enum class Verdict : std::uint8_t { kNone, kFalseAlarm, kMarginal, kJustified };
inline constexpr std::array<std::string_view, 4> kVerdictNames{"", "false alarm", "marginal", "justified"};

/// How far base_link goes along its arc (signed curvature, positive to the left, forwards) until the body meets the point; 0 from inside,
/// +inf where it does not within half a turn.
double way_until_contact(const BodyRectangle& body, double curvature, Vec2 point_base);

/// Distance of a point from the circle (or line) that base_link drives.
double offset_from_path(double curvature, Vec2 point_base);

struct StopGeometry {
  std::int32_t beam = -1;  ///< that tripped; what follows of it is NaN without one
  double bearing_rad = std::numeric_limits<double>::quiet_NaN();
  double range_m = std::numeric_limits<double>::quiet_NaN();
  Vec2 point_base;
  double path_offset_m = std::numeric_limits<double>::quiet_NaN();
  double outside_m = std::numeric_limits<double>::quiet_NaN();  ///< of half the chassis beside the path; negative: in its way
  double curvature = 0.0;
  double clear_m = std::numeric_limits<double>::infinity();         ///< chassis
  double clear_padded_m = std::numeric_limits<double>::infinity();  ///< padded body
  std::int32_t clear_beam = -1;                                     ///< that the chassis would meet first
  double speed_mps = 0.0;
  double stopping_m = 0.0;
  Verdict verdict = Verdict::kNone;
};

/// How a stop is judged.
struct StoppingCar {
  double decel_mps2 = 3.0;
  double response_s = 0.1;
};

/// The geometry of a stop at `steering_rad`, moving at `speed_mps` (its magnitude counts).
StopGeometry judge_stop(const controllers::ScanView& scan, const CarParameters& car, double steering_rad, double speed_mps,
                        std::int32_t beam, const StoppingCar& stopping);

/// The verdict on numbers that are known; what judge_stop() does last.
Verdict verdict_of(double outside_m, double clear_m, double stopping_m);

}  // namespace pitwall::analysis

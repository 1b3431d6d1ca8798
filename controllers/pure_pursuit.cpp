// SPDX-License-Identifier: Apache-2.0
#include "controllers/pure_pursuit.hpp"

#include <cmath>
#include <limits>

#include "core/text.hpp"

namespace pitwall::controllers {

void PurePursuitParameters::fields(FieldVisitor& f) {
  f.number("lookahead_gain_s", lookahead_gain_s, {"s", 0, 0.6, "lookahead per speed"});
  f.number("min_lookahead_m", min_lookahead_m, {"m", 0.2, 3, "lookahead at standstill, and the shortest"});
  f.number("max_lookahead_m", max_lookahead_m, {"m", 0.5, 5, "longest lookahead that speed asks for"});
}

Status validate(const PurePursuitParameters& p, const LawSetup& /*setup*/, std::string_view what) {
  if (const Status status = check_fields(what, p); !status) return status;
  if (p.min_lookahead_m <= p.max_lookahead_m) return {};
  return Error{std::string(what) + ": min_lookahead_m " + format_exact(p.min_lookahead_m) + " must not be above max_lookahead_m " +
               format_exact(p.max_lookahead_m)};
}

PurePursuitLaw::PurePursuitLaw(const PurePursuitParameters& parameters, const LawSetup& setup)
    : path_(&setup.line->path()),
      wheelbase_m_(setup.car.wheelbase_m),
      lookahead_{parameters.lookahead_gain_s, parameters.min_lookahead_m, parameters.max_lookahead_m, setup.total_delay_s()} {}

double PurePursuitLaw::steer(const LawInput& in) {
  const double reach = lookahead_.distance_m(in.speed_mps, in.lateral_error_m());
  const Target target = lookahead_target(*path_, in.T_map_base.position(), in.fix.on_line.s_m, reach, in.shift);
  return steering_for(pursuit_curvature(in.T_map_base, target.point), wheelbase_m_);
}

double PurePursuitLaw::delay_margin_s(double speed_mps) const {
  const double v = std::abs(speed_mps);
  return v > 0.0 ? Lookahead::kStability * lookahead_.distance_m(v, 0.0) / v : std::numeric_limits<double>::infinity();
}

}  // namespace pitwall::controllers

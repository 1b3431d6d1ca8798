// SPDX-License-Identifier: Apache-2.0
#include "controllers/pure_pursuit.hpp"

#include "controllers/stability.hpp"
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

Lookahead lookahead_for(const PurePursuitParameters& p, const LawSetup& setup) {
  // A little more than the margin itself: the tyres take their time as well.
  return {p.lookahead_gain_s, p.min_lookahead_m, p.max_lookahead_m, (kFairMargin + 0.2) * setup.total_delay_s()};
}

double wanted_curvature(const tracks::Path& path, const LawInput& in, const Lookahead& lookahead) {
  const double reach = lookahead.distance_m(in.speed_mps, in.lateral_error_m());
  const Target target = lookahead_target(path, in.T_map_base.position(), in.fix.on_line.s_m, reach, in.shift);
  return pursuit_curvature(in.T_map_base, target.point);
}

PurePursuitLaw::PurePursuitLaw(const PurePursuitParameters& parameters, const LawSetup& setup)
    : path_(&setup.line->path()), car_(setup.car), period_s_(setup.control_period_s), lookahead_(lookahead_for(parameters, setup)) {}

double PurePursuitLaw::steer(const LawInput& in) { return steering_for(wanted_curvature(*path_, in, lookahead_), car_.wheelbase_m); }

double PurePursuitLaw::delay_margin_s(double speed_mps) const {
  // Near the line: kappa = -2 (d + Ld e) / Ld^2.
  const double reach = lookahead_.distance_m(speed_mps, 0.0);
  const double gain = 2.0 * car_.wheelbase_m / reach;
  return controllers::delay_margin_s({.lateral = gain / reach, .heading = gain}, car_, speed_mps, period_s_);
}

}  // namespace pitwall::controllers

// SPDX-License-Identifier: Apache-2.0
// The steering law `pure_pursuit` (R. C. Coulter, "Implementation of the pure pursuit path tracking algorithm",
// CMU-RI-TR-92-01, 1992): the arc from the rear axle through the point where the line leaves the lookahead circle,
//
//   delta = atan(L kappa),  kappa = 2 y / (x^2 + y^2),  lookahead = gain |v| + min, within [min, max]
//
// On a straight line this is a loop with natural frequency v sqrt(2) / Ld and damping 0.707 at every speed. A delay T in it is
// borne while v T < 0.52 Ld: the lookahead is never shorter than what 1.7 times the total delay asks for, whatever the maximum
// says (Lookahead).
#pragma once

#include "controllers/steering_law.hpp"
#include "core/fields.hpp"
#include "core/result.hpp"

namespace pitwall::controllers {

struct PurePursuitParameters {
  double lookahead_gain_s = 0.15;
  double min_lookahead_m = 0.6;
  double max_lookahead_m = 1.5;
  void fields(FieldVisitor& f);
};

/// min_lookahead <= max_lookahead.
Status validate(const PurePursuitParameters& parameters, const LawSetup& setup, std::string_view what);

/// The lookahead of these parameters, long enough for the car's delays with kFairMargin.
Lookahead lookahead_for(const PurePursuitParameters& parameters, const LawSetup& setup);
/// Signed curvature in 1/m of the arc from the rear axle through the point where the (shifted) line leaves the lookahead circle.
double wanted_curvature(const tracks::Path& path, const LawInput& in, const Lookahead& lookahead);

class PurePursuitLaw final : public SteeringLaw {
 public:
  using Parameters = PurePursuitParameters;
  /// The parameters must have passed validate().
  PurePursuitLaw(const PurePursuitParameters& parameters, const LawSetup& setup);

  double steer(const LawInput& in) override;
  [[nodiscard]] double delay_margin_s(double speed_mps) const override;

 private:
  const tracks::Path* path_;
  CarParameters car_;
  double period_s_;
  Lookahead lookahead_;
};

}  // namespace pitwall::controllers

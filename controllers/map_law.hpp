// SPDX-License-Identifier: Apache-2.0
// The steering law `map` (J. Becker, N. Imholz, L. Schwarzenbach, E. Ghignone, N. Baumann, M. Magno, "Model- and acceleration-based
// pursuit controller for high-performance autonomous racing", ICRA 2023, arXiv 2209.04346): a pursuit whose arc is turned into a
// steering angle by the steady turn of the car's own tyres,
//
//   a_y = 2 v^2 sin(eta) / L1,   delta = atan(L a_y / v^2) + slip(v, a_y)
//
// eta: bearing of the point where the line leaves the lookahead circle. The table (core/steering_table.hpp) ends at the most that
// the tyres can give; more is not asked for, since more steering would give less.
#pragma once

#include "controllers/pure_pursuit.hpp"
#include "controllers/steering_law.hpp"
#include "core/fields.hpp"
#include "core/result.hpp"

namespace pitwall::controllers {

struct MapParameters {
  PurePursuitParameters pursuit{.max_lookahead_m = 5.0};
  void fields(FieldVisitor& f) { pursuit.fields(f); }
};

/// min_lookahead <= max_lookahead; a table whose rows are sound.
Status validate(const MapParameters& parameters, const LawSetup& setup, std::string_view what);

/// The steering angle of a steady turn of curvature `kappa_per_m` at this speed, rad; at the peak of the tyres where it asks for
/// more. Odd in the curvature. Beyond the speeds of the table its first or last row holds.
double steady_steering(const SteeringTable& table, double wheelbase_m, double speed_mps, double kappa_per_m);

class MapLaw final : public SteeringLaw {
 public:
  using Parameters = MapParameters;
  /// The parameters must have passed validate(); the table outlives the law.
  MapLaw(const MapParameters& parameters, const LawSetup& setup);

  double steer(const LawInput& in) override;
  [[nodiscard]] double delay_margin_s(double speed_mps) const override;

 private:
  const tracks::Path* path_;
  const SteeringTable* table_;
  CarParameters car_;
  double period_s_;
  Lookahead lookahead_;
};

}  // namespace pitwall::controllers

// SPDX-License-Identifier: Apache-2.0
// The law `lqr`: the optimal regulator of the lateral model (lateral_model.hpp), for the real control period and the car's own
// delay, that knows the curvature ahead.
//
//   state   y = (d, e, v_y, r, w, u_-1, ..., u_-m) less its steady turn on the curvature here; m = ceil(delay / period)
//   input   du, the change of the command in one period
//   cost    sum of (d / lateral)^2 + (e / heading)^2 + (du / (rate period))^2
//   law     du = -K y - sum_i G_i w_i,  w_i = steady turn of stage i less that of stage i + 1
//           K = (R + B'PB)^-1 B'PA,  G_i = (R + B'PB)^-1 B' (A - BK)'^i P
//
// P solves the discrete algebraic Riccati equation (checked: residual below 1e-8) on speeds 0.25 m/s apart, and K and G are
// interpolated between them; below 0.5 m/s they are those of 0.5. With a constant curvature every w_i is 0 and what holds the
// car in the turn is its steady steering and heading: no error is left on a circle. The sum is the optimal answer to changes of
// curvature known in advance (M. Tomizuka and D. E. Whitney, ASME J. Dyn. Sys. Meas. Control 97, 1975).
// v_y and r are dead reckoned from the steering (SideMotion); the angles sent are those that left the command stage.
#pragma once

#include <cstddef>
#include <vector>

#include "controllers/lateral_model.hpp"
#include "controllers/speed_table.hpp"
#include "controllers/steering_law.hpp"

namespace pitwall::controllers {

struct LqrParameters {
  LateralKind model = LateralKind::kDynamic;
  SlipLaw tyre = SlipLaw::kBrush;
  LateralWeights weights;
  double preview_s = 0.45;  ///< how far ahead curvature is looked at
  void fields(FieldVisitor& f);
};

/// The start-up checks: a tyre that the car has numbers for, and a regulator that exists at every speed.
Status validate(const LqrParameters& parameters, const LawSetup& setup, std::string_view what);

class LqrLaw final : public SteeringLaw {
 public:
  using Parameters = LqrParameters;
  /// The parameters must have passed validate().
  LqrLaw(const LqrParameters& parameters, const LawSetup& setup);

  void reset() override;
  double steer(const LawInput& in) override;
  [[nodiscard]] double delay_margin_s(double speed_mps) const override;

  /// Gains at a speed: on (d, e, v_y, r, w, u_-1, ..., u_-m), without v_y and r for a kinematic model.
  [[nodiscard]] std::vector<double> gains_at(double speed_mps) const;
  /// Worst residual of the Riccati equations solved.
  [[nodiscard]] double residual() const { return residual_; }

 private:
  static constexpr std::size_t kChanges = 4;
  void tabulate_preview(const LqrParameters& parameters, const Regulator& regulator, const Discrete& loop);
  [[nodiscard]] SteadyTurn steady_at(const LawInput& in, double s_m, double speed_mps) const;
  [[nodiscard]] double answer_to_changes(const LawInput& in, const SteadyTurn& here) const;
  void follow(const LawInput& in);

  LawSetup setup_;
  LateralKind kind_;
  std::size_t n_;           ///< states of the car
  std::size_t memory_;      ///< commands remembered
  std::size_t stages_ = 0;  ///< of preview
  std::size_t stride_ = 1;  ///< periods in a stage
  SpeedTable gain_;         ///< n + memory
  SpeedTable ahead_;        ///< stages x 4: on changes of heading, v_y, yaw rate and angle of the steady turn
  double residual_ = 0.0;
  LateralWeights weights_;
  SideMotion side_;
  // Between ticks.
  bool known_ = false;
  std::vector<double> sent_;  ///< latest first
};

}  // namespace pitwall::controllers

// SPDX-License-Identifier: Apache-2.0
// The steering law `stanley` (G. Hoffmann, C. Tomlin, M. Montemerlo, S. Thrun, "Autonomous automobile trajectory tracking for
// off-road driving", ACC 2007), at the front axle:
//
//   delta = delta_path + k_h (theta - theta_path) - atan2(k (d_f - d_path), v_soft + v) - k_r (r - v kappa)
//
// d_f: distance of the front axle from the line, left positive; theta: heading of the line there against that of the car. In a
// steady turn with base_link on the line the car needs and has, by the linear single-track model,
//
//   delta_path = atan(L kappa) + K v^2 kappa             (K: understeer)
//   theta_path = asin(L kappa) - alpha_r,  alpha_r = v^2 kappa / (mu g C_r)
//   d_path     = L alpha_r - L^2 kappa / 2
//
// so that it turns without a steady error. Two things keep it stable with delays. It looks at the place where the car will be when
// the command arrives (prediction.hpp). And the heading gain, whose loop has a bandwidth of k_h v / L, is lowered with speed:
//
//   k_h = min(heading_gain, L / (heading_delays v T)),   T: total delay
//
// A distance decays as s^2 + (k + k_h v / L) s + k v / L = 0.
#pragma once

#include "controllers/steering_law.hpp"
#include "core/fields.hpp"
#include "core/result.hpp"

namespace pitwall::controllers {

struct StanleyParameters {
  double gain_per_s = 2.0;      ///< k: small distances decay at this rate while the heading follows
  double softening_mps = 0.6;   ///< v_soft: keeps the angle small at standstill
  double heading_gain = 1.0;    ///< k_h at low speed
  double heading_delays = 2.5;  ///< how many total delays the heading takes to follow, at least
  double yaw_damping_s = 0.0;   ///< k_r
  bool delay_aware = true;      ///< steer for where the car will be when the command arrives
  void fields(FieldVisitor& f);
};

/// Ranges; there is nothing across fields.
Status validate(const StanleyParameters& parameters, const LawSetup& setup, std::string_view what);

class StanleyLaw final : public SteeringLaw {
 public:
  using Parameters = StanleyParameters;
  /// The parameters must have passed validate().
  StanleyLaw(const StanleyParameters& parameters, const LawSetup& setup);

  double steer(const LawInput& in) override;
  [[nodiscard]] double delay_margin_s(double speed_mps) const override;

 private:
  [[nodiscard]] double heading_gain(double speed_mps) const;

  StanleyParameters p_;
  const LawLine* line_;
  CarParameters car_;
  double period_s_;
  double total_delay_s_;
  double ahead_s_;
  double understeer_s2_per_m_;
  double rear_slip_s2_per_m_;  ///< slip angle of the rear axle per lateral acceleration
};

}  // namespace pitwall::controllers

// SPDX-License-Identifier: Apache-2.0
// How a car moves sideways about a line: the model that lqr and mpc are designed with, and that stability margins are
// measured on. Single track with linear tyres (R. Rajamani, "Vehicle Dynamics and Control", 2nd ed., 2.3 and 2.5), with d and e
// of base_link (the centre of the rear axle), and a first-order servo:
//
//   d' = v_y - l_r r + v e            d   distance from the line, left positive, m
//   e' = r - v kappa                  e   heading against the line, rad
//   v_y' = (F_f + F_r) / m - v r      v_y of the centre of gravity, to the left, m/s
//   r' = (l_f F_f - l_r F_r) / I      r   yaw rate, rad/s
//   w' = (u - w) / tau                w   angle of the wheels, u the command that has arrived, rad
//
//   F_f = C_f (w - (v_y + l_f r) / v),  F_r = -C_r (v_y - l_r r) / v,  C_i = mu c_i F_zi
//
// A car without tyre numbers, and whoever wants it, has the kinematic model: (d, e, w) with e' = v w / (L + K v^2) - v kappa.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "controllers/linear_control.hpp"
#include "core/car.hpp"
#include "core/fields.hpp"
#include "core/time.hpp"

namespace pitwall::controllers {

/// Wheels of a car slower than this are not turned.
inline constexpr double kStanding_mps = 0.05;

/// Which motion a law counts on.
enum class LateralKind : std::uint8_t {
  kKinematic,  ///< rolls where the wheels point, less the understeer of a steady turn: 3 states
  kDynamic     ///< slips: 5 states
};
inline constexpr std::array<std::string_view, 2> kLateralKindNames = {"kinematic", "dynamic"};

/// How an axle's side force grows with its slip.
enum class SlipLaw : std::uint8_t {
  kLinear,       ///< without a limit
  kBrush,        ///< 1 - (1 - t)^3 of the circle, t = c slip / 3
  kMagicFormula  ///< the car's measured curve
};
inline constexpr std::array<std::string_view, 3> kSlipLawNames = {"linear", "brush", "magic_formula"};

/// Place of a state in the vector of each kind; the wheel angle is last.
inline constexpr std::size_t kStateD = 0, kStateE = 1, kStateVy = 2, kStateR = 3;
/// Number of states.
constexpr std::size_t states(LateralKind kind) { return kind == LateralKind::kKinematic ? 3 : 5; }

/// Below it the slip angles are singular: gains are those of this speed.
inline constexpr double kSlowest_mps = 0.5;

/// The kind that a car's numbers allow: kDynamic needs stiffness, friction, mass and inertia.
LateralKind possible(LateralKind wanted, const CarParameters& car);

/// A, B of the states above for a straight line at that speed (at least kSlowest_mps); the input is the command at the servo.
Continuous lateral_model(LateralKind kind, const CarParameters& car, double speed_mps);

/// What a car holds in a steady turn of base_link on a curvature.
struct SteadyTurn {
  double wheel_rad = 0.0;
  double heading_rad = 0.0;  ///< against the line: the nose points inside by the slip of the rear axle
  double lateral_mps = 0.0;  ///< v_y of the centre of gravity
  double yaw_rate_radps = 0.0;
};

/// Steady turns from the tyres' own curves; made once, then only looked up.
class SteadyTurns {
 public:
  SteadyTurns(const CarParameters& car, SlipLaw law);
  /// At that speed >= 0 and signed curvature. Beyond 95 % of the grip the slips are those of 95 %.
  [[nodiscard]] SteadyTurn at(double speed_mps, double curvature_per_m) const;
  /// Slip (sine of the slip angle) of an axle that gives `share` of its grip, |share| clamped to 0.95; front or rear.
  [[nodiscard]] double front_slip(double share) const { return slip(front_, share); }
  [[nodiscard]] double rear_slip(double share) const { return slip(rear_, share); }
  /// The side force of an axle over its grip, in [-1, 1] but for kLinear.
  [[nodiscard]] double front_share(double slip) const { return share_of(front_, slip); }
  [[nodiscard]] double rear_share(double slip) const { return share_of(rear_, slip); }
  /// Largest lateral acceleration, m/s^2: mu g, with the smaller peak of measured curves.
  [[nodiscard]] double grip_mps2() const { return grip_mps2_; }

 private:
  static constexpr std::size_t kEntries = 96;
  static constexpr double kMostShare = 0.95;
  struct Axle {
    SlipLaw law = SlipLaw::kLinear;
    double stiffness = 1.0;  ///< per grip, 1/rad
    double b = 0.0, c = 0.0, e = 0.0;
    double d = 1.0;                              ///< peak over surface friction
    std::array<double, kEntries> slip_at_share;  ///< at shares i / (kEntries - 1) * kMostShare
  };
  static double share_of(const Axle& axle, double slip);
  static double slip(const Axle& axle, double share);
  static void tabulate(Axle& axle);

  double wheelbase_m_;
  double lr_m_;
  double grip_mps2_;
  Axle front_;
  Axle rear_;
};

/// Sideways motion of the car as its steering makes it: what nothing measures, dead reckoned. Backward Euler with the secant
/// stiffness of the tyres, stable at any speed.
class SideMotion {
 public:
  SideMotion(const CarParameters& car, SlipLaw law);
  /// Forgets the motion: the next follow() begins with the steady one of its wheel angle.
  void forget() { known_ = false; }
  /// On to `now`, with the speed and the wheel angle believed then; the wheels turned evenly since the last call.
  void follow(Time now, double speed_mps, double wheel_rad);
  /// Sets the motion.
  void put(double lateral_mps, double yaw_rate_radps) {
    lateral_mps_ = lateral_mps;
    yaw_rate_radps_ = yaw_rate_radps;
  }
  /// `dt_s` further, in steps of at most 5 ms, with that speed and wheel angle held.
  void advance(double dt_s, double speed_mps, double wheel_rad);
  /// A steering angle brought within what the tyres have an answer to: no more lock into the turn than the steady turn at 90 % of
  /// the grip needs at that speed. Counter-steering, against the present yaw rate, is not bounded, and linear tyres are not.
  [[nodiscard]] double within_grip(double wheel_rad, double speed_mps) const;
  /// v_y of the centre of gravity, m/s, and yaw rate, rad/s.
  [[nodiscard]] double lateral_mps() const { return lateral_mps_; }
  [[nodiscard]] double yaw_rate_radps() const { return yaw_rate_radps_; }
  [[nodiscard]] const SteadyTurns& turns() const { return turns_; }

 private:
  void step(double dt_s, double speed_mps, double wheel_rad);

  SteadyTurns turns_;
  bool limited_;
  bool slips_;
  double wheelbase_m_, lf_m_, lr_m_, mass_kg_, inertia_kgm2_;
  double front_grip_n_, rear_grip_n_;
  double lateral_mps_ = 0.0;
  double yaw_rate_radps_ = 0.0;
  bool known_ = false;
  Time last_;
  double last_wheel_rad_ = 0.0;
};

/// What an error may be, against each other: the cost is the sum of (error / what it may be)^2. And how fast the car comes back
/// from far off, where a linear law would cross the line at any angle.
struct LateralWeights {
  double lateral_m = 0.10;
  double heading_rad = 0.20;
  double rate_radps = 3.0;     ///< of the command
  double approach_rad = 0.25;  ///< steepest way back to the line
  double approach_mps = 1.0;   ///< fastest sideways motion back to it
  void fields(FieldVisitor& f);
  /// By how much d is nearer to 0 for a law whose gains are `lateral` and `heading`, so that it comes back no faster: d less the
  /// part that asks for a heading beyond the approach.
  [[nodiscard]] double too_far_m(double d_m, double speed_mps, double lateral, double heading) const;
};

}  // namespace pitwall::controllers

// SPDX-License-Identifier: Apache-2.0
// The simulated car from the wire to the floor: transport delays, steering servo, speed loop, and one of two motions on the
// ground, integrated by Runge-Kutta.
//
//   command -> [delay] -> [gain, bias, locks] -> servo ------> wheel angle -> tyres -> motion
//                      -> [ramp] -> speed loop -> [motor, battery, brake] ---> tyres
//
// Motions. `tyre: brush | magic_formula` slide (slip_model.hpp); the friction circle is in the tyres. `tyre: linear` is the
// stock gym's single track (single_track.hpp), whose tyres have no limit.
//
// Time. Everything is continuous and stated in seconds: commands wait in queues by their own due time, a command that
// falls due inside a step splits it there, and the step is integrated in pieces short enough for the fastest part, so the
// motion does not depend on how it is stepped. (The stock gym's profile `legacy` holds its inputs for a control tick.)
//
// Reference point. Outside, the car is base_link: the centre of the rear axle. Inside, the equations move the centre of
// gravity, lr ahead of it. The conversion is base_to_cog / cog_to_base below and nowhere else.
//
// `friction: envelope` is the reference's cap, on whichever tyre, with A = mu g, c = share of the longitudinal acceleration
// charged to the circle:
//   budget B = sqrt(A^2 - (c a)^2), effective |steering| <= atan(L B / v^2).
// It caps the angle in the tyre equations; the wheels stay where the servo put them. The steering has a first claim on
// `cornering_reserve` of A: as far as the wheels ask for it, drive and brake get only what is left of the circle, so that
// full braking never takes all of the cornering. It reproduces running wide, never a spin.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "core/car.hpp"
#include "core/fields.hpp"
#include "core/geometry.hpp"
#include "core/result.hpp"
#include "core/time.hpp"
#include "plant/actuation.hpp"
#include "plant/single_track.hpp"
#include "plant/slip_model.hpp"

namespace pitwall::plant {

/// How much of the real car is modelled: the stock gym car; the calibrated car; the calibrated car whose sensors err
/// too (the plant is the same for the last two).
enum class Fidelity { kLegacy, kPlant, kCar };
inline constexpr std::array<std::string_view, 3> kFidelityNames = {"legacy", "plant", "car"};

/// What keeps the car on the road.
enum class Friction {
  kEnvelope,  ///< steering and acceleration are capped by mu g before the tyres see them
  kTyre       ///< the tyres' own limit, and nothing else: none with Tyre::kLinear
};
inline constexpr std::array<std::string_view, 2> kFrictionNames = {"envelope", "tyre"};

/// The switches of a fidelity profile.
struct Options {
  Servo servo = Servo::kFirstOrder;
  bool transport_delay = true;  ///< the car's steering_delay_s and speed_delay_s act
  double servo_delay_s = 0.0;   ///< further delay of the steering command, whatever the car says
  double input_hold_s = 0.0;    ///< servo rate and acceleration are decided this often and held; 0: continuously
  Friction friction = Friction::kTyre;
  Tyre tyre = Tyre::kBrush;
  double cornering_reserve = 0.5;  ///< share of the circle on which steering has the first claim; 0: braking may take it all
  /// The stock gym's constraints: forward drive falls as 1/v above 7.319 m/s, the loop holds the speed along the path, and a lock
  /// stops the servo inside the derivative, so that a held rate overshoots it by part of a piece.
  bool stock_constraints = false;
  double step_max_s = 0.005;  ///< longest piece of integration

  void fields(FieldVisitor& f);
  static Options of(Fidelity fidelity);
};

/// The car that a profile simulates: `car` itself, or in `legacy` what the old harness drove: the stock gym's dynamics on
/// a wheelbase of 0.324 m with the centre of gravity midway, 819 beams, and the padded body as chassis.
CarParameters car_of(Fidelity fidelity, const CarParameters& car);

/// How much of its circle an axle used since reset (saturating tyres only).
struct AxleReport {
  double peak_utilisation = 0.0;  ///< force over the circle's radius, at most 1
  double at_limit_s = 0.0;        ///< time with 99 % of the circle in use
};

/// What friction did since reset. Accelerations in m/s^2, one sample per step().
struct FrictionReport {
  double limit_mps2 = 0.0;  ///< A = mu g
  std::int64_t steps = 0;
  std::int64_t limited_steps = 0;          ///< envelope: effective steering below the wheel angle; tyre: an axle at its limit
  double max_demanded_lateral_mps2 = 0.0;  ///< |tan(wheel angle)| v^2 / L
  double max_allowed_lateral_mps2 = 0.0;   ///< envelope: the same of the effective angle; tyre: what the tyres gave
  double min_lateral_budget_mps2 = 0.0;    ///< least B met, at least the reserve
  AxleReport front;
  AxleReport rear;
  [[nodiscard]] double limit_g() const { return limit_mps2 / kGravity; }
  [[nodiscard]] double limited_fraction() const {
    return steps == 0 ? 0.0 : static_cast<double>(limited_steps) / static_cast<double>(steps);
  }
};

/// What became of a command. All but kAccepted leave the plant as it was.
enum class CommandStatus {
  kAccepted,
  kNotFinite,   ///< NaN or infinite steering or speed
  kOutOfOrder,  ///< issued before an earlier one
  kTooMany      ///< more than kCommandsUnderWay have not yet taken effect
};

/// One car. A plain value: a copy is a snapshot. Nothing allocates after make().
class Plant {
 public:
  /// Refuses, by name, a car out of range, one that tips over, one with no stable straight driving below its top speed, and a
  /// surface friction outside [0.01, 3].
  static Result<Plant> make(const CarParameters& car, const Options& options, double surface_friction);

  /// Puts base_link at that pose, wheels straight, rolling ahead at that speed (clamped to the car's range), which is also the
  /// speed target until a command takes effect. Empties delay lines and reports. The pose and the speed must be finite.
  void reset(const Pose2& T_map_base, double speed_mps);

  /// What a collision leaves behind: base_link at that pose, with that velocity (its own frame) and yaw rate, all finite.
  /// Wheels, commands, targets and reports stay as they are.
  void set_motion(const Pose2& T_map_base, Vec2 base_velocity, double yaw_rate_radps);

  /// Steering (positive left, clamped to the locks) and speed (negative: reverse; clamped to the car's range) that take
  /// effect at `issued` plus their own delay; at once if that is already past when the next step begins.
  [[nodiscard]] CommandStatus command(double steering_rad, double speed_mps, Time issued);

  /// Another floor under the car from now on: friction, clamped to [0.01, 3]. reset() brings the first one back.
  void set_surface_friction(double friction);
  /// What is left of the battery's voltage, clamped to [0.05, 1]: power and the motor's free speed go with it. reset() charges it.
  void set_battery(double voltage_share);
  /// While held the front wheels stay at their angle, whatever is commanded. reset() lets go.
  void hold_steering(bool held) { steering_held_ = held; }

  /// Advances from `from` by `dt` > 0; steps follow on one another.
  void step(Time from, Duration dt);

  /// Pose of base_link, yaw in (-pi, pi].
  [[nodiscard]] Pose2 base_pose() const;
  /// Velocity of base_link along body x; negative in reverse.
  [[nodiscard]] double speed_mps() const { return base_velocity().x; }
  /// Velocity of base_link in its own frame: x forward, y to the left.
  [[nodiscard]] Vec2 base_velocity() const;
  /// Velocity of base_link in the map frame.
  [[nodiscard]] Vec2 base_velocity_map() const { return rotate(yaw(), base_velocity()); }
  [[nodiscard]] double yaw_rate_radps() const { return slides() ? body_.yaw_rate : state_.yaw_rate; }
  /// What the motor's encoder turns into a speed: the driven wheels' rolling speed, which is higher than the car's by the slip
  /// that the tyres need for their force, and in a turn by the longer way of the front axle. Before the odometry's scale.
  [[nodiscard]] double wheel_speed_mps() const;
  /// Angle of the front wheels.
  [[nodiscard]] double steering_rad() const { return slides() ? body_.steering : state_.steering; }
  /// Angle that the tyre equations are given: the wheels' one, capped by the friction envelope.
  [[nodiscard]] double effective_steering_rad() const;
  /// Direction of motion of the centre of gravity against the body.
  [[nodiscard]] double slip_rad() const { return state().slip; }
  /// Acceleration that drive and brake give now.
  [[nodiscard]] double acceleration_mps2() const;
  /// speed * yaw rate of the centre of gravity.
  [[nodiscard]] double lateral_acceleration_mps2() const;
  /// Targets that servo and speed loop follow now.
  [[nodiscard]] double steering_target_rad() const { return steering_target_; }
  [[nodiscard]] double speed_target_mps() const { return speed_target_; }
  /// Motion of the centre of gravity in polar form.
  [[nodiscard]] State state() const;
  /// The same in the body frame, as the slip model has it; meaningless with Tyre::kLinear.
  [[nodiscard]] const SlipState& body() const { return body_; }
  /// Forces at the axles now; nothing with Tyre::kLinear.
  [[nodiscard]] AxleForces forces() const;
  /// Whether the tyres can slide (all but Tyre::kLinear).
  [[nodiscard]] bool slides() const { return options_.tyre != Tyre::kLinear; }
  /// False once the model has left the real numbers (the linear tyre can diverge in a spin): the run is void.
  [[nodiscard]] bool finite() const;

  [[nodiscard]] const FrictionReport& friction() const { return friction_; }
  [[nodiscard]] const CarParameters& car() const { return car_; }
  [[nodiscard]] const Options& options() const { return options_; }
  /// The model's parameters on this floor; meaningless with Tyre::kLinear.
  [[nodiscard]] const SlipModel& slip_model() const { return slip_model_; }

 private:
  struct Drive {
    Input input;  ///< of the wheels and the whole car
    double integral_rate = 0.0;
    double effective_steering = 0.0;
    double lateral_budget = 0.0;
  };
  /// The wheel angle whose sine and cosine are known.
  struct KnownAngle {
    double angle = 0.0;
    math::SinCos of = {0.0, 1.0};
  };

  Plant(const CarParameters& car, const Options& options, const SingleTrack& model, const SlipModel& slip_model);

  [[nodiscard]] double yaw() const { return slides() ? body_.yaw : state_.yaw; }
  [[nodiscard]] double target_in(double ahead_s) const;
  [[nodiscard]] Drive decide(double steering, double speed, double body_speed, double integral, double ahead_s) const;
  [[nodiscard]] Drive drive(const State& state, double ahead_s) const;
  void cap(Drive& drive, double steering, double speed) const;
  [[nodiscard]] State rate(const State& state, double ahead_s) const;
  [[nodiscard]] SlipInput slip_input(const SlipState& state, double ahead_s) const;
  [[nodiscard]] Time next_event(Time now, Time end) const;
  void take_due(Time now);
  void hold_inputs(Time now);
  [[nodiscard]] double servo_rate(double angle_rad) const;
  void integrate(double span_s);
  void integrate_smooth(double span_s);
  void advance_linear(double h);
  void advance_sliding(double h);
  void come_to_rest();
  void note_envelope();
  void note_tyres(const AxleForces& forces, double h);

  CarParameters car_;
  Options options_;
  SingleTrack model_;
  SlipModel slip_model_;
  double first_friction_;
  bool steering_held_ = false;
  SteeringServo servo_;
  SpeedLoop loop_;
  Duration steering_delay_;
  Duration speed_delay_;
  Duration input_hold_;
  double step_max_s_ = 0.0;

  State state_;     ///< of the linear model
  SlipState body_;  ///< of the slip model
  KnownAngle known_;
  DelayLine steering_line_;
  DelayLine speed_line_;
  double steering_target_ = 0.0;
  double speed_target_ = 0.0;
  double ramped_target_ = 0.0;
  Time last_issued_;
  bool any_issued_ = false;
  Time next_decision_;
  bool any_decision_ = false;
  Drive held_;
  bool step_begins_ = false;
  FrictionReport friction_;
};

/// The one conversion between base_link and the centre of gravity, lr ahead of it.
Vec2 base_to_cog(const Pose2& T_map_base, double lr_m);
Vec2 cog_to_base(Vec2 p_map_cog, double yaw, double lr_m);

}  // namespace pitwall::plant

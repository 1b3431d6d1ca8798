// SPDX-License-Identifier: Apache-2.0
// The simulated car from the wire to the floor: transport delays, steering servo, speed loop, friction envelope, and the
// single-track model (single_track.hpp) integrated by Runge-Kutta.
//
//   command -> [delay] -> target -> servo ------> wheel angle -> [envelope] -> effective angle -> model
//                                -> speed loop -> [circle] ----------------> acceleration ----> model
//
// Time. Everything is continuous and stated in seconds: commands wait in queues by their own due time, a command that
// falls due inside a step splits it there, and the step is integrated in pieces short enough for the fastest part, so the
// motion does not depend on how it is stepped. (The stock gym's profile `legacy` holds its inputs for a control tick.)
//
// Reference point. Outside, the car is base_link: the centre of the rear axle. Inside, the equations move the centre of
// gravity, lr ahead of it. The conversion is base_to_cog / cog_to_base below and nowhere else.
//
// Friction envelope, with A = mu g, c = share of the longitudinal acceleration charged to the circle:
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
#include "plant/single_track.hpp"

namespace pitwall::plant {

/// How much of the real car is modelled: the stock gym car; the calibrated car; the calibrated car whose sensors err
/// too (the plant is the same for the last two).
enum class Fidelity { kLegacy, kPlant, kCar };
inline constexpr std::array<std::string_view, 3> kFidelityNames = {"legacy", "plant", "car"};

enum class Servo {
  kFirstOrder,  ///< rate = clamp(gain * (target - angle), +-rate_max)
  kBangBang     ///< full rate towards the target outside a dead zone of 1e-4 rad
};
inline constexpr std::array<std::string_view, 2> kServoNames = {"first_order", "bang_bang"};

/// The switches of a fidelity profile.
struct Options {
  Servo servo = Servo::kFirstOrder;
  bool transport_delay = true;     ///< the car's steering_delay_s and speed_delay_s act
  double servo_delay_s = 0.0;      ///< further delay of the steering command, whatever the car says
  double input_hold_s = 0.0;       ///< servo rate and acceleration are decided this often and held; 0: continuously
  bool friction_envelope = true;   ///< the limits described above; off: the linear tyre has no limit
  double cornering_reserve = 0.5;  ///< share of mu g on which steering has the first claim; 0: braking may take it all
  bool stock_drive_limit = false;  ///< forward drive falls as 1/v above 7.319 m/s
  double step_max_s = 0.005;       ///< longest piece of integration

  void fields(FieldVisitor& f);
  static Options of(Fidelity fidelity);
};

/// The car that a profile simulates: `car` itself, or in `legacy` what the old harness drove: the stock gym's dynamics on
/// a wheelbase of 0.324 m with the centre of gravity midway, 819 beams, and the padded body as chassis.
CarParameters car_of(Fidelity fidelity, const CarParameters& car);

/// What the friction envelope did since reset. Accelerations in m/s^2, one sample per step().
struct FrictionReport {
  double limit_mps2 = 0.0;  ///< A = mu g
  std::int64_t steps = 0;
  std::int64_t limited_steps = 0;          ///< effective steering below the wheel angle
  double max_demanded_lateral_mps2 = 0.0;  ///< |tan(wheel angle)| v^2 / L
  double max_allowed_lateral_mps2 = 0.0;   ///< the same of the effective angle
  double min_lateral_budget_mps2 = 0.0;    ///< least B met, at least the reserve
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

inline constexpr std::size_t kCommandsUnderWay = 512;

/// Values on their way, taken out by due time. Fixed size: no allocation, plainly copyable.
class DelayLine {
 public:
  void clear() { size_ = 0; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] bool full() const { return size_ == kCommandsUnderWay; }
  [[nodiscard]] Time next_due() const { return items_[first_].due; }
  void push(double value, Time due);
  double pop();

 private:
  struct Item {
    double value = 0.0;
    Time due;
  };
  std::array<Item, kCommandsUnderWay> items_{};
  std::size_t first_ = 0;
  std::size_t size_ = 0;
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

  /// Advances from `from` by `dt` > 0; steps follow on one another.
  void step(Time from, Duration dt);

  /// Pose of base_link, yaw in (-pi, pi].
  [[nodiscard]] Pose2 base_pose() const;
  /// Velocity of base_link along body x, what the wheels measure; negative in reverse.
  [[nodiscard]] double speed_mps() const;
  /// Velocity of base_link in its own frame: x forward, y to the left.
  [[nodiscard]] Vec2 base_velocity() const;
  /// Velocity of base_link in the map frame.
  [[nodiscard]] Vec2 base_velocity_map() const { return rotate(state_.yaw, base_velocity()); }
  [[nodiscard]] double yaw_rate_radps() const { return state_.yaw_rate; }
  /// Angle of the front wheels.
  [[nodiscard]] double steering_rad() const { return state_.steering; }
  /// Angle that the tyre equations are given: the wheels' one, capped by the friction envelope.
  [[nodiscard]] double effective_steering_rad() const { return drive(state_).effective_steering; }
  /// Direction of motion of the centre of gravity against the body.
  [[nodiscard]] double slip_rad() const { return state_.slip; }
  /// Longitudinal acceleration applied now.
  [[nodiscard]] double acceleration_mps2() const { return drive(state_).input.acceleration; }
  /// speed * yaw rate of the centre of gravity.
  [[nodiscard]] double lateral_acceleration_mps2() const { return state_.speed * state_.yaw_rate; }
  /// Targets that servo and speed loop follow now.
  [[nodiscard]] double steering_target_rad() const { return steering_target_; }
  [[nodiscard]] double speed_target_mps() const { return speed_target_; }
  /// Motion of the centre of gravity, as the equations have it.
  [[nodiscard]] const State& state() const { return state_; }
  /// False once the model has left the real numbers (the linear tyre can diverge in a spin): the run is void.
  [[nodiscard]] bool finite() const;

  [[nodiscard]] const FrictionReport& friction() const { return friction_; }
  [[nodiscard]] const CarParameters& car() const { return car_; }
  [[nodiscard]] const Options& options() const { return options_; }

 private:
  struct Drive {
    Input input;  ///< of the wheels and the whole car
    double effective_steering = 0.0;
    double lateral_budget = 0.0;
  };

  Plant(const CarParameters& car, const Options& options, const SingleTrack& model);

  [[nodiscard]] double servo_rate(double steering) const;
  [[nodiscard]] double loop_acceleration(double speed, double body_speed) const;
  [[nodiscard]] Drive drive(const State& state) const;
  [[nodiscard]] State rate(const State& state) const;
  [[nodiscard]] Time next_event(Time now, Time end) const;
  void take_due(Time now);
  void hold_inputs(Time now);
  void integrate(double span_s);
  void note_friction();

  CarParameters car_;
  Options options_;
  SingleTrack model_;
  Duration steering_delay_;
  Duration speed_delay_;
  Duration input_hold_;
  double step_max_s_ = 0.0;

  State state_;
  DelayLine steering_line_;
  DelayLine speed_line_;
  double steering_target_ = 0.0;
  double speed_target_ = 0.0;
  Time last_issued_;
  bool any_issued_ = false;
  Time next_decision_;
  bool any_decision_ = false;
  Input held_;
  FrictionReport friction_;
};

/// The one conversion between base_link and the centre of gravity, lr ahead of it.
Vec2 base_to_cog(const Pose2& T_map_base, double lr_m);
Vec2 cog_to_base(Vec2 p_map_cog, double yaw, double lr_m);

}  // namespace pitwall::plant

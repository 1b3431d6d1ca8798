// SPDX-License-Identifier: Apache-2.0
// What the fidelity profiles stand for: the plant's switches, and the stock car that `legacy` drives.
#include "plant/plant.hpp"

namespace pitwall::plant {

void Options::fields(FieldVisitor& f) {
  f.enumeration("servo", servo, kServoNames, "steering servo model");
  f.flag("transport_delay", transport_delay, "the car's command delays act");
  f.number("servo_delay_s", servo_delay_s, {"s", 0, 1, "further delay of the steering command"});
  f.number("input_hold_s", input_hold_s, {"s", 0, 1, "servo rate and acceleration are held this long; 0: continuous"});
  f.enumeration("friction", friction, kFrictionNames, "what keeps the car on the road: a cap on steering, or the tyres themselves");
  f.enumeration("tyre", tyre, kTyreNames, "tyre law");
  f.number("cornering_reserve", cornering_reserve, {"", 0, 0.95, "share of the circle on which steering has the first claim"});
  f.flag("stock_constraints", stock_constraints, "drive, speed loop and locks are limited as in the stock gym");
  f.number("step_max_s", step_max_s, {"s", 0.0001, 0.05, "longest piece of integration"});
}

Options Options::of(Fidelity fidelity) {
  Options options;
  if (fidelity == Fidelity::kLegacy) {
    options.servo = Servo::kBangBang;
    options.transport_delay = false;
    options.servo_delay_s = 0.025;
    options.input_hold_s = 0.025;
    options.friction = Friction::kTyre;
    options.tyre = Tyre::kLinear;
    options.stock_constraints = true;
  }
  return options;
}

CarParameters car_of(Fidelity fidelity, const CarParameters& car) {
  if (fidelity != Fidelity::kLegacy) return car;
  CarParameters stock = car;
  stock.wheelbase_m = 0.324;
  stock.cog_front_fraction = 0.5;
  stock.width_m = 0.31;
  stock.length_m = 0.58;
  stock.body_width_m = stock.width_m;
  stock.body_length_m = stock.length_m;
  stock.mass_kg = 3.74;
  stock.yaw_inertia_kgm2 = 0.04712;
  stock.cog_height_m = 0.074;
  stock.cornering_stiffness_front = 4.718;
  stock.cornering_stiffness_rear = 5.4562;
  stock.surface_friction = 1.0489;
  stock.steering_max_left_rad = 0.4189;
  stock.steering_max_right_rad = -0.4189;
  stock.steering_rate_max_radps = 3.2;
  stock.speed_max_mps = 20.0;
  stock.speed_min_mps = -5.0;
  stock.acceleration_max_mps2 = 9.51;
  stock.speed_loop_accel_gain_per_s = 10.0 * 9.51 / 20.0;
  stock.speed_loop_brake_gain_per_s = 10.0 * 9.51 / 5.0;
  stock.lidar_beams = 819;
  // An ideal drive train, whatever the car's.
  const CarParameters neutral;
  stock.steering_gain = neutral.steering_gain;
  stock.steering_bias_rad = neutral.steering_bias_rad;
  stock.steering_deadband_rad = neutral.steering_deadband_rad;
  stock.speed_loop_integral_gain_per_s2 = neutral.speed_loop_integral_gain_per_s2;
  stock.speed_ramp_mps2 = neutral.speed_ramp_mps2;
  stock.braking_max_mps2 = neutral.braking_max_mps2;
  stock.drive_power_max_w = neutral.drive_power_max_w;
  stock.motor_free_speed_mps = neutral.motor_free_speed_mps;
  stock.odometry_scale = neutral.odometry_scale;
  return stock;
}

}  // namespace pitwall::plant

// SPDX-License-Identifier: Apache-2.0
#include "onboard/supervisor.hpp"

namespace pitwall::onboard {

void SupervisorParameters::fields(FieldVisitor& f) {
  f.number("command_deadline_s", command_deadline_s, {"s", 0.05, 0.15, "age of a command from which on the car stops"});
  f.number("input_deadline_s", input_deadline_s, {"s", 0.1, 0.4, "age of scan, odometry, telemetry or pose from which on the car stops"});
  f.number("loop_deadline_s", loop_deadline_s, {"s", 0.05, 0.15, "longest time between two ticks"});
  f.number("joystick_silence_s", joystick_silence_s, {"s", 0.5, 1, "silence of a pad that streams at rest, while moving"});
  f.number("moving_mps", moving_mps, {"m/s", 0.1, 0.5, "speed from which on the car counts as moving"});
  f.number("speed_max_mps", speed_max_mps, {"m/s", 0.1, 20, "highest speed that is sent"});
  f.number("speed_min_mps", speed_min_mps, {"m/s", -20, 0, "lowest; negative allows reverse"});
  f.number("bench_speed_mps", bench_speed_mps, {"m/s", 0.2, 2, "highest in bench mode"});
  f.number("acceleration_max_mps2", acceleration_max_mps2, {"m/s^2", 0.5, 10, "rise of the speed that is sent"});
  f.number("steering_left_rad", steering_left_rad, {"rad", 0, 1, "steered to the left"});
  f.number("steering_right_rad", steering_right_rad, {"rad", -1, 0, "steered to the right"});
  f.number("brake_current_a", brake_current_a, {"A", 1, 100, "of a stop"});
  f.number("brake_ramp_aps", brake_ramp_aps, {"A/s", 50, 10000, "rise of it, from its half on"});
  f.number("hold_current_a", hold_current_a, {"A", 0, 20, "handbrake of a standing car"});
  f.number("standing_mps", standing_mps, {"m/s", 0.05, 0.3, "speed below which the car stands"});
  f.number("hold_time_s", hold_time_s, {"s", 0.1, 5, "standing for so long ends a stop"});
  f.number("shutdown_longest_s", shutdown_longest_s, {"s", 0.2, 3, "how long the program brakes before it ends"});
  f.number("mismatch_mps", mismatch_mps, {"m/s", 0.3, 3, "measured speed beyond the last second's commands"});
  f.number("mismatch_share", mismatch_share, {"", 0, 1, "and this share of them"});
  f.number("mismatch_time_s", mismatch_time_s, {"s", 0.1, 0.5, "how long it may be"});
  f.number("imu_mismatch_mps", imu_mismatch_mps, {"m/s", 0.2, 5, "measured speed outside of what the IMU allows"});
  f.number("imu_mismatch_share", imu_mismatch_share, {"", 0, 1, "and this share of it, for mismatch_time_s"});
  f.number("sign_mps", sign_mps, {"m/s", 0.1, 1, "commanded and measured speed beyond it with opposite signs"});
  f.number("sign_time_s", sign_time_s, {"s", 0.05, 0.5, "how long they may be"});
  f.number("battery_cells", battery_cells, {"", 1, 12, "in series"});
  f.number("cell_absent_v", cell_absent_v, {"V", 0, 2.5, "less is no battery"});
  f.number("cell_stop_v", cell_stop_v, {"V", 3.3, 3.6, "the car stops; the firmware's own cut lies below"});
  f.number("cell_cap_v", cell_cap_v, {"V", 3.3, 3.8, "the car goes slowly"});
  f.number("cell_warn_v", cell_warn_v, {"V", 3.3, 4, "a warning"});
  f.number("cell_full_v", cell_full_v, {"V", 4, 6, "braking is limited from here"});
  f.number("cell_over_v", cell_over_v, {"V", 4.3, 20, "to a quarter here"});
  f.number("voltage_filter_s", voltage_filter_s, {"s", 0.05, 5, "a shorter sag does not count"});
  f.number("capped_speed_mps", capped_speed_mps, {"m/s", 0.3, 3, "highest while the battery is nearly empty or something is hot"});
  f.number("fet_warn_degc", fet_warn_degc, {"degC", 40, 85, "of the motor controller: slow"});
  f.number("fet_stop_degc", fet_stop_degc, {"degC", 50, 100, "of the motor controller: stop"});
  f.number("motor_warn_degc", motor_warn_degc, {"degC", 40, 90, "of the motor: slow"});
  f.number("motor_stop_degc", motor_stop_degc, {"degC", 50, 110, "of the motor: stop"});
}

}  // namespace pitwall::onboard

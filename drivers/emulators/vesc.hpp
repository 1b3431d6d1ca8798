// SPDX-License-Identifier: Apache-2.0
// A VESC as its host sees it (spec: firmware 7.01): frames by the firmware's own decoder rules, telemetry, the motor's modes with
// their timeout, the servo output, faults, the IMU. The motor itself is either a small one of its own on a bench (bench_motor.hpp) or
// belongs to whoever drives the device: demand() says what the controller wants of it, drive() what became of it.
//
//   fault          commands ignored for fault_stop_s, then taken again; nothing resumes by itself
//   timeout        checked every 10 ms; motor gets timeout_brake_a (0: it coasts), status bit 0
//   SET_RPM        setpoint ramps; a ramped setpoint below min_erpm releases the motor: RPM 0 does not brake
//   servo          no timeout; silently ignored unless enabled; the last position stays
//   averages       of currents and d/q voltages, reset by reading
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "drivers/emulators/bench_motor.hpp"
#include "drivers/emulators/device.hpp"
#include "drivers/emulators/vesc_packet.hpp"

namespace pitwall::emulators {

/// How the board was set up with vesc_tool, and what it is. Defaults are the firmware's.
struct VescConfig {
  int firmware_major = 7;
  int firmware_minor = 1;
  std::string hardware = "60_MK6";
  std::array<std::uint8_t, 12> uuid = {0x50, 0x49, 0x54, 0x57, 0x41, 0x4c, 0x4c, 0, 0, 0, 0, 1};
  bool paired = true;
  int test_version = 0;  ///< 0: a release
  int controller_id = 9;
  double timeout_s = 1.0;          ///< 0: never
  double timeout_brake_a = 0.0;    ///< 0: coast
  bool servo_enabled = true;       ///< "Enable Servo Output" was written; the factory's setting is no
  double current_max_a = 60.0;     ///< either way
  double erpm_max = 100000.0;      ///< either way
  double ramp_erpm_per_s = 25000;  ///< of the speed PID's setpoint; 0: at once
  double min_erpm = 900.0;         ///< below it the speed PID lets go of the motor
  double fault_stop_s = 0.5;
  double battery_v = 11.8;
  double battery_min_v = 8.0;   ///< fault 2 below
  double battery_max_v = 57.0;  ///< fault 1 above
  bool has_imu = true;
  bool own_motor = true;  ///< false: drive() says what the motor does
};

/// What the IMU on the board feels, in the wire's units.
struct VescImu {
  std::array<double, 3> rpy_rad{};
  std::array<double, 3> acceleration_g{0.0, 0.0, 1.0};
  std::array<double, 3> rate_degps{};
};

/// One command that a VESC was sent.
struct VescEvent {
  Time at;
  std::uint8_t id = 0;    ///< command id of the frame
  std::string_view name;  ///< "SET_RPM"; static
  double value = 0.0;     ///< in A, ERPM, duty, servo position, ms
  bool ignored = false;   ///< during a fault, an emergency stop or the kill switch; a servo that is not enabled
};

namespace vesc_id {
inline constexpr std::uint8_t kFwVersion = 0, kGetValues = 4, kSetDuty = 5, kSetCurrent = 6, kSetCurrentBrake = 7, kSetRpm = 8, kSetPos = 9,
                              kSetHandbrake = 10, kSetServoPos = 12, kPrint = 21, kReboot = 29, kAlive = 30, kGetValuesSetup = 47,
                              kGetValuesSelective = 50, kGetValuesSetupSelective = 51, kGetImuData = 65, kSetCurrentRel = 84,
                              kMotorEstop = 159;
}  // namespace vesc_id

class Vesc final : public Device {
 public:
  explicit Vesc(const VescConfig& config = {});

  void receive(Time now, ByteView bytes) override;
  void advance(Time now) override;
  [[nodiscard]] Time next_event() const override;
  void restart(Time now) override;
  void spoil_sum(Bytes& message) const override;

  /// What the controller wants of the motor now.
  [[nodiscard]] const MotorDemand& demand() const { return demand_; }
  /// What the motor does, where it is not the device's own.
  void drive(Time now, const MotorState& motor);
  void feel(const VescImu& imu) { imu_ = imu; }
  /// Servo position, 0..1; nothing before the first command that the output took.
  [[nodiscard]] std::optional<double> servo() const { return servo_; }
  [[nodiscard]] const MotorState& motor() const { return motor_; }
  [[nodiscard]] double battery_v() const { return battery_v_; }
  [[nodiscard]] bool timed_out() const { return timed_out_; }

  /// Every command to motor and servo, ALIVE among them, in order; requests for telemetry are only counted.
  [[nodiscard]] const std::vector<VescEvent>& log() const { return log_; }
  void clear_log() { log_.clear(); }
  /// How many well-formed packets came, by id.
  [[nodiscard]] const std::map<int, std::int64_t>& counts() const { return counts_; }
  /// Bytes that belonged to no packet.
  [[nodiscard]] std::int64_t rejected_bytes() const { return decoder_.rejected(); }

 private:
  // Since the last reading.
  struct Averages {
    double motor_as = 0.0;
    double input_as = 0.0;
    double time_s = 0.0;
  };

  void add_knobs();
  void handle(Time now, ByteView payload);
  bool handle_motor(Time now, std::uint8_t id, ByteView body);
  void handle_servo(Time now, ByteView body);
  void request(Time now, MotorMode mode, double value, std::uint8_t id);
  void note(Time now, std::uint8_t id, double value, bool ignored);
  void reply_firmware();
  void reply_values(std::uint8_t id, std::optional<std::uint32_t> mask);
  void reply_setup(std::uint8_t id, std::optional<std::uint32_t> mask);
  void reply_old_values();
  void reply_imu(std::uint16_t mask);
  [[nodiscard]] double reported(double value) const { return inverted_ ? -value : value; }
  void raise_fault(Time now, int code);
  void release();
  void tick(Time now);
  void check_timeout(Time now);
  void check_voltage(Time now, Duration dt);
  void ramp(Duration dt);
  void update_demand();
  void average(Duration dt);
  [[nodiscard]] bool ignoring(Time now) const;
  [[nodiscard]] int status_bits() const;

  VescConfig config_;
  PacketDecoder decoder_;
  BenchMotor bench_;
  MotorState motor_;
  MotorDemand asked_;   // by the last command
  MotorDemand demand_;  // after ramp, timeout and release
  VescImu imu_;
  Averages averages_;
  std::optional<double> servo_;
  double ramped_erpm_ = 0.0;
  double battery_v_ = 0.0;
  double battery_ramp_vps_ = 0.0;
  bool inverted_ = false;
  double tachometer_from_ = 0.0;  // electrical revolutions when switched on
  double travelled_from_ = 0.0;
  int fault_ = 0;
  bool fault_repeats_ = false;
  Time now_;
  Time booted_;
  Time fault_until_;
  Time estop_until_;
  Time fed_at_;  // last command that resets the timeout
  Time next_check_;
  bool timed_out_ = false;
  bool kill_switch_ = false;
  double fet_temperature_c_ = 31.0;
  double motor_temperature_c_ = 29.0;
  double used_ah_ = 0.0;
  double charged_ah_ = 0.0;
  std::vector<VescEvent> log_;
  std::map<int, std::int64_t> counts_;
};

}  // namespace pitwall::emulators

// SPDX-License-Identifier: Apache-2.0
#include "drivers/emulators/vesc.hpp"

#include <algorithm>
#include <cmath>

#include "core/text.hpp"
#include "drivers/emulators/vesc_fields.hpp"

namespace pitwall::emulators {
namespace {

constexpr Duration kCheckPeriod = from_milliseconds(10);
constexpr Duration kLongestStep = from_milliseconds(1);

struct Motor {
  std::uint8_t id;
  std::string_view name;
  MotorMode mode;
  double scale;
};
constexpr std::array<Motor, 7> kMotorCommands = {{{vesc_id::kSetDuty, "SET_DUTY", MotorMode::kDuty, 1e5},
                                                  {vesc_id::kSetCurrent, "SET_CURRENT", MotorMode::kCurrent, 1e3},
                                                  {vesc_id::kSetCurrentBrake, "SET_CURRENT_BRAKE", MotorMode::kBrake, 1e3},
                                                  {vesc_id::kSetRpm, "SET_RPM", MotorMode::kSpeed, 1.0},
                                                  {vesc_id::kSetPos, "SET_POS", MotorMode::kPosition, 1e6},
                                                  {vesc_id::kSetHandbrake, "SET_HANDBRAKE", MotorMode::kHandbrake, 1e3},
                                                  {vesc_id::kSetCurrentRel, "SET_CURRENT_REL", MotorMode::kCurrent, 1e5}}};

std::string_view name_of(std::uint8_t id) {
  for (const Motor& motor : kMotorCommands) {
    if (motor.id == id) return motor.name;
  }
  if (id == vesc_id::kSetServoPos) return "SET_SERVO_POS";
  return id == vesc_id::kAlive ? "ALIVE" : "MOTOR_ESTOP";
}

}  // namespace

Vesc::Vesc(const VescConfig& config) : config_(config), battery_v_(config.battery_v) {
  add_knobs();
  Vesc::restart({});
}

void Vesc::add_knobs() {
  Knobs& k = knobs();
  const auto number = [](double& value) { return [&value](Time, double to) { value = to; }; };
  k.add("fault", "CODE [repeat]", "a fault now; with repeat again and again until fault 0", [this](Time now, Words words) -> Status {
    const auto code = words.empty() ? std::nullopt : parse_int(words[0]);
    const bool repeats = words.size() == 2 && words[1] == "repeat";
    if (!code || *code < 0 || *code > 255 || (words.size() > 1 && !repeats)) return Error{"fault: takes a code of 0 .. 255 and 'repeat'"};
    fault_repeats_ = repeats;
    fault_until_ = now;
    fault_ = 0;
    if (*code != 0) raise_fault(now, static_cast<int>(*code));
    return {};
  });
  k.add_number("battery", "VOLTS", "voltage of the battery; fault 2 below 8 V, 1 above 57 V", 0, 100, number(battery_v_));
  k.add_number("battery_ramp", "V_PER_S", "how the voltage changes from now on", -100, 100, number(battery_ramp_vps_));
  k.add_number("fet_temperature", "DEGC", "of the transistors", -50, 200, number(fet_temperature_c_));
  k.add_number("motor_temperature", "DEGC", "of the motor", -300, 300, number(motor_temperature_c_));
  k.add_switch("invert", "ERPM and tachometer count the other way round", inverted_);
  k.add_switch("kill_switch", "the switch on the board: brakes, ignores commands, status bit 1", kill_switch_);
  k.add_switch("servo_enabled", "whether the servo output was enabled with vesc_tool", config_.servo_enabled);
  k.add_switch("imu", "whether the board has an IMU; without one it reads 0", config_.has_imu);
  k.add("timeout", "MS BRAKE_A", "the board's own timeout, 0 ms: none", [this](Time, Words words) -> Status {
    const auto ms = words.size() == 2 ? parse_double(words[0]) : std::nullopt;
    const auto brake = words.size() == 2 ? parse_double(words[1]) : std::nullopt;
    if (!ms || !brake || !(*ms >= 0.0) || !(*brake >= 0.0)) return Error{"timeout: takes MS and BRAKE_A, both 0 or more"};
    config_.timeout_s = 1e-3 * *ms;
    config_.timeout_brake_a = *brake;
    return {};
  });
  k.add("firmware", "MAJOR MINOR", "replies as that firmware gives them (7 1, 5 2, 3 40, 2 18)", [this](Time, Words words) -> Status {
    const auto major = words.size() == 2 ? parse_int(words[0]) : std::nullopt;
    const auto minor = words.size() == 2 ? parse_int(words[1]) : std::nullopt;
    if (!major || !minor || *major < 0 || *major > 255 || *minor < 0 || *minor > 255) return Error{"firmware: takes MAJOR MINOR"};
    config_.firmware_major = static_cast<int>(*major);
    config_.firmware_minor = static_cast<int>(*minor);
    return {};
  });
  k.add("hear", "HEX", "bytes of somebody else come in, as from another program", [this](Time now, Words words) -> Status {
    const auto bytes = parse_hex(words);
    if (!bytes) return Error{"hear: " + bytes.error().message};
    receive(now, *bytes);
    return {};
  });
}

void Vesc::restart(Time now) {
  decoder_.clear();
  bench_.reset();
  tachometer_from_ = config_.own_motor ? 0.0 : motor_.revolutions;
  travelled_from_ = config_.own_motor ? 0.0 : motor_.travelled;
  if (config_.own_motor) motor_ = {};
  asked_ = demand_ = {};
  averages_ = {};
  servo_.reset();
  ramped_erpm_ = 0.0;
  used_ah_ = charged_ah_ = 0.0;
  fault_ = 0;
  fault_repeats_ = timed_out_ = false;
  fault_until_ = estop_until_ = {};
  now_ = booted_ = fed_at_ = now;
  next_check_ = now + kCheckPeriod;
}

Time Vesc::next_event() const { return now_ + from_milliseconds(5); }

void Vesc::advance(Time now) {
  while (now_ < now) {
    const Time to = std::min({now, now_ + kLongestStep, next_check_});
    const Duration dt = to - now_;
    now_ = to;
    check_voltage(to, dt);
    if (to >= next_check_) {
      next_check_ = next_check_ + kCheckPeriod;
      check_timeout(to);
    }
    ramp(dt);
    update_demand();
    if (config_.own_motor) motor_ = bench_.step(dt, demand_, battery_v_);
    average(dt);
  }
}

void Vesc::drive(Time now, const MotorState& motor) {
  advance(now);
  motor_ = motor;
}

void Vesc::check_voltage(Time now, Duration dt) {
  battery_v_ = std::clamp(battery_v_ + battery_ramp_vps_ * dt.seconds(), 0.0, 100.0);
  const int code = battery_v_ < config_.battery_min_v ? 2 : battery_v_ > config_.battery_max_v ? 1 : fault_repeats_ ? fault_ : 0;
  if (fault_ != 0 && now < fault_until_) return;
  fault_ = 0;
  if (code != 0) raise_fault(now, code);
}

void Vesc::raise_fault(Time now, int code) {
  fault_ = code;
  fault_until_ = now + from_seconds(config_.fault_stop_s);
  release();
}

void Vesc::release() { asked_ = demand_ = {}; }

void Vesc::check_timeout(Time now) {
  timed_out_ = config_.timeout_s > 0.0 && now - fed_at_ > from_seconds(config_.timeout_s);
  if (timed_out_ || kill_switch_) asked_ = {MotorMode::kBrake, config_.timeout_brake_a};
}

void Vesc::ramp(Duration dt) {
  if (asked_.mode != MotorMode::kSpeed) return;
  const double step = config_.ramp_erpm_per_s > 0.0 ? config_.ramp_erpm_per_s * dt.seconds() : 1e9;
  ramped_erpm_ += std::clamp(asked_.value - ramped_erpm_, -step, step);
}

void Vesc::update_demand() {
  demand_ = asked_;
  if (asked_.mode == MotorMode::kSpeed) {
    demand_.value = ramped_erpm_;
    if (std::fabs(ramped_erpm_) < config_.min_erpm) demand_ = {};
  }
  if ((asked_.mode == MotorMode::kCurrent && asked_.value == 0.0) || asked_.mode == MotorMode::kPosition) demand_ = {};
}

void Vesc::average(Duration dt) {
  averages_.motor_as += motor_.current_a * dt.seconds();
  averages_.input_as += motor_.input_a * dt.seconds();
  averages_.time_s += dt.seconds();
  (motor_.input_a >= 0.0 ? used_ah_ : charged_ah_) += std::fabs(motor_.input_a) * dt.seconds() / 3600.0;
}

bool Vesc::ignoring(Time now) const { return fault_ != 0 || kill_switch_ || now < estop_until_; }

int Vesc::status_bits() const { return (timed_out_ ? 1 : 0) | (kill_switch_ ? 2 : 0); }

void Vesc::receive(Time now, ByteView bytes) {
  advance(now);
  decoder_.feed(bytes, [&](ByteView payload) { handle(now, payload); });
}

void Vesc::note(Time now, std::uint8_t id, double value, bool ignored) { log_.push_back({now, id, name_of(id), value, ignored}); }

void Vesc::handle(Time now, ByteView payload) {
  const std::uint8_t id = payload[0];
  const ByteView body = payload.subspan(1);
  ++counts_[id];
  if (handle_motor(now, id, body)) return;
  switch (id) {
    case vesc_id::kFwVersion:
      return reply_firmware();
    case vesc_id::kGetValues:
      return reply_values(id, std::nullopt);
    case vesc_id::kGetValuesSelective:
      if (body.size() >= 4) reply_values(id, read_u32(body));
      return;
    case vesc_id::kGetValuesSetup:
      return reply_setup(id, std::nullopt);
    case vesc_id::kGetValuesSetupSelective:
      if (body.size() >= 4) reply_setup(id, read_u32(body));
      return;
    case vesc_id::kGetImuData:
      if (body.size() >= 2) reply_imu(static_cast<std::uint16_t>((body[0] << 8) | body[1]));
      return;
    case vesc_id::kReboot:
      return restart(now);
    default:
      return;  // the firmware says nothing to what it does not know
  }
}

// Whether it was a command to motor or servo, or one that feeds the timeout.
bool Vesc::handle_motor(Time now, std::uint8_t id, ByteView body) {
  if (id == vesc_id::kAlive) {
    fed_at_ = now;
    note(now, id, 0.0, false);
    return true;
  }
  if (id == vesc_id::kSetServoPos && body.size() >= 2) {
    handle_servo(now, body);
    return true;
  }
  if (id == vesc_id::kMotorEstop && body.size() >= 2 && config_.firmware_major >= 7) {
    const int ms = (body[0] << 8) | body[1];
    note(now, id, ms, false);
    estop_until_ = now + from_milliseconds(ms);
    release();
    return true;
  }
  for (const Motor& motor : kMotorCommands) {
    if (motor.id != id || body.size() < 4) continue;
    double value = static_cast<double>(read_i32(body)) / motor.scale;
    note(now, id, value, ignoring(now));
    if (id == vesc_id::kSetCurrentRel) value *= config_.current_max_a;
    request(now, motor.mode, value, id);
    return true;
  }
  return false;
}

void Vesc::handle_servo(Time now, ByteView body) {
  const double position = static_cast<double>(read_i16(body)) / 1e3;
  note(now, vesc_id::kSetServoPos, position, !config_.servo_enabled);
  if (config_.servo_enabled) servo_ = std::clamp(position, 0.0, 1.0);
}

void Vesc::request(Time now, MotorMode mode, double value, std::uint8_t /*id*/) {
  fed_at_ = now;
  if (ignoring(now)) return;
  timed_out_ = false;
  if (mode == MotorMode::kSpeed) {
    value = std::clamp(value, -config_.erpm_max, config_.erpm_max);
    if (asked_.mode != MotorMode::kSpeed) ramped_erpm_ = motor_.erpm;
  } else if (mode == MotorMode::kDuty) {
    value = std::clamp(value, -0.95, 0.95);
  } else if (mode != MotorMode::kPosition) {
    value = std::clamp(value, -config_.current_max_a, config_.current_max_a);
  }
  asked_ = {mode, value};
  update_demand();
}

void Vesc::spoil_sum(Bytes& message) const {
  if (message.size() >= 3) message[message.size() - 2] ^= 0x5a;
}

}  // namespace pitwall::emulators

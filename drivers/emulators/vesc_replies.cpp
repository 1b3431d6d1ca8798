// SPDX-License-Identifier: Apache-2.0
// What a VESC answers: the telemetry tables.
#include <cmath>

#include "drivers/emulators/vesc.hpp"
#include "drivers/emulators/vesc_fields.hpp"

namespace pitwall::emulators {
namespace {

constexpr double kCountsPerRevolution = 6.0;
constexpr double kWheelMetresPerRevolution = 60.0 / 4614.0;  // electrical, of the stock gear
constexpr double kBatteryAh = 5.0;

/// The counter of the board, which wraps at 2^31.
std::uint32_t tachometer(double revolutions) {
  return static_cast<std::uint32_t>(std::llround(std::floor(kCountsPerRevolution * revolutions)));
}

}  // namespace

void Vesc::reply_firmware() {
  VescPayload p(vesc_id::kFwVersion);
  p.u8(config_.firmware_major);
  p.u8(config_.firmware_minor);
  const bool bare = config_.firmware_major < 3;
  if (!bare) {
    p.text(config_.hardware);
    for (const std::uint8_t byte : config_.uuid) p.u8(byte);
  }
  if (config_.firmware_major >= 5) {
    p.u8(config_.paired ? 1 : 0);
    p.u8(config_.test_version);
    p.u8(0);  // a VESC
    p.u8(0);  // custom configurations
  }
  if (config_.firmware_major >= 6) {
    p.u8(0);  // phase filters
    p.u8(0);  // qml of hardware and of app
    p.u8(0);
    p.u8(0);  // nrf flags
    p.text("");
    p.u32(0xdeadbeef);
  }
  say(vesc_frame(p.bytes()));
}

void Vesc::reply_values(std::uint8_t id, std::optional<std::uint32_t> mask) {
  const bool before_3_33 = config_.firmware_major < 3 || (config_.firmware_major == 3 && config_.firmware_minor < 33);
  if (before_3_33) return mask ? void() : reply_old_values();
  VescPayload p(id);
  if (mask) p.u32(*mask);
  const auto has = [&](int bit) { return !mask || ((*mask >> bit) & 1U) != 0; };
  const double t = averages_.time_s;
  const double motor_a = t > 0.0 ? averages_.motor_as / t : motor_.current_a;
  const double input_a = t > 0.0 ? averages_.input_as / t : motor_.input_a;
  if (has(0)) p.i16(fet_temperature_c_, 10);
  if (has(1)) p.i16(motor_temperature_c_, 10);
  if (has(2)) p.i32(motor_a, 100);
  if (has(3)) p.i32(input_a, 100);
  if (has(4)) p.i32(0.0, 100);
  if (has(5)) p.i32(motor_a, 100);
  if (has(6)) p.i16(motor_.duty, 1000);
  if (has(7)) p.i32(reported(motor_.erpm), 1);
  if (has(8)) p.i16(battery_v_, 10);
  if (has(9)) p.i32(used_ah_, 1e4);
  if (has(10)) p.i32(charged_ah_, 1e4);
  if (has(11)) p.i32(used_ah_ * config_.battery_v, 1e4);
  if (has(12)) p.i32(charged_ah_ * config_.battery_v, 1e4);
  if (has(13)) p.u32(tachometer(reported(motor_.revolutions - tachometer_from_)));
  if (has(14)) p.u32(tachometer(motor_.travelled - travelled_from_));
  if (has(15)) p.u8(fault_);
  if (has(16)) p.i32(0.0, 1e6);
  if (has(17)) p.u8(config_.controller_id);
  const bool has_temperatures = config_.firmware_major >= 5;
  if (has(18) && has_temperatures) {
    for (int i = 0; i < 3; ++i) p.i16(fet_temperature_c_, 10);
  }
  if (has(19) && has_temperatures) p.i32(0.0, 1e3);
  if (has(20) && has_temperatures) p.i32(motor_.duty * battery_v_, 1e3);
  if (has(21) && config_.firmware_major >= 6) p.u8(status_bits());
  if (has(2) || has(3) || has(4) || has(5) || has(19) || has(20)) averages_ = {};
  say(vesc_frame(p.bytes()));
}

// Before 3.33: seven temperatures first, and nothing after the fault.
void Vesc::reply_old_values() {
  VescPayload p(vesc_id::kGetValues);
  for (int i = 0; i < 7; ++i) p.i16(fet_temperature_c_, 10);
  const double t = averages_.time_s;
  p.i32(t > 0.0 ? averages_.motor_as / t : motor_.current_a, 100);
  p.i32(t > 0.0 ? averages_.input_as / t : motor_.input_a, 100);
  p.i16(motor_.duty, 1000);
  p.i32(reported(motor_.erpm), 1);
  p.i16(battery_v_, 10);
  p.i32(used_ah_, 1e4);
  p.i32(charged_ah_, 1e4);
  p.i32(used_ah_ * config_.battery_v, 1e4);
  p.i32(charged_ah_ * config_.battery_v, 1e4);
  p.u32(tachometer(reported(motor_.revolutions - tachometer_from_)));
  p.u32(tachometer(motor_.travelled - travelled_from_));
  p.u8(fault_);
  averages_ = {};
  say(vesc_frame(p.bytes()));
}

void Vesc::reply_setup(std::uint8_t id, std::optional<std::uint32_t> mask) {
  VescPayload p(id);
  if (mask) p.u32(*mask);
  const auto has = [&](int bit) { return !mask || ((*mask >> bit) & 1U) != 0; };
  const double level = std::fmin(1.0, std::fmax(0.0, 1.0 - (used_ah_ - charged_ah_) / kBatteryAh));
  const double t = averages_.time_s;
  if (has(0)) p.i16(fet_temperature_c_, 10);
  if (has(1)) p.i16(motor_temperature_c_, 10);
  if (has(2)) p.i32(t > 0.0 ? averages_.motor_as / t : motor_.current_a, 100);
  if (has(3)) p.i32(t > 0.0 ? averages_.input_as / t : motor_.input_a, 100);
  if (has(4)) p.i16(motor_.duty, 1000);
  if (has(5)) p.i32(reported(motor_.erpm), 1);
  if (has(6)) p.i32(reported(motor_.erpm) / 60.0 * kWheelMetresPerRevolution, 1000);
  if (has(7)) p.i16(battery_v_, 10);
  if (has(8)) p.i16(level, 1000);
  if (has(9)) p.i32(used_ah_, 1e4);
  if (has(10)) p.i32(charged_ah_, 1e4);
  if (has(11)) p.i32(used_ah_ * config_.battery_v, 1e4);
  if (has(12)) p.i32(charged_ah_ * config_.battery_v, 1e4);
  if (has(13)) p.i32(reported(motor_.revolutions - tachometer_from_) * kWheelMetresPerRevolution, 1000);
  if (has(14)) p.i32((motor_.travelled - travelled_from_) * kWheelMetresPerRevolution, 1000);
  if (has(15)) p.i32(0.0, 1e4);
  if (has(16)) p.u8(fault_);
  if (has(17)) p.u8(config_.controller_id);
  if (has(18)) p.u8(1);
  if (has(19)) p.i32(level * kBatteryAh * config_.battery_v, 1000);
  if (has(20)) p.u32(static_cast<std::uint32_t>((motor_.travelled - travelled_from_) * kWheelMetresPerRevolution));
  if (has(21)) p.u32(static_cast<std::uint32_t>((now_ - booted_).ns / 1'000'000));
  if (has(2) || has(3)) averages_ = {};
  say(vesc_frame(p.bytes()));
}

void Vesc::reply_imu(std::uint16_t mask) {
  VescPayload p(vesc_id::kGetImuData);
  p.u16(mask);
  std::array<double, 16> values{};
  if (config_.has_imu) {
    for (std::size_t i = 0; i < 3; ++i) {
      values[i] = imu_.rpy_rad[i];
      values[3 + i] = imu_.acceleration_g[i];
      values[6 + i] = imu_.rate_degps[i];
    }
    values[12] = std::cos(0.5 * imu_.rpy_rad[2]);
    values[15] = std::sin(0.5 * imu_.rpy_rad[2]);
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (((mask >> i) & 1) != 0) p.float_auto(values[i]);
  }
  p.u8(config_.controller_id);
  say(vesc_frame(p.bytes()));
}

}  // namespace pitwall::emulators

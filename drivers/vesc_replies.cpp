// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>

#include "core/math.hpp"
#include "drivers/vesc.hpp"

namespace pitwall::vesc {
namespace {

constexpr double kGravity = 9.80665;

std::optional<Id> id_of(Bytes payload) { return payload.empty() ? std::nullopt : std::optional(static_cast<Id>(payload[0])); }

// The fields of a reply in order of their bits. A field not asked for is skipped; the first that the bytes do not hold whole ends
// the reading, as older firmware ends its replies.
class FieldReader {
 public:
  FieldReader(Bytes bytes, std::uint32_t mask) : in_(bytes), mask_(mask) {}

  [[nodiscard]] std::uint32_t present() const { return present_; }
  void scaled16(double& value, double scale) { scaled(value, scale, 2); }
  void scaled32(double& value, double scale) { scaled(value, scale, 4); }
  template <class Integer>
  void u8(Integer& value) {
    if (begin(1)) {
      value = in_.u8();
    }
  }
  template <class Integer>
  void word32(Integer& value) {
    if (begin(4)) {
      value = static_cast<Integer>(in_.u32());
    }
  }
  /// Several i16 behind one bit.
  void scaled16(std::array<double, 3>& values, double scale) {
    if (begin(6)) {
      for (double& value : values) {
        value = in_.i16() / scale;
      }
    }
  }

 private:
  bool begin(std::size_t bytes) {
    const std::uint32_t bit = 1U << next_++;
    if (ended_ || (mask_ & bit) == 0) {
      return false;
    }
    ended_ = in_.left() < bytes;
    present_ |= ended_ ? 0U : bit;
    return !ended_;
  }
  void scaled(double& value, double scale, std::size_t bytes) {
    if (begin(bytes)) {
      value = (bytes == 2 ? in_.i16() : in_.i32()) / scale;
    }
  }

  drivers::BigEndianReader in_;
  std::uint32_t mask_;
  std::uint32_t present_ = 0;
  unsigned next_ = 0;
  bool ended_ = false;
};

// The mask and what is behind it; a full reply has all bits and no mask.
std::optional<FieldReader> fields_of(Bytes payload, Id full, Id selective) {
  const auto id = id_of(payload);
  if (id == full) {
    return FieldReader(payload.subspan(1), 0xFFFFFFFFU);
  }
  if (id == selective && payload.size() >= 5) {
    return FieldReader(payload.subspan(5), drivers::BigEndianReader(payload.subspan(1)).u32());
  }
  return std::nullopt;
}

// Up to the zero byte, or the end where there is none.
std::string take_text(drivers::BigEndianReader& in) {
  std::string text;
  while (in.left() > 0) {
    const auto c = static_cast<char>(in.u8());
    if (c == '\0') {
      break;
    }
    text += c;
  }
  return text;
}

}  // namespace

std::optional<Values> decode_values(Bytes payload) {
  auto fields = fields_of(payload, Id::kGetValues, Id::kGetValuesSelective);
  if (!fields) {
    return std::nullopt;
  }
  Values v;
  fields->scaled16(v.fet_temperature_degC, 10);
  fields->scaled16(v.motor_temperature_degC, 10);
  fields->scaled32(v.motor_current_A, 100);
  fields->scaled32(v.input_current_A, 100);
  fields->scaled32(v.id_A, 100);
  fields->scaled32(v.iq_A, 100);
  fields->scaled16(v.duty, 1000);
  fields->scaled32(v.erpm, 1);
  fields->scaled16(v.input_voltage_V, 10);
  fields->scaled32(v.ampere_hours, 1e4);
  fields->scaled32(v.ampere_hours_charged, 1e4);
  fields->scaled32(v.watt_hours, 1e4);
  fields->scaled32(v.watt_hours_charged, 1e4);
  fields->word32(v.tachometer);
  fields->word32(v.tachometer_abs);
  fields->u8(v.fault);
  fields->scaled32(v.pid_position_deg, 1e6);
  fields->u8(v.controller_id);
  fields->scaled16(v.mosfet_temperatures_degC, 10);
  fields->scaled32(v.vd_V, 1e3);
  fields->scaled32(v.vq_V, 1e3);
  unsigned status = 0;
  fields->u8(status);
  v.timeout_active = (status & 1U) != 0;
  v.kill_switch = (status & 2U) != 0;
  v.present = fields->present();
  return v.present == 0 ? std::nullopt : std::optional(v);
}

std::optional<SetupValues> decode_setup_values(Bytes payload) {
  auto fields = fields_of(payload, Id::kGetValuesSetup, Id::kGetValuesSetupSelective);
  if (!fields) {
    return std::nullopt;
  }
  SetupValues v;
  fields->scaled16(v.fet_temperature_degC, 10);
  fields->scaled16(v.motor_temperature_degC, 10);
  fields->scaled32(v.motor_current_A, 100);
  fields->scaled32(v.input_current_A, 100);
  fields->scaled16(v.duty, 1000);
  fields->scaled32(v.erpm, 1);
  fields->scaled32(v.speed_mps, 1000);
  fields->scaled16(v.input_voltage_V, 10);
  fields->scaled16(v.battery_level, 1000);
  fields->scaled32(v.ampere_hours, 1e4);
  fields->scaled32(v.ampere_hours_charged, 1e4);
  fields->scaled32(v.watt_hours, 1e4);
  fields->scaled32(v.watt_hours_charged, 1e4);
  fields->scaled32(v.distance_m, 1000);
  fields->scaled32(v.distance_abs_m, 1000);
  fields->scaled32(v.pid_position_deg, 1e6);
  fields->u8(v.fault);
  fields->u8(v.controller_id);
  fields->u8(v.controllers);
  fields->scaled32(v.watt_hours_left, 1000);
  fields->word32(v.odometer_m);
  fields->word32(v.uptime_ms);
  v.present = fields->present();
  return v.present == 0 ? std::nullopt : std::optional(v);
}

bool ImuValues::has_imu() const {
  return std::any_of(linear_acceleration_mps2.begin(), linear_acceleration_mps2.end(), [](double a) { return a != 0.0; });
}

std::optional<ImuValues> decode_imu(Bytes payload) {
  if (id_of(payload) != Id::kGetImu) {
    return std::nullopt;
  }
  drivers::BigEndianReader in(payload.subspan(1));
  ImuValues v;
  v.present = in.u16();
  std::array<double, 16> values{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    if ((v.present >> i & 1U) != 0) {
      values[i] = static_cast<double>(std::bit_cast<float>(in.u32()));
    }
  }
  const bool finite = std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
  if (!in.good() || v.present == 0 || !finite) {
    return std::nullopt;
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    v.roll_pitch_yaw_rad[axis] = values[axis];
    v.linear_acceleration_mps2[axis] = values[3 + axis] * kGravity;
    v.angular_velocity_radps[axis] = values[6 + axis] * (math::kPi / 180.0);
    v.magnetic_field_uT[axis] = values[9 + axis];
  }
  std::copy_n(values.begin() + 12, 4, v.quaternion_wxyz.begin());
  v.controller_id = in.left() > 0 ? in.u8() : 0;
  return v;
}

std::optional<FwVersion> decode_fw_version(Bytes payload) {
  if (id_of(payload) != Id::kFwVersion || payload.size() < 3) {
    return std::nullopt;
  }
  drivers::BigEndianReader in(payload.subspan(1));
  FwVersion v;
  v.major = in.u8();
  v.minor = in.u8();
  v.hardware = take_text(in);
  const Bytes uuid = in.take(12);
  if (!uuid.empty()) {
    std::transform(uuid.begin(), uuid.end(), v.uuid.emplace().begin(), [](std::byte b) { return std::to_integer<std::uint8_t>(b); });
  }
  in.u8();  // pairing
  v.test_version = in.u8();
  v.hardware_type = in.u8();
  in.take(5);  // custom configurations, phase filters, QML of hardware and app, nRF
  v.name = take_text(in);
  return v;
}

std::string FwVersion::text() const {
  std::string text = std::to_string(major) + (minor < 10 ? ".0" : ".") + std::to_string(minor);
  text += test_version != 0 ? " (test " + std::to_string(test_version) + ")" : "";
  text += hardware.empty() ? "" : " on " + hardware;
  if (uuid) {
    text += ", UUID ";
    for (const std::uint8_t b : *uuid) {
      text += {"0123456789abcdef"[b >> 4U], "0123456789abcdef"[b & 15U]};
    }
  }
  return text;
}

std::optional<std::string> decode_print(Bytes payload) {
  if (id_of(payload) != Id::kPrint) {
    return std::nullopt;
  }
  drivers::BigEndianReader in(payload.subspan(1));
  return take_text(in);
}

}  // namespace pitwall::vesc

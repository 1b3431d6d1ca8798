// SPDX-License-Identifier: Apache-2.0
// VESC motor controller, its serial protocol (firmware 3.33 and later; facts after vedderb/bldc 7.01): frames and what is in them.
//   02 LEN PAYLOAD CRC 03   or   03 LEN_HI LEN_LO PAYLOAD CRC 03;   CRC-16/XMODEM of the payload; integers big-endian
// Pure: bytes to structs and back, no clock, no I/O. The dialogue is drivers/vesc_session.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/messages.hpp"
#include "drivers/bytes.hpp"
#include "drivers/frame_buffer.hpp"

namespace pitwall::vesc {

using drivers::Bytes;

/// First byte of a payload. Others exist; they are well-formed and of no interest.
enum class Id : std::uint8_t {
  kFwVersion = 0,
  kGetValues = 4,
  kSetDuty = 5,
  kSetCurrent = 6,
  kSetCurrentBrake = 7,
  kSetRpm = 8,
  kSetPosition = 9,
  kSetHandbrake = 10,
  kSetServo = 12,
  kPrint = 21,
  kAlive = 30,
  kForwardCan = 34,
  kGetValuesSetup = 47,
  kGetValuesSelective = 50,
  kGetValuesSetupSelective = 51,
  kGetImu = 65,
  kSetCurrentRelative = 84,
  kMotorEstop = 159,
};

// Frames.

/// CRC-16/XMODEM: polynomial 0x1021, initial value 0; of "123456789" 0x31C3.
[[nodiscard]] std::uint16_t crc16(Bytes bytes);
/// Appends the frame of a payload of 1 to 65535 bytes; the short form where it fits.
void append_frame(Bytes payload, std::vector<std::byte>& out);

/// Finds the frames in a stream of bytes. Whatever is not a good frame costs one byte and the search goes on behind it, so that
/// a good frame inside a bad one is found.
class FrameDecoder {
 public:
  static constexpr std::size_t kLongestPayload = 1024;

  void push(Bytes bytes);
  /// The next payload (valid until the next call), or nothing until more bytes are pushed.
  std::optional<Bytes> next();
  /// A frame has begun and not ended.
  [[nodiscard]] bool partial() const { return !bytes_.empty(); }
  /// What has begun will not end (the line has been silent): its start byte was none. Call next() afterwards.
  void give_up_partial() { patience_ = Patience::kNone; }
  /// What has begun ought to have ended, and other bytes still come: frames that are whole inside of it are found by the next() that
  /// follow, until bytes are pushed again. A frame with a wrong byte leads here most of the time: its stop byte 03 and the start of
  /// the frame behind it read as the start of a frame of more than 512 bytes.
  void look_inside_partial() { patience_ = Patience::kForWholeFrames; }
  void clear();

  [[nodiscard]] std::uint64_t bad_sums() const { return bytes_.bad_sums(); }
  [[nodiscard]] std::uint64_t dropped_bytes() const { return bytes_.dropped_bytes(); }
  [[nodiscard]] std::uint64_t resyncs() const { return bytes_.resyncs(); }

 private:
  enum class Patience { kForTheRest, kForWholeFrames, kNone };

  drivers::FrameBuffer bytes_;
  Patience patience_ = Patience::kForTheRest;
};

// Requests.

enum class CommandKind : std::uint8_t {
  kDuty,             ///< -1..1
  kCurrent,          ///< A in the motor's q axis; 0 releases the motor
  kBrakeCurrent,     ///< A, magnitude used; ends at standstill
  kErpm,             ///< electrical revolutions per minute; 0 releases the motor at the end, it does not hold
  kPosition,         ///< degrees, needs an encoder
  kHandbrake,        ///< A that hold the car at standstill
  kCurrentRelative,  ///< -1..1 of the configured limits
  kServo,            ///< 0..1 is a pulse of 1..2 ms. The only one that does not reset the device's timeout
};

/// One order to the device, in the units of its kind.
struct Command {
  CommandKind kind = CommandKind::kCurrent;
  double value = 0.0;
};

/// Appends the frame of a command, rounded to the nearest step and saturated to the field. False, and nothing appended, if the
/// value is not finite.
[[nodiscard]] bool append_command(const Command& command, std::vector<std::byte>& out);
/// Firmware 7: releases the motor and ignores motor commands for this time (saturated to 65535 ms).
void append_estop(int milliseconds, std::vector<std::byte>& out);
void append_request(Id id, std::vector<std::byte>& out);
/// kGetValuesSelective or kGetValuesSetupSelective with the fields wanted.
void append_selective_request(Id id, std::uint32_t mask, std::vector<std::byte>& out);
void append_imu_request(std::uint16_t mask, std::vector<std::byte>& out);
/// Wraps a payload for the controller `can_id` behind ours; the reply comes as an ordinary frame.
void append_forwarded(std::uint8_t can_id, Bytes payload, std::vector<std::byte>& out);

// Replies. Each decoder takes a payload with its id byte; nothing if it is another id or shorter than its first field.

/// Bits of Values::present and of the mask of a selective request.
enum ValueBit : std::uint32_t {
  kFetTemperature = 1U << 0,
  kMotorTemperature = 1U << 1,
  kMotorCurrent = 1U << 2,
  kInputCurrent = 1U << 3,
  kIdCurrent = 1U << 4,
  kIqCurrent = 1U << 5,
  kDutyNow = 1U << 6,
  kErpmNow = 1U << 7,
  kInputVoltage = 1U << 8,
  kAmpereHours = 1U << 9,
  kAmpereHoursCharged = 1U << 10,
  kWattHours = 1U << 11,
  kWattHoursCharged = 1U << 12,
  kTachometer = 1U << 13,
  kTachometerAbs = 1U << 14,
  kFault = 1U << 15,
  kPidPosition = 1U << 16,
  kControllerId = 1U << 17,
  kMosfetTemperatures = 1U << 18,
  kVdVoltage = 1U << 19,
  kVqVoltage = 1U << 20,
  kStatus = 1U << 21,
};
/// What a racing car asks for (spec/drivers.md 1.6).
inline constexpr std::uint32_t kRacingMask = 0x0020A3FF;

/// GET_VALUES and GET_VALUES_SELECTIVE. A field that the reply does not hold is 0 and its bit of `present` is not set (older
/// firmware ends earlier). Currents and voltages of the axes are averages since the last read, by whoever.
struct Values {
  std::uint32_t present = 0;
  double fet_temperature_degC = 0.0;
  double motor_temperature_degC = 0.0;  ///< arbitrary without a sensor
  double motor_current_A = 0.0;
  double input_current_A = 0.0;  ///< negative while regenerating
  double id_A = 0.0;
  double iq_A = 0.0;
  double duty = 0.0;
  double erpm = 0.0;
  double input_voltage_V = 0.0;
  double ampere_hours = 0.0;
  double ampere_hours_charged = 0.0;
  double watt_hours = 0.0;
  double watt_hours_charged = 0.0;
  std::int32_t tachometer = 0;  ///< six counts per electrical revolution, signed, wraps
  std::int32_t tachometer_abs = 0;
  int fault = 0;  ///< fault_name()
  double pid_position_deg = 0.0;
  int controller_id = 0;
  std::array<double, 3> mosfet_temperatures_degC{};
  double vd_V = 0.0;
  double vq_V = 0.0;
  bool timeout_active = false;  ///< the device's own command timeout has acted
  bool kill_switch = false;
  [[nodiscard]] bool has(std::uint32_t bits) const { return (present & bits) == bits; }
};
[[nodiscard]] std::optional<Values> decode_values(Bytes payload);

/// GET_VALUES_SETUP: the view of the whole set-up, with the wheel and gear settings of the device.
struct SetupValues {
  std::uint32_t present = 0;  ///< bit per field, in this order
  double fet_temperature_degC = 0.0;
  double motor_temperature_degC = 0.0;
  double motor_current_A = 0.0;
  double input_current_A = 0.0;
  double duty = 0.0;
  double erpm = 0.0;
  double speed_mps = 0.0;
  double input_voltage_V = 0.0;
  double battery_level = 0.0;  ///< 0..1
  double ampere_hours = 0.0;
  double ampere_hours_charged = 0.0;
  double watt_hours = 0.0;
  double watt_hours_charged = 0.0;
  double distance_m = 0.0;
  double distance_abs_m = 0.0;
  double pid_position_deg = 0.0;
  int fault = 0;
  int controller_id = 0;
  int controllers = 0;
  double watt_hours_left = 0.0;
  std::uint32_t odometer_m = 0;
  std::uint32_t uptime_ms = 0;
};
[[nodiscard]] std::optional<SetupValues> decode_setup_values(Bytes payload);

/// GET_IMU_DATA in SI units and the axes that the device's own rotation settings give.
struct ImuValues {
  std::uint16_t present = 0;  ///< bits as in the request: 0-2 angles, 3-5 acceleration, 6-8 rates, 9-11 field, 12-15 quaternion
  std::array<double, 3> roll_pitch_yaw_rad{};
  std::array<double, 3> linear_acceleration_mps2{};  ///< specific force: at rest up reads +g
  std::array<double, 3> angular_velocity_radps{};
  std::array<double, 3> magnetic_field_uT{};
  std::array<double, 4> quaternion_wxyz{};
  int controller_id = 0;
  /// False for a device without an IMU, which answers zeros.
  [[nodiscard]] bool has_imu() const;
};
/// Acceleration and rates: bits 3 to 8.
inline constexpr std::uint16_t kInertialMask = 0x01F8;
/// Nothing, too, if a float is NaN or infinite.
[[nodiscard]] std::optional<ImuValues> decode_imu(Bytes payload);

struct FwVersion {
  int major = 0;
  int minor = 0;
  std::string hardware;                              ///< empty if the reply has none
  std::optional<std::array<std::uint8_t, 12>> uuid;  ///< what tells one VESC from another
  int test_version = 0;                              ///< 0 is a release
  int hardware_type = 0;                             ///< 0 is a VESC
  std::string name;                                  ///< of the firmware
  /// GET_VALUES has the layout known here from 3.33 on.
  [[nodiscard]] bool supported() const { return major > 3 || (major == 3 && minor >= 33); }
  /// "7.01 on PEER_60, UUID 0102..."
  [[nodiscard]] std::string text() const;
};
[[nodiscard]] std::optional<FwVersion> decode_fw_version(Bytes payload);

/// The text of an unsolicited PRINT.
[[nodiscard]] std::optional<std::string> decode_print(Bytes payload);

/// "under-voltage", or "fault 77" for a code not known.
[[nodiscard]] std::string fault_name(int code);
/// What to look at, in one sentence; empty for no fault.
[[nodiscard]] std::string fault_hint(int code);

}  // namespace pitwall::vesc

// SPDX-License-Identifier: Apache-2.0
// Bosch BNO055: its registers, over a bus interface (I2C, or a fake one), and the framing of its serial port (115200 8N1). In mode
// IMU (no magnetometer, which motors disturb). Pure but for the bus. The serial dialogue is drivers/bno055_session.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/messages.hpp"
#include "core/result.hpp"
#include "drivers/bytes.hpp"
#include "drivers/frame_buffer.hpp"

namespace pitwall::bno055 {

using drivers::Bytes;

enum class Register : std::uint8_t {
  kChipId = 0x00,
  kAcceleration = 0x08,  ///< 3 * i16, 1/100 m/s^2; behind it the field (0x0E), rates (0x14), angles (0x1A), quaternion (0x20)
  kRates = 0x14,         ///< 3 * i16, 1/16 deg/s
  kQuaternion = 0x20,    ///< 4 * i16, 1/16384, w x y z
  kUnits = 0x3B,
  kMode = 0x3D,
};
inline constexpr std::uint8_t kChipId = 0xA0;
inline constexpr std::uint8_t kModeConfiguration = 0x00;
inline constexpr std::uint8_t kModeImu = 0x08;
inline constexpr Duration kToConfiguration = from_milliseconds(19);  ///< that a change of mode takes
inline constexpr Duration kFromConfiguration = from_milliseconds(7);
/// One read that covers acceleration to quaternion: 0x08..0x27.
inline constexpr std::size_t kSampleBytes = 32;

struct Sample {
  std::array<double, 3> linear_acceleration_mps2{};
  std::array<double, 3> angular_velocity_radps{};
  std::array<double, 4> quaternion_wxyz{};
};
/// From the kSampleBytes bytes at kAcceleration.
[[nodiscard]] std::optional<Sample> decode_sample(Bytes registers);

/// Tells samples that can be from those that the bus made up (stretched clocks, bus errors): the quaternion has unit length within
/// 2 %, the rates move by less than 35 rad/s and the acceleration by less than 80 m/s^2 between samples. A jump that stays is
/// believed at the third sample. 50 equal samples in a row are a frozen sensor.
class SampleGate {
 public:
  enum class Verdict { kGood, kSpike, kFrozen };
  Verdict judge(const Sample& sample);
  void reset();

 private:
  std::optional<Sample> last_;
  std::optional<Sample> raw_;
  int jumps_ = 0;
  int equal_ = 0;
};

/// Registers of one device.
class RegisterBus {
 public:
  virtual ~RegisterBus() = default;
  virtual Status write(std::uint8_t first, Bytes values) = 0;
  virtual Status read(std::uint8_t first, std::span<std::byte> values) = 0;
};

/// A BNO055 on a bus that answers at once (I2C). One call a period; an error of the bus is one lost sample.
class BusDevice {
 public:
  explicit BusDevice(RegisterBus& bus) : bus_(bus) {}
  /// Identity and mode, step by step: call again not before `wait` until it is running.
  struct Progress {
    bool running = false;
    Duration wait;
  };
  Result<Progress> configure();
  /// A sample that passed the gate; nothing for a spike. Errors: the bus, a frozen sensor.
  Result<std::optional<Sample>> read();

 private:
  RegisterBus& bus_;
  SampleGate gate_;
  int step_ = 0;
};

// Serial framing.

/// Appends AA 01 reg len.
void append_read(std::uint8_t first, std::uint8_t count, std::vector<std::byte>& out);
/// Appends AA 00 reg len data; at most 128 bytes.
void append_write(std::uint8_t first, Bytes values, std::vector<std::byte>& out);

/// BB len data, or EE status.
struct Response {
  bool is_data = false;
  int status = 0;  ///< of EE: 1 good, 7 bus overrun (ask again), others error_text()
  Bytes data;      ///< valid until the reader's next call
};
[[nodiscard]] std::string error_text(int status);

class ResponseReader {
 public:
  void push(Bytes bytes) { bytes_.push(bytes); }
  std::optional<Response> next();
  /// What has begun counts as dropped.
  void clear();
  [[nodiscard]] std::uint64_t dropped_bytes() const { return bytes_.dropped_bytes(); }

 private:
  drivers::FrameBuffer bytes_;
};

}  // namespace pitwall::bno055

// SPDX-License-Identifier: Apache-2.0
// Slamtec RPLIDAR (A, S and C series), its serial protocol: little-endian, requests A5 CMD [LEN payload XOR], replies behind a
// descriptor A5 5A. Pure. Angles turn clockwise, as the sensor does. The dialogue is drivers/rplidar_session.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "drivers/bytes.hpp"
#include "drivers/frame_buffer.hpp"

namespace pitwall::rplidar {

using drivers::Bytes;

enum class Command : std::uint8_t {
  kScan = 0x20,
  kForceScan = 0x21,
  kStop = 0x25,
  kReset = 0x40,
  kInfo = 0x50,
  kHealth = 0x52,
  kSampleRate = 0x59,
  kExpressScan = 0x82,
  kGetConfiguration = 0x84,
  kMotorSpeed = 0xA8,  ///< payload: u16 rpm
  kMotorPwm = 0xF0,    ///< payload: u16, through the accessory board
};
/// Appends a request; the payload (at most 255 bytes) only for commands from 0x80 on.
void append_request(Command command, Bytes payload, std::vector<std::byte>& out);
void append_express_request(std::uint8_t mode, std::vector<std::byte>& out);
/// `key` of kGetConfiguration with a scan mode where the key takes one.
void append_configuration_request(std::uint32_t key, std::optional<std::uint16_t> mode, std::vector<std::byte>& out);

enum ConfigurationKey : std::uint32_t {
  kModeCount = 0x70,
  kMicrosecondsPerSample = 0x71,  ///< u32, Q8
  kMaxDistance = 0x74,            ///< u32, Q8 m
  kAnswerType = 0x75,             ///< u8
  kTypicalMode = 0x7C,            ///< u16
  kModeName = 0x7F,
};

enum class AnswerType : std::uint8_t {
  kInfo = 0x04,
  kHealth = 0x06,
  kSampleRate = 0x15,
  kConfiguration = 0x20,
  kStandard = 0x81,
  kExpress = 0x82,
  kUltra = 0x84,
  kDense = 0x85,
  kUltraDense = 0x86,
};

/// A reply of one packet, or one packet of a stream.
struct Packet {
  AnswerType type{};
  Bytes data;               ///< valid until the next call of the reader
  bool after_loss = false;  ///< bytes before it were dropped: it does not follow the packet before it
};

/// Finds descriptors and packets in the bytes. Packets of a stream carry their own checks: whatever fails costs one byte and the
/// search goes on.
class PacketReader {
 public:
  void push(Bytes bytes) { bytes_.push(bytes); }
  std::optional<Packet> next();
  void clear();

  [[nodiscard]] std::uint64_t bad_sums() const { return bytes_.bad_sums(); }
  [[nodiscard]] std::uint64_t dropped_bytes() const { return bytes_.dropped_bytes(); }
  [[nodiscard]] std::uint64_t resyncs() const { return bytes_.resyncs(); }

 private:
  enum class Found { kNothing, kPart, kWhole };
  Found read_descriptor(Bytes rest);

  drivers::FrameBuffer bytes_;
  std::optional<AnswerType> stream_;
  std::optional<AnswerType> single_;
  std::size_t length_ = 0;
};

/// One measurement.
struct Point {
  double clockwise_rad = 0.0;  ///< 0 at the sensor's mark
  double distance_m = 0.0;     ///< 0: nothing measured
  int quality = 0;             ///< 0 where the format carries none
};

/// Turns the packets of a stream into points. The angles of a capsule need the next one's start, so points come a packet late.
class PointDecoder {
 public:
  /// Appends the points that this packet completes.
  void decode(const Packet& packet, std::vector<Point>& points);
  void reset() { previous_.clear(); }

 private:
  void decode_capsule(const Packet& packet, std::vector<Point>& points);

  AnswerType type_{};
  std::vector<std::byte> previous_;
};

struct Info {
  int model = 0;
  int firmware_major = 0;
  int firmware_minor = 0;
  int hardware = 0;
  std::string serial;  ///< hexadecimal
};
[[nodiscard]] std::optional<Info> decode_info(const Packet& packet);

struct Health {
  int status = 0;  ///< 0 good, 1 warning, 2 error
  int code = 0;
};
[[nodiscard]] std::optional<Health> decode_health(const Packet& packet);

/// us per measurement, standard and express.
struct SampleRate {
  int standard_us = 0;
  int express_us = 0;
};
[[nodiscard]] std::optional<SampleRate> decode_sample_rate(const Packet& packet);

/// Key and value of a reply to kGetConfiguration.
struct Configuration {
  std::uint32_t key = 0;
  Bytes value;
};
[[nodiscard]] std::optional<Configuration> decode_configuration(const Packet& packet);

/// Bytes of a packet of a stream; 0 for what is none.
[[nodiscard]] std::size_t packet_length(AnswerType type);

}  // namespace pitwall::rplidar

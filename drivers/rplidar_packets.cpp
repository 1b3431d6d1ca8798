// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "core/check.hpp"
#include "drivers/rplidar.hpp"

namespace pitwall::rplidar {
namespace {

using drivers::u16_le_at;
using drivers::u32_le_at;
using drivers::u8_at;

constexpr std::byte kRequestStart{0xA5};
constexpr std::byte kDescriptor2{0x5A};
constexpr std::size_t kDescriptorBytes = 7;
constexpr std::size_t kLongestReply = 1024;

std::uint8_t exclusive_or(Bytes bytes) {
  std::uint8_t sum = 0;
  for (const std::byte b : bytes) {
    sum ^= std::to_integer<std::uint8_t>(b);
  }
  return sum;
}

bool is_capsule(AnswerType type) {
  return type == AnswerType::kExpress || type == AnswerType::kUltra || type == AnswerType::kDense || type == AnswerType::kUltraDense;
}

// The two bits and two nibbles by which a packet of a stream can be told from its first bytes.
bool begins_well(AnswerType type, Bytes bytes) {
  if (is_capsule(type)) {
    return u8_at(bytes, 0) >> 4U == 0xA && (bytes.size() < 2 || u8_at(bytes, 1) >> 4U == 0x5);
  }
  constexpr unsigned kMostAngle = 361 * 64;
  const unsigned flags = u8_at(bytes, 0) & 3U;
  return (flags == 1 || flags == 2) && (bytes.size() < 2 || (u8_at(bytes, 1) & 1U) != 0) &&
         (bytes.size() < 3 || u16_le_at(bytes, 1) >> 1U <= kMostAngle);
}

// Whether standard packets follow each other here, at most one of them the first of a turn.
bool is_run(Bytes packets) {
  constexpr std::size_t kLength = 5;
  unsigned first = 0;
  for (std::size_t at = 0; at < packets.size(); at += kLength) {
    if (!begins_well(AnswerType::kStandard, packets.subspan(at))) {
      return false;
    }
    first += u8_at(packets, at) & 1U;
  }
  return first <= 1;
}

bool sum_is_good(AnswerType type, Bytes packet) {
  if (!is_capsule(type)) {
    return true;
  }
  const unsigned sum = (u8_at(packet, 0) & 0xFU) | (u8_at(packet, 1) & 0xFU) << 4U;
  return sum == exclusive_or(packet.subspan(2));
}

}  // namespace

std::size_t packet_length(AnswerType type) {
  switch (type) {
    case AnswerType::kStandard:
      return 5;
    case AnswerType::kExpress:
    case AnswerType::kDense:
      return 84;
    case AnswerType::kUltra:
      return 132;
    case AnswerType::kUltraDense:
      return 170;
    default:
      return 0;
  }
}

void append_request(Command command, Bytes payload, std::vector<std::byte>& out) {
  const std::size_t begin = out.size();
  out.push_back(kRequestStart);
  out.push_back(static_cast<std::byte>(command));
  if (static_cast<unsigned>(command) >= 0x80U) {
    PITWALL_CHECK(payload.size() <= 255, payload.size());
    out.push_back(static_cast<std::byte>(payload.size()));
    out.insert(out.end(), payload.begin(), payload.end());
    out.push_back(static_cast<std::byte>(exclusive_or(Bytes(out).subspan(begin))));
  }
}

void append_express_request(std::uint8_t mode, std::vector<std::byte>& out) {
  const std::array<std::byte, 5> payload{std::byte{mode}};
  append_request(Command::kExpressScan, payload, out);
}

void append_configuration_request(std::uint32_t key, std::optional<std::uint16_t> mode, std::vector<std::byte>& out) {
  std::vector<std::byte> payload;
  for (int shift = 0; shift < 32; shift += 8) {
    payload.push_back(static_cast<std::byte>(key >> shift & 0xFFU));
  }
  for (int shift = 0; mode && shift < 16; shift += 8) {
    payload.push_back(static_cast<std::byte>(*mode >> shift & 0xFF));
  }
  append_request(Command::kGetConfiguration, payload, out);
}

void PacketReader::clear() {
  bytes_.clear();
  stream_.reset();
  single_.reset();
}

PacketReader::Found PacketReader::read_descriptor(Bytes rest) {
  if (rest[0] != kRequestStart || (rest.size() > 1 && rest[1] != kDescriptor2)) {
    return Found::kNothing;
  }
  if (rest.size() < kDescriptorBytes) {
    return Found::kPart;
  }
  const std::uint32_t word = u32_le_at(rest, 2);
  const auto type = static_cast<AnswerType>(u8_at(rest, 6));
  const std::size_t length = word & 0x3FFFFFFFU;
  const bool stream = word >> 30U == 1;
  if (word >> 30U > 1 || length == 0 || length > kLongestReply || (stream && packet_length(type) != length)) {
    return Found::kNothing;
  }
  stream_ = stream ? std::optional(type) : std::nullopt;
  single_ = stream ? std::nullopt : std::optional(type);
  length_ = length;
  bytes_.skip(kDescriptorBytes);
  return Found::kWhole;
}

std::optional<Packet> PacketReader::next() {
  while (!bytes_.empty()) {
    const Bytes rest = bytes_.rest();
    if (single_) {
      if (rest.size() < length_) {
        return std::nullopt;
      }
      const Packet packet{*single_, bytes_.take(length_), false};
      single_.reset();
      return packet;
    }
    // First, since a descriptor begins as a capsule may.
    const Found found = read_descriptor(rest);
    if (found == Found::kPart) {
      return std::nullopt;
    }
    if (found == Found::kWhole) {
      continue;
    }
    if (!stream_ || !begins_well(*stream_, rest)) {
      bytes_.drop_byte();
      continue;
    }
    // The five bytes of a standard packet have no sum: they are believed once others begin well behind them.
    const std::size_t others = is_capsule(*stream_) ? 0 : bytes_.in_sync() ? 2 : 5;
    if (rest.size() < (others + 1) * length_) {
      return std::nullopt;
    }
    if (others > 0 && !is_run(rest.first((others + 1) * length_))) {
      bytes_.drop_byte();
      continue;
    }
    if (!sum_is_good(*stream_, rest.first(length_))) {
      bytes_.drop_bad_sum();
      continue;
    }
    const bool after_loss = !bytes_.in_sync();
    return Packet{*stream_, bytes_.take(length_), after_loss};
  }
  return std::nullopt;
}

std::optional<Info> decode_info(const Packet& packet) {
  if (packet.type != AnswerType::kInfo || packet.data.size() != 20) {
    return std::nullopt;
  }
  Info info;
  info.model = u8_at(packet.data, 0);
  info.firmware_minor = u8_at(packet.data, 1);
  info.firmware_major = u8_at(packet.data, 2);
  info.hardware = u8_at(packet.data, 3);
  for (const std::byte b : packet.data.subspan(4)) {
    const auto value = std::to_integer<unsigned>(b);
    info.serial += {"0123456789ABCDEF"[value >> 4U], "0123456789ABCDEF"[value & 15U]};
  }
  return info;
}

std::optional<Health> decode_health(const Packet& packet) {
  if (packet.type != AnswerType::kHealth || packet.data.size() != 3) {
    return std::nullopt;
  }
  return Health{u8_at(packet.data, 0), u16_le_at(packet.data, 1)};
}

std::optional<SampleRate> decode_sample_rate(const Packet& packet) {
  if (packet.type != AnswerType::kSampleRate || packet.data.size() != 4) {
    return std::nullopt;
  }
  return SampleRate{u16_le_at(packet.data, 0), u16_le_at(packet.data, 2)};
}

std::optional<Configuration> decode_configuration(const Packet& packet) {
  if (packet.type != AnswerType::kConfiguration || packet.data.size() < 4) {
    return std::nullopt;
  }
  return Configuration{u32_le_at(packet.data, 0), packet.data.subspan(4)};
}

}  // namespace pitwall::rplidar

// SPDX-License-Identifier: Apache-2.0
#include "drivers/emulators/rplidar.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/math.hpp"
#include "drivers/emulators/little_endian.hpp"
#include "drivers/emulators/room.hpp"

namespace pitwall::emulators {
namespace {

constexpr std::uint8_t kRplidarStart = 0xa5;
constexpr std::uint8_t kRplidarStop = 0x25, kScan = 0x20, kForceScan = 0x21, kReset = 0x40, kInfo = 0x50, kHealth = 0x52,
                       kSampleRate = 0x59, kExpressScan = 0x82, kConfiguration = 0x84;
constexpr std::uint8_t kNodeType = 0x81, kLegacyType = 0x82, kDenseType = 0x85;
constexpr int kLegacyPoints = 32;
constexpr int kDensePoints = 40;
constexpr int kQuality = 47;

/// Two halves of a checksum in the low nibbles of A. and 5., over everything after them.
Bytes synced(const Bytes& rest) {
  std::uint8_t sum = 0;
  for (const std::uint8_t byte : rest) sum ^= byte;
  Bytes capsule = {static_cast<std::uint8_t>(0xa0 | (sum & 0x0f)), static_cast<std::uint8_t>(0x50 | (sum >> 4))};
  capsule.insert(capsule.end(), rest.begin(), rest.end());
  return capsule;
}

}  // namespace

Rplidar::Rplidar(const RplidarConfig& config) : config_(config) { add_knobs(); }

void Rplidar::add_knobs() {
  knobs().add_number("health", "0|1|2", "good, warning, error: with an error it does not scan", 0, 2, [this](Time, double state) {
    health_ = static_cast<int>(state);
    health_code_ = health_ == 0 ? 0 : 0x8000;
  });
  knobs().add_switch("motor_stuck", "does not turn: every point at one bearing", motor_stuck_);
  knobs().add_number("speed", "TURNS_PER_S", "how fast it turns", 0.1, 20, [this](Time now, double turns) {
    config_.turns_per_s = turns;
    began_ = now;
    sample_ = 0;
  });
}

void Rplidar::restart(Time /*now*/) {
  buffer_.clear();
  mode_ = Mode::kIdle;
}

void Rplidar::receive(Time now, ByteView bytes) {
  advance(now);
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  while (buffer_.size() >= 2) {
    const auto drop = [&](std::size_t count) { buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(count)); };
    if (buffer_[0] != kRplidarStart) {
      drop(1);
      continue;
    }
    const std::uint8_t command = buffer_[1];
    if ((command & 0x80) == 0) {
      request(now, command, {});
      drop(2);
      continue;
    }
    if (buffer_.size() < 3) return;
    const std::size_t length = buffer_[2];
    if (buffer_.size() < 4 + length) return;
    std::uint8_t sum = 0;
    for (std::size_t i = 0; i < 3 + length; ++i) sum ^= buffer_[i];
    if (sum != buffer_[3 + length]) {
      drop(1);
      continue;
    }
    const Bytes payload(buffer_.begin() + 3, buffer_.begin() + static_cast<std::ptrdiff_t>(3 + length));
    request(now, command, payload);
    drop(4 + length);
  }
}

void Rplidar::describe(std::uint32_t length, bool stream, std::uint8_t type) {
  Bytes descriptor = {kRplidarStart, 0x5a};
  append_le(descriptor, length | (stream ? 1U << 30 : 0U), 4);
  descriptor.push_back(type);
  say(std::move(descriptor));
}

void Rplidar::request(Time now, std::uint8_t command, ByteView payload) {
  Bytes reply;
  switch (command) {
    case kRplidarStop:
      mode_ = Mode::kIdle;
      return;
    case kReset: {
      restart(now);
      constexpr std::string_view kBanner = "RP LIDAR System.\r\nFirmware Ver 1.29\r\n";
      return say(Bytes(kBanner.begin(), kBanner.end()));
    }
    case kInfo:
      reply = {static_cast<std::uint8_t>(config_.model), static_cast<std::uint8_t>(config_.firmware_minor),
               static_cast<std::uint8_t>(config_.firmware_major), static_cast<std::uint8_t>(config_.hardware)};
      for (int i = 0; i < 16; ++i) reply.push_back(static_cast<std::uint8_t>(0xa0 + i));
      describe(20, false, 0x04);
      return say(std::move(reply));
    case kHealth:
      reply.push_back(static_cast<std::uint8_t>(health_));
      append_le(reply, static_cast<std::uint64_t>(health_code_), 2);
      describe(3, false, 0x06);
      return say(std::move(reply));
    case kSampleRate: {
      const auto us = static_cast<std::uint64_t>(std::lround(1e6 / config_.samples_per_s));
      append_le(reply, us, 2);
      append_le(reply, us, 2);
      describe(4, false, 0x15);
      return say(std::move(reply));
    }
    case kScan:
    case kForceScan:
      return begin(now, Mode::kStandard);
    case kExpressScan:
      if (payload.size() == 5) begin(now, config_.dense ? Mode::kDense : Mode::kLegacy);
      return;
    case kConfiguration:
      return configuration(payload);
    default:
      return;
  }
}

// Mode 0 is standard, mode 1 express.
void Rplidar::configuration(ByteView payload) {
  if (payload.size() < 4) return;
  const std::uint32_t key =
      payload[0] | (std::uint32_t{payload[1]} << 8) | (std::uint32_t{payload[2]} << 16) | (std::uint32_t{payload[3]} << 24);
  const int mode = payload.size() >= 6 ? payload[4] | (payload[5] << 8) : 0;
  Bytes reply;
  append_le(reply, key, 4);
  switch (key) {
    case 0x70:
      append_le(reply, 2, 2);
      break;
    case 0x71:
      append_le(reply, static_cast<std::uint64_t>(std::lround(256e6 / config_.samples_per_s)), 4);
      break;
    case 0x74:
      append_le(reply, 12U * 256U, 4);
      break;
    case 0x75:
      reply.push_back(mode == 0 ? kNodeType : config_.dense ? kDenseType : kLegacyType);
      break;
    case 0x7c:
      append_le(reply, 1, 2);
      break;
    case 0x7f:
      for (const char c : std::string_view(mode == 0 ? "Standard" : "Express")) reply.push_back(static_cast<std::uint8_t>(c));
      reply.push_back(0);
      break;
    default:
      return;
  }
  describe(static_cast<std::uint32_t>(reply.size()), false, 0x20);
  say(std::move(reply));
}

void Rplidar::begin(Time now, Mode mode) {
  if (health_ == 2) return;
  mode_ = mode;
  began_ = now;
  sample_ = 0;
  first_capsule_ = true;
  describe(mode == Mode::kStandard ? 5 : 84, true, mode == Mode::kStandard ? kNodeType : mode == Mode::kDense ? kDenseType : kLegacyType);
}

int Rplidar::points_a_message() const {
  if (mode_ == Mode::kStandard) return 16;  // a USB packet's worth of nodes
  return mode_ == Mode::kDense ? kDensePoints : kLegacyPoints;
}

Time Rplidar::next_event() const {
  if (mode_ == Mode::kIdle) return kNever;
  return began_ + from_seconds(static_cast<double>(sample_ + points_a_message()) / config_.samples_per_s);
}

void Rplidar::advance(Time now) {
  while (next_event() <= now) mode_ == Mode::kStandard ? nodes() : capsule();
}

// Clockwise from straight ahead.
double Rplidar::bearing_deg(std::int64_t sample) const {
  if (motor_stuck_) return 0.0;
  return std::fmod(360.0 * config_.turns_per_s * static_cast<double>(sample) / config_.samples_per_s, 360.0);
}

int Rplidar::distance_mm(std::int64_t sample) const {
  return static_cast<int>(std::lround(1e3 * room_range_m(-bearing_deg(sample) * math::kPi / 180.0)));
}

void Rplidar::nodes() {
  Bytes message;
  for (int i = 0; i < points_a_message(); ++i, ++sample_) {
    const bool first = sample_ == 0 || bearing_deg(sample_) < bearing_deg(sample_ - 1);
    const auto angle_q6 = static_cast<unsigned>(std::lround(64.0 * bearing_deg(sample_))) % (360U * 64U);
    message.push_back(static_cast<std::uint8_t>(kQuality << 2 | (first ? 1 : 2)));
    append_le(message, angle_q6 << 1 | 1U, 2);
    append_le(message, static_cast<std::uint64_t>(4 * distance_mm(sample_)), 2);
  }
  say(std::move(message));
}

void Rplidar::capsule() {
  Bytes rest;
  const auto start_q6 = static_cast<unsigned>(std::lround(64.0 * bearing_deg(sample_))) % (360U * 64U);
  append_le(rest, start_q6 | (std::exchange(first_capsule_, false) ? 0x8000U : 0U), 2);
  if (mode_ == Mode::kDense) {
    for (int i = 0; i < kDensePoints; ++i) append_le(rest, static_cast<std::uint64_t>(distance_mm(sample_ + i)), 2);
  } else {
    // No point is off its even place between two capsules' starts: all offsets are 0.
    for (int i = 0; i < kLegacyPoints; i += 2) {
      append_le(rest, static_cast<std::uint64_t>(std::min(distance_mm(sample_ + i), 0x3fff)) << 2, 2);
      append_le(rest, static_cast<std::uint64_t>(std::min(distance_mm(sample_ + i + 1), 0x3fff)) << 2, 2);
      rest.push_back(0);
    }
  }
  sample_ += points_a_message();
  say(synced(rest));
}

void Rplidar::spoil_sum(Bytes& message) const {
  if (mode_ == Mode::kStandard) {
    message[0] ^= 0x03;  // a start bit that is its own inverse
    message[0] |= 0x03;
  } else if (!message.empty()) {
    message[0] ^= 0x05;
  }
}

}  // namespace pitwall::emulators

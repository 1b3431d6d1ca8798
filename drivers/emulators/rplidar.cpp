// SPDX-License-Identifier: Apache-2.0
#include "drivers/emulators/rplidar.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/math.hpp"
#include "drivers/emulators/little_endian.hpp"

namespace pitwall::emulators {
namespace {

constexpr std::uint8_t kRplidarStart = 0xa5;
constexpr std::uint8_t kRplidarStop = 0x25, kScan = 0x20, kForceScan = 0x21, kReset = 0x40, kInfo = 0x50, kHealth = 0x52,
                       kSampleRate = 0x59, kExpressScan = 0x82, kConfiguration = 0x84;
constexpr std::uint8_t kNodeType = 0x81;
constexpr int kQuality = 47;

struct CapsuleFormat {
  std::uint8_t type;
  std::uint32_t bytes;
  int points;
};
constexpr CapsuleFormat format_of(RplidarCapsule capsule) {
  switch (capsule) {
    case RplidarCapsule::kUltra:
      return {0x84, 132, 96};
    case RplidarCapsule::kDense:
      return {0x85, 84, 40};
    case RplidarCapsule::kLegacy:
      break;
  }
  return {0x82, 84, 32};
}

/// The twelve bits of a distance in an ultra capsule: steps of 1 mm, from 512, 2048, 4096 and 16384 mm on of 2, 4, 8 and 16.
struct Major {
  unsigned code = 0;
  int mm = 0;     // as the code has it
  int shift = 0;  // of the differences to it
};
Major major_of(int mm) {
  constexpr std::array<int, 5> kFrom = {16384, 4096, 2048, 512, 0};
  constexpr std::array<int, 5> kCode = {3328, 1792, 1280, 512, 0};
  std::size_t piece = 0;
  while (mm < kFrom[piece]) ++piece;
  const int shift = 4 - static_cast<int>(piece);
  const int steps = std::min((mm - kFrom[piece]) >> shift, (piece == 0 ? 4095 : kCode[piece - 1] - 1) - kCode[piece]);
  return {static_cast<unsigned>(kCode[piece] + steps), kFrom[piece] + (steps << shift), shift};
}

/// The ten bits of a neighbour: its difference to the base, or that nothing was measured or can be said.
unsigned difference(int mm, const Major& base) {
  constexpr unsigned kNothing = 0x1ff;
  const int steps = (mm - base.mm) >> base.shift;
  return mm == 0 || steps < -511 || steps > 510 ? kNothing : static_cast<unsigned>(steps) & 0x3ffU;
}

/// How far a point of that distance lies behind the encoder's angle, deg: the laser of a triangulating sensor looks past its axis. The
/// numbers are those of Slamtec's SDK, whose angles have 16 binary places.
double parallax_deg(int mm) {
  if (mm < 50) return 7.5;
  const double k = 98361.0 / (4.0 * mm);
  return 8.0 - (64.0 * k + k * k * k / 98304.0) / 65536.0 * 180.0 / math::kPi;
}

/// Two halves of a checksum in the low nibbles of A. and 5., over everything after them.
Bytes synced(const Bytes& rest) {
  std::uint8_t sum = 0;
  for (const std::uint8_t byte : rest) sum ^= byte;
  Bytes capsule = {static_cast<std::uint8_t>(0xa0 | (sum & 0x0f)), static_cast<std::uint8_t>(0x50 | (sum >> 4))};
  capsule.insert(capsule.end(), rest.begin(), rest.end());
  return capsule;
}

}  // namespace

RplidarConfig rplidar_named(std::string_view label) {
  struct Model {
    std::string_view name;
    int number;
    double samples_per_s;
    RplidarCapsule capsule;
  };
  constexpr std::array<Model, 7> kModels = {{{" A1", 0x18, 4000.0, RplidarCapsule::kLegacy},
                                             {" A2", 0x28, 8000.0, RplidarCapsule::kUltra},
                                             {" A3", 0x38, 16000.0, RplidarCapsule::kUltra},
                                             {" C1", 0x41, 5000.0, RplidarCapsule::kDense},
                                             {" S1", 0x61, 9200.0, RplidarCapsule::kDense},
                                             {" S2", 0x71, 32000.0, RplidarCapsule::kDense},
                                             {" S3", 0x81, 32000.0, RplidarCapsule::kDense}}};
  RplidarConfig config;
  for (const Model& model : kModels) {
    if (label.find(model.name) == std::string_view::npos) continue;
    config.model = model.number;
    config.samples_per_s = model.samples_per_s;
    config.capsule = model.capsule;
  }
  return config;
}

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
      if (payload.size() == 5) begin(now, Mode::kExpress);
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
      append_le(reply, 12 << 8, 4);
      break;
    case 0x75:
      reply.push_back(mode == 0 ? kNodeType : format_of(config_.capsule).type);
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
  const CapsuleFormat format = format_of(config_.capsule);
  mode == Mode::kStandard ? describe(5, true, kNodeType) : describe(format.bytes, true, format.type);
}

int Rplidar::points_a_message() const {
  if (mode_ == Mode::kStandard) return 16;  // a USB packet's worth of nodes
  return format_of(config_.capsule).points;
}

Time Rplidar::next_event() const {
  if (mode_ == Mode::kIdle) return kNever;
  return time_of(sample_ + points_a_message());
}

Time Rplidar::time_of(std::int64_t sample) const { return began_ + from_seconds(static_cast<double>(sample) / config_.samples_per_s); }

void Rplidar::advance(Time now) {
  while (next_event() <= now) mode_ == Mode::kStandard ? nodes() : capsule();
}

// Clockwise from straight ahead.
double Rplidar::bearing_deg(std::int64_t sample) const {
  if (motor_stuck_) return 0.0;
  return std::fmod(360.0 * config_.turns_per_s * static_cast<double>(sample) / config_.samples_per_s, 360.0);
}

int Rplidar::distance_mm(std::int64_t sample) const {
  return millimetres_of(sight_(time_of(sample), -bearing_deg(sample) * math::kPi / 180.0));
}

void Rplidar::nodes() {
  Bytes message;
  for (int i = 0; i < points_a_message(); ++i, ++sample_) {
    const bool first = sample_ == 0 || bearing_deg(sample_) < bearing_deg(sample_ - 1);
    const auto angle_q6 = static_cast<unsigned>(std::lround(64.0 * bearing_deg(sample_))) % (360U * 64U);
    message.push_back(static_cast<std::uint8_t>(kQuality << 2 | (first ? 1 : 2)));
    append_le(message, angle_q6 << 1 | 1U, 2);
    append_le(message, 4 * static_cast<std::uint64_t>(distance_mm(sample_)), 2);
  }
  say(std::move(message));
}

void Rplidar::capsule() {
  Bytes rest;
  const auto start_q6 = static_cast<unsigned>(std::lround(64.0 * bearing_deg(sample_))) % (360U * 64U);
  append_le(rest, start_q6 | (std::exchange(first_capsule_, false) ? 0x8000U : 0U), 2);
  switch (config_.capsule) {
    case RplidarCapsule::kLegacy:
      append_legacy(rest);
      break;
    case RplidarCapsule::kUltra:
      append_ultra(rest);
      break;
    case RplidarCapsule::kDense:
      append_dense(rest);
      break;
  }
  sample_ += points_a_message();
  say(synced(rest));
}

// No point is off its even place between two capsules' starts: all offsets are 0.
void Rplidar::append_legacy(Bytes& rest) {
  for (int i = 0; i < points_a_message(); i += 2) {
    append_le(rest, static_cast<std::uint64_t>(std::min(distance_mm(sample_ + i), 0x3fff)) << 2, 2);
    append_le(rest, static_cast<std::uint64_t>(std::min(distance_mm(sample_ + i + 1), 0x3fff)) << 2, 2);
    rest.push_back(0);
  }
}

void Rplidar::append_dense(Bytes& rest) {
  for (int i = 0; i < points_a_message(); ++i) append_le(rest, static_cast<std::uint64_t>(distance_mm(sample_ + i)), 2);
}

// Three points a word: a distance, the next one's difference to it, and another one's to the distance of the word that follows.
void Rplidar::append_ultra(Bytes& rest) {
  if (sample_ == 0) first_mm_ = behind_encoder_mm(0);
  for (int i = 0; i < points_a_message(); i += 3) {
    const Major here = major_of(first_mm_);
    const int second_mm = behind_encoder_mm(sample_ + i + 1);
    const int third_mm = behind_encoder_mm(sample_ + i + 2);
    first_mm_ = behind_encoder_mm(sample_ + i + 3);
    const Major after = major_of(first_mm_);
    const Major& base = here.mm == 0 && after.mm != 0 ? after : here;
    append_le(rest, here.code | difference(second_mm, base) << 12 | difference(third_mm, after) << 22, 4);
  }
}

// What is seen where the encoder is at that sample: the bearing depends on the distance, and converges within a micrometre in four rounds.
int Rplidar::behind_encoder_mm(std::int64_t sample) const {
  int mm = 1000;
  for (int round = 0; round < 4; ++round)
    mm = millimetres_of(sight_(time_of(sample), -(bearing_deg(sample) - parallax_deg(mm)) * math::kPi / 180.0));
  return mm;
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

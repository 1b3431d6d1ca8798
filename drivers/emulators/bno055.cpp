// SPDX-License-Identifier: Apache-2.0
#include "drivers/emulators/bno055.hpp"

#include <algorithm>
#include <cmath>

namespace pitwall::emulators {
namespace {

constexpr std::uint8_t kStart = 0xaa;
constexpr std::uint8_t kWrite = 0, kRead = 1;
constexpr std::uint8_t kChipId = 0xa0;
constexpr std::size_t kAcceleration = 0x08, kRates = 0x14, kQuaternion = 0x20, kDataEnd = 0x28;
constexpr std::uint8_t kMode = 0x3d;
constexpr std::uint8_t kDone = 0x01, kWrongAddress = 0x04, kOverrun = 0x07;
constexpr Duration kPeriod = from_milliseconds(10);
constexpr Duration kIntoFusion = from_milliseconds(7);
constexpr std::uint16_t kSpike = 0x7fff;  // what a stretched clock makes of a value

}  // namespace

Bno055::Bno055() {
  add_knobs();
  Bno055::restart({});
}

void Bno055::add_knobs() {
  const auto count = [](int& value) { return [&value](Time, double number) { value = static_cast<int>(number); }; };
  knobs().add_number("nak", "N", "the next N transfers on the bus fail", 0, 1e9, count(naks_));
  knobs().add_number("overrun", "N", "the next N requests on the serial port are answered by error 07", 0, 1e9, count(overruns_));
  knobs().add_number("spike", "N", "the next N samples are those of a stretched clock", 0, 1e9, count(spikes_));
  knobs().add_switch("frozen", "the same sample again and again", frozen_);
}

void Bno055::restart(Time now) {
  registers_.fill(0);
  registers_[0] = kChipId;
  buffer_.clear();
  next_sample_ = now + kPeriod;
  running_at_ = kNever;
}

void Bno055::advance(Time now) {
  for (; next_sample_ <= now; next_sample_ = next_sample_ + kPeriod) {
    if (next_sample_ >= running_at_ && !frozen_) measure();
  }
}

void Bno055::measure() {
  const auto put = [&](std::size_t at, double value) {
    const auto bits = static_cast<std::uint16_t>(static_cast<std::int16_t>(std::lround(std::clamp(value, -32768.0, 32767.0))));
    registers_[at] = static_cast<std::uint8_t>(bits & 0xff);
    registers_[at + 1] = static_cast<std::uint8_t>(bits >> 8);
  };
  for (std::size_t i = 0; i < 3; ++i) {
    put(kAcceleration + 2 * i, 100.0 * truth_.acceleration_mps2[i]);
    put(kRates + 2 * i, 16.0 * truth_.rate_degps[i]);
  }
  for (std::size_t i = 0; i < 4; ++i) put(kQuaternion + 2 * i, 16384.0 * truth_.quaternion_wxyz[i]);
  if (spikes_ == 0) return;
  --spikes_;
  put(kRates + 4, kSpike);
  put(kQuaternion, kSpike);
}

std::optional<Bytes> Bno055::read(Time now, std::uint8_t first, std::size_t count) {
  advance(now);
  if (naks_ > 0) {
    --naks_;
    return std::nullopt;
  }
  if (first + count > registers_.size()) return std::nullopt;
  return Bytes(registers_.begin() + first, registers_.begin() + first + static_cast<std::ptrdiff_t>(count));
}

bool Bno055::write(Time now, std::uint8_t first, ByteView values) {
  advance(now);
  if (naks_ > 0) {
    --naks_;
    return false;
  }
  if (first < kDataEnd || first + values.size() > registers_.size()) return false;
  std::copy(values.begin(), values.end(), registers_.begin() + first);
  if (first > kMode || first + values.size() <= kMode) return true;
  const bool fusion = (registers_[kMode] & 0x0f) >= 0x08;
  if (!fusion) std::fill(registers_.begin() + kAcceleration, registers_.begin() + kDataEnd, std::uint8_t{0});
  running_at_ = fusion ? now + kIntoFusion : kNever;
  return true;
}

void Bno055::receive(Time now, ByteView bytes) {
  advance(now);
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  while (buffer_.size() >= 4) {
    if (buffer_[0] != kStart || buffer_[1] > kRead) {
      buffer_.erase(buffer_.begin());
      continue;
    }
    const std::size_t length = buffer_[1] == kWrite ? 4U + buffer_[3] : 4U;
    if (buffer_.size() < length) return;
    command(now, ByteView(buffer_).first(length));
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(length));
  }
}

void Bno055::command(Time now, ByteView frame) {
  if (overruns_ > 0) {
    --overruns_;
    return say({0xee, kOverrun});
  }
  if (frame[1] == kWrite) return say({0xee, write(now, frame[2], frame.subspan(4)) ? kDone : kWrongAddress});
  const std::optional<Bytes> values = read(now, frame[2], frame[3]);
  if (!values) return say({0xee, kWrongAddress});
  Bytes reply = {0xbb, frame[3]};
  reply.insert(reply.end(), values->begin(), values->end());
  say(std::move(reply));
}

// Frames have none: a head that is no head.
void Bno055::spoil_sum(Bytes& message) const { message[0] ^= 0x5a; }

}  // namespace pitwall::emulators

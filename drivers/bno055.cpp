// SPDX-License-Identifier: Apache-2.0
#include "drivers/bno055.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "core/math.hpp"

namespace pitwall::bno055 {
namespace {

using drivers::u8_at;

constexpr std::byte kRequest{0xAA};
constexpr std::byte kAcknowledge{0xEE};
constexpr std::byte kData{0xBB};
constexpr std::size_t kMostBytes = 128;

double i16_at(Bytes bytes, std::size_t i) { return static_cast<std::int16_t>(drivers::u16_le_at(bytes, i)); }

template <std::size_t kSize>
double distance(const std::array<double, kSize>& a, const std::array<double, kSize>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < kSize; ++i) {
    sum += (a[i] - b[i]) * (a[i] - b[i]);
  }
  return std::sqrt(sum);
}

bool same(const Sample& a, const Sample& b) {
  return a.linear_acceleration_mps2 == b.linear_acceleration_mps2 && a.angular_velocity_radps == b.angular_velocity_radps &&
         a.quaternion_wxyz == b.quaternion_wxyz;
}

}  // namespace

std::optional<Sample> decode_sample(Bytes registers) {
  if (registers.size() != kSampleBytes) {
    return std::nullopt;
  }
  constexpr std::size_t kRates = 0x14 - 0x08;
  constexpr std::size_t kQuaternion = 0x20 - 0x08;
  Sample sample;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    sample.linear_acceleration_mps2[axis] = i16_at(registers, 2 * axis) / 100.0;
    sample.angular_velocity_radps[axis] = i16_at(registers, kRates + 2 * axis) / 16.0 * (math::kPi / 180.0);
  }
  for (std::size_t i = 0; i < 4; ++i) {
    sample.quaternion_wxyz[i] = i16_at(registers, kQuaternion + 2 * i) / 16384.0;
  }
  return sample;
}

void SampleGate::reset() { *this = {}; }

SampleGate::Verdict SampleGate::judge(const Sample& sample) {
  constexpr double kMostRateStep = 35.0;
  constexpr double kMostAccelerationStep = 80.0;
  constexpr double kUnitWithin = 0.02;
  constexpr int kBelievedJumps = 3;
  constexpr int kFrozenAfter = 50;
  equal_ = raw_ && same(*raw_, sample) ? equal_ + 1 : 0;
  raw_ = sample;
  if (equal_ >= kFrozenAfter - 1) {
    return Verdict::kFrozen;
  }
  if (std::abs(distance(sample.quaternion_wxyz, {}) - 1.0) > kUnitWithin) {
    return Verdict::kSpike;
  }
  const bool jump = last_ && (distance(sample.angular_velocity_radps, last_->angular_velocity_radps) > kMostRateStep ||
                              distance(sample.linear_acceleration_mps2, last_->linear_acceleration_mps2) > kMostAccelerationStep);
  jumps_ = jump ? jumps_ + 1 : 0;
  if (jump && jumps_ < kBelievedJumps) {
    return Verdict::kSpike;
  }
  jumps_ = 0;
  last_ = sample;
  return Verdict::kGood;
}

Result<BusDevice::Progress> BusDevice::configure() {
  const auto write = [&](Register first, std::uint8_t value) {
    const std::byte b{value};
    return bus_.write(static_cast<std::uint8_t>(first), {&b, 1});
  };
  Status status;
  Duration wait;
  switch (step_) {
    case 0:
      status = write(Register::kMode, kModeConfiguration);
      wait = kToConfiguration;
      break;
    case 1: {
      std::byte id{};
      status = bus_.read(static_cast<std::uint8_t>(Register::kChipId), {&id, 1});
      if (status && id != std::byte{kChipId}) {
        return Error{"register 0 reads " + std::to_string(std::to_integer<int>(id)) + ", a BNO055 has 160"};
      }
      break;
    }
    case 2:
      status = write(Register::kUnits, 0);
      break;  // m/s^2, deg/s
    case 3:
      status = write(Register::kMode, kModeImu);
      wait = kFromConfiguration;
      gate_.reset();
      break;
    default:
      return Progress{true, {}};
  }
  if (!status) {
    return status.error();
  }
  ++step_;
  return Progress{false, wait};
}

Result<std::optional<Sample>> BusDevice::read() {
  std::array<std::byte, kSampleBytes> registers{};
  if (const Status status = bus_.read(static_cast<std::uint8_t>(Register::kAcceleration), registers); !status) {
    return status.error();
  }
  const auto sample = decode_sample(registers);
  switch (gate_.judge(*sample)) {
    case SampleGate::Verdict::kGood:
      return sample;
    case SampleGate::Verdict::kSpike:
      return std::optional<Sample>();
    case SampleGate::Verdict::kFrozen:
      break;
  }
  step_ = 0;
  return Error{"50 equal samples in a row: the sensor hangs"};
}

void append_read(std::uint8_t first, std::uint8_t count, std::vector<std::byte>& out) {
  out.insert(out.end(), {kRequest, std::byte{1}, std::byte{first}, std::byte{count}});
}

void append_write(std::uint8_t first, Bytes values, std::vector<std::byte>& out) {
  PITWALL_CHECK(!values.empty() && values.size() <= kMostBytes, values.size());
  out.insert(out.end(), {kRequest, std::byte{0}, std::byte{first}, static_cast<std::byte>(values.size())});
  out.insert(out.end(), values.begin(), values.end());
}

std::string error_text(int status) {
  static constexpr std::array<const char*, 11> kTexts{
      "status 0",    "done",           "read failed",   "write failed",     "no such register", "write disabled", "request not understood",
      "bus overrun", "too many bytes", "too few bytes", "request broke off"};
  return status >= 0 && status < static_cast<int>(kTexts.size()) ? kTexts[static_cast<std::size_t>(status)]
                                                                 : "status " + std::to_string(status);
}

void ResponseReader::clear() {
  while (!bytes_.empty()) {
    bytes_.drop_byte();
  }
  bytes_.clear();
}

std::optional<Response> ResponseReader::next() {
  while (!bytes_.empty()) {
    const Bytes rest = bytes_.rest();
    const bool data = rest[0] == kData;
    if (!data && rest[0] != kAcknowledge) {
      bytes_.drop_byte();
      continue;
    }
    if (rest.size() < 2) {
      return std::nullopt;
    }
    const std::size_t length = u8_at(rest, 1);
    if (!data) {
      bytes_.take(2);
      return Response{false, static_cast<int>(length), {}};
    }
    if (length == 0 || length > kMostBytes) {
      bytes_.drop_byte();
      continue;
    }
    if (rest.size() < 2 + length) {
      return std::nullopt;
    }
    return Response{true, 1, bytes_.take(2 + length).subspan(2)};
  }
  return std::nullopt;
}

}  // namespace pitwall::bno055

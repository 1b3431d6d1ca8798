// SPDX-License-Identifier: Apache-2.0
#include "drivers/emulators/ld19.hpp"

#include <cmath>

#include "core/math.hpp"
#include "drivers/emulators/little_endian.hpp"

namespace pitwall::emulators {
namespace {

constexpr int kPoints = 12;
constexpr std::int64_t kLd19ClockWrapMs = 30000;

}  // namespace

std::uint8_t crc8_ld19(ByteView bytes) {
  unsigned crc = 0;
  for (const std::uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 0x80U) != 0 ? ((crc << 1) ^ 0x4dU) & 0xffU : crc << 1;
  }
  return static_cast<std::uint8_t>(crc);
}

Ld19::Ld19(const Ld19Config& config) : config_(config) {
  knobs().add_number("speed", "TURNS_PER_S", "how fast it turns", 0.1, 20, [this](Time now, double turns) {
    config_.turns_per_s = turns;
    began_ = now;
    point_ = 0;
  });
  knobs().add_number("wrap_in", "S", "the device's clock wraps in so many seconds", 0, 30,
                     [this](Time now, double s) { clock_.set(now, 1e-3 * static_cast<double>(kLd19ClockWrapMs) - s); });
  knobs().add_number("jump", "S", "the device's clock jumps", -30, 30, [this](Time, double s) { clock_.jump(s); });
  knobs().add_number("drift", "PPM", "the device's clock runs fast", -1e5, 1e5,
                     [this](Time now, double ppm) { clock_.set_drift(now, 1e-6 * ppm); });
}

void Ld19::restart(Time now) {
  clock_.restart(now);
  began_ = now;
  point_ = 0;
}

Time Ld19::time_of(std::int64_t point) const { return began_ + from_seconds(static_cast<double>(point) / config_.points_per_s); }

Time Ld19::next_event() const { return time_of(point_ + kPoints); }

void Ld19::advance(Time now) {
  while (next_event() <= now) frame();
}

void Ld19::frame() {
  const double degrees_per_point = 360.0 * config_.turns_per_s / config_.points_per_s;
  const auto bearing_deg = [&](int i) { return std::fmod(static_cast<double>(point_ + i) * degrees_per_point, 360.0); };
  const auto hundredths = [&](int i) { return static_cast<unsigned>(std::lround(100.0 * bearing_deg(i))) % 36000U; };
  Bytes message = {0x54, 0x2c};
  append_le(message, static_cast<std::uint64_t>(std::lround(360.0 * config_.turns_per_s)), 2);
  append_le(message, hundredths(0), 2);
  for (int i = 0; i < kPoints; ++i) {
    // It turns clockwise.
    const double range_m = sight_(time_of(point_ + i), -bearing_deg(i) * math::kPi / 180.0);
    append_le(message, static_cast<std::uint64_t>(millimetres_of(range_m)), 2);
    message.push_back(200);
  }
  append_le(message, hundredths(kPoints - 1), 2);
  append_le(message, clock_.milliseconds(next_event(), kLd19ClockWrapMs), 2);
  message.push_back(crc8_ld19(message));
  point_ += kPoints;
  say(std::move(message));
}

void Ld19::spoil_sum(Bytes& message) const { message.back() ^= 0x5a; }

}  // namespace pitwall::emulators

// SPDX-License-Identifier: Apache-2.0
#include "drivers/device_clock.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/rng.hpp"
#include "drivers/test_bytes.hpp"

using namespace pitwall;
using namespace pitwall::drivers;
using drivers::test::ms;

namespace {

// A device whose counter of `tick` reads `begin` at the host's `origin` and runs fast by `drift`.
struct Device {
  DeviceClockOptions options;
  Time origin = ms(5'000'000);
  std::int64_t begin = 0;
  double drift = 0.0;
  [[nodiscard]] std::uint64_t at(Time host) const {
    const double ticks = static_cast<double>((host - origin).ns) * (1.0 + drift) / static_cast<double>(options.tick.ns);
    const auto modulus = static_cast<std::int64_t>(options.modulus);
    return static_cast<std::uint64_t>(((begin + static_cast<std::int64_t>(std::floor(ticks))) % modulus + modulus) % modulus);
  }
};

// Error of stamps over a time, after a settling time; arrivals late by 1 ms and up to 4 ms more, one in 50 by 80 ms.
double worst_error(DeviceClock& clock, const Device& device, double from_s, double to_s, double settle_s) {
  const Rng rng(11, "arrivals");
  double worst = 0.0;
  for (int i = static_cast<int>(from_s * 40); i < static_cast<int>(to_s * 40); ++i) {
    const Time event = device.origin + from_milliseconds(25 * i);
    const auto draw = static_cast<std::uint64_t>(i);
    const double late_s = 1e-3 + 4e-3 * rng.uniform(draw) + (rng.uniform(draw, 1) < 0.02 ? 0.08 : 0.0);
    const Time arrival = event + from_seconds(late_s);
    const Time stamp = clock.stamp(device.at(event), arrival);
    CHECK(stamp <= arrival);
    if (i >= static_cast<int>((from_s + settle_s) * 40)) {
      worst = std::max(worst, std::abs((stamp - event).seconds()));
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("arrivals alone give stamps within a millisecond and the drift within 20 ppm, at the limits of drift too") {
  for (const double drift : {0.0, 50e-6, -50e-6, 400e-6, -400e-6}) {
    Device device;
    device.options.least_delay = from_milliseconds(1);
    device.drift = drift;
    DeviceClock clock(device.options);
    CHECK(worst_error(clock, device, 0.0, 180.0, 70.0) < 1.2e-3);
    CHECK(clock.drift() == doctest::Approx(drift).scale(1e-3).epsilon(0.02));
    CHECK(clock.restarts() == 0);
  }
}

TEST_CASE("a drift beyond the bound is clamped") {
  Device device;
  device.drift = 5000e-6;
  DeviceClock clock(device.options);
  (void)worst_error(clock, device, 0.0, 40.0, 0.0);
  CHECK(clock.drift() == doctest::Approx(500e-6));
}

TEST_CASE("counters wrap: 24 bits of ms, 30 s of ms, 32 bits of us; a silence of several wraps is unwrapped too") {
  for (const auto& [tick, modulus] :
       {std::pair(from_milliseconds(1), std::uint64_t{1} << 24U), std::pair(from_milliseconds(1), std::uint64_t{30'000}),
        std::pair(Duration{1000}, std::uint64_t{1} << 32U)}) {
    Device device;
    device.options.tick = tick;
    device.options.modulus = modulus;
    device.options.least_delay = from_milliseconds(1);
    device.begin = static_cast<std::int64_t>(modulus) - static_cast<std::int64_t>(20'000'000'000 / tick.ns);  // wraps after 20 s
    DeviceClock clock(device.options);
    CHECK(worst_error(clock, device, 0.0, 100.0, 10.0) < 1.2e-3);
    CHECK(worst_error(clock, device, 197.0, 240.0, 35.0) < 1.2e-3);  // for a counter of 30 s more than three turns later
    CHECK(clock.restarts() == 0);
  }
}

TEST_CASE("pairs bound the offset itself, whatever the delay of the arrivals") {
  Device device;
  DeviceClock clock(device.options);
  for (int i = 0; i < 12; ++i) {
    const Time asked = device.origin + Duration{100'000'000 + i * 7'300'000LL};
    clock.add_pair(device.at(asked + Duration{900'000}), asked, asked + Duration{1'500'000});
  }
  REQUIRE(clock.offset_uncertainty());
  CHECK(*clock.offset_uncertainty() < Duration{1'000'000});
  // Sent 30 ms after the event each time: without pairs the stamps would be 30 ms late.
  double worst = 0.0;
  for (int i = 20; i < 4000; ++i) {
    const Time event = device.origin + from_milliseconds(25 * i);
    worst = std::max(worst, std::abs((clock.stamp(device.at(event), event + from_milliseconds(30 + i % 5)) - event).seconds()));
  }
  CHECK(worst < 1.2e-3);
}

TEST_CASE("absurd pairs are not believed") {
  Device device;
  DeviceClock clock(device.options);
  const Time asked = device.origin + from_milliseconds(100);
  clock.add_pair(device.at(asked), asked, asked + from_milliseconds(402'000));
  clock.add_pair(device.at(asked), asked, asked - from_milliseconds(1));
  CHECK_FALSE(clock.offset_uncertainty());
}

TEST_CASE("a counter that jumps back, or far ahead, is a restart; stamps are good at once") {
  Device device;
  device.options.least_delay = from_milliseconds(1);
  DeviceClock clock(device.options);
  (void)worst_error(clock, device, 0.0, 30.0, 0.0);
  device.begin = -10'000;  // back by 10 s
  CHECK(worst_error(clock, device, 30.0, 40.0, 0.0) < 0.09);
  CHECK(clock.restarts() == 1);
  device.begin = 100'000;
  CHECK(worst_error(clock, device, 40.0, 80.0, 35.0) < 1.2e-3);
  CHECK(clock.restarts() == 2);
  device.begin -= 300;  // back by 0.3 s
  CHECK(worst_error(clock, device, 80.0, 81.0, 0.0) < 0.09);
  CHECK(clock.restarts() == 3);
}

TEST_CASE("a stall of the host with a burst behind it is no restart, and the burst's stamps stay apart") {
  Device device;
  device.options.least_delay = from_milliseconds(1);
  DeviceClock clock(device.options);
  (void)worst_error(clock, device, 0.0, 40.0, 0.0);
  const Time late = device.origin + from_milliseconds(41'500);
  for (int i = 1600; i < 1660; ++i) {
    const Time event = device.origin + from_milliseconds(25 * i);
    const Time arrival = std::max(late, event + from_milliseconds(1));
    CHECK(std::abs((clock.stamp(device.at(event), arrival) - event).seconds()) < 1.2e-3);
  }
  CHECK(clock.restarts() == 0);
}

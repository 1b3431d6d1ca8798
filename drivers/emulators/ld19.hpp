// SPDX-License-Identifier: Apache-2.0
// An LDROBOT LD06/LD19: takes no commands, streams frames of 47 bytes with 12 points each from the moment it is switched on. Turns
// clockwise in a room of its own, or wherever look() puts it.
#pragma once

#include <cstdint>
#include <utility>

#include "drivers/emulators/clock.hpp"
#include "drivers/emulators/device.hpp"
#include "drivers/emulators/room.hpp"

namespace pitwall::emulators {

struct Ld19Config {
  double points_per_s = 4500.0;
  double turns_per_s = 10.0;
};

/// CRC-8 of polynomial 0x4D from 0, not reflected.
std::uint8_t crc8_ld19(ByteView bytes);

class Ld19 final : public Device {
 public:
  explicit Ld19(const Ld19Config& config = {});

  void receive(Time /*now*/, ByteView /*bytes*/) override {}
  void advance(Time now) override;
  [[nodiscard]] Time next_event() const override;
  void restart(Time now) override;
  void spoil_sum(Bytes& message) const override;

  /// What it sees from here on.
  void look(Sight sight) { sight_ = std::move(sight); }

 private:
  void frame();
  [[nodiscard]] Time time_of(std::int64_t point) const;

  Ld19Config config_;
  Sight sight_ = still_room;
  DeviceClock clock_;
  Time began_;
  std::int64_t point_ = 0;
};

}  // namespace pitwall::emulators

// SPDX-License-Identifier: Apache-2.0
// An emulated device: a pure model, bytes in and messages out, on a clock that its owner injects. It never asks the machine for
// anything, so the same bytes at the same times give the same answers. Whoever serves it (rig.hpp) carries the bytes.
//
// Written from the frames of the devices' own documents, and never from the codecs in drivers/: two independent readings of one
// protocol are what a test of either is worth.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.hpp"
#include "core/time.hpp"
#include "drivers/emulators/knobs.hpp"

namespace pitwall::emulators {

using Bytes = std::vector<std::uint8_t>;
using ByteView = std::span<const std::uint8_t>;

inline constexpr Time kNever{std::numeric_limits<std::int64_t>::max()};

/// One device behind one byte stream.
class Device {
 public:
  virtual ~Device() = default;
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  /// Somebody has opened the other end, or let go of it.
  virtual void opened(Time /*now*/) {}
  virtual void closed(Time /*now*/) {}
  /// What the host has written.
  virtual void receive(Time now, ByteView bytes) = 0;
  /// Brings the model to `now`, which never goes back.
  virtual void advance(Time now) = 0;
  /// When advance() has something to do next; kNever: not by itself.
  [[nodiscard]] virtual Time next_event() const { return kNever; }
  /// Power was cut and is back at `now`: all state is as after switching on, the device's clock begins again. A new device was
  /// switched on at time 0.
  virtual void restart(Time now) = 0;
  /// Makes the checksum of one of its own messages wrong.
  virtual void spoil_sum(Bytes& message) const = 0;

  /// Faults and settings that may change while it runs.
  [[nodiscard]] Knobs& knobs() { return knobs_; }

  /// What it has said since the last call, message by message.
  [[nodiscard]] std::vector<Bytes> take() { return std::exchange(said_, {}); }

 protected:
  void say(Bytes message) { said_.push_back(std::move(message)); }

 private:
  Knobs knobs_;
  std::vector<Bytes> said_;
};

}  // namespace pitwall::emulators

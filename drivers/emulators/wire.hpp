// SPDX-License-Identifier: Apache-2.0
// The cable of an emulated device, and what can be wrong with it. Messages go in whole and come out as pieces with the times at
// which they are to be written; noise is drawn by number, so that it repeats.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string_view>

#include "core/rng.hpp"
#include "drivers/emulators/device.hpp"

namespace pitwall::emulators {

/// Device to host with all faults; host to device with `deaf`.
class Wire {
 public:
  /// `spoil_sum` makes a checksum of a message wrong.
  Wire(std::uint64_t seed, std::string_view name, std::function<void(Bytes&)> spoil_sum);

  /// A message of the device.
  void send(Time now, Bytes message);
  /// What is to be written now, in one go; empty: nothing. Called again until it is.
  Bytes take(Time now);
  [[nodiscard]] Time next_due() const { return pieces_.empty() ? kNever : pieces_.front().due; }
  /// Whether what the host writes reaches the device.
  [[nodiscard]] bool deaf() const { return deaf_; }
  /// Forgets what is under way: the cable was pulled.
  void clear() { pieces_.clear(); }
  [[nodiscard]] Knobs& knobs() { return knobs_; }
  /// Messages that were damaged since made (sum or byte), and all of them.
  [[nodiscard]] std::int64_t damaged() const { return damaged_; }
  [[nodiscard]] std::int64_t messages() const { return messages_; }

 private:
  struct Piece {
    Time due;
    Bytes bytes;
  };
  void damage(Bytes& message);
  void cut(Time due, const Bytes& message);
  [[nodiscard]] std::uint32_t draw();

  Rng noise_;
  std::uint64_t drawn_ = 0;
  std::function<void(Bytes&)> spoil_sum_;
  Knobs knobs_;
  std::deque<Piece> pieces_;
  bool mute_ = false;
  bool deaf_ = false;
  double late_s_ = 0.0;
  std::size_t chop_ = 0;
  std::size_t garbage_ = 0;
  int bad_sums_ = 0;
  double flip_share_ = 0.0;
  std::int64_t damaged_ = 0;
  std::int64_t messages_ = 0;
};

}  // namespace pitwall::emulators

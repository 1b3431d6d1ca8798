// SPDX-License-Identifier: Apache-2.0
#include "drivers/emulators/wire.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace pitwall::emulators {
namespace {

// A chopped message is spread over this time at most, in pieces this far apart, so that a reader meets it half-way but no reply is late.
constexpr Duration kChopSpan = from_milliseconds(2);
constexpr Duration kChopGap{200'000};

}  // namespace

Wire::Wire(std::uint64_t seed, std::string_view name, std::function<void(Bytes&)> spoil_sum)
    : noise_(seed, std::string("wire/") + std::string(name)), spoil_sum_(std::move(spoil_sum)) {
  const auto count = [](auto& value) {
    return [&value](Time, double number) { value = static_cast<std::decay_t<decltype(value)>>(number); };
  };
  knobs_.add_switch("mute", "says nothing", mute_);
  knobs_.add_switch("deaf", "hears nothing", deaf_);
  knobs_.add_number("late", "MS", "everything it says comes so much later", 0, 60000, [this](Time, double ms) { late_s_ = 1e-3 * ms; });
  knobs_.add_number("chop", "N", "pieces of at most N bytes, one write each; 0: whole messages", 0, 1e6, count(chop_));
  knobs_.add_number("garbage", "N", "N random bytes ahead of the next message", 0, 1e6, count(garbage_));
  knobs_.add_number("badsum", "N", "the next N messages have a wrong checksum", 0, 1e9, count(bad_sums_));
  knobs_.add_number("flip", "SHARE", "share of messages with one wrong byte", 0, 1, count(flip_share_));
  knobs_.add("say", "HEX", "says these bytes", [this](Time now, Words words) -> Status {
    const auto bytes = parse_hex(words);
    if (!bytes) return Error{"say: " + bytes.error().message};
    cut(now, *bytes);
    return {};
  });
}

std::uint32_t Wire::draw() { return noise_.block(drawn_++, 0)[0]; }

void Wire::damage(Bytes& message) {
  bool damaged = false;
  if (bad_sums_ > 0) {
    --bad_sums_;
    spoil_sum_(message);
    damaged = true;
  }
  if (flip_share_ > 0.0 && !message.empty() && noise_.uniform(drawn_++) < flip_share_) {
    const std::uint32_t bits = draw();
    message[draw() % message.size()] ^= static_cast<std::uint8_t>(1 + bits % 255);
    damaged = true;
  }
  if (damaged) ++damaged_;
}

void Wire::send(Time now, Bytes message) {
  if (mute_) return;
  ++messages_;
  damage(message);
  if (garbage_ > 0) {
    Bytes noise(std::exchange(garbage_, 0));
    for (std::uint8_t& byte : noise) byte = static_cast<std::uint8_t>(draw());
    message.insert(message.begin(), noise.begin(), noise.end());
  }
  // What was said first comes first, also where it was late and this is not.
  const Time due = now + from_seconds(late_s_);
  cut(pieces_.empty() ? due : std::max(due, pieces_.back().due), message);
}

void Wire::cut(Time due, const Bytes& message) {
  const std::size_t longest = chop_ == 0 ? std::max<std::size_t>(message.size(), 1) : chop_;
  const std::size_t pieces = (message.size() + longest - 1) / longest;
  const Duration gap = std::min(kChopGap, Duration{kChopSpan.ns / static_cast<std::int64_t>(std::max<std::size_t>(pieces, 1))});
  for (std::size_t at = 0; at < message.size(); at += longest) {
    const auto begin = message.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = message.begin() + static_cast<std::ptrdiff_t>(std::min(at + longest, message.size()));
    pieces_.push_back({due, Bytes(begin, end)});
    due = due + gap;
  }
}

Bytes Wire::take(Time now) {
  if (pieces_.empty() || pieces_.front().due > now) return {};
  Bytes bytes = std::move(pieces_.front().bytes);
  pieces_.pop_front();
  return bytes;
}

}  // namespace pitwall::emulators

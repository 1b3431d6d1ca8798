// SPDX-License-Identifier: Apache-2.0
#include "drivers/emulators/joystick.hpp"

#include <optional>

#include "core/check.hpp"
#include "core/text.hpp"

namespace pitwall::emulators {
namespace {

constexpr int kButton = 1;
constexpr int kAxis = 2;
constexpr int kInit = 0x80;

}  // namespace

Joystick::Joystick(const JoystickConfig& config)
    : config_(config), buttons_(static_cast<std::size_t>(config.buttons), false), axes_(static_cast<std::size_t>(config.axes), 0) {
  PITWALL_CHECK(config.deadman_button >= 0 && config.deadman_button < config.buttons, config.deadman_button);
  add_knobs();
}

void Joystick::add_knobs() {
  knobs().add("hold", "", "the deadman button goes down", [this](Time now, Words) -> Status {
    hold(now);
    return {};
  });
  knobs().add("release", "", "the deadman button goes up", [this](Time now, Words) -> Status {
    release(now);
    return {};
  });
  const auto control = [](Words words, std::size_t count, int least, int most) -> std::optional<std::pair<int, int>> {
    const auto number = words.size() == 2 ? parse_int(words[0]) : std::nullopt;
    const auto value = words.size() == 2 ? parse_int(words[1]) : std::nullopt;
    if (!number || !value || *number < 0 || *number >= static_cast<std::int64_t>(count) || *value < least || *value > most) return {};
    return std::pair{static_cast<int>(*number), static_cast<int>(*value)};
  };
  knobs().add("button", "N 0|1", "a button", [this, control](Time now, Words words) -> Status {
    const auto to = control(words, buttons_.size(), 0, 1);
    if (!to) return Error{"button: takes a number of 0 .. " + std::to_string(buttons_.size() - 1) + " and 0 or 1"};
    press(now, to->first, to->second == 1);
    return {};
  });
  knobs().add("axis", "N VALUE", "a stick or trigger, -32767 .. 32767", [this, control](Time now, Words words) -> Status {
    const auto to = control(words, axes_.size(), -32767, 32767);
    if (!to) return Error{"axis: takes a number of 0 .. " + std::to_string(axes_.size() - 1) + " and a value of -32767 .. 32767"};
    move(now, to->first, to->second);
    return {};
  });
  knobs().add_number("jitter", "HZ", "sticks that stream at rest; 0: only changes", 0, 1000, [this](Time now, double hz) {
    config_.jitter_hz = hz;
    next_jitter_ = hz > 0.0 ? now : kNever;
  });
}

void Joystick::record(Time now, int value, int type, int number) {
  if (!open_) return;
  const std::uint32_t ms = clock_.milliseconds(now, std::int64_t{1} << 32);
  const auto v = static_cast<std::uint16_t>(static_cast<std::int16_t>(value));
  Bytes bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<std::uint8_t>(ms >> shift & 0xff));
  bytes.push_back(static_cast<std::uint8_t>(v & 0xff));
  bytes.push_back(static_cast<std::uint8_t>(v >> 8));
  bytes.push_back(static_cast<std::uint8_t>(type));
  bytes.push_back(static_cast<std::uint8_t>(number));
  say(std::move(bytes));
}

void Joystick::opened(Time now) {
  open_ = true;
  for (std::size_t i = 0; i < buttons_.size(); ++i) record(now, buttons_[i] ? 1 : 0, kButton | kInit, static_cast<int>(i));
  for (std::size_t i = 0; i < axes_.size(); ++i) record(now, axes_[i], kAxis | kInit, static_cast<int>(i));
  if (config_.jitter_hz > 0.0) next_jitter_ = now;
}

void Joystick::closed(Time /*now*/) { open_ = false; }

void Joystick::receive(Time /*now*/, ByteView /*bytes*/) {}

void Joystick::press(Time now, int button, bool down) {
  const auto i = static_cast<std::size_t>(button);
  PITWALL_CHECK(i < buttons_.size(), button);
  if (buttons_[i] == down) return;
  buttons_[i] = down;
  record(now, down ? 1 : 0, kButton, button);
}

void Joystick::move(Time now, int axis, int value) {
  const auto i = static_cast<std::size_t>(axis);
  PITWALL_CHECK(i < axes_.size(), axis);
  if (axes_[i] == value) return;
  axes_[i] = value;
  record(now, value, kAxis, axis);
}

Time Joystick::next_event() const { return open_ ? next_jitter_ : kNever; }

// A worn stick wanders by a count or two about where it stands.
void Joystick::advance(Time now) {
  while (open_ && next_jitter_ <= now) {
    jitter_ = 1 - jitter_;
    record(next_jitter_, axes_[0] + 100 * jitter_, kAxis, 0);
    next_jitter_ = next_jitter_ + from_seconds(1.0 / config_.jitter_hz);
  }
}

void Joystick::restart(Time now) {
  clock_.restart(now);
  buttons_.assign(buttons_.size(), false);
  axes_.assign(axes_.size(), 0);
}

// Records have none: a type that is no event.
void Joystick::spoil_sum(Bytes& message) const { message[6] = 0x55; }

}  // namespace pitwall::emulators

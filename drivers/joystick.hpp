// SPDX-License-Identifier: Apache-2.0
// Linux joysticks: the 8-byte records of /dev/input/jsN and the 24-byte records of /dev/input/eventN, and what a controller's axes
// and buttons mean, by vendor, product and number of axes. Pure. Liveness and ioctl queries: drivers/joystick_session.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "drivers/bytes.hpp"

namespace pitwall::joystick {

using drivers::Bytes;

/// struct js_event.
struct JoydevEvent {
  std::uint32_t time_ms = 0;
  std::int16_t value = 0;
  enum class Kind { kButton, kAxis, kOther } kind = Kind::kOther;
  bool initial = false;  ///< the state at the time of opening, not a movement
  int number = 0;
};
inline constexpr std::size_t kJoydevBytes = 8;
[[nodiscard]] JoydevEvent decode_joydev(Bytes record);
/// The record of an event; for tests and emulated joysticks.
[[nodiscard]] std::array<std::byte, kJoydevBytes> encode_joydev(const JoydevEvent& event);

/// struct input_event of a 64-bit machine.
struct EvdevEvent {
  std::int64_t time_us = 0;
  std::uint16_t type = 0;
  std::uint16_t code = 0;
  std::int32_t value = 0;
};
inline constexpr std::size_t kEvdevBytes = 24;
inline constexpr std::uint16_t kEvSyn = 0;
inline constexpr std::uint16_t kEvKey = 1;
inline constexpr std::uint16_t kEvAbs = 3;
inline constexpr std::uint16_t kSynDropped = 3;
[[nodiscard]] EvdevEvent decode_evdev(Bytes record);

/// What can be asked of an input device beside its records; numbers as in the kernel's input-event-codes.h.
struct AxisRange {
  int code = 0;
  int minimum = -32767;
  int maximum = 32767;
  int value = 0;
};
/// A value within its range as -1..1; 0 for a range without extent.
[[nodiscard]] double normalised(const AxisRange& range, std::int32_t value);

struct Identity {
  std::uint16_t vendor = 0;
  std::uint16_t product = 0;
  std::string name;
  int axes = 0;
  int buttons = 0;
  /// evdev only: axes and buttons in the order in which they are counted.
  std::vector<AxisRange> axis_ranges;
  std::vector<int> button_codes;
};

/// All controls as last reported, numbered as joydev does.
struct State {
  std::vector<double> axes;  ///< -1..1
  std::vector<int> buttons;  ///< 1 = pressed
};

/// Which control does what.
struct Layout {
  std::string name;
  std::uint16_t vendor = 0;
  std::uint16_t product = 0;
  int axes = 0;
  int steer_axis = 0;  ///< left is positive after `sign`
  double steer_sign = -1.0;
  int speed_axis = 1;
  double speed_sign = -1.0;
  int deadman_button = 4;
  int autonomy_button = 5;
  int estop_button = 1;
  int acknowledge_button = 7;
  /// Axes that rest at -1 (analogue triggers) and may read 0 until they are first moved.
  std::vector<int> triggers;
  bool wireless = false;  ///< losing its radio looks like a hand that does not move
};
/// The layouts that ship.
[[nodiscard]] const std::vector<Layout>& known_layouts();
/// By vendor, product and number of axes. The error names what was found, and what switching the pad's mode would help.
[[nodiscard]] Result<Layout> find_layout(const Identity& identity);

/// What the operator wants.
struct Controls {
  double steer = 0.0;  ///< -1..1, left positive
  double speed = 0.0;  ///< -1..1, forward positive
  bool deadman = false;
  bool autonomy = false;
  bool estop = false;
  bool acknowledge = false;
};
/// Controls that the state lacks read as not pressed, but a missing e-stop button as pressed.
[[nodiscard]] Controls apply(const Layout& layout, const State& state);

}  // namespace pitwall::joystick

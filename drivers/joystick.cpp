// SPDX-License-Identifier: Apache-2.0
#include "drivers/joystick.hpp"

#include <algorithm>
#include <cstdio>

namespace pitwall::joystick {
namespace {

constexpr std::uint8_t kButtonType = 0x01;
constexpr std::uint8_t kAxisType = 0x02;
constexpr std::uint8_t kInitialBit = 0x80;

std::string ids_of(std::uint16_t vendor, std::uint16_t product) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%04x:%04x", vendor, product);
  return text.data();
}

// Axes and buttons as the kernel's drivers number them; the left stick's second axis and the shoulder buttons are the same on all.
Layout pad(const char* name, std::uint16_t vendor, std::uint16_t product, bool wireless) {
  Layout layout;
  layout.name = name;
  layout.vendor = vendor;
  layout.product = product;
  layout.speed_axis = 1;
  layout.deadman_button = 4;   // LB, L1
  layout.autonomy_button = 5;  // RB, R1
  layout.wireless = wireless;
  return layout;
}

Layout xbox_layout(const char* name, std::uint16_t vendor, std::uint16_t product, bool wireless) {
  Layout layout = pad(name, vendor, product, wireless);
  layout.axes = 8;  // left x y, left trigger, right x y, right trigger, cross x y
  layout.steer_axis = 3;
  layout.estop_button = 1;        // B
  layout.acknowledge_button = 7;  // start
  layout.triggers = {2, 5};
  return layout;
}

Layout logitech_direct_layout(const char* name, std::uint16_t product, bool wireless) {
  Layout layout = pad(name, 0x046d, product, wireless);
  layout.axes = 6;  // left x y, right x y, cross x y
  layout.steer_axis = 2;
  layout.estop_button = 2;        // B
  layout.acknowledge_button = 9;  // start
  return layout;
}

Layout playstation_layout(const char* name, std::uint16_t product) {
  Layout layout = pad(name, 0x054c, product, true);
  layout.axes = 8;  // left x y, L2, right x y, R2, cross x y
  layout.steer_axis = 3;
  layout.estop_button = 1;        // circle
  layout.acknowledge_button = 9;  // options
  layout.triggers = {2, 5};
  return layout;
}

}  // namespace

JoydevEvent decode_joydev(Bytes record) {
  JoydevEvent event;
  event.time_ms = drivers::u32_le_at(record, 0);
  event.value = static_cast<std::int16_t>(drivers::u16_le_at(record, 4));
  const std::uint8_t type = drivers::u8_at(record, 6);
  event.initial = (type & kInitialBit) != 0;
  const unsigned kind = type & ~unsigned{kInitialBit};
  event.kind = kind == kButtonType ? JoydevEvent::Kind::kButton : kind == kAxisType ? JoydevEvent::Kind::kAxis : JoydevEvent::Kind::kOther;
  event.number = drivers::u8_at(record, 7);
  return event;
}

std::array<std::byte, kJoydevBytes> encode_joydev(const JoydevEvent& event) {
  const unsigned kind = event.kind == JoydevEvent::Kind::kButton ? kButtonType : event.kind == JoydevEvent::Kind::kAxis ? kAxisType : 0U;
  const auto value = static_cast<std::uint16_t>(event.value);
  const auto byte = [](std::uint32_t x, int shift) { return static_cast<std::byte>(x >> shift & 0xFFU); };
  return {byte(event.time_ms, 0),
          byte(event.time_ms, 8),
          byte(event.time_ms, 16),
          byte(event.time_ms, 24),
          byte(value, 0),
          byte(value, 8),
          byte(kind | (event.initial ? kInitialBit : 0U), 0),
          byte(static_cast<std::uint32_t>(event.number), 0)};
}

EvdevEvent decode_evdev(Bytes record) {
  const auto i64 = [&](std::size_t at) {
    return static_cast<std::int64_t>(drivers::u32_le_at(record, at) | static_cast<std::uint64_t>(drivers::u32_le_at(record, at + 4))
                                                                          << 32U);
  };
  EvdevEvent event;
  // Nonsense in a stamp must not overflow; nobody reads it for more than the log.
  event.time_us = static_cast<std::int64_t>(static_cast<std::uint64_t>(i64(0)) * 1'000'000U + static_cast<std::uint64_t>(i64(8)));
  event.type = drivers::u16_le_at(record, 16);
  event.code = drivers::u16_le_at(record, 18);
  event.value = static_cast<std::int32_t>(drivers::u32_le_at(record, 20));
  return event;
}

double normalised(const AxisRange& range, std::int32_t value) {
  const double middle = 0.5 * (static_cast<double>(range.minimum) + range.maximum);
  const double half = 0.5 * (static_cast<double>(range.maximum) - range.minimum);
  return half > 0.0 ? std::clamp((value - middle) / half, -1.0, 1.0) : 0.0;
}

const std::vector<Layout>& known_layouts() {
  static const std::vector<Layout> kLayouts{
      logitech_direct_layout("Logitech F710, switch at D", 0xc219, true),
      xbox_layout("Logitech F710, switch at X", 0x046d, 0xc21f, true),
      logitech_direct_layout("Logitech F310, switch at D", 0xc216, false),
      xbox_layout("Logitech F310, switch at X", 0x046d, 0xc21d, false),
      xbox_layout("Xbox 360 controller", 0x045e, 0x028e, false),
      xbox_layout("Xbox 360 wireless receiver", 0x045e, 0x0719, true),
      xbox_layout("Xbox One controller on its cable", 0x045e, 0x02ea, false),
      playstation_layout("DualShock 4", 0x05c4),
      playstation_layout("DualShock 4", 0x09cc),
  };
  return kLayouts;
}

Result<Layout> find_layout(const Identity& identity) {
  const std::string found =
      "joystick '" + identity.name + "' (" + ids_of(identity.vendor, identity.product) + ", " + std::to_string(identity.axes) + " axes)";
  std::string names;
  for (const Layout& layout : known_layouts()) {
    if (layout.vendor == identity.vendor && layout.product == identity.product) {
      if (layout.axes == identity.axes) {
        return layout;
      }
      return Error{found + ": " + layout.name + " should have " + std::to_string(layout.axes) +
                   " axes; another driver numbers its controls, so which button is the deadman is not known: give a layout"};
    }
    names += (names.empty() ? "" : "; ") + layout.name + " " + ids_of(layout.vendor, layout.product);
  }
  return Error{found + " is not known, so which button is the deadman is not either. Known: " + names +
               ". Give a layout, or move the pad's D/X switch"};
}

Controls apply(const Layout& layout, const State& state) {
  const auto axis = [&](int number) {
    return number >= 0 && number < static_cast<int>(state.axes.size()) ? state.axes[static_cast<std::size_t>(number)] : 0.0;
  };
  const auto button = [&](int number, bool missing) {
    return number >= 0 && number < static_cast<int>(state.buttons.size()) ? state.buttons[static_cast<std::size_t>(number)] != 0 : missing;
  };
  Controls controls;
  controls.steer = std::clamp(layout.steer_sign * axis(layout.steer_axis), -1.0, 1.0);
  controls.speed = std::clamp(layout.speed_sign * axis(layout.speed_axis), -1.0, 1.0);
  controls.deadman = button(layout.deadman_button, false);
  controls.autonomy = button(layout.autonomy_button, false);
  controls.estop = button(layout.estop_button, true);
  controls.acknowledge = button(layout.acknowledge_button, false);
  return controls;
}

}  // namespace pitwall::joystick

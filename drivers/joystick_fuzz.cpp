// SPDX-License-Identifier: Apache-2.0
// Any records, of both kinds, leave axes in [-1, 1] and buttons 0 or 1, and no control is believed before all are known.
#include "drivers/joystick_session.hpp"
#include "drivers/test_fuzz.hpp"

using namespace pitwall;
using namespace pitwall::drivers;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes = std::as_bytes(std::span(data, size));
  for (const auto format : {JoystickOptions::Format::kJoydev, JoystickOptions::Format::kEvdev}) {
    joystick::Identity identity;
    identity.vendor = 0x046d;
    identity.product = 0xc219;
    identity.axes = 6;
    identity.buttons = 12;
    for (int i = 0; i < 6; ++i) {
      identity.axis_ranges.push_back({i, -i * 1000, 255, 0});
    }
    for (int i = 0; i < 12; ++i) {
      identity.button_codes.push_back(0x130 + i);
    }
    JoystickSession session({.format = format});
    session.set_device(fixed_input_device(identity));
    session.start(test::ms(1000));
    test::drive(session, bytes, test::ms(1000), [&](Time) {
      for (const double axis : session.state().axes) {
        PITWALL_CHECK(axis >= -1.0 && axis <= 1.0, axis);
      }
      for (const int button : session.state().buttons) {
        PITWALL_CHECK(button == 0 || button == 1, button);
      }
      const auto controls = session.controls();
      PITWALL_CHECK(session.complete() || (!controls.deadman && controls.steer == 0.0));
    });
  }
  return 0;
}

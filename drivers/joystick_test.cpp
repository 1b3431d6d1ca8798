// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "drivers/joystick_session.hpp"
#include "drivers/test_line.hpp"

using namespace pitwall;
using namespace pitwall::drivers;
using namespace pitwall::drivers::test;
using joystick::JoydevEvent;

namespace {

joystick::Identity f710() {
  joystick::Identity identity;
  identity.vendor = 0x046d;
  identity.product = 0xc219;
  identity.name = "Logitech Cordless RumblePad 2";
  identity.axes = 6;
  identity.buttons = 12;
  return identity;
}

std::vector<std::byte> event(JoydevEvent::Kind kind, int number, int value, bool initial = false) {
  const auto record = joystick::encode_joydev({77, static_cast<std::int16_t>(value), kind, initial, number});
  return {record.begin(), record.end()};
}

std::vector<std::byte> initial_burst(int pressed = -1) {
  std::vector<std::byte> burst;
  for (int i = 0; i < 12; ++i) {
    append(burst, event(JoydevEvent::Kind::kButton, i, i == pressed ? 1 : 0, true));
  }
  for (int i = 0; i < 6; ++i) {
    append(burst, event(JoydevEvent::Kind::kAxis, i, i == 2 ? 3276 : 0, true));
  }
  return burst;
}

std::vector<std::byte> evdev(unsigned type, unsigned code, int value) {
  std::vector<std::byte> record(24);
  record[16] = static_cast<std::byte>(type);
  record[18] = static_cast<std::byte>(code & 0xFFU);
  record[19] = static_cast<std::byte>(code >> 8U);
  for (unsigned i = 0; i < 4; ++i) {
    record[20 + i] = static_cast<std::byte>(static_cast<std::uint32_t>(value) >> (8 * i) & 0xFFU);
  }
  return record;
}

// An evdev pad whose state is what the test says.
class FakePad final : public InputDevice {
 public:
  Result<joystick::Identity> identity() override {
    auto pad = f710();
    pad.axis_ranges = {{0, 0, 255, 128}, {1, 0, 255, 128}, {2, 0, 255, 128}, {5, 0, 255, 128}, {16, -1, 1, 0}, {17, -1, 1, 0}};
    for (int code = 0x130; code < 0x13C; ++code) {
      pad.button_codes.push_back(code);
    }
    return pad;
  }
  Result<joystick::State> state() override {
    ++asked;
    if (gone) {
      return Error{"No such device"};
    }
    return now;
  }
  joystick::State now{std::vector<double>(6), std::vector<int>(12)};
  int asked = 0;
  bool gone = false;
};

}  // namespace

TEST_CASE("records of joydev are read and written to the byte") {
  const auto record = hex("d2040000 0180 82 05");
  const JoydevEvent decoded = joystick::decode_joydev(record);
  CHECK(decoded.time_ms == 1234);
  CHECK(decoded.value == -32767);
  CHECK(decoded.kind == JoydevEvent::Kind::kAxis);
  CHECK(decoded.initial);
  CHECK(decoded.number == 5);
  CHECK(to_hex(joystick::encode_joydev(decoded)) == to_hex(record));
  CHECK(joystick::decode_joydev(hex("00000000 0100 01 03")).kind == JoydevEvent::Kind::kButton);
  CHECK(joystick::decode_joydev(hex("00000000 0100 04 03")).kind == JoydevEvent::Kind::kOther);
}

TEST_CASE("a record of evdev is read to the byte") {
  const auto decoded = joystick::decode_evdev(hex("0100000000000000 0a00000000000000 0300 0200 ffffffff"));
  CHECK(decoded.time_us == 1'000'010);
  CHECK(decoded.type == joystick::kEvAbs);
  CHECK(decoded.code == 2);
  CHECK(decoded.value == -1);
  CHECK(joystick::normalised({0, 0, 255, 0}, 255) == 1.0);
  CHECK(joystick::normalised({0, 0, 255, 0}, 0) == -1.0);
  CHECK(joystick::normalised({0, -32768, 32767, 0}, 40'000) == 1.0);
  CHECK(joystick::normalised({0, 5, 5, 0}, 5) == 0.0);
}

TEST_CASE("a layout is known by vendor, product and axes; others are refused in words") {
  const auto direct = joystick::find_layout(f710());
  REQUIRE(direct);
  CHECK(direct->name == "Logitech F710, switch at D");
  auto other = f710();
  other.product = 0xc21f;
  other.axes = 8;
  CHECK(joystick::find_layout(other)->estop_button != direct->estop_button);
  other.axes = 6;
  CHECK(joystick::find_layout(other).error().message.find("should have 8 axes") != std::string::npos);
  other.vendor = 0x1234;
  CHECK(joystick::find_layout(other).error().message.find("1234:c21f, 6 axes) is not known") != std::string::npos);
}

TEST_CASE("controls mean what the layout says, and a missing e-stop button reads as pressed") {
  joystick::Layout layout;
  joystick::State state{{-0.5, -1.0}, {0, 0, 0, 0, 1}};
  const auto controls = joystick::apply(layout, state);
  CHECK(controls.steer == 0.5);
  CHECK(controls.speed == 1.0);
  CHECK(controls.deadman);
  CHECK_FALSE(controls.autonomy);
  CHECK_FALSE(controls.estop);
  layout.estop_button = 9;
  layout.deadman_button = 9;
  CHECK(joystick::apply(layout, state).estop);
  CHECK_FALSE(joystick::apply(layout, state).deadman);
}

TEST_CASE("the initial burst is the state, cut anywhere; nothing is believed before it is whole") {
  const auto burst = initial_burst();
  for (std::size_t cut = 0; cut <= burst.size(); ++cut) {
    JoystickSession session;
    session.set_device(fixed_input_device(f710()));
    session.start(ms(0));
    session.receive(Bytes(burst).first(cut), ms(1));
    REQUIRE(session.complete() == (cut == burst.size()));
    REQUIRE(session.phase() == (cut == burst.size() ? Phase::kRunning : Phase::kIdentifying));
    session.receive(Bytes(burst).subspan(cut), ms(2));
    REQUIRE(session.complete());
    REQUIRE(session.state().axes[2] == doctest::Approx(3276.0 / 32767.0));
    REQUIRE(session.controls().steer == doctest::Approx(-3276.0 / 32767.0));
    REQUIRE(session.events() == 0);  // a state is no movement
    REQUIRE(session.deadman_seen_released());
  }
}

TEST_CASE("a deadman held from the start has not been seen released until it has been") {
  JoystickSession session;
  session.set_device(fixed_input_device(f710()));
  session.start(ms(0));
  session.receive(initial_burst(4), ms(1));
  CHECK(session.controls().deadman);
  CHECK_FALSE(session.deadman_seen_released());
  session.receive(event(JoydevEvent::Kind::kButton, 4, 0), ms(100));
  CHECK(session.deadman_seen_released());
  session.receive(event(JoydevEvent::Kind::kButton, 4, 1), ms(200));
  CHECK(session.deadman_seen_released());
  CHECK(session.controls().deadman);
  CHECK(session.joy().buttons[4] == 1);
  CHECK(session.joy().stamp == ms(200));
  CHECK(session.last_event() == ms(200));
  CHECK(session.events() == 2);
  session.lost("unplugged");
  session.set_device(fixed_input_device(f710()));
  session.start(ms(300));
  CHECK_FALSE(session.deadman_seen_released());
  CHECK_FALSE(session.controls().deadman);
}

TEST_CASE("an unknown pad, controls that it does not have, and a session without a device do no harm") {
  JoystickSession session;
  session.start(ms(0));
  CHECK(session.phase() == Phase::kRefused);
  auto unknown = f710();
  unknown.vendor = 1;
  session.set_device(fixed_input_device(unknown));
  session.start(ms(0));
  CHECK(session.phase() == Phase::kRefused);
  session.receive(initial_burst(), ms(1));
  CHECK_FALSE(session.complete());
  session.set_device(fixed_input_device(f710()));
  session.start(ms(0));
  session.receive(event(JoydevEvent::Kind::kAxis, 200, 5), ms(1));
  session.receive(event(JoydevEvent::Kind::kButton, 12, 1), ms(1));
  CHECK(session.counters().ignored == 2);
}

TEST_CASE("a pad streams only if it has sent something in each of five seconds") {
  JoystickSession session;
  session.set_device(fixed_input_device(f710()));
  session.start(ms(0));
  session.receive(initial_burst(), ms(1));
  const auto second = [&](int s, bool moves) {
    if (moves) {
      session.receive(event(JoydevEvent::Kind::kAxis, 0, s % 100), ms(1000 * s + 500));
    }
    session.advance(ms(1000 * s + 1000));
  };
  for (int s = 0; s < 5; ++s) {
    CHECK_FALSE(session.streams());
    second(s, true);
  }
  CHECK(session.streams());
  second(5, false);
  CHECK_FALSE(session.streams());
  for (int s = 6; s < 10; ++s) {
    second(s, true);
  }
  CHECK_FALSE(session.streams());
  second(10, true);
  CHECK(session.streams());
}

TEST_CASE("evdev begins with its state, follows changes, and asks again when the kernel dropped events") {
  JoystickSession session({.format = JoystickOptions::Format::kEvdev});
  auto owned = std::make_unique<FakePad>();
  FakePad& pad = *owned;
  pad.now.buttons[4] = 1;
  session.set_device(std::move(owned));
  session.start(ms(0));
  CHECK(session.phase() == Phase::kRunning);
  CHECK(session.controls().deadman);
  CHECK_FALSE(session.deadman_seen_released());
  session.receive(evdev(joystick::kEvKey, 0x134, 0), ms(10));
  session.receive(evdev(joystick::kEvAbs, 2, 255), ms(11));
  session.receive(evdev(joystick::kEvSyn, 0, 0), ms(11));
  CHECK_FALSE(session.controls().deadman);
  CHECK(session.controls().steer == -1.0);
  CHECK(session.events() == 2);
  pad.now.axes[2] = -0.25;
  session.receive(evdev(joystick::kEvSyn, joystick::kSynDropped, 0), ms(20));
  session.receive(evdev(joystick::kEvKey, 0x134, 1), ms(20));  // not to be believed
  CHECK_FALSE(session.controls().deadman);
  CHECK(pad.asked == 1);
  session.receive(evdev(joystick::kEvSyn, 0, 0), ms(21));
  CHECK(pad.asked == 2);
  CHECK(session.controls().steer == 0.25);
  CHECK(session.controls().deadman);  // as the pad says
  pad.gone = true;
  session.receive(evdev(joystick::kEvSyn, joystick::kSynDropped, 0), ms(30));
  session.receive(evdev(joystick::kEvSyn, 0, 0), ms(31));
  CHECK(session.phase() == Phase::kReconnect);
}

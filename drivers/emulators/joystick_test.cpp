// SPDX-License-Identifier: Apache-2.0
#include "drivers/emulators/joystick.hpp"

#include <doctest/doctest.h>

#include "drivers/emulators/test_hex.hpp"

namespace pitwall::emulators {
namespace {

struct Record {
  std::uint32_t ms = 0;
  int value = 0;
  int type = 0;
  int number = 0;
};

std::vector<Record> records_of(Joystick& pad) {
  const Bytes bytes = said_by(pad);
  REQUIRE(bytes.size() % 8 == 0);
  std::vector<Record> records;
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    const auto u = [&](std::size_t k) { return static_cast<std::uint32_t>(bytes[i + k]); };
    records.push_back(
        {u(0) | u(1) << 8 | u(2) << 16 | u(3) << 24, static_cast<std::int16_t>(u(4) | u(5) << 8), bytes[i + 6], bytes[i + 7]});
  }
  return records;
}

}  // namespace

TEST_CASE("on open the state of every control comes with the init bit") {
  Joystick pad;
  pad.hold(at_ms(5));
  pad.move(at_ms(5), 1, -20000);
  CHECK(pad.take().empty());
  pad.opened(at_ms(1234));
  const std::vector<Record> burst = records_of(pad);
  REQUIRE(burst.size() == 19);
  for (std::size_t i = 0; i < 19; ++i) {
    CHECK(burst[i].type == (i < 11 ? 0x81 : 0x82));
    CHECK(burst[i].number == static_cast<int>(i < 11 ? i : i - 11));
    CHECK(burst[i].ms == 1234);
  }
  CHECK(burst[4].value == 1);
  CHECK(burst[12].value == -20000);
}

TEST_CASE("records come on a change only") {
  Joystick pad;
  pad.opened(at_ms(0));
  (void)pad.take();
  pad.hold(at_ms(10));
  pad.hold(at_ms(20));
  pad.move(at_ms(30), 0, 0);
  const std::vector<Record> records = records_of(pad);
  REQUIRE(records.size() == 1);
  CHECK(records[0].ms == 10);
  CHECK(records[0].value == 1);
  CHECK(records[0].type == 1);
  CHECK(records[0].number == 4);
  pad.advance(at_ms(10000));
  CHECK(pad.take().empty());
  CHECK(pad.next_event() == kNever);
}

TEST_CASE("a pad whose sticks jitter streams at rest") {
  Joystick pad;
  turn(pad, at_ms(0), "jitter 100");
  pad.opened(at_ms(0));
  (void)pad.take();
  pad.advance(at_ms(1000));
  const std::vector<Record> records = records_of(pad);
  CHECK(records.size() == 101);
  for (std::size_t i = 1; i < records.size(); ++i) CHECK(records[i].value != records[i - 1].value);
  turn(pad, at_ms(1000), "jitter 0");
  pad.advance(at_ms(2000));
  CHECK(pad.take().empty());
}

TEST_CASE("knobs refuse controls that are not there") {
  Joystick pad;
  CHECK_FALSE(pad.knobs().turn(at_ms(0), "button 11 1").ok());
  CHECK_FALSE(pad.knobs().turn(at_ms(0), "axis 0 40000").ok());
  CHECK_FALSE(pad.knobs().turn(at_ms(0), "hold 1").ok());
  CHECK(pad.knobs().turn(at_ms(0), "button 10 1").ok());
}

}  // namespace pitwall::emulators

// SPDX-License-Identifier: Apache-2.0
#include "drivers/emulators/bno055.hpp"

#include <doctest/doctest.h>

#include "drivers/emulators/test_hex.hpp"

namespace pitwall::emulators {
namespace {

std::string asked(Bno055& imu, Time now, std::string_view hex) {
  (void)imu.take();
  imu.receive(now, bytes_of(hex));
  return hex_of(said_by(imu));
}

}  // namespace

TEST_CASE("BNO055: identity, mode and samples over the serial port") {
  Bno055 imu;
  imu.feel({{1.0, -2.0, 9.81}, {10.0, 0.0, -90.0}, {0.5, 0.5, 0.5, 0.5}});
  CHECK(asked(imu, at_ms(1), "aa010001") == "bb01a0");
  CHECK(asked(imu, at_ms(50), "aa010806") ==
        "bb06"
        "000000000000");
  CHECK(asked(imu, at_ms(50), "aa003d0108") == "ee01");
  CHECK(asked(imu, at_ms(55), "aa010802") == "bb020000");
  // 100 = 64 00, -200 = 38 ff, 981 = d5 03; 160 = a0 00, -1440 = 60 fa; 8192 = 00 20.
  CHECK(asked(imu, at_ms(70), "aa010806") ==
        "bb06"
        "640038ffd503");
  CHECK(asked(imu, at_ms(70), "aa011406") ==
        "bb06"
        "a000000060fa");
  CHECK(asked(imu, at_ms(70), "aa012008") ==
        "bb08"
        "0020002000200020");
  CHECK(asked(imu, at_ms(80), "aa003d0100") == "ee01");
  CHECK(asked(imu, at_ms(90), "aa010802") == "bb020000");
}

TEST_CASE("BNO055: the same registers over a bus, in a new sample every 10 ms") {
  Bno055 imu;
  CHECK(imu.read(at_ms(1), 0, 1) == Bytes{0xa0});
  CHECK(imu.write(at_ms(1), 0x3d, Bytes{0x08}));
  imu.feel({{1.0, 0.0, 0.0}, {}, {1.0, 0.0, 0.0, 0.0}});
  CHECK(imu.read(at_ms(12), 0x08, 2) == Bytes{100, 0});
  imu.feel({{2.0, 0.0, 0.0}, {}, {1.0, 0.0, 0.0, 0.0}});
  CHECK(imu.read(at_ms(19), 0x08, 2) == Bytes{100, 0});
  CHECK(imu.read(at_ms(20), 0x08, 2) == Bytes{200, 0});
  CHECK_FALSE(imu.write(at_ms(20), 0x08, Bytes{1}));
  CHECK_FALSE(imu.read(at_ms(20), 0x7f, 2).has_value());
}

TEST_CASE("BNO055: faults of bus, port and clock") {
  Bno055 imu;
  (void)imu.write(at_ms(1), 0x3d, Bytes{0x08});
  turn(imu, at_ms(1), "nak 1");
  CHECK_FALSE(imu.read(at_ms(20), 0, 1).has_value());
  CHECK(imu.read(at_ms(20), 0, 1).has_value());
  turn(imu, at_ms(20), "overrun 1");
  CHECK(asked(imu, at_ms(21), "aa010001") == "ee07");
  CHECK(asked(imu, at_ms(21), "aa010001") == "bb01a0");
  turn(imu, at_ms(22), "spike 1");
  CHECK(imu.read(at_ms(30), 0x20, 2) == Bytes{0xff, 0x7f});
  CHECK(imu.read(at_ms(40), 0x20, 2) == Bytes{0x00, 0x40});
  turn(imu, at_ms(41), "frozen 1");
  imu.feel({{5.0, 0.0, 0.0}, {}, {1.0, 0.0, 0.0, 0.0}});
  CHECK(imu.read(at_ms(60), 0x08, 2) == Bytes{0, 0});
}

}  // namespace pitwall::emulators

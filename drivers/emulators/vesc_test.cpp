// SPDX-License-Identifier: Apache-2.0
// The behaviour of the firmware, each rule of drivers.md section 1 by itself, on an injected clock. Frames and replies:
// vesc_packet_test.cpp.
#include "drivers/emulators/vesc.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>

#include "drivers/emulators/test_vesc.hpp"

namespace pitwall::emulators {
namespace {

Bytes command(std::uint8_t id, std::int32_t value) {
  VescPayload p(id);
  p.u32(static_cast<std::uint32_t>(value));
  return vesc_frame(p.bytes());
}
Bytes rpm(int erpm) { return command(vesc_id::kSetRpm, erpm); }
Bytes brake(double amperes) { return command(vesc_id::kSetCurrentBrake, static_cast<std::int32_t>(1e3 * amperes)); }
Bytes current(double amperes) { return command(vesc_id::kSetCurrent, static_cast<std::int32_t>(1e3 * amperes)); }

/// Sends the frame every 20 ms from `from` to `to`.
void stream(Vesc& vesc, std::int64_t from_ms, std::int64_t to_ms, const Bytes& frame) {
  for (std::int64_t ms = from_ms; ms <= to_ms; ms += 20) vesc.receive(at_ms(ms), frame);
}

}  // namespace

TEST_CASE("each motor command is logged with its unit and its time") {
  Vesc vesc;
  std::int64_t ms = 10;
  for (const std::string_view hex : {"02050500002710ae1703", "020506fffff254269703", "02050700002710ea9403", "020508ffffedfaae5603",
                                     "02050a00001388000e03", "02030c0212217003", "02011ef3ff03"})
    vesc.receive(at_ms(ms++), bytes_of(hex));
  const std::array<std::pair<std::string_view, double>, 7> expected = {{{"SET_DUTY", 0.1},
                                                                        {"SET_CURRENT", -3.5},
                                                                        {"SET_CURRENT_BRAKE", 10.0},
                                                                        {"SET_RPM", -4614.0},
                                                                        {"SET_HANDBRAKE", 5.0},
                                                                        {"SET_SERVO_POS", 0.53},
                                                                        {"ALIVE", 0.0}}};
  REQUIRE(vesc.log().size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(vesc.log()[i].name == expected[i].first);
    CHECK(vesc.log()[i].value == doctest::Approx(expected[i].second));
    CHECK(vesc.log()[i].at == at_ms(10 + static_cast<std::int64_t>(i)));
    CHECK_FALSE(vesc.log()[i].ignored);
  }
}

TEST_CASE("the firmware's default timeout lets the motor drive on for a second, and then coast") {
  Vesc vesc;
  stream(vesc, 0, 1000, rpm(9228));
  vesc.advance(at_ms(1990));
  CHECK(vesc.demand().mode == MotorMode::kSpeed);
  CHECK_FALSE(vesc.timed_out());
  vesc.advance(at_ms(2020));
  CHECK(vesc.timed_out());
  CHECK((values(vesc, at_ms(2020))[73] & 1) == 1);
  CHECK(vesc.demand().mode == MotorMode::kBrake);
  CHECK(vesc.demand().value == 0.0);
  const double then = vesc.motor().erpm;
  vesc.advance(at_ms(3020));
  // It only rolls out: 1500 ERPM/s on the stand.
  CHECK(vesc.motor().erpm == doctest::Approx(then - 1500.0).epsilon(0.01));
}

TEST_CASE("a timeout of 150 ms and 10 A brakes at 150 ms, checked every 10 ms") {
  Vesc vesc;
  turn(vesc, at_ms(0), "timeout 150 10");
  stream(vesc, 0, 1000, rpm(9228));
  vesc.advance(at_ms(1149));
  CHECK(vesc.demand().mode == MotorMode::kSpeed);
  vesc.advance(at_ms(1160));
  CHECK(vesc.demand().mode == MotorMode::kBrake);
  CHECK(vesc.demand().value == 10.0);
  const double then = vesc.motor().erpm;
  vesc.advance(at_ms(1260));
  CHECK(vesc.motor().erpm == doctest::Approx(then - 850.0).epsilon(0.01));
  vesc.receive(at_ms(1270), rpm(9228));
  CHECK_FALSE(vesc.timed_out());
  CHECK(vesc.demand().mode == MotorMode::kSpeed);
}

TEST_CASE("a timeout of 0 never comes") {
  Vesc vesc;
  turn(vesc, at_ms(0), "timeout 0 10");
  vesc.receive(at_ms(0), rpm(9228));
  vesc.advance(at_ms(60000));
  CHECK_FALSE(vesc.timed_out());
}

TEST_CASE("motor commands and ALIVE feed the timeout; the servo and requests do not") {
  const auto outlasts = [](const Bytes& frame) {
    Vesc vesc;
    turn(vesc, at_ms(0), "timeout 150 10");
    vesc.receive(at_ms(0), rpm(9228));
    stream(vesc, 100, 1000, frame);
    vesc.advance(at_ms(1100));
    return !vesc.timed_out();
  };
  CHECK(outlasts(bytes_of("02011ef3ff03")));
  CHECK(outlasts(rpm(9228)));
  CHECK(outlasts(current(1.0)));
  CHECK(outlasts(brake(1.0)));
  CHECK_FALSE(outlasts(bytes_of("02030c0212217003")));
  CHECK_FALSE(outlasts(bytes_of("020104408403")));
}

TEST_CASE("the servo keeps its position when everything else times out") {
  Vesc vesc;
  turn(vesc, at_ms(0), "timeout 150 10");
  vesc.receive(at_ms(0), bytes_of("02030c0096961e03"));
  vesc.advance(at_ms(60000));
  CHECK(vesc.timed_out());
  CHECK(vesc.servo() == 0.15);
}

TEST_CASE("the servo is ignored in silence unless its output was enabled, and clamped to 0..1") {
  Vesc vesc;
  turn(vesc, at_ms(0), "servo_enabled 0");
  vesc.receive(at_ms(1), bytes_of("02030c0212217003"));
  CHECK_FALSE(vesc.servo().has_value());
  CHECK(vesc.log().back().ignored);
  CHECK(vesc.take().empty());
  turn(vesc, at_ms(2), "servo_enabled 1");
  vesc.receive(at_ms(2), vesc_frame(Bytes{vesc_id::kSetServoPos, 0x05, 0xdc}));
  CHECK(vesc.servo() == 1.0);
}

TEST_CASE("RPM 0 does not brake: the setpoint ramps down to 900 ERPM, and the motor is let go") {
  SUBCASE("RPM 0 is a release in the end") {
    Vesc vesc;
    turn(vesc, at_ms(0), "timeout 0 0");
    vesc.receive(at_ms(0), rpm(20000));
    vesc.advance(at_ms(3000));
    vesc.receive(at_ms(3000), rpm(0));
    vesc.advance(at_ms(3100));
    // 25000 ERPM/s from 20000.
    CHECK(vesc.demand().value == doctest::Approx(17500.0).epsilon(0.01));
    vesc.advance(at_ms(3763));
    CHECK(vesc.demand().mode == MotorMode::kSpeed);
    vesc.advance(at_ms(3766));
    CHECK(vesc.demand().mode == MotorMode::kReleased);
    CHECK(vesc.motor().erpm > 900.0);
  }
  SUBCASE("a brake current holds to standstill") {
    Vesc vesc;
    vesc.receive(at_ms(0), rpm(20000));
    vesc.advance(at_ms(900));
    vesc.receive(at_ms(900), brake(40.0));
    vesc.advance(at_ms(1700));
    CHECK(vesc.motor().erpm == 0.0);
  }
}

TEST_CASE("a fault stops the motor and ignores commands for half a second; nothing resumes by itself") {
  Vesc vesc;
  turn(vesc, at_ms(0), "timeout 0 0");
  vesc.receive(at_ms(0), rpm(9228));
  vesc.advance(at_ms(1000));
  turn(vesc, at_ms(1000), "fault 4");
  CHECK(values(vesc, at_ms(1001))[53] == 4);
  vesc.receive(at_ms(1100), rpm(9228));
  CHECK(vesc.log().back().ignored);
  CHECK(vesc.demand().mode == MotorMode::kReleased);
  vesc.advance(at_ms(1490));
  CHECK(vesc.demand().mode == MotorMode::kReleased);
  vesc.advance(at_ms(1510));
  CHECK(values(vesc, at_ms(1510))[53] == 0);
  CHECK(vesc.demand().mode == MotorMode::kReleased);
  // A host that goes on streaming has its old command back.
  vesc.receive(at_ms(1520), rpm(9228));
  CHECK_FALSE(vesc.log().back().ignored);
  CHECK(vesc.demand().mode == MotorMode::kSpeed);
}

TEST_CASE("a fault that repeats stays until it is taken away") {
  Vesc vesc;
  turn(vesc, at_ms(0), "fault 2 repeat");
  vesc.advance(at_ms(5000));
  vesc.receive(at_ms(5000), rpm(9228));
  CHECK(vesc.log().back().ignored);
  turn(vesc, at_ms(5001), "fault 0");
  vesc.receive(at_ms(5002), rpm(9228));
  CHECK_FALSE(vesc.log().back().ignored);
}

TEST_CASE("an empty battery is fault 2, one that is charged too far fault 1") {
  Vesc vesc;
  turn(vesc, at_ms(0), "battery 10");
  turn(vesc, at_ms(0), "battery_ramp -1");
  CHECK(i16_at(values(vesc, at_ms(1850)), 27, 10) == doctest::Approx(8.1));
  CHECK(values(vesc, at_ms(1990))[53] == 0);
  CHECK(values(vesc, at_ms(2101))[53] == 2);
  turn(vesc, at_ms(2102), "battery_ramp 0");
  turn(vesc, at_ms(2102), "battery 58");
  CHECK(values(vesc, at_ms(2700))[53] == 1);
}

TEST_CASE("reading the averages resets them") {
  VescConfig config;
  config.own_motor = false;
  Vesc vesc(config);
  MotorState motor;
  motor.current_a = 10.0;
  vesc.drive(at_ms(0), motor);
  vesc.advance(at_ms(100));
  motor.current_a = 30.0;
  vesc.drive(at_ms(100), motor);
  vesc.advance(at_ms(200));
  CHECK(i32_at(values(vesc, at_ms(200)), 5, 100) == doctest::Approx(20.0).epsilon(0.001));
  vesc.advance(at_ms(300));
  CHECK(i32_at(values(vesc, at_ms(300)), 5, 100) == doctest::Approx(30.0).epsilon(0.001));
  // What leaves them out leaves them alone.
  motor.current_a = 0.0;
  vesc.drive(at_ms(300), motor);
  vesc.advance(at_ms(400));
  (void)asked(vesc, at_ms(400), bytes_of("3200000100"));
  motor.current_a = 10.0;
  vesc.drive(at_ms(400), motor);
  vesc.advance(at_ms(500));
  CHECK(i32_at(values(vesc, at_ms(500)), 5, 100) == doctest::Approx(5.0).epsilon(0.001));
}

TEST_CASE("the emergency stop lets go of the motor and ignores commands for its time, from 7.00 on") {
  Vesc vesc;
  vesc.receive(at_ms(0), rpm(9228));
  vesc.receive(at_ms(10), bytes_of("02039f07d006e203"));
  CHECK(vesc.demand().mode == MotorMode::kReleased);
  vesc.receive(at_ms(2000), rpm(9228));
  CHECK(vesc.log().back().ignored);
  vesc.receive(at_ms(2011), rpm(9228));
  CHECK_FALSE(vesc.log().back().ignored);
  turn(vesc, at_ms(2012), "firmware 5 2");
  vesc.receive(at_ms(2013), bytes_of("02039f07d006e203"));
  vesc.receive(at_ms(2014), rpm(9228));
  CHECK_FALSE(vesc.log().back().ignored);
}

TEST_CASE("the kill switch brakes, ignores commands and shows in status bit 1") {
  Vesc vesc;
  turn(vesc, at_ms(0), "timeout 1000 7");
  vesc.receive(at_ms(0), rpm(9228));
  turn(vesc, at_ms(100), "kill_switch 1");
  vesc.advance(at_ms(120));
  CHECK(vesc.demand().mode == MotorMode::kBrake);
  CHECK(vesc.demand().value == 7.0);
  vesc.receive(at_ms(130), rpm(9228));
  CHECK(vesc.log().back().ignored);
  CHECK(values(vesc, at_ms(140))[73] == 2);
}

TEST_CASE("the tachometer counts six a revolution, and the other way round when inverted") {
  Vesc vesc;
  turn(vesc, at_ms(0), "timeout 0 0");
  vesc.receive(at_ms(0), rpm(6000));
  vesc.advance(at_ms(2000));
  const double before = i32_at(values(vesc, at_ms(2000)), 45, 1);
  const double after = i32_at(values(vesc, at_ms(3000)), 45, 1);
  // 6000 electrical revolutions a minute for a second.
  CHECK(after - before == doctest::Approx(600.0).epsilon(0.01));
  turn(vesc, at_ms(3000), "invert 1");
  CHECK(i32_at(values(vesc, at_ms(3000)), 45, 1) == doctest::Approx(-after).epsilon(0.001));
  CHECK(i32_at(values(vesc, at_ms(3000)), 23, 1) == doctest::Approx(-6000.0).epsilon(0.01));
}

TEST_CASE("power that comes back finds everything at its beginning") {
  Vesc vesc;
  vesc.receive(at_ms(0), bytes_of("02030c0212217003"));
  vesc.receive(at_ms(0), rpm(9228));
  vesc.advance(at_ms(900));
  vesc.restart(at_ms(900));
  CHECK_FALSE(vesc.servo().has_value());
  CHECK(vesc.demand().mode == MotorMode::kReleased);
  CHECK(i32_at(values(vesc, at_ms(901)), 45, 1) == 0);
}

TEST_CASE("bytes of another program stall it, and the commands behind them come in a burst") {
  Vesc vesc;
  turn(vesc, at_ms(0), "hear 03 01 80");
  for (std::int64_t ms = 20; ms <= 1000; ms += 20) vesc.receive(at_ms(ms), rpm(static_cast<int>(ms)));
  // 390 bytes of frames of 10: the 39th comes with all those before it.
  REQUIRE(vesc.log().size() == 50);
  CHECK(vesc.log()[0].at == at_ms(780));
  CHECK(vesc.log()[38].at == at_ms(780));
  CHECK(vesc.log()[39].at == at_ms(800));
}

}  // namespace pitwall::emulators

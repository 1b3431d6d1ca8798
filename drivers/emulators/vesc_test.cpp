// SPDX-License-Identifier: Apache-2.0
// The behaviour of the firmware, each rule of drivers.md section 1 by itself, on an injected clock.
#include "drivers/emulators/vesc.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>

#include "drivers/emulators/test_hex.hpp"
#include "drivers/emulators/vesc_fields.hpp"

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

/// The payload of the one reply to a request without arguments, or with the bytes after the id.
Bytes asked(Vesc& vesc, Time now, const Bytes& request) {
  (void)vesc.take();
  vesc.receive(now, vesc_frame(request));
  const std::vector<Bytes> replies = vesc.take();
  REQUIRE(replies.size() == 1);
  std::vector<Bytes> payloads;
  PacketDecoder decoder;
  decoder.feed(replies[0], [&](ByteView payload) { payloads.emplace_back(payload.begin(), payload.end()); });
  REQUIRE(payloads.size() == 1);
  return payloads[0];
}

Bytes values(Vesc& vesc, Time now) { return asked(vesc, now, {vesc_id::kGetValues}); }
double i32_at(const Bytes& payload, std::size_t offset, double scale) { return read_i32(ByteView(payload).subspan(offset)) / scale; }
double i16_at(const Bytes& payload, std::size_t offset, double scale) { return read_i16(ByteView(payload).subspan(offset)) / scale; }

/// Sends the frame every 20 ms from `from` to `to`.
void stream(Vesc& vesc, std::int64_t from_ms, std::int64_t to_ms, const Bytes& frame) {
  for (std::int64_t ms = from_ms; ms <= to_ms; ms += 20) vesc.receive(at_ms(ms), frame);
}

}  // namespace

TEST_CASE("FW_VERSION is the example of the document") {
  VescConfig config;
  config.hardware = "PEER_60";
  config.uuid = {0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b};
  config.paired = false;
  config.test_version = 1;
  Vesc vesc(config);
  CHECK(hex_of(asked(vesc, at_ms(1), {0})) ==
        "000701"
        "504545525f363000"
        "101112131415161718191a1b"
        "000100000000000000"
        "deadbeef");
}

TEST_CASE("the full reply is 74 bytes of 7.01, 73 of 5.2, 59 of 3.40, and the old layout before 3.33") {
  for (const auto& [firmware, length] :
       {std::pair{"firmware 7 1", 74}, {"firmware 5 2", 73}, {"firmware 3 40", 59}, {"firmware 2 18", 56}}) {
    CAPTURE(firmware);
    Vesc vesc;
    turn(vesc, at_ms(0), firmware);
    CHECK(values(vesc, at_ms(1)).size() == static_cast<std::size_t>(length));
  }
  Vesc old;
  turn(old, at_ms(0), "firmware 2 18");
  CHECK(asked(old, at_ms(1), {0}) == Bytes{0, 2, 18});
}

TEST_CASE("the fields of the full reply are where the table has them") {
  VescConfig config;
  config.own_motor = false;
  Vesc vesc(config);
  turn(vesc, at_ms(0), "battery 11.3");
  turn(vesc, at_ms(0), "fet_temperature 41.2");
  turn(vesc, at_ms(0), "motor_temperature -12.7");
  MotorState motor;
  motor.erpm = -4614.0;
  motor.revolutions = -100.5;
  motor.travelled = 200.5;
  motor.current_a = 12.34;
  motor.input_a = -3.21;
  motor.duty = -0.25;
  vesc.drive(at_ms(0), motor);
  vesc.advance(at_ms(11));
  const Bytes p = values(vesc, at_ms(11));
  CHECK(p[0] == 4);
  CHECK(i16_at(p, 1, 10) == doctest::Approx(41.2));
  CHECK(i16_at(p, 3, 10) == doctest::Approx(-12.7));
  CHECK(i32_at(p, 5, 100) == doctest::Approx(12.34).epsilon(0.001));
  CHECK(i32_at(p, 9, 100) == doctest::Approx(-3.21).epsilon(0.004));
  CHECK(i32_at(p, 17, 100) == doctest::Approx(12.34).epsilon(0.001));
  CHECK(i16_at(p, 21, 1000) == -0.25);
  CHECK(i32_at(p, 23, 1) == -4614);
  CHECK(i16_at(p, 27, 10) == doctest::Approx(11.3));
  CHECK(i32_at(p, 45, 1) == -603);
  CHECK(i32_at(p, 49, 1) == 1203);
  CHECK(p[53] == 0);
  CHECK(p[58] == 9);
  CHECK(p[73] == 0);
}

TEST_CASE("the selective reply echoes the mask and has the set fields only") {
  Vesc vesc;
  const Bytes racing = asked(vesc, at_ms(1), bytes_of("320020a3ff"));
  // Bits 0..9, 13, 15 and 21.
  CHECK(racing.size() == 5 + 2 + 2 + 4 * 4 + 2 + 4 + 2 + 4 + 4 + 1 + 1);
  CHECK(hex_of(ByteView(racing).first(5)) == "320020a3ff");
  CHECK(asked(vesc, at_ms(2), bytes_of("3200000100")).size() == 7);
  turn(vesc, at_ms(3), "firmware 5 2");
  CHECK(asked(vesc, at_ms(4), bytes_of("320020a3ff")).size() == racing.size() - 1);
}

TEST_CASE("the set-up view is 70 bytes and tells the time since the start") {
  Vesc vesc;
  const Bytes p = asked(vesc, at_ms(1500), {vesc_id::kGetValuesSetup});
  CHECK(p.size() == 70);
  CHECK(i32_at(p, 66, 1) == 1500);
}

TEST_CASE("the IMU answers 68 bytes for everything and 28 for rates and accelerations, in g and degrees per second") {
  Vesc vesc;
  vesc.feel({{0.0, 0.0, 0.0}, {0.25, -0.5, 1.0}, {10.0, 0.0, -90.5}});
  CHECK(asked(vesc, at_ms(1), bytes_of("41ffff")).size() == 68);
  const Bytes p = asked(vesc, at_ms(1), bytes_of("4101f8"));
  CHECK(p.size() == 28);
  const auto value = [&](std::size_t i) { return std::bit_cast<float>(read_u32(ByteView(p).subspan(3 + 4 * i))); };
  CHECK(value(0) == 0.25F);
  CHECK(value(1) == -0.5F);
  CHECK(value(2) == 1.0F);
  CHECK(value(3) == 10.0F);
  CHECK(value(5) == -90.5F);
  turn(vesc, at_ms(2), "imu 0");
  const Bytes none = asked(vesc, at_ms(2), bytes_of("4101f8"));
  CHECK(std::all_of(none.begin() + 3, none.begin() + 27, [](std::uint8_t byte) { return byte == 0; }));
}

TEST_CASE("unknown ids are passed over in silence") {
  Vesc vesc;
  vesc.receive(at_ms(1), vesc_frame(Bytes{200, 1, 2, 3}));
  vesc.receive(at_ms(1), vesc_frame(Bytes{vesc_id::kSetRpm, 1}));
  CHECK(vesc.take().empty());
  CHECK(vesc.log().empty());
}

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

// SPDX-License-Identifier: Apache-2.0
#include "drivers/vesc_session.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <set>

#include "drivers/test_line.hpp"

using namespace pitwall;
using namespace pitwall::drivers;
using namespace pitwall::drivers::test;

namespace {

std::vector<std::byte> framed_reply(Bytes payload) {
  std::vector<std::byte> out;
  vesc::append_frame(payload, out);
  return out;
}

// Answers as a VESC does, from the frames it is sent.
struct FakeVesc {
  explicit FakeVesc(Line& to) : line(to) {
    line.device = [this](Bytes bytes) { read(bytes); };
  }

  void read(Bytes bytes) {
    decoder.push(bytes);
    while (const auto payload = decoder.next()) {
      const auto id = static_cast<vesc::Id>((*payload)[0]);
      received[id].push_back(to_hex(*payload));
      at[id].push_back(line.now);
      if (mute) {
        continue;
      }
      std::vector<std::byte> answer;
      switch (id) {
        case vesc::Id::kFwVersion:
          answer = firmware;
          break;
        case vesc::Id::kGetValues:
          answer = full;
          break;
        case vesc::Id::kGetValuesSelective:
          answer = selective;
          if (!damaged.empty()) {
            line.reply(std::exchange(damaged, {}), delay);
            continue;
          }
          break;
        case vesc::Id::kGetImu:
          answer = imu;
          break;
        default:
          break;
      }
      if (!answer.empty()) {
        line.reply(framed_reply(answer), delay);
      }
    }
  }
  [[nodiscard]] std::size_t count(vesc::Id id) const { return received.count(id) != 0 ? received.at(id).size() : 0; }

  Line& line;
  vesc::FrameDecoder decoder;
  std::map<vesc::Id, std::vector<std::string>> received;
  std::map<vesc::Id, std::vector<Time>> at;
  Duration delay = from_milliseconds(4);
  bool mute = false;
  std::vector<std::byte> firmware = hex("00 07 01 504545525f3630 00 0102030405060708090a0b0c 00 00");
  std::vector<std::byte> selective = hex("32 00208080 00001206 00 00");
  std::vector<std::byte> full = hex("04 0141 ff38 000004d2 fffffb2e 00000065 fffffe0c fe0c ffffedfa 00a5");
  std::vector<std::byte> imu;
  std::vector<std::byte> damaged;  // sent in place of one reply to kGetValuesSelective
};

std::vector<std::byte> imu_reply(float up_g) {
  auto reply = hex("41 01f8");
  for (const float x : {0.0F, 0.0F, up_g, 0.0F, 0.0F, 90.0F}) {
    append_big_endian(std::bit_cast<std::uint32_t>(x), 4, reply);
  }
  reply.push_back(std::byte{0});
  return reply;
}

}  // namespace

TEST_CASE("a VESC is identified, then polled at the rates asked for, and never told to move") {
  VescSession session({.telemetry_rate_hz = 50.0, .imu_rate_hz = 100.0});
  Line line(session);
  FakeVesc device(line);
  device.imu = imu_reply(1.0F);
  line.start();
  line.run(from_milliseconds(104));
  const auto values = session.next_telemetry();
  const auto imu = session.next_imu();
  line.run(from_milliseconds(900));
  CHECK(session.phase() == Phase::kRunning);
  CHECK(session.firmware()->text() == "7.01 on PEER_60, UUID 0102030405060708090a0b0c");
  CHECK(device.count(vesc::Id::kFwVersion) == 1);
  CHECK(device.count(vesc::Id::kGetValuesSelective) == 51);
  CHECK(device.count(vesc::Id::kGetImu) == 101);
  CHECK(device.received.size() == 3);  // no command, no keep-alive
  REQUIRE(values);
  CHECK(values->value.erpm == 4614.0);
  CHECK(values->arrival - values->stamp == from_milliseconds(2));  // half the round trip
  CHECK(values->sequence == 1);
  REQUIRE(imu);
  CHECK(imu->value.linear_acceleration_mps2[2] == doctest::Approx(9.80665));
  CHECK(imu->value.angular_velocity_radps[2] == doctest::Approx(1.5707963));
  CHECK(imu->value.stamp == imu->stamp);
  CHECK(session.counters().unanswered == 0);
}

TEST_CASE("an unanswered FW_VERSION is asked again every 200 ms behind 520 zeros, a device that comes late is found") {
  VescSession session;
  Line line(session);
  FakeVesc device(line);
  device.mute = true;
  line.start();
  line.run(from_milliseconds(999));
  CHECK(device.count(vesc::Id::kFwVersion) == 5);
  CHECK(line.written.size() == 5 * 6 + 4 * 520);
  CHECK(std::count(line.written.begin(), line.written.end(), std::byte{0}) >= 4 * 520);
  CHECK(session.phase() == Phase::kIdentifying);
  device.mute = false;
  line.run(from_milliseconds(300));
  CHECK(session.phase() == Phase::kRunning);
}

TEST_CASE("a port on which nobody answers asks to be opened again") {
  VescSession session;
  Line line(session);
  line.start();
  line.run(from_milliseconds(5'001));
  CHECK(session.phase() == Phase::kReconnect);
  CHECK(session.status().find("no answer to FW_VERSION") == 0);
}

TEST_CASE("commands go out once, the newest of each kind, before the polls; none before the device is known") {
  VescSession session;
  Line line(session);
  FakeVesc device(line);
  CHECK(session.command({vesc::CommandKind::kErpm, 1000.0}) == VescSession::Handed::kNotIdentified);
  line.start();
  CHECK(session.command({vesc::CommandKind::kErpm, 1000.0}) == VescSession::Handed::kNotIdentified);
  line.run(from_milliseconds(100));
  CHECK(device.count(vesc::Id::kSetRpm) == 0);
  CHECK(session.command({vesc::CommandKind::kErpm, 1000.0}) == VescSession::Handed::kQueued);
  CHECK(session.command({vesc::CommandKind::kServo, 0.4}) == VescSession::Handed::kQueued);
  CHECK(session.command({vesc::CommandKind::kBrakeCurrent, 10.0}) == VescSession::Handed::kQueued);
  CHECK(session.command({vesc::CommandKind::kServo, 0.53}) == VescSession::Handed::kQueued);
  CHECK(session.command({vesc::CommandKind::kErpm, std::nan("")}) == VescSession::Handed::kNotFinite);
  CHECK(to_hex(session.to_send()).find("02050700002710ea940302030c0212217003") == 0);
  CHECK(session.to_send().empty());
  line.run(from_milliseconds(1'000));
  CHECK(device.count(vesc::Id::kSetRpm) == 0);
  CHECK(device.count(vesc::Id::kSetCurrentBrake) == 0);  // taken above, and never again
}

TEST_CASE("a command that was not sent dies with its connection") {
  VescSession session;
  Line line(session);
  FakeVesc device(line);
  line.start();
  line.run(from_milliseconds(100));
  CHECK(session.command({vesc::CommandKind::kErpm, 5000.0}) == VescSession::Handed::kQueued);
  session.lost("unplugged");
  CHECK(session.phase() == Phase::kClosed);
  line.start();
  CHECK(session.command({vesc::CommandKind::kErpm, 5000.0}) == VescSession::Handed::kNotIdentified);
  line.run(from_milliseconds(500));
  CHECK(session.phase() == Phase::kRunning);
  CHECK(device.count(vesc::Id::kSetRpm) == 0);
}

TEST_CASE("silence of 150 ms is told, of 500 ms asks for a new connection; a stop can still be tried") {
  VescSession session;
  Line line(session);
  FakeVesc device(line);
  line.start();
  line.run(from_milliseconds(200));
  device.mute = true;
  line.run(from_milliseconds(135));
  CHECK(session.phase() == Phase::kRunning);
  line.run(from_milliseconds(30));
  CHECK(session.phase() == Phase::kSilent);
  CHECK(session.command({vesc::CommandKind::kBrakeCurrent, 10.0}) == VescSession::Handed::kQueued);
  device.mute = false;
  line.run(from_milliseconds(110));
  CHECK(session.phase() == Phase::kRunning);
  CHECK(device.count(vesc::Id::kSetCurrentBrake) == 1);
  device.mute = true;
  line.run(from_milliseconds(520));
  CHECK(session.phase() == Phase::kReconnect);
  CHECK(session.next_deadline() == kNever);
  CHECK(session.command({vesc::CommandKind::kBrakeCurrent, 10.0}) == VescSession::Handed::kQueued);
  line.run(from_milliseconds(1));
  CHECK(device.count(vesc::Id::kSetCurrentBrake) == 2);
}

TEST_CASE("of each id one request is out at a time, however slow the device") {
  VescSession session({.telemetry_rate_hz = 500.0, .imu_rate_hz = 0.0});
  Line line(session);
  FakeVesc device(line);
  device.delay = from_milliseconds(30);
  line.start();
  line.run(from_milliseconds(1'000));
  const auto& at = device.at[vesc::Id::kGetValuesSelective];
  REQUIRE(at.size() > 20);
  for (std::size_t i = 1; i < at.size(); ++i) {
    CHECK(at[i] - at[i - 1] >= from_milliseconds(30));
  }
  CHECK(device.count(vesc::Id::kGetImu) == 0);
}

TEST_CASE("a lost reply costs two periods") {
  VescSession session({.telemetry_rate_hz = 50.0, .imu_rate_hz = 0.0});
  Line line(session);
  FakeVesc device(line);
  line.start();
  line.run(from_milliseconds(200));
  device.mute = true;
  line.run(from_milliseconds(20));
  device.mute = false;
  line.run(from_milliseconds(300));
  CHECK(session.counters().unanswered == 1);
  Time last{};
  Duration longest{};
  while (const auto values = session.next_telemetry()) {
    longest = last.ns == 0 ? longest : std::max(longest, values->arrival - last);
    last = values->arrival;
  }
  CHECK(longest >= from_milliseconds(40));
  CHECK(longest <= from_milliseconds(60));
}

TEST_CASE("whichever byte of a reply is wrong, it costs that reply: telemetry and IMU go on within three periods") {
  const std::vector<std::byte> reply = framed_reply(hex("32 00208080 00001206 00 00"));
  for (std::size_t at = 0; at < reply.size(); ++at) {
    for (const int mask : {1, 2, 4, 16, 64, 128, 255}) {
      VescSession session;
      Line line(session);
      FakeVesc device(line);
      device.imu = imu_reply(1.0F);
      line.start();
      line.run(from_milliseconds(200));
      while (session.next_telemetry() || session.next_imu()) {
      }
      std::vector<std::byte> wrong = reply;
      wrong[at] ^= static_cast<std::byte>(mask);
      device.damaged = wrong;
      Time last = line.now;
      Duration longest{};
      for (int i = 0; i < 200; ++i) {
        line.run(from_milliseconds(1));
        while (const auto values = session.next_telemetry()) {
          longest = std::max(longest, values->arrival - last);
          last = values->arrival;
        }
      }
      CAPTURE(at);
      CAPTURE(mask);
      REQUIRE(device.damaged.empty());
      CHECK(longest <= from_milliseconds(65));
      CHECK(session.phase() == Phase::kRunning);
    }
  }
}

TEST_CASE("garbage in front of the first answer costs 15 ms, not the answer") {
  VescSession session;
  Line line(session);
  FakeVesc device(line);
  line.start();
  line.reply(hex("030180"), Duration{1});
  line.run(from_milliseconds(25));
  CHECK(session.firmware().has_value());
  CHECK(session.counters().dropped_bytes == 3);
}

TEST_CASE("a device without selective requests is polled for everything") {
  VescSession session;
  Line line(session);
  FakeVesc device(line);
  device.selective.clear();
  line.start();
  line.run(from_milliseconds(480));
  CHECK(session.phase() == Phase::kRunning);
  REQUIRE(session.next_telemetry());
}

TEST_CASE("old firmware and another device than the configured one are refused in words") {
  VescSession session;
  Line line(session);
  FakeVesc device(line);
  device.firmware = hex("00 02 12");
  line.start();
  line.run(from_milliseconds(1'000));
  CHECK(session.phase() == Phase::kRefused);
  CHECK(session.status().find("firmware 2.18 is older than 3.33") == 0);
  CHECK(session.command({vesc::CommandKind::kErpm, 1.0}) == VescSession::Handed::kNotIdentified);
  CHECK(device.received.size() == 1);

  VescOptions options;
  options.uuid = std::array<std::uint8_t, 12>{1};
  VescSession other(options);
  Line other_line(other);
  FakeVesc other_device(other_line);
  other_line.start();
  other_line.run(from_milliseconds(100));
  CHECK(other.phase() == Phase::kRefused);
  CHECK(other.status().find("another VESC") == 0);
}

TEST_CASE("zeros for an IMU are told once and never handed out; unknown and unsolicited frames disturb nothing") {
  VescSession session;
  Line line(session);
  FakeVesc device(line);
  device.imu = imu_reply(0.0F);
  device.imu.assign(device.imu.size(), std::byte{0});
  device.imu[0] = std::byte{0x41};
  device.imu[1] = std::byte{0x01};
  device.imu[2] = std::byte{0xF8};
  line.start();
  for (int i = 0; i < 20; ++i) {
    line.reply(framed_reply(hex("e7 01 02 03")), from_milliseconds(10 * i));
    line.reply(framed_reply(hex("15 48 69 21 00")), from_milliseconds(10 * i));
  }
  line.run(from_milliseconds(400));
  CHECK_FALSE(session.next_imu());
  CHECK(session.phase() == Phase::kRunning);
  CHECK(session.counters().ignored == 20);
  CHECK(session.counters().dropped_bytes == 0);
  const auto notes = line.notes();
  CHECK(std::count(notes.begin(), notes.end(), "no IMU: the device answers zeros") == 1);
  CHECK(std::count(notes.begin(), notes.end(), "the device says: Hi!") == 20);
}

TEST_CASE("the first fault is kept with its telemetry until it is cleared") {
  VescSession session;
  Line line(session);
  FakeVesc device(line);
  line.start();
  line.run(from_milliseconds(100));
  CHECK_FALSE(session.first_fault());
  device.selective = hex("32 00208080 00001206 02 00");
  line.run(from_milliseconds(100));
  device.selective = hex("32 00208080 00000000 04 00");
  line.run(from_milliseconds(100));
  REQUIRE(session.first_fault());
  CHECK(session.first_fault()->value.fault == 2);
  CHECK(session.first_fault()->value.erpm == 4614.0);
  session.clear_fault();
  line.run(from_milliseconds(100));
  CHECK(session.first_fault()->value.fault == 4);
}

TEST_CASE("the emergency stop of firmware 7 goes to firmware 7 only") {
  for (const bool newer : {true, false}) {
    VescSession session;
    Line line(session);
    FakeVesc device(line);
    device.firmware = newer ? device.firmware : hex("00 06 05");
    line.start();
    line.run(from_milliseconds(50));
    CHECK(session.estop(2000) == newer);
    line.run(from_milliseconds(50));
    CHECK(device.count(vesc::Id::kMotorEstop) == (newer ? 1 : 0));
  }
}

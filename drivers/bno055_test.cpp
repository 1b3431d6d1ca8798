// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>

#include "drivers/bno055_session.hpp"
#include "drivers/i2c_bus.hpp"
#include "drivers/test_line.hpp"

using namespace pitwall;
using namespace pitwall::drivers;
using namespace pitwall::drivers::test;
using bno055::SampleGate;

namespace {

// Registers 0x08 to 0x27: 9.81 up, 90 deg/s about it, no rotation; `noise` moves the acceleration by hundredths.
std::vector<std::byte> sample_bytes(int noise) {
  std::vector<std::byte> bytes(32);
  const auto put = [&](std::size_t at, int value) {
    bytes[at] = static_cast<std::byte>(value & 0xFF);
    bytes[at + 1] = static_cast<std::byte>(value >> 8 & 0xFF);
  };
  put(0, noise % 7);
  put(4, 981);
  put(12 + 4, 1440);
  put(24, 16384);
  return bytes;
}

struct FakeBno {
  explicit FakeBno(Line& to) : line(to) {
    line.device = [this](Bytes bytes) { answer(bytes); };
  }
  void answer(Bytes bytes) {
    log.push_back(to_hex(bytes));
    at.push_back(line.now);
    if (mute) {
      return;
    }
    std::vector<std::byte> reply;
    if (overruns > 0 && log.back() == "aa010820") {
      --overruns;
      reply = hex("ee07");
    } else if (log.back() == "aa010820") {
      reply = hex("bb20");
      append(reply, sample_bytes(frozen ? 0 : ++count));
    } else if (log.back() == "aa010001") {
      reply = hex(identity);
    } else {
      reply = hex("ee01");
    }
    line.reply(reply, from_milliseconds(4));
  }
  Line& line;
  std::vector<std::string> log;
  std::vector<Time> at;
  std::string identity = "bb01a0";
  int overruns = 0;
  int count = 0;
  bool mute = false;
  bool frozen = false;
};

class FakeBus final : public bno055::RegisterBus {
 public:
  Status write(std::uint8_t first, Bytes values) override {
    writes.push_back(to_hex({reinterpret_cast<const std::byte*>(&first), 1}) + ":" + to_hex(values));
    return fails ? Status(Error{"I2C: no acknowledge"}) : Status();
  }
  Status read(std::uint8_t first, std::span<std::byte> values) override {
    if (fails) {
      return Error{"I2C: no acknowledge"};
    }
    const auto source = first == 0 ? std::vector<std::byte>{identity} : spike ? std::vector<std::byte>(32) : sample_bytes(++count);
    std::copy_n(source.begin(), values.size(), values.begin());
    return {};
  }
  std::vector<std::string> writes;
  std::byte identity{0xA0};
  bool fails = false;
  bool spike = false;
  int count = 0;
};

}  // namespace

TEST_CASE("the registers of a sample are SI values") {
  const auto sample = bno055::decode_sample(sample_bytes(3));
  REQUIRE(sample);
  CHECK(sample->linear_acceleration_mps2 == std::array<double, 3>{0.03, 0.0, 9.81});
  CHECK(sample->angular_velocity_radps[2] == doctest::Approx(M_PI / 2));
  CHECK(sample->quaternion_wxyz == std::array<double, 4>{1.0, 0.0, 0.0, 0.0});
  CHECK_FALSE(bno055::decode_sample(hex("0000")));
}

TEST_CASE("requests and responses of the serial port are the documented bytes, cut anywhere") {
  std::vector<std::byte> out;
  bno055::append_read(0x08, 32, out);
  bno055::append_write(0x3D, hex("08"), out);
  CHECK(to_hex(out) == "aa010820aa003d0108");
  const auto stream = hex("00 ee01 bb02 1234 ff ee07 bb00 bb01 a0");
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    bno055::ResponseReader reader;
    std::string found;
    for (const Bytes part : {Bytes(stream).first(cut), Bytes(stream).subspan(cut)}) {
      reader.push(part);
      while (const auto response = reader.next()) {
        found += response->is_data ? "data " + to_hex(response->data) + ", " : "status " + std::to_string(response->status) + ", ";
      }
    }
    REQUIRE(found == "status 1, data 1234, status 7, data a0, ");
    REQUIRE(reader.dropped_bytes() == 4);
  }
  CHECK(bno055::error_text(7) == "bus overrun");
  CHECK(bno055::error_text(99) == "status 99");
}

TEST_CASE("samples that cannot be are spikes, a jump that stays is believed, equal ones are a frozen sensor") {
  SampleGate gate;
  auto sample = *bno055::decode_sample(sample_bytes(1));
  CHECK(gate.judge(sample) == SampleGate::Verdict::kGood);
  auto broken = sample;
  broken.quaternion_wxyz = {0.9, 0.0, 0.0, 0.0};
  CHECK(gate.judge(broken) == SampleGate::Verdict::kSpike);
  auto jump = sample;
  jump.linear_acceleration_mps2[0] = -120.0;
  CHECK(gate.judge(jump) == SampleGate::Verdict::kSpike);
  CHECK(gate.judge(sample) == SampleGate::Verdict::kGood);
  CHECK(gate.judge(jump) == SampleGate::Verdict::kSpike);
  CHECK(gate.judge(jump) == SampleGate::Verdict::kSpike);
  CHECK(gate.judge(jump) == SampleGate::Verdict::kGood);
  gate.reset();
  for (int i = 0; i < 49; ++i) {
    CHECK(gate.judge(sample) == SampleGate::Verdict::kGood);
  }
  CHECK(gate.judge(sample) == SampleGate::Verdict::kFrozen);
  sample.linear_acceleration_mps2[1] += 0.01;
  CHECK(gate.judge(sample) == SampleGate::Verdict::kGood);
}

TEST_CASE("the serial dialogue sets mode IMU and SI units, waits as long as the modes take, then samples at its rate") {
  Bno055Session session;
  Line line(session);
  FakeBno sensor(line);
  line.start();
  line.run(from_milliseconds(1'060));
  REQUIRE(sensor.log.size() > 100);
  CHECK(std::vector<std::string>(sensor.log.begin(), sensor.log.begin() + 5) ==
        std::vector<std::string>{"aa003d0100", "aa010001", "aa003b0100", "aa003d0108", "aa010820"});
  CHECK(sensor.log.size() == doctest::Approx(5 + 101).epsilon(0.03));
  CHECK(sensor.at[1] - sensor.at[0] == from_milliseconds(4 + 19));
  CHECK(sensor.at[4] - sensor.at[3] == from_milliseconds(4 + 7));
  CHECK(session.phase() == Phase::kRunning);
  const auto imu = session.next_imu();
  REQUIRE(imu);
  CHECK(imu->value.linear_acceleration_mps2[2] == 9.81);
  CHECK(imu->arrival - imu->stamp == from_milliseconds(2));
}

TEST_CASE("bus overruns are routine, silence and a frozen sensor ask for a new connection, another chip is refused") {
  Bno055Session session;
  Line line(session);
  FakeBno sensor(line);
  line.start();
  line.run(from_milliseconds(200));
  sensor.overruns = 3;
  line.run(from_milliseconds(100));
  CHECK(session.phase() == Phase::kRunning);
  CHECK(session.counters().rejected == 3);
  sensor.mute = true;
  line.run(from_milliseconds(170));
  CHECK(session.phase() == Phase::kSilent);
  line.run(from_milliseconds(400));
  CHECK(session.phase() == Phase::kReconnect);
  sensor.mute = false;
  sensor.frozen = true;
  line.start();
  line.run(from_milliseconds(900));
  CHECK(session.phase() == Phase::kReconnect);
  sensor.identity = "bb01a1";
  line.start();
  line.run(from_milliseconds(900));
  CHECK(session.phase() == Phase::kRefused);
  Bno055Session alone;
  Line dead(alone);
  dead.start();
  dead.run(from_milliseconds(6'000));
  CHECK(alone.phase() == Phase::kReconnect);
}

TEST_CASE("what is no I2C adapter is refused by name") {
  CHECK(open_i2c("/dev/i2c-99", 0x28).error().message == "/dev/i2c-99: No such file or directory");
  CHECK(open_i2c("/dev/null", 0x28).error().message == "/dev/null is no I2C adapter");
}

TEST_CASE("over a register bus the same: identity, units, mode, samples; errors name the bus") {
  FakeBus bus;
  bno055::BusDevice device(bus);
  std::vector<std::int64_t> waits;
  for (auto progress = device.configure(); progress && !progress->running; progress = device.configure()) {
    waits.push_back(progress->wait.ns / 1'000'000);
  }
  CHECK(bus.writes == std::vector<std::string>{"3d:00", "3b:00", "3d:08"});
  CHECK(waits == std::vector<std::int64_t>{19, 0, 0, 7});
  const auto sample = device.read();
  REQUIRE(sample);
  REQUIRE(sample->has_value());
  CHECK((*sample)->linear_acceleration_mps2[2] == 9.81);
  bus.spike = true;
  const auto spiked = device.read();
  REQUIRE(spiked);
  CHECK_FALSE(spiked->has_value());
  bus.fails = true;
  CHECK(device.read().error().message == "I2C: no acknowledge");
  FakeBus wrong;
  wrong.identity = std::byte{0xA1};
  bno055::BusDevice other(wrong);
  (void)other.configure();
  CHECK(other.configure().error().message == "register 0 reads 161, a BNO055 has 160");
}

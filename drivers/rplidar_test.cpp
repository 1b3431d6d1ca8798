// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/math.hpp"
#include "drivers/rplidar_session.hpp"
#include "drivers/test_line.hpp"
#include "drivers/test_turning.hpp"

using namespace pitwall;
using namespace pitwall::drivers;
using namespace pitwall::drivers::test;

namespace {

std::vector<rplidar::Point> points_of(rplidar::AnswerType type, const std::vector<std::vector<std::byte>>& packets) {
  rplidar::PointDecoder decoder;
  std::vector<rplidar::Point> points;
  for (const auto& packet : packets) {
    decoder.decode({type, packet}, points);
  }
  return points;
}

// Packets in a stream of bytes that begins with its descriptor.
std::vector<std::string> packets_of(Bytes stream, std::size_t cut) {
  rplidar::PacketReader reader;
  std::vector<std::string> found;
  for (const Bytes part : {stream.first(cut), stream.subspan(cut)}) {
    reader.push(part);
    while (const auto packet = reader.next()) {
      found.push_back(to_hex(packet->data));
    }
  }
  return found;
}

}  // namespace

TEST_CASE("RPLIDAR requests are the documented bytes") {
  std::vector<std::byte> out;
  rplidar::append_request(rplidar::Command::kStop, {}, out);
  rplidar::append_request(rplidar::Command::kInfo, {}, out);
  CHECK(to_hex(out) == "a525a550");
  out.clear();
  rplidar::append_express_request(0, out);
  CHECK(to_hex(out) == "a58205000000000022");
  out.clear();
  rplidar::append_request(rplidar::Command::kMotorPwm, hex("9402"), out);
  CHECK(to_hex(out) == "a5f0029402c1");
  out.clear();
  rplidar::append_configuration_request(rplidar::kMicrosecondsPerSample, 3, out);
  CHECK(to_hex(out) == "a5840671000000030055");
}

TEST_CASE("RPLIDAR answers of one packet are read") {
  const auto stream = hex("a55a1400000004 18 1d 01 07 000102030405060708090a0b0c0d0e0f a55a0300000006 02 0180 a55a0400000015 f401 fa00");
  rplidar::PacketReader reader;
  reader.push(stream);
  const auto info = rplidar::decode_info(*reader.next());
  REQUIRE(info);
  CHECK(info->model == 0x18);
  CHECK(info->firmware_major == 1);
  CHECK(info->firmware_minor == 0x1D);
  CHECK(info->hardware == 7);
  CHECK(info->serial == "000102030405060708090A0B0C0D0E0F");
  const auto health = rplidar::decode_health(*reader.next());
  REQUIRE(health);
  CHECK(health->status == 2);
  CHECK(health->code == 0x8001);
  const auto rate = rplidar::decode_sample_rate(*reader.next());
  REQUIRE(rate);
  CHECK(rate->standard_us == 500);
  CHECK(rate->express_us == 250);
  CHECK_FALSE(reader.next());
}

TEST_CASE("a standard point is its quality, angle and distance") {
  // S = 1, quality 15; 90.5 deg; 1000.25 mm.
  const auto points = points_of(rplidar::AnswerType::kStandard, {standard_packet(true, 15, 90.5, 1000.25)});
  REQUIRE(points.size() == 1);
  CHECK(points[0].clockwise_rad == doctest::Approx(90.5 * math::kDegree));
  CHECK(points[0].distance_m == doctest::Approx(1.00025));
  CHECK(points[0].quality == 15);
}

TEST_CASE("the angle correction of an express point is unsigned: 63/8 degrees, not -1/8") {
  std::vector<std::array<ExpressPoint, 32>> capsules(2);
  for (std::size_t i = 0; i < 32; ++i) {
    capsules[0][i] = {static_cast<unsigned>(1000 + i), static_cast<unsigned>(2 * i + 1)};
  }
  const auto points =
      points_of(rplidar::AnswerType::kExpress, {express_packet(10.0, true, capsules[0]), express_packet(42.0, false, capsules[1])});
  REQUIRE(points.size() == 32);
  for (std::size_t i = 0; i < 32; ++i) {
    const auto k = static_cast<double>(i);
    CHECK(points[i].distance_m == doctest::Approx((1000.0 + k) * 1e-3));
    CHECK(points[i].clockwise_rad == doctest::Approx((10.0 + k - (2.0 * k + 1.0) / 8.0) * math::kDegree));
  }
}

TEST_CASE("dense and ultra-dense points lie evenly between two capsules, over 360 degrees too") {
  std::vector<unsigned> mm;
  for (unsigned i = 0; i < 40; ++i) {
    mm.push_back(100 + 1000 * i);
  }
  const auto dense = points_of(rplidar::AnswerType::kDense, {dense_packet(350.0, false, mm), dense_packet(10.0, false, mm)});
  REQUIRE(dense.size() == 40);
  CHECK(dense[0].clockwise_rad == doctest::Approx(350.0 * math::kDegree));
  CHECK(dense[39].clockwise_rad == doctest::Approx(369.5 * math::kDegree));
  CHECK(dense[39].distance_m == doctest::Approx(39.1));

  // Both ends of each scale: 10, 11, 12 and 13 bits of 2, 3, 4 and 5 mm.
  std::vector<std::pair<unsigned, unsigned>> coded{{0U, 0U}, {1023U, 0U}, {0U, 1U}, {2047U, 1U},
                                                   {0U, 2U}, {4095U, 2U}, {0U, 3U}, {8191U, 3U}};
  const std::vector<double> expected{0, 2046, 2046, 8187, 8187, 24567, 24567, 65522};
  coded.resize(64, {500U, 0U});
  const auto ultra = points_of(rplidar::AnswerType::kUltraDense, {ultra_dense_packet(0.0, coded), ultra_dense_packet(32.0, coded)});
  REQUIRE(ultra.size() == 64);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(ultra[i].distance_m == doctest::Approx(expected[i] * 1e-3));
  }
  CHECK(ultra[63].clockwise_rad == doctest::Approx(31.5 * math::kDegree));
}

TEST_CASE("ultra points: coarser with distance, neighbours as differences, their ends mean nothing measured") {
  std::vector<UltraWord> words(32, UltraWord{600U, 0, 0});
  words[0] = {511U, 5, -5};       // 511 mm, shift 0; the word after it 600: 688 mm, shift 1
  words[2] = {1792U, 511, -512};  // 4096 mm; both differences void
  words[3] = {3328U, 2, 3};       // 16384 mm, shift 4
  words[5] = {0U, 7, 0};          // nothing measured: the difference is to the next word
  const auto points = points_of(rplidar::AnswerType::kUltra, {ultra_packet(0.0, words), ultra_packet(48.0, words)});
  REQUIRE(points.size() == 96);
  const auto mm = [&](std::size_t i) { return points[i].distance_m * 1e3; };
  CHECK(mm(0) == doctest::Approx(511));
  CHECK(mm(1) == doctest::Approx(516));
  CHECK(mm(2) == doctest::Approx(688 - 5 * 2));
  CHECK(mm(3) == doctest::Approx(688));
  CHECK(mm(6) == doctest::Approx(4096));
  CHECK(mm(7) == 0.0);
  CHECK(mm(8) == 0.0);
  CHECK(mm(9) == doctest::Approx(16384));
  CHECK(mm(10) == doctest::Approx(16384 + 2 * 16));
  CHECK(mm(11) == doctest::Approx(688 + 3 * 2));
  CHECK(mm(15) == 0.0);
  CHECK(mm(16) == doctest::Approx(688 + 7 * 2));
  // Far away the bearing is 8 degrees behind the encoder, near by less.
  const double behind = 4.5 - points[9].clockwise_rad / math::kDegree;
  CHECK(behind == doctest::Approx(8.0 - 98361.0 / (4 * 16384) / 1024 / math::kDegree).epsilon(1e-4));
  CHECK(points[95].distance_m > 0.0);
}

TEST_CASE("capsules that do not follow each other make no points") {
  const std::vector<unsigned> mm(40, 1000);
  rplidar::PointDecoder decoder;
  std::vector<rplidar::Point> points;
  const auto feed = [&](double deg, bool first, bool after_loss) {
    const auto packet = dense_packet(deg, first, mm);
    points.clear();
    decoder.decode({rplidar::AnswerType::kDense, packet, after_loss}, points);
    return points.size();
  };
  CHECK(feed(0.0, true, false) == 0);
  CHECK(feed(20.0, false, false) == 40);
  CHECK(feed(60.0, false, true) == 0);  // one was lost in between
  CHECK(feed(80.0, false, false) == 40);
  CHECK(feed(100.0, true, false) == 0);  // the encoder was reset
  CHECK(feed(300.0, false, false) == 0);
}

TEST_CASE("a stream of packets is the same however it is cut; a damaged capsule costs itself only") {
  const std::vector<unsigned> mm(40, 1234);
  auto stream = hex("a55a5400004085");
  std::vector<std::string> expected;
  for (int i = 0; i < 6; ++i) {
    const auto packet = dense_packet(20.0 * i, i == 0, mm);
    expected.push_back(to_hex(packet));
    append(stream, packet);
  }
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    REQUIRE(packets_of(stream, cut) == expected);
  }
  for (std::size_t i = 7; i < 7 + 84 * 5; ++i) {
    for (const unsigned flip : {0x01U, 0x10U, 0x80U, 0xFFU}) {
      auto damaged = stream;
      damaged[i] ^= static_cast<std::byte>(flip);
      const auto found = packets_of(damaged, damaged.size());
      for (const std::string& packet : found) {
        REQUIRE(std::find(expected.begin(), expected.end(), packet) != expected.end());
      }
      REQUIRE(found.size() == 5);
    }
  }
}

TEST_CASE("standard packets are found again after lost bytes") {
  auto stream = hex("a55a0500004081");
  std::vector<std::string> sent;
  for (int i = 0; i < 200; ++i) {
    sent.push_back(to_hex(standard_packet(i == 0, 10, i, 2000.0)));
    append(stream, hex(sent.back()));
  }
  std::ptrdiff_t wrong = 0;
  for (std::size_t lost = 7; lost < 600; ++lost) {
    auto damaged = stream;
    damaged.erase(damaged.begin() + static_cast<std::ptrdiff_t>(lost));
    const auto found = packets_of(damaged, damaged.size());
    REQUIRE(found.size() >= 195);
    wrong += std::count_if(found.begin(), found.end(),
                           [&](const auto& packet) { return std::find(sent.begin(), sent.end(), packet) == sent.end(); });
    REQUIRE(found.back() == to_hex(standard_packet(false, 10, 197, 2000.0)));  // the last two have too few behind them yet
  }
  CHECK(wrong == 0);  // though this format has no sum
}

namespace {

// An RPLIDAR in dense mode.
struct FakeRplidar {
  explicit FakeRplidar(Line& to) : line(to) {
    line.device = [this](Bytes bytes) { answer(to_hex(bytes)); };
  }
  void answer(const std::string& sent) {
    log.push_back(sent);
    if (sent == "a550") {
      line.reply(hex("a55a1400000004 " + model + " 1d 01 07 000102030405060708090a0b0c0d0e0f"));
    } else if (sent == "a552") {
      line.reply(hex("a55a0300000006 " + health));
      health = health_after;
    } else if (sent == "a559") {
      line.reply(hex("a55a0400000015 f401 fa00"));
    } else if (sent == "a584047c00000059") {
      line.reply(hex("a55a0600000020 7c000000 0300"));
    } else if (sent == "a5840671000000030055") {
      line.reply(hex("a55a0800000020 71000000 007d0000"));  // 125 us
    } else if (sent.find("a582") != std::string::npos && express) {
      line.reply(hex("a55a5400004085"));
      scanning = true;
    } else if (sent.find("a520") != std::string::npos) {
      line.reply(hex("a55a0500004081"));
      scanning = true;
    }
  }
  // Ten turns a second of 800 points.
  void run(int capsules) {
    for (int i = 0; i < capsules; ++i) {
      const std::vector<unsigned> mm(40, 2000);
      line.reply(dense_packet(std::fmod(18.0 * count, 360.0), count == 0, mm));
      ++count;
      line.run(from_milliseconds(5));
    }
  }
  Line& line;
  std::string model = "71";
  std::string health = "00 0000";
  std::string health_after = "00 0000";
  bool express = true;
  bool scanning = false;
  int count = 0;
  std::vector<std::string> log;
};

}  // namespace

TEST_CASE("the dialogue with an RPLIDAR ends in scans in its typical mode") {
  RplidarSession session;
  Line line(session);
  FakeRplidar sensor(line);
  line.start();
  line.run(from_milliseconds(100));
  CHECK(sensor.scanning);
  CHECK(sensor.log[0] == "a525");
  CHECK(sensor.log.back().find("a58205030000000021") != std::string::npos);
  sensor.run(60);
  CHECK(session.phase() == Phase::kRunning);
  int scans = 0;
  Time last{};
  while (const auto scan = session.next_scan()) {
    CHECK(scan->stamp <= scan->arrival);
    CHECK(scan->arrival - scan->stamp < from_milliseconds(15));
    CHECK(std::count(scan->value.ranges.begin(), scan->value.ranges.end(), 2.0F) == 720);
    CHECK((scans == 0 || std::abs((scan->stamp - last).seconds() - 0.1) < 2e-3));
    last = scan->stamp;
    ++scans;
  }
  CHECK(scans == 2);
  session.stop();
  line.run(from_milliseconds(1));
  CHECK(sensor.log.back().find("a525") == 0);
  line.run(from_milliseconds(250));
  CHECK(session.phase() == Phase::kSilent);
  line.run(from_milliseconds(1'000));
  CHECK(session.phase() == Phase::kReconnect);
}

TEST_CASE("a health error is met with one reset; one that stays is refused in words") {
  for (const bool stays : {false, true}) {
    RplidarSession session;
    Line line(session);
    FakeRplidar sensor(line);
    sensor.health = "02 0180";
    sensor.health_after = stays ? "02 0180" : "00 0000";
    line.start();
    line.run(from_milliseconds(2'500));
    CHECK(std::count(sensor.log.begin(), sensor.log.end(), "a540") == 1);
    CHECK(session.phase() == (stays ? Phase::kRefused : Phase::kIdentifying));
    CHECK(sensor.scanning == !stays);
  }
}

TEST_CASE("a sensor that knows no express scan is run in the standard one; silence names the baud rates") {
  RplidarSession session({.motor_pwm = 660});
  Line line(session);
  FakeRplidar sensor(line);
  sensor.model = "18";
  sensor.express = false;
  line.start();
  line.run(from_milliseconds(4'000));
  CHECK(sensor.scanning);
  CHECK(sensor.log.back().find("a5f0029402c1") == 0);
  for (int i = 0; i < 3 * 360; ++i) {
    line.reply(standard_packet(i % 360 == 0, 20, i % 360, 1500.0));
    line.run(Duration{500'000});
  }
  CHECK(session.phase() == Phase::kRunning);
  REQUIRE(session.next_scan());

  RplidarSession lonely;
  Line silent(lonely);
  silent.start();
  silent.run(from_milliseconds(3'000));
  CHECK(lonely.phase() == Phase::kReconnect);
  CHECK(lonely.status().find("baud rate") != std::string::npos);
}

// SPDX-License-Identifier: Apache-2.0
#include "drivers/scip_session.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "drivers/test_line.hpp"
#include "drivers/test_scip.hpp"

using namespace pitwall;
using namespace pitwall::drivers;
using namespace pitwall::drivers::test;

namespace {

// A UST-10LX on the made-up line: its clock, its time mode and its stream.
struct FakeUst {
  explicit FakeUst(Line& to) : line(to) {
    line.device = [this](Bytes bytes) { read(bytes); };
  }

  [[nodiscard]] std::uint32_t clock_at(Time host) const {
    const double ms_since = (host - boot).seconds() * 1e3 * (1.0 + drift);
    return static_cast<std::uint32_t>(static_cast<std::int64_t>(std::floor(ms_since)) & 0xFFFFFF);
  }
  void read(Bytes bytes) {
    for (const char c : text_of(bytes)) {
      if (c != '\n') {
        request += c;
        continue;
      }
      requests.push_back(request);
      answer(request);
      request.clear();
    }
  }
  void answer(const std::string& asked) {
    if (mute) {
      return;
    }
    const std::string head = asked + "\n00P\n";
    if (asked == "PP") {
      line.reply(pp_reply(rpm));
    } else if (asked == "VV") {
      line.reply(head + info_line("VEND:Hokuyo") + info_line("PROT:SCIP 2.2") + info_line("SERI:H1;2") + "\n");
    } else if (asked == "II") {
      line.reply(head + info_line("STAT:Stable 000 no error") + info_line("MESM:Idle") + "\n");
    } else if (asked == "TM1") {
      line.reply(head + with_sum(scip::encode_characters(clock_at(line.now + from_milliseconds(1)), 4)) + "\n\n", from_milliseconds(2));
    } else {
      line.reply(head + "\n");
    }
    if (asked.substr(0, 2) == "MD") {
      stream = asked;
    }
  }
  // One turn: measured in 25 ms, sent `late` after its last step.
  void turn(Duration late = from_milliseconds(1), int values = 1081) {
    scip::ScanRequest scan;
    scan.last_step = 1080;
    const Time begin = line.now;
    const std::vector<std::uint32_t> ranges(static_cast<std::size_t>(values), 1234);
    line.reply(scan_reply(scan, clock_at(begin), ranges), from_seconds(0.025 * 1080 / 1440) + late);
    line.run(from_milliseconds(25));
  }

  Line& line;
  Time boot = ms(990'000);
  double drift = 0.0;
  bool mute = false;
  int rpm = 2400;
  std::string request;
  std::string stream;
  std::vector<std::string> requests;
};

}  // namespace

TEST_CASE("the dialogue with a Hokuyo is QT, VV, PP, II, clock pairs, MD, and then scans") {
  ScipSession session({.clock_pairs = 3});
  Line line(session);
  FakeUst sensor(line);
  line.start();
  line.run(from_milliseconds(400));
  CHECK(sensor.requests == std::vector<std::string>{"QT", "VV", "PP", "II", "TM0", "TM1", "TM1", "TM1", "TM2", "MD0000108001000"});
  CHECK(session.phase() == Phase::kIdentifying);
  CHECK(session.version().find("SERI") == "H1;2");
  CHECK(session.state().find("STAT") == "Stable 000 no error");
  const Time begin = line.now;
  sensor.turn();
  CHECK(session.phase() == Phase::kRunning);
  const auto scan = session.next_scan();
  REQUIRE(scan);
  CHECK(scan->sequence == 1);
  CHECK(scan->value.ranges.size() == 1081);
  CHECK(scan->value.stamp == scan->stamp);
  CHECK(scan->stamp <= scan->arrival);
  CHECK(std::abs((scan->stamp - begin).seconds()) < 1.6e-3);  // a clock of 1 ms, pairs 2 ms apart
  CHECK_FALSE(session.next_scan());
  session.stop();
  line.run(from_milliseconds(1));
  CHECK(sensor.requests.back() == "QT");
}

TEST_CASE("a field of view, clusters and skipped scans are asked of the sensor") {
  ScipSession session({.min_angle_rad = -M_PI / 2, .max_angle_rad = M_PI / 2, .cluster = 2, .skip = 1, .clock_pairs = 0});
  Line line(session);
  FakeUst sensor(line);
  line.start();
  line.run(from_milliseconds(400));
  CHECK(sensor.requests.back() == "MD0180090002100");
  ScipSession nowhere({.min_angle_rad = 3.0, .max_angle_rad = 3.1});
  Line other(nowhere);
  FakeUst other_sensor(other);
  other.start();
  other.run(from_milliseconds(400));
  CHECK(nowhere.phase() == Phase::kRefused);
}

TEST_CASE("scans still queued from an earlier program are drained, not taken for answers") {
  ScipSession session({.clock_pairs = 0});
  Line line(session);
  FakeUst sensor(line);
  scip::ScanRequest old;
  old.last_step = 1080;
  for (int i = 0; i < 4; ++i) {
    line.reply(scan_reply(old, 7, std::vector<std::uint32_t>(1081, 999)), from_milliseconds(20 * i + 5));
  }
  line.start();
  line.run(from_milliseconds(120));
  CHECK(sensor.requests == std::vector<std::string>{"QT"});
  line.run(from_milliseconds(300));
  CHECK(sensor.requests.back() == "MD0000108001000");
  CHECK_FALSE(session.next_scan());
  CHECK(session.counters().ignored == 4);
}

TEST_CASE("a sensor that accepts the connection and still boots is waited for") {
  ScipSession session;
  Line line(session);
  FakeUst sensor(line);
  sensor.mute = true;
  line.start();
  line.run(from_milliseconds(6'000));
  CHECK(session.phase() == Phase::kIdentifying);
  CHECK(session.status().find("does not answer yet") != std::string::npos);
  sensor.mute = false;
  line.run(from_milliseconds(2'000));
  CHECK(sensor.stream == "MD0000108001000");
  sensor.mute = true;
  ScipSession never;
  Line dead(never);
  dead.start();
  dead.run(from_milliseconds(16'000));
  CHECK(never.phase() == Phase::kReconnect);
}

TEST_CASE("a bad sum or a short scan costs that scan; 75 ms of silence are told, 0.5 s ask for a new connection") {
  ScipSession session;
  Line line(session);
  FakeUst sensor(line);
  line.start();
  line.run(from_milliseconds(500));
  sensor.turn();
  REQUIRE(session.next_scan());
  sensor.turn(from_milliseconds(1), 1078);
  CHECK_FALSE(session.next_scan());
  CHECK(session.counters().rejected == 1);
  sensor.turn();
  REQUIRE(session.next_scan());
  CHECK(session.phase() == Phase::kRunning);
  CHECK(std::count(sensor.requests.begin(), sensor.requests.end(), "QT") == 1);
  line.run(from_milliseconds(60));
  CHECK(session.phase() == Phase::kRunning);
  line.run(from_milliseconds(20));
  CHECK(session.phase() == Phase::kSilent);
  sensor.turn();
  CHECK(session.phase() == Phase::kRunning);
  line.run(from_milliseconds(510));
  CHECK(session.phase() == Phase::kReconnect);
  line.start();
  CHECK(session.phase() == Phase::kIdentifying);
  line.run(from_milliseconds(500));
  sensor.turn();
  const auto scan = session.next_scan();
  REQUIRE(scan);
  CHECK(session.phase() == Phase::kRunning);
  CHECK(session.counters().starts == 2);
}

TEST_CASE("whichever byte of a scan is wrong, it costs that scan: those before and behind it come, and the stream goes on") {
  const double field_rad = 12 * 2.0 * M_PI / 1440.0;
  ScipSession session({.min_angle_rad = -field_rad, .max_angle_rad = field_rad, .clock_pairs = 0});
  Line line(session);
  FakeUst sensor(line);
  line.start();
  line.run(from_milliseconds(500));
  REQUIRE(sensor.stream == "MD0528055201000");
  scip::ScanRequest asked;
  asked.first_step = 528;
  asked.last_step = 552;
  const auto scan = [&](std::uint32_t mm) {
    const std::uint32_t time_ms = sensor.clock_at(line.now);
    line.run(from_milliseconds(25));
    return scan_reply(asked, time_ms, std::vector<std::uint32_t>(25, mm));
  };
  const auto came = [&] {
    std::string ranges;
    while (const auto got = session.next_scan()) {
      ranges += std::to_string(std::lround(1e3 * static_cast<double>(got->value.ranges[12]))) + " ";
    }
    return ranges;
  };
  session.receive(bytes_of(scan(999)), line.now);
  REQUIRE(came() == "999 ");
  const std::size_t size = scan(1).size();
  for (std::size_t at = 0; at < size; ++at) {
    for (int mask = 1; mask < 256; ++mask) {
      std::string text = scan(1000) + scan(2000);
      text[text.size() - size + at] = static_cast<char>(static_cast<unsigned char>(text[text.size() - size + at]) ^ mask);
      text += scan(3000);
      session.receive(bytes_of(text), line.now);
      const std::string ranges = came();
      CAPTURE(at);
      CAPTURE(mask);
      // A wrong digit of "scans remaining" harms nothing, and carriage returns count as line ends.
      REQUIRE((ranges == "1000 3000 " || ranges == "1000 2000 3000 "));
      REQUIRE(session.phase() == Phase::kRunning);
    }
  }
  CHECK(session.counters().starts == 1);
  CHECK(session.counters().device_restarts == 0);
}

TEST_CASE("a first scan that began before the clock was asked is no restart") {
  ScipSession session;
  Line line(session);
  FakeUst sensor(line);
  line.start();
  while (sensor.stream.empty()) {
    line.run(from_milliseconds(1));
  }
  // Its turn had begun 26 ms before the stream was asked for, and is over now.
  scip::ScanRequest asked;
  asked.last_step = 1080;
  line.reply(scan_reply(asked, sensor.clock_at(line.now - from_milliseconds(26)), std::vector<std::uint32_t>(1081, 1234)),
             from_milliseconds(2));
  line.run(from_milliseconds(5));
  const auto scan = session.next_scan();
  REQUIRE(scan);
  CHECK(session.counters().device_restarts == 0);
  CHECK(session.clock().offset_uncertainty().has_value());
}

TEST_CASE("a sensor of 10 Hz is not silent between its scans") {
  ScipSession session({.clock_pairs = 0});
  Line line(session);
  FakeUst sensor(line);
  sensor.rpm = 600;
  line.start();
  line.run(from_milliseconds(500));
  for (int i = 0; i < 5; ++i) {
    sensor.turn();
    CHECK(session.phase() == Phase::kRunning);
    line.run(from_milliseconds(75));
    CHECK(session.phase() == Phase::kRunning);
  }
  line.run(from_milliseconds(300));
  CHECK(session.phase() == Phase::kSilent);
  line.run(from_milliseconds(300));
  CHECK(session.phase() == Phase::kReconnect);
}

TEST_CASE("a status that ends the stream is told in words and asks for a new connection") {
  ScipSession session;
  Line line(session);
  FakeUst sensor(line);
  line.start();
  line.run(from_milliseconds(500));
  sensor.turn();
  line.reply("MD0000108001000\n" + with_sum("0L") + "\n\n");
  line.run(from_milliseconds(5));
  CHECK(session.phase() == Phase::kReconnect);
  CHECK(session.status().find("status 0L: abnormal state") != std::string::npos);
  CHECK(sensor.requests.back() == "QT");
}

TEST_CASE("stamps stay within a millisecond and a half over minutes of drift, and are never in the future") {
  for (const double drift : {100e-6, -100e-6}) {
    ScipSession session;
    Line line(session);
    FakeUst sensor(line);
    sensor.drift = drift;
    sensor.boot = line.now - from_seconds(16777.216 - 60.0);  // wraps after a minute
    line.start();
    line.run(from_milliseconds(500));
    double worst = 0.0;
    for (int i = 0; i < 4'000; ++i) {
      const Time begin = line.now;
      sensor.turn(Duration{static_cast<std::int64_t>(200'000 + (i * 7919LL) % 1'700'000)});
      const auto scan = session.next_scan();
      REQUIRE(scan);
      REQUIRE(scan->stamp <= scan->arrival);
      worst = std::max(worst, std::abs((scan->stamp - begin).seconds()));
    }
    CHECK(worst < 1.5e-3);
    CHECK(session.counters().device_restarts == 0);
    CHECK(session.clock().drift() == doctest::Approx(drift).epsilon(0.05).scale(1e-4));
  }
}

TEST_CASE("a sensor that starts again shows as a restart, and its stamps are good from then on") {
  ScipSession session;
  Line line(session);
  FakeUst sensor(line);
  line.start();
  line.run(from_milliseconds(500));
  for (int i = 0; i < 100; ++i) {
    sensor.turn();
  }
  sensor.boot = line.now;
  for (int i = 0; i < 10; ++i) {
    while (session.next_scan()) {
    }
    const Time begin = line.now;
    sensor.turn();
    const auto scan = session.next_scan();
    REQUIRE(scan);
    CHECK(scan->stamp <= scan->arrival);
    CHECK(std::abs((scan->stamp - begin).seconds()) < 2.5e-3);
  }
  CHECK(session.counters().device_restarts == 1);
}

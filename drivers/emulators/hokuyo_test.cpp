// SPDX-License-Identifier: Apache-2.0
// SCIP as drivers.md section 2 has it, on an injected clock.
#include "drivers/emulators/hokuyo.hpp"

#include <doctest/doctest.h>

#include "core/text.hpp"
#include "drivers/emulators/scip_text.hpp"
#include "drivers/emulators/test_hex.hpp"

namespace pitwall::emulators {
namespace {

std::string asked(Hokuyo& lidar, Time now, std::string_view line) {
  (void)lidar.take();
  lidar.receive(now, bytes_of_text(line));
  return text_of(lidar);
}

/// Value of that many characters.
std::uint32_t decoded(std::string_view text) {
  std::uint32_t value = 0;
  for (const char c : text) value = value << 6 | static_cast<std::uint32_t>(c - 0x30);
  return value;
}

struct Scan {
  std::string echo;
  std::string status;
  std::uint32_t stamp_ms = 0;
  std::vector<std::uint32_t> values;
  bool sums_right = true;
};

/// One message of a stream, read as the document describes it.
Scan scan_of(const std::string& message, std::size_t digits = 3) {
  const std::vector<std::string_view> lines = split(message, '\n');
  Scan scan;
  REQUIRE(lines.size() >= 4);
  scan.echo = lines[0];
  scan.status = lines[1];
  std::string block;
  for (std::size_t i = 2; i < lines.size() && !lines[i].empty(); ++i) {
    const std::string_view data = lines[i].substr(0, lines[i].size() - 1);
    scan.sums_right = scan.sums_right && scip_sum(data) == lines[i].back();
    CHECK(data.size() <= 64);
    if (i == 2) {
      scan.stamp_ms = decoded(data);
    } else {
      block += data;
    }
  }
  REQUIRE(block.size() % digits == 0);
  for (std::size_t at = 0; at < block.size(); at += digits) scan.values.push_back(decoded(std::string_view(block).substr(at, digits)));
  return scan;
}

/// The next message that says 99.
std::string next_scan(Hokuyo& lidar, Time now) {
  (void)lidar.take();
  lidar.advance(now);
  const std::vector<Bytes> messages = lidar.take();
  REQUIRE_FALSE(messages.empty());
  return {messages.front().begin(), messages.front().end()};
}

std::vector<std::uint32_t> ramp() {
  std::vector<std::uint32_t> mm;
  for (int i = 0; i < Hokuyo::kSteps; ++i) mm.push_back(static_cast<std::uint32_t>(1000 + 7 * i));
  return mm;
}

HokuyoConfig driven() {
  HokuyoConfig config;
  config.own_turns = false;
  return config;
}

}  // namespace

TEST_CASE("sums of the document's examples") {
  CHECK(summed("00") == "00P");
  CHECK(summed("99") == "99b");
  CHECK(summed("0E") == "0Ee");
  CHECK(summed("02") == "02R");
  CHECK(summed("10") == "10Q");
}

TEST_CASE("PP has the entries of a UST-10LX with their sums") {
  Hokuyo lidar;
  CHECK(asked(lidar, at_ms(1), "PP\n") ==
        "PP\n00P\nMODL:UST-10LX;D\nDMIN:20;4\nDMAX:30000;G\nARES:1440;^\nAMIN:0;?\nAMAX:1080;Z\nAFRT:540;0\nSCAN:2400;U\n\n");
}

TEST_CASE("VV and II name the protocol, the state and the time") {
  Hokuyo lidar;
  CHECK(asked(lidar, at_ms(1), "VV\n").find("PROT:SCIP 2.2;P\n") != std::string::npos);
  const std::string idle = asked(lidar, at_ms(1234), "II\n");
  CHECK(idle.find("LASR:OFF;") != std::string::npos);
  CHECK(idle.find("MESM:Idle;") != std::string::npos);
  CHECK(idle.find("STAT:Stable 000 no error;") != std::string::npos);
  CHECK(decoded(std::string_view(idle).substr(idle.find("TIME:") + 5, 4)) == 1234);
}

TEST_CASE("line ends of both kinds, requests in pieces and two at once") {
  Hokuyo lidar;
  CHECK(asked(lidar, at_ms(1), "BM\r\n") == "BM\n00P\n\n");
  CHECK(asked(lidar, at_ms(1), "B").empty());
  CHECK(asked(lidar, at_ms(1), "M\r") == "BM\n02R\n\n");
  CHECK(asked(lidar, at_ms(1), "QT\nBM\n") == "QT\n00P\n\nBM\n00P\n\n");
  CHECK(asked(lidar, at_ms(1), "BM;my text\n") == "BM;my text\n02R\n\n");
  CHECK(asked(lidar, at_ms(1), "BM;seventeen letters\n").find("0Gg") != std::string::npos);
}

TEST_CASE("errors of parameters and unknown commands have their codes") {
  Hokuyo lidar;
  const auto status = [&](std::string_view line) { return asked(lidar, at_ms(1), std::string(line) + "\n").substr(line.size() + 1, 2); };
  CHECK(status("MD00x0108000000") == "01");
  CHECK(status("MD000010x000000") == "02");
  CHECK(status("MD000010800x000") == "03");
  CHECK(status("MD0000108100000") == "04");
  CHECK(status("MD0100000000000") == "05");
  CHECK(status("MD000010800x000") == "03");
  CHECK(status("MD0000108000x00") == "06");
  CHECK(status("MD00001080000x0") == "07");
  CHECK(status("MD000010800000") == "0C");
  CHECK(status("MD00001080000000") == "0D");
  CHECK(status("GD0000108000") == "10");
  CHECK(status("XX") == "0E");
  CHECK(status("HD0000108000000") == "0F");
  CHECK(status("SS115200") == "0F");
  CHECK_FALSE(lidar.streaming());
}

TEST_CASE("MD answers at once, and then every turn with all 1081 values in lines of 64") {
  Hokuyo lidar(driven());
  CHECK(asked(lidar, at_ms(100), "MD0000108000000\n") == "MD0000108000000\n00P\n\n");
  lidar.turn(at_ms(125), at_ms(105), ramp());
  const Scan scan = scan_of(text_of(lidar));
  CHECK(scan.echo == "MD0000108000000");
  CHECK(scan.status == "99b");
  CHECK(scan.stamp_ms == 105);
  CHECK(scan.sums_right);
  CHECK(scan.values == ramp());
}

TEST_CASE("a part, clusters and skipped turns") {
  Hokuyo lidar(driven());
  (void)asked(lidar, at_ms(1), "MD0540064010200\n");
  std::vector<std::int64_t> sent;
  Scan scan;
  for (int i = 0; i < 7; ++i) {
    lidar.turn(at_ms(25 * i), at_ms(25 * i), ramp());
    const std::string text = text_of(lidar);
    if (text.empty()) continue;
    sent.push_back(i);
    scan = scan_of(text);
  }
  CHECK(sent == std::vector<std::int64_t>{2, 5});
  // (640 - 540) / 10 + 1, each the least of its ten.
  REQUIRE(scan.values.size() == 11);
  for (std::size_t i = 0; i < 11; ++i) CHECK(scan.values[i] == ramp()[540 + 10 * i]);
}

TEST_CASE("a count of scans runs down in the echo and then ends the stream") {
  Hokuyo lidar(driven());
  (void)asked(lidar, at_ms(1), "MD0000108000003\n");
  std::vector<std::string> echoes;
  for (int i = 0; i < 5; ++i) {
    lidar.turn(at_ms(25 * i), at_ms(25 * i), ramp());
    const std::string text = text_of(lidar);
    if (!text.empty()) echoes.push_back(scan_of(text).echo);
  }
  CHECK(echoes == std::vector<std::string>{"MD0000108000002", "MD0000108000001", "MD0000108000000"});
  CHECK_FALSE(lidar.streaming());
}

TEST_CASE("ME pairs each distance with an intensity, MS has two characters and stops at 4095") {
  Hokuyo lidar(driven());
  (void)asked(lidar, at_ms(1), "ME0000108000000\n");
  lidar.turn(at_ms(25), at_ms(25), ramp());
  const std::string message = text_of(lidar);
  const Scan both = scan_of(message);
  REQUIRE(both.values.size() == 2 * 1081);
  CHECK(both.values[0] == 1000);
  CHECK(both.values[2160] == 1000 + 7 * 1080);
  (void)asked(lidar, at_ms(30), "MS0000108000000\n");
  lidar.turn(at_ms(50), at_ms(50), ramp());
  const Scan coarse = scan_of(text_of(lidar), 2);
  CHECK(coarse.values[0] == 1000);
  CHECK(coarse.values[1080] == 4095);
}

TEST_CASE("GD needs the laser on, and gives the latest scan once") {
  Hokuyo lidar;
  CHECK(asked(lidar, at_ms(30), "GD0000108000\n") == "GD0000108000\n10Q\n\n");
  (void)asked(lidar, at_ms(40), "BM\n");
  const Scan scan = scan_of(asked(lidar, at_ms(60), "GD0000108000\n"));
  CHECK(scan.status == "00P");
  CHECK(scan.values.size() == 1081);
  CHECK(scan.sums_right);
}

TEST_CASE("the room on the desk is seen 40 times a second, the wall ahead at step 540, the near one to the right") {
  Hokuyo lidar;
  (void)asked(lidar, at_ms(1), "MD0000108000000\n");
  lidar.advance(at_ms(1001));
  CHECK(lidar.take().size() == 40);
  const Scan scan = scan_of(next_scan(lidar, at_ms(1030)));
  CHECK(scan.values[540] == 3000);
  CHECK(scan.values[180] == 1000);  // -90 degrees
  CHECK(scan.values[900] == 1500);
}

TEST_CASE("time mode: 4 characters of ms, refused while streaming") {
  Hokuyo lidar;
  CHECK(asked(lidar, at_ms(10), "TM0\n") == "TM0\n00P\n\n");
  CHECK(asked(lidar, at_ms(10), "TM0\n") == "TM0\n02R\n\n");
  const std::string time = asked(lidar, at_ms(70000), "TM1\n");
  CHECK(time.starts_with("TM1\n00P\n"));
  CHECK(decoded(std::string_view(time).substr(8, 4)) == 70000);
  CHECK(scip_sum(std::string_view(time).substr(8, 4)) == time[12]);
  CHECK(asked(lidar, at_ms(70010), "MD0000108000000\n").find("10Q") != std::string::npos);
  CHECK(asked(lidar, at_ms(70010), "TM2\n") == "TM2\n00P\n\n");
  CHECK(asked(lidar, at_ms(70010), "TM2\n").find("03S") != std::string::npos);
  (void)asked(lidar, at_ms(70010), "MD0000108000000\n");
  CHECK(asked(lidar, at_ms(70010), "TM0\n").find("10Q") != std::string::npos);
}

TEST_CASE("the clock wraps at 2^24 ms, drifts, jumps, and begins again with RS and with power") {
  Hokuyo lidar;
  const auto clock = [&](std::int64_t ms) { return decoded(std::string_view(asked(lidar, at_ms(ms), "TM1\n")).substr(8, 4)); };
  CHECK(clock(5000) == 5000);
  turn(lidar, at_ms(5000), "wrap_in 2");
  CHECK(clock(6999) == (1U << 24) - 1);
  CHECK(clock(7000) == 0);
  CHECK(clock(7500) == 500);
  turn(lidar, at_ms(7500), "drift 1000");
  CHECK(clock(17500) == 10510);
  turn(lidar, at_ms(17500), "jump -3");
  CHECK(clock(17500) == 7510);
  turn(lidar, at_ms(17500), "drift 0");
  (void)asked(lidar, at_ms(17500), "RS\n");
  CHECK(clock(17600) == 100);
  lidar.restart(at_ms(20000));
  CHECK(clock(20007) == 7);
}

TEST_CASE("QT ends the stream and turns the laser off; so does the host that hangs up") {
  Hokuyo lidar;
  (void)asked(lidar, at_ms(1), "MD0000108000000\n");
  CHECK(lidar.laser_on());
  CHECK(asked(lidar, at_ms(10), "QT\n") == "QT\n00P\n\n");
  lidar.advance(at_ms(200));
  CHECK(lidar.take().empty());
  CHECK_FALSE(lidar.laser_on());
  (void)asked(lidar, at_ms(210), "MD0000108000000\n");
  lidar.closed(at_ms(220));
  lidar.advance(at_ms(400));
  CHECK(lidar.take().empty());
}

TEST_CASE("two RB within a second reboot it, and it is silent while it boots") {
  HokuyoConfig config;
  config.boot_s = 3.0;
  Hokuyo lidar(config);
  CHECK(asked(lidar, at_ms(2999), "VV\n").empty());
  CHECK_FALSE(asked(lidar, at_ms(3001), "VV\n").empty());
  CHECK(asked(lidar, at_ms(4000), "RB\n").find("01Q") != std::string::npos);
  CHECK(asked(lidar, at_ms(5500), "RB\n").find("01Q") != std::string::npos);
  CHECK(asked(lidar, at_ms(6000), "RB\n").find("00P") != std::string::npos);
  CHECK(asked(lidar, at_ms(8999), "VV\n").empty());
  CHECK_FALSE(asked(lidar, at_ms(9001), "VV\n").empty());
}

TEST_CASE("faults: short scans with right sums, codes of 1..19 mm, a status that ends the stream") {
  Hokuyo lidar;
  (void)asked(lidar, at_ms(1), "MD0000108000000\n");
  turn(lidar, at_ms(1), "short 1");
  const Scan cut = scan_of(next_scan(lidar, at_ms(30)));
  CHECK(cut.values.size() == 1078);
  CHECK(cut.sums_right);
  CHECK(scan_of(next_scan(lidar, at_ms(55))).values.size() == 1081);
  turn(lidar, at_ms(60), "err 0.25");
  const Scan coded = scan_of(next_scan(lidar, at_ms(80)));
  CHECK(std::count_if(coded.values.begin(), coded.values.end(), [](std::uint32_t mm) { return mm >= 1 && mm <= 19; }) == 270);
  turn(lidar, at_ms(90), "err 0");
  turn(lidar, at_ms(90), "status 23");
  CHECK(next_scan(lidar, at_ms(105)) == "MD0000108000000\n23U\n\n");
  CHECK_FALSE(lidar.streaming());
}

TEST_CASE("a sum that is made wrong is one of a data line") {
  Hokuyo lidar;
  (void)asked(lidar, at_ms(1), "MD0000108000000\n");
  const std::string good = next_scan(lidar, at_ms(30));
  Bytes bytes = bytes_of_text(good);
  lidar.spoil_sum(bytes);
  CHECK_FALSE(scan_of(std::string(bytes.begin(), bytes.end())).sums_right);
}

}  // namespace pitwall::emulators

// SPDX-License-Identifier: Apache-2.0
#include "drivers/scip.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "core/rng.hpp"
#include "drivers/test_bytes.hpp"
#include "drivers/test_scip.hpp"

using namespace pitwall;
using namespace pitwall::scip;
using namespace pitwall::drivers::test;

namespace {

std::vector<Reply> replies(ReplyReader& reader) {
  std::vector<Reply> found;
  while (auto reply = reader.next()) {
    found.push_back(std::move(*reply));
  }
  return found;
}

Reply one_reply(const std::string& text) {
  ReplyReader reader;
  reader.push(drivers::bytes_of(text));
  auto found = replies(reader);
  REQUIRE(found.size() == 1);
  return found[0];
}

Parameters ust() { return *decode_parameters(decode_info(one_reply(pp_reply()))); }

ScanRequest whole() {
  ScanRequest scan;
  scan.last_step = 1080;
  return scan;
}

std::vector<std::uint32_t> ramp(std::size_t count) {
  std::vector<std::uint32_t> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(static_cast<std::uint32_t>(100 + 7 * i));
  }
  return values;
}

}  // namespace

TEST_CASE("sums are those of real sensors") {
  CHECK(checksum("00") == 'P');
  CHECK(checksum("99") == 'b');
  CHECK(checksum("0E") == 'e');
  CHECK(checksum("02") == 'R');
  CHECK(checksum("10") == 'Q');
  CHECK(checksum("DMIN:20") == '4');
  CHECK(checksum("DMAX:30000") == 'G');
  CHECK(checksum("ARES:1440") == '^');
  CHECK(checksum("AMIN:0") == '?');
  CHECK(checksum("AMAX:1080") == 'Z');
  CHECK(checksum("AFRT:540") == '0');
  CHECK(checksum("SCAN:2400") == 'U');
  CHECK(checksum("MODL:UST-10LX") == 'D');
  CHECK(checksum("PROT:SCIP 2.2") == 'P');
}

TEST_CASE("numbers of 2, 3 and 4 characters come back, other characters are refused") {
  CHECK(decode_characters("CB") == 1234U);        // the example of the SCIP 2.0 description
  CHECK(decode_characters("1Dh") == 5432U);       // idem
  CHECK(decode_characters("m2@0") == 16000000U);  // idem
  for (const std::uint32_t value : {0U, 1U, 63U, 64U, 4095U, 262143U, 16777215U}) {
    CHECK(decode_characters(encode_characters(value, 4)) == value);
  }
  CHECK_FALSE(decode_characters("0/0"));
  CHECK_FALSE(decode_characters("0p0"));
  CHECK_FALSE(decode_characters(""));
  CHECK_FALSE(decode_characters("000000"));
}

TEST_CASE("requests have their fixed widths") {
  CHECK(request("QT") == "QT\n");
  CHECK(request(whole()) == "MD0000108001000\n");
  ScanRequest scan = whole();
  scan.intensity = true;
  scan.cluster = 3;
  scan.skip = 2;
  scan.count = 17;
  CHECK(scan.command() == "ME0000108003217");
  CHECK(scan.values() == 361);
  scan.continuous = false;
  CHECK(scan.command() == "GE0000108003");
  scan.intensity = false;
  scan.two_characters = true;
  CHECK(scan.command() == "GS0000108003");
  scan.cluster = 0;
  CHECK(scan.values() == 1081);
}

TEST_CASE("a sensor's parameters are read from PP, never assumed") {
  const Parameters p = ust();
  CHECK(p.model == "UST-10LX");
  CHECK(p.least_mm == 20);
  CHECK(p.most_mm == 30000);
  CHECK(p.steps_per_turn == 1440);
  CHECK(p.first_step == 0);
  CHECK(p.last_step == 1080);
  CHECK(p.front_step == 540);
  CHECK(p.rpm == 2400);
  CHECK(p.period_s() == 0.025);
  for (const char* missing : {"DMIN", "ARES", "SCAN"}) {
    std::string text = pp_reply();
    text.replace(text.find(missing), 4, "XXXX");
    CHECK_FALSE(decode_parameters(decode_info(one_reply(text))));
  }
  CHECK_FALSE(decode_parameters(
      decode_info(one_reply("PP\n00P\n" + info_line("DMIN:20") + info_line("DMAX:30000") + info_line("ARES:0") + info_line("AMIN:0") +
                            info_line("AMAX:1080") + info_line("AFRT:540") + info_line("SCAN:0") + "\n"))));
}

TEST_CASE("values with semicolons and wrong sums are kept, wrong sums counted") {
  const Info info = decode_info(one_reply("II\n00P\n" + info_line("STAT:Stable 000; no error") + "SERI:H0123456;!\nLASR:OFF;" +
                                          std::string(1, checksum("LASR:OFF;")) + "\nnonsense\n\n"));
  CHECK(info.find("STAT") == "Stable 000; no error");
  CHECK(info.find("SERI") == "H0123456");
  CHECK(info.find("LASR") == "OFF");  // its sum counts the semicolon
  CHECK_FALSE(info.find("MESM"));
  CHECK(info.bad_sums == 2);
}

TEST_CASE("replies are the same however the bytes are cut, with any line ends, two in one read") {
  const auto values = ramp(1081);
  const std::string text = "QT\n00P\n\n" + pp_reply() + "TM1\n00P\n" + with_sum(encode_characters(1234567, 4)) +
                           "\n\nMD0000108001000\n00P\n\n" + scan_reply(whole(), 12345, values) + scan_reply(whole(), 12370, values);
  ReplyReader together;
  together.push(drivers::bytes_of(text));
  const auto expected = replies(together);
  REQUIRE(expected.size() == 6);
  CHECK(decode_time(expected[2]) == 1234567U);
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    ReplyReader reader;
    reader.push(drivers::bytes_of(std::string_view(text).substr(0, cut)));
    auto found = replies(reader);
    reader.push(drivers::bytes_of(std::string_view(text).substr(cut)));
    for (auto& more : replies(reader)) {
      found.push_back(std::move(more));
    }
    REQUIRE(found.size() == 6);
    for (std::size_t i = 0; i < 6; ++i) {
      REQUIRE(found[i].echo == expected[i].echo);
      REQUIRE(found[i].status == expected[i].status);
      REQUIRE(found[i].lines == expected[i].lines);
    }
    REQUIRE(reader.dropped_bytes() == 0);
  }
  std::string dos;
  for (const char c : text) {
    dos += c == '\n' ? std::string("\r\n") : std::string(1, c);
  }
  ReplyReader reader;
  reader.push(drivers::bytes_of(dos));
  CHECK(replies(reader).size() == 6);
}

TEST_CASE("a scan is its 1081 values, its time and the scans that remain") {
  const auto values = ramp(1081);
  ScanData data;
  CHECK(decode_scan(one_reply(scan_reply(whole(), 0xABCDEF, values)), whole(), data) == ScanFault::kNone);
  CHECK(data.time_ms == 0xABCDEF);
  CHECK(data.distances_mm == values);
  CHECK(data.intensities.empty());
  ScanRequest finite = whole();
  finite.count = 7;
  std::string text = scan_reply(finite, 1, values);
  text.replace(13, 2, "06");
  CHECK(decode_scan(one_reply(text), finite, data) == ScanFault::kNone);
  CHECK(data.remaining == 6);
}

TEST_CASE("two characters, intensities, clusters and single scans decode") {
  ScanData data;
  ScanRequest scan;
  scan.first_step = 10;
  scan.last_step = 74;
  scan.two_characters = true;
  const auto values = ramp(65);
  CHECK(decode_scan(one_reply(scan_reply(scan, 5, values)), scan, data) == ScanFault::kNone);
  CHECK(data.distances_mm == values);
  scan.continuous = false;
  CHECK(decode_scan(one_reply(scan_reply(scan, 5, values)), scan, data) == ScanFault::kNone);
  CHECK(data.distances_mm == values);
  scan.two_characters = false;
  scan.intensity = true;
  scan.cluster = 2;
  CHECK(decode_scan(one_reply(scan_reply(scan, 5, ramp(66))), scan, data) == ScanFault::kNone);
  CHECK(data.distances_mm.size() == 33);
  CHECK(data.distances_mm[1] == 114);
  CHECK(data.intensities[1] == 121);
}

TEST_CASE("a short scan, 1078 of 1081, is no scan; nor is a long one") {
  ScanData data;
  CHECK(decode_scan(one_reply(scan_reply(whole(), 5, ramp(1078))), whole(), data) == ScanFault::kWrongLength);
  CHECK(decode_scan(one_reply(scan_reply(whole(), 5, ramp(1082))), whole(), data) == ScanFault::kWrongLength);
  CHECK(decode_scan(one_reply("MD0000108001000\n99b\n" + with_sum("0001") + "\n\n"), whole(), data) == ScanFault::kWrongLength);
  CHECK(decode_scan(one_reply("MD0000108001000\n99b\n\n"), whole(), data) == ScanFault::kWrongLength);
}

TEST_CASE("right sums over lines of the wrong length are no scan") {
  ScanRequest scan;
  scan.last_step = 41;  // 126 characters
  const auto values = ramp(42);
  std::string text = scan_reply(scan, 5, values);
  ScanData data;
  CHECK(decode_scan(one_reply(text), scan, data) == ScanFault::kNone);
  std::string data_text;
  for (const std::uint32_t value : values) {
    data_text += encode_characters(value, 3);
  }
  text = scan.command() + "\n99b\n" + with_sum(encode_characters(5, 4)) + "\n" + with_sum(data_text.substr(0, 63)) + "\n" +
         with_sum(data_text.substr(63)) + "\n\n";
  CHECK(decode_scan(one_reply(text), scan, data) == ScanFault::kWrongLength);
}

TEST_CASE("other replies in the stream are told apart from scans") {
  ScanData data;
  CHECK(decode_scan(one_reply("MD0000108001000\n00P\n\n"), whole(), data) == ScanFault::kAcknowledged);
  CHECK(decode_scan(one_reply("MD0000108001000\n0L" + std::string(1, checksum("0L")) + "\n\n"), whole(), data) == ScanFault::kStatus);
  CHECK(decode_scan(one_reply("QT\n00P\n\n"), whole(), data) == ScanFault::kNotAScan);
  CHECK(decode_scan(one_reply("MD0000108001000\n99c\n\n"), whole(), data) == ScanFault::kBadSum);
  // Multi-echo answers belong to no request of ours.
  CHECK(decode_scan(one_reply("ND0000108001000\n99b\n" + with_sum("0001") + "\n" + with_sum("0dd&0ee") + "\n\n"), whole(), data) ==
        ScanFault::kNotAScan);
  CHECK(decode_scan(one_reply("MD0000108001000\n99b\n" + with_sum("0001") + "\n" + with_sum("0dd&0ee") + "\n\n"), whole(), data) !=
        ScanFault::kNone);
}

TEST_CASE("no single damaged byte makes a wrong scan, and the next scan is read again") {
  ScanRequest scan;
  scan.last_step = 270;
  const auto values = ramp(271);
  const std::string first = scan_reply(scan, 1000, values);
  const std::string second = scan_reply(scan, 1025, values);
  const Rng rng(3, "scip damage");
  std::uint64_t accepted = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    for (int k = 0; k < 3; ++k) {
      std::string text = first;
      const auto flip = k == 0   ? 0x40U
                        : k == 1 ? static_cast<unsigned>('\n' ^ text[i]) & 0xFFU
                                 : 1U + static_cast<unsigned>(rng.uniform(3 * i) * 255.0);
      text[i] = static_cast<char>(static_cast<unsigned char>(text[i]) ^ flip);
      if (text == first) {
        continue;
      }
      ReplyReader reader;
      reader.push(drivers::bytes_of(text + second + second));
      std::vector<std::uint32_t> times;
      for (const Reply& reply : replies(reader)) {
        ScanData data;
        if (decode_scan(reply, scan, data) == ScanFault::kNone) {
          REQUIRE(data.distances_mm == values);
          times.push_back(data.time_ms);
        }
      }
      REQUIRE(times.size() >= 2);  // at most the damaged one is lost
      REQUIRE(times.back() == 1025);
      // Damage that changes nothing: the digits of "scans remaining".
      accepted += times.size() == 3 ? 1 : 0;
      REQUIRE((times.size() == 2 || times[0] == 1000));
    }
  }
  CHECK(accepted < 10);
}

TEST_CASE("of 20000 scans with random damage none is accepted wrong") {
  const auto values = ramp(181);
  ScanRequest scan;
  scan.last_step = 180;
  const std::string good = scan_reply(scan, 1000, values);
  const Rng rng(4, "scip storm");
  std::uint64_t draw = 0;
  const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(rng.uniform(draw++) * static_cast<double>(n)); };
  int whole_scans = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = good;
    const std::size_t i = pick(text.size());
    switch (pick(4)) {
      case 0:
        text.erase(i, 1 + pick(3));
        break;
      case 1:
        text.insert(i, 1 + pick(3), static_cast<char>(pick(256)));
        break;
      case 2:
        text[i] = static_cast<char>(pick(256));
        break;
      default:
        std::swap(text[i], text[pick(text.size())]);
        break;
    }
    ReplyReader reader;
    reader.push(drivers::bytes_of(text));
    for (const Reply& reply : replies(reader)) {
      ScanData data;
      if (decode_scan(reply, scan, data) == ScanFault::kNone) {
        // Two bytes of one line that changed places keep its sum: that collision only.
        const bool swapped = text.size() == good.size() && data.distances_mm != values;
        REQUIRE((data.distances_mm == values || swapped));
        ++whole_scans;
      }
    }
  }
  CHECK(whole_scans < 20000);
}

TEST_CASE("a reader that begins in the middle of a scan finds the next one; endless nonsense is not kept") {
  const std::string text = scan_reply(whole(), 1000, ramp(1081));
  for (const std::size_t from : {1UL, 14UL, 20UL, 500UL, text.size() - 1}) {
    ReplyReader reader;
    reader.push(drivers::bytes_of(text.substr(from) + text));
    ScanData data;
    int scans = 0;
    for (const Reply& reply : replies(reader)) {
      scans += decode_scan(reply, whole(), data) == ScanFault::kNone ? 1 : 0;
    }
    CHECK(scans == 1);
  }
  ReplyReader reader;
  const std::string nonsense(5000, 'x');
  for (int i = 0; i < 10; ++i) {
    reader.push(drivers::bytes_of(nonsense));
    CHECK(replies(reader).empty());
  }
  CHECK(reader.dropped_bytes() == 50000);
  for (int i = 0; i < 3000; ++i) {
    reader.push(drivers::bytes_of(std::string(64, 'x') + "\n"));
    CHECK(replies(reader).empty());
  }
  CHECK(reader.dropped_bytes() > 100000);
}

TEST_CASE("error codes are NaN, no return is infinite, the rest metres") {
  Parameters p = ust();
  CHECK(range_of(1234, p) == 1.234F);
  CHECK(range_of(20, p) == 0.02F);
  CHECK(range_of(30000, p) == 30.0F);
  for (std::uint32_t code = 0; code < 20; ++code) {
    CHECK(std::isnan(range_of(code, p)));
  }
  CHECK(range_of(30001, p) == INFINITY);
  CHECK(range_of(65533, p) == INFINITY);
  p.model = "UTM-30LX";
  CHECK(range_of(1, p) == INFINITY);
  CHECK(std::isnan(range_of(2, p)));
}

TEST_CASE("beams point where the steps do, counter-clockwise from AFRT") {
  ScanData data;
  data.distances_mm = ramp(1081);
  const LaserScan scan = to_laser_scan(data, whole(), ust());
  CHECK(scan.angle_min == doctest::Approx(-0.75 * M_PI));
  CHECK(scan.angle_max == doctest::Approx(0.75 * M_PI));
  CHECK(scan.angle_increment == doctest::Approx(M_PI / 720.0));
  CHECK(scan.time_increment == doctest::Approx(0.025 / 1440).scale(0.0));
  CHECK(scan.scan_time == doctest::Approx(0.025).scale(0.0));
  CHECK(scan.range_min == 0.02F);
  CHECK(scan.range_max == 30.0F);
  CHECK(scan.ranges.size() == 1081);
  CHECK(scan.ranges[540] == doctest::Approx(3.88));
  ScanRequest clustered = whole();
  clustered.cluster = 3;
  data.distances_mm = ramp(361);
  const LaserScan wide = to_laser_scan(data, clustered, ust());
  CHECK(wide.angle_min == doctest::Approx(-539.0 * M_PI / 720.0));  // the middle of steps 0, 1, 2
  CHECK(wide.angle_increment == doctest::Approx(3.0 * M_PI / 720.0));
}

TEST_CASE("status codes have words") {
  CHECK(status_text("MD", "04") == "last step out of range");
  CHECK(status_text("MD", "0E") == "unknown command");
  CHECK(status_text("BM", "02") == "laser is on already");
  CHECK(status_text("TM", "10").find("denied") == 0);
  CHECK(status_text("MD", "21") == "stopped to verify an error");
  CHECK(status_text("MD", "98") == "resuming");
  CHECK(status_text("MD", "ZZ") == "status ZZ");
  for (const char* bad : {"0L", "0M", "21", "49", "50", "97", "98"}) {
    CHECK(is_trouble(bad));
  }
  for (const char* fine : {"00", "99", "10", "20", "0E", ""}) {
    CHECK_FALSE(is_trouble(fine));
  }
}

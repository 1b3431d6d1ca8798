// SPDX-License-Identifier: Apache-2.0
#include "drivers/emulators/hokuyo.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/math.hpp"
#include "core/text.hpp"
#include "drivers/emulators/room.hpp"
#include "drivers/emulators/scip_text.hpp"

namespace pitwall::emulators {
namespace {

constexpr std::int64_t kClockWrapMs = std::int64_t{1} << 24;
constexpr std::size_t kBlock = 64;
constexpr std::uint32_t kIntensity = 2000;
constexpr Duration kStepTime{17'361};  // a 1440th of 25 ms

bool all_digits(std::string_view text) { return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos; }

int number_of(std::string_view digits) { return static_cast<int>(parse_int(digits).value_or(-1)); }

bool is_continuous(std::string_view command) { return command == "MD" || command == "ME" || command == "MS"; }
bool is_single(std::string_view command) { return command == "GD" || command == "GE" || command == "GS"; }

}  // namespace

Hokuyo::Hokuyo(const HokuyoConfig& config) : config_(config), ranges_(kSteps, kNoReturn) {
  add_knobs();
  Hokuyo::restart({});
}

void Hokuyo::add_knobs() {
  Knobs& k = knobs();
  k.add_number("short", "N", "the next N scans lack their last 3 values", 0, 1e9,
               [this](Time, double n) { short_scans_ = static_cast<int>(n); });
  k.add_number("err", "SHARE", "share of beams that read an error code of 1..19 mm", 0, 1, [this](Time, double s) { error_share_ = s; });
  k.add("status", "CODE", "two characters, such as 23 or 0L, as the status of the next message of a stream, which then ends",
        [this](Time, Words words) -> Status {
          if (words.size() != 1 || words[0].size() != 2) return Error{"status: takes two characters"};
          status_fault_ = words[0];
          return {};
        });
  k.add_number("wrap_in", "S", "the device's clock wraps in so many seconds", 0, 16777,
               [this](Time now, double s) { clock_.set(now, 1e-3 * static_cast<double>(kClockWrapMs) - s); });
  k.add_number("jump", "S", "the device's clock jumps", -1e5, 1e5, [this](Time, double s) { clock_.jump(s); });
  k.add_number("drift", "PPM", "the device's clock runs fast", -1e5, 1e5,
               [this](Time now, double ppm) { clock_.set_drift(now, 1e-6 * ppm); });
}

void Hokuyo::restart(Time now) {
  clock_.restart(now);
  buffer_.clear();
  stream_.reset();
  measured_ = laser_on_ = time_mode_ = reboot_asked_ = false;
  ready_at_ = now + from_seconds(config_.boot_s);
  next_turn_ = ready_at_ + from_seconds(config_.period_s);
}

void Hokuyo::opened(Time now) { advance(now); }

void Hokuyo::closed(Time /*now*/) {
  buffer_.clear();
  stream_.reset();
  laser_on_ = time_mode_ = false;
}

Time Hokuyo::next_event() const { return config_.own_turns ? next_turn_ : kNever; }

void Hokuyo::advance(Time now) {
  while (config_.own_turns && next_turn_ <= now) {
    static const std::vector<std::uint32_t> room = [] {
      std::vector<std::uint32_t> mm;
      for (int i = 0; i < kSteps; ++i) {
        const double bearing = (i - 540) * 2.0 * math::kPi / 1440.0;
        mm.push_back(static_cast<std::uint32_t>(std::lround(1e3 * room_range_m(bearing))));
      }
      return mm;
    }();
    turn(next_turn_, next_turn_ - (kSteps - 1) * kStepTime, room);
    next_turn_ = next_turn_ + from_seconds(config_.period_s);
  }
}

void Hokuyo::turn(Time now, Time stamp, std::span<const std::uint32_t> mm) {
  if (now < ready_at_) return;
  ranges_.assign(mm.begin(), mm.end());
  range_stamp_ms_ = clock_.milliseconds(stamp, kClockWrapMs);
  measured_ = true;
  if (stream_) send_scan();
}

void Hokuyo::receive(Time now, ByteView bytes) {
  advance(now);
  if (now < ready_at_) return;
  for (const std::uint8_t byte : bytes) {
    if (byte != '\n' && byte != '\r') {
      buffer_.push_back(static_cast<char>(byte));
      continue;
    }
    if (!buffer_.empty()) line(now, std::exchange(buffer_, {}));
  }
}

void Hokuyo::answer(const std::string& echo, std::string_view status, const std::vector<std::string>& lines) {
  std::string reply = echo + "\n" + summed(status) + "\n";
  for (const std::string& text : lines) reply += text + "\n";
  reply += "\n";
  say(Bytes(reply.begin(), reply.end()));
}

void Hokuyo::line(Time now, const std::string& text) {
  const std::size_t semicolon = text.find(';');
  const std::string body = text.substr(0, semicolon);
  if (semicolon != std::string::npos && text.size() - semicolon - 1 > 16) return answer(text, "0G");
  const std::string command = body.substr(0, 2);
  const std::string digits = body.size() > 2 ? body.substr(2) : "";
  if (is_continuous(command) || is_single(command)) {
    Request request;
    request.echo = text;
    request.command = command;
    const std::string status = status_of(request, digits);
    if (status != "00") return answer(text, status);
    if (is_continuous(command)) return start_stream(request);
    return single(request);
  }
  if (command == "TM" && digits.size() == 1) return time_mode(now, text, digits[0]);
  const bool multi_echo = command == "HD" || command == "HE" || command == "ND" || command == "NE";
  if (multi_echo || command == "SS") return answer(text, "0F");
  if (!digits.empty()) return answer(text, body.size() > 32 ? "0D" : "0E");
  if (command == "VV" || command == "PP" || command == "II") return identify(now, text, command);
  if (command == "BM") {
    const bool was = std::exchange(laser_on_, true);
    return answer(text, was ? "02" : "00");
  }
  if (command == "QT" || command == "RS" || command == "RT") {
    if (command != "QT") clock_.restart(now);
    stream_.reset();
    if (command != "RT") laser_on_ = false;
    time_mode_ = false;
    return answer(text, "00");
  }
  if (command == "RB") {
    const bool second = reboot_asked_ && now - first_reboot_ <= from_seconds(1.0);
    answer(text, second ? "00" : "01");
    if (second) restart(now);
    reboot_asked_ = !second;
    first_reboot_ = now;
    return;
  }
  answer(text, body.size() < 2 ? "0C" : "0E");
}

void Hokuyo::identify(Time now, const std::string& echo, const std::string& command) {
  std::vector<std::string> lines;
  const auto entry = [&](const std::string& text) { lines.push_back(summed_entry(text)); };
  if (command == "VV") {
    for (const std::string text : {"VEND:Hokuyo Automatic Co.,Ltd.", "PROD:SOKUIKI Sensor UST-10LX", "FIRM:4.0.3", "PROT:SCIP 2.2"})
      entry(text);
    entry("SERI:" + config_.serial);
  } else if (command == "PP") {
    entry("MODL:" + config_.model);
    for (const std::string text : {"DMIN:20", "DMAX:30000", "ARES:1440", "AMIN:0", "AMAX:1080", "AFRT:540", "SCAN:2400"}) entry(text);
  } else {
    entry("MODL:" + config_.model);
    entry(std::string("LASR:") + (laser_on_ ? "ON" : "OFF"));
    entry("SCSP:2400");
    entry(std::string("MESM:") + (stream_ ? "Measuring by Normal Mode" : "Idle"));
    entry("SBPS:Ethernet 100 [Mbps]");
    entry("TIME:" + encoded(clock_.milliseconds(now, kClockWrapMs), 4));
    entry("STAT:Stable 000 no error");
  }
  answer(echo, "00", lines);
}

void Hokuyo::time_mode(Time now, const std::string& echo, char which) {
  if (which == '1') return answer(echo, "00", {summed(encoded(clock_.milliseconds(now, kClockWrapMs), 4))});
  if (which == '0') {
    if (stream_) return answer(echo, "10");
    return answer(echo, std::exchange(time_mode_, true) ? "02" : "00");
  }
  if (which == '2') return answer(echo, std::exchange(time_mode_, false) ? "00" : "03");
  answer(echo, "0E");
}

std::string Hokuyo::status_of(Request& request, std::string_view digits) const {
  const std::size_t expected = is_continuous(request.command) ? 13 : 10;
  if (digits.size() < expected) return "0C";
  if (digits.size() > expected) return "0D";
  if (!all_digits(digits.substr(0, 4))) return "01";
  if (!all_digits(digits.substr(4, 4))) return "02";
  if (!all_digits(digits.substr(8, 2))) return "03";
  request.start = number_of(digits.substr(0, 4));
  request.end = number_of(digits.substr(4, 4));
  request.cluster = std::max(1, number_of(digits.substr(8, 2)));
  if (request.end >= kSteps || request.start >= kSteps) return "04";
  if (request.end < request.start) return "05";
  if (expected == 13) {
    if (!all_digits(digits.substr(10, 1))) return "06";
    if (!all_digits(digits.substr(11, 2))) return "07";
    request.skip = number_of(digits.substr(10, 1));
    request.count = request.remaining = number_of(digits.substr(11, 2));
  }
  return "00";
}

void Hokuyo::start_stream(const Request& request) {
  if (time_mode_) return answer(request.echo, "10");
  laser_on_ = true;
  answer(request.echo, "00");
  stream_ = request;
}

void Hokuyo::single(const Request& request) {
  if (!laser_on_ || !measured_ || time_mode_) return answer(request.echo, "10");
  std::string reply = request.echo + "\n" + summed("00") + "\n" + summed(encoded(range_stamp_ms_, 4)) + "\n";
  data_lines(request, reply);
  reply += "\n";
  say(Bytes(reply.begin(), reply.end()));
}

// The echo of a scan tells in its last two digits how many are still to come.
void Hokuyo::send_scan() {
  Request& stream = *stream_;
  if (stream.skipped < stream.skip) {
    ++stream.skipped;
    return;
  }
  stream.skipped = 0;
  std::string echo = stream.echo;
  if (stream.count > 0) {
    --stream.remaining;
    echo[13] = static_cast<char>('0' + stream.remaining / 10);
    echo[14] = static_cast<char>('0' + stream.remaining % 10);
  }
  if (!status_fault_.empty()) {
    answer(echo, std::exchange(status_fault_, {}));
    stream_.reset();
    return;
  }
  std::string reply = echo + "\n" + summed("99") + "\n" + summed(encoded(range_stamp_ms_, 4)) + "\n";
  data_lines(stream, reply);
  reply += "\n";
  say(Bytes(reply.begin(), reply.end()));
  ++scans_sent_;
  if (short_scans_ > 0) --short_scans_;
  if (stream.count > 0 && stream.remaining == 0) stream_.reset();
}

std::vector<std::uint32_t> Hokuyo::spoilt_ranges() const {
  std::vector<std::uint32_t> ranges = ranges_;
  // Evenly over the scan, so that the share holds for any part of it.
  double due = 0.0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    due += error_share_;
    if (due < 1.0) continue;
    due -= 1.0;
    ranges[i] = static_cast<std::uint32_t>(1 + i % 19);
  }
  return ranges;
}

void Hokuyo::data_lines(const Request& request, std::string& reply) {
  const std::vector<std::uint32_t> ranges = error_share_ > 0.0 ? spoilt_ranges() : ranges_;
  const bool intensity = request.command[1] == 'E';
  const int digits = request.command[1] == 'S' ? 2 : 3;
  const std::uint32_t largest = digits == 2 ? 4095 : 262143;
  int values = (request.end - request.start) / request.cluster + 1;
  if (short_scans_ > 0) values = std::max(0, values - 3);
  std::string block;
  for (int v = 0; v < values; ++v) {
    const int first = request.start + v * request.cluster;
    const int last = std::min(first + request.cluster - 1, request.end);
    const auto begin = ranges.begin() + first;
    const std::uint32_t least = *std::min_element(begin, ranges.begin() + last + 1);
    block += encoded(std::min(least, largest), digits);
    if (intensity) block += encoded(kIntensity, 3);
  }
  for (std::size_t at = 0; at < block.size(); at += kBlock) reply += summed(block.substr(at, kBlock)) + "\n";
}

// The last character of the last line that is not empty.
void Hokuyo::spoil_sum(Bytes& message) const {
  if (message.size() < 3) return;
  std::uint8_t& sum = message[message.size() - 3];
  sum = sum == '0' ? '1' : '0';
}

}  // namespace pitwall::emulators

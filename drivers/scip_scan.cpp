// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <limits>

#include "core/math.hpp"
#include "drivers/scip.hpp"

namespace pitwall::scip {
namespace {

constexpr std::size_t kBlock = 64;  // characters of a data line, without its sum

// Whether `echo` is what a reply to `asked` begins with; for a stream, with the scans that remain.
bool is_reply_to(const std::string& echo, const ScanRequest& asked, int& remaining) {
  const std::string command = asked.command();
  if (!asked.continuous) {
    return echo == command;
  }
  const std::size_t head = command.size() - 2;
  if (echo.size() != command.size() || echo.compare(0, head, command, 0, head) != 0) {
    return false;
  }
  const int tens = echo[head] - '0';
  const int units = echo[head + 1] - '0';
  remaining = 10 * tens + units;
  return tens >= 0 && tens <= 9 && units >= 0 && units <= 9;
}

// Joins the data lines; each holds 64 characters, the last one 1 to 64.
ScanFault join_blocks(const Reply& reply, std::string& text) {
  for (std::size_t i = 1; i < reply.lines.size(); ++i) {
    const std::string_view line = reply.lines[i];
    const bool last = i + 1 == reply.lines.size();
    if (line.size() < 2 || line.size() > kBlock + 1 || (!last && line.size() != kBlock + 1)) {
      return ScanFault::kWrongLength;
    }
    const std::string_view block = line.substr(0, line.size() - 1);
    if (checksum(block) != line.back()) {
      return ScanFault::kBadSum;
    }
    text += block;
  }
  return ScanFault::kNone;
}

// Two digits, or 0 and a letter. The sum is of six bits: a wrong bit above them leaves it right and makes none of these.
bool is_code(std::string_view status) {
  const bool digit = status[1] >= '0' && status[1] <= '9';
  const bool letter = status[1] >= 'A' && status[1] <= 'Z';
  return status[0] >= '0' && status[0] <= '9' && (digit || (status[0] == '0' && letter));
}

}  // namespace

ScanFault decode_scan(const Reply& reply, const ScanRequest& asked, ScanData& data) {
  if (!is_reply_to(reply.echo, asked, data.remaining)) {
    return ScanFault::kNotAScan;
  }
  if (!reply.status_sum_good) {
    return ScanFault::kBadSum;
  }
  if (!is_code(reply.status)) {
    return ScanFault::kBadCharacter;
  }
  if (asked.continuous && reply.status == "00") {
    return ScanFault::kAcknowledged;
  }
  if (reply.status != (asked.continuous ? "99" : "00")) {
    return ScanFault::kStatus;
  }
  if (reply.lines.empty() || reply.lines[0].size() != 5) {
    return ScanFault::kWrongLength;
  }
  const std::string_view time = std::string_view(reply.lines[0]).substr(0, 4);
  if (checksum(time) != reply.lines[0][4]) {
    return ScanFault::kBadSum;
  }
  const auto time_ms = decode_characters(time);
  std::string text;
  if (const ScanFault fault = join_blocks(reply, text); fault != ScanFault::kNone) {
    return fault;
  }
  const std::size_t width = asked.two_characters && !asked.intensity ? 2 : 3;
  const std::size_t kinds = asked.intensity ? 2 : 1;
  const auto count = static_cast<std::size_t>(asked.values());
  if (text.size() != count * kinds * width) {
    return ScanFault::kWrongLength;
  }
  data.distances_mm.clear();
  data.intensities.clear();
  bool good = time_ms.has_value();
  for (std::size_t i = 0; i < count * kinds; ++i) {
    const auto value = decode_characters(std::string_view(text).substr(i * width, width));
    good = good && value.has_value();
    (i % kinds == 0 ? data.distances_mm : data.intensities).push_back(value.value_or(0));
  }
  data.time_ms = time_ms.value_or(0);
  return good ? ScanFault::kNone : ScanFault::kBadCharacter;
}

float range_of(std::uint32_t distance_mm, const Parameters& sensor) {
  constexpr std::uint32_t kUtmNoReturn = 1;
  const bool utm = sensor.model.compare(0, 3, "UTM") == 0;
  if (distance_mm > static_cast<std::uint32_t>(sensor.most_mm) || (utm && distance_mm == kUtmNoReturn)) {
    return std::numeric_limits<float>::infinity();
  }
  if (distance_mm < static_cast<std::uint32_t>(sensor.least_mm)) {
    return std::numeric_limits<float>::quiet_NaN();
  }
  return static_cast<float>(distance_mm * 1e-3);
}

LaserScan to_laser_scan(const ScanData& data, const ScanRequest& asked, const Parameters& sensor) {
  const double step_rad = 2.0 * math::kPi / sensor.steps_per_turn;
  const int cluster = asked.cluster < 1 ? 1 : asked.cluster;
  const double first = asked.first_step + 0.5 * (cluster - 1) - sensor.front_step;
  const double last = first + cluster * (asked.values() - 1);
  LaserScan scan;
  scan.angle_min = static_cast<float>(first * step_rad);
  scan.angle_max = static_cast<float>(last * step_rad);
  scan.angle_increment = static_cast<float>(cluster * step_rad);
  scan.time_increment = static_cast<float>(cluster * sensor.period_s() / sensor.steps_per_turn);
  scan.scan_time = static_cast<float>(sensor.period_s() * (asked.skip + 1));
  scan.range_min = static_cast<float>(sensor.least_mm * 1e-3);
  scan.range_max = static_cast<float>(sensor.most_mm * 1e-3);
  scan.ranges.reserve(data.distances_mm.size());
  for (const std::uint32_t distance_mm : data.distances_mm) {
    scan.ranges.push_back(range_of(distance_mm, sensor));
  }
  return scan;
}

bool is_trouble(std::string_view status) {
  if (status == "0L" || status == "0M") {
    return true;
  }
  const bool numeric = status.size() == 2 && status[0] >= '0' && status[0] <= '9' && status[1] >= '0' && status[1] <= '9';
  const int code = numeric ? 10 * (status[0] - '0') + status[1] - '0' : 0;
  return code >= 21 && code <= 98;
}

std::string status_text(std::string_view command, std::string_view status) {
  struct Text {
    std::string_view status;
    std::string_view text;
  };
  static constexpr std::array<Text, 12> kTexts{{{"00", "done"},
                                                {"99", "scan data"},
                                                {"10", "denied in the present state (laser off, or another mode)"},
                                                {"0A", "the sensor could not make a reply"},
                                                {"0B", "buffer short, or already done"},
                                                {"0C", "command too short"},
                                                {"0D", "command too long"},
                                                {"0E", "unknown command"},
                                                {"0F", "command not supported by this model"},
                                                {"0I", "firmware update mode"},
                                                {"0L", "abnormal state: power the sensor off and on"},
                                                {"0M", "unstable: the sensor has not settled yet"}}};
  static constexpr std::array<Text, 7> kScanTexts{{{"01", "first step is not a number"},
                                                   {"02", "last step is not a number"},
                                                   {"03", "cluster is not a number"},
                                                   {"04", "last step out of range"},
                                                   {"05", "last step before the first"},
                                                   {"06", "skip is not a number"},
                                                   {"07", "count is not a number"}}};
  const bool scans = !command.empty() && (command[0] == 'M' || command[0] == 'G' || command[0] == 'H' || command[0] == 'N');
  if (scans) {
    for (const Text& t : kScanTexts) {
      if (t.status == status) {
        return std::string(t.text);
      }
    }
  }
  for (const Text& t : kTexts) {
    if (t.status == status) {
      return std::string(t.text);
    }
  }
  if (command == "BM" && (status == "01" || status == "02")) {
    return status == "01" ? "laser fault" : "laser is on already";
  }
  if (is_trouble(status)) {
    return status == "98"  ? "resuming"
           : status < "50" ? "stopped to verify an error"
                           : "hardware trouble: power the sensor off and on, then have it repaired";
  }
  return "status " + std::string(status);
}

}  // namespace pitwall::scip

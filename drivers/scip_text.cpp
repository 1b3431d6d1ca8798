// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>

#include "core/text.hpp"
#include "drivers/scip.hpp"

namespace pitwall::scip {
namespace {

constexpr std::size_t kLongestLine = 512;
constexpr std::size_t kLongestReply = 65536;  // ME of 1081 steps has 6.7 kB

std::string digits(int value, int count) {
  std::string text(static_cast<std::size_t>(count), '0');
  for (auto c = text.rbegin(); c != text.rend() && value > 0; ++c, value /= 10) {
    *c = static_cast<char>('0' + value % 10);
  }
  return text;
}

bool all_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Where in the line the echo of one of our requests begins, behind what a lost line feed glued to it; npos if it ends in none.
std::size_t find_echo(std::string_view line) {
  constexpr std::array<std::string_view, 10> kPlain{"VV", "PP", "II", "QT", "BM", "RS", "RT", "TM0", "TM1", "TM2"};
  if (std::find(kPlain.begin(), kPlain.end(), line) != kPlain.end()) {
    return 0;
  }
  for (const std::size_t size : {std::size_t{15}, std::size_t{12}}) {
    const std::string_view tail = line.size() >= size ? line.substr(line.size() - size) : std::string_view();
    const bool scan = !tail.empty() && tail[0] == (size == 15 ? 'M' : 'G') && (tail[1] == 'D' || tail[1] == 'E' || tail[1] == 'S');
    if (scan && all_digits(tail.substr(2))) {
      return line.size() - size;
    }
  }
  return std::string_view::npos;
}

bool is_status(std::string_view line) { return line.size() == 3 && checksum(line.substr(0, 2)) == line[2]; }

}  // namespace

char checksum(std::string_view text) {
  unsigned sum = 0;
  for (const char c : text) {
    sum += static_cast<unsigned char>(c);
  }
  return static_cast<char>((sum & 0x3FU) + 0x30U);
}

std::optional<std::uint32_t> decode_characters(std::string_view text) {
  if (text.empty() || text.size() > 5) {
    return std::nullopt;
  }
  std::uint32_t value = 0;
  for (const char c : text) {
    const auto six = static_cast<unsigned>(static_cast<unsigned char>(c)) - 0x30U;
    if (six > 0x3FU) {
      return std::nullopt;
    }
    value = value << 6U | six;
  }
  return value;
}

std::string encode_characters(std::uint32_t value, int count) {
  std::string text;
  for (int shift = 6 * (count - 1); shift >= 0; shift -= 6) {
    text += static_cast<char>((value >> shift & 0x3FU) + 0x30U);
  }
  return text;
}

std::string request(std::string_view command) { return std::string(command) + "\n"; }

std::string ScanRequest::command() const {
  std::string text(1, continuous ? 'M' : 'G');
  text += intensity ? 'E' : two_characters ? 'S' : 'D';
  text += digits(first_step, 4) + digits(last_step, 4) + digits(cluster, 2);
  return continuous ? text + digits(skip, 1) + digits(count, 2) : text;
}

std::string request(const ScanRequest& scan) { return request(scan.command()); }

void ReplyReader::push(Bytes bytes) {
  buffer_.erase(0, at_);
  at_ = 0;
  buffer_ += drivers::text_of(bytes);
}

void ReplyReader::clear() {
  buffer_.clear();
  at_ = 0;
  lines_.clear();
  line_bytes_ = 0;
  skipping_ = false;
}

// False if no line is whole yet. A line too long for any reply is skipped up to its end, however it arrives.
bool ReplyReader::take_line(std::string& line) {
  while (true) {
    const std::size_t end = buffer_.find('\n', at_);
    const bool whole = end != std::string::npos;
    const std::size_t size = (whole ? end : buffer_.size()) - at_;
    const bool skip = skipping_ || size > kLongestLine;
    if (!whole && !skip) {
      return false;
    }
    if (!skip) {
      line.assign(buffer_, at_, size);
      at_ = end + 1;
      if (!line.empty() && line.back() == '\r') {
        line.pop_back();
      }
      return true;
    }
    resyncs_ += skipping_ ? 0 : 1;
    skipping_ = !whole;
    const std::size_t next = whole ? end + 1 : buffer_.size();
    dropped_bytes_ += next - at_;
    at_ = next;
    if (!whole) {
      return false;
    }
  }
}

void ReplyReader::drop_lines(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    dropped_bytes_ += lines_[i].size() + 1;
    line_bytes_ -= lines_[i].size() + 1;
  }
  lines_.erase(lines_.begin(), lines_.begin() + static_cast<std::ptrdiff_t>(count));
  resyncs_ += count > 0 ? 1 : 0;
}

std::optional<Reply> ReplyReader::end_reply() {
  if (lines_.size() < 2 || lines_[1].size() != 3) {
    drop_lines(lines_.size());
    return std::nullopt;
  }
  Reply reply;
  reply.echo = std::move(lines_[0]);
  reply.status = lines_[1].substr(0, 2);
  reply.status_sum_good = is_status(lines_[1]);
  reply.lines.assign(std::make_move_iterator(lines_.begin() + 2), std::make_move_iterator(lines_.end()));
  lines_.clear();
  line_bytes_ = 0;
  return reply;
}

std::optional<Reply> ReplyReader::next() {
  std::string line;
  while (take_line(line)) {
    if (line.empty()) {
      if (auto reply = end_reply()) {
        return reply;
      }
      continue;
    }
    line_bytes_ += line.size() + 1;
    lines_.push_back(std::move(line));
    const std::size_t count = lines_.size();
    const std::size_t echo = count > 2 && is_status(lines_[count - 1]) ? find_echo(lines_[count - 2]) : std::string::npos;
    if (echo != std::string::npos) {
      drop_lines(count - 2);  // the blank line before it was lost
      lines_[0].erase(0, echo);
      line_bytes_ -= echo;
      dropped_bytes_ += echo;
    }
    if (line_bytes_ > kLongestReply) {
      drop_lines(lines_.size());
    }
  }
  return std::nullopt;
}

std::optional<std::string> Info::find(std::string_view key) const {
  for (const auto& [name, value] : values) {
    if (name == key) {
      return value;
    }
  }
  return std::nullopt;
}

Info decode_info(const Reply& reply) {
  Info info;
  for (const std::string& line : reply.lines) {
    const std::size_t colon = line.find(':');
    const std::size_t end = line.rfind(';');
    if (colon == std::string::npos || end == std::string::npos || end < colon) {
      ++info.bad_sums;
      continue;
    }
    const std::string_view text = line;
    const bool sum_good =
        end + 2 == line.size() && (checksum(text.substr(0, end)) == line.back() || checksum(text.substr(0, end + 1)) == line.back());
    info.bad_sums += sum_good ? 0 : 1;
    info.values.emplace_back(line.substr(0, colon), line.substr(colon + 1, end - colon - 1));
  }
  return info;
}

std::optional<Parameters> decode_parameters(const Info& info) {
  Parameters p;
  p.model = info.find("MODL").value_or("");
  const std::array<std::pair<const char*, int*>, 7> fields{{{"DMIN", &p.least_mm},
                                                            {"DMAX", &p.most_mm},
                                                            {"ARES", &p.steps_per_turn},
                                                            {"AMIN", &p.first_step},
                                                            {"AMAX", &p.last_step},
                                                            {"AFRT", &p.front_step},
                                                            {"SCAN", &p.rpm}}};
  for (const auto& [key, into] : fields) {
    const auto number = parse_int(trim(info.find(key).value_or("")));
    if (!number || *number < 0 || *number > 1'000'000) {
      return std::nullopt;
    }
    *into = static_cast<int>(*number);
  }
  const bool turns = p.rpm > 0 && p.steps_per_turn > 0 && p.last_step > p.first_step && p.last_step <= 9999 && p.most_mm > p.least_mm;
  return turns ? std::optional(p) : std::nullopt;
}

std::optional<std::uint32_t> decode_time(const Reply& reply) {
  if (reply.lines.size() != 1 || reply.lines[0].size() != 5) {
    return std::nullopt;
  }
  const std::string_view text = std::string_view(reply.lines[0]).substr(0, 4);
  return checksum(text) == reply.lines[0][4] ? decode_characters(text) : std::nullopt;
}

}  // namespace pitwall::scip

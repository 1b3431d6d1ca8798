// SPDX-License-Identifier: Apache-2.0
// The history of path_metrics.
#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/path_report.hpp"
#include "core/text.hpp"

namespace pitwall::analysis {

namespace {

constexpr std::string_view kHeader =
    "kind,start_ns,number,planned_m,driven_m,time_s,cte_mean_m,cte_rms_m,cte_p95_m,cte_max_m,heading_mean_deg,recording";
constexpr std::size_t kColumns = 12;

std::array<double HistoryLine::*, 8> numbers() {
  return {&HistoryLine::planned_m, &HistoryLine::driven_m,  &HistoryLine::time_s,    &HistoryLine::cte_mean_m,
          &HistoryLine::cte_rms_m, &HistoryLine::cte_p95_m, &HistoryLine::cte_max_m, &HistoryLine::heading_mean_deg};
}

Result<HistoryLine> parse_line(std::string_view text) {
  const std::vector<std::string_view> cells = split(text, ',');
  // The recording comes last: its name may hold commas.
  if (cells.size() < kColumns) return Error{std::to_string(cells.size()) + " columns instead of " + std::to_string(kColumns)};
  HistoryLine line;
  line.kind = cells[0];
  const auto start = parse_int(cells[1]);
  const auto number = parse_int(cells[2]);
  if (!start) return Error{"start_ns '" + std::string(cells[1]) + "' is no whole number"};
  if (!number || *number < 1) return Error{"number '" + std::string(cells[2]) + "' is no whole number from 1"};
  line.start_ns = *start;
  line.number = static_cast<std::size_t>(*number);
  std::size_t column = 3;
  for (double HistoryLine::*const member : numbers()) {
    const auto value = parse_double(cells[column]);
    if (!value || !std::isfinite(*value))
      return Error{"column " + std::to_string(column + 1) + " '" + std::string(cells[column]) + "' is no number"};
    line.*member = *value;
    ++column;
  }
  for (std::size_t k = 0; k + 1 < kColumns; ++k) text.remove_prefix(text.find(',') + 1);
  line.recording = trim(text);
  return line;
}

}  // namespace

Result<std::vector<HistoryLine>> parse_history(std::string_view text, const std::string& name) {
  std::vector<HistoryLine> lines;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (number == 1 && line != kHeader)
      return Error{name + ":1: is no history of path_metrics: its first line is not '" + std::string(kHeader) + "'"};
    if (number == 1 || line.empty()) continue;
    Result<HistoryLine> parsed = parse_line(line);
    if (!parsed) return Error{name + ":" + std::to_string(number) + ": " + parsed.error().message};
    lines.push_back(*std::move(parsed));
  }
  return lines;
}

std::string history_text(const std::vector<HistoryLine>& lines) {
  std::string out(kHeader);
  out += "\n";
  for (const HistoryLine& line : lines) {
    out += line.kind + "," + std::to_string(line.start_ns) + "," + std::to_string(line.number);
    for (double HistoryLine::*const member : numbers()) out += "," + format_exact(line.*member);
    std::string recording = line.recording;
    std::replace(recording.begin(), recording.end(), '\n', ' ');
    out += "," + recording + "\n";
  }
  return out;
}

std::size_t longest_bad_run(const std::vector<HistoryLine>& lines, const std::vector<bool>& current, double max_cte_m) {
  std::size_t longest = 0;
  std::size_t length = 0;
  bool touched = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool bad = !(lines[i].cte_mean_m <= max_cte_m);
    length = bad ? length + 1 : 0;
    touched = bad && (touched || current[i]);
    if (touched) longest = std::max(longest, length);
  }
  return longest;
}

}  // namespace pitwall::analysis

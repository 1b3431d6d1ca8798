// SPDX-License-Identifier: Apache-2.0
#include "analysis/slam_log.hpp"

#include <algorithm>
#include <optional>

#include "analysis/run_texts.hpp"
#include "core/text.hpp"

namespace pitwall::analysis {

namespace {

/// The "lap 3/4" of a line.
std::optional<LoggedLap> lap_in(std::string_view small) {
  for (std::size_t at = small.find("lap "); at != std::string_view::npos; at = small.find("lap ", at + 1)) {
    const std::string_view rest = small.substr(at + 4);
    const std::size_t slash = rest.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    const std::size_t end = rest.find_first_not_of("0123456789", slash + 1);
    const auto lap = parse_int(rest.substr(0, slash));
    const auto of = parse_int(rest.substr(slash + 1, (end == std::string_view::npos ? rest.size() : end) - slash - 1));
    if (lap && of && *lap > 0 && *of > 0) return LoggedLap{static_cast<std::size_t>(*lap), static_cast<std::size_t>(*of), "", 0};
  }
  return std::nullopt;
}

}  // namespace

SlamLog read_slam_log(std::string_view launch_log) {
  SlamLog log;
  log.present = true;
  std::size_t profile_line = 0;
  each_line(launch_log, [&](std::size_t line, std::string_view words) {
    const std::string small = to_lower(words);
    const std::string_view category = log_category(words);
    if (contains(small, "loop clos")) ++log.closures;
    if (category == "scan_dropped") ++log.drops;
    if (category == "profile_generated") profile_line = line;
    auto lap = lap_in(small);
    if (!lap || category == "lap_progress") return;
    const bool ceiling = contains(small, "ceiling") || contains(small, "lap limit");
    const bool failed = ceiling || contains(small, "failed") || contains(small, "rejected");
    if (!failed && category != "lap_closed") return;
    lap->line = line;
    lap->verdict = ceiling ? "failed (accepted at the ceiling)" : failed ? "failed" : "unknown";
    const auto same = std::find_if(log.laps.begin(), log.laps.end(), [&](const LoggedLap& l) { return l.lap == lap->lap; });
    if (same == log.laps.end()) {
      log.laps.push_back(*lap);
    } else if (failed) {
      *same = *lap;
    }
  });
  for (LoggedLap& lap : log.laps) {
    if (lap.lap < lap.of) {
      lap.verdict = "not judged";
    } else if (lap.verdict == "unknown" && profile_line > lap.line) {
      lap.verdict = "passed";
      lap.line = profile_line;
    }
  }
  return log;
}

CpuSeries read_slam_cpu(std::string_view system_csv) {
  CpuSeries cpu;
  std::size_t time = 0;
  std::size_t name = 0;
  std::size_t percent = 0;
  bool named = false;
  each_line(system_csv, [&](std::size_t, std::string_view line) {
    const std::vector<std::string_view> cells = split(trim(line), ',');
    const auto column = [&](std::string_view wanted) {
      return static_cast<std::size_t>(std::find(cells.begin(), cells.end(), wanted) - cells.begin());
    };
    if (!named) {
      time = column("t");
      name = column("name");
      percent = column("cpu_percent");
      named = std::max({time, name, percent}) < cells.size();
      return;
    }
    if (cells.size() <= std::max({time, name, percent}) || !contains(to_lower(cells[name]), "slam")) return;
    const auto t = parse_double(cells[time]);
    const auto value = parse_double(cells[percent]);
    if (!t || !value) return;
    cpu.t_s.push_back(*t);
    cpu.percent.push_back(*value);
  });
  return cpu;
}

}  // namespace pitwall::analysis

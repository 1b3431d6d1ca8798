// SPDX-License-Identifier: Apache-2.0
#include "analysis/path_report.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/path_recording.hpp"
#include "core/files.hpp"
#include "core/text.hpp"
#include "tracks/track.hpp"

namespace pitwall::analysis {

namespace {

namespace fs = std::filesystem;
using tracks::PathSample;

/// The way of the odometry between two times, in pieces of 1 cm or more.
double way_between(const Track& odometry, double from_s, double to_s) {
  constexpr double kJitter_m = 0.01;
  double way = 0.0;
  std::optional<Vec2> last;
  for (std::size_t i = 0; i < odometry.size(); ++i) {
    if (odometry.t_s[i] < from_s || odometry.t_s[i] > to_s) continue;
    const Vec2 p = odometry.pose[i].position();
    if (last && distance(*last, p) < kJitter_m) continue;
    if (last) way += distance(*last, p);
    last = p;
  }
  return way;
}

Result<std::vector<PathGoal>> measured(const fs::path& path, const PathRecording& r, const PathReportOptions& options) {
  Result<std::vector<PathGoal>> goals = std::vector<PathGoal>{};
  if (options.line.empty()) {
    goals = goals_of(r.plans, r.samples, r.run.origin);
  } else {
    const Result<tracks::Line> line = tracks::load_line(options.line, !options.open_line);
    if (!line) return line.error();
    goals = laps_of(line->path, r.samples, r.run.origin);
  }
  if (!goals) return Error{path.string() + ": " + goals.error().message};
  if (r.odometry.size() == 0) return goals;
  // Poses in the map jitter with the localiser's corrections: their way is too long.
  for (PathGoal& goal : *goals) {
    const double start_s = seconds_since(r.run.origin, goal.start);
    goal.stretch.driven_m = way_between(r.odometry, start_s, start_s + goal.stretch.time_s);
  }
  return goals;
}

HistoryLine line_of(const fs::path& path, const PathGoal& g) {
  const tracks::PathStretch& s = g.stretch;
  return {path.string(),
          g.kind,
          g.start.ns,
          g.number,
          g.planned_m,
          s.driven_m,
          s.time_s,
          s.cross_track_m.mean_abs,
          s.cross_track_m.rms,
          s.cross_track_m.p95,
          s.cross_track_m.max,
          math::degrees(s.heading_rad.mean_abs)};
}

Cell maybe(const std::optional<double>& value, int digits) { return value ? number(*value, digits) : nothing(); }

Table goals_table(const std::vector<PathGoal>& goals, bool racing) {
  Table table{
      "goals",
      racing ? "Laps" : "Goals",
      "cross-track: signed distance from the segments of the plan, left positive, weighted by distance; bias is its mean, mean that of its "
      "amount; driven over planned below 1: corners are cut",
      {{"kind", "what"},
       {"number", "no"},
       {"samples", "n"},
       {"time_s", "time [s]"},
       {"planned_m", "planned [m]"},
       {"driven_m", "driven [m]"},
       {"driven_of_planned", "driven / planned"},
       {"bias_m", "bias [m]"},
       {"cte_mean_m", "mean [m]"},
       {"cte_rms_m", "rms [m]"},
       {"cte_p95_m", "p95 [m]"},
       {"cte_max_m", "max [m]"},
       {"cte_sd_m", "sd [m]"},
       {"heading_mean_deg", "heading [deg]"},
       {"heading_max_deg", "max [deg]"},
       {"speed_mps", "progress [m/s]"},
       {"speed_of_commanded", "of commanded"},
       {"reversals", "reversals"},
       {"grade", "cross-track is"},
       {"heading_grade", "heading is"},
       {"way_grade", "way is"}},
      {}};
  for (const PathGoal& g : goals) {
    const tracks::PathStretch& s = g.stretch;
    const tracks::ErrorSpread& e = s.cross_track_m;
    const bool judged = e.samples > 0;
    const auto grade = [&](tracks::Grade of) {
      return judged ? text(std::string(tracks::kGradeNames[static_cast<std::size_t>(of)])) : nothing();
    };
    const auto of = [judged](double value, int digits) { return judged ? number(value, digits) : nothing(); };
    const auto ratio = g.driven_of_planned();
    table.rows.push_back({text(g.kind),
                          count(g.number),
                          number(static_cast<double>(s.samples), 0),
                          number(s.time_s, 2),
                          number(g.planned_m, 2),
                          number(s.driven_m, 2),
                          maybe(ratio, 3),
                          of(e.mean, 3),
                          of(e.mean_abs, 3),
                          of(e.rms, 3),
                          of(e.p95, 3),
                          of(e.max, 3),
                          of(e.sd, 3),
                          of(math::degrees(s.heading_rad.mean_abs), 2),
                          of(math::degrees(s.heading_rad.max), 2),
                          maybe(s.progress_speed_mps, 3),
                          maybe(s.speed_of_commanded, 3),
                          count(g.reversals),
                          grade(racing ? tracks::grade_racing(e) : tracks::grade_indoor_distance(e.mean_abs)),
                          grade(tracks::grade_heading(s.heading_rad.mean_abs)),
                          ratio && *ratio > 0.0 ? grade(tracks::grade_way(*ratio)) : nothing()});
  }
  return table;
}

/// Change of the mean cross-track error per line, by least squares; NaN of fewer than two.
double slope_of(const std::vector<HistoryLine>& lines) {
  const double n = static_cast<double>(lines.size());
  if (lines.size() < 2) return NAN;
  double xy = 0.0;
  double xx = 0.0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const double x = static_cast<double>(i) - 0.5 * (n - 1.0);
    xy += x * lines[i].cte_mean_m;
    xx += x * x;
  }
  return xy / xx;
}

Section trend_of(const std::vector<HistoryLine>& lines, const std::vector<bool>& current, const PathReportOptions& options) {
  constexpr std::size_t kShown = 20;
  Section s;
  s.key = "trend";
  s.title = "Trend";
  s.notes.push_back(
      "how to read it: one line for each goal or lap, the newest last; a slope that is small against the spread of the lines is none");
  s.facts = {{"lines", "goals and laps", count(lines.size())},
             {"slope_mm", "change of the mean cross-track error per line [mm]", number(1000.0 * slope_of(lines), 2)}};
  if (options.max_cte_m) {
    s.facts.push_back({"max_cte_m", "allowed mean [m]", number(*options.max_cte_m)});
    s.facts.push_back({"longest_bad_run", "longest run above it that this recording is part of",
                       count(longest_bad_run(lines, current, *options.max_cte_m))});
  }
  Table table{"history",
              "The last of them",
              "mean, 95th percentile and maximum of the cross-track error",
              {{"recording", "recording"},
               {"kind", "what"},
               {"number", "no"},
               {"cte_mean_m", "mean [m]"},
               {"cte_p95_m", "p95 [m]"},
               {"cte_max_m", "max [m]"},
               {"new", "this one"}},
              {}};
  for (std::size_t i = lines.size() > kShown ? lines.size() - kShown : 0; i < lines.size(); ++i) {
    const HistoryLine& l = lines[i];
    table.rows.push_back({text(l.recording), text(l.kind), count(l.number), number(l.cte_mean_m), number(l.cte_p95_m), number(l.cte_max_m),
                          flag(current[i])});
  }
  s.tables.push_back(std::move(table));
  return s;
}

/// The history with these lines in it; one that is there already is replaced.
Result<std::vector<HistoryLine>> with_history(const std::vector<HistoryLine>& now, const fs::path& file, std::vector<bool>& current) {
  std::vector<HistoryLine> lines;
  std::error_code failed;
  if (!file.empty() && fs::exists(file, failed)) {
    const Result<std::string> old = read_file(file);
    if (!old) return old.error();
    auto parsed = parse_history(*old, file.string());
    if (!parsed) return parsed.error();
    lines = *std::move(parsed);
  }
  current.assign(lines.size(), false);
  for (const HistoryLine& each : now) {
    const auto same = std::find_if(lines.begin(), lines.end(), [&](const HistoryLine& line) { return line.same_as(each); });
    if (same != lines.end()) {
      *same = each;
      current[static_cast<std::size_t>(same - lines.begin())] = true;
    } else {
      lines.push_back(each);
      current.push_back(true);
    }
  }
  return lines;
}

}  // namespace

GatedReport path_report(const fs::path& recording, const PathReportOptions& options) {
  GatedReport report;
  report.document.title = "Path tracking";
  const auto refuse = [&report](const Error& error) {
    report.refused.push_back(error.message);
    return report;
  };
  const Result<PathRecording> recorded = load_path_recording(recording, options);
  if (!recorded) return refuse(recorded.error());
  const Result<std::vector<PathGoal>> goals = measured(recording, *recorded, options);
  if (!goals) return refuse(goals.error());
  report.document.warnings = recorded->warnings;
  std::vector<HistoryLine> now;
  for (const PathGoal& goal : *goals) {
    if (goal.stretch.cross_track_m.samples > 0) {
      now.push_back(line_of(recording, goal));
    } else {
      report.document.warnings.push_back(recording.string() + ": " + goal.kind + " " + std::to_string(goal.number) +
                                         ": the vehicle never got going along the path, so that nothing is judged");
    }
  }
  Section section;
  section.key = "path_metrics";
  section.title = recording.string();
  section.notes.push_back("how to read it: compare runs along one plan at one speed; the mean hides corners, p95 and max show them");
  section.facts = {{"recording", "recording", text(recording.string())},
                   {"plan", "plan", text(options.line.empty() ? options.plan_topic : options.line.string())},
                   {"frame", "frame", text(recorded->plan_frame)}};
  section.tables.push_back(goals_table(*goals, !options.line.empty()));
  report.document.sections.push_back(std::move(section));

  std::vector<bool> current;
  const auto lines = with_history(now, options.history, current);
  if (!lines) return refuse(lines.error());
  if (!options.history.empty()) {
    if (const Status written = write_file(options.history, history_text(*lines)); !written) return refuse(written.error());
    report.written.push_back(options.history.string());
  }
  report.document.sections.push_back(trend_of(*lines, current, options));
  if (options.max_cte_m) {
    const double bad = now.empty() ? NAN : static_cast<double>(longest_bad_run(*lines, current, *options.max_cte_m));
    report.gate.at_most(
        recording.string() + ": goals or laps in a row with a mean cross-track error above " + format_number(*options.max_cte_m, 4) + " m",
        static_cast<double>(options.consecutive) - 1.0, bad);
  }
  report.gate.add_to(report.document);
  return report;
}

}  // namespace pitwall::analysis

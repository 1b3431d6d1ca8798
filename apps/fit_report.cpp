// SPDX-License-Identifier: Apache-2.0
#include "apps/fit_report.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/picture.hpp"
#include "core/text.hpp"

namespace pitwall::apps {
namespace {

using analysis::Document;
using analysis::number;
using analysis::Section;
using analysis::Table;
using analysis::text;
using fit::Fitted;
using fit::Quantity;
using fit::Verdict;

std::string_view verdict_name(const Fitted& f) { return fit::kVerdictNames[static_cast<std::size_t>(f.verdict)]; }

Table table_of_parameters(const fit::FitResult& result) {
  Table table{
      "parameters",
      "Parameters",
      "95 % intervals by block bootstrap; identified: known within a tenth, a delay within 10 ms; otherwise back at its prior, with the "
      "interval around where the runs alone would put it",
      {{"name", "name"},
       {"unit", "unit"},
       {"verdict", "verdict"},
       {"value", "value"},
       {"low", "95 % from"},
       {"high", "to"},
       {"half_width", "half-width"},
       {"allowed", "allowed"},
       {"prior", "prior"},
       {"step_disagreement", "steps apart"}},
      {}};
  for (const Fitted& f : result.parameters) {
    if (!f.parameter.free) continue;
    const bool bound = f.verdict == Verdict::kAtBound;
    table.rows.push_back({text(f.parameter.name), text(f.parameter.unit), text(std::string(verdict_name(f))), number(f.value, 4),
                          number(bound ? NAN : f.low, 4), number(bound ? NAN : f.high, 4), number(bound ? NAN : f.half_width, 4),
                          number(f.parameter.allowed, 4), number(f.parameter.prior, 4), number(f.step_disagreement, 3)});
  }
  return table;
}

/// Pairs of parameters that the runs can hardly tell apart.
Table table_of_correlation(const fit::FitResult& result) {
  constexpr double kWorthSaying = 0.7;
  Table table{"correlation",
              "Correlation",
              "pairs above 0.7 in size: one can stand for the other",
              {{"one", "one"}, {"other", "other"}, {"correlation", "correlation"}},
              {}};
  for (std::size_t i = 0; i < result.free.size(); ++i) {
    for (std::size_t j = i + 1; j < result.free.size(); ++j) {
      const double c = result.correlation.empty() ? 0.0 : result.correlation[i][j];
      if (std::abs(c) < kWorthSaying) continue;
      table.rows.push_back(
          {text(result.parameters[result.free[i]].parameter.name), text(result.parameters[result.free[j]].parameter.name), number(c, 2)});
    }
  }
  return table;
}

Table table_of_errors(const fit::FitResult& result) {
  Table table{"errors",
              "Errors",
              "root mean square of simulated less measured; every third stretch is held out",
              {{"quantity", "quantity"},
               {"source", "source"},
               {"unit", "unit"},
               {"samples", "samples"},
               {"before", "before"},
               {"after", "after"},
               {"held_samples", "held out"},
               {"held_before", "before"},
               {"held_after", "after"}},
              {}};
  for (const fit::ChannelError& e : result.errors) {
    const auto q = static_cast<std::size_t>(e.quantity);
    table.rows.push_back({text(std::string(fit::kQuantityNames[q])), text(e.source), text(std::string(fit::kQuantityUnits[q])),
                          analysis::count(e.samples), number(e.before), number(e.after), analysis::count(e.held_samples),
                          number(e.held_before), number(e.held_after)});
  }
  return table;
}

Table table_of_predictions(const fit::Prediction& a, const fit::Prediction& b) {
  Table table{"prediction",
              "One second ahead",
              "from the measured state, on what was held out; root mean square",
              {{"quantity", "quantity"},
               {"unit", "unit"},
               {"before", "before"},
               {"after", "after"},
               {"less", "less by [%]"},
               {"samples", "samples"}},
              {}};
  const auto add = [&](const char* name, const char* unit, double before, double after, std::size_t samples) {
    table.rows.push_back(
        {text(name), text(unit), number(before), number(after), number(100.0 * (1.0 - after / before), 1), analysis::count(samples)});
  };
  add("speed", "m/s", a.speed_mps, b.speed_mps, a.speed_samples);
  add("yaw rate", "rad/s", a.yaw_rate_radps, b.yaw_rate_radps, a.yaw_rate_samples);
  add("position", "m", a.position_m, b.position_m, a.samples);
  return table;
}

Table table_of_lags(const fit::FitResult& result) {
  Table table{"steering_lag",
              "Steering lag",
              "delay and time constant together, of the yaw rate behind the commanded curvature: measured, and as the two cars have it",
              {{"run", "run"},
               {"measured_s", "measured [s]"},
               {"low_s", "95 % from"},
               {"high_s", "to"},
               {"before_s", "before"},
               {"after_s", "after"}},
              {}};
  for (const fit::SteeringLag& lag : result.lags) {
    table.rows.push_back(
        {text(lag.drive), number(lag.measured_s), number(lag.low_s), number(lag.high_s), number(lag.before_s), number(lag.after_s)});
  }
  return table;
}

Table table_of_fragment(const std::vector<calibration::Entry>& fragment) {
  Table table{"profile",
              "For the car profile",
              "--write FILE puts these in",
              {{"name", "name"}, {"value", "value"}, {"unit", "unit"}, {"provenance", "provenance"}, {"source", "source"}},
              {}};
  for (const calibration::Entry& e : fragment) {
    table.rows.push_back(
        {text(e.name), text(e.value.scalar), text(e.unit), text(std::string(calibration::to_string(e.provenance))), text(e.source)});
  }
  return table;
}

Table table_of_laps(const std::vector<LapChange>& laps) {
  Table table{"laps",
              "Laps in the simulator",
              "with the car as it was, and as it was fitted",
              {{"scenario", "scenario"},
               {"track", "track"},
               {"car", "car"},
               {"passed", "passed"},
               {"lap_s", "lap [s]"},
               {"cross_track_m", "largest cross-track [m]"},
               {"clearance_m", "least clearance [m]"},
               {"stops", "stop ticks"},
               {"lateral_mps2", "largest lateral [m/s^2]"}},
              {}};
  for (const LapChange& lap : laps) {
    for (const auto& [name, o] : {std::pair{"before", &lap.before}, {"after", &lap.after}}) {
      table.rows.push_back({text(o->scenario), text(o->track), text(name), analysis::flag(o->passed),
                            number(o->lap_time_s.value_or(NAN), 2), number(o->max_cross_track_m), number(o->min_clearance_m),
                            analysis::count(static_cast<std::size_t>(o->stop_steps)), number(o->grip.max_allowed_lateral_mps2, 2)});
    }
  }
  return table;
}

std::string names_with(const fit::FitResult& result, Verdict verdict) {
  std::vector<std::string> names;
  for (const Fitted& f : result.parameters) {
    if (f.parameter.free && f.verdict == verdict) names.push_back(f.parameter.name);
  }
  return names.empty() ? "none" : join(names);
}

/// Measured and simulated values of one quantity of a drive.
struct Compared {
  analysis::Line measured, before, after, left_before, left_after;
};

void add_rows(const fit::Problem& problem, const fit::Piece& piece, Quantity quantity, const std::vector<double>& before,
              const std::vector<double>& after, Compared& into) {
  // A gap between stretches breaks the lines.
  const auto add = [](analysis::Line& line, double t_s, double value) {
    line.t_s.push_back(t_s);
    line.value.push_back(value);
  };
  for (std::size_t i = 0; i < piece.rows.size(); ++i) {
    const fit::Row& row = piece.rows[i];
    if (problem.channels[row.channel].quantity != quantity) continue;
    add(into.measured, row.at_s, row.measured);
    add(into.before, row.at_s, row.measured + before[i]);
    add(into.after, row.at_s, row.measured + after[i]);
    add(into.left_before, row.at_s, before[i]);
    add(into.left_after, row.at_s, after[i]);
  }
  for (analysis::Line* line : {&into.measured, &into.before, &into.after, &into.left_before, &into.left_after}) {
    add(*line, piece.stretch.end_s, NAN);
  }
}

}  // namespace

std::string residual_plot(const fit::Problem& problem, const fit::FitResult& result, std::size_t drive) {
  analysis::Picture picture;
  picture.title = problem.drives[drive].name + ": measured and simulated";
  picture.begin_s = INFINITY;
  picture.end_s = 0.0;
  fit::Played scratch;
  for (const Quantity quantity : {Quantity::kSpeed, Quantity::kWheelSpeed, Quantity::kYawRate, Quantity::kTurn}) {
    Compared c;
    for (const fit::Piece& piece : problem.pieces) {
      if (piece.stretch.drive != drive) continue;
      picture.begin_s = std::min(picture.begin_s, piece.stretch.begin_s);
      picture.end_s = std::max(picture.end_s, piece.stretch.end_s);
      std::vector<double> before(piece.rows.size());
      std::vector<double> after(piece.rows.size());
      if (!fit::residuals_of(problem, piece, result.before, scratch, before.data()) ||
          !fit::residuals_of(problem, piece, result.after, scratch, after.data())) {
        continue;
      }
      add_rows(problem, piece, quantity, before, after, c);
    }
    if (std::none_of(c.measured.value.begin(), c.measured.value.end(), [](double v) { return std::isfinite(v); })) continue;
    const auto q = static_cast<std::size_t>(quantity);
    const std::string unit = " [" + std::string(fit::kQuantityUnits[q]) + "]";
    c.measured.name = "measured";
    c.before.name = c.left_before.name = "before";
    c.after.name = c.left_after.name = "fitted";
    picture.panels.push_back({std::string(fit::kQuantityNames[q]) + unit, {c.measured, c.before, c.after}});
    picture.panels.push_back({std::string(fit::kQuantityNames[q]) + ", simulated less measured" + unit, {c.left_before, c.left_after}});
  }
  for (const fit::Piece& piece : problem.pieces) {
    if (piece.stretch.drive == drive && piece.held_out)
      picture.bands.push_back({piece.stretch.begin_s, piece.stretch.end_s, "held out", 2});
  }
  return analysis::to_svg(picture);
}

Document document_of(const FitReport& report) {
  const fit::FitResult& result = *report.result;
  const fit::Problem& problem = *report.problem;
  Document document;
  document.title = report.title;
  Section data{"data", "What was fitted", report.notes, {}, {}, {}};
  data.facts = {{"runs", "runs", analysis::count(problem.drives.size())},
                {"motion_s", "motion [s]", number(problem.motion_s, 1)},
                {"stretches", "stretches", analysis::count(problem.pieces.size())},
                {"rows", "measurements fitted", analysis::count(problem.rows(false))},
                {"held_rows", "measurements held out", analysis::count(problem.rows(true))},
                {"iterations", "iterations", analysis::count(static_cast<std::size_t>(result.iterations))},
                {"simulations", "stretches simulated", analysis::count(result.simulations)}};
  Section found{"fit", "What was found", {}, {}, {}, report.pictures};
  found.facts = {{"identified", "identified", text(names_with(result, Verdict::kIdentified))},
                 {"unidentified", "not identified, at their priors", text(names_with(result, Verdict::kUnidentified))},
                 {"at_bound", "at a bound", text(names_with(result, Verdict::kAtBound))}};
  found.tables = {table_of_parameters(result), table_of_correlation(result)};
  Section good{"errors",
               "How well it predicts",
               {},
               {},
               {table_of_predictions(result.predicted_before, result.predicted_after), table_of_errors(result), table_of_lags(result)},
               {}};
  Section use{"use", "What to do with it", {}, {}, {table_of_fragment(report.fragment)}, {}};
  if (!report.laps.empty()) use.tables.push_back(table_of_laps(report.laps));
  document.sections = {std::move(data), std::move(found), std::move(good), std::move(use)};
  for (const Fitted& f : result.parameters) {
    constexpr double kRough = 0.1;
    if (f.parameter.free && f.step_disagreement > kRough) {
      document.warnings.push_back(f.parameter.name + ": its sensitivity differs by " + format_number(100.0 * f.step_disagreement, 3) +
                                  " % between two steps: a limit that is only just met");
    }
  }
  return document;
}

Document document_of(const std::string& title, const std::vector<std::string>& notes, const fit::Grid& grid, std::size_t most) {
  Document document;
  document.title = title;
  Section section{"grid", "Grid, best first", notes, {}, {}, {}};
  section.facts = {{"combinations", "combinations", analysis::count(grid.points.size())},
                   {"speed_rms_mps", "speed error of the car as it is [m/s]", number(grid.baseline.speed_rms_mps)},
                   {"yaw_rate_rms_radps", "yaw rate error of the car as it is [rad/s]", number(grid.baseline.yaw_rate_rms_radps)}};
  Table table{"points", "Combinations", "score: mean of both errors, each over that of the car as it is", {{"rank", "rank"}}, {}};
  for (const fit::GridAxis& axis : grid.axes) table.columns.push_back({axis.given, axis.given});
  for (const auto& [key, name] : {std::pair{"speed_rms_mps", "speed RMS [m/s]"},
                                  {"yaw_rate_rms_radps", "yaw rate RMS [rad/s]"},
                                  {"score", "score"},
                                  {"held_score", "score held out"},
                                  {"at_edge", "at an edge"}}) {
    table.columns.push_back({key, name});
  }
  for (std::size_t k = 0; k < std::min(most, grid.points.size()); ++k) {
    const fit::GridPoint& p = grid.points[k];
    std::vector<analysis::Cell> row{analysis::count(k + 1)};
    for (const double value : p.values) row.push_back(number(value, 4));
    for (const double value : {p.speed_rms_mps, p.yaw_rate_rms_radps, p.score, p.held_score}) row.push_back(number(value));
    row.push_back(analysis::flag(p.at_edge));
    table.rows.push_back(std::move(row));
  }
  section.tables = {std::move(table), table_of_predictions(grid.predicted_before, grid.predicted_best)};
  document.sections = {std::move(section)};
  if (!grid.points.empty() && grid.points.front().at_edge) document.warnings.emplace_back("the best combination is at an edge of the grid");
  return document;
}

}  // namespace pitwall::apps

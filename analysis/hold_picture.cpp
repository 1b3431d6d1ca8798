// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/picture.hpp"
#include "analysis/run_report.hpp"
#include "core/text.hpp"

namespace pitwall::analysis {

namespace {

constexpr std::size_t kMostViews = 12;

std::vector<double> middles(const MeasuredMotion& measured) {
  std::vector<double> t;
  for (std::size_t i = 0; i < measured.size(); ++i) t.push_back(0.5 * (measured.begin_s[i] + measured.end_s[i]));
  return t;
}

/// The entries of a series within the picture.
Line line_of(std::string name, const std::vector<double>& t_s, const std::vector<double>& value, const Hold& hold, bool held) {
  Line line;
  line.name = std::move(name);
  line.held = held;
  for (std::size_t i = 0; i < t_s.size(); ++i) {
    if (!hold.holds(t_s[i])) continue;
    line.t_s.push_back(t_s[i]);
    line.value.push_back(value[i]);
  }
  return line;
}

/// Turn rate that the commands ask for at the measured speed, or ask for themselves.
Line commanded_turn(const RunAnalysis& analysis, const HoldReport& report) {
  const CommandSeries& command = analysis.run.command;
  const std::vector<double> speed =
      signals::resample(middles(report.measured), report.measured.speed_mps, command.t_s, signals::Between::kLinear, 0.5);
  std::vector<double> turn(command.size(), NAN);
  for (std::size_t i = 0; i < turn.size(); ++i) {
    const bool angle = std::isfinite(command.steering_rad[i]);
    turn[i] = angle ? speed[i] * math::tan(command.steering_rad[i]) / analysis.driver.car.wheelbase_m : command.yaw_rate_radps[i];
  }
  return line_of("commanded", command.t_s, turn, report.hold, true);
}

std::vector<Panel> panels_of(const RunAnalysis& analysis, const HoldReport& report) {
  const RunData& run = analysis.run;
  const std::vector<double> t = middles(report.measured);
  Panel speed{"speed [m/s]", {}};
  speed.lines.push_back(line_of("commanded", run.command.t_s, run.command.speed_mps, report.hold, true));
  speed.lines.push_back(line_of("measured, " + report.measured.source, t, report.measured.speed_mps, report.hold, false));
  if (report.measured.source != "odometry") {
    speed.lines.push_back(line_of("odometry", run.odometry.t_s, run.odometry.speed_mps, report.hold, false));
  }
  Panel turn{"turn rate [rad/s]", {}};
  turn.lines.push_back(commanded_turn(analysis, report));
  turn.lines.push_back(line_of("measured, " + report.measured.source, t, report.measured.yaw_rate_radps, report.hold, false));
  if (run.truth.size() > 0) {
    speed.lines.push_back(line_of("truth", run.truth.t_s, run.truth.speed_mps, report.hold, false));
    turn.lines.push_back(line_of("", {}, {}, report.hold, false));
    turn.lines.push_back(line_of("truth", run.truth.t_s, run.truth.yaw_rate_radps, report.hold, false));
  }
  Panel steering{"steering [rad]", {}};
  steering.lines.push_back(line_of("commanded", run.command.t_s, run.command.steering_rad, report.hold, true));
  if (analysis.replayed) {
    const DecisionSeries& calls = analysis.replayed->calls;
    steering.lines.push_back(line_of("replayed", calls.t_s, calls.steering_rad, report.hold, true));
  }
  return {std::move(speed), std::move(turn), std::move(steering)};
}

TopView view_of(const RunAnalysis& analysis, const StopRow& row, std::size_t number) {
  const CarParameters& car = analysis.driver.car;
  controllers::ScanView scan(car);
  scan.reset();
  TopView view;
  view.title = "stop " + std::to_string(number) + ", " + format_number(row.begin_s, 5) + " s: " + row.reason;
  view.subtitle =
      format_number(row.geometry.speed_mps, 3) + " m/s, clear " +
      (std::isfinite(row.geometry.clear_m) ? format_number(row.geometry.clear_m, 3) + " m" : "beyond sight") + ", stops in " +
      format_number(row.geometry.stopping_m, 3) + " m" +
      (row.geometry.verdict == Verdict::kNone ? "" : ": " + std::string(kVerdictNames[static_cast<std::size_t>(row.geometry.verdict)]));
  view.chassis = car.chassis();
  view.padded = car.padded_body();
  view.curvature = row.geometry.curvature;
  view.path_m = std::max(1.0, row.geometry.stopping_m);
  if (!scan.update(row.event->scan)) return view;
  view.lidar_base = scan.lidar_position();
  for (std::size_t i = 0; i < scan.size(); i += 2) {
    if (scan.valid(i)) view.points_base.push_back(scan.point_base(i));
  }
  view.has_beam = row.geometry.beam >= 0;
  view.beam_base = row.geometry.point_base;
  return view;
}

}  // namespace

std::string draw(const RunAnalysis& analysis, const HoldReport& report) {
  Picture picture;
  picture.title = "hold " + std::to_string(report.number) + ": " + format_number(report.hold.begin_s, 5) + " to " +
                  format_number(report.hold.end_s, 5) + " s";
  picture.begin_s = report.hold.begin_s;
  picture.end_s = report.hold.end_s;
  picture.panels = panels_of(analysis, report);
  for (std::size_t k = 0; k < report.stops.size(); ++k) {
    const StopRow& row = report.stops[k];
    const int colour = row.layer == "safety" ? 0 : row.layer == "law" ? 1 : 2;
    picture.bands.push_back({row.begin_s, std::max(row.end_s, row.begin_s + 0.02), row.reason, colour});
    const bool pictured = row.event != nullptr && !row.event->scan.ranges.empty() && row.layer != "watchdog";
    if (pictured && picture.views.size() < kMostViews) picture.views.push_back(view_of(analysis, row, k + 1));
  }
  return to_svg(picture);
}

}  // namespace pitwall::analysis

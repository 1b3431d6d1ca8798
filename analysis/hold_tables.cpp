// SPDX-License-Identifier: Apache-2.0
#include "analysis/hold_tables.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "analysis/settings.hpp"

namespace pitwall::analysis {

namespace {

template <class Condition>
std::size_t count_in(const std::vector<double>& t_s, const Hold& hold, Condition condition) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < t_s.size(); ++i) n += hold.holds(t_s[i]) && condition(i) ? 1 : 0;
  return n;
}

/// The true way in a hold.
Way true_way(const TruthSeries& truth, const Hold& hold) {
  MeasuredMotion all;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (!hold.holds(truth.t_s[i])) continue;
    all.begin_s.push_back(truth.t_s[i]);
    all.end_s.push_back(truth.t_s[i]);
    all.speed_mps.push_back(truth.speed_mps[i]);
  }
  return way_of(all);
}

}  // namespace

Table table_of_summary(const RunAnalysis& analysis, const HoldReport& report) {
  Table table{"summary",
              "What the car did",
              "where the walls do not tell the speed the wheels stand in for the distance; the share they tell is below",
              {{"quantity", "quantity"}, {"value", "value"}, {"unit", "unit"}, {"truth", "from the truth"}, {"difference", "difference"}},
              {}};
  const RunData& run = analysis.run;
  const Hold& hold = report.hold;
  const Way way = way_of(report.measured, run.odometry);
  const bool simulated = run.truth.size() > 1;
  const Way truth = simulated ? true_way(run.truth, hold) : Way{0.0, NAN, NAN, 0.0};
  const auto add = [&](const std::string& name, double value, const std::string& unit, double true_value, int digits = 3) {
    table.rows.push_back({text(name), number(value, digits), text(unit), number(true_value, digits), number(value - true_value, digits)});
  };
  const double none = NAN;
  add("duration", hold.seconds(), "s", none, 2);
  const std::string source = report.measured.source;
  add("distance, " + source, way.distance_m, "m", simulated ? truth.distance_m : none, 2);
  if (source != "odometry" && run.odometry.size() > 0) {
    add("distance, odometry", way_of(by_odometry(run.odometry, hold.begin_s, hold.end_s)).distance_m, "m",
        simulated ? truth.distance_m : none, 2);
  }
  add("mean speed", way.mean_mps, "m/s", truth.mean_mps);
  add("peak speed", way.peak_mps, "m/s", truth.peak_mps);
  add("share of the time the walls tell the speed", 100.0 * way.known_share, "%", none, 1);
  const CommandSeries& command = run.command;
  add("command ticks", static_cast<double>(count_in(command.t_s, hold, [](std::size_t) { return true; })), "", none, 0);
  add("ticks commanding zero", static_cast<double>(count_in(command.t_s, hold, [&](std::size_t i) { return command.speed_mps[i] == 0.0; })),
      "", none, 0);
  const auto changes = std::count_if(run.parameter_changes.begin(), run.parameter_changes.end(),
                                     [&](const auto& change) { return hold.holds(seconds_since(run.origin, change.at)); });
  add("live parameter changes", static_cast<double>(changes), "", none, 0);
  return table;
}

Table table_of_response(const RunAnalysis& analysis, const HoldReport& report) {
  Table table{"response",
              "How it answered",
              "a number that is not identifiable is not to be used; the interval holds 95 % of the time",
              {{"key", "key"},
               {"name", "quantity"},
               {"value", "value"},
               {"low", "from"},
               {"high", "to"},
               {"unit", "unit"},
               {"samples", "n"},
               {"rms", "rms left"},
               {"identifiable", "identifiable"},
               {"why", "why not"},
               {"calibration", "calibration now"},
               {"truth", "from the truth"},
               {"difference", "difference"}},
              {}};
  for (const ResponseRow& row : report.response.rows) {
    const signals::Estimate& e = row.estimate;
    const signals::Estimate* truth = report.truth ? report.truth->find(row.key) : nullptr;
    const double true_value = truth != nullptr && truth->identifiable ? truth->value : NAN;
    const int digits = row.unit == "s" ? 4 : 3;
    table.rows.push_back({text(row.key), text(row.name), number(e.value, digits), number(e.low, digits), number(e.high, digits),
                          text(row.unit), count(e.samples), number(row.rms), flag(e.identifiable), text(e.why),
                          text(setting_of(analysis.driver.car, row.replaces)), number(true_value, digits),
                          number(e.value - true_value, digits)});
  }
  return table;
}

Table table_of_grip(const HoldReport& report) {
  Table table{"grip",
              "Grip",
              "turn rate over what was commanded, by commanded lateral acceleration; below about 0.9 the tyres slide",
              {{"from_mps2", "from [m/s^2]"},
               {"to_mps2", "to [m/s^2]"},
               {"gain", "gain"},
               {"low", "from"},
               {"high", "to"},
               {"samples", "n"},
               {"identifiable", "identifiable"},
               {"why", "why not"},
               {"truth", "from the truth"},
               {"difference", "difference"}},
              {}};
  for (std::size_t k = 0; k < report.response.grip.size(); ++k) {
    const GripRow& row = report.response.grip[k];
    double truth = NAN;
    if (report.truth && k < report.truth->grip.size() && report.truth->grip[k].gain.samples > 0) truth = report.truth->grip[k].gain.value;
    table.rows.push_back({number(row.from_mps2, 0), number(row.to_mps2, 0), number(row.gain.value), number(row.gain.low),
                          number(row.gain.high), count(row.gain.samples), flag(row.gain.identifiable), text(row.gain.why), number(truth),
                          number(row.gain.value - truth)});
  }
  return table;
}

Table table_of_replay(const RunAnalysis& analysis, const HoldReport& report) {
  Table table{"replay",
              "Replay of " + analysis.driver.controller,
              "steering within 0.001 rad: the replay is the car's controller, and what follows of it can be believed",
              {{"ticks", "ticks"},
               {"steering_rms_rad", "steering RMS [rad]"},
               {"speed_rms_mps", "speed RMS [m/s]"},
               {"stop_agreement_percent", "stop or drive alike [%]"},
               {"identical_percent", "identical [%]"},
               {"first_difference_s", "first difference [s]"},
               {"parameters", "parameters"}},
              {}};
  const DecisionSeries& calls = analysis.replayed->calls;
  double steering = 0.0;
  double speed = 0.0;
  double first = NAN;
  std::size_t n = 0;
  std::size_t alike = 0;
  std::size_t same = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (!report.hold.holds(calls.t_s[i])) continue;
    const double ds = calls.steering_rad[i] - calls.recorded_steering_rad[i];
    const double dv = calls.speed_mps[i] - calls.recorded_speed_mps[i];
    const bool identical = ds == 0.0 && dv == 0.0;
    if (!identical && std::isnan(first)) first = calls.t_s[i];
    steering += ds * ds;
    speed += dv * dv;
    same += identical ? 1 : 0;
    alike += calls.stop(i) == calls.recorded_stop(i) ? 1 : 0;
    ++n;
  }
  const double total = std::max(1.0, static_cast<double>(n));
  table.rows.push_back({count(n), number(std::sqrt(steering / total), 5), number(std::sqrt(speed / total), 4),
                        number(100.0 * static_cast<double>(alike) / total, 2), number(100.0 * static_cast<double>(same) / total, 2),
                        number(first, 3), text(analysis.driver.source)});
  return table;
}

Table table_of_stops(const std::vector<StopRow>& stops) {
  Table table{"stops",
              "Stops",
              "clear way: how far the chassis could have gone on along its arc; a false alarm had 1.5 times its stopping distance",
              {{"begin_s", "from [s]"},
               {"end_s", "to [s]"},
               {"ticks", "ticks"},
               {"layer", "layer"},
               {"reason", "reason"},
               {"recorded", "as recorded"},
               {"speed_mps", "speed [m/s]"},
               {"speed_source", "speed by"},
               {"beam", "beam"},
               {"bearing_deg", "bearing [deg]"},
               {"range_m", "range [m]"},
               {"ttc_s", "TTC [s]"},
               {"path_offset_m", "beside the path [m]"},
               {"outside_m", "outside the body [m]"},
               {"clear_m", "clear way [m]"},
               {"clear_padded_m", "padded [m]"},
               {"stopping_m", "stopping [m]"},
               {"verdict", "verdict"},
               {"true_speed_mps", "true speed [m/s]"},
               {"true_clear_m", "true clear way [m]"},
               {"true_verdict", "true verdict"},
               {"clear_difference_m", "difference [m]"}},
              {}};
  for (const StopRow& row : stops) {
    if (table.rows.size() == kMostStopRows) break;
    const StopGeometry& g = row.geometry;
    const bool known = row.event != nullptr;
    const bool true_known = row.truth.has_value();
    const Verdict true_verdict = true_known && g.verdict != Verdict::kNone
                                     ? verdict_of(row.truth->outside_m, row.truth->clear_m, row.truth->stopping_m)
                                     : Verdict::kNone;
    table.rows.push_back({number(row.begin_s),
                          number(row.end_s),
                          count(row.ticks),
                          text(row.layer),
                          text(row.reason),
                          text(row.recorded),
                          known ? number(g.speed_mps) : nothing(),
                          text(!known                        ? ""
                               : row.event->speed_is_command ? "command"
                                                             : "odometry"),
                          known && g.beam >= 0 ? count(static_cast<std::size_t>(g.beam)) : nothing(),
                          number(g.bearing_rad / math::kDegree, 1),
                          number(g.range_m),
                          known ? number(row.event->ttc_s) : nothing(),
                          number(g.path_offset_m),
                          number(g.outside_m),
                          known ? number(g.clear_m) : nothing(),
                          known ? number(g.clear_padded_m) : nothing(),
                          known ? number(g.stopping_m) : nothing(),
                          text(std::string(kVerdictNames[static_cast<std::size_t>(g.verdict)])),
                          true_known ? number(row.truth->speed_mps) : nothing(),
                          true_known ? number(row.truth->clear_m) : nothing(),
                          text(std::string(kVerdictNames[static_cast<std::size_t>(true_verdict)])),
                          true_known ? number(g.clear_m - row.truth->clear_m) : nothing()});
  }
  return table;
}

Table table_of_layers(const std::vector<StopRow>& stops) {
  Table table{"stops_by_layer",
              "Stop ticks by layer",
              "",
              {{"layer", "layer"},
               {"reason", "reason"},
               {"ticks", "ticks"},
               {"stops", "stops"},
               {"false_alarms", "false alarms"},
               {"marginal", "marginal"},
               {"justified", "justified"},
               {"otherwise_recorded", "recorded otherwise"}},
              {}};
  struct Sum {
    std::size_t ticks = 0, stops = 0, otherwise = 0;
    std::array<std::size_t, 4> verdicts{};
  };
  std::map<std::pair<std::string, std::string>, Sum> sums;
  for (const StopRow& row : stops) {
    Sum& sum = sums[{row.layer, row.layer == "drive_silent" || row.layer == "driver" ? "" : row.reason}];
    sum.ticks += row.ticks;
    ++sum.stops;
    sum.otherwise += row.agrees() ? 0 : 1;
    ++sum.verdicts[static_cast<std::size_t>(row.geometry.verdict)];
  }
  for (const auto& [key, sum] : sums) {
    table.rows.push_back({text(key.first), text(key.second), count(sum.ticks), count(sum.stops), count(sum.verdicts[1]),
                          count(sum.verdicts[2]), count(sum.verdicts[3]), count(sum.otherwise)});
  }
  return table;
}

}  // namespace pitwall::analysis

// SPDX-License-Identifier: Apache-2.0
#include "analysis/run_report.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/text.hpp"

namespace pitwall::analysis {

namespace {

constexpr double kDegree = math::kPi / 180.0;
constexpr std::size_t kMostStopRows = 500;

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

/// The value of a car's calibration, "0.05", or nothing where it has no such number.
std::string calibration_value(const CarParameters& car, const std::string& name) {
  if (name.empty()) return "";
  const Node all = save_fields(car);
  const Node* value = all.find(name);
  return value == nullptr ? "" : name + " = " + value->scalar;
}

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
                          text(calibration_value(analysis.driver.car, row.replaces)), number(true_value, digits),
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
                          number(g.bearing_rad / kDegree, 1),
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

/// "safety: ttc_brake 97 ticks in 3 stops".
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

Section section_of_run(const RunAnalysis& analysis) {
  const RunData& run = analysis.run;
  Section section{"run", "The recording", {}, {}, {}, {}};
  section.facts = {{"path", "run", text(run.path.string())},
                   {"duration_s", "duration [s]", number(run.duration_s, 2)},
                   {"messages", "messages", count(run.messages)},
                   {"car", "car", text(run.car.name.empty() ? "-" : run.car.name)},
                   {"controller", "controller", text(analysis.driver.controller)},
                   {"parameters", "its parameters", text(analysis.driver.source)},
                   {"simulated", "simulated: numbers are also computed from the truth", flag(run.truth.size() > 1)},
                   {"cache", "cache", text(analysis.cache)}};
  if (analysis.replayed) {
    const DecisionSeries& calls = analysis.replayed->calls;
    const double share = calls.size() > 0 ? 100.0 * (1.0 - calls.differing / static_cast<double>(calls.size())) : NAN;
    section.facts.push_back({"replay_exact", "replay by ticks, exact", flag(!calls.approximate)});
    section.facts.push_back({"replay_identical_percent", "decisions reproduced to the bit [%]", number(share, 2)});
    if (!calls.first_difference.empty()) section.facts.push_back({"first_difference", "first difference", text(calls.first_difference)});
  }
  const MotionSeries& motion = analysis.motion;
  const auto unseen = static_cast<std::size_t>(std::count(motion.speed_seen.begin(), motion.speed_seen.end(), 0.0));
  section.facts.push_back({"scan_pairs", "pairs of scans matched", count(motion.size())});
  section.facts.push_back(
      {"scan_pairs_without_speed", "of them without a say on the speed (long corridor, too little seen)", count(unseen)});
  section.facts.push_back({"scan_gaps", "scans too far apart to be a pair", count(static_cast<std::size_t>(motion.gaps))});
  std::vector<double> residual = motion.residual_m;
  if (!residual.empty()) {
    std::nth_element(residual.begin(), residual.begin() + static_cast<std::ptrdiff_t>(residual.size() / 2), residual.end());
    section.facts.push_back(
        {"median_match_mm", "median distance of matched walls [mm]", number(1000.0 * residual[residual.size() / 2], 1)});
  }
  Table topics{"topics",
               "Topics",
               "a clock is good where stamps go forwards and latency is small and steady",
               {{"role", "role"},
                {"name", "topic"},
                {"count", "messages"},
                {"rate_hz", "rate [Hz]"},
                {"worst_gap_s", "worst gap [s]"},
                {"latency_s", "median latency [s]"},
                {"zero_stamps", "without stamp"},
                {"backward_stamps", "stamps not forwards"},
                {"unreadable", "unreadable"}},
               {}};
  for (const UsedTopic& topic : run.topics) {
    topics.rows.push_back({text(topic.role), text(topic.name), count(topic.count), number(topic.rate_hz, 1), number(topic.worst_gap_s),
                           number(topic.median_latency_s, 4), count(topic.zero_stamps), count(topic.backward_stamps),
                           count(topic.unreadable)});
  }
  section.tables.push_back(std::move(topics));
  if (!run.missing.empty()) {
    Table missing{"missing", "Missing", "", {{"role", "role"}, {"why", "why"}, {"consequence", "what cannot be said"}}, {}};
    for (const MissingTopic& each : run.missing) missing.rows.push_back({text(each.role), text(each.why), text(each.consequence)});
    section.tables.push_back(std::move(missing));
  }
  Table holds{
      "holds", "Deadman holds", "", {{"number", "hold"}, {"begin_s", "from [s]"}, {"end_s", "to [s]"}, {"analysed", "analysed"}}, {}};
  if (analysis.whole_run) section.notes.emplace_back("no deadman hold was found: the whole recording is analysed as one");
  std::size_t number_of_hold = 0;
  for (const Hold& hold : analysis.holds) {
    if (!hold.too_short) ++number_of_hold;
    holds.rows.push_back(
        {hold.too_short ? nothing() : count(number_of_hold), number(hold.begin_s, 2), number(hold.end_s, 2), flag(!hold.too_short)});
  }
  section.tables.push_back(std::move(holds));
  return section;
}

Section section_of_hold(const RunAnalysis& analysis, const HoldReport& report) {
  Section section{"hold", "Hold " + std::to_string(report.number), {}, {}, {}, {}};
  section.facts = {
      {"number", "number", count(report.number)},
      {"begin_s", "from [s]", number(report.hold.begin_s, 2)},
      {"end_s", "to [s]", number(report.hold.end_s, 2)},
      {"motion_source", "motion measured by", text(report.measured.source)},
      {"speed_lag_for_stopping_s", "speed lag in stopping distances [s] (" + report.speed_lag_source + ")", number(report.speed_lag_s)}};
  section.tables = {table_of_summary(analysis, report), table_of_response(analysis, report)};
  if (!report.response.grip.empty()) section.tables.push_back(table_of_grip(report));
  if (analysis.replayed) section.tables.push_back(table_of_replay(analysis, report));
  section.tables.push_back(table_of_layers(report.stops));
  section.tables.push_back(table_of_stops(report.stops));
  if (report.stops.size() > kMostStopRows) {
    section.notes.push_back("of " + std::to_string(report.stops.size()) + " stops the first " + std::to_string(kMostStopRows) +
                            " are listed");
  }
  if (!report.picture.empty()) section.pictures.push_back(report.picture);
  return section;
}

/// What stopped while the operator did not hold the button, mostly that very reason.
Section section_between_holds(const RunAnalysis& analysis) {
  Section section{"between_holds", "Between the holds", {}, {}, {}, {}};
  std::vector<StopRow> stops;
  double from = 0.0;
  const auto add_until = [&](double to) {
    if (to <= from) return;
    const Hold gap{std::nextafter(from, to), std::nextafter(to, from)};
    for (StopRow& row : stops_of(analysis, gap, {}, 0.0)) stops.push_back(std::move(row));
  };
  for (const Hold& hold : analysis.holds) {
    if (hold.too_short) continue;
    add_until(hold.begin_s);
    from = hold.end_s;
  }
  add_until(analysis.run.duration_s);
  section.tables = {table_of_layers(stops), table_of_stops(stops)};
  return section;
}

Section section_of_what_if(const RunAnalysis& analysis) {
  Section section{"what_if", "What if: " + join(analysis.what_if_names), {}, {}, {}, {}};
  section.notes.emplace_back(
      "open loop: which stops the change removes or adds on what was recorded, not where the car would then have gone");
  const DecisionSeries& before = analysis.replayed->calls;
  const DecisionSeries& after = analysis.what_if->calls;
  std::size_t n_before = 0;
  std::size_t n_after = 0;
  std::size_t removed = 0;
  std::size_t added = 0;
  for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
    n_before += before.stop(i) ? 1 : 0;
    n_after += after.stop(i) ? 1 : 0;
    removed += before.stop(i) && !after.stop(i) ? 1 : 0;
    added += !before.stop(i) && after.stop(i) ? 1 : 0;
  }
  section.facts = {{"stop_ticks_before", "stop ticks without the change", count(n_before)},
                   {"stop_ticks_after", "stop ticks with it", count(n_after)},
                   {"removed", "removed", count(removed)},
                   {"added", "added", count(added)}};
  Table changes{"changes", "Changed", "", {{"name", "parameter"}, {"before", "was"}, {"after", "is"}}, {}};
  for (const std::string& name : analysis.what_if_names) {
    const Node* was = analysis.driver.parameters.find(name);
    const Node* is = analysis.changed->parameters.find(name);
    changes.rows.push_back({text(name), text(was != nullptr ? was->scalar : ""), text(is != nullptr ? is->scalar : "")});
  }
  section.tables.push_back(std::move(changes));
  return section;
}

Section section_of_closed_loop(const ClosedLoop& loop) {
  Section section{"closed_loop", "Closed loop: the same run with the change", {}, {}, {}, {}};
  section.notes.push_back(loop.passed ? "the run passed its criteria" : "the run failed its criteria: " + loop.failure);
  section.notes.push_back("recorded in " + loop.after.folder.string() + "; analyze_run takes it like any other");
  section.facts = {{"passed", "passed", flag(loop.passed)}};
  Table table{"runs",
              "Both runs",
              "",
              {{"quantity", "quantity"}, {"before", "recorded"}, {"after", "with the change"}, {"difference", "difference"}},
              {}};
  const auto add = [&](const std::string& name, double before, double after, int digits) {
    table.rows.push_back({text(name), number(before, digits), number(after, digits), number(after - before, digits)});
  };
  add("ticks", static_cast<double>(loop.before.ticks), static_cast<double>(loop.after.ticks), 0);
  add("stop ticks", static_cast<double>(loop.before.stop_ticks), static_cast<double>(loop.after.stop_ticks), 0);
  add("stops", static_cast<double>(loop.before.stops), static_cast<double>(loop.after.stops), 0);
  add("contacts", static_cast<double>(loop.before.contacts), static_cast<double>(loop.after.contacts), 0);
  add("way [m]", loop.before.way_m, loop.after.way_m, 2);
  add("mean speed [m/s]", loop.before.mean_mps, loop.after.mean_mps, 3);
  add("time [s]", loop.before.seconds, loop.after.seconds, 2);
  section.tables.push_back(std::move(table));
  return section;
}

}  // namespace

Result<std::vector<HoldReport>> report_holds(const RunAnalysis& analysis, std::optional<std::size_t> only) {
  std::vector<HoldReport> reports;
  std::size_t number_of_hold = 0;
  for (const Hold& hold : analysis.holds) {
    if (hold.too_short) continue;
    ++number_of_hold;
    if (only && *only != number_of_hold) continue;
    HoldReport report;
    report.hold = hold;
    report.number = number_of_hold;
    report.measured = by_scans(analysis.motion, hold.begin_s, hold.end_s);
    if (report.measured.size() == 0) report.measured = by_odometry(analysis.run.odometry, hold.begin_s, hold.end_s);
    if (report.measured.size() == 0) report.measured.source = "nothing";
    const double wheelbase_m = analysis.driver.car.wheelbase_m;
    report.response = fit_response(analysis.run.command, analysis.run.odometry, report.measured, wheelbase_m);
    if (analysis.run.truth.size() > 1) {
      report.truth = fit_response(analysis.run.command, analysis.run.odometry, by_truth(analysis.run.truth, report.measured), wheelbase_m);
    }
    const signals::Estimate* lag = report.response.find("speed_lag_s");
    const bool fitted = lag != nullptr && lag->identifiable;
    report.speed_lag_s =
        fitted ? std::max(0.0, lag->value) : analysis.driver.safety().stopping_response_s + analysis.driver.car.speed_delay_s;
    report.speed_lag_source = fitted ? "fitted in this hold" : "stopping_response_s and the car's speed_delay_s: none could be fitted";
    report.stops = stops_of(analysis, hold, report.measured, report.speed_lag_s);
    reports.push_back(std::move(report));
  }
  if (only && reports.empty()) {
    return Error{"--hold " + std::to_string(*only) + ": there are " + std::to_string(number_of_hold) + " holds to analyse"};
  }
  return reports;
}

Document report(const RunAnalysis& analysis, const std::vector<HoldReport>& holds, const std::optional<ClosedLoop>& closed_loop) {
  Document document;
  document.title = "Analysis of " + analysis.run.path.filename().string();
  document.warnings = analysis.warnings;
  document.sections.push_back(section_of_run(analysis));
  for (const HoldReport& hold : holds) document.sections.push_back(section_of_hold(analysis, hold));
  if (!analysis.whole_run) document.sections.push_back(section_between_holds(analysis));
  if (analysis.what_if) document.sections.push_back(section_of_what_if(analysis));
  if (closed_loop) document.sections.push_back(section_of_closed_loop(*closed_loop));
  return document;
}

}  // namespace pitwall::analysis

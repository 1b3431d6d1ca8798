// SPDX-License-Identifier: Apache-2.0
#include "analysis/run_report.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/hold_tables.hpp"
#include "core/text.hpp"

namespace pitwall::analysis {

namespace {

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

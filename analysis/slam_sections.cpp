// SPDX-License-Identifier: Apache-2.0
// The sections of slam_report, one function each.
#include <algorithm>
#include <map>
#include <utility>

#include "analysis/slam_report.hpp"

namespace pitwall::analysis {

namespace {

constexpr std::size_t kShownCorrections = 50;

double to_deg(double rad) { return rad / math::kDegree; }

Cell counted(std::int64_t value) { return number(static_cast<double>(value), 0); }

Section setup_of(const SlamFacts& facts) {
  const SlamRecording& run = facts.run;
  Section s;
  s.key = "setup";
  s.title = "Setup";
  s.notes.push_back(
      "how to read it: a SLAM that corrects another odometry than the configured one was never tested; few scans for the way driven "
      "explain most of the rest");
  const auto configured = run.slam_parameters.find("odom_frame");
  const std::string set = facts.record ? facts.record->odom_frame : configured == run.slam_parameters.end() ? "" : configured->second;
  s.facts = {{"recording", "recording", text(run.path.string())},
             {"engine", "SLAM", text(facts.record ? facts.record->engine : "of the recording")},
             {"duration_s", "duration [s]", number(run.duration_s, 1)},
             {"odom_configured", "odometry frame, configured", set.empty() ? text("unknown") : text(set)},
             {"odom_seen", "odometry frame, below map in /tf", text(run.odom_frame)},
             {"odom_mismatch", "they differ", set.empty() ? nothing() : flag(set != run.odom_frame)},
             {"base_frame", "base frame", text(run.base_frame)},
             {"scans", "scans recorded", counted(static_cast<std::int64_t>(run.scans))},
             {"scans_without_pose", "scans without a pose in /tf", count(facts.scans_without_pose)},
             {"poses", "scans taken in (/pose)", count(run.poses.size())}};
  Table table{"odometries",
              "Odometries",
              "way and turn over the whole recording; speeds of the samples above 0.3 m/s",
              {{"source", "odometry"},
               {"rate_hz", "rate [Hz]"},
               {"way_m", "way [m]"},
               {"turned_deg", "turned, amounts summed [deg]"},
               {"mean_mps", "mean speed [m/s]"},
               {"max_mps", "max [m/s]"},
               {"moving_percent", "of the samples [%]"}},
              {}};
  for (const WayPair& w : facts.ways) {
    table.rows.push_back({text(w.source), number(w.rate_hz, 1), number(w.whole_m, 2), number(w.turned_deg, 1), number(w.mean_mps, 2),
                          number(w.max_mps, 2), number(100.0 * w.moving_share, 1)});
  }
  s.tables.push_back(std::move(table));
  return s;
}

Section drift_of(const SlamFacts& facts) {
  Section s;
  s.key = "drift";
  s.title = "Heading drift";
  s.notes.push_back(
      "how to read it: an odometry with a gyro stays within tens of degrees; one whose heading comes from the steering runs away");
  Table table{"headings",
              "Heading of the odometry less that of the SLAM",
              "from a common start; the sign of final and max says which way the odometry turns too far (+ left)",
              {{"source", "odometry"}, {"samples", "n"}, {"final_deg", "final [deg]"}, {"max_deg", "max [deg]"}, {"rms_deg", "rms [deg]"}},
              {}};
  for (const HeadingDrift& d : facts.drifts) {
    table.rows.push_back({text(d.source), count(d.drift_rad.size()), number(to_deg(d.final_rad()), 2), number(to_deg(d.max_rad()), 2),
                          number(to_deg(d.rms_rad()), 2)});
  }
  if (!facts.drifts.empty()) {
    s.facts = {{"final_deg", "heading of " + facts.drifts.front().source + " less the SLAM's, final [deg]",
                number(to_deg(facts.drifts.front().final_rad()), 2)},
               {"rms_deg", "its rms [deg]", number(to_deg(facts.drifts.front().rms_rad()), 2)}};
  }
  s.tables.push_back(std::move(table));
  return s;
}

/// The lap a time falls into, from 1; 0: none.
std::size_t lap_at(const SlamFacts& facts, double t_s) {
  for (std::size_t k = 0; k < facts.laps.size(); ++k) {
    if (t_s > facts.laps[k].begin_s && t_s <= facts.laps[k].end_s) return k + 1;
  }
  return 0;
}

std::vector<Correction> largest(std::vector<Correction> all) {
  if (all.size() <= kShownCorrections) return all;
  const auto size = [](const Correction& c) { return std::isfinite(c.at_car_m) ? c.at_car_m : c.at_origin_m; };
  std::stable_sort(all.begin(), all.end(), [&](const Correction& a, const Correction& b) { return size(a) > size(b); });
  all.resize(kShownCorrections);
  std::stable_sort(all.begin(), all.end(), [](const Correction& a, const Correction& b) { return a.t_s < b.t_s; });
  return all;
}

Cell closures_cell(const SlamFacts& facts) {
  if (facts.record) {
    const auto& all = facts.record->closures;
    return count(static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](const auto& c) { return c.outcome == "accepted"; })));
  }
  return facts.log.present ? count(facts.log.closures) : text("unknown");
}

Section corrections_section(const SlamFacts& facts) {
  Section s;
  s.key = "corrections";
  s.title = "Corrections and loop closures";
  s.notes.push_back(
      "how to read it: many small ones are the SLAM at work; one above 0.3 m at the car is felt by whoever drives on the map, one above "
      "1.5 m is a relocation; at the origin of the odometry frame a small turn looks large when the car is far from there");
  double car = facts.corrections.empty() ? 0.0 : NAN;
  double origin = 0.0;
  double turn = 0.0;
  double sum = 0.0;
  std::size_t jumps = 0;
  std::size_t relocations = 0;
  for (const Correction& c : facts.corrections) {
    car = std::fmax(car, c.at_car_m);
    origin = std::max(origin, c.at_origin_m);
    turn = std::max(turn, c.turn_rad);
    if (std::isfinite(c.at_car_m)) sum += c.at_car_m;
    if (c.at_car_m > kJump_m) ++jumps;
    if (c.at_car_m > kRelocation_m) ++relocations;
  }
  s.facts = {{"messages", "messages of map -> " + facts.run.odom_frame, count(facts.run.corrections.size())},
             {"changes", "of them changes (corrections)", count(facts.corrections.size())},
             {"max_at_car_m", "largest move at the car [m]", number(car)},
             {"max_at_origin_m", "largest move at the origin of the odometry frame [m]", number(origin)},
             {"max_turn_deg", "largest turn [deg]", number(to_deg(turn), 2)},
             {"sum_at_car_m", "moves at the car, summed [m]", number(sum, 2)},
             {"jumps", "moves at the car above 0.3 m", count(jumps)},
             {"relocations", "moves at the car above 1.5 m", count(relocations)},
             {"closures", "loop closures", closures_cell(facts)}};
  Table table{
      "corrections",
      facts.corrections.size() > kShownCorrections ? "The " + std::to_string(kShownCorrections) + " largest at the car" : "All of them",
      "t: when it was received; the lap is the one being driven",
      {{"t_s", "t [s]"},
       {"at_car_m", "move at the car [m]"},
       {"at_origin_m", "at the frame's origin [m]"},
       {"turn_deg", "turn [deg]"},
       {"lap", "lap"},
       {"jump", "> 0.3 m"},
       {"relocation", "> 1.5 m"}},
      {}};
  for (const Correction& c : largest(facts.corrections)) {
    const std::size_t lap = lap_at(facts, c.t_s);
    table.rows.push_back({number(c.t_s, 2), number(c.at_car_m), number(c.at_origin_m), number(to_deg(c.turn_rad), 3),
                          lap == 0 ? nothing() : count(lap), flag(c.at_car_m > kJump_m), flag(c.at_car_m > kRelocation_m)});
  }
  s.tables.push_back(std::move(table));
  return s;
}

Section laps_of(const SlamFacts& facts) {
  Section s;
  s.key = "laps";
  s.title = "Laps";
  s.notes.push_back(
      "how to read it: where a lap ends by the SLAM, the car is back at the start; how far off it and its heading then are is the drift "
      "that "
      "no correction took out. Verdicts are the supervisor's in launch.log, unknown without it");
  const auto closed = std::count_if(facts.laps.begin(), facts.laps.end(), [](const SlamLap& l) { return l.closed; });
  s.facts = {{"laps", "laps closed", counted(closed)}};
  Table table{
      "laps",
      "Laps",
      "closed: left by 2 m, 5 m, 15 s and 300 deg by odometry, back within 1.5 m (more beyond 1.25 turns) and 30 deg; the last may be "
      "open. Absorbed: corrections above 0.12 m at the car",
      {{"lap", "lap"},
       {"begin_s", "start [s]"},
       {"distance_m", "distance [m]"},
       {"closest_m", "from the start [m]"},
       {"heading_deg", "heading error [deg]"},
       {"turned_deg", "turned [deg]"},
       {"absorbed", "corrections absorbed"},
       {"consistency_percent", "ends on walls [%]"},
       {"closed", "closed"},
       {"verdict", "verdict"},
       {"evidence", "launch.log line"}},
      {}};
  for (std::size_t k = 0; k < facts.laps.size(); ++k) {
    const SlamLap& lap = facts.laps[k];
    const auto logged = std::find_if(facts.log.laps.begin(), facts.log.laps.end(), [&](const LoggedLap& l) { return l.lap == k + 1; });
    const bool known = logged != facts.log.laps.end();
    table.rows.push_back({count(k + 1), number(lap.begin_s, 1), number(lap.distance_m, 2), number(lap.closest_m),
                          number(to_deg(lap.heading_error_rad), 2), number(to_deg(lap.turned_rad), 1), count(lap.absorbed),
                          number(facts.lap_consistency[k].percent(), 1), flag(lap.closed), text(known ? logged->verdict : "unknown"),
                          known ? count(logged->line) : nothing()});
  }
  s.tables.push_back(std::move(table));
  return s;
}

Section consistency_of(const SlamFacts& facts) {
  Section s;
  s.key = "consistency";
  s.title = "Map consistency";
  s.notes.push_back(
      "how to read it: high consistency is not accuracy (a map bent as a whole fits itself); early laps score lower because later closures "
      "move the map; compare the same lap of two runs. Fewer cells for the same drive are a sharper map");
  s.facts = {
      {"map", "map", text(facts.run.map ? facts.run.map_source : "none")},
      {"beams", "ends of beams", count(facts.consistency.beams)},
      {"on_walls_percent", "on an occupied cell or beside one [%]", number(facts.consistency.percent(), 1)},
      {"crisp_cells", "cells of 5 cm with ends of beams, scans taken in", facts.crisp_cells == 0 ? nothing() : count(facts.crisp_cells)}};
  if (facts.truth) {
    s.facts.push_back({"ate_rmse_m", "position against the truth, after rigid alignment, rms [m]", number(facts.truth->ate_rmse_m)});
    s.facts.push_back({"ate_max_m", "position against the truth, largest [m]", number(facts.truth->ate_max_m)});
    s.facts.push_back({"step_mean_m", "error of steps between successive poses, mean [m]", number(facts.truth->steps.mean_m, 4)});
  }
  return s;
}

Section drops_of(const SlamFacts& facts) {
  Section s;
  s.key = "drops";
  s.title = "Scan drops";
  s.notes.push_back(
      "how to read it: drops with the SLAM near 100 % of a core are a SLAM too slow for its scans; drops without are transforms that came "
      "late");
  std::size_t total = facts.run.log_drops.size();
  std::map<std::string, std::size_t> causes;
  if (facts.record) {
    total += facts.record->dropped.size();
    for (const DroppedScan& drop : facts.record->dropped) ++causes[drop.cause];
  }
  if (!facts.has_drops && facts.log.present) {
    s.facts = {{"dropped", "dropped, by launch.log", count(facts.log.drops)}};
  } else {
    s.facts = {{"dropped", "dropped", facts.has_drops ? count(total) : text("unknown: no /rosout")}};
  }
  for (const auto& [cause, n] : causes) s.facts.push_back({"dropped_" + cause, cause, count(n)});
  Table table{"bins",
              "In bins of 10 s",
              "CPU of the SLAM, 100 % = one core, from system.csv",
              {{"begin_s", "start [s]"}, {"drops", "drops"}, {"cpu_mean", "CPU mean [%]"}, {"cpu_max", "CPU max [%]"}},
              {}};
  for (const DropBin& bin : facts.drops)
    table.rows.push_back({number(bin.begin_s, 0), count(bin.drops), number(bin.cpu_mean, 1), number(bin.cpu_max, 1)});
  if (!facts.drops.empty()) s.tables.push_back(std::move(table));
  return s;
}

Section ways_section(const SlamFacts& facts) {
  Section s;
  s.key = "ways";
  s.title = "Wheel distance against the SLAM's";
  s.notes.push_back("how to read it: above 1 the wheels slip or their scale is too large; corrections lengthen the SLAM's way a little");
  Table table{"ways",
              "Over the same time",
              "samples for which the SLAM has a pose",
              {{"source", "odometry"}, {"odometry_m", "by odometry [m]"}, {"slam_m", "by SLAM [m]"}, {"ratio", "ratio"}},
              {}};
  for (const WayPair& w : facts.ways)
    table.rows.push_back({text(w.source), number(w.odometry_m, 2), number(w.slam_m, 2), number(w.odometry_m / w.slam_m, 4)});
  if (!facts.ways.empty())
    s.facts = {{"ratio", "way by " + facts.ways.front().source + " over way by the SLAM",
                number(facts.ways.front().odometry_m / facts.ways.front().slam_m, 4)}};
  s.tables.push_back(std::move(table));
  return s;
}

/// How nodes came about, and how far that took them from odometry.
struct Absorbed {
  std::int64_t degenerate = 0;
  std::int64_t by_odometry = 0;
  double matched_m = 0.0;      ///< between the step of odometry and the one taken, summed over the nodes that were matched
  double by_odometry_m = 0.0;  ///< way of the steps that odometry alone made
};

Absorbed absorbed_of(const SlamRecord& record) {
  Absorbed a;
  for (std::size_t k = 0; k < record.nodes.size(); ++k) {
    const RecordedNode& node = record.nodes[k];
    if (node.degenerate) ++a.degenerate;
    const bool alone = node.placement == "odometry";
    if (alone) ++a.by_odometry;
    if (k == 0) continue;
    const RecordedNode& last = record.nodes[k - 1];
    const Pose2 odometry = inverse(last.T_odom_base) * node.T_odom_base;
    const Pose2 taken = inverse(last.settled) * node.settled;
    (alone ? a.by_odometry_m : a.matched_m) += alone ? norm(odometry.position()) : distance(odometry.position(), taken.position());
  }
  return a;
}

Section engine_of(const SlamFacts& facts, const SlamRecord& record) {
  const Absorbed absorbed = absorbed_of(record);
  const auto nodes = static_cast<double>(record.nodes.size());
  Section s;
  s.key = "engine";
  s.title = "Inside the SLAM";
  s.notes.push_back(
      "how to read it: where walls leave a direction open, odometry fills it; steps by odometry alone are where the map is weakest. The "
      "chi2 per "
      "edge is about 3 or less where the graph agrees with itself");
  s.facts = {
      {"version", "version of the engine", counted(record.version)},
      {"observable_percent", "nodes whose walls tell every direction [%]",
       number(100.0 * (1.0 - static_cast<double>(absorbed.degenerate) / nodes), 1)},
      {"by_odometry", "nodes placed by odometry alone (gate)", counted(absorbed.by_odometry)},
      {"by_odometry_m", "way of nodes placed by odometry alone [m]", number(absorbed.by_odometry_m, 2)},
      {"absorbed_m", "between odometry's steps and those taken, summed [m]", number(absorbed.matched_m, 2)},
      {"edges", "edges of the graph", counted(record.edges)},
      {"chi2", "chi2 of the graph", number(record.chi2, 3)},
      {"chi2_per_edge", "chi2 per edge", number(record.chi2 / static_cast<double>(record.edges), 5)},
      {"closures_tried", "closures tried", count(record.closures.size())},
      {"closures_accepted", "closures accepted", closures_cell(facts)},
      {"nearest_unlinked_m", "nearest that two nodes far apart on the way came to each other [m]", number(record.nearest_unlinked_m, 2)},
      {"ghost_cells", "free cells that were hit three times or more", counted(record.ghost_cells)},
      {"pose_sha256", "SHA-256 of the poses", text(record.pose_sha256)}};
  Table counts{
      "scans", "What became of the scans", "matched, searched, odometry: of the nodes", {{"what", "what"}, {"scans", "scans"}}, {}};
  for (const auto& [what, n] : record.counts) counts.rows.push_back({text(what), counted(n)});
  std::map<std::string, std::size_t> outcomes;
  for (const RecordedClosure& c : record.closures) ++outcomes[c.outcome];
  Table closures{"closures",
                 "What became of the closures",
                 "every outcome but accepted is the reason of a refusal",
                 {{"outcome", "outcome"}, {"closures", "closures"}},
                 {}};
  for (const auto& [outcome, n] : outcomes) closures.rows.push_back({text(outcome), count(n)});
  s.tables = {std::move(counts), std::move(closures)};
  return s;
}

}  // namespace

Document slam_document(const SlamFacts& facts) {
  Document document;
  document.title = "What the SLAM made of the run";
  document.warnings = facts.run.warnings;
  document.sections = {setup_of(facts),       drift_of(facts), corrections_section(facts), laps_of(facts),
                       consistency_of(facts), drops_of(facts), ways_section(facts)};
  if (facts.record && !facts.record->nodes.empty()) document.sections.push_back(engine_of(facts, *facts.record));
  return document;
}

}  // namespace pitwall::analysis

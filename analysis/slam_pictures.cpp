// SPDX-License-Identifier: Apache-2.0
// The pictures of slam_report.
#include <algorithm>

#include "analysis/picture.hpp"
#include "analysis/plan_picture.hpp"
#include "analysis/slam_report.hpp"

namespace pitwall::analysis {

namespace {

constexpr double kPictureBin_s = 10.0;

PlanLine trajectory(const SlamFacts& facts, const std::string& name) {
  PlanLine line{name, {}};
  if (facts.record && !facts.record->nodes.empty()) {
    for (const RecordedNode& node : facts.record->nodes) line.points.push_back(node.settled.position());
  } else {
    for (const Pose2& pose : facts.path.T_map_base) line.points.push_back(pose.position());
  }
  return line;
}

PlanLinks closures(const SlamFacts& facts, bool accepted, const std::string& name) {
  PlanLinks links{name, {}};
  if (!facts.record) return links;
  const auto& nodes = facts.record->nodes;
  const auto count = static_cast<std::int64_t>(nodes.size());
  for (const RecordedClosure& c : facts.record->closures) {
    if ((c.outcome == "accepted") != accepted || c.node < 0 || c.other < 0 || c.node >= count || c.other >= count) continue;
    links.links.emplace_back(nodes[static_cast<std::size_t>(c.node)].settled.position(),
                             nodes[static_cast<std::size_t>(c.other)].settled.position());
  }
  return links;
}

Line drift_line(const HeadingDrift& drift, const std::string& name) {
  Line line{name, drift.t_s, {}, false};
  for (const double d : drift.drift_rad) line.value.push_back(d / math::kDegree);
  return line;
}

/// A needle for each correction.
Line needles(const SlamFacts& facts, double Correction::*size, const std::string& name) {
  Line line{name, {}, {}, false};
  for (const Correction& c : facts.corrections) {
    for (const double v : {0.0, c.*size, 0.0}) {
      line.t_s.push_back(c.t_s);
      line.value.push_back(v);
    }
  }
  return line;
}

Line drops_line(const SlamFacts& facts, const std::string& name) {
  Line line{name, {}, {}, true};
  for (double t = 0.0; t < facts.run.duration_s + kPictureBin_s; t += kPictureBin_s) {
    const auto bin = std::find_if(facts.drops.begin(), facts.drops.end(), [&](const DropBin& b) { return std::abs(b.begin_s - t) < 1e-6; });
    line.t_s.push_back(t);
    line.value.push_back(bin == facts.drops.end() ? 0.0 : static_cast<double>(bin->drops));
  }
  return line;
}

Line cpu_line(const SlamFacts& facts) {
  Line line{"SLAM", {}, facts.cpu.percent, false};
  for (const double t : facts.cpu.t_s) line.t_s.push_back(t - facts.run.origin.seconds());
  return line;
}

}  // namespace

std::string map_picture(const SlamFacts& facts) {
  Plan plan{"Map and trajectory", facts.run.map ? &*facts.run.map : nullptr, {trajectory(facts, "trajectory")}, {}};
  if (facts.record) plan.links = {closures(facts, false, "closures refused"), closures(facts, true, "closures accepted")};
  return to_svg(plan);
}

std::string map_picture(const SlamFacts& a, const SlamFacts& b) {
  return to_svg(Plan{"Trajectories on the map of A", a.run.map ? &*a.run.map : nullptr, {trajectory(a, "A"), trajectory(b, "B")}, {}});
}

std::string timeline_picture(const SlamFacts& facts) {
  Picture picture;
  picture.title = "Drift, corrections and drops";
  picture.end_s = std::max(1.0, facts.run.duration_s);
  Panel drift{"heading of the odometry less the SLAM's [deg]", {}};
  for (const HeadingDrift& d : facts.drifts) drift.lines.push_back(drift_line(d, d.source));
  picture.panels = {
      drift,
      {"move of a correction [m]",
       {needles(facts, &Correction::at_car_m, "at the car"), needles(facts, &Correction::at_origin_m, "at the frame's origin")}},
      {"scans dropped in 10 s", {drops_line(facts, "drops")}}};
  if (!facts.cpu.t_s.empty()) picture.panels.push_back({"CPU of the SLAM [% of a core]", {cpu_line(facts)}});
  for (std::size_t k = 0; k < facts.laps.size(); k += 2) {
    picture.bands.push_back({facts.laps[k].begin_s, facts.laps[k].end_s, "lap " + std::to_string(k + 1), 2});
  }
  return to_svg(picture);
}

std::string timeline_picture(const SlamFacts& a, const SlamFacts& b) {
  Picture picture;
  picture.title = "A and B";
  picture.end_s = std::max({1.0, a.run.duration_s, b.run.duration_s});
  Panel drift{"heading of the odometry less the SLAM's [deg]", {}};
  if (!a.drifts.empty()) drift.lines.push_back(drift_line(a.drifts.front(), "A"));
  if (!b.drifts.empty()) drift.lines.push_back(drift_line(b.drifts.front(), "B"));
  picture.panels = {
      drift,
      {"move of a correction at the car [m]", {needles(a, &Correction::at_car_m, "A"), needles(b, &Correction::at_car_m, "B")}},
      {"scans dropped in 10 s", {drops_line(a, "A"), drops_line(b, "B")}}};
  return to_svg(picture);
}

}  // namespace pitwall::analysis

// SPDX-License-Identifier: Apache-2.0
#include "analysis/odom_health.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace pitwall::analysis {

namespace {

constexpr double kMoving_mps = 0.02;

void count_runs(const std::vector<bool>& above, OdomHealth& health) {
  std::size_t length = 0;
  const auto end_run = [&] {
    if (length == 0) return;
    ++health.runs;
    health.longest_run = std::max(health.longest_run, length);
    health.isolated += length == 1 ? 1 : 0;
    length = 0;
  };
  for (const bool each : above) {
    if (each) {
      ++length;
    } else {
      end_run();
    }
  }
  end_run();
}

std::vector<Cell> spread_row(const char* name, const Spread& spread, double scale, int digits) {
  return {text(name), count(spread.samples), number(scale * spread.p50, digits), number(scale * spread.p99, digits),
          number(scale * spread.max, digits)};
}

Table spreads(const OdomHealth& h) {
  Table table{"spreads",
              "Speeds and differences",
              "differences are |wheels - scans| over the intervals in which the wheels do more than 0.02 m/s; a p99 far above the median "
              "is jumps, a "
              "large median is slip or a wrong wheel scale",
              {{"quantity", "quantity"}, {"samples", "n"}, {"p50", "p50"}, {"p99", "p99"}, {"max", "max"}},
              {}};
  table.rows = {spread_row("speed by scans [m/s]", h.scan_mps, 1.0, 3), spread_row("speed by wheels [m/s]", h.wheel_mps, 1.0, 3),
                spread_row("difference of speed [m/s]", h.residual_mps, 1.0, 4),
                spread_row("difference of turn rate [deg/s]", h.residual_radps, 180.0 / math::kPi, 2)};
  return table;
}

Table histogram(const BoundMargins& m) {
  Table table{"histogram",
              "Speeds by scans",
              "in tenths of the bound; a good bound lies in a gap: nothing just below 1.0 and nothing just above",
              {{"from_mps", "from [m/s]"}, {"to_mps", "to [m/s]"}, {"of_bound", "of the bound"}, {"intervals", "n"}, {"bar", ""}},
              {}};
  const std::size_t most = *std::max_element(m.histogram.begin(), m.histogram.end());
  for (std::size_t k = 0; k < m.histogram.size(); ++k) {
    const bool last = k + 1 == m.histogram.size();
    const double from = static_cast<double>(k) / 10.0;
    // A bar of one mark for every sample there is, longer by the logarithm: excursions are few.
    const std::size_t n = m.histogram[k];
    const double full = math::log(1.0 + static_cast<double>(most));
    const auto marks = n == 0 ? 0 : static_cast<std::size_t>(1.0 + 39.0 * math::log(1.0 + static_cast<double>(n)) / full);
    table.rows.push_back({number(from * m.bound_mps), last ? number(INFINITY) : number((from + 0.1) * m.bound_mps), number(from, 1),
                          count(n), text(std::string(marks, '#'))});
  }
  return table;
}

void add_ways(Section& s, const OdomHealth& h) {
  s.facts.push_back({"duration_s", "time in which both are known [s]", number(h.duration_s, 1)});
  s.facts.push_back({"intervals", "intervals", count(h.intervals)});
  s.facts.push_back({"without_wheels", "intervals that the wheels do not cover", count(h.without_wheels)});
  s.facts.push_back({"scan_path_m", "path by scans [m]", number(h.scan_way_m, 2)});
  s.facts.push_back({"wheel_path_m", "path by wheels [m]", number(h.wheel_way_m, 2)});
  s.facts.push_back({"wheels_longer_percent", "the wheels' is longer by [%]", number(h.wheels_longer_percent(), 1)});
  s.facts.push_back({"scan_turned_deg", "yaw travelled by scans [deg]", number(math::degrees(h.scan_turned_rad), 1)});
  s.facts.push_back({"wheel_turned_deg", "yaw travelled by wheels [deg]", number(math::degrees(h.wheel_turned_rad), 1)});
}

void add_bound(Section& s, const OdomHealth& h) {
  const BoundMargins& m = h.margins;
  const double share = h.intervals == 0 ? NAN : 100.0 / static_cast<double>(h.intervals);
  s.facts.push_back({"bound_mps", "speed bound [m/s]", number(m.bound_mps, 4)});
  s.facts.push_back({"excursions", "intervals by scans above it", count(h.scan_excursions)});
  s.facts.push_back({"excursions_percent", "that is [%]", number(share * static_cast<double>(h.scan_excursions), 2)});
  s.facts.push_back({"excursion_runs", "runs of them", count(h.runs)});
  s.facts.push_back({"longest_run", "longest run", count(h.longest_run)});
  s.facts.push_back({"isolated", "excursions that stand alone", count(h.isolated)});
  s.facts.push_back({"wheel_excursions", "intervals by wheels above it", count(h.wheel_excursions)});
  s.facts.push_back({"turn_excursions", "intervals by scans above the bound of the turn rate", count(h.scan_turns)});
  s.facts.push_back({"ordinary_mps", "empty band, from the fastest ordinary interval [m/s]", number(m.ordinary_mps, 4)});
  s.facts.push_back({"excursion_mps", "empty band, to the slowest excursion [m/s]", number(m.excursion_mps, 4)});
  s.facts.push_back({"over_ordinary", "the bound over the fastest ordinary interval [times]", number(m.over_ordinary(), 2)});
  s.facts.push_back({"under_excursion", "the slowest excursion over the bound [times]", number(m.under_excursion(), 2)});
}

Section section_of(const OdometryTracks& tracks, const OdomHealth& health) {
  Section s;
  s.key = "odom_health";
  s.title = tracks.path.string();
  s.notes.emplace_back(
      "how to read it: the two paths agree within a few percent on a healthy robot; the margins of the bound say how far driving and "
      "how far jumps are from it: below 1.05 on either side it is a matter of luck");
  s.facts.push_back({"recording", "recording", text(tracks.path.string())});
  s.facts.push_back({"wheels", "wheels", text(tracks.wheels.source)});
  s.facts.push_back({"scans", "scans", text(tracks.scans.source)});
  add_ways(s, health);
  add_bound(s, health);
  s.tables = {spreads(health), histogram(health.margins)};
  return s;
}

}  // namespace

Spread spread_of(const std::vector<double>& values) {
  Spread spread{values.size(), percentile(values, 0.5), percentile(values, 0.99), NAN};
  if (!values.empty()) spread.max = *std::max_element(values.begin(), values.end());
  return spread;
}

BoundMargins margins_of(const std::vector<double>& speeds_mps, double bound_mps) {
  BoundMargins m;
  m.bound_mps = bound_mps;
  for (const double v : speeds_mps) {
    const double bin = 10.0 * v / bound_mps;
    const double last = static_cast<double>(m.histogram.size() - 1);
    ++m.histogram[static_cast<std::size_t>(std::min(bin, last))];
    if (v <= bound_mps) {
      if (!(v <= m.ordinary_mps)) m.ordinary_mps = v;
    } else if (!(v >= m.excursion_mps)) {
      m.excursion_mps = v;
    }
  }
  return m;
}

OdomHealth health_of(const OdometryTracks& tracks, const localization::MotionEnvelope& envelope, double tolerance) {
  OdomHealth h;
  const TrackIntervals intervals = intervals_of(tracks);
  h.intervals = intervals.all.size();
  h.without_wheels = intervals.without_wheels;
  h.scan_way_m = intervals.way_m(true);
  h.wheel_way_m = intervals.way_m(false);
  h.scan_turned_rad = intervals.turned_rad(true);
  h.wheel_turned_rad = intervals.turned_rad(false);
  const double bound_mps = tolerance * envelope.max_speed_mps;
  std::vector<double> scans;
  std::vector<double> wheels;
  std::vector<double> residual;
  std::vector<double> yaw_residual;
  std::vector<bool> above;
  for (const TrackInterval& each : intervals.all) {
    h.duration_s += each.dt_s;
    const double scan = each.scan_mps();
    const double wheel = each.wheel_mps();
    scans.push_back(scan);
    wheels.push_back(wheel);
    above.push_back(scan > bound_mps);
    h.scan_excursions += scan > bound_mps ? 1 : 0;
    h.wheel_excursions += wheel > bound_mps ? 1 : 0;
    h.scan_turns += std::abs(each.scans.yaw) / each.dt_s > tolerance * envelope.max_yaw_rate_radps ? 1 : 0;
    if (wheel <= kMoving_mps) continue;
    residual.push_back(std::abs(wheel - scan));
    yaw_residual.push_back(std::abs(each.wheels.yaw - each.scans.yaw) / each.dt_s);
  }
  count_runs(above, h);
  h.scan_mps = spread_of(scans);
  h.wheel_mps = spread_of(wheels);
  h.residual_mps = spread_of(residual);
  h.residual_radps = spread_of(yaw_residual);
  h.margins = margins_of(scans, bound_mps);
  return h;
}

GatedReport odom_health(const std::vector<std::filesystem::path>& recordings, const OdomHealthOptions& options) {
  GatedReport report;
  report.document.title = "Health of the odometry";
  for (const std::filesystem::path& recording : recordings) {
    const Result<OdometryTracks> tracks = load_tracks(recording, options.tracks);
    if (!tracks) {
      report.refused.push_back(tracks.error().message);
      continue;
    }
    const OdomHealth health = health_of(*tracks, options.envelope, options.tolerance);
    report.document.sections.push_back(section_of(*tracks, health));
    report.document.warnings.insert(report.document.warnings.end(), tracks->warnings.begin(), tracks->warnings.end());
    const std::string name = recording.string() + ": ";
    report.gate.at_most(name + "excursions", options.max_excursions, static_cast<double>(health.scan_excursions));
    report.gate.at_most(name + "difference of the paths", options.max_path_difference_percent, health.wheels_longer_percent(), "%");
    report.gate.at_most(name + "difference of speed, p99", options.max_residual_mps, health.residual_mps.p99, "m/s");
  }
  report.gate.add_to(report.document);
  return report;
}

}  // namespace pitwall::analysis

// SPDX-License-Identifier: Apache-2.0
#include "analysis/icp_excursions.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace pitwall::analysis {

namespace {

/// Way by scans less way by wheels over `number` intervals from the first on; NaN where they are not all there, one after the other.
double gap_of(const std::vector<TrackInterval>& all, std::size_t first, std::size_t number) {
  if (first + number > all.size() || all[first + number - 1].scan != all[first].scan + number - 1) return NAN;
  Vec2 scans;
  Vec2 wheels;
  for (std::size_t i = first; i < first + number; ++i) {
    scans = scans + all[i].scans.position();
    wheels = wheels + all[i].wheels.position();
  }
  return norm(scans) - norm(wheels);
}

Excursion excursion_of(const std::vector<TrackInterval>& all, std::size_t k, std::size_t window) {
  const TrackInterval& at = all[k];
  Excursion e;
  e.t_s = at.begin_s;
  e.dt_s = at.dt_s;
  e.scan_mps = at.scan_mps();
  e.wheel_mps = at.wheel_mps();
  e.forward_m = at.scans.x;
  e.left_m = at.scans.y;
  e.yaw_rate_radps = at.scans.yaw / at.dt_s;
  e.jump_m = gap_of(all, k, 1);
  // The window before ends where the excursion begins, without a hole between.
  if (k >= window && all[k - window].scan + window == at.scan) e.before_m = gap_of(all, k - window, window);
  if (k + 1 < all.size() && all[k + 1].scan == at.scan + 1) e.after_m = gap_of(all, k + 1, window);
  return e;
}

Table rows_of(const Excursions& x) {
  Table table{"rows",
              "Excursions",
              "jump: way by scans less way by wheels in the interval; before, after: the same over the windows beside it; retained: jump "
              "and after; near "
              "the jump: kept for ever; near 0: taken back",
              {{"t_s", "t [s]"},
               {"dt_s", "dt [s]"},
               {"scan_mps", "scans [m/s]"},
               {"wheel_mps", "wheels [m/s]"},
               {"forward_m", "forward [m]"},
               {"left_m", "left [m]"},
               {"yaw_rate_degps", "turn [deg/s]"},
               {"jump_m", "jump [m]"},
               {"before_m", "before [m]"},
               {"after_m", "after [m]"},
               {"retained_m", "retained [m]"},
               {"taken_back", "taken back"}},
              {}};
  for (const Excursion& e : x.found) {
    table.rows.push_back({number(e.t_s, 1), number(e.dt_s), number(e.scan_mps), number(e.wheel_mps), number(e.forward_m, 4),
                          number(e.left_m, 4), number(math::degrees(e.yaw_rate_radps), 1), number(e.jump_m), number(e.before_m),
                          number(e.after_m), number(e.retained_m()), std::isnan(e.after_m) ? nothing() : flag(e.taken_back())});
  }
  return table;
}

std::vector<Cell> row_of(const char* name, const Spread& s, double scale, int digits) {
  return {text(name), count(s.samples), number(scale * s.p50, digits), number(scale * s.p99, digits), number(scale * s.max, digits)};
}

Table spreads_of(const Excursions& x) {
  Table table{"spreads",
              "Excursions against the rest",
              "jumps far above the ordinary gap are failures of the matcher; turn rates or speeds at excursions unlike those of the "
              "session say when "
              "it fails",
              {{"quantity", "quantity"}, {"samples", "n"}, {"p50", "p50"}, {"p99", "p99"}, {"max", "max"}},
              {}};
  const double to_degrees = 180.0 / math::kPi;
  table.rows = {row_of("ordinary gap of an interval [m]", x.ordinary_gap_m, 1.0, 4),
                row_of("jump [m]", x.jump_m, 1.0, 4),
                row_of("turn rate, all [deg/s]", x.turn_radps, to_degrees, 1),
                row_of("turn rate at excursions [deg/s]", x.turn_at_radps, to_degrees, 1),
                row_of("speed by wheels, all [m/s]", x.wheel_mps, 1.0, 3),
                row_of("speed by wheels at excursions [m/s]", x.wheel_at_mps, 1.0, 3)};
  if (x.faster_wheel) table.rows.push_back(row_of("faster wheel, by wheel odometry [m/s]", *x.faster_wheel, 1.0, 3));
  return table;
}

double mean_rate(const Excursions& x, double Excursion::*gap) {
  double sum = 0.0;
  std::size_t n = 0;
  for (const Excursion& e : x.found) {
    if (std::isnan(e.*gap)) continue;
    sum += e.*gap;
    ++n;
  }
  return n == 0 ? NAN : sum / static_cast<double>(n) / x.window_s;
}

Section section_of(const OdometryTracks& tracks, const Excursions& x, double bound_mps) {
  Section s;
  s.key = "icp_excursions";
  s.title = tracks.path.string();
  s.notes.push_back(
      "how to read it: the same rate of the gap before and after means that a jump stays in the pose (a permanent step); a strongly "
      "negative rate after it is a spike that is taken back");
  s.facts = {{"recording", "recording", text(tracks.path.string())},
             {"wheels", "wheels", text(tracks.wheels.source)},
             {"scans", "scans", text(tracks.scans.source)},
             {"bound_mps", "speed bound [m/s]", number(bound_mps, 4)},
             {"intervals", "intervals", count(x.intervals)},
             {"window_intervals", "window [intervals]", count(x.window)},
             {"excursions", "excursions", count(x.found.size())},
             {"taken_back", "of them taken back", count(x.taken_back)},
             {"jumps_m", "sum of the jumps [m]", number(x.jumps_m)},
             {"retained_m", "sum of what is retained [m]", number(x.retained_m)},
             {"gap_rate_before_mps", "mean rate of the gap before [m/s]", number(mean_rate(x, &Excursion::before_m), 4)},
             {"gap_rate_after_mps", "mean rate of the gap after [m/s]", number(mean_rate(x, &Excursion::after_m), 4)}};
  if (x.faster_wheel) {
    const double share = x.intervals == 0 ? NAN : 100.0 * static_cast<double>(x.wheel_over_joint) / static_cast<double>(x.intervals);
    s.facts.push_back({"wheel_over_joint_percent", "wheel odometry that a joint bound per wheel would reject [%]", number(share, 2)});
  }
  s.tables = {rows_of(x), spreads_of(x)};
  return s;
}

}  // namespace

Excursions excursions_of(const OdometryTracks& tracks, double bound_mps, double window_s, std::optional<double> separation_m) {
  const std::vector<TrackInterval> all = intervals_of(tracks).all;
  Excursions x;
  x.intervals = all.size();
  std::vector<double> dts;
  for (const TrackInterval& each : all) dts.push_back(each.dt_s);
  const double dt_s = percentile(dts, 0.5);
  if (all.empty()) return x;
  x.window = static_cast<std::size_t>(std::max(1.0, std::round(window_s / dt_s)));
  x.window_s = static_cast<double>(x.window) * dt_s;
  std::vector<double> ordinary, jumps, turns, turns_at, wheels, wheels_at, faster;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const TrackInterval& each = all[k];
    const double turn = std::abs(each.scans.yaw) / each.dt_s;
    turns.push_back(turn);
    wheels.push_back(each.wheel_mps());
    if (separation_m) {
      faster.push_back(each.wheel_mps() + 0.5 * *separation_m * std::abs(each.wheels.yaw) / each.dt_s);
      x.wheel_over_joint += faster.back() > bound_mps ? 1 : 0;
    }
    if (each.scan_mps() <= bound_mps) {
      ordinary.push_back(std::abs(gap_of(all, k, 1)));
      continue;
    }
    const Excursion e = excursion_of(all, k, x.window);
    x.found.push_back(e);
    jumps.push_back(e.jump_m);
    turns_at.push_back(turn);
    wheels_at.push_back(e.wheel_mps);
    x.jumps_m += e.jump_m;
    if (std::isnan(e.after_m)) continue;
    x.retained_m += e.retained_m();
    x.taken_back += e.taken_back() ? 1 : 0;
  }
  x.ordinary_gap_m = spread_of(ordinary);
  x.jump_m = spread_of(jumps);
  x.turn_radps = spread_of(turns);
  x.turn_at_radps = spread_of(turns_at);
  x.wheel_mps = spread_of(wheels);
  x.wheel_at_mps = spread_of(wheels_at);
  if (separation_m) x.faster_wheel = spread_of(faster);
  return x;
}

GatedReport icp_excursions(const std::vector<std::filesystem::path>& recordings, const ExcursionOptions& options) {
  GatedReport report;
  report.document.title = "Excursions of the odometry by scans";
  const double bound_mps = options.tolerance * options.envelope.max_speed_mps;
  for (const std::filesystem::path& recording : recordings) {
    const Result<OdometryTracks> tracks = load_tracks(recording, options.tracks);
    if (!tracks) {
      report.refused.push_back(tracks.error().message);
      continue;
    }
    const Excursions x = excursions_of(*tracks, bound_mps, options.window_s, options.separation_m);
    report.document.sections.push_back(section_of(*tracks, x, bound_mps));
    report.document.warnings.insert(report.document.warnings.end(), tracks->warnings.begin(), tracks->warnings.end());
    report.gate.at_most(recording.string() + ": excursions", options.max_excursions, static_cast<double>(x.found.size()));
    report.gate.at_most(recording.string() + ": retained", options.max_retained_m, x.retained_m, "m");
  }
  report.gate.add_to(report.document);
  return report;
}

}  // namespace pitwall::analysis

// SPDX-License-Identifier: Apache-2.0
#include "scenarios/gap_sweeps.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/text.hpp"

namespace pitwall::scenarios {
namespace {

using Json = nlohmann::json;

constexpr double kPeriod_s = 0.025;  // of gap_follow's decisions: a scan each
constexpr double kApart_m = 1.2;     // between the starts of two cars, at least
constexpr double kSlowest_mps = 0.3;
constexpr double kFastest_mps = 10.0;

/// The row of a track, made where it comes first.
template <class Row>
Row& row_of(std::vector<Row>& rows, const std::string& track) {
  auto at = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.track == track; });
  if (at == rows.end()) {
    rows.emplace_back();
    rows.back().track = track;
    at = rows.end() - 1;
  }
  return *at;
}

bool stalled(const Outcome& o) { return o.failure && o.failure->what.find("stalled") != std::string::npos; }

/// All tracks that ship.
void expand_all(ValidationOptions& options) {
  std::vector<std::string> tracks;
  for (const std::string& track : options.tracks) {
    if (track == "all") {
      tracks.insert(tracks.end(), {"circuits", "indoor"});
    } else {
      tracks.push_back(track);
    }
  }
  options.tracks = tracks;
}

std::string multi_suite(const GapMultiSettings& settings, double length_m) {
  const std::size_t cars = settings.speeds_mps.size();
  std::string text =
      "gap_multi:\n  id: gap_multi\n  raceline: centerline\n  criteria: {every_car_laps_at_least: " + format_exact(settings.laps) +
      ", stall_after_s: " + format_exact(kStallAfter_s) + "}\n  cars:\n";
  for (std::size_t i = 0; i < cars; ++i) {
    // The car under test starts last, so that the others are ahead of it.
    const double s = length_m * static_cast<double>(i) / static_cast<double>(cars);
    text += "    car" + std::to_string(i + 1) + ": {controller: gap_follow, start_s_m: " + format_exact(s) +
            ", parameters: {max_speed_mps: " + format_exact(settings.speeds_mps[i]) + "}}\n";
  }
  return text;
}

}  // namespace

std::string gap_assignment(const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  const std::size_t dot = assignment.find('.');
  const bool has_group = dot != std::string::npos && (equals == std::string::npos || dot < equals);
  return has_group ? assignment : "gap_follow." + assignment;
}

Result<std::vector<ResolvedRun>> gap_sweep_runs(ValidationOptions options, double laps) {
  options.scenario = "gap";
  if (options.tracks.empty()) options.tracks = {"indoor"};
  expand_all(options);
  for (std::string& assignment : options.assignments) assignment = gap_assignment(assignment);
  options.assignments.push_back("criteria.laps_at_least=" + format_exact(laps));
  options.assignments.push_back("criteria.stall_after_s=" + format_exact(kStallAfter_s));
  return resolve(options);
}

std::vector<GapSweepRow> gap_sweep_rows(const std::vector<Outcome>& outcomes) {
  std::vector<GapSweepRow> rows;
  for (const Outcome& o : outcomes) {
    GapSweepRow& row = row_of(rows, o.track);
    row.min_clearance_m = row.runs == 0 ? o.min_clearance_m : std::min(row.min_clearance_m, o.min_clearance_m);
    ++row.runs;
    row.passed += o.passed ? 1 : 0;
    row.contacts += o.collision || o.off_map ? 1 : 0;
    row.stalls += stalled(o) ? 1 : 0;
    row.stops_s += kPeriod_s * static_cast<double>(o.stop_steps);
  }
  for (GapSweepRow& row : rows) {
    row.stops_s /= row.runs;
    int laps = 0;
    for (const Outcome& o : outcomes) {
      if (o.track != row.track || !o.passed || !o.lap_time_s) continue;
      row.mean_lap_s += *o.lap_time_s;
      row.best_lap_s = laps == 0 ? *o.lap_time_s : std::min(row.best_lap_s, *o.lap_time_s);
      ++laps;
    }
    if (laps > 0) row.mean_lap_s /= laps;
  }
  return rows;
}

std::string human_line(const GapSweepRow& row) {
  const std::string laps =
      row.mean_lap_s > 0.0 ? format_fixed(row.mean_lap_s, 2) + "/" + format_fixed(row.best_lap_s, 2) + " s" : std::string("-");
  std::string line = row.track + std::string(row.track.size() < 14 ? 14 - row.track.size() : 0, ' ') + "  pass " +
                     std::to_string(row.passed) + "/" + std::to_string(row.runs) + "  contact " + std::to_string(row.contacts) + "  lap " +
                     laps + "  stops " + format_fixed(row.stops_s, 1) + " s  min clearance " + format_fixed(row.min_clearance_m, 2) + " m";
  if (row.stalls > 0) line += "  stalled " + std::to_string(row.stalls);
  return line;
}

std::string json_line(const GapSweepRow& row) {
  const auto lap = [&](double value) { return row.mean_lap_s > 0.0 ? Json(value) : Json(nullptr); };
  return Json{{"track", row.track},
              {"runs", row.runs},
              {"passed", row.passed},
              {"contact", row.contacts},
              {"stalled", row.stalls},
              {"mean_lap_s", lap(row.mean_lap_s)},
              {"stops_s", row.stops_s},
              {"best_lap_s", lap(row.best_lap_s)},
              {"min_clearance_m", row.min_clearance_m}}
      .dump();
}

Result<std::vector<ResolvedRun>> gap_multi_runs(ValidationOptions options, const GapMultiSettings& settings) {
  if (settings.speeds_mps.empty()) return Error{"--speeds: at least one car is needed"};
  for (const double speed : settings.speeds_mps) {
    if (speed >= kSlowest_mps && speed <= kFastest_mps) continue;
    return Error{"--speeds " + format_number(speed, 4) + ": allowed: " + format_number(kSlowest_mps, 2) + " .. " +
                 format_number(kFastest_mps, 3) + " m/s"};
  }
  if (options.tracks.empty()) options.tracks = {"indoor_wide"};
  expand_all(options);
  for (std::string& assignment : options.assignments) assignment = gap_assignment(assignment);
  std::vector<ResolvedRun> all;
  std::vector<std::string> names;
  for (const std::string& track : options.tracks) {
    for (std::string& name : tracks::expand_group(track, options.library())) names.push_back(std::move(name));
  }
  for (const std::string& name : names) {
    const Result<tracks::Track> track = tracks::load_track(name, options.library());
    if (!track) return track.error();
    if (!track->centre) return Error{"track '" + name + "' has no centre line"};
    const double length_m = track->centre->path.length_m();
    if (length_m < kApart_m * static_cast<double>(settings.speeds_mps.size()))
      return Error{"--cars " + std::to_string(settings.speeds_mps.size()) + ": they do not fit on the " + format_number(length_m, 4) +
                   " m of " + name};
    ValidationOptions on_track = options;
    on_track.tracks = {name};
    on_track.suite_text = multi_suite(settings, length_m);
    Result<std::vector<ResolvedRun>> runs = resolve(on_track);
    if (!runs) return runs;
    for (ResolvedRun& run : *runs) all.push_back(std::move(run));
  }
  return all;
}

std::vector<GapMultiRow> gap_multi_rows(const std::vector<Outcome>& outcomes) {
  std::vector<GapMultiRow> rows;
  for (const Outcome& o : outcomes) {
    GapMultiRow& row = row_of(rows, o.track);
    ++row.runs;
    row.passed += o.passed ? 1 : 0;
    row.stalls += stalled(o) ? 1 : 0;
    row.mean_laps.resize(std::max(row.mean_laps.size(), o.cars.size()), 0.0);
    std::int64_t touches = 0;
    for (std::size_t i = 0; i < o.cars.size(); ++i) {
      row.wall += o.cars[i].wall_contacts;
      touches += o.cars[i].car_contacts;
      row.passes += o.cars[i].lead_changes;
      row.mean_laps[i] += o.track_length_m > 0.0 ? o.cars[i].progress_m / o.track_length_m : 0.0;
    }
    // Both cars of a contact report it.
    row.car_car += (touches + 1) / 2;
  }
  for (GapMultiRow& row : rows) {
    for (double& laps : row.mean_laps) laps /= row.runs;
  }
  return rows;
}

std::string human_line(const GapMultiRow& row) {
  std::string line = row.track + std::string(row.track.size() < 14 ? 14 - row.track.size() : 0, ' ') + "  pass " +
                     std::to_string(row.passed) + "/" + std::to_string(row.runs) + "  wall " + std::to_string(row.wall) + "  car-car " +
                     std::to_string(row.car_car) + "  passes " + std::to_string(row.passes) + "  stalls " + std::to_string(row.stalls) +
                     "  laps";
  for (const double laps : row.mean_laps) line += " " + format_fixed(laps, 2);
  return line;
}

std::string json_line(const GapMultiRow& row) {
  return Json{{"track", row.track},     {"runs", row.runs},     {"passed", row.passed}, {"wall", row.wall},
              {"car_car", row.car_car}, {"passes", row.passes}, {"stalls", row.stalls}, {"mean_laps", row.mean_laps}}
      .dump();
}

}  // namespace pitwall::scenarios

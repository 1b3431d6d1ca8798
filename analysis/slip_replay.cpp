// SPDX-License-Identifier: Apache-2.0
#include "analysis/slip_replay.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace pitwall::analysis {

namespace {

using localization::SlipReport;
using localization::SlipState;

bool is_raised(SlipState state) { return state == SlipState::kSlip || state == SlipState::kScanFault || state == SlipState::kStuck; }

/// What was recorded, handed to the monitor as it became known.
class Feed {
 public:
  explicit Feed(const OdometryTracks& tracks) : tracks_(tracks), order_(sorted_by_stamp(tracks.command.t_s)) {}

  void until(double t_s, localization::SlipMonitor& monitor) {
    const auto time = [this](double at_s) { return tracks_.origin + from_seconds(at_s); };
    for (; wheel_ < tracks_.wheels.size() && tracks_.wheels.t_s[wheel_] <= t_s; ++wheel_) {
      monitor.add_wheels(time(tracks_.wheels.t_s[wheel_]), tracks_.wheels.pose[wheel_]);
    }
    for (; scan_ < tracks_.scans.size() && tracks_.scans.t_s[scan_] <= t_s; ++scan_) {
      monitor.add_scan_pose(time(tracks_.scans.t_s[scan_]), tracks_.scans.pose[scan_]);
    }
    const CommandSeries& command = tracks_.command;
    for (; command_ < order_.size() && command.t_s[order_[command_]] <= t_s; ++command_) {
      const std::size_t i = order_[command_];
      const double yaw_rate = command.yaw_rate_radps[i];
      if (!std::isfinite(command.speed_mps[i])) continue;
      monitor.add_command({time(command.t_s[i]), command.speed_mps[i], std::isfinite(yaw_rate) ? yaw_rate : 0.0});
    }
  }

 private:
  const OdometryTracks& tracks_;
  std::vector<std::size_t> order_;
  std::size_t wheel_ = 0;
  std::size_t scan_ = 0;
  std::size_t command_ = 0;
};

void note(SlipReplay& replay, const SlipReport& report, double t_s, bool& open) {
  if (open && (replay.verdicts.back().state != report.state)) {
    replay.verdicts.back().end_s = t_s;
    open = false;
  }
  if (!is_raised(report.state)) return;
  if (!open) replay.verdicts.push_back({report.state, t_s, t_s, 0.0, 0.0});
  open = true;
  SlipVerdict& verdict = replay.verdicts.back();
  verdict.end_s = t_s;
  if (report.residual.missing != localization::NoResidual::kNone) return;
  if (std::abs(report.residual.residual_mps()) < std::abs(verdict.residual_mps())) return;
  verdict.wheel_mps = report.residual.wheel_mps;
  verdict.scan_mps = report.residual.scan_mps;
}

std::vector<Cell> row_of(const char* name, const SignedSpread& s, double scale, int digits) {
  return {text(name),
          count(s.samples),
          number(scale * s.p1, digits),
          number(scale * s.p50, digits),
          number(scale * s.p99, digits),
          number(scale * s.max_abs, digits),
          number(scale * s.sd, digits)};
}

Table residuals_of(const SlipReplay& replay) {
  Table table{
      "residuals",
      "Differences over moving windows",
      "wheels less scans; a threshold below p99 of a quiet drive raises false alarms, a median that is not 0 is a wrong wheel scale",
      {{"quantity", "quantity"},
       {"samples", "n"},
       {"p1", "p1"},
       {"p50", "p50"},
       {"p99", "p99"},
       {"max_abs", "largest amount"},
       {"sd", "standard deviation"}},
      {}};
  table.rows = {row_of("difference of speed [m/s]", replay.residual_mps, 1.0, 4), row_of("of the faster [1]", replay.relative, 1.0, 3),
                row_of("difference of turn rate [deg/s]", replay.yaw_residual_radps, 180.0 / math::kPi, 2)};
  return table;
}

Table verdicts_of(const SlipReplay& replay) {
  Table table{"verdicts",
              "Verdicts",
              "slip: wheels make more way than scans; icp_fault: scans more than wheels, or than the vehicle can; stuck: told to move and "
              "does not; "
              "a state shows about a window and the hold time after its cause",
              {{"begin_s", "from [s]"},
               {"end_s", "to [s]"},
               {"state", "verdict"},
               {"wheel_mps", "wheels [m/s]"},
               {"scan_mps", "scans [m/s]"},
               {"residual_mps", "difference [m/s]"}},
              {}};
  for (const SlipVerdict& v : replay.verdicts) {
    table.rows.push_back({number(v.begin_s, 1), number(v.end_s, 1), text(std::string(to_string(v.state))), number(v.wheel_mps),
                          number(v.scan_mps), number(v.residual_mps())});
  }
  return table;
}

Table states_of(const SlipReplay& replay) {
  Table table{"states", "States", "evaluations in which each was reported", {{"state", "state"}, {"evaluations", "n"}}, {}};
  for (std::size_t k = 0; k < replay.states.size(); ++k) {
    table.rows.push_back({text(std::string(to_string(static_cast<SlipState>(k)))), count(replay.states[k])});
  }
  for (std::size_t k = 1; k < replay.missing.size(); ++k) {
    const std::string why(to_string(static_cast<localization::NoResidual>(k)));
    if (replay.missing[k] > 0) table.rows.push_back({text("no comparison: " + why), count(replay.missing[k])});
  }
  return table;
}

Section section_of(const OdometryTracks& tracks, const SlipReplay& replay, const SlipOptions& options) {
  Section s;
  s.key = "slip_replay";
  s.title = tracks.path.string();
  s.notes.push_back(
      "how to read it: times are seconds from the first message; yaw is never judged, and a jump shorter than the window is diluted by it");
  if (tracks.command.empty()) s.notes.push_back("no commands in it: a vehicle that is stuck cannot be told from one that stands");
  s.facts = {{"recording", "recording", text(tracks.path.string())},
             {"wheels", "wheels", text(tracks.wheels.source)},
             {"scans", "scans", text(tracks.scans.source)},
             {"evaluations", "evaluations", count(replay.evaluations)},
             {"verdict_count", "verdicts", count(replay.verdicts.size())}};
  if (!options.verdicts_only) s.tables = {residuals_of(replay), states_of(replay)};
  s.tables.push_back(verdicts_of(replay));
  return s;
}

}  // namespace

SignedSpread signed_spread(const std::vector<double>& values) {
  SignedSpread s;
  s.samples = values.size();
  if (values.empty()) return s;
  s.p1 = percentile(values, 0.01);
  s.p50 = percentile(values, 0.5);
  s.p99 = percentile(values, 0.99);
  double mean = 0.0;
  for (const double v : values) mean += v / static_cast<double>(values.size());
  double square = 0.0;
  s.max_abs = 0.0;
  for (const double v : values) {
    square += (v - mean) * (v - mean) / static_cast<double>(values.size());
    s.max_abs = std::max(s.max_abs, std::abs(v));
  }
  s.sd = std::sqrt(square);
  return s;
}

SlipReplay replay_slip(const OdometryTracks& tracks, const localization::SlipMonitorParameters& parameters, double rate_hz) {
  SlipReplay replay;
  if (tracks.wheels.t_s.empty() || tracks.scans.t_s.empty()) return replay;
  localization::SlipMonitor monitor(parameters);
  Feed feed(tracks);
  const double first_s = std::min(tracks.wheels.t_s.front(), tracks.scans.t_s.front()) + parameters.window_s;
  const double last_s = std::max(tracks.wheels.t_s.back(), tracks.scans.t_s.back());
  std::vector<double> residual;
  std::vector<double> relative;
  std::vector<double> yaw;
  bool open = false;
  for (;; ++replay.evaluations) {
    const double t_s = first_s + static_cast<double>(replay.evaluations) / rate_hz;
    if (t_s > last_s) break;
    feed.until(t_s, monitor);
    const SlipReport report = monitor.evaluate(tracks.origin + from_seconds(t_s));
    ++replay.states[static_cast<std::size_t>(report.state)];
    ++replay.missing[static_cast<std::size_t>(report.residual.missing)];
    note(replay, report, t_s, open);
    if (report.residual.missing != localization::NoResidual::kNone || report.residual.scale_mps() <= parameters.min_speed_mps) continue;
    residual.push_back(report.residual.residual_mps());
    relative.push_back(report.residual.relative());
    yaw.push_back(report.residual.yaw_residual_radps());
  }
  replay.residual_mps = signed_spread(residual);
  replay.relative = signed_spread(relative);
  replay.yaw_residual_radps = signed_spread(yaw);
  return replay;
}

GatedReport slip_replay(const std::vector<std::filesystem::path>& recordings, const SlipOptions& options) {
  GatedReport report;
  report.document.title = "Slip monitor, replayed";
  for (const std::filesystem::path& recording : recordings) {
    const Result<OdometryTracks> tracks = load_tracks(recording, options.tracks);
    if (!tracks) {
      report.refused.push_back(tracks.error().message);
      continue;
    }
    const SlipReplay replay = replay_slip(*tracks, options.monitor, options.rate_hz);
    report.document.sections.push_back(section_of(*tracks, replay, options));
    report.document.warnings.insert(report.document.warnings.end(), tracks->warnings.begin(), tracks->warnings.end());
    report.gate.at_most(recording.string() + ": verdicts", options.max_verdicts, static_cast<double>(replay.verdicts.size()));
  }
  report.gate.add_to(report.document);
  return report;
}

}  // namespace pitwall::analysis

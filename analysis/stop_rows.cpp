// SPDX-License-Identifier: Apache-2.0
#include "analysis/stop_rows.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/signal.hpp"
#include "core/text.hpp"
#include "scenarios/run.hpp"

namespace pitwall::analysis {

namespace {

std::string recorded_text(const DecisionSeries& calls, std::size_t i) {
  if (calls.recorded_reason[i] < 0.0 || calls.recorded_layer[i] < 0.0) return "";
  return std::string(name(static_cast<Layer>(static_cast<int>(calls.recorded_layer[i])))) + ": " +
         std::string(name(static_cast<Reason>(static_cast<int>(calls.recorded_reason[i]))));
}

/// What a scanner without any error sees of the map from where the car truly was.
class TrueScans {
 public:
  explicit TrueScans(const RunAnalysis& analysis) : analysis_(analysis), view_(analysis.driver.car) {
    view_.reset();
    const auto& run = analysis.driver.run;
    // Other cars and obstacles are not on the map.
    possible_ = run && run->cars.size() == 1 && run->obstacles.empty() && analysis.run.truth.size() > 1 && run->track->rays;
  }
  /// Geometry as judge_stop() gives it, from the truth.
  std::optional<StopGeometry> judge(const StopEvent& stop, const StoppingCar& stopping) {
    if (!possible_ || stop.scan.ranges.empty()) return std::nullopt;
    const double sweep_s = 0.5 * static_cast<double>(stop.scan.time_increment) * static_cast<double>(stop.scan.ranges.size());
    const double t_s = seconds_since(analysis_.run.origin, stop.scan.stamp) + sweep_s;
    const TruthSeries& truth = analysis_.run.truth;
    const auto after = std::lower_bound(truth.t_s.begin(), truth.t_s.end(), t_s);
    if (after == truth.t_s.end()) return std::nullopt;
    const auto i = static_cast<std::size_t>(after - truth.t_s.begin());
    const Pose2 lidar = Pose2{truth.x_m[i], truth.y_m[i], truth.yaw_rad[i]} * analysis_.driver.car.lidar_mount();
    LaserScan scan = stop.scan;
    for (std::size_t k = 0; k < scan.ranges.size(); ++k) {
      const double bearing = static_cast<double>(scan.angle_min) + static_cast<double>(k) * static_cast<double>(scan.angle_increment);
      const double most = static_cast<double>(scan.range_max);
      scan.ranges[k] =
          static_cast<float>(analysis_.driver.run->track->rays->cast(lidar.position(), unit_vector(lidar.yaw + bearing), most));
    }
    if (!view_.update(scan)) return std::nullopt;
    return judge_stop(view_, analysis_.driver.car, stop.steering_rad, truth.speed_mps[i], stop.geometry.beam, stopping);
  }

 private:
  const RunAnalysis& analysis_;
  controllers::ScanView view_;
  bool possible_ = false;
};

void add_controller_stops(const RunAnalysis& analysis, const Hold& hold, double response_s, std::vector<StopRow>& rows) {
  if (!analysis.replayed) return;
  const DecisionSeries& calls = analysis.replayed->calls;
  const StoppingCar stopping{analysis.driver.safety().stopping_decel_mps2, response_s};
  TrueScans true_scans(analysis);
  for (const StopEvent& event : analysis.replayed->stops) {
    // The part of the event within the hold.
    std::size_t first = event.first;
    std::size_t last = event.last;
    while (first <= last && calls.t_s[first] < hold.begin_s) ++first;
    while (last > first && calls.t_s[last] > hold.end_s) --last;
    if (first > last || !hold.holds(calls.t_s[first])) continue;
    StopRow row;
    row.begin_s = calls.t_s[first];
    row.end_s = calls.t_s[last];
    row.ticks = last - first + 1;
    row.layer = event.layer;
    row.reason = event.reason;
    row.recorded = recorded_text(calls, first);
    row.event = &event;
    row.geometry = event.geometry;
    row.geometry.stopping_m =
        row.geometry.speed_mps * row.geometry.speed_mps / (2.0 * stopping.decel_mps2) + row.geometry.speed_mps * stopping.response_s;
    if (row.geometry.verdict != Verdict::kNone) {
      row.geometry.verdict = verdict_of(row.geometry.outside_m, row.geometry.clear_m, row.geometry.stopping_m);
    }
    row.truth = true_scans.judge(event, stopping);
    rows.push_back(std::move(row));
  }
}

/// Pauses in the controller's commands.
void add_silences(const RunAnalysis& analysis, const Hold& hold, std::vector<StopRow>& rows) {
  const std::vector<double>& t = analysis.run.drive.arrival_s;
  for (std::size_t i = 0; i < t.size(); ++i) {
    const double next = i + 1 < t.size() ? t[i + 1] : analysis.run.duration_s;
    if (next - t[i] <= kDriveSilence_s || t[i] + kDriveSilence_s > hold.end_s || next < hold.begin_s) continue;
    StopRow row;
    row.begin_s = std::max(hold.begin_s, t[i] + kDriveSilence_s);
    row.end_s = std::min(hold.end_s, next);
    row.layer = "drive_silent";
    row.reason = "no command for " + std::to_string(static_cast<int>(std::round(1000.0 * (next - t[i])))) + " ms";
    rows.push_back(std::move(row));
  }
}

/// Zero that the car was told while its controller asked for more: what stands between them.
void add_overrides(const RunAnalysis& analysis, const Hold& hold, std::vector<StopRow>& rows) {
  const RunData& run = analysis.run;
  if (run.topic("ackermann_cmd") == nullptr || run.drive.empty()) return;
  const std::vector<double> asked =
      signals::resample(run.drive.arrival_s, run.drive.speed_mps, run.command.arrival_s, signals::Between::kHeld, kDriveSilence_s);
  const std::vector<double> operated =
      signals::resample(run.teleop.arrival_s, run.teleop.speed_mps, run.command.arrival_s, signals::Between::kHeld, kDriveSilence_s);
  bool within = false;
  for (std::size_t i = 0; i < run.command.size(); ++i) {
    const bool overridden =
        hold.holds(run.command.arrival_s[i]) && run.command.speed_mps[i] == 0.0 && std::isfinite(asked[i]) && asked[i] != 0.0;
    if (!overridden) {
      within = false;
      continue;
    }
    const std::string layer = operated[i] == 0.0 ? "teleop" : "supervisor";
    if (!within || rows.back().layer != layer) {
      StopRow row;
      row.begin_s = run.command.arrival_s[i];
      row.layer = layer;
      row.reason = layer == "teleop" ? "the operator's own command" : "zero was sent though the controller asked for more";
      rows.push_back(std::move(row));
      within = true;
    }
    rows.back().end_s = run.command.arrival_s[i];
    ++rows.back().ticks;
  }
}

/// The smallest speed that was commanded in [from_s, to_s]; NaN where the last command before is too old.
double least_commanded(const CommandSeries& command, double from_s, double to_s) {
  const auto after = std::upper_bound(command.arrival_s.begin(), command.arrival_s.end(), to_s);
  double least = NAN;
  for (auto i = after - command.arrival_s.begin(); i-- > 0;) {
    const auto k = static_cast<std::size_t>(i);
    const double until = i + 1 < after - command.arrival_s.begin() ? command.arrival_s[k + 1] : to_s;
    if (until - command.arrival_s[k] > kDriveSilence_s) return NAN;
    least = std::isnan(least) ? command.speed_mps[k] : std::min(least, command.speed_mps[k]);
    if (command.arrival_s[k] <= from_s) return least;
  }
  return NAN;
}

/// A car that does not do what it has been told for a while.
void add_unheeded(const RunAnalysis& analysis, const Hold& hold, const MeasuredMotion& measured, double response_s,
                  std::vector<StopRow>& rows) {
  constexpr double kPatience_s = 0.3;
  constexpr double kTold_mps = 0.3;
  constexpr double kHeeded = 0.5;
  constexpr double kShortest_s = 0.1;
  constexpr double kLookBack_s = 0.2;
  constexpr double kGathers_mps = 0.1;
  const OdometrySeries& odometry = analysis.run.odometry;
  const std::vector<double> wheels =
      signals::resample(odometry.arrival_s, odometry.speed_mps, measured.end_s, signals::Between::kHeld, 0.1);
  std::vector<std::pair<double, double>> before;  // time and speed, the last kLookBack_s
  StopRow row;
  bool within = false;
  double told = NAN;
  const auto close = [&] {
    if (within && row.end_s - row.begin_s >= kShortest_s) {
      row.reason = "told to drive at " + format_number(told, 2) + " m/s or more, it does not";
      rows.push_back(row);
    }
    within = false;
  };
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const double t = 0.5 * (measured.begin_s[i] + measured.end_s[i]);
    const double speed = std::isfinite(measured.speed_mps[i]) ? measured.speed_mps[i] : wheels[i];
    if (!hold.holds(t) || !std::isfinite(speed)) continue;
    const double least = least_commanded(analysis.run.command, t - response_s - kPatience_s, t);
    while (before.size() > 1 && before[1].first <= t - kLookBack_s) before.erase(before.begin());
    before.emplace_back(t, std::abs(speed));
    // One that gathers speed does what it can.
    const bool gathers = std::abs(speed) - before.front().second > kGathers_mps;
    if (!(least >= kTold_mps && std::abs(speed) < kHeeded * least) || gathers) {
      close();
      continue;
    }
    if (!within) {
      row = {};
      row.begin_s = t;
      row.layer = "driver";
      told = least;
      within = true;
    }
    told = std::min(told, least);
    row.end_s = t;
  }
  close();
}

}  // namespace

std::vector<StopRow> stops_of(const RunAnalysis& analysis, const Hold& hold, const MeasuredMotion& measured, double response_s) {
  std::vector<StopRow> rows;
  add_controller_stops(analysis, hold, response_s, rows);
  add_silences(analysis, hold, rows);
  add_overrides(analysis, hold, rows);
  add_unheeded(analysis, hold, measured, response_s, rows);
  std::stable_sort(rows.begin(), rows.end(), [](const StopRow& a, const StopRow& b) { return a.begin_s < b.begin_s; });
  return rows;
}

}  // namespace pitwall::analysis

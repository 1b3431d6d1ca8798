// SPDX-License-Identifier: Apache-2.0
#include "analysis/estimator_replay.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "calibration/car_profile.hpp"
#include "core/files.hpp"
#include "core/math.hpp"
#include "core/signal.hpp"
#include "core/text.hpp"
#include "localization/imu_fusion.hpp"

namespace pitwall::analysis {

namespace {

using localization::VehicleStateParameters;

constexpr double kLongestGap_s = 0.25;

/// The motion that an estimate is scored against, at instants; NaN where it is not known.
struct Reference {
  std::string name;
  std::vector<double> t_s, speed_mps, rate_radps;
};

std::vector<Reference> references_of(const ImuRun& run) {
  std::vector<Reference> all;
  const MotionSeries& m = run.motion;
  if (m.size() > 1) {
    Reference scans{"scans", {}, {}, {}};
    for (std::size_t i = 0; i < m.size(); ++i) {
      scans.t_s.push_back(m.middle_s(i));
      scans.speed_mps.push_back(m.speed_seen[i] != 0.0 ? m.speed_mps[i] : NAN);
      scans.rate_radps.push_back(m.yaw_seen[i] != 0.0 ? m.yaw_rate_radps[i] : NAN);
    }
    all.push_back(std::move(scans));
  }
  const TruthSeries& truth = run.run.truth;
  if (truth.size() > 1) all.push_back({"truth", truth.t_s, truth.speed_mps, truth.yaw_rate_radps});
  return all;
}

struct ScoreSpread {
  double n = 0.0, sum = 0.0, squares = 0.0;
  void add(double error) {
    if (!std::isfinite(error)) return;
    n += 1.0;
    sum += error;
    squares += error * error;
  }
  [[nodiscard]] double bias() const { return n > 0.0 ? sum / n : NAN; }
  [[nodiscard]] double rms() const { return n > 0.0 ? std::sqrt(squares / n) : NAN; }
};

struct Score {
  ScoreSpread speed, straight, tight, gathering, rate;
  double drift_rad = 0.0;  ///< of the heading, over the time the turn is known
  double known_s = 0.0;
};

Score score_of(const std::vector<double>& t_s, const std::vector<double>& speed, const std::vector<double>& rate, const Reference& truth) {
  constexpr double kStraight_1pm = 0.15, kTight_1pm = 0.5, kMoving_mps = 0.5, kGathering_mps2 = 1.0, kAround_s = 0.1;
  const auto at = [&](const std::vector<double>& value, double shift_s) {
    std::vector<double> when = truth.t_s;
    for (double& each : when) each += shift_s;
    return signals::resample(t_s, value, when, signals::Between::kLinear, kLongestGap_s);
  };
  const std::vector<double> v = at(speed, 0.0);
  const std::vector<double> before = at(speed, -kAround_s);
  const std::vector<double> after = at(speed, kAround_s);
  const std::vector<double> w = at(rate, 0.0);
  Score score;
  for (std::size_t i = 0; i < truth.t_s.size(); ++i) {
    const double error = v[i] - truth.speed_mps[i];
    score.speed.add(error);
    score.rate.add(w[i] - truth.rate_radps[i]);
    const double curvature = std::abs(truth.rate_radps[i] / truth.speed_mps[i]);
    if (std::abs(truth.speed_mps[i]) > kMoving_mps && curvature < kStraight_1pm) score.straight.add(error);
    if (std::abs(truth.speed_mps[i]) > kMoving_mps && curvature > kTight_1pm) score.tight.add(error);
    if (std::abs(after[i] - before[i]) > 2.0 * kAround_s * kGathering_mps2) score.gathering.add(error);
    if (i == 0) continue;
    const double dt = truth.t_s[i] - truth.t_s[i - 1];
    const double drift = 0.5 * dt * (w[i] - truth.rate_radps[i] + w[i - 1] - truth.rate_radps[i - 1]);
    if (!std::isfinite(drift) || dt > kLongestGap_s) continue;
    score.drift_rad += drift;
    score.known_s += dt;
  }
  return score;
}

/// One way to run the estimator.
struct Setting {
  std::string name;
  std::size_t imu = 0;
  VehicleStateParameters parameters;
};

Result<Setting> changed(const Setting& from, const std::string& set, const ImuRun& run) {
  Setting to = from;
  to.name = set;
  Node node = save_fields(from.parameters);
  for (const std::string_view part : split(set, ',')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0) return Error{"--set " + set + ": needed is NAME=VALUE"};
    if (part.substr(0, equals) == "imu") {
      std::vector<std::string> names;
      for (const ImuTrack& each : run.imus) names.push_back(each.topic);
      const auto found = std::find(names.begin(), names.end(), part.substr(equals + 1));
      if (found == names.end()) return Error{"--set " + set + ": " + unknown_name("IMU", std::string(part.substr(equals + 1)), names)};
      to.imu = static_cast<std::size_t>(found - names.begin());
    } else if (const Status status = set_by_path(node, std::string(part)); !status) {
      return status.error();
    }
  }
  if (const Status loaded = load_fields(node, "--set", to.parameters); !loaded) return loaded.error();
  return to;
}

Result<CarParameters> calibration_of(const EstimatorReplayOptions& options, const ImuRun& run) {
  if (!options.car_yaml.empty()) {
    const auto profile = calibration::load_car(options.car_yaml.string(), calibration::cars_folder());
    if (!profile) return profile.error();
    return profile->parameters;
  }
  const bool in_the_run = run.car_source == "recorded in the run" || (run.run.manifest && !run.run.manifest->car_id.empty());
  if (!in_the_run && !options.car_given) {
    return Error{options.run.run.string() +
                 ": no calibration of the car: none in metadata/files, and neither --car-yaml nor --car is given"};
  }
  return run.car;
}

std::vector<Column> score_columns() {
  return {{"setting", "setting"},
          {"speed_rms_mps", "speed rms [m/s]"},
          {"speed_bias_mps", "bias [m/s]"},
          {"straight_rms_mps", "straights [m/s]"},
          {"tight_rms_mps", "tight turns [m/s]"},
          {"gathering_rms_mps", "above 1 m/s^2 [m/s]"},
          {"rate_rms_dps", "turn rate rms [deg/s]"},
          {"drift_deg", "heading drift [deg]"},
          {"drift_dpm", "drift [deg/min]"},
          {"samples", "n"},
          {"speed_delta_mps", "speed rms less first [m/s]"}};
}

std::vector<Cell> score_row(const std::string& name, const Score& s, double first_rms) {
  const double drift = s.known_s > 0.0 ? s.drift_rad / math::kDegree : NAN;
  return {text(name),
          number(s.speed.rms(), 4),
          number(s.speed.bias(), 4),
          number(s.straight.rms(), 4),
          number(s.tight.rms(), 4),
          number(s.gathering.rms(), 4),
          number(s.rate.rms() / math::kDegree, 3),
          number(drift, 2),
          number(60.0 * drift / s.known_s, 2),
          number(s.speed.n, 0),
          number(s.speed.rms() - first_rms, 4)};
}

Table table_of_consistency(const std::vector<Setting>& settings, const std::vector<EstimatedSeries>& results) {
  Table table{"consistency",
              "Consistency",
              "mean squared innovation over its variance: near 1 the noise is what it is taken for, far above 1 the filter is too sure",
              {{"setting", "setting"},
               {"measurement", "measurement"},
               {"used", "used"},
               {"gated", "not believed"},
               {"refused", "refused"},
               {"nis", "mean NIS"}},
              {}};
  using localization::Measurement;
  for (std::size_t k = 0; k < settings.size(); ++k) {
    for (const auto& [kind, kind_name] : {std::pair{Measurement::kGyro, "gyro"}, std::pair{Measurement::kWheels, "wheels"}}) {
      const auto& c = results[k].counts[static_cast<std::size_t>(kind)];
      table.rows.push_back({text(settings[k].name), text(kind_name), count(static_cast<std::size_t>(c.used)),
                            count(static_cast<std::size_t>(c.gated)), count(static_cast<std::size_t>(c.refused)),
                            number(c.sum_nis / static_cast<double>(c.used), 3)});
    }
  }
  return table;
}

}  // namespace

EstimatedSeries replay_estimator(const ImuSeries& imu, const OdometrySeries& wheels, Time origin,
                                 const VehicleStateParameters& parameters) {
  localization::VehicleStateEstimator estimator(parameters);
  std::vector<std::size_t> order(imu.size() + wheels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto arrival = [&](std::size_t k) { return k < imu.size() ? imu.arrival_s[k] : wheels.arrival_s[k - imu.size()]; };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return arrival(a) < arrival(b); });
  EstimatedSeries out;
  for (const std::size_t k : order) {
    if (k >= imu.size()) {
      const std::size_t i = k - imu.size();
      estimator.add_wheels(origin + from_seconds(wheels.t_s[i]), wheels.speed_mps[i]);
      continue;
    }
    Imu sample;
    sample.stamp = origin + from_seconds(imu.t_s[k]);
    sample.angular_velocity_radps = {imu.gyro_x[k], imu.gyro_y[k], imu.gyro_z[k]};
    sample.linear_acceleration_mps2 = {imu.accel_x[k], imu.accel_y[k], imu.accel_z[k]};
    estimator.add_imu(sample);
    const localization::VehicleState state = estimator.state();
    const double t_s = (state.stamp - origin).seconds();
    if (!out.t_s.empty() && !(t_s > out.t_s.back())) continue;
    out.t_s.push_back(t_s);
    out.speed_mps.push_back(state.velocity.x_mps);
    out.lateral_mps.push_back(state.velocity.y_mps);
    out.yaw_rad.push_back(state.pose.yaw);
    out.yaw_rate_radps.push_back(state.velocity.yaw_radps);
  }
  for (std::size_t k = 0; k < localization::kMeasurements; ++k) out.counts[k] = estimator.counts(static_cast<localization::Measurement>(k));
  return out;
}

Result<ImuTrack> fused_track(const ImuRun& run, const std::filesystem::path& rig_file) {
  const Result<std::string> bytes = read_file(rig_file);
  if (!bytes) return bytes.error();
  const Result<localization::ImuRig> rig = localization::parse_imu_rig(*bytes, rig_file.string());
  if (!rig) return rig.error();
  struct Event {
    double arrival_s;
    std::size_t stream;
    localization::ImuSample sample;
  };
  std::vector<Event> events;
  std::vector<localization::ImuMount> mounts;
  for (const localization::NamedMount& each : rig->imus) {
    std::vector<std::string> names;
    for (const ImuTrack& imu : run.imus) names.push_back(imu.topic);
    const auto found = std::find(names.begin(), names.end(), each.topic);
    if (found == names.end()) return Error{rig_file.string() + ": imus." + each.name + ": " + unknown_name("IMU", each.topic, names)};
    const ImuSeries& s = run.imus[static_cast<std::size_t>(found - names.begin())].series;
    for (std::size_t i = 0; i < s.size(); ++i) {
      events.push_back({s.arrival_s[i],
                        mounts.size(),
                        {run.run.origin + from_seconds(s.t_s[i]),
                         {{s.gyro_x[i], s.gyro_y[i], s.gyro_z[i]}},
                         {{s.accel_x[i], s.accel_y[i], s.accel_z[i]}}}});
    }
    mounts.push_back(each.mount);
  }
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.arrival_s < b.arrival_s; });
  localization::ImuSynchronizer grid(rig->sync, mounts.size());
  localization::CentreFusion fusion(mounts);
  ImuTrack fused{"rig", {}, {}, 0};
  for (const Event& event : events) {
    grid.add(event.stream, event.sample);
    while (const auto* samples = grid.next(run.run.origin + from_seconds(event.arrival_s))) {
      const Imu imu = fusion.fuse(*samples);
      const auto& [gx, gy, gz] = imu.angular_velocity_radps;
      const auto& [ax, ay, az] = imu.linear_acceleration_mps2;
      ImuSeries& to = fused.series;
      to.t_s.push_back(seconds_since(run.run.origin, imu.stamp));
      to.arrival_s.push_back(event.arrival_s);
      to.gyro_x.push_back(gx);
      to.gyro_y.push_back(gy);
      to.gyro_z.push_back(gz);
      to.accel_x.push_back(ax);
      to.accel_y.push_back(ay);
      to.accel_z.push_back(az);
    }
  }
  if (fused.series.size() < 2) return Error{rig_file.string() + ": its IMUs are never known at the same time"};
  return fused;
}

Result<ReportResult> estimator_replay(const EstimatorReplayOptions& options) {
  Result<ImuRun> run = load_imu_run(options.run, true);
  if (!run) return run.error();
  if (!options.rig.empty()) {
    Result<ImuTrack> fused = fused_track(*run, options.rig);
    if (!fused) return fused.error();
    run->imus.insert(run->imus.begin(), *std::move(fused));
  }
  if (run->odometries.empty())
    return Error{options.run.run.string() + ": no odometry was recorded (/odom): the estimator needs the wheels"};
  const Result<CarParameters> car = calibration_of(options, *run);
  if (!car) return car.error();
  std::vector<Setting> settings{{"as it is", 0, VehicleStateParameters::for_car(*car)}};
  for (const std::string& set : options.sets) {
    Result<Setting> setting = changed(settings.front(), set, *run);
    if (!setting) return setting.error();
    settings.push_back(*std::move(setting));
  }
  const OdometrySeries& wheels = run->odometries.front().series;
  ReportResult result;
  result.out = run->out;
  NpzWriter arrays;
  std::vector<EstimatedSeries> results;
  for (std::size_t k = 0; k < settings.size(); ++k) {
    results.push_back(replay_estimator(run->imus[settings[k].imu].series, wheels, run->run.origin, settings[k].parameters));
    const EstimatedSeries& e = results.back();
    for (const auto& [name, values] :
         {std::pair{"t_s", &e.t_s}, std::pair{"speed_mps", &e.speed_mps}, std::pair{"lateral_mps", &e.lateral_mps},
          std::pair{"yaw_rad", &e.yaw_rad}, std::pair{"yaw_rate_radps", &e.yaw_rate_radps}}) {
      arrays.add(std::to_string(k) + "/" + name, *values);
    }
  }
  Document& document = result.document;
  document.title = "Estimator replay of " + run->run.path.filename().string();
  document.warnings = run->warnings;
  document.sections.push_back(section_of_recording(*run));
  Section section{"scores", "Scores",
                  {},       {{"imu", "IMU", text(run->imus.front().topic)}, {"wheels", "wheels", text(run->odometries.front().topic)}},
                  {},       {}};
  Gate& gate = result.gate;
  const std::vector<Reference> references = references_of(*run);
  for (const Reference& reference : references) {
    Table table{reference.name,
                "Against the " + reference.name,
                "the row of the wheels is what an estimator must beat; open loop",
                score_columns(),
                {}};
    double first = NAN;
    for (std::size_t k = 0; k < settings.size(); ++k) {
      const Score score = score_of(results[k].t_s, results[k].speed_mps, results[k].yaw_rate_radps, reference);
      if (k == 0) first = score.speed.rms();
      table.rows.push_back(score_row(settings[k].name, score, first));
      const std::string of = " of '" + settings[k].name + "' against the " + reference.name;
      gate.at_most("speed rms" + of, options.max_speed_rms_mps, score.speed.rms(), "m/s");
      gate.at_most("turn rate rms" + of, options.max_rate_rms_dps, score.rate.rms() / math::kDegree, "deg/s");
      gate.at_most("heading drift" + of, options.max_drift_dpm, 60.0 * score.drift_rad / math::kDegree / score.known_s, "deg/min");
    }
    table.rows.push_back(score_row("wheels alone", score_of(wheels.t_s, wheels.speed_mps, wheels.yaw_rate_radps, reference), first));
    section.tables.push_back(std::move(table));
  }
  if (references.empty()) {
    section.notes.emplace_back("not available: neither scans nor a truth say how the car moved");
    gate.at_most("speed rms", options.max_speed_rms_mps, NAN, "m/s");
    gate.at_most("turn rate rms", options.max_rate_rms_dps, NAN, "deg/s");
    gate.at_most("heading drift", options.max_drift_dpm, NAN, "deg/min");
  }
  section.tables.push_back(table_of_consistency(settings, results));
  document.sections.push_back(std::move(section));
  gate.add_to(document);
  result.arrays = std::move(arrays);
  return result;
}

}  // namespace pitwall::analysis

// SPDX-License-Identifier: Apache-2.0
#include "analysis/response.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace pitwall::analysis {

namespace {

using signals::Between;
using signals::CommandSignal;
using signals::Estimate;
using signals::LagFit;
using signals::LagOptions;
using signals::MeasuredSignal;

constexpr double kSteered_mps = 0.3;       // below this a car has no curvature to speak of
constexpr double kLeastSpeedSpread = 0.1;  // m/s
constexpr double kLeastTurnSpread = 0.1;   // rad/s
constexpr double kScaleSpeed_mps = 0.5;    // odometry is judged from here
constexpr double kStraight_1pm = 0.15;
constexpr double kTight_1pm = 0.5;
constexpr double kLeastSigma = 0.02;  // m/s, rad/s

/// Those entries of a measured motion at which `known` says yes.
struct Selected {
  std::vector<double> begin_s, end_s, value, factor, weight;
  [[nodiscard]] MeasuredSignal signal() const { return {begin_s, end_s, value, factor, weight}; }
  void add(const MeasuredMotion& from, std::size_t i, double v, double sigma, double f) {
    weight.push_back(1.0 / (sigma * sigma));
    begin_s.push_back(from.begin_s[i]);
    end_s.push_back(from.end_s[i]);
    value.push_back(v);
    factor.push_back(f);
  }
};

/// One value of the commands, in the order of their stamps; curvature where they are steering angles.
struct Commanded {
  std::vector<double> t_s, value;
  [[nodiscard]] CommandSignal signal() const { return {t_s, value, Between::kHeld}; }
};

template <class Value>
Commanded commanded(const CommandSeries& command, Value value) {
  Commanded result;
  for (const std::size_t i : sorted_by_stamp(command.t_s)) {
    const double v = value(i);
    if (!std::isfinite(v)) continue;
    result.t_s.push_back(command.t_s[i]);
    result.value.push_back(v);
  }
  return result;
}

void add_fit(Response& to, const std::string& what, const LagFit& fit, const std::string& unit, const std::string& delay_of,
             const std::string& gain_of, const std::string& gain_name) {
  to.rows.push_back({what + "_lag_s", what + ": lag", "s", fit.lag_s, fit.rms, ""});
  to.rows.push_back({what + "_delay_s", what + ": of it pure delay", "s", fit.delay_s, fit.rms, delay_of});
  to.rows.push_back({what + "_time_constant_s", what + ": of it first-order lag", "s", fit.time_constant_s, fit.rms, ""});
  to.rows.push_back({what + "_gain", gain_name, unit, fit.gain, fit.rms, gain_of});
}

/// The speed around each sample, the mean of those within 0.1 s by their certainty. It multiplies a commanded curvature, where noise would
/// not average out but make the gain too small (errors in the variables: 1 % at 1 m/s and 0.1 m/s of noise).
std::vector<double> steadied_speed(const MeasuredMotion& measured) {
  constexpr double kAround_s = 0.1;
  std::vector<double> steadied(measured.size(), NAN);
  std::size_t first = 0;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if (!std::isfinite(measured.speed_mps[i])) continue;
    while (measured.begin_s[first] < measured.begin_s[i] - kAround_s) ++first;
    double sum = 0.0;
    double weights = 0.0;
    for (std::size_t k = first; k < measured.size() && measured.begin_s[k] <= measured.begin_s[i] + kAround_s; ++k) {
      if (!std::isfinite(measured.speed_mps[k])) continue;
      const double weight = 1.0 / (measured.speed_sigma_mps[k] * measured.speed_sigma_mps[k]);
      sum += weight * measured.speed_mps[k];
      weights += weight;
    }
    steadied[i] = sum / weights;
  }
  return steadied;
}

/// Curvature commanded, answered by the turn rate at the measured speed; or turn rate commanded.
LagFit fit_turning(const Commanded& turning, bool is_curvature, const MeasuredMotion& measured) {
  Selected known;
  const std::vector<double> steadied = steadied_speed(measured);
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const double speed = steadied[i];
    if (!std::isfinite(measured.yaw_rate_radps[i]) || (is_curvature && !(std::abs(speed) >= kSteered_mps))) continue;
    known.add(measured, i, measured.yaw_rate_radps[i], measured.yaw_sigma_radps[i], is_curvature ? speed : 1.0);
  }
  LagOptions options;
  options.least_spread = kLeastTurnSpread;
  return signals::fit_lag(turning.signal(), known.signal(), options);
}

/// Gain of turning in bins of commanded lateral acceleration.
std::vector<GripRow> fit_grip(const Commanded& curvature, const LagFit& turning, const MeasuredMotion& measured) {
  constexpr double kLeastTurn = 0.05;
  constexpr std::array kEdges{0.0, 1.0, 2.0, 3.0, static_cast<double>(INFINITY)};
  Selected known;
  const std::vector<double> speed = steadied_speed(measured);
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if (!std::isfinite(measured.yaw_rate_radps[i]) || !(std::abs(speed[i]) >= kSteered_mps)) continue;
    known.add(measured, i, measured.yaw_rate_radps[i], measured.yaw_sigma_radps[i], speed[i]);
  }
  const std::vector<double> asked =
      signals::aligned(curvature.signal(), known.signal(), turning.delay_s.value, turning.time_constant_s.value);
  std::vector<GripRow> rows;
  for (std::size_t bin = 0; bin + 1 < kEdges.size(); ++bin) {
    std::vector<double> t, x, y, w;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const double lateral = std::abs(asked[i] * known.factor[i]);
      if (!std::isfinite(asked[i]) || lateral < kEdges[bin] || lateral >= kEdges[bin + 1]) continue;
      t.push_back(known.begin_s[i]);
      x.push_back(asked[i]);
      y.push_back(known.value[i]);
      w.push_back(known.weight[i]);
    }
    GripRow row{kEdges[bin], kEdges[bin + 1], signals::fit_gain(t, x, y, kLeastTurn, w)};
    if (row.gain.identifiable && !turning.lag_s.identifiable) {
      row.gain.identifiable = false;
      row.gain.why = "the steering lag is not known: " + turning.lag_s.why;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

/// True speed over the wheels' speed, on straights and in tight turns.
void add_odometry_scale(Response& to, const OdometrySeries& odometry, const MeasuredMotion& measured) {
  Commanded wheels;
  for (const std::size_t i : sorted_by_stamp(odometry.t_s)) {
    wheels.t_s.push_back(odometry.t_s[i]);
    wheels.value.push_back(odometry.speed_mps[i]);
  }
  const MeasuredSignal all{measured.begin_s, measured.end_s, measured.speed_mps, {}, {}};
  const std::vector<double> wheel_speed = signals::aligned({wheels.t_s, wheels.value, Between::kLinear}, all, 0.0, 0.0);
  for (const bool tight : {false, true}) {
    std::vector<double> t, x, y, w;
    for (std::size_t i = 0; i < measured.size(); ++i) {
      const double speed = measured.speed_mps[i];
      if (!std::isfinite(speed) || !std::isfinite(measured.yaw_rate_radps[i]) || !std::isfinite(wheel_speed[i])) continue;
      if (!(std::abs(speed) > kScaleSpeed_mps && std::abs(wheel_speed[i]) > kScaleSpeed_mps)) continue;
      const double curvature = std::abs(measured.yaw_rate_radps[i] / speed);
      if (tight ? curvature <= kTight_1pm : curvature >= kStraight_1pm) continue;
      t.push_back(measured.begin_s[i]);
      x.push_back(wheel_speed[i]);
      y.push_back(speed);
      w.push_back(1.0 / (measured.speed_sigma_mps[i] * measured.speed_sigma_mps[i]));
    }
    double squares = 0.0;
    const Estimate scale = signals::fit_gain(t, x, y, kScaleSpeed_mps, w);
    for (std::size_t i = 0; i < x.size(); ++i) squares += (y[i] - scale.value * x[i]) * (y[i] - scale.value * x[i]);
    to.rows.push_back({tight ? "odometry_scale_tight" : "odometry_scale_straight",
                       tight ? "odometry: true speed over reported, tight turns" : "odometry: true speed over reported, straights", "",
                       scale, x.empty() ? NAN : std::sqrt(squares / static_cast<double>(x.size())), tight ? "" : "odometry_scale"});
  }
}

template <class Mean>
MeasuredMotion made(std::string source, Mean mean) {
  MeasuredMotion measured;
  measured.source = std::move(source);
  mean(measured);
  return measured;
}

}  // namespace

MeasuredMotion by_scans(const MotionSeries& motion, double begin_s, double end_s) {
  return made("scans", [&](MeasuredMotion& to) {
    for (std::size_t i = 0; i < motion.size(); ++i) {
      if (motion.begin_s[i] < begin_s || motion.end_s[i] > end_s) continue;
      to.begin_s.push_back(motion.begin_s[i]);
      to.end_s.push_back(motion.end_s[i]);
      to.speed_mps.push_back(motion.speed_seen[i] != 0.0 ? motion.speed_mps[i] : NAN);
      to.yaw_rate_radps.push_back(motion.yaw_seen[i] != 0.0 ? motion.yaw_rate_radps[i] : NAN);
      // No pair is better than its calibration of noise: a floor keeps a few from having all the say.
      to.speed_sigma_mps.push_back(std::max(kLeastSigma, motion.speed_sigma_mps[i]));
      to.yaw_sigma_radps.push_back(std::max(kLeastSigma, motion.yaw_sigma_radps[i]));
    }
  });
}

MeasuredMotion by_odometry(const OdometrySeries& odometry, double begin_s, double end_s) {
  return made("odometry", [&](MeasuredMotion& to) {
    for (const std::size_t i : sorted_by_stamp(odometry.t_s)) {
      if (odometry.t_s[i] < begin_s || odometry.t_s[i] > end_s) continue;
      to.begin_s.push_back(odometry.t_s[i]);
      to.end_s.push_back(odometry.t_s[i]);
      to.speed_mps.push_back(odometry.speed_mps[i]);
      to.yaw_rate_radps.push_back(NAN);
      to.speed_sigma_mps.push_back(kLeastSigma);
      to.yaw_sigma_radps.push_back(kLeastSigma);
    }
  });
}

MeasuredMotion by_truth(const TruthSeries& truth, const MeasuredMotion& like) {
  MeasuredMotion measured = like;
  measured.source = "truth";
  const MeasuredSignal intervals{like.begin_s, like.end_s, like.speed_mps, {}, {}};
  const auto mean_of = [&](const std::vector<double>& value) {
    return signals::aligned({truth.t_s, value, Between::kLinear}, intervals, 0.0, 0.0);
  };
  const std::vector<double> speed = mean_of(truth.speed_mps);
  const std::vector<double> yaw_rate = mean_of(truth.yaw_rate_radps);
  for (std::size_t i = 0; i < measured.size(); ++i) {
    measured.speed_mps[i] = std::isfinite(like.speed_mps[i]) ? speed[i] : NAN;
    measured.yaw_rate_radps[i] = std::isfinite(like.yaw_rate_radps[i]) ? yaw_rate[i] : NAN;
  }
  return measured;
}

const signals::Estimate* Response::find(std::string_view key) const {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const ResponseRow& row) { return row.key == key; });
  return found == rows.end() ? nullptr : &found->estimate;
}

Response fit_response(const CommandSeries& command, const OdometrySeries& odometry, const MeasuredMotion& measured, double wheelbase_m) {
  Response response;
  response.source = measured.source;
  Selected speed;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if (std::isfinite(measured.speed_mps[i])) speed.add(measured, i, measured.speed_mps[i], measured.speed_sigma_mps[i], 1.0);
  }
  const Commanded speeds = commanded(command, [&](std::size_t i) { return command.speed_mps[i]; });
  LagOptions options;
  options.least_spread = kLeastSpeedSpread;
  add_fit(response, "speed", signals::fit_lag(speeds.signal(), speed.signal(), options), "", "speed_delay_s", "", "speed: gain");

  const Commanded curvature = commanded(command, [&](std::size_t i) { return math::tan(command.steering_rad[i]) / wheelbase_m; });
  if (curvature.t_s.empty()) {
    const Commanded turn = commanded(command, [&](std::size_t i) { return command.yaw_rate_radps[i]; });
    add_fit(response, "turning", fit_turning(turn, false, measured), "", "", "", "turning: gain of the turn rate");
  } else {
    const LagFit turning = fit_turning(curvature, true, measured);
    add_fit(response, "steering", turning, "", "steering_delay_s", "steering_gain", "steering: gain of the curvature");
    response.grip = fit_grip(curvature, turning, measured);
  }
  if (measured.source != "odometry" && odometry.size() > 1) add_odometry_scale(response, odometry, measured);
  return response;
}

Way way_of(const MeasuredMotion& measured, const OdometrySeries& odometry) {
  constexpr double kCertain_mps = 0.05;
  const MeasuredMotion wheels = by_odometry(odometry, -INFINITY, INFINITY);
  const MeasuredSignal intervals{measured.begin_s, measured.end_s, measured.speed_mps, {}, {}};
  const std::vector<double> stand_in = signals::aligned({wheels.begin_s, wheels.speed_mps, Between::kLinear}, intervals, 0.0, 0.0);
  Way way;
  double known_s = 0.0;
  double total_s = 0.0;
  double last_speed = NAN;
  double last_s = NAN;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const double middle = 0.5 * (measured.begin_s[i] + measured.end_s[i]);
    const bool known = std::isfinite(measured.speed_mps[i]);
    const double speed = known ? measured.speed_mps[i] : std::isfinite(stand_in[i]) ? stand_in[i] : last_speed;
    const bool certain = known && (measured.speed_sigma_mps.empty() || measured.speed_sigma_mps[i] <= kCertain_mps);
    if (certain) way.peak_mps = std::isnan(way.peak_mps) ? speed : std::max(way.peak_mps, speed);
    if (std::isfinite(last_s)) {
      const double dt = middle - last_s;
      if (std::isfinite(speed) && std::isfinite(last_speed)) way.distance_m += 0.5 * std::abs(speed + last_speed) * dt;
      total_s += dt;
      known_s += known ? dt : 0.0;
    }
    last_s = middle;
    last_speed = speed;
  }
  if (total_s > 0.0) {
    way.mean_mps = way.distance_m / total_s;
    way.known_share = known_s / total_s;
  }
  return way;
}

}  // namespace pitwall::analysis

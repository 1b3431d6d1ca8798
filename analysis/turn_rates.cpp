// SPDX-License-Identifier: Apache-2.0
#include "analysis/turn_rates.hpp"

#include <algorithm>
#include <utility>

#include "core/math.hpp"

namespace pitwall::analysis {

namespace {

double correlation_of(const std::vector<double>& x, const std::vector<double>& y) {
  double n = 0.0, sx = 0.0, sy = 0.0, sxx = 0.0, syy = 0.0, sxy = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) continue;
    n += 1.0;
    sx += x[i];
    sy += y[i];
    sxx += x[i] * x[i];
    syy += y[i] * y[i];
    sxy += x[i] * y[i];
  }
  const double spread = (n * sxx - sx * sx) * (n * syy - sy * sy);
  return spread > 0.0 ? (n * sxy - sx * sy) / std::sqrt(spread) : NAN;
}

}  // namespace

std::vector<RateSource> rate_sources(const ImuRun& run) {
  std::vector<RateSource> sources;
  const auto instants = [&](RateSource::Kind kind, const std::string& name, const std::vector<double>& t_s,
                            const std::vector<double>& rate) {
    RateSource source{kind, name, {}, {}, {}, {}};
    for (std::size_t i = 0; i < t_s.size(); ++i) {
      if (!std::isfinite(rate[i])) continue;
      source.begin_s.push_back(t_s[i]);
      source.end_s.push_back(t_s[i]);
      source.rate_radps.push_back(rate[i]);
      source.weight.push_back(1.0);
    }
    if (source.size() > 1) sources.push_back(std::move(source));
  };
  for (const ImuTrack& imu : run.imus) instants(RateSource::Kind::kGyro, "gyro " + imu.topic, imu.series.t_s, imu.series.gyro_z);
  for (const OdometryTrack& odometry : run.odometries) {
    instants(RateSource::Kind::kOdometry, "odometry " + odometry.topic, odometry.series.t_s, odometry.series.yaw_rate_radps);
  }
  constexpr double kLeastSigma_radps = 0.02;
  RateSource scans{RateSource::Kind::kScans, "scans", {}, {}, {}, {}};
  for (std::size_t i = 0; i < run.motion.size(); ++i) {
    if (run.motion.yaw_seen[i] == 0.0) continue;
    scans.begin_s.push_back(run.motion.begin_s[i]);
    scans.end_s.push_back(run.motion.end_s[i]);
    scans.rate_radps.push_back(run.motion.yaw_rate_radps[i]);
    const double sigma = std::max(kLeastSigma_radps, run.motion.yaw_sigma_radps[i]);
    scans.weight.push_back(1.0 / (sigma * sigma));
  }
  if (scans.size() > 1) sources.push_back(std::move(scans));
  instants(RateSource::Kind::kTruth, "truth", run.run.truth.t_s, run.run.truth.yaw_rate_radps);
  return sources;
}

RateSource commanded_rate(const ImuRun& run) {
  const CommandSeries& command = run.run.command;
  RateSource source{RateSource::Kind::kCommand, "commanded", {}, {}, {}, {}};
  const std::vector<double> speed = speed_at(run, command.t_s);
  for (const std::size_t i : sorted_by_stamp(command.t_s)) {
    double rate = command.yaw_rate_radps[i];
    if (std::isfinite(command.steering_rad[i])) {
      const double v = std::isfinite(speed[i]) ? speed[i] : command.speed_mps[i];
      rate = v * math::tan(command.steering_rad[i]) / run.car.wheelbase_m;
    }
    if (!std::isfinite(rate)) continue;
    source.begin_s.push_back(command.t_s[i]);
    source.end_s.push_back(command.t_s[i]);
    source.rate_radps.push_back(rate);
    source.weight.push_back(1.0);
  }
  return source;
}

RatePair compare_rates(const RateSource& a, const RateSource& b) {
  RatePair pair{a.name, b.name, a.kind, b.kind, {}, {}, {}, NAN, NAN};
  std::vector<double> t_s;
  for (std::size_t i = 0; i < a.size(); ++i) t_s.push_back(a.middle_s(i));
  const signals::CommandSignal command{t_s, a.rate_radps,
                                       a.kind == RateSource::Kind::kCommand ? signals::Between::kHeld : signals::Between::kLinear};
  const signals::MeasuredSignal measured{b.begin_s, b.end_s, b.rate_radps, {}, b.weight};
  signals::LagOptions options;
  options.shortest_s = -0.3;
  options.longest_s = a.kind == RateSource::Kind::kCommand ? 0.8 : 0.3;
  options.least_spread = 0.1;
  options.offset = true;
  const signals::LagFit fit = signals::fit_lag(command, measured, options);
  pair.delay_s = fit.lag_s;
  pair.scale = fit.gain;
  pair.bias_radps = fit.offset;
  pair.rms_radps = fit.rms;
  pair.correlation = correlation_of(signals::aligned(command, measured, fit.delay_s.value, fit.time_constant_s.value), b.rate_radps);
  return pair;
}

Table table_of_pairs(const std::vector<RatePair>& pairs) {
  Table table{
      "pairs",
      "Turn rates beside each other",
      "b = scale x a, delay later, plus bias; believe a scale only against scans or truth: what two gyros share neither shows, and an "
      "odometry's rate is computed from the command",
      {{"a", "a"},
       {"b", "b"},
       {"samples", "n"},
       {"delay_ms", "delay [ms]"},
       {"delay_low_ms", "from"},
       {"delay_high_ms", "to"},
       {"scale", "scale"},
       {"scale_low", "from"},
       {"scale_high", "to"},
       {"bias_dps", "bias [deg/s]"},
       {"bias_low_dps", "from"},
       {"bias_high_dps", "to"},
       {"rms_dps", "rms left [deg/s]"},
       {"correlation", "correlation"},
       {"identifiable", "identifiable"},
       {"why", "why not"}},
      {}};
  for (const RatePair& pair : pairs) {
    const auto ms = [](double s) { return number(1e3 * s, 1); };
    const auto dps = [](double radps) { return number(radps / math::kDegree, 3); };
    table.rows.push_back({text(pair.a), text(pair.b), count(pair.scale.samples), ms(pair.delay_s.value), ms(pair.delay_s.low),
                          ms(pair.delay_s.high), number(pair.scale.value, 4), number(pair.scale.low, 4), number(pair.scale.high, 4),
                          dps(pair.bias_radps.value), dps(pair.bias_radps.low), dps(pair.bias_radps.high), dps(pair.rms_radps),
                          number(pair.correlation, 4), flag(pair.delay_s.identifiable && pair.scale.identifiable),
                          text(pair.delay_s.identifiable ? pair.scale.why : pair.delay_s.why)});
  }
  return table;
}

}  // namespace pitwall::analysis

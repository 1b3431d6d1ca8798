// SPDX-License-Identifier: Apache-2.0
#include "analysis/imu_spectrum.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/math.hpp"
#include "localization/standstill.hpp"

namespace pitwall::analysis {

namespace {

constexpr double kDegree = math::kPi / 180.0;
constexpr double kGravity = 9.80665;
constexpr double kShortest_s = 2.0;
constexpr double kGap_s = 0.25;

struct Stretch {
  double begin_s = 0.0;
  double end_s = 0.0;
  double value = 0.0;  ///< mean of what is steady
};

struct Axis {
  const char* name;
  const std::vector<double>* values;
  bool gyro;
};

std::array<Axis, 6> axes_of(const ImuSeries& s) {
  return {{{"gyro x", &s.gyro_x, true},
           {"gyro y", &s.gyro_y, true},
           {"gyro z", &s.gyro_z, true},
           {"accel x", &s.accel_x, false},
           {"accel y", &s.accel_y, false},
           {"accel z", &s.accel_z, false}}};
}

double rate_of(const ImuSeries& s) { return static_cast<double>(s.size() - 1) / (s.t_s.back() - s.t_s.front()); }

/// A stretch of a column at even steps.
std::vector<double> even(const ImuSeries& s, const std::vector<double>& values, const Stretch& stretch, double rate_hz) {
  std::vector<double> at;
  for (double t = stretch.begin_s; t <= stretch.end_s; t = stretch.begin_s + static_cast<double>(at.size()) / rate_hz) at.push_back(t);
  std::vector<double> samples = signals::resample(s.t_s, values, at, signals::Between::kLinear, kGap_s);
  samples.erase(std::remove_if(samples.begin(), samples.end(), [](double v) { return !std::isfinite(v); }), samples.end());
  return samples;
}

/// Where the car stands, by the detector of the estimator.
std::vector<Stretch> parked(const ImuRun& run, const ImuSeries& s) {
  localization::StandstillDetector detector({});
  const OdometrySeries* wheels = run.odometries.empty() ? nullptr : &run.odometries.front().series;
  std::vector<double> speed(s.size(), NAN);
  if (wheels != nullptr) speed = signals::resample(wheels->t_s, wheels->speed_mps, s.t_s, signals::Between::kLinear, kGap_s);
  std::vector<Stretch> all;
  bool before = false;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const std::optional<double> wheel = std::isfinite(speed[i]) ? std::optional(speed[i]) : std::nullopt;
    const bool stands = detector.update(Time{} + from_seconds(s.t_s[i]), {s.gyro_x[i], s.gyro_y[i], s.gyro_z[i]},
                                        {s.accel_x[i], s.accel_y[i], s.accel_z[i]}, wheel);
    if (stands && !before) all.push_back({s.t_s[i], s.t_s[i], 0.0});
    if (stands) all.back().end_s = s.t_s[i];
    before = stands;
  }
  std::erase_if(all, [](const Stretch& each) { return each.end_s - each.begin_s < kShortest_s; });
  return all;
}

/// Where a motor or a speed stays within 5 % of its mean for 2 s or longer, and is no standstill.
std::vector<Stretch> steady(const std::vector<double>& t_s, const std::vector<double>& value, double least) {
  std::vector<Stretch> all;
  std::size_t first = 0;
  double low = 0.0, high = 0.0, sum = 0.0;
  const auto close = [&](std::size_t end) {
    if (end > first + 1 && t_s[end - 1] - t_s[first] >= kShortest_s)
      all.push_back({t_s[first], t_s[end - 1], sum / static_cast<double>(end - first)});
  };
  for (std::size_t i = 0; i < t_s.size(); ++i) {
    const double v = std::abs(value[i]);
    const bool goes_on = i > first && v >= least && std::max(high, v) - std::min(low, v) <= 0.05 * v && t_s[i] - t_s[i - 1] <= kGap_s;
    if (!goes_on) {
      close(i);
      first = i;
      low = high = v;
      sum = 0.0;
      if (v < least) first = i + 1;
      if (v >= least) sum = v;
      continue;
    }
    low = std::min(low, v);
    high = std::max(high, v);
    sum += v;
  }
  close(t_s.size());
  return all;
}

Section section_of_parked(const ImuRun& run, const ImuSpectrumOptions& options, Gate& gate) {
  Section section{"parked", "Parked", {}, {}, {}, {}};
  Table table{
      "axes",
      "Axes while it stands",
      "bias is what to calibrate away; noise density is what a filter should be told; the Allan minimum is how well any averaging can do",
      {{"imu", "IMU"},
       {"axis", "axis"},
       {"seconds", "parked [s]"},
       {"bias", "mean"},
       {"noise_density", "noise density [1/rtHz]"},
       {"allan_minimum", "Allan minimum"},
       {"allan_at_s", "at [s]"},
       {"unit", "unit"}},
      {}};
  double noise = NAN;
  for (const ImuTrack& imu : run.imus) {
    const std::vector<Stretch> stands = parked(run, imu.series);
    if (stands.empty()) {
      section.notes.push_back(imu.topic + ": skipped, the car never stands for 2 s");
      continue;
    }
    const Stretch& longest = *std::max_element(
        stands.begin(), stands.end(), [](const Stretch& a, const Stretch& b) { return a.end_s - a.begin_s < b.end_s - b.begin_s; });
    const double rate = rate_of(imu.series);
    double norm = 0.0;
    for (const Axis& axis : axes_of(imu.series)) {
      const std::vector<double> samples = even(imu.series, *axis.values, longest, rate);
      double mean = 0.0;
      for (const double v : samples) mean += v / static_cast<double>(samples.size());
      if (!axis.gyro) norm += mean * mean;
      double best = INFINITY, best_s = NAN;
      for (std::size_t m = 1; 2 * m + 1 < samples.size(); m *= 2) {
        const double deviation = allan_deviation(samples, m);
        if (deviation < best) {
          best = deviation;
          best_s = static_cast<double>(m) / rate;
        }
      }
      // White noise of density N averages to N / sqrt(tau): at one sample N = deviation * sqrt(tau).
      const double density = allan_deviation(samples, 1) / std::sqrt(rate);
      const double unit = axis.gyro ? kDegree : 1.0;
      table.rows.push_back({text(imu.topic), text(axis.name), number(longest.end_s - longest.begin_s, 1), number(mean / unit, 4),
                            number(density / unit, 5), number(best / unit, 5), number(best_s, 2), text(axis.gyro ? "deg/s" : "m/s^2")});
      if (axis.gyro && !(density / unit <= noise)) noise = density / unit;
    }
    section.facts.push_back(
        {"gravity_off_mps2_" + imu.topic, imu.topic + ": |mean acceleration| - g [m/s^2]", number(std::sqrt(norm) - kGravity, 4)});
  }
  gate.at_most("gyro noise density [deg/s/rtHz]", options.max_gyro_noise, noise);
  if (!table.rows.empty()) section.tables.push_back(std::move(table));
  return section;
}

/// The order of motor or wheels nearest to a line.
struct Order {
  std::string name = "none";
  double expected_hz = NAN;
  double from_hz = NAN;  ///< where aliased
};
Order order_near(double line_hz, double motor_hz, double wheel_hz, double rate_hz, double step_hz) {
  Order best;
  double nearest = 2.0 * step_hz;
  for (const auto& [name, base] : {std::pair{"motor", motor_hz}, std::pair{"wheel", wheel_hz}}) {
    for (int n = 1; n <= 4 && std::isfinite(base); ++n) {
      const double seen = aliased(n * base, rate_hz);
      if (std::abs(seen - line_hz) >= nearest) continue;
      nearest = std::abs(seen - line_hz);
      best = {std::string(name) + " x" + std::to_string(n), seen, n * base > 0.5 * rate_hz ? n * base : NAN};
    }
  }
  return best;
}

Section section_of_steady(const ImuRun& run, const ImuSpectrumOptions& options) {
  Section section{"steady", "Steady motor speed", {}, {}, {}, {}};
  constexpr double kLeastErpm = 500.0, kLeastSpeed_mps = 0.3;
  const bool motor = !run.motor.t_s.empty();
  if (!motor && run.odometries.empty()) {
    section.notes.emplace_back("skipped: neither the motor's revolutions (sensors/core) nor an odometry were recorded");
    return section;
  }
  const std::vector<double>& t_s = motor ? run.motor.t_s : run.odometries.front().series.t_s;
  const std::vector<double>& value = motor ? run.motor.erpm : run.odometries.front().series.speed_mps;
  const std::vector<Stretch> stretches = steady(t_s, value, motor ? kLeastErpm : kLeastSpeed_mps);
  if (stretches.empty()) {
    section.notes.emplace_back("skipped: the motor never runs within 5 % of one speed for 2 s");
    return section;
  }
  if (!motor) section.notes.emplace_back("no revolutions of the motor (sensors/core): orders of the wheels only");
  Table table{"peaks",
              "Lines",
              "a line at an order of the motor or a wheel is vibration: mount the IMU softer or balance; an aliased one is above half the "
              "sampling rate",
              {{"imu", "IMU"},
               {"begin_s", "from [s]"},
               {"seconds", "length [s]"},
               {"axis", "axis"},
               {"frequency_hz", "line [Hz]"},
               {"level_db", "over the floor [dB]"},
               {"order", "order"},
               {"expected_hz", "expected [Hz]"},
               {"aliased_from_hz", "aliased from [Hz]"}},
              {}};
  for (const ImuTrack& imu : run.imus) {
    const double rate = rate_of(imu.series);
    for (const Stretch& stretch : stretches) {
      const double middle = 0.5 * (stretch.begin_s + stretch.end_s);
      const double motor_hz = motor ? stretch.value / 60.0 / options.pole_pairs : NAN;
      const double wheel_hz = std::abs(speed_at(run, {middle})[0]) / (2.0 * math::kPi * options.wheel_radius_m);
      for (const Axis& axis : axes_of(imu.series)) {
        const Spectrum spectrum = welch(even(imu.series, *axis.values, stretch, rate), rate);
        for (const SpectrumPeak& peak : peaks_of(spectrum)) {
          const Order order = order_near(peak.frequency_hz, motor_hz, wheel_hz, rate, spectrum.step_hz);
          table.rows.push_back({text(imu.topic), number(stretch.begin_s, 2), number(stretch.end_s - stretch.begin_s, 2), text(axis.name),
                                number(peak.frequency_hz, 1), number(peak.level_db, 1), text(order.name), number(order.expected_hz, 1),
                                number(order.from_hz, 1)});
        }
      }
    }
  }
  section.facts.push_back({"stretches", "stretches of one speed", count(stretches.size())});
  section.tables.push_back(std::move(table));
  return section;
}

}  // namespace

Spectrum welch(const std::vector<double>& samples, double rate_hz, double window_s) {
  const auto n = static_cast<std::size_t>(std::lround(rate_hz * window_s));
  Spectrum spectrum;
  if (n < 4 || samples.size() < n) return spectrum;
  spectrum.step_hz = rate_hz / static_cast<double>(n);
  spectrum.density.assign(n / 2 + 1, 0.0);
  std::vector<double> cosine(n), sine(n), window(n), x(n);
  double power = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const double angle = 2.0 * math::kPi * static_cast<double>(i) / static_cast<double>(n);
    cosine[i] = math::cos(angle);
    sine[i] = math::sin(angle);
    window[i] = 0.5 - 0.5 * cosine[i];
    power += window[i] * window[i];
  }
  std::size_t windows = 0;
  for (std::size_t first = 0; first + n <= samples.size(); first += n / 2, ++windows) {
    double mean = 0.0;
    for (std::size_t i = 0; i < n; ++i) mean += samples[first + i] / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = window[i] * (samples[first + i] - mean);
    for (std::size_t k = 0; k < spectrum.density.size(); ++k) {
      double re = 0.0, im = 0.0;
      for (std::size_t i = 0, at = 0; i < n; ++i, at = (at + k) % n) {
        re += x[i] * cosine[at];
        im += x[i] * sine[at];
      }
      const double sides = k == 0 || 2 * k == n ? 1.0 : 2.0;
      spectrum.density[k] += sides * (re * re + im * im) / (rate_hz * power);
    }
  }
  for (double& each : spectrum.density) each /= static_cast<double>(windows);
  return spectrum;
}

std::vector<SpectrumPeak> peaks_of(const Spectrum& spectrum) {
  constexpr double kStandsOut_db = 6.0;
  std::vector<SpectrumPeak> peaks;
  const std::vector<double>& d = spectrum.density;
  if (d.size() < 8) return peaks;
  std::vector<double> sorted(d.begin() + 2, d.end());
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2), sorted.end());
  const double floor = sorted[sorted.size() / 2];
  for (std::size_t k = 2; k + 1 < d.size() && floor > 0.0; ++k) {
    if (!(d[k] > d[k - 1] && d[k] >= d[k + 1])) continue;
    const double level = 10.0 * math::log(d[k] / floor) / math::log(10.0);
    if (level >= kStandsOut_db) peaks.push_back({spectrum.step_hz * static_cast<double>(k), level});
  }
  return peaks;
}

double aliased(double frequency_hz, double rate_hz) { return std::abs(frequency_hz - rate_hz * std::round(frequency_hz / rate_hz)); }

double allan_deviation(const std::vector<double>& samples, std::size_t m) {
  if (m == 0 || samples.size() < 2 * m + 1) return NAN;
  std::vector<double> sum(samples.size() + 1, 0.0);
  for (std::size_t i = 0; i < samples.size(); ++i) sum[i + 1] = sum[i] + samples[i];
  double squares = 0.0;
  const std::size_t count_of = samples.size() - 2 * m + 1;
  for (std::size_t i = 0; i < count_of; ++i) {
    const double difference = (sum[i + 2 * m] - 2.0 * sum[i + m] + sum[i]) / static_cast<double>(m);
    squares += difference * difference;
  }
  return std::sqrt(0.5 * squares / static_cast<double>(count_of));
}

Result<ReportResult> imu_spectrum(const ImuSpectrumOptions& options) {
  const Result<ImuRun> run = load_imu_run(options.run, true);
  if (!run) return run.error();
  ReportResult result;
  result.out = run->out;
  result.document.title = "IMU spectrum of " + run->run.path.filename().string();
  result.document.warnings = run->warnings;
  Gate gate;
  result.document.sections = {section_of_recording(*run), section_of_parked(*run, options, gate), section_of_steady(*run, options)};
  gate.add_to(result.document);
  result.passed = gate.passed();
  return result;
}

}  // namespace pitwall::analysis

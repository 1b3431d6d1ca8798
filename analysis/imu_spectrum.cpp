// SPDX-License-Identifier: Apache-2.0
#include "analysis/imu_spectrum.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "analysis/settings.hpp"
#include "analysis/spectrum.hpp"
#include "analysis/stretches.hpp"
#include "analysis/turn_rates.hpp"
#include "core/math.hpp"
#include "localization/vehicle_state_estimator.hpp"

namespace pitwall::analysis {

namespace {

using localization::VehicleStateParameters;
using Kind = RateSource::Kind;

constexpr double kGap_s = 0.25;

struct Axis {
  const char* name;
  const char* key;
  const std::vector<double>* values;
  bool gyro;
};

std::array<Axis, 6> axes_of(const ImuSeries& s) {
  return {{{"gyro x", "gyro_x", &s.gyro_x, true},
           {"gyro y", "gyro_y", &s.gyro_y, true},
           {"gyro z", "gyro_z", &s.gyro_z, true},
           {"accel x", "accel_x", &s.accel_x, false},
           {"accel y", "accel_y", &s.accel_y, false},
           {"accel z", "accel_z", &s.accel_z, false}}};
}

double rate_of(const std::vector<double>& t_s) { return static_cast<double>(t_s.size() - 1) / (t_s.back() - t_s.front()); }

/// A column between two times at even steps; NaN in holes.
std::vector<double> even(const std::vector<double>& t_s, const std::vector<double>& values, double begin_s, double end_s, double rate_hz) {
  std::vector<double> at;
  for (double t = begin_s; t <= end_s; t = begin_s + static_cast<double>(at.size()) / rate_hz) at.push_back(t);
  return signals::resample(t_s, values, at, signals::Between::kLinear, kGap_s);
}
std::vector<double> even(const ImuSeries& s, const Axis& axis, const Stretch& stretch, double rate_hz) {
  std::vector<double> samples = even(s.t_s, *axis.values, stretch.begin_s, stretch.end_s, rate_hz);
  std::erase_if(samples, [](double v) { return !std::isfinite(v); });
  return samples;
}

/// Each result beside the setting it would replace, in that setting's unit.
class Replacements {
 public:
  explicit Replacements(const CarParameters& car) : car_(car), estimator_(VehicleStateParameters::for_car(car)) {}
  void car(const std::string& of, const std::string& name, const std::string& unit, const signals::Estimate& e) {
    add(of, unit, e, setting_of(car_, name));
  }
  void car(const std::string& of, const std::string& name, const std::string& unit, double value) {
    car(of, name, unit, {value, NAN, NAN, 0, true, ""});
  }
  void estimator(const std::string& of, const std::string& name, const std::string& unit, double value) {
    add(of, unit, {value, NAN, NAN, 0, true, ""}, "vehicle_state." + setting_of(estimator_, name));
  }
  [[nodiscard]] Section section() const {
    Section section{"replaces", "What it would replace", {}, {}, {}, {}};
    if (table_.rows.empty()) {
      section.notes.emplace_back("nothing: no section above has a result");
    } else {
      section.tables.push_back(table_);
    }
    return section;
  }

 private:
  void add(const std::string& of, const std::string& unit, const signals::Estimate& e, const std::string& now) {
    if (!e.identifiable || !std::isfinite(e.value)) return;
    table_.rows.push_back({text(of), number(e.value, 6), number(e.low, 6), number(e.high, 6), text(unit), text(now)});
  }
  CarParameters car_;
  VehicleStateParameters estimator_;
  Table table_{"settings",
               "Settings",
               "what this recording says, and what the car's profile (or the estimator) has now; one recording is one day and one floor",
               {{"result", "result"}, {"value", "value"}, {"low", "from"}, {"high", "to"}, {"unit", "unit"}, {"now", "setting now"}},
               {}};
};

struct Report {
  const ImuRun& run;
  const ImuSpectrumOptions& options;
  Gate gate;
  Replacements replacements;
  NpzWriter arrays;
};

/// Allan deviations at averaging times that double.
struct AllanCurve {
  std::vector<double> tau_s, deviation;
  double lowest = INFINITY;
  double lowest_s = NAN;
};
AllanCurve allan_curve(const std::vector<double>& samples, double rate_hz) {
  AllanCurve curve;
  for (std::size_t m = 1; 2 * m + 1 < samples.size(); m *= 2) {
    curve.tau_s.push_back(static_cast<double>(m) / rate_hz);
    curve.deviation.push_back(allan_deviation(samples, m));
    if (curve.deviation.back() >= curve.lowest) continue;
    curve.lowest = curve.deviation.back();
    curve.lowest_s = curve.tau_s.back();
  }
  return curve;
}

struct Worst {
  double value = NAN;
  void add(double v) {
    if (!(std::abs(v) <= value)) value = std::abs(v);
  }
};

Section section_of_parked(Report& report) {
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
  const ImuRun& run = report.run;
  Worst worst_noise;
  for (std::size_t k = 0; k < run.imus.size(); ++k) {
    const ImuTrack& imu = run.imus[k];
    std::vector<double> wheels(imu.series.size(), NAN);
    if (!run.odometries.empty()) {
      const OdometrySeries& odometry = run.odometries.front().series;
      wheels = signals::resample(odometry.t_s, odometry.speed_mps, imu.series.t_s, signals::Between::kLinear, kGap_s);
    }
    const std::vector<Stretch> stands = standing(imu.series, wheels);
    if (stands.empty()) {
      section.notes.push_back(imu.topic + ": skipped, the car never stands for 2 s");
      continue;
    }
    const Stretch& longest =
        *std::max_element(stands.begin(), stands.end(), [](const Stretch& a, const Stretch& b) { return a.seconds() < b.seconds(); });
    const double rate = rate_of(imu.series.t_s);
    double norm = 0.0;
    Worst gyro_bias, gyro_noise, accel_noise;
    for (const Axis& axis : axes_of(imu.series)) {
      const std::vector<double> samples = even(imu.series, axis, longest, rate);
      double mean = 0.0;
      for (const double v : samples) mean += v / static_cast<double>(samples.size());
      const AllanCurve allan = allan_curve(samples, rate);
      // White noise of density N averages to N / sqrt(tau): at one sample N = deviation * sqrt(tau).
      const double density = allan.deviation.empty() ? NAN : allan.deviation.front() / std::sqrt(rate);
      const double unit = axis.gyro ? math::kDegree : 1.0;
      table.rows.push_back({text(imu.topic), text(axis.name), number(longest.seconds(), 1), number(mean / unit, 4),
                            number(density / unit, 5), number(allan.lowest / unit, 5), number(allan.lowest_s, 2),
                            text(axis.gyro ? "deg/s" : "m/s^2")});
      const std::string name = std::to_string(k) + "/parked/" + axis.key;
      report.arrays.add(name + "/allan_s", allan.tau_s);
      report.arrays.add(name + "/allan", allan.deviation);
      (axis.gyro ? gyro_noise : accel_noise).add(density);
      if (axis.gyro) gyro_bias.add(mean);
      if (!axis.gyro) norm += mean * mean;
      if (axis.values == &imu.series.gyro_z) {
        report.replacements.estimator(imu.topic + ": gyro z, mean", "bias_radps", "rad/s", mean);
        report.replacements.estimator(imu.topic + ": gyro z, one sample", "gyro_sigma_radps", "rad/s", density * std::sqrt(rate));
      }
    }
    worst_noise.add(gyro_noise.value / math::kDegree);
    report.replacements.car(imu.topic + ": rate", "imu_rate_hz", "Hz", rate);
    report.replacements.car(imu.topic + ": largest bias of the gyro", "imu_gyro_bias_radps", "rad/s", gyro_bias.value);
    report.replacements.car(imu.topic + ": noise of the gyro", "imu_gyro_noise", "rad/s/sqrt(Hz)", gyro_noise.value);
    report.replacements.car(imu.topic + ": noise of the accelerometer", "imu_accel_noise", "m/s^2/sqrt(Hz)", accel_noise.value);
    section.facts.push_back({"gravity_off_mps2_" + imu.topic, imu.topic + ": |mean acceleration| - g [m/s^2]",
                             number(std::sqrt(norm) - math::kStandardGravity_mps2, 4)});
  }
  report.gate.at_most("gyro noise density", report.options.max_gyro_noise, worst_noise.value, "deg/s/rtHz");
  if (!table.rows.empty()) section.tables.push_back(std::move(table));
  return section;
}

Section section_of_steady(Report& report) {
  Section section{"steady", "Steady motor speed", {}, {}, {}, {}};
  constexpr double kLeastErpm = 500.0, kLeastSpeed_mps = 0.3;
  const ImuRun& run = report.run;
  const bool motor = !run.motor.t_s.empty();
  if (!motor && run.odometries.empty()) {
    section.notes.emplace_back("skipped: neither the motor's revolutions (sensors/core) nor an odometry were recorded");
    return section;
  }
  const std::vector<Stretch> stretches =
      motor ? steady(run.motor.t_s, run.motor.erpm, kLeastErpm)
            : steady(run.odometries.front().series.t_s, run.odometries.front().series.speed_mps, kLeastSpeed_mps);
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
  for (std::size_t k = 0; k < run.imus.size(); ++k) {
    const ImuTrack& imu = run.imus[k];
    const double rate = rate_of(imu.series.t_s);
    for (std::size_t part = 0; part < stretches.size(); ++part) {
      const Stretch& stretch = stretches[part];
      const double middle = 0.5 * (stretch.begin_s + stretch.end_s);
      const double motor_hz = motor ? stretch.value / 60.0 / report.options.pole_pairs : NAN;
      const double wheel_hz = std::abs(speed_at(run, {middle})[0]) / (2.0 * math::kPi * report.options.wheel_radius_m);
      const std::string name = std::to_string(k) + "/steady" + std::to_string(part) + "/";
      std::vector<double> frequency_hz;
      for (const Axis& axis : axes_of(imu.series)) {
        const Spectrum spectrum = welch(even(imu.series, axis, stretch, rate), rate);
        for (const SpectrumPeak& peak : peaks_of(spectrum)) {
          const Order order = order_near(peak.frequency_hz, motor_hz, wheel_hz, rate, 2.0 * spectrum.step_hz);
          table.rows.push_back({text(imu.topic), number(stretch.begin_s, 2), number(stretch.seconds(), 2), text(axis.name),
                                number(peak.frequency_hz, 1), number(peak.level_db, 1), text(order.name), number(order.expected_hz, 1),
                                number(order.from_hz, 1)});
        }
        report.arrays.add(name + axis.key, spectrum.density);
        frequency_hz.resize(spectrum.density.size());
        for (std::size_t i = 0; i < frequency_hz.size(); ++i) frequency_hz[i] = spectrum.step_hz * static_cast<double>(i);
      }
      report.arrays.add(name + "frequency_hz", frequency_hz);
    }
  }
  section.facts.push_back({"stretches", "stretches of one speed", count(stretches.size())});
  section.tables.push_back(std::move(table));
  return section;
}

Section section_of_gyros(Report& report, const std::vector<RateSource>& sources) {
  Section section{"gyros", "Gyros beside what measures from outside", {}, {}, {}, {}};
  std::vector<RatePair> pairs;
  for (const RateSource& outside : sources) {
    if (outside.kind != Kind::kScans && outside.kind != Kind::kTruth) continue;
    for (const RateSource& gyro : sources) {
      if (gyro.kind == Kind::kGyro) pairs.push_back(compare_rates(outside, gyro));
    }
  }
  if (pairs.empty()) {
    section.notes.emplace_back("not available: neither scans nor a truth tell the turn");
    return section;
  }
  for (const RatePair& pair : pairs) {
    signals::Estimate scale_error = pair.scale;
    for (double* each : {&scale_error.value, &scale_error.low, &scale_error.high}) *each -= 1.0;
    report.replacements.car(pair.b + " beside the " + pair.a + ": scale", "imu_gyro_scale_error", "", scale_error);
  }
  section.tables.push_back(table_of_pairs(pairs));
  return section;
}

/// How a measured turn rate answers the commanded one. The lag is taken out before and given back after: windows that show another piece of
/// the drive than the command's would read a gain that is too small (4 % at 0.3 s and windows of 4 s).
TransferFunction response_of(const RateSource& commanded, const RateSource& measured) {
  constexpr double kLeastTurn_radps = 0.05;
  const RatePair pair = compare_rates(commanded, measured);
  const double lag_s = pair.delay_s.identifiable ? pair.delay_s.value : 0.0;
  const std::vector<double> asked = signals::aligned({commanded.begin_s, commanded.rate_radps, signals::Between::kHeld},
                                                     {measured.begin_s, measured.end_s, measured.rate_radps, {}, {}}, lag_s, 0.0);
  std::vector<double> middle_s;
  for (std::size_t i = 0; i < measured.size(); ++i) middle_s.push_back(measured.middle_s(i));
  const double rate = rate_of(middle_s);
  const auto on_grid = [&](const std::vector<double>& values) { return even(middle_s, values, middle_s.front(), middle_s.back(), rate); };
  TransferOptions options;
  options.least_input = kLeastTurn_radps;
  TransferFunction transfer = transfer_function(on_grid(asked), on_grid(measured.rate_radps), rate, options);
  for (TransferPoint& point : transfer.points) point.phase_rad -= 2.0 * math::kPi * point.frequency_hz * lag_s;
  return transfer;
}

Section section_of_response(Report& report, const std::vector<RateSource>& sources) {
  Section section{"response", "How turning answers steering, by frequency", {}, {}, {}, {}};
  const RateSource commanded = commanded_rate(report.run);
  if (commanded.size() < 2) {
    section.notes.emplace_back("not available: no commands were recorded, or the speed at them is not known");
    return section;
  }
  Table points{"frequencies",
               "Frequencies",
               "turn rate over commanded turn rate where coherence is above 0.6; a gain that falls with frequency is servo and tyres, one "
               "that rises is noise of the command",
               {{"measured", "measured by"},
                {"frequency_hz", "frequency [Hz]"},
                {"gain", "gain"},
                {"gain_sigma", "+-"},
                {"phase_deg", "phase [deg]"},
                {"phase_sigma_deg", "+-"},
                {"coherence", "coherence"}},
               {}};
  Table whole{"whole",
              "As a whole",
              "delay is the slope of the phase, gain the mean up to 1 Hz; compare with the lag of analyze_run, which fits in time",
              {{"measured", "measured by"},
               {"windows", "windows"},
               {"delay_ms", "delay [ms]"},
               {"delay_low_ms", "from"},
               {"delay_high_ms", "to"},
               {"gain", "gain"},
               {"gain_low", "from"},
               {"gain_high", "to"},
               {"identifiable", "identifiable"},
               {"why", "why not"}},
              {}};
  for (const RateSource& source : sources) {
    if (source.kind == Kind::kOdometry) continue;  // its turn rate is computed from the command
    const TransferFunction transfer = response_of(commanded, source);
    const std::string name = "response" + std::to_string(whole.rows.size()) + "/";
    std::vector<double> frequency, gain, phase, coherence;
    for (const TransferPoint& p : transfer.points) {
      frequency.push_back(p.frequency_hz);
      gain.push_back(p.gain);
      phase.push_back(p.phase_rad);
      coherence.push_back(p.coherence);
      if (!(p.coherence > kCoherent)) continue;
      points.rows.push_back({text(source.name), number(p.frequency_hz, 2), number(p.gain, 3), number(p.gain * p.sigma, 3),
                             number(p.phase_rad / math::kDegree, 1), number(p.sigma / math::kDegree, 1), number(p.coherence, 3)});
    }
    report.arrays.add_text(name + "source", source.name);
    report.arrays.add(name + "frequency_hz", frequency);
    report.arrays.add(name + "gain", gain);
    report.arrays.add(name + "phase_rad", phase);
    report.arrays.add(name + "coherence", coherence);
    const SteadyResponse as_one = steady_response(transfer);
    const signals::Estimate& d = as_one.delay_s;
    const signals::Estimate& g = as_one.gain;
    whole.rows.push_back({text(source.name), count(transfer.windows), number(1e3 * d.value, 1), number(1e3 * d.low, 1),
                          number(1e3 * d.high, 1), number(g.value, 4), number(g.low, 4), number(g.high, 4),
                          flag(d.identifiable && g.identifiable), text(d.identifiable ? g.why : d.why)});
    report.replacements.car("steering to " + source.name + ": delay", "steering_delay_s", "s", d);
    report.replacements.car("steering to " + source.name + ": gain", "steering_gain", "", g);
  }
  section.tables = {std::move(whole), std::move(points)};
  return section;
}

}  // namespace

Result<ReportResult> imu_spectrum(const ImuSpectrumOptions& options) {
  const Result<ImuRun> run = load_imu_run(options.run, true);
  if (!run) return run.error();
  Report report{*run, options, {}, Replacements(run->car), {}};
  ReportResult result;
  result.out = run->out;
  result.document.title = "IMU spectrum of " + run->run.path.filename().string();
  result.document.warnings = run->warnings;
  for (std::size_t k = 0; k < run->imus.size(); ++k) report.arrays.add_text(std::to_string(k) + "/topic", run->imus[k].topic);
  const std::vector<RateSource> sources = rate_sources(*run);
  std::vector<Section>& sections = result.document.sections;
  sections.push_back(section_of_recording(*run));
  sections.push_back(section_of_parked(report));
  sections.push_back(section_of_steady(report));
  sections.push_back(section_of_gyros(report, sources));
  sections.push_back(section_of_response(report, sources));
  sections.push_back(report.replacements.section());
  report.gate.add_to(result.document);
  result.gate = std::move(report.gate);
  result.arrays = std::move(report.arrays);
  return result;
}

}  // namespace pitwall::analysis

// SPDX-License-Identifier: Apache-2.0
#include "analysis/imu_report.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/response.hpp"
#include "core/files.hpp"
#include "core/math.hpp"
#include "localization/accelerometer_fit.hpp"
#include "recording/csv_table.hpp"

namespace pitwall::analysis {

namespace {

namespace fs = std::filesystem;
using Kind = RateSource::Kind;

constexpr double kDegree = math::kPi / 180.0;

bool from_outside(Kind kind) { return kind == Kind::kScans || kind == Kind::kTruth; }

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
    const auto dps = [](double radps) { return number(radps / kDegree, 3); };
    table.rows.push_back({text(pair.a), text(pair.b), count(pair.scale.samples), ms(pair.delay_s.value), ms(pair.delay_s.low),
                          ms(pair.delay_s.high), number(pair.scale.value, 4), number(pair.scale.low, 4), number(pair.scale.high, 4),
                          dps(pair.bias_radps.value), dps(pair.bias_radps.low), dps(pair.bias_radps.high), dps(pair.rms_radps),
                          number(pair.correlation, 4), flag(pair.delay_s.identifiable && pair.scale.identifiable),
                          text(pair.delay_s.identifiable ? pair.scale.why : pair.delay_s.why)});
  }
  return table;
}

/// Steering lag and turning gain with the gyro as the measure of the turn.
Section section_of_steering(const ImuRun& run) {
  Section section{"steering", "Steering by the gyro", {}, {}, {}, {}};
  if (run.run.command.empty()) {
    section.notes.emplace_back("not available: no commands were recorded");
    return section;
  }
  Table table{"steering",
              "How it turned",
              "the lag holds servo, tyres and the gyro's own delay; a gain below 1 turns less sharply than asked",
              {{"imu", "gyro"},
               {"key", "key"},
               {"name", "quantity"},
               {"value", "value"},
               {"low", "from"},
               {"high", "to"},
               {"unit", "unit"},
               {"samples", "n"},
               {"identifiable", "identifiable"},
               {"why", "why not"},
               {"replaces", "would replace"}},
              {}};
  for (const ImuTrack& imu : run.imus) {
    constexpr double kSigma = 0.02;
    MeasuredMotion measured;
    measured.source = "gyro";
    measured.begin_s = measured.end_s = imu.series.t_s;
    measured.yaw_rate_radps = imu.series.gyro_z;
    measured.speed_mps = speed_at(run, imu.series.t_s);
    measured.speed_sigma_mps.assign(imu.series.size(), kSigma);
    measured.yaw_sigma_radps.assign(imu.series.size(), kSigma);
    const Response response = fit_response(run.run.command, {}, measured, run.car.wheelbase_m);
    for (const ResponseRow& row : response.rows) {
      if (!row.key.starts_with("steering") && !row.key.starts_with("turning")) continue;
      const signals::Estimate& e = row.estimate;
      table.rows.push_back({text(imu.topic), text(row.key), text(row.name), number(e.value, 4), number(e.low, 4), number(e.high, 4),
                            text(row.unit), count(e.samples), flag(e.identifiable), text(e.why), text(row.replaces)});
    }
  }
  section.tables.push_back(std::move(table));
  return section;
}

/// A gyro's rate summed up.
std::vector<double> integrated(const std::vector<double>& t_s, const std::vector<double>& rate) {
  std::vector<double> yaw(t_s.size(), 0.0);
  for (std::size_t i = 1; i < t_s.size(); ++i) yaw[i] = yaw[i - 1] + 0.5 * (rate[i] + rate[i - 1]) * (t_s[i] - t_s[i - 1]);
  return yaw;
}

Section section_of_headings(const ImuRun& run, const ImuReportOptions& options, Gate& gate) {
  Section section{"headings", "Heading put right by the localiser", {}, {}, {}, {}};
  if (run.run.pose.size() < 2) {
    section.notes.emplace_back("not available: no poses of a localiser were recorded (/slam_pose, /amcl_pose, /pose)");
    return section;
  }
  Table table{"corrections",
              "Localiser less odometry",
              "the smaller, the better that heading as a start for the localiser; a gyro's row is its plain sum, bias included",
              {{"source", "heading by"},
               {"samples", "n"},
               {"final_deg", "at the end [deg]"},
               {"max_deg", "largest [deg]"},
               {"rms_deg", "rms [deg]"},
               {"variation_deg", "all changes [deg]"}},
              {}};
  const auto add = [&](const HeadingCorrection& c, bool gated) {
    table.rows.push_back({text(c.source), count(c.samples), number(c.final_rad / kDegree, 2), number(c.max_rad / kDegree, 2),
                          number(c.rms_rad / kDegree, 2), number(c.variation_rad / kDegree, 1)});
    if (gated) gate.at_most("rms heading put right on " + c.source + " [deg]", options.max_heading_deg, c.rms_rad / kDegree);
  };
  for (const OdometryTrack& odometry : run.odometries) {
    add(heading_correction("odometry " + odometry.topic, odometry.series.t_s, odometry.series.yaw_rad, run.run.pose), true);
  }
  for (const ImuTrack& imu : run.imus) {
    add(heading_correction("gyro " + imu.topic, imu.series.t_s, integrated(imu.series.t_s, imu.series.gyro_z), run.run.pose), false);
  }
  section.tables.push_back(std::move(table));
  return section;
}

Result<Section> section_of_accelerometer(const fs::path& file) {
  const Result<std::string> bytes = read_file(file);
  if (!bytes) return bytes.error();
  const Result<recording::CsvTable> table = recording::parse_csv(*bytes, file.string());
  if (!table) return table.error();
  for (const char* column : {"ax", "ay", "az"}) {
    if (!table->has(column))
      return Error{file.string() + ": no column '" + column + "'; needed are ax, ay, az, one row for each still pose"};
  }
  const std::vector<double> x = table->all("ax");
  const std::vector<double> y = table->all("ay");
  const std::vector<double> z = table->all("az");
  const std::vector<double> none(x.size(), 0.0);
  const recording::ImuUnits units = recording::detect_imu_units({none, none, none, x, y, z}, {});
  std::vector<localization::Vector3> poses;
  const double factor = units.acceleration_factor();
  for (std::size_t i = 0; i < x.size(); ++i) poses.push_back({{factor * x[i], factor * y[i], factor * z[i]}});
  const auto fit = localization::fit_accelerometer(poses, localization::model_for(poses.size()));
  if (!fit) return Error{file.string() + ": " + fit.error().message};
  Section section{"accelerometer", "Calibration of the accelerometer", {}, {}, {}, {}};
  if (!units.si())
    section.notes.emplace_back("the poses are in g (their median is " + std::to_string(units.median_acceleration) + "); converted");
  section.facts = {{"poses", "still poses", count(poses.size())},
                   {"bias_x_mps2", "bias x [m/s^2]", number(fit->bias.v[0], 5)},
                   {"bias_y_mps2", "bias y [m/s^2]", number(fit->bias.v[1], 5)},
                   {"bias_z_mps2", "bias z [m/s^2]", number(fit->bias.v[2], 5)},
                   {"rms_before_mps2", "rms of |a| - g, raw [m/s^2]", number(fit->rms_before_mps2, 4)},
                   {"rms_after_mps2", "rms of |a| - g, calibrated [m/s^2]", number(fit->rms_after_mps2, 5)}};
  Table inverse{"inverse",
                "A of calibrated = A (raw - bias)",
                "scales on the diagonal, half the angles between the axes beside it",
                {{"x", "x"}, {"y", "y"}, {"z", "z"}},
                {}};
  for (std::size_t r = 0; r < 3; ++r)
    inverse.rows.push_back({number(fit->inverse(r, 0), 5), number(fit->inverse(r, 1), 5), number(fit->inverse(r, 2), 5)});
  Table left_out{"leave_one_out",
                 "Leaving one pose out",
                 "the model to use is the last that makes poses it has not seen better",
                 {{"model", "model"}, {"rms_mps2", "rms [m/s^2]"}},
                 {}};
  left_out.rows.push_back({text("none"), number(fit->rms_before_mps2, 3)});
  for (const auto& [model, model_name] : {std::pair{localization::AccelerometerModel::kBias, "bias"},
                                          std::pair{localization::AccelerometerModel::kDiagonal, "bias and scales"},
                                          std::pair{localization::AccelerometerModel::kFull, "full"}}) {
    const auto rms = localization::leave_one_out_rms(poses, model);
    left_out.rows.push_back({text(model_name), number(rms ? *rms : NAN, 3)});
  }
  section.tables = {std::move(inverse), std::move(left_out)};
  return section;
}

void gate_pairs(const std::vector<RatePair>& pairs, const ImuReportOptions& options, Gate& gate) {
  const auto gyro_outside = [](const RatePair& pair) { return pair.kind_a == Kind::kGyro && from_outside(pair.kind_b); };
  const bool outside = std::any_of(pairs.begin(), pairs.end(), gyro_outside);
  for (const RatePair& pair : pairs) {
    if (pair.kind_a != Kind::kGyro || (outside && !gyro_outside(pair))) continue;
    const std::string of = pair.a + " beside " + pair.b;
    const auto known = [](const signals::Estimate& e) { return e.identifiable ? e.value : NAN; };
    gate.at_most("delay of " + of + " [ms]", options.max_delay_ms, 1e3 * known(pair.delay_s));
    gate.at_most("scale less 1 of " + of, options.max_scale_error, known(pair.scale) - 1.0);
    gate.at_most("bias of " + of + " [deg/s]", options.max_bias_dps, known(pair.bias_radps) / kDegree);
  }
}

}  // namespace

HeadingCorrection heading_correction(const std::string& source, const std::vector<double>& t_s, const std::vector<double>& yaw_rad,
                                     const PoseSeries& localiser) {
  constexpr double kLongestGap_s = 0.5;
  std::vector<double> unwrapped;
  for (std::size_t i = 0; i < yaw_rad.size(); ++i) {
    unwrapped.push_back(i == 0 ? yaw_rad[0] : unwrapped.back() + wrap_angle(yaw_rad[i] - yaw_rad[i - 1]));
  }
  HeadingCorrection c;
  c.source = source;
  std::vector<double> at_s, yaw;
  for (const std::size_t i : sorted_by_stamp(localiser.t_s)) {
    at_s.push_back(localiser.t_s[i]);
    yaw.push_back(localiser.yaw_rad[i]);
  }
  const std::vector<double> there = signals::resample(t_s, unwrapped, at_s, signals::Between::kLinear, kLongestGap_s);
  double first = NAN;
  double before = 0.0;
  double squares = 0.0;
  for (std::size_t i = 0; i < at_s.size(); ++i) {
    if (!std::isfinite(there[i]) || !std::isfinite(yaw[i])) continue;
    const double difference = yaw[i] - there[i];
    if (c.samples++ == 0) {
      first = difference;
      c.max_rad = c.variation_rad = c.final_rad = 0.0;
      continue;
    }
    const double step = wrap_angle(difference - first - before);
    before += step;
    c.variation_rad += std::abs(step);
    c.max_rad = std::max(c.max_rad, std::abs(before));
    c.final_rad = before;
    squares += before * before;
  }
  if (c.samples < 2) return {source, c.samples, NAN, NAN, NAN, NAN};
  c.rms_rad = std::sqrt(squares / static_cast<double>(c.samples - 1));
  return c;
}

Result<ReportResult> imu_report(const ImuReportOptions& options) {
  ReportResult result;
  Gate gate;
  Document& document = result.document;
  document.title = "IMU report";
  if (!options.run.run.empty()) {
    const Result<ImuRun> run = load_imu_run(options.run, true);
    if (!run) return run.error();
    result.out = run->out;
    document.title += " of " + run->run.path.filename().string();
    document.warnings = run->warnings;
    const std::vector<RateSource> sources = rate_sources(*run);
    if (sources.size() < 2)
      return Error{options.run.run.string() + ": nothing to compare the gyro with: no odometry, no scans, no second gyro"};
    std::vector<RatePair> pairs;
    for (std::size_t a = 0; a < sources.size(); ++a) {
      for (std::size_t b = a + 1; b < sources.size(); ++b) pairs.push_back(compare_rates(sources[a], sources[b]));
    }
    Section rates{"rates", "Turn rates", {}, {}, {table_of_pairs(pairs)}, {}};
    const auto outside = [](const RateSource& source) { return from_outside(source.kind); };
    if (std::none_of(sources.begin(), sources.end(), outside)) {
      rates.notes.emplace_back("no scans tell the turn: nothing here measures it from outside the car");
    }
    document.sections = {section_of_recording(*run), std::move(rates), section_of_steering(*run), section_of_headings(*run, options, gate)};
    gate_pairs(pairs, options, gate);
  }
  if (options.accelerometer) {
    Result<Section> section = section_of_accelerometer(*options.accelerometer);
    if (!section) return section.error();
    document.sections.push_back(*std::move(section));
  }
  gate.add_to(document);
  result.passed = gate.passed();
  return result;
}

}  // namespace pitwall::analysis

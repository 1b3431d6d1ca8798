// SPDX-License-Identifier: Apache-2.0
#include "analysis/imu_report.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/response.hpp"
#include "analysis/settings.hpp"
#include "analysis/turn_rates.hpp"
#include "core/files.hpp"
#include "core/math.hpp"
#include "localization/accelerometer_fit.hpp"
#include "recording/csv_table.hpp"

namespace pitwall::analysis {

namespace {

namespace fs = std::filesystem;
using Kind = RateSource::Kind;

bool from_outside(Kind kind) { return kind == Kind::kScans || kind == Kind::kTruth; }

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
                            text(row.unit), count(e.samples), flag(e.identifiable), text(e.why), text(setting_of(run.car, row.replaces))});
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

/// The localiser's poses: those of its topic, else each odometry's by the correction of its frame.
PoseSeries localiser_of(const ImuRun& run, std::string& source) {
  source = "poses of a localiser";
  if (run.run.pose.size() >= 2) return run.run.pose;
  for (const Track& correction : run.corrections) {
    for (const OdometryTrack& odometry : run.odometries) {
      if (FrameEdge::parse(correction.source)->child != odometry.frame) continue;
      std::vector<Pose2> poses;
      const OdometrySeries& o = odometry.series;
      for (std::size_t i = 0; i < o.size(); ++i) poses.push_back({o.x_m[i], o.y_m[i], o.yaw_rad[i]});
      const Track wheels = track_of(odometry.topic, o.t_s, poses);
      PoseSeries localiser;
      for (std::size_t i = 0; i < correction.size(); ++i) {
        const std::optional<Pose2> there = wheels.at(correction.t_s[i]);
        if (!there) continue;
        const Pose2 pose = correction.pose[i] * *there;
        localiser.t_s.push_back(correction.t_s[i]);
        localiser.arrival_s.push_back(correction.t_s[i]);
        localiser.x_m.push_back(pose.x);
        localiser.y_m.push_back(pose.y);
        localiser.yaw_rad.push_back(pose.yaw);
      }
      source = correction.source + " on top of " + odometry.topic;
      return localiser;
    }
  }
  return {};
}

std::vector<Cell> cells_of(const HeadingCorrection& c) {
  return {text(c.source),
          count(c.samples),
          count(c.changes),
          number(c.final_rad / math::kDegree, 2),
          number(c.max_rad / math::kDegree, 2),
          number(c.rms_rad / math::kDegree, 2),
          number(c.variation_rad / math::kDegree, 1)};
}
std::vector<Column> heading_columns(const std::string& of) {
  return {{"source", of},
          {"samples", "n"},
          {"changes", "changes"},
          {"final_deg", "at the end [deg]"},
          {"max_deg", "largest [deg]"},
          {"rms_deg", "rms [deg]"},
          {"variation_deg", "all changes [deg]"}};
}

Section section_of_headings(const ImuRun& run, const ImuReportOptions& options, Gate& gate) {
  Section section{"headings", "Heading put right by the localiser", {}, {}, {}, {}};
  Table edges{"transforms",
              "Corrections by /tf",
              "turn of the odometry's frame in the map since the first: what SLAM put right on top of that odometry; sudden ones are loop "
              "closures",
              heading_columns("edge"),
              {}};
  for (const Track& correction : run.corrections) edges.rows.push_back(cells_of(heading_correction(correction)));
  if (!edges.rows.empty()) section.tables.push_back(std::move(edges));
  std::string source;
  const PoseSeries localiser = localiser_of(run, source);
  if (localiser.size() < 2) {
    section.notes.emplace_back(
        "not available for each odometry: no poses of a localiser (/slam_pose, /amcl_pose, /pose), and no /tf from map to an odometry's "
        "frame");
    gate.at_most("rms heading put right", options.max_heading_deg, NAN, "deg");
    return section;
  }
  section.facts.push_back({"localiser", "localiser", text(source)});
  Table table{"corrections",
              "Localiser less odometry",
              "the smaller, the better that heading as a start for the localiser; a gyro's row is its plain sum, bias included",
              heading_columns("heading by"),
              {}};
  for (const OdometryTrack& odometry : run.odometries) {
    const HeadingCorrection c = heading_correction("odometry " + odometry.topic, odometry.series.t_s, odometry.series.yaw_rad, localiser);
    table.rows.push_back(cells_of(c));
    gate.at_most("rms heading put right on " + c.source, options.max_heading_deg, c.rms_rad / math::kDegree, "deg");
  }
  for (const ImuTrack& imu : run.imus) {
    table.rows.push_back(
        cells_of(heading_correction("gyro " + imu.topic, imu.series.t_s, integrated(imu.series.t_s, imu.series.gyro_z), localiser)));
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
  if (pairs.empty()) {
    gate.at_most("delay of a gyro", options.max_delay_ms, NAN, "ms");
    gate.at_most("scale less 1 of a gyro", options.max_scale_error, NAN);
    gate.at_most("bias of a gyro", options.max_bias_dps, NAN, "deg/s");
  }
  for (const RatePair& pair : pairs) {
    if (pair.kind_a != Kind::kGyro || (outside && !gyro_outside(pair))) continue;
    const std::string of = pair.a + " beside " + pair.b;
    const auto known = [](const signals::Estimate& e) { return e.identifiable ? e.value : NAN; };
    gate.at_most("delay of " + of, options.max_delay_ms, 1e3 * known(pair.delay_s), "ms");
    gate.at_most("scale less 1 of " + of, options.max_scale_error, known(pair.scale) - 1.0);
    gate.at_most("bias of " + of, options.max_bias_dps, known(pair.bias_radps) / math::kDegree, "deg/s");
  }
}

/// Of headings one after the other, those that are not finite left out.
HeadingCorrection summed_up(const std::string& source, const std::vector<double>& headings_rad) {
  constexpr double kChange_rad = 1e-6;  // less is a restamped message
  HeadingCorrection c{source, 0, 0, 0.0, 0.0, 0.0, 0.0};
  double first = NAN;
  double squares = 0.0;
  for (const double heading : headings_rad) {
    if (!std::isfinite(heading)) continue;
    if (c.samples++ == 0) first = heading;
    const double step = wrap_angle(heading - first - c.final_rad);
    c.final_rad += step;
    c.variation_rad += std::abs(step);
    c.changes += std::abs(step) > kChange_rad ? 1 : 0;
    c.max_rad = std::max(c.max_rad, std::abs(c.final_rad));
    squares += c.final_rad * c.final_rad;
  }
  if (c.samples < 2) return {source, c.samples, 0, NAN, NAN, NAN, NAN};
  c.rms_rad = std::sqrt(squares / static_cast<double>(c.samples - 1));
  return c;
}

}  // namespace

HeadingCorrection heading_correction(const std::string& source, const std::vector<double>& t_s, const std::vector<double>& yaw_rad,
                                     const PoseSeries& localiser) {
  constexpr double kLongestGap_s = 0.5;
  std::vector<double> unwrapped;
  for (std::size_t i = 0; i < yaw_rad.size(); ++i) {
    unwrapped.push_back(i == 0 ? yaw_rad[0] : unwrapped.back() + wrap_angle(yaw_rad[i] - yaw_rad[i - 1]));
  }
  std::vector<double> at_s, yaw;
  for (const std::size_t i : sorted_by_stamp(localiser.t_s)) {
    at_s.push_back(localiser.t_s[i]);
    yaw.push_back(localiser.yaw_rad[i]);
  }
  const std::vector<double> there = signals::resample(t_s, unwrapped, at_s, signals::Between::kLinear, kLongestGap_s);
  std::vector<double> differences;
  for (std::size_t i = 0; i < at_s.size(); ++i) differences.push_back(yaw[i] - there[i]);
  return summed_up(source, differences);
}

HeadingCorrection heading_correction(const Track& correction) {
  std::vector<double> headings;
  for (const Pose2& pose : correction.pose) headings.push_back(pose.yaw);
  return summed_up(correction.source, headings);
}

Result<ReportResult> imu_report(const ImuReportOptions& options) {
  ReportResult result;
  Gate& gate = result.gate;
  Document& document = result.document;
  document.title = "IMU report";
  if (!options.run.run.empty()) {
    const Result<ImuRun> run = load_imu_run(options.run, true);
    if (!run) return run.error();
    result.out = run->out;
    document.title += " of " + run->run.path.filename().string();
    document.warnings = run->warnings;
    const std::vector<RateSource> sources = rate_sources(*run);
    if (sources.size() < 2 && run->run.pose.size() < 2) {
      return Error{options.run.run.string() + ": nothing to compare the gyro with: no odometry, no scans, no second gyro, no localiser"};
    }
    std::vector<RatePair> pairs;
    for (std::size_t a = 0; a < sources.size(); ++a) {
      for (std::size_t b = a + 1; b < sources.size(); ++b) pairs.push_back(compare_rates(sources[a], sources[b]));
    }
    Section rates{"rates", "Turn rates", {}, {}, {}, {}};
    if (pairs.empty()) {
      rates.notes.emplace_back("not available: no odometry, no scans and no second gyro to compare the gyro with");
    } else {
      rates.tables.push_back(table_of_pairs(pairs));
    }
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
  return result;
}

}  // namespace pitwall::analysis

// SPDX-License-Identifier: Apache-2.0
#include "analysis/yaw_tracking.hpp"

#include <algorithm>
#include <cmath>

#include "core/math.hpp"

namespace pitwall::analysis {

namespace {

using Kind = RateSource::Kind;

constexpr double kTurning_radps = 0.3;
constexpr double kShortestTurn_s = 0.3;
constexpr double kBridged_s = 0.1;
constexpr double kLongestYawGap_s = 0.25;

std::vector<double> middles(const RateSource& source) {
  std::vector<double> t_s;
  for (std::size_t i = 0; i < source.size(); ++i) t_s.push_back(source.middle_s(i));
  return t_s;
}

/// Integral of a rate between two times, at 5 ms; NaN where the source has a gap there.
double turned_by(const RateSource& source, double begin_s, double end_s) {
  constexpr double kStep_s = 0.005;
  std::vector<double> at;
  const auto steps = static_cast<std::size_t>(std::ceil((end_s - begin_s) / kStep_s));
  for (std::size_t k = 0; k <= steps; ++k) at.push_back(begin_s + (end_s - begin_s) * static_cast<double>(k) / static_cast<double>(steps));
  const bool held = source.kind == Kind::kCommand;
  const std::vector<double> rate = signals::resample(middles(source), source.rate_radps, at,
                                                     held ? signals::Between::kHeld : signals::Between::kLinear, kLongestYawGap_s);
  double sum = 0.0;
  for (std::size_t k = 1; k < at.size(); ++k) sum += 0.5 * (rate[k] + rate[k - 1]) * (at[k] - at[k - 1]);
  return sum;
}

/// When a rate first passes `level` in the direction of the turn after `from_s`; NaN where it is past it already or does not.
double passes_at(const RateSource& source, double sign, double level, double from_s, double until_s) {
  bool below = false;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const double t = source.middle_s(i);
    if (t > until_s) break;
    const bool above = sign * source.rate_radps[i] >= level;
    if (t >= from_s && above) {
      if (!below) return NAN;
      if (source.kind == Kind::kCommand || i == 0) return t;
      const double before = sign * source.rate_radps[i - 1];
      const double share = (level - before) / (sign * source.rate_radps[i] - before);
      return source.middle_s(i - 1) + share * (t - source.middle_s(i - 1));
    }
    below = !above;
  }
  return NAN;
}

double median(std::vector<double> values) {
  values.erase(std::remove_if(values.begin(), values.end(), [](double v) { return !std::isfinite(v); }), values.end());
  if (values.empty()) return NAN;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

/// A source with its answer to the command.
struct Answer {
  RateSource source;
  RatePair pair;
  [[nodiscard]] double lag_s() const { return pair.delay_s.identifiable ? pair.delay_s.value : 0.0; }
};

Table table_of_answers(const std::vector<Answer>& answers) {
  Table table{"answers",
              "Turn rates against the command",
              "measured = gain x commanded, lag later, plus offset; an odometry that computes its rate from the command follows it "
              "whatever the car "
              "does",
              {{"source", "source"},
               {"samples", "n"},
               {"lag_ms", "lag [ms]"},
               {"lag_low_ms", "from"},
               {"lag_high_ms", "to"},
               {"gain", "gain"},
               {"gain_low", "from"},
               {"gain_high", "to"},
               {"offset_dps", "offset [deg/s]"},
               {"rms_dps", "rms left [deg/s]"},
               {"correlation", "correlation"},
               {"identifiable", "identifiable"},
               {"why", "why not"}},
              {}};
  for (const Answer& answer : answers) {
    const RatePair& p = answer.pair;
    table.rows.push_back({text(p.b), count(p.scale.samples), number(1e3 * p.delay_s.value, 1), number(1e3 * p.delay_s.low, 1),
                          number(1e3 * p.delay_s.high, 1), number(p.scale.value, 4), number(p.scale.low, 4), number(p.scale.high, 4),
                          number(p.bias_radps.value / math::kDegree, 3), number(p.rms_radps / math::kDegree, 2), number(p.correlation, 4),
                          flag(p.delay_s.identifiable), text(p.delay_s.why)});
  }
  return table;
}

Table table_of_turns(const ImuRun& run, const RateSource& commanded, const std::vector<Turn>& turns, const Answer& answer,
                     std::vector<double>& ratios) {
  Table table{
      "turns_" + std::to_string(static_cast<int>(answer.source.kind)) + answer.source.name,
      "Turns by " + answer.source.name,
      "ratio below 1: it turned less than asked (sliding, or a steering gain); the lag of the table above is taken out of the angles",
      {{"begin_s", "start [s]"},
       {"duration_s", "duration [s]"},
       {"direction", "direction"},
       {"speed_mps", "mean speed [m/s]"},
       {"commanded_deg", "commanded [deg]"},
       {"turned_deg", "turned [deg]"},
       {"ratio", "ratio"},
       {"onset_ms", "onset lag [ms]"},
       {"lateral_mps2", "peak lateral [m/s^2]"},
       {"overshoot_percent", "overshoot [%]"}},
      {}};
  for (const Turn& turn : turns) {
    std::vector<double> at;
    for (double t = turn.begin_s; t <= turn.end_s; t += 0.02) at.push_back(t);
    double speed = 0.0;
    double n = 0.0;
    for (const double v : speed_at(run, at)) {
      speed += std::isfinite(v) ? v : 0.0;
      n += std::isfinite(v) ? 1.0 : 0.0;
    }
    speed /= n;
    const TurnSeen told = seen_in(commanded, commanded, turn, 0.0);
    const TurnSeen seen = seen_in(answer.source, commanded, turn, answer.lag_s());
    const double ratio = seen.heading_rad / told.heading_rad;
    ratios.push_back(ratio);
    table.rows.push_back({number(turn.begin_s, 2), number(turn.end_s - turn.begin_s, 2), text(turn.left ? "left" : "right"),
                          number(speed, 2), number(told.heading_rad / math::kDegree, 1), number(seen.heading_rad / math::kDegree, 1),
                          number(ratio, 3), number(1e3 * seen.onset_s, 0), number(seen.peak_radps * speed, 2),
                          number(100.0 * (seen.peak_radps / told.peak_radps - 1.0), 1)});
  }
  return table;
}

}  // namespace

std::vector<Turn> find_turns(const RateSource& commanded) {
  std::vector<Turn> turns;
  for (std::size_t i = 0; i < commanded.size(); ++i) {
    const double rate = commanded.rate_radps[i];
    if (std::abs(rate) <= kTurning_radps) continue;
    const double begin = commanded.begin_s[i];
    const double end = i + 1 < commanded.size() ? std::min(commanded.begin_s[i + 1], begin + kLongestYawGap_s) : begin;
    const bool left = rate > 0.0;
    if (!turns.empty() && turns.back().left == left && begin - turns.back().end_s < kBridged_s) {
      turns.back().end_s = end;
    } else {
      turns.push_back({begin, end, left});
    }
  }
  turns.erase(std::remove_if(turns.begin(), turns.end(), [](const Turn& turn) { return turn.end_s - turn.begin_s < kShortestTurn_s; }),
              turns.end());
  return turns;
}

TurnSeen seen_in(const RateSource& source, const RateSource& commanded, const Turn& turn, double lag_s) {
  constexpr double kBefore_s = 0.5;
  constexpr double kAfter_s = 1.0;
  TurnSeen seen;
  const double sign = turn.left ? 1.0 : -1.0;
  seen.heading_rad = turned_by(source, turn.begin_s + lag_s, turn.end_s + lag_s);
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source.middle_s(i) < turn.begin_s || source.middle_s(i) > turn.end_s + std::max(0.0, lag_s)) continue;
    const double rate = sign * source.rate_radps[i];
    if (!(rate <= seen.peak_radps)) seen.peak_radps = rate;
  }
  const double told = passes_at(commanded, sign, 0.5 * kTurning_radps, turn.begin_s - kBefore_s, turn.end_s);
  if (std::isfinite(told)) seen.onset_s = passes_at(source, sign, 0.5 * kTurning_radps, told, turn.end_s + kAfter_s) - told;
  return seen;
}

Result<ReportResult> yaw_tracking(const YawTrackingOptions& options) {
  const Result<ImuRun> run = load_imu_run(options.run, false);
  if (!run) return run.error();
  const std::string path = options.run.run.string();
  if (run->run.command.empty()) return Error{path + ": no commands were recorded (/ackermann_cmd, /drive, /cmd_vel)"};
  const RateSource commanded = commanded_rate(*run);
  std::vector<Answer> answers;
  bool measured = false;
  for (RateSource& source : rate_sources(*run)) {
    measured = measured || source.kind == Kind::kGyro || source.kind == Kind::kScans || source.kind == Kind::kTruth;
    RatePair pair = compare_rates(commanded, source);
    answers.push_back({std::move(source), std::move(pair)});
  }
  if (!measured) return Error{path + ": neither a gyro nor scans that tell the turn were recorded"};
  const std::vector<Turn> turns = find_turns(commanded);
  if (turns.empty()) return Error{path + ": no commanded turn: the commanded turn rate is never above 0.3 rad/s for 0.3 s"};
  ReportResult result;
  result.out = run->out;
  Document& document = result.document;
  document.title = "Yaw tracking of " + run->run.path.filename().string();
  document.warnings = run->warnings;
  document.sections.push_back(section_of_recording(*run));
  document.sections.push_back(
      {"answers", "Against the command", {}, {{"turns", "commanded turns", count(turns.size())}}, {table_of_answers(answers)}, {}});
  Section section{"turns", "Turns", {}, {}, {}, {}};
  Gate& gate = result.gate;
  NpzWriter arrays;
  arrays.add("commanded/t_s", commanded.begin_s);
  arrays.add("commanded/rate_radps", commanded.rate_radps);
  for (std::size_t k = 0; k < answers.size(); ++k) {
    const Answer& answer = answers[k];
    std::vector<double> ratios;
    Table table = table_of_turns(*run, commanded, turns, answer, ratios);
    table.key = "turns_" + std::to_string(k);
    section.facts.push_back({"median_ratio_" + std::to_string(k), "median ratio by " + answer.source.name, number(median(ratios), 3)});
    section.tables.push_back(std::move(table));
    arrays.add(answer.source.name + "/t_s", middles(answer.source));
    arrays.add(answer.source.name + "/rate_radps", answer.source.rate_radps);
    if (answer.source.kind == Kind::kOdometry) continue;
    gate.at_most("median ratio less 1 by " + answer.source.name, options.max_ratio_error, median(ratios) - 1.0);
    gate.at_most("lag by " + answer.source.name, options.max_lag_ms,
                 answer.pair.delay_s.identifiable ? 1e3 * answer.pair.delay_s.value : NAN, "ms");
  }
  document.sections.push_back(std::move(section));
  gate.add_to(document);
  result.arrays = std::move(arrays);
  return result;
}

}  // namespace pitwall::analysis

// SPDX-License-Identifier: Apache-2.0
#include "onboard/odometry_calibration.hpp"

#include <algorithm>
#include <cmath>

#include "core/math.hpp"
#include "core/text.hpp"
#include "recording/bag_reader.hpp"
#include "ros_messages/convert.hpp"
#include "ros_messages/drive.hpp"

namespace pitwall::onboard {
namespace {

constexpr std::size_t kFewestTrials = 3;
constexpr double kShortestTape_m = 1.0;
constexpr double kShortestRest_s = 5.0;
constexpr double kRestErpm = 100.0;
constexpr double kLongestGap_s = 0.2;
constexpr double kLargestSpread = 0.05;
constexpr double kLargestResidual_rad = 0.05;

double median(std::vector<double> values) {
  const std::size_t n = values.size();
  std::sort(values.begin(), values.end());
  return 0.5 * (values[(n - 1) / 2] + values[n / 2]);
}

std::string six_digits(double value) { return format_number(value, 6); }

Result<double> gain_of(const TapeTrial& trial, double offset_erpm) {
  const auto& t = trial.series.t_s;
  const auto& erpm = trial.series.erpm;
  if (!(trial.tape_m >= kShortestTape_m)) return Error{trial.name + ": a tape of " + six_digits(trial.tape_m) + " m; at least 1 m"};
  if (t.size() < 3) return Error{trial.name + ": " + std::to_string(t.size()) + " samples of the motor controller"};
  for (const double end : {erpm.front(), erpm.back()}) {
    if (std::abs(end - offset_erpm) > kRestErpm)
      return Error{trial.name + ": must begin and end standing, but has " + six_digits(end) + " eRPM at an end"};
  }
  double integral = 0.0;
  for (std::size_t k = 1; k < t.size(); ++k) {
    const double dt = t[k] - t[k - 1];
    if (!(dt > 0.0 && dt <= kLongestGap_s))
      return Error{trial.name + ": samples are " + six_digits(dt) + " s apart at " + six_digits(t[k]) + " s; at most 0.2 s"};
    integral += 0.5 * (erpm[k] + erpm[k - 1] - 2.0 * offset_erpm) * dt;
  }
  return integral / trial.tape_m;
}

}  // namespace

Result<ErpmSeries> read_erpm(const std::string& recording, bool negated) {
  auto bag = recording::BagReader::open(recording);
  if (!bag) return bag.error();
  ErpmSeries out;
  while (const recording::BagMessage* message = bag->next()) {
    if (bag->topics()[message->topic].type != ros_messages::VescStateStamped::kType) continue;
    const auto state = ros_messages::read<ros_messages::VescStateStamped>(recording::as_text(message->data));
    if (!state) return Error{recording + ": " + state.error().message};
    out.t_s.push_back(ros_messages::to_time(state->header.stamp).seconds());
    out.erpm.push_back(negated ? -state->state.speed : state->state.speed);
  }
  if (out.t_s.empty()) return Error{recording + ": nothing from a motor controller in it (vesc_msgs/msg/VescStateStamped)"};
  return out;
}

RestAndDrive split_at_start(const ErpmSeries& series) {
  RestAndDrive out;
  if (series.t_s.empty()) return out;
  const double rest = series.erpm.front();
  std::size_t moving = 0;
  while (moving < series.erpm.size() && std::abs(series.erpm[moving] - rest) <= kRestErpm) ++moving;
  const double cut_s = moving < series.t_s.size() ? series.t_s[moving] - 0.5 : series.t_s.back();
  for (std::size_t k = 0; k < series.t_s.size(); ++k) {
    ErpmSeries& into = series.t_s[k] <= cut_s ? out.rest : out.drive;
    into.t_s.push_back(series.t_s[k]);
    into.erpm.push_back(series.erpm[k]);
  }
  return out;
}

Result<double> measure_offset(const ErpmSeries& standing) {
  const double lasts_s = standing.t_s.empty() ? 0.0 : standing.t_s.back() - standing.t_s.front();
  if (lasts_s < kShortestRest_s) return Error{"stood for " + six_digits(lasts_s) + " s; at least 5 s are needed"};
  const double middle = median(standing.erpm);
  for (const double erpm : standing.erpm) {
    if (std::abs(erpm - middle) > kRestErpm) return Error{"the car moved: " + six_digits(erpm) + " eRPM"};
  }
  return middle;
}

Result<MeasuredGain> measure_gain(const std::vector<TapeTrial>& trials, double offset_erpm) {
  if (trials.size() < kFewestTrials) return Error{std::to_string(trials.size()) + " trials; at least 3 are needed"};
  MeasuredGain out;
  for (const TapeTrial& trial : trials) {
    const Result<double> gain = gain_of(trial, offset_erpm);
    if (!gain) return gain.error();
    out.trials.push_back(*gain);
  }
  out.gain = median(out.trials);
  std::vector<double> off;
  for (const double gain : out.trials) off.push_back(std::abs(gain - out.gain));
  out.spread = median(off);
  const auto [least, most] = std::minmax_element(out.trials.begin(), out.trials.end());
  if (*least < 0.0) {
    return Error{
        "the gain comes out negative, " + six_digits(*least) +
        " eRPM s/m: fault of direction. Did the car go forwards? Then exchange two motor phases or invert the motor in VESC Tool "
        "(Motor Settings > General > Invert Motor Direction); for a recording of the f1tenth ROS driver, which negates, give --negated"};
  }
  if (*most - *least > kLargestSpread * std::abs(out.gain)) {
    return Error{"the trials differ by " + six_digits(100.0 * (*most - *least) / out.gain) +
                 " %: wheels that slipped, or a tape that was not followed to its end; at most 5 %"};
  }
  return out;
}

Result<MeasuredSteering> measure_steering(const std::vector<CircleTrial>& circles, double wheelbase_m) {
  if (circles.size() < kFewestTrials) return Error{std::to_string(circles.size()) + " circles; at least 3 are needed"};
  double mean_angle = 0.0;
  double mean_servo = 0.0;
  std::vector<double> angles;
  bool left = false;
  bool right = false;
  for (const CircleTrial& circle : circles) {
    if (!(circle.diameter_m > 0.0)) return Error{"a circle of " + six_digits(circle.diameter_m) + " m"};
    const double angle = math::atan(2.0 * wheelbase_m / circle.diameter_m);  // 0 where it went straight
    angles.push_back(circle.to_the_left ? angle : -angle);
    left = left || angles.back() > 0.0;
    right = right || angles.back() < 0.0;
    mean_angle += angles.back() / static_cast<double>(circles.size());
    mean_servo += circle.servo / static_cast<double>(circles.size());
  }
  if (!left || !right) return Error{std::string("no circle to the ") + (left ? "right" : "left")};
  double angle_servo = 0.0;
  double servo_servo = 0.0;
  double angle_angle = 0.0;
  for (std::size_t k = 0; k < circles.size(); ++k) {
    const double da = angles[k] - mean_angle;
    const double ds = circles[k].servo - mean_servo;
    angle_servo += da * ds;
    servo_servo += ds * ds;
    angle_angle += da * da;
  }
  if (!(servo_servo > 0.0)) return Error{"every circle was driven with the same servo position"};
  MeasuredSteering out;
  out.gain_per_rad = angle_servo / angle_angle;
  out.offset = mean_servo - out.gain_per_rad * mean_angle;
  for (std::size_t k = 0; k < circles.size(); ++k) {
    out.residual_rad = std::max(out.residual_rad, std::abs((circles[k].servo - out.offset) / out.gain_per_rad - angles[k]));
  }
  if (!(out.residual_rad <= kLargestResidual_rad))
    return Error{"no line fits the circles: off by " + six_digits(out.residual_rad) + " rad; at most 0.05 rad"};
  return out;
}

Result<std::string> with_measured(const std::string& profile, const std::string& key, double value, const std::string& source) {
  const std::string begin = key + ":";
  std::string out;
  bool found = false;
  for (std::size_t at = 0; at < profile.size();) {
    const std::size_t end = std::min(profile.find('\n', at), profile.size());
    std::string line = profile.substr(at, end - at);
    if (line.starts_with(begin)) {
      const std::size_t unit = line.find("unit:");
      const std::size_t after = unit == std::string::npos ? unit : line.find(',', unit);
      if (after == std::string::npos) return Error{key + ": its line has no unit: " + line};
      line = begin + " {value: " + six_digits(value) + ", " + line.substr(unit, after - unit) + ", provenance: MEASURED, source: \"" +
             source + "\"}";
      found = true;
    }
    out += line + (end < profile.size() ? "\n" : "");
    at = end + 1;
  }
  if (!found) return Error{key + ": not in the profile"};
  return out;
}

}  // namespace pitwall::onboard

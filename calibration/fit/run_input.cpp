// SPDX-License-Identifier: Apache-2.0
#include "calibration/fit/run_input.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <utility>

#include "core/geometry.hpp"
#include "core/text.hpp"
#include "recording/imu_units.hpp"

namespace pitwall::fit {
namespace {

constexpr std::size_t kFewest = 50;
constexpr double kSeenShare = 0.5;  // of scan pairs that must tell the motion
constexpr double kLongestGap_s = 0.3;
constexpr double kWindow_s = 1.0;  // over which poses and wheels are compared
constexpr double kLeastWay_m = 0.5;
constexpr double kJump_m = 0.25;  // between two poses, beyond what the wheels went: the localiser corrected itself

using localization::MotionSeries;
using recording::RunData;

std::vector<double> picked(const std::vector<double>& from, const std::vector<std::size_t>& order) {
  std::vector<double> out;
  out.reserve(order.size());
  for (const std::size_t i : order) out.push_back(from[i]);
  return out;
}

double median(std::vector<double> values) {
  if (values.empty()) return NAN;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double interpolated(const std::vector<double>& t_s, const std::vector<double>& value, double at_s) {
  const auto k = static_cast<std::size_t>(std::lower_bound(t_s.begin(), t_s.end(), at_s) - t_s.begin());
  if (k == 0 || k == t_s.size() || t_s[k] - t_s[k - 1] > kLongestGap_s) return NAN;
  const double part = (at_s - t_s[k - 1]) / (t_s[k] - t_s[k - 1]);
  return value[k - 1] + part * (value[k] - value[k - 1]);
}

class Reader {
 public:
  Reader(const RunData& run, const MotionSeries& motion) : run_(run), motion_(motion) {}

  Result<RunInput> read() {
    input_.drive.name = run_.path.filename().string();
    input_.drive.date = date();
    if (const Status status = add_commands(); !status) return status.error();
    const bool scans = add_scan_matching();
    if (!scans) add_poses();
    add_odometry();
    add_yaw_rate(scans);
    if (!input_.drive.find(Quantity::kSpeed) && !input_.drive.find(Quantity::kWheelSpeed)) {
      return Error{run_.path.string() + ": nothing in it says how fast the car was: no scans that can be matched, no odometry"};
    }
    return std::move(input_);
  }

 private:
  void note(const std::string& text) { input_.notes.push_back(text); }

  /// The day of the first message, where its clock is a calendar's.
  [[nodiscard]] std::string date() const {
    constexpr double kYear2010_s = 1.26e9;
    if (run_.origin.seconds() < kYear2010_s) return "";
    const auto seconds = static_cast<std::time_t>(run_.origin.seconds());
    std::tm day{};
    gmtime_r(&seconds, &day);
    char text[16];
    std::snprintf(text, sizeof text, "%04d-%02d-%02d", (day.tm_year + 1900) % 10000, (day.tm_mon + 1) % 100, day.tm_mday % 100);
    return text;
  }

  Status add_commands() {
    const recording::CommandSeries& from = run_.command;
    if (from.empty()) return Error{run_.path.string() + ": no commands in it (/ackermann_cmd, /drive)"};
    Commands& into = input_.drive.commands;
    for (const std::size_t i : recording::sorted_by_stamp(from.t_s)) {
      if (!std::isfinite(from.steering_rad[i])) continue;
      const double acceleration = i < from.acceleration_mps2.size() ? from.acceleration_mps2[i] : NAN;
      if (!std::isfinite(from.speed_mps[i]) && !std::isfinite(acceleration)) continue;
      into.t_s.push_back(from.t_s[i]);
      into.steering_rad.push_back(from.steering_rad[i]);
      into.speed_mps.push_back(from.speed_mps[i]);
      into.acceleration_mps2.push_back(acceleration);
    }
    if (into.size() < 2) return Error{run_.path.string() + ": its commands have no steering angle with a speed or an acceleration"};
    if (!std::isfinite(into.speed_mps.front())) note("commands: steering angle and acceleration; the speed loop is not in use");
    return {};
  }

  bool add_scan_matching() {
    const MotionSeries& m = motion_;
    double seen = 0.0;
    for (std::size_t i = 0; i < m.size(); ++i) seen += m.speed_seen[i] > 0.0 && m.yaw_seen[i] > 0.0 ? 1.0 : 0.0;
    if (m.size() < kFewest || seen < kSeenShare * static_cast<double>(m.size())) {
      if (m.size() > 0)
        note("scan matching: the scans tell the motion in " + format_number(seen, 6) + " of " + std::to_string(m.size()) +
             " pairs; not used");
      return false;
    }
    Series speed{Quantity::kSpeed, "scan matching", 0.03, {}, {}, 0.0};
    Series across{Quantity::kLateral, "scan matching", 0.03, {}, {}, 0.0};
    Series turn{Quantity::kYawRate, "scan matching", 0.03, {}, {}, 0.0};
    Track track{"scan matching", 0.005, 0.005, {}, {}, {}, {}};
    std::vector<double> spans;
    Pose2 at;
    for (std::size_t i = 0; i < m.size(); ++i) {
      const double t = m.middle_s(i);
      if (!speed.t_s.empty() && t <= track.t_s.back()) continue;
      const bool both = m.speed_seen[i] > 0.0 && m.yaw_seen[i] > 0.0;
      const bool chained = both && !track.t_s.empty() && t - track.t_s.back() < kLongestGap_s && std::isfinite(track.x_m.back());
      if (chained) at = step(at, i, t - track.t_s.back());
      track.t_s.push_back(t);
      track.x_m.push_back(both ? at.x : NAN);
      track.y_m.push_back(at.y);
      track.yaw_rad.push_back(at.yaw);
      spans.push_back(m.end_s[i] - m.begin_s[i]);
      if (!both) continue;
      for (auto& [series, value] : {std::pair{&speed, m.speed_mps[i]}, {&across, m.lateral_mps[i]}, {&turn, m.yaw_rate_radps[i]}}) {
        series->t_s.push_back(t);
        series->value.push_back(value);
      }
    }
    for (Series* series : {&speed, &across, &turn}) {
      series->span_s = median(spans);
      input_.drive.series.push_back(*series);
    }
    input_.drive.track = std::move(track);
    note("speed, sideways speed, yaw rate and increments: scan matching, " + format_number(seen, 6) + " pairs");
    return true;
  }

  /// On from the sample before by the mean of both velocities.
  [[nodiscard]] Pose2 step(const Pose2& from, std::size_t i, double dt_s) const {
    const double turn = 0.5 * dt_s * (motion_.yaw_rate_radps[i] + motion_.yaw_rate_radps[i - 1]);
    const Vec2 way =
        0.5 * dt_s * Vec2{motion_.speed_mps[i] + motion_.speed_mps[i - 1], motion_.lateral_mps[i] + motion_.lateral_mps[i - 1]};
    const Vec2 moved = rotate(from.yaw + 0.5 * turn, way);
    return {from.x + moved.x, from.y + moved.y, from.yaw + turn};
  }

  void add_poses() {
    const std::vector<std::size_t> order = recording::sorted_by_stamp(run_.pose.t_s);
    if (order.size() < kFewest) return;
    Track track{"poses", 0.03, 0.02, {}, {}, {}, {}};
    std::size_t jumps = 0;
    for (const std::size_t i : order) {
      const Vec2 p{run_.pose.x_m[i], run_.pose.y_m[i]};
      const bool lost =
          !track.t_s.empty() && distance(p, {track.x_m.back(), track.y_m.back()}) > kJump_m + wheel_way(track.t_s.back(), run_.pose.t_s[i]);
      if (lost) {
        ++jumps;
        track.t_s.push_back(0.5 * (track.t_s.back() + run_.pose.t_s[i]));
        track.x_m.push_back(NAN);
        track.y_m.push_back(NAN);
        track.yaw_rad.push_back(NAN);
      }
      track.t_s.push_back(run_.pose.t_s[i]);
      track.x_m.push_back(p.x);
      track.y_m.push_back(p.y);
      track.yaw_rad.push_back(run_.pose.yaw_rad[i]);
    }
    note("increments: poses on " + topic_name("pose") + ", " + std::to_string(order.size()) +
         (jumps > 0 ? "; broken at " + std::to_string(jumps) + " jumps of more than 0.25 m" : ""));
    input_.drive.track = std::move(track);
  }

  /// How far the wheels went, at most.
  [[nodiscard]] double wheel_way(double from_s, double to_s) const {
    const recording::OdometrySeries& o = run_.odometry;
    const auto k = static_cast<std::size_t>(std::lower_bound(o.t_s.begin(), o.t_s.end(), from_s) - o.t_s.begin());
    if (o.size() == 0) return 0.0;
    double fastest = std::abs(o.speed_mps[std::min(k, o.size() - 1)]);
    for (std::size_t i = k; i < o.size() && o.t_s[i] <= to_s; ++i) fastest = std::max(fastest, std::abs(o.speed_mps[i]));
    return fastest * (to_s - from_s);
  }

  [[nodiscard]] std::string topic_name(std::string_view role) const {
    const recording::UsedTopic* topic = run_.topic(role);
    return topic == nullptr ? std::string(role) : topic->name;
  }

  void add_odometry() {
    const std::vector<std::size_t> order = recording::sorted_by_stamp(run_.odometry.t_s);
    if (order.size() < kFewest) return;
    input_.drive.series.push_back(
        {Quantity::kWheelSpeed, "odometry", 0.05, picked(run_.odometry.t_s, order), picked(run_.odometry.speed_mps, order), 0.0});
    if (input_.drive.find(Quantity::kSpeed) != nullptr || !input_.drive.track) return;
    input_.drive.odometry_scale = scale_by_track(input_.drive.series.back());
    if (std::isfinite(input_.drive.odometry_scale)) {
      note("speed where a stretch begins: odometry times " + format_number(input_.drive.odometry_scale, 4) + ", the scale of the poses");
    }
  }

  /// Way by poses over way by wheels, over a second each; the median.
  [[nodiscard]] double scale_by_track(const Series& wheel) const {
    const Track& track = *input_.drive.track;
    std::vector<double> ratios;
    std::size_t from = 0;
    for (std::size_t to = 1; to < track.t_s.size(); ++to) {
      if (!std::isfinite(track.x_m[to])) {
        from = to + 1;
        continue;
      }
      if (from >= to || track.t_s[to] - track.t_s[from] < kWindow_s) continue;
      double by_track = 0.0;
      for (std::size_t k = from + 1; k <= to; ++k) {
        const Vec2 way{track.x_m[k] - track.x_m[k - 1], track.y_m[k] - track.y_m[k - 1]};
        by_track += dot(way, unit_vector(track.yaw_rad[k - 1] + 0.5 * wrap_angle(track.yaw_rad[k] - track.yaw_rad[k - 1])));
      }
      double by_wheels = 0.0;
      for (std::size_t k = 1; k < wheel.t_s.size(); ++k) {
        const double begin = std::max(wheel.t_s[k - 1], track.t_s[from]);
        const double end = std::min(wheel.t_s[k], track.t_s[to]);
        if (end > begin) by_wheels += (end - begin) * 0.5 * (wheel.value[k - 1] + wheel.value[k]);
      }
      if (by_wheels > kLeastWay_m) ratios.push_back(by_track / by_wheels);
      from = to;
    }
    return median(ratios);
  }

  void add_yaw_rate(bool scans) {
    if (scans) return;
    const Series by_poses = yaw_rate_of_poses();
    if (add_gyro(by_poses)) return;
    if (!by_poses.t_s.empty()) {
      note("yaw rate: turn of the poses");
      input_.drive.series.push_back(by_poses);
      return;
    }
    const std::vector<std::size_t> order = recording::sorted_by_stamp(run_.odometry.t_s);
    if (order.size() < kFewest) return;
    note("yaw rate: the odometry's; on many cars it is made from the steering command, and then says nothing of the steering");
    input_.drive.series.push_back(
        {Quantity::kYawRate, "odometry", 0.05, picked(run_.odometry.t_s, order), picked(run_.odometry.yaw_rate_radps, order), 0.0});
  }

  [[nodiscard]] Series yaw_rate_of_poses() const {
    Series turn{Quantity::kYawRate, "poses", 0.1, {}, {}, 0.0};
    if (!input_.drive.track || input_.drive.track->source != "poses") return turn;
    const Track& track = *input_.drive.track;
    std::vector<double> spans;
    for (std::size_t k = 1; k + 1 < track.t_s.size(); ++k) {
      const double span = track.t_s[k + 1] - track.t_s[k - 1];
      if (!std::isfinite(track.yaw_rad[k - 1] + track.yaw_rad[k] + track.yaw_rad[k + 1]) || span > kLongestGap_s || span <= 0.0) continue;
      turn.t_s.push_back(0.5 * (track.t_s[k - 1] + track.t_s[k + 1]));
      turn.value.push_back(wrap_angle(track.yaw_rad[k + 1] - track.yaw_rad[k - 1]) / span);
      spans.push_back(span);
    }
    turn.span_s = median(spans);
    return turn;
  }

  /// The gyro, in rad/s, turning as the poses do, less its bias against them.
  bool add_gyro(const Series& by_poses) {
    const recording::ImuSeries& imu = run_.imu;
    const std::vector<std::size_t> order = recording::sorted_by_stamp(imu.t_s);
    if (order.size() < kFewest) return false;
    Series gyro{Quantity::kYawRate, "IMU", 0.05, picked(imu.t_s, order), picked(imu.gyro_z, order), 0.0};
    if (std::all_of(gyro.value.begin(), gyro.value.end(), [](double v) { return v == 0.0; })) return false;
    const recording::ImuColumns columns{imu.gyro_x, imu.gyro_y, imu.gyro_z, imu.accel_x, imu.accel_y, imu.accel_z};
    std::vector<double> reference;
    for (const double t : imu.t_s) reference.push_back(by_poses.t_s.empty() ? NAN : interpolated(by_poses.t_s, by_poses.value, t));
    const recording::ImuUnits units = recording::detect_imu_units(columns, {{"the poses", reference}});
    const double factor = (units.opposite_turn ? -1.0 : 1.0) * units.rate_factor();
    std::vector<double> off;
    for (std::size_t i = 0; i < gyro.value.size(); ++i) {
      gyro.value[i] *= factor;
      const double seen = by_poses.t_s.empty() ? NAN : interpolated(by_poses.t_s, by_poses.value, gyro.t_s[i]);
      if (std::isfinite(seen)) off.push_back(gyro.value[i] - seen);
    }
    const double bias = off.size() > kFewest ? median(off) : 0.0;
    for (double& each : gyro.value) each -= bias;
    note("yaw rate: IMU, " + units.reason + (units.opposite_turn ? "; turned about, against the poses" : "") + "; bias " +
         format_number(bias, 3) + " rad/s taken off");
    input_.drive.series.push_back(std::move(gyro));
    return true;
  }

  const RunData& run_;
  const MotionSeries& motion_;
  RunInput input_;
};

}  // namespace

Result<RunInput> drive_of(const RunData& run, const MotionSeries& motion) { return Reader(run, motion).read(); }

}  // namespace pitwall::fit

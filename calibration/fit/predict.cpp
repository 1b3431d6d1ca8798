// SPDX-License-Identifier: Apache-2.0
// How well a car predicts a drive: one second ahead from the measured state, and channel by channel over the stretches.
#include <algorithm>
#include <array>
#include <cmath>

#include "calibration/fit/fit.hpp"
#include "calibration/fit/parallel.hpp"
#include "core/geometry.hpp"
#include "core/math.hpp"
#include "core/signal.hpp"

namespace pitwall::fit {
namespace {

constexpr double kAhead_s = 1.0;
constexpr double kEvery_s = 0.5;
constexpr double kNearest_s = 0.08;  // of poses to the instants asked for

struct PredictSums {
  double speed2 = 0.0, yaw2 = 0.0, way2 = 0.0;
  std::size_t speed = 0, yaw = 0, way = 0;
};

std::size_t nearest(const std::vector<double>& t_s, double at_s) {
  const auto k = static_cast<std::size_t>(std::lower_bound(t_s.begin(), t_s.end(), at_s) - t_s.begin());
  if (k == 0) return 0;
  if (k == t_s.size()) return k - 1;
  return at_s - t_s[k - 1] < t_s[k] - at_s ? k - 1 : k;
}

void compare_way(const Drive& drive, const Subject& subject, const Played& played, double begin_s, PredictSums& sums) {
  if (!drive.track || drive.track->t_s.empty()) return;
  const Track& track = *drive.track;
  const std::size_t from = nearest(track.t_s, begin_s);
  const std::size_t to = nearest(track.t_s, begin_s + kAhead_s);
  for (std::size_t k = from; k <= to; ++k) {
    if (!std::isfinite(track.x_m[k])) return;
  }
  if (std::abs(track.t_s[from] - begin_s) > kNearest_s || std::abs(track.t_s[to] - begin_s - kAhead_s) > kNearest_s) return;
  const Moved a = played.at(track.t_s[from]);
  const Moved b = played.at(track.t_s[to]);
  const Vec2 measured = rotate(-track.yaw_rad[from], Vec2{track.x_m[to] - track.x_m[from], track.y_m[to] - track.y_m[from]});
  const Vec2 point = Vec2{b.x_m - a.x_m, b.y_m - a.y_m} + subject.pose_ahead_m * (unit_vector(b.yaw_rad) - unit_vector(a.yaw_rad));
  const Vec2 simulated = rotate(-a.yaw_rad - subject.mount_yaw_rad, point);
  const Vec2 off = simulated - measured;
  sums.way2 += dot(off, off);
  ++sums.way;
}

PredictSums predict(const Problem& problem, const Piece& piece, const Subject& subject, Played& scratch) {
  PredictSums sums;
  const Drive& drive = problem.drives[piece.stretch.drive];
  for (double begin = piece.stretch.begin_s; begin + kAhead_s < piece.stretch.end_s - 1e-9; begin += kEvery_s) {
    Stretch window = piece.stretch;
    window.warm_s = begin - problem.options.warm_s;
    window.begin_s = begin;
    window.end_s = begin + kAhead_s + kNearest_s;
    window.warm_speed_mps = measured_speed(drive, window.warm_s, problem.base.odometry_scale);
    window.begin_speed_mps = measured_speed(drive, begin, problem.base.odometry_scale);
    window.begin_yaw_rate_radps = measured_yaw_rate(drive, begin);
    window.reseed = std::isfinite(window.begin_speed_mps);
    if (!window.reseed || !std::isfinite(window.warm_speed_mps)) continue;
    if (!play(drive, window, subject, {problem.options.playback.step_s, false}, scratch)) continue;
    const Moved end = scratch.at(begin + kAhead_s);
    const double speed = measured_speed(drive, begin + kAhead_s, problem.base.odometry_scale);
    const double yaw_rate = measured_yaw_rate(drive, begin + kAhead_s);
    if (std::isfinite(speed)) sums.speed2 += (end.speed_mps - speed) * (end.speed_mps - speed), ++sums.speed;
    if (std::isfinite(yaw_rate)) sums.yaw2 += (end.yaw_rate_radps - yaw_rate) * (end.yaw_rate_radps - yaw_rate), ++sums.yaw;
    compare_way(drive, subject, scratch, begin, sums);
  }
  return sums;
}

double root_mean_square(double sum, std::size_t count) { return count == 0 ? NAN : std::sqrt(sum / static_cast<double>(count)); }

}  // namespace

Prediction predict_one_second(const Problem& problem, const Subject& subject, bool held_out_only, unsigned jobs) {
  std::vector<PredictSums> each(problem.pieces.size());
  std::vector<Played> scratch(std::max(1U, jobs == 0 ? std::thread::hardware_concurrency() : jobs));
  side_by_side(each.size(), static_cast<unsigned>(scratch.size()), [&](std::size_t item, std::size_t worker) {
    if (!held_out_only || problem.pieces[item].held_out) each[item] = predict(problem, problem.pieces[item], subject, scratch[worker]);
  });
  PredictSums all;
  for (const PredictSums& s : each) {
    all.speed2 += s.speed2;
    all.yaw2 += s.yaw2;
    all.way2 += s.way2;
    all.speed += s.speed;
    all.yaw += s.yaw;
    all.way += s.way;
  }
  return {root_mean_square(all.speed2, all.speed),
          root_mean_square(all.yaw2, all.yaw),
          root_mean_square(all.way2, all.way),
          all.way,
          all.speed,
          all.yaw};
}

std::vector<ChannelError> channel_errors(const Problem& problem, const Subject& before, const Subject& after) {
  std::vector<ChannelError> errors;
  Played scratch;
  std::vector<double> first;
  std::vector<double> second;
  for (const Piece& piece : problem.pieces) {
    first.resize(piece.rows.size());
    second.resize(piece.rows.size());
    if (!residuals_of(problem, piece, before, scratch, first.data()) || !residuals_of(problem, piece, after, scratch, second.data()))
      continue;
    for (std::size_t i = 0; i < piece.rows.size(); ++i) {
      const Channel& channel = problem.channels[piece.rows[i].channel];
      auto at = std::find_if(errors.begin(), errors.end(),
                             [&](const ChannelError& e) { return e.quantity == channel.quantity && e.source == channel.source; });
      if (at == errors.end()) {
        ChannelError fresh;
        fresh.quantity = channel.quantity;
        fresh.source = channel.source;
        at = errors.insert(errors.end(), std::move(fresh));
      }
      (piece.held_out ? at->held_samples : at->samples) += 1;
      (piece.held_out ? at->held_before : at->before) += first[i] * first[i];
      (piece.held_out ? at->held_after : at->after) += second[i] * second[i];
    }
  }
  for (ChannelError& e : errors) {
    e.before = root_mean_square(e.before, e.samples);
    e.after = root_mean_square(e.after, e.samples);
    e.held_before = root_mean_square(e.held_before, e.held_samples);
    e.held_after = root_mean_square(e.held_after, e.held_samples);
  }
  return errors;
}

std::vector<SteeringLag> steering_lags(const Problem& problem, const Subject& before, const Subject& after) {
  std::vector<SteeringLag> lags;
  for (std::size_t d = 0; d < problem.drives.size(); ++d) {
    const Drive& drive = problem.drives[d];
    std::vector<double> curvature;
    for (const double angle : drive.commands.steering_rad) curvature.push_back(math::tan(angle) / problem.base.wheelbase_m);
    const signals::CommandSignal command{drive.commands.t_s, curvature, signals::Between::kHeld};
    std::vector<double> at, speed;
    std::array<std::vector<double>, 3> turn;  // measured, before, after
    Played scratch;
    std::vector<double> first, second;
    for (const Piece& piece : problem.pieces) {
      if (piece.stretch.drive != d) continue;
      first.resize(piece.rows.size());
      second.resize(piece.rows.size());
      if (!residuals_of(problem, piece, before, scratch, first.data()) || !residuals_of(problem, piece, after, scratch, second.data()))
        continue;
      for (std::size_t i = 0; i < piece.rows.size(); ++i) {
        const Row& row = piece.rows[i];
        if (problem.channels[row.channel].quantity != Quantity::kYawRate || (!at.empty() && row.at_s <= at.back())) continue;
        at.push_back(row.at_s);
        speed.push_back(measured_speed(drive, row.at_s, problem.base.odometry_scale));
        turn[0].push_back(row.measured);
        turn[1].push_back(row.measured + first[i]);
        turn[2].push_back(row.measured + second[i]);
      }
    }
    SteeringLag lag;
    lag.drive = drive.name;
    const auto fitted = [&](const std::vector<double>& value) { return signals::fit_lag(command, {at, at, value, speed, {}}, {}).lag_s; };
    if (const signals::Estimate measured = fitted(turn[0]); measured.identifiable) {
      lag.measured_s = measured.value;
      lag.low_s = measured.low;
      lag.high_s = measured.high;
      lag.before_s = fitted(turn[1]).value;
      lag.after_s = fitted(turn[2]).value;
    }
    lags.push_back(std::move(lag));
  }
  return lags;
}

}  // namespace pitwall::fit

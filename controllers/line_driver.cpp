// SPDX-License-Identifier: Apache-2.0
#include "controllers/line_driver.hpp"

#include <algorithm>
#include <cmath>

#include "controllers/line_room.hpp"
#include "core/text.hpp"
#include "tracks/raycast.hpp"

namespace pitwall::controllers {

namespace {

// Speed noise is 5 % per message; at 40 Hz this halves it and lags by 1.5 messages.
constexpr double kSpeedGain = 0.4;
// An open path ends this far before its last point: nobody brakes to a millimetre.
constexpr double kEnd_m = 0.05;

}  // namespace

void LineFollowingParameters::fields(FieldVisitor& f) {
  f.number("control_rate_hz", control_rate_hz, {"Hz", 5, 200, "how often a command is given"});
  f.number("nearest_window_m", nearest_window_m, {"m", 0.5, 20, "how far from the last place on the line the next one is sought"});
  f.number("max_cross_track_m", max_cross_track_m, {"m", 0.3, 5, "farther from the line than this: stop"});
  f.number("min_speed_mps", min_speed_mps, {"m/s", 0, 3, "floor of the line's speeds; never overrides a ceiling"});
  f.number("wall_clearance_m", wall_clearance_m,
           {"m", 0, 1, "the line is moved off mapped walls until the body has this much; 0: as given"});
  f.number("end_decel_mps2", end_decel_mps2, {"m/s^2", 0.5, 12, "braking towards the end of an open path"});
}

Status validate(const LineFollowingParameters& p, const LineToFollow* line, double max_speed_mps, std::string_view what) {
  const auto refuse = [&](const std::string& reason) { return Error{std::string(what) + ": " + reason}; };
  if (p.min_speed_mps > max_speed_mps) {
    return refuse("min_speed_mps " + format_exact(p.min_speed_mps) + " must not be above max_speed_mps " + format_exact(max_speed_mps));
  }
  if (line == nullptr || !line->path) return refuse("needs a line to follow");
  const std::size_t n = line->path->size();
  if (line->speed_mps.size() != n) {
    return refuse("the line has " + std::to_string(n) + " points but " + std::to_string(line->speed_mps.size()) + " speeds");
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (!std::isfinite(line->speed_mps[i]) || line->speed_mps[i] < 0.0) {
      return refuse("speed " + format_exact(line->speed_mps[i]) + " at point " + std::to_string(i) + " of the line is not finite and >= 0");
    }
  }
  for (const auto* room : {&line->free_left_m, &line->free_right_m}) {
    if (!room->empty() && room->size() != n) {
      return refuse("the line has " + std::to_string(n) + " points but " + std::to_string(room->size()) + " free widths");
    }
  }
  return {};
}

LawSetup law_setup(const CarParameters& car, const LineFollowingParameters& parameters, const CommandParameters& command,
                   const LawLine& line, const SteeringTable* table) {
  LawSetup setup;
  setup.car = car;
  setup.control_period_s = 1.0 / parameters.control_rate_hz;
  setup.steering_rate_radps = std::min(command.max_steering_rate_radps, car.steering_rate_max_radps);
  setup.max_speed_mps = std::min({command.max_speed_mps, car.speed_max_mps, line.fastest_mps()});
  setup.line = &line;
  setup.table = table;
  return setup;
}

LineDriver::LineDriver(const LineFollowingParameters& parameters, const CarParameters& car, const LineToFollow& line)
    : parameters_(parameters),
      line_(parameters.wall_clearance_m > 0.0 ? keep_clear(line, car.padded_body(), parameters.wall_clearance_m) : line),
      braking_delay_s_(braking_delay_s(car, 1.0 / parameters.control_rate_hz)),
      pose_(car),
      tracker_({parameters.nearest_window_m, parameters.max_cross_track_m}) {}

void LineDriver::reset() {
  pose_.reset();
  tracker_.release();
  speed_mps_ = travelled_m_ = 0.0;
  odometry_sequence_ = pose_sequence_ = 0;
  last_.reset();
}

void LineDriver::sense(const Observation& obs) {
  if (obs.odometry.message != nullptr && obs.odometry.sequence != odometry_sequence_ && std::isfinite(obs.odometry.message->speed_mps)) {
    const double measured = obs.odometry.message->speed_mps;
    speed_mps_ = odometry_sequence_ == 0 ? measured : speed_mps_ + kSpeedGain * (measured - speed_mps_);
    odometry_sequence_ = obs.odometry.sequence;
  }
  pose_.step(obs.now, speed_mps_);
  if (obs.pose.message != nullptr && obs.pose.sequence != pose_sequence_) {
    const PoseEstimate& message = *obs.pose.message;
    const Pose2 measured = message.pose();
    if (std::isfinite(measured.x) && std::isfinite(measured.y) && std::isfinite(measured.yaw)) {
      pose_.observe(message.stamp == Time{} ? obs.pose.arrival : message.stamp, measured);
      pose_.step(obs.now, speed_mps_);
    }
    pose_sequence_ = obs.pose.sequence;
  }
  travelled_m_ += last_ ? std::abs(speed_mps_) * std::max(0.0, (obs.now - *last_).seconds()) : 0.0;
  last_ = obs.now;
}

std::optional<LineFix> LineDriver::locate(double shift_m) {
  const double travelled = travelled_m_;
  travelled_m_ = 0.0;
  return tracker_.locate(path(), pose(), travelled, shift_m);
}

LawInput LineDriver::law_input(Time now, const LineFix& fix, const LineShift& shift, double shift_m) {
  LawInput in;
  in.now = now;
  in.T_map_base = pose();
  in.speed_mps = speed_mps_;
  in.wheel_rad = pose_.steering_rad();
  in.yaw_rate_radps = pose_.yaw_rate_radps(speed_mps_);
  in.fix = fix;
  in.shift = shift;
  in.shift_m = shift_m;
  in.commanded_rad = pose_.commanded_rad();
  in.acting_rad = pose_.acting_rad(now);
  in.queued = pose_.queued(now);
  return in;
}

std::optional<LineFix> LineDriver::locate_far(double within_m) {
  const double travelled = travelled_m_;
  travelled_m_ = 0.0;
  const auto fix = tracker_.locate(path(), pose(), travelled, 0.0, within_m);
  if (!fix || !line_.rays) return fix;
  const Vec2 way = fix->on_line.foot - pose().position();
  const double far = norm(way);
  if (far < 1e-6 || line_.rays->cast(pose().position(), (1.0 / far) * way, far) >= far) return fix;
  return std::nullopt;
}

double LineDriver::allowed_speed_mps(double s_m) const {
  const double ahead = std::abs(speed_mps_) * braking_delay_s_;
  const double allowed = std::max(speed_ahead(path(), line_.speed_mps, s_m, ahead), parameters_.min_speed_mps);
  if (path().closed()) return allowed;
  const double left = path().length_m() - s_m - ahead;
  return std::min(allowed, std::sqrt(2.0 * parameters_.end_decel_mps2 * std::max(0.0, left)));
}

bool LineDriver::at_end(double s_m) const { return !path().closed() && s_m > path().length_m() - kEnd_m; }

}  // namespace pitwall::controllers

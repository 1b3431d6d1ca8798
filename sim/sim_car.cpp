// SPDX-License-Identifier: Apache-2.0
#include "sim/sim_car.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/check.hpp"

namespace pitwall::sim {
namespace {

void add(Hash& trace, const LaserScan& scan) {
  trace.add(scan.stamp.ns);
  trace.add(std::span<const float>(scan.ranges));
}

void add(Hash& trace, const Odometry& odometry) {
  trace.add(odometry.stamp.ns);
  for (const double value : {odometry.position.x, odometry.position.y, odometry.orientation.z, odometry.orientation.w, odometry.speed_mps,
                             odometry.yaw_rate_radps}) {
    trace.add(value);
  }
}

void add(Hash& trace, const PoseEstimate& pose) {
  trace.add(pose.stamp.ns);
  for (const double value : {pose.position.x, pose.position.y, pose.orientation.z, pose.orientation.w}) trace.add(value);
}

void add(Hash& trace, const Joy& joy) {
  trace.add(joy.stamp.ns);
  for (const int button : joy.buttons) trace.add(std::int64_t{button});
}

void add(Hash& trace, const Imu& imu) {
  trace.add(imu.stamp.ns);
  for (const double value : imu.angular_velocity_radps) trace.add(value);
  for (const double value : imu.linear_acceleration_mps2) trace.add(value);
}

// Marks a stop of the driver in the trace, where commands have their time.
constexpr std::uint64_t kDriverTimeout = 0x74696d656f7574ULL;

/// The instant at which the last sample before `start` arrives.
template <class Message>
Time last_arrival_before(const Channel<Message>& channel, Time start) {
  if (start.ns <= 0) return {};
  return Time{(start.ns - 1) / channel.period().ns * channel.period().ns} + channel.latency();
}

Command stop_command() {
  Command stop;
  stop.reason = Reason::kSteeringLawFailed;
  stop.layer = Layer::kWatchdog;
  return stop;
}

}  // namespace

SimCar::SimCar(CarSetup setup, plant::Plant plant, const Place& place, const WorldSettings& settings, double surface_friction)
    : setup_(std::move(setup)),
      chassis_(setup_.parameters.chassis()),
      radius_m_(norm({std::max(-chassis_.rear_m, chassis_.front_m), chassis_.half_width_m})),
      plant_(std::move(plant)),
      lidar_(place.rays, setup_.sensors.lidar, setup_.parameters.lidar_mount(), static_cast<std::uint64_t>(settings.seed), setup_.name),
      odometry_(setup_.sensors.odometry, setup_.parameters, static_cast<std::uint64_t>(settings.seed), setup_.name),
      pose_(setup_.localiser ? PoseSettings{} : setup_.sensors.pose, static_cast<std::uint64_t>(settings.seed), setup_.name),
      imu_(setup_.sensors.imu, static_cast<std::uint64_t>(settings.seed), setup_.name),
      command_timeout_(from_seconds(settings.command_timeout_s)),
      surface_friction_(surface_friction),
      step_(from_seconds(settings.step_s)) {
  // A scan arrives after its last beam, which the step that it leaves in measures.
  const std::int64_t step = from_seconds(settings.step_s).ns;
  const std::int64_t sweep = (setup_.sensors.lidar.sweep_time().ns + step - 1) / step * step;
  if (from_seconds(setup_.sensors.lidar.latency_s).ns < sweep) setup_.sensors.lidar.latency_s = Duration{sweep}.seconds();
  if (place.line) laps_.emplace(*place.line);
}

void SimCar::reset() {
  const SensorSettings& sensors = setup_.sensors;
  plant_.reset(setup_.start, setup_.start_speed_mps);
  state_ = {};
  refresh();
  motion_ = {state_.T_map_base, state_.T_map_base};
  lidar_.reset();
  odometry_.reset();
  pose_.reset();
  scans_.reset(from_seconds(sensors.lidar.period_s), from_seconds(sensors.lidar.latency_s), lidar_.blank());
  odometries_.reset(from_seconds(sensors.odometry.period_s), from_seconds(sensors.odometry.latency_s), {});
  poses_.reset(from_seconds(sensors.pose.period_s), setup_.localiser ? Duration{} : from_seconds(sensors.pose.latency_s), {});
  way_.fill(setup_.start.position());
  joys_.reset(from_seconds(sensors.joy.period_s), from_seconds(sensors.joy.latency_s), blank_joy(sensors.joy));
  imus_.reset(from_seconds(sensors.imu.period_s), from_seconds(sensors.imu.latency_s), {});
  imu_.reset();
  heard_ = false;
  heard_at_ = {};
  steering_heard_rad_ = 0.0;
  effects_ = {};
  acceleration_map_mps2_ = {};
  state_.driven_speed_mps = setup_.start_speed_mps;
  next_tick_ = {};
  scan_arrived_ = false;
  next_change_ = 0;
  if (setup_.localiser) setup_.localiser->reset(setup_.start);
  if (setup_.controller) {
    setup_.controller->reset(observation({}));
    period_ = setup_.controller->trigger().period;
  }
  if (laps_) {
    laps_->reset({}, state_.T_map_base.position());
    state_.lap = laps_->state();
  }
}

bool SimCar::sees_now(Time now) const {
  const LidarSettings& lidar = setup_.sensors.lidar;
  return lidar.enabled && !lidar.sweep && scans_.due(now) && !effects_.scan_lost;
}

void SimCar::look(Time now, std::span<const SeenCar> all, std::size_t self) {
  const SensorSettings& sensors = setup_.sensors;
  if (sensors.lidar.enabled && scans_.due(now) && !effects_.scan_lost) {
    LaserScan& scan = scans_.push(now);
    if (sensors.lidar.sweep) {
      lidar_.begin_sweep(scans_.sample(now), scan);
    } else {
      lidar_.measure(scans_.sample(now), state_.T_map_base, all, scan, self);
    }
    state_.dropped_beams = lidar_.dropped_beams();
  }
  if (sensors.odometry.enabled && odometries_.due(now)) {
    const double speed = sensors.odometry.wheel_slip ? plant_.wheel_speed_mps() : state_.velocity_mps.x;
    Odometry message;
    message.stamp = now;
    odometry_.measure(odometries_.sample(now), speed, static_cast<double>(state_.command.steering_angle_rad), message);
    if (!effects_.odometry_lost) odometries_.push(now) = message;
  }
  if (sensors.pose.enabled && !setup_.localiser && poses_.due(now)) {
    PoseEstimate message;
    message.stamp = now;
    pose_.measure(poses_.sample(now), state_.T_map_base, message, effects_.pose);
    if (!effects_.pose_lost) poses_.push(now) = message;
    state_.max_pose_error_m = pose_.max_error_m();
  }
  if (sensors.joy.enabled && joys_.due(now) && !effects_.joy_lost) press(sensors.joy, !effects_.deadman_released, joys_.push(now));
  if (sensors.imu.enabled && imus_.due(now)) imu_.measure(imus_.sample(now), imu_truth(), imus_.push(now));
}

ImuTruth SimCar::imu_truth() const {
  const Vec2 force = rotate(-state_.T_map_base.yaw, acceleration_map_mps2_);
  return {{0.0, 0.0, state_.yaw_rate_radps}, {force.x, force.y, plant::kGravity}};
}

void SimCar::sweep(Time from, Duration step, std::span<const SeenMotion> all, std::size_t self) {
  if (!lidar_.sweeping()) return;
  lidar_.sweep(from, step, motion_, all, self);
  state_.dropped_beams = lidar_.dropped_beams();
}

void SimCar::suffer(const FaultEffects& effects) {
  const FaultEffects before = effects_;
  effects_ = effects;
  lidar_.cover(effects.blind);
  plant_.hold_steering(effects.servo_stuck);
  if (effects.voltage_share != before.voltage_share) plant_.set_battery(effects.voltage_share);
  if (effects.friction_share != before.friction_share) plant_.set_surface_friction(effects.friction_share * surface_friction_);
}

Time SimCar::last_good(FaultKind kind, Time start) const {
  switch (kind) {
    case FaultKind::kPoseFrozen:
    case FaultKind::kPoseStale:
    case FaultKind::kPoseLoss:
      return setup_.localiser ? last_arrival_before(scans_, start) : last_arrival_before(poses_, start);
    case FaultKind::kScanLoss:
      return last_arrival_before(scans_, start);
    case FaultKind::kOdometryLoss:
      return last_arrival_before(odometries_, start);
    case FaultKind::kJoyLoss:
      return last_arrival_before(joys_, start);
    case FaultKind::kDeadmanReleased:
      return last_arrival_before(joys_, start) + joys_.period();
    case FaultKind::kCommandLoss:
      return heard_at_;
    default:
      return start;
  }
}

Time SimCar::next_event() const {
  const bool runs = setup_.controller && period_ && state_.failure == Failure::kNone;
  return std::min({scans_.next_arrival(), odometries_.next_arrival(), poses_.next_arrival(), joys_.next_arrival(), imus_.next_arrival(),
                   runs ? next_tick_ : kNever, waiting() ? heard_at_ + command_timeout_ : kNever});
}

// Whether something was delivered.
template <class Message>
bool SimCar::deliver_due(Channel<Message>& channel, Time now, Hash& trace) {
  bool any = false;
  while (channel.next_arrival() <= now) {
    add(trace, channel.deliver());
    if (observer_ != nullptr) observer_->arrived(index_, channel.source());
    any = true;
  }
  return any;
}

void SimCar::deliver(Time now, Hash& trace) {
  deliver_due(joys_, now, trace);
  if (deliver_due(odometries_, now, trace) && setup_.localiser) setup_.localiser->add(*odometries_.source().message);
  deliver_due(poses_, now, trace);
  deliver_due(imus_, now, trace);
  if (deliver_due(scans_, now, trace)) {
    scan_arrived_ = true;
    if (setup_.localiser) localise(now, trace);
  }
}

void SimCar::decide(Time now, Hash& trace) {
  const bool due = period_ ? next_tick_ <= now : scan_arrived_;
  scan_arrived_ = false;
  if (!due || !setup_.controller || state_.failure != Failure::kNone) return watch(now, trace);
  change_parameters(now);
  if (period_) next_tick_ = now + *period_;
  const Observation seen = observation(now);
  const Command command = setup_.controller->update(seen);
  state_.ticks += 1;
  if (observer_ != nullptr) observer_->decided(index_, state_.ticks, seen, command);
  if (std::isfinite(command.steering_angle_rad) && std::isfinite(command.speed_mps)) {
    send(now, command, trace);
  } else {
    fail(Failure::kCommandNotFinite, now);
    send(now, stop_command(), trace);
  }
  watch(now, trace);
}

void SimCar::change_parameters(Time now) {
  Node due = Node::map();
  for (; next_change_ < setup_.changes.size() && setup_.changes[next_change_].at <= now; ++next_change_) {
    const std::string& assignment = setup_.changes[next_change_].assignment;
    PITWALL_CHECK(set_by_path(due, assignment).ok(), assignment);
    if (observer_ != nullptr) observer_->changed(index_, assignment);
  }
  if (due.entries.empty()) return;
  const Status changed = setup_.controller->change_parameters(due);
  PITWALL_CHECK(changed.ok(), changed.error().message);
  period_ = setup_.controller->trigger().period;
}

// The driver of motor and servo: without a fresh command it commands zero speed, and leaves the servo where it is.
void SimCar::watch(Time now, Hash& trace) {
  if (!waiting() || now < heard_at_ + command_timeout_) return;
  state_.command_timed_out = true;
  trace.add(now.ns);
  trace.add(kDriverTimeout);
  drive(now, steering_heard_rad_, 0.0);
}

void SimCar::drive(Time now, double steering_rad, double speed_mps) {
  if (speed_mps != state_.driven_speed_mps) state_.driven_since = now;
  state_.driven_speed_mps = speed_mps;
  if (plant_.command(steering_rad, speed_mps, now) != plant::CommandStatus::kAccepted) fail(Failure::kTooManyCommands, now);
}

void SimCar::send(Time now, const Command& command, Hash& trace) {
  state_.command = command;
  state_.command_time = now;
  trace.add(now.ns);
  trace.add(command.steering_angle_rad);
  trace.add(command.speed_mps);
  trace.add(std::uint64_t{static_cast<std::uint8_t>(command.reason)} | (std::uint64_t{static_cast<std::uint8_t>(command.layer)} << 8));
  trace.add(std::int64_t{command.beam});
  trace.add(command.ttc_s);
  if (state_.stopped || effects_.command_lost) return;
  heard_ = true;
  heard_at_ = now;
  state_.command_timed_out = false;
  steering_heard_rad_ = static_cast<double>(command.steering_angle_rad);
  drive(now, steering_heard_rad_, static_cast<double>(command.speed_mps));
}

void SimCar::fail(Failure failure, Time now) {
  if (state_.failure != Failure::kNone) return;
  state_.failure = failure;
  state_.failure_tick = state_.ticks;
  state_.failure_time = now;
}

void SimCar::move(Time from, Duration step) {
  motion_.from = state_.T_map_base;
  acceleration_map_mps2_ = {};
  if (!state_.stopped) {
    const Vec2 before = plant_.base_velocity_map();
    plant_.step(from, step);
    acceleration_map_mps2_ = (1.0 / step.seconds()) * (plant_.base_velocity_map() - before);
    if (!plant_.finite()) {
      fail(Failure::kMotionNotFinite, from + step);
      plant_.reset(motion_.from, 0.0);
      acceleration_map_mps2_ = {};
      state_.stopped = true;
    }
    refresh();
  }
  motion_.to = state_.T_map_base;
}

void SimCar::stand(const Pose2& T_map_base) {
  plant_.set_motion(T_map_base, {}, 0.0);
  state_.stopped = true;
  refresh();
}

void SimCar::refresh() {
  state_.T_map_base = plant_.base_pose();
  state_.velocity_mps = plant_.base_velocity();
  state_.yaw_rate_radps = plant_.yaw_rate_radps();
  state_.steering_rad = plant_.steering_rad();
}

void SimCar::count(Time now, Hash& trace) {
  if (laps_) {
    laps_->update(now, state_.T_map_base.position());
    state_.lap = laps_->state();
  }
  const CarState& s = state_;
  way_[static_cast<std::size_t>(now.ns / step_.ns) % way_.size()] = s.T_map_base.position();
  for (const double value : {s.T_map_base.x, s.T_map_base.y, s.T_map_base.yaw, s.velocity_mps.x, s.velocity_mps.y, s.yaw_rate_radps,
                             s.steering_rad, s.lap.progress_m}) {
    trace.add(value);
  }
  trace.add(std::int64_t{s.lap.laps});
  trace.add(std::uint64_t{s.touching} | (std::uint64_t{s.off_map} << 1) | (std::uint64_t{s.stopped} << 2) |
            (std::uint64_t{static_cast<std::uint8_t>(s.failure)} << 8));
}

// The localiser's pose of the scan that has just arrived, on its way.
void SimCar::localise(Time now, Hash& trace) {
  const std::optional<PoseEstimate> found = setup_.localiser->add(*scans_.source().message);
  if (!found) return;
  state_.max_pose_error_m = std::max(state_.max_pose_error_m, distance(found->position, true_place(found->stamp)));
  PoseEstimate message;
  message.stamp = found->stamp;
  pose_.measure(scans_.source().sequence, found->pose(), message, effects_.pose);
  if (effects_.pose_lost) return;
  poses_.push(now) = message;
  deliver_due(poses_, now, trace);
}

// Where the car was lately.
Vec2 SimCar::true_place(Time t) const {
  const auto at = [&](std::int64_t step) { return way_[static_cast<std::size_t>(step) % way_.size()]; };
  const std::int64_t before = t.ns / step_.ns;
  const double part = static_cast<double>(t.ns % step_.ns) / static_cast<double>(step_.ns);
  return at(before) + part * (at(before + 1) - at(before));
}

Observation SimCar::observation(Time now) const {
  Observation obs;
  obs.now = now;
  obs.scan = scans_.source();
  obs.odometry = odometries_.source();
  obs.pose = poses_.source();
  obs.joy = joys_.source();
  obs.imu = imus_.source();
  return obs;
}

std::span<const double> SimCar::lap_times() const { return laps_ ? laps_->lap_times() : std::span<const double>{}; }

}  // namespace pitwall::sim

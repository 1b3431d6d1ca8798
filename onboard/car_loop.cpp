// SPDX-License-Identifier: Apache-2.0
#include "onboard/car_loop.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pitwall::onboard {
namespace {

constexpr Duration kOldestScan = from_milliseconds(150);
constexpr Duration kScanFromFuture = from_milliseconds(20);
constexpr double kValidBeams = 0.5;

}  // namespace

CarLoopSetup CarLoopSetup::for_car(const CarParameters& car, const calibration::Hardware& hardware) {
  const ActuatorMap map(hardware);
  CarLoopSetup setup;
  setup.car = car;
  setup.hardware = hardware;
  setup.supervisor.speed_max_mps = std::min(car.speed_max_mps, map.speed_max_mps());
  // The same to both sides: a controller that is cut off on one side only pulls to the other.
  const double lock_rad = std::min({car.steering_max_left_rad, map.left_rad(), -car.steering_max_right_rad, -map.right_rad()});
  setup.supervisor.steering_left_rad = lock_rad;
  setup.supervisor.steering_right_rad = -lock_rad;
  setup.supervisor.battery_cells = static_cast<double>(hardware.battery_cells);
  return setup;
}

CarLoop::CarLoop(const CarLoopSetup& setup, Controller& controller, Localiser* localiser, RunObserver& observer)
    : setup_(setup),
      controller_(controller),
      localiser_(localiser),
      observer_(observer),
      map_(setup.hardware),
      supervisor_(setup.supervisor, setup.bench),
      estimator_(localization::VehicleStateParameters::for_car(setup.car)),
      steering_(setup.car),
      wheels_(map_.metres_per_count(), setup.supervisor.speed_max_mps) {
  joy_.buttons.reserve(64);
}

void CarLoop::begin(Time now) {
  facts_.now = now;
  facts_.needs_pose = setup_.needs_pose;
  facts_.needs_estop = setup_.needs_estop;
  seen_.now = now;
  if (localiser_ != nullptr) localiser_->reset(setup_.start);
  controller_.reset(seen_);
  period_ = controller_.trigger().period;
  if (period_) next_decision_ = now + *period_;
}

void CarLoop::take(Event& event, Time now) {
  std::visit([&](auto& one) { take_one(one, now); }, event);
}

void CarLoop::take_one(const MotorLink& link, Time /*now*/) {
  if (link.connection != facts_.motor_connection) {
    facts_.telemetry.reset();
    wheels_.forget_counter();
  }
  facts_.motor_present = link.present;
  facts_.motor_identified = link.identified;
  facts_.motor_supported = link.supported;
  facts_.motor_connection = link.connection;
  facts_.motor_identity = link.identity;
}

void CarLoop::take_one(drivers::Received<vesc::Values>& values, Time now) {
  const vesc::Values& v = values.value;
  if (!v.has(vesc::kErpmNow | vesc::kTachometer)) return;
  ++counts_.telemetry;
  const double speed = map_.speed_of(v.erpm);
  facts_.telemetry = Telemetry{values.arrival,           speed,   v.input_voltage_V, v.fet_temperature_degC,
                               v.motor_temperature_degC, v.fault, v.timeout_active,  v.kill_switch};
  estimator_.add_wheels(values.stamp, speed);
  imu_speed_.add_wheels(values.stamp, speed);
  steering_.advance(now);
  const double turn = heading_.advance(values.stamp, steering_.yaw_rate_radps(speed));
  odometry_ = wheels_.add(values.stamp, v.tachometer, speed, turn, heading_.rate_radps());
  facts_.odometry = values.arrival;
  seen_.odometry = {&odometry_, now, seen_.odometry.sequence + 1};
  observer_.arrived(0, seen_.odometry);
  if (localiser_ != nullptr) localiser_->add(odometry_);
}

void CarLoop::take_one(drivers::Received<Imu>& imu, Time now) {
  ++counts_.imu;
  const bno055::Sample sample{imu.value.linear_acceleration_mps2, imu.value.angular_velocity_radps, {1.0, 0.0, 0.0, 0.0}};
  if (imu_gate_.judge(sample) != bno055::SampleGate::Verdict::kGood) {
    ++counts_.imu_refused;
    return;
  }
  imu_ = imu.value;
  imu_.stamp = imu.stamp;
  estimator_.add_imu(imu_);
  imu_speed_.add_imu(imu_);
  const localization::VehicleState state = estimator_.state();
  heading_.add_gyro(imu_.stamp, (imu_.angular_velocity_radps[2] - state.gyro_bias_radps) / (1.0 + state.gyro_scale));
  seen_.imu = {&imu_, now, seen_.imu.sequence + 1};
  observer_.arrived(0, seen_.imu);
}

bool CarLoop::acceptable(const drivers::Received<LaserScan>& scan, Time now) const {
  if (now - scan.stamp > kOldestScan || scan.stamp - now > kScanFromFuture) return false;
  const LaserScan& s = scan.value;
  const auto valid = std::count_if(s.ranges.begin(), s.ranges.end(),
                                   [&](float r) { return (r >= s.range_min && r <= s.range_max) || (std::isinf(r) && r > 0.0F); });
  return static_cast<double>(valid) >= kValidBeams * static_cast<double>(s.ranges.size()) && valid > 0;
}

void CarLoop::take_one(drivers::Received<LaserScan>& scan, Time now) {
  ++counts_.scans;
  if (!acceptable(scan, now)) {
    ++counts_.scans_refused;
    return;
  }
  std::swap(scan_, scan.value);
  scan_.stamp = scan.stamp;
  facts_.scan = scan.arrival;
  seen_.scan = {&scan_, now, seen_.scan.sequence + 1};
  observer_.arrived(0, seen_.scan);
  if (scan_waits_) ++counts_.scans_skipped;
  scan_waits_ = true;
  if (!period_) due_ = scan.arrival;
  if (localiser_ == nullptr) return;
  const std::optional<PoseEstimate> pose = localiser_->add(scan_);
  if (!pose) return;
  ++counts_.poses;
  pose_ = *pose;
  facts_.pose = now;
  seen_.pose = {&pose_, now, seen_.pose.sequence + 1};
  estimator_.add_pose(pose_.stamp, pose_.pose());
  observer_.arrived(0, seen_.pose);
}

void CarLoop::take_one(JoystickState& joystick, Time now) {
  if (joystick.connection != facts_.joystick_connection || !joystick.present) pad_.reset();
  facts_.joystick_present = joystick.present;
  facts_.joystick_connection = joystick.connection;
  facts_.deadman = joystick.present && joystick.controls.deadman;
  facts_.estop = joystick.present && joystick.controls.estop;
  facts_.acknowledge = joystick.present && joystick.controls.acknowledge;
  facts_.joystick_event = joystick.last_event;
  if (!joystick.present) return;
  pad_.look(now, joystick.last_event, joystick.any_event, supervisor_.state() == State::kDisarmed);
  facts_.joystick_streams = pad_.streams();
  // The controllers look for the deadman where the car's profile has it, whatever the pad in use calls it.
  const auto deadman = static_cast<std::size_t>(setup_.hardware.joystick_deadman_button);
  joy_.stamp = joystick.arrival;
  joy_.buttons.assign(joystick.buttons.begin(), joystick.buttons.end());
  if (joy_.buttons.size() <= deadman) joy_.buttons.resize(deadman + 1, 0);
  joy_.buttons[deadman] = facts_.deadman ? 1 : 0;
  seen_.joy = {&joy_, now, seen_.joy.sequence + 1};
  observer_.arrived(0, seen_.joy);
}

void CarLoop::take_one(const EstopReport& report, Time /*now*/) {
  facts_.estop_says = report.says;
  facts_.estop_report = report.arrival;
}

// Wheels on a stand turn without the car.
void CarLoop::look_at_imu(Time now) { facts_.imu_speed = setup_.bench ? std::nullopt : imu_speed_.range(now); }

void CarLoop::decide(Time now) {
  if (period_ ? now < *next_decision_ : !scan_waits_) return;
  if (period_) due_ = std::exchange(next_decision_, std::max(*next_decision_ + *period_, now));
  seen_.now = now;
  const Command command = controller_.update(seen_);
  ++counts_.decisions;
  observer_.decided(0, counts_.decisions, seen_, command);
  facts_.command =
      MotionCommand{counts_.decisions, now, static_cast<double>(command.speed_mps), static_cast<double>(command.steering_angle_rad)};
  scan_waits_ = false;
}

void CarLoop::add_frame(LoopStep& step, vesc::CommandKind kind, double value) const { step.frames[step.frame_count++] = {kind, value}; }

LoopStep CarLoop::tick(Time now) {
  LoopStep step;
  const std::uint64_t decisions = counts_.decisions;
  decide(now);
  facts_.now = now;
  look_at_imu(now);
  step.out = supervisor_.tick(facts_);
  switch (step.out.motor) {
    case Motor::kNothing:
      break;
    case Motor::kSpeed:
      add_frame(step, vesc::CommandKind::kErpm, map_.erpm_of(step.out.speed_mps));
      break;
    case Motor::kBrake:
      add_frame(step, vesc::CommandKind::kBrakeCurrent, step.out.current_a);
      break;
    case Motor::kHold:
      add_frame(step, vesc::CommandKind::kHandbrake, step.out.current_a);
      break;
    case Motor::kRelease:
      add_frame(step, vesc::CommandKind::kCurrent, 0.0);
      break;
  }
  if (step.out.steering_rad) {
    add_frame(step, vesc::CommandKind::kServo, map_.servo_of(*step.out.steering_rad));
    steering_.command(now, *step.out.steering_rad);
  }
  if (counts_.decisions != decisions) step.due = due_;
  return step;
}

}  // namespace pitwall::onboard

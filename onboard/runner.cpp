// SPDX-License-Identifier: Apache-2.0
#include "onboard/runner.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <span>
#include <utility>

#include "core/text.hpp"

namespace pitwall::onboard {
namespace {

constexpr Duration kTick = from_milliseconds(10);
constexpr Duration kControlTick = from_milliseconds(25);
constexpr Duration kRepeatWarnings = from_milliseconds(1'000);
constexpr Duration kRepeatWaiting = from_milliseconds(5'000);
constexpr Duration kYoung = from_milliseconds(400);
constexpr std::size_t kSamples = 1U << 20U;

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

std::string with_hint(Cause cause) {
  std::string text(name(cause));
  if (!hint(cause).empty()) text += " (" + std::string(hint(cause)) + ")";
  return text;
}

std::string fault_text(const Telemetry& t) {
  return vesc::fault_name(t.fault_code) + " at " + format_number(t.voltage_v, 3) + " V, " + format_number(t.speed_mps, 3) + " m/s, " +
         format_number(t.fet_degc, 3) + " degC; " + vesc::fault_hint(t.fault_code);
}

void keep(std::vector<double>& values, double value) {
  if (values.size() < kSamples) values.push_back(value);
}

}  // namespace

DeviceAddresses DeviceAddresses::of(const calibration::Hardware& hardware) {
  return {hardware.vesc_port, "tcp://" + hardware.lidar_ip + ":" + std::to_string(hardware.lidar_port), "/dev/input/js0"};
}

Spread Spread::of(std::vector<double> values) {
  Spread out;
  out.count = values.size();
  if (values.empty()) return out;
  std::sort(values.begin(), values.end());
  out.p50 = values[values.size() / 2];
  out.p99 = values[std::min(values.size() - 1, values.size() * 99 / 100)];
  out.largest = values.back();
  return out;
}

Result<Devices> Devices::make(const calibration::Hardware& hardware, const DeviceAddresses& addresses, Inbox& inbox) {
  auto kind = lidar_kind(hardware.lidar_model);
  if (!kind) return kind.error();
  auto vesc = opener_of(addresses.vesc, 115'200);
  if (!vesc) return vesc.error();
  auto lidar = opener_of(addresses.lidar, kind->baud);
  if (!lidar) return lidar.error();
  drivers::VescOptions options;
  options.telemetry_rate_hz = hardware.vesc_poll_hz;
  Devices devices;
  devices.motor = std::make_unique<MotorDevice>(inbox, *vesc, options);
  devices.lidar = std::make_unique<LidarDevice>(inbox, *lidar, *std::move(kind));
  devices.joystick = std::make_unique<JoystickDevice>(inbox, addresses.joystick);
  return devices;
}

void Devices::start() {
  motor->start();
  lidar->start();
  joystick->start();
}

void Devices::stop() {
  motor->stop();
  lidar->stop();
  joystick->stop();
}

Runner::Runner(const CarLoopSetup& setup, Controller& controller, Localiser* localiser, Scribe& scribe, const RunClock& clock,
               std::vector<std::unique_ptr<EstopInput>> estops)
    : inbox_(clock),
      scribe_(scribe),
      controller_(controller),
      loop_(setup, controller, localiser, scribe),
      estops_(inbox_, std::move(estops)) {
  events_.reserve(256);
  intervals_ms_.reserve(kSamples);
  ticks_ms_.reserve(kSamples);
}

Result<std::unique_ptr<Runner>> Runner::make(const CarLoopSetup& setup, const DeviceAddresses& addresses, Controller& controller,
                                             Localiser* localiser, Scribe& scribe, const RunClock& clock,
                                             std::vector<std::unique_ptr<EstopInput>> estops) {
  std::unique_ptr<Runner> runner(new Runner(setup, controller, localiser, scribe, clock, std::move(estops)));
  auto devices = Devices::make(setup.hardware, addresses, runner->inbox_);
  if (!devices) return devices.error();
  runner->devices_ = *std::move(devices);
  return runner;
}

void Runner::take_events(Time now) {
  for (Event& event : events_) {
    if (const auto* note = std::get_if<Note>(&event)) scribe_.note(now, note->text);
    if (const auto* values = std::get_if<drivers::Received<vesc::Values>>(&event)) scribe_.telemetry(*values, now);
    if (const auto* scan = std::get_if<drivers::Received<LaserScan>>(&event)) {
      if (last_arrival_ > Time{}) keep(intervals_ms_, 1e3 * (scan->arrival - last_arrival_).seconds());
      last_arrival_ = scan->arrival;
    }
    loop_.take(event, now);
  }
}

void Runner::tell(const LoopStep& step, Time now) {
  const Output& out = step.out;
  if (out.transition) {
    const Transition& t = *out.transition;
    std::string line = std::string(name(t.from)) + " -> " + std::string(name(t.to)) + ": " + with_hint(t.cause);
    if (t.cause == Cause::kMotorFault) line += ": " + fault_text(*loop_.supervisor().first_fault());
    const bool trouble = t.to == State::kFault || t.to == State::kEstop || (t.to == State::kStopping && t.cause != Cause::kDeadmanReleased);
    scribe_.note(now, line, trouble);
    waited_ = now;
  } else if (out.cause != told_cause_) {
    scribe_.note(now, std::string(name(out.state)) + ": " + with_hint(out.cause), true);
  }
  told_cause_ = out.cause;
  if (out.refused != told_refusal_ && out.refused != Cause::kNone) scribe_.note(now, "does not arm: " + with_hint(out.refused), true);
  told_refusal_ = out.refused;
  tell_state(out, now);
}

void Runner::tell_state(const Output& out, Time now) {
  const std::uint32_t fresh = out.warnings & ~told_warnings_;
  told_warnings_ |= out.warnings;
  if (fresh != 0) {
    std::string line;
    for (int k = 0; k < kWarnings; ++k) {
      const auto bit = static_cast<Warning>(1U << static_cast<unsigned>(k));
      if ((fresh & static_cast<std::uint32_t>(bit)) != 0) line += (line.empty() ? "" : ", ") + std::string(name(bit));
    }
    scribe_.note(now, line, true);
  }
  if (now - warned_ >= kRepeatWarnings) {
    told_warnings_ = out.warnings;
    warned_ = now;
  }
  if (out.state == State::kArmed || now - waited_ < kRepeatWaiting) return;
  waited_ = now;
  scribe_.note(now, std::string(name(out.state)) + ": " + waits_for(now));
}

std::string Runner::waits_for(Time now) const {
  const Facts& f = loop_.facts();
  const auto young = [&](const std::optional<Time>& t) { return t && now - *t < kYoung; };
  std::vector<std::string> missing;
  if (!f.motor_present) missing.emplace_back("motor controller");
  if (!f.telemetry || !young(f.telemetry->arrival)) missing.emplace_back("telemetry");
  if (!young(f.scan)) missing.emplace_back("scan");
  if (f.needs_pose && !young(f.pose)) missing.emplace_back("pose");
  if (!f.joystick_present) missing.emplace_back("joystick");
  if (f.needs_estop && f.estop_says != EstopSays::kGo) missing.emplace_back("emergency stop input");
  if (!missing.empty()) return "waits for " + join(missing);
  const State state = loop_.supervisor().state();
  return state == State::kFault || state == State::kEstop ? "waits for the acknowledge button" : "hold the deadman to drive";
}

RunSummary Runner::run(const std::function<bool()>& stop) {
  const double cpu_s = cpu_seconds();
  const Time began = inbox_.clock().now();
  waited_ = began;
  loop_.begin(began);
  // A page that is fetched while another thread changes the map of memory waits for that thread.
  (void)::mlockall(MCL_CURRENT | MCL_FUTURE);
  if (!be_prompt()) {
    scribe_.note(began, "no real-time priority: late ticks are to be expected under load (run as root, or see docs/car.md)", true);
  }
  devices_.start();
  estops_.start();
  service_.ready();
  last_tick_ = inbox_.clock().now();
  while (true) {
    const Time deadline = last_tick_ + kTick;
    inbox_.wait(std::min(deadline, loop_.next_decision().value_or(deadline)), events_);
    if (stop()) loop_.shut_down();
    const Time now = inbox_.clock().now();
    take_events(now);
    const LoopStep step = loop_.tick(now);
    const std::span frames = std::span(step.frames).first(step.frame_count);
    devices_.motor->send(frames, step.due);
    for (const vesc::Command& frame : frames) {
      if (frame.kind == vesc::CommandKind::kServo) scribe_.servo(now, frame.value);
    }
    const Duration since = now - last_tick_;
    keep(ticks_ms_, 1e3 * since.seconds());
    if (since > kControlTick) ++summary_.late_ticks;
    if (step.out.state == State::kArmed) summary_.armed_s += since.seconds();
    last_tick_ = now;
    service_.alive(now);
    tell(step, now);
    summary_.last_state = step.out.state;
    if (step.out.finished) break;
  }
  service_.stopping();
  estops_.stop();
  devices_.stop();
  return summary(began, inbox_.clock().now(), cpu_seconds() - cpu_s);
}

RunSummary Runner::summary(Time began, Time ended, double cpu_s) {
  RunSummary out = summary_;
  out.lasted_s = (ended - began).seconds();
  out.way_m = loop_.odometry().way_m();
  out.counts = loop_.counts();
  out.latency_ms = Spread::of(devices_.motor->latencies_ms());
  out.interval_ms = Spread::of(std::move(intervals_ms_));
  out.tick_ms = Spread::of(std::move(ticks_ms_));
  out.dropped = scribe_.dropped();
  out.bad_sums = devices_.motor->session().counters().bad_sums + devices_.lidar->session().counters().bad_sums;
  out.cpu_share = out.lasted_s > 0.0 ? cpu_s / out.lasted_s : 0.0;
  out.controller = controller_.counters();
  return out;
}

}  // namespace pitwall::onboard

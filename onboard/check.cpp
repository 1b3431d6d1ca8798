// SPDX-License-Identifier: Apache-2.0
#include "onboard/check.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/text.hpp"

namespace pitwall::onboard {
namespace {

constexpr Duration kWatch = from_milliseconds(12'000);
// The firmware's default is 1 s; whatever acts within this is measured.
constexpr Duration kProbeAt = from_milliseconds(4'000);
constexpr double kLongestTimeout_s = 0.25;
constexpr double kScanShare = 0.75;  // of the rate in the profile

std::string number(double value) { return format_number(value, 3); }

/// What was seen of one car.
class Inspection {
 public:
  Inspection(const calibration::Hardware& hardware, const CarParameters& car) : hardware_(hardware), car_(car), map_(hardware) {}

  void see(const Event& event, Time now) {
    if (const auto* link = std::get_if<MotorLink>(&event)) link_ = *link;
    if (const auto* values = std::get_if<drivers::Received<vesc::Values>>(&event)) see(*values);
    if (const auto* imu = std::get_if<drivers::Received<Imu>>(&event)) see(*imu);
    if (const auto* scan = std::get_if<drivers::Received<LaserScan>>(&event)) see(*scan);
    if (const auto* joystick = std::get_if<JoystickState>(&event)) see(*joystick, now);
    if (const auto* note = std::get_if<Note>(&event)) notes_.push_back(note->text);
  }
  void probed(Time now) { probed_ = now; }

  [[nodiscard]] std::vector<Finding> findings(double lasted_s) {
    lasted_s_ = lasted_s;
    judge_motor();
    judge_timeout();
    judge_servo();
    judge_battery();
    judge_imu();
    judge_lidar();
    judge_joystick();
    return std::move(findings_);
  }

 private:
  void see(const drivers::Received<vesc::Values>& values) {
    ++telemetry_;
    last_ = values.value;
    worst_delay_s_ = std::max(worst_delay_s_, (values.arrival - values.stamp).seconds());
    most_speed_mps_ = std::max(most_speed_mps_, std::abs(map_.speed_of(values.value.erpm)));
    if (values.value.timeout_active && !probed_) timed_out_before_ = true;
    // The probe resets the timeout: its flag falls, and rises again after the time that is set.
    if (!probed_ || timeout_s_) return;
    if (!values.value.timeout_active) flag_fell_ = true;
    if (values.value.timeout_active && flag_fell_) timeout_s_ = (values.stamp - *probed_).seconds();
  }

  void see(const drivers::Received<Imu>& imu) {
    ++imu_;
    const auto& a = imu.value.linear_acceleration_mps2;
    gravity_sum_ += std::sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    up_sum_ += a[2];
  }

  void see(const drivers::Received<LaserScan>& scan) {
    ++scans_;
    beams_ = scan.value.ranges.size();
    const auto finite = std::count_if(scan.value.ranges.begin(), scan.value.ranges.end(), [](float r) { return std::isfinite(r); });
    finite_share_ += static_cast<double>(finite) / static_cast<double>(std::max<std::size_t>(beams_, 1));
    if (last_arrival_) gaps_s_.push_back((scan.arrival - *last_arrival_).seconds());
    last_arrival_ = scan.arrival;
    ages_s_.push_back((scan.arrival - scan.stamp).seconds());
  }

  void see(const JoystickState& joystick, Time now) {
    joystick_ = joystick;
    pad_.look(now, joystick.last_event, joystick.any_event, true);
  }

  void add(Verdict verdict, std::string what, std::string found, std::string advice = "") {
    findings_.push_back({verdict, std::move(what), std::move(found), std::move(advice)});
  }

  /// What a device last said: that it runs, if it did.
  [[nodiscard]] std::string last_note(const std::string& device) const {
    std::string found = "nothing heard";
    for (const std::string& note : notes_) {
      if (!note.starts_with(device + ": ")) continue;
      const std::string line = note.substr(device.size() + 2);
      if (line.starts_with("running: ")) return line.substr(9);
      found = line;
    }
    return found;
  }

  void judge_motor() {
    if (!link_.identified)
      return add(Verdict::kChange, "motor controller", last_note("motor controller"), "cable, supply, --vesc; docs/car.md, wiring");
    add(link_.supported ? Verdict::kGood : Verdict::kChange, "motor controller", last_note("motor controller"),
        link_.supported ? "" : "update its firmware to 3.33 or newer with VESC Tool");
    const double rate = telemetry_ / lasted_s_;
    add(rate > 0.8 * hardware_.vesc_poll_hz ? Verdict::kGood : Verdict::kChange, "telemetry",
        number(rate) + " Hz, answered within " + number(2e3 * worst_delay_s_) + " ms",
        rate > 0.8 * hardware_.vesc_poll_hz ? "" : "another program on the port, or a slow UART");
    if (last_ && last_->fault != 0) add(Verdict::kChange, "fault", vesc::fault_name(last_->fault), vesc::fault_hint(last_->fault));
    if (last_ && last_->kill_switch) add(Verdict::kChange, "kill switch", "pressed", "release it");
    if (most_speed_mps_ > 0.1)
      add(Verdict::kChange, "wheels", "turned at " + number(most_speed_mps_) + " m/s", "let the car stand for the check");
  }

  void judge_timeout() {
    if (!last_) return;
    if (!last_->has(vesc::kStatus)) {
      return add(Verdict::kNote, "timeout", "this firmware does not tell",
                 "set App Settings > General > Timeout to 150 ms with a brake current of 10 A (docs/car.md)");
    }
    if (!timeout_s_) {
      return add(Verdict::kChange, "timeout", timed_out_before_ ? "longer than could be watched" : "none seen: it may be switched off",
                 "set App Settings > General > Timeout to 150 ms: a program that dies would leave the motor driving");
    }
    const bool good = *timeout_s_ <= kLongestTimeout_s;
    add(good ? Verdict::kGood : Verdict::kChange, "timeout", "about " + number(*timeout_s_) + " s",
        good ? "" : "set App Settings > General > Timeout to 150 ms: at 5 m/s every 0.1 s more is half a metre");
    add(Verdict::kNote, "timeout brake current", "cannot be seen from here", "set it to 10 A or more; the default of 0 A only coasts");
  }

  void judge_servo() {
    if (!link_.identified) return;
    add(Verdict::kNote, "servo", "was told to centre (" + number(map_.servo_of(0.0)) + "); whether it did cannot be seen from here",
        "wheels that do not hold straight: enable App Settings > General > Enable Servo Output, check its cable, firmware with servo "
        "support");
  }

  void judge_battery() {
    if (!last_) return;
    const double cell_v = last_->input_voltage_V / static_cast<double>(hardware_.battery_cells);
    const SupervisorParameters p;
    const bool absent = cell_v < p.cell_absent_v;
    const bool good = cell_v >= p.cell_warn_v && cell_v <= p.cell_full_v;
    const std::string advice = absent ? "supplied by USB alone: connect the battery"
                               : cell_v > p.cell_full_v
                                   ? "more than " + std::to_string(hardware_.battery_cells) + " full cells: is battery_cells right?"
                                   : "charge it";
    add(good ? Verdict::kGood : Verdict::kChange, "battery", number(last_->input_voltage_V) + " V, " + number(cell_v) + " V a cell",
        good ? "" : advice);
  }

  void judge_imu() {
    if (!link_.identified) return;
    if (imu_ == 0)
      return add(Verdict::kNote, "IMU", "none (this board has no IMU, or it is off)", "yaw rate comes from the steering's model");
    const double gravity = gravity_sum_ / imu_;
    const bool norm = std::abs(gravity - 9.81) < 0.5;
    const bool up = up_sum_ / imu_ > 0.9 * gravity;
    add(norm && up ? Verdict::kGood : Verdict::kChange, "IMU", number(imu_ / lasted_s_) + " Hz, gravity " + number(gravity) + " m/s^2",
        !norm ? "the car moved, or the sensor is defective"
        : up  ? ""
              : "z does not point up: set the rotation in App Settings > IMU");
  }

  void judge_lidar() {
    if (scans_ == 0)
      return add(Verdict::kChange, "LiDAR", last_note("LiDAR"),
                 "supply, cable, the host's own address (192.168.0.15/24 for a Hokuyo), --lidar");
    add(Verdict::kGood, "LiDAR", last_note("LiDAR"));
    const Spread gaps = Spread::of(gaps_s_);
    const double rate = gaps.p50 > 0.0 ? 1.0 / gaps.p50 : 0.0;
    add(rate >= kScanShare * car_.lidar_rate_hz ? Verdict::kGood : Verdict::kChange, "scan rate",
        number(rate) + " Hz (profile " + number(car_.lidar_rate_hz) + "), at most " + number(1e3 * gaps.largest) + " ms apart",
        rate >= kScanShare * car_.lidar_rate_hz ? "" : "another LiDAR than in the profile, or a loaded network");
    if (static_cast<std::int64_t>(beams_) != car_.lidar_beams)
      add(Verdict::kChange, "beams", std::to_string(beams_) + " (profile " + std::to_string(car_.lidar_beams) + ")",
          "correct lidar_model and lidar_beams");
    const double finite = finite_share_ / scans_;
    add(finite >= 0.5 ? Verdict::kGood : Verdict::kChange, "beams with an echo", number(100.0 * finite) + " %",
        finite >= 0.5 ? "" : "is the window clean and free?");
    const Spread age = Spread::of(ages_s_);
    const double jitter = age.p99 - age.p50;
    add(jitter < 0.01 ? Verdict::kGood : Verdict::kChange, "scan clock",
        number(1e3 * age.p50) + " ms old at arrival, jitter " + number(1e3 * jitter) + " ms",
        jitter < 0.01 ? "" : "a loaded computer or network: docs/car.md, real-time priority");
  }

  void judge_joystick() {
    if (!joystick_.present)
      return add(Verdict::kChange, "joystick", last_note("joystick"), "plug it in, move every stick once, --joystick");
    add(Verdict::kGood, "joystick", last_note("joystick"));
    if (joystick_.controls.deadman) add(Verdict::kChange, "deadman", "held", "let go: it must be seen released");
    if (joystick_.controls.estop) add(Verdict::kChange, "emergency stop", "pressed", "release it, or check the pad's mode switch");
    if (pad_.streams()) return add(Verdict::kGood, "radio loss", "this pad streams at rest: a lost radio stops the car within 1 s");
    add(Verdict::kNote, "radio loss", "this pad is silent at rest: a lost radio cannot be told from a still hand",
        "use a pad that streams, a wired one, or a radio emergency stop; stay within its range");
  }

  const calibration::Hardware& hardware_;
  const CarParameters& car_;
  ActuatorMap map_;
  double lasted_s_ = 1.0;
  MotorLink link_;
  std::optional<vesc::Values> last_;
  double telemetry_ = 0.0;
  double worst_delay_s_ = 0.0;
  double most_speed_mps_ = 0.0;
  bool timed_out_before_ = false;
  std::optional<Time> probed_;
  bool flag_fell_ = false;
  std::optional<double> timeout_s_;
  double imu_ = 0.0;
  double gravity_sum_ = 0.0;
  double up_sum_ = 0.0;
  double scans_ = 0.0;
  std::size_t beams_ = 0;
  double finite_share_ = 0.0;
  std::optional<Time> last_arrival_;
  std::vector<double> gaps_s_;
  std::vector<double> ages_s_;
  JoystickState joystick_;
  PadWatch pad_;
  std::vector<std::string> notes_;
  std::vector<Finding> findings_;
};

}  // namespace

Result<std::vector<Finding>> check_car(const calibration::Hardware& hardware, const CarParameters& car, const DeviceAddresses& addresses,
                                       const std::function<bool()>& stop) {
  const RunClock clock;
  Inbox inbox(clock);
  auto devices = Devices::make(hardware, addresses, inbox);
  if (!devices) return devices.error();
  Inspection inspection(hardware, car);
  const ActuatorMap map(hardware);
  const std::array<vesc::Command, 2> harmless{{{vesc::CommandKind::kCurrent, 0.0}, {vesc::CommandKind::kServo, map.servo_of(0.0)}}};
  const Time began = clock.now();
  devices->start();
  std::vector<Event> events;
  bool probed = false;
  while (!stop() && clock.now() - began < kWatch) {
    inbox.wait(clock.now() + from_milliseconds(10), events);
    const Time now = clock.now();
    for (const Event& event : events) inspection.see(event, now);
    if (!probed && now - began >= kProbeAt) {
      probed = true;
      devices->motor->send(harmless, std::nullopt);
      inspection.probed(now);
    }
  }
  devices->stop();
  return inspection.findings((clock.now() - began).seconds());
}

std::string text_of(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += finding.verdict == Verdict::kGood ? "ok      " : finding.verdict == Verdict::kNote ? "note    " : "CHANGE  ";
    text += finding.what + ": " + finding.found + "\n";
    if (!finding.advice.empty()) text += "        -> " + finding.advice + "\n";
  }
  return text;
}

}  // namespace pitwall::onboard

// SPDX-License-Identifier: Apache-2.0
#include "onboard/scribe.hpp"

#include <chrono>
#include <iomanip>
#include <utility>

#include "core/log.hpp"
#include "ros_messages/convert.hpp"
#include "ros_messages/drive.hpp"
#include "ros_messages/standard.hpp"

namespace pitwall::onboard {
namespace {

constexpr std::chrono::milliseconds kPause{10};
constexpr std::size_t kBeams = 1100;
constexpr std::string_view kTelemetryTopic = "/sensors/core";
constexpr std::string_view kServoTopic = "/sensors/servo_position_command";
constexpr std::string_view kLogFile = "launch.log";

}  // namespace

Scribe::Scribe(std::unique_ptr<recording::Recorder> recorder, std::size_t capacity) : recorder_(std::move(recorder)), slots_(capacity) {
  if (recorder_) log_.open(recorder_->folder() / kLogFile, std::ios::app);
  for (Slot& slot : slots_) {
    if (recorder_) slot.scan.ranges.reserve(kBeams);
    slot.joy.buttons.reserve(32);
    slot.text.reserve(200);
  }
  worker_ = std::thread([this] { work(); });
}

Scribe::~Scribe() { finish(); }

template <class Fill>
void Scribe::put(Kind kind, Time at, const Fill& fill) {
  const std::uint64_t filled = filled_.load(std::memory_order_relaxed);
  if (filled - taken_.load(std::memory_order_acquire) == slots_.size()) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  Slot& slot = slots_[filled % slots_.size()];
  slot.kind = kind;
  slot.at = at;
  fill(slot);
  filled_.store(filled + 1, std::memory_order_release);
}

void Scribe::arrived(std::size_t /*car*/, const Source<LaserScan>& scan) {
  if (!recorder_) return;
  put(Kind::kScan, scan.arrival, [&](Slot& slot) {
    slot.sequence = scan.sequence;
    slot.scan = *scan.message;
  });
}

void Scribe::arrived(std::size_t /*car*/, const Source<Odometry>& odometry) {
  if (!recorder_) return;
  put(Kind::kOdometry, odometry.arrival, [&](Slot& slot) {
    slot.sequence = odometry.sequence;
    slot.odometry = *odometry.message;
  });
}

void Scribe::arrived(std::size_t /*car*/, const Source<PoseEstimate>& pose) {
  if (!recorder_) return;
  put(Kind::kPose, pose.arrival, [&](Slot& slot) {
    slot.sequence = pose.sequence;
    slot.pose = *pose.message;
  });
}

void Scribe::arrived(std::size_t /*car*/, const Source<Joy>& joy) {
  if (!recorder_) return;
  put(Kind::kJoy, joy.arrival, [&](Slot& slot) {
    slot.sequence = joy.sequence;
    slot.joy = *joy.message;
  });
}

void Scribe::arrived(std::size_t /*car*/, const Source<Imu>& imu) {
  if (!recorder_) return;
  put(Kind::kImu, imu.arrival, [&](Slot& slot) {
    slot.sequence = imu.sequence;
    slot.imu = *imu.message;
  });
}

void Scribe::changed(std::size_t /*car*/, const std::string& assignment) {
  if (!recorder_) return;
  put(Kind::kChange, {}, [&](Slot& slot) { slot.text = assignment; });
}

void Scribe::decided(std::size_t /*car*/, std::uint64_t tick, const Observation& seen, const Command& command) {
  if (!recorder_) return;
  put(Kind::kDecision, seen.now, [&](Slot& slot) {
    slot.sequence = tick;
    slot.seen = seen;  // its messages are gone by the time it is written; their numbers count
    slot.command = command;
  });
}

void Scribe::telemetry(const drivers::Received<vesc::Values>& values, Time now) {
  if (!recorder_) return;
  put(Kind::kTelemetry, now, [&](Slot& slot) {
    slot.stamp = values.stamp;
    slot.values = values.value;
  });
}

void Scribe::servo(Time now, double position) {
  if (!recorder_) return;
  put(Kind::kServo, now, [&](Slot& slot) { slot.position = position; });
}

void Scribe::note(Time now, std::string_view line, bool warning) {
  put(Kind::kNote, now, [&](Slot& slot) {
    slot.text = line;
    slot.warning = warning;
  });
}

void Scribe::work() {
  while (true) {
    const bool last = closing_.load(std::memory_order_acquire);
    std::uint64_t taken = taken_.load(std::memory_order_relaxed);
    for (const std::uint64_t filled = filled_.load(std::memory_order_acquire); taken < filled; ++taken) {
      write(slots_[taken % slots_.size()]);
      taken_.store(taken + 1, std::memory_order_release);
    }
    if (last) return;
    std::this_thread::sleep_for(kPause);
  }
}

void Scribe::write(Slot& slot) {
  switch (slot.kind) {
    case Kind::kScan:
      return recorder_->arrived(0, Source<LaserScan>{&slot.scan, slot.at, slot.sequence});
    case Kind::kOdometry:
      return recorder_->arrived(0, Source<Odometry>{&slot.odometry, slot.at, slot.sequence});
    case Kind::kPose:
      return recorder_->arrived(0, Source<PoseEstimate>{&slot.pose, slot.at, slot.sequence});
    case Kind::kJoy:
      return recorder_->arrived(0, Source<Joy>{&slot.joy, slot.at, slot.sequence});
    case Kind::kImu:
      return recorder_->arrived(0, Source<Imu>{&slot.imu, slot.at, slot.sequence});
    case Kind::kChange:
      return recorder_->changed(0, slot.text);
    case Kind::kDecision:
      return recorder_->decided(0, slot.sequence, slot.seen, slot.command);
    case Kind::kTelemetry:
      return write_telemetry(slot);
    case Kind::kServo:
      return recorder_->write(std::string(kServoTopic), slot.at, ros_messages::Float64{slot.position});
    case Kind::kNote:
      return write_note(slot);
  }
}

void Scribe::write_telemetry(const Slot& slot) {
  const vesc::Values& v = slot.values;
  ros_messages::VescStateStamped out;
  out.header.stamp = ros_messages::to_stamp(slot.stamp);
  out.state.temp_fet = v.fet_temperature_degC;
  out.state.temp_motor = v.motor_temperature_degC;
  out.state.current_motor = v.motor_current_A;
  out.state.current_input = v.input_current_A;
  out.state.avg_id = v.id_A;
  out.state.avg_iq = v.iq_A;
  out.state.duty_cycle = v.duty;
  out.state.speed = v.erpm;
  out.state.voltage_input = v.input_voltage_V;
  out.state.charge_drawn = v.ampere_hours;
  out.state.charge_regen = v.ampere_hours_charged;
  out.state.energy_drawn = v.watt_hours;
  out.state.energy_regen = v.watt_hours_charged;
  out.state.displacement = v.tachometer;
  out.state.distance_traveled = v.tachometer_abs;
  out.state.fault_code = v.fault;
  out.state.controller_id = v.controller_id;
  recorder_->write(std::string(kTelemetryTopic), slot.at, out);
}

void Scribe::write_note(const Slot& slot) {
  slot.warning ? log::warn(slot.text) : log::info(slot.text);
  if (!recorder_) return;
  log_ << (slot.warning ? "[WARN] [" : "[INFO] [") << std::fixed << std::setprecision(3) << slot.at.seconds()
       << "] [car_run]: " << slot.text << std::endl;
  if (!log_ && !std::exchange(complained_, true)) log::warn(std::string(kLogFile) + ": cannot be written");
}

void Scribe::finish() {
  if (!worker_.joinable()) return;
  closing_.store(true, std::memory_order_release);
  worker_.join();
}

Status Scribe::close(Time end) {
  finish();
  return recorder_ ? recorder_->close(end, "") : Status();
}

}  // namespace pitwall::onboard

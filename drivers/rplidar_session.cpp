// SPDX-License-Identifier: Apache-2.0
#include "drivers/rplidar_session.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace pitwall::drivers {
namespace {

using rplidar::AnswerType;
using rplidar::Command;

constexpr Duration kRplidarDrained = from_milliseconds(60);
constexpr Duration kRplidarPatience = from_milliseconds(500);
constexpr Duration kRebooted = from_milliseconds(1'500);
constexpr Duration kSpunUp = from_milliseconds(3'000);
constexpr Duration kRplidarWarnSilence = from_milliseconds(200);  // of packets; a turn may take 100 ms
constexpr Duration kRplidarLostSilence = from_milliseconds(1'000);
constexpr int kRplidarTries = 3;
constexpr Duration kUnknownPerPoint{125'000};

DeviceClockOptions clock_options(Duration per_point) {
  DeviceClockOptions options;
  options.tick = per_point;
  options.modulus = 1ULL << 40U;
  options.max_drift = 0.02;  // the stated time per measurement is rounded to whole us
  options.window = from_milliseconds(6'000);
  options.restart_limit = from_milliseconds(60'000);
  return options;
}

}  // namespace

RplidarSession::RplidarSession(const RplidarOptions& options)
    : options_(options), clock_(clock_options(kUnknownPerPoint)), turn_(options.turn) {}

void RplidarSession::start(Time now) {
  ++counters_.starts;
  out().clear();
  info_.reset();
  health_.reset();
  was_reset_ = false;
  express_ = options_.express;
  mode_ = 0;
  per_point_ = kUnknownPerPoint;
  scanning_ = false;
  tries_ = 0;
  turn_.reset();
  set_phase(Phase::kIdentifying, "stopping what runs");
  enter(Step::kDrain, now);
}

bool RplidarSession::talking() const { return phase() == Phase::kIdentifying || phase() == Phase::kRunning || phase() == Phase::kSilent; }

void RplidarSession::enter(Step step, Time now) {
  tries_ = step == step_ ? tries_ : 0;
  step_ = step;
  deadline_ = now + kRplidarPatience;
  if (step != Step::kScans) {
    reader_.clear();
  }
  switch (step) {
    case Step::kDrain:
      rplidar::append_request(Command::kStop, {}, out());
      deadline_ = now + kRplidarDrained;
      return;
    case Step::kReset:
      was_reset_ = true;
      rplidar::append_request(Command::kReset, {}, out());
      deadline_ = now + kRebooted;
      return;
    case Step::kInfo:
      return rplidar::append_request(Command::kInfo, {}, out());
    case Step::kHealth:
      return rplidar::append_request(Command::kHealth, {}, out());
    case Step::kTypicalMode:
      return rplidar::append_configuration_request(rplidar::kTypicalMode, std::nullopt, out());
    case Step::kModeTime:
      return rplidar::append_configuration_request(rplidar::kMicrosecondsPerSample, mode_, out());
    case Step::kSampleRate:
      return rplidar::append_request(Command::kSampleRate, {}, out());
    case Step::kStartScans:
      start_motor();
      begin_clock();
      if (express_) {
        rplidar::append_express_request(mode_, out());
      } else {
        rplidar::append_request(Command::kScan, {}, out());
      }
      deadline_ = now + kSpunUp;
      return;
    case Step::kScans:
      return;
  }
}

void RplidarSession::start_motor() {
  constexpr int kNewerModels = 4;  // in the upper half of the model's number: C1 and the S series drive their motor themselves
  const bool newer = info_ && info_->model >> 4 >= kNewerModels;
  const int value = newer ? options_.motor_rpm : options_.motor_pwm;
  if (value > 0) {
    const std::array<std::byte, 2> payload{static_cast<std::byte>(value & 0xFF), static_cast<std::byte>(value >> 8 & 0xFF)};
    rplidar::append_request(newer ? Command::kMotorSpeed : Command::kMotorPwm, payload, out());
  }
}

void RplidarSession::stop() {
  rplidar::append_request(Command::kStop, {}, out());
  const std::array<std::byte, 2> zero{};
  if (info_ && options_.motor_pwm > 0) {
    rplidar::append_request(info_->model >> 4 >= 4 ? Command::kMotorSpeed : Command::kMotorPwm, zero, out());
  }
}

void RplidarSession::begin_clock() {
  clock_ = DeviceClock(clock_options(per_point_));
  point_count_ = 0;
  decoder_.reset();
}

void RplidarSession::receive(Bytes bytes, Time now) {
  counters_.bytes_received += bytes.size();
  reader_.push(bytes);
  while (const auto packet = reader_.next()) {
    if (talking()) {
      handle(*packet, now);
    }
  }
  counters_.bad_sums = reader_.bad_sums();
  counters_.dropped_bytes = reader_.dropped_bytes();
  counters_.resyncs = reader_.resyncs();
}

void RplidarSession::handle(const rplidar::Packet& packet, Time now) {
  if (rplidar::packet_length(packet.type) > 0) {
    if (step_ == Step::kStartScans || step_ == Step::kScans) {
      handle_scan(packet, now);
    }
    return;
  }
  if (step_ == Step::kInfo && packet.type == AnswerType::kInfo) {
    info_ = rplidar::decode_info(packet);
    return info_ ? enter(Step::kHealth, now) : static_cast<void>(++counters_.rejected);
  }
  if (step_ == Step::kHealth && packet.type == AnswerType::kHealth) {
    return handle_health(packet, now);
  }
  if ((step_ == Step::kTypicalMode || step_ == Step::kModeTime) && packet.type == AnswerType::kConfiguration) {
    return handle_configuration(packet, now);
  }
  if (step_ == Step::kSampleRate && packet.type == AnswerType::kSampleRate) {
    if (const auto rate = rplidar::decode_sample_rate(packet)) {
      const int us = express_ ? rate->express_us : rate->standard_us;
      per_point_ = us > 0 ? Duration{us * 1'000LL} : per_point_;
    }
    return enter(Step::kStartScans, now);
  }
  ++counters_.ignored;
}

void RplidarSession::handle_health(const rplidar::Packet& packet, Time now) {
  health_ = rplidar::decode_health(packet);
  constexpr int kBroken = 2;
  if (!health_) {
    ++counters_.rejected;
    return;
  }
  if (health_->status < kBroken) {
    return enter(express_ ? Step::kTypicalMode : Step::kSampleRate, now);
  }
  if (!was_reset_) {
    note("the sensor reports error " + std::to_string(health_->code) + "; resetting it");
    return enter(Step::kReset, now);
  }
  set_phase(Phase::kRefused, "the sensor reports error " + std::to_string(health_->code) +
                                 " after a reset too: check its supply (5 V under load) and that nothing blocks its head");
}

void RplidarSession::handle_configuration(const rplidar::Packet& packet, Time now) {
  const auto answer = rplidar::decode_configuration(packet);
  if (step_ == Step::kTypicalMode && answer && answer->key == rplidar::kTypicalMode && answer->value.size() >= 2) {
    mode_ = u8_at(answer->value, 0);
    return enter(Step::kModeTime, now);
  }
  if (step_ == Step::kModeTime && answer && answer->key == rplidar::kMicrosecondsPerSample && answer->value.size() >= 4) {
    const std::int64_t ns = u32_le_at(answer->value, 0) * 1'000LL / 256;
    per_point_ = ns > 0 && ns < 10'000'000 ? Duration{ns} : per_point_;
    return enter(Step::kStartScans, now);
  }
  ++counters_.rejected;
}

void RplidarSession::handle_scan(const rplidar::Packet& packet, Time now) {
  if (packet.after_loss) {
    begin_clock();  // how many measurements were lost is not known
  }
  points_.clear();
  decoder_.decode(packet, points_);
  step_ = Step::kScans;
  last_packet_at_ = now;
  deadline_ = now + kRplidarWarnSilence;
  if (phase() == Phase::kSilent) {
    set_phase(Phase::kRunning, "scanning again");
  }
  if (points_.empty()) {
    return;
  }
  // A capsule's points come once the next one is complete, a standard packet once two are behind it.
  const auto count = static_cast<std::int64_t>(points_.size());
  const std::int64_t behind = count > 1 ? count : 2;
  point_count_ += points_.size();
  const Time last = clock_.stamp(point_count_, now) - behind * per_point_;
  for (std::int64_t i = 0; i < count; ++i) {
    const rplidar::Point& point = points_[static_cast<std::size_t>(i)];
    last_stamp_ = std::max(last_stamp_, last - (count - 1 - i) * per_point_);
    const float range = point.distance_m > 0.0 ? static_cast<float>(point.distance_m) : std::numeric_limits<float>::infinity();
    if (auto scan = turn_.add({point.clockwise_rad, range, last_stamp_})) {
      scanning_ = true;
      const Time stamp = scan->stamp;
      scans_.push({std::move(*scan), stamp, now, ++scan_count_});
      last_scan_ = now;
      set_phase(Phase::kRunning,
                "model " + std::to_string(info_ ? info_->model : 0) + (express_ ? ", mode " + std::to_string(mode_) : ", standard scan"));
    }
  }
  counters_.rejected = turn_.incomplete_turns();
}

void RplidarSession::advance(Time now) {
  if (now < deadline_ || !talking()) {
    return;
  }
  if (step_ == Step::kDrain || step_ == Step::kReset) {
    return enter(Step::kInfo, now);
  }
  late(now);
}

void RplidarSession::late(Time now) {
  if (step_ == Step::kScans) {
    const std::string text = "no packet for " + std::to_string((now - last_packet_at_).ns / 1'000'000) + " ms";
    if (now - last_packet_at_ >= kRplidarLostSilence) {
      return set_phase(Phase::kReconnect, text);
    }
    deadline_ = last_packet_at_ + kRplidarLostSilence;
    return scanning_ ? set_phase(Phase::kSilent, text) : static_cast<void>(0);
  }
  ++counters_.unanswered;
  ++tries_;
  if (step_ == Step::kStartScans && express_) {
    note("no answer to EXPRESS_SCAN; trying the standard scan");
    express_ = false;
    return enter(Step::kSampleRate, now);
  }
  if (tries_ < kRplidarTries) {
    return enter(step_, now);
  }
  switch (step_) {
    case Step::kTypicalMode:  // firmware before 1.24 has no configuration, and legacy express as mode 0
    case Step::kModeTime:
      return enter(Step::kSampleRate, now);
    case Step::kSampleRate:
      return enter(Step::kStartScans, now);
    case Step::kInfo:
      return set_phase(Phase::kReconnect,
                       "no answer: another baud rate (A1, A2: 115200; A3, S1: 256000; C1: 460800; S2, S3: 1000000), or no power");
    default:
      return set_phase(Phase::kReconnect, "no measurements: does the motor turn?");
  }
}

Time RplidarSession::next_deadline() const { return talking() ? deadline_ : kNever; }

}  // namespace pitwall::drivers

// SPDX-License-Identifier: Apache-2.0
#include "drivers/vesc_session.hpp"

#include <algorithm>

#include "core/check.hpp"

namespace pitwall::drivers {
namespace {

constexpr Duration kFirmwarePatience = from_milliseconds(200);
constexpr Duration kIdentificationPatience = from_milliseconds(5'000);
constexpr std::size_t kFlushBytes = 520;  // more than the longest frame that a stray start byte can announce to the device
constexpr Duration kPartialPatience = from_milliseconds(50);   // of silence
constexpr Duration kFramePatience = from_milliseconds(15);     // the longest reply that is asked for takes 7 ms at 115200 baud
constexpr Duration kShortestPatience = from_milliseconds(40);  // USB answers within 5 ms, a serial line at 115200 baud within 10
constexpr Duration kLongestPatience = from_milliseconds(100);
constexpr Duration kVescWarnSilence = from_milliseconds(150);
constexpr Duration kVescLostSilence = from_milliseconds(500);
constexpr int kSelectiveTries = 3;  // then the device is taken not to know selective requests
constexpr int kImuTries = 20;

// A lost reply costs two periods, not more.
Duration patience_of(Duration period) {
  return std::clamp(Duration{std::min(period.ns, kLongestPatience.ns) * 2}, kShortestPatience, kLongestPatience);
}

Duration period_of(double rate_hz) { return rate_hz > 0.0 ? from_seconds(1.0 / rate_hz) : Duration{INT64_MAX / 4}; }

}  // namespace

VescSession::VescSession(const VescOptions& options) : options_(options) {
  PITWALL_CHECK(options.telemetry_rate_hz > 0.0 && options.imu_rate_hz >= 0.0, options.telemetry_rate_hz, options.imu_rate_hz);
}

void VescSession::start(Time now) {
  ++counters_.starts;
  out().clear();
  decoder_.clear();
  firmware_.reset();
  full_values_ = false;
  imu_absent_ = false;
  motor_command_.reset();
  servo_command_.reset();
  estop_ms_.reset();
  first_fault_.reset();
  started_ = now;
  last_byte_ = now;
  last_values_at_ = now;
  firmware_requests_ = 0;
  telemetry_of_start_ = 0;
  ask_firmware_at_ = now;
  set_phase(Phase::kIdentifying, "asking for the firmware version");
  advance_identification(now);
}

bool VescSession::talking() const { return phase() == Phase::kRunning || phase() == Phase::kSilent || phase() == Phase::kIdentifying; }

void VescSession::receive(Bytes bytes, Time now) {
  counters_.bytes_received += bytes.size();
  last_byte_ = now;
  if (!decoder_.partial()) {
    partial_since_ = now;
  }
  decoder_.push(bytes);
  drain(now);
}

void VescSession::drain(Time now) {
  while (const auto payload = decoder_.next()) {
    partial_since_ = now;
    if (talking() || phase() == Phase::kReconnect) {
      handle(*payload, now);
    }
  }
  counters_.bad_sums = decoder_.bad_sums();
  counters_.dropped_bytes = decoder_.dropped_bytes();
  counters_.resyncs = decoder_.resyncs();
}

void VescSession::handle(Bytes payload, Time now) {
  switch (static_cast<vesc::Id>(payload[0])) {
    case vesc::Id::kFwVersion:
      return handle_firmware(payload, now);
    case vesc::Id::kGetValues:
    case vesc::Id::kGetValuesSelective:
      return handle_values(payload, now);
    case vesc::Id::kGetImu:
      return handle_imu(payload, now);
    case vesc::Id::kPrint:
      return note("the device says: " + vesc::decode_print(payload).value_or(""));
    default:
      ++counters_.ignored;
  }
}

void VescSession::handle_firmware(Bytes payload, Time now) {
  const auto firmware = vesc::decode_fw_version(payload);
  if (!firmware) {
    ++counters_.rejected;
    return;
  }
  if (firmware_) {
    return;  // a second answer: the first request was only late
  }
  if (!firmware->supported()) {
    return set_phase(Phase::kRefused, "firmware " + firmware->text() +
                                          " is older than 3.33 and lays its telemetry out differently: update it with VESC Tool");
  }
  if (options_.uuid && firmware->uuid != options_.uuid) {
    return set_phase(Phase::kRefused, "another VESC than the configured one answers: " + firmware->text());
  }
  firmware_ = firmware;
  last_values_at_ = now;
  values_poll_ = {.period = period_of(options_.telemetry_rate_hz), .due = now};
  imu_poll_ = {.period = period_of(options_.imu_rate_hz), .due = options_.imu_rate_hz > 0.0 ? now : kNever};
  set_phase(Phase::kIdentifying, "firmware " + firmware->text() + "; waiting for telemetry");
  advance_polls(now);
}

Time VescSession::stamp_of(Poll& poll, Time now) {
  const Duration round_trip = poll.asked ? now - *poll.asked : Duration{};
  poll.asked.reset();
  poll.missed = 0;
  return now - Duration{round_trip.ns / 2};
}

void VescSession::handle_values(Bytes payload, Time now) {
  const auto values = vesc::decode_values(payload);
  if (!values || !firmware_) {
    ++counters_.rejected;
    return;
  }
  Received<vesc::Values> received{*values, stamp_of(values_poll_, now), now, ++telemetry_count_};
  if (values->fault != 0 && !first_fault_) {
    first_fault_ = received;
    note("fault: " + vesc::fault_name(values->fault) + ". " + vesc::fault_hint(values->fault));
  }
  telemetry_.push(std::move(received));
  ++telemetry_of_start_;
  last_telemetry_ = now;
  last_values_at_ = now;
  if (phase() != Phase::kReconnect) {
    set_phase(Phase::kRunning, "firmware " + firmware_->text());
  }
}

void VescSession::handle_imu(Bytes payload, Time now) {
  const auto values = vesc::decode_imu(payload);
  if (!values || (values->present & vesc::kInertialMask) != vesc::kInertialMask) {
    ++counters_.rejected;
    return;
  }
  const Time stamp = stamp_of(imu_poll_, now);
  if (!values->has_imu()) {
    if (!imu_absent_) {
      note("no IMU: the device answers zeros");
    }
    imu_absent_ = true;
    return;
  }
  imu_absent_ = false;
  Imu imu{stamp, values->angular_velocity_radps, values->linear_acceleration_mps2};
  imu_.push({imu, stamp, now, ++imu_count_});
}

void VescSession::advance(Time now) {
  if (!talking()) {
    return;
  }
  if (decoder_.partial() && now - last_byte_ >= kPartialPatience) {
    decoder_.give_up_partial();
    drain(now);
  } else if (decoder_.partial() && now - partial_since_ >= kFramePatience) {
    partial_since_ = now;
    decoder_.look_inside_partial();
    drain(now);
  }
  if (!firmware_) {
    return advance_identification(now);
  }
  advance_polls(now);
  const Duration silence = now - last_values_at_;
  if (silence >= kVescLostSilence) {
    set_phase(Phase::kReconnect, "no telemetry for " + std::to_string(silence.ns / 1'000'000) + " ms");
  } else if (silence >= kVescWarnSilence && phase() == Phase::kRunning) {
    set_phase(Phase::kSilent, "no telemetry for " + std::to_string(silence.ns / 1'000'000) + " ms");
  }
}

void VescSession::advance_identification(Time now) {
  if (now < ask_firmware_at_) {
    return;
  }
  if (now - started_ >= kIdentificationPatience) {
    return set_phase(Phase::kReconnect, "no answer to FW_VERSION: another device on this port, or a VESC that hangs");
  }
  if (firmware_requests_ > 0) {
    ++counters_.unanswered;
    // What another program left in the line may have announced a long frame: zeros end it and start none.
    out().insert(out().end(), kFlushBytes, std::byte{0});
    set_phase(Phase::kIdentifying, "no answer to FW_VERSION yet; asking again");
  }
  ++firmware_requests_;
  vesc::append_request(vesc::Id::kFwVersion, out());
  ask_firmware_at_ = now + kFirmwarePatience;
}

void VescSession::advance_polls(Time now) {
  for (Poll* poll : {&values_poll_, &imu_poll_}) {
    if (poll->asked && now - *poll->asked >= patience_of(poll->period)) {
      poll->asked.reset();
      ++poll->missed;
      ++counters_.unanswered;
    }
  }
  if (values_poll_.missed >= kSelectiveTries && telemetry_of_start_ == 0) {
    full_values_ = !full_values_;
    values_poll_.missed = 0;
  }
  if (imu_poll_.missed >= kImuTries) {
    note("GET_IMU_DATA is not answered; not asking again");
    imu_poll_.due = kNever;
    imu_poll_.missed = 0;
  }
  if (!values_poll_.asked && now >= values_poll_.due) {
    if (full_values_) {
      vesc::append_request(vesc::Id::kGetValues, out());
    } else {
      vesc::append_selective_request(vesc::Id::kGetValuesSelective, options_.telemetry_mask, out());
    }
    ask(values_poll_, now);
  }
  if (!imu_poll_.asked && now >= imu_poll_.due) {
    vesc::append_imu_request(vesc::kInertialMask, out());
    ask(imu_poll_, now);
  }
}

void VescSession::ask(Poll& poll, Time now) {
  poll.asked = now;
  // On the grid of the rate, but never a burst to catch up.
  poll.due = std::max(poll.due + poll.period, now + Duration{poll.period.ns / 2});
}

Time VescSession::next_deadline() const {
  if (!talking()) {
    return kNever;
  }
  Time next = decoder_.partial() ? std::min(last_byte_ + kPartialPatience, partial_since_ + kFramePatience) : kNever;
  if (!firmware_) {
    return std::min(next, ask_firmware_at_);
  }
  for (const Poll* poll : {&values_poll_, &imu_poll_}) {
    next = std::min(next, poll->asked ? *poll->asked + patience_of(poll->period) : poll->due);
  }
  return std::min(next, last_values_at_ + (phase() == Phase::kRunning ? kVescWarnSilence : kVescLostSilence));
}

VescSession::Handed VescSession::command(const vesc::Command& command) {
  scratch_.clear();
  if (!vesc::append_command(command, scratch_)) {
    return Handed::kNotFinite;
  }
  if (!firmware_) {
    return Handed::kNotIdentified;
  }
  (command.kind == vesc::CommandKind::kServo ? servo_command_ : motor_command_) = command;
  return Handed::kQueued;
}

bool VescSession::estop(int milliseconds) {
  constexpr int kFirstFirmware = 7;
  if (!firmware_ || firmware_->major < kFirstFirmware) {
    return false;
  }
  estop_ms_ = milliseconds;
  return true;
}

void VescSession::append_pending(std::vector<std::byte>& bytes) {
  scratch_.clear();
  if (estop_ms_) {
    vesc::append_estop(*estop_ms_, scratch_);
  }
  for (const auto& command : {motor_command_, servo_command_}) {
    if (command) {
      (void)vesc::append_command(*command, scratch_);
    }
  }
  estop_ms_.reset();
  motor_command_.reset();
  servo_command_.reset();
  // Before the polls: a command should not wait behind a question.
  bytes.insert(bytes.begin(), scratch_.begin(), scratch_.end());
}

}  // namespace pitwall::drivers

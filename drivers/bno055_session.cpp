// SPDX-License-Identifier: Apache-2.0
#include "drivers/bno055_session.hpp"

#include <algorithm>

#include "core/check.hpp"

namespace pitwall::drivers {
namespace {

using bno055::Register;

constexpr Duration kReplyPatience = from_milliseconds(50);
constexpr Duration kBno055WarnSilence = from_milliseconds(150);
constexpr Duration kBno055LostSilence = from_milliseconds(500);
constexpr Duration kBno055Boot = from_milliseconds(5'000);  // power-on takes 650 ms, then it answers

}  // namespace

Bno055Session::Bno055Session(const Bno055Options& options) : options_(options) {
  PITWALL_CHECK(options.rate_hz > 0.0 && options.rate_hz <= 200.0, options.rate_hz);
}

void Bno055Session::start(Time now) {
  ++counters_.starts;
  out().clear();
  started_ = now;
  set_phase(Phase::kIdentifying, "setting the mode");
  enter(Step::kToConfiguration, now);
}

bool Bno055Session::talking() const { return phase() == Phase::kIdentifying || phase() == Phase::kRunning || phase() == Phase::kSilent; }

void Bno055Session::write(Register first, std::uint8_t value) {
  const std::byte b{value};
  bno055::append_write(static_cast<std::uint8_t>(first), {&b, 1}, out());
}

void Bno055Session::enter(Step step, Time now) {
  step_ = step;
  reader_.clear();
  asked_ = now;
  deadline_ = now + kReplyPatience;
  switch (step) {
    case Step::kToConfiguration:
      return write(Register::kMode, bno055::kModeConfiguration);
    case Step::kIdentity:
      return bno055::append_read(static_cast<std::uint8_t>(Register::kChipId), 1, out());
    case Step::kUnits:
      return write(Register::kUnits, 0);
    case Step::kToImu:
      return write(Register::kMode, bno055::kModeImu);
    case Step::kSettle:
      asked_.reset();
      deadline_ = now + (next_step_ == Step::kIdentity ? bno055::kToConfiguration : bno055::kFromConfiguration);
      return;
    case Step::kSamples:
      asked_.reset();
      gate_.reset();
      next_sample_ = now;
      last_sample_at_ = now;
      return ask_sample(now);
  }
}

void Bno055Session::settle(Step next, Time now) {
  next_step_ = next;
  enter(Step::kSettle, now);
}

void Bno055Session::ask_sample(Time now) {
  reader_.clear();  // what is left of an answer that came too late
  bno055::append_read(static_cast<std::uint8_t>(Register::kAcceleration), bno055::kSampleBytes, out());
  asked_ = now;
  const Duration period = from_seconds(1.0 / options_.rate_hz);
  next_sample_ = std::max(next_sample_ + period, now + Duration{period.ns / 2});
}

void Bno055Session::receive(Bytes bytes, Time now) {
  counters_.bytes_received += bytes.size();
  reader_.push(bytes);
  while (const auto response = reader_.next()) {
    if (talking() && asked_) {
      handle(*response, now);
    } else {
      ++counters_.ignored;
    }
  }
  counters_.dropped_bytes = reader_.dropped_bytes();
}

void Bno055Session::handle(const bno055::Response& response, Time now) {
  constexpr int kDone = 1;
  const bool wants_data = step_ == Step::kIdentity || step_ == Step::kSamples;
  if (response.is_data != wants_data || (!wants_data && response.status != kDone)) {
    // Bus overrun is routine; the deadline, or the next period, asks again.
    ++counters_.rejected;
    if (step_ == Step::kSamples) {
      asked_.reset();
    }
    return;
  }
  switch (step_) {
    case Step::kToConfiguration:
      return settle(Step::kIdentity, now);
    case Step::kIdentity:
      if (response.data.size() != 1 || response.data[0] != std::byte{bno055::kChipId}) {
        return set_phase(Phase::kRefused, "register 0 does not hold the identity of a BNO055");
      }
      return enter(Step::kUnits, now);
    case Step::kUnits:
      return enter(Step::kToImu, now);
    case Step::kToImu:
      return settle(Step::kSamples, now);
    case Step::kSettle:
      return;
    case Step::kSamples:
      return handle_sample(response.data, now);
  }
}

void Bno055Session::handle_sample(Bytes registers, Time now) {
  const auto sample = bno055::decode_sample(registers);
  const Time stamp = now - Duration{(now - *asked_).ns / 2};
  asked_.reset();
  if (!sample) {
    ++counters_.rejected;
    return;
  }
  switch (gate_.judge(*sample)) {
    case bno055::SampleGate::Verdict::kSpike:
      ++counters_.rejected;
      return;
    case bno055::SampleGate::Verdict::kFrozen:
      return set_phase(Phase::kReconnect, "50 equal samples in a row: the sensor hangs");
    case bno055::SampleGate::Verdict::kGood:
      break;
  }
  imu_.push({Imu{stamp, sample->angular_velocity_radps, sample->linear_acceleration_mps2}, stamp, now, ++imu_count_});
  last_imu_ = now;
  last_sample_at_ = now;
  set_phase(Phase::kRunning, "BNO055 in mode IMU");
}

void Bno055Session::advance(Time now) {
  if (!talking()) {
    return;
  }
  if (step_ == Step::kSamples) {
    if (asked_ && now - *asked_ >= kReplyPatience) {
      asked_.reset();
      ++counters_.unanswered;
    }
    const Duration silence = now - last_sample_at_;
    const std::string text = "no sample for " + std::to_string(silence.ns / 1'000'000) + " ms";
    if (silence >= kBno055LostSilence) {
      return set_phase(Phase::kReconnect, text);
    }
    if (silence >= kBno055WarnSilence && phase() == Phase::kRunning) {
      set_phase(Phase::kSilent, text);
    }
    return !asked_ && now >= next_sample_ ? ask_sample(now) : static_cast<void>(0);
  }
  if (now < deadline_) {
    return;
  }
  if (step_ == Step::kSettle) {
    return enter(next_step_, now);
  }
  ++counters_.unanswered;
  if (now - started_ >= kBno055Boot) {
    return set_phase(Phase::kReconnect, "no answer: is the sensor strapped for its serial port (PS1 high), at 115200 baud?");
  }
  enter(step_, now);
}

Time Bno055Session::next_deadline() const {
  if (!talking()) {
    return kNever;
  }
  if (step_ != Step::kSamples) {
    return deadline_;
  }
  const Time silence = last_sample_at_ + (phase() == Phase::kRunning ? kBno055WarnSilence : kBno055LostSilence);
  return std::min(silence, asked_ ? *asked_ + kReplyPatience : next_sample_);
}

}  // namespace pitwall::drivers

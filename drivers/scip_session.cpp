// SPDX-License-Identifier: Apache-2.0
#include "drivers/scip_session.hpp"

#include <algorithm>
#include <cmath>

#include "core/math.hpp"

namespace pitwall::drivers {
namespace {

constexpr Duration kScipDrained = from_milliseconds(100);     // silence after QT's answer: nothing is queued any more
constexpr Duration kScipPatience = from_milliseconds(500);    // per request
constexpr Duration kBootPatience = from_milliseconds(1'000);  // a UST accepts connections before it answers
constexpr int kScipTries = 3;
constexpr std::int64_t kWarnScans = 3;  // missing in a row; 75 ms at 40 Hz
constexpr Duration kScipLostSilence = from_milliseconds(500);
constexpr Duration kFirstScan = from_milliseconds(2'000);  // the motor may still spin up
constexpr Duration kStuckBoot = from_milliseconds(15'000);

}  // namespace

ScipSession::ScipSession(const ScipOptions& options) : options_(options), clock_(DeviceClockOptions{}) {}

void ScipSession::start(Time now) {
  ++counters_.starts;
  out().clear();
  reader_.clear();
  clock_.reset();
  parameters_.reset();
  version_ = {};
  state_info_ = {};
  started_ = now;
  last_byte_ = now;
  quiet_ = false;
  tries_ = 0;
  set_phase(Phase::kIdentifying, "asking the sensor to be quiet");
  enter(Step::kDrain, now);
}

void ScipSession::send(const std::string& text, Time now, Duration patience) {
  const Bytes bytes = bytes_of(text);
  out().insert(out().end(), bytes.begin(), bytes.end());
  expected_ = text.substr(0, text.size() - 1);
  asked_ = now;
  deadline_ = now + patience;
}

void ScipSession::stop() {
  const std::string text = scip::request("QT");
  const Bytes bytes = bytes_of(text);
  out().insert(out().end(), bytes.begin(), bytes.end());
}

void ScipSession::enter(Step step, Time now) {
  tries_ = step == step_ ? tries_ : 0;
  step_ = step;
  switch (step) {
    case Step::kDrain:
      return send(scip::request("QT"), now, kBootPatience);
    case Step::kVersion:
      return send(scip::request("VV"), now, kScipPatience);
    case Step::kParameters:
      return send(scip::request("PP"), now, kScipPatience);
    case Step::kInfo:
      return send(scip::request("II"), now, kScipPatience);
    case Step::kEnterTime:
      pairs_left_ = options_.clock_pairs;
      return pairs_left_ > 0 ? send(scip::request("TM0"), now, kScipPatience) : enter(Step::kStartScans, now);
    case Step::kPairs:
      return send(scip::request("TM1"), now, kScipPatience);
    case Step::kLeaveTime:
      return send(scip::request("TM2"), now, kScipPatience);
    case Step::kStartScans:
      return send(scip::request(scan_request_), now, kScipPatience);
    case Step::kScans:
      last_scan_at_ = now;
      deadline_ = now + kFirstScan;
      return;
  }
}

void ScipSession::receive(Bytes bytes, Time now) {
  counters_.bytes_received += bytes.size();
  last_byte_ = now;
  reader_.push(bytes);
  while (const auto reply = reader_.next()) {
    handle(*reply, now);
  }
  counters_.dropped_bytes = reader_.dropped_bytes();
  counters_.resyncs = reader_.resyncs();
}

void ScipSession::handle(const scip::Reply& reply, Time now) {
  if (phase() == Phase::kReconnect || phase() == Phase::kRefused || phase() == Phase::kClosed) {
    return;
  }
  if (step_ == Step::kScans || step_ == Step::kStartScans) {
    handle_scan(reply, now);
  } else if (reply.echo != expected_) {
    ++counters_.ignored;  // a scan still under way, or an answer to what an earlier program asked
  } else if (!reply.status_sum_good) {
    ++counters_.bad_sums;  // the deadline asks again
  } else {
    handle_dialogue(reply, now);
  }
}

void ScipSession::handle_dialogue(const scip::Reply& reply, Time now) {
  switch (step_) {
    case Step::kDrain:
      quiet_ = true;
      deadline_ = now + kScipDrained;
      return;
    case Step::kVersion:
      version_ = scip::decode_info(reply);
      counters_.bad_sums += static_cast<std::uint64_t>(version_.bad_sums);
      return enter(Step::kParameters, now);
    case Step::kParameters:
      return handle_parameters(reply, now);
    case Step::kInfo:
      state_info_ = scip::decode_info(reply);
      counters_.bad_sums += static_cast<std::uint64_t>(state_info_.bad_sums);
      note("state: " + state_info_.find("STAT").value_or("not stated") + ", " + state_info_.find("MESM").value_or(""));
      return enter(Step::kEnterTime, now);
    case Step::kEnterTime:
      // 00 and "already in it"; whoever refuses the mode may answer TM1 all the same.
      return enter(Step::kPairs, now);
    case Step::kPairs:
      return handle_pair(reply, now);
    case Step::kLeaveTime:
      return enter(Step::kStartScans, now);
    case Step::kStartScans:
    case Step::kScans:
      return;
  }
}

void ScipSession::handle_parameters(const scip::Reply& reply, Time now) {
  const scip::Info info = scip::decode_info(reply);
  counters_.bad_sums += static_cast<std::uint64_t>(info.bad_sums);
  parameters_ = scip::decode_parameters(info);
  if (!parameters_) {
    ++counters_.rejected;
    set_phase(Phase::kReconnect, "PP does not tell the sensor's steps, ranges and speed");
    return;
  }
  const scip::Parameters& p = *parameters_;
  const double step_rad = 2.0 * math::kPi / p.steps_per_turn;
  const auto step_at = [&](double angle_rad) {
    const double step = std::round(p.front_step + std::clamp(angle_rad, -4.0, 4.0) / step_rad);
    return std::clamp(static_cast<int>(step), p.first_step, p.last_step);
  };
  scan_request_ = {};
  scan_request_.first_step = step_at(options_.min_angle_rad);
  scan_request_.last_step = step_at(options_.max_angle_rad);
  scan_request_.cluster = std::clamp(options_.cluster, 1, 99);
  scan_request_.skip = std::clamp(options_.skip, 0, 9);
  scan_request_.intensity = options_.intensity;
  if (scan_request_.last_step <= scan_request_.first_step) {
    set_phase(Phase::kRefused, "the field of view asked for lies outside that of " + p.model);
    return;
  }
  // A scan cannot arrive before its last beam.
  DeviceClockOptions clock;
  clock.least_delay = from_seconds(p.period_s() * scan_request_.last_step / p.steps_per_turn);
  // The first scan began up to a turn before the last question.
  clock.backwards = clock.backwards + from_seconds(p.period_s());
  clock_ = DeviceClock(clock);
  seen_restarts_ = 0;
  enter(Step::kInfo, now);
}

void ScipSession::handle_pair(const scip::Reply& reply, Time now) {
  if (const auto time_ms = scip::decode_time(reply)) {
    clock_.add_pair(*time_ms, asked_, now);
  } else if (reply.status != "00") {
    pairs_left_ = 0;  // no clock to be asked; arrivals must do
  } else {
    ++counters_.bad_sums;
  }
  enter(--pairs_left_ > 0 ? Step::kPairs : Step::kLeaveTime, now);
}

void ScipSession::handle_scan(const scip::Reply& reply, Time now) {
  scip::ScanData data;
  switch (scip::decode_scan(reply, scan_request_, data)) {
    case scip::ScanFault::kNone:
      return deliver(data, now);
    case scip::ScanFault::kNotAScan:
      ++counters_.ignored;
      return;
    case scip::ScanFault::kAcknowledged:
      if (step_ == Step::kStartScans) {
        enter(Step::kScans, now);
      }
      return;
    case scip::ScanFault::kBadSum:
      ++counters_.bad_sums;
      return;
    case scip::ScanFault::kBadCharacter:
    case scip::ScanFault::kWrongLength:
      ++counters_.rejected;
      return;
    case scip::ScanFault::kStatus:
      break;
  }
  ++counters_.rejected;
  stop();
  set_phase(Phase::kReconnect,
            "the sensor ended its scans with status " + reply.status + ": " + scip::status_text(reply.command(), reply.status));
}

Duration ScipSession::scan_period() const { return from_seconds(parameters_->period_s() * (scan_request_.skip + 1)); }

void ScipSession::deliver(const scip::ScanData& data, Time now) {
  const scip::Parameters& p = *parameters_;
  const double first_beam = scan_request_.first_step + 0.5 * (scan_request_.cluster - 1);
  const Time step_zero = clock_.stamp(data.time_ms, now);
  if (clock_.restarts() != seen_restarts_) {
    counters_.device_restarts += clock_.restarts() - seen_restarts_;
    seen_restarts_ = clock_.restarts();
    note("the sensor's clock jumped: it has restarted");
  }
  Received<LaserScan> scan;
  scan.value = scip::to_laser_scan(data, scan_request_, p);
  scan.stamp = std::min(step_zero + from_seconds(p.period_s() * first_beam / p.steps_per_turn) + options_.stamp_offset, now);
  scan.value.stamp = scan.stamp;
  scan.arrival = now;
  scan.sequence = ++scan_count_;
  scans_.push(std::move(scan));
  step_ = Step::kScans;
  last_scan_ = now;
  last_scan_at_ = now;
  deadline_ = now + kWarnScans * scan_period();
  set_phase(Phase::kRunning, p.model + ", " + std::to_string(scan_request_.values()) + " beams");
}

void ScipSession::advance(Time now) {
  if (now < deadline_ || phase() == Phase::kReconnect || phase() == Phase::kRefused || phase() == Phase::kClosed) {
    return;
  }
  if (step_ == Step::kDrain && quiet_) {
    const Time drained = last_byte_ + kScipDrained;
    return now >= drained ? enter(Step::kVersion, now) : static_cast<void>(deadline_ = drained);
  }
  late(now);
}

void ScipSession::late(Time now) {
  if (step_ == Step::kScans) {
    if (phase() == Phase::kRunning) {
      set_phase(Phase::kSilent, "no good scan for " + std::to_string((now - last_scan_at_).ns / 1'000'000) + " ms");
      deadline_ = last_scan_at_ + std::max(kScipLostSilence, 2 * kWarnScans * scan_period());
    } else {
      set_phase(Phase::kReconnect, "no good scan for " + std::to_string((now - last_scan_at_).ns / 1'000'000) + " ms");
    }
    return;
  }
  ++counters_.unanswered;
  ++tries_;
  if (step_ == Step::kDrain) {
    set_phase(Phase::kIdentifying, "connected, but the sensor does not answer yet (starting up, or held by another program)");
    return now - started_ < kStuckBoot ? enter(Step::kDrain, now) : set_phase(Phase::kReconnect, "the sensor does not answer");
  }
  if (tries_ < kScipTries) {
    return enter(step_, now);
  }
  switch (step_) {
    // Not every model answers every question; none of these is needed to measure.
    case Step::kVersion:
      return enter(Step::kParameters, now);
    case Step::kInfo:
      return enter(Step::kEnterTime, now);
    case Step::kEnterTime:
    case Step::kPairs:
      return enter(Step::kLeaveTime, now);
    case Step::kLeaveTime:
      return enter(Step::kStartScans, now);
    default:
      return set_phase(Phase::kReconnect, "no answer to " + expected_);
  }
}

Time ScipSession::next_deadline() const {
  return phase() == Phase::kReconnect || phase() == Phase::kRefused || phase() == Phase::kClosed ? kNever : deadline_;
}

}  // namespace pitwall::drivers

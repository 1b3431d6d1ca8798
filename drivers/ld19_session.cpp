// SPDX-License-Identifier: Apache-2.0
#include "drivers/ld19_session.hpp"

#include <algorithm>
#include <limits>

#include "core/math.hpp"

namespace pitwall::drivers {
namespace {

constexpr Duration kLd19WarnSilence = from_milliseconds(75);
constexpr Duration kLd19LostSilence = from_milliseconds(500);
constexpr Duration kLd19Boot = from_milliseconds(5'000);

DeviceClockOptions clock_options() {
  DeviceClockOptions options;
  options.modulus = ld19::kClockModulus;
  options.least_delay = from_milliseconds(2);  // 47 bytes at 230400 baud
  return options;
}

}  // namespace

Ld19Session::Ld19Session(const Ld19Options& options) : clock_(clock_options()), turn_(options.turn) {}

void Ld19Session::start(Time now) {
  ++counters_.starts;
  out().clear();
  decoder_.clear();
  clock_.reset();
  turn_.reset();
  previous_stamp_.reset();
  heard_ = false;
  last_frame_ = now;
  set_phase(Phase::kIdentifying, "listening for frames (230400 baud; STL-27L 921600)");
}

bool Ld19Session::listening() const { return phase() == Phase::kIdentifying || phase() == Phase::kRunning || phase() == Phase::kSilent; }

void Ld19Session::receive(Bytes bytes, Time now) {
  counters_.bytes_received += bytes.size();
  decoder_.push(bytes);
  while (const auto frame = decoder_.next()) {
    if (listening()) {
      handle(*frame, now);
    }
  }
  counters_.bad_sums = decoder_.bad_sums();
  counters_.dropped_bytes = decoder_.dropped_bytes();
  counters_.resyncs = decoder_.resyncs();
}

void Ld19Session::handle(const ld19::Frame& frame, Time now) {
  // The stamp is that of the frame's end; its points lie evenly between it and the one before.
  const Time stamp = clock_.stamp(frame.time_ms, now);
  if (clock_.restarts() != seen_restarts_) {
    counters_.device_restarts += clock_.restarts() - seen_restarts_;
    seen_restarts_ = clock_.restarts();
    previous_stamp_.reset();
    note("the sensor's clock jumped: it has restarted");
  }
  // The clock's ticks are coarse beside a frame of 2 ms, the angles are not.
  const double span_rad = frame.points.back().clockwise_rad - frame.points.front().clockwise_rad;
  const double rate_radps = frame.speed_deg_per_s * (math::kPi / 180.0);
  const Duration span = rate_radps > 0.0 ? from_seconds(std::min(0.1, span_rad / rate_radps)) : Duration{};
  heard_ = true;
  last_frame_ = now;
  set_phase(Phase::kRunning, "frames at " + std::to_string((frame.speed_deg_per_s + 180) / 360) + " turns a second");
  for (std::size_t i = 0; i < ld19::kPoints; ++i) {
    const ld19::Point& point = frame.points[i];
    const Duration before{span.ns * static_cast<std::int64_t>(ld19::kPoints - 1 - i) / static_cast<std::int64_t>(ld19::kPoints - 1)};
    Time at = stamp - before;
    at = previous_stamp_ ? std::max(at, *previous_stamp_) : at;
    previous_stamp_ = at;
    const float range = point.distance_m > 0.0 ? static_cast<float>(point.distance_m) : std::numeric_limits<float>::infinity();
    if (auto scan = turn_.add({point.clockwise_rad, range, at})) {
      const Time scan_stamp = scan->stamp;
      scans_.push({std::move(*scan), scan_stamp, now, ++scan_count_});
      last_scan_ = now;
    }
  }
  counters_.rejected = turn_.incomplete_turns();
}

void Ld19Session::advance(Time now) {
  if (!listening()) {
    return;
  }
  const Duration silence = now - last_frame_;
  const std::string text = "no frame for " + std::to_string(silence.ns / 1'000'000) + " ms";
  if (!heard_) {
    if (silence >= kLd19Boot) {
      set_phase(Phase::kReconnect, text + ": no LD19 here, or another baud rate");
    }
  } else if (silence >= kLd19LostSilence) {
    set_phase(Phase::kReconnect, text);
  } else if (silence >= kLd19WarnSilence && phase() == Phase::kRunning) {
    set_phase(Phase::kSilent, text);
  }
}

Time Ld19Session::next_deadline() const {
  if (!listening()) {
    return kNever;
  }
  return last_frame_ + (!heard_ ? kLd19Boot : phase() == Phase::kRunning ? kLd19WarnSilence : kLd19LostSilence);
}

}  // namespace pitwall::drivers

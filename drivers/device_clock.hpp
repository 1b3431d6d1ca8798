// SPDX-License-Identifier: Apache-2.0
// From a device's own time stamps to the host's clock. A stamp arrives late by a delay that is never negative and mostly near
// its least value, so the least of (arrival - stamp) over a window, as a line with slope, is drift and offset up to that least
// delay (lower envelope; Moon, Skelly, Towsley, "Estimation and removal of clock skew", INFOCOM 1999). Questions with an answer
// (TM1) bound the offset itself from both sides. A stamp is never later than its arrival.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "core/time.hpp"

namespace pitwall::drivers {

struct DeviceClockOptions {
  Duration tick = from_milliseconds(1);  ///< of the counter
  std::uint64_t modulus = 1U << 24U;     ///< the counter's wrap, in ticks
  double max_drift = 500e-6;             ///< of the device's clock against the host's; the estimate is clamped to it
  Duration window = from_milliseconds(60'000);
  /// The least delay between stamp and arrival, where no question bounds it: transmission, and what the device measures after
  /// its stamp.
  Duration least_delay{};
  /// A stamp that differs from what the host's clock leads to expect by more than this is a restart of the device.
  Duration restart_limit = from_milliseconds(2'000);
  /// That a counter may go back without one: its own jitter, and a stamp of something that began before the last question.
  Duration backwards = from_milliseconds(20);
};

class DeviceClock {
 public:
  explicit DeviceClock(const DeviceClockOptions& options);

  /// A question and its answer: the counter was read between the two instants.
  void add_pair(std::uint64_t counter, Time asked, Time answered);
  /// The host's instant of a stamp that has just arrived.
  Time stamp(std::uint64_t counter, Time arrival);
  /// Forgets everything (the stream was opened again).
  void reset();

  /// Times that the counter jumped: the device started again.
  [[nodiscard]] std::uint64_t restarts() const { return restarts_; }
  /// Rate of the device's clock against the host's, less 1; 0 until a third of the window has been seen.
  [[nodiscard]] double drift() const { return -slope_; }
  /// Half the interval in which the pairs leave the offset; nothing without consistent pairs.
  [[nodiscard]] std::optional<Duration> offset_uncertainty() const;
  /// Latest arrival less stamp.
  [[nodiscard]] Duration last_delay() const { return last_delay_; }

 private:
  struct Point {
    std::int64_t device_ns;
    std::int64_t delay_ns;  // arrival - device_ns
  };

  void begin(std::uint64_t counter, Time now);
  std::int64_t unwrap(std::uint64_t counter, Time now);
  void add_arrival(Point point);
  void fit();
  [[nodiscard]] double envelope_at(std::int64_t device_ns) const;

  DeviceClockOptions options_;
  std::uint64_t restarts_ = 0;
  Duration last_delay_;

  bool begun_ = false;
  std::uint64_t last_counter_ = 0;
  std::int64_t device_ns_ = 0;  // since begin()
  Time last_arrival_;

  // Arrivals: the least delay of each 64th of the window, and the line below them.
  std::deque<Point> minima_;
  double slope_ = 0.0;
  double envelope_ns_ = 0.0;  // at envelope_device_ns_
  std::int64_t envelope_device_ns_ = 0;
  double least_delay_ns_ = 0.0;

  // Pairs: host = device + offset, with the offset between these.
  bool paired_ = false;
  std::int64_t offset_low_ns_ = 0;
  std::int64_t offset_high_ns_ = 0;
  std::int64_t pairs_device_ns_ = 0;
};

}  // namespace pitwall::drivers

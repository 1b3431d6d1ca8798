// SPDX-License-Identifier: Apache-2.0
// An LD06, LD19 or kin: listens, stamps by the sensor's own clock, hands out a scan per turn.
#pragma once

#include <optional>

#include "core/messages.hpp"
#include "drivers/device_clock.hpp"
#include "drivers/ld19.hpp"
#include "drivers/session.hpp"
#include "drivers/turn.hpp"

namespace pitwall::drivers {

struct Ld19Options {
  TurnOptions turn{.beams = 450, .range_min_m = 0.02F, .range_max_m = 12.0F};
};

class Ld19Session final : public Session {
 public:
  explicit Ld19Session(const Ld19Options& options = {});

  void start(Time now) override;
  void receive(Bytes bytes, Time now) override;
  void advance(Time now) override;
  [[nodiscard]] Time next_deadline() const override;

  std::optional<Received<LaserScan>> next_scan() { return scans_.take(); }
  [[nodiscard]] Time last_scan() const { return last_scan_; }
  [[nodiscard]] const DeviceClock& clock() const { return clock_; }

 private:
  void handle(const ld19::Frame& frame, Time now);
  [[nodiscard]] bool listening() const;

  ld19::FrameDecoder decoder_;
  DeviceClock clock_;
  TurnAssembler turn_;
  bool heard_ = false;
  Time last_frame_;  // or since when one is awaited
  std::optional<Time> previous_stamp_;
  Outbox<Received<LaserScan>> scans_;
  std::uint64_t scan_count_ = 0;
  std::uint64_t seen_restarts_ = 0;
  Time last_scan_;
};

}  // namespace pitwall::drivers

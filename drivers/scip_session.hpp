// SPDX-License-Identifier: Apache-2.0
// The dialogue with a Hokuyo: QT and drain, VV, PP, II, clock pairs (TM0, TM1 n times, TM2), then MD endlessly. A scan with a bad
// sum or a wrong count is dropped and nothing else; silence is a warning after three periods (75 ms at 40 Hz) and asks for the
// stream to be opened again after 0.5 s, or six periods if that is more.
#pragma once

#include <optional>
#include <string>

#include "core/messages.hpp"
#include "drivers/device_clock.hpp"
#include "drivers/scip.hpp"
#include "drivers/session.hpp"

namespace pitwall::drivers {

struct ScipOptions {
  double min_angle_rad = -4.0;  ///< field of view, clipped to the sensor's own; 0 is forward, left positive
  double max_angle_rad = 4.0;
  int cluster = 1;
  int skip = 0;
  bool intensity = false;  ///< ME: twice the bytes
  int clock_pairs = 12;    ///< 0 leaves the sensor's clock to the arrivals alone
  /// Added to every stamp: what the sensor's "time of step 0" is off by.
  Duration stamp_offset{};
};

class ScipSession final : public Session {
 public:
  explicit ScipSession(const ScipOptions& options = {});

  void start(Time now) override;
  void receive(Bytes bytes, Time now) override;
  void advance(Time now) override;
  [[nodiscard]] Time next_deadline() const override;

  /// Laser off, for to_send() before the stream is closed for good.
  void stop();

  /// Every good scan, oldest first; the LaserScan's own stamp is the same as Received::stamp.
  std::optional<Received<LaserScan>> next_scan() { return scans_.take(); }
  [[nodiscard]] Time last_scan() const { return last_scan_; }
  /// VV and II as they came; empty before.
  [[nodiscard]] const scip::Info& version() const { return version_; }
  [[nodiscard]] const scip::Info& state() const { return state_info_; }
  [[nodiscard]] const std::optional<scip::Parameters>& parameters() const { return parameters_; }
  [[nodiscard]] const DeviceClock& clock() const { return clock_; }

 private:
  enum class Step { kDrain, kVersion, kParameters, kInfo, kEnterTime, kPairs, kLeaveTime, kStartScans, kScans };

  void enter(Step step, Time now);
  void send(const std::string& text, Time now, Duration patience);
  void handle(const scip::Reply& reply, Time now);
  void handle_dialogue(const scip::Reply& reply, Time now);
  void handle_pair(const scip::Reply& reply, Time now);
  void handle_scan(const scip::Reply& reply, Time now);
  void handle_parameters(const scip::Reply& reply, Time now);
  void late(Time now);
  [[nodiscard]] Duration scan_period() const;
  void deliver(const scip::ScanData& data, Time now);

  ScipOptions options_;
  scip::ReplyReader reader_;
  DeviceClock clock_;
  Step step_ = Step::kDrain;
  Time started_;
  Time deadline_ = kNever;
  Time last_byte_;
  Time asked_;
  int tries_ = 0;
  int pairs_left_ = 0;
  bool quiet_ = false;  // QT has been answered
  std::string expected_;
  scip::Info version_;
  scip::Info state_info_;
  std::optional<scip::Parameters> parameters_;
  scip::ScanRequest scan_request_;
  Outbox<Received<LaserScan>> scans_;
  std::uint64_t scan_count_ = 0;
  std::uint64_t seen_restarts_ = 0;
  Time last_scan_;     // kept over reconnections
  Time last_scan_at_;  // or since when one is awaited
};

}  // namespace pitwall::drivers

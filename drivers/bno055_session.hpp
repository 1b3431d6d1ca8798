// SPDX-License-Identifier: Apache-2.0
// The dialogue with a BNO055 on a serial port: configuration mode, identity, SI units, mode IMU, then a sample per period.
#pragma once

#include <optional>

#include "core/messages.hpp"
#include "drivers/bno055.hpp"
#include "drivers/session.hpp"

namespace pitwall::drivers {

struct Bno055Options {
  double rate_hz = 100.0;
};

class Bno055Session final : public Session {
 public:
  explicit Bno055Session(const Bno055Options& options = {});

  void start(Time now) override;
  void receive(Bytes bytes, Time now) override;
  void advance(Time now) override;
  [[nodiscard]] Time next_deadline() const override;

  /// Samples that passed bno055::SampleGate, stamped half a round trip before their arrival, in the sensor's axes.
  std::optional<Received<Imu>> next_imu() { return imu_.take(); }
  [[nodiscard]] Time last_imu() const { return last_imu_; }

 private:
  enum class Step { kToConfiguration, kIdentity, kUnits, kToImu, kSettle, kSamples };

  void enter(Step step, Time now);
  void handle(const bno055::Response& response, Time now);
  void handle_sample(Bytes registers, Time now);
  void write(bno055::Register first, std::uint8_t value);
  void settle(Step next, Time now);
  void ask_sample(Time now);
  [[nodiscard]] bool talking() const;

  Bno055Options options_;
  bno055::ResponseReader reader_;
  bno055::SampleGate gate_;
  Step step_ = Step::kToConfiguration;
  Step next_step_ = Step::kIdentity;  // after kSettle
  Time started_;
  Time deadline_ = kNever;
  std::optional<Time> asked_;
  Time next_sample_;
  Outbox<Received<Imu>> imu_;
  std::uint64_t imu_count_ = 0;
  Time last_imu_;        // kept over reconnections
  Time last_sample_at_;  // or since when one is awaited
};

}  // namespace pitwall::drivers

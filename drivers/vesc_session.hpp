// SPDX-License-Identifier: Apache-2.0
// The dialogue with a VESC: identify (FW_VERSION every 200 ms, with a flush of zeros where garbage may be in the way), then poll
// telemetry and IMU at their rates, one request of an id at a time. Commands go out only when they are handed in: there is no
// keep-alive here, so that a control loop that hangs ends in the device's own timeout.
#pragma once

#include <array>
#include <optional>

#include "core/messages.hpp"
#include "drivers/session.hpp"
#include "drivers/vesc.hpp"

namespace pitwall::drivers {

struct VescOptions {
  double telemetry_rate_hz = 50.0;
  std::uint32_t telemetry_mask = vesc::kRacingMask;
  double imu_rate_hz = 100.0;  ///< 0 asks for none
  /// Only this device; any where there is none.
  std::optional<std::array<std::uint8_t, 12>> uuid{};
};

class VescSession final : public Session {
 public:
  explicit VescSession(const VescOptions& options = {});

  void start(Time now) override;
  void receive(Bytes bytes, Time now) override;
  void advance(Time now) override;
  [[nodiscard]] Time next_deadline() const override;

  enum class Handed { kQueued, kNotIdentified, kNotFinite };
  /// Hands in one command for the next to_send(). Of two motor commands (or two servo commands) between two to_send() only the
  /// newer goes out, and nothing is ever sent twice. Works whenever the device has been identified since start(), silent or
  /// not: a stop must still be tried.
  Handed command(const vesc::Command& command);
  /// Firmware 7: the device ignores the motor for this time. False (and nothing sent) on older firmware or unidentified.
  bool estop(int milliseconds);

  [[nodiscard]] const std::optional<vesc::FwVersion>& firmware() const { return firmware_; }
  /// Every reply of telemetry, oldest first; stamped half a round trip before its arrival.
  std::optional<Received<vesc::Values>> next_telemetry() { return telemetry_.take(); }
  /// Accelerations and rates in the device's axes. Nothing from a device without an IMU.
  std::optional<Received<Imu>> next_imu() { return imu_.take(); }
  /// The first fault since start() or clear_fault(), with the telemetry of that moment.
  [[nodiscard]] const std::optional<Received<vesc::Values>>& first_fault() const { return first_fault_; }
  void clear_fault() { first_fault_.reset(); }
  /// Last telemetry that was good; kept over reconnections.
  [[nodiscard]] Time last_telemetry() const { return last_telemetry_; }

 private:
  struct Poll {
    Duration period;
    Time due;
    std::optional<Time> asked{};  ///< when the outstanding request went into to_send()
    int missed = 0;               ///< requests in a row without a reply
  };

  void append_pending(std::vector<std::byte>& bytes) override;
  [[nodiscard]] bool talking() const;
  void handle(Bytes payload, Time now);
  void handle_firmware(Bytes payload, Time now);
  void handle_values(Bytes payload, Time now);
  void handle_imu(Bytes payload, Time now);
  void drain(Time now);
  void advance_identification(Time now);
  void advance_polls(Time now);
  void ask(Poll& poll, Time now);
  Time stamp_of(Poll& poll, Time now);

  VescOptions options_;
  vesc::FrameDecoder decoder_;
  std::optional<vesc::FwVersion> firmware_;
  Time started_;
  Time last_byte_;
  Time partial_since_;   // when what waits for its end began, or was last looked into
  Time last_telemetry_;  // kept over reconnections
  Time last_values_at_;  // or since when they are awaited
  std::vector<std::byte> scratch_;
  Time ask_firmware_at_ = kNever;
  int firmware_requests_ = 0;
  bool full_values_ = false;  ///< the device does not know GET_VALUES_SELECTIVE
  bool imu_absent_ = false;
  Poll values_poll_;
  Poll imu_poll_;
  std::optional<vesc::Command> motor_command_;
  std::optional<vesc::Command> servo_command_;
  std::optional<int> estop_ms_;
  Outbox<Received<vesc::Values>> telemetry_;
  Outbox<Received<Imu>> imu_;
  std::optional<Received<vesc::Values>> first_fault_;
  std::uint64_t telemetry_count_ = 0;
  std::uint64_t telemetry_of_start_ = 0;
  std::uint64_t imu_count_ = 0;
};

}  // namespace pitwall::drivers

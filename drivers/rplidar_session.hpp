// SPDX-License-Identifier: Apache-2.0
// The dialogue with an RPLIDAR: STOP and drain, INFO, HEALTH (an error is met with one RESET), the typical scan mode and its time
// per measurement where the sensor can tell, motor on, then EXPRESS_SCAN in that mode, or SCAN.
#pragma once

#include <optional>

#include "core/messages.hpp"
#include "drivers/device_clock.hpp"
#include "drivers/rplidar.hpp"
#include "drivers/session.hpp"
#include "drivers/turn.hpp"

namespace pitwall::drivers {

struct RplidarOptions {
  TurnOptions turn{};
  bool express = true;  ///< the sensor's typical mode; false: the standard scan, which all have
  int motor_rpm = 0;    ///< S2 and later; 0 leaves the speed to the sensor
  int motor_pwm = 660;  ///< A series through the accessory board; 0 sends none. (An A1 turns when DTR is off: ByteStream::set_dtr.)
};

class RplidarSession final : public Session {
 public:
  explicit RplidarSession(const RplidarOptions& options = {});

  void start(Time now) override;
  void receive(Bytes bytes, Time now) override;
  void advance(Time now) override;
  [[nodiscard]] Time next_deadline() const override;

  /// Stops the stream and the motor, for to_send() before the stream is closed for good.
  void stop();

  /// One scan a turn; a distance of 0, which is all that the sensor says of what it did not measure, is "no return".
  std::optional<Received<LaserScan>> next_scan() { return scans_.take(); }
  [[nodiscard]] Time last_scan() const { return last_scan_; }
  [[nodiscard]] const std::optional<rplidar::Info>& info() const { return info_; }
  [[nodiscard]] const std::optional<rplidar::Health>& health() const { return health_; }

 private:
  enum class Step { kDrain, kReset, kInfo, kHealth, kTypicalMode, kModeTime, kSampleRate, kStartScans, kScans };

  void enter(Step step, Time now);
  void handle(const rplidar::Packet& packet, Time now);
  void handle_health(const rplidar::Packet& packet, Time now);
  void handle_configuration(const rplidar::Packet& packet, Time now);
  void handle_scan(const rplidar::Packet& packet, Time now);
  void begin_clock();
  void late(Time now);
  void start_motor();
  [[nodiscard]] bool talking() const;

  RplidarOptions options_;
  rplidar::PacketReader reader_;
  rplidar::PointDecoder decoder_;
  DeviceClock clock_;  // counts measurements
  TurnAssembler turn_;
  std::vector<rplidar::Point> points_;
  Step step_ = Step::kDrain;
  Time deadline_ = kNever;
  int tries_ = 0;
  bool was_reset_ = false;
  bool express_ = true;
  std::optional<rplidar::Info> info_;
  std::optional<rplidar::Health> health_;
  std::uint8_t mode_ = 0;
  Duration per_point_;
  std::uint64_t point_count_ = 0;
  Time last_stamp_;
  bool scanning_ = false;  // a scan has been finished since start()
  Outbox<Received<LaserScan>> scans_;
  std::uint64_t scan_count_ = 0;
  Time last_scan_;  // kept over reconnections
  Time last_packet_at_;
};

}  // namespace pitwall::drivers

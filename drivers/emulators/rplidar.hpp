// SPDX-License-Identifier: Apache-2.0
// A Slamtec RPLIDAR as its host sees it: requests A5 .., INFO, HEALTH, SAMPLERATE, GET_LIDAR_CONF, SCAN and FORCE_SCAN (5-byte nodes),
// EXPRESS_SCAN as legacy (84 bytes, 32 points), dense (84 bytes, 40 points) or ultra capsules (132 bytes, 96 points). Turns clockwise in a
// room of its own, or wherever look() puts it.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "drivers/emulators/device.hpp"
#include "drivers/emulators/room.hpp"

namespace pitwall::emulators {

/// The capsules that EXPRESS_SCAN is answered with: A1; A2 and A3; C1 and the S series.
enum class RplidarCapsule { kLegacy, kUltra, kDense };

/// Defaults are an A2M8 of hardware revision 5 (115200 baud).
struct RplidarConfig {
  int model = 0x28;
  int firmware_major = 1;
  int firmware_minor = 29;
  int hardware = 5;
  double turns_per_s = 10.0;
  double samples_per_s = 4000.0;
  RplidarCapsule capsule = RplidarCapsule::kLegacy;
};

/// The configuration of a model by its label: "RPLIDAR A2", "RPLIDAR S2", ...; what is not known is an A2.
RplidarConfig rplidar_named(std::string_view label);

class Rplidar final : public Device {
 public:
  explicit Rplidar(const RplidarConfig& config = {});

  void receive(Time now, ByteView bytes) override;
  void advance(Time now) override;
  [[nodiscard]] Time next_event() const override;
  void restart(Time now) override;
  void spoil_sum(Bytes& message) const override;

  /// What it sees from here on.
  void look(Sight sight) { sight_ = std::move(sight); }
  [[nodiscard]] bool scanning() const { return mode_ != Mode::kIdle; }

 private:
  enum class Mode { kIdle, kStandard, kExpress };

  void add_knobs();
  void request(Time now, std::uint8_t command, ByteView payload);
  void describe(std::uint32_t length, bool stream, std::uint8_t type);
  void configuration(ByteView payload);
  void begin(Time now, Mode mode);
  void nodes();
  void capsule();
  void append_legacy(Bytes& rest);
  void append_ultra(Bytes& rest);
  void append_dense(Bytes& rest);
  [[nodiscard]] int behind_encoder_mm(std::int64_t sample) const;
  [[nodiscard]] double bearing_deg(std::int64_t sample) const;
  [[nodiscard]] int distance_mm(std::int64_t sample) const;
  [[nodiscard]] Time time_of(std::int64_t sample) const;
  [[nodiscard]] int points_a_message() const;

  RplidarConfig config_;
  Sight sight_ = still_room;
  Bytes buffer_;
  Mode mode_ = Mode::kIdle;
  Time began_;
  std::int64_t sample_ = 0;  // next one to be sent since the scan began
  bool first_capsule_ = false;
  int first_mm_ = 0;  // of the next ultra capsule; the one before needs it too
  int health_ = 0;
  int health_code_ = 0;
  bool motor_stuck_ = false;
};

}  // namespace pitwall::emulators

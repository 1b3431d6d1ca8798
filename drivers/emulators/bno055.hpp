// SPDX-License-Identifier: Apache-2.0
// A Bosch BNO055: its registers, to be read as over I2C, and the frames of its serial port (115200 8N1) around the same registers:
//   write  AA 00 reg len data   -> EE 01
//   read   AA 01 reg len        -> BB len data, or EE error (07: bus over-run, a matter of course)
// Data registers read 0 until a mode with fusion runs, which it does 7 ms after it was chosen (19 ms back to configuration).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "drivers/emulators/device.hpp"

namespace pitwall::emulators {

/// What the sensor feels, in its axes.
struct Bno055Truth {
  std::array<double, 3> acceleration_mps2{0.0, 0.0, 9.80665};
  std::array<double, 3> rate_degps{};
  std::array<double, 4> quaternion_wxyz{1.0, 0.0, 0.0, 0.0};
};

class Bno055 final : public Device {
 public:
  Bno055();

  void receive(Time now, ByteView bytes) override;
  void advance(Time now) override;
  void restart(Time now) override;
  void spoil_sum(Bytes& message) const override;

  void feel(const Bno055Truth& truth) { truth_ = truth; }
  /// The registers from `first` on, as a bus reads them; nothing where the device does not answer (knob `nak`).
  std::optional<Bytes> read(Time now, std::uint8_t first, std::size_t count);
  /// Whether the device took it.
  bool write(Time now, std::uint8_t first, ByteView values);

 private:
  void add_knobs();
  void measure();
  void command(Time now, ByteView frame);

  std::array<std::uint8_t, 128> registers_{};
  Bno055Truth truth_;
  Bytes buffer_;
  Time next_sample_;
  Time running_at_ = kNever;
  int naks_ = 0;
  int overruns_ = 0;
  int spikes_ = 0;
  bool frozen_ = false;
};

}  // namespace pitwall::emulators

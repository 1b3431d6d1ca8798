// SPDX-License-Identifier: Apache-2.0
// A game pad as Linux' joydev shows it: records {u32 ms, i16 value, u8 type, u8 number}, little-endian; on open the state of every
// control with the type's bit 0x80, then only what changes. A pad whose sticks jitter can be made to stream at rest.
#pragma once

#include <cstdint>
#include <vector>

#include "drivers/emulators/clock.hpp"
#include "drivers/emulators/device.hpp"

namespace pitwall::emulators {

/// Defaults are a Logitech F710 in mode X: 11 buttons, 8 axes, deadman on the left shoulder button.
struct JoystickConfig {
  int buttons = 11;
  int axes = 8;
  int deadman_button = 4;
  double jitter_hz = 0.0;  ///< of the sticks at rest; 0: an exact pad, which is silent
};

class Joystick final : public Device {
 public:
  explicit Joystick(const JoystickConfig& config = {});

  void opened(Time now) override;
  void closed(Time now) override;
  void receive(Time now, ByteView bytes) override;
  void advance(Time now) override;
  [[nodiscard]] Time next_event() const override;
  void restart(Time now) override;
  void spoil_sum(Bytes& message) const override;

  /// Says so only if that is a change. The number must exist.
  void press(Time now, int button, bool down);
  void move(Time now, int axis, int value);
  /// The deadman.
  void hold(Time now) { press(now, config_.deadman_button, true); }
  void release(Time now) { press(now, config_.deadman_button, false); }
  /// Since when the deadman is up or down.
  [[nodiscard]] bool held() const { return buttons_[static_cast<std::size_t>(config_.deadman_button)]; }

 private:
  void add_knobs();
  void record(Time now, int value, int type, int number);

  JoystickConfig config_;
  DeviceClock clock_;
  std::vector<bool> buttons_;
  std::vector<int> axes_;
  bool open_ = false;
  Time next_jitter_ = kNever;
  int jitter_ = 0;
};

}  // namespace pitwall::emulators

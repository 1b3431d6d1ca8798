// SPDX-License-Identifier: Apache-2.0
// A joystick: records in, the operator's wishes out. It sends only when something changes, so silence alone says nothing about
// the radio; what can be seen is whether this pad streams (sticks that tremble) while nobody drives.
#pragma once

#include <memory>
#include <optional>

#include "core/messages.hpp"
#include "drivers/joystick.hpp"
#include "drivers/session.hpp"

namespace pitwall::drivers {

/// What only the kernel can answer; behind an interface, since a FIFO of records has no such answers.
class InputDevice {
 public:
  virtual ~InputDevice() = default;
  /// Vendor, product, name, numbers of controls; for evdev the ranges with the present values.
  virtual Result<joystick::Identity> identity() = 0;
  /// evdev: present values of all controls, in the identity's order (after SYN_DROPPED, and at the start).
  virtual Result<joystick::State> state() = 0;
};
/// Over the descriptor of an open /dev/input/jsN or eventN (ByteStream::descriptor()); `path` finds joydev's ids in /sys.
[[nodiscard]] std::unique_ptr<InputDevice> input_device(int descriptor, const std::string& path);
/// Always this identity and a resting state; for pads behind a FIFO.
[[nodiscard]] std::unique_ptr<InputDevice> fixed_input_device(joystick::Identity identity);

struct JoystickOptions {
  enum class Format { kJoydev, kEvdev } format = Format::kJoydev;
  /// Used instead of the layouts that ship.
  std::optional<joystick::Layout> layout{};
};

class JoystickSession final : public Session {
 public:
  explicit JoystickSession(const JoystickOptions& options = {});

  /// Before each start(): whom to ask. The device is asked at start() and when the kernel has dropped events.
  void set_device(std::unique_ptr<InputDevice> device) { device_ = std::move(device); }

  void start(Time now) override;
  void receive(Bytes bytes, Time now) override;
  void advance(Time now) override;
  [[nodiscard]] Time next_deadline() const override { return next_deadline_; }

  /// The whole state is known: every control has been reported once since start().
  [[nodiscard]] bool complete() const;
  [[nodiscard]] const joystick::State& state() const { return state_; }
  /// All released until complete().
  [[nodiscard]] joystick::Controls controls() const;
  /// The buttons, for Observation and recorder; the stamp is that of the last event.
  [[nodiscard]] Joy joy() const;
  /// Counts every record that is a movement, not the initial burst.
  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] Time last_event() const { return last_event_; }
  /// Deadman and autonomy button have been seen released together since start().
  [[nodiscard]] bool deadman_seen_released() const { return deadman_seen_released_; }
  /// In each of the last `streaming_seconds` seconds at least one event came: for such a pad, and only for it, a second of silence
  /// means that its radio is gone.
  [[nodiscard]] bool streams() const { return streaming_seconds_ >= kStreamingSeconds; }
  static constexpr int kStreamingSeconds = 5;
  [[nodiscard]] const std::optional<joystick::Identity>& identity() const { return identity_; }
  [[nodiscard]] const std::optional<joystick::Layout>& layout() const { return layout_; }

 private:
  void handle_joydev(Bytes record, Time now);
  void handle_evdev(Bytes record, Time now);
  void refresh();
  void moved(Time now);
  void settle();
  [[nodiscard]] bool talking() const;

  JoystickOptions options_;
  std::unique_ptr<InputDevice> device_;
  std::optional<joystick::Identity> identity_;
  std::optional<joystick::Layout> layout_;
  joystick::State state_;
  std::vector<bool> axis_known_;
  std::vector<bool> button_known_;
  std::vector<std::byte> buffer_;
  bool dropping_ = false;
  bool deadman_seen_released_ = false;
  std::uint64_t events_ = 0;
  std::uint64_t events_at_second_ = 0;
  int streaming_seconds_ = 0;
  Time next_deadline_ = kNever;
  Time last_event_;
};

}  // namespace pitwall::drivers

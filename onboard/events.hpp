// SPDX-License-Identifier: Apache-2.0
// What device threads tell the control loop, and the one place where they meet. All stamps are by the run's clock: CLOCK_MONOTONIC, moved
// to the Unix epoch once at the start, so that it never jumps and recordings still tell the time of day.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "core/messages.hpp"
#include "core/time.hpp"
#include "drivers/joystick.hpp"
#include "drivers/session.hpp"
#include "drivers/vesc.hpp"
#include "onboard/states.hpp"

namespace pitwall::onboard {

/// The clock of a run.
class RunClock {
 public:
  /// Takes the Unix time now.
  RunClock();
  [[nodiscard]] Time now() const;
  [[nodiscard]] Time of_monotonic(Time t) const { return t + offset_; }
  [[nodiscard]] Time to_monotonic(Time t) const { return t - offset_; }

 private:
  Duration offset_;
};

/// The connection to the motor controller, as it is from now on.
struct MotorLink {
  bool present = false;
  bool identified = false;
  bool supported = false;
  std::uint64_t connection = 0;
  std::uint64_t identity = 0;  ///< hash of the UUID
  friend bool operator==(const MotorLink&, const MotorLink&) = default;
};

/// The joystick, as it is from now on; told when it changes and 20 times a second.
struct JoystickState {
  bool present = false;  ///< every control is known
  std::uint64_t connection = 0;
  joystick::Controls controls;
  std::vector<int> buttons;
  bool any_event = false;
  Time last_event;
  Time arrival;
};

/// What the worst of the emergency stop inputs says (onboard/estop.hpp); told when it changes and 20 times a second.
struct EstopReport {
  EstopSays says = EstopSays::kWaits;
  Time arrival;
};

/// A line for the log.
struct Note {
  std::string text;
};

using Event = std::variant<MotorLink, drivers::Received<vesc::Values>, drivers::Received<Imu>, drivers::Received<LaserScan>, JoystickState,
                           EstopReport, Note>;

/// Many threads put events in, one takes them out.
class Inbox {
 public:
  explicit Inbox(const RunClock& clock) : clock_(clock) { events_.reserve(256); }

  /// `wakes`: the control loop has to look at once.
  void post(Event event, bool wakes);
  /// Waits for an event that wakes, or until `deadline`; then `into` holds all events since, in order, and nothing else.
  void wait(Time deadline, std::vector<Event>& into);
  [[nodiscard]] const RunClock& clock() const { return clock_; }

 private:
  RunClock clock_;
  std::mutex mutex_;
  std::condition_variable woken_;
  bool wake_ = false;
  std::vector<Event> events_;
};

}  // namespace pitwall::onboard

// SPDX-License-Identifier: Apache-2.0
// The car, as the third of those who run a Controller (beside simulator and replay): device threads, one control loop, a scribe. The loop
// runs at each scan, at each change of the joystick, and every 10 ms at the latest; nothing in it waits for a device, a file or a terminal.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "onboard/car_loop.hpp"
#include "onboard/devices.hpp"
#include "onboard/estop.hpp"
#include "onboard/scribe.hpp"
#include "onboard/service_notifier.hpp"

namespace pitwall::onboard {

/// Where the devices are, as opener_of() takes it.
struct DeviceAddresses {
  std::string vesc;
  std::string lidar;
  std::string joystick;  ///< /dev/input/jsN, eventN or a FIFO of joydev records

  /// As the car's profile has them, and the first joystick.
  static DeviceAddresses of(const calibration::Hardware& hardware);
};

/// The three of them, on one inbox.
struct Devices {
  std::unique_ptr<MotorDevice> motor;
  std::unique_ptr<LidarDevice> lidar;
  std::unique_ptr<JoystickDevice> joystick;

  /// Errors: an address or a LiDAR model that is not known.
  static Result<Devices> make(const calibration::Hardware& hardware, const DeviceAddresses& addresses, Inbox& inbox);
  void start();
  /// The motor first.
  void stop();
};

/// Median, 99th percentile and largest of a number of values.
struct Spread {
  double p50 = 0.0;
  double p99 = 0.0;
  double largest = 0.0;
  std::size_t count = 0;
  static Spread of(std::vector<double> values);
};

struct RunSummary {
  double lasted_s = 0.0;
  double armed_s = 0.0;
  double way_m = 0.0;
  LoopCounts counts;
  Spread latency_ms;             ///< from a scan's last byte (a decision by rate: from its instant) to the command being written
  Spread interval_ms;            ///< between scans' arrivals
  Spread tick_ms;                ///< between ticks
  std::uint64_t late_ticks = 0;  ///< more than 25 ms after the one before
  std::uint64_t dropped = 0;     ///< by the scribe
  std::uint64_t bad_sums = 0;    ///< frames of motor controller and LiDAR
  double cpu_share = 0.0;        ///< of one core, all threads
  State last_state = State::kNoDevice;
  std::vector<std::pair<std::string_view, double>> controller;  ///< Controller::counters()
};

class Runner {
 public:
  /// Errors: an address or a LiDAR model that is not known.
  static Result<std::unique_ptr<Runner>> make(const CarLoopSetup& setup, const DeviceAddresses& addresses, Controller& controller,
                                              Localiser* localiser, Scribe& scribe, const RunClock& clock,
                                              std::vector<std::unique_ptr<EstopInput>> estops = {});

  /// Runs until `stop` says so, then stops the car; devices may come and go meanwhile.
  RunSummary run(const std::function<bool()>& stop);

 private:
  Runner(const CarLoopSetup& setup, Controller& controller, Localiser* localiser, Scribe& scribe, const RunClock& clock,
         std::vector<std::unique_ptr<EstopInput>> estops);
  void take_events(Time now);
  void tell(const LoopStep& step, Time now);
  void tell_state(const Output& out, Time now);
  [[nodiscard]] std::string waits_for(Time now) const;
  [[nodiscard]] RunSummary summary(Time began, Time ended, double cpu_s);

  Inbox inbox_;
  Scribe& scribe_;
  Controller& controller_;
  CarLoop loop_;
  EstopWatch estops_;
  Devices devices_;
  ServiceNotifier service_ = ServiceNotifier::from_environment();
  std::vector<Event> events_;
  Time last_tick_;
  Time last_arrival_;
  std::vector<double> intervals_ms_;
  std::vector<double> ticks_ms_;
  RunSummary summary_;
  // What was told last.
  Cause told_cause_ = Cause::kNone;
  Cause told_refusal_ = Cause::kNone;
  std::uint32_t told_warnings_ = 0;
  Time warned_;
  Time waited_;
};

}  // namespace pitwall::onboard

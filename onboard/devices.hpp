// SPDX-License-Identifier: Apache-2.0
// The car's devices, each a thread that serves one session on its stream and posts what comes to the inbox. They start without their
// device, wait for it, and find it again: that is the link's business (drivers/device_link.hpp).
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "drivers/device_link.hpp"
#include "drivers/joystick_session.hpp"
#include "drivers/scip_session.hpp"
#include "drivers/vesc_session.hpp"
#include "onboard/events.hpp"

namespace pitwall::onboard {

/// Gives the calling thread a real-time priority (SCHED_FIFO, low): a car must not wait for a compiler. False where that is not allowed.
bool be_prompt();

/// What a thread of a device does round by round, until it is asked to end.
class DeviceThread {
 public:
  DeviceThread(std::string name, Inbox& inbox, drivers::Session& session, drivers::DeviceLink::Opener opener);
  virtual ~DeviceThread();
  DeviceThread(const DeviceThread&) = delete;
  DeviceThread& operator=(const DeviceThread&) = delete;

  void start();
  /// Sends what is queued and closes.
  void stop();

 protected:
  /// Before each round: what is to be sent.
  virtual void prepare() {}
  /// After each round: what has come.
  virtual void publish() = 0;
  /// Before the stream is closed for good.
  virtual void end() {}
  [[nodiscard]] Time shifted(Time monotonic) const { return inbox_.clock().of_monotonic(monotonic); }
  template <class T>
  drivers::Received<T> shifted(drivers::Received<T> value) const {
    value.stamp = shifted(value.stamp);
    value.arrival = shifted(value.arrival);
    return value;
  }

  Inbox& inbox_;
  drivers::DeviceLink link_;

 private:
  void run();
  void tell_trouble();

  std::string name_;
  drivers::Session& session_;
  std::string trouble_;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

class MotorDevice final : public DeviceThread {
 public:
  MotorDevice(Inbox& inbox, drivers::DeviceLink::Opener opener, const drivers::VescOptions& options);
  ~MotorDevice() override { stop(); }

  /// Frames of one tick, to be written at once. `due`: when the decision behind them was, by the run's clock.
  void send(std::span<const vesc::Command> frames, std::optional<Time> due);
  /// From `due` to the frames being written, in ms; only after stop().
  [[nodiscard]] const std::vector<double>& latencies_ms() const { return latencies_ms_; }
  /// Only after stop().
  [[nodiscard]] const drivers::VescSession& session() const { return session_; }

 private:
  void prepare() override;
  void publish() override;
  void end() override;

  drivers::VescSession session_;
  MotorLink told_;
  std::mutex mutex_;
  std::optional<vesc::Command> motor_;
  std::optional<vesc::Command> servo_;
  std::optional<Time> due_;
  std::vector<double> latencies_ms_;
};

/// Any LiDAR: its session, how it gives its scans, and how it is switched off.
struct LidarKind {
  std::unique_ptr<drivers::Session> session;
  std::function<std::optional<drivers::Received<LaserScan>>()> next_scan;
  std::function<void()> switch_off;
  int baud = 115200;  ///< of a serial line
};
/// "UST-10LX" and other Hokuyos, "RPLIDAR ...", "LD06", "LD19", ...; an error names what is known.
Result<LidarKind> lidar_kind(const std::string& model);

class LidarDevice final : public DeviceThread {
 public:
  LidarDevice(Inbox& inbox, drivers::DeviceLink::Opener opener, LidarKind kind);
  ~LidarDevice() override { stop(); }
  [[nodiscard]] const drivers::Session& session() const { return *kind_.session; }

 private:
  void publish() override;
  void end() override { kind_.switch_off(); }
  LidarKind kind_;
};

class JoystickDevice final : public DeviceThread {
 public:
  JoystickDevice(Inbox& inbox, const std::string& path);
  ~JoystickDevice() override { stop(); }

 private:
  void publish() override;
  drivers::JoystickSession session_;
  JoystickState told_;
  bool told_once_ = false;
};

/// An opener of "tcp://host:port", "file:///path" or a serial line with an optional "?baud=N". The error is that of the address.
Result<drivers::DeviceLink::Opener> opener_of(const std::string& address, int baud);

}  // namespace pitwall::onboard

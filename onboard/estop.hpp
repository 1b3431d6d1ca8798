// SPDX-License-Identifier: Apache-2.0
// Emergency stops beside the joystick's button. Each fails safe: what is lost, or says anything else than that the car may go, is a stop.
//
//   keyboard                  any key in the program's terminal; the end of the terminal is a stop too
//   gpio:/dev/gpiochip0:17    a contact that closes the line to ground while the car may go (normally closed), by the kernel's GPIO
//                             character device with its pull-up: a pressed button and a broken wire read alike
//   tcp:7400                  somebody connects and sends the line "ok" at least every 0.5 s; silence, an end, any other line is a stop
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/result.hpp"
#include "core/time.hpp"
#include "onboard/events.hpp"

namespace pitwall::onboard {

/// One input.
class EstopInput {
 public:
  virtual ~EstopInput() = default;
  EstopInput(const EstopInput&) = delete;
  EstopInput& operator=(const EstopInput&) = delete;
  /// By the monotonic clock. Never blocks; asked at least every 10 ms.
  virtual EstopSays look(Time now) = 0;
  /// What poll() should watch so that it is asked earlier; -1: nothing.
  [[nodiscard]] virtual int descriptor() const = 0;
  /// As the user named it.
  [[nodiscard]] const std::string& name() const { return name_; }

 protected:
  explicit EstopInput(std::string name) : name_(std::move(name)) {}

 private:
  std::string name_;
};

/// "keyboard", "gpio:CHIP:LINE" or "tcp:PORT". Errors: anything else; no terminal, line or port of that name.
Result<std::unique_ptr<EstopInput>> make_estop(const std::string& text);

/// ioctl(2), or what a test has in its place.
using IoControl = std::function<int(int descriptor, unsigned long request, void* argument)>;
/// A line of an open GPIO chip (the descriptor is taken over). Errors: those of the request for the line.
Result<std::unique_ptr<EstopInput>> make_gpio_estop(std::string name, int chip_descriptor, unsigned line, IoControl io);

/// Asks all inputs in a thread of its own and posts what the worst of them says, at once when that changes and 20 times a second.
class EstopWatch {
 public:
  EstopWatch(Inbox& inbox, std::vector<std::unique_ptr<EstopInput>> inputs);
  ~EstopWatch() { stop(); }
  EstopWatch(const EstopWatch&) = delete;
  EstopWatch& operator=(const EstopWatch&) = delete;
  void start();
  void stop();

 private:
  void run();
  void wait() const;

  Inbox& inbox_;
  std::vector<std::unique_ptr<EstopInput>> inputs_;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

}  // namespace pitwall::onboard

// SPDX-License-Identifier: Apache-2.0
// What systemd is told of a service (sd_notify(3), Type=notify) by plain datagrams: that it is up, that its control loop still turns
// (WatchdogSec=), that it ends. Without $NOTIFY_SOCKET nothing is said.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/time.hpp"

namespace pitwall::onboard {

class ServiceNotifier {
 public:
  /// `socket` as in $NOTIFY_SOCKET (a path, or @ and an abstract name; empty: nobody listens), `watchdog` as it was asked for.
  explicit ServiceNotifier(const std::string& socket, std::optional<Duration> watchdog = {});
  /// By $NOTIFY_SOCKET, $WATCHDOG_USEC and $WATCHDOG_PID.
  static ServiceNotifier from_environment();
  ~ServiceNotifier();
  ServiceNotifier(ServiceNotifier&& other) noexcept;
  ServiceNotifier(const ServiceNotifier&) = delete;
  ServiceNotifier& operator=(const ServiceNotifier&) = delete;

  void ready() const { say("READY=1"); }
  /// From each turn of what must not hang, and from nowhere else; said four times per watchdog period at most.
  void alive(Time now);
  /// The car stands: what is still to be written may take longer than a turn of the loop.
  void stopping() const { say("STOPPING=1\nWATCHDOG_USEC=60000000"); }

 private:
  void say(std::string_view text) const;

  int descriptor_ = -1;
  Duration period_{};  // 0: no watchdog
  std::optional<Time> said_;
};

}  // namespace pitwall::onboard

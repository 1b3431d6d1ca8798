// SPDX-License-Identifier: Apache-2.0
#include "onboard/service_notifier.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <utility>

#include "core/text.hpp"

namespace pitwall::onboard {
namespace {

std::string from_shell(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

ServiceNotifier::ServiceNotifier(const std::string& socket, std::optional<Duration> watchdog) {
  sockaddr_un address{};
  if (socket.size() < 2 || socket.size() >= sizeof address.sun_path || (socket[0] != '/' && socket[0] != '@')) return;
  address.sun_family = AF_UNIX;
  std::copy(socket.begin(), socket.end(), address.sun_path);
  if (socket[0] == '@') address.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket.size());
  descriptor_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor_ >= 0 && ::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), size) != 0) {
    ::close(descriptor_);
    descriptor_ = -1;
  }
  if (watchdog) period_ = Duration{watchdog->ns / 4};
}

ServiceNotifier::ServiceNotifier(ServiceNotifier&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), period_(other.period_), said_(other.said_) {}

ServiceNotifier::~ServiceNotifier() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

ServiceNotifier ServiceNotifier::from_environment() {
  const auto microseconds = parse_int(from_shell("WATCHDOG_USEC"));
  const std::string process = from_shell("WATCHDOG_PID");
  const bool ours = process.empty() || process == std::to_string(::getpid());
  const bool watched = microseconds && *microseconds > 0 && ours;
  return ServiceNotifier(from_shell("NOTIFY_SOCKET"), watched ? std::optional(Duration{*microseconds * 1000}) : std::nullopt);
}

void ServiceNotifier::alive(Time now) {
  if (period_.ns <= 0 || (said_ && now - *said_ < period_)) return;
  said_ = now;
  say("WATCHDOG=1");
}

void ServiceNotifier::say(std::string_view text) const {
  if (descriptor_ >= 0) (void)::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL);
}

}  // namespace pitwall::onboard

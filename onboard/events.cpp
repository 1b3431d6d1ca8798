// SPDX-License-Identifier: Apache-2.0
#include "onboard/events.hpp"

#include <chrono>
#include <utility>

#include "drivers/byte_stream.hpp"

namespace pitwall::onboard {

RunClock::RunClock() {
  const auto unix_time = std::chrono::system_clock::now().time_since_epoch();
  offset_ = Time{std::chrono::duration_cast<std::chrono::nanoseconds>(unix_time).count()} - drivers::monotonic_now();
}

Time RunClock::now() const { return of_monotonic(drivers::monotonic_now()); }

void Inbox::post(Event event, bool wakes) {
  {
    const std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
    wake_ = wake_ || wakes;
  }
  if (wakes) woken_.notify_one();
}

void Inbox::wait(Time deadline, std::vector<Event>& into) {
  into.clear();
  const std::chrono::steady_clock::time_point at{std::chrono::nanoseconds(clock_.to_monotonic(deadline).ns)};
  std::unique_lock lock(mutex_);
  woken_.wait_until(lock, at, [this] { return wake_; });
  wake_ = false;
  std::swap(into, events_);
}

}  // namespace pitwall::onboard

// SPDX-License-Identifier: Apache-2.0
// The way of one sensor's messages from the instant they are measured to the one they arrive: a queue whose slots are
// allocated once. The latency is constant, so messages arrive in the order in which they were measured.
#pragma once

#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "core/check.hpp"
#include "core/controller.hpp"
#include "core/time.hpp"

namespace pitwall::sim {

inline constexpr Time kNever{std::numeric_limits<std::int64_t>::max()};

template <class Message>
class Channel {
 public:
  /// Empties the queue and forgets what was delivered; every slot becomes a copy of `blank`. Allocates.
  void reset(Duration period, Duration latency, const Message& blank) {
    period_ = period;
    latency_ = latency;
    slots_.assign(static_cast<std::size_t>(latency.ns / period.ns) + 2, Slot{blank, {}});
    latest_ = blank;
    arrival_ = {};
    first_ = 0;
    waiting_ = 0;
    sequence_ = 0;
  }

  [[nodiscard]] bool due(Time now) const { return now.ns % period_.ns == 0; }
  [[nodiscard]] std::uint64_t sample(Time now) const { return static_cast<std::uint64_t>(now.ns / period_.ns); }
  [[nodiscard]] Duration period() const { return period_; }

  /// The slot of a message measured now, stamped so, which the caller fills in; it arrives by itself when its time has come.
  Message& push(Time now) {
    PITWALL_CHECK(waiting_ < slots_.size(), waiting_);
    Slot& slot = slots_[(first_ + waiting_) % slots_.size()];
    slot.message.stamp = now;
    slot.arrival = now + latency_;
    ++waiting_;
    return slot.message;
  }
  [[nodiscard]] Duration latency() const { return latency_; }
  /// When the next message arrives; kNever if none is under way.
  [[nodiscard]] Time next_arrival() const { return waiting_ == 0 ? kNever : slots_[first_].arrival; }
  /// The oldest message under way becomes the latest one delivered.
  const Message& deliver() {
    PITWALL_CHECK(waiting_ > 0);
    std::swap(latest_, slots_[first_].message);
    arrival_ = slots_[first_].arrival;
    first_ = (first_ + 1) % slots_.size();
    --waiting_;
    ++sequence_;
    return latest_;
  }
  /// The latest delivered message, null before the first.
  [[nodiscard]] Source<Message> source() const { return {sequence_ == 0 ? nullptr : &latest_, arrival_, sequence_}; }

 private:
  struct Slot {
    Message message;
    Time arrival;
  };
  Duration period_{1};
  Duration latency_;
  std::vector<Slot> slots_;
  Message latest_;
  Time arrival_;
  std::size_t first_ = 0;
  std::size_t waiting_ = 0;
  std::uint64_t sequence_ = 0;
};

}  // namespace pitwall::sim

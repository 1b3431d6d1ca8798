// SPDX-License-Identifier: Apache-2.0
// The messages of one recorded topic, read and counted.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "analysis/run_data.hpp"
#include "recording/bag.hpp"
#include "recording/bag_info.hpp"
#include "ros_messages/convert.hpp"
#include "ros_messages/message.hpp"

namespace pitwall::analysis {

class TopicReader {
 public:
  TopicReader() = default;
  virtual ~TopicReader() = default;
  TopicReader(const TopicReader&) = delete;
  TopicReader& operator=(const TopicReader&) = delete;

  void describe(std::string role, const recording::Topic& topic) {
    used_.role = std::move(role);
    used_.name = topic.name;
    used_.type = topic.type;
  }
  virtual void read(const recording::BagMessage& message) = 0;

  [[nodiscard]] UsedTopic summary() const {
    UsedTopic used = used_;
    if (used.count > 1 && last_s_ > first_s_) used.rate_hz = static_cast<double>(used.count - 1) / (last_s_ - first_s_);
    if (const auto latency = latencies_.quantile(0.5)) used.median_latency_s = static_cast<double>(*latency) / 1e9;
    return used;
  }

 protected:
  void count(double arrival_s, std::optional<double> stamp_s) {
    if (used_.count == 0) first_s_ = arrival_s;
    if (used_.count > 0) used_.worst_gap_s = std::max(used_.worst_gap_s, arrival_s - last_s_);
    last_s_ = arrival_s;
    ++used_.count;
    if (!stamp_s) {
      ++used_.zero_stamps;
      return;
    }
    if (*stamp_s <= last_stamp_s_) ++used_.backward_stamps;
    last_stamp_s_ = *stamp_s;
    latencies_.add(from_seconds(std::clamp(arrival_s - *stamp_s, -9e8, 9e8)).ns);
  }
  void unreadable() { ++used_.unreadable; }
  /// Takes the stamps for those of another clock where they are so far from the times of receipt.
  void shift(double offset_s) {
    constexpr double kSameClock_s = 60.0;
    if (std::abs(offset_s) > kSameClock_s) used_.clock_shift_s = offset_s;
  }
  [[nodiscard]] double shift_s() const { return used_.clock_shift_s; }

 private:
  UsedTopic used_;
  double first_s_ = 0.0;
  double last_s_ = 0.0;
  double last_stamp_s_ = -std::numeric_limits<double>::infinity();
  recording::SampledQuantiles latencies_;
};

/// Calls `take(message, t_s, arrival_s)` for each message.
template <class Wire, class Take>
class TypedReader final : public TopicReader {
 public:
  TypedReader(Time origin, Take take) : origin_(origin), take_(std::move(take)) {}

  void read(const recording::BagMessage& message) override {
    if (!ros_messages::read(recording::as_text(message.data), wire_)) return unreadable();
    const double arrival_s = seconds_since(origin_, message.log_time);
    std::optional<double> stamp_s;
    if (const auto stamp = stamp_of(wire_); stamp && stamp->ns != 0) {
      stamp_s = seconds_since(origin_, *stamp);
      if (!seen_) shift(arrival_s - *stamp_s);
      seen_ = true;
      *stamp_s += shift_s();
    }
    count(arrival_s, stamp_s);
    take_(wire_, stamp_s.value_or(arrival_s), arrival_s);
  }

 private:
  static std::optional<Time> stamp_of(const Wire& wire) {
    if constexpr (requires { wire.header.stamp; }) {
      return ros_messages::to_time(wire.header.stamp);
    } else {
      return std::nullopt;
    }
  }

  Time origin_;
  Take take_;
  bool seen_ = false;
  Wire wire_;
};

}  // namespace pitwall::analysis

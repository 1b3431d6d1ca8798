// SPDX-License-Identifier: Apache-2.0
// The messages of one topic of a recording, decoded, and one clock for the stamps of several.
#pragma once

#include <cmath>
#include <filesystem>
#include <string>

#include "analysis/run_data.hpp"
#include "core/result.hpp"
#include "recording/bag_reader.hpp"
#include "ros_messages/convert.hpp"
#include "ros_messages/message.hpp"

namespace pitwall::analysis {

/// Calls `take(message, arrival)` for each message that is what its type says.
template <class Message, class Take>
Status each_message(const std::filesystem::path& path, const std::string& topic, const Take& take) {
  recording::ReadOptions only;
  only.topics = {topic};
  Result<recording::BagReader> reader = recording::BagReader::open(path, only);
  if (!reader) return reader.error();
  Message wire;
  while (const recording::BagMessage* message = reader->next()) {
    if (ros_messages::read(recording::as_text(message->data), wire)) take(wire, message->log_time);
  }
  return {};
}

/// Stamps as seconds since an origin; those of another clock than the recorder's (a minute or more apart) are all shifted by the first.
class StampClock {
 public:
  explicit StampClock(Time origin) : origin_(origin) {}
  /// The time of receipt stands for a stamp of 0.
  double seconds(const ros_messages::Stamp& wire, Time arrival) {
    constexpr double kSameClock_s = 60.0;
    const Time stamp = ros_messages::to_time(wire);
    const double arrival_s = seconds_since(origin_, arrival);
    if (stamp.ns == 0) return arrival_s;
    const double stamp_s = seconds_since(origin_, stamp);
    if (!known_ && std::abs(arrival_s - stamp_s) > kSameClock_s) shift_s_ = arrival_s - stamp_s;
    known_ = true;
    return stamp_s + shift_s_;
  }

 private:
  Time origin_;
  bool known_ = false;
  double shift_s_ = 0.0;
};

}  // namespace pitwall::analysis

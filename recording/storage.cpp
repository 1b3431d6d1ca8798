// SPDX-License-Identifier: Apache-2.0
#include "recording/storage.hpp"

#include <algorithm>

namespace pitwall::recording {

std::uint64_t Storage::message_count() const {
  std::uint64_t sum = 0;
  for (const Topic& topic : topics_) sum += topic.message_count;
  return sum;
}

void Storage::count(std::size_t topic, std::int64_t log_time_ns) {
  ++topics_[topic].message_count;
  start_ns_ = std::min(start_ns_, log_time_ns);
  end_ns_ = std::max(end_ns_, log_time_ns);
}

}  // namespace pitwall::recording

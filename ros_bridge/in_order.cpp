// SPDX-License-Identifier: Apache-2.0
#include "ros_bridge/in_order.hpp"

#include <algorithm>
#include <utility>

namespace pitwall::ros_bridge {

Status InOrder::subscribe(const TopicSpec& topic, Handler handler) {
  handlers_.push_back(std::make_unique<Handler>(std::move(handler)));
  return inner_.subscribe(topic, [this, to = handlers_.back().get()](std::string_view cdr, const Arrival& arrival) {
    waiting_.push_back({to, std::string(cdr), arrival});
  });
}

void InOrder::wait(Time until) {
  if (waiting_.empty()) inner_.wait(until);
  if (waiting_.empty()) return;
  // All that had come by this instant is there after one more look.
  const Time complete = inner_.now();
  inner_.wait(complete);
  std::stable_sort(waiting_.begin(), waiting_.end(),
                   [](const Waiting& a, const Waiting& b) { return a.arrival.received < b.arrival.received; });
  const auto later = [&](const Waiting& each) { return each.arrival.received > complete; };
  const auto end = std::find_if(waiting_.begin(), waiting_.end(), later);
  const std::vector<Waiting> due(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
  waiting_.erase(waiting_.begin(), end);
  for (const Waiting& each : due) (*each.handler)(each.cdr, each.arrival);
}

}  // namespace pitwall::ros_bridge

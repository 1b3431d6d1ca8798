// SPDX-License-Identifier: Apache-2.0
#include "analysis/holds.hpp"

#include <algorithm>

namespace pitwall::analysis {

std::vector<Hold> find_holds(const JoySeries& joy, double duration_s) {
  std::vector<Hold> holds;
  for (std::size_t i = 0; i < joy.size(); ++i) {
    if (joy.pressed[i] != 1.0) continue;
    const double begin = joy.arrival_s[i];
    const double next = i + 1 < joy.size() ? joy.arrival_s[i + 1] : duration_s;
    const double end = std::min(next, begin + kJoyTimeout_s);
    if (!holds.empty() && begin - holds.back().end_s < kMergedGap_s) {
      holds.back().end_s = end;
    } else {
      holds.push_back({begin, end});
    }
  }
  for (Hold& hold : holds) hold.too_short = hold.seconds() < kShortestHold_s;
  return holds;
}

}  // namespace pitwall::analysis

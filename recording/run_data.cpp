// SPDX-License-Identifier: Apache-2.0
#include "recording/run_data.hpp"

#include <algorithm>
#include <numeric>

namespace pitwall::recording {

const UsedTopic* RunData::topic(std::string_view role) const {
  const auto found = std::find_if(topics.begin(), topics.end(), [&](const UsedTopic& each) { return each.role == role; });
  return found == topics.end() ? nullptr : &*found;
}

std::vector<std::size_t> sorted_by_stamp(const std::vector<double>& t_s) {
  std::vector<std::size_t> order(t_s.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return t_s[a] < t_s[b]; });
  std::vector<std::size_t> unique;
  for (const std::size_t i : order) {
    if (!unique.empty() && t_s[unique.back()] == t_s[i]) {
      unique.back() = i;
    } else {
      unique.push_back(i);
    }
  }
  return unique;
}

}  // namespace pitwall::recording

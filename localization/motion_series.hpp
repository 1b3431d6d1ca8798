// SPDX-License-Identifier: Apache-2.0
// How a car moved over a recording by its scans (scan_track.hpp), as series.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pitwall::localization {

/// Sample i is the mean velocity of base_link, in its axes, over [begin_s[i], end_s[i]]: from the middle of one sweep to that of another.
struct MotionSeries {
  std::vector<double> begin_s, end_s, speed_mps, lateral_mps, yaw_rate_radps;
  std::vector<double> speed_sigma_mps, yaw_sigma_radps;
  std::vector<double> speed_seen, yaw_seen;  ///< 1 where the walls tell it; where 0, the value is only the guess
  std::vector<double> residual_m;            ///< median distance of matched pieces of wall
  std::int64_t scans = 0;
  std::int64_t out_of_order = 0;  ///< stamp not after the one before: left out
  std::int64_t gaps = 0;          ///< scans too far from the one before to be a pair
  std::int64_t failed = 0;        ///< pairs with too little in common
  [[nodiscard]] std::size_t size() const { return begin_s.size(); }
  [[nodiscard]] double middle_s(std::size_t i) const { return 0.5 * (begin_s[i] + end_s[i]); }
};

}  // namespace pitwall::localization

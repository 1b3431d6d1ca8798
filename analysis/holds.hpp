// SPDX-License-Identifier: Apache-2.0
// When the operator held the deadman button: what a report is divided by.
#pragma once

#include <vector>

#include "analysis/run_data.hpp"

namespace pitwall::analysis {

struct Hold {
  double begin_s = 0.0;
  double end_s = 0.0;
  bool too_short = false;  ///< below kShortestHold_s: listed, not analysed
  [[nodiscard]] double seconds() const { return end_s - begin_s; }
  [[nodiscard]] bool holds(double t_s) const { return t_s >= begin_s && t_s <= end_s; }
};

inline constexpr double kJoyTimeout_s = 0.5;  ///< a joystick silent for so long does not hold
inline constexpr double kMergedGap_s = 0.2;   ///< holds with shorter gaps are one
inline constexpr double kShortestHold_s = 1.0;

/// Periods in which the latest message said pressed and was younger than kJoyTimeout_s, in order; gaps merged.
std::vector<Hold> find_holds(const JoySeries& joy, double duration_s);

}  // namespace pitwall::analysis

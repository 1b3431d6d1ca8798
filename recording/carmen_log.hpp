// SPDX-License-Identifier: Apache-2.0
// Logs of the Carnegie Mellon robot navigation toolkit, as the corrected ones of the Radish collection are: text lines
//
//   FLASER n r1 .. rn x y theta ox oy otheta t host t     ranges in m; both poses are the corrected one of the laser
//   ODOM x y theta tv rv accel t host t                   after a FLASER: raw odometry that goes on from its corrected pose
//
// so that the raw motion between two scans is inverse(corrected pose) * the last ODOM before the next scan.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/geometry.hpp"
#include "core/messages.hpp"
#include "core/result.hpp"

namespace pitwall::recording {

struct CarmenScan {
  LaserScan scan;     ///< over 180 degrees, 0.5 or 1 degree apart; range_max is below what the scanner writes for "no return"
  Pose2 T_odom;       ///< of the laser by raw odometry, from (0, 0, 0) at the first scan
  Pose2 T_corrected;  ///< of the laser by whoever corrected the log
};

struct CarmenLog {
  std::vector<CarmenScan> scans;
  bool stamps_replaced = false;  ///< they did not rise: scans are 0.1 s apart instead
};

/// Errors name file and line: a number that is none, a count that does not fit the line. A text without FLASER is an error too; other
/// lines are stepped over.
Result<CarmenLog> parse_carmen(std::string_view text, const std::string& name);

}  // namespace pitwall::recording

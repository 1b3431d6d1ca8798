// SPDX-License-Identifier: Apache-2.0
// One scan from the points of a turning LiDAR (RPLIDAR, LD19): they come clockwise, at measured angles, not evenly spaced. A turn
// is cut behind the sensor and laid into even beams by angle.
#pragma once

#include <optional>
#include <vector>

#include "core/messages.hpp"

namespace pitwall::drivers {

/// One measurement.
struct TurnPoint {
  double clockwise_rad = 0.0;  ///< from the sensor's front, seen from above; any number of turns
  float range_m = 0.0F;        ///< +inf: no return; NaN: invalid
  Time stamp;
};

struct TurnOptions {
  int beams = 720;  ///< of a full turn
  float range_min_m = 0.05F;
  float range_max_m = 30.0F;
  double front_rad = 0.0;  ///< what the sensor calls 0 points here in the scan, left positive
};

/// Collects points; a full turn is a scan. Beam i is at -pi + (i + 1/2) * 2 pi / beams; each point goes into the beam of its angle,
/// of several the nearest counts. One or two beams between points lie on the line between them, or as far as the nearer where there is a
/// jump; more without a point are NaN. The sensor turns clockwise and beams count the other way, so time_increment is negative and the
/// stamp, the first beam's, is that of the end of the turn.
class TurnAssembler {
 public:
  explicit TurnAssembler(const TurnOptions& options);

  /// The scan that this point has ended, if it has. A turn of which less than 7/8 was seen is dropped and counted.
  std::optional<LaserScan> add(const TurnPoint& point);
  void reset();
  [[nodiscard]] std::uint64_t incomplete_turns() const { return incomplete_turns_; }

 private:
  std::optional<LaserScan> finish();
  void fill_gaps();
  void clear();
  void lay(const TurnPoint& point, double phase);

  TurnOptions options_;
  LaserScan scan_;
  std::vector<bool> seen_;
  bool begun_ = false;
  double last_phase_ = 0.0;
  double covered_rad_ = 0.0;
  Time first_;
  Time last_;
  std::uint64_t incomplete_turns_ = 0;
};

}  // namespace pitwall::drivers

// SPDX-License-Identifier: Apache-2.0
// The seam between whoever runs a car and whatever finds out where it is: the simulator, the car and the bridge hand it what they receive,
// in the order of arrival, and pass on the poses that it gives.
#pragma once

#include <optional>

#include "core/messages.hpp"

namespace pitwall {

/// Driven by the stamps of its input alone; no I/O, no clock, no allocation after reset and the first scan.
class Localiser {
 public:
  virtual ~Localiser() = default;
  Localiser() = default;
  Localiser(const Localiser&) = delete;
  Localiser& operator=(const Localiser&) = delete;

  /// Forgets everything; begins at a pose that is roughly known (T_map_base), or searches for it.
  virtual void reset(const std::optional<Pose2>& T_map_base) = 0;
  virtual void add(const Odometry& odometry) = 0;
  /// The pose at the middle of the scan; nothing while it does not know.
  virtual std::optional<PoseEstimate> add(const LaserScan& scan) = 0;
};

}  // namespace pitwall

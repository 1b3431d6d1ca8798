// SPDX-License-Identifier: Apache-2.0
// Odometry gate and slip monitor on the same two streams, wired the way they must be: the monitor reads the poses as they were matched, the
// gate's output goes to whoever drives. One object for the car, the simulator and a replay; driven by stamps alone.
#pragma once

#include "localization/odometry_gate.hpp"
#include "localization/slip_monitor.hpp"

namespace pitwall::localization {

class OdometryGuard {
 public:
  OdometryGuard(const OdometryGateParameters& gate, const SlipMonitorParameters& monitor) : gate_(gate), monitor_(monitor) {}

  void add_wheels(Time stamp, const Pose2& T_wheels_base) {
    gate_.add_wheels(stamp, T_wheels_base);
    monitor_.add_wheels(stamp, T_wheels_base);
  }
  void add_command(const MotionCommand& command) { monitor_.add_command(command); }
  GatedPose add_pose(Time stamp, const Pose2& T_raw_base) {
    monitor_.add_scan_pose(stamp, T_raw_base);
    return gate_.add_pose(stamp, T_raw_base);
  }
  SlipReport evaluate(Time now) { return monitor_.evaluate(now); }

  [[nodiscard]] const OdometryGate& gate() const { return gate_; }
  [[nodiscard]] const SlipMonitor& monitor() const { return monitor_; }

 private:
  OdometryGate gate_;
  SlipMonitor monitor_;
};

}  // namespace pitwall::localization

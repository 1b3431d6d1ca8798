// SPDX-License-Identifier: Apache-2.0
// Whether the cars answered the faults as the scenario expects. All times are those of the simulated world.
//
// stop      From the instant of the last good input plus the deadline plus one control tick on, the driver commands zero speed
//           to the motor, until the fault ends (a frozen pose is only seen as such by a car that moves: there it may drive on
//           and stop again). A car that stood when the fault began proves nothing and fails.
// recover   At the deadline after the fault's end the car is within back_within_m of the line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenarios/incidents.hpp"
#include "scenarios/outcome.hpp"
#include "sim/world.hpp"

namespace pitwall::scenarios {

class FaultJudge {
 public:
  /// `lidar_period_s` is the control tick of a controller that runs on scans.
  FaultJudge(const std::vector<FaultSpec>& specs, const sim::World& world, double lidar_period_s);

  /// Call after each step; gives what went wrong in it first, if anything.
  std::optional<std::string> after_step(const sim::World& world, double cross_track_m);
  /// Every fault has come, gone and been judged.
  [[nodiscard]] bool done() const;
  [[nodiscard]] std::vector<FaultOutcome> outcomes(const sim::World& world) const;

 private:
  struct Case {
    bool was_driving = false;
    bool judged = false;
    bool failed = false;
    std::optional<Time> answered;
    Time deadline;
    double max_cross_track_m = 0.0;
    std::string reason;
    std::int64_t resumed = 0;  // times the car was driven again while the fault lasted
    bool stopped = false;
  };
  std::optional<std::string> judge_stop(std::size_t k, const sim::World& world);
  std::optional<std::string> judge_recovery(std::size_t k, const sim::World& world, double cross_track_m);
  std::string fail(std::size_t k, const std::string& what);

  std::vector<FaultSpec> specs_;
  std::vector<Duration> ticks_;  // of each fault's car
  std::vector<Case> cases_;
};

}  // namespace pitwall::scenarios

// SPDX-License-Identifier: Apache-2.0
// The scripted opponent (spec section 1.5): follows a line at a commanded speed with its own sensors, through the same
// command stage as everybody, and brakes for what stands on its line by the stopping-distance rule
//
//   v t + v^2 / (2 brake_decel) <= distance - reserve,  t: what the brakes take to answer
//
// It never steers around anything and never defends. With a map, only what the map does not explain and what lies within
// the width it will drive over counts; without one, whatever lies on the arc of its steering.
#pragma once

#include <optional>
#include <vector>

#include "controllers/command_stage.hpp"
#include "controllers/line_driver.hpp"
#include "controllers/opponents.hpp"
#include "controllers/pure_pursuit.hpp"
#include "controllers/scan_view.hpp"
#include "controllers/watchdogs.hpp"
#include "core/controller.hpp"

namespace pitwall::controllers {

/// Tuning of line_follower; the brakes' own delay comes from the car's profile.
struct LineFollowerParameters {
  WatchdogParameters watchdogs;
  CommandParameters command{4.0, 2.5, 3.0, 8.0, 3.0, 0.10};
  LineFollowingParameters line;
  PurePursuitParameters pursuit;
  DetectionParameters detection;
  double speed_mps = 2.0;
  double reserve_m = 0.5;
  double brake_decel_mps2 = 3.0;
  double side_margin_m = 0.05;  ///< added to half the car on each side: what lies on the line
  void fields(FieldVisitor& f);
};

/// The start-up checks across fields; the error names the reason and the values.
Status validate(const LineFollowerParameters& parameters, const CarParameters& car, const LineToFollow* line);

/// The controller `line_follower`; runs at its control rate.
class LineFollower final : public Controller {
 public:
  /// The parameters and the line must have passed validate().
  LineFollower(const LineFollowerParameters& parameters, const CarParameters& car, const LineToFollow& line);

  [[nodiscard]] std::string_view name() const override { return "line_follower"; }
  [[nodiscard]] Trigger trigger() const override { return {from_seconds(1.0 / p_.line.control_rate_hz)}; }
  void reset(const Observation& first) override;
  Command update(const Observation& obs) override;
  void resume(const Command& last, Time at) override { stage_.resume(last, at); }
  [[nodiscard]] std::vector<std::pair<std::string_view, double>> counters() const override;

 private:
  Command decide(const Observation& obs);
  /// Free distance ahead of the body on the line, m.
  [[nodiscard]] double free_ahead_m(const Observation& obs, double steering_rad);

  LineFollowerParameters p_;
  CarParameters car_;
  double response_s_;
  LineDriver driver_;
  LawLine law_line_;
  PurePursuitLaw law_;
  Watchdogs watchdogs_;
  CommandStage stage_;
  ScanView scan_;
  OpponentDetector detector_;
  std::optional<LineFix> fix_;
  double free_m_ = 0.0;
  std::uint64_t scan_sequence_ = 0;
  double stops_ = 0, brakes_ = 0;
};

}  // namespace pitwall::controllers

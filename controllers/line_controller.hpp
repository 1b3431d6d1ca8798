// SPDX-License-Identifier: Apache-2.0
// Driving along a line by any steering law, with other cars on the track (spec section 6). Each tick:
//
//   watchdogs -> pose now -> place on the line -> opponents -> pass, follow or drive -> law -> safety -> command stage
//
// The laws' seam is in steering_law.hpp, the estimate of the present pose in pose_filter.hpp, detection and tracking in
// opponents.hpp, passing and following in overtake.hpp. The scan is compared with the map: mapped walls are the line's
// business, opponents are the overtake layer's, and only what is left is the reactive safety's:
//
//   body clearance        as everywhere: stop; nearer than the emergency clearance but with a free way: creep along it
//   unexplained, ahead    shared safety stage: time to collision, stopping distance, creep towards the best gap
//   unexplained, on line  within avoidance_trigger: steer to the best gap, slowly (not during a pass: there it only slows)
//   mapped wall           on the arc of the commanded steering: never faster than the stopping distance
//
// Without a map nothing is explained, and the safety stage judges the raw scan.
//
// Off the line by more than max_cross_track_m, the car stops and then comes back by itself: slowly, by pure pursuit with a lookahead that
// meets the line at 45 degrees at most, judged by the raw scan, until it is near the line again. Beyond recovery_reach_m, behind a wall of
// the map, or facing against the line it stops.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "controllers/command_stage.hpp"
#include "controllers/gap_finder.hpp"
#include "controllers/line_driver.hpp"
#include "controllers/line_room.hpp"
#include "controllers/opponents.hpp"
#include "controllers/overtake.hpp"
#include "controllers/pure_pursuit.hpp"
#include "controllers/safety_stage.hpp"
#include "controllers/scan_view.hpp"
#include "controllers/steering_law.hpp"
#include "controllers/watchdogs.hpp"
#include "core/controller.hpp"

namespace pitwall::controllers {

/// Tuning that all steering laws share.
struct LineControllerParameters {
  WatchdogParameters watchdogs;
  CommandParameters command{4.0, 2.5, 6.0, 8.0, 3.0, 0.10};
  SafetyParameters safety{.stopping_decel_mps2 = 6.0};
  LineFollowingParameters line;
  bool enable_detection = true;
  DetectionParameters detection;
  TrackingParameters tracking;
  OvertakeParameters overtake;
  bool enable_avoidance = true;
  double avoidance_trigger_m = 1.5;      ///< range of something unexplained on the line
  double avoidance_raw_trigger_m = 0.7;  ///< the same on the raw scan, without a map
  double avoidance_min_gap_m = 1.0;
  double avoidance_speed_mps = 1.0;
  double escape_min_gap_m = 0.8;
  bool enable_recovery = true;
  double recovery_reach_m = 3.0;
  double recovery_speed_mps = 1.0;
  double wall_reserve_m = 0.10;  ///< from the body to a mapped wall ahead, kept by the stopping distance
  void fields(FieldVisitor& f);
};

/// The start-up checks across fields, for the controller named `what`; the error names the reason and the values.
Status validate(const LineControllerParameters& parameters, const CarParameters& car, const LineToFollow* line, std::string_view what);

class LineController final : public Controller {
 public:
  using LawMaker = std::function<std::unique_ptr<SteeringLaw>(const LawSetup&)>;
  /// The parameters and the line must have passed validate(). `name` is that of the law, and outlives the controller.
  /// `make_law` may give nothing (a law that refuses its parameters): then the controller is not to be used.
  LineController(std::string_view name, const LineControllerParameters& parameters, const CarParameters& car, const LineToFollow& line,
                 const LawMaker& make_law);

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] Trigger trigger() const override { return {from_seconds(1.0 / p_.line.control_rate_hz)}; }
  void reset(const Observation& first) override;
  Command update(const Observation& obs) override;
  void resume(const Command& last, Time at) override { stage_.resume(last, at); }
  [[nodiscard]] std::vector<std::pair<std::string_view, double>> counters() const override;

  /// For displays and tests.
  [[nodiscard]] const LineDriver& driver() const { return driver_; }
  [[nodiscard]] const OpponentTracker& opponents() const { return tracker_; }
  [[nodiscard]] const Overtake& overtake() const { return overtake_; }
  [[nodiscard]] const std::optional<LineFix>& fix() const { return fix_; }
  /// Whether the car is on its way back to the line.
  [[nodiscard]] bool recovering() const { return recovering_; }
  [[nodiscard]] const SteeringLaw& law() const { return *law_; }
  [[nodiscard]] const LawSetup& setup() const { return setup_; }

  /// Delay margin of the law over the car's total delay, the least over the speeds up to the highest commanded; below 1 the
  /// loop is unstable there.
  [[nodiscard]] StabilityMargin margin() const { return stability_margin(*law_, setup_); }

 private:
  /// What the scan holds besides mapped walls, in beams of the present scan.
  enum Beam : std::uint8_t { kUnexplained = 0, kWall = 1, kOpponent = 2 };

  Command decide(const Observation& obs);
  Command halt(const Observation& obs, Reason reason, Layer layer);
  void locate();
  Command come_back(const Observation& obs);
  void look_for_opponents(const Observation& obs);
  void explain(const LaserScan& scan);
  [[nodiscard]] bool on_line(Vec2 point_map) const;
  [[nodiscard]] Manoeuvre manoeuvre(const Observation& obs);
  [[nodiscard]] std::optional<double> gap_bearing(double min_depth_m);
  Desired ask_law(const Observation& obs, const Manoeuvre& manoeuvre);
  Command act(const Observation& obs, Desired desired, bool passing);
  [[nodiscard]] std::span<const std::uint8_t> mask() const;

  std::string_view name_;
  LineControllerParameters p_;
  CarParameters car_;
  LineDriver driver_;
  Corridor corridor_;
  Room room_;
  std::optional<LawLine> law_line_;
  std::unique_ptr<SteeringLaw> law_;
  LawSetup setup_;
  std::optional<PurePursuitLaw> way_back_;
  bool recovering_ = false;
  Watchdogs watchdogs_;
  CommandStage stage_;
  SafetyStage safety_;
  ScanView scan_;
  GapFinder gaps_;
  OpponentDetector detector_;
  OpponentTracker tracker_;
  Overtake overtake_;
  std::optional<LineFix> fix_;
  std::vector<std::uint8_t> beams_;
  double nearest_on_line_m_ = 0.0;
  std::uint64_t scan_sequence_ = 0;
  bool asked_ = false, asked_last_ = false;  ///< the law, on this tick and on the one before
  double stops_ = 0, avoids_ = 0, creeps_ = 0, detections_ = 0, follows_ = 0, recoveries_ = 0;
};

}  // namespace pitwall::controllers

// SPDX-License-Identifier: Apache-2.0
// Driving along a line by pure pursuit, with other cars on the track (spec section 6). Each tick:
//
//   watchdogs -> pose now -> place on the line -> opponents -> pass, follow or drive -> pursuit -> safety -> command stage
//
// The law is in line_following.hpp, the estimate of the present pose in pose_filter.hpp, detection and tracking in
// opponents.hpp, passing and following in overtake.hpp. The scan is compared with the map: mapped walls are the line's
// business, opponents are the overtake layer's, and only what is left is the reactive safety's:
//
//   body clearance        as everywhere: stop; nearer than the emergency clearance but with a free way: creep along it
//   unexplained, ahead    shared safety stage: time to collision, stopping distance, creep towards the best gap
//   unexplained, on line  within avoidance_trigger: steer to the best gap, slowly (not during a pass: there it only slows)
//   mapped wall           on the arc of the commanded steering: never faster than the stopping distance
//
// Without a map nothing is explained, and the safety stage judges the raw scan.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "controllers/command_stage.hpp"
#include "controllers/gap_finder.hpp"
#include "controllers/line_driver.hpp"
#include "controllers/line_room.hpp"
#include "controllers/opponents.hpp"
#include "controllers/overtake.hpp"
#include "controllers/safety_stage.hpp"
#include "controllers/scan_view.hpp"
#include "controllers/watchdogs.hpp"
#include "core/controller.hpp"

namespace pitwall::controllers {

struct PurePursuitParameters {
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
  double wall_reserve_m = 0.10;  ///< from the body to a mapped wall ahead, kept by the stopping distance
  void fields(FieldVisitor& f);
};

/// The start-up checks across fields; the error names the reason and the values.
Status validate(const PurePursuitParameters& parameters, const CarParameters& car, const LineToFollow* line);

class PurePursuit final : public Controller {
 public:
  /// The parameters and the line must have passed validate().
  PurePursuit(const PurePursuitParameters& parameters, const CarParameters& car, const LineToFollow& line);

  [[nodiscard]] std::string_view name() const override { return "pure_pursuit"; }
  [[nodiscard]] Trigger trigger() const override { return {from_seconds(1.0 / p_.line.control_rate_hz)}; }
  void reset(const Observation& first) override;
  Command update(const Observation& obs) override;
  [[nodiscard]] std::vector<std::pair<std::string_view, double>> counters() const override;

  /// For displays and tests.
  [[nodiscard]] const LineDriver& driver() const { return driver_; }
  [[nodiscard]] const OpponentTracker& opponents() const { return tracker_; }
  [[nodiscard]] const Overtake& overtake() const { return overtake_; }
  [[nodiscard]] const std::optional<LineFix>& fix() const { return fix_; }

 private:
  /// What the scan holds besides mapped walls, in beams of the present scan.
  enum Beam : std::uint8_t { kUnexplained = 0, kWall = 1, kOpponent = 2 };

  Command decide(const Observation& obs);
  Command halt(const Observation& obs, Reason reason, Layer layer);
  void look_for_opponents(const Observation& obs);
  void explain(const LaserScan& scan);
  [[nodiscard]] bool on_line(Vec2 point_map) const;
  [[nodiscard]] Manoeuvre manoeuvre(const Observation& obs);
  [[nodiscard]] std::optional<double> gap_bearing(double min_depth_m);
  Desired law(const Manoeuvre& manoeuvre) const;
  Command act(const Observation& obs, Desired desired, bool passing);
  [[nodiscard]] std::span<const std::uint8_t> mask() const;

  PurePursuitParameters p_;
  CarParameters car_;
  LineDriver driver_;
  Corridor corridor_;
  Room room_;
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
  double stops_ = 0, avoids_ = 0, creeps_ = 0, detections_ = 0, follows_ = 0;
};

}  // namespace pitwall::controllers

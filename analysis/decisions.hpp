// SPDX-License-Identifier: Apache-2.0
// Every call of the controller of a run, made again: what was answered then and what is answered now, and for every stop its layer and the
// geometry it had. Exact where the run folder has ticks; by arrival times, and marked approximate, in any other recording.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/stop_geometry.hpp"
#include "controllers/safety_stage.hpp"
#include "core/car.hpp"
#include "core/controller.hpp"
#include "core/messages.hpp"
#include "core/node.hpp"
#include "core/result.hpp"
#include "recording/replay.hpp"
#include "scenarios/resolve.hpp"

namespace pitwall::analysis {

/// Which controller drove, on which car, with which parameters.
struct Driver {
  std::string controller;
  Node parameters;  ///< every one of them
  CarParameters car;
  std::string source;  ///< where the parameters come from: "recorded in the run", "--yaml x.yaml", "defaults of this build"
  std::optional<scenarios::ResolvedRun> run;  ///< of a simulated run, with the parameters as above
  std::size_t car_number = 0;                 ///< among its cars
  std::vector<std::string> notes;

  [[nodiscard]] Result<std::unique_ptr<Controller>> make() const;
  /// Tuning of the safety stage, of controllers that have one.
  [[nodiscard]] controllers::SafetyParameters safety() const;
};

struct DriverOptions {
  std::filesystem::path data;             ///< holds tracks, cars and suites
  std::filesystem::path scenario;         ///< whose controller drove; empty: the run folder's own
  std::filesystem::path yaml;             ///< parameters that the car ran, over those recorded
  std::string controller = "gap_follow";  ///< of a recording without scenario
  std::string profile = "f1tenth";        ///< of the car of a recording without scenario
};

/// The driver of a recording. `car` is the recorded car's name. Errors name file, key, value and what is allowed.
Result<Driver> find_driver(const std::filesystem::path& run, const std::string& car, const DriverOptions& options);

/// The driver with "name=value" or "controller.name=value" set. Errors as make(), with the nearest name. `unchanged` gets the
/// assignments that change nothing.
Result<Driver> with_assignments(const Driver& driver, const std::vector<std::string>& assignments, std::vector<std::string>& unchanged);
/// Names of the parameters that assignments set.
std::vector<std::string> assigned_names(const Driver& driver, const std::vector<std::string>& assignments);

/// One entry a call. Reasons and layers are their numbers; -1 where the recording does not say.
struct DecisionSeries {
  std::vector<double> t_s;
  std::vector<double> recorded_steering_rad, recorded_speed_mps, recorded_reason, recorded_layer, recorded_beam;
  std::vector<double> steering_rad, speed_mps, reason, layer, beam, ttc_s;
  bool approximate = false;
  double differing = 0.0;          ///< calls whose answer is not the recorded one to the bit
  std::string first_difference;    ///< "tick 17 (0.425 s): speed_mps was 1.5, is 1.25"
  std::vector<std::string> notes;  ///< parameter changes that were not applied, and why
  [[nodiscard]] std::size_t size() const { return t_s.size(); }
  [[nodiscard]] bool recorded_stop(std::size_t i) const { return recorded_speed_mps[i] == 0.0; }
  [[nodiscard]] bool stop(std::size_t i) const { return speed_mps[i] == 0.0; }
};

/// Consecutive recorded stops of one layer and reason.
struct StopEvent {
  std::size_t first = 0;  ///< call, from 0
  std::size_t last = 0;
  std::string layer;                ///< "safety", ...; "unexplained" where the replay drives on
  std::string reason;               ///< "ttc_brake", ...
  double ttc_s = 0.0;               ///< at the first call, +inf for none
  double measured_speed_mps = 0.0;  ///< by odometry
  bool speed_is_command = false;    ///< whether the last command stood in for a measured standstill
  double steering_rad = 0.0;
  StopGeometry geometry;  ///< at the first call
  LaserScan scan;         ///< of the first call; empty where there was none
};

struct Replayed {
  DecisionSeries calls;
  std::vector<StopEvent> stops;
};

/// What of a recording a replay is about.
struct ReplayRequest {
  std::filesystem::path run;
  recording::RecordedCar car;
  std::vector<recording::ParameterChange> changes;  ///< "node/name", as load_run() gives them
  std::vector<std::string> fixed;                   ///< parameters that recorded changes do not touch
  bool geometry = true;                             ///< whether stops are wanted
};

/// Replays. Errors: as recording::replay().
Result<Replayed> replay_decisions(const ReplayRequest& request, const Driver& driver, const recording::BagProgress& progress = {});

}  // namespace pitwall::analysis

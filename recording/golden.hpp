// SPDX-License-Identifier: Apache-2.0
// Golden comparison: recordings are played into a mapping system, and the graph and trajectory that it makes are compared
// with golden ones. A scenario says which recordings, which system and how far the result may be off; golden files lie
// beside the scenarios, `<name>.g2o` and `<name>.tum`, and `<name>.map.yaml` where a system makes a map.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/fields.hpp"
#include "core/result.hpp"
#include "recording/graph_comparison.hpp"
#include "recording/lockstep.hpp"

namespace pitwall::recording {

struct GoldenScenario {
  std::string name;
  std::string system = "odometry";  ///< of GoldenOptions::systems
  std::string bags;                 ///< separated by spaces, below the data folder, played one after another
  std::string topic = "/odom";      ///< what the system listens to
  bool inject_golden = false;       ///< the golden trajectory is given to the system as transforms
  double node_distance_m = 0.5;     ///< system odometry: a node after so much way ...
  double node_angle_rad = 0.5;      ///< ... or turn
  GoldenTolerances tolerances;
  void fields(FieldVisitor& f);
};

/// Reads `<folder>/scenarios.yaml`: a map of scenarios by name. Strict: errors name file, line and key.
Result<std::vector<GoldenScenario>> load_golden_scenarios(const std::filesystem::path& folder);

/// What makes a mapping from recordings. It must be a function of its inputs: the comparison runs it twice.
using MappingSystem =
    std::function<Result<Mapping>(const GoldenScenario&, const std::vector<std::filesystem::path>& recordings, const PlayerOptions& how)>;

/// Dead reckoning as a mapping system: nodes along a nav_msgs/Odometry topic, each linked to the one before.
Result<Mapping> map_by_odometry(const GoldenScenario& scenario, const std::vector<std::filesystem::path>& recordings,
                                const PlayerOptions& how);

struct GoldenOptions {
  std::filesystem::path data;     ///< where the recordings are
  std::filesystem::path golden;   ///< scenarios.yaml and the golden files
  std::filesystem::path results;  ///< verdicts go here, and what was made where a scenario failed; empty: nowhere
  bool update = false;            ///< write the golden files instead; one more run must then match them
  PlayMode mode = PlayMode::kLockstep;
  std::map<std::string, MappingSystem> systems = {{"odometry", map_by_odometry}};
};

enum class GoldenStatus : std::uint8_t { kPassed, kFailed, kSkipped };

struct GoldenResult {
  std::string scenario;
  GoldenStatus status = GoldenStatus::kFailed;
  std::string message;  ///< why it was skipped or failed, or what was written
  GraphSummary summary;
  std::vector<GoldenCheck> checks;
};

/// Runs one scenario. Skipped without its recordings; failed without golden files, or where two runs differ by a byte. An Error
/// is one of the set-up: an unknown system, a file that cannot be written.
Result<GoldenResult> run_golden(const GoldenScenario& scenario, const GoldenOptions& options);

/// One JSON object.
std::string to_json(const GoldenResult& result);

}  // namespace pitwall::recording

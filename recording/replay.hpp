// SPDX-License-Identifier: Apache-2.0
// Feeds a recording through a fresh controller and compares what it answers with what was answered then. With the ticks of
// internal.mcap each call sees exactly the messages it saw then, so the same program must give the same bits. Without them the
// calls are made at the recorded commands' stamps with what had arrived by then, which is marked approximate: what arrived while a
// call was being made, and what the controller remembered from before the recording, are not known.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/controller.hpp"
#include "core/result.hpp"
#include "core/time.hpp"
#include "recording/bag_info.hpp"
#include "recording/run_folder.hpp"

namespace pitwall::recording {

/// Where a replay first parts from its recording.
struct ReplayDifference {
  std::uint64_t tick = 0;  ///< from 1
  Time now;
  std::string field;  ///< "speed_mps", or a source ("scan") whose message the recording lacks
  std::string recorded;
  std::string replayed;
  /// "tick 17 (0.425 s): speed_mps was 1.5, is 1.25".
  [[nodiscard]] std::string text() const;
};

/// One car's replay.
struct CarReplay {
  std::string car;
  std::string controller;
  bool approximate = false;
  std::uint64_t ticks = 0;         ///< compared
  std::uint64_t differing = 0;     ///< of those; the recorded inputs go on whatever was answered
  double most_steering_rad = 0.0;  ///< largest difference of the steering commands
  double most_speed_mps = 0.0;     ///< and of the speeds
  std::optional<ReplayDifference> first;
  bool complete = true;  ///< false where `progress` stopped it
  [[nodiscard]] bool identical() const { return !first && complete && ticks > 0; }
};

/// Replays the commands of `car` in a run folder (or, approximately, in any recording). Errors: no such recording, no commands of that
/// car in it, parameter changes that `controller` does not take.
Result<CarReplay> replay(const std::filesystem::path& run, const RecordedCar& car, Controller& controller,
                         const BagProgress& progress = {});

}  // namespace pitwall::recording

// SPDX-License-Identifier: Apache-2.0
// What the programs about racing lines have in common: the options of a speed profile, and a line read and checked.
#pragma once

#include <string>

#include "core/result.hpp"
#include "tracks/speed_profile.hpp"
#include "tracks/track.hpp"

namespace CLI {
class App;
}

namespace pitwall::apps {

/// Limits of the speed as the command line says them.
struct SpeedOptions {
  tracks::SpeedLimits limits;
  std::string shape = "circle";
  bool no_ellipse = false;
};

/// Adds --v-max, --v-min, --a-lat-max, --a-accel-max, --a-brake-max, --smoothing-passes, --smoothing-window, --no-friction-ellipse,
/// --grip-shape, --longitudinal-grip, --grip-at-both-ends.
void add_speed_options(CLI::App& app, SpeedOptions& options);

/// The limits, checked.
Result<tracks::SpeedLimits> take(const SpeedOptions& options);

/// Reads a line and refuses what is unfit to be followed, naming the file.
Result<tracks::Line> load_checked_line(const std::string& file, bool closed);

}  // namespace pitwall::apps

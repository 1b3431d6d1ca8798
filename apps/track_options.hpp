// SPDX-License-Identifier: Apache-2.0
// What the programs that compare two odometries have in common: which sources, what the vehicle can do, how a gated report ends.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/gated_report.hpp"
#include "analysis/odometry_tracks.hpp"
#include "core/result.hpp"
#include "localization/odometry_gate.hpp"

namespace CLI {
class App;
}

namespace pitwall::apps {

/// The sources of both tracks and the vehicle.
struct TrackFlags {
  analysis::TrackOptions tracks;
  std::optional<std::string> car;
  std::optional<double> max_speed_mps;
  std::optional<double> wheel_speed_mps;
  double wheel_separation_m = 0.22;
  double friction = 1.0;
  double tolerance = 1.15;

  /// Adds --wheels, --scans, --run-car, --car, --max-speed, --wheel-speed, --wheel-separation, --friction, --tol.
  void add_to(CLI::App& app);
  /// Reads the car, takes over its mount of the scanner and gives what it can do. Errors: an unknown car, values out of range.
  Result<localization::MotionEnvelope> vehicle();
};

/// Prints the report (Markdown, or JSON) on stdout and everything else on stderr; 2 where a recording was refused, else 1 where a
/// limit was not kept.
int finish(const analysis::GatedReport& report, bool json);

}  // namespace pitwall::apps

// SPDX-License-Identifier: Apache-2.0
#include "apps/line_options.hpp"

#include <CLI/CLI.hpp>

#include "apps/program.hpp"
#include "tracks/line_check.hpp"

namespace pitwall::apps {

void add_speed_options(CLI::App& app, SpeedOptions& options) {
  tracks::SpeedLimits& limits = options.limits;
  limits.passes = 5;
  limits.curvature_window = 3;
  app.add_option("--v-max", limits.v_max_mps, "highest speed, m/s")->capture_default_str();
  app.add_option("--v-min", limits.v_min_mps, "floor of the profile, below curvature and braking limits, m/s")->capture_default_str();
  app.add_option("--a-lat-max", limits.lateral_mps2, "lateral acceleration, m/s^2")->capture_default_str();
  app.add_option("--a-accel-max", limits.accelerate_mps2, "acceleration, m/s^2")->capture_default_str();
  app.add_option("--a-brake-max", limits.brake_mps2, "deceleration, m/s^2")->capture_default_str();
  app.add_option("--smoothing-passes", limits.passes, "forward and backward passes at most")->capture_default_str();
  app.add_option("--smoothing-window", limits.curvature_window, "half width, in points, of the moving average over the curvature")
      ->capture_default_str();
  app.add_flag("--no-friction-ellipse", options.no_ellipse, "braking and acceleration do not share the grip with cornering");
  app.add_option("--grip-shape", options.shape, "how they share it: circle or diamond")->capture_default_str();
  app.add_option("--longitudinal-grip", limits.longitudinal_grip_mps2,
                 "grip along the car, of which motor and brake use what they can, m/s^2; 0: they end the ellipse")
      ->capture_default_str();
  app.add_flag("--grip-at-both-ends", limits.grip_at_both_ends, "the limit holds at both ends of each piece of the line");
}

Result<tracks::SpeedLimits> take(const SpeedOptions& options) {
  tracks::SpeedLimits limits = options.limits;
  limits.friction_ellipse = !options.no_ellipse;
  const auto shape = choose("--grip-shape", options.shape, tracks::kGripShapes);
  if (!shape) return shape.error();
  limits.grip_shape = static_cast<tracks::GripShape>(*shape);
  if (const Status good = check_fields("speed", limits); !good) return good.error();
  if (limits.v_min_mps > limits.v_max_mps) return Error{"--v-min is above --v-max"};
  return limits;
}

Result<tracks::Line> load_checked_line(const std::string& file, bool closed) {
  Result<tracks::Line> line = tracks::load_line(file, closed);
  if (!line) return line;
  const Status fit = tracks::check_line(line->path.points(), closed);
  if (!fit) return Error{file + ": " + fit.error().message};
  return line;
}

}  // namespace pitwall::apps

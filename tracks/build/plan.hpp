// SPDX-License-Identifier: Apache-2.0
// What a generated track is drawn from: a few numbers, kept as YAML in tracks/data, from which map and centre line
// follow.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/fields.hpp"
#include "core/geometry.hpp"
#include "core/result.hpp"

namespace pitwall::tracks::build {

/// How the centre line follows from the plan.
enum class Shape {
  kRoundedRectangle,  ///< about the map's origin, counter-clockwise, from the middle of the bottom straight along +x
  kHall,              ///< the same line in the middle of nothing: free is its whole box and half the width around
  kSpline,            ///< the closed uniform cubic B-spline of the control points, from beside the first one onwards
};

/// A vertex of the control polygon. The spline rounds it off: four in a row on a line give an exact straight.
struct ControlPoint {
  Vec2 position;
  double width_m = 0.0;  ///< full width of the track beside it; blended like the position
};

/// A rectangle with rounded corners, centred on the origin.
struct RoundedRectangle {
  double half_x_m = 5.0;
  double half_y_m = 3.0;
  double radius_m = 1.5;  ///< of the centre line in the corners, at most the shorter half
  void fields(FieldVisitor& f);
};

/// The plan of one track, as in tracks/data/*/*.yaml.
struct TrackPlan {
  std::string name;
  std::string group;
  std::string source;  ///< where the shape comes from
  Shape shape = Shape::kSpline;
  RoundedRectangle rectangle;
  std::vector<ControlPoint> points;
  double width_m = 2.2;    ///< full width of the track, where a point does not say otherwise
  double spacing_m = 0.1;  ///< of the centre line's points
  double resolution_m = 0.05;
  double margin_m = 0.5;      ///< of wall around everything
  double min_radius_m = 1.7;  ///< the centre line may not be tighter
  double min_wall_m = 0.5;    ///< between parts of the track that pass one another
};

/// Reads a plan; strict: an unknown or missing key, or a value out of range, is an error that names file and line.
Result<TrackPlan> read_plan(const Node& root, const std::string& file);
Result<TrackPlan> load_plan(const std::filesystem::path& file);
/// The plan as YAML text that read_plan reads back.
std::string plan_yaml(const TrackPlan& plan);

/// A circuit drawn at random: star-shaped, so that it never crosses itself; equal seeds give equal plans. Every seed
/// gives a plan that make_track accepts.
TrackPlan random_plan(std::uint64_t seed);

}  // namespace pitwall::tracks::build

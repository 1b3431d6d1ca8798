// SPDX-License-Identifier: Apache-2.0
// From a plan to a track: centre line, checks of its shape, raster. The bytes are the same on every machine.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/geometry.hpp"
#include "core/result.hpp"
#include "tracks/build/plan.hpp"
#include "tracks/map.hpp"

namespace pitwall::tracks::build {

/// A closed centre line with the half width of the track at each of its points.
struct CentreLine {
  std::vector<Vec2> points;
  std::vector<double> half_width_m;
};

/// What the checks measured.
struct ShapeReport {
  double length_m = 0.0;
  double min_radius_m = 0.0;
  double min_wall_m = 0.0;          ///< least wall between parts of the track that pass one another; +inf where none do
  double longest_straight_m = 0.0;  ///< longest stretch with a radius above 50 m
};

/// A track that passed the checks of its shape.
struct GeneratedTrack {
  CentreLine centre;
  OccupancyMap map;
  ShapeReport report;
};

/// The centre line of a plan, evenly spaced by arc length, rounded to 1e-6 m.
CentreLine centre_line(const TrackPlan& plan);

/// Refused, with values and place: a line that crosses itself, radii below the plan's least or below the half width,
/// less wall than the plan asks for between parts that pass one another. A hall has no walls inside, which the last two are about.
Result<ShapeReport> check_shape(const TrackPlan& plan, const CentreLine& line);

/// Cells whose centre lies within the half width of the centre line are free, all others occupied, with plan.margin_m of
/// wall around. Of a hall the box around is free too.
Result<OccupancyMap> rasterise(const TrackPlan& plan, const CentreLine& line);

/// centre_line, check_shape, rasterise.
Result<GeneratedTrack> make_track(const TrackPlan& plan);

/// Writes NAME_map.pgm, NAME_map.yaml and NAME_centerline.csv into `folder`.
Status write_track(const std::string& name, const OccupancyMap& map, const CentreLine& centre, const std::filesystem::path& folder);

}  // namespace pitwall::tracks::build

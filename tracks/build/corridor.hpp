// SPDX-License-Identifier: Apache-2.0
// The room that a line has: how far each of its points may move along its normal so that the chassis stays clear of walls.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/car.hpp"
#include "core/result.hpp"
#include "tracks/distance_field.hpp"
#include "tracks/map.hpp"
#include "tracks/raycast.hpp"
#include "tracks/track.hpp"

namespace pitwall::tracks::build {

/// Where walls are, and how to ask.
struct Room {
  std::shared_ptr<const OccupancyMap> map;
  std::shared_ptr<const DistanceField> distance;
  std::shared_ptr<const RayCaster> rays;

  static Room of(std::shared_ptr<const OccupancyMap> map);
  static Room of(const Track& track) { return {track.map, track.distance, track.rays}; }
  /// Distance in m to the nearest wall, between cell centres and therefore only to half a cell; 0 outside the map.
  [[nodiscard]] double about(Vec2 p) const;
};

/// A map that is free exactly where the widths of a centre line say so, `cell_m` fine. Refused: a line without widths, more than 2^26
/// cells.
Result<Room> room_from_widths(const Line& centre, double cell_m = 0.025);

/// A line as the optimisers see it: points at equal distances, each with its normal and its curvature.
struct Stations {
  std::vector<Vec2> points;
  std::vector<Vec2> normals;  ///< to the left
  std::vector<double> curvature_per_m;
  double spacing_m = 0.0;
  bool closed = true;
  [[nodiscard]] std::size_t size() const { return points.size(); }
};

/// Stations about `spacing_m` apart on the spline through points.
Stations stations_of(const std::vector<Vec2>& points, bool closed, double spacing_m);

/// How far stations may move to the left (negative: right).
struct Bounds {
  std::vector<double> low_m;
  std::vector<double> high_m;
  std::size_t tight = 0;  ///< stations without room: low and high are 3 cm apart, where there is most
};

/// More room than usual is needed within a metre of a place, where a sweep of the chassis came out too near.
struct TightPlace {
  Vec2 at;
  double more_m = 0.0;
};

struct CorridorSettings {
  BodyRectangle chassis;
  double margin_m = 0.15;  ///< between chassis and wall
  double reach_m = 0.30;   ///< how far a station may move at most
};

/// The bounds of all stations: the chassis's side keeps its margin, its front swings out of turns, and normals do not cross.
Bounds bounds_of(const Room& room, const Stations& line, const CorridorSettings& settings, const std::vector<TightPlace>& tight);

/// Stations moved along their normals.
std::vector<Vec2> moved(const Stations& line, const std::vector<double>& offset_m);

/// Moving average of points over 2 half + 1 of them; at the ends of an open line over fewer.
std::vector<Vec2> smoothed(const std::vector<Vec2>& points, bool closed, std::int64_t half);

}  // namespace pitwall::tracks::build

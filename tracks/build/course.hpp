// SPDX-License-Identifier: Apache-2.0
// The closed courses that a map holds. Space that is narrower than the car needs counts as wall, so that gaps are closed; what the rest
// of the free space encloses are its holes. A loop around some of them is the curve that is as far from the walls within as from those
// without, a level set of the difference of two exact distances: clearance to the left and to the right are equal by construction, and
// rooms at the side do not bend it, since their walls are all on one side.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/geometry.hpp"
#include "tracks/build/regions.hpp"
#include "tracks/distance_field.hpp"
#include "tracks/map.hpp"

namespace pitwall::tracks::build {

/// What tells a way from a gap, and an obstacle from the middle of a lap.
struct CourseNeeds {
  double min_width_m = 0.62;  ///< a way narrower than this is closed
  double island_m = 2.7;      ///< walls in the open that are smaller than this stand in the course
};

/// A wall that stands in the course.
struct Island {
  Vec2 where;
  double size_m = 0.0;
  bool on_the_left = false;  ///< of the car that drives counter-clockwise
};

/// A closed curve in the middle of free space, counter-clockwise, and the walls on either side of it.
struct Course {
  std::vector<Vec2> loop;
  double length_m = 0.0;     ///< of the loop as traced, a little rough
  double min_width_m = 0.0;  ///< clearance to the left and to the right
  Vec2 narrowest;
  double edge_share = 0.0;   ///< of the loop, where the edge of the picture stands in for a wall
  std::vector<Vec2> around;  ///< a point in each hole that it goes around
  std::vector<Island> islands;
  std::shared_ptr<const DistanceField> left;  ///< distances to the walls within
  std::shared_ptr<const DistanceField> right;
};

/// The courses of a map whose outermost cells are walls. Keeps a reference to the map.
class CourseFinder {
 public:
  CourseFinder(const OccupancyMap& map, const CourseNeeds& needs);

  /// One loop around each single hole, and one around all holes of a connected free space; longest first.
  [[nodiscard]] std::vector<Course> all() const;
  /// The loops that go around exactly the holes in which the points lie.
  [[nodiscard]] std::vector<Course> around(const std::vector<Vec2>& points) const;

 private:
  struct Space {
    int region = 0;
    std::vector<int> holes;  // that are no islands
    std::vector<int> islands;
  };
  [[nodiscard]] bool is_island(int hole) const;
  [[nodiscard]] std::optional<Course> loop_around(const Space& space, const std::vector<int>& holes) const;
  // Distances to the walls of the holes, or to all walls but those of holes and `neither`.
  [[nodiscard]] std::shared_ptr<const DistanceField> distances(const Space& space, const std::vector<int>& holes,
                                                               const std::vector<int>& neither, bool within) const;
  [[nodiscard]] Vec2 point_in(int hole) const;
  void measure(Course& course) const;

  const OccupancyMap& map_;
  CourseNeeds needs_;
  RegionTree tree_;
  std::vector<Space> spaces_;
};

/// The curve, counter-clockwise, on which `outer` and `inner` are equal, around cell (i, j) where inner is the smaller; in cells of the
/// grid frame. Where the outermost cells of the map belong to the outer walls there is one.
std::vector<Vec2> level_loop(const DistanceField& inner, const DistanceField& outer, int i, int j);

}  // namespace pitwall::tracks::build

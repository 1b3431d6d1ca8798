// SPDX-License-Identifier: Apache-2.0
#include "tracks/build/course.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/check.hpp"

namespace pitwall::tracks::build {
namespace {

struct Cell {
  int i = 0;
  int j = 0;
  friend bool operator==(Cell, Cell) = default;
};

bool contains(const std::vector<int>& list, int value) { return std::find(list.begin(), list.end(), value) != list.end(); }

double signed_area(const std::vector<Vec2>& loop) {
  double twice = 0.0;
  for (std::size_t k = 0; k < loop.size(); ++k) twice += cross(loop[k], loop[(k + 1) % loop.size()]);
  return 0.5 * twice;
}

/// Whether the loop goes around p (crossings of the ray along +x).
bool goes_around(const std::vector<Vec2>& loop, Vec2 p) {
  bool inside = false;
  for (std::size_t k = 0; k < loop.size(); ++k) {
    const Vec2 a = loop[k];
    const Vec2 b = loop[(k + 1) % loop.size()];
    if ((a.y > p.y) != (b.y > p.y) && p.x < a.x + (b.x - a.x) * (p.y - a.y) / (b.y - a.y)) inside = !inside;
  }
  return inside;
}

/// Walks along the border of the cells where `lead` is positive, keeping them on the left, from the side between `left` and `right` on
/// (marching squares).
template <class Lead>
std::vector<Vec2> follow(const Lead& lead, Cell left, Cell right) {
  std::vector<Vec2> loop;
  const Cell first_left = left;
  const Cell first_right = right;
  do {
    const double with = lead(left);
    const double without = lead(right);
    const double part = with / (with - without);
    loop.push_back({left.i + 0.5 + part * (right.i - left.i), left.j + 0.5 + part * (right.j - left.j)});
    const Cell step{left.j - right.j, right.i - left.i};
    const Cell ahead_left{left.i + step.i, left.j + step.j};
    const Cell ahead_right{right.i + step.i, right.j + step.j};
    const double a = lead(ahead_left);
    const double b = lead(ahead_right);
    // Where only the far right cell is positive too, the mean says whether it hangs together with the near left one.
    const bool to_the_right = b > 0.0 && (a > 0.0 || with + without + a + b > 0.0);
    if (to_the_right) {
      left = ahead_right;
    } else if (a > 0.0) {
      left = ahead_left;
      right = ahead_right;
    } else {
      right = ahead_left;
    }
  } while (!(left == first_left && right == first_right));
  return loop;
}

}  // namespace

std::vector<Vec2> level_loop(const DistanceField& inner, const DistanceField& outer, int i, int j) {
  const auto lead = [&](Cell c) { return outer.centre_distance_m(c.i, c.j) - inner.centre_distance_m(c.i, c.j); };
  for (; j > 0; --j) {
    if (!(lead({i, j}) > 0.0 && lead({i, j - 1}) <= 0.0)) continue;
    std::vector<Vec2> loop = follow(lead, {i, j}, {i, j - 1});
    // Clockwise, it is the border of outer walls within: go on beyond them.
    if (signed_area(loop) > 0.0) return loop;
  }
  return {};
}

CourseFinder::CourseFinder(const OccupancyMap& map, const CourseNeeds& needs) : map_(map), needs_(needs) {
  const DistanceField distance(map);
  const double half = 0.5 * needs.min_width_m;
  std::vector<std::uint8_t> open;
  open.reserve(map.blocked_cells().size());
  for (int j = 0; j < map.height(); ++j) {
    for (int i = 0; i < map.width(); ++i) open.push_back(distance.centre_distance_m(i, j, half) >= half ? 1 : 0);
  }
  tree_ = region_tree(open, map.width(), map.height());
  std::vector<Space> by_region(tree_.regions.size());
  for (std::size_t k = 1; k < tree_.regions.size(); ++k) {
    const Region& region = tree_.regions[k];
    if (region.open) continue;
    Space& space = by_region[static_cast<std::size_t>(region.parent)];
    (is_island(static_cast<int>(k)) ? space.islands : space.holes).push_back(static_cast<int>(k));
  }
  for (std::size_t k = 0; k < by_region.size(); ++k) {
    if (by_region[k].holes.empty()) continue;
    by_region[k].region = static_cast<int>(k);
    spaces_.push_back(std::move(by_region[k]));
  }
}

bool CourseFinder::is_island(int hole) const {
  // A hole is its walls and what is too near to them.
  return tree_.regions[static_cast<std::size_t>(hole)].extent() * map_.resolution_m() - needs_.min_width_m < needs_.island_m;
}

Vec2 CourseFinder::point_in(int hole) const {
  const Region& region = tree_.regions[static_cast<std::size_t>(hole)];
  const int j = (region.first_j + region.j_high) / 2;
  const int middle = (region.i_low + region.i_high) / 2;
  const int surrounding = region.parent;
  // It hangs together, so that it has a cell in each of its rows.
  for (int k = 0;; ++k) {
    PITWALL_CHECK(k <= map_.width(), hole, j);
    for (const int i : {middle - k, middle + k}) {
      if (map_.inside(i, j) && tree_.child_towards(surrounding, tree_.at(i, j)) == hole) return map_.to_map({i + 0.5, j + 0.5});
    }
  }
}

std::shared_ptr<const DistanceField> CourseFinder::distances(const Space& space, const std::vector<int>& holes,
                                                             const std::vector<int>& neither, bool within) const {
  enum : std::int8_t { kFree = 0, kWall = 100 };
  std::vector<std::int8_t> of_region;
  for (std::size_t k = 0; k < tree_.regions.size(); ++k) {
    const int hole = tree_.child_towards(space.region, static_cast<int>(k));
    of_region.push_back(contains(holes, hole) == within && !contains(neither, hole) ? kWall : kFree);
  }
  const std::vector<std::uint8_t>& blocked = map_.blocked_cells();
  std::vector<std::int8_t> values(blocked.size());
  for (std::size_t k = 0; k < blocked.size(); ++k) {
    values[k] = blocked[k] != 0 ? of_region[static_cast<std::size_t>(tree_.label[k])] : std::int8_t{kFree};
  }
  const auto walls = OccupancyMap::make(map_.width(), map_.height(), map_.resolution_m(), map_.origin(), std::move(values));
  return std::make_shared<const DistanceField>(*walls);
}

std::optional<Course> CourseFinder::loop_around(const Space& space, const std::vector<int>& holes) const {
  Course course;
  course.left = distances(space, holes, space.islands, true);
  course.right = distances(space, holes, space.islands, false);
  std::vector<int> inside = holes;
  for (const int island : space.islands) {
    // The loop passes where there is more room: an island belongs to the walls that are nearer.
    const Region& region = tree_.regions[static_cast<std::size_t>(island)];
    double to_left = std::numeric_limits<double>::infinity();
    double to_right = to_left;
    for (int j = region.first_j; j <= region.j_high; ++j) {
      for (int i = region.i_low; i <= region.i_high; ++i) {
        if (!map_.blocked(i, j) || tree_.child_towards(space.region, tree_.at(i, j)) != island) continue;
        to_left = std::min(to_left, course.left->centre_distance_m(i, j));
        to_right = std::min(to_right, course.right->centre_distance_m(i, j));
      }
    }
    if (to_left < to_right) inside.push_back(island);
    course.islands.push_back({point_in(island), region.extent() * map_.resolution_m() - needs_.min_width_m, to_left < to_right});
  }
  if (!space.islands.empty()) {
    course.left = distances(space, inside, {}, true);
    course.right = distances(space, inside, {}, false);
  }
  const Region& first = tree_.regions[static_cast<std::size_t>(holes.front())];
  course.loop = level_loop(*course.left, *course.right, first.first_i, first.first_j);
  for (Vec2& p : course.loop) p = map_.to_map(p);
  for (const int hole : space.holes) {
    const Vec2 p = point_in(hole);
    if (goes_around(course.loop, p) != contains(holes, hole)) return std::nullopt;
    if (contains(holes, hole)) course.around.push_back(p);
  }
  measure(course);
  return course;
}

void CourseFinder::measure(Course& course) const {
  course.min_width_m = std::numeric_limits<double>::infinity();
  std::size_t at_edge = 0;
  for (std::size_t k = 0; k < course.loop.size(); ++k) {
    const Vec2 p = course.loop[k];
    course.length_m += distance(p, course.loop[(k + 1) % course.loop.size()]);
    const double right = course.right->clearance_m(p, std::numeric_limits<double>::infinity());
    const double width = course.left->clearance_m(p, std::numeric_limits<double>::infinity()) + right;
    if (width < course.min_width_m) {
      course.min_width_m = width;
      course.narrowest = p;
    }
    // The outermost cells are a frame around the picture.
    const Vec2 at = map_.to_grid(p);
    const double to_edge = std::min({at.x, map_.width() - at.x, at.y, map_.height() - at.y}) - 1.0;
    if (to_edge * map_.resolution_m() < right + 0.5 * map_.resolution_m()) ++at_edge;
  }
  course.edge_share = static_cast<double>(at_edge) / static_cast<double>(course.loop.size());
}

std::vector<Course> CourseFinder::all() const {
  std::vector<Course> courses;
  for (const Space& space : spaces_) {
    for (const int hole : space.holes) {
      if (std::optional<Course> course = loop_around(space, {hole})) courses.push_back(*std::move(course));
    }
    if (space.holes.size() == 1) continue;
    if (std::optional<Course> course = loop_around(space, space.holes)) courses.push_back(*std::move(course));
  }
  std::stable_sort(courses.begin(), courses.end(), [](const Course& a, const Course& b) { return a.length_m > b.length_m; });
  return courses;
}

std::vector<Course> CourseFinder::around(const std::vector<Vec2>& points) const {
  std::vector<Course> courses;
  for (const Space& space : spaces_) {
    std::vector<int> holes;
    for (const Vec2 p : points) {
      const Vec2 cell = map_.to_grid(p);
      if (!(cell.x >= 0.0 && cell.y >= 0.0 && cell.x < map_.width() && cell.y < map_.height())) continue;
      const int hole = tree_.child_towards(space.region, tree_.at(static_cast<int>(cell.x), static_cast<int>(cell.y)));
      if (contains(space.holes, hole) && !contains(holes, hole)) holes.push_back(hole);
    }
    if (holes.empty()) continue;
    if (std::optional<Course> course = loop_around(space, holes)) courses.push_back(*std::move(course));
  }
  return courses;
}

}  // namespace pitwall::tracks::build

// SPDX-License-Identifier: Apache-2.0
#include "tracks/build/import.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <limits>
#include <optional>
#include <utility>

#include "core/text.hpp"
#include "tracks/build/corridor.hpp"
#include "tracks/build/spline.hpp"
#include "tracks/line_check.hpp"
#include "tracks/path.hpp"

namespace pitwall::tracks::build {
namespace {

constexpr std::int8_t kFree = 0;
constexpr std::int8_t kWall = 100;
constexpr double kUnlimited = std::numeric_limits<double>::infinity();

std::size_t index_of(const OccupancyMap& map, int i, int j) {
  return static_cast<std::size_t>(j) * static_cast<std::size_t>(map.width()) + static_cast<std::size_t>(i);
}

/// The cells with a frame of wall around them; what is unknown is wall.
OccupancyMap framed(const OccupancyMap& map) {
  const int width = map.width() + 2;
  std::vector<std::int8_t> values(static_cast<std::size_t>(width) * static_cast<std::size_t>(map.height() + 2), kWall);
  for (int j = 0; j < map.height(); ++j) {
    for (int i = 0; i < map.width(); ++i) {
      if (!map.blocked(i, j))
        values[static_cast<std::size_t>(j + 1) * static_cast<std::size_t>(width) + static_cast<std::size_t>(i + 1)] = kFree;
    }
  }
  const Vec2 corner = map.to_map({-1.0, -1.0});
  return *OccupancyMap::make(width, map.height() + 2, map.resolution_m(), {corner.x, corner.y, map.origin().yaw}, std::move(values));
}

/// Makes floor of blocked spots of at most 4 cells, unless the map says that something beside them is unknown: a post is more, and noise is
/// less. Returns how many there were.
std::size_t despeckle(OccupancyMap& map, const OccupancyMap& seen) {
  constexpr std::size_t kSpeck = 4;
  std::vector<std::uint8_t> open;
  for (const std::uint8_t blocked : map.blocked_cells()) open.push_back(blocked != 0 ? 0 : 1);
  const RegionTree tree = region_tree(open, map.width(), map.height());
  std::size_t specks = 0;
  std::vector<bool> is_speck(tree.regions.size(), false);
  for (std::size_t k = 1; k < tree.regions.size(); ++k) {
    const Region& region = tree.regions[k];
    if (region.open || region.cells > kSpeck) continue;
    bool unknown = false;
    for (int j = region.first_j - 1; j <= region.j_high + 1; ++j) {
      for (int i = region.i_low - 1; i <= region.i_high + 1; ++i)
        unknown = unknown || (seen.inside(i - 1, j - 1) && seen.value(i - 1, j - 1) == OccupancyMap::kUnknown);
    }
    is_speck[k] = !unknown;
    if (!unknown) ++specks;
  }
  std::vector<std::int8_t> values;
  for (std::size_t cell = 0; cell < open.size(); ++cell)
    values.push_back(open[cell] != 0 || is_speck[static_cast<std::size_t>(tree.label[cell])] ? kFree : kWall);
  map = *OccupancyMap::make(map.width(), map.height(), map.resolution_m(), map.origin(), std::move(values));
  return specks;
}

std::string listed(const std::vector<Course>& courses) {
  std::string text;
  for (const Course& course : courses) {
    text += "\n  " + format_number(course.length_m, 4) + " m, at least " + format_metres(course.min_width_m) + " wide:";
    for (const Vec2 p : course.around) text += " --around " + format_number(p.x, 4) + "," + format_number(p.y, 4);
  }
  return text;
}

/// Takes off what has the edge of the picture for a wall; whether there was any.
bool drop_open(std::vector<Course>& courses, double largest_share) {
  const auto open = [&](const Course& course) { return course.edge_share > largest_share; };
  return std::erase_if(courses, open) > 0;
}

/// Why there is no course as wide as is needed.
Error why_none(const OccupancyMap& map, const ImportSettings& settings, bool at_edge) {
  // The widest way for which a loop is found is what there is.
  ImportSettings narrower = settings;
  double fits = 0.0;
  double too_wide = settings.needs.min_width_m;
  std::optional<Course> best;
  constexpr int kHalvings = 6;
  for (int k = 0; k < kHalvings; ++k) {
    narrower.needs.min_width_m = std::max(0.5 * (fits + too_wide), 2.0 * map.resolution_m());
    const CourseFinder finder(map, narrower.needs);
    std::vector<Course> courses = settings.around.empty() ? finder.all() : finder.around(settings.around);
    (void)drop_open(courses, settings.largest_edge_share);
    if (courses.empty()) {
      too_wide = narrower.needs.min_width_m;
    } else {
      fits = narrower.needs.min_width_m;
      best = std::move(courses.front());
    }
  }
  if (best) {
    return Error{"too narrow: a loop of " + format_metres(best->length_m) + " is " + format_metres(best->min_width_m) + " wide at " +
                 format_place(best->narrowest.x, best->narrowest.y) + "; " + format_metres(settings.needs.min_width_m) + " is needed"};
  }
  if (!settings.around.empty())
    return Error{"no closed course around " + format_place(settings.around.front().x, settings.around.front().y) +
                 ": leave --around out for a list of what there is"};
  if (at_edge) return Error{"open: the only loops run along the edge of the picture, where no wall is"};
  return Error{"open: the free space does not close to a loop"};
}

Result<Course> choose_course(const OccupancyMap& map, const ImportSettings& settings) {
  const CourseFinder finder(map, settings.needs);
  std::vector<Course> courses = settings.around.empty() ? finder.all() : finder.around(settings.around);
  const bool at_edge = drop_open(courses, settings.largest_edge_share);
  if (courses.empty()) return why_none(map, settings, at_edge);
  if (courses.size() > 1) {
    return Error{std::to_string(courses.size()) +
                 " loops are possible; choose one by a point within it (several for one around several):" + listed(courses)};
  }
  return std::move(courses.front());
}

/// The loop, smooth, in the middle between its walls, and points `spacing_m` apart.
std::vector<Vec2> centre_points(const Course& course, double cell_m, const ImportSettings& settings) {
  std::vector<Vec2> points;
  for (const Vec2 p : course.loop) {
    if (points.empty() || distance(points.back(), p) > 0.1 * cell_m) points.push_back(p);
  }
  while (points.size() > 1 && distance(points.front(), points.back()) <= 0.1 * cell_m) points.pop_back();
  // Three moving averages over 2 n + 1 points are about a Gaussian of variance n (n + 1).
  const auto evenly = [](const std::vector<Vec2>& line, double spacing_m) {
    const Spline spline(line, true);
    return spline.evenly(static_cast<std::size_t>(std::max(8.0, std::round(spline.length_m() / spacing_m))));
  };
  const auto smooth = [&](std::vector<Vec2> line, double sigma_m) {
    line = evenly(line, cell_m);
    const auto half = static_cast<std::int64_t>(std::round(std::sqrt(0.25 + sigma_m * sigma_m / (cell_m * cell_m)) - 0.5));
    for (int pass = 0; pass < 3; ++pass) line = smoothed(line, true, half);
    return line;
  };
  points = smooth(std::move(points), settings.smoothing_m);
  // Smoothing cuts corners: back into the middle, less and less smoothed.
  for (const double less : {0.5, 0.25, 0.25}) {
    std::vector<Vec2> middle;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Vec2 along = points[(i + 1) % points.size()] - points[(i + points.size() - 1) % points.size()];
      const double shift = 0.5 * (course.left->clearance_m(points[i], kUnlimited) - course.right->clearance_m(points[i], kUnlimited));
      middle.push_back(points[i] + (shift / norm(along)) * perpendicular(along));
    }
    points = smooth(std::move(middle), less * settings.smoothing_m);
  }
  return evenly(points, settings.spacing_m);
}

/// Begins the closed line in the middle of its straightest stretch.
void start_on_straight(std::vector<Vec2>& points, double straight_m) {
  const std::size_t n = points.size();
  std::vector<double> turning;
  double length = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const Vec2 before = points[i] - points[(i + n - 1) % n];
    const Vec2 after = points[(i + 1) % n] - points[i];
    turning.push_back(std::fabs(math::atan2(cross(before, after), dot(before, after))));
    length += norm(after);
  }
  const auto window = std::clamp<std::size_t>(static_cast<std::size_t>(straight_m / length * static_cast<double>(n)), 1, n / 2);
  double sum = 0.0;
  for (std::size_t i = 0; i < window; ++i) sum += turning[i];
  double least = sum;
  std::size_t first = 0;
  for (std::size_t i = 1; i < n; ++i) {
    sum += turning[(i + window - 1) % n] - turning[i - 1];
    if (sum < least) {
      least = sum;
      first = i;
    }
  }
  std::rotate(points.begin(), points.begin() + static_cast<std::ptrdiff_t>((first + window / 2) % n), points.end());
}

/// The cells within the clearance of the line: the course itself.
std::vector<std::uint8_t> course_cells(const OccupancyMap& map, const CentreLine& line) {
  constexpr double kSliver = 1.5;  // cells, along walls that are rough
  std::vector<std::uint8_t> covered(map.blocked_cells().size(), 0);
  for (std::size_t k = 0; k < line.points.size(); ++k) {
    const Vec2 centre = map.to_grid(line.points[k]);
    const double radius = line.half_width_m[k] / map.resolution_m() + kSliver;
    for (int j = std::max(0, static_cast<int>(centre.y - radius)); j <= std::min(map.height() - 1, static_cast<int>(centre.y + radius));
         ++j) {
      const double up = j + 0.5 - centre.y;
      const double across = std::sqrt(std::max(0.0, radius * radius - up * up));
      const int first = std::max(0, static_cast<int>(centre.x - across));
      const int last = std::min(map.width() - 1, static_cast<int>(centre.x + across));
      for (int i = first; i <= last; ++i) {
        if (!map.blocked(i, j)) covered[index_of(map, i, j)] = 1;
      }
    }
  }
  return covered;
}

/// How many steps from side to side through free cells each is from the course; -1 where there is no way.
std::vector<int> steps_from(const OccupancyMap& map, const std::vector<std::uint8_t>& course) {
  std::vector<int> steps(course.size(), -1);
  std::deque<std::size_t> todo;
  for (std::size_t cell = 0; cell < course.size(); ++cell) {
    if (course[cell] == 0) continue;
    steps[cell] = 0;
    todo.push_back(cell);
  }
  const auto width = static_cast<std::size_t>(map.width());
  while (!todo.empty()) {
    const std::size_t cell = todo.front();
    todo.pop_front();
    // The frame is wall: a free cell has neighbours on every side.
    for (const std::size_t next : {cell + 1, cell - 1, cell + width, cell - width}) {
      if (steps[next] >= 0 || map.blocked_cells()[next] != 0) continue;
      steps[next] = steps[cell] + 1;
      todo.push_back(next);
    }
  }
  return steps;
}

/// The map in which only the course is free, with its corners and niches; what is deeper than the course is wide to one side is closed.
OccupancyMap close_rooms(const OccupancyMap& map, const CentreLine& line, ImportedTrack& track) {
  std::vector<double> half = line.half_width_m;
  std::nth_element(half.begin(), half.begin() + static_cast<std::ptrdiff_t>(half.size() / 2), half.end());
  const double deepest = half[half.size() / 2] / map.resolution_m();
  const std::vector<std::uint8_t> course = course_cells(map, line);
  const std::vector<int> steps = steps_from(map, course);
  std::vector<std::uint8_t> beside(course.size());
  for (std::size_t cell = 0; cell < course.size(); ++cell) beside[cell] = course[cell] == 0 && map.blocked_cells()[cell] == 0 ? 1 : 0;
  const RegionTree rooms = region_tree(beside, map.width(), map.height());
  std::vector<bool> closed(rooms.regions.size(), false);
  for (std::size_t cell = 0; cell < course.size(); ++cell) {
    if (beside[cell] != 0 && (steps[cell] < 0 || steps[cell] > deepest)) closed[static_cast<std::size_t>(rooms.label[cell])] = true;
  }
  std::vector<std::int8_t> values;
  std::size_t reached = 0;
  for (std::size_t cell = 0; cell < course.size(); ++cell) {
    const bool shut = beside[cell] != 0 && closed[static_cast<std::size_t>(rooms.label[cell])];
    if (shut && steps[cell] >= 0) ++reached;
    values.push_back(map.blocked_cells()[cell] != 0 || shut ? kWall : kFree);
  }
  track.closed_area_m2 = static_cast<double>(reached) * map.resolution_m() * map.resolution_m();
  return *OccupancyMap::make(map.width(), map.height(), map.resolution_m(), map.origin(), std::move(values));
}

/// The widths of the line, and what the report says of them.
void measure(const Course& course, ImportedTrack& track) {
  track.min_width_m = kUnlimited;
  for (const Vec2 p : track.centre.points) {
    const double left = course.left->clearance_m(p, kUnlimited);
    const double right = course.right->clearance_m(p, kUnlimited);
    track.centre.half_width_m.push_back(std::min(left, right));
    track.largest_offset_m = std::max(track.largest_offset_m, 0.5 * std::fabs(left - right));
    if (left + right >= track.min_width_m) continue;
    track.min_width_m = left + right;
    track.narrowest = p;
  }
}

}  // namespace

Result<ImportedTrack> import_track(const OccupancyMap& map, const ImportSettings& settings) {
  constexpr double kFinest_m = 0.005;
  constexpr double kCoarsest_m = 0.5;
  if (!(map.resolution_m() >= kFinest_m && map.resolution_m() <= kCoarsest_m)) {
    return Error{"resolution = " + format_exact(map.resolution_m()) + ": a map of a course has cells of 0.005 .. 0.5 m (metres, not mm?)"};
  }
  OccupancyMap floor = framed(map);
  const std::size_t specks = despeckle(floor, map);
  Result<Course> course = choose_course(floor, settings);
  if (!course) return course.error();
  ImportedTrack track{floor};
  track.specks = specks;
  track.centre.points = centre_points(*course, floor.resolution_m(), settings);
  start_on_straight(track.centre.points, settings.straight_m);
  if (settings.reverse) {
    std::reverse(track.centre.points.begin() + 1, track.centre.points.end());
    std::swap(course->left, course->right);
    for (Island& island : course->islands) island.on_the_left = !island.on_the_left;
  }
  if (const Status fit = check_line(track.centre.points, true); !fit) return Error{"centre line: " + fit.error().message};
  measure(*course, track);
  track.length_m = Path::make(track.centre.points, true)->length_m();
  track.islands = std::move(course->islands);
  if (track.min_width_m < settings.needs.min_width_m) {
    return Error{"too narrow: " + format_metres(track.min_width_m) + " at " + format_place(track.narrowest.x, track.narrowest.y) + "; " +
                 format_metres(settings.needs.min_width_m) + " is needed"};
  }
  if (course->edge_share > 0.0) {
    track.warnings.push_back("over " + format_number(100.0 * course->edge_share, 2) +
                             " % of the lap the edge of the picture stands in for a wall");
  }
  track.map = close_rooms(floor, track.centre, track);
  return track;
}

}  // namespace pitwall::tracks::build

// SPDX-License-Identifier: Apache-2.0
#include "tracks/build/corridor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tracks/build/spline.hpp"

namespace pitwall::tracks::build {
namespace {

constexpr double kStep_m = 0.02;  // of the search for room
constexpr double kSame_m = 0.03;  // what bounds are apart where there is no room: cells make them jagged
constexpr double kTightRadius_m = 1.0;
constexpr double kOfRadius = 0.6;  // normals meet at the centre of curvature: a station stays away from it

/// Where along `way` the clearance passes `needed`, between a place that has it and one that has not.
double edge_between(const Room& room, Vec2 from, Vec2 way, double needed, double with, double without) {
  constexpr int kHalvings = 6;
  for (int k = 0; k < kHalvings; ++k) {
    const double middle = 0.5 * (with + without);
    (room.about(from + middle * way) >= needed ? with : without) = middle;
  }
  return with;
}

/// How far along `way` the clearance stays at least `needed`, in steps that the clearance itself allows.
double room_along(const Room& room, Vec2 from, Vec2 way, double needed, double reach) {
  double gone = 0.0;
  double before = 0.0;
  while (gone < reach) {
    const double spare = room.about(from + gone * way) - needed;
    if (spare < 0.0) return edge_between(room, from, way, needed, before, gone);
    before = gone;
    gone += std::max(kStep_m, spare);
  }
  return reach;
}

/// The interval of offsets around the one nearest to zero that has room; where none has, that with most.
std::pair<double, double> interval(const Room& room, Vec2 p, Vec2 normal, double needed, double reach) {
  double nearest = 0.0;
  double best = 0.0;
  double most = room.about(p);
  bool found = most >= needed;
  for (double k = kStep_m; !found && k <= reach; k += kStep_m) {
    for (const double side : {1.0, -1.0}) {
      const double clearance = room.about(p + (side * k) * normal);
      if (clearance > most) {
        most = clearance;
        best = side * k;
      }
      if (!found && clearance >= needed) {
        found = true;
        nearest = side * edge_between(room, p, side * normal, needed, k, k - kStep_m);
      }
    }
  }
  if (!found) return {best, best};
  const Vec2 start = p + nearest * normal;
  const double right = room_along(room, start, -normal, needed, reach + nearest);
  const double left = room_along(room, start, normal, needed, reach - nearest);
  return {nearest - right, nearest + left};
}

/// How far the end of the chassis that is `ahead_m` of base_link swings out of the path, to each side, at each station.
struct Swing {
  std::vector<double> left, right;
};
Swing swing_of(const Stations& line, double ahead_m) {
  const std::size_t n = line.size();
  Swing swing{std::vector<double>(n, 0.0), std::vector<double>(n, 0.0)};
  const auto far = static_cast<std::size_t>(std::ceil(ahead_m / line.spacing_m));
  for (std::size_t j = 0; j < n; ++j) {
    const double out = 0.5 * std::fabs(line.curvature_per_m[j]) * ahead_m * ahead_m;
    std::vector<double>& side = line.curvature_per_m[j] > 0.0 ? swing.right : swing.left;
    for (std::size_t k = 0; k <= far; ++k) {
      if (!line.closed && j + k >= n) break;
      double& there = side[(j + k) % n];
      there = std::max(there, out);
    }
  }
  return swing;
}

}  // namespace

Room Room::of(std::shared_ptr<const OccupancyMap> map) {
  auto distance = std::make_shared<const DistanceField>(*map);
  auto rays = std::make_shared<const RayCaster>(map);
  return {std::move(map), std::move(distance), std::move(rays)};
}

double Room::about(Vec2 p) const {
  const Vec2 cell = map->to_grid(p) - Vec2{0.5, 0.5};
  const double i = std::floor(cell.x);
  const double j = std::floor(cell.y);
  if (!(i >= 0.0 && j >= 0.0 && i + 1.0 < map->width() && j + 1.0 < map->height())) return 0.0;
  const auto column = static_cast<int>(i);
  const auto row = static_cast<int>(j);
  const double x = cell.x - i;
  const double y = cell.y - j;
  const double low = (1.0 - x) * distance->centre_distance_m(column, row) + x * distance->centre_distance_m(column + 1, row);
  const double high = (1.0 - x) * distance->centre_distance_m(column, row + 1) + x * distance->centre_distance_m(column + 1, row + 1);
  return std::max(0.0, (1.0 - y) * low + y * high - 0.5 * map->resolution_m());
}

Result<Room> room_from_widths(const Line& centre, double cell_m) {
  constexpr double kMostCells = 67'108'864.0;
  constexpr double kAround_m = 1.0;
  const Path& path = centre.path;
  if (centre.width_left_m.empty() || centre.width_right_m.empty())
    return Error{centre.file.string() + ": a centre line without a map needs its widths (columns w_tr_right_m, w_tr_left_m)"};
  Vec2 low = path.points().front();
  Vec2 high = low;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const double wide = std::max(centre.width_left_m[i], centre.width_right_m[i]) + kAround_m;
    low = {std::min(low.x, path.points()[i].x - wide), std::min(low.y, path.points()[i].y - wide)};
    high = {std::max(high.x, path.points()[i].x + wide), std::max(high.y, path.points()[i].y + wide)};
  }
  const double columns = std::ceil((high.x - low.x) / cell_m);
  const double rows = std::ceil((high.y - low.y) / cell_m);
  if (columns * rows > kMostCells)
    return Error{centre.file.string() + ": the track is too wide for a map of " + std::to_string(cell_m) + " m cells"};
  const auto width = static_cast<int>(columns);
  const auto height = static_cast<int>(rows);
  std::vector<std::int8_t> cells(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), 100);
  for (std::size_t i = 0; i < path.segments(); ++i) {
    const std::size_t next = (i + 1) % path.size();
    const double length = distance(path.points()[i], path.points()[next]);
    const auto pieces = static_cast<int>(std::ceil(length / (0.25 * cell_m)));
    for (int k = 0; k < pieces; ++k) {
      const double t = static_cast<double>(k) / pieces;
      const double left = (1.0 - t) * centre.width_left_m[i] + t * centre.width_left_m[next];
      const double right = (1.0 - t) * centre.width_right_m[i] + t * centre.width_right_m[next];
      for (double d = -right; d <= left; d += 0.4 * cell_m) {
        const Vec2 p = (1.0 / cell_m) * (path.from_frenet({path.s_of(i) + t * length, d}) - low);
        const auto at = static_cast<std::size_t>(p.y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(p.x);
        cells[at] = 0;
      }
    }
  }
  Result<OccupancyMap> map = OccupancyMap::make(width, height, cell_m, {low.x, low.y, 0.0}, std::move(cells));
  if (!map) return map.error();
  return Room::of(std::make_shared<const OccupancyMap>(*std::move(map)));
}

Stations stations_of(const std::vector<Vec2>& points, bool closed, double spacing_m) {
  const Spline spline(points, closed);
  const auto pieces = std::max<std::size_t>(8, static_cast<std::size_t>(std::lround(spline.length_m() / spacing_m)));
  const std::size_t count = closed ? pieces : pieces + 1;
  Stations line;
  line.points = spline.evenly(count);
  line.spacing_m = spline.length_m() / static_cast<double>(pieces);
  line.closed = closed;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t before = i > 0 ? i - 1 : (closed ? count - 1 : 0);
    const std::size_t after = i + 1 < count ? i + 1 : (closed ? 0 : i);
    const Vec2 along = line.points[after] - line.points[before];
    line.normals.push_back((1.0 / norm(along)) * perpendicular(along));
    // Of the points and not of the spline, whose curvature of a zigzag is three times as large: the optimisers' differences and
    // this must agree, or they amplify what they want to remove.
    const Vec2 in = line.points[i] - line.points[before];
    const Vec2 out = line.points[after] - line.points[i];
    const bool end = before == i || after == i;
    line.curvature_per_m.push_back(end ? 0.0 : 2.0 * cross(in, out) / (norm(in) * norm(out) * norm(along)));
  }
  return line;
}

Bounds bounds_of(const Room& room, const Stations& line, const CorridorSettings& settings, const std::vector<TightPlace>& tight) {
  Bounds bounds;
  const double usual = settings.chassis.half_width_m + settings.margin_m;
  const Swing front = swing_of(line, settings.chassis.front_m);
  for (std::size_t i = 0; i < line.size(); ++i) {
    double needed = usual;
    for (const TightPlace& place : tight) {
      if (distance(place.at, line.points[i]) < kTightRadius_m) needed = std::max(needed, usual + place.more_m);
    }
    auto [low, high] = interval(room, line.points[i], line.normals[i], needed, settings.reach_m);
    low += front.right[i];
    high -= front.left[i];
    const double kappa = line.curvature_per_m[i];
    if (kappa > 0.0) high = std::min(high, kOfRadius / kappa);
    if (kappa < 0.0) low = std::max(low, kOfRadius / kappa);
    if (high - low < kSame_m) {
      ++bounds.tight;
      const double middle = 0.5 * (low + high);
      low = middle - 0.5 * kSame_m;
      high = middle + 0.5 * kSame_m;
    }
    bounds.low_m.push_back(low);
    bounds.high_m.push_back(high);
  }
  return bounds;
}

std::vector<Vec2> moved(const Stations& line, const std::vector<double>& offset_m) {
  std::vector<Vec2> points;
  for (std::size_t i = 0; i < line.size(); ++i) points.push_back(line.points[i] + offset_m[i] * line.normals[i]);
  return points;
}

std::vector<Vec2> smoothed(const std::vector<Vec2>& points, bool closed, std::int64_t half) {
  const auto n = static_cast<std::int64_t>(points.size());
  std::vector<Vec2> result;
  for (std::int64_t i = 0; i < n; ++i) {
    // At the ends of an open line the window shrinks, so that they stay where they are.
    const std::int64_t reach = closed ? half : std::min({half, i, n - 1 - i});
    Vec2 sum;
    for (std::int64_t k = i - reach; k <= i + reach; ++k) sum = sum + points[static_cast<std::size_t>(((k % n) + n) % n)];
    result.push_back((1.0 / static_cast<double>(2 * reach + 1)) * sum);
  }
  return result;
}

}  // namespace pitwall::tracks::build

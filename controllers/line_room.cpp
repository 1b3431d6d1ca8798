// SPDX-License-Identifier: Apache-2.0
#include "controllers/line_room.hpp"

#include <algorithm>

#include "tracks/path.hpp"
#include "tracks/raycast.hpp"

namespace pitwall::controllers {

namespace {

constexpr double kFarthestWall_m = 10.0;
// A move is held this far to both sides of where it is needed, and blended twice over half of that: at 0.1 m its
// curvature is 0.025 / m.
constexpr double kHold_m = 2.0;

/// Calls visit(k) for point i and all points within `reach_m` along the path, each once.
template <class Visit>
void around(const tracks::Path& path, std::size_t i, double reach_m, const Visit& visit) {
  const std::size_t n = path.size();
  visit(i);
  for (const bool forward : {false, true}) {
    std::size_t k = i;
    double gone = 0.0;
    for (std::size_t steps = 1; steps < n; ++steps) {
      if (!path.closed() && (forward ? k + 1 == n : k == 0)) break;
      const std::size_t to = forward ? (k + 1) % n : (k + n - 1) % n;
      gone += distance(path.points()[k], path.points()[to]);
      if (gone > reach_m) break;
      k = to;
      visit(k);
    }
  }
}

std::vector<double> averaged(const tracks::Path& path, const std::vector<double>& values, double reach_m) {
  std::vector<double> out(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    double sum = 0.0;
    int count = 0;
    around(path, i, reach_m, [&](std::size_t k) {
      sum += values[k];
      ++count;
    });
    out[i] = sum / count;
  }
  return out;
}

// How far to the left point i must move: 0 where both sides have enough, to the middle where they cannot.
double wanted_move(double right_m, double left_m, double keep_m) {
  const double low = keep_m - right_m;
  const double high = left_m - keep_m;
  return low > high ? 0.5 * (left_m - right_m) : std::clamp(0.0, low, high);
}

}  // namespace

Room measure_room(const LineToFollow& line, const BodyRectangle& body) {
  const tracks::Path& path = *line.path;
  if (!line.rays) return {line.free_right_m, line.free_left_m};
  const double axis[] = {body.rear_m, 0.0, 0.5 * body.front_m, body.front_m};
  Room room;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Vec2 forward = unit_vector(path.heading_at(path.s_of(i)));
    const Vec2 to_left{-forward.y, forward.x};
    double left = kFarthestWall_m;
    double right = kFarthestWall_m;
    for (const double x : axis) {
      const Vec2 from = path.points()[i] + x * forward;
      left = std::min(left, line.rays->cast(from, to_left, kFarthestWall_m));
      right = std::min(right, line.rays->cast(from, -to_left, kFarthestWall_m));
    }
    room.left_m.push_back(left);
    room.right_m.push_back(right);
  }
  return room;
}

Room narrowed(const Room& room, const tracks::Path& path, double reach_m) {
  Room out = room;
  if (!room.known()) return out;
  for (std::size_t i = 0; i < path.size(); ++i) {
    around(path, i, reach_m, [&](std::size_t k) {
      out.right_m[i] = std::min(out.right_m[i], room.right_m[k]);
      out.left_m[i] = std::min(out.left_m[i], room.left_m[k]);
    });
  }
  return out;
}

LineToFollow keep_clear(const LineToFollow& line, const BodyRectangle& body, double clearance_m) {
  const tracks::Path& path = *line.path;
  const Room room = measure_room(line, body);
  if (!room.known()) return line;
  const std::size_t n = path.size();
  std::vector<double> move(n);
  for (std::size_t i = 0; i < n; ++i) move[i] = wanted_move(room.right_m[i], room.left_m[i], body.half_width_m + clearance_m);
  if (std::all_of(move.begin(), move.end(), [](double m) { return m == 0.0; })) return line;

  // Moves to the two sides are held and blended apart, so that neither is averaged away before it is due.
  std::vector<double> to_left(n);
  std::vector<double> to_right(n);
  for (std::size_t i = 0; i < n; ++i) {
    around(path, i, kHold_m, [&](std::size_t k) {
      to_left[i] = std::max(to_left[i], move[k]);
      to_right[i] = std::min(to_right[i], move[k]);
    });
  }
  for (int pass = 0; pass < 2; ++pass) {
    to_left = averaged(path, to_left, 0.5 * kHold_m);
    to_right = averaged(path, to_right, 0.5 * kHold_m);
  }
  std::vector<Vec2> points;
  for (std::size_t i = 0; i < n; ++i) {
    const Vec2 forward = unit_vector(path.heading_at(path.s_of(i)));
    points.push_back(path.points()[i] + (to_left[i] + to_right[i]) * Vec2{-forward.y, forward.x});
  }
  Result<tracks::Path> moved = tracks::Path::make(std::move(points), path.closed());
  if (!moved || moved->size() != n) return line;
  LineToFollow clear = line;
  clear.path = std::make_shared<const tracks::Path>(std::move(moved).value());
  for (std::size_t i = 0; i < n && !clear.free_left_m.empty() && !clear.free_right_m.empty(); ++i) {
    clear.free_left_m[i] -= to_left[i] + to_right[i];
    clear.free_right_m[i] += to_left[i] + to_right[i];
  }
  return clear;
}

}  // namespace pitwall::controllers

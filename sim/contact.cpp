// SPDX-License-Identifier: Apache-2.0
#include "sim/contact.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/math.hpp"

namespace pitwall::sim {
namespace {

// Least growth of u, as motion of the fastest point: what conservative advancement may overlook.
constexpr double kLeastMotion_m = 1e-6;

// A rectangle of any heading, by its centre, the unit vector of its length and both half extents.
struct Box {
  Vec2 centre;
  Vec2 axis;
  double half_length;
  double half_width;
};

Box box_at(const BodyRectangle& body, const Pose2& pose) {
  const auto [s, c] = math::sincos(pose.yaw);
  const Vec2 axis{c, s};
  return {pose.position() + 0.5 * (body.front_m + body.rear_m) * axis, axis, 0.5 * (body.front_m - body.rear_m), body.half_width_m};
}

// The square of cell (i, j) in the grid frame, in cells.
Box cell_box(int i, int j) { return {{i + 0.5, j + 0.5}, {1.0, 0.0}, 0.5, 0.5}; }

double reach(const Box& box, Vec2 unit) {
  return box.half_length * std::abs(dot(box.axis, unit)) + box.half_width * std::abs(cross(box.axis, unit));
}

// Gap along one axis, and the axis with its sign such that it points from b to a.
struct Gap {
  double value = -math::kInfinity;
  Vec2 normal;
};

Gap gap_along(const Box& a, const Box& b, Vec2 unit) {
  const double offset = dot(a.centre - b.centre, unit);
  return {std::abs(offset) - reach(a, unit) - reach(b, unit), offset < 0.0 ? -unit : unit};
}

// Largest gap over the separating axes: positive exactly where the rectangles are apart, and then at most their distance.
Gap separation(const Box& a, const Box& b) {
  Gap best;
  for (const Vec2 unit : {b.axis, perpendicular(b.axis), a.axis, perpendicular(a.axis)}) {
    const Gap gap = gap_along(a, b, unit);
    if (gap.value > best.value) best = gap;
  }
  return best;
}

// How one body moves over the whole sub-step (per unit of u).
struct Sweep {
  Pose2 from;
  Vec2 shift;
  double turn = 0.0;
  double radius = 0.0;  // of the corner farthest from base_link
  BodyRectangle body;

  Sweep(const BodyRectangle& rectangle, const Motion& motion)
      : from(motion.from),
        shift(motion.to.position() - motion.from.position()),
        turn(wrap_angle(motion.to.yaw - motion.from.yaw)),
        body(rectangle) {
    radius = norm({std::max(std::abs(body.rear_m), std::abs(body.front_m)), body.half_width_m});
  }
  [[nodiscard]] Pose2 pose(double u) const { return {from.x + u * shift.x, from.y + u * shift.y, from.yaw + u * turn}; }
  [[nodiscard]] Box box(double u) const { return box_at(body, pose(u)); }
  // Bound of the way of any corner by rotation.
  [[nodiscard]] double swing() const { return std::abs(turn) * radius; }
};

// u grows by what `safe(u)` allows, at least by `least`, up to `limit`; safe() is negative where the bodies touch.
template <class SafeAdvance>
std::optional<double> advance(double limit, double least, SafeAdvance&& safe) {
  double u = 0.0;
  for (;;) {
    const double free = safe(u);
    if (free < 0.0) return u;
    if (u >= limit || u + free > limit) return std::nullopt;
    u = std::min(limit, u + std::max(free, least));
  }
}

double least_step(double motion) { return motion > kLeastMotion_m ? kLeastMotion_m / motion : 1.0; }

double safe_advance(const Gap& gap, double approach) {
  if (gap.value <= 0.0) return -1.0;
  return approach > 0.0 ? gap.value / approach : math::kInfinity;
}

// What a rectangle shares with others, and its middle weighted by area: Sutherland and Hodgman's clipping against the four
// sides of `b`, widened by a hair so that a bare touch leaves something.
class Overlap {
 public:
  // Returns the area shared.
  double add(const Box& a, const Box& b, double slack) {
    count_ = 4;
    const Vec2 length = a.half_length * a.axis;
    const Vec2 width = a.half_width * perpendicular(a.axis);
    polygon_ = {a.centre + length + width, a.centre - length + width, a.centre - length - width, a.centre + length - width};
    const Vec2 side = perpendicular(b.axis);
    clip(b.axis, dot(b.centre, b.axis) + b.half_length + slack);
    clip(-b.axis, -dot(b.centre, b.axis) + b.half_length + slack);
    clip(side, dot(b.centre, side) + b.half_width + slack);
    clip(-side, -dot(b.centre, side) + b.half_width + slack);
    if (count_ == 0) return 0.0;
    Vec2 sum;
    double area = 0.0;
    for (std::size_t k = 0; k < count_; ++k) {
      sum = sum + polygon_[k];
      area += 0.5 * cross(polygon_[k] - polygon_[0], polygon_[(k + 1) % count_] - polygon_[0]);
    }
    area = std::abs(area);
    weighted_ = weighted_ + (area / static_cast<double>(count_)) * sum;
    area_ += area;
    return area;
  }
  [[nodiscard]] Vec2 middle(Vec2 otherwise) const { return area_ > 0.0 ? (1.0 / area_) * weighted_ : otherwise; }

 private:
  // Keeps the part with dot(p, outward) <= limit.
  void clip(Vec2 outward, double limit) {
    std::array<Vec2, 8> kept;
    std::size_t n = 0;
    for (std::size_t k = 0; k < count_; ++k) {
      const Vec2 p = polygon_[k];
      const Vec2 q = polygon_[(k + 1) % count_];
      const double over_p = dot(p, outward) - limit;
      const double over_q = dot(q, outward) - limit;
      if (over_p <= 0.0) kept[n++] = p;
      if ((over_p < 0.0 && over_q > 0.0) || (over_p > 0.0 && over_q < 0.0)) kept[n++] = p + (over_p / (over_p - over_q)) * (q - p);
    }
    polygon_ = kept;
    count_ = n;
  }

  std::array<Vec2, 8> polygon_;
  std::size_t count_ = 0;
  Vec2 weighted_;
  double area_ = 0.0;
};

// Cells [i0, i1] x [j0, j1] of the map that may meet what lies within (rx, ry) of `middle`.
struct CellRange {
  int i0, i1, j0, j1;
};

CellRange cells_around(Vec2 middle, double rx, double ry, const tracks::OccupancyMap& map) {
  const auto clamp_to = [](double value, int size) {
    return static_cast<int>(std::clamp(std::floor(value), -1.0, static_cast<double>(size)));
  };
  return {std::max(0, clamp_to(middle.x - rx, map.width()) - 1), std::min(map.width() - 1, clamp_to(middle.x + rx, map.width()) + 1),
          std::max(0, clamp_to(middle.y - ry, map.height()) - 1), std::min(map.height() - 1, clamp_to(middle.y + ry, map.height()) + 1)};
}

CellRange cells_around(const Box& box, double slack, const tracks::OccupancyMap& map) {
  return cells_around(box.centre, reach(box, {1.0, 0.0}) + slack, reach(box, {0.0, 1.0}) + slack, map);
}

// The same motion in the grid frame, in cells.
Pose2 to_grid(const Pose2& pose, const tracks::OccupancyMap& map) {
  const Vec2 p = map.to_grid(pose.position());
  return {p.x, p.y, map.to_grid_yaw(pose.yaw)};
}

Sweep grid_sweep(const BodyRectangle& chassis, const Motion& motion, const tracks::OccupancyMap& map) {
  const double k = 1.0 / map.resolution_m();
  return {{k * chassis.rear_m, k * chassis.front_m, k * chassis.half_width_m}, {to_grid(motion.from, map), to_grid(motion.to, map)}};
}

// Radius about base_link, where it starts, that the chassis does not leave however it turns, and a millimetre for rounding: what is clear
// of that circle, as nearly everything is in nearly every step, needs no look at the chassis itself.
double circle_about(const BodyRectangle& chassis, const Motion& motion) {
  return norm({std::max(std::abs(chassis.rear_m), std::abs(chassis.front_m)), chassis.half_width_m}) +
         norm(motion.to.position() - motion.from.position()) + 1e-3;
}

// Velocity, times the duration of the step, of the point of a body that is at p when the step is at u.
Vec2 way_of(const Sweep& sweep, double u, Vec2 p) { return sweep.shift + sweep.turn * perpendicular(p - sweep.pose(u).position()); }

double per_step(double way, Duration step) { return step.ns > 0 ? way / step.seconds() : 0.0; }

Touch wall_touch(const Sweep& sweep, double u, Duration step, const tracks::OccupancyMap& map) {
  constexpr double kHair = 1e-9;
  const Box box = sweep.box(u);
  const CellRange range = cells_around(box, 0.0, map);
  Overlap overlap;
  Vec2 normal;
  Vec2 likeliest;
  double most = 0.0;
  for (int j = range.j0; j <= range.j1; ++j) {
    for (int i = range.i0; i <= range.i1; ++i) {
      if (!map.blocked(i, j) || separation(box, cell_box(i, j)).value > kHair) continue;
      const Vec2 n = separation(box, cell_box(i, j)).normal;
      // By area, so that a cell that is barely overlapped at one end says little.
      const double area = overlap.add(box, cell_box(i, j), kHair);
      normal = normal + area * n;
      if (area > most) {
        most = area;
        likeliest = n;
      }
    }
  }
  const double length = norm(normal);
  // Opposite sides of a thin wall cancel; within a thick one no side is nearest, and the car's own way back is an answer.
  if (length > 1e-3 * most && length > 0.0) {
    normal = (1.0 / length) * normal;
  } else {
    normal = most > 0.0 ? likeliest : -box.axis;
  }
  const Vec2 point = overlap.middle(box.centre);
  Touch touch;
  touch.u = u;
  touch.point = map.to_map(point);
  touch.normal = rotate(map.origin().yaw, normal);
  touch.closing_speed_mps = per_step(-map.resolution_m() * dot(way_of(sweep, u, point), normal), step);
  return touch;
}

// What is left between the box and the four sides of the map's rectangle; negative outside.
std::array<Gap, 4> margins(const Box& box, const tracks::OccupancyMap& map) {
  const double rx = reach(box, {1.0, 0.0});
  const double ry = reach(box, {0.0, 1.0});
  return {Gap{box.centre.x - rx, {1.0, 0.0}}, Gap{map.width() - box.centre.x - rx, {-1.0, 0.0}}, Gap{box.centre.y - ry, {0.0, 1.0}},
          Gap{map.height() - box.centre.y - ry, {0.0, -1.0}}};
}

Vec2 farthest_corner(const Box& box, Vec2 direction) {
  const Vec2 side = perpendicular(box.axis);
  const double along = dot(box.axis, direction) < 0.0 ? -box.half_length : box.half_length;
  const double across = dot(side, direction) < 0.0 ? -box.half_width : box.half_width;
  return box.centre + along * box.axis + across * side;
}

}  // namespace

Pose2 pose_at(const Motion& motion, double u) {
  const Pose2 pose = Sweep({}, motion).pose(u);
  return {pose.x, pose.y, wrap_angle(pose.yaw)};
}

std::optional<Touch> first_wall_touch(const BodyRectangle& chassis, const Motion& motion, Duration step, const tracks::OccupancyMap& map,
                                      const tracks::DistanceField& distance) {
  const double circle_m = circle_about(chassis, motion);
  if (distance.lower_bound_m(motion.from.position(), circle_m + 1e-3) > circle_m) return std::nullopt;
  const Sweep sweep = grid_sweep(chassis, motion, map);
  const Box middle = sweep.box(0.5);
  // Farther from the middle pose than this no point of the chassis gets.
  const double slack = 0.5 * (norm(sweep.shift) + sweep.swing());
  const double half_diagonal = norm({middle.half_length, middle.half_width});
  const double reach_m = map.resolution_m() * (half_diagonal + slack);
  // A millimetre more than is needed, so that what says only "enough" says enough.
  if (distance.lower_bound_m(map.to_map(middle.centre), reach_m + 1e-3) > reach_m) return std::nullopt;

  const double least = least_step(map.resolution_m() * 2.0 * slack);
  const CellRange range = cells_around(middle, slack, map);
  double first = math::kInfinity;
  for (int j = range.j0; j <= range.j1; ++j) {
    for (int i = range.i0; i <= range.i1; ++i) {
      if (!map.blocked(i, j)) continue;
      const Box cell = cell_box(i, j);
      const Gap at_middle = separation(middle, cell);
      if (at_middle.value > 0.5 * (std::abs(dot(sweep.shift, at_middle.normal)) + sweep.swing())) continue;
      const auto u = advance(std::min(first, 1.0), least, [&](double at) {
        const Gap gap = separation(sweep.box(at), cell);
        return safe_advance(gap, std::max(0.0, -dot(sweep.shift, gap.normal)) + sweep.swing());
      });
      if (u && *u < first) first = *u;
      if (first == 0.0) return wall_touch(sweep, 0.0, step, map);
    }
  }
  if (first > 1.0) return std::nullopt;
  return wall_touch(sweep, first, step, map);
}

std::optional<Touch> first_car_touch(const BodyRectangle& chassis, const Motion& motion, const BodyRectangle& other,
                                     const Motion& other_motion, Duration step) {
  const Sweep a(chassis, motion);
  const Sweep b(other, other_motion);
  const Vec2 shift = a.shift - b.shift;
  const double swing = a.swing() + b.swing();
  const double total = norm(shift) + swing;
  if (distance(a.pose(0.5).position(), b.pose(0.5).position()) > a.radius + b.radius + 0.5 * total) return std::nullopt;
  const auto u = advance(1.0, least_step(total), [&](double at) {
    const Gap gap = separation(a.box(at), b.box(at));
    return safe_advance(gap, std::max(0.0, -dot(shift, gap.normal)) + swing);
  });
  if (!u) return std::nullopt;
  const Box box = a.box(*u);
  const Box other_box = b.box(*u);
  Overlap overlap;
  overlap.add(box, other_box, 1e-9);
  Touch touch;
  touch.u = *u;
  touch.normal = separation(box, other_box).normal;
  touch.point = overlap.middle(0.5 * (box.centre + other_box.centre));
  touch.closing_speed_mps = per_step(-dot(way_of(a, *u, touch.point) - way_of(b, *u, touch.point), touch.normal), step);
  return touch;
}

std::optional<Touch> first_exit(const BodyRectangle& chassis, const Motion& motion, Duration step, const tracks::OccupancyMap& map) {
  const double circle = circle_about(chassis, motion) / map.resolution_m();
  const Vec2 from = map.to_grid(motion.from.position());
  if (from.x > circle && from.y > circle && from.x < map.width() - circle && from.y < map.height() - circle) return std::nullopt;
  const Sweep sweep = grid_sweep(chassis, motion, map);
  const double total = norm(sweep.shift) + sweep.swing();
  const auto u = advance(1.0, least_step(map.resolution_m() * total), [&](double at) {
    double free = math::kInfinity;
    for (const Gap& side : margins(sweep.box(at), map)) {
      if (side.value < 0.0) return -1.0;
      const double rate = std::max(0.0, -dot(sweep.shift, side.normal)) + sweep.swing();
      if (rate > 0.0) free = std::min(free, side.value / rate);
    }
    return free;
  });
  if (!u) return std::nullopt;
  const Box box = sweep.box(*u);
  Gap worst{math::kInfinity, {}};
  for (const Gap& side : margins(box, map)) {
    if (side.value < worst.value) worst = side;
  }
  const Vec2 corner = farthest_corner(box, -worst.normal);
  Touch touch;
  touch.u = *u;
  touch.point = map.to_map(corner);
  touch.normal = rotate(map.origin().yaw, worst.normal);
  touch.closing_speed_mps = per_step(-map.resolution_m() * dot(way_of(sweep, *u, corner), worst.normal), step);
  return touch;
}

bool overlaps(const BodyRectangle& chassis, const Pose2& T_map_base, const tracks::OccupancyMap& map) {
  const Box box = grid_sweep(chassis, {T_map_base, T_map_base}, map).box(0.0);
  const CellRange range = cells_around(box, 0.0, map);
  for (int j = range.j0; j <= range.j1; ++j) {
    for (int i = range.i0; i <= range.i1; ++i) {
      if (map.blocked(i, j) && separation(box, cell_box(i, j)).value <= 0.0) return true;
    }
  }
  return false;
}

bool overlaps(const BodyRectangle& chassis, const Pose2& T_map_base, const BodyRectangle& other, const Pose2& T_map_other) {
  return separation(box_at(chassis, T_map_base), box_at(other, T_map_other)).value <= 0.0;
}

bool inside(const BodyRectangle& chassis, const Pose2& T_map_base, const tracks::OccupancyMap& map) {
  return !first_exit(chassis, {T_map_base, T_map_base}, {}, map).has_value();
}

}  // namespace pitwall::sim

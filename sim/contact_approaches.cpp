// SPDX-License-Identifier: Apache-2.0
#include "sim/contact_approaches.hpp"

#include <algorithm>
#include <cmath>

#include "core/math.hpp"
#include "core/rng.hpp"

namespace pitwall::sim::reference {
namespace {

constexpr double kShallow_m = 1e-4;
constexpr Duration kStep = from_milliseconds(5);

double side_of(Vec2 a, Vec2 b, Vec2 p) { return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x); }

bool contains(const Quad& polygon, Vec2 p) {
  for (std::size_t k = 0; k < 4; ++k) {
    if (side_of(polygon[k], polygon[(k + 1) % 4], p) < 0.0) return false;
  }
  return true;
}

bool edges_cross(Vec2 a, Vec2 b, Vec2 c, Vec2 d) {
  const double c_side = side_of(a, b, c);
  const double d_side = side_of(a, b, d);
  const double a_side = side_of(c, d, a);
  const double b_side = side_of(c, d, b);
  return ((c_side > 0.0) != (d_side > 0.0)) && ((a_side > 0.0) != (b_side > 0.0));
}

Pose2 still(const Motion& motion, double u) {
  const double turn = std::remainder(motion.to.yaw - motion.from.yaw, 2.0 * math::kPi);
  return {motion.from.x + u * (motion.to.x - motion.from.x), motion.from.y + u * (motion.to.y - motion.from.y), motion.from.yaw + u * turn};
}

// Draws one after the other, for tests.
class Dice {
 public:
  Dice(std::uint64_t seed, const char* name) : rng_(seed, name) {}
  double between(double low, double high) { return low + (high - low) * rng_.uniform(draw_++); }
  int below(int count) { return std::min(count - 1, static_cast<int>(between(0.0, count))); }

 private:
  Rng rng_;
  std::uint64_t draw_ = 0;
};

// A yard of about 4 m with thin slanted walls, blocks along the axes and small posts, its origin turned at random.
tracks::OccupancyMap random_yard(Dice& dice) {
  const double resolution = dice.between(0.01, 0.05);
  const int n = static_cast<int>(4.0 / resolution);
  std::vector<std::int8_t> values(static_cast<std::size_t>(n) * static_cast<std::size_t>(n), 0);
  const auto block = [&](int i, int j) {
    if (i >= 0 && j >= 0 && i < n && j < n)
      values[static_cast<std::size_t>(j) * static_cast<std::size_t>(n) + static_cast<std::size_t>(i)] = 100;
  };
  for (int wall = 0; wall < 2; ++wall) {
    const double angle = dice.between(0.0, 3.2);
    const Vec2 from{dice.between(0.2, 0.8) * n, dice.between(0.2, 0.8) * n};
    const double length = dice.between(0.3, 1.5) / resolution;
    for (double t = 0.0; t < length; t += 0.5)
      block(static_cast<int>(from.x + t * math::cos(angle)), static_cast<int>(from.y + t * math::sin(angle)));
  }
  for (int k = 0; k < 6; ++k) {
    const bool post = k < 5;
    const int w = std::max(1, static_cast<int>(std::lround(dice.between(0.02, post ? 0.2 : 0.6) / resolution)));
    const int h = post ? w : std::max(1, static_cast<int>(std::lround(dice.between(0.05, 1.0) / resolution)));
    const int i0 = static_cast<int>(dice.between(0.15, 0.8) * n);
    const int j0 = static_cast<int>(dice.between(0.15, 0.8) * n);
    for (int j = j0; j < j0 + h; ++j) {
      for (int i = i0; i < i0 + w; ++i) block(i, j);
    }
  }
  const Pose2 origin{dice.between(-3.0, 3.0), dice.between(-3.0, 3.0), dice.between(-3.1, 3.1)};
  return tracks::OccupancyMap::make(n, n, resolution, origin, std::move(values)).value();
}

std::vector<Vec2> blocked_centres(const tracks::OccupancyMap& map) {
  std::vector<Vec2> centres;
  for (int j = 0; j < map.height(); ++j) {
    for (int i = 0; i < map.width(); ++i) {
      if (map.blocked(i, j)) centres.push_back(map.to_map({i + 0.5, j + 0.5}));
    }
  }
  return centres;
}

// The sub-steps of one approach: a body with any slip angle and yaw rate that heads for a blocked cell, or past it.
std::vector<Motion> random_approach(Dice& dice, const std::vector<Vec2>& targets) {
  const Vec2 target = targets[static_cast<std::size_t>(dice.below(static_cast<int>(targets.size())))];
  const double speed = dice.between(0.0, 1.0) < 0.3 ? dice.between(0.2, 1.0) : dice.between(0.2, 10.0);
  const double heading = dice.between(-math::kPi, math::kPi);
  const double yaw = dice.between(0.0, 1.0) < 0.5 ? heading : dice.between(-math::kPi, math::kPi);
  const double yaw_rate = dice.between(0.0, 1.0) < 0.3 ? 0.0 : dice.between(-6.0, 6.0);
  const Vec2 way = (speed * kStep.seconds()) * unit_vector(heading);
  const double back = dice.between(0.0, 12.0);
  const double aside = dice.between(-0.4, 0.4);
  const Vec2 lead = dice.between(0.0, 0.5) * unit_vector(heading);
  std::vector<Motion> motions;
  Pose2 pose{target.x - back * way.x - lead.x - aside * math::sin(heading), target.y - back * way.y - lead.y + aside * math::cos(heading),
             wrap_angle(yaw)};
  for (int k = 0; k < 14; ++k) {
    const Pose2 next{pose.x + way.x, pose.y + way.y, wrap_angle(pose.yaw + yaw_rate * kStep.seconds())};
    motions.push_back({pose, next});
    pose = next;
  }
  return motions;
}

std::vector<Quad> cells_near(const tracks::OccupancyMap& map, const std::vector<Vec2>& centres, const std::vector<Motion>& motions) {
  const Vec2 middle = motions[motions.size() / 2].from.position();
  const double reach = 0.6 + distance(motions.front().from.position(), motions.back().to.position());
  std::vector<Quad> cells;
  for (const Vec2 c : centres) {
    if (distance(c, middle) > reach + map.resolution_m()) continue;
    const Vec2 g = map.to_grid(c);
    cells.push_back(cell_polygon(map, static_cast<int>(std::floor(g.x)), static_cast<int>(std::floor(g.y))));
  }
  return cells;
}

std::optional<std::size_t> first_step_overlapping(const BodyRectangle& chassis, const std::vector<Motion>& motions,
                                                  const std::vector<Quad>& cells, int parts, double margin) {
  for (std::size_t k = 0; k < motions.size(); ++k) {
    if (first_overlap(chassis, motions[k], cells, parts, margin)) return k;
  }
  return std::nullopt;
}

void judge(const BodyRectangle& chassis, const std::vector<Motion>& motions, const std::vector<Quad>& cells,
           std::optional<std::size_t> swept_step, const Touch& touch, Tally& tally) {
  const auto brute = first_step_overlapping(chassis, motions, cells, 64, 0.0);
  if (brute != swept_step) {
    tally.disagreements_at_64 += 1;
    const std::size_t none = motions.size();
    for (std::size_t k = 0; k < swept_step.value_or(none); ++k) {
      if (first_overlap(chassis, motions[k], cells, 4096, -kShallow_m)) {
        tally.missed += 1;
        break;
      }
    }
    if (swept_step && !first_overlap(chassis, motions[*swept_step], cells, 4096, kShallow_m)) tally.invented += 1;
  }
  if (!swept_step) {
    tally.passes += 1;
    return;
  }
  tally.touches += 1;
  // The time: no real overlap before u, and one at u.
  const Motion& motion = motions[*swept_step];
  const Pose2 at = still(motion, touch.u);
  if (!first_overlap(chassis, {at, at}, cells, 1, 1e-7)) tally.wrong_time += 1;
  if (touch.u > 0.0 && first_overlap(chassis, {motion.from, at}, cells, 64, -2e-6)) tally.wrong_time += 1;
}

}  // namespace

Quad chassis_polygon(const BodyRectangle& chassis, const Pose2& T_map_base, double margin_m) {
  const double c = math::cos(T_map_base.yaw);
  const double s = math::sin(T_map_base.yaw);
  const auto corner = [&](double x, double y) { return Vec2{T_map_base.x + c * x - s * y, T_map_base.y + s * x + c * y}; };
  const double rear = chassis.rear_m - margin_m;
  const double front = chassis.front_m + margin_m;
  const double half = chassis.half_width_m + margin_m;
  return {corner(rear, -half), corner(front, -half), corner(front, half), corner(rear, half)};
}

Quad cell_polygon(const tracks::OccupancyMap& map, int i, int j) {
  return {map.to_map({i + 0.0, j + 0.0}), map.to_map({i + 1.0, j + 0.0}), map.to_map({i + 1.0, j + 1.0}), map.to_map({i + 0.0, j + 1.0})};
}

bool polygons_overlap(const Quad& a, const Quad& b) {
  for (const Vec2 p : a) {
    if (contains(b, p)) return true;
  }
  for (const Vec2 p : b) {
    if (contains(a, p)) return true;
  }
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      if (edges_cross(a[i], a[(i + 1) % 4], b[j], b[(j + 1) % 4])) return true;
    }
  }
  return false;
}

std::optional<int> first_overlap(const BodyRectangle& chassis, const Motion& motion, const std::vector<Quad>& cells, int parts,
                                 double margin_m) {
  // Circles leave out the cells that no picture reaches, and in each picture those that lie apart.
  struct Near {
    Quad cell;
    Vec2 centre;
  };
  const double half_length = 0.5 * (chassis.front_m - chassis.rear_m);
  const double middle = 0.5 * (chassis.front_m + chassis.rear_m);
  const double radius = norm({half_length, chassis.half_width_m}) + 2.0 * std::abs(margin_m);
  const double way = distance(motion.from.position(), motion.to.position());
  std::vector<Near> near;
  for (const Quad& cell : cells) {
    const Vec2 centre = 0.5 * (cell[0] + cell[2]);
    if (distance(centre, motion.from.position()) < std::abs(middle) + radius + distance(centre, cell[0]) + way)
      near.push_back({cell, centre});
  }
  if (near.empty()) return std::nullopt;
  const double apart = radius + distance(near[0].centre, near[0].cell[0]);
  for (int part = 0; part <= parts; ++part) {
    const Pose2 pose = still(motion, static_cast<double>(part) / parts);
    const Vec2 ahead{math::cos(pose.yaw), math::sin(pose.yaw)};
    const Vec2 centre = pose.position() + middle * ahead;
    const Quad body = chassis_polygon(chassis, pose, margin_m);
    for (const Near& n : near) {
      const Vec2 d = n.centre - centre;
      if (dot(d, d) > apart * apart || std::abs(cross(ahead, d)) > chassis.half_width_m + apart - half_length) continue;
      if (polygons_overlap(body, n.cell)) return part;
    }
  }
  return std::nullopt;
}

Tally run_approaches(int count, std::uint64_t seed) {
  constexpr int kApproachesPerYard = 250;
  const BodyRectangle chassis{-0.105, 0.43, 0.15};
  Dice dice(seed, "approaches");
  Tally tally;
  while (tally.approaches < count) {
    const tracks::OccupancyMap yard = random_yard(dice);
    const tracks::DistanceField distance(yard);
    const auto centres = blocked_centres(yard);
    for (int k = 0; k < kApproachesPerYard && tally.approaches < count;) {
      const auto motions = random_approach(dice, centres);
      if (overlaps(chassis, motions.front().from, yard)) continue;
      ++k;
      tally.approaches += 1;
      std::optional<std::size_t> step;
      Touch touch;
      for (std::size_t m = 0; m < motions.size() && !step; ++m) {
        if (const auto hit = first_wall_touch(chassis, motions[m], kStep, yard, distance)) {
          step = m;
          touch = *hit;
        }
      }
      judge(chassis, motions, cells_near(yard, centres, motions), step, touch, tally);
    }
  }
  return tally;
}

}  // namespace pitwall::sim::reference

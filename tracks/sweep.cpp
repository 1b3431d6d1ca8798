// SPDX-License-Identifier: Apache-2.0
#include "tracks/sweep.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"

namespace pitwall::tracks {

// From one knot to the next.
struct Sweep::Leg {
  double start;  // beam number
  double end;
  Vec2 from;  // in cells
  Vec2 to;
  double map_yaw_rad;  // at the start
  double turn_rad;
  double yaw_rad;  // at the start, since the first knot
};

Sweep::Sweep(const OccupancyMap& map, const BeamFan& fan, std::span<const SweepKnot> knots)
    : fan_(fan), axis_x_(unit_vector(map.origin().yaw)) {
  PITWALL_CHECK(!knots.empty() && knots.size() <= kMaxKnots, knots.size());
  for (std::size_t k = 0; k < knots.size(); ++k) {
    const Pose2& pose = knots[k].T_map_sensor;
    PITWALL_CHECK(std::isfinite(knots[k].beam) && (k == 0 || knots[k].beam > knots[k - 1].beam), k, knots[k].beam);
    const Vec2 cells = map.to_grid(pose.position());
    finite_ = finite_ && std::fabs(cells.x) < kFarCells && std::fabs(cells.y) < kFarCells && std::isfinite(math::sin(pose.yaw));
  }
  if (!finite_) return;
  const std::size_t beams = fan.directions.size();
  const double last = static_cast<double>(beams);
  add_still(map, knots.front(), 0.0, static_cast<std::size_t>(std::clamp(std::ceil(knots.front().beam), 0.0, last)));
  double yaw = 0.0;
  for (std::size_t k = 1; k < knots.size(); ++k) {
    const SweepKnot& a = knots[k - 1];
    const SweepKnot& b = knots[k];
    const double turn = wrap_angle(b.T_map_sensor.yaw - a.T_map_sensor.yaw);
    const std::size_t left = kMaxPieces - used_ - (knots.size() - k);  // each leg yet to come needs one, and so does the end
    const double parts = std::floor(std::fabs(turn) / kMaxTurn) + 1.0;
    const bool room = parts <= static_cast<double>(left);
    gentle_ = gentle_ && room;
    add({a.beam, b.beam, map.to_grid(a.T_map_sensor.position()), map.to_grid(b.T_map_sensor.position()), a.T_map_sensor.yaw, turn, yaw},
        room ? static_cast<std::size_t>(parts) : 1);
    yaw += turn;
  }
  add_still(map, knots.back(), yaw, beams);
}

void Sweep::add(const Leg& leg, std::size_t parts) {
  const double share = 1.0 / static_cast<double>(parts);
  for (std::size_t n = 0; n < parts; ++n) {
    const double u = static_cast<double>(n) * share;
    const double end = n + 1 == parts ? leg.end : leg.start + static_cast<double>(n + 1) * share * (leg.end - leg.start);
    SweepPiece& piece = pieces_[used_];
    piece.first = used_ == 0 ? 0 : pieces_[used_ - 1].end;
    piece.end = static_cast<std::size_t>(std::clamp(std::ceil(end), 0.0, static_cast<double>(fan_.directions.size())));
    if (piece.end <= piece.first) continue;
    piece.start = leg.start + u * (leg.end - leg.start);
    piece.per_beam = 1.0 / (end - piece.start);
    piece.way = share * (leg.to - leg.from);
    piece.origin = leg.from + u * (leg.to - leg.from);
    piece.turn_rad = share * leg.turn_rad;
    piece.yaw_rad = leg.yaw_rad + u * leg.turn_rad;
    const math::SinCos heading = math::sincos(leg.map_yaw_rad + u * leg.turn_rad + 0.5 * piece.turn_rad);
    piece.middle_cos = axis_x_.x * heading.cos + axis_x_.y * heading.sin;
    piece.middle_sin = axis_x_.x * heading.sin - axis_x_.y * heading.cos;
    ++used_;
  }
}

void Sweep::add_still(const OccupancyMap& map, const SweepKnot& knot, double yaw_rad, std::size_t end) {
  const Vec2 at = map.to_grid(knot.T_map_sensor.position());
  const double start = used_ == 0 ? 0.0 : static_cast<double>(pieces_[used_ - 1].end);
  if (static_cast<double>(end) > start) add({start, static_cast<double>(end), at, at, knot.T_map_sensor.yaw, 0.0, yaw_rad}, 1);
}

const SweepPiece& Sweep::piece_of(std::size_t beam) const {
  std::size_t k = 0;
  while (pieces_[k].end <= beam) ++k;
  return pieces_[k];
}

Vec2 Sweep::direction_cells(std::size_t beam) const {
  const SweepPiece& piece = piece_of(beam);
  const double turned = (piece.share(beam) - 0.5) * piece.turn_rad;
  const math::SinCos turn = std::fabs(piece.turn_rad) <= kMaxTurn ? sincos_of_small(turned) : math::sincos(turned);
  const double c = piece.middle_cos * turn.cos - piece.middle_sin * turn.sin;
  const double s = piece.middle_sin * turn.cos + piece.middle_cos * turn.sin;
  const Vec2 b = fan_.directions[beam];
  return {c * b.x - s * b.y, s * b.x + c * b.y};
}

}  // namespace pitwall::tracks

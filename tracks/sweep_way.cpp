// SPDX-License-Identifier: Apache-2.0
#include "tracks/sweep_way.hpp"

#include <algorithm>
#include <cmath>

namespace pitwall::tracks::detail {
namespace {

// Fastest turn on the way, and fastest change of a corner's bearing, as shares of a beam spacing.
constexpr double kTurnShare = 0.2;
constexpr double kBearingShare = 0.25;
// A corner this many times as far as the way reaches from its middle changes its bearing by less than 0.38 rad: 2 / (6.3 - 1).
constexpr double kFar = 6.3;
// Edges seen under a smaller angle show the same side all along: even if the sensor turns by its share, and both corners by 0.38 rad.
constexpr double kWide = 0.6 * math::kPi;
// Of an angle in float: five roundings at up to pi, the arctangents and their arguments; of a number: four roundings at 2^11.
constexpr double kAngleError = 4e-6;
constexpr double kNumberError = 7e-4;
// 1 / r <= (1 / kTypical + kTypical / r^2) / 2, which is nearly equal at this distance, in cells.
constexpr double kTypical = 24.0;

}  // namespace

RangeUnion::RangeUnion(std::span<const std::span<const EdgeRange>> lists) : count_(lists.size()) {
  std::copy(lists.begin(), lists.end(), left_.begin());
}

bool RangeUnion::next(EdgeRange& range) {
  std::uint32_t end = 0;
  bool found = false;
  for (std::size_t k = 0; k < count_; ++k) {
    if (left_[k].empty() || (found && left_[k].front().first >= range.first)) continue;
    range = left_[k].front();
    found = true;
  }
  if (!found) return false;
  end = range.first + range.count;
  for (bool grown = true; grown;) {
    grown = false;
    for (std::size_t k = 0; k < count_; ++k) {
      while (!left_[k].empty() && left_[k].front().first < end) {
        const std::uint32_t other = left_[k].front().first + left_[k].front().count;
        grown = grown || other > end;
        end = std::max(end, other);
        left_[k] = left_[k].subspan(1);
      }
    }
  }
  range.count = end - range.first;
  return true;
}

SweepWay::SweepWay(const SweepQuery& q, Ties& ties) : query(q), ties_(ties), increment_(q.sweep->fan().angle_increment_rad) {
  measure_way();
  if (length_ > SweepQuery::kMaxWay || most_turn_ - least_turn_ > SweepQuery::kMaxTurn || fastest_turn_ > kTurnShare * increment_) return;
  too_near_ = fastest_ / (kBearingShare * increment_);
  far_apart = static_cast<std::int32_t>(kWide / increment_);
  fit_parabola();
  fit_found = fit.sure_far < kVague;
}

void SweepWay::measure_way() {
  const std::size_t last = query.count - 1;
  middle = origin_at(query.count / 2);
  cell_x = static_cast<int>(middle.x);
  cell_y = static_cast<int>(middle.y);
  low_ = high_ = middle;
  least_turn_ = most_turn_ = yaw_at(0);
  Vec2 before = origin_at(0);
  for (const SweepPiece& piece : query.sweep->pieces()) {
    if (piece.end <= query.first || piece.first > query.first + last) continue;
    const std::size_t from = std::max(piece.first, query.first);
    const std::size_t to = std::min(piece.end - 1, query.first + last);
    for (const std::size_t beam : {from, to}) {
      const Vec2 p = piece.origin_at(beam);
      low_ = {std::min(low_.x, p.x), std::min(low_.y, p.y)};
      high_ = {std::max(high_.x, p.x), std::max(high_.y, p.y)};
      reach_ = std::max(reach_, distance(p, middle));
      length_ += distance(p, before);
      before = p;
      const double yaw = piece.yaw_rad + piece.share(beam) * piece.turn_rad;
      least_turn_ = std::min(least_turn_, yaw);
      most_turn_ = std::max(most_turn_, yaw);
    }
    fastest_ = std::max(fastest_, norm(piece.way) * piece.per_beam);
    fastest_turn_ = std::max(fastest_turn_, std::fabs(piece.turn_rad) * piece.per_beam);
  }
  left = static_cast<int>(std::floor(low_.x));
  down = static_cast<int>(std::floor(low_.y));
  right = static_cast<int>(std::floor(high_.x)) + 1;
  up = static_cast<int>(std::floor(high_.y)) + 1;
}

// Through the first, the middle and the last beam's pose.
void SweepWay::fit_parabola() {
  const std::size_t m = query.count / 2;
  const double a = static_cast<double>(m);
  const double b = static_cast<double>(query.count - 1 - m);
  const auto slope_and_bend = [&](double at_first, double at_last) {
    const double bend = (at_first / a + at_last / b) / (a + b);
    return std::array<double, 2>{at_last / b - b * bend, bend};
  };
  const Vec2 first = origin_at(0) - middle;
  const Vec2 last = origin_at(query.count - 1) - middle;
  const double middle_yaw = yaw_at(m);
  const auto [velocity_x, bend_x] = slope_and_bend(first.x, last.x);
  const auto [velocity_y, bend_y] = slope_and_bend(first.y, last.y);
  const auto [turn, turn_bend] = slope_and_bend(yaw_at(0) - middle_yaw, yaw_at(query.count - 1) - middle_yaw);
  // How far the way is from it: at the ends of pieces, and in between, where one is straight and the other bends.
  double off = 0.0;
  double off_turn = 0.0;
  const double bend = norm({bend_x, bend_y});
  for (const SweepPiece& piece : query.sweep->pieces()) {
    if (piece.end <= query.first || piece.first >= query.first + query.count) continue;
    const std::size_t from = std::max(piece.first, query.first) - query.first;
    const std::size_t to = std::min(piece.end, query.first + query.count) - 1 - query.first;
    const double beams = static_cast<double>(to - from);
    for (const std::size_t beam : {from, to}) {
      const double t = static_cast<double>(beam) - a;
      const Vec2 p = origin_at(beam) - middle - Vec2{t * (velocity_x + t * bend_x), t * (velocity_y + t * bend_y)};
      off = std::max(off, norm(p) + 0.25 * bend * beams * beams);
      off_turn = std::max(off_turn,
                          std::fabs(yaw_at(beam) - middle_yaw - t * (turn + t * turn_bend)) + 0.25 * std::fabs(turn_bend) * beams * beams);
    }
  }
  const Vec2 ahead = query.sweep->direction_cells(query.first + m);
  const auto narrow = [](double value) { return static_cast<float>(value); };
  fit.cos = narrow(ahead.x);
  fit.sin = narrow(ahead.y);
  fit.middle = narrow(a);
  fit.first = narrow(-a);
  fit.last = narrow(b);
  fit.velocity_p = narrow(velocity_x * ahead.x + velocity_y * ahead.y);
  fit.velocity_q = narrow(velocity_y * ahead.x - velocity_x * ahead.y);
  fit.bend_p = narrow(bend_x * ahead.x + bend_y * ahead.y);
  fit.bend_q = narrow(bend_y * ahead.x - bend_x * ahead.y);
  fit.turn = narrow(increment_ + turn);
  fit.turn_bend = narrow(turn_bend);
  const double near = std::max(kFar * reach_, too_near_ + reach_ + 1e-3);
  fit.near_square = narrow(near * near);
  // Beams gain on a corner at least this fast.
  const double gain = increment_ * (1.0 - kTurnShare - kBearingShare);
  const double speed = norm({velocity_x, velocity_y}) + 2.0 * bend * std::max(a, b);
  fit.sure_far = narrow((kAngleError + off_turn + 0.5 * off / kTypical) / gain + kNumberError);
  fit.sure_near = narrow(0.5 * off * kTypical / gain);
  fit.step_far = narrow((std::fabs(turn_bend) + 0.5 * bend / kTypical) / gain);
  fit.step_near = narrow((speed * speed + 0.5 * bend * kTypical) / gain);
}

double SweepWay::yaw_at(std::size_t beam) const {
  const SweepPiece& piece = query.sweep->piece_of(query.first + beam);
  return piece.yaw_rad + piece.share(query.first + beam) * piece.turn_rad;
}

double SweepWay::distance_to_way(Vec2 p) const {
  double least = distance(p, middle);
  for (const SweepPiece& piece : query.sweep->pieces()) {
    if (piece.end <= query.first || piece.first >= query.first + query.count) continue;
    const Vec2 a = piece.origin_at(std::max(piece.first, query.first));
    const Vec2 b = piece.origin_at(std::min(piece.end, query.first + query.count) - 1);
    const double square = dot(b - a, b - a);
    const double u = square > 0.0 ? std::clamp(dot(p - a, b - a) / square, 0.0, 1.0) : 0.0;
    least = std::min(least, distance(p, a + u * (b - a)));
  }
  return least;
}

double SweepWay::side_of(Vec2 corner, std::size_t beam) {
  const Vec2 to = corner - origin_at(beam);
  const double side = cross(query.sweep->direction_cells(query.first + beam), to);
  if (std::fabs(side) <= FanQuery::kTieRad * (std::fabs(to.x) + std::fabs(to.y))) ties_[beam / 64] |= std::uint64_t{1} << (beam % 64);
  return side;
}

std::int32_t SweepWay::exact_number(std::uint32_t vertex, std::int32_t nearest) {
  if (nearest < 0 || nearest >= static_cast<std::int32_t>(query.count)) return nearest;
  const Vec2 corner{static_cast<double>(Walls::x_of(vertex)), static_cast<double>(Walls::y_of(vertex))};
  return side_of(corner, static_cast<std::size_t>(nearest)) > 0.0 ? nearest + 1 : nearest;
}

// To the left of the middle beam means after it, as long as no later beam is half a turn away.
std::int32_t SweepWay::search_number(std::uint32_t corner) {
  const std::uint32_t vertex = query.vertices[corner];
  const Vec2 p{static_cast<double>(Walls::x_of(vertex)), static_cast<double>(Walls::y_of(vertex))};
  too_close = too_close || distance_to_way(p) <= too_near_;
  const std::size_t m = query.count / 2;
  const bool after = side_of(p, m) > 0.0;
  std::size_t low = after ? m + 1 : 0;
  std::size_t high = after ? query.count : m;
  while (low < high) {
    const std::size_t k = low + (high - low) / 2;
    if (side_of(p, k) > 0.0) {
      low = k + 1;
    } else {
      high = k;
    }
  }
  return static_cast<std::int32_t>(low) + ((corner & 1) != 0 ? kSearched : -kSearched);
}

void SweepWay::cover_by_side(std::uint32_t edge, std::int32_t first, std::int32_t end, DepthBuffer& buffer) {
  const auto beams = static_cast<std::int32_t>(query.count);
  const auto plain = [&](std::int32_t number) {
    if (number > kSearched / 2) number -= kSearched;
    if (number < -kSearched / 2) number += kSearched;
    return std::clamp(number, 0, beams);
  };
  const std::int32_t a = plain(first);
  const std::int32_t b = plain(end);
  const std::uint32_t* const at = query.vertices + edge;
  const bool vertical = (edge & 1) != 0;
  const bool forward = vertical ? at[1] > at[0] : Walls::x_of(at[1]) < Walls::x_of(at[0]);
  const double line = vertical ? Walls::x_of(at[0]) : Walls::y_of(at[0]);
  const double low = vertical ? low_.x : low_.y;
  const double high = vertical ? high_.x : high_.y;
  if (forward ? low >= line : high <= line) return;
  const bool faces = forward ? high < line : low > line;
  const auto enter = [&](std::int32_t from, std::int32_t to) {
    if (faces) return cover(buffer, query.count, from, to, depth_of(edge));
    for (std::int32_t k = from; k < to; ++k) ties_[static_cast<std::size_t>(k) / 64] |= std::uint64_t{1} << (k % 64);
  };
  if (a <= b) {
    enter(a, b);
  } else {
    enter(a, beams);
    enter(0, b);
  }
}

}  // namespace pitwall::tracks::detail

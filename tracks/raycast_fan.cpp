// SPDX-License-Identifier: Apache-2.0
// Fans of RayCaster: which of them the z-buffers of fan.hpp and sweep_fan.hpp can do, and the walk for the others.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "core/check.hpp"
#include "core/math.hpp"
#include "tracks/raycast.hpp"
#include "tracks/sweep_fan.hpp"

namespace pitwall::tracks {
namespace {

// Fewer beams than this are walked.
constexpr std::size_t kFewBeams = 24;
// Beams that a fan with a stride is taken in at a time.
constexpr std::size_t kStrided = 512;
// A sensor that moves by less than this a beam, in cells, may stay beside a line for many; then all are walked if it comes this near.
constexpr double kLeastMove = 1e-10;
constexpr double kNearLine = 1e-6;

template <class CastBeam>
void for_each_tie(const Ties& ties, std::size_t beams, CastBeam cast_beam) {
  for (std::size_t w = 0; 64 * w < beams; ++w) {
    for (std::uint64_t left = ties[w]; left != 0; left &= left - 1) cast_beam(64 * w + static_cast<std::size_t>(std::countr_zero(left)));
  }
}

}  // namespace

// At a corner of the squares, or at a point of a wall where another grid line crosses it, both coordinates are whole numbers.
Face RayCaster::face_at(Vec2 origin, Vec2 direction, double t) const {
  if (!(t > 0.0 && t < math::kInfinity)) return Face::kNone;
  const int line_x = static_cast<int>(std::floor(origin.x + t * direction.x + 0.5));
  const int line_y = static_cast<int>(std::floor(origin.y + t * direction.y + 0.5));
  const bool on_x = direction.x != 0.0 && (static_cast<double>(line_x) - origin.x) * (1.0 / direction.x) == t;
  const bool on_y = direction.y != 0.0 && (static_cast<double>(line_y) - origin.y) * (1.0 / direction.y) == t;
  if (!on_x || !on_y) return on_y ? Face::kAcrossY : Face::kAcrossX;
  const int behind_y = direction.y > 0.0 ? line_y : line_y - 1;
  const int before_y = direction.y > 0.0 ? line_y - 1 : line_y;
  const bool wall_y = map_->blocked(line_x - 1, behind_y) && map_->blocked(line_x, behind_y);
  const bool free_y = !map_->blocked(line_x - 1, before_y) && !map_->blocked(line_x, before_y);
  return wall_y && free_y ? Face::kAcrossY : Face::kAcrossX;
}

void RayCaster::cast_one(const Start& start, Vec2 direction, double max_range_m, double& range_m, Face* face) const {
  const double resolution = map_->resolution_m();
  const double cells = cast_cells(start, direction, max_range_m / resolution + 1.0);
  const double range = resolution * cells;
  range_m = range <= max_range_m ? range : math::kInfinity;
  if (face != nullptr) *face = range <= max_range_m ? face_at(start.origin, direction, cells) : Face::kNone;
}

Vec2 RayCaster::direction_of(const Fan& fan, std::size_t beam) {
  const Vec2 b = fan.beams[beam];
  return {fan.rotation_cos * b.x - fan.rotation_sin * b.y, fan.rotation_sin * b.x + fan.rotation_cos * b.y};
}

// A ray along the grid line that it starts on touches the squares on both sides.
void RayCaster::tie_along_lines(const Fan& fan, Ties& ties) {
  for (std::size_t k = 0; k < fan.beams.size(); ++k) {
    const Vec2 direction = direction_of(fan, k);
    if (std::min(std::fabs(direction.x), std::fabs(direction.y)) <= FanQuery::kTieRad) ties[k / 64] |= std::uint64_t{1} << (k % 64);
  }
}

// By the edges in sight; false where that cannot be done.
bool RayCaster::cast_edges(const Start& start, const Fan& fan, double* out, Face* faces) const {
  const Vec2 p = start.origin;
  const bool within = p.x > 0.0 && p.y > 0.0 && p.x < map_->width() && p.y < map_->height();
  if (visibility_ == nullptr || !within || fan.beams.size() < kFewBeams || fan.increment_rad < FanQuery::kMinIncrement) return false;
  const auto beside_line = [](double at, int cell) {
    const double off = at - static_cast<double>(cell);
    return off != 0.0 && std::min(off, 1.0 - off) < FanQuery::kLineMargin;
  };
  if (beside_line(p.x, start.right) || beside_line(p.y, start.up)) return false;
  const std::span<const EdgeRange> ranges = visibility_->from(start.right, start.up, walls_.component(start.right, start.up));
  if (ranges.empty()) return false;
  FanQuery query;
  query.vertices = walls_.vertices().data();
  query.ranges = ranges;
  query.width = map_->width();
  query.height = map_->height();
  query.origin = p;
  query.beams = fan.beams;
  query.rotation_cos = fan.rotation_cos;
  query.rotation_sin = fan.rotation_sin;
  query.first_rad = fan.first_rad;
  query.increment_rad = fan.increment_rad;
  query.resolution_m = map_->resolution_m();
  query.max_range_m = fan.max_range_m;
  Ties ties;
  cast_fan_edges(query, out, faces, ties);
  if (start.on_vertical || start.on_horizontal) tie_along_lines(fan, ties);
  for_each_tie(ties, fan.beams.size(), [&](std::size_t k) {
    cast_one(start, direction_of(fan, k), fan.max_range_m, out[k], faces != nullptr ? faces + k : nullptr);
  });
  return true;
}

// What the z-buffer can hold of a fan.
void RayCaster::cast_part(const Start& start, const Fan& fan, double* out, Face* faces) const {
  if (cast_edges(start, fan, out, faces)) return;
  for (std::size_t k = 0; k < fan.beams.size(); ++k) {
    cast_one(start, direction_of(fan, k), fan.max_range_m, out[k], faces != nullptr ? faces + k : nullptr);
  }
}

void RayCaster::cast_fan(const Pose2& T_map_sensor, const BeamFan& fan, double max_range_m, std::span<double> out, int stride,
                         std::span<Face> faces) const {
  PITWALL_CHECK(stride >= 1, stride);
  const auto step = static_cast<std::size_t>(stride);
  const std::size_t beams = (fan.directions.size() + step - 1) / step;
  PITWALL_CHECK(out.size() >= beams, out.size(), beams);
  PITWALL_CHECK(faces.empty() || faces.size() >= beams, faces.size(), beams);
  const Start start = start_at(map_->to_grid(T_map_sensor.position()));
  const math::SinCos heading = math::sincos(T_map_sensor.yaw);
  Fan part;
  part.max_range_m = max_range_m;
  part.increment_rad = fan.angle_increment_rad * static_cast<double>(stride);
  // One turn from the sensor to the grid frame.
  part.rotation_cos = axis_x_.x * heading.cos + axis_x_.y * heading.sin;
  part.rotation_sin = axis_x_.x * heading.sin - axis_x_.y * heading.cos;
  const bool finite = start.finite && std::isfinite(part.rotation_cos) && std::isfinite(part.rotation_sin);
  if (!finite || start.blocked) {
    std::fill_n(out.begin(), beams, finite ? 0.0 : math::kInfinity);
    if (!faces.empty()) std::fill_n(faces.begin(), beams, Face::kNone);
    return;
  }
  const std::size_t in_span = static_cast<std::size_t>(std::min(FanQuery::kMaxSpan / std::max(part.increment_rad, 1e-9), 1e6)) + 1;
  const std::size_t most = std::min(in_span, step == 1 ? FanQuery::kMaxBeams : kStrided);
  for (std::size_t first = 0; first < beams; first += most) {
    const std::size_t count = std::min(most, beams - first);
    Face* const part_faces = faces.empty() ? nullptr : faces.data() + first;
    part.first_rad = fan.angle_min_rad + static_cast<double>(first) * part.increment_rad;
    if (step == 1) {
      part.beams = {fan.directions.data() + first, count};
      cast_part(start, part, out.data() + first, part_faces);
    } else {
      std::array<Vec2, kStrided> strided;
      for (std::size_t k = 0; k < count; ++k) strided[k] = fan.directions[(first + k) * step];
      part.beams = {strided.data(), count};
      cast_part(start, part, out.data() + first, part_faces);
    }
  }
}

std::size_t RayCaster::cast_sweep(std::span<const SweepKnot> knots, const BeamFan& fan, double max_range_m, std::span<double> out,
                                  std::span<Face> faces) const {
  const std::size_t beams = fan.directions.size();
  PITWALL_CHECK(out.size() >= beams, out.size(), beams);
  PITWALL_CHECK(faces.empty() || faces.size() >= beams, faces.size(), beams);
  const Sweep sweep(*map_, fan, knots);
  if (!sweep.finite()) {
    std::fill_n(out.begin(), beams, math::kInfinity);
    if (!faces.empty()) std::fill_n(faces.begin(), beams, Face::kNone);
    return 0;
  }
  const double increment = fan.angle_increment_rad;
  const std::size_t in_span = static_cast<std::size_t>(std::min(SweepQuery::kMaxSpan / std::max(increment, 1e-9), 1e6)) + 1;
  const std::size_t most = std::min(in_span, FanQuery::kMaxBeams);
  std::size_t walked = 0;
  for (std::size_t first = 0; first < beams; first += most) {
    const std::size_t count = std::min(most, beams - first);
    Face* const part_faces = faces.empty() ? nullptr : faces.data() + first;
    Ties ties;
    const bool cast = sweep_edges(sweep, first, count, max_range_m, out.data() + first, part_faces, ties);
    const auto walk_one = [&](std::size_t k) {
      cast_swept(sweep, first + k, max_range_m, out[first + k], part_faces != nullptr ? part_faces + k : nullptr);
      ++walked;
    };
    if (cast) {
      for_each_tie(ties, count, walk_one);
    } else {
      for (std::size_t k = 0; k < count; ++k) walk_one(k);
    }
  }
  return walked;
}

// By the edges in sight; false where that cannot be done.
bool RayCaster::sweep_edges(const Sweep& sweep, std::size_t first, std::size_t count, double max_range_m, double* out, Face* faces,
                            Ties& ties) const {
  if (visibility_ == nullptr || !sweep.gentle() || count < kFewBeams || sweep.fan().angle_increment_rad < FanQuery::kMinIncrement) {
    return false;
  }
  Way way;
  for (const SweepPiece& piece : sweep.pieces()) {
    const std::size_t from = std::max(piece.first, first);
    const std::size_t to = std::min(piece.end, first + count);
    if (from < to && !follow_way(piece, from, to - 1, way)) return false;
  }
  SweepQuery query;
  for (; query.tiles < way.used; ++query.tiles) {
    const auto [i, j] = way.tiles[query.tiles];
    query.seen[query.tiles] = visibility_->from(i * Visibility::kTile, j * Visibility::kTile, way.component);
    if (query.seen[query.tiles].empty()) return false;
  }
  query.vertices = walls_.vertices().data();
  query.width = map_->width();
  query.height = map_->height();
  query.sweep = &sweep;
  query.first = first;
  query.count = count;
  query.resolution_m = map_->resolution_m();
  query.max_range_m = max_range_m;
  if (!cast_sweep_edges(query, out, faces, ties)) return false;
  for (const SweepPiece& piece : sweep.pieces()) {
    const std::size_t from = std::max(piece.first, first);
    const std::size_t to = std::min(piece.end, first + count);
    if (from < to) tie_near_lines(sweep, piece, from, to, first, ties);
  }
  return true;
}

// The tiles and the component of a piece of the way; false if it touches a blocked square, leaves the map or crosses too many tiles.
bool RayCaster::follow_way(const SweepPiece& piece, std::size_t from, std::size_t to, Way& way) const {
  const Vec2 a = piece.origin_at(from);
  const Vec2 b = piece.origin_at(to);
  const double low_x = std::min(a.x, b.x);
  const double low_y = std::min(a.y, b.y);
  const double high_x = std::max(a.x, b.x);
  const double high_y = std::max(a.y, b.y);
  if (!(low_x > 0.0 && low_y > 0.0 && high_x < map_->width() && high_y < map_->height())) return false;
  if (high_x - low_x > SweepQuery::kMaxWay || high_y - low_y > SweepQuery::kMaxWay) return false;
  // All cells that the box touches: on both sides of a line that it ends on.
  const int left = static_cast<int>(std::ceil(low_x)) - 1;
  const int down = static_cast<int>(std::ceil(low_y)) - 1;
  const int right = static_cast<int>(high_x);
  const int up = static_cast<int>(high_y);
  for (int j = down; j <= up; ++j) {
    for (int i = left; i <= right; ++i) {
      if (!map_->blocked(i, j)) continue;
      if (to - from < 2) return false;
      const std::size_t middle = from + (to - from) / 2;
      return follow_way(piece, from, middle, way) && follow_way(piece, middle, to, way);
    }
  }
  const std::uint32_t component = walls_.component(static_cast<int>(a.x), static_cast<int>(a.y));
  if (way.used > 0 && component != way.component) return false;
  way.component = component;
  for (int j = static_cast<int>(low_y) / Visibility::kTile; j <= up / Visibility::kTile; ++j) {
    for (int i = static_cast<int>(low_x) / Visibility::kTile; i <= right / Visibility::kTile; ++i) {
      const std::array<int, 2> tile{i, j};
      if (std::find(way.tiles.begin(), way.tiles.begin() + way.used, tile) != way.tiles.begin() + way.used) continue;
      if (way.used == way.tiles.size()) return false;
      way.tiles[way.used++] = tile;
    }
  }
  return true;
}

// Beams that start on a grid line, or closer to one than rounding lets the z-buffer tell.
void RayCaster::tie_near_lines(const Sweep& sweep, const SweepPiece& piece, std::size_t from, std::size_t to, std::size_t first,
                               Ties& ties) {
  const auto tie = [&](std::size_t beam) { ties[(beam - first) / 64] |= std::uint64_t{1} << ((beam - first) % 64); };
  const auto off_line = [](double at) { return std::fabs(at - std::floor(at + 0.5)); };
  const auto check = [&](double start, double way, auto coordinate) {
    const double a = coordinate(piece.origin_at(from));
    const double b = coordinate(piece.origin_at(to - 1));
    if (a == b && off_line(a) == 0.0) {
      // Along a line: as for a still sensor.
      for (std::size_t k = from; k < to; ++k) {
        const Vec2 direction = sweep.direction_cells(k);
        if (std::min(std::fabs(direction.x), std::fabs(direction.y)) <= FanQuery::kTieRad) tie(k);
      }
      return;
    }
    const double a_beam = way * piece.per_beam;
    const double low = std::floor(std::min(a, b) + 0.5);
    const double high = std::floor(std::max(a, b) + 0.5);
    if (std::fabs(a_beam) < kLeastMove) {
      if (std::min(off_line(a), off_line(b)) < kNearLine || low != high) {
        for (std::size_t k = from; k < to; ++k) tie(k);
      }
      return;
    }
    for (double line = low; line <= high; line += 1.0) {
      const double crossing = piece.start + (line - start) / a_beam;
      if (!(crossing > static_cast<double>(from) - 2.0 && crossing < static_cast<double>(to) + 1.0)) continue;
      const auto near = static_cast<std::size_t>(std::max(crossing, 1.0) - 1.0);
      for (std::size_t k = std::max(near, from); k < std::min(near + 4, to); ++k) {
        if (off_line(coordinate(piece.origin_at(k))) < FanQuery::kLineMargin) tie(k);
      }
    }
  };
  check(piece.origin.x, piece.way.x, [](Vec2 p) { return p.x; });
  check(piece.origin.y, piece.way.y, [](Vec2 p) { return p.y; });
}

void RayCaster::cast_swept(const Sweep& sweep, std::size_t beam, double max_range_m, double& range_m, Face* face) const {
  const Start start = start_at(sweep.origin_cells(beam));
  if (!start.blocked) return cast_one(start, sweep.direction_cells(beam), max_range_m, range_m, face);
  range_m = 0.0;
  if (face != nullptr) *face = Face::kNone;
}

}  // namespace pitwall::tracks

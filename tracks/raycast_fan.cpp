// SPDX-License-Identifier: Apache-2.0
// Fans of RayCaster: which of them the z-buffers of fan.hpp and sweep_fan.hpp can do, and the walk for the others.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "core/check.hpp"
#include "tracks/raycast.hpp"

namespace pitwall::tracks {
namespace {

constexpr double kNoReturn = std::numeric_limits<double>::infinity();
// Fewer beams than this are walked.
constexpr std::size_t kFewBeams = 24;
// Beams that a fan with a stride is taken in at a time.
constexpr std::size_t kStrided = 512;

template <class CastBeam>
void for_each_tie(const Ties& ties, std::size_t beams, CastBeam cast_beam) {
  for (std::size_t w = 0; 64 * w < beams; ++w) {
    for (std::uint64_t left = ties[w]; left != 0; left &= left - 1) cast_beam(64 * w + static_cast<std::size_t>(std::countr_zero(left)));
  }
}

}  // namespace

// At a corner of the squares, or at a point of a wall where another grid line crosses it, both coordinates are whole numbers.
Face RayCaster::face_at(Vec2 origin, Vec2 direction, double t) const {
  if (!(t > 0.0 && t < kNoReturn)) return Face::kNone;
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
  range_m = range <= max_range_m ? range : kNoReturn;
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
    std::fill_n(out.begin(), beams, finite ? 0.0 : kNoReturn);
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

void RayCaster::cast_sweep(std::span<const SweepKnot> knots, const BeamFan& fan, double max_range_m, std::span<double> out,
                           std::span<Face> faces) const {
  const std::size_t beams = fan.directions.size();
  PITWALL_CHECK(out.size() >= beams, out.size(), beams);
  PITWALL_CHECK(faces.empty() || faces.size() >= beams, faces.size(), beams);
  const Sweep sweep(*map_, fan, knots);
  if (!sweep.finite()) {
    std::fill_n(out.begin(), beams, kNoReturn);
    if (!faces.empty()) std::fill_n(faces.begin(), beams, Face::kNone);
    return;
  }
  for (std::size_t k = 0; k < beams; ++k) cast_swept(sweep, k, max_range_m, out[k], faces.empty() ? nullptr : &faces[k]);
}

void RayCaster::cast_swept(const Sweep& sweep, std::size_t beam, double max_range_m, double& range_m, Face* face) const {
  const Start start = start_at(sweep.origin_cells(beam));
  if (!start.blocked) return cast_one(start, sweep.direction_cells(beam), max_range_m, range_m, face);
  range_m = 0.0;
  if (face != nullptr) *face = Face::kNone;
}

}  // namespace pitwall::tracks

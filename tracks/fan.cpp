// SPDX-License-Identifier: Apache-2.0
// Compiled once for each instruction set that Highway knows of for this processor family.
#include "tracks/fan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tracks/fan.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "tracks/zbuffer_inl.hpp"

#ifndef PITWALL_TRACKS_FAN_ONCE
#define PITWALL_TRACKS_FAN_ONCE
namespace pitwall::tracks {
namespace {

using namespace detail;

// All that does not depend on the instruction set.
struct FanState {
  explicit FanState(const FanQuery& q) : query(q) {
    cell_x = static_cast<int>(q.origin.x);
    cell_y = static_cast<int>(q.origin.y);
    const double n = static_cast<double>(q.beams.size());
    const math::SinCos middle = math::sincos(q.first_rad + 0.5 * (n - 1.0) * q.increment_rad);
    middle_cos = static_cast<float>(q.rotation_cos * middle.cos - q.rotation_sin * middle.sin);
    middle_sin = static_cast<float>(q.rotation_sin * middle.cos + q.rotation_cos * middle.sin);
    per_rad = static_cast<float>(1.0 / q.increment_rad);
    middle_number = static_cast<float>(0.5 * (n - 1.0));
    // Of the angle: three roundings at up to pi, the arctangent and its argument; of the number: two roundings at 2^11.
    tolerance = static_cast<float>(2e-6 / q.increment_rad + 5e-4);
    // Edges that seem to turn by this much may pass behind the sensor.
    half_turn = static_cast<std::int32_t>(math::kPi / q.increment_rad) - 4;
  }

  [[nodiscard]] Vec2 to_corner(std::uint32_t vertex) const {
    return {static_cast<double>(Walls::x_of(vertex)) - query.origin.x, static_cast<double>(Walls::y_of(vertex)) - query.origin.y};
  }
  [[nodiscard]] Vec2 beam(std::size_t k) const {
    const Vec2 b = query.beams[k];
    return {query.rotation_cos * b.x - query.rotation_sin * b.y, query.rotation_sin * b.x + query.rotation_cos * b.y};
  }

  const FanQuery& query;
  int cell_x;
  int cell_y;
  float middle_cos;
  float middle_sin;
  float per_rad;
  float middle_number;
  float tolerance;
  std::int32_t half_turn;
};

// The number of a corner that lies about at beam `nearest`.
std::int32_t exact_number(const FanState& fan, std::uint32_t vertex, std::int32_t nearest, Ties& ties) {
  if (nearest < 0 || nearest >= static_cast<std::int32_t>(fan.query.beams.size())) return nearest;
  const auto k = static_cast<std::size_t>(nearest);
  const Vec2 corner = fan.to_corner(vertex);
  const double side = cross(fan.beam(k), corner);
  if (std::fabs(side) <= FanQuery::kTieRad * (std::fabs(corner.x) + std::fabs(corner.y))) ties[k / 64] |= std::uint64_t{1} << (k % 64);
  return side > 0.0 ? nearest + 1 : nearest;
}

std::int16_t depth_of(const FanState& fan, std::uint32_t edge, std::uint32_t vertex) {
  const int cells = (edge & 1) != 0 ? Walls::x_of(vertex) - fan.cell_x : Walls::y_of(vertex) - fan.cell_y;
  return static_cast<std::int16_t>(std::abs(cells));
}

// An edge that may pass behind the sensor, where beam numbers jump by a turn: which side it shows decides.
void cover_behind(const FanState& fan, std::uint32_t edge, std::int32_t first, std::int32_t end, DepthBuffer& buffer) {
  const std::uint32_t* const at = fan.query.vertices + edge;
  if (!(cross(fan.to_corner(at[0]), fan.to_corner(at[1])) > 0.0)) return;
  const std::size_t beams = fan.query.beams.size();
  const std::int16_t depth = depth_of(fan, edge, at[0]);
  if (first <= end) {
    cover(buffer, beams, first, end, depth);
  } else {
    cover(buffer, beams, first, static_cast<std::int32_t>(beams), depth);
    cover(buffer, beams, 0, end, depth);
  }
}

}  // namespace
}  // namespace pitwall::tracks
#endif  // PITWALL_TRACKS_FAN_ONCE

HWY_BEFORE_NAMESPACE();
namespace pitwall::tracks {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void number_corners(const FanState& fan, std::uint32_t first, std::size_t count, std::int32_t* HWY_RESTRICT numbers, Ties& ties) {
  const hn::ScalableTag<std::int32_t> di;
  const hn::RebindToFloat<decltype(di)> df;
  const std::size_t lanes = hn::Lanes(di);
  const Split x0(fan.query.origin.x, fan.cell_x);
  const Split y0(fan.query.origin.y, fan.cell_y);
  const auto low_half = hn::Set(di, 0xffff);
  const auto c = hn::Set(df, fan.middle_cos);
  const auto s = hn::Set(df, fan.middle_sin);
  const auto per_rad = hn::Set(df, fan.per_rad);
  const auto middle = hn::Set(df, fan.middle_number);
  const auto sure = hn::Set(df, fan.tolerance);
  const std::uint32_t* HWY_RESTRICT const vertices = fan.query.vertices + first;
  for (std::size_t k = 0; k < count; k += lanes) {
    // The array is padded, see RayCaster.
    const auto vertex = hn::BitCast(di, hn::LoadU(hn::RebindToUnsigned<decltype(di)>(), vertices + k));
    const auto x = relative(hn::And(vertex, low_half), x0);
    const auto y = relative(hn::ShiftRight<16>(vertex), y0);
    // Turned so that the middle of the fan lies ahead, and the jump of the angle behind.
    const auto p = hn::Add(hn::Mul(x, c), hn::Mul(y, s));
    const auto q = hn::Sub(hn::Mul(y, c), hn::Mul(x, s));
    const auto angle = angle_of(p, q);
    const auto number = hn::Add(hn::Mul(angle, per_rad), middle);
    const auto rounded = hn::Round(number);
    const auto nearest = hn::ConvertTo(di, rounded);
    const auto past = hn::Sub(number, rounded);
    // The next beam up where the corner lies past the nearest one.
    const auto next = hn::Sub(nearest, hn::BitCast(di, hn::VecFromMask(df, hn::Gt(past, hn::Zero(df)))));
    hn::StoreU(next, di, numbers + k);
    const auto close = hn::Lt(hn::Abs(past), sure);
    if (HWY_UNLIKELY(!hn::AllFalse(df, close))) {
      HWY_ALIGN std::int32_t nearests[hn::MaxLanes(di)];
      HWY_ALIGN float offsets[hn::MaxLanes(di)];
      hn::Store(nearest, di, nearests);
      hn::Store(hn::Abs(past), df, offsets);
      for (std::size_t lane = 0; lane < lanes && k + lane < count; ++lane) {
        if (offsets[lane] < fan.tolerance) numbers[k + lane] = exact_number(fan, vertices[k + lane], nearests[lane], ties);
      }
    }
  }
}

void measure(const FanState& fan, const std::int16_t* HWY_RESTRICT across_x, const std::int16_t* HWY_RESTRICT across_y,
             double* HWY_RESTRICT out, Face* HWY_RESTRICT faces) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<std::int32_t, decltype(d)> di;
  const hn::Rebind<std::int16_t, decltype(d)> ds;
  const std::size_t lanes = hn::Lanes(d);
  const FanQuery& query = fan.query;
  const auto c = hn::Set(d, query.rotation_cos);
  const auto s = hn::Set(d, query.rotation_sin);
  const auto origin_x = hn::Set(d, query.origin.x);
  const auto origin_y = hn::Set(d, query.origin.y);
  const auto cell_x = hn::Set(d, static_cast<double>(fan.cell_x));
  const auto cell_y = hn::Set(d, static_cast<double>(fan.cell_y));
  const auto width = hn::Set(d, static_cast<double>(query.width));
  const auto height = hn::Set(d, static_cast<double>(query.height));
  const auto resolution = hn::Set(d, query.resolution_m);
  const auto max_range = hn::Set(d, query.max_range_m);
  const auto none = hn::Set(d, std::numeric_limits<double>::infinity());
  const auto zero = hn::Zero(d);
  const auto one = hn::Set(d, 1.0);
  const double* const beams = &query.beams[0].x;
  const auto some = [&](std::size_t k, auto beam_x, auto beam_y, Face* into) HWY_ATTR {
    const auto dx = hn::Sub(hn::Mul(c, beam_x), hn::Mul(s, beam_y));
    const auto dy = hn::Add(hn::Mul(s, beam_x), hn::Mul(c, beam_y));
    const auto depth_x = hn::PromoteTo(d, hn::PromoteTo(di, hn::LoadU(ds, across_x + k)));
    const auto depth_y = hn::PromoteTo(d, hn::PromoteTo(di, hn::LoadU(ds, across_y + k)));
    const auto line_x = hn::Add(cell_x, hn::CopySign(depth_x, dx));
    const auto line_y = hn::Add(cell_y, hn::CopySign(depth_y, dy));
    const auto to_x = hn::Sub(line_x, origin_x);
    const auto to_y = hn::Sub(line_y, origin_y);
    const auto x_first = hn::Lt(hn::Abs(hn::Mul(to_x, dy)), hn::Abs(hn::Mul(to_y, dx)));
    const auto line = hn::IfThenElse(x_first, line_x, line_y);
    const auto size = hn::IfThenElse(x_first, width, height);
    // (line - origin) times the inverse, as the walk does it.
    const auto t = hn::Mul(hn::IfThenElse(x_first, to_x, to_y), hn::Div(one, hn::IfThenElse(x_first, dx, dy)));
    const auto range = hn::Mul(resolution, t);
    // The border of the map is no wall, and beyond it lies nothing.
    const auto wall = hn::And(hn::And(hn::Gt(line, zero), hn::Lt(line, size)), hn::Le(range, max_range));
    if (into != nullptr) store_faces(wall, x_first, into);
    return hn::IfThenElse(wall, range, none);
  };
  const std::size_t count = query.beams.size();
  std::size_t k = 0;
  for (; k + lanes <= count; k += lanes) {
    hn::Vec<decltype(d)> beam_x;
    hn::Vec<decltype(d)> beam_y;
    hn::LoadInterleaved2(d, beams + 2 * k, beam_x, beam_y);
    hn::StoreU(some(k, beam_x, beam_y, faces != nullptr ? faces + k : nullptr), d, out + k);
  }
  if (k < count) {
    HWY_ALIGN double rest[2 * hn::MaxLanes(d)] = {};
    HWY_ALIGN double ranges[hn::MaxLanes(d)];
    Face rest_faces[hn::MaxLanes(d)];
    std::copy_n(beams + 2 * k, 2 * (count - k), rest);
    hn::Vec<decltype(d)> beam_x;
    hn::Vec<decltype(d)> beam_y;
    hn::LoadInterleaved2(d, rest, beam_x, beam_y);
    hn::Store(some(k, beam_x, beam_y, rest_faces), d, ranges);
    std::copy_n(ranges, count - k, out + k);
    if (faces != nullptr) std::copy_n(rest_faces, count - k, faces + k);
  }
}

void cast_on_target(const FanQuery& query, double* out, Face* faces, Ties& ties) {
  const FanState fan(query);
  const std::size_t beams = query.beams.size();
  DepthBuffer buffers[2];  // of edges along x (across y), and along y; by the parity of an edge
  Corners corners;
  ties = {};
  for (const EdgeRange& range : query.ranges) {
    for (std::uint32_t done = 0; done < range.count; done += kBlock) {
      const std::uint32_t first = range.first + done;
      const std::size_t count = std::min<std::size_t>(kBlock, range.count - done);
      number_corners(fan, first, count + 1, corners.number, ties);
      const std::size_t listed = find_covering(beams, fan.half_turn, count, corners, [&](std::size_t at) {
        const std::uint32_t edge = first + static_cast<std::uint32_t>(at);
        cover_behind(fan, edge, corners.number[at], corners.number[at + 1], buffers[edge & 1]);
      });
      for (std::size_t k = 0; k < listed; ++k) {
        const std::uint32_t at = corners.covering[k];
        const std::uint32_t edge = first + at;
        cover(buffers[edge & 1], beams, corners.number[at], corners.number[at + 1], depth_of(fan, edge, query.vertices[edge]));
      }
    }
  }
  push_down(buffers[0], beams);
  push_down(buffers[1], beams);
  measure(fan, buffers[1].level[0], buffers[0].level[0], out, faces);
}

}  // namespace HWY_NAMESPACE
}  // namespace pitwall::tracks
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pitwall::tracks {

HWY_EXPORT(cast_on_target);

void cast_fan_edges(const FanQuery& query, double* out, Face* faces, Ties& ties) {
  HWY_DYNAMIC_DISPATCH(cast_on_target)(query, out, faces, ties);
}

}  // namespace pitwall::tracks
#endif

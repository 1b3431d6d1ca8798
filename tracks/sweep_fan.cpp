// SPDX-License-Identifier: Apache-2.0
// Compiled once for each instruction set that Highway knows of for this processor family.
#include "tracks/sweep_fan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tracks/sweep_fan.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "tracks/sweep_way.hpp"
#include "tracks/zbuffer_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pitwall::tracks {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Numbers of all corners of a block; false if one is too close to the way.
bool number_corners(SweepWay& way, std::uint32_t first, std::size_t count, std::int32_t* HWY_RESTRICT numbers) {
  const hn::ScalableTag<std::int32_t> di;
  const hn::RebindToFloat<decltype(di)> df;
  const std::size_t lanes = hn::Lanes(di);
  const Split x0(way.middle.x, way.cell_x);
  const Split y0(way.middle.y, way.cell_y);
  const SweepWay::Parabola& f = way.fit;
  const std::uint32_t* HWY_RESTRICT const vertices = way.query.vertices + first;
  const auto set = [&](float value) HWY_ATTR { return hn::Set(df, value); };
  for (std::size_t k = 0; k < count; k += lanes) {
    const auto vertex = hn::BitCast(di, hn::LoadU(hn::RebindToUnsigned<decltype(di)>(), vertices + k));
    const auto x = relative(hn::And(vertex, hn::Set(di, 0xffff)), x0);
    const auto y = relative(hn::ShiftRight<16>(vertex), y0);
    // Turned so that the middle beam lies ahead, and the jump of the angle behind.
    const auto p = hn::Add(hn::Mul(x, set(f.cos)), hn::Mul(y, set(f.sin)));
    const auto q = hn::Sub(hn::Mul(y, set(f.cos)), hn::Mul(x, set(f.sin)));
    const auto square = hn::Add(hn::Mul(p, p), hn::Mul(q, q));
    const auto angle = angle_of(p, q);
    // The first step, from the middle: angle over how fast beams gain on the corner.
    const auto aside = hn::Sub(hn::Mul(p, set(f.velocity_q)), hn::Mul(q, set(f.velocity_p)));
    const auto gain = hn::Add(hn::Mul(square, set(f.turn)), aside);
    const auto first_guess = hn::Div(hn::Mul(angle, square), gain);
    const auto t = hn::Min(hn::Max(first_guess, set(f.first)), set(f.last));
    // The second, from there.
    const auto p1 = hn::Sub(p, hn::Mul(t, hn::Add(set(f.velocity_p), hn::Mul(t, set(f.bend_p)))));
    const auto q1 = hn::Sub(q, hn::Mul(t, hn::Add(set(f.velocity_q), hn::Mul(t, set(f.bend_q)))));
    const auto square1 = hn::Add(hn::Mul(p1, p1), hn::Mul(q1, q1));
    const auto tangent = hn::Div(hn::Sub(hn::Mul(p, q1), hn::Mul(q, p1)), hn::Add(hn::Mul(p, p1), hn::Mul(q, q1)));
    const auto z = hn::Mul(tangent, tangent);
    const auto shift = hn::Add(tangent, hn::Mul(hn::Mul(tangent, z), hn::Sub(hn::Mul(z, set(0.2F)), set(0.33333333F))));
    const auto ahead = hn::Sub(hn::Add(angle, shift), hn::Mul(t, hn::Add(set(f.turn), hn::Mul(t, set(f.turn_bend)))));
    const auto velocity_p = hn::Add(set(f.velocity_p), hn::Mul(t, set(2.0F * f.bend_p)));
    const auto velocity_q = hn::Add(set(f.velocity_q), hn::Mul(t, set(2.0F * f.bend_q)));
    const auto inverse = hn::Div(set(1.0F), square1);
    const auto aside1 = hn::Mul(hn::Sub(hn::Mul(p1, velocity_q), hn::Mul(q1, velocity_p)), inverse);
    const auto gain1 = hn::Add(hn::Add(set(f.turn), hn::Mul(t, set(2.0F * f.turn_bend))), aside1);
    const auto step = hn::Div(ahead, gain1);
    const auto number = hn::Add(hn::Add(t, step), set(f.middle));
    const auto rounded = hn::Round(number);
    const auto nearest = hn::ConvertTo(di, rounded);
    const auto past = hn::Sub(number, rounded);
    const auto next = hn::Sub(nearest, hn::BitCast(di, hn::VecFromMask(df, hn::Gt(past, hn::Zero(df)))));
    hn::StoreU(next, di, numbers + k);
    const auto more_steps = hn::Mul(hn::Mul(step, step), hn::Add(set(f.step_far), hn::Mul(set(f.step_near), inverse)));
    const auto sure = hn::Add(hn::Add(set(f.sure_far), hn::Mul(set(f.sure_near), inverse)), more_steps);
    const auto clear = hn::And(hn::Ge(hn::Abs(past), sure), hn::Ge(square, set(f.near_square)));
    if (HWY_UNLIKELY(!hn::AllTrue(df, clear))) {
      HWY_ALIGN std::int32_t nearests[hn::MaxLanes(di)];
      HWY_ALIGN float offsets[hn::MaxLanes(di)];
      HWY_ALIGN float margins[hn::MaxLanes(di)];
      HWY_ALIGN float squares[hn::MaxLanes(di)];
      hn::Store(nearest, di, nearests);
      hn::Store(hn::Abs(past), df, offsets);
      hn::Store(sure, df, margins);
      hn::Store(square, df, squares);
      for (std::size_t lane = 0; lane < lanes && k + lane < count; ++lane) {
        if (offsets[lane] >= margins[lane] && squares[lane] >= f.near_square) continue;
        const bool vague = !(squares[lane] >= f.near_square) || !(margins[lane] < SweepWay::kVague);
        const std::uint32_t corner = first + static_cast<std::uint32_t>(k + lane);
        numbers[k + lane] = vague ? way.search_number(corner) : way.exact_number(vertices[k + lane], nearests[lane]);
      }
      if (way.too_close) return false;
    }
  }
  return true;
}

// The beams from `k` on, as many as there are lanes, with the motion of one piece.
template <class D, class V>
HWY_INLINE void turn_beams(D d, const SweepPiece& piece, V number, V beam_x, V beam_y, V& origin_x, V& origin_y, V& dx, V& dy) {
  const auto share = hn::Mul(hn::Sub(number, hn::Set(d, piece.start)), hn::Set(d, piece.per_beam));
  origin_x = hn::Add(hn::Set(d, piece.origin.x), hn::Mul(share, hn::Set(d, piece.way.x)));
  origin_y = hn::Add(hn::Set(d, piece.origin.y), hn::Mul(share, hn::Set(d, piece.way.y)));
  // As sincos_of_small() and Sweep::direction_cells() do it.
  const auto x = hn::Mul(hn::Sub(share, hn::Set(d, 0.5)), hn::Set(d, piece.turn_rad));
  const auto q = hn::Mul(x, x);
  auto sine = hn::Add(hn::Mul(q, hn::Set(d, -1.0 / 5040.0)), hn::Set(d, 1.0 / 120.0));
  sine = hn::Sub(hn::Mul(q, sine), hn::Set(d, 1.0 / 6.0));
  sine = hn::Add(x, hn::Mul(x, hn::Mul(q, sine)));
  auto cosine = hn::Sub(hn::Mul(q, hn::Set(d, 1.0 / 40320.0)), hn::Set(d, 1.0 / 720.0));
  cosine = hn::Add(hn::Mul(q, cosine), hn::Set(d, 1.0 / 24.0));
  cosine = hn::Sub(hn::Mul(q, cosine), hn::Set(d, 0.5));
  cosine = hn::Add(hn::Set(d, 1.0), hn::Mul(q, cosine));
  const auto c = hn::Sub(hn::Mul(hn::Set(d, piece.middle_cos), cosine), hn::Mul(hn::Set(d, piece.middle_sin), sine));
  const auto s = hn::Add(hn::Mul(hn::Set(d, piece.middle_sin), cosine), hn::Mul(hn::Set(d, piece.middle_cos), sine));
  dx = hn::Sub(hn::Mul(c, beam_x), hn::Mul(s, beam_y));
  dy = hn::Add(hn::Mul(s, beam_x), hn::Mul(c, beam_y));
}

// Beams [from, to) of the fan part, all of one piece. May write more, up to the part's end: they belong to pieces still to come.
void measure(const SweepWay& way, const SweepPiece& piece, std::size_t from, std::size_t to, const std::int16_t* HWY_RESTRICT across_x,
             const std::int16_t* HWY_RESTRICT across_y, double* HWY_RESTRICT out, Face* HWY_RESTRICT faces) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<std::int32_t, decltype(d)> di;
  const hn::Rebind<std::int16_t, decltype(d)> ds;
  const std::size_t lanes = hn::Lanes(d);
  const SweepQuery& query = way.query;
  const auto left = hn::Set(d, static_cast<double>(way.left));
  const auto right = hn::Set(d, static_cast<double>(way.right));
  const auto down = hn::Set(d, static_cast<double>(way.down));
  const auto up = hn::Set(d, static_cast<double>(way.up));
  const auto zero = hn::Zero(d);
  const double* const beams = &query.sweep->fan().directions[query.first].x;
  const auto some = [&](std::size_t k, auto beam_x, auto beam_y, Face* into) HWY_ATTR {
    const auto number = hn::Iota(d, static_cast<double>(query.first + k));
    hn::Vec<decltype(d)> origin_x, origin_y, dx, dy;
    turn_beams(d, piece, number, beam_x, beam_y, origin_x, origin_y, dx, dy);
    const auto depth_x = hn::PromoteTo(d, hn::PromoteTo(di, hn::LoadU(ds, across_x + k)));
    const auto depth_y = hn::PromoteTo(d, hn::PromoteTo(di, hn::LoadU(ds, across_y + k)));
    const auto line_x = hn::Add(hn::IfThenElse(hn::Gt(dx, zero), left, right), hn::CopySign(depth_x, dx));
    const auto line_y = hn::Add(hn::IfThenElse(hn::Gt(dy, zero), down, up), hn::CopySign(depth_y, dy));
    const auto to_x = hn::Sub(line_x, origin_x);
    const auto to_y = hn::Sub(line_y, origin_y);
    const auto x_first = hn::Lt(hn::Abs(hn::Mul(to_x, dy)), hn::Abs(hn::Mul(to_y, dx)));
    const auto line = hn::IfThenElse(x_first, line_x, line_y);
    const auto size = hn::IfThenElse(x_first, hn::Set(d, static_cast<double>(query.width)), hn::Set(d, static_cast<double>(query.height)));
    // (line - origin) times the inverse, as the walk does it.
    const auto t = hn::Mul(hn::IfThenElse(x_first, to_x, to_y), hn::Div(hn::Set(d, 1.0), hn::IfThenElse(x_first, dx, dy)));
    const auto range = hn::Mul(hn::Set(d, query.resolution_m), t);
    // The border of the map is no wall, and beyond it lies nothing.
    const auto wall = hn::And(hn::And(hn::Gt(line, zero), hn::Lt(line, size)), hn::Le(range, hn::Set(d, query.max_range_m)));
    if (into != nullptr) store_faces(wall, x_first, into);
    return hn::IfThenElse(wall, range, hn::Set(d, std::numeric_limits<double>::infinity()));
  };
  for (std::size_t k = from; k < to; k += lanes) {
    hn::Vec<decltype(d)> beam_x;
    hn::Vec<decltype(d)> beam_y;
    if (k + lanes <= query.count) {
      hn::LoadInterleaved2(d, beams + 2 * k, beam_x, beam_y);
      hn::StoreU(some(k, beam_x, beam_y, faces != nullptr ? faces + k : nullptr), d, out + k);
      continue;
    }
    HWY_ALIGN double rest[2 * hn::MaxLanes(d)] = {};
    HWY_ALIGN double ranges[hn::MaxLanes(d)];
    Face rest_faces[hn::MaxLanes(d)];
    std::copy_n(beams + 2 * k, 2 * (query.count - k), rest);
    hn::LoadInterleaved2(d, rest, beam_x, beam_y);
    hn::Store(some(k, beam_x, beam_y, rest_faces), d, ranges);
    std::copy_n(ranges, query.count - k, out + k);
    if (faces != nullptr) std::copy_n(rest_faces, query.count - k, faces + k);
  }
}

bool sweep_on_target(const SweepQuery& query, double* out, Face* faces, Ties& ties) {
  ties = {};
  SweepWay way(query, ties);
  if (!way.fit_found) return false;
  DepthBuffer buffers[2];  // of edges along x (across y), and along y; by the parity of an edge
  Corners corners;
  RangeUnion ranges({query.seen.data(), query.tiles});
  for (EdgeRange range{}; ranges.next(range);) {
    for (std::uint32_t done = 0; done < range.count; done += kBlock) {
      const std::uint32_t first = range.first + done;
      const std::size_t count = std::min<std::size_t>(kBlock, range.count - done);
      if (!number_corners(way, first, count + 1, corners.number)) return false;
      const std::size_t listed = find_covering(query.count, way.far_apart, count, corners, [&](std::size_t at) {
        const std::uint32_t edge = first + static_cast<std::uint32_t>(at);
        way.cover_by_side(edge, corners.number[at], corners.number[at + 1], buffers[edge & 1]);
      });
      for (std::size_t k = 0; k < listed; ++k) {
        const std::uint32_t at = corners.covering[k];
        const std::uint32_t edge = first + at;
        cover(buffers[edge & 1], query.count, corners.number[at], corners.number[at + 1], way.depth_of(edge));
      }
    }
  }
  push_down(buffers[0], query.count);
  push_down(buffers[1], query.count);
  for (const SweepPiece& piece : query.sweep->pieces()) {
    const std::size_t from = std::max(piece.first, query.first);
    const std::size_t to = std::min(piece.end, query.first + query.count);
    if (from < to) measure(way, piece, from - query.first, to - query.first, buffers[1].level[0], buffers[0].level[0], out, faces);
  }
  return true;
}

}  // namespace HWY_NAMESPACE
}  // namespace pitwall::tracks
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pitwall::tracks {

HWY_EXPORT(sweep_on_target);

bool cast_sweep_edges(const SweepQuery& query, double* out, Face* faces, Ties& ties) {
  return HWY_DYNAMIC_DISPATCH(sweep_on_target)(query, out, faces, ties);
}

}  // namespace pitwall::tracks
#endif

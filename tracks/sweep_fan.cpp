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

// Corners of a block as the middle beam's origin sees them, that beam along p.
struct Bearings {
  alignas(64) float p[kBlock + kPad];
  alignas(64) float q[kBlock + kPad];
  alignas(64) float angle[kBlock + kPad];
};

void see_corners(const SweepWay& way, std::uint32_t first, std::size_t count, Bearings& bearings) {
  const hn::ScalableTag<std::int32_t> di;
  const hn::RebindToFloat<decltype(di)> df;
  const Split x0(way.middle.x, way.cell_x);
  const Split y0(way.middle.y, way.cell_y);
  const auto c = hn::Set(df, way.fit.cos);
  const auto s = hn::Set(df, way.fit.sin);
  const auto low_half = hn::Set(di, 0xffff);
  const std::uint32_t* HWY_RESTRICT const vertices = way.query.vertices + first;
  for (std::size_t k = 0; k < count; k += hn::Lanes(di)) {
    const auto vertex = hn::BitCast(di, hn::LoadU(hn::RebindToUnsigned<decltype(di)>(), vertices + k));
    const auto x = relative(hn::And(vertex, low_half), x0);
    const auto y = relative(hn::ShiftRight<16>(vertex), y0);
    const auto p = hn::Add(hn::Mul(x, c), hn::Mul(y, s));
    const auto q = hn::Sub(hn::Mul(y, c), hn::Mul(x, s));
    hn::StoreU(p, df, bearings.p + k);
    hn::StoreU(q, df, bearings.q + k);
    hn::StoreU(angle_of(p, q), df, bearings.angle + k);
  }
}

// Numbers of all corners of a block; false if one is too close to the way. Apart from see_corners(), so that the processor finds more
// vectors to work on at a time.
bool number_corners(SweepWay& way, std::uint32_t first, std::size_t count, const Bearings& bearings, std::int32_t* HWY_RESTRICT numbers) {
  const hn::ScalableTag<std::int32_t> di;
  const hn::RebindToFloat<decltype(di)> df;
  const std::size_t lanes = hn::Lanes(di);
  const SweepWay::Parabola f = way.fit;
  const std::uint32_t* HWY_RESTRICT const vertices = way.query.vertices + first;
  const auto velocity_p = hn::Set(df, f.velocity_p);
  const auto velocity_q = hn::Set(df, f.velocity_q);
  const auto bend_p = hn::Set(df, f.bend_p);
  const auto bend_q = hn::Set(df, f.bend_q);
  const auto turn = hn::Set(df, f.turn);
  const auto turn_bend = hn::Set(df, f.turn_bend);
  const auto first_beam = hn::Set(df, f.first);
  const auto last_beam = hn::Set(df, f.last);
  const auto middle = hn::Set(df, f.middle);
  const auto one = hn::Set(df, 1.0F);
  const auto fifth = hn::Set(df, 0.2F);
  const auto third = hn::Set(df, 0.33333333F);
  const auto sure_far = hn::Set(df, f.sure_far);
  const auto sure_near = hn::Set(df, f.sure_near);
  const auto step_far = hn::Set(df, f.step_far);
  const auto step_near = hn::Set(df, f.step_near);
  const auto near_square = hn::Set(df, f.near_square);
  for (std::size_t k = 0; k < count; k += lanes) {
    const auto p = hn::LoadU(df, bearings.p + k);
    const auto q = hn::LoadU(df, bearings.q + k);
    const auto angle = hn::LoadU(df, bearings.angle + k);
    const auto square = hn::Add(hn::Mul(p, p), hn::Mul(q, q));
    // The first step, from the middle: the angle over how fast beams gain on the corner.
    const auto gain = hn::Add(hn::Mul(square, turn), hn::Sub(hn::Mul(p, velocity_q), hn::Mul(q, velocity_p)));
    const auto t = hn::Min(hn::Max(hn::Div(hn::Mul(angle, square), gain), first_beam), last_beam);
    // The second, from there. One division serves for the tangent of the change in bearing and for the square of the distance.
    const auto way_p = hn::Mul(t, bend_p);
    const auto way_q = hn::Mul(t, bend_q);
    const auto p1 = hn::Sub(p, hn::Mul(t, hn::Add(velocity_p, way_p)));
    const auto q1 = hn::Sub(q, hn::Mul(t, hn::Add(velocity_q, way_q)));
    const auto square1 = hn::Add(hn::Mul(p1, p1), hn::Mul(q1, q1));
    const auto along = hn::Add(hn::Mul(p, p1), hn::Mul(q, q1));
    const auto both = hn::Div(one, hn::Mul(square1, along));
    const auto inverse = hn::Mul(both, along);
    const auto tangent = hn::Mul(hn::Mul(both, square1), hn::Sub(hn::Mul(p, q1), hn::Mul(q, p1)));
    const auto z = hn::Mul(tangent, tangent);
    const auto shift = hn::Add(tangent, hn::Mul(hn::Mul(tangent, z), hn::Sub(hn::Mul(z, fifth), third)));
    const auto turned = hn::Mul(t, turn_bend);
    const auto ahead = hn::Sub(hn::Add(angle, shift), hn::Mul(t, hn::Add(turn, turned)));
    const auto speed_p = hn::Add(velocity_p, hn::Add(way_p, way_p));
    const auto speed_q = hn::Add(velocity_q, hn::Add(way_q, way_q));
    const auto aside = hn::Mul(hn::Sub(hn::Mul(p1, speed_q), hn::Mul(q1, speed_p)), inverse);
    const auto step = hn::Div(ahead, hn::Add(hn::Add(turn, hn::Add(turned, turned)), aside));
    const auto number = hn::Add(hn::Add(t, step), middle);
    const auto rounded = hn::Round(number);
    const auto nearest = hn::ConvertTo(di, rounded);
    const auto past = hn::Sub(number, rounded);
    const auto next = hn::Sub(nearest, hn::BitCast(di, hn::VecFromMask(df, hn::Gt(past, hn::Zero(df)))));
    hn::StoreU(next, di, numbers + k);
    const auto more_steps = hn::Mul(hn::Mul(step, step), hn::Add(step_far, hn::Mul(step_near, inverse)));
    const auto sure = hn::Add(hn::Add(sure_far, hn::Mul(sure_near, inverse)), more_steps);
    const auto clear = hn::And(hn::Ge(hn::Abs(past), sure), hn::Ge(square, near_square));
    if (HWY_UNLIKELY(!hn::AllTrue(df, clear))) {
      HWY_ALIGN std::int32_t nearests[hn::MaxLanes(di)];
      HWY_ALIGN float margins[hn::MaxLanes(di)];
      std::uint8_t sure_lanes[(hn::MaxLanes(di) + 7) / 8 < 8 ? 8 : (hn::MaxLanes(di) + 7) / 8] = {};
      hn::Store(nearest, di, nearests);
      // Beyond what may be estimated at all: searched for.
      hn::Store(hn::IfThenElse(hn::Ge(square, near_square), sure, one), df, margins);
      hn::StoreMaskBits(df, clear, sure_lanes);
      for (std::size_t lane = 0; lane < lanes && k + lane < count; ++lane) {
        if ((sure_lanes[lane / 8] >> (lane % 8) & 1) != 0) continue;
        const bool vague = !(margins[lane] < SweepWay::kVague);
        const std::uint32_t corner = first + static_cast<std::uint32_t>(k + lane);
        numbers[k + lane] = vague ? way.search_number(corner) : way.exact_number(vertices[k + lane], nearests[lane]);
      }
      if (way.too_close) return false;
    }
  }
  return true;
}

// Beams of a piece, a few at a time: where they start and point.
struct Turned {
  static constexpr std::size_t kBeams = 64;
  alignas(64) double origin_x[kBeams + 8];
  alignas(64) double origin_y[kBeams + 8];
  alignas(64) double x[kBeams + 8];
  alignas(64) double y[kBeams + 8];
};

// As Sweep::origin_cells() and direction_cells() do it. Reads and writes up to a vector more than `count` beams.
void turn_beams(const SweepPiece& piece, std::size_t beam, const double* HWY_RESTRICT beams, std::size_t count, Turned& turned) {
  const hn::ScalableTag<double> d;
  const auto start = hn::Set(d, piece.start);
  const auto per_beam = hn::Set(d, piece.per_beam);
  const auto from_x = hn::Set(d, piece.origin.x);
  const auto from_y = hn::Set(d, piece.origin.y);
  const auto way_x = hn::Set(d, piece.way.x);
  const auto way_y = hn::Set(d, piece.way.y);
  const auto turn = hn::Set(d, piece.turn_rad);
  const auto middle_cos = hn::Set(d, piece.middle_cos);
  const auto middle_sin = hn::Set(d, piece.middle_sin);
  const auto half = hn::Set(d, 0.5);
  for (std::size_t k = 0; k < count; k += hn::Lanes(d)) {
    const auto share = hn::Mul(hn::Sub(hn::Iota(d, static_cast<double>(beam + k)), start), per_beam);
    hn::StoreU(hn::Add(from_x, hn::Mul(share, way_x)), d, turned.origin_x + k);
    hn::StoreU(hn::Add(from_y, hn::Mul(share, way_y)), d, turned.origin_y + k);
    const auto x = hn::Mul(hn::Sub(share, half), turn);
    const auto q = hn::Mul(x, x);
    const auto sine = hn::Add(x, hn::Mul(x, hn::Mul(q, hn::Sub(hn::Mul(q, hn::Set(d, 1.0 / 120.0)), hn::Set(d, 1.0 / 6.0)))));
    const auto inner = hn::Sub(hn::Mul(q, hn::Sub(hn::Set(d, 1.0 / 24.0), hn::Mul(q, hn::Set(d, 1.0 / 720.0)))), half);
    const auto cosine = hn::Add(hn::Set(d, 1.0), hn::Mul(q, inner));
    const auto c = hn::Sub(hn::Mul(middle_cos, cosine), hn::Mul(middle_sin, sine));
    const auto s = hn::Add(hn::Mul(middle_sin, cosine), hn::Mul(middle_cos, sine));
    hn::Vec<decltype(d)> beam_x;
    hn::Vec<decltype(d)> beam_y;
    hn::LoadInterleaved2(d, beams + 2 * k, beam_x, beam_y);
    hn::StoreU(hn::Sub(hn::Mul(c, beam_x), hn::Mul(s, beam_y)), d, turned.x + k);
    hn::StoreU(hn::Add(hn::Mul(s, beam_x), hn::Mul(c, beam_y)), d, turned.y + k);
  }
}

// Writes up to a vector more than `count` ranges and faces.
void measure(const SweepWay& way, const Turned& turned, std::size_t count, const std::int16_t* HWY_RESTRICT across_x,
             const std::int16_t* HWY_RESTRICT across_y, double* HWY_RESTRICT out, Face* HWY_RESTRICT faces) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<std::int32_t, decltype(d)> di;
  const hn::Rebind<std::int16_t, decltype(d)> ds;
  const auto left = hn::Set(d, static_cast<double>(way.left));
  const auto right = hn::Set(d, static_cast<double>(way.right));
  const auto down = hn::Set(d, static_cast<double>(way.down));
  const auto up = hn::Set(d, static_cast<double>(way.up));
  const auto width = hn::Set(d, static_cast<double>(way.query.width));
  const auto height = hn::Set(d, static_cast<double>(way.query.height));
  const auto resolution = hn::Set(d, way.query.resolution_m);
  const auto max_range = hn::Set(d, way.query.max_range_m);
  const auto none = hn::Set(d, std::numeric_limits<double>::infinity());
  const auto one = hn::Set(d, 1.0);
  const auto zero = hn::Zero(d);
  for (std::size_t k = 0; k < count; k += hn::Lanes(d)) {
    const auto dx = hn::LoadU(d, turned.x + k);
    const auto dy = hn::LoadU(d, turned.y + k);
    const auto depth_x = hn::PromoteTo(d, hn::PromoteTo(di, hn::LoadU(ds, across_x + k)));
    const auto depth_y = hn::PromoteTo(d, hn::PromoteTo(di, hn::LoadU(ds, across_y + k)));
    const auto line_x = hn::Add(hn::IfThenElse(hn::Gt(dx, zero), left, right), hn::CopySign(depth_x, dx));
    const auto line_y = hn::Add(hn::IfThenElse(hn::Gt(dy, zero), down, up), hn::CopySign(depth_y, dy));
    const auto to_x = hn::Sub(line_x, hn::LoadU(d, turned.origin_x + k));
    const auto to_y = hn::Sub(line_y, hn::LoadU(d, turned.origin_y + k));
    const auto x_first = hn::Lt(hn::Abs(hn::Mul(to_x, dy)), hn::Abs(hn::Mul(to_y, dx)));
    const auto line = hn::IfThenElse(x_first, line_x, line_y);
    // (line - origin) times the inverse, as the walk does it.
    const auto t = hn::Mul(hn::IfThenElse(x_first, to_x, to_y), hn::Div(one, hn::IfThenElse(x_first, dx, dy)));
    const auto range = hn::Mul(resolution, t);
    // The border of the map is no wall, and beyond it lies nothing.
    const auto inside = hn::And(hn::Gt(line, zero), hn::Lt(line, hn::IfThenElse(x_first, width, height)));
    const auto wall = hn::And(inside, hn::Le(range, max_range));
    if (faces != nullptr) store_faces(wall, x_first, faces + k);
    hn::StoreU(hn::IfThenElse(wall, range, none), d, out + k);
  }
}

// Beams [from, to) of the part, all of one piece; more are written, which belong to pieces still to come.
void measure_piece(const SweepWay& way, const SweepPiece& piece, std::size_t from, std::size_t to, const DepthBuffer* buffers,
                   double* HWY_RESTRICT out, Face* HWY_RESTRICT faces) {
  constexpr std::size_t kMore = 8;
  const SweepQuery& query = way.query;
  Turned turned;
  for (std::size_t k = from; k < to; k += Turned::kBeams) {
    const std::size_t count = std::min(Turned::kBeams, to - k);
    const Vec2* const beams = query.sweep->fan().directions.data() + query.first + k;
    const auto range = [&](const Vec2* some, double* ranges, Face* into) {
      turn_beams(piece, query.first + k, &some->x, count, turned);
      measure(way, turned, count, buffers[1].level[0] + k, buffers[0].level[0] + k, ranges, into);
    };
    if (k + count + kMore <= query.count) {
      range(beams, out + k, faces != nullptr ? faces + k : nullptr);
      continue;
    }
    // Too near the end of the part for writing more.
    Vec2 some[Turned::kBeams + kMore];
    double ranges[Turned::kBeams + kMore];
    Face some_faces[Turned::kBeams + kMore];
    std::copy_n(beams, count, some);
    range(some, ranges, faces != nullptr ? some_faces : nullptr);
    std::copy_n(ranges, count, out + k);
    if (faces != nullptr) std::copy_n(some_faces, count, faces + k);
  }
}

bool sweep_on_target(const SweepQuery& query, double* out, Face* faces, Ties& ties) {
  ties = {};
  SweepWay way(query, ties);
  if (!way.fit_found) return false;
  DepthBuffer buffers[2];  // of edges along x (across y), and along y; by the parity of an edge
  Corners corners;
  Bearings bearings;
  RangeUnion ranges({query.seen.data(), query.tiles});
  for (EdgeRange range{}; ranges.next(range);) {
    for (std::uint32_t done = 0; done < range.count; done += kBlock) {
      const std::uint32_t first = range.first + done;
      const std::size_t count = std::min<std::size_t>(kBlock, range.count - done);
      see_corners(way, first, count + 1, bearings);
      if (!number_corners(way, first, count + 1, bearings, corners.number)) return false;
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
    if (from < to) measure_piece(way, piece, from - query.first, to - query.first, buffers, out, faces);
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

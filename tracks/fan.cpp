// SPDX-License-Identifier: Apache-2.0
// Compiled once for each instruction set that Highway knows of for this processor family.
#include "tracks/fan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tracks/fan.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#ifndef PITWALL_TRACKS_FAN_ONCE
#define PITWALL_TRACKS_FAN_ONCE
namespace pitwall::tracks {
namespace {

constexpr std::size_t kBlock = 1024;  // edges at a time
constexpr std::size_t kPad = 64;      // vectors may run over by less
constexpr std::size_t kLevels = 12;   // 2^11 beams
constexpr int kEmptyByte = 0x7f;      // twice: farther than any line of a map of Walls::kMaxSide

// Level l, entry a: the nearest edge that covers the 2^l beams from a on, and was entered there.
struct DepthBuffer {
  alignas(64) std::int16_t level[kLevels][FanQuery::kMaxBeams + kPad];
  unsigned used = 0;  // levels in use, one bit each; the others are not even initialised
};

struct Corners {
  alignas(64) std::int32_t number[kBlock + kPad];     // first beam at or past it, not limited to the fan
  alignas(64) std::uint16_t covering[kBlock + kPad];  // edges, counted from the first of the block
};

// The set bits of four, first to last. (Highway's CompressStore copies its table to the stack at every call under g++.)
constexpr std::uint16_t kSetBits[16][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}, {2, 0, 0, 0}, {0, 2, 0, 0},
                                           {1, 2, 0, 0}, {0, 1, 2, 0}, {3, 0, 0, 0}, {0, 3, 0, 0}, {1, 3, 0, 0}, {0, 1, 3, 0},
                                           {2, 3, 0, 0}, {0, 2, 3, 0}, {1, 2, 3, 0}, {0, 1, 2, 3}};

// What four beams meet: low bits, whether they meet anything; high bits, whether that lies across x.
constexpr auto kFaces = [] {
  std::array<std::array<Face, 4>, 256> faces{};
  for (unsigned bits = 0; bits < 256; ++bits) {
    for (unsigned lane = 0; lane < 4; ++lane) {
      const Face across = (bits >> (lane + 4) & 1U) != 0 ? Face::kAcrossX : Face::kAcrossY;
      faces[bits][lane] = (bits >> lane & 1U) != 0 ? across : Face::kNone;
    }
  }
  return faces;
}();

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

void clear(std::int16_t* level, std::size_t beams) { std::memset(level, kEmptyByte, (beams + kPad) * sizeof(std::int16_t)); }

void cover(DepthBuffer& buffer, std::size_t beams, std::int32_t first, std::int32_t end, std::int16_t depth) {
  const auto a = static_cast<std::size_t>(std::max(first, 0));
  const auto b = std::min(static_cast<std::size_t>(std::max(end, 0)), beams);
  if (a >= b) return;
  const auto l = static_cast<std::size_t>(std::bit_width(b - a)) - 1;
  std::int16_t* const level = buffer.level[l];
  if ((buffer.used >> l & 1) == 0) {
    buffer.used |= 1U << l;
    clear(level, beams);
  }
  const std::size_t c = b - (std::size_t{1} << l);
  level[a] = std::min(level[a], depth);
  level[c] = std::min(level[c], depth);
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

// Arctangent on [0, 1], within 2e-8: Abramowitz and Stegun, "Handbook of Mathematical Functions", 4.4.49.
template <class V>
HWY_INLINE V arctangent(V x) {
  const hn::DFromV<V> d;
  const V square = hn::Mul(x, x);
  V sum = hn::Set(d, -0.0040540580F);
  sum = hn::Add(hn::Mul(sum, square), hn::Set(d, 0.0218612288F));
  sum = hn::Add(hn::Mul(sum, square), hn::Set(d, -0.0559098861F));
  sum = hn::Add(hn::Mul(sum, square), hn::Set(d, 0.0964200441F));
  sum = hn::Add(hn::Mul(sum, square), hn::Set(d, -0.1390853351F));
  sum = hn::Add(hn::Mul(sum, square), hn::Set(d, 0.1994653599F));
  sum = hn::Add(hn::Mul(sum, square), hn::Set(d, -0.3332985605F));
  sum = hn::Add(hn::Mul(sum, square), hn::Set(d, 0.9999993329F));
  return hn::Mul(sum, x);
}

// A coordinate of the sensor, split so that cell differences keep their relative precision in float: whole cells, the nearest
// 4096th, and the rest, which is smaller than any other difference.
struct Split {
  Split(double at, int cell) : whole(cell) {
    const double rest = at - static_cast<double>(cell);
    coarse = static_cast<float>(std::floor(rest * 4096.0 + 0.5) / 4096.0);
    fine = static_cast<float>(rest - static_cast<double>(coarse));
  }
  std::int32_t whole;
  float coarse;
  float fine;
};

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
  const auto quarter_turn = hn::Set(df, 1.57079632679F);
  const auto half_turn = hn::Set(df, 3.14159265359F);
  const std::uint32_t* HWY_RESTRICT const vertices = fan.query.vertices + first;
  const auto relative = [&](auto whole, const Split& from) HWY_ATTR {
    const auto cells = hn::ConvertTo(df, hn::Sub(whole, hn::Set(di, from.whole)));
    return hn::Sub(hn::Sub(cells, hn::Set(df, from.coarse)), hn::Set(df, from.fine));
  };
  for (std::size_t k = 0; k < count; k += lanes) {
    // The array is padded, see RayCaster.
    const auto vertex = hn::BitCast(di, hn::LoadU(hn::RebindToUnsigned<decltype(di)>(), vertices + k));
    const auto x = relative(hn::And(vertex, low_half), x0);
    const auto y = relative(hn::ShiftRight<16>(vertex), y0);
    // Turned so that the middle of the fan lies ahead, and the jump of the angle behind.
    const auto p = hn::Add(hn::Mul(x, c), hn::Mul(y, s));
    const auto q = hn::Sub(hn::Mul(y, c), hn::Mul(x, s));
    const auto along = hn::Abs(p);
    const auto aside = hn::Abs(q);
    const auto eighth = arctangent(hn::Div(hn::Min(along, aside), hn::Max(along, aside)));
    const auto quadrant = hn::IfThenElse(hn::Gt(aside, along), hn::Sub(quarter_turn, eighth), eighth);
    const auto half = hn::IfThenElse(hn::Lt(p, hn::Zero(df)), hn::Sub(half_turn, quadrant), quadrant);
    const auto angle = hn::CopySign(half, q);
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

// Lists the edges that cover beams, and enters at once those that may pass behind the sensor; returns how many are listed.
std::size_t find_covering(const FanState& fan, std::uint32_t first, std::size_t count, Corners& corners, DepthBuffer* buffers) {
  const hn::ScalableTag<std::int32_t> di;
  const std::size_t lanes = hn::Lanes(di);
  const auto beams = hn::Set(di, static_cast<std::int32_t>(fan.query.beams.size()));
  const auto half_turn = hn::Set(di, fan.half_turn);
  std::size_t listed = 0;
  for (std::size_t k = 0; k < count; k += lanes) {
    const auto from = hn::LoadU(di, corners.number + k);
    const auto to = hn::LoadU(di, corners.number + k + 1);
    const auto behind = hn::Gt(hn::Abs(hn::Sub(to, from)), half_turn);
    auto covers = hn::And(hn::And(hn::Gt(to, from), hn::Gt(to, hn::Zero(di))), hn::And(hn::Gt(beams, from), hn::Not(behind)));
    auto passes = behind;
    if (count - k < lanes) {
      const auto there = hn::FirstN(di, count - k);
      covers = hn::And(covers, there);
      passes = hn::And(passes, there);
    }
    std::uint8_t bits[(hn::MaxLanes(di) + 7) / 8 < 8 ? 8 : (hn::MaxLanes(di) + 7) / 8];
    hn::StoreMaskBits(di, covers, bits);
    for (std::size_t lane = 0; lane < lanes; lane += 4) {
      const unsigned four = bits[lane / 8] >> (lane % 8) & 15U;
      for (std::size_t n = 0; n < 4; ++n) corners.covering[listed + n] = static_cast<std::uint16_t>(k + lane + kSetBits[four][n]);
      listed += static_cast<std::size_t>(std::popcount(four));
    }
    if (HWY_UNLIKELY(!hn::AllFalse(di, passes))) {
      for (std::size_t lane = 0; lane < lanes && k + lane < count; ++lane) {
        const std::int32_t a = corners.number[k + lane];
        const std::int32_t b = corners.number[k + lane + 1];
        const std::uint32_t edge = first + static_cast<std::uint32_t>(k + lane);
        if (std::abs(b - a) > fan.half_turn) cover_behind(fan, edge, a, b, buffers[edge & 1]);
      }
    }
  }
  return listed;
}

// Brings every entry down to the beams it covers.
void push_down(DepthBuffer& buffer, std::size_t beams) {
  const hn::ScalableTag<std::int16_t> d;
  const std::size_t lanes = hn::Lanes(d);
  if (buffer.used == 0) {
    clear(buffer.level[0], beams);
    return;
  }
  for (auto l = static_cast<std::size_t>(std::bit_width(buffer.used)) - 1; l > 0; --l) {
    const std::int16_t* HWY_RESTRICT const from = buffer.level[l];
    std::int16_t* HWY_RESTRICT const to = buffer.level[l - 1];
    const std::size_t half = std::size_t{1} << (l - 1);
    if ((buffer.used >> (l - 1) & 1) == 0) {
      buffer.used |= 1U << (l - 1);
      clear(to, beams);
    }
    // Entries run up to beams - 2 * half; past them there is nothing, up to the padding.
    for (std::size_t k = 0; k + half < beams; k += lanes) hn::StoreU(hn::Min(hn::LoadU(d, to + k), hn::LoadU(d, from + k)), d, to + k);
    for (std::size_t k = 0; k + half < beams; k += lanes) {
      hn::StoreU(hn::Min(hn::LoadU(d, to + half + k), hn::LoadU(d, from + k)), d, to + half + k);
    }
  }
}

// What each lane of a vector of beams meets.
template <class M>
HWY_INLINE void store_faces(M wall, M x_first, Face* HWY_RESTRICT faces) {
  const hn::ScalableTag<double> d;
  std::uint8_t walls[8] = {};
  std::uint8_t across_x[8] = {};
  hn::StoreMaskBits(d, wall, walls);
  hn::StoreMaskBits(d, x_first, across_x);
  for (std::size_t lane = 0; lane < hn::Lanes(d); lane += 4) {
    const unsigned bits = (walls[lane / 8] >> (lane % 8) & 15U) | (across_x[lane / 8] >> (lane % 8) & 15U) << 4;
    std::memcpy(faces + lane, kFaces[bits].data(), std::min<std::size_t>(4, hn::Lanes(d)));
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
      const std::size_t listed = find_covering(fan, first, count, corners, buffers);
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

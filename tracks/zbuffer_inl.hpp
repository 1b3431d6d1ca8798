// SPDX-License-Identifier: Apache-2.0
// Vector code of the z-buffer, compiled once for each instruction set: to be included after <hwy/highway.h>, within what
// <hwy/foreach_target.h> compiles again, therefore without a guard of the usual kind.
#if defined(PITWALL_TRACKS_ZBUFFER_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PITWALL_TRACKS_ZBUFFER_INL
#undef PITWALL_TRACKS_ZBUFFER_INL
#else
#define PITWALL_TRACKS_ZBUFFER_INL
#endif

#include "tracks/zbuffer.hpp"

HWY_BEFORE_NAMESPACE();
namespace pitwall::tracks {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using namespace detail;

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

// Differences of whole coordinates to the sensor's.
template <class V>
HWY_INLINE auto relative(V whole, const Split& from) {
  const hn::RebindToFloat<hn::DFromV<V>> df;
  const auto cells = hn::ConvertTo(df, hn::Sub(whole, hn::Set(hn::DFromV<V>(), from.whole)));
  return hn::Sub(hn::Sub(cells, hn::Set(df, from.coarse)), hn::Set(df, from.fine));
}

// Angle of (p, q), within 1e-6.
template <class V>
HWY_INLINE V angle_of(V p, V q) {
  const hn::DFromV<V> df;
  const auto along = hn::Abs(p);
  const auto aside = hn::Abs(q);
  const auto eighth = arctangent(hn::Div(hn::Min(along, aside), hn::Max(along, aside)));
  const auto quadrant = hn::IfThenElse(hn::Gt(aside, along), hn::Sub(hn::Set(df, 1.57079632679F), eighth), eighth);
  const auto half = hn::IfThenElse(hn::Lt(p, hn::Zero(df)), hn::Sub(hn::Set(df, 3.14159265359F), quadrant), quadrant);
  return hn::CopySign(half, q);
}

// Lists the edges that cover some of `beam_count` beams; returns how many. Those whose corners' numbers differ by more than `far`, which
// may pass behind the sensor, are handed to `behind` instead, by their place in the block.
template <class Behind>
HWY_INLINE std::size_t find_covering(std::size_t beam_count, std::int32_t far, std::size_t count, Corners& corners, Behind behind_sensor) {
  const hn::ScalableTag<std::int32_t> di;
  const std::size_t lanes = hn::Lanes(di);
  const auto beams = hn::Set(di, static_cast<std::int32_t>(beam_count));
  const auto half_turn = hn::Set(di, far);
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
        if (std::abs(corners.number[k + lane + 1] - corners.number[k + lane]) > far) behind_sensor(k + lane);
      }
    }
  }
  return listed;
}

// Brings every entry down to the beams it covers.
inline void push_down(DepthBuffer& buffer, std::size_t beams) {
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

}  // namespace HWY_NAMESPACE
}  // namespace pitwall::tracks
HWY_AFTER_NAMESPACE();

#endif

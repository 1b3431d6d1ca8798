// SPDX-License-Identifier: Apache-2.0
#include "sim/scan_kernels.hpp"

#include <bit>
#include <cstring>

#include "core/math.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/scan_kernels.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#ifndef PITWALL_SIM_SCAN_KERNELS_ONCE
#define PITWALL_SIM_SCAN_KERNELS_ONCE
namespace pitwall::sim {
namespace {

// Where along the chord the beam's own point may lie, and how far off it.
constexpr float kLeastShare = 0.05F;
constexpr float kFlat_m = 0.1F;

}  // namespace
}  // namespace pitwall::sim
#endif  // PITWALL_SIM_SCAN_KERNELS_ONCE

HWY_BEFORE_NAMESPACE();
namespace pitwall::sim {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;
using V = hn::Vec<Floats>;

HWY_INLINE V constant(float value) { return hn::Set(Floats(), value); }

// 64 beams, one bit each.
template <class Test>
HWY_INLINE std::uint64_t bits_of(const Test& test) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  std::uint64_t bits = 0;
  for (std::size_t j = 0; j < 64; j += lanes) {
    std::uint8_t bytes[8] = {};
    hn::StoreMaskBits(d, test(j), bytes);
    const std::uint64_t part = static_cast<std::uint64_t>(bytes[0]) | (static_cast<std::uint64_t>(bytes[1]) << 8);
    bits |= (part & ((std::uint64_t{1} << lanes) - 1)) << j;
  }
  return bits;
}

void to_floats_simd(const double* ranges, float* out, std::size_t count) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const Floats d;
  const hn::RepartitionToWide<Floats> dw;
  const hn::Half<Floats> dh;
  const std::size_t half = hn::Lanes(dh);
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto low = hn::DemoteTo(dh, hn::LoadU(dw, ranges + i));
    const auto high = hn::DemoteTo(dh, hn::LoadU(dw, ranges + i + half));
    hn::StoreU(hn::Combine(d, high, low), d, out + i);
  }
#endif
  for (; i < count; ++i) out[i] = static_cast<float>(ranges[i]);
}

void find_edges_simd(const EdgeRule& rule, const float* r, std::uint64_t* bits, std::size_t words) {
  const Floats d;
  const V least = constant(rule.least_m);
  const V slope = constant(rule.over_slope);
  const V far = constant(rule.range_max_m);
  for (std::size_t w = 0; w < words; ++w, r += 64) {
    bits[w] = bits_of([&](std::size_t j) HWY_ATTR {
      const V here = hn::LoadU(d, r + j);
      const V next = hn::LoadU(d, r + j + 1);
      const V step = hn::Abs(hn::Sub(next, here));
      const V before = hn::Abs(hn::Sub(here, hn::LoadU(d, r + j - 1)));
      const V after = hn::Abs(hn::Sub(hn::LoadU(d, r + j + 2), next));
      const auto parts = hn::And(hn::Gt(step, least), hn::Le(hn::Max(here, next), far));
      // One by one: what is beside may have no return, and then no slope.
      return hn::And(parts, hn::And(hn::Gt(step, hn::Mul(slope, before)), hn::Gt(step, hn::Mul(slope, after))));
    });
  }
}

// Flatter than the rule's incidence.
HWY_INLINE auto flat_at(const GrazingRule& rule, const float* r, std::size_t j) {
  const Floats d;
  const V near = hn::LoadU(d, r + j - rule.span);
  const V far = hn::LoadU(d, r + j + rule.span);
  const V along = hn::Abs(hn::Mul(constant(rule.cos_span), hn::Sub(far, near)));
  const V across = hn::Mul(constant(rule.sin_span), hn::Add(far, near));
  // +inf on one side is an edge; on both it is no number, which is not greater.
  return hn::And(hn::Gt(along, hn::Mul(constant(rule.tan_from), across)), hn::Lt(along, constant(math::kInfinityF)));
}

void find_flat_simd(const GrazingRule& rule, const float* r, std::uint64_t* bits, std::size_t words) {
  for (std::size_t w = 0; w < words; ++w, r += 64) bits[w] = bits_of([&](std::size_t j) HWY_ATTR { return flat_at(rule, r, j); });
}

std::uint64_t lost_at_grazing_simd(const GrazingRule& rule, const float* r, const float* uniforms) {
  const Floats d;
  return bits_of([&](std::size_t j) HWY_ATTR {
    const V near = hn::LoadU(d, r + j - rule.span);
    const V far = hn::LoadU(d, r + j + rule.span);
    const V own = hn::LoadU(d, r + j);
    const V grown = hn::Sub(far, near);
    const V along = hn::Mul(constant(rule.cos_span), grown);
    const V across = hn::Mul(constant(rule.sin_span), hn::Add(far, near));
    // Not the edge of something: the point lies between both, away from either, and near the chord.
    const V share = hn::Mul(hn::Sub(own, near), grown);
    const V square = hn::Mul(grown, grown);
    const auto between =
        hn::And(hn::Gt(share, hn::Mul(constant(kLeastShare), square)), hn::Lt(share, hn::Mul(constant(1.0F - kLeastShare), square)));
    const V off = hn::Sub(hn::Mul(along, hn::Mul(constant(rule.sin_span), near)),
                          hn::Mul(across, hn::Sub(own, hn::Mul(constant(rule.cos_span), near))));
    const V length = hn::Sqrt(hn::Add(hn::Mul(along, along), hn::Mul(across, across)));
    const auto on_chord = hn::Lt(hn::Abs(off), hn::Mul(constant(kFlat_m), length));
    // u < rate (1 - tan_from / tan(incidence)), the tangent being along / across.
    const V tangent = hn::Abs(along);
    const V least = hn::Mul(constant(rule.tan_from), across);
    const auto lost = hn::Lt(hn::Mul(hn::LoadU(d, uniforms + j), tangent), hn::Mul(constant(rule.rate), hn::Sub(tangent, least)));
    return hn::And(hn::And(flat_at(rule, r, j), between), hn::And(on_chord, lost));
  });
}

void read_ranges_simd(const ReadingRule& rule, const float* ranges, const float* normals, float* out, std::size_t count) {
  const Floats d;
  const V noise = constant(rule.noise_std_m);
  const V steps = constant(rule.steps_per_m);
  const V least = constant(rule.range_min_m);
  const V most = constant(rule.range_max_m);
  const V none = constant(math::kInfinityF);
  const V too_near = constant(std::numeric_limits<float>::quiet_NaN());
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const V range = hn::LoadU(d, ranges + i);
    V measured = hn::Add(range, hn::Mul(noise, hn::LoadU(d, normals + i)));
    if (rule.steps_per_m > 0.0F) measured = hn::Div(hn::Floor(hn::Add(hn::Mul(measured, steps), constant(0.5F))), steps);
    measured = hn::Min(hn::Max(measured, least), most);
    const V reading = hn::IfThenElse(hn::Lt(range, least), too_near, measured);
    hn::StoreU(hn::IfThenElse(hn::Le(range, most), reading, none), d, out + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace pitwall::sim
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pitwall::sim {

HWY_EXPORT(to_floats_simd);
HWY_EXPORT(find_edges_simd);
HWY_EXPORT(find_flat_simd);
HWY_EXPORT(lost_at_grazing_simd);
HWY_EXPORT(read_ranges_simd);

void to_floats(std::span<const double> ranges, PaddedFloats& out) {
  HWY_DYNAMIC_DISPATCH(to_floats_simd)(ranges.data(), out.data(), ranges.size());
}

void find_edges(const EdgeRule& rule, const PaddedFloats& ranges, std::span<std::uint64_t> bits) {
  HWY_DYNAMIC_DISPATCH(find_edges_simd)(rule, ranges.data(), bits.data(), bits.size());
}

void find_flat(const GrazingRule& rule, const PaddedFloats& ranges, std::span<std::uint64_t> bits) {
  HWY_DYNAMIC_DISPATCH(find_flat_simd)(rule, ranges.data(), bits.data(), bits.size());
}

std::uint64_t lost_at_grazing(const GrazingRule& rule, const PaddedFloats& ranges, std::size_t first, const float* uniforms) {
  return HWY_DYNAMIC_DISPATCH(lost_at_grazing_simd)(rule, ranges.data() + first, uniforms);
}

void read_ranges(const ReadingRule& rule, const PaddedFloats& ranges, const PaddedFloats& normals, PaddedFloats& out) {
  HWY_DYNAMIC_DISPATCH(read_ranges_simd)(rule, ranges.data(), normals.data(), out.data(), ranges.size());
}

}  // namespace pitwall::sim
#endif  // HWY_ONCE

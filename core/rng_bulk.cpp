// SPDX-License-Identifier: Apache-2.0
// Rng::uniforms and Rng::normals: Philox4x32-10 and Box-Muller in SIMD, compiled once for each instruction set that Highway knows
// of. Multiplications and additions are rounded one by one and lanes never meet, so all of them give the same bits.
//
// Value v of a sample belongs to group v / 64. A group is 16 blocks of four words: word k of block 16 g + j is value
// 64 g + 16 k + j as a uniform. Normals pair words (0, 1) and (2, 3): radius from the first, angle from the second; values 64 g + j
// and 64 g + 16 + j are cosine and sine of the first pair.
#include <cstring>

#include "core/check.hpp"
#include "core/rng.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/rng_bulk.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#ifndef PITWALL_CORE_RNG_BULK_ONCE
#define PITWALL_CORE_RNG_BULK_ONCE
namespace pitwall {
namespace {

constexpr int kRounds = 10;
constexpr std::size_t kBlocks = 16;  // of a group

// All but the number of the block.
struct StreamWords {
  std::uint32_t sample_low;
  std::uint32_t sample_high;
  std::uint32_t stream;
  std::uint32_t key[kRounds][2];  // of each round
};

}  // namespace
}  // namespace pitwall
#endif  // PITWALL_CORE_RNG_BULK_ONCE

HWY_BEFORE_NAMESPACE();
namespace pitwall {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::CappedTag<std::uint32_t, kBlocks>;
using Ints = hn::RebindToSigned<Words>;
using Floats = hn::RebindToFloat<Words>;
using VWords = hn::Vec<Words>;
using VInts = hn::Vec<Ints>;
using VFloats = hn::Vec<Floats>;

struct FourWords {
  VWords word[4];
};

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE FourWords blocks(const StreamWords& s, std::uint32_t first) {
  const auto words = philox4x32({s.sample_low, s.sample_high, first, s.stream}, {s.key[0][0], s.key[0][1]});
  FourWords out;
  for (std::size_t k = 0; k < 4; ++k) out.word[k] = hn::Set(Words(), words[k]);
  return out;
}
#else
// A word of some blocks, each in the lower half of a lane of 64, since a product needs the width; the upper halves are anything.
using Wide = hn::RepartitionToWide<Words>;
using VWide = hn::Vec<Wide>;

HWY_INLINE void philox_round(VWide& w0, VWide& w1, VWide& w2, VWide& w3, VWide k0, VWide k1) {
  const Words d;
  const VWide p0 = hn::MulEven(hn::BitCast(d, w0), hn::Set(d, 0xD2511F53U));
  const VWide p1 = hn::MulEven(hn::BitCast(d, w2), hn::Set(d, 0xCD9E8D57U));
  w0 = hn::Xor(hn::ShiftRight<32>(p1), hn::Xor(w1, k0));
  w2 = hn::Xor(hn::ShiftRight<32>(p0), hn::Xor(w3, k1));
  w1 = p1;
  w3 = p0;
}

HWY_INLINE VWords interleave(VWide even, VWide odd) {
  const Words d;
  return hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even));
}

// Blocks first, first + 1, ..., one a lane; those with even and odd numbers go their ways apart.
HWY_INLINE FourWords blocks(const StreamWords& s, std::uint32_t first) {
  const Words d;
  const Wide dw;
  const VWords number = hn::Iota(d, first);
  VWide a0 = hn::Set(dw, s.sample_low);
  VWide a1 = hn::Set(dw, s.sample_high);
  VWide a2 = hn::BitCast(dw, number);
  VWide a3 = hn::Set(dw, s.stream);
  VWide b0 = a0;
  VWide b1 = a1;
  VWide b2 = hn::ShiftRight<32>(a2);
  VWide b3 = a3;
  for (const auto& key : s.key) {
    const VWide k0 = hn::Set(dw, key[0]);
    const VWide k1 = hn::Set(dw, key[1]);
    philox_round(a0, a1, a2, a3, k0, k1);
    philox_round(b0, b1, b2, b3, k0, k1);
  }
  return {{interleave(a0, b0), interleave(a1, b1), interleave(a2, b2), interleave(a3, b3)}};
}
#endif

HWY_INLINE VFloats constant(float value) { return hn::Set(Floats(), value); }
HWY_INLINE VFloats times_plus(VFloats a, VFloats b, float c) { return hn::Add(hn::Mul(a, b), constant(c)); }

// sqrt(-2 ln(odd number below 2^31 / 2^31)): the word with its lowest bit set in place of its highest.
HWY_INLINE VFloats radius(VWords word) {
  const Ints di;
  const Words d;
  const VFloats x = hn::ConvertTo(Floats(), hn::BitCast(di, hn::Or(hn::ShiftRight<1>(word), hn::Set(d, 1U))));
  // x = m 2^e with m within a factor of sqrt(2) of 1.
  const VInts bits = hn::BitCast(di, x);
  const VInts e = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(di, 0x3F3504F3)));
  const VFloats m = hn::BitCast(Floats(), hn::Sub(bits, hn::ShiftLeft<23>(e)));
  // ln(1 + t) = t - t^2 / 2 + t^3 P(t), P a minimax polynomial for a relative error of the sum of 3.2e-8.
  const VFloats t = hn::Sub(m, constant(1.0F));
  const VFloats tt = hn::Mul(t, t);
  VFloats p = constant(8.700446289e-02F);
  p = times_plus(p, t, -1.426748958e-01F);
  p = times_plus(p, t, 1.491476572e-01F);
  p = times_plus(p, t, -1.657758431e-01F);
  p = times_plus(p, t, 1.996306395e-01F);
  p = times_plus(p, t, -2.500133705e-01F);
  p = times_plus(p, t, 3.333391073e-01F);
  const VFloats log_m = hn::Add(t, hn::Mul(tt, hn::Sub(hn::Mul(t, p), constant(0.5F))));
  const VFloats halvings = hn::ConvertTo(Floats(), hn::Sub(hn::Set(di, 31), e));
  // -2 ln(m 2^(e - 31)); a little below 0 nowhere: m = 1 where e = 31 and it is exact.
  return hn::Sqrt(hn::Sub(hn::Mul(halvings, constant(1.386294361e+00F)), hn::Add(log_m, log_m)));
}

struct Directions {
  VFloats cos;
  VFloats sin;
};

// Cosine and sine of word / 2^32 turns.
HWY_INLINE Directions direction(VWords word) {
  const Words d;
  const Ints di;
  // The nearest quarter turn, and the rest of up to half a quarter to either side.
  const VWords quarter = hn::ShiftRight<30>(hn::Add(word, hn::Set(d, 1U << 29)));
  const VInts rest = hn::BitCast(di, hn::Sub(word, hn::ShiftLeft<30>(quarter)));
  const VFloats x = hn::Mul(hn::ConvertTo(Floats(), rest), constant(1.462918079e-09F));  // 2 pi / 2^32
  const VFloats xx = hn::Mul(x, x);
  // Minimax polynomials on [-pi/4, pi/4]: relative error 4e-9 of the sine, absolute 1e-10 of the cosine, before rounding.
  VFloats s = times_plus(constant(-1.951726789e-04F), xx, 8.332177924e-03F);
  s = times_plus(s, xx, -1.666665494e-01F);
  s = hn::Add(x, hn::Mul(hn::Mul(x, xx), s));
  VFloats c = times_plus(constant(2.443841671e-05F), xx, -1.388736722e-03F);
  c = times_plus(c, xx, 4.166664686e-02F);
  c = hn::Add(hn::Sub(constant(1.0F), hn::Mul(constant(0.5F), xx)), hn::Mul(hn::Mul(xx, xx), c));
  const auto swapped = hn::RebindMask(Floats(), hn::TestBit(quarter, hn::Set(d, 1U)));
  const VWords two = hn::Set(d, 2U);
  const auto sign_of = [&](VWords q) { return hn::BitCast(Floats(), hn::ShiftLeft<30>(hn::And(q, two))); };
  return {hn::Xor(hn::IfThenElse(swapped, s, c), sign_of(hn::Add(quarter, hn::Set(d, 1U)))),
          hn::Xor(hn::IfThenElse(swapped, c, s), sign_of(quarter))};
}

HWY_INLINE void normal_group(const StreamWords& s, std::uint32_t group, float* HWY_RESTRICT out) {
  const Floats d;
  for (std::size_t j = 0; j < kBlocks; j += hn::Lanes(d)) {
    const FourWords w = blocks(s, group * static_cast<std::uint32_t>(kBlocks) + static_cast<std::uint32_t>(j));
    for (std::size_t pair = 0; pair < 2; ++pair) {
      const VFloats r = radius(w.word[2 * pair]);
      const Directions a = direction(w.word[2 * pair + 1]);
      hn::StoreU(hn::Mul(r, a.cos), d, out + 2 * pair * kBlocks + j);
      hn::StoreU(hn::Mul(r, a.sin), d, out + (2 * pair + 1) * kBlocks + j);
    }
  }
}

HWY_INLINE void uniform_group(const StreamWords& s, std::uint32_t group, float* HWY_RESTRICT out) {
  const Floats d;
  for (std::size_t j = 0; j < kBlocks; j += hn::Lanes(d)) {
    const FourWords w = blocks(s, group * static_cast<std::uint32_t>(kBlocks) + static_cast<std::uint32_t>(j));
    for (std::size_t k = 0; k < 4; ++k) {
      const VInts top = hn::BitCast(Ints(), hn::ShiftRight<8>(w.word[k]));
      hn::StoreU(hn::Mul(hn::ConvertTo(d, top), constant(0x1.0p-24F)), d, out + k * kBlocks + j);
    }
  }
}

template <class Group>
HWY_INLINE void fill(const StreamWords& s, std::uint32_t group, float* values, std::size_t count, const Group& one) {
  for (; count >= Rng::kGroup; count -= Rng::kGroup, values += Rng::kGroup) one(s, group++, values);
  if (count == 0) return;
  HWY_ALIGN float last[Rng::kGroup];
  one(s, group, last);
  std::memcpy(values, last, count * sizeof(float));
}

void fill_normals(const StreamWords& s, std::uint32_t group, float* values, std::size_t count) {
  fill(s, group, values, count, [](const StreamWords& w, std::uint32_t g, float* out) HWY_ATTR { normal_group(w, g, out); });
}

void fill_uniforms(const StreamWords& s, std::uint32_t group, float* values, std::size_t count) {
  fill(s, group, values, count, [](const StreamWords& w, std::uint32_t g, float* out) HWY_ATTR { uniform_group(w, g, out); });
}

}  // namespace HWY_NAMESPACE
}  // namespace pitwall
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pitwall {

HWY_EXPORT(fill_normals);
HWY_EXPORT(fill_uniforms);

namespace {

StreamWords words_of(std::uint64_t sample, std::uint32_t stream, std::array<std::uint32_t, 2> key) {
  StreamWords words{static_cast<std::uint32_t>(sample), static_cast<std::uint32_t>(sample >> 32), stream, {}};
  for (auto& round : words.key) {
    round[0] = key[0];
    round[1] = key[1];
    key = {key[0] + 0x9E3779B9U, key[1] + 0xBB67AE85U};
  }
  return words;
}

}  // namespace

void Rng::normals(std::uint64_t sample, std::span<float> values) const {
  HWY_DYNAMIC_DISPATCH(fill_normals)(words_of(sample, stream_, key_), 0, values.data(), values.size());
}

void Rng::uniforms(std::uint64_t sample, std::size_t first, std::span<float> values) const {
  PITWALL_CHECK(first % kGroup == 0, first);
  HWY_DYNAMIC_DISPATCH(fill_uniforms)
  (words_of(sample, stream_, key_), static_cast<std::uint32_t>(first / kGroup), values.data(), values.size());
}

}  // namespace pitwall
#endif  // HWY_ONCE

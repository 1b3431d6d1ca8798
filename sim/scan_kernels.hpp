// SPDX-License-Identifier: Apache-2.0
// The loops over all beams of a scan that its errors need, in SIMD: compiled once for each instruction set that Highway knows of,
// with the same bits on all. Internal to sim; scan_errors.hpp is the interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace pitwall::sim {

/// One float a beam with room before the first and after the last, filled with +inf, so that no loop needs an end case.
class PaddedFloats {
 public:
  static constexpr std::size_t kPad = 64;
  explicit PaddedFloats(std::size_t beams) : values_(beams + 2 * kPad, std::numeric_limits<float>::infinity()), beams_(beams) {}
  [[nodiscard]] float* data() { return values_.data() + kPad; }
  [[nodiscard]] const float* data() const { return values_.data() + kPad; }
  [[nodiscard]] std::span<float> beams() { return {data(), beams_}; }
  [[nodiscard]] std::size_t size() const { return beams_; }
  float& operator[](std::size_t beam) { return data()[beam]; }
  float operator[](std::size_t beam) const { return data()[beam]; }

 private:
  std::vector<float> values_;
  std::size_t beams_;
};

struct ReadingRule {
  float noise_std_m;
  float steps_per_m;  ///< 0: ranges are not rounded
  float range_min_m;
  float range_max_m;
};

/// An edge lies between beams i and i + 1 where their ranges part by more than `least_m` and `over_slope` times as much as those beside.
struct EdgeRule {
  float least_m;
  float over_slope;
  float range_max_m;
};

/// The wall at a beam is the chord between what the beams `span` to both sides see, where the beam's own point lies on it.
struct GrazingRule {
  std::size_t span;
  float sin_span;  ///< of the angle between the beam and those beams
  float cos_span;
  float tan_from;  ///< of the incidence from which beams are lost
  float rate;      ///< share lost at 90 degrees; none at `from`, linear in the cotangent in between
};

/// Ranges in float.
void to_floats(std::span<const double> ranges, PaddedFloats& out);
/// One bit a beam where an edge follows it.
void find_edges(const EdgeRule& rule, const PaddedFloats& ranges, std::span<std::uint64_t> bits);
/// One bit a beam whose wall is seen flatter than tan_from: those that may be lost.
void find_flat(const GrazingRule& rule, const PaddedFloats& ranges, std::span<std::uint64_t> bits);
/// Of 64 beams from `first` on those that are lost, given a uniform draw for each.
std::uint64_t lost_at_grazing(const GrazingRule& rule, const PaddedFloats& ranges, std::size_t first, const float* uniforms);
/// What is read, before drop-outs.
void read_ranges(const ReadingRule& rule, const PaddedFloats& ranges, const PaddedFloats& normals, PaddedFloats& out);

}  // namespace pitwall::sim

// SPDX-License-Identifier: Apache-2.0
// What a scanner reports for what its beams truly meet. Rules of a reading, true range r:
//   an edge, where the ranges of two neighbours part        -> now and then a range between the two (a mixed pixel)
//   no return within range_max                              -> +inf
//   r < range_min                                           -> NaN (too near to measure)
//   otherwise r + N(0, noise_std), in whole steps of `resolution`, clipped to [range_min, range_max]
//   lost at random, or seen edge-on and lost                -> +inf
//   in a blind sector                                       -> NaN
// as the driver turns what the device sends into a message: whole millimetres, no echo is +inf, error codes are NaN.
//
// Each error draws from a stream of its own, addressed by sample and beam. All is done in float, in SIMD (scan_kernels.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/rng.hpp"
#include "sim/lidar_settings.hpp"
#include "sim/scan_kernels.hpp"

namespace pitwall::sim {

/// The errors of one scanner's readings.
class ScanErrors {
 public:
  ScanErrors(const LidarSettings& settings, std::uint64_t seed, std::string_view car_name);
  void reset();

  /// Fills `readings` from as many true ranges in m (+inf: no return); their number is settings.beams.
  void spoil(std::uint64_t sample, std::span<const double> true_ranges, std::span<float> readings);

  /// Something covers the window from the next scan on, besides the settings' own sectors.
  void cover(const BlindSector& sector) { cover_ = sector; }
  /// Beams lost to dropout since reset.
  [[nodiscard]] std::int64_t dropped_beams() const { return dropped_beams_; }

 private:
  // A reading between the ranges on both sides of an edge.
  struct MixedPixel {
    std::size_t beam;
    float range_m;
  };
  void find_grazing(std::uint64_t sample);
  void mix_pixels(std::uint64_t sample);
  void drop(std::size_t beam, std::span<float> readings);
  void drop_at_random(std::uint64_t sample, std::span<float> readings);
  void blind(const BlindSector& sector, std::span<float> readings) const;

  LidarSettings settings_;
  double increment_rad_;
  ReadingRule reading_;
  EdgeRule edge_;
  GrazingRule grazing_;
  Rng noise_;
  Rng dropout_;
  Rng grazing_stream_;
  Rng mixed_stream_;
  BlindSector cover_;
  PaddedFloats ranges_;
  PaddedFloats normals_;
  PaddedFloats out_;
  std::vector<std::uint64_t> edges_;  // one bit a beam
  std::vector<std::uint64_t> lost_;   // one bit a beam: seen edge-on
  std::vector<MixedPixel> mixed_;
  std::int64_t dropped_beams_ = 0;
};

}  // namespace pitwall::sim

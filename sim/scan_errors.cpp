// SPDX-License-Identifier: Apache-2.0
#include "sim/scan_errors.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "core/check.hpp"
#include "core/math.hpp"

namespace pitwall::sim {
namespace {

// Neighbours whose ranges part by more, and by more than the ranges beside them do, see an edge.
constexpr float kEdge_m = 0.2F;
constexpr float kEdgeOverSlope = 3.0F;
// The slope of a wall is taken over this many beams to either side, which cells of 5 cm do not hide.
constexpr std::size_t kSlopeBeams = 8;

std::string error_stream(std::string_view car_name, std::string_view sensor) { return std::string(car_name) + "/" + std::string(sensor); }

double increment(const LidarSettings& s) { return s.fov_rad / static_cast<double>(s.beams - 1); }

GrazingRule grazing_rule(const LidarSettings& s) {
  const auto [sine, cosine] = math::sincos(static_cast<double>(kSlopeBeams) * increment(s));
  return {kSlopeBeams, static_cast<float>(sine), static_cast<float>(cosine), static_cast<float>(math::tan(s.grazing_from_rad)),
          static_cast<float>(s.grazing_dropout)};
}

std::size_t words(std::size_t beams) { return (beams + 63) / 64; }

template <class Body>
void for_each_bit(std::span<const std::uint64_t> bits, const Body& body) {
  for (std::size_t w = 0; w < bits.size(); ++w) {
    for (std::uint64_t rest = bits[w]; rest != 0; rest &= rest - 1) body(64 * w + static_cast<std::size_t>(std::countr_zero(rest)));
  }
}

}  // namespace

ScanErrors::ScanErrors(const LidarSettings& settings, std::uint64_t seed, std::string_view car_name)
    : settings_(settings),
      increment_rad_(increment(settings)),
      reading_{static_cast<float>(settings.noise_std_m),
               settings.resolution_m > 0.0 ? static_cast<float>(1.0 / settings.resolution_m) : 0.0F,
               static_cast<float>(settings.range_min_m), static_cast<float>(settings.range_max_m)},
      edge_{kEdge_m, kEdgeOverSlope, static_cast<float>(settings.range_max_m)},
      grazing_(grazing_rule(settings)),
      noise_(seed, error_stream(car_name, "lidar")),
      dropout_(seed, error_stream(car_name, "lidar_dropout")),
      grazing_stream_(seed, error_stream(car_name, "lidar_grazing")),
      mixed_stream_(seed, error_stream(car_name, "lidar_mixed")),
      ranges_(static_cast<std::size_t>(settings.beams)),
      normals_(ranges_.size()),
      out_(ranges_.size()),
      edges_(words(ranges_.size())),
      lost_(edges_.size()) {
  std::fill(normals_.beams().begin(), normals_.beams().end(), 0.0F);
  mixed_.reserve(ranges_.size());
}

void ScanErrors::reset() {
  dropped_beams_ = 0;
  cover_ = {};
}

void ScanErrors::spoil(std::uint64_t sample, std::span<const double> true_ranges, std::span<float> readings) {
  PITWALL_CHECK(true_ranges.size() == ranges_.size() && readings.size() == ranges_.size(), true_ranges.size(), readings.size());
  to_floats(true_ranges, ranges_);
  if (settings_.grazing_dropout > 0.0) find_grazing(sample);
  if (settings_.mixed_pixel_rate > 0.0) mix_pixels(sample);
  if (settings_.noise_std_m > 0.0) noise_.normals(sample, normals_.beams());
  read_ranges(reading_, ranges_, normals_, out_);
  std::copy_n(out_.data(), readings.size(), readings.begin());
  if (settings_.grazing_dropout > 0.0) for_each_bit(lost_, [&](std::size_t beam) { drop(beam, readings); });
  if (settings_.dropout_rate > 0.0) drop_at_random(sample, readings);
  for (const BlindSector& sector : settings_.blind) blind(sector, readings);
  blind(cover_, readings);
}

// Most groups of beams see nothing edge-on: only the others cost draws.
void ScanErrors::find_grazing(std::uint64_t sample) {
  find_flat(grazing_, ranges_, lost_);
  std::array<float, Rng::kGroup> draws;
  for (std::size_t w = 0; w < lost_.size(); ++w) {
    if (lost_[w] == 0) continue;
    grazing_stream_.uniforms(sample, w * Rng::kGroup, draws);
    lost_[w] = lost_at_grazing(grazing_, ranges_, w * Rng::kGroup, draws.data());
  }
}

// The spot of a beam has a size: at an edge it may fall on both sides, and the echoes blend.
void ScanErrors::mix_pixels(std::uint64_t sample) {
  find_edges(edge_, ranges_, edges_);
  mixed_.clear();
  for_each_bit(edges_, [&](std::size_t i) {
    const double u = mixed_stream_.uniform(sample, static_cast<std::uint32_t>(i));
    if (u >= settings_.mixed_pixel_rate) return;
    const float near = std::min(ranges_[i], ranges_[i + 1]);
    const float far = std::max(ranges_[i], ranges_[i + 1]);
    mixed_.push_back({ranges_[i + 1] > ranges_[i] ? i + 1 : i, near + (far - near) * static_cast<float>(u / settings_.mixed_pixel_rate)});
  });
  for (const MixedPixel& pixel : mixed_) ranges_[pixel.beam] = pixel.range_m;
}

void ScanErrors::drop(std::size_t beam, std::span<float> readings) {
  readings[beam] = std::numeric_limits<float>::infinity();
  ++dropped_beams_;
}

void ScanErrors::drop_at_random(std::uint64_t sample, std::span<float> readings) {
  // From one lost beam to the next the distance is geometric: as many draws as losses rather than one per beam.
  const double log_kept = math::log(1.0 - settings_.dropout_rate);
  double beam = -1.0;
  for (std::uint32_t draw = 0;; ++draw) {
    beam += 1.0 + std::floor(math::log(1.0 - dropout_.uniform(sample, draw)) / log_kept);
    if (!(beam < static_cast<double>(readings.size()))) break;
    drop(static_cast<std::size_t>(beam), readings);
  }
}

void ScanErrors::blind(const BlindSector& sector, std::span<float> readings) const {
  if (sector.width_rad <= 0.0) return;
  const auto last = static_cast<double>(readings.size() - 1);
  // The sector may lie across the cut behind the sensor.
  for (const double turn : {-2.0 * math::kPi, 0.0, 2.0 * math::kPi}) {
    const double right = sector.centre_rad + turn - 0.5 * sector.width_rad + 0.5 * settings_.fov_rad;
    const double from = std::max(0.0, std::ceil(right / increment_rad_));
    const double to = std::min(last, std::floor((right + sector.width_rad) / increment_rad_));
    for (double beam = from; beam <= to; beam += 1.0) readings[static_cast<std::size_t>(beam)] = std::numeric_limits<float>::quiet_NaN();
  }
}

}  // namespace pitwall::sim

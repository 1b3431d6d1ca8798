// SPDX-License-Identifier: Apache-2.0
#include "tracks/beam_fan.hpp"

#include <cmath>

#include "core/check.hpp"

namespace pitwall::tracks {

BeamFan::BeamFan(double first_rad, double last_rad, int count)
    : angle_min_rad(first_rad), angle_increment_rad(count > 1 ? (last_rad - first_rad) / (count - 1) : 0.0) {
  PITWALL_CHECK(count >= 1 && std::isfinite(first_rad) && std::isfinite(last_rad) && last_rad >= first_rad, count, first_rad, last_rad);
  directions.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    const bool last = i > 0 && i == count - 1;
    const math::SinCos beam = math::sincos(last ? last_rad : first_rad + i * angle_increment_rad);
    directions.push_back({beam.cos, beam.sin});
  }
}

}  // namespace pitwall::tracks

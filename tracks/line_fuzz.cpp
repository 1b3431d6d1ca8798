// SPDX-License-Identifier: Apache-2.0
// Any bytes as a line file: what is accepted is a line in full.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/check.hpp"
#include "tracks/track.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  for (const bool closed : {true, false}) {
    const auto line = pitwall::tracks::parse_line(text, "fuzz", closed);
    if (!line) {
      PITWALL_CHECK(line.error().message.starts_with("fuzz:"), line.error().message);
      continue;
    }
    PITWALL_CHECK(line->path.size() >= (closed ? 3U : 2U) && std::isfinite(line->path.length_m()));
    for (const std::vector<double>* column : {&line->width_right_m, &line->width_left_m, &line->heading_rad, &line->speed_mps}) {
      PITWALL_CHECK(column->empty() || column->size() == line->path.size());
      for (const double value : *column) PITWALL_CHECK(std::isfinite(value), value);
    }
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Any bytes as the yaml of a map: what is accepted is in range.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/check.hpp"
#include "tracks/map_yaml.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto root = pitwall::parse_yaml(std::string(data, data + size), "fuzz");
  if (!root) return 0;
  const auto yaml = pitwall::tracks::read_map_yaml(*root, "fuzz");
  if (!yaml) {
    PITWALL_CHECK(yaml.error().message.starts_with("fuzz:"), yaml.error().message);
    return 0;
  }
  PITWALL_CHECK(!yaml->image.empty() && yaml->resolution_m >= 1e-4 && yaml->resolution_m <= 100.0, yaml->resolution_m);
  PITWALL_CHECK(std::isfinite(yaml->origin.x) && std::isfinite(yaml->origin.y) && std::isfinite(yaml->origin.yaw));
  PITWALL_CHECK(yaml->free_thresh >= 0.0 && yaml->free_thresh <= yaml->occupied_thresh && yaml->occupied_thresh <= 1.0);
  return 0;
}

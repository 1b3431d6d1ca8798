// SPDX-License-Identifier: Apache-2.0
// The yaml of a map, as map_server defines its keys, apart from the picture it names.
#pragma once

#include <filesystem>
#include <string>

#include "core/geometry.hpp"
#include "core/node.hpp"
#include "core/result.hpp"

namespace pitwall::tracks {

/// How a pixel becomes a cell.
enum class MapMode { kTrinary, kScale, kRaw };

/// The keys of a map yaml, checked.
struct MapYaml {
  std::filesystem::path image;  ///< absolute, or relative to the yaml's folder
  std::string image_where;      ///< "file:line: image = x", for complaints about the picture
  double resolution_m = 0.0;    ///< 0.0001 .. 100
  Pose2 origin;                 ///< T_map_grid of the lower left corner of the picture, finite
  bool negate = false;
  MapMode mode = MapMode::kTrinary;
  double occupied_thresh = 0.0;  ///< 0 .. 1
  double free_thresh = 0.0;      ///< 0 .. occupied_thresh
};

/// Reads the keys; others are tolerated. An error names file, line, key, value and what is allowed; `file` stands for
/// the file where no line can be given.
Result<MapYaml> read_map_yaml(const Node& root, const std::string& file);

}  // namespace pitwall::tracks

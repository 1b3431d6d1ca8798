// SPDX-License-Identifier: Apache-2.0
// Occupancy maps as ROS map_server (nav2_map_server) defines them: an image, and a yaml that says how to read it. The
// yaml decides: negate, mode (trinary, scale, raw), both thresholds, resolution and an origin with yaw. README.md has
// the rules, and the one place (pixels that are not opaque) where ours differ.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/geometry.hpp"
#include "core/result.hpp"

namespace pitwall::tracks {

/// A grid of square cells. Cell (column i, row j) is the closed square [i, i+1] x [j, j+1] of the grid frame, counted
/// in cells; row 0 is the bottom of the image. The grid frame sits in the map frame at `origin` (its corner and yaw),
/// scaled by `resolution_m`.
class OccupancyMap {
 public:
  static constexpr std::int8_t kUnknown = -1;

  /// `values` row by row from the bottom: 0 free .. 100 occupied, -1 unknown. Refused: empty, more than 2^28 cells, a
  /// size that does not match, a resolution or origin that is not finite, or a resolution outside [1e-4, 100] m.
  static Result<OccupancyMap> make(int width, int height, double resolution_m, const Pose2& origin, std::vector<std::int8_t> values);

  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] int height() const { return height_; }
  [[nodiscard]] double resolution_m() const { return resolution_m_; }
  /// T_map_grid of the lower left corner of cell (0, 0).
  [[nodiscard]] const Pose2& origin() const { return origin_; }

  [[nodiscard]] bool inside(int i, int j) const { return i >= 0 && j >= 0 && i < width_ && j < height_; }
  /// 0..100, or kUnknown; the cell must be inside.
  [[nodiscard]] std::int8_t value(int i, int j) const { return values_[index(i, j)]; }
  /// Whether rays end here and a chassis may not be here: unknown, or at least half occupied (>= 50). One rule for
  /// rays and for contact. Outside the map nothing is blocked: leaving the map is a verdict of its own.
  [[nodiscard]] bool blocked(int i, int j) const { return inside(i, j) && blocked_[index(i, j)] != 0; }
  /// The cells of blocked(), row by row from the bottom, 0 or 1; width() * height() bytes.
  [[nodiscard]] const std::vector<std::uint8_t>& blocked_cells() const { return blocked_; }

  /// From the map frame (m) to the grid frame (cells).
  [[nodiscard]] Vec2 to_grid(Vec2 p_map) const;
  /// From the grid frame (cells) to the map frame (m).
  [[nodiscard]] Vec2 to_map(Vec2 p_grid) const;
  /// Heading in the grid frame of a heading in the map frame.
  [[nodiscard]] double to_grid_yaw(double yaw_map) const { return yaw_map - origin_.yaw; }

  /// Hash of size, resolution, origin and values: what a run depends on, whatever file it came from.
  [[nodiscard]] std::uint64_t content_hash() const;

 private:
  OccupancyMap() = default;
  [[nodiscard]] std::size_t index(int i, int j) const {
    return static_cast<std::size_t>(j) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(i);
  }

  int width_ = 0;
  int height_ = 0;
  double resolution_m_ = 1.0;
  Pose2 origin_;
  double cos_yaw_ = 1.0;
  double sin_yaw_ = 0.0;
  std::vector<std::int8_t> values_;
  std::vector<std::uint8_t> blocked_;
};

/// A map and what its loader wants to be said about it.
struct LoadedMap {
  OccupancyMap map;
  std::vector<std::string> warnings;
};

/// What grey 205, which map tools write for unknown cells, means where the thresholds of a trinary map make it free.
enum class UnknownGrey : std::uint8_t { kAsTheYamlSays, kUnknown };

/// Loads a map yaml and the image it names (relative to the yaml). Unknown keys of other tools are tolerated.
Result<LoadedMap> load_map(const std::filesystem::path& yaml_file, UnknownGrey grey = UnknownGrey::kAsTheYamlSays);

/// Writes `yaml_file` and, beside it, the picture `<stem>.pgm`, such that load_map gives the same map back to the bit:
/// trinary (0, 205, 254) where the map holds only free, occupied and unknown, raw otherwise.
Status save_map(const OccupancyMap& map, const std::filesystem::path& yaml_file);

}  // namespace pitwall::tracks

// SPDX-License-Identifier: Apache-2.0
// A track: a map, a centre line with widths, and, where it ships one, a racing line. Read from the formats of the
// f1tenth_racetracks collection and its relatives (tracks/README.md lists them).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "tracks/distance_field.hpp"
#include "tracks/map.hpp"
#include "tracks/path.hpp"
#include "tracks/raycast.hpp"

namespace pitwall::tracks {

/// A line of a track. Per-point columns that the file does not have stay empty; those it has are as long as the path.
struct Line {
  Path path;
  std::vector<double> width_right_m;
  std::vector<double> width_left_m;
  std::vector<double> heading_rad;      ///< standard (0 along +x, counter-clockwise), whatever the file used
  std::vector<double> curvature_per_m;  ///< what the planner computed, positive to the left: free of the noise of rounded points
  std::vector<double> speed_mps;        ///< the speeds that came with the line
  std::filesystem::path file;
};

/// Reads a line file: `x, y, w_right, w_left` (header optional); the racing line `s; x; y; psi; kappa; vx; ax` with `;`
/// or `,` (seven columns); or any file whose header names its columns (forzaeth). Psi that is 0 along +y is recognised
/// against the points and turned. Errors name file and line number.
/// A closed line that ends on its first point again (within a hundredth of the spacing, at most 1 cm) loses that point. A speed column
/// of zeros counts as none.
Result<Line> load_line(const std::filesystem::path& file, bool closed = true);
/// load_line on text in memory; `name` stands for the file.
Result<Line> parse_line(std::string_view text, const std::string& name, bool closed = true);

/// A track as it is driven on; what the pointers hold may be shared.
struct Track {
  std::string name;
  std::shared_ptr<const OccupancyMap> map;
  std::shared_ptr<const RayCaster> rays;
  std::shared_ptr<const DistanceField> distance;
  std::optional<Line> centre;  ///< with widths; null for a bare map
  std::optional<Line> race;
  std::optional<Line> optimized;  ///< computed ahead by optimize_raceline and shipped as data
  std::vector<std::string> warnings;
  std::filesystem::path map_file;
  /// Hash of the contents of map, centre line and racing line.
  [[nodiscard]] std::uint64_t content_hash() const;
  /// The same with the optimised line, for runs that follow it.
  [[nodiscard]] std::uint64_t content_hash_optimized() const;
};

/// Where a line passes nearest to a wall.
struct LineClearance {
  double clearance_m = 0.0;  ///< distance from the line to the nearest blocked cell square
  double s_m = 0.0;
  Vec2 where;
};
LineClearance smallest_clearance(const OccupancyMap& map, const DistanceField& distance, const Path& path);

/// "racing line of X: 0.13 m from the wall at s = 12.3 m (x, y): nearer than half the car (0.155 m)"; nothing where it is wide enough.
std::optional<std::string> clearance_warning(const Track& track, const Line& line, const std::string& line_name, double half_width_m);

/// Where tracks are found by name.
struct TrackLibrary {
  std::filesystem::path shipped;  ///< a folder for each track, and index.yaml with their groups
  std::filesystem::path own{};    ///< a folder for each track that the user imported; empty: none
};

/// Name of the track of a car that knows no map, in a scenario that must name one: an open floor with a ring on it, in no file.
inline constexpr std::string_view kNoTrack = "none";
Track no_track();

/// Loads what a --tracks argument names: kNoTrack, a track that ships or one of the user's own by its name, a map yaml, a folder NAME with
/// NAME_map.yaml or NAME.yaml, or a stem (`evans/aut` = aut.yaml + aut_centerline.csv + aut_raceline.csv).
Result<Track> load_track(const std::string& argument, const TrackLibrary& library);

/// The names a --tracks argument stands for: the members of a group (`circuits`, `indoor`), or itself.
std::vector<std::string> expand_group(const std::string& argument, const TrackLibrary& library);
/// Names of the tracks that ship, and of the groups.
std::vector<std::string> shipped_names(const TrackLibrary& library);
/// Names of the user's own tracks.
std::vector<std::string> own_names(const TrackLibrary& library);

}  // namespace pitwall::tracks

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "core/node.hpp"
#include "core/text.hpp"
#include "tracks/track.hpp"

namespace pitwall::tracks {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

/// The last name of a folder's path, whether it is given as NAME, NAME/ or a dot.
std::string folder_name(const fs::path& folder) {
  std::error_code ignored;
  const fs::path whole = fs::absolute(folder, ignored).lexically_normal();
  return (whole.filename().empty() ? whole.parent_path() : whole).filename().string();
}

/// The files of a track, by name; those it does not have are empty.
struct TrackFiles {
  std::string name;
  fs::path map;
  fs::path centre;
  fs::path race;
  fs::path optimized;
};

fs::path first_file(const std::vector<fs::path>& candidates) {
  for (const fs::path& candidate : candidates) {
    if (is_file(candidate)) return candidate;
  }
  return {};
}

/// The lines that lie beside a map. A folder that is named after its track may also hold them under the names of
/// ForzaETH's planner.
TrackFiles with_lines(const fs::path& folder, const std::string& name, fs::path map) {
  std::vector<fs::path> centre{folder / (name + "_centerline.csv")};
  std::vector<fs::path> race{folder / (name + "_raceline.csv"), folder / (name + "_raceline_mu90.csv")};
  if (folder_name(folder) == name) {
    centre.push_back(folder / "centerline_waypoints.csv");
    race.push_back(folder / "global_traj_wpnts_iqp.csv");
  }
  return {name, std::move(map), first_file(centre), first_file(race), first_file({folder / (name + "_raceline_optimized.csv")})};
}

std::string without_suffix(std::string text, std::string_view suffix) {
  if (text.size() > suffix.size() && text.ends_with(suffix)) text.resize(text.size() - suffix.size());
  return text;
}

TrackFiles files_of_yaml(const fs::path& yaml) {
  const std::string stem = yaml.stem().string();
  const std::string name = without_suffix(without_suffix(stem, "_map"), ".map");
  return with_lines(yaml.parent_path(), name, yaml);
}

struct Group {
  std::string name;
  std::vector<std::string> members;
};

/// The groups of index.yaml in the folder of the built-in tracks; none where there is no such file.
Result<std::vector<Group>> read_groups(const fs::path& builtin) {
  std::vector<Group> groups;
  const fs::path file = builtin / "index.yaml";
  if (!is_file(file)) return groups;
  const Result<Node> root = load_yaml(file);
  if (!root) return root.error();
  const Node* listed = root->find("groups");
  if (listed == nullptr || !listed->is_map()) return Error{file.string() + ": key 'groups' is missing or no map"};
  for (const auto& [name, members] : listed->entries) {
    if (!members.is_list()) return Error{members.where() + ": group '" + name + "' must be a list of track names"};
    Group group{name, {}};
    for (const Node& member : members.items) group.members.push_back(member.scalar);
    groups.push_back(std::move(group));
  }
  return groups;
}

std::vector<Group> groups_or_none(const fs::path& builtin) {
  Result<std::vector<Group>> groups = read_groups(builtin);
  return groups ? *std::move(groups) : std::vector<Group>{};
}

/// Tracks that the folder holds: subfolders with a map and stems, sorted.
std::vector<std::string> tracks_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed); !failed && at != fs::directory_iterator(); at.increment(failed)) {
    const fs::path& path = at->path();
    const std::string name = path.filename().string();
    if (is_folder(path) && (is_file(path / (name + "_map.yaml")) || is_file(path / (name + ".yaml")))) names.push_back(name);
    if (is_file(path) && path.extension() == ".yaml" && is_file(folder / (path.stem().string() + "_centerline.csv"))) {
      names.push_back(path.stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<TrackFiles> files_of_folder(const fs::path& folder) {
  const std::string name = folder_name(folder);
  const fs::path map = first_file({folder / (name + "_map.yaml"), folder / (name + ".yaml")});
  if (!map.empty()) return with_lines(folder, name, map);
  const std::vector<std::string> inside = tracks_in(folder);
  return Error{"track '" + folder.string() + "': the folder has neither " + name + "_map.yaml nor " + name + ".yaml" +
               (inside.empty() ? "" : "; tracks in it: " + join(inside))};
}

Error unknown_track(const std::string& argument, const TrackLibrary& library) {
  const fs::path folder = fs::path(argument).parent_path();
  constexpr std::string_view kForms =
      " (or a map yaml, a folder NAME with NAME_map.yaml or NAME.yaml, or a stem NAME of NAME.yaml and NAME_centerline.csv)";
  if (!folder.empty()) {
    std::vector<std::string> beside;
    for (const std::string& name : tracks_in(folder)) beside.push_back((folder / name).string());
    if (!beside.empty()) return Error{unknown_name("track", argument, beside) + std::string(kForms)};
    if (!is_folder(folder)) return Error{"track '" + argument + "': there is no folder " + folder.string()};
  }
  std::vector<std::string> known = shipped_names(library);
  for (std::string& name : own_names(library)) known.push_back(std::move(name));
  return Error{unknown_name("track", argument, known) + std::string(kForms)};
}

Result<TrackFiles> find_files(const std::string& argument, const TrackLibrary& library) {
  if (argument.empty()) return Error{"track '': an empty name"};
  const fs::path path(argument);
  const Result<std::vector<Group>> groups = read_groups(library.shipped);
  if (!groups) return groups.error();
  if (argument.find('/') == std::string::npos && argument != "." && argument != "..") {
    for (const Group& group : *groups) {
      if (group.name == argument) return Error{"track '" + argument + "' is a group; one of it is needed: " + join(group.members)};
    }
    if (is_folder(library.shipped / argument)) return files_of_folder(library.shipped / argument);
    if (!library.own.empty() && is_folder(library.own / argument)) return files_of_folder(library.own / argument);
  }
  if (is_file(path)) {
    if (path.extension() == ".yaml" || path.extension() == ".yml") return files_of_yaml(path);
    return Error{"track '" + argument + "': must be a map yaml, not another file"};
  }
  if (is_folder(path)) return files_of_folder(path);
  for (const char* suffix : {".yaml", "_map.yaml"}) {
    const fs::path yaml(argument + suffix);
    if (is_file(yaml)) return with_lines(path.parent_path(), path.filename().string(), yaml);
  }
  return unknown_track(argument, library);
}

/// The first place where a line is in a wall or beyond the map.
std::optional<std::string> wall_warning(const Track& track, const Line& line, const std::string& line_name) {
  const double step = 0.5 * track.map->resolution_m();
  const auto samples = static_cast<std::int64_t>(std::ceil(line.path.length_m() / step));
  for (std::int64_t k = 0; k < samples; ++k) {
    const double s = step * static_cast<double>(k);
    const Vec2 p = line.path.point_at(s);
    const Vec2 cell = track.map->to_grid(p);
    const double i = std::floor(cell.x);
    const double j = std::floor(cell.y);
    const bool inside = i >= 0.0 && j >= 0.0 && i < track.map->width() && j < track.map->height();
    if (inside && !track.map->blocked(static_cast<int>(i), static_cast<int>(j))) continue;
    return line_name + " of " + track.name + (inside ? " runs through a wall" : " leaves the map") + " at s = " + format_number(s, 5) +
           " m (" + format_number(p.x, 5) + ", " + format_number(p.y, 5) + ")";
  }
  return std::nullopt;
}

/// A line that is driven the other way round than the centre line.
std::optional<std::string> direction_warning(const Track& track, const std::optional<Line>& line, const std::string& line_name) {
  if (!track.centre || !line) return std::nullopt;
  constexpr int kSamples = 24;
  double along = 0.0;
  for (int k = 0; k < kSamples; ++k) {
    const double s = line->path.length_m() * k / kSamples;
    const Projection on_centre = track.centre->path.project(line->path.point_at(s));
    along += dot(unit_vector(line->path.heading_at(s)), unit_vector(on_centre.heading_rad));
  }
  if (along >= 0.0) return std::nullopt;
  return line_name + " of " + track.name + " runs against its centre line";
}

Result<Track> load_files(const TrackFiles& files) {
  Result<LoadedMap> loaded = load_map(files.map);
  if (!loaded) return loaded.error();
  Track track;
  track.name = files.name;
  track.map_file = files.map;
  track.warnings = std::move(loaded->warnings);
  track.map = std::make_shared<const OccupancyMap>(std::move(loaded->map));
  track.rays = std::make_shared<const RayCaster>(track.map);
  track.distance = std::make_shared<const DistanceField>(*track.map);
  struct Wanted {
    const fs::path& file;
    std::optional<Line>& line;
    const char* name;
  };
  for (const Wanted& wanted : {Wanted{files.centre, track.centre, "centre line"}, Wanted{files.race, track.race, "racing line"},
                               Wanted{files.optimized, track.optimized, "optimized line"}}) {
    if (wanted.file.empty()) continue;
    Result<Line> line = load_line(wanted.file);
    if (!line) return line.error();
    wanted.line = *std::move(line);
    if (auto warning = wall_warning(track, *wanted.line, wanted.name)) track.warnings.push_back(*std::move(warning));
  }
  if (auto warning = direction_warning(track, track.race, "racing line")) track.warnings.push_back(*std::move(warning));
  if (auto warning = direction_warning(track, track.optimized, "optimized line")) track.warnings.push_back(*std::move(warning));
  return track;
}

}  // namespace

Result<Track> load_track(const std::string& argument, const TrackLibrary& library) {
  if (argument == kNoTrack) return no_track();
  const Result<TrackFiles> files = find_files(argument, library);
  if (!files) return files.error();
  return load_files(*files);
}

std::vector<std::string> expand_group(const std::string& argument, const TrackLibrary& library) {
  for (Group& group : groups_or_none(library.shipped)) {
    if (group.name == argument) return std::move(group.members);
  }
  return {argument};
}

std::vector<std::string> shipped_names(const TrackLibrary& library) {
  std::vector<std::string> names;
  std::vector<std::string> group_names;
  for (Group& group : groups_or_none(library.shipped)) {
    group_names.push_back(group.name);
    names.insert(names.end(), group.members.begin(), group.members.end());
  }
  names.insert(names.end(), group_names.begin(), group_names.end());
  return names;
}

std::vector<std::string> own_names(const TrackLibrary& library) {
  return library.own.empty() ? std::vector<std::string>{} : tracks_in(library.own);
}

}  // namespace pitwall::tracks

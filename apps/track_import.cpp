// SPDX-License-Identifier: Apache-2.0
// Makes a track of a map: a course that was mapped, or one that others published.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/car_choice.hpp"
#include "apps/program.hpp"
#include "apps/track_library.hpp"
#include "core/files.hpp"
#include "core/log.hpp"
#include "core/sha256.hpp"
#include "core/text.hpp"
#include "tracks/build/import.hpp"
#include "tracks/build/plot.hpp"
#include "tracks/map_yaml.hpp"

namespace {

namespace fs = std::filesystem;
using namespace pitwall;
using tracks::build::ImportedTrack;
using tracks::build::ImportSettings;

struct Options {
  std::string map;
  std::string name;
  std::string source;
  std::string plot;
  std::string out;
  std::vector<std::string> around;
  std::optional<std::string> car;
  std::optional<double> min_width_m;
  bool reverse = false;
  bool replace = false;
  bool json = false;
};

Result<Vec2> point(const std::string& text) {
  const std::vector<std::string_view> pieces = split(text, ',');
  const auto x = parse_double(pieces[0]);
  const auto y = pieces.size() == 2 ? parse_double(pieces[1]) : std::nullopt;
  if (!x || !y || !std::isfinite(*x) || !std::isfinite(*y)) return Error{"--around " + text + ": must be x,y in m, such as 3.5,-1.2"};
  return Vec2{*x, *y};
}

Result<ImportSettings> settings_of(const Options& options) {
  ImportSettings settings;
  for (const std::string& text : options.around) {
    const Result<Vec2> p = point(text);
    if (!p) return p.error();
    settings.around.push_back(*p);
  }
  const auto car = apps::load_chosen_car(options.car);
  if (!car) return car.error();
  const CarParameters& parameters = car->parameters;
  constexpr double kCars = 2.0;
  settings.needs.min_width_m = options.min_width_m.value_or(kCars * parameters.body_width_m);
  // What the car cannot drive around at full lock is no middle of a lap.
  const double lock = std::min(parameters.steering_max_left_rad, -parameters.steering_max_right_rad);
  settings.needs.island_m = 2.0 * parameters.wheelbase_m / math::tan(lock);
  settings.reverse = options.reverse;
  return settings;
}

/// A name is a folder's name, and not one that is taken.
Status check_name(const Options& options, const fs::path& home) {
  if (options.name.empty() || options.name.front() == '.' || options.name.find_first_of("/\\ ") != std::string::npos)
    return Error{"--name '" + options.name + "': must be the name of a folder, without blanks and slashes"};
  for (const std::string& shipped : tracks::shipped_names(apps::track_library())) {
    if (shipped == options.name) return Error{"--name " + options.name + ": that is a track that ships; choose another"};
  }
  std::error_code ignored;
  if (fs::exists(home, ignored) && !options.replace) return Error{home.string() + " exists; --replace writes over it"};
  return {};
}

/// Where the track comes from, for whoever finds it later.
Result<std::string> origin_text(const Options& options, const ImportedTrack& track) {
  const Result<std::string> yaml = read_file(options.map);
  if (!yaml) return yaml.error();
  const Result<Node> root = load_yaml(options.map);
  if (!root) return root.error();
  const auto read = tracks::read_map_yaml(*root, options.map);
  if (!read) return read.error();
  const Result<std::string> image = read_file(fs::path(options.map).parent_path() / read->image);
  if (!image) return image.error();
  const nlohmann::json quoted = options.source;
  return "source: " + quoted.dump() + "\nmap: " + nlohmann::json(fs::absolute(options.map).lexically_normal().string()).dump() +
         "\nyaml_sha256: " + sha256_hex(*yaml) + "\nimage_sha256: " + sha256_hex(*image) +
         "\nlap_length_m: " + format_number(track.length_m, 6) + "\nmin_width_m: " + format_number(track.min_width_m, 4) + "\n";
}

/// Everything into a folder beside, which then takes its place.
Status write(const Options& options, const ImportedTrack& track, const tracks::OccupancyMap& seen, const fs::path& home) {
  const Result<std::string> origin = origin_text(options, track);
  if (!origin) return origin.error();
  const fs::path part = home.string() + ".part";
  std::error_code failed;
  fs::remove_all(part, failed);
  Status written = tracks::build::write_track(options.name, track.map, track.centre, part);
  if (written) written = write_file(part / "origin.yaml", *origin);
  if (written && !options.plot.empty()) written = tracks::build::write_plot(track.map, track.centre, options.plot, &seen);
  if (written) {
    if (options.replace) fs::remove_all(home, failed);
    fs::rename(part, home, failed);
    if (failed) written = Error{home.string() + ": " + failed.message()};
  }
  if (!written) fs::remove_all(part, failed);
  return written;
}

void print(const Options& options, const ImportedTrack& track, const fs::path& home) {
  if (options.json) {
    nlohmann::json islands = nlohmann::json::array();
    for (const tracks::build::Island& island : track.islands)
      islands.push_back({{"x_m", island.where.x}, {"y_m", island.where.y}, {"size_m", island.size_m}});
    const nlohmann::json report{{"name", options.name},
                                {"folder", home.string()},
                                {"length_m", track.length_m},
                                {"min_width_m", track.min_width_m},
                                {"narrowest", {track.narrowest.x, track.narrowest.y}},
                                {"start", {track.centre.points[0].x, track.centre.points[0].y}},
                                {"largest_offset_m", track.largest_offset_m},
                                {"islands", islands},
                                {"closed_area_m2", track.closed_area_m2},
                                {"specks", track.specks}};
    std::printf("%s\n", report.dump(2).c_str());
    return;
  }
  std::printf("%s: lap of %.2f m, at least %.2f m wide (%.2f, %.2f), start (%.2f, %.2f)\n", options.name.c_str(), track.length_m,
              track.min_width_m, track.narrowest.x, track.narrowest.y, track.centre.points[0].x, track.centre.points[0].y);
  for (const tracks::build::Island& island : track.islands) {
    std::printf("island of %.2f m at (%.2f, %.2f), passed %s of the lap's middle\n", island.size_m, island.where.x, island.where.y,
                island.on_the_left ? "left" : "right");
  }
  if (track.closed_area_m2 > 0.0) std::printf("%.1f m^2 of rooms at the side closed\n", track.closed_area_m2);
  if (track.specks > 0) std::printf("%zu specks taken for floor\n", track.specks);
  std::printf("wrote %s\n", home.c_str());
}

int run(const Options& options) {
  const fs::path folder = options.out.empty() ? apps::own_tracks_folder() : fs::path(options.out);
  if (folder.empty()) return apps::bad_input(Error{"no folder for tracks: set PITWALL_TRACKS, or give --out"});
  const fs::path home = folder / options.name;
  if (const Status free = check_name(options, home); !free) return apps::bad_input(free.error());
  const Result<ImportSettings> settings = settings_of(options);
  if (!settings) return apps::bad_input(settings.error());
  const auto map = tracks::load_map(options.map, tracks::UnknownGrey::kUnknown);
  if (!map) return apps::bad_input(map.error());
  const Result<ImportedTrack> track = tracks::build::import_track(map->map, *settings);
  for (const std::string& warning : map->warnings) log::warn(warning);
  if (!track) return apps::bad_input(Error{options.map + ": " + track.error().message});
  for (const std::string& warning : track->warnings) log::warn(warning);
  if (const Status written = write(options, *track, map->map, home); !written) return apps::bad_input(written.error());
  print(options, *track, home);
  return apps::kPassed;
}

}  // namespace

int main(int argc, char** argv) {
  return apps::guarded([&] {
    CLI::App app{"Makes a track of a map: finds the closed course, its centre line, widths and start.", "track_import"};
    app.footer(
        "Example:\n  track_import hall.yaml --name hall --source \"mapped 3 May, sports hall\" --plot hall.png\n"
        "  run_validation --tracks hall\n"
        "The track goes to PITWALL_TRACKS, else to pitwall/tracks in the user's data folder, and is known by its name everywhere.\n"
        "Exit codes: 0 done, 2 bad usage or a map without a course (the message says why), 3 internal error.");
    Options options;
    app.add_option("map", options.map, "map yaml, as map_server reads it")->required();
    app.add_option("--name", options.name, "of the track")->required();
    app.add_option("--source", options.source, "where the map comes from, kept with the track")->required();
    app.add_option("--plot", options.plot, "picture (PNG): walls, closed rooms, centre line, start");
    app.add_option("--out", options.out, "folder that gets the folder NAME (default: PITWALL_TRACKS, else the user's data folder)");
    app.add_option("--around", options.around, "x,y in m: a point in the middle of the lap, where several are possible; may be repeated")
        ->allow_extra_args(false);
    app.add_option("--car", options.car, "profile of the car that drives there (default: PITWALL_CAR, else f1tenth)");
    app.add_option("--min-width", options.min_width_m, "m; what is narrower is closed (default: twice the car)")
        ->check(CLI::Range(0.1, 20.0));
    app.add_flag("--reverse", options.reverse, "clockwise");
    app.add_flag("--replace", options.replace, "write over a track of that name");
    app.add_flag("--json", options.json, "print what was made as JSON");
    if (const auto code = apps::parse(app, argc, argv)) return *code;
    return run(options);
  });
}

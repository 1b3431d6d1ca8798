// SPDX-License-Identifier: Apache-2.0
// The best line round a track: of least curvature or least time, within what the swept chassis leaves free.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/line_options.hpp"
#include "apps/program.hpp"
#include "apps/progress.hpp"
#include "apps/track_library.hpp"
#include "core/files.hpp"
#include "core/hash.hpp"
#include "core/log.hpp"
#include "core/math.hpp"
#include "core/text.hpp"
#include "tracks/build/raceline.hpp"
#include "tracks/build/raceline_io.hpp"
#include "tracks/build/raceline_plot.hpp"
#include "tracks/lap_cleanup.hpp"
#include "tracks/line_check.hpp"

namespace {

using namespace pitwall;
using tracks::build::Raceline;

struct Options {
  std::string track;
  std::string map;
  std::string recorded_lap;
  std::string centre_line;
  std::string output;
  std::string plot;
  std::string objective = "curvature";
  bool open = false;
  bool allow_infeasible = false;
  bool json = false;
  bool quiet = false;
  double car_width_m = 0.31;
  double car_length_m = 0.58;
  double wheelbase_m = 0.324;
  double max_steering_rad = 0.26;
  tracks::build::RacelineSettings settings;
  apps::SpeedOptions speed;
  std::string command;  ///< the options that shape the line, for its file

  [[nodiscard]] BodyRectangle chassis() const {
    return {0.5 * (wheelbase_m - car_length_m), 0.5 * (wheelbase_m + car_length_m), 0.5 * car_width_m};
  }
  [[nodiscard]] double max_curvature() const { return math::tan(max_steering_rad) / wheelbase_m; }
};

/// Where the search begins, and where walls are.
struct Start {
  tracks::build::Room room;
  std::vector<Vec2> points;
  bool recorded = false;
  std::uint64_t hash = 0;
};

std::uint64_t input_hash(const tracks::OccupancyMap& map, const std::vector<Vec2>& points) {
  Hash hash;
  hash.add(map.content_hash());
  for (const Vec2 p : points) {
    hash.add(p.x);
    hash.add(p.y);
  }
  return hash.value();
}

Status check_sources(const Options& options) {
  const int given = (options.track.empty() ? 0 : 1) + (options.recorded_lap.empty() ? 0 : 1) + (options.centre_line.empty() ? 0 : 1);
  if (given != 1) return Error{"give one of --track NAME, --map M.yaml --recorded-lap L.csv, or --centerline C.csv (see --help)"};
  if (!options.recorded_lap.empty() && options.map.empty()) return Error{"--recorded-lap needs --map, the map it was driven on"};
  if (!options.track.empty() && !options.map.empty()) return Error{"--track has its own map; leave out --map"};
  return {};
}

Result<Start> start_of_lap(const Options& options, tracks::build::Room room) {
  const auto driven = tracks::load_line(options.recorded_lap, false);
  if (!driven) return driven.error();
  tracks::LapCleanupSettings cleanup;
  cleanup.spacing_m = options.settings.output_spacing_m;
  cleanup.max_curvature_per_m = options.max_curvature();
  cleanup.least_clearance_m = 0.5 * options.car_width_m;
  const auto lap = tracks::clean_lap(driven->path.points(), cleanup, room.map.get(), room.distance.get());
  if (!lap) return Error{options.recorded_lap + ": " + lap.error().message};
  log::info("recorded lap: " + format_number(lap->path.length_m(), 4) + " m, " + format_number(lap->trimmed_m, 3) +
            " m before it left out, " + std::to_string(lap->harmonics) + " harmonics, at most " + format_number(lap->deviation_m, 2) +
            " m from what was driven");
  Start start{std::move(room), lap->path.points(), true, 0};
  start.hash = input_hash(*start.room.map, driven->path.points());
  return start;
}

Result<Start> start_of(const Options& options) {
  if (const Status good = check_sources(options); !good) return good.error();
  if (!options.track.empty()) {
    const auto track = tracks::load_track(options.track, apps::track_library());
    if (!track) return track.error();
    if (!track->centre) return Error{"track '" + options.track + "' has no centre line; use --map with --recorded-lap"};
    if (const Status fit = tracks::check_line(track->centre->path.points(), true); !fit)
      return Error{track->centre->file.string() + ": " + fit.error().message};
    Start start{tracks::build::Room::of(*track), track->centre->path.points(), false, 0};
    start.hash = input_hash(*track->map, start.points);
    return start;
  }
  std::optional<tracks::build::Room> room;
  if (!options.map.empty()) {
    auto loaded = tracks::load_map(options.map);
    if (!loaded) return loaded.error();
    for (const std::string& warning : loaded->warnings) log::warn(warning);
    room = tracks::build::Room::of(std::make_shared<const tracks::OccupancyMap>(std::move(loaded->map)));
  }
  if (!options.recorded_lap.empty()) return start_of_lap(options, *std::move(room));
  const auto line = apps::load_checked_line(options.centre_line, !options.open);
  if (!line) return line.error();
  if (!room) {
    auto drawn = tracks::build::room_from_widths(*line);
    if (!drawn) return drawn.error();
    room = *std::move(drawn);
  }
  Start start{*std::move(room), line->path.points(), false, 0};
  start.hash = input_hash(*start.room.map, start.points);
  return start;
}

/// A centre line must be one that the car fits on.
Status check_start(const Start& start, const Options& options) {
  const auto path = tracks::Path::make(start.points, !options.open);
  if (!path) return path.error();
  const auto wall = tracks::check_walls(*path, *start.room.map, *start.room.distance, 0.5 * options.car_width_m);
  if (wall) return Error{(options.centre_line.empty() ? options.track : options.centre_line) + ": " + *wall};
  return {};
}

nlohmann::json to_json(const Raceline& line, const Options& options) {
  return {{"output", options.output},
          {"objective", options.objective},
          {"length_m", line.path.length_m()},
          {"lap_time_s", line.lap_time_s},
          {"min_clearance_m", line.min_clearance_m},
          {"min_clearance_s_m", line.min_clearance_s_m},
          {"max_curvature_per_m", line.max_curvature_per_m},
          {"iterations", line.iterations},
          {"sweeps", line.sweeps},
          {"faults", line.faults},
          {"warnings", line.warnings}};
}

int run(Options options) {
  const auto limits = apps::take(options.speed);
  if (!limits) return apps::bad_input(limits.error());
  options.settings.speed = *limits;
  options.settings.max_curvature_per_m = options.max_curvature();
  const auto objective = apps::choose("--objective", options.objective, tracks::build::kObjectives);
  if (!objective) return apps::bad_input(objective.error());
  options.settings.objective = static_cast<tracks::build::Objective>(*objective);
  if (const Status good = check_fields("optimize_raceline", options.settings); !good) return apps::bad_input(good.error());
  const auto start = start_of(options);
  if (!start) return apps::bad_input(start.error());
  if (const Status fits = check_start(*start, options); !fits) return apps::bad_input(fits.error());

  constexpr std::size_t kTicks = 100;
  apps::ProgressBar bar(options.quiet ? 0 : kTicks);
  const auto progress = [&](std::string_view /*stage*/, double done) { bar.show(static_cast<std::size_t>(done * (kTicks - 1))); };
  const bool closed = !options.open;
  const auto centre = tracks::build::refine_centre_line(start->room, start->points, closed, options.settings);
  Result<Raceline> line = tracks::build::optimise_raceline(start->room, centre, closed, options.chassis(), options.settings, progress);
  bar.clear();
  if (!line) return apps::bad_input(line.error());
  std::vector<std::string> remarks{"made by: optimize_raceline" + options.command, "input hash: " + to_hex(start->hash)};
  if (start->recorded) {
    Result<Raceline> driven = tracks::build::assess_line(start->room, start->points, closed, options.chassis(), options.settings);
    // How near it may come to walls the user has said (--safety-margin).
    const auto worse = driven && driven->faults.empty()
                           ? tracks::build::worse_than_recorded(*line, *driven, start->room, 0.0, options.settings)
                           : std::nullopt;
    if (worse) {
      log::warn("the recorded lap is kept; the optimised line " + *worse);
      line = std::move(driven);
      remarks.emplace_back("the recorded lap, cleaned: the optimised line was no better");
    }
  }
  for (const std::string& warning : line->warnings) log::warn(warning);
  for (const std::string& fault : line->faults) log::error(fault);
  const bool write = line->faults.empty() || options.allow_infeasible;
  if (write) {
    Status written = write_file(options.output, tracks::build::raceline_csv(*line, remarks));
    if (written && !options.plot.empty()) {
      const std::string title = "line of least " + options.objective + ", lap " + format_number(line->lap_time_s, 4) + " s";
      written = write_file(options.plot,
                           tracks::build::raceline_svg(title, line->path, line->speed_mps, line->clearance_m, start->room.map.get()));
    }
    if (!written) return apps::bad_input(written.error());
  }
  if (options.json) {
    std::printf("%s\n", to_json(*line, options).dump().c_str());
  } else {
    std::printf("%s: %.2f m, lap %.3f s, radius at least %.2f m, chassis at least %.3f m from walls (s = %.1f m)\n",
                write ? options.output.c_str() : "not written", line->path.length_m(), line->lap_time_s, 1.0 / line->max_curvature_per_m,
                line->min_clearance_m, line->min_clearance_s_m);
  }
  return write ? apps::kPassed : apps::kFailed;
}

void add_options(CLI::App& app, Options& options) {
  tracks::build::RacelineSettings& s = options.settings;
  app.add_option("--track", options.track, "a track with map and centre line, as --tracks of run_validation names it");
  app.add_option("--map", options.map, "map yaml");
  app.add_option("--recorded-lap", options.recorded_lap, "driven points x,y; the last revolution counts");
  app.add_option("--centerline", options.centre_line, "x,y, with widths where there is no --map");
  app.add_option("--output", options.output, "s;x;y;psi;kappa;vx;ax")->required();
  app.add_option("--plot", options.plot, "draw line, speed and clearance as SVG here");
  app.add_option("--objective", options.objective, "what is made least: curvature or time")->capture_default_str();
  app.add_flag("--open-path", options.open, "the line does not close");
  app.add_option("--optimize-spacing", s.spacing_m, "between stations, m")->capture_default_str();
  app.add_option("--output-spacing", s.output_spacing_m, "between points of the line, m")->capture_default_str();
  app.add_option("--iterations", s.iterations, "re-linearisations")->capture_default_str();
  app.add_option("--trust-region", s.trust_region_m, "how far a point moves at most in one of them, m")->capture_default_str();
  app.add_option("--smoothing-weight", s.smoothing_weight, "against offsets that change along the line")->capture_default_str();
  app.add_option("--turning-weight", s.turning_weight, "least time's price on the square of the change of curvature per metre, s m^3")
      ->capture_default_str();
  app.add_option("--max-track-width", s.max_track_width_m, "how far the rays of the centre line's refinement go, m")->capture_default_str();
  app.add_option("--centerline-passes", s.centreline_passes, "refinements of the centre line")->capture_default_str();
  app.add_option("--centerline-smoothing", s.centreline_smoothing, "half width, in points, of the last average over it")
      ->capture_default_str();
  app.add_option("--car-width", options.car_width_m, "m")->check(CLI::Range(0.01, 3.0))->capture_default_str();
  app.add_option("--car-length", options.car_length_m, "m, centred on the wheelbase")->check(CLI::Range(0.01, 6.0))->capture_default_str();
  app.add_option("--safety-margin", s.margin_m, "between the swept chassis and walls, m")->capture_default_str();
  app.add_option("--wheelbase", options.wheelbase_m, "m")->check(CLI::Range(0.01, 4.0))->capture_default_str();
  app.add_option("--max-steering-angle", options.max_steering_rad, "rad")->check(CLI::Range(0.01, 1.2))->capture_default_str();
  app.add_flag("--allow-infeasible", options.allow_infeasible, "write also a line that the car cannot drive");
  apps::add_speed_options(app, options.speed);
  app.add_flag("--json", options.json, "print what was made as JSON");
  app.add_flag("--quiet", options.quiet, "no progress");
}

/// The command line without what does not shape the line.
std::string shaping_options(int argc, char** argv) {
  std::string command;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--output" || word == "--plot") {
      ++i;
    } else if (word != "--json" && word != "--quiet") {
      command += " " + word;
    }
  }
  return command;
}

}  // namespace

int main(int argc, char** argv) {
  return apps::guarded([&] {
    CLI::App app{"The best line round a track: of least curvature or least time, within what the swept chassis leaves free.",
                 "optimize_raceline"};
    app.footer(
        "Example:\n  optimize_raceline --track larkfield --objective time --output line.csv --plot line.svg\n"
        "  optimize_raceline --map hall.yaml --recorded-lap lap.csv --output line.csv --v-max 6\n"
        "Exit codes: 0 written; 1 the car cannot drive the line (tighter than the rack, or touching a wall), which is then not\n"
        "written unless --allow-infeasible; 2 bad usage or input; 3 internal error.");
    Options options;
    add_options(app, options);
    if (const auto code = apps::parse(app, argc, argv)) return *code;
    log::set_quiet(options.quiet);
    options.command = shaping_options(argc, argv);
    return run(std::move(options));
  });
}

// SPDX-License-Identifier: Apache-2.0
// map_course: from a drive to a course that can be raced on.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>

#include "analysis/slam_replay.hpp"
#include "analysis/slam_report.hpp"
#include "apps/car_choice.hpp"
#include "apps/course_run.hpp"
#include "apps/course_track.hpp"
#include "apps/interrupt.hpp"
#include "apps/line_options.hpp"
#include "apps/program.hpp"
#include "apps/progress.hpp"
#include "apps/track_library.hpp"
#include "core/files.hpp"
#include "core/log.hpp"
#include "core/text.hpp"

namespace {

namespace fs = std::filesystem;
using namespace pitwall;
using scenarios::CourseMap;
using scenarios::Lap;
using Json = nlohmann::ordered_json;

constexpr const char* kFooter =
    "Examples:\n"
    "  map_course --simulate indoor_oval --name oval_mapped      drive two laps, map, make the line\n"
    "  run_validation --scenario pure --tracks oval_mapped --localization scan\n"
    "  map_course runs/20261026-194913 --name hall --car rb2 --optimise --analysis\n"
    "\n"
    "Writes the folder NAME below PITWALL_TRACKS, else pitwall/tracks in the user's data folder, or --out: NAME_map.yaml and .pgm,\n"
    "NAME_centerline.csv, NAME_raceline.csv (the last lap that closed, cleaned, with its speeds), NAME_raceline_optimized.csv where\n"
    "that is better, the lap as driven, trajectory.tum, course.json with the verdict on every lap. Nothing is written without a line.\n"
    "Exit code: 0 done; 1 no closed lap, or none that can be raced on (the reason is said); 2 bad usage or input; 3 internal error;\n"
    "130 interrupted.";

struct Options {
  std::string run;
  apps::MappingDrive drive;
  std::string record;
  std::string name;
  std::string out;
  std::string odom_frame;
  std::string parameters;
  std::optional<std::string> car;
  apps::SpeedOptions speed;
  double clearance_m = 0.20;
  bool optimise = false;
  bool analysis = false;
  bool force = false;
  bool json = false;
  bool quiet = false;
};

std::string m(double value, int digits = 3) { return format_number(value, digits) + " m"; }

/// What is said of a drive.
struct Report {
  Json json;
  std::string text;
  void line(const std::string& words) { text += words + "\n"; }
};

void say_lap(Report& report, std::size_t number, const Lap& lap, const std::string& refused) {
  report.json["laps"].push_back({{"lap", number},
                                 {"closed", lap.closed},
                                 {"distance_m", lap.distance_m},
                                 {"lasted_s", lap.lasted_s()},
                                 {"turned_deg", lap.turned_rad / math::kDegree},
                                 {"departed_m", lap.departed_m},
                                 {"gap_m", lap.gap_m},
                                 {"allowed_gap_m", lap.allowed_gap_m},
                                 {"heading_deg", lap.heading_rad / math::kDegree},
                                 {"corrections", lap.corrections},
                                 {"missing", lap.missing},
                                 {"refused", refused}});
  std::string words = "lap " + std::to_string(number) + ": ";
  if (lap.closed) {
    words += "closed after " + m(lap.distance_m, 4) + " in " + format_number(lap.lasted_s(), 4) + " s, turned by " +
             format_number(lap.turned_rad / math::kDegree, 3) + " deg, " + m(lap.gap_m) + " from its start (allowed " +
             m(lap.allowed_gap_m) + "), heading " + format_number(lap.heading_rad / math::kDegree, 2) + " deg, " +
             std::to_string(lap.corrections) + " corrections";
    if (!refused.empty()) words += "; no line: " + refused;
  } else {
    words += "not closed: " + join(lap.missing, "; ");
  }
  report.line(words);
}

void say_course(Report& report, const scenarios::CourseMapper& mapper, const CourseMap& course) {
  const slam::SlamCounts& c = mapper.slam().counts();
  std::size_t accepted = 0;
  for (const slam::Edge& edge : mapper.slam().graph().edges) accepted += edge.closure ? 1 : 0;
  report.json["slam"] = {{"scans", c.scans},
                         {"nodes", c.nodes},
                         {"matched", c.matched},
                         {"searched", c.searched},
                         {"odometry", c.odometry},
                         {"closures", accepted},
                         {"pose_sha256", slam::pose_hash(mapper.slam().trajectory())}};
  report.line("SLAM: " + std::to_string(c.scans) + " scans, " + std::to_string(c.nodes) + " nodes (" + std::to_string(c.matched) +
              " matched, " + std::to_string(c.searched) + " searched, " + std::to_string(c.odometry) + " by odometry), " +
              std::to_string(accepted) + " closures");
  report.json["map"] = {{"width", course.map->width()}, {"height", course.map->height()}, {"resolution_m", course.map->resolution_m()}};
  report.line("map: " + std::to_string(course.map->width()) + " x " + std::to_string(course.map->height()) + " cells of " +
              m(course.map->resolution_m()));
  report.json["laps"] = Json::array();
  for (std::size_t k = 0; k < course.laps.size(); ++k) say_lap(report, k + 1, course.laps[k].lap, course.laps[k].refused);
  const Lap open = mapper.laps().current();
  if (course.laps.empty() || open.distance_m > 1.0) say_lap(report, course.laps.size() + 1, open, {});
}

void say_track(Report& report, const CourseMap& course, const apps::CourseTrack& track) {
  const tracks::CleanedLap& line = *course.line;
  report.json["line"] = {{"of_lap", *course.line_from + 1},    {"length_m", line.path.length_m()},
                         {"harmonics", line.harmonics},        {"deviation_m", line.deviation_m},
                         {"clearance_m", line.clearance_m},    {"max_curvature_per_m", line.max_curvature_per_m},
                         {"lap_time_s", track.race.lap_time_s}};
  report.line("line: lap " + std::to_string(*course.line_from + 1) + ", " + m(line.path.length_m(), 4) + ", " +
              std::to_string(line.harmonics) + " harmonics, at most " + m(line.deviation_m) + " from what was driven, " +
              m(line.clearance_m) + " from walls, radius at least " + m(1.0 / line.max_curvature_per_m) + "; a lap in " +
              format_number(track.race.lap_time_s, 4) + " s");
  if (track.optimised) {
    report.json["optimised"] = {{"accepted", true}, {"lap_time_s", track.optimised->lap_time_s}};
    report.line("optimised line: taken, a lap in " + format_number(track.optimised->lap_time_s, 4) + " s");
  } else if (!track.not_optimised.empty()) {
    report.json["optimised"] = {{"accepted", false}, {"reason", track.not_optimised}};
    report.line("optimised line: not taken: " + track.not_optimised);
  }
}

/// Where things go, and that they may.
struct Places {
  fs::path home;  ///< of the track
  fs::path part;  ///< while it is being made
  fs::path run;   ///< the recording
};

Result<Places> places_for(const Options& options) {
  if (options.run.empty() == options.drive.track.empty()) return Error{"give a RUN, or --simulate TRACK"};
  if (options.drive.track.empty() && !options.record.empty()) return Error{"--record is for --simulate; RUN is recorded already"};
  if (options.analysis && options.run.empty() && options.record.empty())
    return Error{"--analysis needs --record DIR with --simulate: the report goes into the run folder"};
  if (options.name.empty() || options.name.front() == '.' || options.name.find_first_of("/\\ ") != std::string::npos)
    return Error{"--name '" + options.name + "': must be the name of a folder, without blanks and slashes"};
  for (const std::string& shipped : tracks::shipped_names(apps::track_library())) {
    if (shipped == options.name) return Error{"--name " + options.name + ": that is a track that ships; choose another"};
  }
  const fs::path folder = options.out.empty() ? apps::own_tracks_folder() : fs::path(options.out);
  if (folder.empty()) return Error{"no folder for tracks: set PITWALL_TRACKS, or give --out"};
  Places places;
  places.home = folder / options.name;
  places.part = places.home.string() + ".part";
  places.run = !options.run.empty() ? fs::path(options.run) : options.record.empty() ? places.part / "run" : fs::path(options.record);
  std::error_code failed;
  if (fs::exists(places.home, failed) && !options.force) return Error{places.home.string() + " exists; --force writes over it"};
  fs::remove_all(places.part, failed);
  return places;
}

/// Renames what was made to its place.
Status move_in(const Places& places) {
  std::error_code failed;
  fs::remove_all(places.home, failed);
  fs::rename(places.part, places.home, failed);
  if (failed) return Error{places.home.string() + ": " + failed.message()};
  return {};
}

recording::BagProgress progress_bar(bool quiet) {
  auto bar = std::make_shared<std::optional<apps::ProgressBar>>();
  return [bar, quiet](std::uint64_t done, std::uint64_t total) {
    if (!bar->has_value()) bar->emplace(quiet ? 0 : total);
    (*bar)->show(done);
    return !apps::interrupted();
  };
}

/// The SLAM once more, as a run folder beside the recording, and the report on it in the recording's.
int analyse(const Options& options, const Places& places, Report& report) {
  analysis::SlamReplayOptions replay;
  replay.label = options.name;
  replay.odom_frame = options.odom_frame;
  replay.cost_ms = 0.0;
  const analysis::GatedReport mapped = analysis::slam_replay(places.run, replay);
  for (const std::string& refusal : mapped.refused) return apps::bad_input({"--analysis: " + refusal});
  std::string folder;
  for (const analysis::Section& section : mapped.document.sections) {
    for (const analysis::Fact& fact : section.facts) {
      if (fact.key == "out") folder = fact.value.text;
    }
  }
  analysis::SlamReportOptions how;
  std::error_code failed;
  how.out = (fs::is_directory(places.run, failed) ? places.run : places.run.parent_path()) / "analysis" / "slam_report";
  const analysis::GatedReport said = analysis::slam_report(folder, how);
  for (const std::string& refusal : said.refused) return apps::bad_input({"--analysis: " + refusal});
  report.json["analysis"] = how.out.string();
  report.line("report: " + how.out.string() + " (the SLAM's own run: " + folder + ")");
  return apps::kPassed;
}

int conclude(const Options& options, Report& report, const std::string& refused, const Places& places) {
  report.json["passed"] = refused.empty();
  report.json["reason"] = refused;
  report.line((refused.empty() ? "PASS  " : "FAIL  ") + options.name + ": " +
              (refused.empty() ? "wrote " + places.home.string() : refused + "; nothing was stored"));
  std::fputs((options.json ? report.json.dump(2) + "\n" : report.text).c_str(), stdout);
  return refused.empty() ? apps::kPassed : apps::kFailed;
}

int run(const Options& options, const Places& places) {
  const auto limits = apps::take(options.speed);
  if (!limits) return apps::bad_input(limits.error());
  const auto car = apps::load_chosen_car(options.car);
  if (!car) return apps::bad_input(car.error());
  scenarios::MappingSettings settings = scenarios::MappingSettings::of(car->parameters);
  settings.speed = *limits;
  if (!options.parameters.empty()) {
    const auto node = load_yaml(options.parameters);
    if (!node) return apps::bad_input(node.error());
    if (const Status loaded = load_fields(*node, "mapping", settings); !loaded) return apps::bad_input(loaded.error());
  }
  Report report;
  report.json["name"] = options.name;
  std::string refused;
  if (options.run.empty()) {
    scenarios::ValidationOptions validation;
    validation.data = data_folder();
    validation.own_tracks = apps::own_tracks_folder();
    validation.car = apps::chosen_car(options.car);
    if (!options.quiet) {
      log::info("driving " + std::to_string(options.drive.laps) + " laps of " + options.drive.track + " at up to " +
                format_number(options.drive.speed_mps, 3) + " m/s");
    }
    const auto driven = apps::record_mapping_drive(options.drive, validation, places.run, [] { return apps::interrupted(); });
    if (!driven) return apps::bad_input(driven.error());
    if (driven->interrupted) return apps::kInterrupted;
    report.line("drive: " + driven->track + ", " + std::to_string(driven->laps) + " laps in " + format_number(driven->sim_time_s, 4) +
                " s");
    report.json["drive"] = {{"track", driven->track},
                            {"laps", driven->laps},
                            {"sim_time_s", driven->sim_time_s},
                            {"seed", driven->seed},
                            {"trace_hash", driven->trace_hash}};
    if (driven->failure) refused = "the drive failed: " + driven->failure->what;
  }
  const auto mapper = apps::map_recording(places.run, options.odom_frame, settings, car->parameters.lidar_mount(),
                                          progress_bar(options.quiet || options.json));
  if (apps::interrupted()) return apps::kInterrupted;
  if (!mapper) return apps::bad_input(mapper.error());
  const auto course = (*mapper)->finish();
  if (course) {
    say_course(report, **mapper, *course);
    if (refused.empty()) refused = course->refused;
  } else if (refused.empty()) {
    refused = course.error().message;
  }
  std::optional<apps::CourseTrack> track;
  if (refused.empty()) {
    auto made = apps::make_course_track(*course, {car->parameters, settings.speed, options.clearance_m, options.optimise});
    if (made) track = *std::move(made);
    if (!made) refused = made.error().message;
  }
  if (track) say_track(report, *course, *track);
  if (options.analysis) {
    if (const int code = analyse(options, places, report); code != apps::kPassed) return code;
  }
  std::error_code ignored;
  if (options.run.empty() && options.record.empty()) fs::remove_all(places.run, ignored);
  if (track) {
    Status written = apps::write_course_track(options.name, *course, *track, (*mapper)->slam(), places.part);
    if (written) written = write_file(places.part / "course.json", report.json.dump(2) + "\n");
    if (written) written = move_in(places);
    if (!written) return apps::bad_input(written.error());
  }
  return conclude(options, report, refused, places);
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("run", options.run, "A run folder, a bag or one storage file, with scans and odometry (transforms, or nav_msgs/Odometry)");
  app.add_option("--simulate", options.drive.track, "Drive this track with gap_follow instead of reading a RUN");
  app.add_option("--laps", options.drive.laps, "Laps to drive")->check(CLI::Range(1, 100))->capture_default_str();
  app.add_option("--seed", options.drive.seed, "Of the drive")
      ->check(CLI::Range(std::int64_t{0}, scenarios::kLargestSeed))
      ->capture_default_str();
  app.add_option("--mapping-max-speed", options.drive.speed_mps, "Of the drive, m/s")->check(CLI::Range(0.3, 10.0))->capture_default_str();
  app.add_option("--record", options.record, "Keep the drive as this run folder, which must not exist");
  app.add_option("--name", options.name, "Of the track")->required();
  app.add_option("--out", options.out, "Folder that gets the folder NAME (default: PITWALL_TRACKS, else the user's data folder)");
  app.add_option("--car", options.car, "Profile of the car that drives (default: PITWALL_CAR, else f1tenth)");
  app.add_option("--odom", options.odom_frame, "Frame of the odometry (default: the one below map, else odom)");
  app.add_option("--parameters", options.parameters, "YAML with settings of slam, laps, cleanup and speed that differ from the defaults");
  app.add_flag("--optimise", options.optimise, "Make a line of least curvature too, and keep it if it is better than the lap");
  app.add_option("--clearance", options.clearance_m, "Of that line from walls, at least, m")
      ->check(CLI::Range(0.0, 5.0))
      ->capture_default_str();
  apps::add_speed_options(app, options.speed);
  app.add_flag("--analysis", options.analysis, "Put slam_report into the run folder, also where nothing is stored");
  app.add_flag("--force", options.force, "Write over a track of that name");
  app.add_flag("--json", options.json, "Print the result as JSON");
  app.add_flag("--quiet", options.quiet, "No progress, only warnings and errors on stderr");
}

}  // namespace

int main(int argc, char** argv) {
  return apps::guarded([&] {
    CLI::App app{"From a drive to a course that can be raced on: map, laps and their verdicts, cleaned line, speeds.", "map_course"};
    app.footer(kFooter);
    Options options;
    add_options(app, options);
    if (const auto code = apps::parse(app, argc, argv)) return *code;
    log::set_quiet(options.quiet);
    const auto places = places_for(options);
    if (!places) return apps::bad_input(places.error());
    apps::catch_interrupts();
    const int code = run(options, *places);
    std::error_code ignored;
    fs::remove_all(places->part, ignored);
    return code;
  });
}

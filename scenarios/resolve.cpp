// SPDX-License-Identifier: Apache-2.0
#include "scenarios/resolve.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "controllers/make.hpp"
#include "core/hash.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "localization/localizer/localizer.hpp"
#include "scenarios/steering_laws.hpp"
#include "tracks/line_check.hpp"

namespace pitwall::scenarios {
namespace {

constexpr std::string_view kAll = "validation";
constexpr std::string_view kDefaultCar = "f1tenth";

/// A track that was loaded, and what is worked out once for all runs on it.
struct LoadedTrack {
  std::shared_ptr<const tracks::Track> track;
  std::string hash;
  std::set<std::string> checked_lines;
  std::shared_ptr<const localization::LocalizerMap> localizer_map;  // once a run needs it
};
using TrackCache = std::map<std::string, LoadedTrack>;

bool is_suite_file(const std::string& scenario) { return scenario.ends_with(".yaml") || scenario.ends_with(".yml"); }

std::filesystem::path suite_file(const std::filesystem::path& data, std::string_view name) {
  return data / "suites" / (std::string(name) + ".yaml");
}

/// The scenarios that the user asked for.
Result<std::vector<NamedScenario>> chosen_scenarios(const ValidationOptions& options) {
  std::vector<std::string> assignments = options.assignments;
  if (options.no_centering) assignments.emplace_back("gap_follow.enable_centering=false");
  if (!options.suite_text.empty()) {
    const Result<Node> suite = parse_yaml(options.suite_text, "scenario");
    if (!suite) return suite.error();
    return suite_of(*suite, "scenario", assignments);
  }
  if (is_suite_file(options.scenario)) return load_suite(options.scenario, assignments);
  std::vector<std::string> suites = suite_names(options.data);
  const std::string asked = options.scenario == "all" ? std::string(kAll) : options.scenario;
  if (std::find(suites.begin(), suites.end(), asked) != suites.end()) return load_suite(suite_file(options.data, asked), assignments);
  // A scenario by its own name: of the suite that `all` runs first.
  std::stable_partition(suites.begin(), suites.end(), [](const std::string& name) { return name == kAll; });
  std::vector<std::string> names{"all"};
  for (const std::string& suite_name : suites) {
    Result<std::vector<NamedScenario>> suite = load_suite(suite_file(options.data, suite_name), {});
    if (!suite) return suite.error();
    names.push_back(suite_name);
    for (const NamedScenario& scenario : *suite) {
      names.push_back(scenario.name);
      if (scenario.name != options.scenario) continue;
      suite = load_suite(suite_file(options.data, suite_name), assignments);
      if (!suite) return suite.error();
      for (NamedScenario& set : *suite) {
        if (set.name == options.scenario) return std::vector<NamedScenario>{std::move(set)};
      }
    }
  }
  return Error{"--scenario: " + unknown_name("scenario", options.scenario, names)};
}

/// A resolved scenario is run as it stands: whatever would change it is refused.
Status refuse_overrides(const ValidationOptions& options, const std::string& file) {
  std::vector<std::string> given;
  if (!options.tracks.empty()) given.emplace_back("--tracks");
  if (options.seed) given.emplace_back("--seed");
  if (options.repeat_seeds != 1) given.emplace_back("--repeat-seeds");
  if (options.timeout_s) given.emplace_back("--timeout");
  if (options.fidelity) given.emplace_back("--fidelity");
  if (options.raceline) given.emplace_back("--raceline");
  if (options.localization) given.emplace_back("--localization");
  if (options.no_centering) given.emplace_back("--no-centering");
  if (options.car_given) given.emplace_back("--car");
  if (!options.assignments.empty()) given.emplace_back("--set");
  if (!options.steering_law.empty()) given.emplace_back("--steering-law");
  if (!options.law_parameters.empty()) given.emplace_back("--law-param");
  if (given.empty()) return {};
  return Error{file + ": is a resolved scenario, which pins everything; leave out " + join(given) +
               ", or remove its track_hash and trace_hash to make it an open one"};
}

/// A value that a flag and --set both give has no right answer.
Status refuse_contradictions(const ValidationOptions& options) {
  struct Flag {
    bool given;
    std::string_view flag;
    std::string_view key;
  };
  const std::array<Flag, 8> flags{{{options.timeout_s.has_value(), "--timeout", "timeout_s"},
                                   {options.fidelity.has_value(), "--fidelity", "fidelity"},
                                   {options.raceline.has_value(), "--raceline", "raceline"},
                                   {options.localization.has_value(), "--localization", "localization"},
                                   {options.seed.has_value(), "--seed", "world.seed"},
                                   {options.car_given, "--car", "car"},
                                   {!options.tracks.empty(), "--tracks", "track"},
                                   {options.no_centering, "--no-centering", "gap_follow.enable_centering"}}};
  for (const std::string& assignment : options.assignments) {
    const std::string_view key = trim(std::string_view(assignment).substr(0, assignment.find('=')));
    for (const Flag& flag : flags) {
      if (flag.given && flag.key == key) {
        return Error{"--set " + assignment + ": " + std::string(flag.flag) + " says the same thing; give one of them"};
      }
    }
  }
  return {};
}

/// Flags for what the scenarios have already decided.
Status refuse_decided(const ValidationOptions& options, const std::vector<NamedScenario>& suite) {
  bool any_open = options.tracks.empty();
  for (const auto& [name, scenario] : suite) {
    any_open = any_open || scenario.track.empty();
    if (options.car_given && !scenario.car.empty() && !scenario.resolved())
      return Error{"--car " + options.car + ": scenario '" + name + "' has its own car, " + scenario.car};
  }
  if (any_open || suite.front().scenario.resolved()) return {};
  return Error{"--tracks: every scenario has its own track, such as '" + suite.front().scenario.track + "'"};
}

/// The tracks that --tracks names, or else those that the scenario does.
Result<std::vector<std::string>> chosen_tracks(const ValidationOptions& options, const Scenario& scenario) {
  std::vector<std::string> arguments = options.tracks;
  if (arguments.empty()) arguments.push_back(scenario.default_tracks);
  std::vector<std::string> names;
  for (const std::string& argument : arguments) {
    for (std::string& name : tracks::expand_group(argument, options.library())) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
    }
  }
  if (names.empty()) return Error{"--tracks: the group is empty"};
  return names;
}

Result<LoadedTrack*> cached_track(TrackCache& cache, const std::string& argument, const tracks::TrackLibrary& library) {
  if (const auto found = cache.find(argument); found != cache.end()) return &found->second;
  Result<tracks::Track> loaded = tracks::load_track(argument, library);
  if (!loaded) return loaded.error();
  if (!loaded->centre) {
    return Error{"track '" + argument + "': has a map (" + loaded->map_file.string() +
                 ") but no centre line; a scenario needs one (NAME_centerline.csv beside it)"};
  }
  for (const std::string& warning : loaded->warnings) log::warn(warning);
  const std::string hash = to_hex(loaded->content_hash());
  LoadedTrack entry{std::make_shared<const tracks::Track>(*std::move(loaded)), hash, {}, nullptr};
  return &cache.emplace(argument, std::move(entry)).first->second;
}

/// Chooses the followed line and says so where it is not what was asked for.
Result<std::string> line_name(const tracks::Track& track, LineChoice choice) {
  if (choice == LineChoice::kCenterline) return std::string(kCentreLine);
  if (choice == LineChoice::kShipped) return std::string(track.race ? kRacingLine : kCentreLine);
  if (track.optimized) return std::string(kOptimizedLine);
  return Error{"--raceline optimized: track '" + track.name + "' has no optimised line (" + track.name +
               "_raceline_optimized.csv beside its map, which optimize_raceline makes); use shipped or centerline"};
}

/// Every parameter of every controller in use, written out.
Status complete_controllers(Scenario& scenario, const std::vector<CarSpec>& cars) {
  const std::vector<std::string> names = controllers::names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool used = (scenario.course.wanted() && scenario.course.race_controller == names[i]) ||
                      std::any_of(cars.begin(), cars.end(), [&](const CarSpec& car) { return car.controller == names[i]; });
    Result<Node> complete = controllers::complete_parameters(names[i], scenario.controllers[i]);
    if (!complete) return complete.error();
    scenario.controllers[i] = used ? *std::move(complete) : Node::map();
  }
  for (const CarSpec& car : cars) {
    const Result<Node> own = controllers::complete_parameters(car.controller, parameters_of(scenario, car));
    if (!own) return Error{scenario.id + ".cars." + car.name + ".parameters: " + own.error().message};
  }
  return {};
}

/// A car that still means the same from another folder.
std::string portable_car(const std::string& car) {
  const bool is_file = car.ends_with(".yaml") || car.ends_with(".yml");
  return is_file ? std::filesystem::absolute(car).lexically_normal().string() : car;
}

/// A track argument that still means the same from another folder.
std::string portable(const std::string& argument, const tracks::TrackLibrary& library) {
  const auto is_among = [&](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), argument) != names.end();
  };
  if (argument == tracks::kNoTrack || is_among(tracks::shipped_names(library))) return argument;
  return std::filesystem::absolute(is_among(tracks::own_names(library)) ? library.own / argument : std::filesystem::path(argument))
      .lexically_normal()
      .string();
}

/// Refuses a line that cannot be followed; warns once of one that passes a wall nearer than half the car.
Status check_followed_line(LoadedTrack& loaded, const ResolvedRun& run) {
  if (!loaded.checked_lines.insert(run.line_name).second) return {};
  const tracks::Track& track = *loaded.track;
  const tracks::Line& line = followed_line(run);
  if (const Status fit = tracks::check_line(line.path.points(), line.path.closed()); !fit)
    return Error{line.file.string() + ": " + run.line_name + " of " + track.name + ": " + fit.error().message};
  const auto warning = tracks::clearance_warning(track, line, run.line_name, run.parameters.chassis().half_width_m);
  if (warning) log::warn(*warning);
  return {};
}

/// A course is mapped by gap_follow and raced on by what follows a line, with poses on the map just made.
Status check_course(const Scenario& scenario) {
  const CourseSpec& course = scenario.course;
  if (!course.wanted()) return {};
  if (scenario.localization != Localization::kScan)
    return Error{scenario.id + ": localization: a course that is mapped first has no other poses than 'scan'"};
  const std::vector<std::string> names = controllers::names();
  if (std::find(names.begin(), names.end(), course.race_controller) == names.end())
    return Error{scenario.id + ".course: " + unknown_name("race_controller", course.race_controller, names)};
  const auto cars = load_cars(scenario);
  if (!cars) return cars.error();
  const CarSpec& car = cars->front();
  if (car.controller != "gap_follow")
    return Error{scenario.id + ".cars." + car.name + ": controller: a course is mapped by 'gap_follow', not '" + car.controller + "'"};
  if (!car.changes.entries.empty()) return Error{scenario.id + ".cars." + car.name + ": changes: not for a car that maps a course"};
  return {};
}

/// Closes what is still open in one scenario on one track.
Result<ResolvedRun> close(Scenario scenario, LoadedTrack& loaded, const std::shared_ptr<const calibration::CarProfile>& profile) {
  ResolvedRun run;
  run.track = loaded.track;
  if (const Status sound = check_course(scenario); !sound) return sound.error();
  if (scenario.localization == Localization::kScan && !scenario.course.wanted()) {
    if (!loaded.localizer_map) loaded.localizer_map = localization::LocalizerMap::make(*run.track->map, run.track->rays);
    run.localizer_map = loaded.localizer_map;
  }
  run.profile = profile;
  run.parameters = plant::car_of(scenario.fidelity, profile->parameters);
  Status status = load_fields(scenario.car_parameters, scenario.id + ".car_parameters", run.parameters);
  if (!status) return status.error();
  scenario.car_parameters = save_fields(run.parameters);
  sim::SensorSettings sensors = sim::SensorSettings::of(run.parameters, scenario.sensors);
  status = load_fields(scenario.sensor_settings, scenario.id + ".sensor_settings", sensors);
  if (!status) return status.error();
  if (scenario.world.surface_friction <= 0.0) scenario.world.surface_friction = run.parameters.surface_friction;
  Result<std::vector<CarSpec>> cars = load_cars(scenario);
  if (!cars) return cars.error();
  run.cars = *std::move(cars);
  Result<std::vector<ObstacleSpec>> obstacles = load_obstacles(scenario);
  if (!obstacles) return obstacles.error();
  run.obstacles = *std::move(obstacles);
  Result<std::vector<FaultSpec>> faults = load_faults(scenario);
  if (!faults) return faults.error();
  run.faults = *std::move(faults);
  status = complete_controllers(scenario, run.cars);
  if (!status) return status.error();
  Result<std::string> line = line_name(*run.track, scenario.raceline);
  if (!line) return line.error();
  run.line_name = *std::move(line);
  const std::string hash = run.line_name == kOptimizedLine ? to_hex(run.track->content_hash_optimized()) : loaded.hash;
  if (scenario.resolved() && scenario.track_hash != hash) {
    return Error{scenario.id + ": the contents of track '" + scenario.track + "' are not those of the resolved scenario (track_hash " +
                 scenario.track_hash + ", now " + hash + ")"};
  }
  scenario.track_hash = hash;
  run.expected_trace_hash = scenario.trace_hash;
  run.scenario = std::move(scenario);
  if (const Status fit = check_followed_line(loaded, run); !fit) return fit.error();
  return run;
}

/// What has been loaded so far: each track and car once.
struct Garage {
  const ValidationOptions& options;
  TrackCache tracks;
  std::map<std::string, std::shared_ptr<const calibration::CarProfile>> cars;

  Result<std::shared_ptr<const calibration::CarProfile>> car(const std::string& name) {
    if (const auto found = cars.find(name); found != cars.end()) return found->second;
    Result<calibration::CarProfile> profile = calibration::load_car(name, options.data / "cars");
    if (!profile) return profile.error();
    return cars.emplace(name, std::make_shared<const calibration::CarProfile>(*std::move(profile))).first->second;
  }

  /// The runs of one scenario: every seed on every track.
  Status add_runs(const Scenario& open, const std::vector<std::string>& track_names, std::vector<ResolvedRun>& runs) {
    const std::int64_t first_seed = options.seed.value_or(open.world.seed);
    if (first_seed > kLargestSeed - (options.repeat_seeds - 1)) {
      return Error{"--repeat-seeds " + std::to_string(options.repeat_seeds) + ": from seed " + std::to_string(first_seed) +
                   " on they go beyond the largest, " + std::to_string(kLargestSeed)};
    }
    for (std::int64_t seed = first_seed; seed < first_seed + options.repeat_seeds; ++seed) {
      for (const std::string& track_name : track_names) {
        if (options.interrupted && options.interrupted()) return {};
        Scenario scenario = open;
        scenario.world.seed = seed;
        if (options.timeout_s) scenario.timeout_s = *options.timeout_s;
        if (options.fidelity) scenario.fidelity = *options.fidelity;
        if (options.raceline) scenario.raceline = *options.raceline;
        if (options.localization) scenario.localization = *options.localization;
        if (scenario.car.empty()) scenario.car = options.car.empty() ? std::string(kDefaultCar) : options.car;
        const auto track = cached_track(tracks, track_name, options.library());
        if (!track) return track.error();
        const auto profile = car(scenario.car);
        if (!profile) return profile.error();
        scenario.car = portable_car(scenario.car);
        scenario.track = portable(track_name, options.library());
        Result<ResolvedRun> run = close(std::move(scenario), **track, *profile);
        if (!run) return run.error();
        runs.push_back(*std::move(run));
      }
    }
    return {};
  }
};

}  // namespace

const tracks::Line& followed_line(const ResolvedRun& run) {
  if (run.line_name == kRacingLine) return *run.track->race;
  return run.line_name == kOptimizedLine ? *run.track->optimized : *run.track->centre;
}

std::vector<std::string> suite_names(const std::filesystem::path& data) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(data / "suites", ignored)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::vector<std::string>> scenario_names(const std::filesystem::path& data) {
  const auto suite = load_suite(suite_file(data, kAll), {});
  if (!suite) return suite.error();
  std::vector<std::string> names;
  for (const NamedScenario& scenario : *suite) names.push_back(scenario.name);
  return names;
}

Result<std::vector<ResolvedRun>> resolve(const ValidationOptions& options) {
  if (const Status clear = refuse_contradictions(options); !clear) return clear.error();
  Result<std::vector<NamedScenario>> suite = chosen_scenarios(options);
  if (!suite) return suite.error();
  if (const Status chosen = choose_steering_law(*suite, options.steering_law, options.law_parameters); !chosen) return chosen.error();
  if (const Status used = refuse_unused_controllers(*suite, options.assignments); !used) return used.error();
  if (const Status undecided = refuse_decided(options, *suite); !undecided) return undecided.error();

  Garage garage{options, {}, {}};
  std::vector<ResolvedRun> runs;
  for (const auto& [name, scenario] : *suite) {
    const Result<std::vector<std::string>> track_names = chosen_tracks(options, scenario);
    if (!track_names) return track_names.error();
    std::vector<std::string> on = *track_names;
    if (scenario.resolved()) {
      const Status refused = refuse_overrides(options, options.scenario);
      if (!refused) return refused.error();
    }
    if (!scenario.track.empty()) {
      on = {scenario.track};
    } else if (options.quick || scenario.tracks == OnTracks::kFirst) {
      on.resize(1);
    }
    const Status added = garage.add_runs(scenario, on, runs);
    if (!added) return added.error();
  }
  return runs;
}

std::string to_suite_yaml(const Scenario& scenario, const std::string& name) {
  Node suite = Node::map();
  suite.set(name, save_fields(scenario));
  return to_yaml(suite);
}

}  // namespace pitwall::scenarios

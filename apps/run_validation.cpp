// SPDX-License-Identifier: Apache-2.0
// run_validation: whether the car still laps every track without touching anything.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <set>
#include <string>

#include "apps/car_choice.hpp"
#include "apps/known.hpp"
#include "apps/program.hpp"
#include "apps/progress.hpp"
#include "apps/track_library.hpp"
#include "controllers/make.hpp"
#include "core/files.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "scenarios/f1tenth_laps.hpp"
#include "scenarios/law_comparison.hpp"
#include "scenarios/measured_car.hpp"
#include "scenarios/replay_run.hpp"
#include "scenarios/report.hpp"
#include "scenarios/resolve.hpp"
#include "scenarios/runner.hpp"
#include "tracks/track.hpp"

namespace {

using namespace pitwall;

std::atomic<bool> g_stop{false};
extern "C" void on_stop_signal(int /*signal*/) { g_stop = true; }

struct Arguments {
  scenarios::ValidationOptions options;
  std::string output;
  std::string junit;
  std::vector<std::string> compare;  ///< laws to compare with pure pursuit
  std::string resolved;
  std::string record;
  int jobs = 0;
  bool json = false;
  bool list = false;
  bool print_config = false;
  bool quiet = false;
  bool measured = false;  ///< scenario measured_car: the figures of the real car before its runs
};

constexpr const char* kFooter =
    "Example:\n"
    "  run_validation --scenario all\n"
    "  run_validation --scenario pure --tracks maps/Spielberg evans/aut --raceline centerline --repeat-seeds 5\n"
    "  run_validation --scenario faults --quick\n"
    "  run_validation --scenario pure --steering-law stanley --law-param gain_per_s=2.5\n"
    "  run_validation --compare stanley map --repeat-seeds 5\n"
    "  run_validation --scenario gap --set gap_follow.max_speed_mps=3 --output report.json\n"
    "\n"
    "Exit code: 0 every scenario passed; 1 one did not, or a resolved scenario gave another trace hash;\n"
    "2 bad usage or input; 3 internal error; 130 interrupted. --compare: 0 if every run passed, whatever the verdicts (law_sweep is a "
    "gate).\n"
    "A pass in simulation is not sign-off for the car.";

/// Whether a file can be written; leaves no trace but the folders.
Status probe(const std::filesystem::path& file) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(file, ignored);
  if (std::filesystem::is_directory(status)) return Error{file.string() + ": is a folder, not a file"};
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    return Error{file.string() + ": cannot write: is a device, pipe or socket, not a file"};
  const std::filesystem::path beside = file.string() + ".probe" + std::to_string(::getpid());
  const Status written = write_file(beside, "");
  std::filesystem::remove(beside, ignored);
  return written ? written : Error{file.string() + ": cannot be written: " + written.error().message};
}

/// Whether the reports can be written, asked before minutes of work rather than after.
Status check_outputs(const Arguments& arguments) {
  const auto whole = [](const std::string& file) { return std::filesystem::weakly_canonical(std::filesystem::absolute(file)); };
  if (!arguments.output.empty() && !arguments.junit.empty() && whole(arguments.output) == whole(arguments.junit))
    return Error{"--junit " + arguments.junit + ": is the file of --output as well"};
  for (const std::string& file : {arguments.output, arguments.junit}) {
    if (file.empty()) continue;
    if (whole(file) == whole(arguments.resolved)) return Error{"--resolved " + arguments.resolved + ": is the file of a report as well"};
    if (const Status writable = probe(file); !writable) return writable;
  }
  if (const Status writable = probe(std::filesystem::path(arguments.resolved) / "resolved.yaml"); !writable) return writable;
  std::error_code not_empty;
  std::filesystem::remove(arguments.resolved, not_empty);
  return {};
}

std::string check_seed(const std::string& text) {
  const auto seed = parse_int(text);
  if (seed && *seed >= 0 && *seed <= scenarios::kLargestSeed) return {};
  return "seed = " + text + ": a whole number, allowed: 0 .. " + std::to_string(scenarios::kLargestSeed);
}

// CLI::Range lets nan through.
std::string check_timeout(const std::string& text) {
  const auto timeout_s = parse_double(text);
  if (timeout_s && *timeout_s >= 0.1 && *timeout_s <= 1e6) return {};
  return "timeout = " + text + ": allowed: 0.1 .. 1e6 s";
}

/// A result nobody could read is not a pass.
int with_stdout(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  log::error("stdout: cannot write");
  return apps::kBadInput;
}

/// "003-gap-oval-12345": of a run's resolved scenario and of its recording.
std::string name_of(const scenarios::ResolvedRun& run, std::size_t index) {
  std::string number = std::to_string(index + 1);
  number.insert(0, 3 - std::min<std::size_t>(3, number.size()), '0');
  return number + "-" + run.scenario.id + "-" + run.track->name + "-" + std::to_string(run.scenario.world.seed);
}

/// Writes one resolved scenario with the hash its run gave.
Status write_resolved(const std::filesystem::path& folder, const scenarios::ResolvedRun& run, std::size_t index,
                      const scenarios::Outcome& outcome) {
  scenarios::Scenario scenario = run.scenario;
  scenario.trace_hash = outcome.trace_hash;
  return write_file(folder / (name_of(run, index) + ".yaml"), scenarios::to_suite_yaml(scenario, outcome.scenario));
}

/// How a run is run: recorded where --record says so.
scenarios::RunOne runner(const Arguments& arguments, const std::vector<scenarios::ResolvedRun>& runs) {
  if (arguments.record.empty()) {
    return [](const scenarios::ResolvedRun& run, const std::function<bool()>& stop) { return scenarios::run_scenario(run, stop); };
  }
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return [&runs, folder = std::filesystem::path(arguments.record), host = std::string(host.data())](const scenarios::ResolvedRun& run,
                                                                                                    const std::function<bool()>& stop) {
    const auto index = static_cast<std::size_t>(&run - runs.data());
    return scenarios::run_verified(run, {folder / name_of(run, index), host}, stop);
  };
}

int run(const Arguments& arguments) {
  const auto runs = scenarios::resolve(arguments.options);
  if (!runs) return apps::bad_input(runs.error());
  if (runs->empty()) {
    log::warn("interrupted before the first scenario");
    return apps::kInterrupted;
  }

  const Status writable = check_outputs(arguments);
  if (!writable) return apps::bad_input(writable.error());

  bool alike = true;
  std::set<std::string> seen;
  for (const scenarios::ResolvedRun& each : *runs) {
    if (!arguments.measured || !scenarios::was_measured(each.scenario.car) || !seen.insert(each.scenario.car).second) continue;
    const auto figures = scenarios::measure_likeness(each.parameters, each.scenario.world.surface_friction, each.scenario.car);
    if (!figures) return apps::bad_input(figures.error());
    for (const scenarios::Likeness& figure : *figures) {
      std::printf("%s\n", (arguments.json ? scenarios::json_line(figure) : scenarios::human_line(figure)).c_str());
      alike = alike && figure.passed();
    }
  }

  scenarios::Report report;
  report.planned = static_cast<std::int64_t>(runs->size());
  report.seed = runs->front().scenario.world.seed;
  report.fidelity_profile = std::string(plant::kFidelityNames[static_cast<std::size_t>(runs->front().scenario.fidelity)]);
  report.car = runs->front().scenario.car;
  report.unmeasured_parameters = runs->front().profile->stock_names();
  report.parameters_total = static_cast<std::int64_t>(runs->front().profile->entries.size());

  bool diverged = false;
  Status written;
  apps::ProgressBar progress(arguments.quiet ? 0 : runs->size());
  progress.show(0);
  const auto on_finished = [&](const scenarios::Finished& finished) {
    const scenarios::ResolvedRun& resolved = (*runs)[finished.index];
    const std::string line = arguments.json ? scenarios::json_line(finished.outcome) : scenarios::human_line(finished.outcome);
    progress.clear();
    std::printf("%s\n", line.c_str());
    // Without a reader and without a report there is nobody left to work for.
    if (std::fflush(stdout) != 0 && arguments.output.empty() && arguments.junit.empty()) g_stop = true;
    if (!resolved.expected_trace_hash.empty() && resolved.expected_trace_hash != finished.outcome.trace_hash) {
      diverged = true;
      log::error("diverged: the resolved scenario recorded trace hash " + resolved.expected_trace_hash + ", this run gave " +
                 finished.outcome.trace_hash);
    }
    if (!arguments.resolved.empty() && written.ok())
      written = write_resolved(arguments.resolved, resolved, finished.index, finished.outcome);
    report.results.push_back(finished.outcome);
    progress.show(report.results.size());
  };
  const int jobs = arguments.jobs > 0 ? arguments.jobs : scenarios::default_jobs();
  const Status status = scenarios::run_all(*runs, jobs, g_stop, on_finished, runner(arguments, *runs));
  progress.clear();
  report.interrupted = g_stop && report.results.size() < runs->size();

  std::printf("%s\n", arguments.json ? scenarios::json_summary(report).c_str() : scenarios::human_summary(report).c_str());
  if (written.ok() && !arguments.output.empty()) written = write_file(arguments.output, scenarios::json_report(report));
  if (written.ok() && !arguments.junit.empty()) written = write_file(arguments.junit, scenarios::junit_xml(report));
  if (!written) return apps::bad_input(written.error());
  if (!arguments.output.empty()) log::info("wrote report " + arguments.output);
  if (!arguments.junit.empty()) log::info("wrote JUnit " + arguments.junit);
  if (!arguments.resolved.empty() && !report.results.empty()) log::info("wrote resolved scenarios to " + arguments.resolved + "/");
  if (!arguments.record.empty() && !report.results.empty()) log::info("wrote recordings to " + arguments.record + "/");

  // Bad input that only a later run met: what had finished by then is reported above.
  if (!status) return apps::bad_input(status.error());
  if (report.interrupted) return apps::kInterrupted;
  return report.passed() && !diverged && alike ? apps::kPassed : apps::kFailed;
}

/// The same runs with several steering laws, and which of them is worth having.
int run_comparison(Arguments& arguments) {
  scenarios::ValidationOptions& options = arguments.options;
  const auto on_finished = [&](const std::string& law, const scenarios::Outcome& outcome) {
    if (!arguments.quiet) std::fprintf(stderr, "%-12s  %s\n", law.c_str(), scenarios::human_line(outcome).c_str());
  };
  const int jobs = arguments.jobs > 0 ? arguments.jobs : scenarios::default_jobs();
  const auto laws = scenarios::compare_laws(options, arguments.compare, jobs, g_stop, on_finished);
  if (!laws) return apps::bad_input(laws.error());
  const std::string json = scenarios::comparison_json(*laws);
  std::printf("%s\n", arguments.json ? json.c_str() : scenarios::comparison_markdown(*laws).c_str());
  if (!arguments.output.empty()) {
    if (const Status written = write_file(arguments.output, json + "\n"); !written) return apps::bad_input(written.error());
    log::info("wrote report " + arguments.output);
  }
  if (g_stop) return apps::kInterrupted;
  bool sound = true;
  for (const scenarios::LawRuns& law : *laws) {
    for (const scenarios::Outcome& outcome : law.outcomes) sound = sound && outcome.passed;
    sound = sound && !(law.verdict && law.verdict->promotion == scenarios::Promotion::kInvalid);
  }
  return sound ? apps::kPassed : apps::kFailed;
}

/// The published benchmark with its own rules; the options that belong to our car and controllers have no say in it.
int run_published_laps(const Arguments& arguments) {
  std::string lines;
  bool passed = true;
  const auto on_finished = [&](const scenarios::F1tenthLaps& laps) {
    std::printf("%s\n", (arguments.json ? scenarios::json_line(laps) : scenarios::human_line(laps)).c_str());
    std::fflush(stdout);
    lines += (lines.empty() ? "[" : ",\n ") + scenarios::json_line(laps);
    passed = passed && laps.passed;
  };
  const auto interrupted = [] { return g_stop.load(); };
  const scenarios::ValidationOptions& options = arguments.options;
  scenarios::F1tenthLaw law;
  law.name = options.steering_law;
  law.line.choice = options.raceline.value_or(scenarios::LineChoice::kShipped);
  if (law.name.empty() && law.line.choice != scenarios::LineChoice::kShipped)
    return apps::bad_input(
        Error{"scenario f1tenth_laps: --raceline is for a --steering-law; the benchmark's planners have lines of their own"});
  for (const std::string& parameter : options.law_parameters) {
    if (const Status set = set_by_path(law.parameters, parameter); !set) return apps::bad_input(set.error());
  }
  const auto results = law.name.empty()
                           ? scenarios::run_f1tenth_laps(options.tracks, options.seed.value_or(12345), on_finished, interrupted)
                           : scenarios::run_f1tenth_law(options.tracks, law, on_finished, interrupted);
  if (!results) return apps::bad_input(results.error());
  if (!arguments.output.empty()) {
    const Status written = write_file(arguments.output, lines + "]\n");
    if (!written) return apps::bad_input(written.error());
    log::info("wrote report " + arguments.output);
  }
  if (g_stop) return apps::kInterrupted;
  return passed ? apps::kPassed : apps::kFailed;
}

/// What the command line says; the choices still as text.
struct Choices {
  std::string fidelity;
  std::string raceline;
  std::string localization;
  std::optional<std::string> car;
};

void add_options(CLI::App& app, Arguments& arguments, Choices& choices) {
  scenarios::ValidationOptions& options = arguments.options;
  app.footer(kFooter);
  app.add_option("--scenario", options.scenario,
                 "all, a suite (faults), a scenario of one, a suite file (such as a resolved scenario), or f1tenth_laps: a published "
                 "benchmark with its own rules")
      ->capture_default_str();
  app.add_option("--tracks", options.tracks, "built-in names or groups, map yamls, folders NAME, stems (default: circuits)");
  app.add_option("--seed", options.seed, "first seed (default 12345)")->check(check_seed);
  app.add_option("--repeat-seeds", options.repeat_seeds, "run every scenario with seeds seed .. seed + N - 1")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  app.add_option("--timeout", options.timeout_s, "simulated seconds a scenario may take (default 240)")->check(check_timeout);
  app.add_option("--output", arguments.output, "write the JSON report here; parent folders are made");
  app.add_option("--junit", arguments.junit, "write a JUnit XML report here");
  app.add_option("--resolved", arguments.resolved,
                 "folder for the resolved scenarios (default: beside --output, else run_validation.resolved)");
  app.add_option("--record", arguments.record,
                 "record each run into a folder of its own below this one, and verify that it replays to the bit");
  app.add_flag("--quick", options.quick, "only the first track");
  app.add_flag("--no-centering", options.no_centering, "gap_follow without corridor centring (for measurements)");
  app.add_option("--fidelity", choices.fidelity, "legacy, plant or car (default car)");
  app.add_option("--raceline", choices.raceline, "line to follow: shipped (default), optimized or centerline");
  app.add_option("--localization", choices.localization,
                 "where poses come from: truth, model (of a localiser's errors, default), or scan: the localiser, on the track's map");
  app.add_option("--car", choices.car, "car profile, or a car yaml (default: PITWALL_CAR, else f1tenth)");
  app.add_option("--steering-law", options.steering_law,
                 "law that steers the cars which follow a line: " + join(controllers::steering_laws()));
  app.add_option("--compare", arguments.compare, "laws to judge against pure_pursuit on scenario pure: a table, and PROMOTE or REJECT");
  app.add_option("--law-param", options.law_parameters, "key=value of that law, for example gain_per_s=2.5; may be repeated")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--set", options.assignments, "set any key of the scenarios, for example gap_follow.max_speed_mps=2")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--jobs", arguments.jobs, "workers (default: one a core)")->check(CLI::Range(1, 1024));
  app.add_flag("--json", arguments.json, "one JSON object a line instead of text");
  app.add_flag("--list", arguments.list, "print the scenarios, tracks and cars that ship, and stop");
  app.add_flag("--print-config", arguments.print_config, "print every key of --set with its default, range and meaning, and stop");
  app.add_flag("--quiet", arguments.quiet, "only warnings and errors on stderr");
}

/// The choices taken, and the places of the outputs that the user left to us.
Status take(const Choices& choices, Arguments& arguments) {
  scenarios::ValidationOptions& options = arguments.options;
  if (!choices.fidelity.empty()) {
    const auto chosen = apps::choose("--fidelity", choices.fidelity, plant::kFidelityNames);
    if (!chosen) return chosen.error();
    options.fidelity = static_cast<plant::Fidelity>(*chosen);
  }
  if (!choices.raceline.empty()) {
    const auto chosen = apps::choose("--raceline", choices.raceline, scenarios::kLineChoices);
    if (!chosen) return chosen.error();
    options.raceline = static_cast<scenarios::LineChoice>(*chosen);
  }
  if (!choices.localization.empty()) {
    const auto chosen = apps::choose("--localization", choices.localization, scenarios::kLocalizations);
    if (!chosen) return chosen.error();
    options.localization = static_cast<scenarios::Localization>(*chosen);
  }
  for (const auto& [flag, value] :
       {std::pair{"--junit", &arguments.junit}, {"--record", &arguments.record}, {"--resolved", &arguments.resolved}}) {
    if (value->empty()) continue;
    if (!arguments.compare.empty()) return Error{std::string(flag) + ": not with --compare"};
    if (options.scenario == scenarios::kF1tenthLaps) return Error{std::string(flag) + ": not with scenario f1tenth_laps"};
  }
  options.interrupted = [] { return g_stop.load(); };
  options.car_given = choices.car.has_value();
  options.car = apps::chosen_car(choices.car);
  if (arguments.resolved.empty()) {
    arguments.resolved = arguments.output.empty() ? "run_validation.resolved"
                                                  : std::filesystem::path(arguments.output).replace_extension(".resolved").string();
  }
  if (options.scenario == scenarios::kMeasuredCar) {
    arguments.measured = true;
    options.scenario = (options.data / "suites" / "measured_car.yaml").string();
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  return apps::guarded([&] {
    Arguments arguments;
    Choices choices;
    CLI::App app{"Drives the controllers headless through scripted scenarios; exit code 0 only if every scenario passed.",
                 "run_validation"};
    add_options(app, arguments, choices);
    if (const auto code = apps::parse(app, argc, argv)) return *code;
    log::set_quiet(arguments.quiet);
    std::signal(SIGINT, on_stop_signal);
    std::signal(SIGTERM, on_stop_signal);
    // A reader that has gone (| head) costs neither the reports nor the exit code.
    std::signal(SIGPIPE, SIG_IGN);

    arguments.options.data = data_folder();
    arguments.options.own_tracks = apps::own_tracks_folder();
    if (arguments.print_config || arguments.list) {
      const Status printed =
          arguments.print_config ? apps::print_config() : apps::print_list(arguments.options.data, arguments.options.library());
      return printed ? with_stdout(apps::kPassed) : apps::bad_input(printed.error());
    }
    const Status taken = take(choices, arguments);
    if (!taken) return apps::bad_input(taken.error());
    if (!arguments.compare.empty()) return with_stdout(run_comparison(arguments));
    return arguments.options.scenario == scenarios::kF1tenthLaps ? with_stdout(run_published_laps(arguments)) : with_stdout(run(arguments));
  });
}

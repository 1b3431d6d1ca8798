// SPDX-License-Identifier: Apache-2.0
// fit_sim: makes the simulated car move like the recorded one, and says how well each number is known.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/car_choice.hpp"
#include "apps/fit_report.hpp"
#include "apps/fit_runs.hpp"
#include "apps/interrupt.hpp"
#include "apps/program.hpp"
#include "apps/progress.hpp"
#include "core/files.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "scenarios/resolve.hpp"
#include "scenarios/runner.hpp"

namespace {

using namespace pitwall;
namespace filesystem = std::filesystem;

constexpr const char* kFooter =
    "Examples:\n"
    "  fit_sim runs/20261019-200703 --car rb2 --surface lab --write calibration/cars/rb2.yaml\n"
    "  fit_sim frictionmaps/DS1 frictionmaps/DS3 --fix drag_area_m2 --prior surface_friction=0.6,0.3\n"
    "  fit_sim run.csv --grid speed_delay_ticks=1,2,4 --grid steering_delay_ticks=1,3,5\n"
    "\n"
    "RUN is a run folder, a bag, or a log that import_run knows. All runs are one fit: one car, one floor.\n"
    "--list prints the names that --free, --fix, --prior, --set and --grid know.\n"
    "Writes report.md, report.json and a picture of each run into --out, where it is given.\n"
    "Exit code: 0 done; 2 bad usage or input; 3 internal error; 130 interrupted.";

struct Arguments {
  std::vector<std::string> runs;
  std::optional<std::string> car;
  apps::FitRunOptions reading;
  std::vector<std::string> grid, set, free, fix, prior;
  double tick_s = 0.025;
  std::string surface;
  std::string out;
  std::string write;
  bool force = false;
  bool validate = false;
  std::vector<std::string> tracks = {"indoor_wide"};
  fit::ProblemOptions problem;
  fit::FitOptions fit;
  std::size_t best = 20;
  bool json = false;
  bool list = false;
};

/// "NAME=rest" or "NAME"; the rest in numbers.
struct Named {
  std::string name;
  std::vector<double> numbers;
};

Result<Named> parse_named(const std::string& flag, const std::string& text, std::size_t fewest, std::size_t most) {
  Named out;
  const auto equals = text.find('=');
  out.name = text.substr(0, equals);
  if (equals != std::string::npos) {
    for (const std::string_view each : split(std::string_view(text).substr(equals + 1), ',')) {
      const auto value = parse_double(each);
      if (!value) return Error{flag + " " + text + ": '" + std::string(each) + "' is no number"};
      out.numbers.push_back(*value);
    }
  }
  if (out.numbers.size() < fewest || out.numbers.size() > most) {
    return Error{flag + " " + text + ": takes NAME=" +
                 (most == 1     ? "VALUE"
                  : fewest == 0 ? "LOW,HIGH or nothing"
                                : "VALUE or VALUE,SPREAD")};
  }
  return out;
}

Result<fit::Parameter*> named(std::vector<fit::Parameter>& parameters, const std::string& flag, const Named& which) {
  const auto index = fit::find_parameter(parameters, which.name);
  if (!index) return Error{flag + ": " + index.error().message};
  return &parameters[*index];
}

/// Values of the car that are no parameters of the fit.
Status set_car(CarParameters& car, const std::vector<fit::Parameter>& parameters, const std::vector<std::string>& assignments) {
  Node changes = Node::map();
  for (const std::string& each : assignments) {
    const std::string name = each.substr(0, each.find('='));
    if (fit::find_parameter(parameters, name)) continue;
    if (const Status set = set_by_path(changes, each); !set) return set;
  }
  return load_fields(changes, "--set", car);
}

/// Free, fixed and prior, as the command line says.
Status choose_parameters(const Arguments& a, std::vector<fit::Parameter>& parameters) {
  for (const std::string& each : a.set) {
    const Result<Named> set = parse_named("--set", each, 1, 1);
    const auto index = set ? fit::find_parameter(parameters, set->name) : Result<std::size_t>(Error{""});
    if (!index) continue;
    parameters[*index].prior = set->numbers[0];
    parameters[*index].free = false;
    if (const Status good = fit::check(parameters[*index]); !good) return Error{"--set: " + good.error().message};
  }
  for (const std::string& each : a.fix) {
    if (each == "all") {
      for (fit::Parameter& p : parameters) p.free = false;
      continue;
    }
    const Result<fit::Parameter*> p = named(parameters, "--fix", {each, {}});
    if (!p) return p.error();
    (*p)->free = false;
  }
  for (const std::string& each : a.prior) {
    const Result<Named> given = parse_named("--prior", each, 1, 2);
    if (!given) return given.error();
    const Result<fit::Parameter*> p = named(parameters, "--prior", *given);
    if (!p) return p.error();
    (*p)->prior = given->numbers[0];
    if (given->numbers.size() > 1) (*p)->spread = given->numbers[1];
    if (const Status good = fit::check(**p); !good) return Error{"--prior: " + good.error().message};
  }
  for (const std::string& each : a.free) {
    const Result<Named> given = parse_named("--free", each, 0, 2);
    if (!given) return given.error();
    const Result<fit::Parameter*> p = named(parameters, "--free", *given);
    if (!p) return p.error();
    (*p)->free = true;
    if (given->numbers.size() == 1) return Error{"--free " + each + ": takes NAME or NAME=LOW,HIGH"};
    if (given->numbers.size() == 2) {
      (*p)->low = given->numbers[0];
      (*p)->high = given->numbers[1];
      if ((*p)->low < (*p)->high) (*p)->prior = std::clamp((*p)->prior, (*p)->low, (*p)->high);
    }
    if ((*p)->logarithmic && (*p)->low <= 0.0) return Error{"--free " + each + ": its lower bound must be above 0"};
    if (const Status good = fit::check(**p); !good) return Error{"--free: " + good.error().message};
  }
  return {};
}

int print_parameters(const Arguments& a) {
  const auto car = apps::load_chosen_car(a.car);
  if (!car) return apps::bad_input(car.error());
  for (const fit::Parameter& p : fit::parameters_of(car->parameters)) {
    std::printf("%-32s %-10s %8s  %8s .. %-8s %s\n", p.name.c_str(), p.unit.c_str(), format_number(p.prior, 4).c_str(),
                format_number(p.low, 4).c_str(), format_number(p.high, 4).c_str(), p.doc.c_str());
  }
  return apps::kPassed;
}

/// All names of runs and their dates, once each.
fit::FragmentSource source_of(const fit::Problem& problem, const std::string& surface) {
  fit::FragmentSource source;
  std::vector<std::string> names;
  std::set<std::string> dates;
  for (const fit::Drive& drive : problem.drives) {
    names.push_back(drive.name);
    if (!drive.date.empty()) dates.insert(drive.date);
  }
  source.runs = names.size() > 4 ? names.front() + " and " + std::to_string(names.size() - 1) + " more" : join(names);
  if (!dates.empty()) source.date = *dates.begin() + (dates.size() > 1 ? " to " + *dates.rbegin() : "");
  source.surface = surface;
  return source;
}

/// The standard laps with the car as it was and as it was fitted.
Result<std::vector<apps::LapChange>> drive_laps(const Arguments& a, const fit::FitResult& result) {
  std::vector<apps::LapChange> laps;
  std::vector<std::vector<scenarios::Outcome>> outcomes(2);
  for (std::size_t k = 0; k < 2; ++k) {
    const fit::Subject& subject = k == 0 ? result.before : result.after;
    for (const char* scenario : {"pure", "gap"}) {
      scenarios::ValidationOptions options;
      options.data = data_folder();
      options.scenario = scenario;
      options.tracks = a.tracks;
      options.car = apps::chosen_car(a.car);
      options.interrupted = apps::interrupted;
      auto runs = scenarios::resolve(options);
      if (!runs) return runs.error();
      for (scenarios::ResolvedRun& run : *runs) {
        run.parameters = subject.car;
        run.scenario.car_parameters = save_fields(subject.car);
        run.scenario.world.surface_friction = subject.car.surface_friction;
      }
      const std::atomic<bool> stop{false};
      const Status done = scenarios::run_all(*runs, scenarios::default_jobs(), stop,
                                             [&](const scenarios::Finished& f) { outcomes[k].push_back(f.outcome); });
      if (!done) return done.error();
    }
  }
  for (std::size_t i = 0; i < outcomes[0].size(); ++i) laps.push_back({outcomes[0][i], outcomes[1][i]});
  return laps;
}

Status write_profile(const Arguments& a, const std::vector<calibration::Entry>& fragment) {
  std::error_code failed;
  std::string text = "# SPDX-License-Identifier: Apache-2.0\n";
  if (filesystem::exists(a.write, failed)) {
    const Result<std::string> old = read_file(a.write);
    if (!old) return old.error();
    text = *old;
  }
  const Result<std::string> with = fit::with_entries(text, a.write, fragment, a.force);
  if (!with) return with.error();
  if (const Status written = write_file(a.write, *with); !written) return written;
  log::info("wrote " + std::to_string(fragment.size()) + " values to " + a.write);
  return {};
}

int print(const Arguments& a, const analysis::Document& document) {
  const std::string markdown = analysis::to_markdown(document);
  const std::string json = analysis::to_json(document);
  std::fputs((a.json ? json : markdown).c_str(), stdout);
  for (const std::string& warning : document.warnings) log::warn(warning);
  if (a.out.empty()) return apps::kPassed;
  for (const auto& [name, text] : {std::pair{"report.md", &markdown}, {"report.json", &json}}) {
    const filesystem::path file = filesystem::path(a.out) / name;
    if (const Status written = write_file(file, *text); !written) return apps::bad_input(written.error());
    log::info("wrote " + file.string());
  }
  return apps::kPassed;
}

int run_grid(const Arguments& a, const fit::Problem& problem, const std::vector<fit::Parameter>& parameters,
             const std::vector<std::string>& notes, const std::function<bool(double)>& progress) {
  std::vector<fit::GridAxis> axes;
  for (const std::string& each : a.grid) {
    const auto axis = fit::parse_axis(each, parameters, a.tick_s);
    if (!axis) return apps::bad_input(axis.error());
    axes.push_back(*axis);
  }
  const auto grid = fit::search_grid(problem, parameters, axes, a.fit.jobs, progress);
  if (apps::interrupted()) return apps::kInterrupted;
  if (!grid) return apps::bad_input(grid.error());
  return print(a, apps::document_of("fit_sim: grid", notes, *grid, a.best));
}

int run_fit(const Arguments& a, const fit::Problem& problem, const std::vector<fit::Parameter>& parameters,
            std::vector<std::string> notes) {
  const auto result = fit::fit(problem, parameters, a.fit);
  if (apps::interrupted()) return apps::kInterrupted;
  if (!result) return apps::bad_input(result.error());
  apps::FitReport report;
  report.title = "fit_sim: car " + apps::chosen_car(a.car) + (a.surface.empty() ? "" : " on " + a.surface);
  report.notes = std::move(notes);
  report.problem = &problem;
  report.result = &*result;
  report.fragment = fit::fragment_of(*result, source_of(problem, a.surface));
  if (a.validate) {
    auto laps = drive_laps(a, *result);
    if (!laps) return apps::bad_input(laps.error());
    report.laps = *std::move(laps);
  }
  for (std::size_t d = 0; d < problem.drives.size() && !a.out.empty(); ++d) {
    const std::string name = "residuals_" + problem.drives[d].name + ".svg";
    if (const Status written = write_file(filesystem::path(a.out) / name, apps::residual_plot(problem, *result, d)); !written) {
      return apps::bad_input(written.error());
    }
    report.pictures.push_back(name);
  }
  if (!a.write.empty()) {
    if (const Status written = write_profile(a, report.fragment); !written) return apps::bad_input(written.error());
  }
  return print(a, apps::document_of(report));
}

int work(Arguments& a) {
  if (a.list) return print_parameters(a);
  if (a.runs.empty()) return apps::bad_input(Error{"give at least one RUN"});
  auto car = apps::load_chosen_car(a.car);
  if (!car) return apps::bad_input(car.error());
  CarParameters base = car->parameters;
  if (const Status set = set_car(base, fit::parameters_of(base), a.set); !set) return apps::bad_input(set.error());
  // Wrong names are said before minutes of reading.
  std::vector<fit::Parameter> parameters = fit::parameters_of(base);
  if (const Status chosen = choose_parameters(a, parameters); !chosen) return apps::bad_input(chosen.error());
  for (const std::string& each : a.grid) {
    if (const auto axis = fit::parse_axis(each, parameters, a.tick_s); !axis) return apps::bad_input(axis.error());
  }
  a.reading.car = base;
  a.reading.jobs = a.fit.jobs;
  a.reading.go_on = [] { return !apps::interrupted(); };
  std::vector<fit::Drive> drives;
  std::vector<std::string> notes;
  for (const std::string& each : a.runs) {
    auto input = apps::read_drive(each, a.reading);
    if (apps::interrupted()) return apps::kInterrupted;
    if (!input) return apps::bad_input(input.error());
    for (const std::string& note : input->notes) notes.push_back(input->drive.name + ": " + note);
    drives.push_back(std::move(input->drive));
  }
  const auto problem = fit::make_problem(base, std::move(drives), a.problem);
  if (!problem) return apps::bad_input(problem.error());
  fit::free_usual(*problem, parameters);
  if (const Status chosen = choose_parameters(a, parameters); !chosen) return apps::bad_input(chosen.error());
  std::optional<apps::ProgressBar> bar(1000);
  const auto progress = [&bar](double share) {
    bar->show(static_cast<std::size_t>(1000.0 * share));
    return !apps::interrupted();
  };
  a.fit.progress = progress;
  return a.grid.empty() ? run_fit(a, *problem, parameters, notes) : run_grid(a, *problem, parameters, notes, progress);
}

int run(int argc, char** argv) {
  CLI::App app("Makes the simulated car move like the recorded one, and says how well it is known", "fit_sim");
  app.footer(kFooter);
  Arguments a;
  const auto repeated = [&](const char* flag, std::vector<std::string>& into, const char* what) {
    app.add_option(flag, into, what)->take_all()->allow_extra_args(false);
  };
  app.add_option("runs", a.runs, "Run folders, bags or logs");
  app.add_option("--car", a.car, "Profile whose values are the priors (default: PITWALL_CAR, else f1tenth)");
  app.add_option("--run-car", a.reading.recorded_car, "Which car of a run folder with several");
  repeated("--topic", a.reading.topics, "ROLE=NAME: a topic that is named unlike the usual (may be repeated)");
  repeated("--grid", a.grid, "NAME=V1,V2,...: no fit, but every combination, best first (may be repeated)");
  repeated("--set", a.set, "NAME=VALUE: a value of the car that is taken as known (may be repeated)");
  repeated("--free", a.free, "NAME or NAME=LOW,HIGH: fit this one too, within bounds (may be repeated)");
  repeated("--fix", a.fix, "NAME: not this one; `all`: only those of --free (may be repeated)");
  repeated("--prior", a.prior, "NAME=VALUE or VALUE,SPREAD: where it is expected (may be repeated)");
  app.add_option("--tick", a.tick_s, "Control period that *_ticks of --grid count in, s")
      ->check(CLI::Range(0.001, 1.0))
      ->capture_default_str();
  app.add_option("--best", a.best, "How many combinations of a grid are printed")->capture_default_str();
  app.add_option("--surface", a.surface, "Name of the floor, for the profile");
  app.add_option("--out", a.out, "Folder for the report and the residual plots");
  app.add_option("--write", a.write, "Car profile to put the values in (a new file: only them)");
  app.add_flag("--keep", a.fit.keep_unidentified,
               "Leave what is not identified where the runs put it, ESTIMATED in the profile, not at its prior");
  app.add_flag("--force", a.force, "With --write: over values set by hand too");
  app.add_flag("--validate", a.validate, "Drive laps in the simulator with the old and the new car");
  app.add_option("--tracks", a.tracks, "Tracks of --validate")->capture_default_str();
  app.add_option("--stretch", a.problem.stretch_s, "Length of the stretches that are seeded anew, s")
      ->check(CLI::Range(1.0, 60.0))
      ->capture_default_str();
  app.add_option("--starts", a.fit.starts, "Starting points")->check(CLI::Range(1, 100))->capture_default_str();
  app.add_option("--seed", a.fit.seed, "Of starting points and bootstrap")->capture_default_str();
  app.add_option("--jobs", a.fit.jobs, "Threads (default: one a core); changes nothing but the time")->check(CLI::Range(0, 1024));
  app.add_flag("--list", a.list, "Print the parameters with their priors and bounds, and stop");
  app.add_flag("--json", a.json, "Print the report as JSON");
  if (const auto code = apps::parse(app, argc, argv)) return *code;
  apps::catch_interrupts();
  return work(a);
}

}  // namespace

int main(int argc, char** argv) {
  return pitwall::apps::guarded([&] { return run(argc, argv); });
}

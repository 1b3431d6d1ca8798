// SPDX-License-Identifier: Apache-2.0
#include "apps/sweep_program.hpp"

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>

#include "apps/car_choice.hpp"
#include "apps/program.hpp"
#include "apps/progress.hpp"
#include "apps/stopwatch.hpp"
#include "apps/track_library.hpp"
#include "core/files.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "scenarios/report.hpp"

namespace pitwall::apps {
namespace {

std::atomic<bool> g_stop{false};
extern "C" void on_sweep_signal(int /*signal*/) { g_stop = true; }

std::string check_sweep_seed(const std::string& text) {
  const auto seed = parse_int(text);
  if (seed && *seed >= 0 && *seed <= scenarios::kLargestSeed) return {};
  return "seed = " + text + ": a whole number, allowed: 0 .. " + std::to_string(scenarios::kLargestSeed);
}

int jobs_of(const SweepOptions& options) { return options.jobs > 0 ? options.jobs : scenarios::default_jobs(); }

}  // namespace

void add_sweep_options(CLI::App& app, SweepOptions& options) {
  scenarios::ValidationOptions& v = options.validation;
  app.add_option("--seed", v.seed, "first seed (default 12345)")->check(check_sweep_seed);
  app.add_option("--set", v.assignments, "set a parameter, name=value; may be repeated")->take_all()->allow_extra_args(false);
  app.add_option("--fidelity", options.fidelity, "legacy, plant or car (default car)");
  app.add_option("--timeout", v.timeout_s, "simulated seconds a run may take (default 240)")->check(CLI::Range(0.1, 1e6));
  app.add_option("--car", options.car, "car profile, or a car yaml (default: PITWALL_CAR, else f1tenth)");
  app.add_option("--jobs", options.jobs, "workers (default: one a core)")->check(CLI::Range(1, 1024));
  app.add_option("--output", options.output, "write the JSON report here; parent folders are made");
  app.add_option("--resume", options.resume, "journal: runs that it holds are not driven again, new ones are added to it");
  app.add_flag("--json", options.json, "JSON instead of text");
  app.add_flag("--quiet", options.quiet, "only warnings and errors on stderr");
}

Status take(SweepOptions& options) {
  std::signal(SIGINT, on_sweep_signal);
  std::signal(SIGTERM, on_sweep_signal);
  log::set_quiet(options.quiet);
  scenarios::ValidationOptions& v = options.validation;
  v.data = data_folder();
  v.own_tracks = own_tracks_folder();
  v.interrupted = [] { return g_stop.load(); };
  v.car_given = options.car.has_value();
  v.car = chosen_car(options.car);
  if (!options.fidelity.empty()) {
    const auto chosen = choose("--fidelity", options.fidelity, plant::kFidelityNames);
    if (!chosen) return chosen.error();
    v.fidelity = static_cast<plant::Fidelity>(*chosen);
  }
  if (!options.raceline.empty()) {
    const auto chosen = choose("--raceline", options.raceline, scenarios::kLineChoices);
    if (!chosen) return chosen.error();
    v.raceline = static_cast<scenarios::LineChoice>(*chosen);
  }
  return {};
}

bool stopped() { return g_stop.load(); }
const std::atomic<bool>& stop_flag() { return g_stop; }

Result<std::vector<scenarios::Outcome>> drive(const SweepOptions& options, const std::vector<scenarios::ResolvedRun>& runs) {
  Result<scenarios::Journal> journal = scenarios::Journal::open(options.resume);
  if (!journal) return journal.error();
  if (journal->size() > 0) log::info(options.resume + ": " + std::to_string(journal->size()) + " runs are there already");
  std::vector<scenarios::Outcome> outcomes;
  ProgressBar bar(options.quiet ? 0 : runs.size());
  bar.show(0);
  const Status ran = scenarios::run_all_kept(runs, jobs_of(options), g_stop, *journal, [&](const scenarios::Finished& finished) {
    outcomes.push_back(finished.outcome);
    bar.clear();
    if (!options.quiet) log::info(scenarios::human_line(finished.outcome));
    bar.show(outcomes.size());
  });
  bar.clear();
  if (!ran) return ran.error();
  if (stopped()) {
    log::warn("interrupted after " + std::to_string(outcomes.size()) + " of " + std::to_string(runs.size()) + " runs" +
              (options.resume.empty() ? "; with --resume FILE they would have been kept" : "; the same command goes on from there"));
  }
  return outcomes;
}

std::function<Status(const std::vector<scenarios::ResolvedRun>&, const std::function<void(const scenarios::Finished&)>&)> kept_runner(
    const SweepOptions& options, scenarios::Journal& journal) {
  return [&options, &journal](const std::vector<scenarios::ResolvedRun>& runs,
                              const std::function<void(const scenarios::Finished&)>& finished) {
    return scenarios::run_all_kept(runs, jobs_of(options), g_stop, journal, finished, run_timed);
  };
}

Status write_report(const SweepOptions& options, const std::string& json) {
  if (options.output.empty()) return {};
  if (const Status written = write_file(options.output, json + "\n"); !written) return written;
  log::info("wrote report " + options.output);
  return {};
}

}  // namespace pitwall::apps

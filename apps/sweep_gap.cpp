// SPDX-License-Identifier: Apache-2.0
// gap_follow on many layouts and seeds: whether it comes round, and how near to the walls.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "apps/program.hpp"
#include "apps/sweep_program.hpp"
#include "scenarios/advice.hpp"
#include "scenarios/gap_sweeps.hpp"

namespace {

using namespace pitwall;

int run(apps::SweepOptions options, double laps) {
  if (const Status taken = apps::take(options); !taken) return apps::bad_input(taken.error());
  const auto runs = scenarios::gap_sweep_runs(options.validation, laps);
  if (!runs) return apps::bad_input(runs.error());
  const auto outcomes = apps::drive(options, *runs);
  if (!outcomes) return apps::bad_input(outcomes.error());
  nlohmann::json report = {{"rows", nlohmann::json::array()}, {"advice", nlohmann::json::array()}};
  bool passed = outcomes->size() == runs->size() && !outcomes->empty();
  for (const scenarios::GapSweepRow& row : scenarios::gap_sweep_rows(*outcomes)) {
    std::printf("%s\n", (options.json ? scenarios::json_line(row) : scenarios::human_line(row)).c_str());
    report["rows"].push_back(nlohmann::json::parse(scenarios::json_line(row)));
    passed = passed && row.passed == row.runs;
  }
  const auto advice = scenarios::advise("gap_follow", *outcomes);
  for (const scenarios::Advice& a : advice) report["advice"].push_back({{"symptom", a.symptom}, {"cause", a.cause}, {"try", a.to_try}});
  if (!options.json) std::printf("%s", scenarios::advice_text(advice).c_str());
  if (const Status written = apps::write_report(options, report.dump()); !written) return apps::bad_input(written.error());
  if (apps::stopped()) return apps::kInterrupted;
  return passed ? apps::kPassed : apps::kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  return apps::guarded([&] {
    CLI::App app{"Drives gap_follow alone on many tracks and seeds.", "sweep_gap"};
    app.footer(
        "Example:\n  sweep_gap --track indoor --seeds 6\n  sweep_gap --track all --seeds 20 --set safety_margin_m=0.12 --resume "
        "sweep.journal\n"
        "A run passes that finishes its laps without contact and never comes less than 0.5 m farther in 10 s.\n"
        "Exit codes: 0 every run passed, 1 one did not, 2 bad usage or input, 3 internal error, 130 interrupted.");
    apps::SweepOptions options;
    options.validation.repeat_seeds = 6;
    double laps = 1.0;
    app.add_option("--track", options.validation.tracks, "built-in names, indoor (default), circuits, all, map yamls, stems");
    app.add_option("--seeds", options.validation.repeat_seeds, "so many, from --seed on")
        ->check(CLI::Range(1, 10000))
        ->capture_default_str();
    app.add_option("--laps", laps, "laps of a run")->check(CLI::Range(1.0, 1000.0))->capture_default_str();
    apps::add_sweep_options(app, options);
    if (const auto code = apps::parse(app, argc, argv)) return *code;
    return run(std::move(options), laps);
  });
}

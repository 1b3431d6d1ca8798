// SPDX-License-Identifier: Apache-2.0
// Several cars of gap_follow on one track: whether they come round without touching walls or one another.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "apps/program.hpp"
#include "apps/sweep_program.hpp"
#include "core/text.hpp"
#include "scenarios/advice.hpp"
#include "scenarios/gap_sweeps.hpp"

namespace {

using namespace pitwall;

struct Options {
  apps::SweepOptions sweep;
  int cars = 3;
  std::string speeds = "1.8,3.5,3.5";
  double laps = 1.0;
};

Result<scenarios::GapMultiSettings> settings_of(const Options& options) {
  scenarios::GapMultiSettings settings;
  settings.laps = options.laps;
  for (const std::string_view piece : split(options.speeds, ',')) {
    const auto speed = parse_double(piece);
    if (!speed) return Error{"--speeds " + options.speeds + ": '" + std::string(piece) + "' is not a number"};
    settings.speeds_mps.push_back(*speed);
  }
  if (settings.speeds_mps.size() != static_cast<std::size_t>(options.cars)) {
    return Error{"--speeds " + options.speeds + ": " + std::to_string(settings.speeds_mps.size()) + " speeds for --cars " +
                 std::to_string(options.cars) + ": one for each car is needed"};
  }
  return settings;
}

int run(Options options) {
  const auto settings = settings_of(options);
  if (!settings) return apps::bad_input(settings.error());
  if (const Status taken = apps::take(options.sweep); !taken) return apps::bad_input(taken.error());
  const auto runs = scenarios::gap_multi_runs(options.sweep.validation, *settings);
  if (!runs) return apps::bad_input(runs.error());
  const auto outcomes = apps::drive(options.sweep, *runs);
  if (!outcomes) return apps::bad_input(outcomes.error());
  nlohmann::json report = {{"rows", nlohmann::json::array()}, {"advice", nlohmann::json::array()}};
  bool passed = outcomes->size() == runs->size() && !outcomes->empty();
  for (const scenarios::GapMultiRow& row : scenarios::gap_multi_rows(*outcomes)) {
    std::printf("%s\n", (options.sweep.json ? scenarios::json_line(row) : scenarios::human_line(row)).c_str());
    report["rows"].push_back(nlohmann::json::parse(scenarios::json_line(row)));
    passed = passed && row.passed == row.runs;
  }
  const auto advice = scenarios::advise("gap_follow", *outcomes);
  for (const scenarios::Advice& a : advice) report["advice"].push_back({{"symptom", a.symptom}, {"cause", a.cause}, {"try", a.to_try}});
  if (!options.sweep.json) std::printf("%s", scenarios::advice_text(advice).c_str());
  if (const Status written = apps::write_report(options.sweep, report.dump()); !written) return apps::bad_input(written.error());
  if (apps::stopped()) return apps::kInterrupted;
  return passed ? apps::kPassed : apps::kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  return apps::guarded([&] {
    CLI::App app{"Drives several cars of gap_follow against each other.", "eval_gap_multi"};
    app.footer(
        "Example:\n  eval_gap_multi --track indoor_wide --cars 3 --speeds 1.8,3.5,3.5 --seeds 6\n"
        "A run passes in which no car touches a wall or another, none stands for 10 s, and each comes round --laps times.\n"
        "Exit codes: 0 every run passed, 1 one did not, 2 bad usage or input, 3 internal error, 130 interrupted.");
    Options options;
    options.sweep.validation.repeat_seeds = 6;
    app.add_option("--track", options.sweep.validation.tracks, "built-in names or groups, map yamls, stems (default: indoor_wide)");
    app.add_option("--cars", options.cars, "how many")->check(CLI::Range(1, 20))->capture_default_str();
    app.add_option("--speeds", options.speeds, "largest speed of each, m/s, with commas")->capture_default_str();
    app.add_option("--seeds", options.sweep.validation.repeat_seeds, "so many, from --seed on")
        ->check(CLI::Range(1, 10000))
        ->capture_default_str();
    app.add_option("--laps", options.laps, "what every car must come round")->check(CLI::Range(0.1, 1000.0))->capture_default_str();
    apps::add_sweep_options(app, options.sweep);
    if (const auto code = apps::parse(app, argc, argv)) return *code;
    return run(std::move(options));
  });
}

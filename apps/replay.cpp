// SPDX-License-Identifier: Apache-2.0
// replay: whether a controller still answers a recorded run as it did.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "apps/interrupt.hpp"
#include "apps/program.hpp"
#include "apps/progress.hpp"
#include "core/files.hpp"
#include "core/log.hpp"
#include "scenarios/replay_run.hpp"

namespace {

using namespace pitwall;

constexpr const char* kFooter =
    "Example:\n"
    "  run_validation --scenario gap --record runs\n"
    "  replay runs/001-gap-oval-12345\n"
    "  replay runs/001-gap-oval-12345 --set gap_follow.max_speed_mps=3\n"
    "  replay car.mcap --scenario gap_on_the_car.yaml\n"
    "\n"
    "A run folder has the ticks of its controllers: the replay is exact, and the same program gives the same bits. Any other recording is\n"
    "replayed by arrival times, and marked approximate.\n"
    "Exit code: 0 identical; 1 another answer; 2 bad usage or input; 3 internal error; 130 interrupted.";

struct Arguments {
  std::string run;
  scenarios::ReplayOptions options;
  bool json = false;
};

nlohmann::ordered_json json_of(const scenarios::RunReplay& replay) {
  nlohmann::ordered_json cars = nlohmann::ordered_json::array();
  for (const recording::CarReplay& car : replay.cars) {
    nlohmann::ordered_json first;
    if (car.first) {
      first = {{"tick", car.first->tick},
               {"now_ns", car.first->now.ns},
               {"field", car.first->field},
               {"recorded", car.first->recorded},
               {"replayed", car.first->replayed}};
    }
    cars.push_back({{"car", car.car},
                    {"controller", car.controller},
                    {"identical", car.identical()},
                    {"approximate", car.approximate},
                    {"ticks", car.ticks},
                    {"differing", car.differing},
                    {"most_steering_rad", car.most_steering_rad},
                    {"most_speed_mps", car.most_speed_mps},
                    {"first_difference", first}});
  }
  return {{"identical", replay.identical()}, {"cars", cars}, {"notes", replay.notes}};
}

int replay(const Arguments& arguments) {
  auto bar = std::make_shared<std::optional<apps::ProgressBar>>();
  const auto progress = [bar](std::uint64_t done, std::uint64_t total) {
    if (!bar->has_value()) bar->emplace(total);
    (*bar)->show(done);
    return !apps::interrupted();
  };
  const auto result = scenarios::replay_run(arguments.run, arguments.options, progress);
  bar->reset();
  if (!result) return apps::bad_input(result.error());
  for (const std::string& note : result->notes) log::warn(note);
  const std::string text = arguments.json ? json_of(*result).dump(2) + "\n" : result->text();
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (apps::interrupted()) return apps::kInterrupted;
  return result->identical() ? apps::kPassed : apps::kFailed;
}

int run(int argc, char** argv) {
  CLI::App app("Whether a controller still answers a recorded run as it did", "replay");
  app.footer(kFooter);
  Arguments arguments;
  arguments.options.data = data_folder();
  app.add_option("run", arguments.run, "A run folder, or any recording with --scenario")->required();
  app.add_option("--scenario", arguments.options.scenario, "Resolved scenario whose controllers answer (default: the run's own)");
  app.add_option("--set", arguments.options.assignments, "A parameter of a controller, CONTROLLER.KEY=VALUE (may be repeated)")
      ->allow_extra_args(false);
  app.add_option("--car", arguments.options.car, "Only the car of this name");
  app.add_flag("--json", arguments.json, "Print the result as JSON");
  if (const auto code = apps::parse(app, argc, argv)) return *code;
  apps::catch_interrupts();
  return replay(arguments);
}

}  // namespace

int main(int argc, char** argv) {
  return pitwall::apps::guarded([&] { return run(argc, argv); });
}

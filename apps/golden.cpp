// SPDX-License-Identifier: Apache-2.0
// golden: plays recordings into a mapping system and compares what it makes with golden graphs and trajectories.
#include "recording/golden.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "analysis/slam_golden.hpp"
#include "apps/program.hpp"
#include "core/files.hpp"
#include "core/log.hpp"
#include "core/text.hpp"

namespace {

using namespace pitwall;
using recording::GoldenStatus;

constexpr const char* kFooter =
    "Example:\n"
    "  golden --data ../shared/data\n"
    "  golden steady_lap --results golden_results --mode chunked\n"
    "  golden steady_lap --update\n"
    "\n"
    "Defaults come from the environment: PITWALL_TEST_DATA (--data), PITWALL_TEST_RESULTS (--results), PITWALL_UPDATE_GOLDEN=1 "
    "(--update).\n"
    "Exit code: 0 all passed; 1 one failed or has no golden files; 2 bad usage or input; 3 internal error; 77 skipped for lack of data.";

struct Arguments {
  std::vector<std::string> scenarios;
  std::string data;
  std::string golden;
  std::string results;
  std::string mode = "lockstep";
  bool update = false;
  bool list = false;
  bool json = false;
};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Result<std::vector<recording::GoldenScenario>> chosen(const Arguments& arguments) {
  auto all = recording::load_golden_scenarios(arguments.golden);
  if (!all || arguments.scenarios.empty()) return all;
  std::vector<recording::GoldenScenario> some;
  std::vector<std::string> known;
  for (const auto& scenario : *all) known.push_back(scenario.name);
  for (const std::string& name : arguments.scenarios) {
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end()) return Error{unknown_name("scenario", name, known)};
    some.push_back((*all)[static_cast<std::size_t>(found - known.begin())]);
  }
  return some;
}

void print(const recording::GoldenResult& result, bool json) {
  if (json) {
    std::printf("%s\n", recording::to_json(result).c_str());
    return;
  }
  constexpr std::array<const char*, 3> kWords = {"PASS", "FAIL", "SKIP"};
  std::printf("%s  %-16s %lld nodes, %lld + %lld closures, %.2f m%s%s\n", kWords[static_cast<std::size_t>(result.status)],
              result.scenario.c_str(), static_cast<long long>(result.summary.nodes), static_cast<long long>(result.summary.global_closures),
              static_cast<long long>(result.summary.local_closures), result.summary.path_length_m, result.message.empty() ? "" : "; ",
              result.message.c_str());
}

int run(const Arguments& arguments) {
  const auto scenarios = chosen(arguments);
  if (!scenarios) return apps::bad_input(scenarios.error());
  if (arguments.list) {
    for (const auto& scenario : *scenarios)
      std::printf("%s: %s into %s\n", scenario.name.c_str(), scenario.bags.c_str(), scenario.system.c_str());
    return apps::kPassed;
  }
  recording::GoldenOptions options;
  options.systems["slam"] = analysis::map_by_slam;
  options.data = arguments.data;
  options.golden = arguments.golden;
  options.results = arguments.results;
  options.update = arguments.update;
  options.mode = arguments.mode == "chunked" ? recording::PlayMode::kChunked : recording::PlayMode::kLockstep;
  bool failed = false;
  bool skipped = false;
  for (const auto& scenario : *scenarios) {
    const auto result = recording::run_golden(scenario, options);
    if (!result) return apps::bad_input(result.error());
    print(*result, arguments.json);
    failed = failed || result->status == GoldenStatus::kFailed;
    skipped = skipped || result->status == GoldenStatus::kSkipped;
  }
  if (!arguments.results.empty()) log::info("wrote verdicts to " + arguments.results + "/");
  if (failed) return apps::kFailed;
  return skipped ? apps::kSkipped : apps::kPassed;
}

}  // namespace

int main(int argc, char** argv) {
  return apps::guarded([&] {
    Arguments arguments;
    arguments.data = environment("PITWALL_TEST_DATA");
    arguments.results = environment("PITWALL_TEST_RESULTS");
    arguments.update = environment("PITWALL_UPDATE_GOLDEN") == "1";
    arguments.golden = (data_folder() / "golden").string();
    CLI::App app{"Plays recordings into a mapping system and compares the graph and trajectory with golden ones.", "golden"};
    app.footer(kFooter);
    app.add_option("scenario", arguments.scenarios, "Scenarios (default: all)");
    app.add_option("--data", arguments.data, "Folder of the recordings")->capture_default_str();
    app.add_option("--golden", arguments.golden, "Folder of scenarios.yaml and the golden files")->capture_default_str();
    app.add_option("--results", arguments.results, "Folder for verdicts, and for graph and trajectory where a scenario failed");
    app.add_option("--mode", arguments.mode, "lockstep (sensor messages wait for their transforms) or chunked (order of the recording)")
        ->capture_default_str()
        ->check(CLI::IsMember({"lockstep", "chunked"}));
    app.add_flag("--update", arguments.update, "Write the golden files; one more run must match them");
    app.add_flag("--list", arguments.list, "Print the scenarios, and stop");
    app.add_flag("--json", arguments.json, "One JSON object a line");
    if (const auto code = apps::parse(app, argc, argv)) return *code;
    return run(arguments);
  });
}

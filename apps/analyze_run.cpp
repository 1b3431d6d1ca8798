// SPDX-License-Identifier: Apache-2.0
// analyze_run: what a recorded run says: how the car answered, and why it stopped.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/run_report.hpp"
#include "apps/car_choice.hpp"
#include "apps/interrupt.hpp"
#include "apps/program.hpp"
#include "apps/progress.hpp"
#include "core/files.hpp"
#include "core/log.hpp"

namespace {

using namespace pitwall;

constexpr const char* kFooter =
    "Examples:\n"
    "  run_validation --scenario gap --record runs\n"
    "  analyze_run runs/001-gap_solo-oval-12345\n"
    "  analyze_run runs/001-gap_solo-oval-12345 --set ttc_path_margin_m=0 --closed-loop\n"
    "  analyze_run car.mcap --car rb1 --yaml gap_follow.yaml\n"
    "\n"
    "Writes report.md, report.json, a picture for each deadman hold (hold_01.svg, ...) and the cache run.npz into RUN/analysis.\n"
    "Exit code: 0 done; 1 done, and with --strict a part is missing or the closed loop failed; 2 bad usage or input; 3 internal error; "
    "130\n"
    "interrupted.";

struct Arguments {
  analysis::AnalysisOptions options;
  std::optional<std::string> car;
  std::optional<std::size_t> hold;
  bool no_plots = false;
  bool json = false;
  bool closed_loop = false;
  bool strict = false;
};

/// Whether something that was asked for could not be said.
bool incomplete(const analysis::RunAnalysis& run) { return !run.replayed || run.run.damaged || !run.run.missing.empty(); }

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

Result<std::vector<std::string>> write(const analysis::RunAnalysis& run, std::vector<analysis::HoldReport>& holds,
                                       const std::optional<analysis::ClosedLoop>& loop, bool pictures, std::string& markdown,
                                       std::string& json) {
  std::vector<std::string> written;
  for (analysis::HoldReport& hold : holds) {
    if (!pictures) break;
    char name[32];
    std::snprintf(name, sizeof name, "hold_%02zu.svg", hold.number);
    if (const Status status = write_file(run.out / name, analysis::draw(run, hold)); !status) return status.error();
    hold.picture = name;
    written.push_back((run.out / name).string());
  }
  const analysis::Document document = analysis::report(run, holds, loop);
  markdown = analysis::to_markdown(document);
  json = analysis::to_json(document);
  for (const auto& [name, text] : {std::pair{"report.md", &markdown}, std::pair{"report.json", &json}}) {
    if (const Status status = write_file(run.out / name, *text); !status) return status.error();
    written.push_back((run.out / name).string());
  }
  return written;
}

int analyze(Arguments& arguments) {
  auto bar = std::make_shared<std::optional<apps::ProgressBar>>();
  arguments.options.progress = [bar](std::uint64_t done, std::uint64_t total) {
    if (!bar->has_value()) bar->emplace(total);
    (*bar)->show(done);
    return !apps::interrupted();
  };
  const auto run = analysis::analyze(arguments.options);
  bar->reset();
  if (apps::interrupted()) return apps::kInterrupted;
  if (!run) return apps::bad_input(run.error());
  for (const std::string& warning : run->warnings) log::warn(warning);
  std::optional<analysis::ClosedLoop> loop;
  if (arguments.closed_loop) {
    auto again = analysis::run_closed_loop(*run, run->out / "closed_loop", host_name(), apps::interrupted);
    if (apps::interrupted()) return apps::kInterrupted;
    if (!again) return apps::bad_input(again.error());
    loop = *std::move(again);
  }
  auto holds = analysis::report_holds(*run, arguments.hold);
  if (!holds) return apps::bad_input(holds.error());
  std::string markdown;
  std::string json;
  const auto written = write(*run, *holds, loop, !arguments.no_plots, markdown, json);
  if (!written) return apps::bad_input(written.error());
  const std::string& text = arguments.json ? json : markdown;
  std::fwrite(text.data(), 1, text.size(), stdout);
  log::info("cache " + run->cache);
  for (const std::string& file : *written) log::info("wrote " + file);
  const bool failed = incomplete(*run) || (loop && !loop->passed);
  return arguments.strict && failed ? apps::kFailed : apps::kPassed;
}

int run(int argc, char** argv) {
  CLI::App app("What a recorded run says: how the car answered its commands, and why it stopped", "analyze_run");
  app.footer(kFooter);
  Arguments arguments;
  analysis::AnalysisOptions& options = arguments.options;
  options.driver.data = data_folder();
  app.add_option("run", options.run, "A run folder, a bag or one storage file")->required();
  app.add_option("--yaml", options.driver.yaml, "Parameters that the car ran, where they are not those recorded");
  app.add_option("--set", options.assignments, "What if: a parameter of the controller, NAME=VALUE (may be repeated)")
      ->allow_extra_args(false);
  app.add_flag("--closed-loop", arguments.closed_loop, "Run the same change through the simulator as well");
  app.add_option("--hold", arguments.hold, "Only the hold of this number, from 1");
  app.add_option("--out", options.out, "Where reports go (default: RUN/analysis)");
  app.add_flag("--refresh", options.refresh, "Make the cache again");
  app.add_flag("--no-plots", arguments.no_plots, "No pictures");
  app.add_flag("--strict", arguments.strict, "Exit 1 where a part of the report is missing");
  app.add_option("--car", arguments.car, "Profile of the car of a recording that does not say it (default: PITWALL_CAR, else f1tenth)");
  app.add_option("--run-car", options.recorded_car, "Which car of a run folder with several");
  app.add_option("--controller", options.driver.controller, "Controller of a recording that does not say it")->capture_default_str();
  app.add_option("--scenario", options.driver.scenario, "Resolved scenario whose controller drove (default: the run's own)");
  app.add_option("--topic", options.topics, "ROLE=NAME: a topic that is named unlike the usual (may be repeated)")->allow_extra_args(false);
  app.add_flag("--json", arguments.json, "Print the report as JSON");
  if (const auto code = apps::parse(app, argc, argv)) return *code;
  options.driver.profile = apps::chosen_car(arguments.car);
  apps::catch_interrupts();
  return analyze(arguments);
}

}  // namespace

int main(int argc, char** argv) {
  return pitwall::apps::guarded([&] { return run(argc, argv); });
}

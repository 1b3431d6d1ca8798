// SPDX-License-Identifier: Apache-2.0
#include "apps/report_program.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "apps/car_choice.hpp"
#include "apps/interrupt.hpp"
#include "apps/program.hpp"
#include "apps/progress.hpp"
#include "apps/verdict.hpp"
#include "core/files.hpp"
#include "core/log.hpp"

namespace pitwall::apps {

void add_report_options(CLI::App& app, ReportArguments& arguments, bool run_required) {
  analysis::ImuRunOptions& options = arguments.run;
  app.add_option("run", options.run, "A run folder, a bag or one storage file")->required(run_required);
  app.add_option("--out", options.out, "Where the report goes (default: RUN/analysis)");
  app.add_flag("--refresh", options.refresh, "Make the cache again");
  app.add_option("--car", arguments.car, "Profile of the car of a recording that does not say it (default: PITWALL_CAR, else f1tenth)");
  app.add_option("--run-car", options.recorded_car, "Which car of a run folder with several");
  app.add_option("--topic", options.topics, "ROLE=NAME: a topic that is named unlike the usual (may be repeated)")->allow_extra_args(false);
  app.add_flag("--json", arguments.json, "Print the report as JSON");
}

void complete(ReportArguments& arguments) {
  arguments.run.driver.data = data_folder();
  arguments.run.driver.profile = chosen_car(arguments.car);
  auto bar = std::make_shared<std::optional<ProgressBar>>();
  arguments.run.progress = [bar](std::uint64_t done, std::uint64_t total) {
    if (!bar->has_value()) bar->emplace(total);
    (*bar)->show(done);
    return !interrupted();
  };
  catch_interrupts();
}

int finish(const std::string& name, const ReportArguments& arguments, Result<analysis::ReportResult> result) {
  if (interrupted()) return kInterrupted;
  if (!result) return bad_input(result.error());
  for (const std::string& warning : result->document.warnings) log::warn(warning);
  const std::string markdown = analysis::to_markdown(result->document);
  const std::string json = analysis::to_json(result->document);
  std::vector<std::pair<std::string, std::string>> files{{name + ".md", markdown}, {name + ".json", json}};
  if (result->arrays) {
    Result<std::string> bytes = result->arrays->finish();
    if (!bytes) return bad_input(bytes.error());
    files.emplace_back(name + ".npz", *std::move(bytes));
  }
  const std::string& text = arguments.json ? json : markdown;
  std::fwrite(text.data(), 1, text.size(), stdout);
  for (const auto& [file, bytes] : files) {
    if (result->out.empty()) break;
    if (const Status written = write_file(result->out / file, bytes); !written) return bad_input(written.error());
    log::info("wrote " + (result->out / file).string());
  }
  return verdict(result->gate);
}

}  // namespace pitwall::apps

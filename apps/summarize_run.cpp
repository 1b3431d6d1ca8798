// SPDX-License-Identifier: Apache-2.0
// summarize_run: one page on a run folder before anybody opens the bag.
#include <CLI/CLI.hpp>

#include "analysis/run_summary.hpp"
#include "apps/interrupt.hpp"
#include "apps/program.hpp"
#include "apps/track_options.hpp"

namespace {

using namespace pitwall;

constexpr const char* kFooter =
    "Examples:\n"
    "  summarize_run runs/001-gap_solo-oval-12345\n"
    "  summarize_run ~/racerbot_runs/20261026-194913 --json\n"
    "\n"
    "Exit code: 0 done, also where files are missing; 2 bad usage, or no folder; 3 internal error; 130 interrupted.";

int run(int argc, char** argv) {
  CLI::App app("One page on a run folder: what is there, how far the run came, what stopped it, what its log complains of",
               "summarize_run");
  app.footer(kFooter);
  std::filesystem::path folder;
  bool json = false;
  app.add_option("folder", folder, "Run folder, of ours or of a race stack")->required();
  app.add_flag("--json", json, "Print the summary as JSON");
  if (const auto code = apps::parse(app, argc, argv)) return *code;
  apps::catch_interrupts();
  return apps::finish(analysis::summarize_run(folder), json);
}

}  // namespace

int main(int argc, char** argv) {
  return pitwall::apps::guarded([&] { return run(argc, argv); });
}

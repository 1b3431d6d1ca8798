// SPDX-License-Identifier: Apache-2.0
// Steering laws against pure pursuit over tracks and seeds: a table, and for each law PROMOTE, REJECT or INVALID by a rule that was
// written before the runs.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "apps/program.hpp"
#include "apps/sweep_program.hpp"
#include "controllers/make.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "scenarios/advice.hpp"
#include "scenarios/law_comparison.hpp"
#include "scenarios/report.hpp"

namespace {

using namespace pitwall;

struct Options {
  apps::SweepOptions sweep;
  std::vector<std::string> laws;
  bool tuning = false;
};

/// Seeds that laws are tuned on, apart from those they are judged on.
constexpr std::int64_t kTuningSeed = 1000;
constexpr std::int64_t kJudgingSeed = 12345;
constexpr std::int64_t kSeeds = 5;

Status choose_seeds(Options& options) {
  scenarios::ValidationOptions& v = options.sweep.validation;
  if (options.tuning && v.seed) return Error{"--tuning: has seeds of its own (1000 .. 1004); leave out --seed"};
  if (options.tuning) v.seed = kTuningSeed;
  if (!v.seed) v.seed = kJudgingSeed;
  return {};
}

int run(Options options) {
  if (const Status seeds = choose_seeds(options); !seeds) return apps::bad_input(seeds.error());
  if (const Status taken = apps::take(options.sweep); !taken) return apps::bad_input(taken.error());
  if (options.laws.empty()) {
    for (const std::string& law : controllers::steering_laws()) {
      if (law != scenarios::kBaselineLaw) options.laws.push_back(law);
    }
  }
  options.sweep.validation.scenario = "pure";
  auto journal = scenarios::Journal::open(options.sweep.resume);
  if (!journal) return apps::bad_input(journal.error());
  if (journal->size() > 0) log::info(options.sweep.resume + ": " + std::to_string(journal->size()) + " runs are there already");
  std::size_t done = 0;
  const auto on_finished = [&](const std::string& law, const scenarios::Outcome& outcome) {
    ++done;
    log::info(law + "  " + scenarios::human_line(outcome));
  };
  const auto laws = scenarios::compare_laws(options.sweep.validation, options.laws, apps::stop_flag(),
                                            apps::kept_runner(options.sweep, *journal), on_finished);
  if (!laws) return apps::bad_input(laws.error());

  nlohmann::json report = nlohmann::json::parse(scenarios::comparison_json(*laws));
  std::string advice_lines;
  for (std::size_t i = 0; i < laws->size(); ++i) {
    const auto advice = scenarios::advise((*laws)[i].law, (*laws)[i].outcomes);
    if (!advice.empty()) advice_lines += "\n" + (*laws)[i].law + "\n" + scenarios::advice_text(advice);
    for (const scenarios::Advice& a : advice)
      report["laws"][i]["advice"].push_back({{"symptom", a.symptom}, {"cause", a.cause}, {"try", a.to_try}});
  }
  std::printf("%s\n", options.sweep.json ? report.dump().c_str() : (scenarios::comparison_markdown(*laws) + "\n" + advice_lines).c_str());
  if (const Status written = apps::write_report(options.sweep, report.dump()); !written) return apps::bad_input(written.error());
  if (apps::stopped()) {
    log::warn("interrupted after " + std::to_string(done) + " runs" +
              (options.sweep.resume.empty() ? "; with --resume FILE they would have been kept" : "; the same command goes on from there"));
    return apps::kInterrupted;
  }
  bool promoted = true;
  for (const scenarios::LawRuns& law : *laws)
    promoted = promoted && (!law.verdict || law.verdict->promotion == scenarios::Promotion::kPromote);
  return promoted ? apps::kPassed : apps::kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  return apps::guarded([&] {
    CLI::App app{"Judges steering laws against pure pursuit over tracks and seeds.", "law_sweep"};
    app.footer(
        "Example:\n  law_sweep --laws stanley map --seed 12345 --repeat-seeds 5 --output laws.json\n"
        "  law_sweep --laws stanley --tuning --law-param gain_per_s=2.0 --resume tuning.journal\n"
        "PROMOTE: every run a lap without contact, within 0.5 m of the line, no tick without an angle; nearer to the line or faster in "
        "the\n"
        "mean; neither more than 5 % worse. INVALID: pure pursuit itself did not come round. Runs that finished come before lap times.\n"
        "Exit codes: 0 every law is promoted, 1 one is not, 2 bad usage or input, 3 internal error, 130 interrupted.");
    Options options;
    options.sweep.validation.repeat_seeds = kSeeds;
    app.add_option("--laws", options.laws, "laws to judge (default: all that there are)");
    app.add_option("--tracks", options.sweep.validation.tracks, "built-in names or groups, map yamls, stems (default: circuits)");
    app.add_option("--repeat-seeds", options.sweep.validation.repeat_seeds, "so many, from --seed on")
        ->check(CLI::Range(1, 10000))
        ->capture_default_str();
    app.add_flag("--tuning", options.tuning, "seeds 1000 .. 1004, on which laws may be tuned; those of the verdict are 12345 .. 12349");
    app.add_option("--raceline", options.sweep.raceline, "line to follow: shipped (default), optimized or centerline");
    app.add_option("--law-param", options.sweep.validation.law_parameters, "key=value of the one law that is judged; may be repeated")
        ->take_all()
        ->allow_extra_args(false);
    apps::add_sweep_options(app, options.sweep);
    if (const auto code = apps::parse(app, argc, argv)) return *code;
    return run(std::move(options));
  });
}

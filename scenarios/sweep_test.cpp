// SPDX-License-Identifier: Apache-2.0
#include "scenarios/sweep.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/files.hpp"
#include "scenarios/report.hpp"
#include "tests/support/temp_folder.hpp"

namespace pitwall::scenarios {
namespace {

std::vector<ResolvedRun> some_runs(std::int64_t seeds) {
  ValidationOptions options;
  options.data = data_folder();
  options.scenario = "gap";
  options.tracks = {"indoor_oval"};
  options.repeat_seeds = seeds;
  auto runs = resolve(options);
  REQUIRE_MESSAGE(runs.ok(), (runs.ok() ? "" : runs.error().message));
  return *std::move(runs);
}

Outcome outcome_for(const ResolvedRun& run) {
  Outcome o;
  o.scenario = run.scenario.id;
  o.track = run.track->name;
  o.raceline = run.line_name;
  o.seed = run.scenario.world.seed;
  o.passed = run.scenario.world.seed % 2 == 1;
  o.laps = 1;
  if (o.passed) o.lap_time_s = 12.0 + 0.001 * static_cast<double>(o.seed);
  if (!o.passed) o.failure = Failure{"it stalled", 3.5, 12.25, {1.0, -2.0}};
  o.steps = 400;
  o.mean_cross_track_m = 0.1 / 3.0;
  o.reasons = {{"drive", 390}, {"ttc_brake", 10}};
  o.cars = {{"ego", 1, 29.7, 0, 2, 3, 0.5}};
  return o;
}

struct Driven {
  std::vector<std::int64_t> seeds;  // of the runs that were driven
  std::vector<std::size_t> order;   // as handed over
};

Driven go(const std::vector<ResolvedRun>& runs, Journal& journal, std::size_t stop_after = 1000) {
  Driven driven;
  std::atomic<bool> stop{false};
  const Status status = run_all_kept(
      runs, 1, stop, journal, [&](const Finished& finished) { driven.order.push_back(finished.index); },
      [&](const ResolvedRun& run, const std::function<bool()>&) -> Result<Outcome> {
        driven.seeds.push_back(run.scenario.world.seed);
        if (driven.seeds.size() >= stop_after) stop = true;
        return outcome_for(run);
      });
  CHECK(status.ok());
  return driven;
}

TEST_CASE("what a journal keeps of an outcome comes back as it was") {
  const std::vector<ResolvedRun> runs = some_runs(2);
  for (const ResolvedRun& run : runs) {
    const Outcome o = outcome_for(run);
    const auto back = outcome_of_json(json_line(o));
    REQUIRE_MESSAGE(back.ok(), (back.ok() ? "" : back.error().message));
    CHECK(back->track == o.track);
    CHECK(back->seed == o.seed);
    CHECK(back->passed == o.passed);
    CHECK(back->lap_time_s == o.lap_time_s);
    CHECK(back->mean_cross_track_m == o.mean_cross_track_m);
    CHECK(back->reasons == o.reasons);
    CHECK(back->failure.has_value() == o.failure.has_value());
    REQUIRE(back->cars.size() == 1);
    CHECK(back->cars[0].car_contacts == 2);
    CHECK(json_line(*back) == json_line(o));
  }
  CHECK_FALSE(outcome_of_json("{").ok());
  CHECK_FALSE(outcome_of_json("{\"track\": 1}").ok());
}

TEST_CASE("a sweep that was stopped goes on where it was, and hands over every run in the order of the list") {
  const TempFolder folder("sweep_test");
  const std::filesystem::path file = folder.path() / "deep" / "journal";
  const std::vector<ResolvedRun> runs = some_runs(5);
  {
    auto journal = Journal::open(file);
    REQUIRE(journal.ok());
    const Driven first = go(runs, *journal, 2);
    CHECK(first.order.size() >= 2);
    CHECK(first.seeds.size() < 5);
  }
  auto journal = Journal::open(file);
  REQUIRE(journal.ok());
  const std::size_t kept = journal->size();
  CHECK(kept >= 2);
  const Driven rest = go(runs, *journal);
  CHECK(rest.seeds.size() == 5 - kept);
  CHECK(rest.order == std::vector<std::size_t>{0, 1, 2, 3, 4});
  CHECK(go(runs, *journal).seeds.empty());
}

TEST_CASE("another parameter is another run; without a file nothing is kept") {
  const TempFolder folder("sweep_test");
  auto journal = Journal::open(folder.path() / "journal");
  REQUIRE(journal.ok());
  std::vector<ResolvedRun> runs = some_runs(1);
  CHECK(go(runs, *journal).seeds.size() == 1);
  runs[0].scenario.timeout_s += 1.0;
  CHECK(go(runs, *journal).seeds.size() == 1);
  CHECK(go(runs, *journal).seeds.empty());
  auto none = Journal::open({});
  REQUIRE(none.ok());
  CHECK(go(runs, *none).seeds.size() == 1);
}

TEST_CASE("a journal whose last line was cut off loses that line; anything else that is no journal is refused") {
  const TempFolder folder("sweep_test");
  const std::filesystem::path file = folder.path() / "journal";
  const std::vector<ResolvedRun> runs = some_runs(2);
  {
    auto journal = Journal::open(file);
    go(runs, *journal);
  }
  const std::string whole = *read_file(file);
  REQUIRE(write_file(file, std::string_view(whole).substr(0, whole.size() - 40)).ok());
  auto cut = Journal::open(file);
  REQUIRE(cut.ok());
  CHECK(cut->size() == 1);
  CHECK(go(runs, *cut).seeds.size() == 1);
  // The whole first line, and a new second one.
  const std::string mended = *read_file(file);
  CHECK(mended.starts_with(std::string_view(whole).substr(0, whole.find('\n') + 1)));
  CHECK(std::count(mended.begin(), mended.end(), '\n') == 2);
  CHECK(Journal::open(file)->size() == 2);
  REQUIRE(write_file(file, "something else\n" + whole).ok());
  const auto refused = Journal::open(file);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("journal:1") != std::string::npos);
}

}  // namespace
}  // namespace pitwall::scenarios

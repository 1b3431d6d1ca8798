// SPDX-License-Identifier: Apache-2.0
// A run of ten minutes, 24,000 scans of 1081 beams: 30 s on two cores from the bag, 1 s from the cache, 500 MB.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <ctime>
#include <filesystem>
#include <optional>
#include <string>

#include "analysis/run_analysis.hpp"
#include "analysis/run_report.hpp"
#include "core/files.hpp"
#include "scenarios/record.hpp"
#include "tests/support/temp_folder.hpp"

using namespace pitwall;
using namespace pitwall::analysis;

namespace {

/// Processor time of all threads, s: what else the machine does is no matter.
double cpu_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Cost {
  double seconds = 0.0;
  std::string cache;
};

Cost analyse(const std::filesystem::path& run) {
  const double begin = cpu_s();
  AnalysisOptions options;
  options.run = run;
  options.driver.data = data_folder();
  const auto analysis = analyze(options);
  REQUIRE_MESSAGE(analysis.ok(), analysis.error().message);
  const auto holds = report_holds(*analysis, std::nullopt);
  REQUIRE(holds.ok());
  const Document document = report(*analysis, *holds, std::nullopt);
  CHECK(to_markdown(document).size() > 1000);
  CHECK(to_json(document).size() > 1000);
  for (const HoldReport& hold : *holds) CHECK(draw(*analysis, hold).size() > 1000);
  return {cpu_s() - begin, analysis->cache};
}

}  // namespace

TEST_CASE("ten minutes are analysed within 30 s on two cores, from the cache within 1 s, in less than 500 MB") {
  const TempFolder folder("analysis_speed");
  scenarios::ValidationOptions options;
  options.data = data_folder();
  options.suite_text =
      "s: {id: long, tracks: every, timeout_s: 600, criteria: {laps_at_least: 1000}, cars: {ego: {controller: gap_follow}}}\n";
  options.tracks = {"larkfield"};
  const auto runs = scenarios::resolve(options);
  REQUIRE_MESSAGE(runs.ok(), runs.error().message);
  const std::filesystem::path path = folder.path() / "long";
  REQUIRE(scenarios::run_recorded(runs->front(), {path, "test"}, [] { return false; }).ok());

  const Cost bag = analyse(path);
  const Cost cache = analyse(path);
  rusage usage{};
  REQUIRE(getrusage(RUSAGE_SELF, &usage) == 0);
  MESSAGE("from the bag " << bag.seconds << " s of processor time, from the cache " << cache.seconds << " s, at most "
                          << usage.ru_maxrss / 1024 << " MB");
  CHECK(bag.cache.find("made") == 0);
  CHECK(cache.cache.find("read from") == 0);
  CHECK(bag.seconds < 2.0 * 30.0);
  CHECK(cache.seconds < 1.0);
  CHECK(usage.ru_maxrss < 500 * 1024);
}

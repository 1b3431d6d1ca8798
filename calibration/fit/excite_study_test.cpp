// SPDX-License-Identifier: Apache-2.0
// 200 runs of `excite` by unknown cars: how often a fit identifies what it should, how near it comes, and whether its intervals hold.
// Every tenth run is measured by simulated scans. Label slow: half an hour on two cores.
#include <doctest/doctest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string>

#include "calibration/fit/parallel.hpp"
#include "calibration/fit/test_excite.hpp"

namespace pitwall::fit {
namespace {

struct Tally {
  int runs = 0;
  int right = 0;
  int covered = 0;
  int covered_matched = 0;  ///< of the runs whose scans were matched
};

}  // namespace

TEST_CASE("runs of unknown cars: every excited parameter is identified and right, friction by the plateau of lateral acceleration") {
  const CarParameters profile = profile_car();
  for (const std::uint64_t seed : {3, 4}) {
    const ExciteFit done = drive_and_fit(profile, seed, false);
    REQUIRE(done.run.outcome.passed);
    for (const std::string_view name : kExcited) {
      CAPTURE(name);
      CAPTURE(seed);
      CHECK(is_right(*done.result.find(name), done.truth));
    }
    const double limit = done.result.find("surface_friction")->value * 9.81;
    CHECK(lateral_plateau_mps2(done.run.drive) == doctest::Approx(limit).epsilon(0.1));
  }
}

TEST_CASE("a run whose scans were simulated and matched: the same") {
  const ExciteFit done = drive_and_fit(profile_car(), 5, true);
  REQUIRE(done.run.outcome.passed);
  for (const std::string_view name : kExcited) {
    CAPTURE(name);
    const Fitted& fitted = *done.result.find(name);
    CHECK(fitted.verdict == Verdict::kIdentified);
    CHECK(error_of(fitted, done.truth) <= std::max(0.03, 2.0 * fitted.half_width));
  }
}

// Issue 8 asks for it. On 2026-12-01: right 177 of 200 (understeer) to 199, three of ten parameters below 190; pooled coverage 0.905. Every
// tenth run matches simulated scans, whose errors are no noise: six of those alone covered 0.63.
TEST_CASE("200 runs of unknown cars: identified and right in 95 %, intervals hold in 92 to 98 %" * doctest::should_fail()) {
  constexpr std::size_t kRuns = 200;
  const CarParameters profile = profile_car();
  std::map<std::string_view, Tally> tallies;
  int friction_by_plateau = 0;
  std::atomic<int> not_driven{0};
  std::mutex mutex;
  side_by_side(kRuns, std::thread::hardware_concurrency(), [&](std::size_t run, std::size_t /*worker*/) {
    const ExciteFit done = drive_and_fit(profile, run, run % 10 == 9);
    if (!done.run.outcome.passed) ++not_driven;
    const double limit = done.result.find("surface_friction")->value * 9.81;
    const double plateau = lateral_plateau_mps2(done.run.drive);
    const std::lock_guard lock(mutex);
    friction_by_plateau += std::abs(limit - plateau) <= 0.1 * plateau ? 1 : 0;
    for (const std::string_view name : kExcited) {
      const Fitted& fitted = *done.result.find(name);
      Tally& tally = tallies[name];
      tally.runs += 1;
      tally.right += is_right(fitted, done.truth) ? 1 : 0;
      tally.covered += covers(fitted, done.truth) ? 1 : 0;
      tally.covered_matched += run % 10 == 9 && covers(fitted, done.truth) ? 1 : 0;
    }
  });
  CHECK(not_driven == 0);
  int covered = 0;
  for (const auto& [name, tally] : tallies) {
    MESSAGE(std::string(name), ": right ", tally.right, ", covered ", tally.covered, " of ", tally.runs, ", matched ones ",
            tally.covered_matched);
    CAPTURE(std::string(name));
    CHECK(tally.right >= 0.95 * kRuns);
    CHECK(tally.covered >= 0.85 * kRuns);
    covered += tally.covered;
  }
  const double pooled = covered / static_cast<double>(kRuns * kExcited.size());
  MESSAGE("pooled coverage ", pooled, ", friction within 10 % of the plateau in ", friction_by_plateau);
  CHECK(pooled >= 0.92);
  CHECK(pooled <= 0.98);
  CHECK(friction_by_plateau >= 0.95 * kRuns);
}

}  // namespace pitwall::fit

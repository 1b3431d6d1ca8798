// SPDX-License-Identifier: Apache-2.0
#include "scenarios/law_comparison.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace pitwall;
using namespace pitwall::scenarios;

namespace {

/// Three tracks, five seeds.
std::vector<LawRow> rows(double mean_m = 0.04, double lap_s = 80.0) {
  std::vector<LawRow> all;
  for (const char* track : {"a", "b", "c"}) {
    for (std::int64_t seed = 12345; seed < 12350; ++seed)
      all.push_back({track, "racing line", seed, 1, false, mean_m, 2 * mean_m, 0.2, lap_s, 0});
  }
  return all;
}

template <class Change>
Verdict judged(const std::vector<LawRow>& baseline, std::vector<LawRow> candidate, const Change& change) {
  change(candidate);
  const auto verdict = judge_law(baseline, candidate);
  REQUIRE(verdict.ok());
  return *verdict;
}

Promotion of(double mean_m, double lap_s) {
  return judged(rows(), rows(mean_m, lap_s), [](auto&) {}).promotion;
}

}  // namespace

TEST_CASE("promotion: better in one and at most 5 % worse in the other") {
  CHECK(of(0.03, 80.0 * 1.04) == Promotion::kPromote);
  CHECK(of(0.03, 80.0 * 1.05) == Promotion::kPromote);
  CHECK(of(0.03, 80.0 * 1.050001) == Promotion::kReject);
  CHECK(of(0.04 * 1.05, 79.0) == Promotion::kPromote);
  CHECK(of(0.04 * 1.050001, 79.0) == Promotion::kReject);
  CHECK(of(0.03, 79.0) == Promotion::kPromote);
}

TEST_CASE("promotion: equal in both is rejected by condition 2, so pure pursuit does not beat itself") {
  const Verdict verdict = judged(rows(), rows(), [](auto&) {});
  CHECK(verdict.promotion == Promotion::kReject);
  REQUIRE(verdict.reasons.size() == 1);
  CHECK(verdict.reasons[0].starts_with("2:"));
}

TEST_CASE("promotion: one contact in fifteen runs is rejected, and the run is named") {
  const Verdict verdict = judged(rows(), rows(0.03, 79.0), [](auto& c) { c[7].collision = true; });
  CHECK(verdict.promotion == Promotion::kReject);
  REQUIRE(verdict.reasons.size() == 1);
  CHECK(verdict.reasons[0].find("b (racing line), seed 12347: contact") != std::string::npos);
}

TEST_CASE("promotion: a run without a lap, too far off, or with a law that failed is rejected") {
  CHECK(judged(rows(), rows(0.03, 79.0), [](auto& c) { c[0].lap_time_s.reset(); }).promotion == Promotion::kReject);
  CHECK(judged(rows(), rows(0.03, 79.0), [](auto& c) { c[0].laps = 0; }).promotion == Promotion::kReject);
  CHECK(judged(rows(), rows(0.03, 79.0), [](auto& c) { c[0].max_cross_track_m = 0.5; }).promotion == Promotion::kReject);
  CHECK(judged(rows(), rows(0.03, 79.0), [](auto& c) { c[0].max_cross_track_m = 0.4999; }).promotion == Promotion::kPromote);
  CHECK(judged(rows(), rows(0.03, 79.0), [](auto& c) { c[3].law_fail_steps = 1; }).promotion == Promotion::kReject);
}

TEST_CASE("promotion: every failed condition is listed") {
  const Verdict verdict = judged(rows(), rows(0.05, 90.0), [](auto&) {});
  CHECK(verdict.reasons.size() == 3);
}

TEST_CASE("promotion: a baseline that breaks condition 1 makes the comparison invalid") {
  std::vector<LawRow> baseline = rows();
  baseline[4].lap_time_s.reset();
  CHECK(judged(baseline, rows(0.03, 79.0), [](auto&) {}).promotion == Promotion::kInvalid);
  baseline = rows();
  baseline[4].collision = true;
  CHECK(judged(baseline, rows(0.03, 79.0), [](auto&) {}).promotion == Promotion::kInvalid);
}

TEST_CASE("promotion: rows that do not match, or are not finite, are errors") {
  const auto error = [](const std::vector<LawRow>& a, const std::vector<LawRow>& b) {
    const auto verdict = judge_law(a, b);
    return verdict.ok() ? std::string() : verdict.error().message;
  };
  std::vector<LawRow> fewer = rows();
  fewer.pop_back();
  CHECK(error(rows(), fewer).starts_with("unmatched"));
  CHECK(error(fewer, rows()).starts_with("unmatched"));
  std::vector<LawRow> twice = rows();
  twice[1] = twice[0];
  CHECK(error(rows(), twice).starts_with("unmatched"));
  CHECK(error({}, {}).starts_with("unmatched"));
  std::vector<LawRow> nan = rows();
  nan[2].mean_cross_track_m = NAN;
  CHECK(error(rows(), nan).starts_with("non-finite"));
  nan = rows();
  nan[2].lap_time_s = INFINITY;
  CHECK(error(nan, rows()).starts_with("non-finite"));
}

TEST_CASE("a comparison prints finished runs before lap times, and the verdict with its reasons") {
  Outcome good;
  good.track = "a", good.passed = true, good.lap_time_s = 80.0, good.laps = 1, good.mean_cross_track_m = 0.03;
  Outcome bad = good;
  bad.passed = false, bad.lap_time_s = 10.0;
  const std::string text =
      comparison_markdown({{"pure_pursuit", {good, bad}, std::nullopt}, {"map", {good, good}, Verdict{Promotion::kReject, {"2: x"}}}});
  CHECK(text.find("| pure_pursuit | a | 1/2 | 80.00 |") != std::string::npos);
  CHECK(text.find("REJECT map\n  2: x") != std::string::npos);
  CHECK(text.find("| 0.000 | 0 | - |") != std::string::npos);
  good.counters.emplace_back(kHostP99_us, 41.7);
  good.reasons.emplace_back(name(Reason::kSteeringLawFailed), 3);
  CHECK(comparison_markdown({{"map", {good, bad}, std::nullopt}}).find("| 0.000 | 3 | 42 |") != std::string::npos);
}

// SPDX-License-Identifier: Apache-2.0
#include "scenarios/advice.hpp"

#include <doctest/doctest.h>

namespace pitwall::scenarios {
namespace {

Outcome good(const char* track = "a") {
  Outcome o;
  o.track = track;
  o.passed = true;
  o.laps = 1;
  o.steps = 1000;
  o.lap_time_s = 80.0;
  o.estimated_lap_time_s = 78.0;
  o.mean_cross_track_m = 0.03;
  o.p95_cross_track_m = 0.08;
  o.max_cross_track_m = 0.1;
  o.min_clearance_m = 0.3;
  return o;
}

Outcome crashed(double s_m) {
  Outcome o = good();
  o.passed = false;
  o.collision = true;
  o.failure = Failure{"ego touched the wall at 1 m/s closing speed, decision drive", 3.0, s_m, {}};
  return o;
}

bool contains(const std::vector<Advice>& advice, const std::string& what) { return advice_text(advice).find(what) != std::string::npos; }

TEST_CASE("where all is well nothing is said") {
  CHECK(advise("pure_pursuit", {good(), good("b")}).empty());
  CHECK(advise("gap_follow", {good()}).empty());
  CHECK(advise("pure_pursuit", {}).empty());
}

TEST_CASE("contacts at one place are told from a single one, and the place is named") {
  const auto often = advise("pure_pursuit", {crashed(50.0), crashed(51.0), good()});
  REQUIRE(often.size() == 1);
  CHECK(contains(often, "2 of 3 runs end at s = 50 m of a"));
  CHECK(contains(often, "always there"));
  const auto once = advise("pure_pursuit", {crashed(50.0), good(), crashed(90.0)});
  REQUIRE(once.size() == 2);
  CHECK(contains(once, "once: noise"));
}

TEST_CASE("a loose law, a swinging one and a slow one get different advice, of parameters that they have") {
  Outcome loose = good();
  loose.mean_cross_track_m = 0.12;
  loose.p95_cross_track_m = 0.3;
  CHECK(contains(advise("pure_pursuit", {loose}), "try: lower lookahead_gain_s"));
  CHECK(contains(advise("stanley", {loose}), "try: raise gain_per_s"));
  CHECK_FALSE(contains(advise("stanley", {loose}), "lookahead_gain_s"));
  Outcome swings = good();
  swings.mean_cross_track_m = 0.04;
  swings.p95_cross_track_m = 0.2;
  CHECK(contains(advise("stanley", {swings}), "try: lower gain_per_s"));
  Outcome slow = good();
  slow.lap_time_s = 90.0;
  CHECK(contains(advise("pure_pursuit", {slow}), "of the planned time"));
}

TEST_CASE("stalls name the decision behind them") {
  Outcome stuck = good();
  stuck.passed = false;
  stuck.failure = Failure{"ego stalled: less than 0.5 m in 10.000 s, decision no_safe_gap", 30.0, 12.0, {}};
  CHECK(contains(advise("gap_follow", {stuck}), "try: lower safety_margin_m"));
  stuck.failure->what = "ego stalled: less than 0.5 m in 10.000 s, decision ttc_brake";
  CHECK(contains(advise("gap_follow", {stuck}), "ttc_path_margin_m"));
}

TEST_CASE("a law that failed, a car near a wall, many stops") {
  Outcome o = good();
  o.reasons = {{"steering_law_failed", 10}};
  o.min_clearance_m = 0.02;
  o.stop_steps = 100;
  const auto advice = advise("pure_pursuit", {o});
  CHECK(advice.size() == 3);
  CHECK(contains(advice, "gave no angle on 1 %"));
  CHECK(contains(advice, "10 % of the decisions"));
  CHECK(contains(advice, "within 0.02 m of a wall"));
}

}  // namespace
}  // namespace pitwall::scenarios

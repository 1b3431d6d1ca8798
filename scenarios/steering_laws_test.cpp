// SPDX-License-Identifier: Apache-2.0
#include "scenarios/steering_laws.hpp"

#include <doctest/doctest.h>

#include <fstream>

#include "scenarios/resolve.hpp"
#include "tests/support/temp_folder.hpp"

using namespace pitwall;
using namespace pitwall::scenarios;

namespace {

constexpr const char* kSuite =
    "gap:\n  id: gap_solo\n  cars: {ego: {controller: gap_follow}}\n"
    "traffic:\n  id: pure_traffic\n  cars:\n    ego: {controller: pure_pursuit}\n    opponent: {controller: line_follower}\n"
    "  pure_pursuit: {max_lateral_accel_mps2: 2.25, lookahead_gain_s: 0.2}\n";

std::vector<NamedScenario> suite(const std::vector<std::string>& assignments = {}) {
  const TempFolder folder("steering_laws");
  const auto file = folder.path() / "suite.yaml";
  std::ofstream(file) << kSuite;
  auto loaded = load_suite(file, assignments);
  REQUIRE(loaded.ok());
  return *std::move(loaded);
}

std::string refusal(const std::string& law, const std::vector<std::string>& parameters) {
  auto scenarios = suite();
  const Status status = choose_steering_law(scenarios, law, parameters);
  return status.ok() ? std::string() : status.error().message;
}

}  // namespace

TEST_CASE("--steering-law changes the law of the cars that have one, and of no other") {
  auto scenarios = suite();
  REQUIRE(choose_steering_law(scenarios, "stanley", {"gain_per_s=2.5"}).ok());
  CHECK(load_cars(scenarios[0].scenario)->front().controller == "gap_follow");
  const auto cars = *load_cars(scenarios[1].scenario);
  CHECK(cars[0].controller == "stanley");
  CHECK(cars[1].controller == "line_follower");
}

TEST_CASE("what a scenario says of the shared parameters is kept, what belongs to the old law is not") {
  auto scenarios = suite();
  REQUIRE(choose_steering_law(scenarios, "stanley", {}).ok());
  Node saved = save_fields(scenarios[1].scenario);
  REQUIRE(saved.find("stanley") != nullptr);
  CHECK(saved.find("stanley")->find("max_lateral_accel_mps2") != nullptr);
  CHECK(saved.find("stanley")->find("lookahead_gain_s") == nullptr);
  CHECK(saved.find("pure_pursuit")->entries.empty());
}

TEST_CASE("--steering-law and --law-param refuse what they cannot do, with the nearest name") {
  CHECK(refusal("", {}).empty());
  CHECK(refusal("stanly", {}).find("did you mean 'stanley'") != std::string::npos);
  CHECK(refusal("gap_follow", {}).find("--steering-law") != std::string::npos);
  CHECK(refusal("stanley", {"gain=2"}).find("--law-param gain=2") != std::string::npos);
  CHECK(refusal("stanley", {"lookahead_gain_s=0.2"}).find("lookahead_gain_s") != std::string::npos);
  CHECK(refusal("stanley", {"gain_per_s=900"}).find("--law-param gain_per_s=900") != std::string::npos);
  CHECK(refusal("stanley", {"gain_per_s"}).find("expected key=value") != std::string::npos);
  CHECK(refusal("stanley", {"gain_per_s=2", "gain_per_s=3"}).find("is also given as") != std::string::npos);
  auto only_gap = suite();
  only_gap.pop_back();
  CHECK(choose_steering_law(only_gap, "stanley", {}).error().message.find("has no car") != std::string::npos);
  CHECK(choose_steering_law(only_gap, "", {"gain_per_s=2"}).error().message.find("has no car") != std::string::npos);
}

TEST_CASE("--set for a controller that drives no car is refused instead of doing nothing") {
  const auto scenarios = suite();
  CHECK(refuse_unused_controllers(scenarios, {"pure_pursuit.max_speed_mps=3", "gap_follow.max_speed_mps=2"}).ok());
  CHECK(refuse_unused_controllers(scenarios, {"map.max_speed_mps=3"}).error().message.find("no car is driven by 'map'") !=
        std::string::npos);
  auto only_gap = suite();
  only_gap.pop_back();
  CHECK_FALSE(refuse_unused_controllers(only_gap, {"pure_pursuit.max_speed_mps=3"}).ok());
}

TEST_CASE("a controller that --set misspells is blamed on the flag, not on the suite file") {
  const TempFolder folder("steering_laws");
  const auto file = folder.path() / "suite.yaml";
  std::ofstream(file) << kSuite;
  const auto loaded = load_suite(file, {"cars.ego.controller=pure_persuit"});
  REQUIRE_FALSE(loaded.ok());
  CHECK(loaded.error().message.starts_with("--set cars.ego.controller=pure_persuit"));
}

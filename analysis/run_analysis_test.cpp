// SPDX-License-Identifier: Apache-2.0
// Simulated run -> recording -> analysis, against the truth; caches, what-if, live changes, closed loop.
#include "analysis/run_analysis.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/closed_loop.hpp"
#include "analysis/run_report.hpp"
#include "core/files.hpp"
#include "recording/bag_writer.hpp"
#include "recording/recorder.hpp"
#include "ros_messages/convert.hpp"
#include "ros_messages/graph.hpp"
#include "scenarios/record.hpp"
#include "tests/support/temp_folder.hpp"

using namespace pitwall;
using namespace pitwall::analysis;

namespace {

namespace fs = std::filesystem;

fs::path recorded(const TempFolder& folder, const std::string& name, const std::string& more, double timeout_s = 12.0) {
  scenarios::ValidationOptions options;
  options.data = data_folder();
  options.suite_text = "s: {id: " + name + ", tracks: every, timeout_s: " + std::to_string(timeout_s) +
                       ", criteria: {laps_at_least: 50}, cars: {ego: {controller: gap_follow}}" + more + "}\n";
  options.tracks = {"indoor_oval"};
  const auto runs = scenarios::resolve(options);
  REQUIRE_MESSAGE(runs.ok(), runs.error().message);
  const fs::path path = folder.path() / name;
  const auto outcome = scenarios::run_recorded(runs->front(), {path, "test"}, [] { return false; });
  REQUIRE_MESSAGE(outcome.ok(), outcome.error().message);
  return path;
}

AnalysisOptions options_of(const fs::path& run) {
  AnalysisOptions options;
  options.run = run;
  options.driver.data = data_folder();
  return options;
}

RunAnalysis analysed(const AnalysisOptions& options) {
  auto run = analyze(options);
  REQUIRE_MESSAGE(run.ok(), run.error().message);
  return *std::move(run);
}

std::vector<HoldReport> holds_of(const RunAnalysis& run) {
  auto holds = report_holds(run, std::nullopt);
  REQUIRE_MESSAGE(holds.ok(), holds.error().message);
  return *std::move(holds);
}

std::string refusal(const AnalysisOptions& options) {
  const auto run = analyze(options);
  REQUIRE_FALSE(run.ok());
  return run.error().message;
}

/// The report without what says where it came from.
nlohmann::json report_of(const RunAnalysis& run) {
  nlohmann::json json = nlohmann::json::parse(to_json(report(run, holds_of(run), std::nullopt)));
  json["sections"][0].erase("cache");
  return json;
}

std::size_t stop_ticks(const DecisionSeries& calls) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) n += calls.stop(i) ? 1 : 0;
  return n;
}

constexpr const char* kNervous = ", gap_follow: {ttc_threshold_s: 1.5, ttc_path_margin_m: 0.3}";

}  // namespace

TEST_CASE("lags within 5 ms and gains within 1 % of those of the truth, on cars that answer late and weakly") {
  const TempFolder folder("analysis_truth");
  int number = 0;
  int covered = 0;
  for (const char* car : {"", ", car_parameters: {steering_delay_s: 0.12, steering_gain: 0.8, speed_delay_s: 0.15}",
                          ", car_parameters: {steering_delay_s: 0.06, steering_gain: 1.2, speed_delay_s: 0.2}"}) {
    const RunAnalysis run = analysed(options_of(recorded(folder, "truth" + std::to_string(number++), std::string(kNervous) + car, 30.0)));
    CAPTURE(std::string(car));
    CHECK(run.replayed->calls.differing == 0.0);
    const std::vector<HoldReport> holds = holds_of(run);
    REQUIRE(holds.size() == 1);
    REQUIRE(holds[0].truth.has_value());
    for (const char* key : {"speed_lag_s", "steering_lag_s", "speed_gain", "steering_gain"}) {
      const signals::Estimate* found = holds[0].response.find(key);
      const signals::Estimate* truth = holds[0].truth->find(key);
      CAPTURE(std::string(key));
      REQUIRE(found->identifiable);
      REQUIRE(truth->identifiable);
      const bool lag = std::string(key).ends_with("lag_s");
      CHECK(std::abs(found->value - truth->value) <= (lag ? 0.005 : 0.01 * truth->value));
      covered += found->low <= truth->value && truth->value <= found->high ? 1 : 0;
    }
    const Way way = way_of(holds[0].measured, run.run.odometry);
    const Way true_way = way_of(by_truth(run.run.truth, holds[0].measured), run.run.odometry);
    CHECK(std::abs(way.distance_m / true_way.distance_m - 1.0) < 0.01);
  }
  // Of twelve intervals of 95 %.
  CHECK(covered >= 10);
}

TEST_CASE("a longer delay of the car is found as such, and a weaker steering as such") {
  const TempFolder folder("analysis_steps");
  const auto response_with = [&](const std::string& name, const std::string& car) {
    const RunAnalysis run = analysed(options_of(recorded(folder, name, std::string(kNervous) + ", car_parameters: {" + car + "}", 30.0)));
    return holds_of(run).front().response;
  };
  const Response plain = response_with("plain", "steering_delay_s: 0.025");
  const Response late = response_with("late", "steering_delay_s: 0.105, speed_delay_s: 0.125");
  const Response weak = response_with("weak", "steering_gain: 0.8");
  CHECK(std::abs(late.find("steering_lag_s")->value - plain.find("steering_lag_s")->value - 0.08) < 0.01);
  CHECK(std::abs(late.find("speed_delay_s")->value - plain.find("speed_delay_s")->value - 0.1) < 0.015);
  CHECK(std::abs(weak.find("steering_gain")->value / plain.find("steering_gain")->value - 0.8) < 0.016);
}

TEST_CASE("from the cache the report is the same; a stale or damaged cache is made again, and says why") {
  const TempFolder folder("analysis_cache");
  const fs::path path = recorded(folder, "cached", kNervous);
  const AnalysisOptions options = options_of(path);
  const RunAnalysis first = analysed(options);
  CHECK(first.cache.find("there is none yet") != std::string::npos);
  REQUIRE(first.replayed->stops.size() > 3);
  const RunAnalysis second = analysed(options);
  CHECK(second.cache.find("read from") == 0);
  CHECK(report_of(first) == report_of(second));
  CHECK(draw(first, holds_of(first).front()) == draw(second, holds_of(second).front()));

  AnalysisOptions refresh = options;
  refresh.refresh = true;
  CHECK(analysed(refresh).cache.find("--refresh") != std::string::npos);
  AnalysisOptions other = options;
  other.matching.stride = 3;
  const std::string why = analysed(other).cache;
  CHECK_MESSAGE(why.find("it is stale: scan matching was") != std::string::npos, why);
  AnalysisOptions yaml = options;
  yaml.driver.yaml = folder.write("p.yaml", "gap_follow:\n  ttc_threshold_s: 0.9\n");
  CHECK(analysed(yaml).cache.find("it is stale: ") != std::string::npos);
  // Stops that the controller with these parameters would not make are nobody's.
  yaml.driver.yaml = folder.write("p.yaml", "gap_follow:\n  enable_ttc: false\n");
  const RunAnalysis unexplained = analysed(yaml);
  REQUIRE_FALSE(unexplained.replayed->stops.empty());
  for (const StopEvent& stop : unexplained.replayed->stops) {
    if (first.replayed->calls.recorded_reason[stop.first] == static_cast<double>(Reason::kTtcBrake)) CHECK(stop.layer == "unexplained");
  }
  const fs::path cache = path / "analysis" / "run.npz";
  const auto bytes = read_file(cache);
  REQUIRE(bytes.ok());
  folder.write("cached/analysis/run.npz", bytes->substr(0, 1000));
  CHECK(analysed(options).cache.find("it is damaged") != std::string::npos);
  folder.write("cached/bag/extra.mcap", "");
  CHECK(analysed(options).cache.find("bag/extra.mcap is new") != std::string::npos);
}

TEST_CASE("a what-if changes what it names and nothing else, and says what it removes and adds") {
  const TempFolder folder("analysis_what_if");
  const fs::path path = recorded(folder, "what_if", kNervous);
  AnalysisOptions options = options_of(path);
  options.assignments = {"ttc_path_margin_m=0.05"};
  const RunAnalysis run = analysed(options);
  REQUIRE(run.what_if.has_value());
  CHECK(stop_ticks(run.what_if->calls) < stop_ticks(run.replayed->calls));
  std::size_t changed = 0;
  for (const auto& [name, value] : run.driver.parameters.entries) {
    const Node* now = run.changed->parameters.find(name);
    REQUIRE(now != nullptr);
    changed += to_yaml(*now) != to_yaml(value) ? 1 : 0;
  }
  CHECK(changed == 1);
  CHECK(run.changed->parameters.find("ttc_path_margin_m")->scalar == "0.05");
  const Document document = report(run, holds_of(run), std::nullopt);
  const Section& section = document.sections.back();
  CHECK(section.key == "what_if");
  CHECK(section.facts[0].value.number == static_cast<double>(stop_ticks(run.replayed->calls)));
  CHECK(section.facts[1].value.number == static_cast<double>(stop_ticks(run.what_if->calls)));
  CHECK(section.facts[0].value.number - section.facts[2].value.number + section.facts[3].value.number == section.facts[1].value.number);

  // The controller's name may stand before the parameter's; the value it has already changes nothing, and is said.
  options.assignments = {"gap_follow.ttc_path_margin_m=0.3"};
  const RunAnalysis same = analysed(options);
  CHECK(same.what_if->calls.steering_rad == same.replayed->calls.steering_rad);
  CHECK(same.what_if->calls.speed_mps == same.replayed->calls.speed_mps);
  CHECK(std::any_of(same.warnings.begin(), same.warnings.end(),
                    [](const std::string& warning) { return warning.find("changes nothing") != std::string::npos; }));
}

TEST_CASE("the same change in the simulator, and how both runs went") {
  const TempFolder folder("analysis_closed_loop");
  AnalysisOptions options = options_of(recorded(folder, "loop", kNervous, 6.0));
  const auto refused = run_closed_loop(analysed(options), folder.path() / "again", "test", [] { return false; });
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("needs a change") != std::string::npos);
  options.assignments = {"ttc_path_margin_m=0"};
  const RunAnalysis run = analysed(options);
  const auto loop = run_closed_loop(run, folder.path() / "again", "test", [] { return false; });
  REQUIRE_MESSAGE(loop.ok(), loop.error().message);
  CHECK(loop->before.stop_ticks == stop_ticks(run.replayed->calls));
  CHECK(loop->after.stop_ticks < loop->before.stop_ticks);
  CHECK(loop->after.way_m > loop->before.way_m + 0.5);
  // What it recorded is a run like any other, with the change in it, and replays to the bit.
  const RunAnalysis again = analysed(options_of(folder.path() / "again"));
  CHECK(again.driver.parameters.find("ttc_path_margin_m")->scalar == "0");
  CHECK(again.replayed->calls.differing == 0.0);
}

namespace {

/// The run again as a bag whose controller was tuned while it drove: 3 s in, a parameter of its and one of somebody else's.
fs::path tuned_bag(const TempFolder& folder, const fs::path& run, const Driver& driver, bool with_events) {
  const fs::path path = folder.path() / (with_events ? "tuned" : "tuned_silently");
  auto writer = recording::BagWriter::create(path);
  REQUIRE(writer.ok());
  const Time at = Time{} + from_seconds(3.0);
  auto controller = driver.make();
  REQUIRE(controller.ok());
  recording::ReplayWatch watch;
  watch.changes = {{at, "max_speed_mps", "1.5"}};
  std::vector<std::pair<Time, Command>> commands;
  watch.call = [&](const recording::ReplayedCall& call) { commands.emplace_back(call.seen.now, call.replayed); };
  REQUIRE(recording::replay(run, {"ego", "gap_follow", ""}, **controller, watch).ok());

  auto reader = recording::BagReader::open(run);
  REQUIRE(reader.ok());
  std::vector<std::size_t> topic_of;
  for (const recording::Topic& topic : reader->topics()) topic_of.push_back(*writer->add_topic(topic));
  const std::size_t events = *writer->add_topic(recording::topic_for<ros_messages::ParameterEvent>("/parameter_events"));
  std::size_t next = 0;
  bool told = !with_events;
  while (const recording::BagMessage* message = reader->next()) {
    if (!told && message->log_time >= at) {
      told = true;
      ros_messages::ParameterEvent event;
      event.node = "/gap_follow_node";
      ros_messages::Parameter parameter;
      parameter.name = "max_speed_mps";
      parameter.value.type = 3;
      parameter.value.double_value = 1.5;
      event.changed_parameters = {parameter};
      parameter.name = "unheard_of";
      event.changed_parameters.push_back(parameter);
      REQUIRE(writer->write(events, at, at, recording::as_bytes(ros_messages::write(event))).ok());
      event.node = "/somebody_else";
      event.changed_parameters.resize(1);
      event.changed_parameters[0].value.double_value = 0.5;
      REQUIRE(writer->write(events, at, at, recording::as_bytes(ros_messages::write(event))).ok());
    }
    std::string bytes(recording::as_text(message->data));
    if (reader->topics()[message->topic].name == "/drive") {
      bytes = ros_messages::write(ros_messages::to_ros(commands[next].second, commands[next].first, "base_link"));
      ++next;
    }
    REQUIRE(writer->write(topic_of[message->topic], message->log_time, message->publish_time, recording::as_bytes(bytes)).ok());
  }
  REQUIRE(next == commands.size());
  REQUIRE(writer->close().ok());
  return path;
}

}  // namespace

TEST_CASE("live parameter changes take effect at their scan: every decision is reproduced, and without them it is not") {
  const TempFolder folder("analysis_live");
  const fs::path run = recorded(folder, "live", "", 6.0);
  const RunAnalysis before = analysed(options_of(run));
  for (const bool with_events : {true, false}) {
    AnalysisOptions options = options_of(tuned_bag(folder, run, before.driver, with_events));
    options.driver.scenario = run / "metadata" / "files" / "scenario.yaml";
    const RunAnalysis tuned = analysed(options);
    CHECK(tuned.replayed->calls.approximate);
    CHECK((tuned.replayed->calls.differing == 0.0) == with_events);
    const auto& warnings = tuned.warnings;
    const auto unheard = [](const std::string& warning) { return warning.find("unheard_of") != std::string::npos; };
    CHECK(std::any_of(warnings.begin(), warnings.end(), unheard) == with_events);
    if (!with_events) continue;
    // What a what-if names stays as it says, whatever was tuned live.
    options.assignments = {"max_speed_mps=2"};
    const RunAnalysis what_if = analysed(options);
    const std::vector<double>& speed = what_if.what_if->calls.speed_mps;
    CHECK(*std::max_element(speed.begin() + 150, speed.end()) == 2.0);
    CHECK(*std::max_element(what_if.replayed->calls.speed_mps.begin() + 150, what_if.replayed->calls.speed_mps.end()) <= 1.5);
  }
}

TEST_CASE("bad input is refused in words") {
  const TempFolder folder("analysis_refused");
  const fs::path run = recorded(folder, "refused", "", 3.0);
  AnalysisOptions options = options_of(run);
  options.assignments = {"ttc_treshold_s=1"};
  CHECK(refusal(options).find("did you mean 'gap_follow.ttc_threshold_s'") != std::string::npos);
  options.assignments = {"ttc_threshold_s=much"};
  CHECK(refusal(options).find("much") != std::string::npos);
  options.assignments = {"ttc_threshold_s=99"};
  CHECK(refusal(options).find("0.1 .. 2") != std::string::npos);
  options.assignments = {"ttc_threshold_s"};
  CHECK(refusal(options).find("NAME=VALUE") != std::string::npos);
  options.assignments = {"pure_pursuit.min_speed_mps=1"};
  CHECK(refusal(options).find("pure_pursuit did not drive, gap_follow did") != std::string::npos);
  options.assignments = {"corner_speed_mps=1.9"};
  CHECK(refusal(options).find("must not be above corner_speed_wide_mps") != std::string::npos);
  options.assignments = {};
  options.driver.yaml = folder.write("other.yaml", "pure_pursuit: {}\n");
  CHECK(refusal(options).find("no section 'gap_follow'; there are: pure_pursuit") != std::string::npos);
  options.driver.yaml = folder.write("wrong.yaml", "gap_follow: {ros__parameters: {ttc_threshold_sec: 0.4}}\n");
  CHECK(refusal(options).find("wrong.yaml:1") != std::string::npos);
  options.driver.yaml = folder.path() / "none.yaml";
  CHECK(refusal(options).find("none.yaml") != std::string::npos);
  options.driver.yaml.clear();
  options.recorded_car = "nobody";
  CHECK(refusal(options).find("nobody") != std::string::npos);
  options.recorded_car.clear();
  options.run = folder.path() / "nothing";
  CHECK(refusal(options).find("nothing") != std::string::npos);
  options = options_of(run);
  const auto held = report_holds(analysed(options), 7);
  REQUIRE_FALSE(held.ok());
  CHECK(held.error().message.find("--hold 7: there are 1 holds") != std::string::npos);
}

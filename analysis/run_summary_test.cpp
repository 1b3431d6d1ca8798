// SPDX-License-Identifier: Apache-2.0
#include "analysis/run_summary.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "analysis/run_texts.hpp"
#include "core/controller.hpp"
#include "core/files.hpp"
#include "core/text.hpp"
#include "recording/recorder.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/test_data.hpp"

using namespace pitwall;
using namespace pitwall::analysis;
using nlohmann::json;

namespace {

/// A report on a lap in which every gate is met, but for what `changes` says instead.
std::string progress_line(const std::string& from = "", const std::string& to = "") {
  std::string line =
      "[node-1] [INFO] [7.5] [node]: FORWARD lap 1/2: samples=600, distance=112.3/20.0m, elapsed=91.2/15.0s, departed=yes, start "
      "distance=0.50/0.75m, heading error=12.0/30.0deg; output command: speed=1.00m/s";
  if (!from.empty()) line.replace(line.find(from), from.size(), to);
  return line;
}

std::string gate_of(const std::string& line) {
  const auto progress = lap_progress(line);
  REQUIRE(progress.has_value());
  REQUIRE(progress->readable);
  return progress->gate;
}

json summary_section(const Document& document, const std::string& key) {
  const json whole = json::parse(to_json(document));
  for (const json& each : whole.at("sections")) {
    if (each.at("key") == key) return each;
  }
  return nullptr;
}

constexpr const char* kLog =
    "\x1b[0m[slam-8] [INFO] [100.25] [slam]: Configuring\x1b[0m\r\n"
    "[race-1] [INFO] [110.5] [race]: Closed mapping lap 1/1 detected (123.3m)\n"
    "[race-1] [INFO] [112.0] [race]: Generated 163-point racing profile at /tmp/raceline_profiled.csv\n"
    "[pp-2] [WARN] [120.0] [pp]: STOP [pose_frozen] the pose has not moved\n"
    "[pp-2] [WARN] [121.0] [pp]: STOP [pose_frozen] the pose has not moved; update failed\n"
    "[pp-2] [WARN] [122.0] [pp]: STOP [no_gap] nothing to drive through\n"
    "[pp-2] [ERROR] [123.0] [pp]: no costmap\n"
    "[pp-2] [ERROR] [124.0] [pp]: no costmap\n"
    "[ERROR] [pp-2]: process has died [pid 5, exit code 1].\n"
    "an idle line\n";

constexpr const char* kEvents =
    "{\"t\": 100.0, \"category\": \"first_message\", \"message\": \"\", \"topic\": \"/scan\"}\n"
    "{\"t\": 101.0, \"category\": \"first_message\", \"message\": \"\", \"topic\": \"/odom\"}\n"
    "{\"t\": 102.0, \"category\": \"pose_lag_high\", \"message\": \"\", \"lag_sec\": 0.31}\n"
    "{\"t\": 103.0, \"category\": \"status\", \"message\": \"\", \"pose_lag_sec\": 0.01, \"pose_lag_max_sec\": 0.42, \"pose_frozen\": "
    "true}\n"
    "{\"t\": 104.0, \"category\": \"status\", \"message\": \"\", \"pose_lag_sec\": 0.02, \"pose_frozen\": false}\n"
    "{\"t\": 105.0, \"category\": \"tf_lost\"}\n"
    "{\"t\": 106.0, \"category\": \"status\", \"pose_lag_sec\": \"3.0\", \"pose_frozen\": 1}\n"
    "not json\n"
    "[1, 2]\n"
    "{\"t\": 5}\n"
    "\n"
    "{\"t\": 107.0, \"category\": \"watchdog\", \"message\": \"STOP [pose_stale] late\"}\n"
    "{\"t\": 108.0, \"category\": \"handover\", \"message\": \"Transition complete\"}\n";

}  // namespace

TEST_CASE("real lines of a race stack are filed as what they are") {
  const auto file = test_data("runs/logs/racerbot_log_lines.tsv");
  if (!file) return;
  const auto lines = read_file(*file);
  REQUIRE(lines.ok());
  int seen = 0;
  for (const std::string_view line : split(*lines, '\n')) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos || line.starts_with('#')) continue;
    CHECK(log_category(line.substr(tab + 1)) == line.substr(0, tab));
    ++seen;
    const auto progress = lap_progress(line);
    if (progress) CHECK(progress->readable);
    if (progress) CHECK(progress->gate == "start_distance");
  }
  CHECK(seen == 9);
}

TEST_CASE("every gate of a lap is named when it is the one that is not met") {
  CHECK(gate_of(progress_line()).empty());
  CHECK(gate_of(progress_line("departed=yes", "departed=no")) == "departed");
  CHECK(gate_of(progress_line("112.3/20.0m", "19.9/20.0m")) == "distance");
  CHECK(gate_of(progress_line("91.2/15.0s", "14.9/15.0s")) == "elapsed");
  CHECK(gate_of(progress_line("0.50/0.75m", "0.76/0.75m")) == "start_distance");
  CHECK(gate_of(progress_line("12.0/30.0deg", "30.2/30.0deg")) == "heading_error");
  CHECK(gate_of(progress_line("samples=600", "~83% round, samples=600, turn=299/300deg, SLAM corrections rejected=4")) == "turn");
  CHECK(lap_progress(progress_line("12.0/30.0deg", "30.2/30.0deg"))->detail == "30.2 of at most 30 deg");
  CHECK(lap_progress(progress_line("91.2/15.0s", "14.9/15.0s"))->detail == "14.9 of at least 15 s");
}

TEST_CASE("values at their limits meet it") {
  CHECK(gate_of(progress_line("112.3/20.0m", "20.0/20.0m")).empty());
  CHECK(gate_of(progress_line("0.50/0.75m", "0.75/0.75m")).empty());
}

TEST_CASE("of several gates that are not met the first in their order is named, whatever the order of the line") {
  CHECK(gate_of("lap 2/2: samples=1, heading error=90/30deg, start distance=9/1m, elapsed=1/15s, distance=1/20m, departed=no") ==
        "departed");
  CHECK(gate_of("lap 2/2: samples=1, heading error=90/30deg, start distance=9/1m, elapsed=1/15s, distance=1/20m, departed=yes") ==
        "distance");
}

TEST_CASE("a report on a lap of unknown form is counted, other lines are none") {
  for (const char* broken : {"112.3m", "x/20.0m", "112.3/20.0ft", "nan/20.0m"}) {
    const auto progress = lap_progress(progress_line("112.3/20.0m", broken));
    REQUIRE(progress.has_value());
    CHECK_FALSE(progress->readable);
  }
  CHECK_FALSE(lap_progress("Closed mapping lap 1/2 detected (123.3m, 665 samples).").has_value());
  CHECK_FALSE(lap_progress("overlap of maps: samples=3").has_value());
  CHECK(read_run_texts(progress_line("112.3/20.0m", "far") + "\n", {}).unreadable_progress == 1);
}

TEST_CASE("a phase that failed is an error, and a watchdog outranks both its words and a plain stop") {
  CHECK(log_category("[slam]: Configuring") == "slam_lifecycle");
  CHECK(log_category("[slam]: Configuring failed") == "error");
  CHECK(log_category("[ERROR] [pp]: Transition complete") == "error");
  CHECK(log_category("STOP [pose_stale] update failed") == "watchdog");
  CHECK(log_category("STOP [something_else] ahead") == "stopped");
  CHECK(log_category("Message Filter dropping message: frame 'laser'") == "scan_dropped");
  CHECK(log_category("slam_toolbox did not finish within 10 s") == "map_save");
  CHECK(log_category("Traceback (most recent call last):") == "node_death");
  CHECK(log_category("nothing of note").empty());
}

TEST_CASE("each phase of the list can be reached, by the log and by events") {
  const std::string log =
      "Activating\nClosed mapping lap 1/1\n9-point racing profile at x\nProfile loaded successfully\nTransition complete\n";
  CHECK(read_run_texts(log, {}).phases.size() == kRunPhases.size());
  for (const std::string_view phase : kRunPhases) {
    const RunTexts texts = read_run_texts({}, "{\"category\": \"" + std::string(phase) + "\"}");
    CHECK(texts.phases.count(phase) == 1);
    CHECK(texts.phases.size() == 1);
  }
}

TEST_CASE("counts of a made-up run") {
  const RunTexts texts = read_run_texts(std::string(kLog), std::string(kEvents));
  CHECK(texts.log_counts.at("watchdog") == 2);
  CHECK(texts.watchdogs == std::map<std::string, std::size_t, std::less<>>{{"pose_frozen", 2}});
  CHECK(texts.stops == std::map<std::string, std::size_t, std::less<>>{{"no_gap", 1}});
  CHECK(texts.event_counts.at("status") == 3);
  CHECK(texts.malformed_events == 3);
  CHECK(texts.lag_max_s == 0.42);
  CHECK(texts.frozen_samples == 1);
  CHECK(texts.topics_seen == std::set<std::string, std::less<>>{"/odom", "/scan"});
  CHECK(texts.phases.at("slam_lifecycle").where == "launch.log:1");
  CHECK(texts.phases.at("slam_lifecycle").t_s == 100.25);
  CHECK(texts.phases.at("handover").where == "events.jsonl:13");
  CHECK(texts.phases.at("handover").t_s == 108.0);
  CHECK(texts.phases.count("profile_loaded") == 0);
  REQUIRE(texts.errors.size() == 2);
  CHECK(texts.errors[0].count == 2);
  CHECK(texts.errors[0].where == "launch.log:7");
  CHECK(texts.errors[1].text == "[ERROR] [pp-2]: process has died [pid 5, exit code 1].");
}

TEST_CASE("what the probe passed on of the log counts only where the log is not there") {
  CHECK(read_run_texts({}, std::string(kEvents)).watchdogs == std::map<std::string, std::size_t, std::less<>>{{"pose_stale", 1}});
}

TEST_CASE("a lap that was closed is kept open by nothing") {
  const std::string open = progress_line("0.50/0.75m", "3.76/0.75m") + "\n";
  const RunTexts still = read_run_texts("Closed mapping lap 1/2\n" + open, {});
  REQUIRE(still.last_progress.has_value());
  CHECK(still.last_progress->gate == "start_distance");
  const RunTexts closed = read_run_texts(open + open + "Closed mapping lap 1/2\n", {});
  CHECK_FALSE(closed.last_progress.has_value());
  CHECK(closed.gates.at("start_distance") == 2);
}

TEST_CASE("25 errors are shown, of 400 bytes each and never half a character, and the others counted") {
  const TempFolder folder("summary");
  std::string log;
  for (int i = 0; i < 30; ++i) log += "[ERROR] number " + std::to_string(i) + "\n";
  folder.write("launch.log", "[ERROR] " + std::string(391, 'x') + "\xC3\xA4\n" + log);
  const GatedReport report = summarize_run(folder.path());
  const json errors = summary_section(report.document, "errors");
  CHECK(errors.at("different") == 31);
  CHECK(errors.at("not_shown") == 6);
  CHECK(errors.at("rows").size() == 25);
  CHECK(errors.at("rows")[0].at("message") == "[ERROR] " + std::string(391, 'x'));
}

TEST_CASE("the page has every summary_section, as text and as JSON") {
  const TempFolder folder("summary");
  folder.write("launch.log", kLog);
  folder.write("events.jsonl", kEvents);
  folder.write("map.pgm", "P5");
  const GatedReport report = summarize_run(folder.path());
  CHECK(report.refused.empty());
  CHECK(report.gate.passed());
  for (const Section& each : report.document.sections) {
    CHECK_MESSAGE(!each.notes.empty(), each.key);
    for (const Table& table : each.tables) CHECK_MESSAGE(!table.how_to_read.empty(), each.key);
  }
  CHECK(summary_section(report.document, "pose").at("lag_max_sec") == 0.42);
  CHECK(summary_section(report.document, "pose").at("verdict") == "marginal");
  CHECK(summary_section(report.document, "pose").at("lag_high_alerts") == 1);
  CHECK(summary_section(report.document, "pose").at("tf_lost_events") == 1);
  CHECK(summary_section(report.document, "phases").at("first_missing") == "profile_loaded");
  CHECK(summary_section(report.document, "phases").at("reached") == 4);
  CHECK(summary_section(report.document, "event_counts").at("malformed_lines") == 3);
  int found = 0;
  const json artifacts = summary_section(report.document, "artifacts");
  for (const json& file : artifacts.at("files")) found += file.at("found") == true ? 1 : 0;
  CHECK(found == 3);
  CHECK(report.document.warnings.size() == 4);  // probe.log, bag, raceline_profiled.csv; lines that are no events
  CHECK(to_markdown(report.document).find("| pose_frozen | 2     | yes") != std::string::npos);
}

TEST_CASE("without a probe the figures of the pose are unknown, not zero") {
  const TempFolder folder("summary");
  folder.write("launch.log", kLog);
  const json pose = summary_section(summarize_run(folder.path()).document, "pose");
  CHECK(pose.at("lag_max_sec").is_null());
  CHECK(pose.at("lag_high_alerts").is_null());
  CHECK(pose.at("frozen_samples").is_null());
}

TEST_CASE("a damaged manifest or bag is a warning; what is no folder is refused") {
  const TempFolder folder("summary");
  folder.write("run.json", "{}");
  folder.write("bag/x.mcap", "nothing");
  const GatedReport report = summarize_run(folder.path());
  CHECK(report.refused.empty());
  bool manifest = false, bag = false;
  for (const std::string& warning : report.document.warnings) {
    manifest = manifest || warning.find("run.json: ") != std::string::npos;
    bag = bag || warning.find("x.mcap") != std::string::npos;
  }
  CHECK(manifest);
  CHECK(bag);
  CHECK(summarize_run(folder.path() / "run.json").refused.size() == 1);
  CHECK(summarize_run(folder.path() / "none").refused[0].find("no such file or folder") != std::string::npos);
}

TEST_CASE("stops of a run of ours, tick by tick, by the controller's own reason") {
  const TempFolder folder("summary");
  recording::RunManifest what;
  what.scenario = "made_up";
  what.car_id = "f1tenth";
  what.start = {1'000'000'000};
  what.cars = {{"ego", "gap_follow", ""}};
  auto made = recording::Recorder::create(folder.path() / "run", what, {Pose2{}});
  REQUIRE(made.ok());
  Observation seen;
  seen.now = what.start;
  std::uint64_t tick = 0;
  const auto decide = [&](Reason reason, Layer layer, int times) {
    for (int i = 0; i < times; ++i) {
      Command command;
      command.reason = reason;
      command.layer = layer;
      command.speed_mps = is_stop(reason) ? 0.0F : 1.0F;
      (*made)->decided(0, ++tick, seen, command);
      seen.now.ns += 100'000'000;
    }
  };
  decide(Reason::kDrive, Layer::kLaw, 3);
  decide(Reason::kTtcBrake, Layer::kSafety, 2);
  decide(Reason::kJoyStale, Layer::kWatchdog, 4);
  decide(Reason::kTtcBrake, Layer::kSafety, 1);
  decide(Reason::kDrive, Layer::kLaw, 2);
  (*made)->contact(seen.now, {seen.now.ns, "ego", "wall", 1.0, 2.0, 1.0, 0.0, 0.5, 1.5});
  REQUIRE((*made)->close(seen.now, "hash").ok());

  const GatedReport report = summarize_run(folder.path() / "run");
  CHECK(summary_section(report.document, "manifest").at("scenario") == "made_up");
  CHECK(summary_section(report.document, "manifest").at("duration_s") == doctest::Approx(1.2));
  CHECK(summary_section(report.document, "manifest").at("cars")[0].at("controller") == "gap_follow");
  const json stops = summary_section(report.document, "stops");
  CHECK(stops.at("cars")[0].at("ticks") == 12);
  CHECK(stops.at("cars")[0].at("stop_ticks") == 7);
  CHECK(stops.at("cars")[0].at("contacts") == 1);
  REQUIRE(stops.at("rows").size() == 2);
  const json& joy = stops.at("rows")[0];
  CHECK(joy.at("reason") == "joy_stale");
  CHECK(joy.at("layer") == "watchdog");
  CHECK(joy.at("stops") == 1);
  CHECK(joy.at("first_s") == doctest::Approx(0.5));
  CHECK(joy.at("longest_s") == doctest::Approx(0.4));
  const json& ttc = stops.at("rows")[1];
  CHECK(ttc.at("reason") == "ttc_brake");
  CHECK(ttc.at("ticks") == 3);
  CHECK(ttc.at("stops") == 2);
  CHECK(ttc.at("first_s") == doctest::Approx(0.3));
  CHECK(ttc.at("longest_s") == doctest::Approx(0.2));
  const json topics = summary_section(report.document, "topics");
  CHECK(topics.at("rows").size() > 0);
  CHECK(summary_section(report.document, "pose").is_null());  // nothing was probed

  // Damage is said, and what is whole is still counted.
  const auto internal = folder.path() / "run" / "internal.mcap";
  const auto bytes = read_file(internal);
  REQUIRE(bytes.ok());
  folder.write("run/internal.mcap", std::string_view(*bytes).substr(0, bytes->size() / 2));
  bool said = false;
  for (const std::string& warning : summarize_run(folder.path() / "run").document.warnings) {
    said = said || warning.find("internal.mcap: ") != std::string::npos;
  }
  CHECK(said);
}

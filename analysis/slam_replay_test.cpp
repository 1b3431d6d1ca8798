// SPDX-License-Identifier: Apache-2.0
#include "analysis/slam_replay.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "analysis/slam_player.hpp"
#include "analysis/slam_report.hpp"
#include "core/files.hpp"
#include "tests/support/slam_drive.hpp"

using namespace pitwall;
using namespace pitwall::analysis;
namespace fs = std::filesystem;

namespace {

nlohmann::json replay_of(const fs::path& folder) {
  const auto text = read_file(folder / "replay.json");
  REQUIRE(text.ok());
  return nlohmann::json::parse(*text);
}

std::string bytes_of(const fs::path& file) {
  const auto text = read_file(file);
  REQUIRE_MESSAGE(text.ok(), file.string());
  return *text;
}

GatedReport replayed(const fs::path& run, ReplayMode mode, const std::string& label) {
  SlamReplayOptions options;
  options.mode = mode;
  options.label = label;
  return slam_replay(run, options);
}

void check_exact(const fs::path& folder) {
  const nlohmann::json json = replay_of(folder);
  CHECK(json["status"] == "exact");
  for (const char* which : {"pose_sequence_error", "settled_pose_error"}) {
    CHECK(json[which]["max_position_m"].get<double>() == 0.0);
    CHECK(json[which]["max_heading_deg"].get<double>() == 0.0);
    CHECK(json[which]["missing"].get<int>() == 0);
    CHECK(json[which]["extra"].get<int>() == 0);
    CHECK(json[which]["compared"].get<int>() > 100);
  }
  CHECK(json["map_saved"] == true);
}

/// A drive, and the run of our SLAM over it: made once.
struct Mapped {
  TempFolder folder{"slam_replay"};
  fs::path drive = folder.path() / "drive";
  fs::path run = folder.path() / "drive-replay-odom-mapped";
  Mapped() {
    write_slam_drive(drive, {});
    const GatedReport made = replayed(drive, ReplayMode::kRate, "mapped");
    REQUIRE_MESSAGE(made.refused.empty(), (made.refused.empty() ? "" : made.refused.front()));
  }
};

const Mapped& mapped() {
  static const Mapped made;
  return made;
}

}  // namespace

TEST_CASE("our own recorded run comes again to the bit, pose by pose, and its map too") {
  const Mapped& m = mapped();
  for (int k = 0; k < 5; ++k) {
    const std::string label = "exact" + std::to_string(k);
    const GatedReport again = replayed(m.run, ReplayMode::kAdmitted, label);
    REQUIRE(again.refused.empty());
    CHECK(again.gate.failures().empty());
    const fs::path out = m.folder.path() / ("drive-replay-odom-mapped-replay-odom-" + label);
    check_exact(out);
    for (const char* file : {"trajectory.tum", "map.pgm", "map.yaml", "graph.g2o"}) CHECK(bytes_of(out / file) == bytes_of(m.run / file));
  }
}

TEST_CASE("with every scan and the recorded settings the same scans are admitted") {
  const Mapped& m = mapped();
  const GatedReport again = replayed(m.run, ReplayMode::kAllScans, "");
  REQUIRE(again.refused.empty());
  check_exact(m.folder.path() / "drive-replay-odom-mapped-replay-odom-all-scans");
}

TEST_CASE("the player alone gives the recorded poses back") {
  const Mapped& m = mapped();
  SlamReplayOptions options;
  options.mode = ReplayMode::kAdmitted;
  options.engine = ReplayEngine::kRecorded;
  options.label = "player";
  const GatedReport again = slam_replay(m.run, options);
  REQUIRE(again.refused.empty());
  CHECK(again.gate.failures().empty());
  const nlohmann::json json = replay_of(m.folder.path() / "drive-replay-odom-mapped-replay-odom-player");
  CHECK(json["status"] == "exact");
  CHECK(json["engine"] == "recorded poses");
}

TEST_CASE("other settings are no exact replay, and are not held to it") {
  const Mapped& m = mapped();
  SlamReplayOptions options;
  options.mode = ReplayMode::kAdmitted;
  options.label = "profile";
  options.profile = m.folder.write("coarse.yaml", "submap_nodes: 2\n");
  const GatedReport again = slam_replay(m.run, options);
  REQUIRE(again.refused.empty());
  CHECK(again.gate.failures().empty());
  const nlohmann::json json = replay_of(m.folder.path() / "drive-replay-odom-mapped-replay-odom-profile");
  CHECK(json["status"] == "differs");
  CHECK(json["pose_sequence_error"]["missing"] == 0);
  CHECK(json["pose_sequence_error"]["max_position_m"].get<double>() > 0.0);
}

TEST_CASE("a stated cost above the period of the scans drops scans, and none below it") {
  const Mapped& m = mapped();
  SlamReplayOptions options;
  options.rate = 10.0;
  options.cost_ms = 5.0;  // 50 ms of the recording, whose scans come every 100 ms
  options.label = "light";
  REQUIRE(slam_replay(m.drive, options).refused.empty());
  CHECK(replay_of(m.folder.path() / "drive-replay-odom-light")["dropped_busy"] == 0);
  options.cost_ms = 60.0;  // 600 ms
  options.label = "heavy";
  REQUIRE(slam_replay(m.drive, options).refused.empty());
  const nlohmann::json heavy = replay_of(m.folder.path() / "drive-replay-odom-heavy");
  CHECK(heavy["dropped_busy"].get<int>() > 50);
  CHECK(heavy["worst_latency_s"].get<double>() >= 0.6);
  CHECK(heavy["pose_sequence_error"]["compared"] == 0);
}

TEST_CASE("what cannot be replayed is refused before anything is written") {
  const Mapped& m = mapped();
  const GatedReport twice = replayed(m.drive, ReplayMode::kRate, "mapped");
  REQUIRE(twice.refused.size() == 1);
  CHECK(twice.refused.front().find("exists") != std::string::npos);
  const GatedReport poseless = replayed(m.drive, ReplayMode::kAdmitted, "none");
  REQUIRE(poseless.refused.size() == 1);
  CHECK(poseless.refused.front().find("no /pose") != std::string::npos);
  CHECK_FALSE(fs::exists(m.folder.path() / "drive-replay-odom-none"));
  SlamReplayOptions options;
  options.odom_frame = "odom_imu";
  const GatedReport unknown = slam_replay(m.drive, options);
  REQUIRE(unknown.refused.size() == 1);
  CHECK(unknown.refused.front().find("unknown odometry frame 'odom_imu'") != std::string::npos);
}

TEST_CASE("a pose without its scan is refused") {
  const Mapped& m = mapped();
  const fs::path run = m.folder.path() / "torn";
  recording::BagReader reader = recording::reader_at(m.run);
  recording::BagWriter writer = recording::writer_at(run);
  int scans = 0;
  while (const recording::BagMessage* message = reader.next()) {
    const recording::Topic& topic = reader.topics()[message->topic];
    if (topic.name == "/scan" && ++scans == 1) continue;  // the first is always taken in
    const auto index = writer.add_topic(topic);
    REQUIRE(writer.write(*index, message->log_time, message->publish_time, message->data).ok());
  }
  REQUIRE(writer.close().ok());
  const GatedReport torn = replayed(run, ReplayMode::kAdmitted, "");
  REQUIRE(torn.refused.size() == 1);
  CHECK(torn.refused.front().find("1 of ") != std::string::npos);
  CHECK(torn.refused.front().find("no scan of their stamp") != std::string::npos);
}

TEST_CASE("the report of our own run knows laps, closures and how little odometry was left alone") {
  const Mapped& m = mapped();
  const auto facts = slam_facts(m.run, {});
  REQUIRE_MESSAGE(facts.ok(), (facts.ok() ? "" : facts.error().message));
  REQUIRE(facts->record);
  REQUIRE(facts->laps.size() == 3);  // 48 m in circles of 18.85 m
  CHECK(facts->laps[0].closed);
  CHECK(facts->laps[0].distance_m == doctest::Approx(18.85).epsilon(0.03));
  CHECK(facts->laps[0].closest_m < 0.15);
  CHECK(facts->laps[1].closed);
  CHECK_FALSE(facts->laps[2].closed);
  CHECK(facts->consistency.percent() > 90.0);
  // 2 % too much turn, 40 s at 0.4 rad/s.
  CHECK(facts->drifts.front().final_rad() == doctest::Approx(0.02 * 16.0).epsilon(0.05));
  CHECK(facts->ways.front().odometry_m / facts->ways.front().slam_m == doctest::Approx(1.03).epsilon(0.01));
  CHECK(facts->crisp_cells > 100);
  const std::string json = to_json(slam_document(*facts));
  CHECK(json.find("\"observable_percent\"") != std::string::npos);
  CHECK(json.find("\"closures_accepted\"") != std::string::npos);
}

TEST_CASE("two runs are compared without a trace in either") {
  const Mapped& m = mapped();
  SlamReportOptions options;
  CHECK(slam_compare(m.run, m.run, options).refused.front().find("--out") != std::string::npos);
  options.out = m.folder.path() / "compared";
  CHECK(slam_compare(m.run, m.run, options).refused.front().find("with itself") != std::string::npos);
  SlamReplayOptions slow;
  slow.rate = 20.0;
  slow.cost_ms = 80.0;
  slow.label = "slow";
  REQUIRE(slam_replay(m.drive, slow).refused.empty());
  const fs::path other = m.folder.path() / "drive-replay-odom-slow";
  SlamReportOptions inside = options;
  inside.out = other / "x";
  CHECK(slam_compare(m.run, other, inside).refused.front().find("lies in the run") != std::string::npos);
  const GatedReport both = slam_compare(m.run, other, options);
  REQUIRE(both.refused.empty());
  CHECK(fs::exists(options.out / "summary.json"));
  CHECK(fs::exists(options.out / "map.svg"));
  CHECK_FALSE(fs::exists(m.run / "analysis"));
  CHECK_FALSE(fs::exists(other / "analysis"));
}

TEST_CASE("a record comes back as it was written") {
  const Mapped& m = mapped();
  const std::string text = bytes_of(m.run / "slam.json");
  const auto record = parse_slam_record(text, "slam.json");
  REQUIRE(record.ok());
  CHECK(to_json(*record) == text);
  CHECK_FALSE(parse_slam_record("{\"schema\": 9}", "x").ok());
  CHECK_FALSE(parse_slam_record("{\"schema\": 1}", "x").ok());
  CHECK_FALSE(parse_slam_record("[", "x").ok());
}

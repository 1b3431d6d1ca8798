// SPDX-License-Identifier: Apache-2.0
// Lockstep playing, and results held against golden ones.
#include "recording/golden.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/files.hpp"
#include "core/math.hpp"
#include "recording/bag_writer.hpp"
#include "recording/recorder.hpp"
#include "ros_messages/convert.hpp"
#include "ros_messages/nav.hpp"
#include "tests/support/bags.hpp"
#include "tests/support/temp_folder.hpp"

namespace pitwall::recording {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

Topic typed(const std::string& name, const std::string& type) {
  Topic topic;
  topic.name = name;
  topic.type = type;
  return topic;
}

/// Scans at 0, 100, ... ms, and the transforms of those times 50 ms later.
void write_late_transforms(const fs::path& folder) {
  auto writer = BagWriter::create(folder);
  REQUIRE(writer.ok());
  const std::size_t scan = writer->add_topic(typed("/scan", "sensor_msgs/msg/LaserScan")).value();
  const std::size_t tf = writer->add_topic(typed("/tf", "tf2_msgs/msg/TFMessage")).value();
  for (std::int64_t k = 0; k < 5; ++k) {
    REQUIRE(writer->write(scan, {100 * k * kMs}, {100 * k * kMs}, as_bytes("s" + std::to_string(k))).ok());
    REQUIRE(writer->write(tf, {(100 * k + 50) * kMs}, {(100 * k + 50) * kMs}, as_bytes("t" + std::to_string(k))).ok());
  }
  REQUIRE(writer->close().ok());
}

/// Odometry on a circle of 5 m radius, once round in 20 s; `gain` scales the radius.
void write_circle(const fs::path& folder, double gain = 1.0) {
  auto writer = BagWriter::create(folder);
  REQUIRE(writer.ok());
  const std::size_t odom = writer->add_topic(topic_for<ros_messages::Odometry>("/odom")).value();
  for (std::int64_t k = 0; k <= 1000; ++k) {
    const double angle = 2.0 * math::kPi * static_cast<double>(k) / 1000.0;
    pitwall::Odometry odometry;
    odometry.stamp = {20 * k * kMs};
    odometry.position = {5.0 * gain * math::sin(angle), 5.0 * gain * (1.0 - math::cos(angle))};
    odometry.orientation = to_quaternion(wrap_angle(angle));
    const std::string bytes = ros_messages::write(ros_messages::to_ros(odometry, "odom", "base_link"));
    REQUIRE(writer->write(odom, odometry.stamp, odometry.stamp, as_bytes(bytes)).ok());
  }
  REQUIRE(writer->close().ok());
}

const GoldenCheck& check_named(const std::vector<GoldenCheck>& checks, const std::string& name) {
  const auto found = std::find_if(checks.begin(), checks.end(), [&](const GoldenCheck& check) { return check.name == name; });
  REQUIRE(found != checks.end());
  return *found;
}

/// A square of 4 x 4 nodes a metre apart with a closure from the last to the first.
Mapping square() {
  Mapping mapping;
  mapping.graph.has_links = true;
  const std::vector<Vec2> corners = {{0, 0}, {4, 0}, {4, 4}, {0, 4}};
  for (std::int64_t k = 0; k < 16; ++k) {
    const Vec2 from = corners[static_cast<std::size_t>(k / 4)];
    const Vec2 to = corners[static_cast<std::size_t>((k / 4 + 1) % 4)];
    const Vec2 p = from + (static_cast<double>(k % 4) / 4.0) * (to - from);
    mapping.graph.nodes.push_back({k + 1, Pose3::of({p.x, p.y, 0.0})});
    mapping.trajectory.push_back({{k * 100 * kMs}, Pose3::of({p.x, p.y, 0.0})});
    if (k > 0) mapping.graph.edges.push_back({k, k + 1, Pose3::of({1, 0, 0}), {1, 0, 0, 1, 0, 1}, 0});
  }
  for (const std::int64_t to : {1, 2, 3, 4}) mapping.graph.edges.push_back({16, to, {}, {1, 0, 0, 1, 0, 1}, 1});
  return mapping;
}

Mapping moved(Mapping mapping, const Pose2& by) {
  for (GraphNode& node : mapping.graph.nodes) node.pose = Pose3::of(by * node.pose.planar());
  for (StampedPose& each : mapping.trajectory) each.pose = Pose3::of(by * each.pose.planar());
  return mapping;
}

}  // namespace

TEST_CASE("lockstep: transforms come before the sensor message of their time, the clock before it") {
  const TempFolder temp("lockstep");
  write_late_transforms(temp.path() / "bag");
  Lines seen;
  Bus bus;
  bus.on_clock([&](Time now) { seen.push_back("clock " + std::to_string(now.ns / kMs)); });
  bus.subscribe("/scan", [&](const BusMessage& message) { seen.push_back(std::string(as_text(message.data))); });
  bus.subscribe("/tf", [&](const BusMessage& message) { seen.push_back(std::string(as_text(message.data))); });
  const auto report = play({temp.path() / "bag"}, bus);
  REQUIRE(report.ok());
  CHECK(seen ==
        Lines{"t0", "t1", "clock 0", "s0", "t2", "clock 100", "s1", "t3", "clock 200", "s2", "t4", "clock 300", "s3", "clock 400", "s4"});
  CHECK(report->gated == 5);
  CHECK(report->delivered == 10);
}

TEST_CASE("chunked: the order of the recording; a gated type that nobody listens to is not played") {
  const TempFolder temp("lockstep");
  write_late_transforms(temp.path() / "bag");
  Lines seen;
  Bus bus;
  bus.subscribe("/tf", [&](const BusMessage& message) { seen.push_back(std::string(as_text(message.data))); });
  PlayerOptions options;
  options.mode = PlayMode::kChunked;
  const auto report = play({temp.path() / "bag"}, bus, options);
  REQUIRE(report.ok());
  CHECK(seen == Lines{"t0", "t1", "t2", "t3", "t4"});
  CHECK(report->delivered == 5);
}

TEST_CASE("chunked: outputs that fall behind their sensor messages are a stall") {
  const TempFolder temp("lockstep");
  write_late_transforms(temp.path() / "bag");
  PlayerOptions options;
  options.mode = PlayMode::kChunked;
  options.slack = {100 * kMs};
  for (const bool keeps_up : {true, false}) {
    Bus bus;
    bus.subscribe("/scan", [&](const BusMessage& message) {
      if (keeps_up || message.time.ns == 0) bus.publish("/pose", "x/msg/Y", as_bytes("p"));
    });
    const auto report = play({temp.path() / "bag"}, bus, options);
    CHECK(report.ok() == keeps_up);
    if (!report) CHECK(report.error().message.find("outputs stalled") != std::string::npos);
  }
}

TEST_CASE("what a handler publishes is handled before the next message, in order, and not inside the handler") {
  Lines seen;
  Bus bus;
  bus.subscribe("/in", [&](const BusMessage&) {
    bus.publish("/out", "", as_bytes("first"));
    bus.publish("/out", "", as_bytes("second"));
    seen.push_back("in done");
  });
  bus.subscribe("/out", [&](const BusMessage& message) {
    seen.push_back(std::string(as_text(message.data)) + "@" + std::to_string(message.time.ns));
    if (as_text(message.data) == "first") bus.publish("/last", "", {});
  });
  bus.subscribe("/last", [&](const BusMessage&) { seen.push_back("last"); });
  bus.deliver({"/in", "", {7}, {}});
  CHECK(seen == Lines{"in done", "first@7", "second@7", "last"});
  CHECK(bus.last_output()->ns == 7);
}

TEST_CASE("a known trajectory is injected ahead of its stamps, held to the ends, at most 0.25 s apart") {
  const std::vector<StampedPose> known = {{{100 * kMs}, Pose3::of({1, 0, 0})}, {{700 * kMs}, Pose3::of({2, 0, 0})}};
  const auto dense = densified(known, {0}, {1000 * kMs});
  CHECK(dense.front().stamp.ns == 0);
  CHECK(dense.front().pose.x == 1.0);
  CHECK(dense.back().stamp.ns == 1000 * kMs);
  CHECK(dense.back().pose.x == 2.0);
  for (std::size_t k = 1; k < dense.size(); ++k) {
    CHECK(dense[k].stamp > dense[k - 1].stamp);
    CHECK((dense[k].stamp - dense[k - 1].stamp).ns <= 250 * kMs);
  }
  const TempFolder temp("lockstep");
  write_late_transforms(temp.path() / "bag");
  PlayerOptions options;
  options.injected = known;
  Lines seen;
  Bus bus;
  bus.subscribe("/scan", [&](const BusMessage& message) { seen.push_back(std::string(as_text(message.data))); });
  bus.subscribe("/tf", [&](const BusMessage& message) {
    const auto tf = ros_messages::read<ros_messages::TFMessage>(as_text(message.data));
    if (tf) seen.push_back(tf->transforms.at(0).child_frame_id + std::to_string(message.time.ns / kMs));
  });
  const auto report = play({temp.path() / "bag"}, bus, options);
  REQUIRE(report.ok());
  CHECK(report->injected > 0);
  // The scan of 0 ms comes at 200 ms, after all injected poses up to 700 ms.
  const auto scan = std::find(seen.begin(), seen.end(), "s0");
  CHECK(std::find(seen.begin(), scan, "golden_base300") != scan);
}

TEST_CASE("a mapping compared with itself passes, also turned and moved; each figure that is off is named") {
  const Mapping golden = square();
  const GoldenTolerances tolerances;
  for (const Mapping& result : {golden, moved(golden, {10.0, -3.0, 2.0})}) {
    for (const GoldenCheck& check : compare(result, golden, tolerances)) CHECK_MESSAGE(check.passed, check.name);
  }
  CHECK(std::fabs(check_named(compare(moved(golden, {3.0, 4.0, 0.0}), golden, tolerances), "rmse_unaligned_m").value - 5.0) < 1e-12);
  GoldenTolerances framed;
  framed.rmse_unaligned_m = 4.9;
  CHECK_FALSE(check_named(compare(moved(golden, {3.0, 4.0, 0.0}), golden, framed), "rmse_unaligned_m").passed);

  Mapping fewer = golden;
  fewer.graph.nodes.resize(15);
  CHECK_FALSE(check_named(compare(fewer, golden, tolerances), "nodes").passed);
  Mapping longer = golden;
  longer.graph.nodes.back().pose.x += 3.0;
  CHECK_FALSE(check_named(compare(longer, golden, tolerances), "path_length_m").passed);
  Mapping bent = golden;
  for (std::size_t k = 0; k < bent.trajectory.size(); k += 2) bent.trajectory[k].pose.x += 0.5;
  CHECK_FALSE(check_named(compare(bent, golden, tolerances), "rmse_m").passed);
  Mapping twisted = golden;
  for (std::size_t k = 0; k < twisted.trajectory.size(); k += 2) {
    const Pose2 at = twisted.trajectory[k].pose.planar();
    twisted.trajectory[k].pose = Pose3::of({at.x, at.y, at.yaw + 0.1});
  }
  const GoldenCheck& angle = check_named(compare(twisted, golden, tolerances), "rmse_deg");
  CHECK_FALSE(angle.passed);
  CHECK(std::fabs(angle.value - 0.1 / std::sqrt(2.0) * 180.0 / math::kPi) < 1e-9);
  // Maps: the same one, one of another content, a blunter one, and one that only one side has.
  Mapping mapped = golden;
  mapped.map = MapFacts{"a", 10, 10, 1000};
  for (const GoldenCheck& check : compare(mapped, mapped, tolerances)) CHECK_MESSAGE(check.passed, check.name);
  Mapping other = mapped;
  other.map->hash = "b";
  CHECK_FALSE(check_named(compare(other, mapped, tolerances), "maps_differ").passed);
  GoldenTolerances by_sharpness;
  by_sharpness.same_map = false;
  CHECK(check_named(compare(other, mapped, by_sharpness), "maps_differ").passed);
  other.map->crispness_cells = 1021;
  CHECK_FALSE(check_named(compare(other, mapped, by_sharpness), "crispness_cells").passed);
  CHECK_FALSE(check_named(compare(golden, mapped, tolerances), "maps_missing").passed);
  CHECK_FALSE(check_named(compare(mapped, golden, tolerances), "maps_missing").passed);
  Mapping half = golden;
  half.trajectory.resize(7);
  CHECK_FALSE(check_named(compare(half, golden, tolerances), "pairs").passed);
}

TEST_CASE("closures lost and closures that are false both fail, by their ends and not only by their number") {
  const Mapping golden = square();
  GoldenTolerances tolerances;
  tolerances.closure_slack = 1;
  Mapping lost = golden;
  lost.graph.edges.resize(lost.graph.edges.size() - 3);
  CHECK_FALSE(check_named(compare(lost, golden, tolerances), "closures").passed);
  CHECK(check_named(compare(lost, golden, tolerances), "closures_lost").value == 2.0);  // the third ends within a metre of the one left
  Mapping elsewhere = golden;
  for (GraphEdge& edge : elsewhere.graph.edges) {
    if (edge.is_global_closure()) edge.to = 9;  // the far corner: as many closures, all false
  }
  const auto checks = compare(elsewhere, golden, tolerances);
  CHECK(check_named(checks, "closures").passed);
  CHECK_FALSE(check_named(checks, "closures_lost").passed);
  CHECK_FALSE(check_named(checks, "closures_added").passed);
  CHECK(check_named(checks, "closures_added").value == 4.0);
  tolerances.compare_closures = false;
  CHECK(compare(elsewhere, golden, tolerances).size() == checks.size() - 3);
  Mapping reversed = golden;
  for (GraphEdge& edge : reversed.graph.edges) std::swap(edge.from, edge.to);
  CHECK(closures_without_counterpart(reversed.graph, golden.graph, {}, 0.1) == 0);
}

TEST_CASE("a golden scenario: skipped without data, failed without golden files, updated, passed, failed with its results kept") {
  const TempFolder temp("golden");
  temp.write("golden/scenarios.yaml", "circle:\n  bags: circle\n  tolerances:\n    rmse_m: 0.05\n");
  const auto scenarios = load_golden_scenarios(temp.path() / "golden");
  REQUIRE_MESSAGE(scenarios.ok(), (scenarios.ok() ? "" : scenarios.error().message));
  const GoldenScenario& circle = scenarios->at(0);
  CHECK(circle.tolerances.rmse_m == 0.05);
  GoldenOptions options;
  options.data = temp.path() / "data";
  options.golden = temp.path() / "golden";
  options.results = temp.path() / "results";
  const auto run = [&] {
    const auto result = run_golden(circle, options);
    REQUIRE_MESSAGE(result.ok(), (result.ok() ? "" : result.error().message));
    return *result;
  };
  CHECK(run().status == GoldenStatus::kSkipped);
  write_circle(temp.path() / "data" / "circle");
  const GoldenResult missing = run();
  CHECK(missing.status == GoldenStatus::kFailed);
  CHECK(missing.message.find("no golden files") != std::string::npos);
  options.update = true;
  CHECK(run().message == "wrote the golden files; one more run matches them");
  options.update = false;
  fs::remove_all(options.results);
  for (const PlayMode mode : {PlayMode::kLockstep, PlayMode::kChunked}) {
    options.mode = mode;
    const GoldenResult passed = run();
    CHECK(passed.status == GoldenStatus::kPassed);
    CHECK(passed.summary.nodes > 50);
    CHECK(std::fabs(passed.summary.path_length_m - 10.0 * math::kPi) < 0.6);
  }
  CHECK(fs::exists(options.results / "circle.json"));
  CHECK_FALSE(fs::exists(options.results / "circle.g2o"));
  fs::remove_all(temp.path() / "data" / "circle");
  write_circle(temp.path() / "data" / "circle", 1.1);
  const GoldenResult failed = run();
  CHECK(failed.status == GoldenStatus::kFailed);
  CHECK(failed.message.find("path_length_m is") != std::string::npos);
  CHECK(fs::exists(options.results / "circle.g2o"));
  CHECK(fs::exists(options.results / "circle.tum"));
  CHECK(to_json(failed).find("\"status\":\"failed\"") != std::string::npos);
}

TEST_CASE("several recordings are played one after another; a system that is no function of its inputs fails") {
  const TempFolder temp("golden");
  write_circle(temp.path() / "data" / "one");
  write_late_transforms(temp.path() / "data" / "two");
  GoldenScenario both;
  both.name = "both";
  both.bags = "one two";
  both.system = "moody";
  int calls = 0;
  GoldenOptions options;
  options.data = temp.path() / "data";
  options.golden = temp.path() / "golden";
  options.update = true;
  options.systems["moody"] = [&](const GoldenScenario& scenario, const std::vector<fs::path>& recordings, const PlayerOptions& how) {
    CHECK(recordings.size() == 2);
    auto mapping = map_by_odometry(scenario, recordings, how);
    if (mapping && ++calls % 2 == 0) mapping->graph.nodes.back().pose.x += 1e-12;
    return mapping;
  };
  const auto result = run_golden(both, options);
  REQUIRE(result.ok());
  CHECK(result->message == "two runs differ");
  both.system = "nothing";
  CHECK_FALSE(run_golden(both, options).ok());
}

TEST_CASE("scenario files are strict") {
  const TempFolder temp("golden");
  const auto message = [&](const std::string& text) {
    temp.write("scenarios.yaml", text);
    const auto scenarios = load_golden_scenarios(temp.path());
    return scenarios ? std::string() : scenarios.error().message;
  };
  CHECK(message("a: {bags: x, rmse: 3}\n").find("rmse") != std::string::npos);
  CHECK(message("a: {}\n").find("names no recording") != std::string::npos);
  CHECK(message("- a\n").find("must be a map") != std::string::npos);
}

}  // namespace pitwall::recording

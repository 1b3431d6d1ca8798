// SPDX-License-Identifier: Apache-2.0
#include "analysis/path_report.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "core/files.hpp"
#include "tests/support/tracks.hpp"

using namespace pitwall;
using namespace pitwall::analysis;
using tracks::PathSample;

namespace {

/// Straight on at 1 m/s along +x, `left_m` beside the axis, 20 Hz.
std::vector<PathSample> straight(double from_s, double to_s, double left_m) {
  std::vector<PathSample> samples;
  for (int i = 0; i <= static_cast<int>(std::round((to_s - from_s) * 20.0)); ++i) {
    const double t = from_s + 0.05 * i;
    samples.push_back({t, {t, left_m, 0.0}, 1.0, std::nullopt, 2.0});
  }
  return samples;
}

TimedPlan plan(double t_s, double from_x, double to_x, double y = 0.0) {
  TimedPlan p{t_s, {}};
  for (double x = from_x; x <= to_x + 1e-9; x += 0.1) p.points.push_back({x, y});
  return p;
}

/// Odometry from the frame odom, map->odom 1 m to the left, plans in the map.
std::filesystem::path plan_bag(const std::filesystem::path& folder, bool with_plan = true, bool with_transform = true) {
  using namespace recording;
  BagWriter writer = writer_at(folder);
  const std::size_t odom = *writer.add_topic(topic_for<ros_messages::Odometry>("/odom"));
  const std::size_t tf = *writer.add_topic(topic_for<ros_messages::TFMessage>("/tf"));
  const std::size_t plans = *writer.add_topic(topic_for<ros_messages::Path>("/plan"));
  const std::int64_t start = 1'000'000'000'000;
  for (int i = 0; i <= 200; ++i) {
    const std::int64_t ns = start + std::int64_t{50'000'000} * i;
    const double t = 0.05 * i;
    if (with_transform && i % 10 == 0) put(writer, tf, ns, transform_at(ns, "map", "odom", {i % 20 == 0 ? 0.03 : -0.03, 1.0, 0.0}));
    put(writer, odom, ns, odometry_at(ns, {t, t < 5.0 ? -0.92 : -1.25, 0.0}, 1.0));
    if (!with_plan || (i != 0 && i != 100)) continue;
    ros_messages::Path path;
    path.header = header_at(ns, "map");
    for (double x = t; x <= t + 5.0; x += 0.1) {
      ros_messages::PoseStamped pose;
      pose.pose.position.x = x;
      path.poses.push_back(pose);
    }
    put(writer, plans, ns, path);
  }
  REQUIRE(writer.close().ok());
  return folder;
}

HistoryLine line(double cte_m, std::size_t number) {
  HistoryLine l;
  l.recording = "a, b";
  l.kind = "goal";
  l.start_ns = 5;
  l.number = number;
  l.cte_mean_m = cte_m;
  return l;
}

}  // namespace

TEST_CASE("a goal beside its plan: signed distance, ways, time and speed in closed form") {
  const auto goals = goals_of({plan(1.0, 1.0, 9.0)}, straight(0.0, 10.0, 0.15), {});
  REQUIRE_MESSAGE(goals.ok(), goals.error().message);
  REQUIRE(goals->size() == 1);
  const PathGoal& g = goals->front();
  CHECK(g.planned_m == doctest::Approx(8.0));
  CHECK(g.stretch.cross_track_m.mean == doctest::Approx(0.15).epsilon(0.05));
  CHECK(g.stretch.driven_m == doctest::Approx(9.0).epsilon(0.01));
  CHECK(*g.driven_of_planned() == doctest::Approx(9.0 / 8.0).epsilon(0.01));
  CHECK(*g.stretch.speed_of_commanded == doctest::Approx(0.5));
  CHECK(g.start.ns == 1'000'000'000);
  CHECK(g.reversals == 0);
}

TEST_CASE("plans that end at one place are one goal, followed as long as each was in force") {
  // Planned anew on the way, from where the vehicle is: the same goal. Then another.
  const std::vector<TimedPlan> plans{plan(0.0, 0.0, 6.0), plan(3.0, 3.0, 6.0, 0.1), plan(6.0, 6.0, 9.0)};
  auto samples = straight(0.0, 9.0, 0.0);
  for (std::size_t i = 130; i < 140; ++i) samples[i].speed_mps = -0.2;
  const auto goals = goals_of(plans, samples, {});
  REQUIRE(goals->size() == 2);
  CHECK(goals->at(0).planned_m == doctest::Approx(6.0).epsilon(0.02));
  CHECK(goals->at(0).stretch.driven_m == doctest::Approx(5.95));
  CHECK(goals->at(0).stretch.cross_track_m.mean == doctest::Approx(-0.05).epsilon(0.1));
  CHECK(goals->at(0).reversals == 0);
  CHECK(goals->at(1).planned_m == doctest::Approx(3.0));
  CHECK(goals->at(1).stretch.cross_track_m.max < 1e-9);
  CHECK(goals->at(1).reversals == 1);
  CHECK(goals_of({plan(20.0, 0.0, 6.0)}, samples, {}).error().message.find("no pose after a plan") != std::string::npos);
}

TEST_CASE("laps round a line: one row each") {
  std::vector<Vec2> circle;
  for (int i = 0; i < 200; ++i) circle.push_back(5.0 * unit_vector(2.0 * math::kPi * i / 200.0));
  const auto line = tracks::Path::make(circle, true);
  std::vector<PathSample> samples;
  for (int i = 0; i <= 2500; ++i) {
    const double t = 0.01 * i;
    const double angle = 0.6 * t;  // 3 m/s at 5 m
    const Vec2 at = 5.05 * unit_vector(angle);
    samples.push_back({t, {at.x, at.y, wrap_angle(angle + math::kPi / 2.0)}, 3.03});
  }
  const auto laps = laps_of(*line, samples, {});
  REQUIRE(laps->size() == 2);
  CHECK(laps->at(1).stretch.cross_track_m.mean == doctest::Approx(-0.05).epsilon(0.02));
  CHECK(laps->at(1).stretch.time_s == doctest::Approx(2.0 * math::kPi / 0.6).epsilon(1e-3));
  CHECK(laps->at(1).start.ns == doctest::Approx(1e9 * 2.0 * math::kPi / 0.6).epsilon(1e-3));
  CHECK(laps->at(0).planned_m == doctest::Approx(2.0 * math::kPi * 5.0).epsilon(1e-3));
  samples.resize(500);
  REQUIRE(laps_of(*line, samples, {})->size() == 1);
  CHECK(laps_of(*line, samples, {})->front().kind == "part of a lap");
}

TEST_CASE("odometry and plan are joined by the transform between their frames") {
  const TempFolder folder("path_report");
  const auto bag = plan_bag(folder.path() / "bag");
  PathReportOptions options;
  const GatedReport report = path_report(bag, options);
  CHECK(report.refused.empty());
  const Table& table = report.document.sections.at(0).tables.at(0);
  REQUIRE(table.rows.size() == 2);
  const auto cell = [&](std::size_t row, const std::string& key) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      if (table.columns[c].key == key) return table.rows[row][c];
    }
    return Cell{};
  };
  CHECK(cell(0, "bias_m").number == doctest::Approx(0.08));
  CHECK(cell(0, "grade").text == "excellent");
  CHECK(cell(1, "bias_m").number == doctest::Approx(-0.25));
  CHECK(cell(1, "cte_mean_m").number == doctest::Approx(0.25));
  CHECK(cell(1, "grade").text == "attention");
  // The localiser's corrections to and fro are no way.
  CHECK(cell(0, "driven_m").number == doctest::Approx(4.95).epsilon(0.001));

  const auto none = plan_bag(folder.path() / "none", false);
  CHECK(path_report(none, options).refused.at(0).find("no plan: there is no /plan") != std::string::npos);
  const auto apart = plan_bag(folder.path() / "apart", true, false);
  CHECK(path_report(apart, options)
            .refused.at(0)
            .find("the plan is in frame 'map', and /tf has no transform from there to the frame of /odom") != std::string::npos);
  CHECK(path_report(folder.path() / "nothing", options).refused.size() == 1);
}

TEST_CASE("the history gets a line for each goal, once, and judges runs of bad ones") {
  const TempFolder folder("path_history");
  const auto bag = plan_bag(folder.path() / "bag");
  PathReportOptions options;
  options.history = folder.path() / "history.csv";
  options.max_cte_m = 0.2;
  options.consecutive = 2;
  GatedReport report = path_report(bag, options);
  CHECK(report.gate.passed());
  CHECK(report.written.size() == 1);
  const auto lines = parse_history(*read_file(options.history), "h");
  REQUIRE_MESSAGE(lines.ok(), lines.error().message);
  REQUIRE(lines->size() == 2);
  CHECK(lines->at(0).cte_mean_m == doctest::Approx(0.08));
  CHECK(lines->at(1).number == 2);
  path_report(bag, options);
  CHECK(parse_history(*read_file(options.history), "h")->size() == 2);
  options.consecutive = 1;
  CHECK(path_report(bag, options).gate.failures().size() == 1);
  options.max_cte_m = 0.05;
  options.consecutive = 2;
  CHECK(path_report(bag, options).gate.failures().size() == 1);
  options.consecutive = 3;
  CHECK(path_report(bag, options).gate.passed());
  // What is no history is not written over.
  options.history = folder.write("other.csv", "a,b\n1,2\n");
  CHECK(path_report(bag, options).refused.at(0).find("other.csv:1: is no history") != std::string::npos);
  CHECK(*read_file(options.history) == "a,b\n1,2\n");
}

TEST_CASE("histories read back as written, and what is wrong in one is named with its line") {
  const std::vector<HistoryLine> lines{line(0.1, 1), line(1.0 / 3.0, 2)};
  const std::string text = history_text(lines);
  const auto again = parse_history(text, "h");
  REQUIRE_MESSAGE(again.ok(), again.error().message);
  CHECK(history_text(*again) == text);
  CHECK(again->at(1).cte_mean_m == 1.0 / 3.0);
  CHECK(again->at(1).recording == "a, b");
  CHECK(parse_history("", "h")->empty());
  const std::string header = text.substr(0, text.find('\n') + 1);
  CHECK(parse_history(header + "goal,5,1,0,0\n", "h").error().message == "h:2: 5 columns instead of 12");
  CHECK(parse_history(header + "goal,x,1,0,0,0,0,0,0,0,0,r\n", "h").error().message.find("h:2: start_ns 'x'") == 0);
  CHECK(parse_history(header + "goal,5,1,0,0,0,nan,0,0,0,0,r\n", "h").error().message.find("h:2: column 7 'nan'") == 0);
}

TEST_CASE("a run of bad goals counts where this recording is part of it") {
  const std::vector<HistoryLine> lines{line(0.3, 1), line(0.3, 2), line(0.3, 3), line(0.1, 4), line(0.3, 5), line(0.3, 6)};
  CHECK(longest_bad_run(lines, {true, true, true, true, true, true}, 0.2) == 3);
  CHECK(longest_bad_run(lines, {false, false, false, false, false, true}, 0.2) == 2);
  CHECK(longest_bad_run(lines, {false, false, false, true, false, false}, 0.2) == 0);
  CHECK(longest_bad_run(lines, {false, false, false, false, true, false}, 0.35) == 0);
  CHECK(longest_bad_run({line(0.2, 1)}, {true}, 0.2) == 0);
}

// SPDX-License-Identifier: Apache-2.0
#include "scenarios/f1tenth_laps.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "scenarios/f1tenth_law.hpp"
#include "tests/support/source_dir.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/test_data.hpp"

namespace pitwall::scenarios {
namespace {

constexpr const char* kMaps[] = {"aut", "esp", "gbr", "mco"};
/// Of the best law that is known there, 35 of 40 laps.
constexpr double kBest_s[] = {16.43, 35.41, 30.51, 27.43};

std::vector<std::string> maps_in(const std::filesystem::path& folder) {
  std::vector<std::string> maps;
  for (const char* map : kMaps) maps.push_back((folder / map).string());
  return maps;
}

F1tenthLaw law_of(const std::string& name, const std::vector<std::string>& parameters) {
  F1tenthLaw law;
  law.name = name;
  for (const std::string& assignment : parameters) REQUIRE(set_by_path(law.parameters, assignment).ok());
  return law;
}

/// Ten laps on each of the four maps, all of them finished within that share of the best known time, and close to the line.
void check_law(const std::filesystem::path& folder, const F1tenthLaw& law, double of_best) {
  const auto results = run_f1tenth_law(
      maps_in(folder), law, [](const F1tenthLaps&) {}, [] { return false; });
  REQUIRE_MESSAGE(results.ok(), (results.ok() ? "" : results.error().message));
  REQUIRE(results->size() == 4);
  for (std::size_t i = 0; i < results->size(); ++i) {
    const F1tenthLaps& laps = (*results)[i];
    CAPTURE(laps.map);
    CHECK(laps.laps == 10);
    CHECK(laps.finished == 10);
    CHECK(laps.mean_s <= of_best * kBest_s[i]);
    CHECK(laps.mean_off_m > 0.0);
    CHECK(laps.mean_off_m <= 0.05);
    CHECK(laps.p95_off_m <= 0.13);
    CHECK(laps.passed);
  }
}

void check_on_given_line(const std::string& name, const std::vector<std::string>& parameters) {
  const auto maps = test_data("maps/evans");
  if (maps) check_law(*maps, law_of(name, parameters), 1.0);
}

tracks::Image room(int width, int height) {
  tracks::Image image;
  image.width = width;
  image.height = height;
  for (int j = 0; j < height; ++j) {
    for (int i = 0; i < width; ++i) image.light.push_back(i == 0 || j == 0 || i == width - 1 || j == height - 1 ? 0U : 255U);
  }
  return image;
}

}  // namespace

TEST_CASE("pure pursuit under the benchmark's rules laps as published, and crashes where it did") {
  const auto maps = test_data("maps/evans");
  if (!maps) return;
  int heard = 0;
  // The second planner is left to run_validation: it casts half a million rays a lap.
  const auto results = run_f1tenth_laps(
      maps_in(*maps), 12345, [&](const F1tenthLaps&) { ++heard; }, [&] { return heard == 4; });
  REQUIRE(results);
  REQUIRE(results->size() == 4);
  for (const F1tenthLaps& laps : *results) {
    CAPTURE(laps.map);
    CHECK(laps.planner == "pure_pursuit");
    CHECK(laps.known);
    CHECK(laps.passed);
    CHECK(laps.laps == 10);
    CHECK(laps.finished == laps.published_finished);
    CHECK(std::abs(laps.mean_s - laps.published_s) <= 0.04 + 1e-9);
    for (const double at : laps.crash_progress) {
      if (laps.map == "esp") CHECK(std::abs(at - 0.8365) < 0.002);
      if (laps.map == "mco") CHECK(std::abs(at - 0.947) < 0.002);
    }
  }
}

TEST_CASE("stanley on the published benchmark: 40 of 40 laps, no slower than the best known law, and close to the line") {
  check_on_given_line("stanley", {});
}

TEST_CASE("published benchmark: lqr finishes 40 of 40 laps, faster than the best law known there, within 5 cm on average") {
  check_on_given_line("lqr", {"lqr_tyre=linear"});
}

TEST_CASE("published benchmark: mpc finishes 40 of 40 laps, faster than the best law known there, within 5 cm on average") {
  check_on_given_line("mpc", {"mpc_tyre=linear"});
}

TEST_CASE(
    "on our own lines of least time lqr finishes 40 of 40 laps, at least 2 % under the best law known there, within 5 cm on average") {
  const auto maps = test_data("maps/evans");
  if (!maps) return;
  const TempFolder folder("benchmark_lines");
  const std::string script = (source_dir() / "tools" / "make_benchmark_lines.sh").string();
  const std::string command = script + " " + PITWALL_BIN_DIR + " " + maps->string() + " " + folder.path().string();
  REQUIRE(std::system((command + " >/dev/null 2>&1").c_str()) == 0);
  F1tenthLaw law = law_of("lqr", {"lqr_tyre=linear"});
  law.line.choice = LineChoice::kOptimized;
  check_law(folder.path(), law, 0.98);
}

TEST_CASE("a line that is not there, or that the benchmark has not, is named") {
  const auto maps = test_data("maps/evans");
  if (!maps) return;
  F1tenthLaw law = law_of("lqr", {"lqr_tyre=linear"});
  const auto error = [&](LineChoice choice) {
    law.line.choice = choice;
    const auto results = run_f1tenth_law(
        {(*maps / "aut").string()}, law, [](const F1tenthLaps&) {}, [] { return true; });
    return results.ok() ? std::string() : results.error().message;
  };
  CHECK(error(LineChoice::kOptimized).find("aut_raceline_optimized.csv") != std::string::npos);
  CHECK(error(LineChoice::kCenterline).find("allowed: shipped, optimized") != std::string::npos);
}

TEST_CASE("a lap whose end is stepped over ends a period later, and driving back and forth at the start is none") {
  // A ring of 40 m; the car of the benchmark circles it at 8 m/s, so that a period of 0.4 s is 8 % of the way.
  std::vector<Vec2> ring;
  for (int i = 0; i < 400; ++i) ring.push_back((20.0 / math::kPi) * unit_vector(2.0 * math::kPi * i / 400));
  const f1tenth::Course course{"", "ring", f1tenth::Grid(room(400, 400), 0.1, {-20.0, -20.0}), f1tenth::CentreLine(ring), {}, {}};
  const double start_yaw = 0.5 * math::kPi;
  const auto circle = [](double, const Pose2&, double) { return f1tenth::Action{0.075, 8.0}; };
  const f1tenth::StartPose start{{20.0 / math::kPi, 0.0, start_yaw}, 0.0};
  const f1tenth::Lap fine = f1tenth::drive(course, start, 1, circle);
  const f1tenth::Lap coarse = f1tenth::drive(course, start, 40, circle);
  CHECK(fine.finished);
  CHECK(coarse.finished);
  CHECK(coarse.time_s >= fine.time_s);
  CHECK(coarse.time_s <= fine.time_s + 0.8);
  const auto stand = [](double, const Pose2&, double) { return f1tenth::Action{}; };
  CHECK_FALSE(f1tenth::drive(course, start, 4, stand).finished);
}

TEST_CASE("smoothing takes the scatter of a line's points away, and not its corners") {
  std::vector<Vec2> points;
  for (int i = 0; i < 200; ++i) {
    const double scatter = i % 2 == 0 ? 0.004 : -0.004;
    points.push_back((3.0 + scatter) * unit_vector(2.0 * math::kPi * i / 200));
  }
  for (const Vec2 p : f1tenth::without_scatter(points)) CHECK(std::abs(norm(p) - 3.0) < 0.002);
}

TEST_CASE("the benchmark's car turns as the closed form says, a step late and with a steering that hunts") {
  f1tenth::Car car;
  car.reset({});
  for (int i = 0; i < 600; ++i) car.step({0.0, 4.0});
  CHECK(car.speed_mps() == doctest::Approx(4.0).epsilon(1e-3));
  // The steering hunts about its target by up to a step of 0.032 rad: its mean turn is that of the target within that.
  double turned = 0.0;
  double before = car.pose().yaw;
  for (int i = 0; i < 800; ++i) {
    car.step({0.2, 4.0});
    if (i >= 200) turned += wrap_angle(car.pose().yaw - before);
    before = car.pose().yaw;
  }
  const double expected = 0.2 / (0.3302 / 16.0 + (1.0 / 4.718 - 1.0 / 5.4562) / (1.0489 * 9.81));
  CHECK(4.0 * turned / 6.0 == doctest::Approx(expected).epsilon(0.1));
}

TEST_CASE("distances are those between cell centres, and a corner in a wall is a crash") {
  const f1tenth::Grid grid(room(41, 21), 0.1, {0.0, 0.0});
  CHECK(grid.distance_at({2.05, 1.05}) == doctest::Approx(1.0));
  CHECK(grid.distance_at({0.05, 1.05}) == 0.0);
  CHECK(grid.distance_at({0.35, 0.55}) == doctest::Approx(0.3));
  CHECK_FALSE(grid.collides({2.0, 1.0, 0.3}));
  CHECK(grid.collides({0.35, 1.0, 0.0}));
  std::vector<double> ranges;
  grid.scan({2.05, 1.05, 0.0}, Rng(1, "x"), 0, ranges);
  REQUIRE(ranges.size() == 1080);
  CHECK(ranges[540] == doctest::Approx(2.0).epsilon(0.05));
}

TEST_CASE("pure pursuit steers to a goal on the left to the left; below 1 m/s it only sets off") {
  f1tenth::RacingLine line;
  for (int i = 0; i < 200; ++i) {
    line.points.push_back({0.2 * i, 0.5});
    line.speeds.push_back(6.0);
  }
  const f1tenth::Action slow = f1tenth::pure_pursuit(line, {5.0, 0.0, 0.0}, 0.5);
  CHECK(slow.steering_rad == 0.0);
  CHECK(slow.speed_mps == 4.0);
  const f1tenth::Action left = f1tenth::pure_pursuit(line, {5.0, 0.0, 0.0}, 4.0);
  CHECK(left.steering_rad > 0.05);
  CHECK(left.speed_mps <= 6.0);
  CHECK(f1tenth::pure_pursuit(line, {5.0, 1.0, 0.0}, 4.0).steering_rad == doctest::Approx(-left.steering_rad).epsilon(0.05));
}

TEST_CASE("follow the gap steers away from the near side and slows down for it") {
  std::vector<double> ranges(1080, 8.0);
  CHECK(std::abs(f1tenth::follow_the_gap(ranges).steering_rad) <= 0.4);
  for (std::size_t i = 200; i < 500; ++i) ranges[i] = 1.0;
  const f1tenth::Action action = f1tenth::follow_the_gap(ranges);
  CHECK(action.steering_rad > 0.0);
}

TEST_CASE("missing maps and missing data are named") {
  const auto run = [](const std::vector<std::string>& maps) {
    return run_f1tenth_laps(
        maps, 1, [](const F1tenthLaps&) {}, [] { return false; });
  };
  const auto none = run({});
  REQUIRE_FALSE(none);
  CHECK(none.error().message.find("--tracks") != std::string::npos);
  const auto nowhere = run({"/nowhere/aut"});
  REQUIRE_FALSE(nowhere);
  CHECK(nowhere.error().message.find("/nowhere/aut.yaml") != std::string::npos);
}

}  // namespace pitwall::scenarios

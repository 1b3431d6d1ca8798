// SPDX-License-Identifier: Apache-2.0
// The tracks that ship, as the build drew them, and the program that drew them.
#include <doctest/doctest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "core/files.hpp"
#include "tests/support/source_dir.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/test_data.hpp"
#include "tracks/build/generator.hpp"
#include "tracks/build/raceline.hpp"
#include "tracks/footprint.hpp"
#include "tracks/line_check.hpp"
#include "tracks/track.hpp"

namespace pitwall::tracks::build {
namespace {

std::filesystem::path shipped() { return data_folder() / "tracks"; }

int generate(const std::string& arguments) {
  const int status = std::system((std::string(PITWALL_TRACK_GENERATE) + " " + arguments + " >/dev/null 2>&1").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_CASE("at least three circuits of 300 to 450 m ship, 2.2 m wide, with a hairpin, a long straight and both directions of turn") {
  const std::vector<std::string> circuits = expand_group("circuits", {shipped()});
  CHECK(circuits.size() >= 3);
  for (const std::string& name : circuits) {
    CAPTURE(name);
    const auto track = load_track(name, {shipped()});
    REQUIRE_MESSAGE(track.ok(), (track.ok() ? "" : track.error().message));
    CHECK(track->name == name);
    CHECK(track->warnings.empty());
    REQUIRE(track->centre.has_value());
    const Path& path = track->centre->path;
    CHECK(path.length_m() > 300.0);
    CHECK(path.length_m() < 450.0);
    for (const double half : track->centre->width_left_m) CHECK(half == 1.1);
    // The corridor of the raster is the one that the file states, to a cell's diagonal.
    const double clearance = smallest_clearance(*track->map, *track->distance, path).clearance_m;
    CHECK(clearance > 1.1 - 0.05 * 1.5);
    CHECK(clearance < 1.1 + 0.05);
    // A hairpin turns by 150 degrees or more within 12 m.
    double hardest = 0.0;
    double left = 0.0;
    double right = 0.0;
    for (std::size_t i = 0; i < path.size(); i += 5) {
      double turned = 0.0;
      for (double s = path.s_of(i); s < path.s_of(i) + 12.0; s += 0.1) turned += 0.1 * path.curvature_at(path.wrap_s(s));
      hardest = std::max(hardest, std::abs(turned));
      left = std::max(left, path.vertex_curvature(i));
      right = std::min(right, path.vertex_curvature(i));
    }
    CHECK(hardest > 150.0 / 180.0 * math::kPi);
    CHECK(left > 0.1);
    CHECK(right < -0.1);
  }
}

TEST_CASE("the shipped circuits keep their plans' radius and wall, and start with a straight ahead") {
  for (const char* name : {"larkfield", "copper_ridge", "salt_quay"}) {
    CAPTURE(name);
    const auto plan = load_plan(source_dir() / "tracks" / "data" / "circuits" / (std::string(name) + ".yaml"));
    REQUIRE(plan.ok());
    CHECK(plan->min_radius_m >= 1.7);
    CHECK(plan->min_wall_m >= 0.5);
    const auto report = check_shape(*plan, centre_line(*plan));
    REQUIRE(report.ok());
    CHECK(report->min_radius_m > 1.7);
    CHECK(report->longest_straight_m > 50.0);
    const auto track = load_track(name, {shipped()});
    REQUIRE(track.ok());
    for (double s = 0.0; s < 20.0; s += 0.5) CHECK(std::abs(track->centre->path.curvature_at(s)) < 0.02);
  }
}

TEST_CASE("the indoor layouts ship under their names with their laps") {
  CHECK(expand_group("indoor", {shipped()}) == std::vector<std::string>{"indoor_oval", "indoor_tight", "indoor_wide", "asb_10000"});
  struct Known {
    const char* name;
    double lap;
  };
  for (const Known& known :
       {Known{"indoor_oval", 29.7}, Known{"indoor_tight", 26.5}, Known{"indoor_wide", 41.7}, Known{"asb_10000", 49.9}}) {
    const auto track = load_track(known.name, {shipped()});
    REQUIRE(track.ok());
    CHECK(std::abs(track->centre->path.length_m() - known.lap) < 0.06);
    CHECK(track->warnings.empty());
  }
}

TEST_CASE("track_generate draws the shipped bytes again") {
  const TempFolder folder("track_generate_test");
  const std::string plan = source_dir().string() + "/tracks/data/indoor/indoor_oval.yaml";
  REQUIRE(generate("--plot --index -o " + folder.path().string() + " " + plan) == 0);
  for (const char* file : {"indoor_oval_map.pgm", "indoor_oval_map.yaml", "indoor_oval_centerline.csv"}) {
    const auto drawn = read_file(folder.path() / "indoor_oval" / file);
    const auto ships = read_file(shipped() / "indoor_oval" / file);
    REQUIRE(drawn.ok());
    REQUIRE(ships.ok());
    CHECK(*drawn == *ships);
  }
  CHECK(std::filesystem::exists(folder.path() / "indoor_oval" / "indoor_oval_plot.png"));
  CHECK(shipped_names({folder.path()}) == std::vector<std::string>{"indoor_oval", "indoor"});
}

TEST_CASE("track_generate exits 0 when it has done its work, 2 on wrong flags and bad plans") {
  const TempFolder folder("track_generate_test");
  CHECK(generate("--help") == 0);
  CHECK(generate("--version") == 0);
  CHECK(generate("") == 2);
  CHECK(generate("--outptu x y") == 2);
  CHECK(generate("-o " + folder.path().string()) == 2);
  CHECK(generate("-o " + folder.path().string() + " absent.yaml") == 2);
  CHECK(generate("-o " + folder.path().string() + " " + folder.write("bad.yaml", "name: x\npoints: 3\n").string()) == 2);
  CHECK(generate("-o " + folder.path().string() + " --json --random 5") == 0);
}

TEST_CASE("the optimised line of a circuit is what the script that made it makes again, to the byte") {
  const TempFolder folder("racelines");
  const std::string source = source_dir().string();
  const std::string command =
      "RACELINES=" + folder.path().string() + " " + source + "/tools/make_racelines.sh " + PITWALL_BIN_DIR + " salt_quay";
  REQUIRE(std::system((command + " >/dev/null 2>&1").c_str()) == 0);
  const auto made = read_file(folder.path() / "salt_quay.csv");
  const auto ships = read_file(shipped() / "salt_quay" / "salt_quay_raceline_optimized.csv");
  REQUIRE(made.ok());
  REQUIRE(ships.ok());
  CHECK(*made == *ships);
  CHECK(ships->starts_with("# made by: optimize_raceline --track salt_quay --objective time"));
  CHECK(ships->find("# input hash: ") != std::string::npos);
}

TEST_CASE("optimised lines are planned at least 2 % faster than the lines that ship, keep their margin and fit the rack") {
  for (const std::string& name : expand_group("circuits", {shipped()})) {
    CAPTURE(name);
    const auto track = load_track(name, {shipped()});
    REQUIRE(track.ok());
    REQUIRE(track->optimized.has_value());
    CHECK(track->warnings.empty());
    const Path& line = track->optimized->path;
    const double before = lap_time_s(track->centre->path, speed_profile(track->centre->path, {}));
    CHECK(lap_time_s(line, speed_profile(line, {})) < 0.98 * before);
    const BodyRectangle chassis{0.5 * (0.3302 - 0.58), 0.5 * (0.3302 + 0.58), 0.155};
    CHECK(swept_clearance(chassis, line, *track->distance, 1.0).clearance_m > 0.23);
    CHECK(check_line(line.points(), true).ok());
    CHECK_FALSE(check_direction(line, track->centre->path));
    for (std::size_t i = 0; i < line.size(); ++i) CHECK(std::abs(line.vertex_curvature(i)) < math::tan(0.26) / 0.3302);
  }
}

TEST_CASE("on the benchmark's maps our lines are planned at least 2 % under the best laps known there, 7.65 m/s^2 circle, standing start") {
  struct Row {
    const char* name;
    double best_s;  // of the law that is best there, 35 of 40 laps
  };
  for (const Row& row : {Row{"aut", 16.43}, Row{"esp", 35.41}, Row{"gbr", 30.51}, Row{"mco", 27.43}}) {
    const auto maps = test_data("maps/evans");
    if (!maps) return;
    CAPTURE(row.name);
    const auto track = load_track((*maps / row.name).string(), {shipped()});
    REQUIRE(track.ok());
    RacelineSettings settings;
    settings.objective = Objective::kTime;
    settings.speed.v_max_mps = 8.0;
    settings.speed.v_min_mps = 0.0;
    settings.speed.lateral_mps2 = settings.speed.accelerate_mps2 = settings.speed.brake_mps2 = 7.65;
    settings.max_curvature_per_m = math::tan(0.4) / 0.3302;
    // Above 0.5 m/s the benchmark's pose is the centre of its 0.58 m x 0.31 m box.
    const BodyRectangle box{-0.29, 0.29, 0.155};
    const Room room = Room::of(*track);
    const auto line = optimise_raceline(room, refine_centre_line(room, track->centre->path.points(), true, settings), true, box, settings);
    REQUIRE(line.ok());
    CHECK(line->faults.empty());
    CHECK(line->min_clearance_m > 0.13);
    const double from_rest = 8.0 / 7.65 - 0.5 * 8.0 / 7.65;  // what the launch costs against a flying start at 8 m/s
    CHECK(line->lap_time_s + from_rest < 0.98 * row.best_s);
  }
}

}  // namespace
}  // namespace pitwall::tracks::build

// SPDX-License-Identifier: Apache-2.0
// Coming back from off the line, in profile `car`: a hall of 40 m x 20 m with its walls, and a line round its middle.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "controllers/make.hpp"
#include "core/files.hpp"
#include "core/text.hpp"
#include "scenarios/run.hpp"
#include "tests/support/temp_folder.hpp"

namespace pitwall::scenarios {
namespace {

/// Two straights of 24 m, 10 m apart, and half circles; 5 m from the walls.
std::string stadium_csv() {
  std::string csv = "# x_m, y_m, w_tr_right_m, w_tr_left_m\n";
  const auto add = [&](Vec2 p) { csv += format_exact(p.x) + ", " + format_exact(p.y) + ", 3, 3\n"; };
  for (const double side : {-1.0, 1.0}) {
    for (int k = 0; k < 240; ++k) add({side * (12.0 - 0.1 * k), side * 5.0});
    for (int k = 0; k < 157; ++k) add(Vec2{-side * 12.0, 0.0} + 5.0 * unit_vector(side * 0.5 * math::kPi + math::kPi * k / 157));
  }
  return csv;
}

void write_hall(const TempFolder& folder) {
  constexpr int kColumns = 800;
  constexpr int kRows = 400;
  std::string map = "P5\n800 400\n255\n";
  for (int j = 0; j < kRows; ++j) {
    for (int i = 0; i < kColumns; ++i) {
      const bool wall = i < 3 || j < 3 || i >= kColumns - 3 || j >= kRows - 3;
      map += static_cast<char>(wall ? 0 : 254);
    }
  }
  folder.write("hall_map.pgm", map);
  folder.write("hall_map.yaml",
               "image: hall_map.pgm\nresolution: 0.05\norigin: [-20.0, -10.0, 0.0]\nnegate: 0\noccupied_thresh: 0.65\n"
               "free_thresh: 0.196\nmode: trinary\n");
  folder.write("hall_centerline.csv", stadium_csv());
}

struct Return {
  bool collision = false;
  double way_m = 0.0;
  double later_m = 0.0;  ///< largest distance from the line beyond 8 m of way
};

Return drive(const TempFolder& folder, const std::string& law, double lateral_m, double heading_rad) {
  ValidationOptions options;
  options.data = data_folder();
  options.scenario = "pure";
  options.tracks = {(folder.path() / "hall_map.yaml").string()};
  options.steering_law = law;
  options.timeout_s = 25.0;
  options.assignments = {"cars.ego.start_s_m=2", "cars.ego.start_lateral_m=" + format_exact(lateral_m),
                         "cars.ego.start_heading_rad=" + format_exact(heading_rad), "criteria.cross_track_below_m=0"};
  const auto runs = resolve(options);
  REQUIRE_MESSAGE(runs.ok(), (runs.ok() ? "" : runs.error().message));
  const tracks::Path& line = followed_path(runs->front());
  Return result;
  std::optional<Vec2> before;
  RunHooks hooks;
  hooks.after_step = [&](const sim::World& world) {
    const Vec2 at = world.car(0).T_map_base.position();
    if (before) result.way_m += distance(*before, at);
    before = at;
    if (result.way_m >= 8.0) result.later_m = std::max(result.later_m, std::abs(line.project(at).lateral_m));
  };
  const auto outcome = run_scenario(
      runs->front(), [&] { return result.way_m >= 14.0; }, hooks);
  REQUIRE(outcome.ok());
  result.collision = outcome->collision;
  return result;
}

TEST_CASE("every law: 1.5 m and 60 degrees off in a hall, the car is back within 0.15 m after 8 m, without contact") {
  const TempFolder folder("hall");
  write_hall(folder);
  for (const std::string& law : controllers::steering_laws()) {
    for (const double lateral : {-1.5, 1.5}) {
      for (const double heading : {-math::kPi / 3.0, math::kPi / 3.0}) {
        CAPTURE(law);
        CAPTURE(lateral);
        CAPTURE(heading);
        const Return back = drive(folder, law, lateral, heading);
        CHECK_FALSE(back.collision);
        CHECK(back.way_m >= 14.0);
        CHECK(back.later_m < 0.15);
      }
    }
  }
}

}  // namespace
}  // namespace pitwall::scenarios

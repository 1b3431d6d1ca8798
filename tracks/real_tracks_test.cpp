// SPDX-License-Identifier: Apache-2.0
// Maps and lines that others made, from the test data.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>

#include "core/text.hpp"
#include "tests/support/test_data.hpp"
#include "tracks/map.hpp"
#include "tracks/track.hpp"

namespace pitwall::tracks {
namespace {

TEST_CASE("every map of the test data loads") {
  const auto folder = test_data("maps");
  if (!folder) return;
  int maps = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(*folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".yaml" || name.starts_with("NUC2") || name == "ot_sectors.yaml" || name == "speed_scaling.yaml")
      continue;
    const auto map = load_map(entry.path());
    CHECK_MESSAGE(map.ok(), (map.ok() ? "" : map.error().message));
    if (!map) continue;
    ++maps;
    // Of the maps here only frictionmaps_* have both unknown cells and a free_thresh that frees them.
    CAPTURE(name);
    CHECK(map->warnings.size() == (name.starts_with("frictionmaps") ? 1 : 0));
    const auto& blocked = map->map.blocked_cells();
    const auto walls = static_cast<std::size_t>(std::count(blocked.begin(), blocked.end(), 1));
    CHECK(walls > 0);
    CHECK(walls < blocked.size());
  }
  CHECK(maps == 18);
}

TEST_CASE("basement_fixed is turned by its yaw of 3.14 about its origin") {
  const auto file = test_data("maps/slam/basement_fixed.map.yaml");
  if (!file) return;
  const auto loaded = load_map(*file);
  REQUIRE(loaded.ok());
  const OccupancyMap& map = loaded->map;
  CHECK(map.origin() == Pose2{25.9, 48.5, 3.14});
  // The far corner of 1300 x 1300 cells of 0.0504 m, turned by hand with cos 3.14 and sin 3.14.
  const double side = 1300 * 0.0504;
  const Vec2 corner = map.to_map({1300.0, 1300.0});
  CHECK(corner.x == doctest::Approx(25.9 + side * (-0.9999987317275395 - 0.0015926529164868282)).epsilon(1e-9));
  CHECK(corner.y == doctest::Approx(48.5 + side * (0.0015926529164868282 - 0.9999987317275395)).epsilon(1e-9));
}

TEST_CASE("the shipped lines have their published lengths, and headings along their points") {
  const auto maps = test_data("maps");
  if (!maps) return;
  struct Known {
    const char* file;
    double length;
    std::size_t points;
  };
  for (const Known& known :
       {Known{"racetracks/Spielberg/Spielberg_raceline.csv", 338.128, 1691},
        Known{"racetracks/Silverstone/Silverstone_raceline.csv", 446.20, 2232},
        Known{"racetracks/BrandsHatch/BrandsHatch_raceline.csv", 350.85, 1755}, Known{"racetracks/IMS/IMS_raceline.csv", 289.986, 1450},
        Known{"evans/aut_raceline_mu90.csv", 92.345, 462}, Known{"evans/esp_raceline_mu90.csv", 230.453, 1153},
        Known{"evans/gbr_raceline_mu90.csv", 195.873, 980}, Known{"evans/mco_raceline_mu90.csv", 172.368, 862},
        Known{"forzaeth/JFR_racingv5/global_traj_wpnts_iqp.csv", 48.94, 490},
        Known{"forzaeth/JFR_racingv5/global_traj_wpnts_sp.csv", 46.98, 470}}) {
    CAPTURE(known.file);
    const auto line = load_line(*maps / known.file);
    REQUIRE_MESSAGE(line.ok(), (line.ok() ? "" : line.error().message));
    CHECK(line->path.length_m() == doctest::Approx(known.length).epsilon(2e-4));
    CHECK(line->path.size() == known.points);
    CHECK(line->speed_mps.size() == known.points);
    REQUIRE(line->heading_rad.size() == known.points);
    double worst = 0.0;
    for (std::size_t i = 0; i < line->path.size(); ++i) {
      const double along = line->path.heading_at(line->path.s_of(i));
      worst = std::max(worst, std::abs(wrap_angle(line->heading_rad[i] - along)));
    }
    CHECK(worst < 0.15);
  }
}

TEST_CASE("the shipped centre lines have widths and no headings") {
  const auto maps = test_data("maps");
  if (!maps) return;
  for (const char* file :
       {"racetracks/Spielberg/Spielberg_centerline.csv", "racetracks/Silverstone/Silverstone_centerline.csv",
        "racetracks/BrandsHatch/BrandsHatch_centerline.csv", "racetracks/IMS/IMS_centerline.csv", "evans/aut_centerline.csv",
        "evans/esp_centerline.csv", "evans/gbr_centerline.csv", "evans/mco_centerline.csv"}) {
    CAPTURE(file);
    const auto line = load_line(*maps / file);
    REQUIRE_MESSAGE(line.ok(), (line.ok() ? "" : line.error().message));
    CHECK(line->width_left_m.size() == line->path.size());
    CHECK(line->width_right_m.size() == line->path.size());
    CHECK(line->width_left_m[0] > 0.8);
    CHECK(line->speed_mps.empty());
  }
  const auto planned = load_line(*maps / "forzaeth/JFR_racingv5/centerline_waypoints.csv");
  REQUIRE(planned.ok());
  CHECK(planned->width_right_m[0] == 0.606193);
  CHECK(planned->width_left_m[0] == 0.716091);
  CHECK(planned->speed_mps.empty());
  CHECK(planned->heading_rad.size() == planned->path.size());
}

TEST_CASE("the shipped lines of Silverstone and IMS pass nearer to the wall than half a car, Spielberg's does not") {
  const auto tracks = test_data("maps/racetracks");
  if (!tracks) return;
  for (const char* name : {"Silverstone", "IMS"}) {
    const auto track = load_track((*tracks / name).string(), {});
    REQUIRE(track.ok());
    const auto warning = clearance_warning(*track, *track->race, "racing line", 0.155);
    REQUIRE(warning.has_value());
    CHECK(contains(*warning, std::string("racing line of ") + name + ": 0.119 m from the wall at s = "));
    CHECK_FALSE(clearance_warning(*track, *track->centre, "centre line", 0.155).has_value());
  }
  for (const char* name : {"Spielberg", "BrandsHatch"}) {
    const auto track = load_track((*tracks / name).string(), {});
    REQUIRE(track.ok());
    CHECK_FALSE(clearance_warning(*track, *track->race, "racing line", 0.155).has_value());
  }
}

TEST_CASE("the evans stems and the ForzaETH folder load with both lines and nothing odd") {
  const auto maps = test_data("maps");
  if (!maps) return;
  for (const char* name : {"evans/aut", "evans/esp", "evans/gbr", "evans/mco", "forzaeth/JFR_racingv5", "forzaeth/JFR_racingv5/"}) {
    CAPTURE(name);
    const auto track = load_track((*maps / name).string(), {});
    REQUIRE_MESSAGE(track.ok(), (track.ok() ? "" : track.error().message));
    CHECK(track->centre.has_value());
    CHECK(track->race.has_value());
    for (const std::string& warning : track->warnings) MESSAGE(warning);
    CHECK(track->warnings.empty());
  }
}

}  // namespace
}  // namespace pitwall::tracks

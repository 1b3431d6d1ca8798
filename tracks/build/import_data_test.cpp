// SPDX-License-Identifier: Apache-2.0
// Maps that others made, imported.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "tests/support/test_data.hpp"
#include "tracks/build/import.hpp"
#include "tracks/track.hpp"

namespace pitwall::tracks::build {
namespace {

Result<ImportedTrack> import_file(const std::filesystem::path& yaml) {
  const auto map = load_map(yaml, UnknownGrey::kUnknown);
  if (!map) return map.error();
  return import_track(map->map, {});
}

TEST_CASE("centre lines that were published come out as long to 0.5 %, in the middle to a cell") {
  const auto maps = test_data("maps");
  if (!maps) return;
  for (const std::string name :
       {"evans/aut", "evans/esp", "evans/gbr", "evans/mco", "racetracks/Spielberg/Spielberg_map", "racetracks/Silverstone/Silverstone_map",
        "racetracks/BrandsHatch/BrandsHatch_map", "racetracks/IMS/IMS_map"}) {
    CAPTURE(name);
    const auto shipped = load_track((*maps / (name + ".yaml")).string(), {});
    REQUIRE(shipped.ok());
    REQUIRE(shipped->centre);
    const auto track = import_file(*maps / (name + ".yaml"));
    REQUIRE_MESSAGE(track.ok(), (track.ok() ? "" : track.error().message));
    CHECK(std::fabs(track->length_m / shipped->centre->path.length_m() - 1.0) < 0.005);
    CHECK(2.0 * track->largest_offset_m < shipped->map->resolution_m());
  }
}

TEST_CASE("maps of real places: rooms are closed, a pillar stays, unknown grey is wall") {
  const auto maps = test_data("maps");
  if (!maps) return;
  struct Known {
    const char* file;
    double lap_m;
    double closed_m2;
  };
  for (const Known known : {Known{"slam/gym_vegas", 476.1, 0.0},
                            {"slam/basement_fixed.map", 157.0, 100.0},
                            {"slam/gym_stata_basement", 157.6, 200.0},
                            {"slam/frictionmaps_levine_slam", 64.3, 20.0},
                            {"slam/frictionmaps_race_black", 37.0, 1.0},
                            {"racetracks/skirk/skirk", 33.7, 20.0},
                            {"racetracks/torino/torino", 59.5, 0.0},
                            {"racetracks/berlin/berlin", 70.8, 0.0},
                            {"forzaeth/JFR_racingv5/JFR_racingv5", 58.0, 0.0}}) {
    CAPTURE(known.file);
    const auto track = import_file(*maps / (std::string(known.file) + ".yaml"));
    REQUIRE_MESSAGE(track.ok(), (track.ok() ? "" : track.error().message));
    CHECK(track->length_m == doctest::Approx(known.lap_m).epsilon(0.005));
    CHECK(track->closed_area_m2 >= known.closed_m2);
  }
  // The pillar of the basement, at column 420 and row 540 of the picture.
  const auto map = load_map(*maps / "slam/basement_fixed.map.yaml");
  const auto track = import_file(*maps / "slam/basement_fixed.map.yaml");
  REQUIRE(track.ok());
  const Vec2 pillar = track->map.to_grid(map->map.to_map({420.5, 1300.0 - 540.5}));
  CHECK(track->map.blocked(static_cast<int>(pillar.x), static_cast<int>(pillar.y)));
}

}  // namespace
}  // namespace pitwall::tracks::build

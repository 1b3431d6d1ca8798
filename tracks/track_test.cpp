// SPDX-License-Identifier: Apache-2.0
#include "tracks/track.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "core/math.hpp"
#include "tests/support/temp_folder.hpp"
#include "tracks/image.hpp"

namespace pitwall::tracks {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Some tracks of 8 x 6 m: free inside, a wall of one cell (0.1 m) around, a centre line of 4 x 2 m in the middle.
class TrackFolder : public TempFolder {
 public:
  TrackFolder() : TempFolder("track_test") {
    std::vector<std::uint8_t> grey(80 * 60, 254);
    for (std::size_t i = 0; i < 80; ++i) grey[i] = grey[59 * 80 + i] = 0;
    for (std::size_t j = 0; j < 60; ++j) grey[80 * j] = grey[80 * j + 79] = 0;
    picture_ = encode_pgm(80, 60, grey);
  }

  void add_map(const std::string& yaml, const std::string& free_thresh = "0.196") const {
    const std::filesystem::path file(yaml);
    const std::string image = file.stem().string() + ".pgm";
    write((file.parent_path() / image).string(), picture_);
    write(yaml,
          "image: " + image + "\nresolution: 0.1\norigin: [0, 0, 0]\nnegate: 0\noccupied_thresh: 0.65\nfree_thresh: " + free_thresh + "\n");
  }
  void add_centre(const std::string& name) const { write(name, "2,2,1,1\n6,2,1,1\n6,4,1,1\n2,4,1,1\n"); }
  void add_race(const std::string& name, double y = 2.0) const {
    write(name, "# s_m; x_m; y_m; psi_rad; kappa_radpm; vx_mps; ax_mps2\n0;2;" + std::to_string(y) + ";0;0;3;0\n4;6;" + std::to_string(y) +
                    ";1;0;3;0\n6;6;4;3;0;3;0\n8;2;4;-2;0;3;0\n");
  }
  [[nodiscard]] TrackLibrary library() const { return {path() / "builtin", path() / "own"}; }
  Track load(const std::string& argument) const {
    auto track = load_track(argument, library());
    REQUIRE_MESSAGE(track.ok(), (track.ok() ? "" : track.error().message));
    return *std::move(track);
  }
  std::string error(const std::string& argument) const {
    const auto track = load_track(argument, library());
    return track.ok() ? "" : track.error().message;
  }
  [[nodiscard]] std::string at(const std::string& name) const { return (path() / name).string(); }

 private:
  std::string picture_;
};

TEST_CASE("a built-in name, a folder, a stem and a map yaml all name a track") {
  const TrackFolder folder;
  folder.add_map("builtin/home/home_map.yaml");
  folder.add_centre("builtin/home/home_centerline.csv");
  folder.add_map("Ring/Ring_map.yaml");
  folder.add_centre("Ring/Ring_centerline.csv");
  folder.add_race("Ring/Ring_raceline.csv");
  folder.add_map("plain/plain.yaml");
  folder.add_map("stems/one.yaml");
  folder.add_centre("stems/one_centerline.csv");
  folder.add_race("stems/one_raceline_mu90.csv");

  CHECK(folder.load("home").name == "home");
  CHECK(folder.load("home").centre.has_value());
  for (const char* form : {"Ring", "Ring/", "Ring/.", "Ring/Ring_map.yaml", "Ring/Ring"}) {
    CAPTURE(form);
    const Track track = folder.load(folder.at(form));
    CHECK(track.name == "Ring");
    REQUIRE(track.centre.has_value());
    REQUIRE(track.race.has_value());
    CHECK(track.centre->path.length_m() == 12.0);
    CHECK(track.race->speed_mps.size() == 4);
    CHECK(track.warnings.empty());
    CHECK(track.map_file.filename() == "Ring_map.yaml");
  }
  const Track bare = folder.load(folder.at("plain"));
  CHECK(bare.name == "plain");
  CHECK_FALSE(bare.centre.has_value());
  CHECK_FALSE(bare.race.has_value());
  CHECK(bare.map != nullptr);
  CHECK(bare.rays != nullptr);
  CHECK(bare.distance != nullptr);
  for (const char* form : {"stems/one", "stems/one.yaml"}) {
    const Track stem = folder.load(folder.at(form));
    CHECK(stem.name == "one");
    CHECK(stem.centre.has_value());
    REQUIRE(stem.race.has_value());
    CHECK(stem.race->file.filename() == "one_raceline_mu90.csv");
  }
}

TEST_CASE("a folder may hold its lines under the names of ForzaETH's planner") {
  const TrackFolder folder;
  folder.add_map("JFR/JFR.yaml");
  folder.add_map("JFR/pf_map.yaml");
  folder.add_centre("JFR/centerline_waypoints.csv");
  folder.add_race("JFR/global_traj_wpnts_iqp.csv");
  for (const char* form : {"JFR", "JFR/", "JFR/JFR.yaml"}) {
    const Track track = folder.load(folder.at(form));
    CHECK(track.centre.has_value());
    CHECK(track.race.has_value());
  }
  CHECK_FALSE(folder.load(folder.at("JFR/pf_map.yaml")).centre.has_value());
}

TEST_CASE("a track that is not there is refused with what is known and the nearest") {
  const TrackFolder folder;
  folder.add_map("builtin/larkfield/larkfield_map.yaml");
  folder.write("builtin/index.yaml", "groups:\n  circuits: [larkfield]\n  indoor: [oval, wide]\n");
  folder.add_map("maps/Spielberg/Spielberg_map.yaml");
  folder.write("maps/broken/note.txt", "");
  folder.write("maps/line.csv", "");

  const std::string typo = folder.error("larkfeild");
  CHECK(contains(typo, "'larkfeild'"));
  CHECK(contains(typo, "did you mean 'larkfield'"));
  CHECK(contains(typo, "indoor"));
  CHECK(contains(folder.error(folder.at("maps/Spielburg")), "did you mean '" + folder.at("maps/Spielberg")));
  CHECK(contains(folder.error(folder.at("maps/broken")), "neither broken_map.yaml nor broken.yaml"));
  CHECK(contains(folder.error(folder.at("maps/line.csv")), "must be a map yaml"));
  CHECK(contains(folder.error(folder.at("nowhere/x")), "no folder"));
  CHECK(contains(folder.error("circuits"), "group"));
  CHECK(contains(folder.error(""), "empty"));
}

TEST_CASE("a track of one's own is known by its name like one that ships, which goes first") {
  const TrackFolder folder;
  folder.add_map("own/hall/hall_map.yaml");
  folder.add_map("own/both/both_map.yaml");
  folder.add_map("builtin/both/both_map.yaml");
  CHECK(folder.load("hall").map_file == folder.path() / "own" / "hall" / "hall_map.yaml");
  CHECK(folder.load("both").map_file == folder.path() / "builtin" / "both" / "both_map.yaml");
  CHECK(own_names(folder.library()) == std::vector<std::string>{"both", "hall"});
  CHECK(contains(folder.error("hal"), "did you mean 'hall'"));
  CHECK(own_names({folder.path() / "builtin"}).empty());
}

TEST_CASE("groups expand in the order of the index, anything else stands for itself") {
  const TrackFolder folder;
  folder.write("builtin/index.yaml", "groups:\n  circuits: [z, a]\n  indoor: [oval]\n");
  CHECK(expand_group("circuits", folder.library()) == std::vector<std::string>{"z", "a"});
  CHECK(expand_group("indoor", folder.library()) == std::vector<std::string>{"oval"});
  CHECK(expand_group("z", folder.library()) == std::vector<std::string>{"z"});
  CHECK(expand_group("a/b", folder.library()) == std::vector<std::string>{"a/b"});
  CHECK(shipped_names(folder.library()) == std::vector<std::string>{"z", "a", "oval", "circuits", "indoor"});
  CHECK(shipped_names({folder.path() / "absent"}).empty());
  folder.write("builtin/index.yaml", "groups: [1]\n");
  CHECK(contains(folder.error("z"), "index.yaml"));
}

TEST_CASE("a bad line of a track is refused by file and line") {
  const TrackFolder folder;
  folder.add_map("Ring/Ring_map.yaml");
  folder.write("Ring/Ring_centerline.csv", "2,2,1,1\n6,2,1\n");
  CHECK(contains(folder.error(folder.at("Ring")), "Ring_centerline.csv:2"));
}

TEST_CASE("loading says what is odd: lines in walls, beyond the map, or the wrong way round") {
  const TrackFolder folder;
  folder.add_map("Ring/Ring_map.yaml");
  folder.write("Ring/Ring_centerline.csv", "2,2,1,1\n7.95,2,1,1\n6,4,1,1\n2,4,1,1\n");
  Track track = folder.load(folder.at("Ring"));
  REQUIRE(track.warnings.size() == 1);
  CHECK(contains(track.warnings[0], "centre line of Ring runs through a wall at s = 5.9"));
  folder.write("Ring/Ring_centerline.csv", "2,2,1,1\n6,2,1,1\n6,4,1,1\n2,20,1,1\n");
  track = folder.load(folder.at("Ring"));
  REQUIRE(track.warnings.size() == 1);
  CHECK(contains(track.warnings[0], "runs through a wall"));
  folder.write("Ring/Ring_centerline.csv", "-2,-2,1,1\n6,2,1,1\n6,4,1,1\n");
  track = folder.load(folder.at("Ring"));
  REQUIRE(track.warnings.size() == 1);
  CHECK(contains(track.warnings[0], "leaves the map at s = 0 m (-2, -2)"));
  folder.write("Ring/Ring_centerline.csv", "2,4,1,1\n6,4,1,1\n6,2,1,1\n2,2,1,1\n");
  folder.add_race("Ring/Ring_raceline.csv");
  track = folder.load(folder.at("Ring"));
  REQUIRE(track.warnings.size() == 1);
  CHECK(contains(track.warnings[0], "runs against its centre line"));
}

TEST_CASE("the smallest clearance is found with its place, exact on cell squares") {
  const TrackFolder folder;
  folder.add_map("Ring/Ring_map.yaml");
  folder.add_centre("Ring/Ring_centerline.csv");
  folder.add_race("Ring/Ring_raceline.csv", 0.25);
  const Track track = folder.load(folder.at("Ring"));
  // The wall's cells end at y = 0.1: the line at y = 0.25 is 0.15 m from them, the one at y = 2 1.9 m.
  const LineClearance race = smallest_clearance(*track.map, *track.distance, track.race->path);
  CHECK(race.clearance_m == doctest::Approx(0.15));
  CHECK(race.where.y == doctest::Approx(0.25));
  CHECK(race.s_m <= 4.0);
  const LineClearance centre = smallest_clearance(*track.map, *track.distance, track.centre->path);
  CHECK(centre.clearance_m == doctest::Approx(1.9));
  // A place that is only a little nearer than what was found before is not skipped.
  const auto dip = Path::make({{2, 2}, {6, 2}, {6, 4}, {4, 4.4}, {2, 4}}, true);
  REQUIRE(dip.ok());
  const LineClearance nearest = smallest_clearance(*track.map, *track.distance, *dip);
  CHECK(nearest.clearance_m == doctest::Approx(1.5));
  CHECK(distance(nearest.where, {4.0, 4.4}) < 1e-9);
  CHECK_FALSE(clearance_warning(track, *track.race, "racing line", 0.149).has_value());
  const auto warning = clearance_warning(track, *track.race, "racing line", 0.155);
  REQUIRE(warning.has_value());
  CHECK(contains(*warning, "racing line of Ring: 0.15 m from the wall at s = "));
  CHECK(contains(*warning, "half the car (0.155 m)"));
}

TEST_CASE("the smallest clearance agrees with brute force on a scattered map") {
  std::vector<std::int8_t> values(60 * 40, 0);
  for (std::size_t i = 7; i < values.size(); i += 53) values[i] = 100;
  auto made = OccupancyMap::make(60, 40, 0.1, {1.0, -2.0, 0.4}, values);
  REQUIRE(made.ok());
  const OccupancyMap& map = *made;
  const DistanceField field(map);
  std::vector<Vec2> points;
  for (const Vec2 p : {Vec2{3.3, 3.1}, Vec2{51.7, 5.2}, Vec2{47.9, 36.4}, Vec2{9.4, 31.3}}) points.push_back(map.to_map(p));
  const auto path = Path::make(points, true);
  REQUIRE(path.ok());
  double brute = std::numeric_limits<double>::infinity();
  for (double s = 0.0; s < path->length_m(); s += 0.01) {
    const Vec2 p = map.to_grid(path->point_at(s));
    for (int j = 0; j < 40; ++j) {
      for (int i = 0; i < 60; ++i) {
        if (!map.blocked(i, j)) continue;
        const Vec2 nearest{std::clamp(p.x, static_cast<double>(i), i + 1.0), std::clamp(p.y, static_cast<double>(j), j + 1.0)};
        brute = std::min(brute, 0.1 * distance(p, nearest));
      }
    }
  }
  // Sampled at half a cell, a line passes at most a quarter of a cell before or after a sample.
  const double found = smallest_clearance(map, field, *path).clearance_m;
  CHECK(found >= brute - 0.01);
  CHECK(found <= brute + 0.025);
}

TEST_CASE("the content hash follows map and lines, not file names") {
  const TrackFolder folder;
  folder.add_map("Ring/Ring_map.yaml");
  folder.add_centre("Ring/Ring_centerline.csv");
  folder.add_map("Other/Other_map.yaml");
  folder.add_centre("Other/Other_centerline.csv");
  const std::uint64_t hash = folder.load(folder.at("Ring")).content_hash();
  CHECK(folder.load(folder.at("Other")).content_hash() == hash);
  folder.add_race("Other/Other_raceline.csv");
  CHECK(folder.load(folder.at("Other")).content_hash() != hash);
  folder.write("Ring/Ring_centerline.csv", "2,2,1,1\n6,2,1,1\n6,4,1,1\n2,4,1,1.1\n");
  CHECK(folder.load(folder.at("Ring")).content_hash() != hash);
}

TEST_CASE("a car that knows no map has the track 'none': a ring on an open floor, in no file") {
  const auto track = load_track("none", TrackLibrary{});
  REQUIRE(track.ok());
  CHECK(track->name == "none");
  CHECK(track->map_file.empty());
  REQUIRE(track->centre);
  CHECK(track->centre->path.closed());
  CHECK(track->centre->path.length_m() == doctest::Approx(6.0 * math::kPi).epsilon(0.01));
  CHECK(smallest_clearance(*track->map, *track->distance, track->centre->path).clearance_m > 1.0);
}

}  // namespace
}  // namespace pitwall::tracks

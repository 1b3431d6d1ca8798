// SPDX-License-Identifier: Apache-2.0
// More than 10^6 beams against the plain cell walk of bench/reference: equal to the bit, also where rays pass through
// corners, run along lines or start on them.
#include <doctest/doctest.h>

#include <limits>

#include "bench/reference/cell_walk.hpp"
#include "core/rng.hpp"
#include "tests/support/noise_map.hpp"
#include "tests/support/test_data.hpp"
#include "tracks/raycast.hpp"
#include "tracks/track.hpp"

using namespace pitwall;
using namespace pitwall::tracks;

namespace {

// Counts instead of a CHECK a beam: a million of those take seconds.
struct Tally {
  std::size_t beams = 0;
  std::size_t differing = 0;
  Vec2 first_origin;
  Vec2 first_direction;

  void compare(const RayCaster& rays, Vec2 o, Vec2 d) {
    ++beams;
    const OccupancyMap& map = rays.map();
    const double walked = map.resolution_m() * bench::cell_walk(map, map.to_grid(o), d);
    if (rays.cast(o, d, std::numeric_limits<double>::infinity()) == walked) return;
    if (differing++ == 0) {
      first_origin = o;
      first_direction = d;
    }
  }
  void check() const {
    INFO(beams << " beams, first from " << first_origin.x << " " << first_origin.y << " along " << first_direction.x << " "
               << first_direction.y);
    CHECK(differing == 0);
  }
};

}  // namespace

TEST_CASE("random beams equal the walk to the bit") {
  const Rng rng(12, "beams");
  std::uint64_t k = 0;
  for (const double density : {0.001, 0.01, 0.1, 0.4}) {
    const RayCaster rays(noise_map(11, 310, 270, density));
    Tally tally;
    for (int n = 0; n < 100000; ++n, ++k) {
      tally.compare(rays, {310.0 * rng.uniform(k, 0), 270.0 * rng.uniform(k, 1)}, unit_vector(6.2832 * rng.uniform(k, 2)));
    }
    tally.check();
  }
}

TEST_CASE("beams through corners, along lines and from lines equal the walk to the bit") {
  const double h = std::sqrt(0.5);
  std::vector<Vec2> directions{{h, h},      {0.6, 0.8},  {0.8, 0.6},   {1.0, 0.0},   {0.0, 1.0},
                               {1.0, 1e-9}, {1e-9, 1.0}, {1.0, 1e-17}, {1e-17, 1.0}, {1.0, 1e-300}};
  for (int a = 1; a <= 5; ++a) {
    for (int b = 1; b <= 5; ++b) directions.push_back((1.0 / norm({1.0 * a, 1.0 * b})) * Vec2{1.0 * a, 1.0 * b});
  }
  for (const double angle : {0.25, 0.5, 0.75, 1.0}) {
    for (const double nudge : {-1e-10, -1e-15, 0.0, 1e-15, 1e-10}) directions.push_back(unit_vector(angle * math::kPi + nudge));
  }
  const Rng rng(13, "corners");
  for (const double density : {0.003, 0.03, 0.2}) {
    const RayCaster rays(noise_map(11, 64, 57, density));
    Tally tally;
    for (std::uint64_t k = 0; k < 600; ++k) {
      Vec2 o{std::floor(64.0 * rng.uniform(k, 0)), std::floor(57.0 * rng.uniform(k, 1))};  // a corner
      if (k % 4 == 1) o = o + Vec2{0.5, 0.5};                                              // a centre
      if (k % 4 == 2) o.x += rng.uniform(k, 2);                                            // on a line
      if (k % 4 == 3) o = {std::nextafter(o.x, 99.0), std::nextafter(o.y + 1.0, 0.0)};     // beside a corner
      for (const Vec2 d : directions) {
        for (const Vec2 turned : {d, Vec2{-d.x, d.y}, Vec2{d.x, -d.y}, Vec2{-d.x, -d.y}}) {
          if (std::fabs(d.y) < 1e-100 && d.y != 0.0) continue;  // a direction that the caster takes for 0
          tally.compare(rays, o, turned);
        }
      }
    }
    tally.check();
  }
}

TEST_CASE("fans on Spielberg equal the walk to the bit") {
  const auto folder = test_data("maps/racetracks/Spielberg");
  if (!folder) return;
  const Result<Track> track = load_track(folder->string(), {});
  REQUIRE_MESSAGE(track.ok(), track.error().message);
  const OccupancyMap& map = *track->map;
  const Path& line = track->centre->path;
  const BeamFan fan(-0.75 * math::kPi, 0.75 * math::kPi, 1081);
  const Rng rng(14, "poses");
  Tally tally;
  std::vector<double> ranges(1081);
  for (std::uint64_t k = 0; k < 900; ++k) {
    const double s = line.length_m() * rng.uniform(k, 0);
    Vec2 sensor = line.from_frenet({s, 1.6 * rng.uniform(k, 1) - 0.8});
    double yaw = line.heading_at(s) + rng.uniform(k, 2) - 0.5;
    if (k % 2 == 0) {  // the centre of a cell, at a multiple of 45 degrees
      const Vec2 p = map.to_grid(sensor);
      sensor = map.to_map({std::floor(p.x) + 0.5, std::floor(p.y) + 0.5});
      yaw = std::floor(8.0 * rng.uniform(k, 3)) * math::kPi / 4.0;
    }
    track->rays->cast_fan({sensor.x, sensor.y, yaw}, fan, 30.0, ranges);
    const math::SinCos turn = math::sincos(yaw);
    for (std::size_t b = 0; b < 1081; ++b) {
      const Vec2 beam = fan.directions[b];
      const Vec2 d{turn.cos * beam.x - turn.sin * beam.y, turn.sin * beam.x + turn.cos * beam.y};
      ++tally.beams;
      const double walked = map.resolution_m() * bench::cell_walk(map, map.to_grid(sensor), d);
      if (ranges[b] != (walked <= 30.0 ? walked : std::numeric_limits<double>::infinity())) ++tally.differing;
    }
  }
  tally.check();
}

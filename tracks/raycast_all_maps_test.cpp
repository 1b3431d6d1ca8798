// SPDX-License-Identifier: Apache-2.0
// 10^7 beams on every map of the test data against the plain cell walk: fans from random free cells, along the centre line
// where there is one, and adversarial. Every bit counts, at corners too.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "tests/support/fan_check.hpp"
#include "tests/support/test_data.hpp"
#include "tracks/track.hpp"

using namespace pitwall;
using namespace pitwall::tracks;

TEST_CASE("of 10^7 beams on every map none differs from the walk") {
  const auto folder = test_data("maps");
  if (!folder) return;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(*folder)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  const BeamFan fan(-0.75 * math::kPi, 0.75 * math::kPi, 1081);
  std::size_t maps = 0;
  for (const std::filesystem::path& file : files) {
    Result<LoadedMap> loaded = load_map(file);
    if (!loaded) continue;  // a yaml of something else
    ++maps;
    const RayCaster rays(std::make_shared<const OccupancyMap>(std::move(loaded->map)));
    const OccupancyMap& map = rays.map();
    const Result<Track> track = load_track(file.parent_path().string(), {});
    const bool has_line = track.ok() && track->centre && track->map->content_hash() == map.content_hash();
    const Rng rng(51, file.filename().string());
    FanCheck check;
    for (std::uint64_t k = 0; check.beams < 10'000'000; ++k) {
      const int i = static_cast<int>(map.width() * rng.uniform(k, 0));
      const int j = static_cast<int>(map.height() * rng.uniform(k, 1));
      if (k % 3 == 2 && has_line) {
        const Path& line = track->centre->path;
        const double s = line.length_m() * rng.uniform(k, 2);
        const Vec2 p = line.from_frenet({s, rng.uniform(k, 3) - 0.5});
        check.compare(rays, {p.x, p.y, line.heading_at(s) + rng.uniform(k, 4) - 0.5}, fan, 30.0);
      } else if (map.blocked(i, j)) {
        continue;
      } else if (k % 3 == 1) {
        check.compare(rays, adversarial_pose(map, i, j, rng, k), fan, 30.0);
      } else {
        const Vec2 p = map.to_map({i + rng.uniform(k, 5), j + rng.uniform(k, 6)});
        check.compare(rays, {p.x, p.y, 6.2832 * rng.uniform(k, 7)}, fan, 30.0);
      }
    }
    MESSAGE(file.filename().string() << ": " << map.width() << " x " << map.height() << ", " << rays.walls().vertices().size()
                                     << " corners, " << rays.bytes() / 1024 << " KiB, " << check.beams << " beams, " << check.differing
                                     << " differ");
    CHECK_MESSAGE(check.differing == 0, "first from " << check.first_pose.x << " " << check.first_pose.y << " " << check.first_pose.yaw);
    CHECK(rays.walls().available());
  }
  CHECK(maps >= 15);
}

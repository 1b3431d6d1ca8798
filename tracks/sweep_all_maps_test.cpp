// SPDX-License-Identifier: Apache-2.0
// 4 * 10^6 beams of sensors that move at up to 10 m/s and turn at up to 8 rad/s, on every map of the test data, against the
// plain cell walk from each beam's own origin: from random free cells, along the centre line where there is one, and
// adversarial. Every bit counts, at corners too.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "tests/support/fan_check.hpp"
#include "tests/support/sweep_check.hpp"
#include "tests/support/test_data.hpp"
#include "tracks/track.hpp"

using namespace pitwall;
using namespace pitwall::tracks;

namespace {

// Every fifth drives ahead as a car does, every seventh along an axis of the grid, others any way; some hardly or not at all.
MovingSensor moving(const Rng& rng, std::uint64_t k) {
  const double speed = k % 11 == 0 ? 0.0 : k % 11 == 1 ? 1e-8 * rng.uniform(k, 20) : 10.0 * rng.uniform(k, 20);
  const double aside = k % 5 == 0 ? 0.0 : 2.0 * math::kPi * rng.uniform(k, 21);
  const double yaw_rate = k % 7 == 0 ? 0.0 : 16.0 * rng.uniform(k, 22) - 8.0;
  return {speed * unit_vector(k % 7 == 0 ? 0.0 : aside), yaw_rate, 0.01875, 1 + k % 6};
}

}  // namespace

TEST_CASE("of 4 * 10^6 beams of moving sensors on every map none differs from the walk") {
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
    const Rng rng(61, file.filename().string());
    SweepCheck check;
    std::array<std::size_t, 3> walked{};
    std::array<std::size_t, 3> cast{};
    for (std::uint64_t k = 0; check.beams < 4'000'000; ++k) {
      const int i = static_cast<int>(map.width() * rng.uniform(k, 0));
      const int j = static_cast<int>(map.height() * rng.uniform(k, 1));
      Pose2 pose;
      if (k % 3 == 2 && has_line) {
        const Path& line = track->centre->path;
        const double s = line.length_m() * rng.uniform(k, 2);
        const Vec2 p = line.from_frenet({s, rng.uniform(k, 3) - 0.5});
        pose = {p.x, p.y, line.heading_at(s) + rng.uniform(k, 4) - 0.5};
      } else if (map.blocked(i, j)) {
        continue;
      } else if (k % 3 == 1) {
        pose = adversarial_pose(map, i, j, rng, k);
      } else {
        const Vec2 p = map.to_map({i + rng.uniform(k, 5), j + rng.uniform(k, 6)});
        pose = {p.x, p.y, 6.2832 * rng.uniform(k, 7)};
      }
      const std::vector<SweepKnot> knots = moving(rng, k).knots(pose, 1081);
      walked[k % 3] += check.compare(rays, knots, fan, 30.0);
      cast[k % 3] += 1081;
    }
    const auto percent = [&](std::size_t kind) { return 100.0 * static_cast<double>(walked[kind]) / static_cast<double>(cast[kind]); };
    MESSAGE(file.filename().string() << ": " << check.beams << " beams, " << check.differing << " differ; walked " << percent(0)
                                     << " % of random, " << percent(1) << " % of adversarial, " << percent(2) << " % of "
                                     << std::string(has_line ? "centre-line" : "random") << " ones");
    const Pose2& first = check.first_knot.T_map_sensor;
    CHECK_MESSAGE(check.differing == 0, "first from " << first.x << " " << first.y << " " << first.yaw << " beam " << check.first_beam);
  }
  CHECK(maps >= 15);
}

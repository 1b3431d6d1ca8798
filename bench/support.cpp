// SPDX-License-Identifier: Apache-2.0
#include "bench/support.hpp"

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "core/check.hpp"

namespace pitwall::bench {

std::vector<std::string> bench_track_arguments() {
  const char* given = std::getenv("PITWALL_TEST_DATA");
  const std::string data = given != nullptr ? given : PITWALL_SOURCE_DIR "/../shared/data";
  const std::string spielberg = data + "/maps/racetracks/Spielberg";
  if (std::filesystem::exists(spielberg)) return {spielberg, "larkfield"};
  std::fprintf(stderr, "left out: Spielberg, there is no %s\n", spielberg.c_str());
  return {"larkfield"};
}

const std::vector<tracks::Track>& bench_tracks() {
  static const std::vector<tracks::Track> loaded = [] {
    std::vector<tracks::Track> tracks;
    for (const std::string& argument : bench_track_arguments()) {
      Result<tracks::Track> track = tracks::load_track(argument, {PITWALL_TRACKS_DIR});
      PITWALL_CHECK(track.ok(), track.error().message);
      tracks.push_back(std::move(track).value());
    }
    return tracks;
  }();
  return loaded;
}

std::vector<Pose2> poses_along(const tracks::Track& track, std::size_t count) {
  const tracks::Path& line = track.centre->path;
  std::vector<Pose2> poses;
  for (std::size_t k = 0; k < count; ++k) {
    const double s = line.length_m() * static_cast<double>(k) / static_cast<double>(count);
    const Vec2 p = line.point_at(s);
    poses.push_back({p.x, p.y, line.heading_at(s)});
  }
  return poses;
}

double thread_cpu_s() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double median(std::vector<double> values) {
  PITWALL_CHECK(!values.empty());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace pitwall::bench

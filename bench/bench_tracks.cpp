// SPDX-License-Identifier: Apache-2.0
#include "bench/bench_tracks.hpp"

#include <time.h>

#include <cstdio>
#include <cstdlib>

namespace pitwall::bench {

const std::vector<tracks::Track>& bench_tracks() {
  static const std::vector<tracks::Track> loaded = [] {
    const char* given = std::getenv("PITWALL_TEST_DATA");
    const std::string data = given != nullptr ? given : PITWALL_SOURCE_DIR "/../shared/data";
    std::vector<tracks::Track> tracks;
    for (const std::string& argument : {data + "/maps/racetracks/Spielberg", std::string("larkfield")}) {
      Result<tracks::Track> track = tracks::load_track(argument, PITWALL_TRACKS_DIR);
      if (track) {
        tracks.push_back(std::move(track).value());
      } else {
        std::fprintf(stderr, "left out: %s\n", track.error().message.c_str());
      }
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

}  // namespace pitwall::bench

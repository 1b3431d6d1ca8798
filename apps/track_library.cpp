// SPDX-License-Identifier: Apache-2.0
#include "apps/track_library.hpp"

#include <cstdlib>
#include <string>

#include "core/files.hpp"

namespace pitwall::apps {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

std::filesystem::path own_tracks_folder() {
  if (const std::string own = environment("PITWALL_TRACKS"); !own.empty()) return own;
  if (const std::string data = environment("XDG_DATA_HOME"); !data.empty()) return std::filesystem::path(data) / "pitwall" / "tracks";
  if (const std::string home = environment("HOME"); !home.empty()) return std::filesystem::path(home) / ".local/share/pitwall/tracks";
  return {};
}

tracks::TrackLibrary track_library() { return {data_folder() / "tracks", own_tracks_folder()}; }

}  // namespace pitwall::apps

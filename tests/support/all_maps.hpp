// SPDX-License-Identifier: Apache-2.0
// Every map of the test data, and places on it to cast rays from.
#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/rng.hpp"
#include "tests/support/fan_check.hpp"
#include "tests/support/test_data.hpp"
#include "tracks/track.hpp"

namespace pitwall {

/// A ray caster on one map, with the track that the map belongs to.
class MapSite {
 public:
  MapSite(std::string name, const std::filesystem::path& folder, std::shared_ptr<const tracks::OccupancyMap> map)
      : name_(std::move(name)), rays_(std::move(map)), track_(tracks::load_track(folder.string(), {})) {
    has_line_ = track_.ok() && track_->centre && track_->map->content_hash() == rays_.map().content_hash();
  }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const tracks::RayCaster& rays() const { return rays_; }
  [[nodiscard]] bool has_line() const { return has_line_; }

  /// The k-th pose: along the centre line where there is one, adversarial, or in a random free cell, in turns; nothing where the
  /// cell that was drawn is blocked.
  [[nodiscard]] std::optional<Pose2> pose(const Rng& rng, std::uint64_t k) const {
    const tracks::OccupancyMap& map = rays_.map();
    if (k % 3 == 2 && has_line_) {
      const tracks::Path& line = track_->centre->path;
      const double s = line.length_m() * rng.uniform(k, 2);
      const Vec2 p = line.from_frenet({s, rng.uniform(k, 3) - 0.5});
      return Pose2{p.x, p.y, line.heading_at(s) + rng.uniform(k, 4) - 0.5};
    }
    const int i = static_cast<int>(map.width() * rng.uniform(k, 0));
    const int j = static_cast<int>(map.height() * rng.uniform(k, 1));
    if (map.blocked(i, j)) return std::nullopt;
    if (k % 3 == 1) return adversarial_pose(map, i, j, rng, k);
    const Vec2 p = map.to_map({i + rng.uniform(k, 5), j + rng.uniform(k, 6)});
    return Pose2{p.x, p.y, 6.2832 * rng.uniform(k, 7)};
  }

 private:
  std::string name_;
  tracks::RayCaster rays_;
  Result<tracks::Track> track_;
  bool has_line_ = false;
};

/// Calls `visit` with every map of the test data, in the order of their paths. Returns how many there are; nothing where the test data
/// is absent, which one line says.
inline std::optional<std::size_t> for_all_maps(const std::function<void(const MapSite&)>& visit) {
  const auto folder = test_data("maps");
  if (!folder) return std::nullopt;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(*folder)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::size_t maps = 0;
  for (const std::filesystem::path& file : files) {
    Result<tracks::LoadedMap> loaded = tracks::load_map(file);
    if (!loaded) continue;  // a yaml of something else
    ++maps;
    visit({file.filename().string(), file.parent_path(), std::make_shared<const tracks::OccupancyMap>(std::move(loaded->map))});
  }
  return maps;
}

}  // namespace pitwall

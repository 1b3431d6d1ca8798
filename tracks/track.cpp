// SPDX-License-Identifier: Apache-2.0
#include "tracks/track.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check.hpp"
#include "core/hash.hpp"
#include "core/math.hpp"
#include "core/text.hpp"

namespace pitwall::tracks {
namespace {

void add(Hash& hash, const std::vector<double>& values) {
  hash.add(std::uint64_t{values.size()});
  for (const double value : values) hash.add(value);
}

void add(Hash& hash, const std::optional<Line>& line) {
  hash.add(std::uint64_t{line ? 1U : 0U});
  if (!line) return;
  hash.add(std::uint64_t{line->path.closed() ? 1U : 0U});
  hash.add(std::uint64_t{line->path.size()});
  for (const Vec2 p : line->path.points()) {
    hash.add(p.x);
    hash.add(p.y);
  }
  add(hash, line->width_right_m);
  add(hash, line->width_left_m);
  add(hash, line->heading_rad);
  add(hash, line->speed_mps);
}

}  // namespace

std::uint64_t Track::content_hash() const {
  Hash hash;
  hash.add(map->content_hash());
  add(hash, centre);
  add(hash, race);
  return hash.value();
}

std::uint64_t Track::content_hash_optimized() const {
  Hash hash;
  hash.add(content_hash());
  add(hash, optimized);
  return hash.value();
}

Track no_track() {
  constexpr int kCells = 100;
  constexpr double kCell_m = 0.1;
  constexpr int kPoints = 60;
  constexpr double kRadius_m = 3.0;
  auto map = OccupancyMap::make(kCells, kCells, kCell_m, {-0.5 * kCells * kCell_m, -0.5 * kCells * kCell_m, 0.0},
                                std::vector<std::int8_t>(static_cast<std::size_t>(kCells) * kCells, 0));
  std::vector<Vec2> ring;
  for (int k = 0; k < kPoints; ++k) ring.push_back(kRadius_m * unit_vector(2.0 * math::kPi * k / kPoints));
  auto path = Path::make(std::move(ring), true);
  PITWALL_CHECK(map.ok() && path.ok());
  Track track;
  track.name = kNoTrack;
  track.map = std::make_shared<const OccupancyMap>(*std::move(map));
  track.rays = std::make_shared<const RayCaster>(track.map);
  track.distance = std::make_shared<const DistanceField>(*track.map);
  track.centre = Line{*std::move(path), std::vector<double>(kPoints, 1.0), std::vector<double>(kPoints, 1.0), {}, {}, {}, {}};
  return track;
}

LineClearance smallest_clearance(const OccupancyMap& map, const DistanceField& distance_field, const Path& path) {
  const double step = 0.5 * map.resolution_m();
  LineClearance best{std::numeric_limits<double>::infinity(), 0.0, path.points().front()};
  for (std::size_t i = 0; i < path.segments(); ++i) {
    const Vec2 from = path.points()[i];
    const Vec2 to = path.points()[(i + 1) % path.size()];
    const double length = distance(from, to);
    const auto pieces = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(length / step)));
    for (std::int64_t k = 0; k < pieces; ++k) {
      const double t = static_cast<double>(k) / static_cast<double>(pieces);
      const Vec2 p = from + t * (to - from);
      const double clearance = distance_field.clearance_m(p, best.clearance_m);
      if (clearance < best.clearance_m) best = {clearance, path.s_of(i) + t * length, p};
    }
  }
  return best;
}

std::optional<std::string> clearance_warning(const Track& track, const Line& line, const std::string& line_name, double half_width_m) {
  const LineClearance nearest = smallest_clearance(*track.map, *track.distance, line.path);
  if (nearest.clearance_m >= half_width_m) return std::nullopt;
  return line_name + " of " + track.name + ": " + format_number(nearest.clearance_m, 3) +
         " m from the wall at s = " + format_number(nearest.s_m, 5) + " m (" + format_number(nearest.where.x, 5) + ", " +
         format_number(nearest.where.y, 5) + "): nearer than half the car (" + format_number(half_width_m, 3) + " m)";
}

}  // namespace pitwall::tracks

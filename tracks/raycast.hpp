// SPDX-License-Identifier: Apache-2.0
// Exact ray casting on closed cell squares. In the grid frame a ray crosses the lines x = k at t = (k - x0) / dx and the
// lines y = m at t = (m - y0) / dy; both sequences are monotone also as rounded, and merging them is the exact cell walk
// (Amanatides and Woo, "A fast voxel traversal algorithm", Eurographics 1987, with nothing accumulated). Between walls the
// walk leaps over square boxes of free cells, one size per quadrant of directions; since the place where a leap ends is
// found from the same line crossings, no leap changes a bit of the result.
//
// Squares are closed, so what touches a blocked square hits it: a ray through a shared corner of blocked cells (diagonal
// walls do not leak), a ray that grazes one corner, a ray along the edge of a wall. Outside the map nothing is blocked: a
// ray from outside walks in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/geometry.hpp"
#include "tracks/beam_fan.hpp"
#include "tracks/fan.hpp"
#include "tracks/map.hpp"
#include "tracks/sweep.hpp"
#include "tracks/sweep_fan.hpp"
#include "tracks/visibility.hpp"
#include "tracks/walls.hpp"

namespace pitwall::tracks {

/// Casts rays on one map. Nothing about it that can be seen changes after construction: share it between cars, runs and
/// threads. What can be seen from a tile of the map is worked out at the first fan from there (0.2 ms, under a lock).
class RayCaster final {
 public:
  explicit RayCaster(std::shared_ptr<const OccupancyMap> map);
  RayCaster(const RayCaster&) = delete;
  RayCaster& operator=(const RayCaster&) = delete;
  ~RayCaster() = default;

  [[nodiscard]] const OccupancyMap& map() const { return *map_; }

  /// Distance in metres from `origin_map` along the unit vector `direction_map` to the first blocked cell square; 0 from
  /// within or on the edge of a blocked square; +inf where there is none within `max_range_m` (inclusive) or before the
  /// ray leaves the map, and for an origin or direction that is not finite.
  [[nodiscard]] double cast(Vec2 origin_map, Vec2 direction_map, double max_range_m) const;

  /// cast() for every `stride`-th beam of the fan seen from `T_map_sensor`; out[i] belongs to beam i * stride, and beams
  /// that do not exist are left out. `out` holds at least ceil(count / stride) values; stride is at least 1. `faces` is empty, or
  /// gets what each of them meets.
  void cast_fan(const Pose2& T_map_sensor, const BeamFan& fan, double max_range_m, std::span<double> out, int stride = 1,
                std::span<Face> faces = {}) const;

  /// cast() for every beam of a fan whose sensor moves while it turns: out[k] is what beam k meets from where the sensor is at that beam,
  /// as `Sweep` says. `out` holds a value a beam. A sensor that does not move gets the bits of cast_fan(). Returns how many beams had to be
  /// walked one by one: next to none, unless the sensor is about to touch a wall or outside the map.
  std::size_t cast_sweep(std::span<const SweepKnot> knots, const BeamFan& fan, double max_range_m, std::span<double> out,
                         std::span<Face> faces = {}) const;

  /// Bytes held, the map apart; all of them from construction on.
  [[nodiscard]] std::size_t bytes() const;
  /// Outlines and what is seen of them, for measurements; null where the map has too many (fans are walked there).
  [[nodiscard]] const Visibility* visibility() const { return visibility_.get(); }
  [[nodiscard]] const Walls& walls() const { return walls_; }

 private:
  [[nodiscard]] std::size_t cell_index(int i, int j) const {
    return static_cast<std::size_t>(j + 1) * row_ + static_cast<std::size_t>(i + 1);
  }
  void fill_leaps(bool right, bool up);
  // What the rays of one origin share; everything in cells.
  struct Start {
    Vec2 origin;
    bool finite = false;         // else the rest says nothing
    bool inside = false;         // of the map or on its border
    bool blocked = false;        // touches a blocked square
    bool on_vertical = false;    // lies on a line x = whole number
    bool on_horizontal = false;  // lies on a line y = whole number
    int left = 0;                // column that a ray to the left starts in, and so on
    int right = 0;
    int down = 0;
    int up = 0;
  };
  [[nodiscard]] Start start_at(Vec2 p) const;
  [[nodiscard]] double cast_cells(const Start& start, Vec2 direction, double limit) const;
  [[nodiscard]] double along_line(const Start& from, Vec2 direction) const;
  template <bool kRight, bool kUp>
  [[nodiscard]] double enter(Vec2 origin, Vec2 direction, double limit, int& i, int& j) const;
  template <bool kRight, bool kUp>
  [[nodiscard]] double walk(const Start& start, Vec2 direction, double limit) const;

  // What the beams of one fan share.
  struct Fan {
    std::span<const Vec2> beams;
    double first_rad;
    double increment_rad;
    double rotation_cos;  // from the sensor to the grid frame
    double rotation_sin;
    double max_range_m;
  };
  [[nodiscard]] static Vec2 direction_of(const Fan& fan, std::size_t beam);
  static void tie_along_lines(const Fan& fan, Ties& ties);
  [[nodiscard]] Face face_at(Vec2 origin, Vec2 direction, double t) const;
  void cast_one(const Start& start, Vec2 direction, double max_range_m, double& range_m, Face* face) const;
  void cast_swept(const Sweep& sweep, std::size_t beam, double max_range_m, double& range_m, Face* face) const;
  // Where the sensor is during a sweep.
  struct Way {
    std::uint32_t component = Walls::kNone;
    std::size_t used = 0;
    std::array<std::array<int, 2>, SweepQuery::kMaxTiles> tiles;
  };
  [[nodiscard]] bool follow_way(const SweepPiece& piece, std::size_t from, std::size_t to, Way& way) const;
  [[nodiscard]] bool sweep_edges(const Sweep& sweep, std::size_t first, std::size_t count, double max_range_m, double* out, Face* faces,
                                 Ties& ties) const;
  static void tie_near_lines(const Sweep& sweep, const SweepPiece& piece, std::size_t from, std::size_t to, std::size_t first, Ties& ties);
  [[nodiscard]] bool cast_edges(const Start& start, const Fan& fan, double* out, Face* faces) const;
  void cast_part(const Start& start, const Fan& fan, double* out, Face* faces) const;

  std::shared_ptr<const OccupancyMap> map_;
  Vec2 axis_x_;  // of the grid frame, in the map frame
  std::size_t row_;
  // For each cell, and for the frame of one cell that lies around the map, four bits per quadrant of directions (from low
  // to high: left down, right down, left up, right up): a size from kLeaps, in cells, of a free square box that has the
  // cell as its nearest corner.
  std::vector<std::uint16_t> leap_;
  Walls walls_;
  std::unique_ptr<const Visibility> visibility_;
};

}  // namespace pitwall::tracks

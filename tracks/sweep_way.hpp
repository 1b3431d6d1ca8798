// SPDX-License-Identifier: Apache-2.0
// What a sweeping fan needs to know of its sensor's way, whatever the instruction set (internal to sweep_fan.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tracks/sweep_fan.hpp"
#include "tracks/zbuffer.hpp"

namespace pitwall::tracks::detail {

/// The union of sorted lists of ranges, in order. Ranges that overlap lie on one outline.
class RangeUnion {
 public:
  explicit RangeUnion(std::span<const std::span<const EdgeRange>> lists);
  /// The next range; false at the end.
  bool next(EdgeRange& range);

 private:
  std::size_t count_;
  std::array<std::span<const EdgeRange>, SweepQuery::kMaxTiles> left_;
};

class SweepWay {
 public:
  /// Estimates that may be off by more than this many beams are searched for in double.
  static constexpr float kVague = 0.4F;

  SweepWay(const SweepQuery& query, Ties& ties);

  /// Seen from the middle beam's origin, which points along p; t counts beams from it, lengths are cells.
  struct Parabola {
    float cos, sin;                // of the middle beam, in the grid frame
    float middle;                  // its number
    float first, last;             // beams, from it
    float velocity_p, velocity_q;  // way: t (velocity + t bend)
    float bend_p, bend_q;
    float turn, turn_bend;      // of the beams: t (turn + t turn_bend)
    float sure_far, sure_near;  // an estimate is off by at most this much, the second term over the square of the distance
    float step_far, step_near;  // ... and by this much times the square of the last step
    float near_square;          // corners nearer than its root are searched for
  };

  /// The number of a corner that lies about at beam `nearest`.
  std::int32_t exact_number(std::uint32_t vertex, std::int32_t nearest);
  /// The same for any corner, marked such that its edges seem to be kSearched beams wide; sets too_close.
  std::int32_t search_number(std::uint32_t corner);
  /// An edge that may pass behind the sensor or has a corner nearby: which side it shows decides.
  void cover_by_side(std::uint32_t edge, std::int32_t first, std::int32_t end, DepthBuffer& buffer);
  /// Cells from a line that no beam of the part starts beyond.
  [[nodiscard]] std::int16_t depth_of(std::uint32_t edge) const {
    const std::uint32_t* const at = query.vertices + edge;
    const bool vertical = (edge & 1) != 0;
    const int line = vertical ? Walls::x_of(at[0]) : Walls::y_of(at[0]);
    // Free space lies to the left: an edge that leads up stops what travels right, one that leads right what travels down.
    const bool forward = vertical ? at[1] > at[0] : Walls::x_of(at[1]) < Walls::x_of(at[0]);
    return static_cast<std::int16_t>(forward ? line - (vertical ? left : down) : (vertical ? right : up) - line);
  }

  const SweepQuery& query;
  bool fit_found = false;
  bool too_close = false;
  Vec2 middle;  // origin of the middle beam
  int cell_x = 0;
  int cell_y = 0;
  int left = 0;  // lines on either side of the way
  int right = 0;
  int down = 0;
  int up = 0;
  std::int32_t far_apart = 0;  // edges this many beams wide are looked at singly
  Parabola fit{};

 private:
  static constexpr std::int32_t kSearched = 1 << 20;

  void measure_way();
  void fit_parabola();
  [[nodiscard]] double distance_to_way(Vec2 p) const;
  /// Which side of a beam of the part a corner lies on, left positive; notes a tie.
  double side_of(Vec2 corner, std::size_t beam);
  [[nodiscard]] double yaw_at(std::size_t beam) const;
  [[nodiscard]] Vec2 origin_at(std::size_t beam) const { return query.sweep->origin_cells(query.first + beam); }

  Ties& ties_;
  double increment_;
  Vec2 low_;  // of the way
  Vec2 high_;
  double length_ = 0.0;
  double reach_ = 0.0;         // from the middle
  double fastest_ = 0.0;       // cells a beam
  double fastest_turn_ = 0.0;  // rad a beam
  double least_turn_ = 0.0;    // since the first knot
  double most_turn_ = 0.0;
  double too_near_ = 0.0;
};

}  // namespace pitwall::tracks::detail

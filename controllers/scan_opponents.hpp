// SPDX-License-Identifier: Apache-2.0
// Other cars without a map (spec section 5.7): things of a car's size that stand free of what is behind them, followed from scan to
// scan in the odometry's frame, so that the car's own motion is taken out. What moves along with us is traffic, not a wall.
//
// A cluster is a run of valid beams without a jump, min_width to max_width wide, with something at least `free_depth_m` deeper (or
// nothing) on both sides. Tracks are alpha-beta filters at constant velocity (Bar-Shalom, Li, Kirubarajan 2001, section 6.5).
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "controllers/scan_view.hpp"
#include "core/fields.hpp"
#include "core/geometry.hpp"
#include "core/time.hpp"

namespace pitwall::controllers {

struct ScanOpponentParameters {
  double max_range_m = 6.0;
  double cluster_jump_m = 0.3;
  double min_width_m = 0.15;
  double max_width_m = 0.70;
  double free_depth_m = 0.5;      ///< how much deeper it is beside it
  double moving_speed_mps = 0.4;  ///< slower things are walls
  void fields(FieldVisitor& f);
};

/// A thing that moves, as the present scan shows it.
struct MovingThing {
  std::int32_t id = 0;         ///< never given twice
  Vec2 velocity_base;          ///< over ground, m/s, in the frame of the car
  std::size_t first_beam = 0;  ///< beams first .. last end on it
  std::size_t last_beam = 0;
};

class ScanOpponents {
 public:
  static constexpr std::size_t kCapacity = 8;
  explicit ScanOpponents(const ScanOpponentParameters& parameters) : p_(parameters) {}

  void reset();
  /// Other tuning; the memory stays.
  void change_parameters(const ScanOpponentParameters& parameters) { p_ = parameters; }
  /// Takes in a scan that was measured at `stamp` from `T_odom_base`, within `half_fov_rad` of straight ahead.
  void observe(const ScanView& scan, const Pose2& T_odom_base, Time stamp, double half_fov_rad);
  /// What moves, of those in the last scan.
  [[nodiscard]] std::span<const MovingThing> moving() const { return {moving_.data(), moving_count_}; }

 private:
  struct Track {
    std::int32_t id = 0;
    Vec2 position;  // odometry frame
    Vec2 velocity;
    Time seen;
    std::int32_t hits = 0;
  };
  struct Cluster {
    Vec2 centre;  // odometry frame
    std::size_t first = 0;
    std::size_t last = 0;
  };
  void find_clusters(const ScanView& scan, const Pose2& T_odom_base, BeamWindow window);
  void take_up(const Cluster& cluster, Time stamp, const Pose2& T_odom_base, std::array<bool, kCapacity>& taken);

  ScanOpponentParameters p_;
  std::array<Track, kCapacity> tracks_{};
  std::size_t track_count_ = 0;
  std::array<Cluster, 2 * kCapacity> clusters_{};
  std::size_t cluster_count_ = 0;
  std::array<MovingThing, kCapacity> moving_{};
  std::size_t moving_count_ = 0;
  std::int32_t next_id_ = 1;
};

}  // namespace pitwall::controllers

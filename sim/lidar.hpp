// SPDX-License-Identifier: Apache-2.0
// A turning scanner. Its beams leave one after the other, from right to left, while the car drives on: beam i is measured
// `time_increment * i` after the stamp, from where car, other cars and obstacles are at that instant (linear between the poses
// of a physics step).
// What a scanner makes of the ranges: scan_errors.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/car.hpp"
#include "core/messages.hpp"
#include "core/time.hpp"
#include "sim/contact.hpp"
#include "sim/lidar_settings.hpp"
#include "sim/scan_errors.hpp"
#include "tracks/raycast.hpp"

namespace pitwall::sim {

/// Another car or an obstacle as a scanner sees it at one instant.
struct SeenCar {
  BodyRectangle chassis;
  Pose2 T_map_base;
};
/// The same over one physics step.
struct SeenMotion {
  BodyRectangle chassis;
  Motion motion;
};

/// Distance from `origin` along the unit vector `direction` to a rectangle; 0 from within, +inf where it is missed.
double ray_to_rectangle(Vec2 origin_map, Vec2 direction_map, const SeenCar& car);

/// A planar scanner on its mount, seeing walls, the chassis of other cars and obstacles.
class Lidar {
 public:
  /// Draws the error of the mount.
  Lidar(std::shared_ptr<const tracks::RayCaster> rays, const LidarSettings& settings, const Pose2& T_base_lidar, std::uint64_t seed,
        std::string_view car_name);

  /// A scan with every field but the stamp and the ranges filled in.
  [[nodiscard]] LaserScan blank() const;
  void reset();
  /// Fills `scan.ranges` (sized by blank()) as measured at one instant.
  void measure(std::uint64_t sample, const Pose2& T_map_base, std::span<const SeenCar> others, LaserScan& scan);

  /// Begins a turn at the stamp of `scan`, which must stay in place until sweeping() is over.
  void begin_sweep(std::uint64_t sample, LaserScan& scan);
  [[nodiscard]] bool sweeping() const { return scan_ != nullptr; }
  /// Measures the beams that leave in (from, from + step], and the first one at `from`; the last one completes the scan.
  void sweep(Time from, Duration step, const Motion& base, std::span<const SeenMotion> others);

  /// Something covers the window from the next scan on, besides the settings' own sectors.
  void cover(const BlindSector& sector) { errors_.cover(sector); }

  /// Ranges of the last complete scan in m before any error: +inf where there is no return.
  [[nodiscard]] std::span<const double> true_ranges() const { return true_ranges_; }
  /// Beams lost to dropout since reset.
  [[nodiscard]] std::int64_t dropped_beams() const { return errors_.dropped_beams(); }
  /// The true mount, with its error.
  [[nodiscard]] const Pose2& mount() const { return T_base_lidar_; }

 private:
  void see(const SeenCar& car, const Pose2& T_map_sensor);
  void see_between(const SeenCar& car, const Pose2& T_map_sensor, double from_rad, double to_rad);
  void see_moving(const SeenMotion& other, const Motion& base, std::size_t first, std::size_t end);
  void finish(std::uint64_t sample, LaserScan& scan);
  [[nodiscard]] double fraction(std::size_t beam) const { return fractions_[beam]; }

  std::shared_ptr<const tracks::RayCaster> rays_;
  LidarSettings settings_;
  Pose2 T_base_lidar_;
  tracks::BeamFan fan_;
  ScanErrors errors_;
  std::vector<double> true_ranges_;
  std::vector<double> ranges_;     // of the turn under way
  std::vector<double> fractions_;  // of the physics step at which each beam of the piece leaves
  // Of the turn under way.
  LaserScan* scan_ = nullptr;
  Time began_;
  std::uint64_t sample_ = 0;
  std::size_t next_beam_ = 0;
};

}  // namespace pitwall::sim

// SPDX-License-Identifier: Apache-2.0
// A turning scanner. Its beams leave one after the other, from right to left, while the car drives on: beam i is measured
// `time_increment * i` after the stamp, from where sensor, other cars and obstacles are at that instant (linear between the poses
// of a physics step).
// What a scanner makes of the ranges: scan_errors.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
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
#include "tracks/sweep.hpp"

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
/// The same for a ray that begins at `from` relative to the rectangle's base_link and one that points `ahead`; all in one frame.
double ray_to_rectangle(Vec2 from, Vec2 direction, Vec2 ahead, const BodyRectangle& chassis);

/// A planar scanner on its mount, seeing walls, the chassis of other cars and obstacles.
class Lidar {
 public:
  static constexpr std::size_t kNotAmongThem = std::numeric_limits<std::size_t>::max();
  /// Draws the error of the mount.
  Lidar(std::shared_ptr<const tracks::RayCaster> rays, const LidarSettings& settings, const Pose2& T_base_lidar, std::uint64_t seed,
        std::string_view car_name);

  /// Uses the beams of a scanner that has the same ones, so that many cars need not keep as many copies in the cache (measured: 32 cars
  /// cost 43 times one with a copy each). False, and nothing changed, if its beams are others.
  bool share_fan(const Lidar& other);

  /// A scan with every field but the stamp and the ranges filled in.
  [[nodiscard]] LaserScan blank() const;
  void reset();
  /// Fills `scan.ranges` (sized by blank()) as measured at one instant, among `others`, of which number `self` is the car itself.
  void measure(std::uint64_t sample, const Pose2& T_map_base, std::span<const SeenCar> others, LaserScan& scan,
               std::size_t self = kNotAmongThem);

  /// Begins a turn at the stamp of `scan`, which must stay in place until sweeping() is over.
  void begin_sweep(std::uint64_t sample, LaserScan& scan);
  [[nodiscard]] bool sweeping() const { return scan_ != nullptr; }
  /// Measures the beams that leave in [from, from + step]; the last one completes the scan.
  void sweep(Time from, Duration step, const Motion& base, std::span<const SeenMotion> others, std::size_t self = kNotAmongThem);

  /// Something covers the window from the next scan on, besides the settings' own sectors.
  void cover(const BlindSector& sector) { errors_.cover(sector); }

  /// Ranges of the last complete scan in m before any error: +inf where there is no return.
  [[nodiscard]] std::span<const double> true_ranges() const { return true_ranges_; }
  /// Beams lost to dropout since reset.
  [[nodiscard]] std::int64_t dropped_beams() const { return errors_.dropped_beams(); }
  /// The true mount, with its error.
  [[nodiscard]] const Pose2& mount() const { return T_base_lidar_; }

 private:
  // The beams that leave during one physics step, and how the sensor moves meanwhile: straight from pose to pose.
  struct Piece {
    double first_beam = 0.0;  // numbers at the beginning and the end of the step, and so fractions
    double last_beam = 0.0;
    Motion sensor;
    double way_m = 0.0;  // of the sensor
    // All these beams point between the two, of which the first lies to the right; says nothing unless they are less than a half turn
    // apart.
    Vec2 right;
    Vec2 left;
    bool narrow = false;
  };
  void see(const SeenCar& car, const Pose2& T_map_sensor, Vec2 axis);
  void see_moving(const SeenMotion& other, const Piece& piece);
  template <class Range>
  void see_between(double low_rad, double high_rad, double first, double last, std::span<double> ranges, const Range& range);

  std::shared_ptr<const tracks::RayCaster> rays_;
  LidarSettings settings_;
  Pose2 T_base_lidar_;
  std::shared_ptr<const tracks::BeamFan> fan_;
  ScanErrors errors_;
  std::vector<double> true_ranges_;
  // Of the turn under way.
  std::vector<double> things_;  // distance to what is no wall; empty if the scanner does not sweep
  LaserScan* scan_ = nullptr;
  Time began_;
  std::uint64_t sample_ = 0;
  std::vector<tracks::SweepKnot> knots_;
};

}  // namespace pitwall::sim

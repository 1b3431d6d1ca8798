// SPDX-License-Identifier: Apache-2.0
// A turning scanner. Its beams leave one after the other, from right to left, while the car drives on: beam i is measured
// `time_increment * i` after the stamp, from where car, other cars and obstacles are at that instant (linear between the poses
// of a physics step).
//
// Rules of a reading, true range r:
//   an edge, where the ranges of two neighbours part        -> now and then a range between the two (a mixed pixel)
//   no return within range_max                              -> +inf
//   r < range_min                                           -> NaN (too near to measure)
//   otherwise r + N(0, noise_std), clipped to [range_min, range_max], in whole steps of `resolution`
//   lost at random, or seen edge-on and lost                -> +inf
//   in a blind sector                                       -> NaN
// as the driver turns what the device sends into a message: whole millimetres, no echo is +inf, error codes are NaN.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/car.hpp"
#include "core/fields.hpp"
#include "core/messages.hpp"
#include "core/rng.hpp"
#include "core/time.hpp"
#include "sim/contact.hpp"
#include "tracks/raycast.hpp"

namespace pitwall::sim {

/// Directions in the sensor's frame in which something covers the window.
struct BlindSector {
  double centre_rad = 0.0;
  double width_rad = 0.0;  ///< 0: none
  void fields(FieldVisitor& f);
};

/// The LiDAR at its mount on the car.
struct LidarSettings {
  bool enabled = true;
  double period_s = 0.025;
  double latency_s = 0.0;  ///< from the first beam to arrival, at the earliest at the end of the step with the last beam
  std::int64_t beams = 1081;
  double fov_rad = 1.5 * math::kPi;  ///< first to last beam, centred ahead of the mount
  double range_min_m = 0.05;
  double range_max_m = 25.0;
  bool sweep = false;  ///< whether the beams leave one after the other; else all of them at the stamp
  double resolution_m = 0.0;
  double noise_std_m = 0.0;
  double dropout_rate = 0.0;
  double grazing_dropout = 0.0;   ///< at 90 degrees of incidence; none below grazing_from, linear in between
  double grazing_from_rad = 1.4;  ///< incidence against the wall's normal
  double mixed_pixel_rate = 0.0;
  double mount_error_m = 0.0;  ///< standard deviations, drawn once a run
  double mount_error_rad = 0.0;
  std::array<BlindSector, 2> blind;
  void fields(FieldVisitor& f);

  /// From one beam to the next; 0 without a sweep.
  [[nodiscard]] double time_increment_s() const;
  /// From the first to the last beam: 18.75 ms for 270 of 360 degrees at 40 Hz; 0 without a sweep.
  [[nodiscard]] Duration sweep_time() const;
};

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
  void cover(const BlindSector& sector) { cover_ = sector; }

  /// Ranges of the last complete scan in m before any error: +inf where there is no return.
  [[nodiscard]] std::span<const double> true_ranges() const { return true_ranges_; }
  /// Beams lost to dropout since reset.
  [[nodiscard]] std::int64_t dropped_beams() const { return dropped_beams_; }
  /// The true mount, with its error.
  [[nodiscard]] const Pose2& mount() const { return T_base_lidar_; }

 private:
  void see(const SeenCar& car, const Pose2& T_map_sensor);
  void see_between(const SeenCar& car, const Pose2& T_map_sensor, double from_rad, double to_rad);
  void see_moving(const SeenMotion& other, const Motion& base, std::size_t first, std::size_t end);
  void finish(std::uint64_t sample, LaserScan& scan);
  void mix_pixels(std::uint64_t sample);
  void write_ranges(std::uint64_t sample, LaserScan& scan) const;
  void drop_at_random(std::uint64_t sample, LaserScan& scan);
  void drop_grazing(std::uint64_t sample, LaserScan& scan);
  void blind(const BlindSector& sector, LaserScan& scan) const;
  [[nodiscard]] double fraction(std::size_t beam) const { return fractions_[beam]; }

  std::shared_ptr<const tracks::RayCaster> rays_;
  LidarSettings settings_;
  Pose2 T_base_lidar_;
  tracks::BeamFan fan_;
  Rng noise_;
  Rng dropout_;
  Rng grazing_;
  Rng mixed_;
  BlindSector cover_;
  std::vector<double> true_ranges_;
  std::vector<double> ranges_;     // of the turn under way
  std::vector<double> read_;       // with mixed pixels
  std::vector<double> fractions_;  // of the physics step at which each beam of the piece leaves
  std::int64_t dropped_beams_ = 0;
  // Of the turn under way.
  LaserScan* scan_ = nullptr;
  Time began_;
  std::uint64_t sample_ = 0;
  std::size_t next_beam_ = 0;
};

}  // namespace pitwall::sim

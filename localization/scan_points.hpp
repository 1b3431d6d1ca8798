// SPDX-License-Identifier: Apache-2.0
// A scan as the matcher reads it: the points of its valid beams, put where they would have been measured had all beams left in the middle
// of the sweep, and the pieces of wall that they lie on. A piece is the line of least squares through the points on both sides of one
// point, as far as beam order shows no gap: its centre, its normal, and how uncertain the normal is. Normals come from beam order since in
// the plane the neighbours of a beam are known; one of three points 5 mm apart with 10 mm of noise would point anywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/geometry.hpp"
#include "core/messages.hpp"
#include "localization/twist.hpp"

namespace pitwall::localization {

/// Points in beam order, in metres in the frame that the sensor has in the middle of its sweep.
struct PointList {
  std::vector<Vec2> at;
  std::vector<Vec2> bearing;        ///< unit vectors from the sensor
  std::vector<std::uint32_t> beam;  ///< number of the beam
  [[nodiscard]] std::size_t size() const { return at.size(); }
  void clear();
  void reserve(std::size_t count);
  void add(Vec2 point, Vec2 direction, std::uint32_t number);
};

/// One piece of wall.
struct WallPiece {
  Vec2 normal;                  ///< unit vector towards the sensor
  double angle_variance = 0.0;  ///< of the normal, rad^2
  double scatter_m2 = 0.0;      ///< variance of its points about it
  double points = 0.0;          ///< how many it is fitted to
};

/// What is left of a scan.
struct ScanPointsSettings {
  double max_range_m = 30.0;    ///< farther beams are left out
  double half_window_m = 0.2;   ///< points within this of a point make its piece of wall
  double least_extent_m = 0.7;  ///< what has gaps on both sides and is smaller may move
  double max_scatter_m = 0.03;  ///< pieces whose points stray farther are left out
};

/// The points and pieces of one scan. Buffers grow to the largest scan seen, and no more.
class ScanPoints {
 public:
  /// Reads a scan whose sensor moves at `velocity` (its own axes) while it sweeps. Beams that measured nothing (NaN, infinite, not above
  /// range_min and 0, not below range_max, beyond max_range_m) count as absent, whatever stands there. A scan with unusable geometry
  /// (increment zero or not finite, more than a turn) has no points.
  void read(const LaserScan& scan, const Twist& velocity, const ScanPointsSettings& settings);

  [[nodiscard]] const PointList& points() const { return points_; }
  /// Centres of the pieces, in the order of their points.
  [[nodiscard]] const PointList& centres() const { return centres_; }
  [[nodiscard]] std::span<const WallPiece> pieces() const { return pieces_; }
  /// How many beams the scan has, with or without a measurement.
  [[nodiscard]] std::size_t beams() const { return table_.size(); }
  /// Rad from beam to beam; 0 where the geometry is unusable.
  [[nodiscard]] double increment_rad() const { return increment_rad_; }
  [[nodiscard]] double first_bearing_rad() const { return angle_min_rad_; }

 private:
  void tabulate(const LaserScan& scan);
  void place(const LaserScan& scan, const Twist& velocity, double max_range_m);
  void fit_run(std::size_t begin, std::size_t end, const ScanPointsSettings& settings);
  void fit(std::size_t low, std::size_t high, std::size_t of, const ScanPointsSettings& settings);
  [[nodiscard]] bool gap_before(std::size_t i) const;

  std::vector<Vec2> table_;  // directions of the beams
  double angle_min_rad_ = 0.0;
  double increment_rad_ = 0.0;
  PointList points_;
  PointList centres_;
  std::vector<WallPiece> pieces_;
  struct Sums {
    double x = 0.0;
    double y = 0.0;
    double xx = 0.0;
    double xy = 0.0;
    double yy = 0.0;
  };
  std::vector<Sums> sums_;  // of the points before number i
};

/// When the middle beam of a scan leaves: the stamp is that of the first.
Time middle_of(const LaserScan& scan);

}  // namespace pitwall::localization

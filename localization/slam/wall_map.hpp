// SPDX-License-Identifier: Apache-2.0
// Pieces of wall from several scans in one frame, merged where they are the same, and the nearest of them to a point.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/geometry.hpp"
#include "core/messages.hpp"
#include "localization/scan_points.hpp"
#include "localization/twist.hpp"

namespace pitwall::slam {

/// One scan in the frame that base_link has at its stamp.
struct WallPieces {
  std::vector<Vec2> centres;
  std::vector<localization::WallPiece> walls;  ///< normals towards the sensor
  std::vector<Vec2> points;                    ///< every valid beam, de-skewed
};

/// Adds what another scan saw, put at T_to_scan in the frame of `to`.
void append(WallPieces& to, const WallPieces& scan, const Pose2& T_to_scan);

/// Reads scans of one sensor.
class ScanReader {
 public:
  ScanReader(const localization::ScanPointsSettings& settings, const Pose2& T_base_sensor)
      : settings_(settings), T_base_sensor_(T_base_sensor) {}
  /// `velocity` of base_link; zero: the sweep is left as it is.
  WallPieces read(const LaserScan& scan, const localization::Twist& velocity);

 private:
  localization::ScanPointsSettings settings_;
  Pose2 T_base_sensor_;
  localization::ScanPoints points_;
};

/// Pieces merged in cells of 5 cm, and a grid to find them.
class WallMap {
 public:
  /// Takes in what a scan saw, put at T_map_scan.
  void add(const WallPieces& scan, const Pose2& T_map_scan);
  /// Merges what was added; call before nearest().
  void build();
  void clear();
  [[nodiscard]] std::size_t size() const { return centres_.size(); }
  [[nodiscard]] Vec2 centre(std::size_t i) const { return centres_[i]; }
  [[nodiscard]] const localization::WallPiece& wall(std::size_t i) const { return walls_[i]; }

  struct Nearest {
    std::size_t index = 0;
    bool any = false;
  };
  /// The nearest piece within `cutoff_m` whose normal is within 35 degrees of `normal`.
  [[nodiscard]] Nearest nearest(Vec2 point, Vec2 normal, double cutoff_m) const;

 private:
  struct Seen {
    std::uint64_t cell = 0;
    Vec2 centre;
    localization::WallPiece wall;
  };
  std::vector<Seen> seen_;
  std::vector<Vec2> centres_;
  std::vector<localization::WallPiece> walls_;
  // Buckets of the grid: pieces of bucket b are order_[first_[b]] .. order_[first_[b + 1]].
  Vec2 corner_;
  std::int64_t width_ = 0;
  std::int64_t height_ = 0;
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> order_;
};

}  // namespace pitwall::slam

// SPDX-License-Identifier: Apache-2.0
// One scan as controllers read it: bearing, direction and body boundary of every beam in tables (rebuilt only when the
// scan's geometry changes), and per scan what each beam measured and how deep it may be believed to be free.
//
// A beam that measured nothing is unknown: no obstacle, and no free space either. What a planner may believe there
// (depth_m) follows from the valid beams on both sides of the run of unknown beams, its flanks:
//   - run up to kBridge wide (drop-outs): the nearer flank, so that it neither opens a gap nor closes one;
//   - wider, mostly "no return": the deeper flank. A hall longer than the sensor reaches has flanks far away and stays
//     open; a black wall is never believed deeper than what is seen beside it;
//   - wider, mostly invalid (NaN, below range_min): 0, closed. The sensor itself is in doubt;
//   - no valid beam in the whole scan: 0.
// Safety checks read valid beams only (clearance_m); the planned stopping distance reads depth_m as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/car.hpp"
#include "core/messages.hpp"

namespace pitwall::controllers {

/// Scans with more beams than this are malformed: buffers are sized for it once.
inline constexpr std::size_t kMaxScanBeams = 8192;
/// Widest run of unknown beams that counts as drop-outs, rad.
inline constexpr double kBridge = 0.035;

/// 2 to kMaxScanBeams beams, finite geometry of at most one turn, increasing angles, 0 <= range_min < range_max.
bool is_well_formed(const LaserScan& scan);

enum class BeamKind : std::uint8_t {
  kValid,
  kNoReturn,  ///< +inf, or beyond range_max
  kInvalid,   ///< NaN, -inf, or below range_min
};

/// Beams first .. end - 1.
struct BeamWindow {
  std::size_t first = 0;
  std::size_t end = 0;
  [[nodiscard]] bool empty() const { return first >= end; }
  [[nodiscard]] std::size_t size() const { return empty() ? 0 : end - first; }
};

/// The smallest value in a window and its beam; +inf and -1 where no beam is valid.
struct NearestBeam {
  double value_m = std::numeric_limits<double>::infinity();
  std::int32_t beam = -1;
};

/// The latest scan in tables, one entry per beam, first beam first; bearings in the frame of the LiDAR.
class ScanView {
 public:
  explicit ScanView(const CarParameters& car);

  /// Sizes every buffer; update() allocates nothing afterwards.
  void reset();
  /// Reads a scan. False, and nothing changed, where it is malformed.
  [[nodiscard]] bool update(const LaserScan& scan);

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] double step_rad() const { return step_rad_; }
  /// Direction of beam i against the car's x axis (mount yaw included), rad; increases with i, the middle beam in (-pi, pi].
  [[nodiscard]] double bearing_rad(std::size_t i) const { return bearing_[i]; }
  [[nodiscard]] double cos_bearing(std::size_t i) const { return cos_[i]; }
  [[nodiscard]] double sin_bearing(std::size_t i) const { return sin_[i]; }
  /// From the LiDAR along beam i to the edge of the padded body, m.
  [[nodiscard]] double boundary_m(std::size_t i) const { return boundary_[i]; }
  [[nodiscard]] BeamKind kind(std::size_t i) const { return kind_[i]; }
  [[nodiscard]] bool valid(std::size_t i) const { return kind_[i] == BeamKind::kValid; }
  /// Measured range, m; +inf where the beam is unknown.
  [[nodiscard]] double range_m(std::size_t i) const { return range_[i]; }
  /// Distance from the padded body, m: range minus boundary; +inf where the beam is unknown.
  [[nodiscard]] double clearance_m(std::size_t i) const { return clearance_[i]; }
  /// Free depth a planner may believe in, m: the range, or by the rule above.
  [[nodiscard]] double depth_m(std::size_t i) const { return depth_[i]; }
  /// Number of valid beams.
  [[nodiscard]] std::size_t valid_count() const { return valid_count_; }
  [[nodiscard]] Vec2 lidar_position() const { return mount_.position(); }
  /// Where beam i ended, in base_link; only for valid beams.
  [[nodiscard]] Vec2 point_base(std::size_t i) const { return {mount_.x + range_[i] * cos_[i], mount_.y + range_[i] * sin_[i]}; }

  /// All beams with a bearing within `half_width_rad` of `centre_rad`, both ends included.
  [[nodiscard]] BeamWindow window(double centre_rad, double half_width_rad) const;
  /// The whole scan.
  [[nodiscard]] BeamWindow all() const { return {0, size_}; }
  /// Beam nearest to a bearing, clamped to the scan.
  [[nodiscard]] std::size_t beam_at(double bearing_rad) const;
  /// Index of a bearing as a real number, unclamped.
  [[nodiscard]] double index_of(double bearing_rad) const { return (bearing_rad - middle_rad_) / step_rad_ + middle_index_; }

  [[nodiscard]] NearestBeam nearest_range(BeamWindow w) const;
  [[nodiscard]] NearestBeam nearest_clearance(BeamWindow w) const;
  /// Smallest believed free distance from the body (depth minus boundary), unknown beams included; +inf in an empty window.
  [[nodiscard]] double smallest_free_m(BeamWindow w) const;

 private:
  void rebuild(const LaserScan& scan);
  void believe();

  Pose2 mount_;
  BodyRectangle body_;
  // Geometry the tables were built for.
  float angle_min_ = 0.0F;
  float angle_max_ = 0.0F;
  float increment_ = 0.0F;
  std::size_t size_ = 0;
  std::size_t valid_count_ = 0;
  double step_rad_ = 1.0;
  double middle_rad_ = 0.0;
  double middle_index_ = 0.0;
  std::vector<double> bearing_, cos_, sin_, boundary_;
  std::vector<double> range_, clearance_, depth_;
  std::vector<BeamKind> kind_;
};

/// From a point inside a rectangle along a unit direction to its edge, m (slab method); 0 from a point outside.
double distance_to_edge(const BodyRectangle& body, Vec2 from, Vec2 direction);

}  // namespace pitwall::controllers

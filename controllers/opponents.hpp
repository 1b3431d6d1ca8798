// SPDX-License-Identifier: Apache-2.0
// Other cars: what the scan shows and the map does not explain (map subtraction), grouped into things the size of a car,
// and followed along the line from scan to scan.
// Without a map, things of that size that stand free of what is behind them. The tracks are Kalman filters of (s, rate)
// with white-noise acceleration (Bar-Shalom, Li, Kirubarajan, "Estimation with Applications to Tracking and
// Navigation", 2001, section 6.3), and of the lateral offset as a random walk.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/car.hpp"
#include "core/fields.hpp"
#include "core/geometry.hpp"
#include "core/messages.hpp"
#include "tracks/path.hpp"
#include "tracks/raycast.hpp"

namespace pitwall::controllers {

struct DetectionParameters {
  std::int64_t beam_step = 4;
  double margin_m = 0.3;           ///< a beam is unexplained when it ends this much before the mapped wall
  double wall_clearance_m = 0.14;  ///< and farther than this, and its share per range, from any mapped wall: how far a pose is off
  double wall_clearance_per_m = 0.012;
  double max_range_m = 8.0;
  double cluster_jump_m = 0.3;
  double min_width_m = 0.15;
  double max_width_m = 0.75;
  void fields(FieldVisitor& f);
};

/// A group of neighbouring beams that ended on something unexplained.
struct Cluster {
  std::span<const Vec2> points_map;  ///< in the order of the beams; valid until the next scan
  double width_m = 0.0;              ///< chord from the first to the last point
  double nearest_m = 0.0;            ///< shortest range from the sensor
  bool cut = false;                  ///< a part is out of the field of view, or hidden behind something nearer
};

/// Map subtraction, or the heuristic without a map.
class OpponentDetector {
 public:
  /// `rays` may be null: no map.
  OpponentDetector(const DetectionParameters& parameters, const CarParameters& car, std::shared_ptr<const tracks::RayCaster> rays);

  /// The clusters of one scan, whose first and last beam were measured from the given poses of base_link.
  std::span<const Cluster> detect(const LaserScan& scan, const Pose2& T_map_base_first, const Pose2& T_map_base_last);

  /// Whether beam i of the scan last seen ended on something that the map does not explain; the point is in the map frame.
  /// Without a map no beam is unexplained.
  bool unexplained(const LaserScan& scan, std::size_t i, Vec2& point_map) const;

  /// Beams of the last detect() that ended on something unexplained, and where; clusters or not. Empty without a map.
  [[nodiscard]] std::span<const std::uint32_t> unexplained_beams() const { return {beams_.data(), rays_ ? beams_.size() : 0}; }
  [[nodiscard]] std::span<const Vec2> unexplained_points() const { return {points_.data(), rays_ ? points_.size() : 0}; }
  [[nodiscard]] bool has_map() const { return rays_ != nullptr; }

  /// The sensor's place in the map frame at the middle of the scan last seen.
  [[nodiscard]] Vec2 sensor_map() const { return 0.5 * (first_.position + last_.position); }

 private:
  struct Mount {
    Vec2 position;
    double cos = 1.0;
    double sin = 0.0;
  };
  void look(const LaserScan& scan, const Pose2& T_map_base_first, const Pose2& T_map_base_last);
  [[nodiscard]] bool ends_on_something(const LaserScan& scan, std::size_t i) const;
  [[nodiscard]] Vec2 direction_map(std::size_t i, Vec2& origin_map) const;
  void collect_with_map(const LaserScan& scan);
  void collect_without_map(const LaserScan& scan);
  void close_cluster(const LaserScan& scan, std::size_t begin, double nearest_m);
  [[nodiscard]] bool is_cut(const LaserScan& scan, std::uint32_t beam, int way) const;

  DetectionParameters parameters_;
  CarParameters car_;
  std::shared_ptr<const tracks::RayCaster> rays_;
  std::vector<Vec2> directions_;  // in the sensor frame, of the geometry below
  float angle_min_ = 0.0F;
  float angle_increment_ = 0.0F;
  Mount first_;
  Mount last_;
  std::vector<Vec2> points_;
  std::vector<std::uint32_t> beams_;  // of the points
  std::vector<Cluster> clusters_;
};

/// One followed car (or thing).
struct Opponent {
  std::int32_t id = 0;     ///< never given twice
  double s_m = 0.0;        ///< of its centre along the line
  double rate_mps = 0.0;   ///< along the line
  double lateral_m = 0.0;  ///< of its centre, positive to the left of the line
  Time seen;               ///< instant of the last scan that showed it
  std::int32_t hits = 0;
  std::array<double, 3> covariance{};  ///< of (s, rate): ss, sv, vv
  double lateral_variance = 0.0;
};

struct TrackingParameters {
  double fresh_s = 1.0;            ///< seen more recently than this: fresh
  double forget_s = 3.0;           ///< dead-reckoned until then
  double acceleration_mps2 = 2.0;  ///< of an opponent, one sigma
  double position_noise_m = 0.06;  ///< of a detection along the line
  double lateral_noise_m = 0.05;
  double lateral_drift_mps = 0.3;  ///< of an opponent across the line, one sigma in one second
  std::int64_t confirm_hits = 4;
  void fields(FieldVisitor& f);
};

/// Follows every opponent along the line. Fixed capacity; the farthest is not taken up when it is full.
class OpponentTracker {
 public:
  static constexpr std::size_t kCapacity = 8;

  OpponentTracker(const TrackingParameters& parameters, double min_width_m, double body_length_m, double body_width_m)
      : parameters_(parameters), min_width_m_(min_width_m), length_m_(body_length_m), width_m_(body_width_m) {}

  void reset();
  /// Takes up the clusters of the scan of instant `stamp`; `ego_s_m` is where the car was then.
  void observe(const tracks::Path& path, std::span<const Cluster> clusters, Vec2 sensor_map, double ego_s_m, Time stamp);
  /// Forgets what has not been seen for too long; call once a tick.
  void forget(Time now);

  [[nodiscard]] std::span<const Opponent> opponents() const { return {tracks_.data(), count_}; }
  /// `o` brought forward to `now` at its rate.
  [[nodiscard]] Opponent at(const tracks::Path& path, const Opponent& o, Time now) const;
  [[nodiscard]] bool confirmed(const Opponent& o) const { return o.hits >= parameters_.confirm_hits; }
  [[nodiscard]] bool fresh(const Opponent& o, Time now) const { return (now - o.seen).seconds() <= parameters_.fresh_s; }

 private:
  struct Sighting {
    double s_m = 0.0;
    double lateral_m = 0.0;
    bool cut = false;
  };
  [[nodiscard]] Sighting sight(const tracks::Path& path, const Cluster& cluster, Vec2 sensor_map, double ego_s_m) const;
  void predict(const tracks::Path& path, Opponent& o, double dt_s) const;
  void correct(const tracks::Path& path, Opponent& o, const Sighting& seen, Time stamp) const;

  TrackingParameters parameters_;
  double min_width_m_;
  double length_m_;
  double width_m_;
  std::array<Opponent, kCapacity> tracks_{};
  std::size_t count_ = 0;
  std::int32_t next_id_ = 1;
  Time predicted_to_;
};

/// Lead of a over b along the line in m: positive when a is ahead, shortest way round a closed line.
double lead_m(const tracks::Path& path, double a_s_m, double b_s_m);

}  // namespace pitwall::controllers

// SPDX-License-Identifier: Apache-2.0
// Simultaneous localisation and mapping from a planar scanner and odometry, as a pure function: same scans, odometry, parameters and
// build, same bits. One thread, no clock, nothing ordered by a hash or an address.
//
//   Slam slam(parameters, T_base_sensor);
//   for (...) slam.add(scan, T_odom_base);   // every scan, in the order of stamps; the result is where the car is
//   slam.finish();
//   slam.trajectory(), slam.graph(), slam.build_map(), slam.closures(), slam.counts()
//
// What happens to a scan:
//   admission    it becomes a node if the car moved or turned enough since the last one (admission.hpp); else odometry carries the pose on
//   front end    pieces of wall are registered against the last ten nodes from the pose that odometry predicts (registration.hpp);
//                where that contradicts the prediction or finds too little, the window around it is searched (correlative.hpp)
//   closures     places that were seen before are searched for and measured (closures.hpp); each is tried on the graph, and taken back if
//                it does not go with the rest
//   back end     the graph's optimum (graph.hpp), after every closure that moves it
//
// Poses are of base_link at the stamp of the scan, which is its first beam; the sweep is taken out with the velocity.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/fields.hpp"
#include "core/geometry.hpp"
#include "core/messages.hpp"
#include "core/result.hpp"
#include "localization/slam/admission.hpp"
#include "localization/slam/closures.hpp"
#include "localization/slam/graph.hpp"
#include "localization/slam/map_builder.hpp"
#include "localization/slam/registration.hpp"
#include "localization/twist.hpp"

namespace pitwall::slam {

/// Raised whenever the same input gives other poses.
inline constexpr int kEngineVersion = 1;

struct SlamParameters {
  AdmissionParameters admission;
  RegistrationParameters registration;
  ClosureParameters closures;
  MapParameters map;
  std::int64_t submap_nodes = 10;  ///< a scan is registered against this many nodes before it
  bool deskew = true;
  bool close_loops = true;
  void fields(FieldVisitor& f);
};

/// How the pose of a scan came about.
enum class Placement : std::uint8_t {
  kCarried,  ///< not admitted: odometry since the last node
  kFirst,
  kMatched,   ///< registered from the prediction
  kSearched,  ///< registered after a search around the prediction
  kOdometry,  ///< nothing to register, or nothing that holds: the prediction; `flagged`
  kRefused,   ///< not newer than the last scan, or odometry that is not finite: not taken in; the pose is the last one
};
const char* name_of(Placement placement);

/// A scan that was handed in.
struct Placed {
  Time stamp;
  Pose2 T_map_base;  ///< at the stamp; as known when it was added, or as known now (`Slam::trajectory`)
  Pose2 T_odom_base;
  Placement placement = Placement::kCarried;
  std::size_t node = 0;     ///< itself, or the last before it
  bool flagged = false;     ///< the pose rests on odometry alone since some node
  bool degenerate = false;  ///< the walls leave a direction open, which odometry fills
  Matrix3 covariance;       ///< of a node: against the one before it; m^2, m rad, rad^2, in the axes of base_link
};

/// What became of the scans.
struct SlamCounts {
  std::int64_t scans = 0;
  std::int64_t refused = 0;   ///< stamps not newer than the last, odometry that is not finite
  std::int64_t unusable = 0;  ///< of the admitted: no valid beam, or a geometry that is none
  std::int64_t too_near = 0;  ///< not admitted, by gate
  std::int64_t throttled = 0;
  std::int64_t too_soon = 0;
  std::int64_t warm_up = 0;
  std::int64_t nodes = 0;
  std::int64_t matched = 0;  ///< of the nodes
  std::int64_t searched = 0;
  std::int64_t odometry = 0;
  std::int64_t degenerate = 0;
};

/// A node of the graph beside its pose, which is in `graph()`.
struct Node {
  LaserScan scan;
  Pose2 T_odom_base;
  localization::Twist velocity;  ///< of base_link
};

class Slam {
 public:
  /// `T_map_start` is where the first scan is. Parameters out of range are a bug: check_fields() them first.
  Slam(const SlamParameters& parameters, const Pose2& T_base_sensor, const Pose2& T_map_start = {});
  ~Slam();
  Slam(Slam&&) noexcept;
  Slam& operator=(Slam&&) noexcept;

  /// Takes in the next scan with the pose that odometry has for base_link at its stamp. `velocity` of base_link there; without it, that
  /// between the last two scans.
  Placed add(const LaserScan& scan, const Pose2& T_odom_base, const std::optional<localization::Twist>& velocity = std::nullopt);

  /// Checks the closures against each other once more, all at a time, and brings the graph to its optimum. Errors are the solver's.
  Status finish();

  /// Every scan that was not refused, with its pose as known now.
  [[nodiscard]] std::vector<Placed> trajectory() const;
  /// The same with the poses that `add` returned.
  [[nodiscard]] const std::vector<Placed>& live_trajectory() const;
  [[nodiscard]] const Graph& graph() const;
  [[nodiscard]] const std::vector<Node>& nodes() const;
  /// Every closure that was measured, with what became of it.
  [[nodiscard]] const std::vector<ClosureAttempt>& closures() const;
  /// Where no closure was ever tried: the nearest that two nodes came to each other that the way does not join, m; nothing where none is.
  [[nodiscard]] std::optional<double> nearest_unlinked_m() const;
  [[nodiscard]] const SlamCounts& counts() const;
  /// Errors as of slam::build_map.
  [[nodiscard]] Result<BuiltMap> build_map() const;
  [[nodiscard]] const SlamParameters& parameters() const;
  [[nodiscard]] const Pose2& T_base_sensor() const;

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

/// SHA-256 over stamps and poses of a trajectory: what tells whether two runs are the same.
std::string pose_hash(std::span<const Placed> trajectory);

}  // namespace pitwall::slam

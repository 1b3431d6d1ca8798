// SPDX-License-Identifier: Apache-2.0
// Where a car is on a map that is known, from its scans and its odometry. Each scan is laid onto the map's walls: the most probable pose
//
//   least  sum of rho(d(T p_k)^2) n / (K s^2) + (T - T_odometry)^T P^-1 (T - T_odometry)
//
// with d the signed distance to the nearest wall (signed_field.hpp; likelihood field: Thrun, Burgard, Fox, "Probabilistic Robotics", 6.4),
// p_k the K points of the scan, evenly along the walls, rho Cauchy's, and n of them counted as independent, by Gauss-Newton. Where the
// walls do not tell a direction the odometry fills it, and the covariance grows along it.
//
// Whether the result is believed is asked of the beams: what share of the points is on a wall, and what share speaks against the place:
// beams that went through a wall, which no obstacle makes them do, and points that are a wall themselves, longer than any car, where the
// map has none. If either is bad for a while the car is lost: its pose is no longer given out, and the whole map is searched
// (global_search.hpp), a little with each scan.
//
// One object for the car, the bridge, the simulator and replays: driven by the stamps of its input alone, no I/O, no clock, nothing
// allocated after the first scan of its size.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/fields.hpp"
#include "core/geometry.hpp"
#include "core/localiser.hpp"
#include "core/messages.hpp"
#include "core/time.hpp"
#include "localization/localizer/global_search.hpp"
#include "localization/localizer/signed_field.hpp"
#include "localization/pose_track.hpp"
#include "localization/scan_points.hpp"
#include "localization/small_matrix.hpp"
#include "tracks/map.hpp"
#include "tracks/raycast.hpp"

namespace pitwall::localization {

struct LocalizerParameters {
  // The scan.
  double max_range_m = 25.0;
  double point_spacing_m = 0.1;    ///< along the walls
  std::int64_t least_points = 20;  ///< a scan with fewer is no measurement
  std::int64_t most_points = 400;
  double sigma_m = 0.03;             ///< of a point on a wall of the map
  double independent_points = 30.0;  ///< as how many measurements all points of a scan count
  double robust_scale_m = 0.1;       ///< distance at which a point counts half
  std::int64_t max_rounds = 20;
  double settled_m = 1e-4;  ///< m and rad
  // The odometry, per scan.
  double way_share = 0.1;     ///< standard deviation over the way
  double turn_share = 0.1;    ///< over the turn
  double turn_per_m = 0.03;   ///< rad
  double aside_per_m = 0.05;  ///< sideways, over the way
  double least_m = 0.003;
  double least_rad = 0.002;
  // What is believed.
  double fit_m = 0.15;         ///< a point within this of a wall is on it
  double through_m = 0.4;      ///< a beam that is longer than the map has it by this, also moved aside by fit_m, went through a wall
  double foreign_m = 0.7;      ///< points off the map's walls that stretch over this are a wall that the map does not have
  double least_fit = 0.6;      ///< share of the points
  double most_against = 0.1;   ///< share of points that went through a wall or belong to one that the map does not have
  double lost_after_s = 0.3;   ///< of scans that do not fit, those that fit taken off
  double blind_after_s = 1.0;  ///< without a measurement
  // The search.
  double search_resolution_m = 0.1;
  double search_step_rad = 0.02;
  double search_spacing_m = 0.3;       ///< between the points of the scan that is looked for
  std::int64_t search_blocks = 10000;  ///< of poses, per scan
  double found_response = 0.4;         ///< of 1: what responds less is no place
  double found_fit = 0.75;             ///< share of points on walls from which a place that was found is believed ...
  double found_alone = 0.94;           ///< ... unless another place, farther than other_place_m, responds so nearly as well
  double other_place_m = 1.5;
  void fields(FieldVisitor& f);
};

enum class LocalizerStatus : std::uint8_t {
  kTracking,  ///< the scan fits
  kDoubtful,  ///< it does not, for a moment: an obstacle, a wheel that slipped, or lost
  kBlind,     ///< no scan to speak of: by odometry alone
  kLost,      ///< no pose; the map is searched
};
std::string_view name(LocalizerStatus status);

struct Localization {
  Time stamp;  ///< middle of the sweep
  LocalizerStatus status = LocalizerStatus::kLost;
  Pose2 T_map_base;      ///< not meant for use while lost
  Matrix3 covariance;    ///< of x, y (m, map frame), yaw
  double fit = 0.0;      ///< share of the points on walls
  double against = 0.0;  ///< share that speaks against the place
  std::size_t points = 0;
  int rounds = 0;
  bool ambiguous = false;  ///< lost, and the last search found two places that the scan fits alike
  [[nodiscard]] bool lost() const { return status == LocalizerStatus::kLost; }
};

/// What a localiser needs of a map; may be shared.
struct LocalizerMap {
  std::shared_ptr<const tracks::RayCaster> rays;
  SignedField field;
  std::shared_ptr<const SearchMap> search;
  /// The default of LocalizerParameters is what the field reaches and the search steps.
  static std::shared_ptr<const LocalizerMap> make(const tracks::OccupancyMap& map, std::shared_ptr<const tracks::RayCaster> rays,
                                                  const LocalizerParameters& parameters = {});
};

class Localizer final : public Localiser {
 public:
  Localizer(std::shared_ptr<const LocalizerMap> map, const Pose2& T_base_lidar, const LocalizerParameters& parameters = {});

  /// Starts anew at a pose that is known to about 0.2 m and 0.1 rad, or, without one, lost: the first scan begins a search.
  void reset(const std::optional<Pose2>& T_map_base) override;
  /// In the order of their stamps; older ones and such that are not finite are left out.
  void add_odometry(const Odometry& odometry);
  /// The pose at the middle of a scan; call it once the odometry up to then is in, as far as there is any: what is missing is taken to go
  /// on as it did.
  const Localization& add_scan(const LaserScan& scan);
  // As what a runner of cars knows.
  void add(const Odometry& odometry) override { add_odometry(odometry); }
  std::optional<PoseEstimate> add(const LaserScan& scan) override;
  [[nodiscard]] const Localization& latest() const { return latest_; }

 private:
  [[nodiscard]] std::optional<Pose2> odometry_at(Time t) const;
  void predict(Time stamp);
  void sample(const LaserScan& scan);
  void thin(double spacing_m, std::size_t most);
  void correct(const Matrix3& prior_information);
  [[nodiscard]] bool went_through(Vec2 sensor, Vec2 p) const;
  void judge();
  [[nodiscard]] std::size_t foreign_points();
  void settle_status();
  void search();
  [[nodiscard]] std::optional<Pose2> expected_one(const Pose2& a, const Pose2& b) const;
  [[nodiscard]] Pose2 since_search() const;
  [[nodiscard]] bool take(const Pose2& T_found);

  std::shared_ptr<const LocalizerMap> map_;
  Pose2 T_base_lidar_;
  LocalizerParameters parameters_;
  ScanPoints scan_;
  PoseTrack odometry_;
  Odometry last_odometry_;
  bool any_odometry_ = false;
  std::vector<Vec2> points_;           // of the scan, in the base frame
  std::vector<std::uint8_t> fitting_;  // each of them
  GlobalSearch search_;
  bool searching_ = false;
  bool was_sure_ = false;                    // has ever tracked, so that the odometry goes on from somewhere
  std::optional<slam::SearchResult> found_;  // while another place is looked for
  Pose2 T_odom_searched_;                    // of base_link when the scan that is looked for was taken
  Localization latest_;
  bool started_ = false;
  std::optional<Pose2> T_odom_base_;  // at latest_.stamp
  double doubt_s_ = 0.0;
  Time seen_;  // when there was last a measurement
};

}  // namespace pitwall::localization

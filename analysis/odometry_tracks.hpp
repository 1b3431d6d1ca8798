// SPDX-License-Identifier: Apache-2.0
// Two accounts of one drive: the way of the wheels and the way by scan matching. What odom_health, icp_excursions, icp_gate_replay and
// slip_replay compare.
//
// A source is "match" (the recorded scans, matched here), a topic of odometry ("/odom") or of a localiser's poses ("/amcl_pose"), or an
// edge of /tf in either direction
// ("odom->base_link": the pose of base_link in odom, also from a leaf base_link->odom, inverted). Where none is named:
//   wheels   /diff_drive_controller/odom, the leaf base_footprint->odom_wheel, /wheel_odom, /odom, the only topic of the type
//   scans    the leaf base_footprint->odom_icp (what no gate has touched), odom->base_footprint beside wheels that are not of that edge,
//            else the recorded scans, matched here
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/run_data.hpp"
#include "analysis/track.hpp"
#include "core/geometry.hpp"
#include "core/result.hpp"

namespace pitwall::analysis {

struct TrackOptions {
  std::string wheels;  ///< a source; empty: the usual ones
  std::string scans;
  std::string car;                        ///< of several in a run folder
  std::optional<Pose2> T_base_lidar;      ///< of a recording whose /tf_static does not say it
  std::optional<std::size_t> least = 10;  ///< fewer poses of either are an error
  recording::BagProgress progress;
};

struct OdometryTracks {
  std::filesystem::path path;
  Time origin;
  Track wheels;
  Track scans;
  CommandSeries command;
  std::vector<std::string> warnings;
};

/// Reads both tracks of a recording. Errors: those of load_run(), no source, an unknown one (with what there is), fewer than
/// `least` poses of either, less than two poses by scans within the time of the wheels, matched scans whose walls hardly ever tell the
/// speed.
Result<OdometryTracks> load_tracks(const std::filesystem::path& recording, const TrackOptions& options);

/// What both did from one pose by scans to the next.
struct TrackInterval {
  std::size_t scan = 0;  ///< index of the pose at its end in the track by scans
  double begin_s = 0.0;
  double dt_s = 0.0;
  Pose2 scans;   ///< step seen from its beginning
  Pose2 wheels;  ///< over the same time
  [[nodiscard]] double scan_mps() const { return norm(scans.position()) / dt_s; }
  [[nodiscard]] double wheel_mps() const { return norm(wheels.position()) / dt_s; }
};

struct TrackIntervals {
  std::vector<TrackInterval> all;
  std::size_t without_wheels = 0;  ///< not covered by the wheels
  std::size_t too_short = 0;       ///< 1 ms or less
  [[nodiscard]] double way_m(bool by_scans) const;
  [[nodiscard]] double turned_rad(bool by_scans) const;  ///< amounts, summed
};
TrackIntervals intervals_of(const OdometryTracks& tracks);

/// The value below which `share` of the values lie, linear between two of them (numpy's default); NaN of none.
double percentile(std::vector<double> values, double share);

}  // namespace pitwall::analysis

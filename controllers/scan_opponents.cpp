// SPDX-License-Identifier: Apache-2.0
#include "controllers/scan_opponents.hpp"

#include <algorithm>
#include <cmath>

namespace pitwall::controllers {

namespace {

// Centroids scatter by 2 cm as the aspect changes: velocities of 0.15 m/s one sigma, known after a quarter of a second.
constexpr double kAlpha = 0.5;
constexpr double kBeta = 0.15;
constexpr double kGate_m = 0.6;
constexpr double kForget_s = 0.5;
constexpr std::int32_t kConfirmHits = 8;

}  // namespace

void ScanOpponentParameters::fields(FieldVisitor& f) {
  f.number("max_range_m", max_range_m, {"m", 1, 30, "how far other cars are looked for"});
  f.number("cluster_jump_m", cluster_jump_m, {"m", 0.05, 2, "range jump that separates two things"});
  f.number("min_width_m", min_width_m, {"m", 0.02, 1, "narrower things are no car"});
  f.number("max_width_m", max_width_m, {"m", 0.1, 3, "wider things are no car"});
  f.number("free_depth_m", free_depth_m, {"m", 0.1, 3, "how much deeper it is on both sides of a car"});
  f.number("moving_speed_mps", moving_speed_mps, {"m/s", 0.1, 3, "slower things are treated as walls"});
}

void ScanOpponents::reset() {
  track_count_ = cluster_count_ = moving_count_ = 0;
  next_id_ = 1;
}

void ScanOpponents::find_clusters(const ScanView& scan, const Pose2& T_odom_base, BeamWindow window) {
  cluster_count_ = 0;
  const auto near = [&](std::size_t i) { return scan.valid(i) && scan.range_m(i) <= p_.max_range_m; };
  for (std::size_t i = window.first; i < window.end && cluster_count_ < clusters_.size();) {
    if (!near(i)) {
      ++i;
      continue;
    }
    const std::size_t first = i;
    Vec2 sum = scan.point_base(i);
    for (++i; i < window.end && near(i) && std::abs(scan.range_m(i) - scan.range_m(i - 1)) <= p_.cluster_jump_m; ++i)
      sum = sum + scan.point_base(i);
    const std::size_t last = i - 1;
    // At the end of the window nobody knows how wide it is.
    if (first == window.first || last + 1 == window.end) continue;
    const double width = distance(scan.point_base(first), scan.point_base(last));
    const bool free_beside =
        scan.depth_m(first - 1) >= scan.range_m(first) + p_.free_depth_m && scan.depth_m(last + 1) >= scan.range_m(last) + p_.free_depth_m;
    if (width < p_.min_width_m || width > p_.max_width_m || !free_beside) continue;
    clusters_[cluster_count_++] = {T_odom_base * ((1.0 / static_cast<double>(last - first + 1)) * sum), first, last};
  }
}

void ScanOpponents::take_up(const Cluster& cluster, Time stamp, const Pose2& T_odom_base, std::array<bool, kCapacity>& taken) {
  std::size_t best = track_count_;
  double nearest = kGate_m;
  for (std::size_t k = 0; k < track_count_; ++k) {
    const Track& track = tracks_[k];
    const Vec2 expected = track.position + (stamp - track.seen).seconds() * track.velocity;
    const double away = distance(expected, cluster.centre);
    if (taken[k] || away >= nearest) continue;
    nearest = away;
    best = k;
  }
  if (best == track_count_) {
    if (track_count_ == kCapacity) return;
    taken[track_count_] = true;
    tracks_[track_count_++] = {next_id_++, cluster.centre, {}, stamp, 1};
    return;
  }
  taken[best] = true;
  Track& track = tracks_[best];
  const double dt = (stamp - track.seen).seconds();
  if (dt <= 0.0) return;
  const Vec2 expected = track.position + dt * track.velocity;
  const Vec2 off = cluster.centre - expected;
  track.position = expected + kAlpha * off;
  track.velocity = track.velocity + (kBeta / dt) * off;
  track.seen = stamp;
  track.hits += 1;
  if (track.hits < kConfirmHits || norm(track.velocity) < p_.moving_speed_mps) return;
  moving_[moving_count_++] = {track.id, rotate(-T_odom_base.yaw, track.velocity), cluster.first, cluster.last};
}

void ScanOpponents::observe(const ScanView& scan, const Pose2& T_odom_base, Time stamp, double half_fov_rad) {
  moving_count_ = 0;
  find_clusters(scan, T_odom_base, scan.window(0.0, half_fov_rad));
  std::size_t kept = 0;
  for (std::size_t k = 0; k < track_count_; ++k) {
    if ((stamp - tracks_[k].seen).seconds() <= kForget_s) tracks_[kept++] = tracks_[k];
  }
  track_count_ = kept;
  std::array<bool, kCapacity> taken{};
  for (std::size_t c = 0; c < cluster_count_; ++c) take_up(clusters_[c], stamp, T_odom_base, taken);
}

}  // namespace pitwall::controllers

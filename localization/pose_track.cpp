// SPDX-License-Identifier: Apache-2.0
#include "localization/pose_track.hpp"

#include <cmath>

namespace pitwall::localization {

bool is_finite(const Pose2& pose) { return std::isfinite(pose.x) && std::isfinite(pose.y) && std::isfinite(pose.yaw); }

Pose2 increment(const Pose2& T_start, const Pose2& T_end) {
  const Vec2 way = rotate(-T_start.yaw, T_end.position() - T_start.position());
  return {way.x, way.y, wrap_angle(T_end.yaw - T_start.yaw)};
}

void PoseTrack::clear() { first_ = count_ = 0; }

bool PoseTrack::add(Time stamp, const Pose2& pose) {
  if (!is_finite(pose) || (count_ > 0 && stamp <= newest())) return false;
  while (count_ > 1 && at_place(1).stamp <= stamp - horizon_) {
    first_ = (first_ + 1) % ring_.size();
    --count_;
  }
  if (count_ == ring_.size()) {
    std::vector<Entry> larger(2 * ring_.size());
    for (std::size_t i = 0; i < count_; ++i) larger[i] = at_place(i);
    ring_ = std::move(larger);
    first_ = 0;
  }
  ring_[(first_ + count_) % ring_.size()] = {stamp, pose};
  ++count_;
  return true;
}

std::optional<Pose2> PoseTrack::at(Time t) const {
  if (count_ == 0 || t < oldest() || t > newest()) return std::nullopt;
  // The first entry that is not before t.
  std::size_t low = 0;
  std::size_t high = count_ - 1;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (at_place(middle).stamp < t) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const Entry& after = at_place(low);
  if (after.stamp == t) return after.pose;
  const Entry& before = at_place(low - 1);
  const double share = (t - before.stamp).seconds() / (after.stamp - before.stamp).seconds();
  const Vec2 p = before.pose.position() + share * (after.pose.position() - before.pose.position());
  return Pose2{p.x, p.y, wrap_angle(before.pose.yaw + share * wrap_angle(after.pose.yaw - before.pose.yaw))};
}

std::optional<Pose2> PoseTrack::between(Time from, Time to) const {
  const std::optional<Pose2> start = at(from);
  const std::optional<Pose2> end = at(to);
  if (!start || !end) return std::nullopt;
  return increment(*start, *end);
}

}  // namespace pitwall::localization

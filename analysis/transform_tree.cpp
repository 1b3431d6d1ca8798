// SPDX-License-Identifier: Apache-2.0
#include "analysis/transform_tree.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace pitwall::analysis {

namespace {

using recording::Pose3;
using recording::StampedPose;

// A chain of more frames is a loop of parents.
constexpr std::size_t kLongestChain = 64;
constexpr Duration kVelocityOver = from_milliseconds(50);

struct Vector {
  double x, y, z;
};

Vector cross_of(Vector a, Vector b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }

// v + 2 w (q x v) + 2 q x (q x v), for the unit quaternion (q, w).
Vector turned(const Pose3& by, Vector v) {
  const Vector q{by.qx, by.qy, by.qz};
  const Vector once = cross_of(q, v);
  const Vector twice = cross_of(q, once);
  return {v.x + 2.0 * (by.qw * once.x + twice.x), v.y + 2.0 * (by.qw * once.y + twice.y), v.z + 2.0 * (by.qw * once.z + twice.z)};
}

bool is_finite(const Pose3& p) {
  const std::array<double, 7> values{p.x, p.y, p.z, p.qx, p.qy, p.qz, p.qw};
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

std::optional<Pose3> sample_at(const std::vector<StampedPose>& samples, Time at) {
  const auto after = std::lower_bound(samples.begin(), samples.end(), at, [](const StampedPose& s, Time t) { return s.stamp < t; });
  if (after == samples.end()) return std::nullopt;
  if (after->stamp == at) return after->pose;
  if (after == samples.begin()) return std::nullopt;
  return recording::interpolate(*(after - 1), *after, at);
}

}  // namespace

Pose3 composed(const Pose3& T_ab, const Pose3& T_bc) {
  const Vector p = turned(T_ab, {T_bc.x, T_bc.y, T_bc.z});
  const Pose3& a = T_ab;
  const Pose3& b = T_bc;
  return {a.x + p.x,
          a.y + p.y,
          a.z + p.z,
          a.qw * b.qx + a.qx * b.qw + a.qy * b.qz - a.qz * b.qy,
          a.qw * b.qy - a.qx * b.qz + a.qy * b.qw + a.qz * b.qx,
          a.qw * b.qz + a.qx * b.qy - a.qy * b.qx + a.qz * b.qw,
          a.qw * b.qw - a.qx * b.qx - a.qy * b.qy - a.qz * b.qz};
}

Pose3 inverted(const Pose3& T_ab) {
  const Pose3 back{0.0, 0.0, 0.0, -T_ab.qx, -T_ab.qy, -T_ab.qz, T_ab.qw};
  const Vector p = turned(back, {-T_ab.x, -T_ab.y, -T_ab.z});
  return {p.x, p.y, p.z, back.qx, back.qy, back.qz, back.qw};
}

Pose3 pose_of(const ros_messages::Transform& t) {
  return {t.translation.x, t.translation.y, t.translation.z, t.rotation.x, t.rotation.y, t.rotation.z, t.rotation.w};
}

std::string frame_name(std::string_view frame_id) { return std::string(frame_id.substr(frame_id.starts_with('/') ? 1 : 0)); }

void TransformTree::add(const ros_messages::TransformStamped& transform, bool is_static) {
  const Pose3 pose = pose_of(transform.transform);
  if (!is_finite(pose)) {
    ++not_finite_;
    return;
  }
  const std::string parent = frame_name(transform.header.frame_id);
  const auto [found, fresh] = edges_.try_emplace(frame_name(transform.child_frame_id));
  Edge& edge = found->second;
  if (fresh) {
    edge.parent = parent;
    edge.is_static = is_static;
  } else if (edge.parent != parent) {
    ++second_parents_;
    return;
  }
  const Time stamp{std::int64_t{transform.header.stamp.sec} * 1'000'000'000 + transform.header.stamp.nanosec};
  if (edge.is_static) edge.samples.clear();  // the last one holds
  edge.samples.push_back({stamp, pose});
}

void TransformTree::complete() {
  for (auto& [child, edge] : edges_) {
    auto& s = edge.samples;
    std::stable_sort(s.begin(), s.end(), [](const StampedPose& a, const StampedPose& b) { return a.stamp < b.stamp; });
    s.erase(std::unique(s.begin(), s.end(), [](const StampedPose& a, const StampedPose& b) { return a.stamp == b.stamp; }), s.end());
  }
}

bool TransformTree::has(std::string_view frame) const {
  return std::any_of(edges_.begin(), edges_.end(), [&](const auto& each) { return each.first == frame || each.second.parent == frame; });
}

std::vector<std::string> TransformTree::frames() const {
  std::vector<std::string> all;
  for (const auto& [child, edge] : edges_) {
    all.push_back(child);
    all.push_back(edge.parent);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::vector<std::string> TransformTree::children_of(std::string_view frame) const {
  std::vector<std::string> children;
  for (const auto& [child, edge] : edges_) {
    if (edge.parent == frame) children.push_back(child);
  }
  return children;
}

std::size_t TransformTree::samples_of(std::string_view child) const {
  const auto found = edges_.find(child);
  return found == edges_.end() ? 0 : found->second.samples.size();
}

std::vector<std::string_view> TransformTree::ancestors(std::string_view frame) const {
  std::vector<std::string_view> chain{frame};
  for (auto found = edges_.find(frame); found != edges_.end() && chain.size() < kLongestChain; found = edges_.find(chain.back())) {
    chain.push_back(found->second.parent);
  }
  return chain;
}

std::optional<Pose3> TransformTree::climb(std::string_view child, std::string_view top, Time at) const {
  Pose3 pose;
  for (std::string_view frame = child; frame != top;) {
    const Edge& edge = edges_.find(frame)->second;
    const std::optional<Pose3> step = edge.is_static ? edge.samples.front().pose : sample_at(edge.samples, at);
    if (!step) return std::nullopt;
    pose = frame == child ? *step : composed(*step, pose);
    frame = edge.parent;
  }
  return pose;
}

std::optional<Pose3> TransformTree::lookup(std::string_view parent, std::string_view child, Time at) const {
  const std::vector<std::string_view> of_parent = ancestors(parent);
  for (const std::string_view common : ancestors(child)) {
    if (std::find(of_parent.begin(), of_parent.end(), common) == of_parent.end()) continue;
    const auto T_common_child = climb(child, common, at);
    const auto T_common_parent = climb(parent, common, at);
    if (!T_common_child || !T_common_parent) return std::nullopt;
    if (common == parent) return T_common_child;
    return composed(inverted(*T_common_parent), *T_common_child);
  }
  return std::nullopt;
}

std::optional<Pose2> TransformTree::planar(std::string_view parent, std::string_view child, Time at) const {
  const auto pose = lookup(parent, child, at);
  if (!pose) return std::nullopt;
  return pose->planar();
}

localization::Twist velocity_at(const TransformTree& tree, std::string_view odom, std::string_view base, Time at) {
  const auto now = tree.planar(odom, base, at);
  const auto before = tree.planar(odom, base, at - kVelocityOver);
  if (!now || !before) return {};
  return localization::velocity_of(inverse(*before) * *now, kVelocityOver.seconds());
}

}  // namespace pitwall::analysis

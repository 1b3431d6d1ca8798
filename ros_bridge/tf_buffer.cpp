// SPDX-License-Identifier: Apache-2.0
#include "ros_bridge/tf_buffer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/text.hpp"
#include "ros_messages/convert.hpp"

namespace pitwall::ros_bridge {
namespace {

constexpr std::size_t kDeepest = 64;  // a chain longer than this goes in a circle

struct Vector {
  double x = 0.0, y = 0.0, z = 0.0;
};

// v + 2 q x (q x v + w v), q the vector part.
Vector turned(const Pose3& q, Vector v) {
  const Vector a{q.qy * v.z - q.qz * v.y + q.qw * v.x, q.qz * v.x - q.qx * v.z + q.qw * v.y, q.qx * v.y - q.qy * v.x + q.qw * v.z};
  return {v.x + 2.0 * (q.qy * a.z - q.qz * a.y), v.y + 2.0 * (q.qz * a.x - q.qx * a.z), v.z + 2.0 * (q.qx * a.y - q.qy * a.x)};
}

// tf writes "/odom" and "odom" for the same frame in old recordings.
std::string plain(const std::string& frame) { return !frame.empty() && frame.front() == '/' ? frame.substr(1) : frame; }

}  // namespace

Pose3 compose(const Pose3& a, const Pose3& b) {
  const Vector p = turned(a, {b.x, b.y, b.z});
  return {a.x + p.x,
          a.y + p.y,
          a.z + p.z,
          a.qw * b.qx + a.qx * b.qw + a.qy * b.qz - a.qz * b.qy,
          a.qw * b.qy - a.qx * b.qz + a.qy * b.qw + a.qz * b.qx,
          a.qw * b.qz + a.qx * b.qy - a.qy * b.qx + a.qz * b.qw,
          a.qw * b.qw - a.qx * b.qx - a.qy * b.qy - a.qz * b.qz};
}

Pose3 inverse(const Pose3& T) {
  Pose3 out{0.0, 0.0, 0.0, -T.qx, -T.qy, -T.qz, T.qw};
  const Vector p = turned(out, {-T.x, -T.y, -T.z});
  out.x = p.x;
  out.y = p.y;
  out.z = p.z;
  return out;
}

void TfBuffer::add(const ros_messages::TFMessage& message, bool fixed) {
  for (const ros_messages::TransformStamped& transform : message.transforms) add_one(transform, fixed);
}

void TfBuffer::add_one(const ros_messages::TransformStamped& transform, bool fixed) {
  const std::string child = plain(transform.child_frame_id);
  const std::string parent = plain(transform.header.frame_id);
  const auto& t = transform.transform.translation;
  const auto& q = transform.transform.rotation;
  const double length = std::sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
  if (child.empty() || parent.empty() || child == parent || !std::isfinite(t.x + t.y + t.z + length) || std::fabs(length - 1.0) > 0.1) {
    ++refused_;
    return;
  }
  // Unit ones stay as they are, to the bit.
  const double scale = std::fabs(length - 1.0) < 1e-9 ? 1.0 : 1.0 / length;
  const recording::StampedPose pose{ros_messages::to_time(transform.header.stamp),
                                    {t.x, t.y, t.z, scale * q.x, scale * q.y, scale * q.z, scale * q.w}};
  Frame& frame = frames_[child];
  if (frame.parent != parent || frame.fixed != fixed) frame = {parent, fixed, {}};
  auto& poses = frame.T_parent_frame;
  if (fixed) {
    poses.assign(1, pose);
    return;
  }
  const auto at = std::lower_bound(poses.begin(), poses.end(), pose.stamp, [](const auto& each, Time stamp) { return each.stamp < stamp; });
  if (at != poses.end() && at->stamp == pose.stamp) {
    *at = pose;
  } else {
    poses.insert(at, pose);
  }
  while (poses.front().stamp < poses.back().stamp - keep_) poses.pop_front();
}

TfBuffer::Chain TfBuffer::to_root(const std::string& frame) const {
  Chain chain{&frame};
  while (chain.size() < kDeepest) {
    const auto at = frames_.find(*chain.back());
    if (at == frames_.end()) break;
    chain.push_back(&at->second.parent);
  }
  return chain;
}

std::optional<std::pair<TfBuffer::Chain, TfBuffer::Chain>> TfBuffer::between(const std::string& target, const std::string& source) const {
  Chain up = to_root(source);
  Chain down = to_root(target);
  for (std::size_t i = 0; i < up.size(); ++i) {
    for (std::size_t j = 0; j < down.size(); ++j) {
      if (*up[i] != *down[j]) continue;
      up.resize(i + 1);
      down.resize(j + 1);
      return std::pair(std::move(up), std::move(down));
    }
  }
  return std::nullopt;
}

Result<Pose3> TfBuffer::at_time(const std::string& name, const Frame& frame, Time at) {
  const auto& poses = frame.T_parent_frame;
  if (frame.fixed) return poses.front().pose;
  if (poses.empty() || at < poses.front().stamp || at > poses.back().stamp) {
    std::string known = "nothing of it is known";
    if (!poses.empty())
      known = "it is known from " + format_number(poses.front().stamp.seconds(), 13) + " s to " +
              format_number(poses.back().stamp.seconds(), 13) + " s";
    return Error{"transform " + frame.parent + " -> " + name + " at " + format_number(at.seconds(), 13) + " s: " + known};
  }
  const auto after = std::lower_bound(poses.begin(), poses.end(), at, [](const auto& each, Time stamp) { return each.stamp < stamp; });
  if (after->stamp == at) return after->pose;
  return recording::interpolate(*std::prev(after), *after, at);
}

Result<Pose3> TfBuffer::climb(const Chain& chain, Time at) const {
  Pose3 T;
  for (std::size_t k = 0; k + 1 < chain.size(); ++k) {
    const Result<Pose3> step = at_time(*chain[k], frames_.find(*chain[k])->second, at);
    if (!step) return step.error();
    T = k == 0 ? *step : compose(*step, T);
  }
  return T;
}

Result<Pose3> TfBuffer::lookup(const std::string& target, const std::string& source, Time at) const {
  const auto chains = between(target, source);
  if (!chains) return Error{"no transform joins frames '" + target + "' and '" + source + "'"};
  const Result<Pose3> T_common_source = climb(chains->first, at);
  if (!T_common_source) return T_common_source.error();
  if (chains->second.size() == 1) return *T_common_source;
  const Result<Pose3> T_common_target = climb(chains->second, at);
  if (!T_common_target) return T_common_target.error();
  return compose(inverse(*T_common_target), *T_common_source);
}

std::optional<Time> TfBuffer::latest(const std::string& target, const std::string& source) const {
  const auto chains = between(target, source);
  if (!chains) return std::nullopt;
  std::optional<Time> latest;
  for (const Chain* chain : {&chains->first, &chains->second}) {
    for (std::size_t k = 0; k + 1 < chain->size(); ++k) {
      const Frame& frame = frames_.find(*(*chain)[k])->second;
      if (frame.fixed) continue;
      if (frame.T_parent_frame.empty()) return std::nullopt;
      const Time last = frame.T_parent_frame.back().stamp;
      latest = latest ? std::min(*latest, last) : last;
    }
  }
  return latest;
}

bool TfBuffer::connected(const std::string& target, const std::string& source) const { return between(target, source).has_value(); }

void TfBuffer::forget_moving() {
  std::erase_if(frames_, [](const auto& each) { return !each.second.fixed; });
}

}  // namespace pitwall::ros_bridge

// SPDX-License-Identifier: Apache-2.0
// For tests: a car that drives a scene's line with a scanner and with odometry that is wrong by a fixed share.
#pragma once

#include <cmath>
#include <optional>
#include <vector>

#include "core/geometry.hpp"
#include "localization/slam/evaluation.hpp"
#include "localization/slam/slam.hpp"
#include "localization/test_scenes.hpp"

namespace pitwall::slam::course {

namespace scenes = localization::scenes;

/// What odometry says of a motion whose way it stretches by 5 % and whose turn by 3 %.
inline Pose2 stretched(const Pose2& motion) { return {1.05 * motion.x, 1.05 * motion.y, 1.03 * motion.yaw}; }

struct Drive {
  std::vector<Pose2> truth;  ///< of base_link
  std::vector<Pose2> odometry;
  std::vector<LaserScan> scans;
};

/// The pose at a way along the closed line of a scene.
inline Pose2 pose_along(const std::vector<Pose2>& line, double way_m) {
  double length = 0.0;
  for (std::size_t i = 0; i < line.size(); ++i) length += distance(line[i].position(), line[(i + 1) % line.size()].position());
  double rest = std::fmod(way_m, length);
  for (std::size_t i = 0;; i = (i + 1) % line.size()) {
    const Pose2& a = line[i];
    const Pose2& b = line[(i + 1) % line.size()];
    const double piece = distance(a.position(), b.position());
    if (rest <= piece) {
      const double share = rest / piece;
      return {a.x + share * (b.x - a.x), a.y + share * (b.y - a.y), wrap_angle(a.yaw + share * wrap_angle(b.yaw - a.yaw))};
    }
    rest -= piece;
  }
}

/// Scans at given poses of base_link, `dt_s` apart; with a sweep, the car moves on at the velocity between poses.
inline Drive drive(const scenes::Scene& scene, const scenes::Scanner& scanner, const std::vector<Pose2>& poses, double dt_s,
                   const Pose2& T_base_sensor = {}) {
  Drive result;
  result.truth = poses;
  for (std::size_t k = 0; k < poses.size(); ++k) {
    const Pose2 motion = k > 0 ? inverse(poses[k - 1]) * poses[k] : Pose2{};
    result.odometry.push_back(k > 0 ? result.odometry.back() * stretched(motion) : Pose2{});
    const localization::Twist base = k > 0 ? localization::velocity_of(motion, dt_s) : localization::Twist{};
    const localization::Twist sensor = scanner.sweep_s > 0.0 ? at_frame(base, T_base_sensor) : localization::Twist{};
    const Pose2 T_middle = poses[k] * travelled(base, scanner.sweep_s > 0.0 ? 0.5 * scanner.sweep_s : 0.0) * T_base_sensor;
    const Time stamp = Time{1'000'000'000} + from_seconds(dt_s * static_cast<double>(k));
    result.scans.push_back(scenes::scan(scene, scanner, T_middle, sensor, stamp, k));
  }
  return result;
}

/// So much way along the line of a scene, at 10 Hz and 3 m/s.
inline Drive along(const scenes::Scene& scene, double way_m, const Pose2& T_base_sensor = {}, double noise_m = 0.01) {
  std::vector<Pose2> poses;
  for (double s = 0.0; s < way_m; s += 0.3) poses.push_back(pose_along(scene.line, s));
  scenes::Scanner scanner;
  scanner.noise_m = noise_m;
  return drive(scene, scanner, poses, 0.1, T_base_sensor);
}

inline Slam mapped(const Drive& drive, const SlamParameters& parameters = {}, const Pose2& T_base_sensor = {}) {
  Slam slam(parameters, T_base_sensor, drive.truth.front());
  for (std::size_t k = 0; k < drive.scans.size(); ++k) slam.add(drive.scans[k], drive.odometry[k]);
  return slam;
}

inline std::vector<Pose2> poses_of(const std::vector<Placed>& trajectory) {
  std::vector<Pose2> poses;
  for (const Placed& placed : trajectory) poses.push_back(placed.T_map_base);
  return poses;
}

struct ClosureErrors {
  double worst_m = 0.0;     ///< distance of an accepted closure from the truth
  double worst_chi2 = 0.0;  ///< what the truth is worth by the closure's own information
};

inline ClosureErrors closure_errors(const Slam& slam, const Drive& drive) {
  std::vector<Pose2> truth;
  const std::vector<Placed>& placed = slam.live_trajectory();
  for (std::size_t k = 0; k < placed.size(); ++k) {
    if (placed[k].node == truth.size()) truth.push_back(drive.truth[k]);
  }
  ClosureErrors worst;
  for (const Edge& edge : slam.graph().edges) {
    if (!edge.closure) continue;
    const Pose2 error = inverse(inverse(truth[edge.from]) * truth[edge.to]) * edge.T_from_to;
    worst.worst_m = std::max(worst.worst_m, norm(error.position()));
    worst.worst_chi2 = std::max(worst.worst_chi2, chi2_of(edge, truth));
  }
  return worst;
}

}  // namespace pitwall::slam::course

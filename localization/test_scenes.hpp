// SPDX-License-Identifier: Apache-2.0
// Scenes of straight panels, and exact scans of them: what a scan matcher is measured on. The track is a closed curve of panels on both
// sides; the hall is the same with gaps through which a rectangle is seen; the corridor is two parallel walls.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/geometry.hpp"
#include "core/messages.hpp"
#include "core/rng.hpp"
#include "localization/twist.hpp"

namespace pitwall::localization::scenes {

struct Panel {
  Vec2 a;
  Vec2 b;
};

struct Scene {
  std::vector<Panel> panels;
  std::vector<Pose2> line;  ///< poses along the centre line
  double range_max_m = 10.0;
};

struct Scanner {
  std::size_t beams = 1080;
  double fov_rad = 1.5 * math::kPi;
  double noise_m = 0.01;
  double sweep_s = 0.0;  ///< first to last beam
};

inline std::vector<Vec2> centre_points() {
  constexpr int kPoints = 400;
  std::vector<Vec2> points;
  for (int i = 0; i < kPoints; ++i) {
    const double p = 2.0 * math::kPi * i / kPoints;
    const double r = 8.0 + 2.2 * math::sin(2.0 * p) + 1.1 * math::sin(3.0 * p + 0.7);
    points.push_back({1.6 * r * math::cos(p), r * math::sin(p)});
  }
  return points;
}

/// A track of 2.4 m between panels, about 73 m long.
inline Scene track(bool with_gaps) {
  Scene scene;
  const std::vector<Vec2> centre = centre_points();
  const std::size_t n = centre.size();
  for (std::size_t i = 0; i < n; ++i) {
    const Vec2 way = centre[(i + 1) % n] - centre[(i + n - 1) % n];
    scene.line.push_back({centre[i].x, centre[i].y, math::atan2(way.y, way.x)});
  }
  for (const double side : {1.2, -1.2}) {
    for (std::size_t i = 0; i < n; ++i) {
      if (with_gaps && i % 28 < 4) continue;
      scene.panels.push_back({scene.line[i] * Vec2{0.0, side}, scene.line[(i + 1) % n] * Vec2{0.0, side}});
    }
  }
  return scene;
}

inline Scene smooth_track() { return track(false); }

inline Scene hall() {
  Scene scene = track(true);
  scene.range_max_m = 25.0;
  const std::vector<Vec2> corners{{-20, -14}, {20, -14}, {20, 14}, {-20, 14}};
  for (std::size_t i = 0; i < 4; ++i) scene.panels.push_back({corners[i], corners[(i + 1) % 4]});
  return scene;
}

inline Scene corridor() {
  Scene scene;
  for (const double y : {-1.0, 1.0}) scene.panels.push_back({{-200, y}, {200, y}});
  for (int i = -100; i < 100; ++i) scene.line.push_back({0.5 * i, 0.0, 0.0});
  return scene;
}

/// Exact distance along a ray to a panel; +inf where it is missed.
inline double ray_to_panel(Vec2 origin, Vec2 direction, const Panel& panel) {
  const Vec2 along = panel.b - panel.a;
  const double across = cross(direction, along);
  if (across == 0.0) return std::numeric_limits<double>::infinity();
  const Vec2 to = panel.a - origin;
  const double range = cross(to, along) / across;
  const double share = cross(to, direction) / across;
  return range >= 0.0 && share >= 0.0 && share <= 1.0 ? range : std::numeric_limits<double>::infinity();
}

/// A scan whose first beam leaves at `stamp`, by a sensor that is at T_map_sensor in the middle of its sweep and moves at `velocity`.
/// `sample` numbers the scan for the noise.
inline LaserScan scan(const Scene& scene, const Scanner& scanner, const Pose2& T_map_sensor, const Twist& velocity, Time stamp,
                      std::uint64_t sample) {
  LaserScan scan;
  scan.stamp = stamp;
  const double steps = static_cast<double>(scanner.beams - 1);
  scan.angle_min = static_cast<float>(-0.5 * scanner.fov_rad);
  scan.angle_max = static_cast<float>(0.5 * scanner.fov_rad);
  scan.angle_increment = static_cast<float>(scanner.fov_rad / steps);
  scan.time_increment = static_cast<float>(scanner.sweep_s / steps);
  scan.range_min = 0.02F;
  scan.range_max = static_cast<float>(scene.range_max_m);
  struct Beam {
    Vec2 origin;
    Vec2 direction;
    double range = std::numeric_limits<double>::infinity();
  };
  std::vector<Beam> beams(scanner.beams);
  for (std::size_t i = 0; i < scanner.beams; ++i) {
    const double late_s = (static_cast<double>(i) - 0.5 * steps) * static_cast<double>(scan.time_increment);
    const Pose2 T = T_map_sensor * travelled(velocity, late_s);
    beams[i].origin = T.position();
    beams[i].direction =
        unit_vector(T.yaw + static_cast<double>(scan.angle_min) + static_cast<double>(i) * static_cast<double>(scan.angle_increment));
  }
  // Beams that can meet a panel lie between the bearings of its ends, give or take what the sensor moves meanwhile.
  const double margin = scanner.sweep_s > 0.0 ? 0.3 : 0.01;
  for (const Panel& panel : scene.panels) {
    const Vec2 a = panel.a - T_map_sensor.position();
    const Vec2 b = panel.b - T_map_sensor.position();
    const double turn = math::atan2(cross(a, b), dot(a, b));
    const Vec2 right = turn >= 0.0 ? a : b;
    const double bearing = wrap_angle(math::atan2(right.y, right.x) - T_map_sensor.yaw);
    for (const double lap : {-2.0 * math::kPi, 0.0, 2.0 * math::kPi}) {
      const double first = (bearing + lap - margin - static_cast<double>(scan.angle_min)) / static_cast<double>(scan.angle_increment);
      const double last = first + (std::abs(turn) + 2.0 * margin) / static_cast<double>(scan.angle_increment);
      for (double i = std::max(0.0, std::ceil(first)); i <= std::min(steps, last); i += 1.0) {
        Beam& beam = beams[static_cast<std::size_t>(i)];
        beam.range = std::min(beam.range, ray_to_panel(beam.origin, beam.direction, panel));
      }
    }
  }
  const Rng noise(11, "scenes");
  for (std::size_t i = 0; i < scanner.beams; ++i) {
    double range = beams[i].range;
    if (range < scene.range_max_m) range += scanner.noise_m * noise.normal(sample, static_cast<std::uint32_t>(i));
    scan.ranges.push_back(range < scene.range_max_m ? static_cast<float>(range) : std::numeric_limits<float>::infinity());
  }
  return scan;
}

/// Two scans of a car on the way, and how it really moved between the middles of the sweeps.
struct Pair {
  LaserScan first;
  LaserScan second;
  Pose2 T_first_second;
  Twist velocity;
  double dt_s = 0.05;
};

/// Pair `number` of a car that is up to 0.4 m beside the centre line and up to 0.15 rad off it, at `speed_mps` and any yaw rate up to
/// `yaw_rate_radps`.
inline Pair pair(const Scene& scene, const Scanner& scanner, double speed_mps, double yaw_rate_radps, std::uint64_t number) {
  const Rng draw(5, "pairs");
  const auto uniform = [&](std::uint32_t lane) { return 2.0 * draw.uniform(number, lane) - 1.0; };
  Pair pair;
  const auto place = static_cast<std::size_t>(0.5 * (1.0 + uniform(0)) * static_cast<double>(scene.line.size()));
  const Pose2 T_map_first = scene.line[place] * Pose2{0.0, 0.4 * uniform(1), 0.15 * uniform(2)};
  pair.velocity = {speed_mps, 0.0, yaw_rate_radps * uniform(3)};
  pair.T_first_second = travelled(pair.velocity, pair.dt_s);
  const Time start{1'000'000'000};
  pair.first = scan(scene, scanner, T_map_first, pair.velocity, start, 2 * number);
  pair.second = scan(scene, scanner, T_map_first * pair.T_first_second, pair.velocity, start + from_seconds(pair.dt_s), 2 * number + 1);
  return pair;
}

inline Pose2 share_of(double share, const Pose2& T) { return {share * T.x, share * T.y, share * T.yaw}; }

}  // namespace pitwall::localization::scenes

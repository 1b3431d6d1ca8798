// SPDX-License-Identifier: Apache-2.0
#include "localization/scan_points.hpp"

#include <algorithm>
#include <cmath>

namespace pitwall::localization {

namespace {

// Neighbours are on one surface if they are nearer than this, or than a surface seen under 14 degrees would set them apart.
constexpr double kNear_m = 0.05;
constexpr double kGrazing = 4.0;
constexpr std::size_t kFewestPoints = 5;
// What the noise of a scanner is at least believed to be.
constexpr double kLeastNoise_m = 0.001;
constexpr double kMaxAngleVariance = 0.04;

double sweep_s(const LaserScan& scan) {
  if (scan.ranges.empty() || !std::isfinite(scan.time_increment)) return 0.0;
  return static_cast<double>(scan.time_increment) * static_cast<double>(scan.ranges.size() - 1);
}

}  // namespace

Time middle_of(const LaserScan& scan) { return scan.stamp + from_seconds(0.5 * sweep_s(scan)); }

void PointList::clear() {
  at.clear();
  bearing.clear();
  beam.clear();
}

void PointList::reserve(std::size_t count) {
  at.reserve(count);
  bearing.reserve(count);
  beam.reserve(count);
}

void PointList::add(Vec2 point, Vec2 direction, std::uint32_t number) {
  at.push_back(point);
  bearing.push_back(direction);
  beam.push_back(number);
}

void ScanPoints::tabulate(const LaserScan& scan) {
  const double first = scan.angle_min;
  const double increment = scan.angle_increment;
  const std::size_t count = scan.ranges.size();
  const bool usable = std::isfinite(first) && std::isfinite(increment) && increment != 0.0 &&
                      std::abs(increment) * static_cast<double>(count) <= 2.0 * math::kPi + 2.0 * std::abs(increment);
  if (!usable) {
    increment_rad_ = 0.0;
    table_.clear();
    return;
  }
  if (first == angle_min_rad_ && increment == increment_rad_ && count == table_.size()) return;
  angle_min_rad_ = first;
  increment_rad_ = increment;
  table_.resize(count);
  for (std::size_t i = 0; i < count; ++i) table_[i] = unit_vector(first + static_cast<double>(i) * increment);
}

void ScanPoints::place(const LaserScan& scan, const Twist& velocity, double max_range_m) {
  points_.clear();
  const std::size_t count = table_.size();
  const double step_s = count > 1 ? sweep_s(scan) / static_cast<double>(count - 1) : 0.0;
  // The sensor's pose at each beam, in the frame of the middle one; one exact step after the other.
  const Pose2 first = travelled(velocity, -0.5 * sweep_s(scan));
  const Pose2 step = travelled(velocity, step_s);
  math::SinCos turned = math::sincos(first.yaw);
  const math::SinCos turn = math::sincos(step.yaw);
  Vec2 origin = first.position();
  for (std::size_t i = 0; i < count; ++i) {
    const double range = scan.ranges[i];
    // Written so that NaN is refused.
    if (range > 0.0 && range >= scan.range_min && range < scan.range_max && range <= max_range_m) {
      const Vec2 d{turned.cos * table_[i].x - turned.sin * table_[i].y, turned.sin * table_[i].x + turned.cos * table_[i].y};
      const Vec2 p = origin + range * d;
      const double away = norm(p);
      if (away > 0.0) points_.add(p, (1.0 / away) * p, static_cast<std::uint32_t>(i));
    }
    origin = origin + Vec2{turned.cos * step.x - turned.sin * step.y, turned.sin * step.x + turned.cos * step.y};
    turned = {turned.sin * turn.cos + turned.cos * turn.sin, turned.cos * turn.cos - turned.sin * turn.sin};
  }
}

bool ScanPoints::gap_before(std::size_t i) const {
  const Vec2 a = points_.at[i - 1];
  const Vec2 b = points_.at[i];
  const double beams = points_.beam[i] - points_.beam[i - 1];
  const double nearer2 = std::min(dot(a, a), dot(b, b));
  const double across2 = kGrazing * kGrazing * nearer2 * beams * beams * increment_rad_ * increment_rad_;
  return dot(b - a, b - a) > std::max(kNear_m * kNear_m, across2);
}

void ScanPoints::fit(std::size_t low, std::size_t high, std::size_t of, const ScanPointsSettings& settings) {
  const double n = static_cast<double>(high - low);
  const Sums& a = sums_[low];
  const Sums& b = sums_[high];
  const Vec2 centre{(b.x - a.x) / n, (b.y - a.y) / n};
  const double xx = (b.xx - a.xx) / n - centre.x * centre.x;
  const double xy = (b.xy - a.xy) / n - centre.x * centre.y;
  const double yy = (b.yy - a.yy) / n - centre.y * centre.y;
  const double half_difference = 0.5 * (xx - yy);
  const double root = std::sqrt(half_difference * half_difference + xy * xy);
  const double along2 = 0.5 * (xx + yy) + root;
  const double scatter2 = std::max(std::max(0.0, 0.5 * (xx + yy) - root) * n / (n - 2.0), kLeastNoise_m * kLeastNoise_m);
  if (scatter2 > settings.max_scatter_m * settings.max_scatter_m) return;
  const double angle_variance = scatter2 / (n * along2);
  if (!(angle_variance < kMaxAngleVariance)) return;
  // The axis of the larger spread; of its two expressions the one that does not cancel.
  const Vec2 axis = half_difference >= 0.0 ? Vec2{half_difference + root, xy} : Vec2{xy, root - half_difference};
  const double length = norm(axis);
  const double away = norm(centre);
  if (!(length > 0.0) || !(away > 0.0)) return;
  Vec2 normal = (1.0 / length) * perpendicular(axis);
  if (dot(normal, centre) > 0.0) normal = -normal;
  centres_.add(centre, (1.0 / away) * centre, points_.beam[of]);
  pieces_.push_back({normal, angle_variance, scatter2, n});
}

void ScanPoints::fit_run(std::size_t begin, std::size_t end, const ScanPointsSettings& settings) {
  if (end - begin < kFewestPoints || distance(points_.at[begin], points_.at[end - 1]) < settings.least_extent_m) return;
  const double reach2 = settings.half_window_m * settings.half_window_m;
  const auto within = [&](std::size_t i, std::size_t k) {
    const Vec2 d = points_.at[k] - points_.at[i];
    return dot(d, d) <= reach2;
  };
  std::size_t low = begin;
  std::size_t high = begin;
  for (std::size_t i = begin; i < end; ++i) {
    while (low < i && !within(i, low)) ++low;
    high = std::max(high, i);
    while (high + 1 < end && within(i, high + 1)) ++high;
    // Where points are far apart the window is five of them, shifted inwards at the ends of a surface.
    std::size_t first = low;
    std::size_t last = high;
    if (last - first + 1 < kFewestPoints) {
      first = std::min(std::max(i, begin + kFewestPoints / 2) - kFewestPoints / 2, end - kFewestPoints);
      last = first + kFewestPoints - 1;
    }
    fit(first, last + 1, i, settings);
  }
}

void ScanPoints::read(const LaserScan& scan, const Twist& velocity, const ScanPointsSettings& settings) {
  tabulate(scan);
  points_.reserve(table_.size());
  centres_.reserve(table_.size());
  pieces_.reserve(table_.size());
  place(scan, velocity, settings.max_range_m);
  centres_.clear();
  pieces_.clear();
  sums_.reserve(table_.size() + 1);
  sums_.resize(points_.size() + 1);
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const Vec2 p = points_.at[i];
    const Sums& s = sums_[i];
    sums_[i + 1] = {s.x + p.x, s.y + p.y, s.xx + p.x * p.x, s.xy + p.x * p.y, s.yy + p.y * p.y};
  }
  std::size_t begin = 0;
  for (std::size_t i = 1; i <= points_.size(); ++i) {
    if (i < points_.size() && !gap_before(i)) continue;
    fit_run(begin, i, settings);
    begin = i;
  }
}

}  // namespace pitwall::localization

// SPDX-License-Identifier: Apache-2.0
#include "controllers/scan_view.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check.hpp"
#include "core/math.hpp"

namespace pitwall::controllers {

namespace {}  // namespace

bool is_well_formed(const LaserScan& scan) {
  const std::size_t n = scan.ranges.size();
  if (n < 2 || n > kMaxScanBeams) return false;
  if (!std::isfinite(scan.angle_min) || !std::isfinite(scan.angle_increment) || !(scan.angle_increment > 0.0F)) return false;
  const double span = static_cast<double>(n - 1) * static_cast<double>(scan.angle_increment);
  if (!(span <= 2.0 * math::kPi + 1e-3) || std::abs(scan.angle_min) > 7.0F) return false;
  return std::isfinite(scan.range_min) && std::isfinite(scan.range_max) && scan.range_min >= 0.0F && scan.range_max > scan.range_min;
}

double distance_to_edge(const BodyRectangle& body, Vec2 from, Vec2 direction) {
  if (from.x < body.rear_m || from.x > body.front_m || std::abs(from.y) > body.half_width_m) return 0.0;
  double nearest = math::kInfinity;
  if (direction.x > 0.0) nearest = std::min(nearest, (body.front_m - from.x) / direction.x);
  if (direction.x < 0.0) nearest = std::min(nearest, (body.rear_m - from.x) / direction.x);
  if (direction.y > 0.0) nearest = std::min(nearest, (body.half_width_m - from.y) / direction.y);
  if (direction.y < 0.0) nearest = std::min(nearest, (-body.half_width_m - from.y) / direction.y);
  return nearest;
}

ScanView::ScanView(const CarParameters& car) : mount_(car.lidar_mount()), body_(car.padded_body()) {}

void ScanView::reset() {
  for (auto* table : {&bearing_, &cos_, &sin_, &boundary_, &range_, &clearance_, &depth_}) table->assign(kMaxScanBeams, 0.0);
  kind_.assign(kMaxScanBeams, BeamKind::kInvalid);
  size_ = 0;
  valid_count_ = 0;
}

void ScanView::rebuild(const LaserScan& scan) {
  angle_min_ = scan.angle_min;
  angle_max_ = scan.angle_max;
  increment_ = scan.angle_increment;
  size_ = scan.ranges.size();
  const double first = static_cast<double>(scan.angle_min);
  const double last_named = static_cast<double>(scan.angle_max);
  const auto steps = static_cast<double>(size_ - 1);
  // The float increment is off by up to 3e-7 rad at the last beam. Where angle_max agrees with it to that rounding, the
  // two ends define the step; where it does not (a cropped scan, a driver that counts one beam more), the increment does.
  double last = first + steps * static_cast<double>(scan.angle_increment);
  if (std::abs(last - last_named) < 1e-6) last = last_named;
  step_rad_ = (last - first) / steps;
  // Counted from the middle, so that a symmetric scan has bearings that are symmetric to the bit.
  middle_index_ = 0.5 * steps;
  middle_rad_ = wrap_angle(0.5 * (first + last) + mount_.yaw);
  for (std::size_t i = 0; i < size_; ++i) {
    bearing_[i] = middle_rad_ + (static_cast<double>(i) - middle_index_) * step_rad_;
    const auto [s, c] = math::sincos(bearing_[i]);
    sin_[i] = s;
    cos_[i] = c;
    boundary_[i] = distance_to_edge(body_, mount_.position(), {c, s});
  }
}

bool ScanView::update(const LaserScan& scan) {
  if (!is_well_formed(scan)) return false;
  PITWALL_CHECK(kind_.size() == kMaxScanBeams, "update() before reset()");
  if (scan.ranges.size() != size_ || scan.angle_min != angle_min_ || scan.angle_max != angle_max_ || scan.angle_increment != increment_) {
    rebuild(scan);
  }
  const float shortest = std::max(scan.range_min, std::numeric_limits<float>::min());
  const float longest = scan.range_max;
  std::size_t valid_count = 0;
  for (std::size_t i = 0; i < size_; ++i) {
    const float r = scan.ranges[i];
    const bool is_valid = r >= shortest && r <= longest;
    kind_[i] = is_valid ? BeamKind::kValid : r > longest ? BeamKind::kNoReturn : BeamKind::kInvalid;
    range_[i] = is_valid ? static_cast<double>(r) : math::kInfinity;
    clearance_[i] = range_[i] - boundary_[i];
    depth_[i] = range_[i];
    valid_count += is_valid ? 1U : 0U;
  }
  valid_count_ = valid_count;
  if (valid_count < size_) believe();
  return true;
}

// Sets the depth of every run of unknown beams from its flanks.
void ScanView::believe() {
  std::size_t i = 0;
  while (i < size_) {
    if (valid(i)) {
      ++i;
      continue;
    }
    const std::size_t first = i;
    std::size_t invalid = 0;
    for (; i < size_ && !valid(i); ++i) invalid += kind_[i] == BeamKind::kInvalid ? 1U : 0U;
    const bool has_right = first > 0;
    const bool has_left = i < size_;
    const double right = has_right ? range_[first - 1] : has_left ? range_[i] : 0.0;
    const double left = has_left ? range_[i] : right;
    const std::size_t count = i - first;
    double depth = 0.0;
    if (static_cast<double>(count) * step_rad_ <= kBridge) {
      depth = std::min(right, left);
    } else if (2 * invalid <= count) {
      depth = std::max(right, left);
    }
    std::fill(depth_.begin() + static_cast<std::ptrdiff_t>(first), depth_.begin() + static_cast<std::ptrdiff_t>(i), depth);
  }
}

BeamWindow ScanView::window(double centre_rad, double half_width_rad) const {
  // A thousandth of a beam keeps those that lie on the edge inside on both sides, whatever float32 made of angle_min.
  constexpr double kSlack = 1e-3;
  const double low = std::ceil(index_of(centre_rad - half_width_rad) - kSlack);
  const double high = std::floor(index_of(centre_rad + half_width_rad) + kSlack);
  const double last = static_cast<double>(size_) - 1.0;
  if (high < 0.0 || low > last || low > high) return {};
  return {static_cast<std::size_t>(std::max(low, 0.0)), static_cast<std::size_t>(std::min(high, last)) + 1};
}

std::size_t ScanView::beam_at(double bearing_rad) const {
  const double last = static_cast<double>(size_) - 1.0;
  return static_cast<std::size_t>(std::clamp(std::floor(index_of(bearing_rad) + 0.5), 0.0, last));
}

NearestBeam ScanView::nearest_range(BeamWindow w) const {
  NearestBeam nearest;
  for (std::size_t i = w.first; i < w.end; ++i) {
    if (range_[i] < nearest.value_m) nearest = {range_[i], static_cast<std::int32_t>(i)};
  }
  return nearest;
}

NearestBeam ScanView::nearest_clearance(BeamWindow w) const {
  NearestBeam nearest;
  for (std::size_t i = w.first; i < w.end; ++i) {
    if (clearance_[i] < nearest.value_m) nearest = {clearance_[i], static_cast<std::int32_t>(i)};
  }
  return nearest;
}

double ScanView::smallest_free_m(BeamWindow w) const {
  double smallest = math::kInfinity;
  for (std::size_t i = w.first; i < w.end; ++i) smallest = std::min(smallest, depth_[i] - boundary_[i]);
  return smallest;
}

}  // namespace pitwall::controllers

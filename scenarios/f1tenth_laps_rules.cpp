// SPDX-License-Identifier: Apache-2.0
#include "scenarios/f1tenth_laps_rules.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/car.hpp"
#include "core/math.hpp"

namespace pitwall::scenarios::f1tenth {
namespace {

// The car.
constexpr double kFriction = 1.0489, kFront = 4.718, kRear = 5.4562, kLf = 0.15875, kLr = 0.17145, kHeight = 0.074, kMass = 3.74,
                 kInertia = 0.04712;
constexpr double kLock = 0.4189, kSteeringRate = 3.2, kSwitchSpeed = 7.319, kAcceleration = 9.51, kSpeedMin = -5.0, kSpeedMax = 20.0;
constexpr double kStep_s = 0.01;

// The scanner.
constexpr int kBeams = 1080;
constexpr double kFieldOfView = 4.7;
constexpr int kDirections = 2000;
constexpr double kRangeMax = 30.0;

// Both planners.
constexpr double kSteeringMax = 0.4;

/// The benchmark's proportional loops.
double acceleration_for(double wanted, double speed) {
  const double off = wanted - speed;
  const double gain = speed > 0.0 ? 10.0 : 2.0;
  return gain * kAcceleration / (off > 0.0 ? kSpeedMax : -kSpeedMin) * off;
}

double limited_acceleration(double speed, double a) {
  if ((speed <= kSpeedMin && a <= 0.0) || (speed >= kSpeedMax && a >= 0.0)) return 0.0;
  const double up = speed > kSwitchSpeed ? kAcceleration * kSwitchSpeed / speed : kAcceleration;
  return std::clamp(a, -kAcceleration, up);
}

/// Squared distances along one line of cells to the nearest of parabolas rising from `f` (Felzenszwalb and Huttenlocher, "Distance
/// transforms of sampled functions", Theory of Computing 8, 2012).
void lower_envelope(const std::vector<double>& f, std::vector<double>& out, std::vector<int>& at, std::vector<double>& from) {
  const int n = static_cast<int>(f.size());
  const auto value = [&](int i) { return f[static_cast<std::size_t>(i)]; };
  int k = -1;
  for (int q = 0; q < n; ++q) {
    if (value(q) == std::numeric_limits<double>::infinity()) continue;
    double start = -std::numeric_limits<double>::infinity();
    while (k >= 0) {
      const int p = at[static_cast<std::size_t>(k)];
      start = ((value(q) + static_cast<double>(q) * q) - (value(p) + static_cast<double>(p) * p)) / (2.0 * (q - p));
      if (start > from[static_cast<std::size_t>(k)]) break;
      --k;
      start = -std::numeric_limits<double>::infinity();
    }
    ++k;
    at[static_cast<std::size_t>(k)] = q;
    from[static_cast<std::size_t>(k)] = start;
  }
  if (k < 0) {
    std::fill(out.begin(), out.end(), std::numeric_limits<double>::infinity());
    return;
  }
  const int last = k;
  k = 0;
  for (int q = 0; q < n; ++q) {
    while (k < last && from[static_cast<std::size_t>(k) + 1] < q) ++k;
    const int p = at[static_cast<std::size_t>(k)];
    out[static_cast<std::size_t>(q)] = static_cast<double>(q - p) * (q - p) + value(p);
  }
}

/// Where a segment from `start` along `way` crosses the circle: the smaller part of the way in [least, 1], if any.
std::optional<double> crossing(Vec2 start, Vec2 way, Vec2 centre, double radius, double least) {
  const double a = dot(way, way);
  const double b = 2.0 * dot(way, start - centre);
  const double c = dot(start, start) + dot(centre, centre) - 2.0 * dot(start, centre) - radius * radius;
  const double under = b * b - 4.0 * a * c;
  if (under < 0.0) return std::nullopt;
  for (const double sign : {-1.0, 1.0}) {
    const double t = (-b + sign * std::sqrt(under)) / (2.0 * a);
    if (t >= 0.0 && t <= 1.0 && t >= least) return t;
  }
  return std::nullopt;
}

struct Nearest {
  std::size_t segment = 0;
  double part = 0.0;
};

Nearest nearest_on(const std::vector<Vec2>& line, Vec2 p) {
  Nearest best;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    const Vec2 way = line[i + 1] - line[i];
    const double t = std::clamp(dot(p - line[i], way) / dot(way, way), 0.0, 1.0);
    const double away = distance(p, line[i] + t * way);
    if (away < least) {
      least = away;
      best = {i, t};
    }
  }
  return best;
}

/// The waypoint at whose segment the line leaves the circle about the car.
std::size_t lookahead_waypoint(const std::vector<Vec2>& line, Vec2 p, double radius, const Nearest& from) {
  const std::size_t n = line.size();
  constexpr Vec2 kNudge{1e-6, 1e-6};
  // A nearest point at the very end of its segment counts as the start of the next.
  const std::size_t first = from.part >= 1.0 ? from.segment + 1 : from.segment;
  const double least = from.part >= 1.0 ? 0.0 : from.part;
  std::optional<std::size_t> found;
  for (std::size_t i = first; i + 1 < n && !found; ++i) {
    if (crossing(line[i], line[i + 1] + kNudge - line[i], p, radius, i == first ? least : 0.0)) found = i;
  }
  if (!found && crossing(line[n - 1], line[0] + kNudge - line[n - 1], p, radius, 0.0)) found = n - 1;
  for (std::size_t i = 0; i < first && !found; ++i) {
    if (crossing(line[i], line[(i + 1) % n] + kNudge - line[i], p, radius, 0.0)) found = i;
  }
  if (!found) {
    const double spacing = distance(line[from.segment], line[from.segment + 1]);
    return std::min(from.segment + static_cast<std::size_t>(radius / spacing), n - 2);
  }
  return *found;
}

/// Mean over a window of `width` values about each, zeros beyond the ends; as many values as the longer of both.
std::vector<double> smoothed(const std::vector<double>& values, int width) {
  const int n = static_cast<int>(values.size());
  const int first = (std::min(n, width) - 1) / 2;
  std::vector<double> out(static_cast<std::size_t>(std::max(n, width)));
  for (int k = 0; k < static_cast<int>(out.size()); ++k) {
    double sum = 0.0;
    for (int j = std::max(0, k + first - width + 1); j <= std::min(n - 1, k + first); ++j) sum += values[static_cast<std::size_t>(j)];
    out[static_cast<std::size_t>(k)] = sum / width;
  }
  return out;
}

}  // namespace

void Car::reset(const Pose2& pose) {
  *this = {};
  x_ = pose.x;
  y_ = pose.y;
  yaw_ = pose.yaw;
}

void Car::step(const Action& action) {
  const double target = waiting_[0];
  waiting_[0] = waiting_[1];
  waiting_[1] = action.steering_rad;
  const double off = target - steering_;
  double rate = std::abs(off) > 1e-4 ? std::copysign(kSteeringRate, off) : 0.0;
  if ((steering_ <= -kLock && rate <= 0.0) || (steering_ >= kLock && rate >= 0.0)) rate = 0.0;
  const double a = limited_acceleration(speed_, acceleration_for(action.speed_mps, speed_));

  constexpr double kWheelbase = kLf + kLr;
  double heading = yaw_;
  double yaw_change = yaw_rate_;
  double yaw_acceleration = 0.0;
  double slip_change = 0.0;
  if (std::abs(speed_) < 0.5) {
    const double tangent = math::tan(steering_);
    const double cosine = math::cos(steering_);
    yaw_change = speed_ / kWheelbase * tangent;
    yaw_acceleration = a / kWheelbase * tangent + speed_ / (kWheelbase * cosine * cosine) * rate;
  } else {
    heading += slip_;
    const double front = kFront * (kGravity_mps2 * kLr - a * kHeight);
    const double rear = kRear * (kGravity_mps2 * kLf + a * kHeight);
    const double v = speed_;
    yaw_acceleration =
        kFriction * kMass / (kInertia * kWheelbase) *
        (kLf * front * steering_ + (kLr * rear - kLf * front) * slip_ - (kLf * kLf * front + kLr * kLr * rear) * yaw_rate_ / v);
    slip_change = kFriction / (v * kWheelbase) * (front * steering_ - (rear + front) * slip_ + (rear * kLr - front * kLf) * yaw_rate_ / v) -
                  yaw_rate_;
  }
  const auto [s, c] = math::sincos(heading);
  x_ += kStep_s * speed_ * c;
  y_ += kStep_s * speed_ * s;
  steering_ += kStep_s * rate;
  speed_ += kStep_s * a;
  yaw_ += kStep_s * yaw_change;
  yaw_rate_ += kStep_s * yaw_acceleration;
  slip_ += kStep_s * slip_change;
  if (yaw_ > 2.0 * math::kPi) {
    yaw_ -= 2.0 * math::kPi;
  } else if (yaw_ < 0.0) {
    yaw_ += 2.0 * math::kPi;
  }
}

Grid::Grid(const tracks::Image& image, double resolution_m, Vec2 origin)
    : width_(image.width), height_(image.height), resolution_(resolution_m), origin_(origin) {
  const auto w = static_cast<std::size_t>(width_);
  const auto h = static_cast<std::size_t>(height_);
  std::vector<double> square(w * h);
  for (std::size_t j = 0; j < h; ++j) {
    for (std::size_t i = 0; i < w; ++i) {
      const double grey = 255.0 * image.light[(h - 1 - j) * w + i] / image.full;
      square[j * w + i] = grey <= 128.0 ? 0.0 : std::numeric_limits<double>::infinity();
    }
  }
  const std::size_t longest = std::max(w, h);
  std::vector<int> at(longest);
  std::vector<double> from(longest);
  std::vector<double> line(h);
  std::vector<double> out(h);
  for (std::size_t i = 0; i < w; ++i) {
    for (std::size_t j = 0; j < h; ++j) line[j] = square[j * w + i];
    lower_envelope(line, out, at, from);
    for (std::size_t j = 0; j < h; ++j) square[j * w + i] = out[j];
  }
  line.resize(w);
  out.resize(w);
  distance_.resize(w * h);
  for (std::size_t j = 0; j < h; ++j) {
    std::copy_n(square.begin() + static_cast<std::ptrdiff_t>(j * w), w, line.begin());
    lower_envelope(line, out, at, from);
    for (std::size_t i = 0; i < w; ++i) distance_[j * w + i] = static_cast<float>(resolution_ * std::sqrt(out[i]));
  }
  directions_.reserve(kDirections);
  for (int i = 0; i < kDirections; ++i) directions_.push_back(unit_vector(2.0 * math::kPi * i / (kDirections - 1)));
}

double Grid::distance_at(Vec2 p) const {
  const double x = p.x - origin_.x;
  const double y = p.y - origin_.y;
  if (!(x >= 0.0 && x < width_ * resolution_ && y >= 0.0 && y < height_ * resolution_)) return static_cast<double>(distance_.back());
  const auto column = std::min(static_cast<std::size_t>(x / resolution_), static_cast<std::size_t>(width_) - 1);
  const auto row = std::min(static_cast<std::size_t>(y / resolution_), static_cast<std::size_t>(height_) - 1);
  return static_cast<double>(distance_[row * static_cast<std::size_t>(width_) + column]);
}

bool Grid::collides(const Pose2& pose) const {
  for (const double x : {0.29, -0.29}) {
    for (const double y : {0.155, -0.155}) {
      if (distance_at(pose * Vec2{x, y}) < 1e-3) return true;
    }
  }
  return false;
}

void Grid::scan(const Pose2& pose, const Rng& noise, std::uint64_t sample, std::vector<double>& ranges) const {
  ranges.resize(kBeams);
  const double increment = kDirections * (kFieldOfView / (kBeams - 1)) / (2.0 * math::kPi);
  double index = std::fmod(kDirections * (pose.yaw - 0.5 * kFieldOfView) / (2.0 * math::kPi), static_cast<double>(kDirections));
  if (index < 0.0) index += kDirections;
  for (double& range : ranges) {
    const Vec2 direction = directions_[static_cast<std::size_t>(index)];
    Vec2 p = pose.position();
    double step = distance_at(p);
    double total = step;
    while (step > 1e-4 && total <= kRangeMax) {
      p = p + step * direction;
      step = distance_at(p);
      total += step;
    }
    range = std::min(total, kRangeMax);
    index += increment;
    if (index >= kDirections) index -= kDirections;
  }
  for (std::size_t i = 0; i < ranges.size(); i += 2) {
    const auto pair = noise.normal_pair(sample, static_cast<std::uint32_t>(i / 2));
    ranges[i] += 0.01 * pair[0];
    if (i + 1 < ranges.size()) ranges[i + 1] += 0.01 * pair[1];
  }
}

CentreLine::CentreLine(std::vector<Vec2> points) : points_(std::move(points)) {
  double s = 0.0;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    if (i > 0) s += distance(points_[i - 1], points_[i]);
    at_.push_back(s);
  }
}

double CentreLine::progress(Vec2 p) const {
  std::size_t nearest = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const double away = distance(p, points_[i]);
    if (away < least) {
      least = away;
      nearest = i;
    }
  }
  const std::size_t last = points_.size() - 1;
  const auto away = [&](std::size_t i) { return distance(p, points_[i]); };
  std::size_t start = nearest;
  if (nearest == 0) {
    if (away(last) < away(1)) return 1.0;
  } else if (nearest == last) {
    if (away(last - 1) >= away(0)) return 1.0;
    start = last - 1;
  } else if (away(nearest + 1) > away(nearest - 1)) {
    start = nearest - 1;
  }
  // The benchmark looks the point up in a table of centimetres that it evaluates beyond the end of its spline, so that all
  // entries of a segment are equal and the first one wins.
  const double cells = std::floor(length_m() * 100.0);
  return std::floor(at_[start] * 100.0) / (cells - 1.0);
}

Action pure_pursuit(const RacingLine& line, const Pose2& pose, double speed_mps) {
  constexpr double kWheelbase = 0.33;
  constexpr double kSpeedCap = 8.0;
  if (speed_mps < 1.0) return {0.0, 4.0};
  const Vec2 p = pose.position();
  const Nearest nearest = nearest_on(line.points, p);
  const double lookahead = 0.8 + speed_mps / kSpeedCap * 0.6;
  const std::size_t target = std::min(lookahead_waypoint(line.points, p, lookahead, nearest), line.points.size() - 2);
  const Vec2 way = line.points[target] - p;
  const double left = cross(unit_vector(pose.yaw), way);
  double steering = std::abs(left) < 1e-6 ? 0.0 : math::atan(kWheelbase * 2.0 * left / dot(way, way));
  steering = std::clamp(steering, -kSteeringMax, kSteeringMax);
  double cap = kSpeedCap;
  if (std::abs(steering) >= 0.03) cap = std::min(cap, std::sqrt(1.5 * kGravity_mps2 * kWheelbase / math::tan(std::abs(steering))));
  return {steering, std::min({line.speeds[nearest.segment], kSpeedCap, cap})};
}

Action follow_the_gap(const std::vector<double>& ranges) {
  constexpr std::ptrdiff_t kCrop = 135;
  constexpr std::ptrdiff_t kBubble = 160;
  std::vector<double> seen = smoothed({ranges.begin() + kCrop, ranges.end() - kCrop}, 3);
  for (double& r : seen) r = std::clamp(r, 0.0, 10.0);
  const auto n = static_cast<std::ptrdiff_t>(seen.size());
  const std::ptrdiff_t closest = std::min_element(seen.begin(), seen.end()) - seen.begin();
  std::fill(seen.begin() + std::max<std::ptrdiff_t>(0, closest - kBubble), seen.begin() + std::min(n - 1, closest + kBubble), 0.0);
  // The last run of more than five free beams.
  for (std::ptrdiff_t end = n; end > 0;) {
    if (seen[static_cast<std::size_t>(end - 1)] == 0.0) {
      --end;
      continue;
    }
    std::ptrdiff_t start = end;
    while (start > 0 && seen[static_cast<std::size_t>(start - 1)] != 0.0) --start;
    if (end - start > 5) {
      const std::vector<double> mean = smoothed({seen.begin() + start, seen.begin() + end}, 80);
      const std::ptrdiff_t best = start + (std::max_element(mean.begin(), mean.end()) - mean.begin());
      const double bearing =
          (static_cast<double>(best) - 0.5 * static_cast<double>(n)) * 2.0 * math::kPi / static_cast<double>(ranges.size());
      const double steering = std::clamp(0.5 * bearing, -kSteeringMax, kSteeringMax);
      return {steering, std::abs(steering) > 0.174 ? 3.0 : 5.0};
    }
    end = start;
  }
  return {};
}

}  // namespace pitwall::scenarios::f1tenth

// SPDX-License-Identifier: Apache-2.0
// Least time about a line: a barrier method (S. Boyd and L. Vandenberghe, "Convex optimization", 2004, chapter 11) over offsets and
// squared speeds. The Hessian leaves out second derivatives of curvature times speed, which keeps it positive definite; each step is
// searched along until time and barrier have fallen, so that every iterate is a line with speeds inside the limits.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/math.hpp"
#include "tracks/build/banded.hpp"
#include "tracks/build/raceline.hpp"

namespace pitwall::tracks::build::detail {
namespace {

constexpr int kLevels = 6;  // of the barrier
constexpr double kLevelFactor = 0.2;
constexpr double kFirstGap = 0.1;  // of the lap time: what the first level is away from the least time
constexpr int kStepsPerLevel = 12;
constexpr int kMostHalvings = 25;
constexpr double kEdge_m = 1e-3;  // how far inside its bounds an offset starts
constexpr double kSmallProduct = 1e-200;
constexpr double kInside = 0.95;  // of the profile's speeds squared: where the search starts

/// A sum of a few unknowns times their slopes.
struct Linear {
  std::array<std::size_t, 6> index{};
  std::array<double, 6> slope{};
  std::size_t count = 0;
  void add(std::size_t unknown, double value) {
    for (std::size_t k = 0; k < count; ++k) {
      if (index[k] == unknown) {
        slope[k] += value;
        return;
      }
    }
    index[count] = unknown;
    slope[count++] = value;
  }
  void add(const Linear& other, double factor) {
    for (std::size_t k = 0; k < other.count; ++k) add(other.index[k], factor * other.slope[k]);
  }
};

/// The problem about one line. Unknown 2 i is the offset of station i, 2 i + 1 its squared speed.
class Problem {
 public:
  Problem(const Stations& line, const Bounds& bounds, const SpeedLimits& limits, const LeastTimeSettings& settings)
      : line_(line),
        bounds_(bounds),
        limits_(limits),
        rack_(line.size(), settings.max_curvature_per_m),
        turning_weight_(settings.turning_weight),
        hessian_(line.size(), 2, 3, line.closed),
        gradient_(2 * line.size(), 0.0) {}

  /// The rack is no bound for what is beyond it already.
  void allow(const std::vector<double>& kappa) {
    for (std::size_t i = 0; i < rack_.size(); ++i) rack_[i] = std::max(rack_[i], 1.005 * std::fabs(kappa[i]));
  }

  /// Time in s plus `weight` times the barrier, +inf outside; with slopes where asked for.
  double merit(const std::vector<double>& x, double weight, bool with_slopes) {
    x_ = &x;
    weight_ = weight;
    slopes_ = with_slopes;
    time_ = 0.0;
    barrier_ = 0.0;
    product_ = 1.0;
    if (slopes_) {
      hessian_.set_zero();
      std::fill(gradient_.begin(), gradient_.end(), 0.0);
    }
    for (std::size_t i = 0; i < line_.size() && barrier_ < math::kInfinity; ++i) add_station(i);
    for (std::size_t i = 0; i < segments() && barrier_ < math::kInfinity; ++i) add_segment(i);
    take_logarithm();
    return barrier_ < math::kInfinity ? time_ + weight * barrier_ : math::kInfinity;
  }

  [[nodiscard]] double time() const { return time_; }
  [[nodiscard]] std::size_t constraints() const { return 9 * line_.size(); }
  [[nodiscard]] const std::vector<double>& gradient() const { return gradient_; }
  /// The Newton step of the last merit with slopes.
  std::vector<double> step() {
    std::vector<double> down(gradient_.size());
    for (std::size_t i = 0; i < down.size(); ++i) down[i] = -gradient_[i];
    std::vector<double> more(gradient_.size(), 1e-12);
    for (int k = 0; k < 8 && !hessian_.factor(more); ++k) {
      for (double& d : more) d = 1e4 * d;
    }
    return hessian_.solve(down);
  }

  [[nodiscard]] double curvature(std::size_t i, const std::vector<double>& x) const {
    const Linear slope = curvature_slope(i);
    double kappa = line_.curvature_per_m[i];
    for (std::size_t k = 0; k < slope.count; ++k) kappa += slope.slope[k] * x[slope.index[k]];
    return kappa;
  }

 private:
  [[nodiscard]] std::size_t segments() const { return line_.closed ? line_.size() : line_.size() - 1; }
  [[nodiscard]] std::size_t next(std::size_t i) const { return i + 1 == line_.size() ? 0 : i + 1; }
  [[nodiscard]] std::size_t before(std::size_t i) const { return i == 0 ? line_.size() - 1 : i - 1; }

  [[nodiscard]] Linear curvature_slope(std::size_t i) const {
    Linear slope;
    if (!line_.closed && (i == 0 || i + 1 == line_.size())) return slope;
    const double beside = 1.0 / (line_.spacing_m * line_.spacing_m);
    const double kappa = line_.curvature_per_m[i];
    slope.add(2 * before(i), beside);
    slope.add(2 * i, -2.0 * beside + kappa * kappa);
    slope.add(2 * next(i), beside);
    return slope;
  }

  void add_outer(const Linear& slope, double factor) {
    for (std::size_t a = 0; a < slope.count; ++a) {
      for (std::size_t b = 0; b <= a; ++b) hessian_.add(slope.index[a], slope.index[b], factor * slope.slope[a] * slope.slope[b]);
    }
  }

  void take_logarithm() {
    if (barrier_ < math::kInfinity) barrier_ -= math::log(product_);
    product_ = 1.0;
  }

  /// The barrier of `room` > 0, which has these slopes.
  void keep_positive(double room, const Linear& slope) {
    if (!(room > 1e-90)) {
      barrier_ = math::kInfinity;
      return;
    }
    // One logarithm of many factors.
    product_ *= room;
    if (product_ < kSmallProduct || product_ > 1.0 / kSmallProduct) take_logarithm();
    if (!slopes_) return;
    for (std::size_t k = 0; k < slope.count; ++k) gradient_[slope.index[k]] -= weight_ / room * slope.slope[k];
    add_outer(slope, weight_ / (room * room));
  }

  void add_station(std::size_t i) {
    const double a = (*x_)[2 * i];
    const double w = (*x_)[2 * i + 1];
    Linear offset;
    offset.add(2 * i, 1.0);
    keep_positive(a - bounds_.low_m[i], offset);
    offset.slope[0] = -1.0;
    keep_positive(bounds_.high_m[i] - a, offset);
    Linear speed;
    speed.add(2 * i + 1, 1.0);
    keep_positive(w, speed);
    speed.slope[0] = -1.0 / (limits_.v_max_mps * limits_.v_max_mps);
    keep_positive(1.0 + speed.slope[0] * w, speed);
    const double kappa = curvature(i, *x_);
    Linear rack;
    rack.add(curvature_slope(i), -2.0 * kappa / (rack_[i] * rack_[i]));
    keep_positive(1.0 - kappa * kappa / (rack_[i] * rack_[i]), rack);
  }

  void add_time(std::size_t i, std::size_t j) {
    const double h = line_.spacing_m;
    const double bend_i = 0.5 * line_.curvature_per_m[i];
    const double bend_j = 0.5 * line_.curvature_per_m[j];
    const double a_i = (*x_)[2 * i];
    const double a_j = (*x_)[2 * j];
    const double v_i = std::sqrt((*x_)[2 * i + 1]);
    const double v_j = std::sqrt((*x_)[2 * j + 1]);
    const double sum = v_i + v_j;
    const double ds = h * (1.0 - bend_i * a_i - bend_j * a_j) + (a_j - a_i) * (a_j - a_i) / (2.0 * h);
    time_ += 2.0 * ds / sum;
    if (!slopes_) return;
    gradient_[2 * i] += 2.0 / sum * (-h * bend_i - (a_j - a_i) / h);
    gradient_[2 * j] += 2.0 / sum * (-h * bend_j + (a_j - a_i) / h);
    Linear apart;
    apart.add(2 * i, -1.0);
    apart.add(2 * j, 1.0);
    add_outer(apart, 2.0 / (sum * h));
    gradient_[2 * i + 1] -= ds / (sum * sum * v_i);
    gradient_[2 * j + 1] -= ds / (sum * sum * v_j);
    const double cube = ds / (sum * sum * sum);
    hessian_.add(2 * i + 1, 2 * i + 1, cube / (v_i * v_i) + 0.5 * ds / (sum * sum * v_i * v_i * v_i));
    hessian_.add(2 * j + 1, 2 * j + 1, cube / (v_j * v_j) + 0.5 * ds / (sum * sum * v_j * v_j * v_j));
    hessian_.add(2 * i + 1, 2 * j + 1, cube / (v_i * v_j));
  }

  /// A price on curvature that changes: the wheels cannot be turned at once, and a line of kinks is not the one that is driven.
  void add_turning(std::size_t i, std::size_t j) {
    const double change = curvature(j, *x_) - curvature(i, *x_);
    const double price = turning_weight_ / line_.spacing_m;
    time_ += price * change * change;
    if (!slopes_) return;
    Linear slope;
    slope.add(curvature_slope(j), 1.0);
    slope.add(curvature_slope(i), -1.0);
    for (std::size_t k = 0; k < slope.count; ++k) gradient_[slope.index[k]] += 2.0 * price * change * slope.slope[k];
    add_outer(slope, 2.0 * price);
  }

  void add_segment(std::size_t i) {
    const std::size_t j = next(i);
    add_time(i, j);
    add_turning(i, j);
    const double h = line_.spacing_m;
    const double along = ((*x_)[2 * j + 1] - (*x_)[2 * i + 1]) / (2.0 * h);
    Linear along_slope;
    along_slope.add(2 * i + 1, -0.5 / h);
    along_slope.add(2 * j + 1, 0.5 / h);
    const bool separate = limits_.longitudinal_grip_mps2 > 0.0 || !limits_.friction_ellipse;
    const double own = along >= 0.0 ? limits_.accelerate_mps2 : limits_.brake_mps2;
    if (separate) {
      Linear drive;
      drive.add(along_slope, -1.0 / limits_.accelerate_mps2);
      keep_positive(1.0 - along / limits_.accelerate_mps2, drive);
      Linear brake;
      brake.add(along_slope, 1.0 / limits_.brake_mps2);
      keep_positive(1.0 + along / limits_.brake_mps2, brake);
    }
    const double grip = !limits_.friction_ellipse ? math::kInfinity : (separate ? limits_.longitudinal_grip_mps2 : own);
    for (const std::size_t end : {i, j}) add_circle(end, along / grip, 1.0 / grip, along_slope);
  }

  /// 1 - x^2 - y^2 at one end of a piece: x the share of grip along, y that across.
  void add_circle(std::size_t end, double x, double per_along, const Linear& along_slope) {
    const double w = (*x_)[2 * end + 1];
    const double kappa = curvature(end, *x_);
    const double y = w * kappa / limits_.lateral_mps2;
    const double room = 1.0 - x * x - y * y;
    Linear x_slope;
    x_slope.add(along_slope, per_along);
    Linear y_slope;
    y_slope.add(2 * end + 1, kappa / limits_.lateral_mps2);
    y_slope.add(curvature_slope(end), w / limits_.lateral_mps2);
    Linear slope;
    slope.add(x_slope, -2.0 * x);
    slope.add(y_slope, -2.0 * y);
    keep_positive(room, slope);
    if (!slopes_ || !(room > 0.0)) return;
    add_outer(x_slope, 2.0 * weight_ / room);
    add_outer(y_slope, 2.0 * weight_ / room);
  }

  const Stations& line_;
  const Bounds& bounds_;
  const SpeedLimits& limits_;
  std::vector<double> rack_;
  double turning_weight_;
  BandedMatrix hessian_;
  std::vector<double> gradient_;
  const std::vector<double>* x_ = nullptr;
  double weight_ = 0.0;
  bool slopes_ = false;
  double time_ = 0.0;
  double barrier_ = 0.0;
  double product_ = 1.0;  // of rooms whose logarithm is still to be taken
};

/// Offsets and squared speeds strictly inside all limits; empty where none was found.
std::vector<double> drivable_start(const Stations& line, const Bounds& bounds, const SpeedLimits& limits, Problem& problem) {
  const std::size_t n = line.size();
  std::vector<double> x(2 * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    const double edge = std::min(kEdge_m, 0.05 * (bounds.high_m[i] - bounds.low_m[i]));
    x[2 * i] = std::clamp(0.0, bounds.low_m[i] + edge, bounds.high_m[i] - edge);
  }
  const Result<Path> path = Path::make(line.points, line.closed);
  if (!path) return {};
  std::vector<double> kappa(n);
  for (std::size_t i = 0; i < n; ++i) kappa[i] = problem.curvature(i, x);
  problem.allow(kappa);
  SpeedLimits strict = limits;
  strict.v_min_mps = 0.0;
  strict.grip_shape = GripShape::kCircle;
  strict.grip_at_both_ends = true;
  strict.curvature_window = 0;
  const std::vector<double> speed = speed_profile(*path, kappa, strict);
  for (std::size_t i = 0; i < n; ++i) x[2 * i + 1] = std::max(kInside * speed[i] * speed[i], 1e-4);
  for (int k = 0; k < 40; ++k) {
    if (problem.merit(x, 1.0, false) < math::kInfinity) return x;
    for (std::size_t i = 0; i < n; ++i) x[2 * i + 1] *= kInside;
  }
  return {};
}

}  // namespace

std::vector<double> least_time_step(const Stations& line, const Bounds& bounds, const SpeedLimits& limits,
                                    const LeastTimeSettings& settings) {
  Problem problem(line, bounds, limits, settings);
  std::vector<double> x = drivable_start(line, bounds, limits, problem);
  if (x.empty()) return {};
  problem.merit(x, 1.0, false);
  double weight = kFirstGap * problem.time() / static_cast<double>(problem.constraints());
  std::vector<double> candidate(x.size());
  for (int level = 0; level < kLevels; ++level, weight *= kLevelFactor) {
    for (int k = 0; k < kStepsPerLevel; ++k) {
      const double here = problem.merit(x, weight, true);
      const std::vector<double> step = problem.step();
      double fall = 0.0;
      for (std::size_t i = 0; i < x.size(); ++i) fall += problem.gradient()[i] * step[i];
      if (!(fall < -weight)) break;
      double length = 1.0;
      bool found = false;
      for (int half = 0; half < kMostHalvings && !found; ++half, length *= 0.5) {
        for (std::size_t i = 0; i < x.size(); ++i) candidate[i] = x[i] + length * step[i];
        found = problem.merit(candidate, weight, false) < here + 0.1 * length * fall;
      }
      if (!found) break;
      x.swap(candidate);
    }
  }
  std::vector<double> offset(line.size());
  for (std::size_t i = 0; i < offset.size(); ++i) offset[i] = x[2 * i];
  return offset;
}

}  // namespace pitwall::tracks::build::detail

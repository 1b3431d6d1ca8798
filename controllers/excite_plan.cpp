// SPDX-License-Identifier: Apache-2.0
#include "controllers/excite_plan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "core/math.hpp"
#include "core/text.hpp"

namespace pitwall::controllers {
namespace {

constexpr double kSpacing_m = 0.05;
/// Room beside the path for what pursuit and excitation stray from it.
constexpr double kStray_m = 0.25;
/// Tightest turn to circle: what is left of the lock for understeer, a low steering gain and a bias.
constexpr double kRadiusOverTightest = 1.35;
/// Across from one straight to the other: two arcs of this angle and a straight between.
constexpr double kAcross_rad = math::kPi / 3.0;
/// Way on the circle towards the limit, and braking on it: some 10 s each.
constexpr double kLimitWay_m = 22.0;
constexpr double kBrakeWay_m = 14.0;
constexpr double kLongestPath_m = 5000.0;

/// The path, made of straights and arcs that continue one another.
class Drawing {
 public:
  explicit Drawing(Pose2 start) : at_(start) { points_.push_back(start.position()); }

  void straight(double length_m) { piece(length_m, 0.0); }
  void arc(double curvature_per_m, double angle_rad) { piece(angle_rad / std::abs(curvature_per_m), curvature_per_m); }

  [[nodiscard]] double length_m() const { return length_m_; }
  [[nodiscard]] const std::vector<Vec2>& points() const { return points_; }

 private:
  void piece(double length_m, double curvature_per_m) {
    if (length_m < kSpacing_m) return;
    const int steps = static_cast<int>(std::ceil(length_m / kSpacing_m));
    const Pose2 from = at_;
    for (int i = 1; i <= steps; ++i) {
      const double s = length_m * i / steps;
      const double turn = curvature_per_m * s;
      const Vec2 ahead = curvature_per_m == 0.0 ? Vec2{s, 0.0} : (1.0 / curvature_per_m) * Vec2{math::sin(turn), 1.0 - math::cos(turn)};
      const Vec2 p = from * ahead;
      points_.push_back(p);
      at_ = {p.x, p.y, wrap_angle(from.yaw + turn)};
    }
    length_m_ += length_m;
  }

  Pose2 at_;
  std::vector<Vec2> points_;
  double length_m_ = 0.0;
};

/// What the drawing is made with.
struct Sizes {
  double radius_m = 0.0;
  double half_m = 0.0;     ///< of a straight
  double across_m = 0.0;   ///< along the area, from straight to straight
  double between_m = 0.0;  ///< the straight piece on the way across
  double cruise_mps = 0.0;
  double steering_mps = 0.0;
  double sprint_mps = 0.0;
};

/// How far the padded body reaches outside a circle that its rear axle drives on.
double reach_m(double radius_m, const BodyRectangle& body) {
  const double side = radius_m + body.half_width_m;
  return std::sqrt(side * side + body.front_m * body.front_m) - radius_m;
}

Result<Sizes> sizes(const ExciteArea& area, const ExciteLimits& limits, const CarParameters& car) {
  const double lock = std::min(car.steering_max_left_rad, -car.steering_max_right_rad);
  const double tightest = car.wheelbase_m / math::tan(lock);
  const auto metres = [](double value) { return format_number(value, 4) + " m"; };
  Sizes z;
  z.radius_m = limits.radius_m > 0.0 ? limits.radius_m : kRadiusOverTightest * tightest;
  if (z.radius_m < 1.1 * tightest) {
    return Error{"excite: radius_m " + metres(z.radius_m) + ": the car turns within " + metres(tightest) + "; allowed: 0, or from " +
                 metres(1.1 * tightest)};
  }
  const double reserve = reach_m(z.radius_m, car.padded_body()) + area.margin_m + kStray_m;
  const double width = 2.0 * (z.radius_m + reserve);
  z.half_m = 0.5 * area.length_m - z.radius_m - reserve;
  z.between_m = 2.0 * z.radius_m * math::cos(kAcross_rad) / math::sin(kAcross_rad);
  z.across_m = 2.0 * z.radius_m * math::sin(kAcross_rad) + z.between_m * math::cos(kAcross_rad);
  const double length = 2.0 * (z.radius_m + reserve) + z.across_m;
  if (area.width_m < width || area.length_m < length) {
    return Error{"excite: area of " + metres(area.length_m) + " x " + metres(area.width_m) + ": circles of " + metres(z.radius_m) +
                 " and a margin of " + metres(area.margin_m) + " need at least " + metres(length) + " x " + metres(width)};
  }
  const double angle = 0.9 * lock;
  z.cruise_mps = std::min(limits.max_speed_mps, std::sqrt(limits.gentle_mps2 * z.radius_m));
  z.steering_mps = std::min(z.cruise_mps, std::sqrt(limits.gentle_mps2 * car.wheelbase_m / math::tan(angle)));
  z.sprint_mps = std::min(limits.max_speed_mps, std::sqrt(z.cruise_mps * z.cruise_mps + 2.0 * limits.gentle_mps2 * 0.8 * z.half_m));
  return z;
}

/// The rounds, as path and stages.
class Planner {
 public:
  Planner(const Sizes& sizes, double max_speed_mps) : z_(sizes), max_speed_mps_(max_speed_mps), drawing_({0.0, -sizes.radius_m, 0.0}) {}

  void round() {
    const double k = 1.0 / z_.radius_m;
    const double whole = 2.0 * z_.half_m;
    // To the left.
    straight(z_.half_m), arc(k), straight(whole), arc(k), straight(z_.half_m);
    stage(Excitation::kSteeringSteps, z_.steering_mps);
    circles(k, kLimitWay_m, Excitation::kLimit);
    circles(k, kBrakeWay_m, Excitation::kBrakeInTurn);
    straight(z_.half_m), arc(k), straight(whole), arc(k);
    stage(Excitation::kSteeringSweep, z_.steering_mps);
    across(k);
    // To the right.
    straight(whole - z_.across_m), arc(-k), straight(whole), arc(-k), straight(z_.half_m);
    stage(Excitation::kSpeedSteps, z_.cruise_mps);
    circles(-k, kLimitWay_m, Excitation::kLimit);
    circles(-k, kBrakeWay_m, Excitation::kBrakeInTurn);
    straight(z_.half_m), arc(-k), straight(whole), arc(-k);
    stage(Excitation::kSpeedSweep, z_.cruise_mps);
    across(-k);
    straight(whole - z_.across_m), arc(k), straight(whole), arc(k), straight(z_.half_m);
    stage(Excitation::kSpeedSteps, z_.cruise_mps);
  }

  [[nodiscard]] double length_m() const { return drawing_.length_m(); }
  [[nodiscard]] double expected_s() const { return expected_s_; }

  [[nodiscard]] Result<ExcitePlan> finish(double gentle_mps2) const {
    Result<tracks::Path> path = tracks::Path::make(drawing_.points(), false);
    if (!path) return path.error();
    std::vector<double> ceiling(path->size(), max_speed_mps_);
    for (const auto& [from_m, to_m] : slow_) {
      for (std::size_t i = 0; i < path->size(); ++i) {
        if (path->s_of(i) >= from_m && path->s_of(i) <= to_m) ceiling[i] = z_.cruise_mps;
      }
    }
    // In time for what comes: constant braking, linear in the square of the speed.
    for (std::size_t i = path->size() - 1; i-- > 0;) {
      const double reach = ceiling[i + 1] * ceiling[i + 1] + 2.0 * gentle_mps2 * (path->s_of(i + 1) - path->s_of(i));
      ceiling[i] = std::min(ceiling[i], std::sqrt(reach));
    }
    return ExcitePlan{*std::move(path), std::move(ceiling), stages_, straights_, z_.radius_m, expected_s_};
  }

 private:
  void straight(double length_m) {
    const double from = drawing_.length_m();
    drawing_.straight(length_m);
    if (length_m >= 0.99 * 2.0 * z_.half_m) straights_.push_back({from, drawing_.length_m(), z_.sprint_mps});
  }
  void arc(double curvature, double angle_rad = math::kPi) {
    const double from = drawing_.length_m();
    drawing_.arc(curvature, angle_rad);
    slow_.push_back({from, drawing_.length_m()});
  }
  void across(double side) {
    arc(side, kAcross_rad);
    drawing_.straight(z_.between_m);
    arc(-side, kAcross_rad);
    stage(Excitation::kNone, z_.cruise_mps);
  }
  void circles(double curvature, double way_m, Excitation excitation) {
    const double turn = 2.0 * math::kPi;
    const int count = std::max(1, static_cast<int>(std::round(way_m * std::abs(curvature) / turn)));
    for (int i = 0; i < count; ++i) drawing_.arc(curvature, turn);
    stage(excitation, z_.cruise_mps);
  }
  void stage(Excitation excitation, double speed_mps) {
    const double from = stages_.empty() ? 0.0 : stages_.back().to_m;
    const double to = drawing_.length_m();
    // On the circles and in sprints it is faster than the speed about which it is driven.
    const bool fast = excitation == Excitation::kLimit || excitation == Excitation::kSpeedSteps;
    const double seconds = (to - from) / (speed_mps * (fast ? 1.3 : 1.0));
    stages_.push_back({excitation, from, to, speed_mps, seconds});
    expected_s_ += seconds;
  }

  Sizes z_;
  double max_speed_mps_;
  Drawing drawing_;
  std::vector<ExciteStage> stages_;
  std::vector<ExciteStraight> straights_;
  struct Span {
    double from_m = 0.0;
    double to_m = 0.0;
  };
  std::vector<Span> slow_;
  double expected_s_ = 0.0;
};

}  // namespace

std::string_view name(Excitation excitation) {
  constexpr std::array<std::string_view, 7> kNames{"across",      "steering_steps", "steering_sweep", "speed_steps",
                                                   "speed_sweep", "limit",          "brake_in_turn"};
  return kNames[static_cast<std::size_t>(excitation)];
}

void ExciteArea::fields(FieldVisitor& f) {
  f.number("area_length_m", length_m, {"m", 2, 200, "of the free area"});
  f.number("area_width_m", width_m, {"m", 2, 200, "of the free area"});
  f.number("area_x_m", x_m, {"m", -1e4, 1e4, "centre of the free area in the frame of the pose"});
  f.number("area_y_m", y_m, {"m", -1e4, 1e4, "centre of the free area in the frame of the pose"});
  f.number("area_yaw_rad", yaw_rad, {"rad", -3.2, 3.2, "direction of its length in the frame of the pose"});
  f.number("margin_m", margin_m, {"m", 0.05, 5, "that the padded body keeps from the edge of the area"});
}

void ExciteLimits::fields(FieldVisitor& f) {
  f.number("max_speed_mps", max_speed_mps, {"m/s", 1, 10, "highest speed that is commanded"});
  f.number("gentle_mps2", gentle_mps2, {"m/s^2", 0.5, 6, "acceleration that the floor gives for certain, braking and turning"});
  f.number("duration_s", duration_s, {"s", 20, 1800, "how long it may take; as many whole rounds as fit"});
  f.number("radius_m", radius_m, {"m", 0, 20, "of the circles; 0: 1.35 times the tightest turn of the car"});
}

Result<ExcitePlan> plan_excite(const ExciteArea& area, const ExciteLimits& limits, const CarParameters& car) {
  const Result<Sizes> z = sizes(area, limits, car);
  if (!z) return z.error();
  Planner planner(*z, limits.max_speed_mps);
  planner.round();
  const double round_s = planner.expected_s();
  if (limits.duration_s < round_s) {
    return Error{"excite: duration_s " + format_number(limits.duration_s, 4) + ": a round takes about " + format_number(round_s, 3) +
                 " s here; allow that, or a smaller area"};
  }
  while (planner.expected_s() + round_s <= limits.duration_s && planner.length_m() < kLongestPath_m) planner.round();
  return planner.finish(limits.gentle_mps2);
}

}  // namespace pitwall::controllers

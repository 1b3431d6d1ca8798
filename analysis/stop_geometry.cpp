// SPDX-License-Identifier: Apache-2.0
#include "analysis/stop_geometry.hpp"

#include <algorithm>
#include <cmath>

#include "core/math.hpp"

namespace pitwall::analysis {

namespace {

constexpr double kStraight = 1e-6;

bool inside(const BodyRectangle& body, Vec2 p) { return p.x >= body.rear_m && p.x <= body.front_m && std::abs(p.y) <= body.half_width_m; }

/// Seen from the body, a point runs clockwise about the centre of a left turn. The angle until it meets an edge, for each crossing of its
/// circle with the four edges.
class Crossings {
 public:
  Crossings(const BodyRectangle& body, double radius, Vec2 point) : body_(body), centre_{0.0, radius} {
    const Vec2 from = point - centre_;
    radius_ = norm(from);
    start_rad_ = math::atan2(from.y, from.x);
  }
  [[nodiscard]] double first_rad() {
    across(body_.front_m);
    across(body_.rear_m);
    along(body_.half_width_m);
    along(-body_.half_width_m);
    return nearest_;
  }

 private:
  void across(double x) {
    const double square = radius_ * radius_ - x * x;
    if (square < 0.0) return;
    for (const double y : {std::sqrt(square), -std::sqrt(square)}) {
      if (std::abs(y + centre_.y) <= body_.half_width_m) meet({x, y});
    }
  }
  void along(double y_body) {
    const double y = y_body - centre_.y;
    const double square = radius_ * radius_ - y * y;
    if (square < 0.0) return;
    for (const double x : {std::sqrt(square), -std::sqrt(square)}) {
      if (x >= body_.rear_m && x <= body_.front_m) meet({x, y});
    }
  }
  void meet(Vec2 from_centre) {
    double turned = start_rad_ - math::atan2(from_centre.y, from_centre.x);
    if (turned < 0.0) turned += 2.0 * math::kPi;
    nearest_ = std::min(nearest_, turned);
  }
  const BodyRectangle& body_;
  Vec2 centre_;
  double radius_ = 0.0;
  double start_rad_ = 0.0;
  double nearest_ = math::kInfinity;
};

}  // namespace

double way_until_contact(const BodyRectangle& body, double curvature, Vec2 point_base) {
  if (inside(body, point_base)) return 0.0;
  if (std::abs(curvature) < kStraight) {
    return std::abs(point_base.y) <= body.half_width_m && point_base.x > body.front_m ? point_base.x - body.front_m : math::kInfinity;
  }
  // A right turn is a left turn in the mirror.
  const Vec2 point = curvature > 0.0 ? point_base : Vec2{point_base.x, -point_base.y};
  const double radius = 1.0 / std::abs(curvature);
  const double turned = Crossings(body, radius, point).first_rad();
  return turned <= math::kPi ? turned * radius : math::kInfinity;
}

double offset_from_path(double curvature, Vec2 point_base) {
  if (std::abs(curvature) < kStraight) return std::abs(point_base.y);
  const double radius = 1.0 / curvature;
  return std::abs(norm(point_base - Vec2{0.0, radius}) - std::abs(radius));
}

Verdict verdict_of(double outside_m, double clear_m, double stopping_m) {
  constexpr double kAmple = 1.5;
  if (clear_m < stopping_m) return Verdict::kJustified;
  return outside_m > 0.0 && clear_m >= kAmple * stopping_m ? Verdict::kFalseAlarm : Verdict::kMarginal;
}

StopGeometry judge_stop(const controllers::ScanView& scan, const CarParameters& car, double steering_rad, double speed_mps,
                        std::int32_t beam, const StoppingCar& stopping) {
  StopGeometry stop;
  stop.curvature = math::tan(steering_rad) / car.wheelbase_m;
  stop.speed_mps = std::abs(speed_mps);
  stop.stopping_m = stop.speed_mps * stop.speed_mps / (2.0 * stopping.decel_mps2) + stop.speed_mps * stopping.response_s;
  const BodyRectangle chassis = car.chassis();
  const BodyRectangle padded = car.padded_body();
  for (std::size_t i = 0; i < scan.size(); ++i) {
    if (!scan.valid(i)) continue;
    const Vec2 point = scan.point_base(i);
    const double way = way_until_contact(chassis, stop.curvature, point);
    if (way < stop.clear_m) {
      stop.clear_m = way;
      stop.clear_beam = static_cast<std::int32_t>(i);
    }
    stop.clear_padded_m = std::min(stop.clear_padded_m, way_until_contact(padded, stop.curvature, point));
  }
  if (beam < 0 || static_cast<std::size_t>(beam) >= scan.size() || !scan.valid(static_cast<std::size_t>(beam))) return stop;
  const auto i = static_cast<std::size_t>(beam);
  stop.beam = beam;
  stop.bearing_rad = scan.bearing_rad(i);
  stop.range_m = scan.range_m(i);
  stop.point_base = scan.point_base(i);
  stop.path_offset_m = offset_from_path(stop.curvature, stop.point_base);
  stop.outside_m = stop.path_offset_m - chassis.half_width_m;
  stop.verdict = verdict_of(stop.outside_m, stop.clear_m, stop.stopping_m);
  return stop;
}

}  // namespace pitwall::analysis

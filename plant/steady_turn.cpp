// SPDX-License-Identifier: Apache-2.0
#include "plant/steady_turn.hpp"

#include <algorithm>
#include <limits>

#include "core/check.hpp"
#include "plant/single_track.hpp"

namespace pitwall::plant {

namespace {

/// The slip in [0, 1] beyond which the side force no longer grows.
double slip_at_peak(const AxleTyre& tyre) {
  if (tyre.law == Tyre::kLinear) return 1.0;
  if (tyre.law == Tyre::kBrush) return std::min(1.0, 3.0 * tyre.grip / tyre.stiffness);
  // A Magic Formula rises to one peak: golden section.
  constexpr double kGolden = 0.6180339887498949;
  double low = 0.0;
  double high = 1.0;
  for (int i = 0; i < 80; ++i) {
    const double a = high - kGolden * (high - low);
    const double b = low + kGolden * (high - low);
    (magic_share(tyre.curve, a) < magic_share(tyre.curve, b) ? low : high) =
        magic_share(tyre.curve, a) < magic_share(tyre.curve, b) ? a : b;
  }
  return 0.5 * (low + high);
}

/// Slip angle at which an axle gives `force_n`; nothing where it cannot.
std::optional<double> slip_angle_for(const AxleTyre& tyre, double load_n, double force_n) {
  const auto force = [&](double slip) { return side_force(tyre, tyre.stiffness * load_n, tyre.grip * load_n, slip); };
  double low = 0.0;
  double high = slip_at_peak(tyre);
  if (force_n > force(high)) return std::nullopt;
  for (int i = 0; i < 46; ++i) {
    const double middle = 0.5 * (low + high);
    (force(middle) < force_n ? low : high) = middle;
  }
  return math::asin(high);
}

}  // namespace

std::optional<double> steady_steering_rad(const SlipModel& car, double speed_mps, double lateral_mps2) {
  PITWALL_CHECK(speed_mps > 0.0 && lateral_mps2 >= 0.0, speed_mps, lateral_mps2);
  const double length = car.lf + car.lr;
  const double yaw_rate = lateral_mps2 / speed_mps;
  const auto rear = slip_angle_for(car.rear, car.load_rear_n, car.mass * lateral_mps2 * car.lf / length);
  if (!rear) return std::nullopt;
  const double across = car.lr * yaw_rate - speed_mps * math::tan(*rear);
  const double course = math::atan((across + car.lf * yaw_rate) / speed_mps);
  // The front force acts across the turned wheels.
  double angle = std::min(course, kSteepest_rad);
  for (int i = 0; i < 12; ++i) {
    const auto front = slip_angle_for(car.front, car.load_front_n, car.mass * lateral_mps2 * car.lr / (length * math::cos(angle)));
    if (!front || course + *front > kSteepest_rad) return std::nullopt;
    angle = course + *front;
  }
  return angle;
}

SteeringTable steering_table(const SlipModel& car, double speed_max_mps) {
  constexpr double kSpeedStep_mps = 0.5;
  constexpr int kColumns = 49;
  const double length = car.lf + car.lr;
  const double most = std::max(car.front.grip, car.rear.grip) * kGravity;
  SteeringTable table;
  for (int i = 0; i < kColumns; ++i) table.lateral_mps2.push_back(most * i / (kColumns - 1));
  for (double v = kSpeedStep_mps; v < speed_max_mps + kSpeedStep_mps; v += kSpeedStep_mps) {
    // Where this row ends: the tyres give no more, or the wheels would be turned too far.
    double reached = 0.0;
    double beyond = most;
    if (steady_steering_rad(car, v, most)) reached = most;
    for (int i = 0; i < 50 && reached < most; ++i) {
      const double middle = 0.5 * (reached + beyond);
      (steady_steering_rad(car, v, middle) ? reached : beyond) = middle;
    }
    const double end = *steady_steering_rad(car, v, reached);
    const bool tyres_end = reached < most && end < kSteepest_rad - 1e-3;
    table.speed_mps.push_back(v);
    table.peak_mps2.push_back(tyres_end ? reached : std::numeric_limits<double>::max());
    for (const double lateral : table.lateral_mps2) {
      const double a = std::min(lateral, reached);
      table.slip_rad.push_back((a < reached ? *steady_steering_rad(car, v, a) : end) - math::atan(length * a / (v * v)));
    }
  }
  return table;
}

}  // namespace pitwall::plant

// SPDX-License-Identifier: Apache-2.0
#include "controllers/stability.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "controllers/line_following.hpp"

namespace pitwall::controllers {

namespace {

constexpr double kGravity_mps2 = 9.81;
constexpr double kLongest_s = 2.0;
/// Steps in which a control period is integrated; delays are found to one of them.
constexpr int kStepsPerPeriod = 4;

/// Motion of base_link relative to a straight line, to first order.
struct State {
  double lateral_m = 0.0;
  double heading_rad = 0.0;
  double across_mps = 0.0;  // of the centre of gravity
  double yaw_rate_radps = 0.0;
  double wheel_rad = 0.0;
};

/// The linear single-track car at one speed.
class LinearCar {
 public:
  LinearCar(const CarParameters& car, double speed_mps, double step_s) : v_(speed_mps), h_(step_s), wheelbase_(car.wheelbase_m) {
    servo_share_ = car.steering_servo_gain_per_s > 0.0 ? 1.0 - math::exp(-car.steering_servo_gain_per_s * h_) : 1.0;
    const double grip = car.surface_friction * kGravity_mps2;
    slips_ = car.cornering_stiffness_front > 0.0 && car.cornering_stiffness_rear > 0.0 && grip > 0.0 && car.yaw_inertia_kgm2 > 0.0 &&
             car.mass_kg > 0.0;
    if (!slips_) return;
    understeer_ = understeer_s2_per_m(car);
    lf_ = car.lf_m();
    lr_ = car.lr_m();
    // Per mass: C mu g l / L, the load of the axle in it.
    front_ = car.cornering_stiffness_front * grip * lr_ / wheelbase_;
    rear_ = car.cornering_stiffness_rear * grip * lf_ / wheelbase_;
    mass_per_inertia_ = car.mass_kg / car.yaw_inertia_kgm2;
  }

  /// Curvature per wheel angle in a steady turn.
  [[nodiscard]] double steady_curvature(double wheel_rad) const { return wheel_rad / (wheelbase_ + understeer_ * v_ * v_); }

  void step(State& x, double command_rad) const {
    x.wheel_rad += servo_share_ * (command_rad - x.wheel_rad);
    if (slips_) {
      // Implicit: at low speed the tyres are stiff.
      const double a11 = 1.0 + h_ * (front_ + rear_) / v_;
      const double a12 = h_ * (v_ + (lf_ * front_ - lr_ * rear_) / v_);
      const double a21 = h_ * mass_per_inertia_ * (lf_ * front_ - lr_ * rear_) / v_;
      const double a22 = 1.0 + h_ * mass_per_inertia_ * (lf_ * lf_ * front_ + lr_ * lr_ * rear_) / v_;
      const double b1 = x.across_mps + h_ * front_ * x.wheel_rad;
      const double b2 = x.yaw_rate_radps + h_ * mass_per_inertia_ * lf_ * front_ * x.wheel_rad;
      const double det = a11 * a22 - a12 * a21;
      x.across_mps = (b1 * a22 - a12 * b2) / det;
      x.yaw_rate_radps = (a11 * b2 - a21 * b1) / det;
    } else {
      x.yaw_rate_radps = v_ * x.wheel_rad / wheelbase_;
    }
    x.lateral_m += h_ * (v_ * (x.heading_rad + 0.5 * h_ * x.yaw_rate_radps) + (slips_ ? x.across_mps - lr_ * x.yaw_rate_radps : 0.0));
    x.heading_rad += h_ * x.yaw_rate_radps;
  }

  /// One step of what the law believes: no slip but the understeer of a steady turn.
  void predict(State& x, double command_rad) const {
    x.wheel_rad += servo_share_ * (command_rad - x.wheel_rad);
    x.yaw_rate_radps = v_ * steady_curvature(x.wheel_rad);
    x.lateral_m += h_ * v_ * (x.heading_rad + 0.5 * h_ * x.yaw_rate_radps);
    x.heading_rad += h_ * x.yaw_rate_radps;
  }

 private:
  double v_, h_, wheelbase_;
  double servo_share_ = 1.0;
  bool slips_ = false;
  double understeer_ = 0.0, lf_ = 0.0, lr_ = 0.0, front_ = 0.0, rear_ = 0.0, mass_per_inertia_ = 0.0;
};

/// The commands of the last kLongest_s, one a step.
class Commands {
 public:
  void push(double rad) {
    next_ = (next_ + 1) % kSize;
    sent_[next_] = rad;
  }
  [[nodiscard]] double steps_ago(int steps) const { return sent_[(next_ + kSize - static_cast<std::size_t>(steps)) % kSize]; }

  // 200 Hz is the highest control rate.
  static constexpr std::size_t kSize = static_cast<std::size_t>(kLongest_s * 200.0 * kStepsPerPeriod) + 2;

 private:
  std::array<double, kSize> sent_{};
  std::size_t next_ = 0;
};

struct Loop {
  const LinearFeedback& law;
  const LinearCar& car;
  double speed_mps;
  double step_s;
  int believed_steps;  ///< transport delay that the law counts on

  [[nodiscard]] double command(const State& now, const Commands& sent) const {
    State x = now;
    const int ahead = static_cast<int>(law.predicted_s / step_s + 0.5);
    for (int i = 0; i < ahead; ++i) car.predict(x, sent.steps_ago(std::max(0, believed_steps - i - 1)));
    const double yaw_rate = ahead > 0 ? x.yaw_rate_radps : speed_mps * car.steady_curvature(x.wheel_rad);
    return -(law.lateral_per_m * x.lateral_m + law.heading * x.heading_rad + law.yaw_rate_s * yaw_rate);
  }

  /// Whether an offset dies out when commands take this many steps.
  [[nodiscard]] bool settles(int delay_steps) const {
    // Long enough for a lookahead of 3 m at this speed to die down by e^-10 and more.
    const int periods = static_cast<int>(std::clamp(30.0 / speed_mps, 6.0, 40.0) / (step_s * kStepsPerPeriod));
    State x;
    x.lateral_m = 1.0;
    Commands sent;
    double earlier = 0.0;
    double later = 0.0;
    for (int k = 0; k < periods; ++k) {
      const double held = command(x, sent);
      for (int i = 0; i < kStepsPerPeriod; ++i) {
        sent.push(held);
        car.step(x, sent.steps_ago(delay_steps));
      }
      const double size = x.lateral_m * x.lateral_m + x.heading_rad * x.heading_rad;
      if (!(size < 1e6)) return false;
      if (2 * k >= periods) (4 * k < 3 * periods ? earlier : later) += size;
    }
    return later < earlier || later < 1e-12;
  }
};

}  // namespace

double longest_delay_s(const LinearFeedback& law, const CarParameters& car, double speed_mps, double control_period_s) {
  const double v = std::max(0.1, std::abs(speed_mps));
  const double step = control_period_s / kStepsPerPeriod;
  const LinearCar plant(car, v, step);
  const Loop loop{law, plant, v, step, static_cast<int>(car.steering_delay_s / step + 0.5)};
  const double rest = steering_delay_s(car, control_period_s) - car.steering_delay_s;
  int stable = 0;
  int unstable = static_cast<int>((kLongest_s - rest) / step);
  if (!loop.settles(0)) return 0.0;
  if (loop.settles(unstable)) return kLongest_s;
  while (unstable - stable > 1) {
    const int middle = (stable + unstable) / 2;
    (loop.settles(middle) ? stable : unstable) = middle;
  }
  return rest + stable * step;
}

}  // namespace pitwall::controllers

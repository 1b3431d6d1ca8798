// SPDX-License-Identifier: Apache-2.0
// What a commanded way and turn read behind the gate, from scans that sweep while the car drives.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "localization/odometry_guard.hpp"
#include "localization/scan_track.hpp"
#include "localization/test_scenes.hpp"

using namespace pitwall;
using namespace pitwall::localization;

namespace {

constexpr double kWheelbase_m = 0.324;
const Pose2 kMount{0.33, 0.0, 0.0};

scenes::Scene room() {
  scenes::Scene scene;
  scene.range_max_m = 25.0;
  const std::vector<Vec2> corners{{-4, -3}, {4, -3}, {4, 3}, {-4, 3}};
  for (std::size_t i = 0; i < 4; ++i) scene.panels.push_back({corners[i], corners[(i + 1) % 4]});
  return scene;
}

// Speed that covers `way` in a trapezoid of 2 m/s^2 and at most `top`, from t = 1 s on, and way made until t.
struct Move {
  double way_m;
  double top_mps;
  [[nodiscard]] double ramp_s() const { return top_mps / 2.0; }
  [[nodiscard]] double done_s() const { return 1.0 + ramp_s() + way_m / top_mps; }
  [[nodiscard]] double speed(double t) const {
    const double u = std::min(t - 1.0, done_s() - t);
    return u <= 0.0 ? 0.0 : std::min(top_mps, 2.0 * u);
  }
};

struct Reading {
  double forward_m;
  double turned_rad;
  std::int64_t replaced;
  SlipState state;
};

// Drives `move` at a curvature, stands half a second, and reads the gated odometry.
Reading drive(const Move& move, double curvature, double noise_m, double jump_at_s = -1.0) {
  CarParameters car;
  car.wheelbase_m = kWheelbase_m;
  car.steering_max_left_rad = 0.41;
  car.steering_max_right_rad = -0.41;
  car.speed_max_mps = 5.0;
  OdometryGateParameters parameters = OdometryGateParameters::for_car(car, 0.8);
  parameters.slack_m = 0.02;
  parameters.slack_rad = 0.02;
  OdometryGuard guard(parameters, SlipMonitorParameters::for_speed(5.0));
  ScanTrack track({}, kMount);
  const scenes::Scene scene = room();
  const scenes::Scanner scanner{.noise_m = noise_m, .sweep_s = 0.01875};
  Pose2 truth{-1.5, -1.5, 0.2};
  Pose2 wheels;
  Pose2 jump;
  Reading reading{0.0, 0.0, 0, SlipState::kUnknown};
  std::optional<Pose2> begin;
  const int steps = static_cast<int>((move.done_s() + 0.7) * 200.0);
  for (int k = 0; k < steps; ++k) {
    const double t = 0.005 * k;
    const Time now{1'000'000'000 + 5'000'000LL * k};
    const double v = move.speed(t);
    const Twist velocity{v, 0.0, v * curvature};
    if (k % 4 == 0) guard.add_wheels(now, wheels);
    if (k % 5 == 0) {
      const Twist sensor = at_frame(velocity, kMount);
      const auto sample = track.add(scenes::scan(scene, scanner, truth * kMount * travelled(sensor, 0.5 * scanner.sweep_s), sensor, now,
                                                 static_cast<std::uint64_t>(k)));
      if (sample) {
        if (jump_at_s > 0.0 && t >= jump_at_s && jump == Pose2{}) jump = {0.4, -0.3, 0.3};
        const GatedPose out = guard.add_pose(sample->stamp, jump * sample->T_track_base);
        reading.replaced += out.replaced() ? 1 : 0;
        if (!begin) begin = out.T_odom_base;
        const Pose2 made = increment(*begin, out.T_odom_base);
        reading.forward_m = norm(made.position());
        reading.turned_rad = made.yaw;
        reading.state = guard.evaluate(now).state;
      }
    }
    const Pose2 step = travelled(velocity, 0.005);
    truth = truth * step;
    wheels = wheels * step;
  }
  return reading;
}

}  // namespace

TEST_CASE("0.600 m commanded reads 0.600, and 2.00 rad reads 2.00") {
  const Reading straight = drive({0.6, 0.5}, 0.0, 0.0);
  const double radius = 1.0;
  const Reading turn = drive({2.0 * radius, 1.0}, 1.0 / radius, 0.0);
  MESSAGE("reads " << straight.forward_m << " m, " << turn.turned_rad << " rad");
  CHECK(std::abs(straight.forward_m - 0.6) <= 0.002);
  CHECK(std::abs(straight.turned_rad) <= 0.002);
  CHECK(std::abs(turn.turned_rad - 2.0) <= 0.002);
  CHECK(straight.replaced == 0);
  CHECK(turn.replaced == 0);
  CHECK(straight.state != SlipState::kSlip);
  CHECK(straight.state != SlipState::kScanFault);
}

TEST_CASE("the same with 1 cm of noise on every beam, and with a jump of half a metre on the way") {
  const Reading straight = drive({0.6, 0.5}, 0.0, 0.01);
  const Reading turn = drive({2.0, 1.0}, 1.0, 0.01);
  const Reading jumped = drive({0.6, 0.5}, 0.0, 0.01, 1.7);
  MESSAGE("noise: " << straight.forward_m << " m, " << turn.turned_rad << " rad; jump: " << jumped.forward_m << " m");
  CHECK(straight.replaced == 0);
  CHECK(turn.replaced == 0);
  CHECK(jumped.replaced == 1);
  CHECK(straight.forward_m == doctest::Approx(0.6).epsilon(0.02));
  CHECK(turn.turned_rad == doctest::Approx(2.0).epsilon(0.005));
  CHECK(jumped.forward_m == doctest::Approx(0.6).epsilon(0.05));
}

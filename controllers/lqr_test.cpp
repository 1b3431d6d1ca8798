// SPDX-License-Identifier: Apache-2.0
#include "controllers/lqr.hpp"

#include <doctest/doctest.h>

#include "controllers/make.hpp"
#include "controllers/stability.hpp"
#include "core/hash.hpp"
#include "core/text.hpp"
#include "tests/support/allocation_guard.hpp"
#include "tests/support/law_checks.hpp"

namespace pitwall::controllers {
namespace {

LqrLaw lqr_of(const LawSetup& setup, LqrParameters p = {}) {
  REQUIRE(validate(p, setup, "lqr").ok());
  return LqrLaw(p, setup);
}

/// What is sent in `ticks` ticks on a closed line, from its first point with an error.
std::vector<double> lqr_commands(const RigLine& line, const Pose2& start, int ticks) {
  return sent_on(line, start, ticks, [](const LawSetup& setup) { return lqr_of(setup); });
}

}  // namespace

TEST_CASE("lqr: on a circle at 2 to 8 m/s no distance from the line is left, whatever the tyres slip") {
  for (const SlipLaw tyre : {SlipLaw::kLinear, SlipLaw::kBrush}) {
    for (const double v : {2.0, 4.0, 6.0, 8.0}) {
      const double radius = std::max(1.5, v * v / 6.0);
      const RigLine line(circle_points(radius, 720), true, v);
      const LawSetup setup = rig_setup(rig_car(), line, 50.0);
      LqrParameters p;
      p.tyre = tyre;
      LqrLaw law = lqr_of(setup, p);
      Rig rig(setup, tyre, {radius - 0.05, 0.0, math::kPi / 2.0}, v);
      rig.turn(1.0 / radius);
      for (int k = 0; k < 400; ++k) rig.tick(law);
      INFO("v ", v, " d ", rig.d_m());
      CHECK(std::abs(rig.d_m()) < 4e-3);
    }
  }
}

TEST_CASE("lqr: without the tyres' slip in the steady turn a distance is left that grows with speed") {
  // What the steady-state feed-forward is for: linear numbers on tyres that saturate, at 75 % of the grip.
  const double v = 6.0;
  const double radius = v * v / 7.7;
  const RigLine line(circle_points(radius, 720), true, v);
  const LawSetup setup = rig_setup(rig_car(), line, 50.0);
  double left[2];
  for (const int linear : {0, 1}) {
    LqrParameters p;
    p.tyre = linear == 1 ? SlipLaw::kLinear : SlipLaw::kBrush;
    LqrLaw law = lqr_of(setup, p);
    Rig rig(setup, SlipLaw::kBrush, {radius, 0.0, math::kPi / 2.0}, v);
    rig.turn(1.0 / radius);
    for (int k = 0; k < 500; ++k) rig.tick(law);
    left[linear] = std::abs(rig.d_m());
  }
  CHECK(left[0] < 0.015);
  CHECK(left[1] > 3.0 * left[0]);
}

TEST_CASE("lqr: the response to a small step is that of the linear model under its gains") {
  for (const double v : {2.0, 5.0, 8.0}) {
    const RigLine line(straight_points(80.0), false, v);
    const LawSetup setup = rig_setup(rig_car(), line, 50.0);
    LqrParameters p;
    p.tyre = SlipLaw::kLinear;
    LqrLaw law = lqr_of(setup, p);
    Rig rig(setup, SlipLaw::kLinear, {1.0, 0.02, 0.0}, v);
    // The model by itself: states, then the lqr_commands under way.
    const Discrete loop = delayed_hold(lateral_model(LateralKind::kDynamic, setup.car, v), 0.02, setup.car.steering_delay_s, 1);
    const std::vector<double> gains = law.gains_at(v);
    REQUIRE(gains.size() == loop.a.rows());
    Matrix x(loop.a.rows(), 1);
    x(kStateD, 0) = 0.02;
    double worst = 0.0;
    for (int k = 0; k < 100; ++k) {
      double command = x(5, 0);
      for (std::size_t i = 0; i < gains.size(); ++i) command -= gains[i] * x(i, 0);
      x = loop.a * x + command * loop.b;
      rig.tick(law);
      worst = std::max(worst, std::abs(rig.d_m() - x(kStateD, 0)));
    }
    INFO("v ", v, " worst ", worst);
    CHECK(worst < 4e-4);
    CHECK(std::abs(rig.d_m()) < 1e-3);
  }
}

TEST_CASE("lqr: the Riccati equation holds to 1e-8 from 0.5 to 12 m/s at every rate and delay; below 0.5 the gains are frozen") {
  const RigLine line(straight_points(10.0), false, 1.0);
  for (const double rate : {25.0, 50.0, 100.0}) {
    for (const double delay : {0.0, 0.02, 0.06, 0.1}) {
      CarParameters car = rig_car();
      car.steering_delay_s = delay;
      const LqrLaw law = lqr_of(rig_setup(car, line, rate, 12.0));
      CHECK(law.residual() < 1e-8);
      CHECK(law.gains_at(0.1) == law.gains_at(0.5));
    }
  }
}

TEST_CASE("lqr: the gains are those of the real period and the car's delay") {
  const RigLine line(straight_points(10.0), false, 1.0);
  CarParameters car = rig_car();
  const auto heading = [&](double rate) { return lqr_of(rig_setup(car, line, rate)).gains_at(6.0)[kStateE] * rate; };
  CHECK(std::abs(heading(25.0) / heading(100.0) - 1.0) > 0.05);
  const double base = heading(50.0);
  car.steering_delay_s = 0.1;
  CHECK(std::abs(heading(50.0) / base - 1.0) > 0.02);
}

TEST_CASE("lqr: stable with a margin above 1.25 at 25, 50 and 100 Hz with 0 to 100 ms of delay, and so it drives") {
  check_margin(1.25, [](const LawSetup& setup) { return lqr_of(setup); });
}

TEST_CASE("lqr: with more delay than the margin says the loop is lost, with less it holds") {
  const double v = 6.0;
  const RigLine line(straight_points(200.0), false, v);
  const LawSetup setup = rig_setup(rig_car(), line, 100.0);
  LqrParameters p;
  p.tyre = SlipLaw::kLinear;
  const double further = lqr_of(setup, p).delay_margin_s(v) - setup.total_delay_s();
  REQUIRE(further > 0.0);
  for (const double share : {0.8, 1.25}) {
    LqrLaw law = lqr_of(setup, p);
    LawSetup slower = setup;
    slower.car.steering_delay_s += share * further;
    slower.steering_rate_radps = 1e3;
    Rig rig(slower, SlipLaw::kLinear, {1.0, 0.002, 0.0}, v);
    double late = 0.0;
    for (int k = 0; k < 1000; ++k) {
      // The law believes what the nominal car would do; here only its own lqr_commands matter to it.
      rig.tick(law);
      if (k > 900) late = std::max(late, std::abs(rig.d_m()));
    }
    INFO("share ", share, " late ", late);
    CHECK((late < 0.002) == (share < 1.0));
  }
}

TEST_CASE("lqr: mirrored, turned and started at another point of the line, the lqr_commands are the same to 1e-9") {
  const std::vector<Vec2> points = wavy_points(300);
  const double heading = RigLine(points, true, 4.0).path.heading_at(0.0);
  const Pose2 start{points[0].x - 0.1 * std::cos(heading), points[0].y + 0.05, wrap_angle(heading + 0.1)};
  check_symmetry(points, start, 300, [](const LawSetup& setup) { return lqr_of(setup); });
}

TEST_CASE("lqr: a heading that passes 180 degrees, and a reset, give no kick") {
  const double radius = 4.0;
  const RigLine line(circle_points(radius, 400), true, 4.0);
  const LawSetup setup = rig_setup(rig_car(), line, 50.0);
  LqrLaw law = lqr_of(setup);
  Rig rig(setup, SlipLaw::kBrush, {radius, 0.0, math::kPi / 2.0}, 4.0);
  for (int k = 0; k < 300; ++k) rig.tick(law);
  double low = 1.0;
  double high = -1.0;
  for (int k = 0; k < 700; ++k) {
    if (k % 100 == 50) law.reset();
    rig.tick(law);
    low = std::min(low, rig.commanded_rad());
    high = std::max(high, rig.commanded_rad());
  }
  CHECK(high - low < 2e-3);
}

TEST_CASE(
    "lqr: standing still for 10 s the command is constant; at 0 to 1 m/s beside the line it stays within the locks and does not flip") {
  const RigLine line(straight_points(20.0), false, 1.0);
  const LawSetup setup = rig_setup(rig_car(), line, 50.0);
  LqrLaw law = lqr_of(setup);
  Rig rig(setup, SlipLaw::kBrush, {1.0, 0.5, 0.2}, 0.0);
  rig.hold(0.1);
  for (int k = 0; k < 500; ++k) CHECK(rig.tick(law) == 0.1);
  for (int k = 0; k < 150; ++k) {
    rig.set_speed(0.02 * k / 3.0);
    rig.tick(law);
    if (rig.d_m() > 0.4) CHECK(rig.commanded_rad() < 0.15);
  }
  CHECK(rig.d_m() < 0.45);
}

TEST_CASE("lqr: from 0.8 m and 30 degrees off it comes back, and crosses only where it arrives too fast to turn in time") {
  for (const double v : {1.0, 3.0, 6.0}) {
    for (const double yaw : {-0.52, 0.0, 0.52}) {
      const RigLine line(straight_points(200.0), false, v);
      const LawSetup setup = rig_setup(rig_car(), line, 50.0);
      LqrLaw law = lqr_of(setup);
      Rig rig(setup, SlipLaw::kBrush, {1.0, 0.8, yaw}, v);
      double lowest = 1.0;
      double steepest = 0.0;
      for (int k = 0; k < static_cast<int>(30.0 / v * 50.0); ++k) {
        rig.tick(law);
        lowest = std::min(lowest, rig.d_m());
        if (k > 100) steepest = std::max(steepest, std::abs(rig.pose().yaw));
      }
      INFO("v ", v, " yaw ", yaw, " lowest ", lowest);
      // At 6 m/s and 30 degrees towards the line 0.8 m are less than delay and grip need.
      CHECK(lowest > (v > 5.0 && yaw < 0.0 ? -0.45 : -0.05));
      CHECK(std::abs(rig.d_m()) < 0.02);
      CHECK(steepest < 0.5);
    }
  }
}

TEST_CASE("lqr: the same line at three spacings gives the same lqr_commands to 5e-3 of the locks") {
  std::vector<std::vector<double>> all;
  for (const std::size_t n : {300U, 600U, 1500U}) {
    const RigLine line(wavy_points(n), true, 4.0);
    all.push_back(lqr_commands(line, {line.path.points()[0].x, 0.1, line.path.heading_at(0.0)}, 200));
  }
  for (std::size_t i = 0; i < 200; ++i) {
    CHECK(std::abs(all[0][i] - all[2][i]) < 4e-3);
    CHECK(std::abs(all[1][i] - all[2][i]) < 2e-3);
  }
}

TEST_CASE("lqr: a shift of the line is followed like the line") {
  const RigLine line(straight_points(60.0), false, 4.0);
  const LawSetup setup = rig_setup(rig_car(), line, 50.0);
  LqrLaw law = lqr_of(setup);
  Rig rig(setup, SlipLaw::kBrush, {1.0, 0.0, 0.0}, 4.0);
  const double shift = 0.3;
  for (int k = 0; k < 200; ++k) {
    LawInput in = rig.input();
    in.shift = LineShift([](const void* at, double) { return *static_cast<const double*>(at); }, &shift);
    in.shift_m = shift;
    rig.send(law.steer(in));
    rig.drive(0.02);
  }
  CHECK(std::abs(rig.d_m() - shift) < 5e-3);
}

TEST_CASE("lqr: no allocation in steer") {
  const RigLine line(wavy_points(300), true, 4.0);
  const LawSetup setup = rig_setup(rig_car(), line, 50.0);
  LqrLaw law = lqr_of(setup);
  Rig rig(setup, SlipLaw::kBrush, {line.path.points()[0].x, 0.1, 1.5}, 4.0);
  rig.tick(law);
  const LawInput in = rig.input();
  const AllocationGuard guard;
  law.reset();
  for (int k = 0; k < 10; ++k) static_cast<void>(law.steer(in));
  const std::size_t count = guard.count();
  CHECK(count == 0);
}

TEST_CASE("lqr: bad parameters are named with value and range") {
  const RigLine line(straight_points(10.0), false, 1.0);
  const LawSetup setup = rig_setup(rig_car(), line, 50.0);
  LqrParameters p;
  p.tyre = SlipLaw::kMagicFormula;
  CHECK(validate(p, setup, "lqr").error().message.find("magic_front_b") != std::string::npos);
  p = {};
  p.weights.lateral_m = -1.0;
  const std::string message = validate(p, setup, "lqr").error().message;
  CHECK(message.find("lateral_m") != std::string::npos);
  CHECK(message.find("-1") != std::string::npos);
}

TEST_CASE("lqr: lqr_commands are the same to the bit at every optimisation level and with every compiler") {
  const RigLine line(wavy_points(300), true, 5.0);
  Hash hash;
  for (const double c : lqr_commands(line, {line.path.points()[0].x, 0.2, 1.4}, 300)) hash.add(c);
  CHECK(to_hex(hash.value()) == "1dd17f2971f5d872");
}

}  // namespace pitwall::controllers

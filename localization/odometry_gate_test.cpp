// SPDX-License-Identifier: Apache-2.0
#include "localization/odometry_gate.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <limits>

#include "core/rng.hpp"
#include "tests/support/allocation_guard.hpp"
#include "tests/support/toy_world.hpp"

using namespace pitwall;
using namespace pitwall::localization;

namespace {

constexpr double kBound = 0.218 * 1.15;
constexpr std::int64_t kStep_ms = 100;

Time step(std::int64_t k) { return Time{} + from_milliseconds(1000 + kStep_ms * k); }

OdometryGateParameters small_robot() { return OdometryGateParameters::for_differential(0.218, 0.22); }

// A gate whose wheels turn as told, and a raw pose that moves as told, 10 Hz.
struct Bench {
  OdometryGate gate{small_robot()};
  std::int64_t k = 0;
  Pose2 wheels;
  Pose2 raw;
  GatedPose last;

  explicit Bench(const OdometryGateParameters& p = small_robot(), const Pose2& start = {1.0, 2.0, 0.7})
      : gate(p), wheels{5.0, -3.0, 2.0}, raw(start) {
    gate.add_wheels(step(0), wheels);
    last = gate.add_pose(step(0), raw);
  }
  GatedPose move(const Pose2& of_raw, const Pose2& of_wheels) {
    ++k;
    raw = raw * of_raw;
    wheels = wheels * of_wheels;
    gate.add_wheels(step(k), wheels);
    return last = gate.add_pose(step(k), raw);
  }
};

bool near(const Pose2& a, const Pose2& b, double eps = 1e-12) {
  return distance(a.position(), b.position()) < eps && std::abs(wrap_angle(a.yaw - b.yaw)) < eps;
}

}  // namespace

TEST_CASE("the bounds of a differential drive are those of its wheels times the tolerance") {
  const OdometryGate gate(small_robot());
  CHECK(gate.way_bound_m(1.0) == doctest::Approx(0.2507));
  CHECK(gate.turn_bound_rad(0.0, 1.0) == doctest::Approx(2.279).epsilon(1e-3));
  // Speed and turn are bounded apart: the joint bound per wheel is broken by wheels themselves.
  CHECK(gate.turn_bound_rad(0.25, 1.0) == doctest::Approx(2.279).epsilon(1e-3));
}

TEST_CASE("steps within the bound pass to the bit, on both sides of it are told apart") {
  Bench b;
  CHECK(b.last.verdict == GateVerdict::kFirst);
  CHECK(b.move({0.0215, 0.0, 0.01}, {0.0215, 0.0, 0.01}).verdict == GateVerdict::kAccepted);
  CHECK(b.move({0.02453, 0.0, 0.0}, {0.02453, 0.0, 0.0}).verdict == GateVerdict::kAccepted);
  CHECK(b.move({0.0, 0.0, 0.1974}, {0.0, 0.0, 0.1974}).verdict == GateVerdict::kAccepted);
  CHECK(b.last.T_odom_base == b.raw);
  CHECK(b.last.velocity.yaw_radps == doctest::Approx(1.974));
  CHECK(b.move({0.9999 * kBound * 0.1, 0.0, 0.0}, {0.021, 0.0, 0.0}).verdict == GateVerdict::kAccepted);
  CHECK(b.move({1.0001 * kBound * 0.1, 0.0, 0.0}, {0.021, 0.0, 0.0}).verdict == GateVerdict::kTooFast);
  CHECK(b.move({0.0, -1.0001 * kBound * 0.1, 0.0}, {0.021, 0.0, 0.0}).verdict == GateVerdict::kTooFast);
  CHECK(b.move({0.0273, 0.0, 0.0}, {0.0216, 0.0, 0.0}).verdict == GateVerdict::kTooFast);
  CHECK(b.move({0.0, 0.0, 0.2280}, {0.0, 0.0, 0.01}).verdict == GateVerdict::kTooSharp);
  CHECK(b.move({0.0, 0.0, -0.2280}, {0.0, 0.0, 0.01}).verdict == GateVerdict::kTooSharp);
  CHECK(b.move({0.0, 0.0, -0.2278}, {0.0, 0.0, -0.2278}).verdict == GateVerdict::kAccepted);
  CHECK(b.gate.counts().replaced() == 5);
}

TEST_CASE("a spike is replaced by the wheels and taken back without a trace") {
  Bench b;
  for (int i = 0; i < 5; ++i) b.move({0.02, 0.0, 0.02}, {0.02, 0.0, 0.02});
  const Pose2 before = b.last.T_odom_base;
  CHECK(b.move({0.5, 0.1, 0.02}, {0.02, 0.0, 0.02}).verdict == GateVerdict::kTooFast);
  CHECK(b.last.by_wheels);
  CHECK(near(b.last.T_odom_base, before * Pose2{0.02, 0.0, 0.02}));
  const Pose2 held = b.last.T_odom_base;
  // Back where it would have been, had there been no spike.
  const Pose2 truth = b.raw * inverse(Pose2{0.5, 0.1, 0.02}) * Pose2{0.02, 0.0, 0.02} * Pose2{0.02, 0.0, 0.02};
  CHECK(b.move(increment(b.raw, truth), {0.02, 0.0, 0.02}).verdict == GateVerdict::kTooFast);
  CHECK(near(b.last.T_odom_base, held * Pose2{0.02, 0.0, 0.02}));
  CHECK(near(b.last.T_odom_base, truth));
  CHECK(b.gate.counts().absorbed_m > 0.9);
}

TEST_CASE("a step that the raw pose keeps stays outside as a constant offset in the frame of the raw pose") {
  Bench b;
  b.move({0.3, 0.0, 0.0}, {0.02, 0.0, 0.0});
  const Pose2 offset = b.last.T_odom_base * inverse(b.raw);
  for (int i = 0; i < 40; ++i) {
    CHECK(b.move({0.02, 0.001, 0.05}, {0.02, 0.001, 0.05}).verdict == GateVerdict::kAccepted);
    CHECK(near(b.last.T_odom_base * inverse(b.raw), offset));
  }
  CHECK(b.gate.counts().absorbed_m == doctest::Approx(0.28));
}

TEST_CASE("a parked robot stays where its wheels stand") {
  Bench b;
  for (int i = 0; i < 30; ++i) b.move({i % 10 == 9 ? 0.12 : 0.0, 0.0, 0.0}, {});
  CHECK(near(b.last.T_odom_base, {1.0, 2.0, 0.7}));
  CHECK(b.gate.counts().of(GateVerdict::kTooFast) == 3);
}

TEST_CASE("without excursions the output is the input to the bit") {
  Bench b;
  const Rng draw(4, "control");
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const Pose2 s{0.02 * draw.uniform(i, 0), 0.002 * draw.normal(i, 1), 0.05 * draw.normal(i, 2)};
    b.move(s, {s.x + 0.0005 * draw.normal(i, 3), s.y, s.yaw});
    REQUIRE(b.last.verdict == GateVerdict::kAccepted);
    REQUIRE(b.last.T_odom_base == b.raw);
  }
  // Nor is a yaw that its source does not wrap.
  OdometryGate gate(small_robot());
  gate.add_pose(step(0), {0.0, 0.0, 7.0});
  CHECK(gate.add_pose(step(1), {0.01, 0.0, 7.1}).T_odom_base == Pose2{0.01, 0.0, 7.1});
}

TEST_CASE("wheels that cannot be are clamped to the bound, keeping their direction") {
  Bench b;
  const Pose2 before = b.last.T_odom_base;
  b.move({0.5, 0.0, 0.0}, {0.3, -0.4, 0.5});
  CHECK(norm(b.last.step_taken.position()) == doctest::Approx(kBound * 0.1).epsilon(1e-12));
  CHECK(b.last.step_taken.y / b.last.step_taken.x == doctest::Approx(-4.0 / 3.0));
  CHECK(b.last.step_taken.yaw == doctest::Approx(0.2279).epsilon(1e-3));
  CHECK(near(b.last.T_odom_base, before * b.last.step_taken));
  b.move({0.5, 0.0, 0.0}, {0.01, 0.0, -0.5});
  CHECK(b.last.step_taken.yaw == doctest::Approx(-0.2279).epsilon(1e-3));
  CHECK(b.last.step_taken.x == doctest::Approx(0.01));
}

TEST_CASE("where the wheels are not known the step of the pose is clamped") {
  OdometryGate gate(small_robot());
  gate.add_pose(step(0), {});
  const GatedPose out = gate.add_pose(step(1), {0.3, 0.4, 0.1});
  CHECK(out.verdict == GateVerdict::kTooFast);
  CHECK_FALSE(out.by_wheels);
  CHECK(norm(out.T_odom_base.position()) == doctest::Approx(kBound * 0.1));
  CHECK(out.T_odom_base.yaw == doctest::Approx(0.1));
  CHECK(gate.counts().without_wheels == 1);
  // Wheels that end before the pose are not prolonged.
  gate.add_wheels(step(0), {});
  gate.add_wheels(step(1), {0.02, 0.0, 0.0});
  CHECK_FALSE(gate.wheels_cover(step(2)));
  CHECK_FALSE(gate.add_pose(step(2), {0.9, 0.4, 0.1}).by_wheels);
}

TEST_CASE("a pose that is not a number neither passes nor poisons") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Pose2& bad :
       {Pose2{nan, 0.0, 0.0}, Pose2{0.0, nan, 0.0}, Pose2{0.0, 0.0, nan}, Pose2{std::numeric_limits<double>::infinity(), 0.0, 0.0}}) {
    Bench b;
    b.move({0.02, 0.0, 0.0}, {0.02, 0.0, 0.0});
    const Pose2 before = b.last.T_odom_base;
    const GatedPose out = b.gate.add_pose(step(b.k) + from_milliseconds(50), bad);
    CHECK(out.verdict == GateVerdict::kNotFinite);
    CHECK(out.T_odom_base == before);
    CHECK(b.move({0.02, 0.0, 0.0}, {0.02, 0.0, 0.0}).verdict == GateVerdict::kAccepted);
    CHECK(b.last.T_odom_base == b.raw);
  }
  OdometryGate gate(small_robot());
  CHECK(gate.add_pose(step(0), {nan, nan, nan}).verdict == GateVerdict::kNotFinite);
  CHECK(gate.add_pose(step(1), {3.0, 0.0, 0.0}).verdict == GateVerdict::kFirst);
}

TEST_CASE("a pose with the stamp of the last, or an older one, is left out") {
  Bench b;
  b.move({0.02, 0.0, 0.0}, {0.02, 0.0, 0.0});
  const Pose2 before = b.last.T_odom_base;
  for (const std::int64_t back : {std::int64_t{0}, std::int64_t{1}}) {
    const GatedPose out = b.gate.add_pose(step(b.k - back), {50.0, 0.0, 0.0});
    CHECK(out.verdict == GateVerdict::kOutOfOrder);
    CHECK(out.T_odom_base == before);
  }
  CHECK(b.move({0.02, 0.0, 0.0}, {0.02, 0.0, 0.0}).verdict == GateVerdict::kAccepted);
  CHECK(b.last.T_odom_base == b.raw);
}

TEST_CASE("a jump does not hide in a gap: the wheels make the way") {
  Bench b;
  const Pose2 before = b.last.T_odom_base;
  b.k = 9;  // the next step comes 1 s later
  // 0.2 m in 1 s is no excursion by speed, but the wheels made 0.05.
  CHECK(b.move({0.2, 0.0, 0.0}, {0.05, 0.0, 0.0}).verdict == GateVerdict::kGap);
  CHECK(b.last.by_wheels);
  CHECK(near(b.last.T_odom_base, before * Pose2{0.05, 0.0, 0.0}));
  // Without wheels no more than the longest step that is believed.
  OdometryGate alone(small_robot());
  alone.add_pose(step(0), {});
  const GatedPose out = alone.add_pose(step(100), {2.0, 0.0, 0.0});
  CHECK(out.verdict == GateVerdict::kGap);
  CHECK(out.T_odom_base.x == doctest::Approx(kBound * 0.5));
}

TEST_CASE("twenty steps of 0.9 of the bound while the wheels stand are caught by the window") {
  Bench b;
  for (int i = 0; i < 20; ++i) b.move({0.9 * kBound * 0.1, 0.0, 0.0}, {});
  CHECK(b.gate.counts().of(GateVerdict::kTooFast) == 0);
  CHECK(b.gate.counts().of(GateVerdict::kTooLong) >= 16);
  // A quarter of what a second at the bound makes, and one step.
  CHECK(distance(b.last.T_odom_base.position(), {1.0, 2.0}) < 0.25 * kBound + 0.9 * kBound * 0.1);
  // Once the pose behaves again it is believed again.
  for (int i = 0; i < 11; ++i) b.move({0.02, 0.0, 0.0}, {0.02, 0.0, 0.0});
  CHECK(b.last.verdict == GateVerdict::kAccepted);

  Bench turning;
  for (int i = 0; i < 20; ++i) turning.move({0.0, 0.0, -0.2}, {});
  CHECK(turning.gate.counts().of(GateVerdict::kTooLong) >= 15);
  OdometryGateParameters off = small_robot();
  off.window_s = 0.0;
  Bench unwatched(off);
  for (int i = 0; i < 20; ++i) unwatched.move({0.9 * kBound * 0.1, 0.0, 0.0}, {});
  CHECK(unwatched.gate.counts().replaced() == 0);
}

TEST_CASE("wheels that spin are not followed: a pose slower than the wheels is accepted") {
  Bench b;
  for (int i = 0; i < 40; ++i) CHECK(b.move({0.002, 0.0, 0.0}, {0.021, 0.0, 0.0}).verdict == GateVerdict::kAccepted);
  CHECK(b.last.T_odom_base == b.raw);
}

TEST_CASE("a pose that stands still and catches up in jumps loses no way, if it may catch up, and its steps stay within the bound") {
  OdometryGateParameters patient = small_robot();
  patient.catch_up_s = 1.0;
  double way[2] = {0.0, 0.0};
  int n = 0;
  for (const OdometryGateParameters& p : {small_robot(), patient}) {
    Bench b(p, {});
    for (int i = 0; i < 60; ++i) {
      // Two steps that lag, then both at once: 0.03 m in 0.1 s.
      b.move({i % 3 == 2 ? 0.03 : 0.0, 0.0, 0.0}, {0.01, 0.0, 0.0});
      CHECK(norm({b.last.velocity.x_mps, b.last.velocity.y_mps}) <= kBound * (1.0 + 1e-9));
    }
    CHECK(b.gate.counts().of(GateVerdict::kTooFast) == 20);
    way[n++] = b.last.T_odom_base.x;
  }
  CHECK(way[0] == doctest::Approx(0.2));
  CHECK(way[1] == doctest::Approx(0.6).epsilon(0.2));
}

TEST_CASE("a car turns no sharper than its steering at low speed, and than its tyres at high speed") {
  CarParameters car = toy::car();
  car.wheelbase_m = 0.324;
  car.steering_max_left_rad = 0.31;
  car.steering_max_right_rad = -0.26;
  car.speed_max_mps = 5.04;
  const MotionEnvelope e = MotionEnvelope::ackermann(car, 0.5);
  const double curvature = math::tan(0.31) / 0.324;
  CHECK(e.max_speed_mps == 5.04);
  CHECK(e.yaw_rate_at(0.0) == 0.0);
  CHECK(e.yaw_rate_at(1.0) == doctest::Approx(curvature));
  CHECK(e.yaw_rate_at(5.0) == doctest::Approx(0.5 * 9.80665 / 5.0));
  CHECK(e.max_yaw_rate_radps == doctest::Approx(std::sqrt(0.5 * 9.80665 * curvature)));
  for (double v = 0.1; v < 5.0; v += 0.1) CHECK(e.yaw_rate_at(v) <= e.max_yaw_rate_radps + 1e-12);
  // As a gate: 1 rad/s at 5 m/s passes, at 0.5 m/s it is too sharp, and so is a turn on the spot.
  OdometryGateParameters p;
  p.envelope = e;
  const auto verdict = [&p](double speed_mps, double yaw_radps) {
    OdometryGate gate(p);
    gate.add_pose(step(0), {});
    return gate.add_pose(step(1), {0.1 * speed_mps, 0.0, 0.1 * yaw_radps}).verdict;
  };
  CHECK(verdict(5.0, 1.0) == GateVerdict::kAccepted);
  CHECK(verdict(5.0, 1.2) == GateVerdict::kTooSharp);
  CHECK(verdict(1.0, 1.1) == GateVerdict::kAccepted);
  CHECK(verdict(0.5, 1.0) == GateVerdict::kTooSharp);
  CHECK(verdict(0.0, 0.5) == GateVerdict::kTooSharp);
  p.slack_rad = 0.06;
  CHECK(verdict(0.0, 0.5) == GateVerdict::kAccepted);
  CHECK(verdict(5.9, 0.0) == GateVerdict::kTooFast);
  p.slack_m = 0.02;
  CHECK(verdict(5.9, 0.0) == GateVerdict::kAccepted);
}

TEST_CASE("nothing is allocated while the gate works") {
  Bench b;
  for (int i = 0; i < 400; ++i) b.move({0.02, 0.0, 0.0}, {0.02, 0.0, 0.0});
  const AllocationGuard guard;
  for (int i = 0; i < 400; ++i) b.move({i % 7 == 0 ? 0.3 : 0.02, 0.0, 0.0}, {0.02, 0.0, 0.0});
  CHECK(guard.count() == 0);
}

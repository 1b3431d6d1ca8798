// SPDX-License-Identifier: Apache-2.0
#include "controllers/command_stage.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/math.hpp"
#include "tests/support/allocation_guard.hpp"
#include "tests/support/toy_world.hpp"

using namespace pitwall;
using namespace pitwall::controllers;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct StageBench {
  explicit StageBench(const CommandParameters& p = {}, const CarParameters& car = toy::car()) : stage(p, car) { stage.reset(); }
  Command drive(const Desired& d, std::optional<double> measured = 0.0, std::int64_t ms = 25) {
    now = now + from_milliseconds(ms);
    return stage.drive(now, measured, d);
  }
  Time now{1'000'000'000};
  CommandStage stage;
};

Desired wish(double steering, double speed) {
  Desired d;
  d.steering_rad = steering;
  d.speed_mps = speed;
  return d;
}

}  // namespace

TEST_CASE("the first command may move by a tenth of a second's ramp, later ones by the time that passed") {
  StageBench b;
  Command c = b.drive(wish(0.3, 2.0));
  CHECK(c.steering_angle_rad == doctest::Approx(0.1));
  CHECK(c.speed_mps == doctest::Approx(0.3));
  c = b.drive(wish(0.3, 2.0));
  CHECK(c.steering_angle_rad == doctest::Approx(0.125));
  CHECK(c.speed_mps == doctest::Approx(0.375));
  c = b.drive(wish(0.3, 2.0), 0.0, 3000);
  CHECK(c.steering_angle_rad == doctest::Approx(0.225));
  CHECK(c.speed_mps == doctest::Approx(0.675));
  c = b.drive(wish(0.3, 2.0), 0.0, 0);
  CHECK(c.steering_angle_rad == doctest::Approx(0.225));
  c = b.drive(wish(0.3, 2.0), 0.0, -50);  // a clock that steps back moves nothing
  CHECK(c.steering_angle_rad == doctest::Approx(0.225));
  CHECK(c.speed_mps == doctest::Approx(0.675));
}

TEST_CASE("the car's locks bound the steering on each side, and its servo the rate") {
  StageBench b;
  Command c;
  for (int k = 0; k < 40; ++k) c = b.drive(wish(2.0, 1.0));
  CHECK(static_cast<double>(c.steering_angle_rad) <= 0.31347);
  CHECK(c.steering_angle_rad == doctest::Approx(0.31347));
  for (int k = 0; k < 60; ++k) c = b.drive(wish(-2.0, 1.0));
  CHECK(static_cast<double>(c.steering_angle_rad) >= -0.26337);
  CHECK(c.steering_angle_rad == doctest::Approx(-0.26337));

  CarParameters slow = toy::car();
  slow.steering_rate_max_radps = 0.4;
  StageBench s({}, slow);
  CHECK(s.drive(wish(0.3, 1.0)).steering_angle_rad == doctest::Approx(0.04));
}

TEST_CASE("speed ramps up from the larger of the last command and the measured speed") {
  StageBench b;
  CHECK(b.drive(wish(0.0, 2.4), 1.5).speed_mps == doctest::Approx(1.8));
  StageBench reversing;
  CHECK(reversing.drive(wish(0.0, 2.4), -1.5).speed_mps == doctest::Approx(1.8));
  StageBench unknown;
  CHECK(unknown.drive(wish(0.0, 2.4), std::nullopt).speed_mps == doctest::Approx(0.3));
  StageBench broken;
  CHECK(broken.drive(wish(0.0, 2.4), kNan).speed_mps == doctest::Approx(0.3));
  StageBench runaway;  // a measured speed beyond max_speed gives no licence
  CHECK(runaway.drive(wish(0.0, 9.0), 50.0).speed_mps == doctest::Approx(2.5));
}

TEST_CASE("planned slow-downs ramp at the braking rate and noise above the command does not raise it") {
  StageBench b;
  b.drive(wish(0.0, 2.0), 2.0);
  CHECK(b.drive(wish(0.0, 1.0), 2.0).speed_mps == doctest::Approx(1.925));
  CHECK(b.drive(wish(0.0, 1.0), 2.4).speed_mps == doctest::Approx(1.85));
}

TEST_CASE("hard cap, safety ceiling and curvature limit act at once") {
  StageBench b;
  b.drive(wish(0.0, 2.0), 2.0);
  Desired d = wish(0.0, 2.0);
  d.hard_cap_mps = 0.7;
  CHECK(b.drive(d, 2.0).speed_mps == doctest::Approx(0.7));
  d = wish(0.0, 2.0);
  d.safety_ceiling_mps = 0.2;
  const Command c = b.drive(d, 2.0);
  CHECK(c.speed_mps == doctest::Approx(0.2));
  CHECK(static_cast<double>(c.speed_mps) <= 0.2);
  CHECK(c.layer == Layer::kSafety);
  // sqrt(1.0 * 0.36 / tan(0.25)) of the wheel angle that is wanted, though the commanded one has hardly moved.
  CHECK(b.drive(wish(0.25, 2.0), 2.0).speed_mps == doctest::Approx(std::sqrt(0.36 / std::tan(0.25))));
}

TEST_CASE("the curvature limit looks at the wheels as they still stand when they are being straightened") {
  StageBench b;
  for (int k = 0; k < 20; ++k) b.drive(wish(-0.25, 2.0), 1.0);
  const Command c = b.drive(wish(0.0, 2.0), 2.0);
  const double standing = std::abs(static_cast<double>(c.steering_angle_rad));
  CHECK(standing == doctest::Approx(0.225));
  CHECK(c.speed_mps == doctest::Approx(std::sqrt(0.36 / std::tan(standing))));
}

TEST_CASE("the speed ceiling is the smaller of the tuning's and the car's") {
  CarParameters slow = toy::car();
  slow.speed_max_mps = 1.2;
  StageBench b({}, slow);
  CHECK(b.drive(wish(0.0, 9.0), 5.0).speed_mps == doctest::Approx(1.2));
}

TEST_CASE("a stop is immediate, holds the steering, and the next start ramps from standstill") {
  StageBench b;
  for (int k = 0; k < 8; ++k) b.drive(wish(0.2, 1.0), 1.0);
  const float held = b.drive(wish(0.2, 1.0), 1.0).steering_angle_rad;
  const Command c = b.stage.stop(b.now, Reason::kTtcBrake, Layer::kSafety, 17, 0.2);
  CHECK(c.speed_mps == 0.0F);
  CHECK(c.steering_angle_rad == held);
  CHECK(c.reason == Reason::kTtcBrake);
  CHECK(c.layer == Layer::kSafety);
  CHECK(c.beam == 17);
  CHECK(c.ttc_s == doctest::Approx(0.2));
  CHECK(b.stage.speed_mps() == 0.0);
  CHECK(b.stage.steering_rad() == static_cast<double>(held));
  CHECK(b.drive(wish(0.2, 1.0), 0.0).speed_mps == doctest::Approx(0.075));
}

TEST_CASE("wishes that are not finite stop with steering_law_failed and leave the basis alone") {
  for (const Desired& d :
       {wish(kNan, 1.0), wish(math::kInfinity, 1.0), wish(0.1, kNan), wish(0.1, math::kInfinity), wish(0.1, -math::kInfinity)}) {
    StageBench b;
    b.drive(wish(0.1, 1.0));
    const Command c = b.drive(d);
    CHECK(c.speed_mps == 0.0F);
    CHECK(c.steering_angle_rad == doctest::Approx(0.1));
    CHECK(c.reason == Reason::kSteeringLawFailed);
  }
  StageBench b;
  Desired d = wish(0.1, 1.0);
  d.hard_cap_mps = kNan;
  CHECK(b.drive(d).reason == Reason::kSteeringLawFailed);
  d = wish(0.1, 1.0);
  d.safety_ceiling_mps = kNan;
  CHECK(b.drive(d).reason == Reason::kSteeringLawFailed);
}

TEST_CASE("a wish of zero or less is a stop with its reason, and a safety ceiling of zero one of its own") {
  StageBench b;
  Desired d = wish(0.2, -1.0);
  d.reason = Reason::kEndOfPath;
  Command c = b.drive(d, 2.0);
  CHECK(c.speed_mps == 0.0F);
  CHECK(std::signbit(c.speed_mps) == false);
  CHECK(c.reason == Reason::kEndOfPath);
  d = wish(0.2, -0.0);
  d.reason = Reason::kNoSafeGap;
  CHECK(b.drive(d, 2.0).speed_mps == 0.0F);
  d = wish(0.2, 1.0);
  d.hard_cap_mps = 0.0;
  CHECK(b.drive(d, 2.0).speed_mps == 0.0F);
  d = wish(0.2, 1.0);
  d.safety_ceiling_mps = 0.0;
  c = b.drive(d, 2.0);
  CHECK(c.speed_mps == 0.0F);
  CHECK(c.reason == Reason::kForwardStop);
  CHECK(c.layer == Layer::kSafety);
}

TEST_CASE("the next ramp starts from exactly the float that was sent") {
  StageBench b;
  for (int k = 0; k < 10; ++k) {
    const Command c = b.drive(wish(0.2468, 1.3579), 0.0, 13);
    CHECK(b.stage.steering_rad() == static_cast<double>(c.steering_angle_rad));
    CHECK(b.stage.speed_mps() == static_cast<double>(c.speed_mps));
  }
}

TEST_CASE("commands mirror exactly on a car with mirrored locks") {
  StageBench a;
  StageBench m({}, toy::mirrored(toy::car()));
  const Rng rng(7, "wishes");
  for (std::uint64_t k = 0; k < 500; ++k) {
    const double steering = 0.8 * rng.uniform(k, 0) - 0.4;
    const double speed = 3.0 * rng.uniform(k, 1) - 0.2;
    const double measured = 2.0 * rng.uniform(k, 2);
    const Command c = a.drive(wish(steering, speed), measured);
    const Command n = m.drive(wish(-steering, speed), measured);
    REQUIRE(c.steering_angle_rad == -n.steering_angle_rad);
    REQUIRE(c.speed_mps == n.speed_mps);
  }
}

TEST_CASE("whatever is wished, every command keeps locks, rates, curvature and ceilings") {
  const CarParameters car = toy::car();
  const CommandParameters p;
  StageBench b(p);
  const Rng rng(11, "wishes");
  double last_steering = 0.0;
  double last_speed = 0.0;
  for (std::uint64_t k = 0; k < 2000; ++k) {
    Desired d = wish(4.0 * rng.uniform(k, 0) - 2.0, 8.0 * rng.uniform(k, 1) - 1.0);
    if (rng.uniform(k, 2) < 0.3) d.hard_cap_mps = 2.0 * rng.uniform(k, 3);
    if (rng.uniform(k, 4) < 0.3) d.safety_ceiling_mps = 2.0 * rng.uniform(k, 5);
    const double measured = 3.0 * rng.uniform(k, 6);
    const Command c = b.drive(d, measured);
    const auto steering = static_cast<double>(c.steering_angle_rad);
    const auto speed = static_cast<double>(c.speed_mps);
    REQUIRE(steering <= car.steering_max_left_rad);
    REQUIRE(steering >= car.steering_max_right_rad);
    REQUIRE(std::abs(steering - last_steering) <= 0.025 * p.max_steering_rate_radps + 1e-7);
    REQUIRE(speed >= 0.0);
    REQUIRE(speed <= std::max(0.0, std::min(d.hard_cap_mps, d.safety_ceiling_mps)));
    REQUIRE(speed <= p.max_speed_mps);
    REQUIRE(speed * speed * std::abs(std::tan(steering)) / car.wheelbase_m <= p.max_lateral_accel_mps2 + 1e-6);
    REQUIRE(speed <= std::max(last_speed, std::min(measured, p.max_speed_mps)) + 0.1 * p.max_acceleration_mps2 + 1e-6);
    last_steering = steering;
    last_speed = speed;
  }
}

TEST_CASE("the command stage allocates nothing") {
  StageBench b;
  const AllocationGuard guard;
  for (int k = 0; k < 10; ++k) b.drive(wish(0.1, 1.0));
  b.stage.stop(b.now, Reason::kForwardStop, Layer::kSafety);
  const std::size_t count = guard.count();
  CHECK(count == 0);
}

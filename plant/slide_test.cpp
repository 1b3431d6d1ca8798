// SPDX-License-Identifier: Apache-2.0
// The car on tyres that saturate: steady turns, slides, stops, steps, symmetries.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <initializer_list>

#include "plant/plant.hpp"
#include "plant/test_car.hpp"

namespace pitwall::plant {

using namespace testing;

namespace {

CarParameters rough_car() {
  CarParameters car = test_car();
  car.rolling_resistance = 0.015;
  car.drag_area_m2 = 0.03;
  car.speed_loop_brake_gain_per_s = 8.0;
  return car;
}

CarParameters nuc2() {
  CarParameters car = rough_car();
  car.magic_front_b = 4.798521440254997;
  car.magic_front_c = 2.1640281784621833;
  car.magic_front_d = 0.6502296853018044;
  car.magic_front_e = 0.3732212044732381;
  car.magic_rear_b = 20.0;
  car.magic_rear_c = 1.5;
  car.magic_rear_d = 0.6184183350099146;
  return car;
}

Options with(Tyre tyre) {
  Options options;
  options.tyre = tyre;
  return options;
}

/// Steady motion (vx, vy, r) with the wheels at `steering` while the speed loop asks for `target`, by Newton on equations
/// written out here; nothing of the plant is used.
std::array<double, 3> steady_turn(const CarParameters& car, Tyre law, double friction, double steering, double target,
                                  std::array<double, 3> guess) {
  using Real = long double;
  const Real lf = static_cast<Real>(car.wheelbase_m) * car.cog_front_fraction;
  const Real lr = static_cast<Real>(car.wheelbase_m) - lf;
  const Real m = car.mass_kg;
  const Real s = std::sin(static_cast<Real>(steering));
  const Real c = std::cos(static_cast<Real>(steering));
  const auto side = [&](Real slip, Real load, Real along, bool front) {
    const Real sign = slip < 0 ? -1 : 1;
    if (law == Tyre::kMagicFormula) {
      const Real b = front ? car.magic_front_b : car.magic_rear_b;
      const Real shape = front ? car.magic_front_c : car.magic_rear_c;
      const Real d = front ? car.magic_front_d : car.magic_rear_d;
      const Real e = front ? car.magic_front_e : car.magic_rear_e;
      const Real most = std::sqrt(friction * d * load * friction * d * load - along * along);
      const Real x = b * slip;
      return -most * std::sin(shape * std::atan(x - e * (x - std::atan(x))));
    }
    const Real most = std::sqrt(friction * load * friction * load - along * along);
    const Real stiffness = friction * load * (front ? car.cornering_stiffness_front : car.cornering_stiffness_rear);
    const Real z = stiffness * std::abs(slip) / (3 * most);
    return -sign * (z >= 1 ? most : most * (1 - (1 - z) * (1 - z) * (1 - z)));
  };
  const auto residual = [&](const std::array<Real, 3>& q) -> std::array<Real, 3> {
    const auto [vx, vy, r] = q;
    const Real push = car.speed_loop_accel_gain_per_s * (target - vx);
    const Real slowing = static_cast<Real>(0.015) * static_cast<Real>(9.81) * vx / std::sqrt(vx * vx + static_cast<Real>(0.0025)) +
                         static_cast<Real>(0.5) * static_cast<Real>(1.2) * static_cast<Real>(0.03) / m * vx * std::abs(vx);
    const Real shift = (push - slowing) * car.cog_height_m;
    const Real load_f = m * (static_cast<Real>(9.81) * lr - shift) / (lf + lr);
    const Real load_r = m * (static_cast<Real>(9.81) * lf + shift) / (lf + lr);
    const Real along = m * push / 2;
    const Real left = vy + lf * r;
    const Real right = vy - lr * r;
    const Real f = side((left * c - vx * s) / std::sqrt(vx * vx + left * left), load_f, along, true);
    const Real b = side(right / std::sqrt(vx * vx + right * right), load_r, along, false);
    return {(along * c - f * s + along) / m - slowing + r * vy, (along * s + f * c + b) / m - r * vx, lf * (along * s + f * c) - lr * b};
  };
  std::array<Real, 3> q{guess[0], guess[1], guess[2]};
  for (int iteration = 0; iteration < 60; ++iteration) {
    const auto f = residual(q);
    Real j[3][3];
    for (std::size_t k = 0; k < 3; ++k) {
      auto moved = q;
      const Real step = 1e-7L * (1 + std::abs(q[k]));
      moved[k] += step;
      const auto g = residual(moved);
      for (std::size_t i = 0; i < 3; ++i) j[i][k] = (g[i] - f[i]) / step;
    }
    const auto det = [](Real a, Real b, Real d, Real e, Real g, Real h, Real x, Real y, Real z) {
      return a * (e * z - h * y) - b * (d * z - h * x) + g * (d * y - e * x);
    };
    const Real whole = det(j[0][0], j[0][1], j[1][0], j[1][1], j[0][2], j[1][2], j[2][0], j[2][1], j[2][2]);
    std::array<Real, 3> step{};
    for (std::size_t k = 0; k < 3; ++k) {
      Real n[3][3];
      for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t l = 0; l < 3; ++l) n[i][l] = l == k ? -f[i] : j[i][l];
      }
      step[k] = det(n[0][0], n[0][1], n[1][0], n[1][1], n[0][2], n[1][2], n[2][0], n[2][1], n[2][2]) / whole;
    }
    for (std::size_t k = 0; k < 3; ++k) q[k] += step[k];
  }
  return {static_cast<double>(q[0]), static_cast<double>(q[1]), static_cast<double>(q[2])};
}

/// Wheels straight to `steering`, rolling at `speed`, settled for `seconds`.
Plant settled(const CarParameters& car, Tyre law, double friction, double steering, double speed, double seconds) {
  Plant plant = make(car, with(law), friction);
  plant.reset({}, speed);
  command(plant, steering, speed);
  run(plant, {}, seconds);
  return plant;
}

}  // namespace

TEST_CASE("the linear tyre's steady turn is the closed form to three decimals for any lf and lr") {
  for (const double fraction : {0.42, 0.4808, 0.5, 0.55}) {
    for (const double friction : {0.3, 0.7, 1.0489}) {
      for (const double steering : {0.05, 0.26, 0.4189}) {
        // At a third of the grip it would stand at 42 degrees to its path, where the loop on its forward speed runs away.
        if (friction == 0.3 && steering > 0.05) continue;
        CarParameters car = test_car();
        car.wheelbase_m = 0.324;
        car.cog_front_fraction = fraction;
        car.speed_max_mps = 6.0;
        Plant plant = make(car, with(Tyre::kLinear), friction);
        plant.reset({}, 4.0);
        command(plant, steering, 4.0);
        run(plant, {}, 8.0);
        const double v = plant.state().speed;
        const double expected = steering / (0.324 / (v * v) + (1.0 / 4.718 - 1.0 / 5.4562) / (friction * 9.81));
        CHECK(std::abs(plant.lateral_acceleration_mps2() - expected) < 5e-4);
      }
    }
  }
}

TEST_CASE("the saturating tyres' steady turn is that of an independent root-finder to 1e-9") {
  for (const Tyre law : {Tyre::kBrush, Tyre::kMagicFormula}) {
    const CarParameters car = law == Tyre::kBrush ? rough_car() : nuc2();
    for (const double friction : {0.7, 1.0489}) {
      for (const double speed : {1.5, 3.0}) {
        for (const double steering : {0.02, 0.1, -0.2}) {
          CAPTURE(friction);
          CAPTURE(speed);
          CAPTURE(steering);
          const Plant plant = settled(car, law, friction, steering, speed, 15.0);
          const SlipState& at = plant.body();
          const auto root = steady_turn(car, law, friction, steering, speed, {at.vx * 0.99, at.vy * 0.97, at.yaw_rate * 1.02});
          CHECK(std::abs(at.vx - root[0]) < 1e-9);
          CHECK(std::abs(at.vy - root[1]) < 1e-9);
          CHECK(std::abs(at.yaw_rate - root[2]) < 1e-9);
        }
      }
    }
  }
}

TEST_CASE("a saturating tyre stays below mu g and tends to the linear form as the turn gets gentle") {
  double before = 1.0;
  for (const double steering : {0.1, 0.03, 0.01, 0.001}) {
    const Plant plant = settled(test_car(), Tyre::kBrush, 0.8, steering, 3.0, 12.0);
    const double v = plant.state().speed;
    const double linear = steering / (0.3302 / (v * v) + (1.0 / 4.718 - 1.0 / 5.4562) / (0.8 * 9.81));
    const double off = std::abs(plant.lateral_acceleration_mps2() / linear - 1.0);
    CHECK(off < before);
    before = off;
  }
  CHECK(before < 1e-3);
  for (const Tyre law : {Tyre::kBrush, Tyre::kMagicFormula}) {
    for (const double friction : {0.3, 0.8}) {
      for (const double speed : {2.0, 5.0, 9.0}) {
        for (const double steering : {0.1, 0.3, 0.4189}) {
          Plant plant = make(nuc2(), with(law), friction);
          plant.reset({}, speed);
          command(plant, steering, speed);
          run(plant, {}, 3.0);
          CHECK(plant.finite());
          CHECK(plant.friction().max_allowed_lateral_mps2 <= friction * 9.81 * (1.0 + 1e-9));
          CHECK(plant.friction().front.peak_utilisation <= 1.0 + 1e-9);
          CHECK(plant.friction().rear.peak_utilisation <= 1.0 + 1e-9);
        }
      }
    }
  }
}

TEST_CASE("the report says how hard each axle worked and how long at its limit") {
  Plant gentle = settled(test_car(), Tyre::kBrush, 0.8, 0.05, 2.0, 2.0);
  CHECK(gentle.friction().limited_steps == 0);
  CHECK(gentle.friction().front.at_limit_s == 0.0);
  CHECK(gentle.friction().front.peak_utilisation > 0.02);
  CHECK(gentle.friction().front.peak_utilisation < 0.2);
  Plant hard = settled(test_car(), Tyre::kBrush, 0.4, 0.4, 5.0, 2.0);
  const FrictionReport& report = hard.friction();
  CHECK(report.steps == 400);
  CHECK(report.front.peak_utilisation > 0.999);
  CHECK(report.front.at_limit_s > 1.0);
  CHECK(report.front.at_limit_s <= 2.0 + 1e-9);
  CHECK(report.limited_steps > 200);
  CHECK(report.limit_mps2 == doctest::Approx(0.4 * 9.81));
  CHECK(report.max_demanded_lateral_mps2 > 2.0 * report.limit_mps2);
  hard.reset({}, 0.0);
  CHECK(hard.friction().front.peak_utilisation == 0.0);
  CHECK(hard.friction().rear.at_limit_s == 0.0);
}

TEST_CASE("braking at the limit of cornering costs side force, and letting go gives it back") {
  Plant plant = make(rough_car(), {}, 0.6);
  plant.reset({}, 3.5);
  command(plant, 0.25, 3.5);
  Time now = run(plant, {}, 1.0);
  const auto side = [&] { return plant.forces().front.across_n + plant.forces().rear.across_n; };
  const double free = side();
  CHECK(free > 0.75 * 0.6 * 3.74 * 9.81);
  command(plant, 0.25, 1.0, now);
  now = run(plant, now, 0.01);
  CHECK(side() < 0.7 * free);
  command(plant, 0.25, plant.speed_mps(), now);
  run(plant, now, 0.01);
  CHECK(side() > 0.9 * free);
}

TEST_CASE("a spun car is caught again: straight wheels and some throttle end a slide") {
  Plant plant = make(rough_car(), {}, 0.5);
  plant.set_motion({0, 0, 0}, {3.0, 1.5}, 4.0);
  command(plant, 0.0, 2.0);
  run(plant, {}, 0.1);
  CHECK(plant.friction().rear.peak_utilisation > 0.9);
  run(plant, Time{} + from_milliseconds(100), 4.0);
  CHECK(plant.finite());
  CHECK(std::abs(plant.yaw_rate_radps()) < 1e-3);
  CHECK(plant.speed_mps() == doctest::Approx(2.0).epsilon(0.05));
}

TEST_CASE("a car at rest stays at rest to the bit, whichever way its zero is signed and however its wheels turn") {
  for (const double zero : {0.0, -0.0}) {
    Plant plant = make(rough_car());
    plant.reset({1.0, 2.0, 0.5}, zero);
    const Pose2 pose = plant.base_pose();
    command(plant, 0.3, zero);
    run(plant, {}, 5.0);
    CHECK(plant.base_pose() == pose);
    CHECK(plant.speed_mps() == 0.0);
    CHECK(plant.yaw_rate_radps() == 0.0);
    CHECK(plant.steering_rad() == doctest::Approx(0.3));
  }
}

TEST_CASE("after any stop nothing moves or rings within a second") {
  struct Start {
    Vec2 velocity;
    double yaw_rate;
    double steering;
  };
  for (const Tyre law : {Tyre::kBrush, Tyre::kMagicFormula}) {
    for (const Start& start :
         {Start{{4.0, 0.0}, 0.0, 0.0}, Start{{4.0, 0.0}, 0.0, 0.3}, Start{{-2.0, 0.0}, 0.0, -0.2}, Start{{0.0, 2.0}, 0.0, 0.1},
          Start{{1.0, -1.0}, 8.0, 0.4}, Start{{0.0, 0.0}, 10.0, 0.0}, Start{{0.3, 0.0}, 0.0, 0.4}}) {
      Plant plant = make(nuc2(), with(law), 0.5);
      command(plant, start.steering, 0.0);
      run(plant, {}, 0.5);
      plant.set_motion({}, start.velocity, start.yaw_rate);
      Time now = Time{} + from_milliseconds(500);
      const auto motion = [&] { return std::max(norm(plant.base_velocity()), std::abs(plant.yaw_rate_radps())); };
      // Stopped: slower than the odometry can tell, and hardly turning.
      for (int i = 0; i < 4000 && motion() > 0.05; ++i) now = run(plant, now, 0.005);
      REQUIRE(motion() <= 0.05);
      now = run(plant, now, 1.0);
      for (int i = 0; i < 2000; ++i) {
        now = run(plant, now, 0.005);
        CHECK(motion() < 1e-3);
      }
    }
  }
}

TEST_CASE("creeping through half a metre a second in a turn, nothing moves the car sideways") {
  // Very slowly up through 0.5 m/s with the wheels fixed: the centre of the turn must not move by more than the tyres' own slip.
  CarParameters car = test_car();
  car.speed_ramp_mps2 = 0.05;
  Plant plant = make(car);
  plant.reset({}, 0.3);
  command(plant, 0.25, 0.3);
  Time now = run(plant, {}, 2.0);
  command(plant, 0.25, 0.7, now);
  const double radius = 0.3302 / std::tan(0.25);
  Vec2 before = plant.base_pose() * Vec2{0.0, radius};
  double yaw_rate_before = plant.yaw_rate_radps();
  for (int i = 0; i < 1600; ++i) {
    now = run(plant, now, 0.005);
    const Vec2 centre = plant.base_pose() * Vec2{0.0, radius};
    CHECK(distance(centre, before) < 1e-4);
    CHECK(std::abs(plant.yaw_rate_radps() - yaw_rate_before) < 5e-3);
    yaw_rate_before = plant.yaw_rate_radps();
    before = centre;
  }
  CHECK(plant.speed_mps() > 0.65);
}

TEST_CASE("ten seconds of driving at the default step end within a millimetre of a 16 times finer step") {
  for (const Tyre law : {Tyre::kBrush, Tyre::kMagicFormula}) {
    for (const double speed : {0.8, 2.0, 4.0}) {
      const auto drive = [&](Duration dt) {
        Plant plant = make(nuc2(), with(law), 1.0);
        plant.reset({}, speed);
        Time now;
        for (int tick = 0; tick < 100; ++tick) {
          const double steering = 0.9 / (speed * speed) * 0.33 * ((tick / 7) % 3 - 1);
          command(plant, std::clamp(steering, -0.25, 0.25), speed * (1.0 + 0.1 * ((tick / 20) % 2)), now);
          now = run(plant, now, 0.1, dt);
        }
        return plant;
      };
      const Plant coarse = drive(kTick);
      CHECK(coarse.friction().front.peak_utilisation < 0.9);
      CHECK(coarse.friction().rear.peak_utilisation < 0.9);
      CHECK(apart(coarse, drive({312'500})) < 1e-3);
    }
  }
}

TEST_CASE("the servo's rate limit lets go where it should, not at the end of a step") {
  Plant plant = make(test_car());
  command(plant, 0.3, 0.0);
  run(plant, {}, 0.1);
  const double limited = (0.3 - 3.2 / 25.0) / 3.2;
  CHECK(plant.steering_rad() == doctest::Approx(0.3 - 3.2 / 25.0 * std::exp(-25.0 * (0.1 - limited))).epsilon(2e-6));
}

TEST_CASE("fast on short carcasses the steps get shorter") {
  CarParameters car = test_car();
  car.relaxation_length_m = 0.02;
  const auto drive = [&](Duration dt) {
    Plant plant = make(car);
    plant.reset({}, 18.0);
    command(plant, 0.002, 18.0);
    run(plant, {}, 0.1, dt);
    return plant;
  };
  // At V / sigma = 900 1/s a step of 5 ms alone would blow up.
  CHECK(apart(drive(kTick), drive({312'500})) < 1e-4);
  CHECK(std::abs(drive(kTick).body().vy - drive({312'500}).body().vy) < 1e-3);
}

TEST_CASE("what a collision leaves at rest is at rest: no carcass is under tension and no integral pushes") {
  CarParameters car = rough_car();
  car.speed_loop_integral_gain_per_s2 = 3.0;
  Plant plant = make(car, {}, 0.5);
  plant.reset({}, 3.0);
  command(plant, 0.3, 3.0);
  Time now = run(plant, {}, 0.5);
  CHECK(plant.body().front_m != 0.0);
  command(plant, 0.3, 0.0, now);
  plant.step(now, {1});
  plant.set_motion({1.0, 2.0, 0.4}, {}, 0.0);
  now = now + Duration{1};
  for (int i = 0; i < 200; ++i) now = run(plant, now, 0.005);
  CHECK(distance(plant.base_pose().position(), {1.0, 2.0}) < 1e-4);
  CHECK(norm(plant.base_velocity()) < 1e-6);
}

TEST_CASE("n steps of dt are the same way for dt of 1, 2.5 and 5 ms") {
  for (const double steering : {0.0, 0.1}) {
    const auto drive = [&](Duration dt) {
      Plant plant = make(rough_car(), {}, 0.9);
      command(plant, steering, 3.0);
      run(plant, {}, 5.0, dt);
      return plant;
    };
    const Plant fine = drive(from_milliseconds(1));
    CHECK(apart(fine, drive({2'500'000})) < 1e-3);
    CHECK(apart(fine, drive(from_milliseconds(5))) < 1e-3);
  }
}

TEST_CASE("mirrored input, locks and bias give exactly the mirrored slide") {
  for (const Tyre law : {Tyre::kBrush, Tyre::kMagicFormula}) {
    CarParameters car = nuc2();
    car.steering_bias_rad = 0.02;
    car.steering_deadband_rad = 0.01;
    car.steering_gain = 0.95;
    car.steering_max_left_rad = 0.31;
    car.steering_max_right_rad = -0.26;
    CarParameters mirror = car;
    mirror.steering_bias_rad = -0.02;
    mirror.steering_max_left_rad = 0.26;
    mirror.steering_max_right_rad = -0.31;
    Plant a = make(car, with(law), 0.5);
    Plant b = make(mirror, with(law), 0.5);
    Time now;
    for (int i = 0; i < 200; ++i) {
      const double steering = 0.4 * std::sin(0.1 * i);
      const double speed = 1.0 + 3.0 * std::sin(0.03 * i);
      command(a, steering, speed, now);
      command(b, -steering, speed, now);
      run(a, now, 0.025);
      now = run(b, now, 0.025);
      REQUIRE(a.body().x == b.body().x);
      REQUIRE(a.body().y == -b.body().y);
      REQUIRE(a.body().yaw == -b.body().yaw);
      REQUIRE(a.body().vy == -b.body().vy);
    }
    CHECK(a.friction().front.peak_utilisation > 0.99);
  }
}

TEST_CASE("turning the world changes nothing beyond 1e-9") {
  const auto drive = [](double yaw) {
    Plant plant = make(rough_car(), {}, 0.6);
    plant.reset({0, 0, yaw}, 3.0);
    Time now;
    for (int i = 0; i < 200; ++i) {
      command(plant, 0.3 * std::sin(0.07 * i), 3.0 + std::sin(0.05 * i), now);
      now = run(plant, now, 0.05);
    }
    return plant;
  };
  const Plant straight = drive(0.0);
  for (const double yaw : {0.7, 2.0, -3.0}) {
    const Plant turned = drive(yaw);
    CHECK(distance(rotate(-yaw, turned.base_pose().position()), straight.base_pose().position()) < 1e-9);
    CHECK(std::abs(wrap_angle(turned.base_pose().yaw - yaw - straight.base_pose().yaw)) < 1e-9);
  }
}

TEST_CASE("on a locked shaft the wheels read high: by their slip when driven, by the front axle's way in a turn") {
  CarParameters car = test_car();
  Plant rolling = make(car, {}, 0.7);
  rolling.reset({}, 2.0);
  run(rolling, {}, 0.1);
  CHECK(rolling.wheel_speed_mps() == doctest::Approx(2.0).epsilon(1e-12));
  Plant driven = make(car, {}, 0.7);
  command(driven, 0.0, 1.2);
  run(driven, {}, 0.1);
  const double share = driven.acceleration_mps2() / (0.7 * 9.81);
  CHECK(share > 0.3);
  CHECK(share < 0.8);
  CHECK(driven.wheel_speed_mps() > driven.speed_mps() * (1.0 + share / 5.4562));
  CHECK(driven.wheel_speed_mps() < driven.speed_mps() * (1.0 + 2.0 * share / 4.718));
  Plant braked = make(car, {}, 0.7);
  braked.reset({}, 4.0);
  command(braked, 0.0, 0.0);
  run(braked, {}, 0.1);
  CHECK(braked.wheel_speed_mps() < braked.speed_mps());
  CHECK(braked.wheel_speed_mps() > 0.0);
  Plant turning = settled(car, Tyre::kBrush, 0.7, 0.3, 0.5, 3.0);
  CHECK(turning.wheel_speed_mps() / turning.speed_mps() == doctest::Approx(0.5 * (1.0 + 1.0 / std::cos(0.3))).epsilon(0.01));
  car.drive_front_share = 0.0;
  Plant rear = settled(car, Tyre::kBrush, 0.7, 0.3, 0.5, 3.0);
  CHECK(rear.wheel_speed_mps() / rear.speed_mps() == doctest::Approx(1.0).epsilon(0.01));
}

TEST_CASE("the envelope can be laid over tyres that slide, and then they do not") {
  Options options;
  options.friction = Friction::kEnvelope;
  Plant capped = make(rough_car(), options, 0.4);
  capped.reset({}, 4.0);
  command(capped, 0.4, 4.0);
  run(capped, {}, 3.0);
  CHECK(std::abs(capped.slip_rad()) < 0.45);
  CHECK(capped.effective_steering_rad() < 0.2);
  CHECK(capped.steering_rad() == doctest::Approx(0.4));
}

}  // namespace pitwall::plant

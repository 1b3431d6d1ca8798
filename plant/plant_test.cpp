// SPDX-License-Identifier: Apache-2.0
#include "plant/plant.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>

#include "plant/test_car.hpp"

namespace pitwall::plant {

using namespace testing;

TEST_CASE("base_link comes back from reset where it was put") {
  Plant plant = make();
  plant.reset({1.0, -2.0, 20.0}, 1.5);
  const Pose2 pose = plant.base_pose();
  CHECK(pose.x == doctest::Approx(1.0).epsilon(1e-14));
  CHECK(pose.y == doctest::Approx(-2.0).epsilon(1e-14));
  CHECK(pose.yaw == doctest::Approx(20.0 - 6.0 * math::kPi).epsilon(1e-14));
  CHECK(plant.speed_mps() == 1.5);
  // The centre of gravity is lr ahead.
  CHECK(plant.state().x == doctest::Approx(1.0 + 0.17145 * std::cos(20.0)));
  CHECK(plant.state().y == doctest::Approx(-2.0 + 0.17145 * std::sin(20.0)));
}

TEST_CASE("on a slow circle the rear axle runs inside the centre of gravity by sqrt(R^2 - lr^2)") {
  struct Row {
    Options options;
    double speed;
    double tolerance_m;  // tyres slip by 1.5 mrad here, and the centre of the turn lies that much further ahead
  };
  for (const Row& row : {Row{envelope(), 0.3, 1e-4}, Row{envelope(), -0.3, 1e-4}, Row{{}, 0.3, 3e-3}, Row{{}, -0.3, 3e-3}}) {
    const double speed = row.speed;
    Plant plant = make(test_car(), row.options);
    plant.reset({}, speed);
    command(plant, 0.3, speed);
    Time now = run(plant, {}, 2.0);
    const double radius = 0.3302 / std::tan(0.3);
    // The centre of the turn, from the rear axle; it must not move.
    const auto centre = [&] { return plant.base_pose() * Vec2{0.0, radius}; };
    const Vec2 fixed = centre();
    const double cog_radius = std::sqrt(radius * radius + 0.17145 * 0.17145);
    for (int i = 0; i < 400; ++i) {
      now = run(plant, now, 0.005);
      CHECK(distance(centre(), fixed) < row.tolerance_m);
      CHECK(distance({plant.state().x, plant.state().y}, fixed) == doctest::Approx(cog_radius).epsilon(row.tolerance_m));
    }
  }
}

TEST_CASE("the velocity of base_link is the derivative of its pose, and its sideways part is positive to the left") {
  Plant plant = make();
  plant.reset({0, 0, 2.0}, 3.0);
  command(plant, 0.15, 3.0);
  Time now = run(plant, {}, 0.6);
  const Duration tiny = {10'000};
  for (int i = 0; i < 20; ++i) {
    const Pose2 before = plant.base_pose();
    const Vec2 expected = plant.base_velocity_map();
    plant.step(now, tiny);
    now = now + tiny;
    const Pose2 after = plant.base_pose();
    CHECK(distance((1.0 / tiny.seconds()) * (after.position() - before.position()), expected) < 1e-3);
    CHECK(plant.base_velocity().x == plant.speed_mps());
  }
  // At 3 m/s the rear tyres slip outwards: in a left turn base_link drifts to the right.
  CHECK(plant.base_velocity().y < -0.01);
}

TEST_CASE("the steady speed is the command, straight and in a turn, forwards and in reverse, at any heading") {
  for (const double speed : {0.4, 1.0, 4.0, -0.4, -2.0}) {
    for (const double steering : {0.0, 0.1}) {
      Plant linear = make(test_car(), envelope());
      linear.reset({0, 0, 2.2}, 0.0);
      command(linear, steering, speed);
      run(linear, {}, 6.0);
      CHECK(linear.speed_mps() == doctest::Approx(speed).epsilon(1e-6));
      // Tyres that slip brake in a turn, and so does rolling: a proportional loop falls short by what it must push, an
      // integrator by nothing.
      CarParameters car = test_car();
      car.rolling_resistance = 0.02;
      car.drag_area_m2 = 0.03;
      Plant proportional = make(car);
      car.speed_loop_integral_gain_per_s2 = 12.0;
      Plant integral = make(car);
      for (Plant* plant : {&proportional, &integral}) {
        plant->reset({0, 0, 2.2}, 0.0);
        command(*plant, steering, speed);
        run(*plant, {}, 30.0);
      }
      CHECK(integral.speed_mps() == doctest::Approx(speed).epsilon(1e-6));
      const double pushed = proportional.acceleration_mps2();
      CHECK(pushed * speed > 0.0);
      CHECK(proportional.speed_mps() + pushed / car.speed_loop_accel_gain_per_s == doctest::Approx(speed).epsilon(1e-6));
      if (steering == 0.0) {
        const double v = proportional.speed_mps();
        const double held = 0.02 * 9.81 * v / std::sqrt(v * v + 0.0025) + 0.5 * 1.2 * 0.03 / 3.74 * v * std::abs(v);
        CHECK(pushed == doctest::Approx(held).epsilon(1e-6));
      }
    }
  }
}

TEST_CASE("the motion depends on time, not on how it is stepped") {
  for (const double speed : {1.0, 6.0}) {
    CarParameters car = test_car();
    car.steering_delay_s = 0.023;
    car.speed_delay_s = 0.041;
    Plant reference = make(car);
    const auto drive = [&](Duration dt) {
      Plant plant = make(car);
      plant.reset({}, speed);
      Time now;
      for (int tick = 0; tick < 30; ++tick) {
        command(plant, tick < 15 ? 0.05 : -0.1, speed, now);
        now = run(plant, now, 0.1, dt);
      }
      return plant;
    };
    reference = drive({500'000});
    for (const std::int64_t ms : {1, 5, 10, 20, 50}) {
      CAPTURE(ms);
      CHECK(apart(drive(from_milliseconds(ms)), reference) < 2e-4);
    }
  }
}

TEST_CASE("the control period and the physics step are separate: steps between commands may be cut anywhere") {
  CarParameters car = test_car();
  car.steering_delay_s = 0.012;
  Plant whole = make(car);
  Plant cut = make(car);
  command(whole, 0.2, 3.0);
  command(cut, 0.2, 3.0);
  run(whole, {}, 0.5, from_milliseconds(5));
  Time now;
  for (int i = 0; i < 100; ++i) {
    const Duration first = {1'234'567 + 1000 * i};
    cut.step(now, first);
    cut.step(now + first, kTick - first);
    now = now + kTick;
  }
  CHECK(apart(whole, cut) < 2e-4);
}

TEST_CASE("mirrored commands give the mirrored run, bit by bit") {
  for (const Fidelity fidelity : {Fidelity::kLegacy, Fidelity::kPlant, Fidelity::kCar}) {
    Plant left = make(car_of(fidelity, test_car()), Options::of(fidelity), 0.8);
    Plant right = left;
    Time now;
    for (int i = 0; i < 100; ++i) {
      const double steering = 0.3 * std::sin(0.1 * i);
      const double speed = 3.0 * std::sin(0.03 * i);
      command(left, steering, speed, now);
      command(right, -steering, speed, now);
      run(left, now, 0.025);
      now = run(right, now, 0.025);
    }
    CHECK(left.state().x == right.state().x);
    CHECK(left.state().y == -right.state().y);
    CHECK(left.state().yaw == -right.state().yaw);
  }
}

TEST_CASE("reset leaves nothing behind: no command, no motion, no count") {
  CarParameters car = test_car();
  car.steering_delay_s = 0.05;
  for (const Fidelity fidelity : {Fidelity::kLegacy, Fidelity::kPlant}) {
    Plant fresh = make(car, Options::of(fidelity));
    Plant used = fresh;
    command(used, 0.3, 4.0);
    Time now = run(used, {}, 1.013);
    command(used, -0.3, -4.0, now);
    for (Plant* plant : {&fresh, &used}) plant->reset({1, 2, 3}, 0.7);
    CHECK(same(used.state(), fresh.state()));
    CHECK(used.friction().steps == 0);
    for (Plant* plant : {&fresh, &used}) {
      Time t = run(*plant, {}, 0.3);
      command(*plant, 0.1, 1.0, t);
      run(*plant, t, 0.3);
    }
    CHECK(same(used.state(), fresh.state()));
    CHECK(used.friction().max_demanded_lateral_mps2 == fresh.friction().max_demanded_lateral_mps2);
  }
}

TEST_CASE("reset itself moves nothing and a rolling start rolls on until a command takes effect") {
  CarParameters car = test_car();
  car.speed_delay_s = 0.1;
  Plant plant = make(car);
  plant.reset({0, 0, 0}, 2.0);
  CHECK(plant.base_pose().x == doctest::Approx(0.0));
  command(plant, 0.0, 0.0);
  run(plant, {}, 0.1);
  CHECK(plant.base_pose().x == doctest::Approx(0.2));
  CHECK(plant.speed_mps() == 2.0);
}

TEST_CASE("in reverse the speed is negative and its integral leads back to the start") {
  Plant plant = make();
  plant.reset({0, 0, 0.5}, 0.0);
  Time now;
  double travelled = 0.0;
  double least = 0.0;
  for (const double target : {1.0, -1.0, 0.0}) {
    command(plant, 0.0, target, now);
    for (int i = 0; i < 400; ++i) {
      now = run(plant, now, 0.005);
      travelled += 0.005 * plant.speed_mps();
      least = std::min(least, plant.speed_mps());
    }
  }
  CHECK(least == doctest::Approx(-1.0).epsilon(1e-3));
  CHECK(dot(plant.base_pose().position(), unit_vector(0.5)) == doctest::Approx(travelled).epsilon(0.02));
  CHECK(std::abs(cross(unit_vector(0.5), plant.base_pose().position())) < 1e-9);
}

TEST_CASE("a motion that is set is the motion that is read back, sideways and backwards too") {
  for (const Vec2 velocity : {Vec2{2.0, 0.3}, Vec2{-1.5, 0.4}, Vec2{0.0, -0.2}, Vec2{}}) {
    Plant plant = make();
    plant.set_motion({1.0, 2.0, -0.7}, velocity, 0.9);
    CHECK(distance(plant.base_pose().position(), {1.0, 2.0}) < 1e-14);
    CHECK(distance(plant.base_velocity(), velocity) < 1e-12);
    CHECK(distance(plant.base_velocity_map(), rotate(-0.7, velocity)) < 1e-12);
    CHECK(plant.yaw_rate_radps() == 0.9);
    run(plant, {}, 1.0);
    CHECK(plant.finite());
    CHECK(std::abs(plant.speed_mps()) < 0.01);  // the target is still to stand
  }
}

TEST_CASE("yaw stays in (-pi, pi] through many turns") {
  Plant plant = make();
  command(plant, 0.4, 1.0);
  Time now;
  double turned = 0.0;
  double before = 0.0;
  for (int i = 0; i < 4000; ++i) {
    now = run(plant, now, 0.005);
    const double yaw = plant.base_pose().yaw;
    CHECK(yaw > -math::kPi);
    CHECK(yaw <= math::kPi);
    turned += wrap_angle(yaw - before);
    before = yaw;
  }
  CHECK(turned > 4.0 * math::kPi);
  CHECK(plant.finite());
}

TEST_CASE("the profiles are what their names say") {
  CHECK(Options::of(Fidelity::kLegacy).servo == Servo::kBangBang);
  CHECK_FALSE(Options::of(Fidelity::kLegacy).transport_delay);
  CHECK(Options::of(Fidelity::kLegacy).tyre == Tyre::kLinear);
  CHECK(Options::of(Fidelity::kLegacy).friction == Friction::kTyre);
  for (const Fidelity fidelity : {Fidelity::kPlant, Fidelity::kCar}) {
    const Options options = Options::of(fidelity);
    CHECK(options.servo == Servo::kFirstOrder);
    CHECK(options.transport_delay);
    CHECK(options.friction == Friction::kTyre);
    CHECK(options.tyre == Tyre::kBrush);
    CHECK(options.input_hold_s == 0.0);
    CHECK(car_of(fidelity, test_car()).wheelbase_m == 0.3302);
  }
  const CarParameters legacy = car_of(Fidelity::kLegacy, test_car());
  CHECK(legacy.wheelbase_m == 0.324);
  CHECK(legacy.lr_m() == doctest::Approx(0.162));
  CHECK(legacy.chassis().front_m == legacy.padded_body().front_m);
  CHECK(legacy.lidar_beams == 819);
  // One tick of delay in the bang-bang servo, whatever the car's own delays.
  CarParameters slow = car_of(Fidelity::kLegacy, test_car());
  slow.steering_delay_s = 0.5;
  Plant plant = make(slow, Options::of(Fidelity::kLegacy));
  command(plant, 0.2, 0.0);
  Time now = run(plant, {}, 0.025);
  CHECK(plant.steering_rad() == 0.0);
  run(plant, now, 0.005);
  CHECK(plant.steering_rad() > 0.0);
}

TEST_CASE("nonsense is refused by name") {
  const auto message = [](const CarParameters& car, double friction = 0.7) {
    const Result<Plant> made = Plant::make(car, Options::of(Fidelity::kPlant), friction);
    return made ? std::string() : made.error().message;
  };
  CHECK(message(test_car()).empty());
  CarParameters car = test_car();
  car.mass_kg = -1.0;
  CHECK(message(car).find("car.mass_kg") != std::string::npos);
  car = test_car();
  car.cog_height_m = 0.4;
  CHECK(message(car).find("tip over") != std::string::npos);
  car = test_car();
  car.cornering_stiffness_rear = 3.0;
  CHECK(message(car).find("no stable straight driving above") != std::string::npos);
  car = test_car();
  car.yaw_inertia_kgm2 = 0.0001;
  car.relaxation_length_m = 0.02;
  CHECK(message(car).find("yaw_inertia_kgm2") != std::string::npos);
  CHECK(message(test_car(), 0.0).find("surface friction") != std::string::npos);
  CHECK(message(test_car(), std::numeric_limits<double>::quiet_NaN()).find("surface friction") != std::string::npos);
  Options options;
  options.step_max_s = 1.0;
  const Result<Plant> made = Plant::make(test_car(), options, 0.7);
  REQUIRE_FALSE(made);
  CHECK(made.error().message.find("plant.step_max_s") != std::string::npos);
}

}  // namespace pitwall::plant

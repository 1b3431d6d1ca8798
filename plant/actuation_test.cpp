// SPDX-License-Identifier: Apache-2.0
// Delays, servo, speed loop and friction envelope of the plant: what becomes of a command before it moves the car.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>

#include "plant/plant.hpp"
#include "plant/test_car.hpp"

namespace pitwall::plant {

using namespace testing;

namespace {

double stopping_distance(double acceleration_max) {
  CarParameters car = test_car();
  car.acceleration_max_mps2 = acceleration_max;
  car.speed_loop_accel_gain_per_s = 10.0 * acceleration_max / 20.0;
  car.speed_loop_brake_gain_per_s = 10.0 * acceleration_max / 5.0;
  Plant plant = make(car);
  plant.reset({}, 4.0);
  command(plant, 0.0, 0.0);
  Time now;
  while (plant.speed_mps() > 0.05) {
    plant.step(now, from_milliseconds(1));
    now = now + from_milliseconds(1);
  }
  return plant.base_pose().x;
}

}  // namespace

TEST_CASE("speed commands beyond the car's range are clamped to it") {
  CarParameters car = test_car();
  car.speed_max_mps = 3.0;
  car.speed_min_mps = -1.0;
  Plant plant = make(car);
  command(plant, 0.0, 99.0);
  Time now = run(plant, {}, 6.0);
  CHECK(plant.speed_mps() == doctest::Approx(3.0));
  command(plant, 0.0, -99.0, now);
  run(plant, now, 6.0);
  CHECK(plant.speed_mps() == doctest::Approx(-1.0));
}

TEST_CASE("braking from 4 m/s takes the published distances") {
  CHECK(stopping_distance(9.51) == doctest::Approx(0.85).epsilon(0.01));
  CHECK(stopping_distance(6.867) == doctest::Approx(1.18).epsilon(0.01));
}

TEST_CASE("accelerating from rest uses the drive gain, in reverse as forwards; braking the brake gain") {
  CarParameters car = test_car();
  car.speed_loop_accel_gain_per_s = 2.0;
  car.speed_loop_brake_gain_per_s = 7.0;
  const auto acceleration = [&](double speed, double target) {
    Plant plant = make(car);
    plant.reset({}, speed);
    command(plant, 0.0, target);
    run(plant, {}, 1e-9, {1});
    return plant.acceleration_mps2();
  };
  CHECK(acceleration(0.0, 1.0) == doctest::Approx(2.0));
  CHECK(acceleration(-0.0, 1.0) == doctest::Approx(2.0));
  CHECK(acceleration(0.0, -1.0) == doctest::Approx(-2.0));
  CHECK(acceleration(1.0, 2.0) == doctest::Approx(2.0));
  CHECK(acceleration(-1.0, -2.0) == doctest::Approx(-2.0));
  CHECK(acceleration(2.0, 1.0) == doctest::Approx(-7.0));
  CHECK(acceleration(-2.0, -1.0) == doctest::Approx(7.0));
  CHECK(acceleration(0.5, -0.5) == doctest::Approx(-7.0));
  CHECK(acceleration(0.0, 19.0) == doctest::Approx(9.51));
  // Where the decision of the standing car is held for a tick, a wrong gain would last.
  for (const double target : {2.0, -2.0}) {
    Plant legacy = make(car, Options::of(Fidelity::kLegacy));
    command(legacy, 0.0, target);
    run(legacy, {}, 0.02);
    CHECK(legacy.acceleration_mps2() == doctest::Approx(2.0 * target));
    CHECK(legacy.speed_mps() == doctest::Approx(2.0 * target * 0.02));
  }
  CHECK(acceleration(4.0, 0.0) == doctest::Approx(-9.51));
}

TEST_CASE("a command acts after its delay in seconds, whatever the step") {
  CarParameters car = test_car();
  car.steering_delay_s = 0.0305;
  car.speed_delay_s = 0.07;
  for (const std::int64_t us : {500, 5'000, 10'000, 50'000}) {
    CAPTURE(us);
    Plant plant = make(car);
    command(plant, 0.2, 1.0);
    const Duration dt = {us * 1000};
    Time now;
    while (now + dt <= Time{100'000'000}) {
      plant.step(now, dt);
      now = now + dt;
      CHECK((plant.steering_rad() != 0.0) == (now.ns > 30'500'000));
      CHECK((plant.speed_mps() != 0.0) == (now.ns > 70'000'000));
    }
    // First the rate limit, then the first-order approach: closed form at the last instant.
    const double t = now.seconds() - 0.0305;
    const double limited = (0.2 - 3.2 / 25.0) / 3.2;
    const double expected = t < limited ? 3.2 * t : 0.2 - 3.2 / 25.0 * std::exp(-25.0 * (t - limited));
    CHECK(plant.steering_rad() == doctest::Approx(expected).epsilon(2e-3));
  }
}

TEST_CASE("a command that falls due inside a step splits it exactly") {
  CarParameters car = test_car();
  car.steering_delay_s = 0.0023;
  Plant whole = make(car);
  Plant split = make(car);
  for (Plant* plant : {&whole, &split}) {
    plant->reset({}, 2.0);
    command(*plant, 0.01, 2.0);
  }
  whole.step({}, kTick);
  split.step({}, {2'300'000});
  split.step({2'300'000}, {2'700'000});
  CHECK(same(whole.state(), split.state()));
  // Small angle: no rate limit, the wheel angle is 0.01 (1 - exp(-25 t)).
  CHECK(whole.steering_rad() == doctest::Approx(0.01 * (1.0 - std::exp(-25.0 * 0.0027))).epsilon(1e-5));
}

TEST_CASE("steering and speed travel in lines of their own and in the order of issue") {
  CarParameters car = test_car();
  car.steering_delay_s = 0.020;
  car.speed_delay_s = 0.050;
  Plant plant = make(car);
  Time now;
  for (int i = 0; i < 20; ++i) {
    command(plant, 0.01 * i, 0.1 * i, now);
    plant.step(now, kTick);
    now = now + kTick;
    const std::int64_t steering = (now.ns - 1) / 1'000'000 / 5 - 4;
    const std::int64_t speed = (now.ns - 1) / 1'000'000 / 5 - 10;
    CHECK(plant.steering_target_rad() == doctest::Approx(steering > 0 ? 0.01 * static_cast<double>(steering) : 0.0));
    CHECK(plant.speed_target_mps() == doctest::Approx(speed > 0 ? 0.1 * static_cast<double>(speed) : 0.0));
  }
}

TEST_CASE("non-finite, late-issued and too many commands are refused and change nothing") {
  CarParameters car = test_car();
  car.steering_delay_s = 1.0;
  Plant plant = make(car);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(plant.command(nan, 1.0, {}) == CommandStatus::kNotFinite);
  CHECK(plant.command(0.1, inf, {}) == CommandStatus::kNotFinite);
  CHECK(plant.command(-inf, nan, {}) == CommandStatus::kNotFinite);
  plant.step({}, kTick);
  CHECK(plant.speed_mps() == 0.0);
  command(plant, 0.1, 0.0, {10});
  CHECK(plant.command(0.1, 0.0, {9}) == CommandStatus::kOutOfOrder);
  for (std::size_t i = 1; i < kCommandsUnderWay; ++i) command(plant, 0.1, 0.0, {10});
  CHECK(plant.command(0.1, 0.0, {11}) == CommandStatus::kTooMany);
}

TEST_CASE("the first-order servo settles on its target; the bang-bang one of legacy keeps hunting") {
  Plant plant = make();
  command(plant, 0.1, 1.0);
  Time now = run(plant, {}, 1.0);
  for (int i = 0; i < 100; ++i) {
    now = run(plant, now, 0.005);
    CHECK(plant.steering_rad() == doctest::Approx(0.1).epsilon(1e-9));
  }
  Plant legacy = make(car_of(Fidelity::kLegacy, test_car()), Options::of(Fidelity::kLegacy));
  command(legacy, 0.1, 1.0);
  now = run(legacy, {}, 1.0);
  double least = 1.0;
  double most = -1.0;
  for (int i = 0; i < 100; ++i) {
    now = run(legacy, now, 0.005);
    least = std::min(least, legacy.steering_rad());
    most = std::max(most, legacy.steering_rad());
  }
  CHECK(most - least == doctest::Approx(0.08).epsilon(0.01));  // 3.2 rad/s for one tick of 25 ms
}

TEST_CASE("the servo is stable at any step and any gain the profile allows") {
  for (const double gain : {25.0, 200.0, 1000.0}) {
    CarParameters car = test_car();
    car.steering_servo_gain_per_s = gain;
    Plant plant = make(car);
    command(plant, -0.3, 0.0);
    run(plant, {}, 2.0, from_milliseconds(50));
    CHECK(plant.steering_rad() == doctest::Approx(-0.3).epsilon(1e-9));
  }
}

TEST_CASE("the wheels obey unequal locks and the servo's rate") {
  CarParameters car = test_car();
  car.steering_max_left_rad = 0.31347;
  car.steering_max_right_rad = -0.26337;
  for (const double asked : {1.0, -1.0}) {
    Plant plant = make(car);
    command(plant, asked, 0.0);
    plant.step({}, kTick);
    CHECK(plant.steering_target_rad() == (asked > 0 ? 0.31347 : -0.26337));
    double before = plant.steering_rad();
    Time now = {5'000'000};
    for (int i = 0; i < 200; ++i) {
      now = run(plant, now, 0.005);
      CHECK(std::abs(plant.steering_rad() - before) <= 3.2 * 0.005 + 1e-12);
      before = plant.steering_rad();
    }
    CHECK(plant.steering_rad() == doctest::Approx(asked > 0 ? 0.31347 : -0.26337));
  }
  // Legacy runs past a lock within a piece, as the stock gym does; by no more than that.
  Plant legacy = make(car, Options::of(Fidelity::kLegacy));
  command(legacy, 1.0, 0.0);
  Time now;
  double most = 0.0;
  for (int i = 0; i < 200; ++i) {
    now = run(legacy, now, 0.005);
    most = std::max(most, legacy.steering_rad());
  }
  CHECK(most <= 0.31347 + 3.2 * 0.005);
  CHECK(most > 0.31347);
}

TEST_CASE("the friction envelope keeps full lock within mu g at any speed") {
  for (const double speed : {4.0, 8.0, 18.0}) {
    for (const double friction : {0.3, 0.7, 1.0489}) {
      CAPTURE(speed);
      CAPTURE(friction);
      Plant plant = make(test_car(), envelope(), friction);
      plant.reset({}, speed);
      command(plant, 0.4189, speed);
      run(plant, {}, 3.0);
      CHECK(plant.lateral_acceleration_mps2() <= friction * 9.81);
      const SingleTrack model = {0.15875, 0.17145, 3.74, 0.04712, 0.074, 4.718, 5.4562, friction};
      const double cap = std::min(0.4189, std::atan(0.3302 * friction * 9.81 / (speed * speed)));
      CHECK(plant.lateral_acceleration_mps2() == doctest::Approx(steady_lateral_acceleration(speed, cap, model)).epsilon(0.03));
      CHECK(plant.steering_rad() == doctest::Approx(0.4189));  // the wheels stay turned
      const FrictionReport& report = plant.friction();
      CHECK(report.limit_mps2 == doctest::Approx(friction * 9.81));
      CHECK(report.limit_g() == doctest::Approx(friction));
      CHECK(report.steps == 600);
      CHECK(report.limited_steps > 500);
      CHECK(report.limited_fraction() == doctest::Approx(static_cast<double>(report.limited_steps) / 600.0));
      CHECK(report.max_demanded_lateral_mps2 == doctest::Approx(std::tan(0.4189) * speed * speed / 0.3302).epsilon(0.02));
      CHECK(report.max_allowed_lateral_mps2 <= friction * 9.81 * (1.0 + 1e-9));
      // Without it the linear tyre corners at whatever is asked.
      Options off = envelope();
      off.friction = Friction::kTyre;
      Plant free = make(test_car(), off, friction);
      free.reset({}, speed);
      command(free, 0.4189, speed);
      run(free, {}, 3.0);
      CHECK(free.lateral_acceleration_mps2() > 1.2 * friction * 9.81);
      CHECK(free.friction().limited_steps == 0);
    }
  }
}

TEST_CASE("the envelope's cap is atan(L B / v^2) with the budget that braking leaves") {
  CarParameters car = test_car();
  car.longitudinal_grip_coupling = 0.8;
  Options options = envelope();
  options.cornering_reserve = 0.0;
  Plant plant = make(car, options, 0.7);
  plant.reset({}, 5.0);
  command(plant, 0.4189, 5.0);
  Time now = run(plant, {}, 1.0);
  CHECK(plant.effective_steering_rad() == doctest::Approx(std::atan(0.3302 * 0.7 * 9.81 / std::pow(plant.state().speed, 2))).epsilon(1e-3));
  command(plant, 0.4189, 0.0, now);
  now = run(plant, now, 0.005);
  const double limit = 0.7 * 9.81;
  CHECK(plant.acceleration_mps2() == doctest::Approx(-limit));
  const double budget = std::sqrt(limit * limit - std::pow(0.8 * limit, 2));
  CHECK(plant.effective_steering_rad() == doctest::Approx(std::atan(0.3302 * budget / std::pow(plant.state().speed, 2))));
  run(plant, now, 0.005);
  CHECK(plant.friction().min_lateral_budget_mps2 == doctest::Approx(budget));
}

TEST_CASE("full braking leaves the steering its reserve, and the circle is never exceeded") {
  const double limit = 0.7 * 9.81;
  Plant plant = make(test_car(), envelope(), 0.7);
  plant.reset({}, 6.0);
  command(plant, 0.3, 6.0);
  Time now = run(plant, {}, 1.0);
  command(plant, 0.3, 0.0, now);
  for (int i = 0; i < 60; ++i) {
    now = run(plant, now, 0.005);
    const double v2 = std::pow(plant.state().speed, 2);
    const double lateral = std::tan(plant.effective_steering_rad()) * v2 / 0.3302;
    const double along = plant.acceleration_mps2();
    CHECK(std::sqrt(lateral * lateral + along * along) <= limit * (1.0 + 1e-9));
    if (std::tan(0.3) * v2 / 0.3302 > 0.5 * limit && along < -1.0) CHECK(lateral >= 0.5 * limit * (1.0 - 1e-9));
  }
  // Straight ahead braking loses nothing.
  Plant straight = make(test_car(), envelope(), 0.7);
  straight.reset({}, 6.0);
  command(straight, 0.0, 0.0);
  run(straight, {}, 0.005);
  CHECK(straight.acceleration_mps2() == doctest::Approx(-limit));
  run(straight, Time{5'000'000}, 0.005);
  CHECK(straight.friction().min_lateral_budget_mps2 == doctest::Approx(0.5 * limit));  // what steering would get at once
}

TEST_CASE("legacy follows its stock motor limit above 7.319 m/s and the other profiles do not") {
  Plant legacy = make(test_car(), Options::of(Fidelity::kLegacy));
  legacy.reset({}, 14.638);
  command(legacy, 0.0, 20.0);
  run(legacy, {}, 0.0000001, {100});
  CHECK(legacy.acceleration_mps2() == doctest::Approx(9.51 / 2.0).epsilon(1e-4));
  Plant plant = make();
  plant.reset({}, 14.638);
  command(plant, 0.0, 20.0);
  run(plant, {}, 0.0000001, {100});
  CHECK(plant.acceleration_mps2() == doctest::Approx(9.51));
}

TEST_CASE("steering gain, bias and dead band bend the command, and the locks still hold") {
  CarParameters car = test_car();
  car.steering_gain = 0.9;
  car.steering_bias_rad = 0.02;
  car.steering_max_left_rad = 0.3;
  const auto settles_at = [&](double asked, double from) {
    Plant plant = make(car);
    command(plant, from, 0.0);
    Time now = run(plant, {}, 2.0);
    command(plant, asked, 0.0, now);
    run(plant, now, 2.0);
    return plant.steering_rad();
  };
  CHECK(settles_at(0.2, 0.0) == doctest::Approx(0.9 * 0.2 + 0.02).epsilon(1e-9));
  CHECK(settles_at(-0.2, 0.0) == doctest::Approx(-0.9 * 0.2 + 0.02).epsilon(1e-9));
  CHECK(settles_at(0.0, 0.0) == doctest::Approx(0.02).epsilon(1e-9));
  CHECK(settles_at(0.4, 0.0) == doctest::Approx(0.3).epsilon(1e-9));
  car.steering_deadband_rad = 0.03;
  // Stops short on the side that it comes from, and ignores what is smaller.
  CHECK(settles_at(0.2, 0.0) == doctest::Approx(0.2 - 0.03).epsilon(1e-9));
  CHECK(settles_at(0.1, 0.3) == doctest::Approx(0.11 + 0.03).epsilon(1e-9));
  Plant still = make(car);
  command(still, 0.01, 0.0);  // 9 mrad and the bias of 20: within the band
  run(still, {}, 1.0);
  CHECK(still.steering_rad() == 0.0);
}

TEST_CASE("the speed target may ramp, up and down, and the car follows the ramp") {
  CarParameters car = test_car();
  car.speed_ramp_mps2 = 1.5;
  car.speed_loop_accel_gain_per_s = 8.0;
  Plant plant = make(car);
  command(plant, 0.0, 3.0);
  Time now = run(plant, {}, 1.0);
  // Behind a ramp a first-order loop lags by the time constant.
  CHECK(plant.speed_mps() == doctest::Approx(1.5 * (1.0 - 0.125)).epsilon(1e-3));
  now = run(plant, now, 4.0);
  CHECK(plant.speed_mps() == doctest::Approx(3.0).epsilon(1e-6));
  command(plant, 0.0, 0.0, now);
  run(plant, now, 1.0);
  CHECK(plant.speed_mps() > 1.4);
  CHECK(plant.speed_mps() < 1.7);
}

TEST_CASE("battery, motor and brake each have their limit") {
  const auto given = [](const CarParameters& car, double speed, double target) {
    Plant plant = make(car, {}, 1.5);
    plant.reset({}, speed);
    command(plant, 0.0, target);
    plant.step({}, {1});
    return plant.acceleration_mps2();
  };
  CarParameters car = test_car();
  CHECK(given(car, 5.0, 15.0) == doctest::Approx(9.51));
  car.drive_power_max_w = 100.0;
  CHECK(given(car, 5.0, 15.0) == doctest::Approx(100.0 / 3.74 / 5.0));
  CHECK(given(car, -4.0, -5.0) == doctest::Approx(-4.755));
  CHECK(given(car, 5.0, 0.0) == doctest::Approx(-9.51));
  car = test_car();
  car.motor_free_speed_mps = 10.0;
  CHECK(given(car, 7.0, 15.0) == doctest::Approx(9.51));
  CHECK(given(car, 9.0, 15.0) == doctest::Approx(4.0 * 9.51 * 0.1));
  CHECK(given(car, 11.0, 15.0) == 0.0);
  car = test_car();
  car.braking_max_mps2 = 3.0;
  CHECK(given(car, 5.0, 0.0) == doctest::Approx(-3.0));
  CHECK(given(car, -4.0, 0.0) == doctest::Approx(3.0));
  CHECK(given(car, 0.0, 15.0) == doctest::Approx(9.51));
}

TEST_CASE("a magic formula without a measured curve, a delay below zero and other nonsense are refused by name") {
  const auto said = [](const CarParameters& car, const Options& options) {
    const Result<Plant> made = Plant::make(car, options, 0.7);
    return made ? std::string() : made.error().message;
  };
  Options magic;
  magic.tyre = Tyre::kMagicFormula;
  CHECK(said(test_car(), magic).find("car.magic_front_b") != std::string::npos);
  CarParameters pushing = test_car();
  pushing.magic_front_b = pushing.magic_rear_b = 20.0;
  pushing.magic_front_c = 2.8;
  pushing.magic_rear_c = 1.5;
  pushing.magic_front_d = pushing.magic_rear_d = 0.6;
  CHECK(said(pushing, magic).find("car.magic_front_c = 2.8: the curve pushes") != std::string::npos);
  pushing.magic_front_c = 1.5;
  CHECK(said(pushing, magic).empty());
  const auto with = [&](double CarParameters::*member, double value) {
    CarParameters car = test_car();
    car.*member = value;
    return said(car, {});
  };
  CHECK(with(&CarParameters::mass_kg, 0.0).find("car.mass_kg = 0: allowed: 0.1 .. 100 kg") != std::string::npos);
  CHECK(with(&CarParameters::cornering_stiffness_front, -4.0).find("car.cornering_stiffness_front = -4: allowed: 0.1 .. 100") !=
        std::string::npos);
  CHECK(with(&CarParameters::cog_front_fraction, 1.2).find("car.cog_front_fraction = 1.2: allowed: 0.05 .. 0.95") != std::string::npos);
  CHECK(with(&CarParameters::steering_delay_s, -0.1).find("car.steering_delay_s = -0.1: allowed: 0 .. 1 s") != std::string::npos);
  CHECK(with(&CarParameters::speed_delay_s, -0.1).find("car.speed_delay_s") != std::string::npos);
  CHECK(with(&CarParameters::relaxation_length_m, 0.0).find("car.relaxation_length_m") != std::string::npos);
  CHECK(with(&CarParameters::rolling_resistance, std::numeric_limits<double>::quiet_NaN()).find("car.rolling_resistance") !=
        std::string::npos);
  CHECK(with(&CarParameters::yaw_inertia_kgm2, std::numeric_limits<double>::infinity()).find("car.yaw_inertia_kgm2") != std::string::npos);
}

TEST_CASE("legacy's hunting servo turns as the reference measured: 1.82, 12.31 and 17.74 m/s^2 within 2 %") {
  struct Row {
    double steering, lateral;
  };
  for (const Row& row : {Row{0.05, 1.82}, Row{0.26, 12.31}, Row{0.4189, 17.74}}) {
    Plant legacy = make(car_of(Fidelity::kLegacy, test_car()), Options::of(Fidelity::kLegacy), 1.0489);
    legacy.reset({}, 4.0);
    command(legacy, row.steering, 4.0);
    Time now = run(legacy, {}, 5.0);
    // The largest that its control ticks see: the steering never settles.
    double most = 0.0;
    for (int i = 0; i < 200; ++i) {
      now = run(legacy, now, 0.025);
      most = std::max(most, legacy.lateral_acceleration_mps2());
    }
    CAPTURE(row.steering);
    CHECK(most == doctest::Approx(row.lateral).epsilon(0.02));
  }
}

TEST_CASE("legacy with an ideal servo turns as the published table to three decimals") {
  struct Row {
    double friction, steering, lateral;
  };
  for (const Row& row :
       {Row{1.0489, 0.05, 2.170}, Row{1.0489, 0.26, 11.286}, Row{1.0489, 0.4189, 18.184}, Row{0.7, 0.05, 2.047}, Row{0.7, 0.26, 10.644},
        Row{0.7, 0.4189, 17.150}, Row{0.3, 0.05, 1.667}, Row{0.3, 0.26, 8.668}, Row{0.3, 0.4189, 13.966}}) {
    Options ideal = Options::of(Fidelity::kLegacy);
    ideal.servo = Servo::kFirstOrder;
    ideal.input_hold_s = 0.0;
    CarParameters car = car_of(Fidelity::kLegacy, test_car());
    car.steering_servo_gain_per_s = 100.0;
    Plant legacy = make(car, ideal, row.friction);
    legacy.reset({}, 4.0);
    command(legacy, row.steering, 4.0);
    run(legacy, {}, 8.0);
    CHECK(std::abs(legacy.lateral_acceleration_mps2() - row.lateral) < 6e-4);
  }
}

}  // namespace pitwall::plant

// SPDX-License-Identifier: Apache-2.0
#include "plant/plant.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>

namespace pitwall::plant {
namespace {

constexpr Duration kTick = from_milliseconds(5);

CarParameters test_car() {
  CarParameters car = car_of(Fidelity::kLegacy, {});
  car.wheelbase_m = 0.3302;
  car.cog_front_fraction = 0.15875 / 0.3302;
  car.lidar_fov_rad = 4.7;
  car.lidar_range_max_m = 30.0;
  car.lidar_rate_hz = 40.0;
  car.steering_servo_gain_per_s = 25.0;
  car.longitudinal_grip_coupling = 1.0;
  return car;
}

Plant make(const CarParameters& car = test_car(), const Options& options = Options::of(Fidelity::kPlant), double friction = 1.0489) {
  return Plant::make(car, options, friction).value();
}

void command(Plant& plant, double steering, double speed, Time at = {}) {
  REQUIRE(plant.command(steering, speed, at) == CommandStatus::kAccepted);
}

/// Steps from `from` for `seconds`; returns the time reached.
Time run(Plant& plant, Time from, double seconds, Duration dt = kTick) {
  Time now = from;
  const Time end = from + from_seconds(seconds);
  while (now < end) {
    plant.step(now, dt);
    now = now + dt;
  }
  return now;
}

double apart(const Plant& a, const Plant& b) { return distance(a.base_pose().position(), b.base_pose().position()); }

bool same(const State& a, const State& b) {
  return a.x == b.x && a.y == b.y && a.steering == b.steering && a.speed == b.speed && a.yaw == b.yaw && a.yaw_rate == b.yaw_rate &&
         a.slip == b.slip;
}

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
  for (const double speed : {0.3, -0.3}) {
    Plant plant = make();
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
      CHECK(distance(centre(), fixed) < 1e-4);
      CHECK(distance({plant.state().x, plant.state().y}, fixed) == doctest::Approx(cog_radius).epsilon(1e-4));
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
      Plant plant = make();
      plant.reset({0, 0, 2.2}, 0.0);
      command(plant, steering, speed);
      run(plant, {}, 6.0);
      CHECK(plant.speed_mps() == doctest::Approx(speed).epsilon(1e-6));
    }
  }
}

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
  // Legacy holds its rate for a tick and may run past a lock in it; the rack may not.
  Plant legacy = make(car, Options::of(Fidelity::kLegacy));
  command(legacy, 1.0, 0.0);
  Time now;
  for (int i = 0; i < 200; ++i) {
    now = run(legacy, now, 0.005);
    CHECK(legacy.steering_rad() <= 0.31347);
  }
}

TEST_CASE("the friction envelope keeps full lock within mu g at any speed") {
  for (const double speed : {4.0, 8.0, 18.0}) {
    for (const double friction : {0.3, 0.7, 1.0489}) {
      CAPTURE(speed);
      CAPTURE(friction);
      Plant plant = make(test_car(), Options::of(Fidelity::kPlant), friction);
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
      Options off = Options::of(Fidelity::kPlant);
      off.friction_envelope = false;
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
  Options options = Options::of(Fidelity::kPlant);
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
  Plant plant = make(test_car(), Options::of(Fidelity::kPlant), 0.7);
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
  Plant straight = make(test_car(), Options::of(Fidelity::kPlant), 0.7);
  straight.reset({}, 6.0);
  command(straight, 0.0, 0.0);
  run(straight, {}, 0.005);
  CHECK(straight.acceleration_mps2() == doctest::Approx(-limit));
  run(straight, Time{5'000'000}, 0.005);
  CHECK(straight.friction().min_lateral_budget_mps2 == doctest::Approx(0.5 * limit));  // what steering would get at once
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

TEST_CASE("the profiles are what their names say") {
  CHECK(Options::of(Fidelity::kLegacy).servo == Servo::kBangBang);
  CHECK_FALSE(Options::of(Fidelity::kLegacy).transport_delay);
  CHECK_FALSE(Options::of(Fidelity::kLegacy).friction_envelope);
  for (const Fidelity fidelity : {Fidelity::kPlant, Fidelity::kCar}) {
    const Options options = Options::of(fidelity);
    CHECK(options.servo == Servo::kFirstOrder);
    CHECK(options.transport_delay);
    CHECK(options.friction_envelope);
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

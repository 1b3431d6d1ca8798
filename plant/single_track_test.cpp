// SPDX-License-Identifier: Apache-2.0
#include "plant/single_track.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <limits>

#include "core/geometry.hpp"

namespace pitwall::plant {
namespace {

// The stock gym's car on the neutral wheelbase of the published figures.
SingleTrack neutral(double friction) {
  SingleTrack car;
  car.lf = car.lr = 0.162;
  car.mass = 3.74;
  car.yaw_inertia = 0.04712;
  car.cog_height = 0.074;
  car.stiffness_front = 4.718;
  car.stiffness_rear = 5.4562;
  car.friction = friction;
  return car;
}

SingleTrack stock() {
  SingleTrack car = neutral(1.0489);
  car.lf = 0.15875;
  car.lr = 0.17145;
  return car;
}

State settled(State state, const SingleTrack& car, double seconds, double h = 0.005) {
  const int steps = static_cast<int>(std::lround(seconds / h));
  for (int i = 0; i < steps; ++i) state = step_rk4(state, Input{}, car, h);
  return state;
}

State rolling(double speed, double steering) {
  State state;
  state.speed = speed;
  state.steering = steering;
  return state;
}

double lateral(const State& state) { return state.speed * state.yaw_rate; }

double difference(const State& a, const State& b) {
  double sum = 0.0;
  for (const double d :
       {a.x - b.x, a.y - b.y, a.steering - b.steering, a.speed - b.speed, a.yaw - b.yaw, a.yaw_rate - b.yaw_rate, a.slip - b.slip}) {
    sum += d * d;
  }
  return std::sqrt(sum);
}

State smooth_run(int steps, double seconds) {
  const SingleTrack car = stock();
  State state = rolling(3.0, 0.05);
  state.yaw = 0.3;
  const Input input{0.3, 1.5};
  const double h = seconds / steps;
  for (int i = 0; i < steps; ++i) state = step_rk4(state, input, car, h);
  return state;
}

}  // namespace

TEST_CASE("steady cornering reaches the published lateral accelerations to three decimals") {
  struct Row {
    double friction, steering, lateral;
  };
  const Row rows[] = {{1.0489, 0.05, 2.170}, {1.0489, 0.26, 11.286}, {1.0489, 0.4189, 18.184}, {0.7, 0.05, 2.047},   {0.7, 0.26, 10.644},
                      {0.7, 0.4189, 17.150}, {0.3, 0.05, 1.667},     {0.3, 0.26, 8.668},       {0.3, 0.4189, 13.966}};
  for (const Row& row : rows) {
    CAPTURE(row.friction);
    CAPTURE(row.steering);
    const State state = settled(rolling(4.0, row.steering), neutral(row.friction), 8.0);
    CHECK(std::abs(lateral(state) - row.lateral) < 6e-4);
    CHECK(std::abs(steady_lateral_acceleration(4.0, row.steering, neutral(row.friction)) - row.lateral) < 6e-4);
  }
  const State slide = settled(rolling(4.0, 0.4189), neutral(0.3), 8.0);
  CHECK(slide.slip * 180.0 / math::kPi == doctest::Approx(-41.7).epsilon(0.002));
}

TEST_CASE("the closed form of steady cornering holds for any place of the centre of gravity, forwards and in reverse") {
  for (const double fraction : {0.35, 0.4808, 0.5, 0.6}) {
    for (const double speed : {0.7, 2.0, 5.0, -0.7, -2.0, -4.0}) {
      for (const double steering : {0.02, 0.2, -0.2}) {
        SingleTrack car = neutral(0.8);
        car.lf = 0.33 * fraction;
        car.lr = 0.33 - car.lf;
        CAPTURE(fraction);
        CAPTURE(speed);
        CAPTURE(steering);
        const State state = settled(rolling(speed, steering), car, 2.0, 0.0025);
        // Moment balance gives F_f = m lr/L a_y, F_r = m lf/L a_y; with forces per load the slip angles are a_y / (mu C g).
        const double sign = speed < 0.0 ? -1.0 : 1.0;
        const double understeer = (1.0 / car.stiffness_front - 1.0 / car.stiffness_rear) / (0.8 * 9.81);
        const double expected = steering / (0.33 / (speed * speed) + sign * understeer);
        CHECK(lateral(state) == doctest::Approx(expected).epsilon(1e-6));
        CHECK(state.slip == doctest::Approx(car.lr * state.yaw_rate / speed - sign * expected / (0.8 * 5.4562 * 9.81)).epsilon(1e-6));
      }
    }
  }
}

TEST_CASE("with a load shift the axle forces still balance: the moments in the derivative vanish in the turn") {
  // Independent of the code: forces from loads written out here.
  const SingleTrack car = stock();
  State state = rolling(3.0, 0.1);
  state.slip = 0.02;
  state.yaw_rate = 1.1;
  const double a = -4.0;
  const double wheelbase = car.lf + car.lr;
  const double load_front = car.mass * (9.81 * car.lr - a * car.cog_height) / wheelbase;
  const double load_rear = car.mass * (9.81 * car.lf + a * car.cog_height) / wheelbase;
  CHECK(load_front + load_rear == doctest::Approx(car.mass * 9.81));
  const double force_front = car.friction * car.stiffness_front * load_front * (0.1 - 0.02 - car.lf * 1.1 / 3.0);
  const double force_rear = car.friction * car.stiffness_rear * load_rear * (-0.02 + car.lr * 1.1 / 3.0);
  const State rate = derivative(state, {0.0, a}, car);
  CHECK(rate.yaw_rate == doctest::Approx((car.lf * force_front - car.lr * force_rear) / car.yaw_inertia).epsilon(1e-12));
  CHECK(rate.slip == doctest::Approx((force_front + force_rear) / (car.mass * 3.0) - 1.1).epsilon(1e-12));
  CHECK(rate.speed == a);
}

TEST_CASE("halving the step divides the error by sixteen") {
  const State exact = smooth_run(4096, 0.4);
  const double coarse = difference(smooth_run(32, 0.4), exact);
  const double fine = difference(smooth_run(64, 0.4), exact);
  CHECK(coarse / fine > 13.0);
  CHECK(coarse / fine < 20.0);
}

TEST_CASE("the usual step of 5 ms is within a tenth of a millimetre of the exact motion") {
  CHECK(difference(smooth_run(80, 0.4), smooth_run(4096, 0.4)) < 1e-4);
}

TEST_CASE("mirrored steering gives the mirrored motion") {
  const SingleTrack car = stock();
  for (const double speed : {0.2, 3.0, -0.3, -2.0}) {
    State left = rolling(speed, 0.1);
    State right = rolling(speed, -0.1);
    for (int i = 0; i < 300; ++i) {
      left = step_rk4(left, {0.1, 0.5}, car, 0.005);
      right = step_rk4(right, {-0.1, 0.5}, car, 0.005);
    }
    CHECK(left.x == right.x);
    CHECK(left.y == -right.y);
    CHECK(left.yaw == -right.yaw);
    CHECK(left.slip == -right.slip);
  }
}

TEST_CASE("the motion does not depend on where the map's axes point") {
  const SingleTrack car = stock();
  State a = rolling(0.1, 0.15);
  State b = a;
  b.yaw = 2.0;
  b.x = 10.0;
  b.y = -5.0;
  for (int i = 0; i < 400; ++i) {
    a = step_rk4(a, {0.05, 1.0}, car, 0.005);
    b = step_rk4(b, {0.05, 1.0}, car, 0.005);
  }
  const Vec2 turned = Vec2{10.0, -5.0} + rotate(2.0, {a.x, a.y});
  CHECK(distance(turned, {b.x, b.y}) < 1e-12);
  CHECK(b.yaw - a.yaw == doctest::Approx(2.0));
}

TEST_CASE("rates are finite at rest, at minus zero and at a crawl") {
  for (const double speed : {0.0, -0.0, 1e-9, -1e-9, std::numeric_limits<double>::denorm_min(), 0.5, -0.5}) {
    State state = rolling(speed, 0.3);
    state.yaw_rate = 1.0;
    state.slip = 0.2;
    const State rate = derivative(state, {1.0, 2.0}, stock());
    for (const double value : {rate.x, rate.y, rate.steering, rate.speed, rate.yaw, rate.yaw_rate, rate.slip}) CHECK(std::isfinite(value));
  }
}

TEST_CASE("below the switch the rear axle rolls on its circle") {
  const SingleTrack car = stock();
  for (const double speed : {0.3, -0.3}) {
    const State state = settled(rolling(speed, 0.25), car, 3.0);
    const double rear_radius = (car.lf + car.lr) / std::tan(0.25);
    const double cog_radius = std::sqrt(rear_radius * rear_radius + car.lr * car.lr);
    CHECK(state.yaw_rate == doctest::Approx(speed / cog_radius).epsilon(1e-9));
    CHECK(std::tan(state.slip) == doctest::Approx(car.lr / rear_radius).epsilon(1e-9));
  }
}

TEST_CASE("slip and yaw rate keep up exactly while the wheels turn below the switch") {
  const SingleTrack car = stock();
  State state = settled(rolling(0.2, 0.1), car, 1.0);
  const double h = 0.0025;
  for (int i = 0; i < 60; ++i) state = step_rk4(state, {1.0, 0.8}, car, h);
  const double slip = std::atan(car.lr / (car.lf + car.lr) * std::tan(state.steering));
  CHECK(state.slip == doctest::Approx(slip).epsilon(1e-6));
  CHECK(state.yaw_rate == doctest::Approx(state.speed * std::cos(slip) * std::tan(state.steering) / (car.lf + car.lr)).epsilon(1e-5));
}

TEST_CASE("driving through the switch neither jumps nor kinks, either way and in either direction") {
  const SingleTrack car = stock();
  for (const double direction : {1.0, -1.0}) {
    for (const double change : {1.0, -1.0}) {
      State state = settled(rolling(direction * (change > 0.0 ? 0.3 : 0.8), 0.2), car, 2.0);
      const double h = 0.001;
      double sharpest = 0.0;
      double curvature = state.yaw_rate / state.speed;
      for (int i = 0; i < 500; ++i) {
        const State next = step_rk4(state, {0.0, direction * change}, car, h);
        CHECK(distance({next.x, next.y}, {state.x, state.y}) <= 1.001 * h * std::max(std::abs(next.speed), std::abs(state.speed)));
        const double course = wrap_angle(next.yaw + next.slip - state.yaw - state.slip);
        // Rolling has no tyre slip, driving has: 3 mrad at this speed, which the direction of motion takes up within 10 ms.
        CHECK(std::abs(course) < 1.1 * h * std::abs(state.yaw_rate) + 4e-4);
        const double now = next.yaw_rate / next.speed;
        sharpest = std::max(sharpest, std::abs(now - curvature));
        curvature = now;
        state = next;
      }
      CHECK(sharpest < 2e-3);  // of 0.6 1/m
    }
  }
}

TEST_CASE("a slide entering the switch dies out instead of staying frozen") {
  State state = rolling(0.49, 0.0);
  state.slip = 0.2;
  state.yaw_rate = 1.0;
  state = settled(state, stock(), 0.1);
  CHECK(std::abs(state.slip) < 1e-4);
  CHECK(std::abs(state.yaw_rate) < 1e-3);
}

TEST_CASE("a car that slides to the left moves to the left: v_y is the derivative of the position") {
  State state = rolling(2.0, 0.0);
  state.slip = 0.1;
  const State rate = derivative(state, {}, stock());
  CHECK(rate.y > 0.0);
  CHECK(rate.y == doctest::Approx(2.0 * std::sin(0.1)));
  CHECK(rate.x == doctest::Approx(2.0 * std::cos(0.1)));
}

TEST_CASE("an oversteering car is unstable beyond its critical speed and only there") {
  SingleTrack car = neutral(0.9);
  car.stiffness_front = 5.5;
  car.stiffness_rear = 4.7;
  const double critical = critical_speed(car, false);
  CHECK(std::isinf(critical_speed(car, true)));
  for (const double factor : {0.9, 1.1}) {
    State state = rolling(factor * critical, 0.0);
    state.yaw_rate = 1e-6;
    const State start = state;
    state = settled(state, car, 4.0);
    CHECK((std::abs(state.yaw_rate) < std::abs(start.yaw_rate)) == (factor < 1.0));
  }
}

}  // namespace pitwall::plant

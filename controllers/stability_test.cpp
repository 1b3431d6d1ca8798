// SPDX-License-Identifier: Apache-2.0
#include "controllers/stability.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "controllers/lateral_model.hpp"
#include "controllers/line_following.hpp"
#include "tests/support/toy_world.hpp"

namespace pitwall::controllers {
namespace {

CarParameters ideal_car() {
  CarParameters car = toy::car();
  car.cornering_stiffness_front = car.cornering_stiffness_rear = 0.0;
  car.steering_servo_gain_per_s = 0.0;
  car.steering_delay_s = 0.0;
  return car;
}

CarParameters real_car() {
  CarParameters car = toy::car();
  car.mass_kg = 3.74;
  car.yaw_inertia_kgm2 = 0.047;
  car.cog_front_fraction = 0.48;
  car.cornering_stiffness_front = 4.718;
  car.cornering_stiffness_rear = 5.4562;
  car.surface_friction = 0.8;
  car.steering_servo_gain_per_s = 25.0;
  car.steering_delay_s = 0.04;
  return car;
}

FeedbackGains pursuit(const CarParameters& car, double lookahead_m) {
  return {.lateral = 2.0 * car.wheelbase_m / (lookahead_m * lookahead_m), .heading = 2.0 * car.wheelbase_m / lookahead_m};
}

/// The slow and obvious way: is the sampled loop with this transport delay stable, where the law believes what a model with the
/// car's nominal delay makes of its commands?
bool stable(const FeedbackGains& gains, const CarParameters& car, double v, double h, double transport_s) {
  const LateralKind kind = possible(LateralKind::kDynamic, car);
  const std::size_t n = states(kind);
  const Continuous model = lateral_model(kind, car, v);
  const Discrete real = delayed_hold(model, h, transport_s, gains.sent.size());
  const Discrete believed = delayed_hold(model, h, car.steering_delay_s);
  const std::size_t m = real.a.rows();
  const std::size_t size = m + believed.a.rows();
  Matrix a(size, size);
  Matrix b(size, 1);
  a.set(0, 0, real.a);
  a.set(m, m, believed.a);
  b.set(0, 0, real.b);
  b.set(m, 0, believed.b);
  Matrix k(1, size);
  k(0, kStateD) = gains.lateral;
  k(0, kStateE) = gains.heading;
  k(0, m + n - 1) = gains.wheel;
  if (n == 5) {
    k(0, m + kStateVy) = gains.lateral_velocity;
    k(0, m + kStateR) = gains.yaw_rate;
  }
  for (std::size_t i = 0; i < gains.sent.size(); ++i) k(0, n + i) = gains.sent[i];
  // The believed d and e are used by nobody and drift: they do not count.
  Matrix used(size - 2, size - 2);
  Matrix closed = a - b * k;
  const auto index = [&](std::size_t i) { return i < m ? i : i + 2; };
  for (std::size_t i = 0; i < size - 2; ++i) {
    for (std::size_t c = 0; c < size - 2; ++c) used(i, c) = closed(index(i), index(c));
  }
  return spectral_radius(used) < 1.0;
}

double by_trying(const FeedbackGains& gains, const CarParameters& car, double v, double h) {
  double transport = gains.sent.empty() && gains.wheel == 0.0 ? 0.0 : car.steering_delay_s;
  while (stable(gains, car, v, h, transport + 0.0005)) transport += 0.0005;
  return steering_delay_s(car, h) - car.steering_delay_s + transport;
}

}  // namespace

TEST_CASE("pure pursuit of a rolling car without servo lag bears a delay of 0.52 lookaheads") {
  // Closed form: crossover 2.2 v / Ld, phase margin 65.5 degrees (spec section 3).
  const CarParameters car = ideal_car();
  for (const double v : {1.0, 4.0, 8.0}) {
    const double margin = delay_margin_s(pursuit(car, 1.2), car, v, 1e-3);
    CHECK(std::abs(margin * v / 1.2 - 0.52) < 0.01);
  }
}

TEST_CASE("the delay margin is the transport delay at which the sampled loop really becomes unstable, at every rate and speed") {
  const CarParameters car = real_car();
  for (const double rate : {25.0, 50.0, 100.0}) {
    for (const double v : {1.0, 3.0, 6.0, 9.0}) {
      const FeedbackGains gains = pursuit(car, 0.6 + 0.25 * v);
      const double margin = delay_margin_s(gains, car, v, 1.0 / rate);
      const double tried = by_trying(gains, car, v, 1.0 / rate);
      INFO("rate ", rate, " v ", v, " margin ", margin, " tried ", tried);
      CHECK(std::abs(margin - tried) < 0.02 * tried + 0.001);
    }
  }
}

TEST_CASE("yaw damping, the wheel angle and remembered commands are in the loop as the slow way has them") {
  const CarParameters car = real_car();
  FeedbackGains gains{.lateral = 0.4, .heading = 0.6, .yaw_rate = 0.05, .lateral_velocity = 0.02, .wheel = 0.2};
  const double plain = delay_margin_s(gains, car, 5.0, 0.02);
  CHECK(std::abs(plain - by_trying(gains, car, 5.0, 0.02)) < 0.02 * plain + 0.001);
  const std::vector<double> sent = {0.15, 0.1};
  gains.sent = sent;
  const double with_memory = delay_margin_s(gains, car, 5.0, 0.02);
  INFO("with memory ", with_memory, " tried ", by_trying(gains, car, 5.0, 0.02), " plain ", plain);
  CHECK(std::abs(with_memory - by_trying(gains, car, 5.0, 0.02)) < 0.02 * with_memory + 0.001);
  CHECK(with_memory != plain);
}

TEST_CASE("a shorter lookahead, a higher speed and a slower servo leave less margin; yaw damping more") {
  CarParameters car = real_car();
  const double base = delay_margin_s(pursuit(car, 1.5), car, 5.0, 0.02);
  CHECK(delay_margin_s(pursuit(car, 1.0), car, 5.0, 0.02) < base);
  CHECK(delay_margin_s(pursuit(car, 1.5), car, 8.0, 0.02) < base);
  FeedbackGains stiff{.lateral = 0.5, .heading = 1.0};
  const double undamped = delay_margin_s(stiff, car, 6.0, 0.02);
  stiff.yaw_rate = 0.08;
  CHECK(delay_margin_s(stiff, car, 6.0, 0.02) > undamped);
}

TEST_CASE("acting on the predicted state restores the margin that the transport delay took") {
  CarParameters car = real_car();
  car.steering_delay_s = 0.1;
  const FeedbackGains gains = pursuit(car, 1.5);
  const double v = 6.0;
  const double plain = delay_margin_s(gains, car, v, 0.02);
  const double predicted = delay_margin_s(gains, car, v, 0.02, 0.1);
  const double total = steering_delay_s(car, 0.02);
  CHECK(plain < total);
  CHECK(predicted > 1.4 * total);
}

TEST_CASE("no gain is unstable whatever the delay, and so is positive feedback: margin 0") {
  const CarParameters car = real_car();
  CHECK(delay_margin_s({.lateral = -0.1, .heading = 0.5}, car, 4.0, 0.02) == 0.0);
  CHECK(delay_margin_s({.lateral = 0.5, .heading = -0.5}, car, 4.0, 0.02) == 0.0);
  CHECK(delay_margin_s({}, car, 4.0, 0.02) == 0.0);
}

TEST_CASE("below half a metre per second the margin is that of half a metre per second") {
  const CarParameters car = real_car();
  const FeedbackGains gains = pursuit(car, 1.0);
  CHECK(delay_margin_s(gains, car, 0.0, 0.02) == delay_margin_s(gains, car, 0.5, 0.02));
}

}  // namespace pitwall::controllers

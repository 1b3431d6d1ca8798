// SPDX-License-Identifier: Apache-2.0
#include "controllers/overtake.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using namespace pitwall;
using namespace pitwall::controllers;

namespace {

constexpr double kLength = 0.58;
constexpr double kWidth = 0.31;

Time time_at(double s) { return Time{} + from_seconds(100.0 + s); }

/// A ring of 200 m with room to both sides, the car on it, and opponents that keep their rates.
struct OvertakeBench {
  tracks::Path path = [] {
    std::vector<Vec2> points;
    for (int i = 0; i < 1000; ++i) points.push_back((200.0 / (2.0 * math::kPi)) * unit_vector(2.0 * math::kPi * i / 1000));
    return tracks::Path::make(points, true).value();
  }();
  std::vector<double> speed = std::vector<double>(1000, 4.0);
  std::vector<double> right = std::vector<double>(1000, 1.1);
  std::vector<double> left = std::vector<double>(1000, 1.1);
  std::vector<Opponent> opponents;
  OvertakeParameters parameters;
  Overtake overtake{parameters, kLength, kWidth, 0.0};
  double t = 0.0;
  double s = 5.0;
  double v = 4.0;
  double least_gap = 1e9;   // between the bodies along the line, while they are not apart across it
  double least_wall = 1e9;  // from the body to the wall

  [[nodiscard]] Corridor corridor() const {
    Corridor c;
    c.path = &path;
    c.speed_mps = speed;
    c.free_right_m = right;
    c.free_left_m = left;
    return c;
  }
  Opponent& add(double lead, double rate, double lateral = 0.0) {
    Opponent o;
    o.id = static_cast<std::int32_t>(opponents.size()) + 1;
    o.s_m = path.wrap_s(s + lead);
    o.rate_mps = rate;
    o.lateral_m = lateral;
    o.seen = time_at(t);
    o.hits = 100;
    opponents.push_back(o);
    return opponents.back();
  }
  /// One tick with a car that drives exactly where and as fast as it is told.
  Manoeuvre tick(bool seen = true) {
    const double dt = 0.025;
    t += dt;
    for (Opponent& o : opponents) {
      o.s_m = path.wrap_s(o.s_m + o.rate_mps * dt);
      if (seen) o.seen = time_at(t);
    }
    const double d = overtake.shift_at(path, s);
    const Manoeuvre m = overtake.update(corridor(), opponents, time_at(t), s, d, v);
    const auto i = static_cast<std::size_t>(s / 0.2) % 1000;
    const double target = std::min({4.0, m.speed_cap_mps, speed[i]});
    v = std::max(0.0, std::min(target, v + 3.0 * dt));
    s = path.wrap_s(s + v * dt);
    const double now = overtake.shift_at(path, s);
    least_wall = std::min({least_wall, left[i] - now - 0.5 * kWidth, right[i] + now - 0.5 * kWidth});
    for (const Opponent& o : opponents) {
      if (std::abs(now - o.lateral_m) < kWidth + 0.15) least_gap = std::min(least_gap, std::abs(lead_m(path, o.s_m, s)) - kLength);
    }
    return m;
  }
  void run(double seconds) {
    for (int k = 0; k < static_cast<int>(seconds / 0.025); ++k) tick();
  }
};

}  // namespace

TEST_CASE("a shift ends on its target without overshoot, its slope and bend within bounds") {
  for (const double target : {0.61, -0.61, 0.05, 1.2}) {
    for (const double bend : {0.06, 0.15, 0.3}) {
      Shift shift;
      double slope = 0.0;
      for (double s = 0.0; s < 25.0; s += 0.1) {
        const Shift before = shift;
        CHECK(std::abs(advance(shift, target, bend, 0.1)) <= bend + 1e-9);
        CHECK(std::abs(shift.slope - before.slope) <= bend * 0.1 + 1e-9);
        slope = std::max(slope, std::abs(shift.slope));
        CHECK(std::abs(shift.d_m) <= std::abs(target) + 0.02);
      }
      CHECK(slope <= 0.25 + 1e-9);
      CHECK(std::abs(shift.d_m - target) < 1e-3);
    }
  }
}

TEST_CASE("a mirrored shift is the negated shift") {
  Shift a;
  Shift b;
  for (int k = 0; k < 100; ++k) {
    advance(a, 0.6, 0.1, 0.1);
    advance(b, -0.6, 0.1, 0.1);
    CHECK(a.d_m == -b.d_m);
  }
}

TEST_CASE("a slower car ahead is passed: one start, one completion, bodies and walls kept clear of, back on the line") {
  OvertakeBench b;
  b.add(9.0, 2.0);
  b.run(12.0);
  const auto& c = b.overtake.counters();
  CHECK(c.starts == 1);
  CHECK(c.completed == 1);
  CHECK(c.aborted == 0);
  CHECK(c.declined == 0);
  CHECK(b.least_gap > 0.2);
  CHECK(b.least_wall > 0.18);
  CHECK(lead_m(b.path, b.s, b.opponents[0].s_m) > 1.0);
  CHECK_FALSE(b.overtake.shifted());
}

TEST_CASE("the side of a pass is the one with more room") {
  for (const int side : {-1, +1}) {
    OvertakeBench b;
    b.add(6.5, 2.0);
    (side > 0 ? b.right : b.left).assign(1000, 0.9);
    b.run(8.0);
    CHECK(b.overtake.counters().completed == 1);
    CHECK(b.overtake.counters().last_side == side);
  }
  for (const int side : {-1, +1}) {
    OvertakeBench b;
    b.add(6.5, 2.0, -0.3 * side);
    b.run(8.0);
    CHECK(b.overtake.counters().last_side == side);
  }
}

TEST_CASE("without room on either side it follows, counts one declined pass, and never stands") {
  OvertakeBench b;
  b.right.assign(1000, 0.8);
  b.left.assign(1000, 0.8);
  b.add(9.0, 2.0);
  b.run(20.0);
  CHECK(b.overtake.counters().starts == 0);
  CHECK(b.overtake.counters().declined == 1);
  CHECK(b.least_gap > 0.3);
  CHECK(std::abs(b.v - 2.0) < 0.2);
  CHECK(b.tick().mode == Mode::kFollow);
}

TEST_CASE("room that ends before the pass would be over is no room") {
  OvertakeBench b;
  b.add(6.0, 2.0);
  // 8 m ahead both sides narrow for 3 m.
  for (std::size_t i = 65; i < 80; ++i) b.right[i] = b.left[i] = 0.5;
  CHECK_FALSE(b.overtake.try_pass(b.corridor(), b.opponents, 0, +1, b.s, 4.0).fits);
  CHECK_FALSE(b.overtake.try_pass(b.corridor(), b.opponents, 0, -1, b.s, 4.0).fits);
  for (std::size_t i = 65; i < 80; ++i) b.left[i] = 1.1;
  CHECK(b.overtake.try_pass(b.corridor(), b.opponents, 0, +1, b.s, 4.0).fits);
  CHECK_FALSE(b.overtake.try_pass(b.corridor(), b.opponents, 0, -1, b.s, 4.0).fits);
}

TEST_CASE("a car that is no slower, too far, or not in the way is not passed") {
  OvertakeBench fast;
  fast.add(4.0, 3.8);
  fast.run(3.0);
  CHECK(fast.overtake.counters().starts == 0);
  OvertakeBench far;
  far.add(9.0, 2.0);
  far.tick();
  CHECK(far.overtake.counters().starts == 0);
  CHECK(far.overtake.counters().declined == 0);
  OvertakeBench aside;
  aside.add(6.0, 2.0, 0.75);
  aside.run(6.0);
  CHECK(aside.overtake.counters().starts == 0);
  CHECK(lead_m(aside.path, aside.s, aside.opponents[0].s_m) > 1.0);
}

TEST_CASE("switched off, it only follows") {
  OvertakeBench b;
  b.parameters.enable = false;
  b.overtake = Overtake(b.parameters, kLength, kWidth, 0.0);
  b.add(6.0, 2.0);
  b.run(10.0);
  CHECK(b.overtake.counters().starts == 0);
  CHECK(b.least_gap > 0.3);
}

TEST_CASE("following keeps v <= v_opponent + sqrt(2 a (gap - d0)), slower when nearer than d0") {
  OvertakeBench b;
  b.parameters.enable = false;
  b.overtake = Overtake(b.parameters, kLength, kWidth, 0.0);
  const auto cap = [&](double gap, double rate) {
    b.opponents.clear();
    b.add(gap + kLength, rate);
    return b.overtake.update(b.corridor(), b.opponents, time_at(b.t), b.s, 0.0, 2.0).speed_cap_mps;
  };
  CHECK(cap(2.6, 2.0) == doctest::Approx(2.0 + std::sqrt(2.0 * 2.5 * 2.0)));
  CHECK(cap(0.6, 2.0) == doctest::Approx(2.0));
  CHECK(cap(0.3, 2.0) == doctest::Approx(1.0));
  CHECK(cap(5.1, 0.0) == doctest::Approx(std::sqrt(2.0 * 2.5 * 2.0)));
  CHECK(cap(3.0, 0.0) == 0.0);
}

TEST_CASE("slow brakes follow from farther away: u t + u^2 / (2 a) = gap - d0") {
  OvertakeBench b;
  b.parameters.enable = false;
  b.overtake = Overtake(b.parameters, kLength, kWidth, 0.4);
  b.add(2.6 + kLength, 2.0);
  const double u = b.overtake.update(b.corridor(), b.opponents, time_at(b.t), b.s, 0.0, 2.0).speed_cap_mps - 2.0;
  CHECK(0.4 * u + u * u / 5.0 == doctest::Approx(2.0));
}

TEST_CASE("an opponent that brakes to a stop is not run into") {
  OvertakeBench b;
  b.right.assign(1000, 0.8);
  b.left.assign(1000, 0.8);
  b.add(5.0, 2.0);
  b.run(6.0);
  for (int k = 0; k < 200; ++k) {
    b.opponents[0].rate_mps = std::max(0.0, b.opponents[0].rate_mps - 3.0 * 0.025);
    b.tick();
  }
  CHECK(b.v == 0.0);
  CHECK(b.least_gap > 0.1);
}

TEST_CASE("a car that stands in the way is passed from a standstill") {
  OvertakeBench b;
  b.v = 0.0;
  b.add(4.5, 0.0);
  b.run(15.0);
  CHECK(b.overtake.counters().completed == 1);
  CHECK(b.least_gap > 0.1);
}

TEST_CASE("a pass goes on while the opponent is unseen, and is given up after three seconds") {
  OvertakeBench b;
  b.add(6.0, 3.0);
  for (int k = 0; k < 20; ++k) b.tick();
  REQUIRE(b.overtake.passing());
  for (int k = 0; k < 100; ++k) b.tick(false);
  CHECK(b.overtake.passing());
  for (int k = 0; k < 30 && b.overtake.passing(); ++k) b.tick(false);
  CHECK_FALSE(b.overtake.passing());
  CHECK(b.overtake.counters().aborted == 1);
}

TEST_CASE("an opponent that the tracker forgot ends the pass") {
  OvertakeBench b;
  b.add(6.0, 2.0);
  for (int k = 0; k < 20; ++k) b.tick();
  REQUIRE(b.overtake.passing());
  b.opponents.clear();
  CHECK(b.tick().mode != Mode::kPass);
  CHECK(b.overtake.counters().aborted == 1);
}

TEST_CASE("an opponent that closes the side before the car is beside it: the pass is given up and it is followed") {
  OvertakeBench b;
  b.right.assign(1000, 0.4);
  b.add(6.5, 2.0);
  for (int k = 0; k < 20; ++k) b.tick();
  REQUIRE(b.overtake.passing());
  for (int k = 0; k < 200; ++k) {
    b.opponents[0].lateral_m = std::min(0.4, b.opponents[0].lateral_m + 0.02);
    b.tick();
  }
  CHECK_FALSE(b.overtake.passing());
  CHECK(b.overtake.counters().completed == 0);
  CHECK(b.least_gap > 0.1);
}

TEST_CASE("three cars in a row are passed one after the other or together, and none is touched") {
  OvertakeBench b;
  b.add(7.0, 2.0);
  b.add(11.0, 1.8, 0.1);
  b.add(18.0, 1.5, -0.1);
  b.run(30.0);
  for (const Opponent& o : b.opponents) CHECK(lead_m(b.path, b.s, o.s_m) > 1.0);
  CHECK(b.least_gap > 0.1);
  CHECK(b.overtake.counters().completed >= 1);
}

TEST_CASE("a car beside the slower one closes its side") {
  OvertakeBench b;
  b.add(6.0, 2.0, 0.0);
  const bool alone = b.overtake.try_pass(b.corridor(), b.opponents, 0, +1, b.s, 4.0).fits;
  b.add(6.0, 2.0, 0.7);
  const bool beside = b.overtake.try_pass(b.corridor(), b.opponents, 0, +1, b.s, 4.0).fits;
  CHECK(alone);
  CHECK_FALSE(beside);
}

TEST_CASE("the way back to the line gives way to a wall that comes nearer") {
  OvertakeBench b;
  b.left.assign(1000, 0.7);
  b.add(6.0, 2.0);
  // Behind the place where a pass ends at the earliest, the right side narrows to what the line itself needs.
  for (std::size_t i = 110; i < 140; ++i) b.right[i] = 0.31;
  b.run(14.0);
  CHECK(b.overtake.counters().completed == 1);
  CHECK(b.least_wall > 0.05);
  CHECK(b.least_gap > 0.1);
}

TEST_CASE("on the way back, a wall that the plan did not know makes the shift tighter") {
  OvertakeBench b;
  b.left.assign(1000, 0.7);
  b.add(6.0, 2.0);
  for (int k = 0; k < 400 && b.overtake.counters().completed == 0; ++k) b.tick();
  REQUIRE(b.overtake.counters().completed == 1);
  REQUIRE(b.overtake.shift_m() < -0.5);
  const auto here = static_cast<std::size_t>(b.s / 0.2);
  for (std::size_t i = here + 14; i < here + 60; ++i) b.right[i] = 0.4;
  b.least_wall = 1e9;
  b.run(3.0);
  CHECK(b.least_wall > 0.02);
}

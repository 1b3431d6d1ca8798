// SPDX-License-Identifier: Apache-2.0
#include "sim/laps.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "core/math.hpp"

using namespace pitwall;
using namespace pitwall::sim;

namespace {

constexpr double kRadius = 8.0;
constexpr double kHalfWidth = 1.0;

// A ring, counter-clockwise from (8, 0).
LapLine ring(double line_s_m = 0.0) {
  std::vector<Vec2> points;
  for (int k = 0; k < 400; ++k) points.push_back(kRadius * unit_vector(2.0 * math::kPi * k / 400));
  LapLine line;
  line.path = std::make_shared<const tracks::Path>(tracks::Path::make(points, true).value());
  line.width_left_m.assign(400, kHalfWidth);
  line.width_right_m.assign(400, kHalfWidth);
  line.settings.line_s_m = line_s_m;
  return line;
}

// Moves a LapCounter along points at one of them every 5 ms.
struct Driver {
  LapLine line;
  LapCounter counter;
  Time now;
  Driver(LapLine l, Vec2 start) : line(std::move(l)), counter(line) { counter.reset(now, start); }
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  const LapState& state() const { return counter.state(); }
  void to(Vec2 p) {
    now = now + from_milliseconds(5);
    counter.update(now, p);
  }
  // On the ring, from one angle to another at a radius.
  void arc(double from_rad, double to_rad, double radius = kRadius) {
    const int n = static_cast<int>(std::ceil(std::abs(to_rad - from_rad) * radius / 0.05));
    for (int k = 1; k <= n; ++k) to(radius * unit_vector(from_rad + (to_rad - from_rad) * k / n));
  }
  void straight(Vec2 from, Vec2 until) {
    const int n = static_cast<int>(std::ceil(distance(from, until) / 0.05));
    for (int k = 1; k <= n; ++k) to(from + (static_cast<double>(k) / n) * (until - from));
  }
};

constexpr double kTurn = 2.0 * math::kPi;
Vec2 at(double angle, double radius = kRadius) { return radius * unit_vector(angle); }

}  // namespace

TEST_CASE("a start on the line has crossed it: one way round is one lap") {
  Driver d(ring(), at(0.0));
  CHECK(d.state().started);
  d.arc(0.0, kTurn - 0.01);
  CHECK(d.state().laps == 0);
  d.arc(kTurn - 0.01, kTurn + 0.01);
  CHECK(d.state().laps == 1);
  CHECK(d.state().progress_m == doctest::Approx(d.line.path->length_m() + 0.01 * kRadius).epsilon(1e-3));
}

TEST_CASE("the lap line may lie anywhere on the path") {
  Driver d(ring(20.0), at(20.0 / kRadius + 0.001));
  CHECK(d.state().started);
  d.arc(20.0 / kRadius, 20.0 / kRadius + kTurn + 0.02);
  CHECK(d.state().laps == 1);
}

TEST_CASE("a standing start before the line begins its lap at the first crossing") {
  Driver d(ring(), at(-0.3));
  CHECK_FALSE(d.state().started);
  d.arc(-0.3, 0.1);
  CHECK(d.state().started);
  CHECK(d.state().laps == 0);
  d.arc(0.1, kTurn - 0.01);
  CHECK(d.state().laps == 0);
  d.arc(kTurn - 0.01, kTurn + 0.01);
  CHECK(d.state().laps == 1);
}

TEST_CASE("a standing start after the line needs the way to it first, and then a whole lap") {
  Driver d(ring(), at(0.3));
  CHECK_FALSE(d.state().started);
  d.arc(0.3, kTurn + 0.01);
  CHECK(d.state().started);
  CHECK(d.state().laps == 0);
  d.arc(kTurn + 0.01, 2 * kTurn + 0.01);
  CHECK(d.state().laps == 1);
}

TEST_CASE("before the first lap, backing over the line is undone: the next crossing forwards begins it") {
  Driver d(ring(), at(0.3));
  d.arc(0.3, -0.2);
  CHECK_FALSE(d.state().started);
  d.arc(-0.2, 0.2);
  CHECK(d.state().started);
  CHECK(d.state().laps == 0);
  d.arc(0.2, kTurn + 0.01);
  CHECK(d.state().laps == 1);
}

TEST_CASE("the time of a crossing is interpolated between two updates") {
  Driver d(ring(), at(-0.10));
  // At constant speed: 0.08 rad per 5 ms, the line at 1.25 of them.
  d.to(at(-0.02));
  d.to(at(0.06));
  CHECK(d.state().lap_started_s == doctest::Approx(0.005 + 0.005 * 0.25).epsilon(1e-3));
  d.arc(0.06, kTurn - 0.03);
  const double before = d.now.seconds();
  d.to(at(kTurn + 0.01));
  REQUIRE(d.state().laps == 1);
  CHECK(d.state().last_lap_s == doctest::Approx(before + 0.005 * 0.75 - 0.00625).epsilon(1e-3));
  REQUIRE(d.counter.lap_times().size() == 1);
  CHECK(d.counter.lap_times()[0] == d.state().last_lap_s);
  CHECK(d.state().best_lap_s == d.state().last_lap_s);
}

TEST_CASE("forth and back over the line, however often, counts nothing") {
  Driver d(ring(), at(-0.1));
  for (int k = 0; k < 10; ++k) {
    d.arc(-0.1, 0.1);
    d.arc(0.1, -0.1);
  }
  CHECK(d.state().laps == 0);
  CHECK(std::abs(d.state().progress_m) < 1e-6);
  // A whole lap and then forth and back: still one.
  d.arc(-0.1, kTurn + 0.1);
  for (int k = 0; k < 10; ++k) {
    d.arc(0.1, -0.1);
    d.arc(-0.1, 0.1);
  }
  CHECK(d.state().laps == 1);
}

TEST_CASE("a lap driven backwards counts nothing, and has to be undone") {
  Driver d(ring(), at(0.0));
  d.arc(0.0, -kTurn - 0.1);
  CHECK(d.state().laps == 0);
  CHECK(d.state().progress_m < -kTurn * kRadius);
  d.arc(-kTurn - 0.1, 0.1);
  CHECK(d.state().laps == 0);
  d.arc(0.1, kTurn + 0.1);
  CHECK(d.state().laps == 1);
}

TEST_CASE("passing beside the line counts nothing, not even with re-entry right behind it") {
  Driver d(ring(), at(-1.0));
  d.arc(-1.0, -0.05);
  d.straight(at(-0.05), at(-0.04, kRadius + 1.9));
  CHECK_FALSE(d.state().in_corridor);
  d.arc(-0.04, 0.04, kRadius + 1.9);
  d.straight(at(0.04, kRadius + 1.9), at(0.05));
  CHECK_FALSE(d.state().in_corridor);
  CHECK_FALSE(d.state().started);
  d.arc(0.05, 1.0);
  CHECK_FALSE(d.state().started);
  // It goes on where the corridor was left.
  d.arc(1.0, kTurn + 0.01);
  CHECK(d.state().in_corridor);
  CHECK(d.state().started);
  CHECK(d.state().laps == 0);
}

TEST_CASE("a shortcut across the infield voids the lap until the car comes by where it left") {
  Driver d(ring(), at(0.0));
  d.arc(0.0, 0.5);
  d.straight(at(0.5), at(4.0));
  CHECK_FALSE(d.state().in_corridor);
  d.arc(4.0, kTurn + 0.2);
  CHECK(d.state().laps == 0);
  CHECK_FALSE(d.state().in_corridor);
  const double frozen = d.state().progress_m;
  CHECK(frozen < 0.6 * kRadius);
  // By the place of leaving, and round from there: that lap counts, and nothing is gained by the shortcut.
  d.arc(kTurn + 0.2, kTurn + 0.6);
  CHECK(d.state().in_corridor);
  d.arc(kTurn + 0.6, 2 * kTurn - 0.01);
  CHECK(d.state().laps == 0);
  d.arc(2 * kTurn - 0.01, 2 * kTurn + 0.01);
  CHECK(d.state().laps == 1);
}

TEST_CASE("leaving the corridor and coming back where it was left costs nothing") {
  for (const double aside : {-1.3, 1.3}) {
    Driver d(ring(), at(0.0));
    d.arc(0.0, 1.0);
    d.straight(at(1.0), at(1.0, kRadius + aside));
    CHECK_FALSE(d.state().in_corridor);
    d.straight(at(1.0, kRadius + aside), at(1.0));
    CHECK(d.state().in_corridor);
    d.arc(1.0, kTurn + 0.01);
    CHECK(d.state().laps == 1);
  }
}

TEST_CASE("driving on outside and coming back farther than the tolerance is no re-entry") {
  Driver d(ring(), at(0.0));
  d.arc(0.0, 1.0);
  d.straight(at(1.0), at(1.0, kRadius + 1.3));
  d.arc(1.0, 1.4, kRadius + 1.3);
  d.straight(at(1.4, kRadius + 1.3), at(1.4));
  CHECK_FALSE(d.state().in_corridor);
  d.arc(1.4, 0.95);
  CHECK(d.state().in_corridor);
}

TEST_CASE("the widths of the two sides are their own, and interpolated") {
  LapLine line = ring();
  for (std::size_t k = 0; k < 400; ++k) {
    line.width_left_m[k] = 0.3;  // towards the centre of a counter-clockwise ring
    line.width_right_m[k] = 1.5;
  }
  Driver inner(line, at(0.5, kRadius - 0.4));
  CHECK_FALSE(inner.state().in_corridor);
  Driver outer(line, at(0.5, kRadius + 1.4));
  CHECK(outer.state().in_corridor);
}

TEST_CASE("on a figure of eight the crossing belongs to the branch being driven") {
  // Lemniscate of Gerono, crossing itself at the origin; starts at the right end.
  std::vector<Vec2> points;
  const auto eight = [](double t) { return Vec2{12.0 * math::cos(t), 12.0 * math::sin(t) * math::cos(t)}; };
  for (int k = 0; k < 600; ++k) points.push_back(eight(kTurn * k / 600));
  LapLine line;
  line.path = std::make_shared<const tracks::Path>(tracks::Path::make(points, true).value());
  line.width_left_m.assign(600, 1.0);
  line.width_right_m.assign(600, 1.0);
  Driver d(line, eight(0.0));
  const auto drive = [&](double from, double until) {
    for (int k = 1; k <= 1500; ++k) d.to(eight(from + (until - from) * k / 1500));
  };
  double last = 0.0;
  for (int lap = 0; lap < 3; ++lap) {
    drive(kTurn * lap, kTurn * (lap + 0.5));
    CHECK(d.state().progress_m == doctest::Approx(d.line.path->length_m() * (lap + 0.5)).epsilon(1e-3));
    CHECK(d.state().progress_m > last);
    last = d.state().progress_m;
    CHECK(d.state().laps == lap);
    drive(kTurn * (lap + 0.5), kTurn * (lap + 1) + 1e-3);
    CHECK(d.state().laps == lap + 1);
  }
}

TEST_CASE("a track that passes close by itself does not pull the car across") {
  // A hairpin: two straights 0.9 m apart, corridors that overlap. The car drives on the side towards the other straight.
  std::vector<Vec2> points;
  for (int k = 0; k <= 100; ++k) points.push_back({0.2 * k, 0.0});
  for (int k = 1; k < 10; ++k) points.push_back(Vec2{20.0, 0.45} + 0.45 * unit_vector(-0.5 * math::kPi + math::kPi * k / 10));
  for (int k = 0; k <= 100; ++k) points.push_back({20.0 - 0.2 * k, 0.9});
  for (int k = 1; k < 10; ++k) points.push_back(Vec2{0.0, 0.45} + 0.45 * unit_vector(0.5 * math::kPi + math::kPi * k / 10));
  LapLine line;
  line.path = std::make_shared<const tracks::Path>(tracks::Path::make(points, true).value());
  Driver d(line, {5.0, 0.0});
  for (int k = 1; k <= 200; ++k) d.to({5.0 + 0.05 * k, 0.5});
  CHECK(d.state().progress_m == doctest::Approx(10.0).epsilon(1e-6));
  CHECK(d.state().s_m == doctest::Approx(15.0).epsilon(1e-6));
}

TEST_CASE("reset forgets laps, times and progress") {
  Driver d(ring(), at(0.0));
  d.arc(0.0, kTurn + 0.1);
  REQUIRE(d.state().laps == 1);
  d.counter.reset({}, at(0.0));
  CHECK(d.state().laps == 0);
  CHECK(d.state().progress_m == 0.0);
  CHECK(d.state().last_lap_s == 0.0);
  CHECK(d.counter.lap_times().empty());
}

TEST_CASE("an open path, wrong widths and settings out of range are refused") {
  LapLine line = ring();
  CHECK(check_lap_line(line).ok());
  line.width_left_m.pop_back();
  CHECK(check_lap_line(line).error().message.find("399") != std::string::npos);
  line = ring();
  line.width_right_m[7] = -0.1;
  CHECK(check_lap_line(line).error().message.find("-0.1 at point 7") != std::string::npos);
  line = ring();
  line.settings.reentry_m = 0.0;
  CHECK(check_lap_line(line).error().message.find("reentry_m") != std::string::npos);
  line = ring();
  line.path = std::make_shared<const tracks::Path>(tracks::Path::make({{0, 0}, {1, 0}, {2, 0}}, false).value());
  CHECK(check_lap_line(line).error().message.find("closed") != std::string::npos);
}

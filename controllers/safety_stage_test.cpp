// SPDX-License-Identifier: Apache-2.0
#include "controllers/safety_stage.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/math.hpp"
#include "tests/support/toy_world.hpp"

using namespace pitwall;
using namespace pitwall::controllers;

namespace {

using Action = SafetyVerdict::Action;
constexpr double kFront = 0.47;  // of the padded body, from base_link

CarParameters small_car() { return toy::car(); }

SafetyVerdict judge(const LaserScan& scan, const SafetyMotion& motion, const SafetyParameters& p = {},
                    const CarParameters& c = small_car()) {
  ScanView view(c);
  view.reset();
  REQUIRE(view.update(scan));
  return SafetyStage(p, c).judge(view, motion);
}

SafetyMotion moving(double speed, double steering = 0.0) { return {speed, speed, 0.025, steering}; }

// A wall across the way at x = `x` in base_link, 20 m wide.
LaserScan wall_ahead(double x) { return toy::look(small_car(), {{{x, -10.0}, {x, 10.0}}}, {}, 1081); }

// A post of 4 cm at a point of base_link, nothing else but a far ring.
LaserScan post_at(Vec2 p, int beams = 1081) {
  toy::Walls walls{{p + Vec2{0.0, -0.02}, p + Vec2{0.0, 0.02}}, {p + Vec2{-0.02, 0.0}, p + Vec2{0.02, 0.0}}};
  toy::add_polyline(walls, toy::rounded_rectangle(12.0, 12.0, 3.0), true);
  return toy::look(small_car(), walls, {}, beams);
}

}  // namespace

TEST_CASE("time to collision with a wall straight ahead is clearance over speed") {
  const SafetyVerdict v = judge(wall_ahead(kFront + 1.5), moving(2.0));
  CHECK(v.ttc_s == doctest::Approx(0.75));
  CHECK(v.forward.value_m == doctest::Approx(1.5));
  CHECK(v.ttc_beam == 540);
  CHECK(v.action == Action::kClear);
}

TEST_CASE("time to collision stops at its threshold, at speed but not at a crawl") {
  CHECK(judge(wall_ahead(kFront + 0.69), moving(2.0)).reason == Reason::kTtcBrake);
  CHECK(judge(wall_ahead(kFront + 0.69), moving(2.0)).beam == 540);
  CHECK(judge(wall_ahead(kFront + 0.71), moving(2.0)).action == Action::kClear);
  SafetyParameters p;
  p.ttc_threshold_s = 1.0;
  CHECK(judge(wall_ahead(kFront + 0.55), moving(0.61), p).reason == Reason::kTtcBrake);
  CHECK(judge(wall_ahead(kFront + 0.55), moving(0.59), p).action == Action::kClear);
  p.enable_ttc = false;
  CHECK(judge(wall_ahead(kFront + 0.55), moving(0.61), p).action == Action::kClear);
}

TEST_CASE("standing still, with either zero, and beams at exactly 90 degrees give finite answers") {
  LaserScan scan = toy::look(small_car(), toy::corridor(-9.0, 9.0, 1.2), {}, 1081);
  for (const double speed : {0.0, -0.0, 1e-300, 5.0}) {
    CAPTURE(speed);
    const SafetyVerdict v = judge(scan, moving(speed));
    CHECK_FALSE(std::isnan(v.ttc_s));
    CHECK(std::isfinite(v.ceiling_mps));
  }
  // Three beams: the outer ones at +-90 degrees, where the closing speed is 0 but for rounding.
  LaserScan cross = toy::empty_scan(small_car(), 3);
  cross.angle_min = static_cast<float>(-0.5 * math::kPi);
  cross.angle_max = -cross.angle_min;
  cross.angle_increment = cross.angle_max;
  cross.ranges = {0.5F, math::kInfinityF, 0.5F};
  const SafetyVerdict v = judge(cross, moving(5.0));
  CHECK(v.ttc_s == std::numeric_limits<double>::infinity());
  CHECK(v.ttc_beam == -1);
}

TEST_CASE("the wheels of a small_car that stands count as moving once it was told to drive") {
  const SafetyStage stage({}, small_car());
  CHECK(stage.effective_speed_mps({0.05, 1.5, 0.1, 0.0}) == 1.5);
  CHECK(stage.effective_speed_mps({0.05, 1.5, 0.6, 0.0}) == 0.05);
  CHECK(stage.effective_speed_mps({0.2, 1.5, 0.1, 0.0}) == 0.2);
  CHECK(stage.effective_speed_mps({-2.0, 1.5, 0.1, 0.0}) == 2.0);  // an inverted sign is taken as speed all the same
  CHECK(judge(wall_ahead(kFront + 0.4), {0.0, 1.5, 0.1, 0.0}).reason == Reason::kTtcBrake);
}

TEST_CASE("time to collision ignores a wall that the small_car passes, up to the margin") {
  // Half the small_car 0.155 m, margin 0.05 m.
  SafetyParameters p;
  CHECK(judge(toy::look(small_car(), {{{0.0, 0.22}, {9.0, 0.22}}}, {}, 1081), moving(2.0), p).ttc_s ==
        std::numeric_limits<double>::infinity());
  CHECK(judge(toy::look(small_car(), {{{0.0, 0.19}, {9.0, 0.19}}}, {}, 1081), moving(2.0), p).ttc_s < 10.0);
  p.ttc_path_margin_m = 0.02;
  CHECK(judge(toy::look(small_car(), {{{0.0, 0.19}, {9.0, 0.19}}}, {}, 1081), moving(2.0), p).ttc_s ==
        std::numeric_limits<double>::infinity());
}

TEST_CASE("time to collision follows the turn: what lies on the arc counts, what lies straight ahead does not") {
  const double steering = 0.25;
  const double radius = 0.36 / std::tan(steering);
  const double turn = 0.7;
  const Vec2 on_arc{radius * std::sin(turn), radius * (1.0 - std::cos(turn))};
  CHECK(judge(post_at(on_arc), moving(2.0, steering)).ttc_s < 1.0);
  CHECK(judge(post_at(on_arc), moving(2.0, 0.0)).ttc_s > 1.0);
  CHECK(judge(post_at(on_arc), moving(2.0, -steering)).ttc_s > 1.0);
  CHECK(judge(post_at({1.5, 0.0}), moving(2.0, steering)).ttc_s > 1.0);
  CHECK(judge(post_at({1.5, 0.0}), moving(2.0, 0.0)).ttc_s < 1.0);
  // Just inside and outside the band, radially.
  const auto beside = [&](double off) { return Vec2{(radius + off) * std::sin(turn), radius - (radius + off) * std::cos(turn)}; };
  CHECK(judge(post_at(beside(0.18)), moving(2.0, steering)).ttc_s < 1.0);
  CHECK(judge(post_at(beside(0.26)), moving(2.0, steering)).ttc_s > 1.0);
  CHECK(judge(post_at(beside(-0.18)), moving(2.0, steering)).ttc_s < 1.0);
  CHECK(judge(post_at(beside(-0.26)), moving(2.0, steering)).ttc_s > 1.0);
}

TEST_CASE("a beam at angle theta closes in with v cos(theta)") {
  LaserScan scan = toy::empty_scan(small_car(), 1081);
  const std::size_t beam = 560;  // 5 degrees to the left
  scan.ranges.assign(1081, 20.0F);
  scan.ranges[beam] = 1.0F;
  ScanView view(small_car());
  view.reset();
  REQUIRE(view.update(scan));
  const SafetyVerdict v = judge(scan, moving(2.0));
  CHECK(v.ttc_beam == static_cast<int>(beam));
  CHECK(v.ttc_s == doctest::Approx((1.0 - view.boundary_m(beam)) / (2.0 * std::cos(view.bearing_rad(beam)))));
}

TEST_CASE("near the body everything stops, with or without speed: contact at 0, emergency up to the threshold") {
  const auto beside = [](double clearance) {
    return toy::look(small_car(), toy::corridor(-3.0, 3.0, 2.0 * (0.155 + clearance)), {}, 1081);
  };
  CHECK(judge(beside(-0.01), moving(0.0)).reason == Reason::kBodyContact);
  CHECK(judge(beside(0.015), moving(0.0)).reason == Reason::kEmergencyClearance);
  CHECK(judge(beside(0.015), moving(0.0)).action == Action::kStop);
  CHECK(judge(beside(0.025), moving(0.0)).reason != Reason::kEmergencyClearance);
  SafetyParameters p;
  p.emergency_stop_clearance_m = 0.05;
  CHECK(judge(beside(0.025), moving(0.0), p).reason == Reason::kEmergencyClearance);
}

TEST_CASE("what the LiDAR sees of its own small_car behind 90 degrees is no obstacle") {
  LaserScan scan = toy::look(small_car(), toy::corridor(-3.0, 3.0, 2.0), {}, 1081);
  ScanView view(small_car());
  view.reset();
  REQUIRE(view.update(scan));
  scan.ranges[100] = static_cast<float>(view.boundary_m(100) - 0.05);  // 110 degrees to the right
  CHECK(judge(scan, moving(0.0)).action == Action::kClear);
  scan.ranges[300] = static_cast<float>(view.boundary_m(300) - 0.05);  // 60 degrees to the right
  CHECK(judge(scan, moving(0.0)).reason == Reason::kBodyContact);
  CHECK(judge(scan, moving(0.0)).beam == 300);
}

TEST_CASE("nearer than the forward clearance the small_car may creep, bounded, down to half of it") {
  const SafetyVerdict creep = judge(wall_ahead(kFront + 0.24), moving(0.1));
  CHECK(creep.action == Action::kCreep);
  CHECK(creep.reason == Reason::kEscapeCreep);
  CHECK(creep.ceiling_mps == 0.25);
  const SafetyVerdict slower = judge(wall_ahead(kFront + 0.13), moving(0.1));
  CHECK(slower.action == Action::kCreep);
  CHECK(slower.ceiling_mps < 0.06);
  CHECK(slower.ceiling_mps > 0.0);
  const SafetyVerdict stop = judge(wall_ahead(kFront + 0.12), moving(0.1));
  CHECK(stop.action == Action::kStop);
  CHECK(stop.reason == Reason::kForwardStop);
  CHECK(stop.ceiling_mps == 0.0);
  CHECK(judge(wall_ahead(kFront + 0.26), moving(0.1)).action == Action::kClear);
}

TEST_CASE("the speed ceiling stops short: v t + v^2 / 2a is the distance to the forward clearance") {
  CarParameters c = small_car();
  c.speed_delay_s = 0.03;
  c.lidar_delay_s = 0.02;
  const SafetyVerdict v = judge(wall_ahead(kFront + 1.25), moving(0.1), {}, c);
  const double speed = v.ceiling_mps;
  CHECK(speed * 0.15 + speed * speed / 6.0 == doctest::Approx(1.0));
  SafetyParameters p;
  p.stopping_response_s = 0.0;
  CHECK(judge(wall_ahead(kFront + 1.25), moving(0.1), p).ceiling_mps == doctest::Approx(std::sqrt(6.0)));
  CHECK(SafetyStage({}, small_car()).stopping_speed_mps(0.0) == 0.0);
  CHECK(SafetyStage({}, small_car()).stopping_speed_mps(-1.0) == 0.0);
}

TEST_CASE("beside the forward cone a wall does not slow the car") {
  // 0.4 m to the left, parallel: seen within 30 degrees from 0.8 m on.
  const SafetyVerdict v = judge(toy::look(small_car(), {{{-5.0, 0.4}, {9.0, 0.4}}}, {}, 1081), moving(0.1));
  CHECK(v.forward.value_m == doctest::Approx(0.8 - 0.21 / std::cos(math::kPi / 6.0)).epsilon(0.01));
}

TEST_CASE("a drop-out changes no verdict and a blind sector is not believed free") {
  LaserScan scan = wall_ahead(kFront + 1.0);
  const double before = judge(scan, moving(1.0)).ceiling_mps;
  scan.ranges[545] = math::kInfinityF;
  CHECK(judge(scan, moving(1.0)).ceiling_mps == before);
  // A black wall 0.3 m ahead between white side walls: nothing comes back from it.
  toy::Walls walls = toy::corridor(-3.0, kFront + 0.3, 1.0);
  const LaserScan black = toy::look(small_car(), walls, {}, 1081);
  CHECK(judge(black, moving(0.3)).ceiling_mps < 1.6);
  CHECK(judge(black, moving(0.3)).ceiling_mps > 0.0);
  LaserScan blind = toy::empty_scan(small_car(), 1081);
  CHECK(judge(blind, moving(0.0)).reason == Reason::kForwardStop);
}

TEST_CASE("a mirrored scan gives the mirrored verdict") {
  toy::Walls walls = toy::ring(3.0, 2.0, 1.0, 1.6);
  walls.push_back({{1.0, -2.4}, {1.4, -2.2}});
  const Pose2 pose{0.0, -2.1, 0.2};
  const LaserScan scan = toy::look(small_car(), walls, pose, 1081);
  const CarParameters mirror = toy::mirrored(small_car());
  for (const double steering : {-0.2, 0.0, 0.13}) {
    const SafetyVerdict a = judge(scan, moving(1.4, steering));
    const SafetyVerdict b = judge(toy::mirrored(scan), moving(1.4, -steering), {}, mirror);
    CHECK(a.action == b.action);
    CHECK(a.ttc_s == b.ttc_s);
    CHECK(a.ceiling_mps == b.ceiling_mps);
    CHECK(a.forward.beam == 1080 - b.forward.beam);
  }
}

TEST_CASE("the start-up checks name what does not fit") {
  CHECK(validate(SafetyParameters{}, small_car(), "x").ok());
  CarParameters c = small_car();
  c.lidar_x_m = 0.6;
  CHECK(validate(SafetyParameters{}, c, "x").error().message.find("LiDAR") != std::string::npos);
  c = small_car();
  c.lidar_y_m = 0.2;
  CHECK_FALSE(validate(SafetyParameters{}, c, "x").ok());
  c = small_car();
  c.lidar_beams = 9000;
  CHECK_FALSE(validate(SafetyParameters{}, c, "x").ok());
  SafetyParameters p;
  p.emergency_stop_clearance_m = 0.3;
  CHECK(validate(p, small_car(), "x").error().message.find("forward_stop_clearance_m 0.25") != std::string::npos);
  p = {};
  p.body_fov_rad = 1.0;
  CHECK_FALSE(validate(p, small_car(), "x").ok());
}

// SPDX-License-Identifier: Apache-2.0
#include "controllers/gap_follow.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "core/math.hpp"
#include "tests/support/allocation_guard.hpp"
#include "tests/support/toy_world.hpp"

using namespace pitwall;
using namespace pitwall::controllers;

namespace {

// One controller and its inputs; tick() advances 25 ms.
struct GapBench {
  explicit GapBench(const GapFollowParameters& p = {}, const CarParameters& car = toy::car()) : gap_follow(p, car) { gap_follow.reset({}); }
  Command tick(const LaserScan& scan, double speed = 0.0) {
    in.advance(from_milliseconds(25));
    in.scan = scan;
    in.odometry.speed_mps = speed;
    return gap_follow.update(in.observe());
  }
  toy::Inputs in;
  GapFollow gap_follow;
};

LaserScan in_corridor(double width, double y = 0.0, double yaw = 0.0) {
  return toy::look(toy::car(), toy::corridor(-20.0, 20.0, width), {0.0, y, yaw}, 1081);
}

ScanView seen_by(const LaserScan& scan) {
  ScanView view(toy::car());
  view.reset();
  REQUIRE(view.update(scan));
  return view;
}

std::string refusal(const GapFollowParameters& p, const CarParameters& car = toy::car()) {
  const Status status = validate(p, car);
  return status.ok() ? "" : status.error().message;
}

}  // namespace

TEST_CASE("side distance is the wall beside the car, with yaw its nearest beam, and infinite beside a doorway") {
  SideDistances sides = side_distances(seen_by(in_corridor(2.0, 0.3)), math::kPi / 3.0);
  CHECK(sides.left_m == doctest::Approx(0.7));
  CHECK(sides.right_m == doctest::Approx(1.3));
  // Turned 20 degrees to the left: the perpendicular still lies within +-30 degrees of the side.
  sides = side_distances(seen_by(in_corridor(2.0, 0.0, 20.0 * math::kDegree)), math::kPi / 3.0);
  const double y = 0.26 * std::sin(20.0 * math::kDegree);
  CHECK(sides.left_m == doctest::Approx(1.0 - y).epsilon(1e-4));
  CHECK(sides.right_m == doctest::Approx(1.0 + y).epsilon(1e-4));
  // Turned 45 degrees: the perpendicular is out of sight, the edge of the sector is nearest.
  sides = side_distances(seen_by(in_corridor(2.0, 0.0, 45.0 * math::kDegree)), math::kPi / 3.0);
  CHECK(sides.left_m == doctest::Approx((1.0 - 0.26 * std::sin(45.0 * math::kDegree)) / std::cos(15.0 * math::kDegree)).epsilon(1e-3));
  // No wall on the left within the sector.
  const toy::Walls doorway{{{-20.0, -1.0}, {20.0, -1.0}}};
  sides = side_distances(seen_by(toy::look(toy::car(), doorway, {}, 1081)), math::kPi / 3.0);
  CHECK(sides.left_m == math::kInfinity);
  CHECK(sides.right_m == doctest::Approx(1.0));
}

TEST_CASE("centering is symmetric, bounded, and fades with bearing, depth and distance") {
  const GapFollowParameters p;
  CHECK(centering_bias({1.0, 1.0}, 0.0, 5.0, p) == 0.0);
  CHECK(centering_bias({1.2, 1.0}, 0.0, 5.0, p) == doctest::Approx(0.25 * 0.1));
  CHECK(centering_bias({1.0, 1.2}, 0.0, 5.0, p) == -centering_bias({1.2, 1.0}, 0.0, 5.0, p));
  CHECK(centering_bias({3.0, 0.5}, 0.0, 5.0, p) == doctest::Approx(0.08));
  CHECK(centering_bias({0.5, 3.0}, 0.0, 5.0, p) == doctest::Approx(-0.08));
  CHECK(centering_bias({math::kInfinity, 1.0}, 0.0, 5.0, p) == 0.0);
  CHECK(centering_bias({1.0, math::kInfinity}, 0.0, 5.0, p) == 0.0);
  const double full = centering_bias({1.2, 1.0}, 0.0, 5.0, p);
  for (const double sign : {1.0, -1.0}) {
    CHECK(centering_bias({1.2, 1.0}, sign * 4.0 * math::kDegree, 5.0, p) == doctest::Approx(full));
    CHECK(centering_bias({1.2, 1.0}, sign * 9.5 * math::kDegree, 5.0, p) == doctest::Approx(0.5 * full));
    CHECK(centering_bias({1.2, 1.0}, sign * 15.0 * math::kDegree, 5.0, p) == doctest::Approx(0.0));
  }
  CHECK(centering_bias({1.2, 1.0}, 0.0, 2.0, p) == doctest::Approx(0.5 * full));
  CHECK(centering_bias({1.2, 1.0}, 0.0, 1.5, p) == 0.0);
  CHECK(centering_bias({4.5, 4.0}, 0.0, 5.0, p) == doctest::Approx(0.5 * 0.25 * 0.25));
  CHECK(centering_bias({5.0, 4.0}, 0.0, 5.0, p) == 0.0);
}

TEST_CASE("the width factor is linear between narrow and reference, and 1 beside an opening") {
  CHECK(width_factor({0.6, 0.8}, 1.4, 2.6) == doctest::Approx(0.0));
  CHECK(width_factor({1.0, 1.0}, 1.4, 2.6) == doctest::Approx(0.5));
  CHECK(width_factor({1.3, 1.3}, 1.4, 2.6) == doctest::Approx(1.0));
  CHECK(width_factor({0.2, 0.2}, 1.4, 2.6) == 0.0);
  CHECK(width_factor({9.0, 9.0}, 1.4, 2.6) == 1.0);
  CHECK(width_factor({math::kInfinity, 0.5}, 1.4, 2.6) == 1.0);
}

TEST_CASE("in the middle of a corridor it drives straight, beside the middle it steers back") {
  CHECK(std::abs(GapBench().tick(in_corridor(2.2)).steering_angle_rad) < 1e-6F);
  CHECK(GapBench().tick(in_corridor(2.2)).speed_mps == doctest::Approx(0.3));
  CHECK(GapBench().tick(in_corridor(2.2, 0.3)).steering_angle_rad < -0.02F);
  CHECK(GapBench().tick(in_corridor(2.2, -0.3)).steering_angle_rad > 0.02F);
  CHECK(GapBench().tick(in_corridor(2.2, 0.0, 0.15)).steering_angle_rad < -0.02F);
  GapFollowParameters off;
  off.enable_centering = false;
  const double without = GapBench(off).tick(in_corridor(2.2, 0.05)).steering_angle_rad;
  const double with = GapBench().tick(in_corridor(2.2, 0.05)).steering_angle_rad;
  CHECK(with - without == doctest::Approx(-0.25 * 0.05).epsilon(0.01));
}

TEST_CASE("a mirrored scan gives the mirrored command, tick after tick") {
  const CarParameters car = toy::car();
  const toy::Walls walls = toy::ring(5.0, 3.2, 1.8, 1.8);
  GapBench a;
  GapBench b({}, toy::mirrored(car));
  const Rng rng(4, "poses");
  for (std::uint64_t k = 0; k < 60; ++k) {
    // 0.1 m apart along the bottom and around the first corner, with some yaw.
    const double s = 0.1 * static_cast<double>(k);
    const Pose2 pose{std::min(s, 3.2) + 0.0, -3.2 + 0.2 * (rng.uniform(k) - 0.5), 0.3 * (rng.uniform(k, 1) - 0.5)};
    LaserScan scan = toy::look(car, walls, pose, 541);
    for (std::size_t i = 0; i < scan.ranges.size(); ++i)
      scan.ranges[i] += static_cast<float>(0.01 * rng.normal(k, static_cast<std::uint32_t>(i + 10)));
    const Command c = a.tick(scan, 1.5);
    const Command m = b.tick(toy::mirrored(scan), 1.5);
    REQUIRE(c.steering_angle_rad == doctest::Approx(-m.steering_angle_rad).epsilon(1e-9));
    REQUIRE(c.speed_mps == doctest::Approx(m.speed_mps).epsilon(1e-9));
    REQUIRE(c.reason == m.reason);
  }
}

TEST_CASE("every watchdog stops it with zero speed and the wheels held, and recovery needs no button") {
  const auto broken = [](auto&& spoil) {
    GapBench b;
    for (int k = 0; k < 10; ++k) b.tick(in_corridor(2.2, 0.3), 1.0);
    const float held = b.tick(in_corridor(2.2, 0.3), 1.0).steering_angle_rad;
    b.in.advance(from_milliseconds(25));
    Observation obs = b.in.observe();
    spoil(obs, b.in);
    const Command c = b.gap_follow.update(obs);
    CHECK(c.speed_mps == 0.0F);
    CHECK(c.steering_angle_rad == held);
    CHECK(c.layer == Layer::kWatchdog);
    CHECK(is_stop(c.reason));
    CHECK(b.tick(in_corridor(2.2, 0.3), 1.0).speed_mps > 0.0F);
    return c.reason;
  };
  CHECK(broken([](Observation& o, toy::Inputs&) { o.joy.message = nullptr; }) == Reason::kWaitingForJoy);
  CHECK(broken([](Observation& o, toy::Inputs&) { o.joy.arrival = o.now - from_seconds(0.6); }) == Reason::kJoyStale);
  CHECK(broken([](Observation& o, toy::Inputs&) { o.scan.message = nullptr; }) == Reason::kScanMissing);
  CHECK(broken([](Observation& o, toy::Inputs&) { o.scan.arrival = o.now - from_seconds(0.6); }) == Reason::kScanStale);
  CHECK(broken([](Observation&, toy::Inputs& in) { in.scan.angle_increment = 0.0F; }) == Reason::kScanMalformed);
  CHECK(broken([](Observation& o, toy::Inputs&) { o.odometry.message = nullptr; }) == Reason::kOdometryMissing);
  CHECK(broken([](Observation& o, toy::Inputs&) { o.odometry.arrival = o.now - from_seconds(0.6); }) == Reason::kOdometryStale);
  CHECK(broken([](Observation&, toy::Inputs& in) { in.odometry.speed_mps = std::nan(""); }) == Reason::kOdometryInvalid);
}

TEST_CASE("it needs no pose") {
  GapBench b;
  b.in.advance(from_milliseconds(25));
  b.in.scan = in_corridor(2.2);
  Observation obs = b.in.observe();
  obs.pose.message = nullptr;
  CHECK(b.gap_follow.update(obs).speed_mps > 0.0F);
}

TEST_CASE("it runs on each scan and is called gap_follow") {
  const GapBench b;
  CHECK_FALSE(b.gap_follow.trigger().period.has_value());
  CHECK(b.gap_follow.name() == "gap_follow");
}

TEST_CASE("a wall that comes up too fast is a time-to-collision stop, with its beam") {
  toy::Walls walls = toy::corridor(-20.0, 1.2, 2.2);
  walls.push_back({{1.2, -1.1}, {1.2, 1.1}});
  const LaserScan scan = toy::look(toy::car(), walls, {}, 1081);
  GapBench b;
  const Command c = b.tick(scan, 2.4);  // 0.73 m of clearance: 0.30 s
  CHECK(c.reason == Reason::kTtcBrake);
  CHECK(c.layer == Layer::kSafety);
  CHECK(c.speed_mps == 0.0F);
  CHECK(c.ttc_s == doctest::Approx(0.73 / 2.4));
  CHECK(c.beam == 540);
  CHECK(GapBench().tick(scan, 1.9).reason == Reason::kDrive);
  GapFollowParameters off;
  off.safety.enable_ttc = false;
  CHECK(GapBench(off).tick(scan, 2.4).reason == Reason::kDrive);
}

TEST_CASE("without a gap it stops, with only a shallow one it takes the fallback at corner speed") {
  // A closed room: clear of the body, farther than the forward clearance, nowhere 0.8 m deep.
  toy::Walls room;
  toy::add_polyline(room, {{-0.9, -0.45}, {0.86, -0.45}, {0.86, 0.45}, {-0.9, 0.45}}, true);
  const Command c = GapBench().tick(toy::look(toy::car(), room, {}, 1081));
  CHECK(c.reason == Reason::kNoSafeGap);
  CHECK(c.speed_mps == 0.0F);

  toy::Walls bend = toy::corridor(-20.0, 1.9, 1.8);
  bend.push_back({{1.9, -0.9}, {1.9, 0.9}});
  GapFollowParameters grippy;  // so that the curvature limit, 2.1 m/s, is out of the way
  grippy.command.max_lateral_accel_mps2 = 4.0;
  GapBench b(grippy);
  const Command f = b.tick(toy::look(toy::car(), bend, {}, 1081), 2.0);
  CHECK(f.reason == Reason::kDrive);
  const auto counters = b.gap_follow.counters();
  CHECK(counters.back().first == "fallback_steps");
  CHECK(counters.back().second == 1.0);
  // Width 1.8 m lies a third of the way from narrow to reference: 1.1 + 0.3 / 3 m/s.
  CHECK(f.speed_mps == doctest::Approx(1.2).epsilon(0.001));
  grippy.corner_speed_mps = grippy.corner_speed_wide_mps = 0.3;  // below the floor of 0.8 m/s for planned slow-downs
  CHECK(GapBench(grippy).tick(toy::look(toy::car(), bend, {}, 1081), 2.0).speed_mps == doctest::Approx(0.8));
}

TEST_CASE("the speed floor never lifts the curvature limit or the safety ceiling") {
  GapFollowParameters p;
  p.min_speed_mps = 1.4;
  p.command.max_lateral_accel_mps2 = 0.3;
  p.corner_speed_wide_mps = 2.0;
  // A gap far to the left: full lock, where sqrt(0.3 * 0.36 / tan(0.31347)) = 0.577 m/s.
  const toy::Walls corner{{{-5.0, -1.0}, {1.6, -1.0}}, {{1.6, -1.0}, {1.6, 9.0}}, {{-5.0, 1.0}, {-0.4, 1.0}}, {{-0.4, 1.0}, {-0.4, 9.0}}};
  const LaserScan scan = toy::look(toy::car(), corner, {}, 1081);
  GapBench b(p);
  Command c;
  for (int k = 0; k < 40; ++k) c = b.tick(scan, 0.55);
  CHECK(c.steering_angle_rad > 0.3F);
  CHECK(c.speed_mps == doctest::Approx(std::sqrt(0.3 * 0.36 / std::tan(static_cast<double>(c.steering_angle_rad)))));

  GapBench s(p);
  for (int k = 0; k < 5; ++k) {
    toy::Walls end = toy::corridor(-20.0, 0.82, 2.4);
    end.push_back({{0.82, -1.2}, {0.82, 1.2}});
    c = s.tick(toy::look(toy::car(), end, {}, 1081), 1.0);
    CHECK(static_cast<double>(c.speed_mps) <= s.gap_follow.verdict().ceiling_mps);
    CHECK(s.gap_follow.verdict().ceiling_mps < 0.6);
  }
}

TEST_CASE("creeping is named, bounded, and without centering") {
  GapFollowParameters p;
  p.safety_margin_m = p.min_safety_margin_m = 0.02;
  // A post 0.48 m from the LiDAR, 28 degrees to the left, in a corridor whose middle is 0.2 m to the left.
  toy::Walls walls = toy::corridor(-20.0, 20.0, 2.2);
  const double angle = 28.0 * math::kDegree;
  const Vec2 post{0.26 + 0.48 * std::cos(angle), -0.2 + 0.48 * std::sin(angle)};
  walls.push_back({post + Vec2{0.0, -0.01}, post + Vec2{0.0, 0.01}});
  GapBench b(p);
  Command c;
  for (int k = 0; k < 40; ++k) c = b.tick(toy::look(toy::car(), walls, {0.0, -0.2, 0.0}, 1081), 0.2);
  CHECK(c.reason == Reason::kEscapeCreep);
  CHECK(c.speed_mps > 0.0F);
  CHECK(static_cast<double>(c.speed_mps) <= 0.25);
  const double aim = b.gap_follow.gap()->aim_rad;
  CHECK(std::abs(aim) < 12.0 * math::kDegree);  // where centering would count
  CHECK(c.steering_angle_rad == doctest::Approx(aim));
}

TEST_CASE("the gap is narrowed by half the car and the margin, which shrinks with the corridor") {
  // Open ahead and to the left from 30 degrees on; the wall ends 1.5 m away.
  LaserScan scan = toy::empty_scan(toy::car(), 1081);
  for (int i = 0; i < 1081; ++i) scan.ranges[static_cast<std::size_t>(i)] = 0.25 * i - 135.0 >= 30.0 ? 6.0F : 1.5F;
  const auto aim_deg = [&scan](const GapFollowParameters& p) {
    GapBench b(p);
    b.tick(scan);
    return b.gap_follow.gap()->aim_rad / math::kDegree;
  };
  const auto edge_deg = [](double margin) { return 30.0 + std::asin((0.155 + margin) / 1.5) / math::kDegree; };
  GapFollowParameters p;
  CHECK(aim_deg(p) == doctest::Approx(edge_deg(0.18)).epsilon(0.01));
  p.safety_margin_m = 0.4;
  p.min_safety_margin_m = 0.3;
  // Left 6.0 m and right 1.5 m: wide.
  CHECK(aim_deg(p) == doctest::Approx(edge_deg(0.4)).epsilon(0.01));
  p.adaptive_width_narrow_m = 7.5;
  p.adaptive_width_reference_m = 9.0;
  CHECK(aim_deg(p) == doctest::Approx(edge_deg(0.3)).epsilon(0.01));
  p.enable_adaptive_width = false;
  CHECK(aim_deg(p) == doctest::Approx(edge_deg(0.4)).epsilon(0.01));
}

TEST_CASE("hysteresis lives from driving tick to driving tick and dies with reset") {
  const auto fork = [](double left) {
    CarParameters car = toy::car();
    LaserScan scan = toy::empty_scan(car, 1081);
    for (int i = 0; i < 1081; ++i) {
      const double degree = 0.25 * i - 135.0;
      scan.ranges[static_cast<std::size_t>(i)] = static_cast<float>(degree > 20.0 && degree < 70.0     ? left
                                                                    : degree < -20.0 && degree > -70.0 ? 5.0
                                                                                                       : 1.6);
    }
    return scan;
  };
  GapBench b;
  CHECK(b.tick(fork(4.5)).steering_angle_rad < 0.0F);
  b.tick(fork(5.5));
  CHECK(b.gap_follow.gap()->aim_rad < 0.0);
  b.gap_follow.reset({});
  b.tick(fork(5.5));
  CHECK(b.gap_follow.gap()->aim_rad > 0.0);
}

TEST_CASE("anticipation can only slow down, and is off by default") {
  CHECK_FALSE(GapFollowParameters{}.enable_cornering_anticipation);
  GapFollowParameters on;
  on.enable_cornering_anticipation = true;
  on.min_speed_mps = 0.3;
  CarParameters car = toy::car();
  LaserScan scan = toy::empty_scan(car, 1081);
  for (int i = 0; i < 1081; ++i) {
    const double degree = 0.25 * i - 135.0;
    scan.ranges[static_cast<std::size_t>(i)] = static_cast<float>(degree > 0.0 && degree < 40.0     ? 2.35
                                                                  : degree <= 0.0 && degree > -40.0 ? 6.0
                                                                                                    : 1.9);
  }
  GapBench a(on);
  GapBench b;
  const double slow = a.tick(scan, 2.4).speed_mps;
  const double fast = b.tick(scan, 2.4).speed_mps;
  CHECK(slow < fast);
}

TEST_CASE("an empty sector does not stop it for ever, a blind sensor does") {
  // A hall 80 m long and 6 m wide: no return within 7 degrees of straight ahead.
  const LaserScan hall = toy::look(toy::car(), toy::corridor(-40.0, 40.0, 6.0), {}, 1081);
  GapBench b;
  Command c;
  for (int k = 0; k < 40; ++k) c = b.tick(hall, 2.4);
  CHECK(c.speed_mps == doctest::Approx(2.5));
  CHECK(std::abs(c.steering_angle_rad) < 0.02F);
  CHECK(is_stop(GapBench().tick(toy::empty_scan(toy::car(), 1081)).reason));
}

TEST_CASE("update allocates nothing, whatever the scan holds and however its size changes") {
  GapBench b;
  const LaserScan big = in_corridor(2.2, 0.2);
  const LaserScan small = toy::look(toy::car(), toy::corridor(-20.0, 20.0, 2.2), {}, 541);
  LaserScan noisy = big;
  const Rng rng(8, "noise");
  for (std::size_t i = 0; i < noisy.ranges.size(); ++i) noisy.ranges[i] = static_cast<float>(0.1 + 9.0 * rng.uniform(i));
  const LaserScan* scans[] = {&big, &small, &noisy, &big};
  std::vector<Observation> observations;
  std::size_t moved = 0;
  const AllocationGuard* guard = nullptr;
  std::size_t allocations = 0;
  for (const LaserScan* scan : scans) {
    b.in.advance(from_milliseconds(25));
    b.in.scan = *scan;
    b.in.odometry.speed_mps = 1.0;
    const Observation obs = b.in.observe();
    const AllocationGuard now;
    guard = &now;
    moved += b.gap_follow.update(obs).speed_mps > 0.0F ? 1U : 0U;
    allocations += guard->count();
  }
  CHECK(allocations == 0);
  CHECK(moved >= 3);
}

TEST_CASE("equal inputs after reset give equal commands") {
  GapBench a;
  std::vector<Command> first;
  for (int round = 0; round < 2; ++round) {
    a.gap_follow.reset({});
    a.in = toy::Inputs{};
    for (int k = 0; k < 20; ++k) {
      const Command c = a.tick(in_corridor(1.8, 0.02 * k, 0.01 * k), 0.1 * k);
      if (round == 0) {
        first.push_back(c);
      } else {
        REQUIRE(c.steering_angle_rad == first[static_cast<std::size_t>(k)].steering_angle_rad);
        REQUIRE(c.speed_mps == first[static_cast<std::size_t>(k)].speed_mps);
      }
    }
  }
}

TEST_CASE("defaults pass the start-up checks; each refusal names its values") {
  CHECK(refusal({}) == "");
  const auto refused = [](auto&& spoil) {
    GapFollowParameters p;
    spoil(p);
    return refusal(p);
  };
  using P = GapFollowParameters;
  CHECK(refused([](P& p) { p.safety.escape_creep_speed_mps = 0.9; }).find("escape_creep_speed_mps 0.9") != std::string::npos);
  CHECK(refused([](P& p) { p.safety.emergency_stop_clearance_m = 0.3; }).find("emergency_stop_clearance_m") != std::string::npos);
  CHECK(refused([](P& p) { p.forward_fov_rad = 0.9; }).find("forward_stop_fov_rad") != std::string::npos);
  CHECK(refused([](P& p) { p.gap_switch_margin = 0.9; }).find("gap_switch_margin") != std::string::npos);
  CHECK(refused([](P& p) { p.min_speed_mps = 2.6; }).find("min_speed_mps 2.6 must not be above max_speed_mps 2.5") != std::string::npos);
  CHECK(refused([](P& p) { p.corner_speed_mps = 1.5; }).find("corner_speed_wide_mps") != std::string::npos);
  CHECK(refused([](P& p) { p.command.max_speed_mps = 1.3; }).find("corner_speed_wide_mps 1.4") != std::string::npos);
  CHECK(refused([](P& p) { p.fallback_min_gap_distance_m = 2.5; }).find("fallback_min_gap_distance_m") != std::string::npos);
  CHECK(refused([](P& p) { p.min_safety_margin_m = 0.2; }).find("min_safety_margin_m 0.2") != std::string::npos);
  CHECK(refused([](P& p) { p.adaptive_width_narrow_m = 2.6; }).find("adaptive_width_narrow_m 2.6") != std::string::npos);
  CHECK(refused([](P& p) { p.centering_max_steering_rad = 0.14; }).find("centering_max_steering_rad 0.14") != std::string::npos);
  CHECK(refused([](P& p) { p.centering_full_bearing_rad = 0.3; }).find("centering_zero_bearing_rad") != std::string::npos);
  CHECK(refused([](P& p) { p.centering_zero_depth_m = 2.5; }).find("centering_full_depth_m") != std::string::npos);
  CHECK(refused([](P& p) { p.centering_full_side_m = 5.0; }).find("centering_zero_side_m") != std::string::npos);
  CHECK(refused([](P& p) { p.command.max_acceleration_mps2 = 0.0; }).find("max_acceleration_mps2") != std::string::npos);
  CHECK(refused([](P& p) { p.command.max_steering_rate_radps = std::nan(""); }).find("max_steering_rate_radps") != std::string::npos);
  CarParameters car = toy::car();
  car.lidar_x_m = 0.5;
  CHECK(refusal({}, car).find("LiDAR") != std::string::npos);
}

TEST_CASE("parameters change while it drives: from then on as if made so, with the memory kept; what is refused changes nothing") {
  const LaserScan scan = in_corridor(2.2, 0.2);
  GapFollowParameters other;
  other.command.max_speed_mps = 1.4;
  other.steering_gain = 0.5;
  other.safety.ttc_threshold_s = 1.5;
  GapBench changed;
  GapBench same;
  for (int k = 0; k < 40; ++k) CHECK(changed.tick(scan, 1.0).speed_mps == same.tick(scan, 1.0).speed_mps);
  Node changes = Node::map();
  changes.set("max_speed_mps", Node("1.4"));
  changes.set("steering_gain", Node("0.5"));
  changes.set("ttc_threshold_s", Node("1.5"));
  REQUIRE(changed.gap_follow.change_parameters(changes).ok());
  const float before = same.tick(scan, 1.0).speed_mps;
  const float after = changed.tick(scan, 1.0).speed_mps;
  CHECK(before > 1.45F);
  CHECK(after <= 1.4F);
  GapBench made(other);
  for (int k = 0; k < 100; ++k) {
    made.tick(scan, 1.0);
    changed.tick(scan, 1.0);
  }
  const Command a = made.tick(scan, 1.0);
  const Command b = changed.tick(scan, 1.0);
  CHECK(a.steering_angle_rad == b.steering_angle_rad);
  CHECK(a.speed_mps == b.speed_mps);

  Node wrong = Node::map();
  wrong.set("steering_gain", Node("2"));
  wrong.set("ttc_threshold_s", Node("99"));
  const Status refused = changed.gap_follow.change_parameters(wrong);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("ttc_threshold_s") != std::string::npos);
  CHECK(changed.tick(scan, 1.0).steering_angle_rad == made.tick(scan, 1.0).steering_angle_rad);
  Node unknown = Node::map();
  unknown.set("nonsense", Node("2"));
  CHECK_FALSE(changed.gap_follow.change_parameters(unknown).ok());
}

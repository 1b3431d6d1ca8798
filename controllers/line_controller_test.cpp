// SPDX-License-Identifier: Apache-2.0
// What every steering law has from the controller around it, shown with each of them.
#include "controllers/line_controller.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "controllers/make.hpp"
#include "tests/support/allocation_guard.hpp"
#include "tests/support/law_rig.hpp"
#include "tests/support/pursuit_loop.hpp"

using namespace pitwall;
using namespace pitwall::controllers;
using namespace pitwall::toy;

namespace {

/// A table whose tyres do not slip, so that every law can be made.
std::shared_ptr<const SteeringTable> stiff_table() {
  return std::make_shared<const SteeringTable>(SteeringTable{{1.0}, {0.0, 1.0}, {0.0, 0.0}, {1e9}});
}

std::unique_ptr<Controller> made(const std::string& law, LineToFollow line, const CarParameters& car = toy::car()) {
  line.steering_table = stiff_table();
  auto controller = controllers::make(law, Node{}, car, &line);
  REQUIRE_MESSAGE(controller.ok(), (controller.ok() ? "" : controller.error().message));
  (*controller)->reset({});
  return std::move(controller).value();
}

std::vector<Vec2> moved(const std::vector<Vec2>& points, double turn, Vec2 by) {
  std::vector<Vec2> out;
  for (const Vec2 p : points) out.push_back(rotate(turn, p) + by);
  return out;
}

/// Commands of 200 ticks of a loop from 0.2 m beside the start of the oval.
std::vector<Command> commands(const std::string& law, const std::vector<Vec2>& points, const Pose2& start, const CarParameters& car) {
  const auto controller = made(law, field_line(points, true, 2.5), car);
  Loop loop(start);
  loop.car = loop.body.parameters = car;
  loop.pose_delay = 1;
  std::vector<Command> all;
  for (int k = 0; k < 200; ++k) all.push_back(loop.tick(*controller));
  return all;
}

}  // namespace

TEST_CASE("every law: the mirrored track gives the mirrored commands within 1e-9") {
  std::vector<Vec2> left = oval_points();
  std::vector<Vec2> right = oval_points(-1.0);
  const CarParameters car = toy::car();
  for (const std::string& law : controllers::steering_laws()) {
    CAPTURE(law);
    const auto a = commands(law, left, {0.0, -3.8, 0.05}, car);
    const auto b = commands(law, right, {0.0, 3.8, -0.05}, toy::mirrored(car));
    double worst = 0.0;
    for (std::size_t k = 0; k < a.size(); ++k) {
      worst = std::max(worst, std::abs(static_cast<double>(a[k].steering_angle_rad) + static_cast<double>(b[k].steering_angle_rad)));
      CHECK(a[k].reason == b[k].reason);
    }
    CHECK(worst < 1e-9);
  }
}

TEST_CASE("every law: one answer is the same on a track that is turned and moved, and across the seam, within 1e-9") {
  const std::vector<Vec2> points = oval_points();
  SteeringTable stiff = *stiff_table();
  for (const std::string& law : controllers::steering_laws()) {
    CAPTURE(law);
    const auto answer = [&](const std::vector<Vec2>& line, const Pose2& pose) {
      LawBench bench(line, true, toy::car(), 40.0, 3.0);
      bench.setup.table = &stiff;
      auto steers = controllers::make_law(law, Node{}, bench.setup);
      REQUIRE(steers.ok());
      (*steers)->reset();
      return (*steers)->steer(bench.at(pose, 2.5));
    };
    const Pose2 pose{3.1, -3.85, 0.12};
    const double plain = answer(points, pose);
    const double turn = 1.234;
    const Vec2 p = rotate(turn, pose.position()) + Vec2{30.0, -7.0};
    CHECK(std::abs(answer(moved(points, turn, {30.0, -7.0}), {p.x, p.y, pose.yaw + turn}) - plain) < 1e-9);
    // The same closed line, begun at other points: the seam lies before, on and after the car.
    for (const std::size_t shift : {std::size_t{1}, points.size() / 3, points.size() / 2, points.size() - 2}) {
      std::vector<Vec2> other(points.begin() + static_cast<std::ptrdiff_t>(shift), points.end());
      other.insert(other.end(), points.begin(), points.begin() + static_cast<std::ptrdiff_t>(shift));
      CHECK(std::abs(answer(other, pose) - plain) < 1e-9);
    }
  }
}

TEST_CASE("every law laps an oval close to the line, with late poses and delayed commands") {
  for (const std::string& law : controllers::steering_laws()) {
    CAPTURE(law);
    const LineToFollow line = field_line(oval_points(), true, 2.5);
    CarParameters car = toy::car();
    car.steering_delay_s = 0.05;
    const auto controller = made(law, line, car);
    Loop loop({0.0, -4.0, 0.0});
    loop.pose_delay = 2;
    loop.body.delay_ticks = 2;
    double worst = 0.0;
    for (int k = 0; k < 1000; ++k) {
      loop.tick(*controller);
      worst = std::max(worst, std::abs(line.path->project(loop.body.pose.position()).lateral_m));
    }
    CHECK(worst < 0.15);
    CHECK(loop.last.reason == Reason::kDrive);
  }
}

TEST_CASE("every law: started beside the line by up to 0.8 m and 30 degrees it recovers, and does not swerve") {
  for (const std::string& law : controllers::steering_laws()) {
    for (const double d : {-0.8, -0.4, 0.4, 0.8}) {
      for (const double turned : {-0.52, 0.0, 0.52}) {
        CAPTURE(law);
        CAPTURE(d);
        CAPTURE(turned);
        const LineToFollow line = straight_field(2.5);
        const auto controller = made(law, line);
        Loop loop({1.0, d, turned});
        double overshoot = 0.0;
        double heading = 0.0;
        for (int k = 0; k < 480; ++k) {
          loop.tick(*controller);
          overshoot = std::max(overshoot, -loop.body.pose.y * (d > 0.0 ? 1.0 : -1.0));
          if (k > 80) heading = std::max(heading, std::abs(wrap_angle(loop.body.pose.yaw)));
        }
        CHECK(std::abs(loop.body.pose.y) < 0.05);
        CHECK(heading < math::kPi / 3.0);
        // Turned towards the line by 30 degrees it may cross; but not by more than the way it comes.
        CHECK(overshoot < 0.45);
      }
    }
  }
}

TEST_CASE("every law: from 1.5 m and 60 degrees off it is back within 0.15 m after 8 m") {
  for (const std::string& law : controllers::steering_laws()) {
    for (const double d : {-1.5, 1.5}) {
      for (const double turned : {-math::kPi / 3.0, math::kPi / 3.0}) {
        CAPTURE(law);
        CAPTURE(d);
        CAPTURE(turned);
        const LineToFollow line = straight_field(2.5, 60.0);
        const auto controller = made(law, line);
        Loop loop({5.0, d, turned});
        double way = 0.0;
        bool recovered = false;
        double later = 0.0;
        Vec2 before = loop.body.pose.position();
        for (int k = 0; k < 800 && way < 14.0; ++k) {
          loop.tick(*controller);
          recovered = recovered || loop.last.reason == Reason::kRecover;
          way += distance(before, loop.body.pose.position());
          before = loop.body.pose.position();
          if (way >= 8.0) later = std::max(later, std::abs(loop.body.pose.y));
        }
        CHECK(recovered);
        CHECK(way >= 14.0);
        CHECK(later < 0.15);
        CHECK(loop.last.reason == Reason::kDrive);
      }
    }
  }
}

TEST_CASE("recovery waits until the car stands, ends beyond its reach, and can be switched off") {
  const LineToFollow line = straight_field(2.0);
  LineController moving = controller_of(line);
  moving.reset({});
  Loop loop;
  REQUIRE(reason_after(moving, loop, 60) == Reason::kDrive);
  loop.believed_shift = {0.0, 2.0, 0.0};
  CHECK(loop.tick(moving).reason == Reason::kOffLine);
  CHECK_FALSE(moving.recovering());
  bool recovered = false;
  for (int k = 0; k < 80; ++k) recovered = recovered || loop.tick(moving).reason == Reason::kRecover;
  CHECK(recovered);
  CHECK(loop.last.speed_mps <= 1.0F);

  LineController far = controller_of(line);
  far.reset({});
  Loop there({5.0, 3.2, 0.0});
  CHECK(reason_after(far, there, 20) == Reason::kOffLine);
  LineControllerParameters off;
  off.enable_recovery = false;
  LineController without = controller_of(line, off);
  without.reset({});
  Loop near({5.0, 1.5, 0.0});
  CHECK(reason_after(without, near, 20) == Reason::kOffLine);
}

TEST_CASE("a line behind a wall of the map is no line to come back to") {
  const toy::StraightTrack track;
  LineToFollow line = track.line;
  const CarParameters car = toy::car();
  LineController controller = toy::pursuit({}, car, line);
  controller.reset({});
  // Beyond the wall of the track, within the reach of recovery.
  toy::Inputs in;
  in.scan = track.look(car, {10.0, 0.0, 0.0}, {});
  Command last;
  for (int k = 0; k < 10; ++k) {
    in.advance(from_milliseconds(25));
    in.pose.position = {10.0, 2.4};
    last = controller.update(in.observe());
  }
  CHECK(last.reason == Reason::kOffLine);
}

TEST_CASE("every law: no tick allocates, on the line, coming back to it, or stopped") {
  for (const std::string& law : controllers::steering_laws()) {
    CAPTURE(law);
    const LineToFollow line = straight_field(2.5, 60.0);
    const auto controller = made(law, line);
    Loop loop({5.0, 1.5, 0.5});
    std::size_t allocations = 0;
    for (int k = 0; k < 400; ++k) {
      loop.sense();
      const Observation obs = loop.observe();
      {
        const AllocationGuard guard;
        loop.last = controller->update(obs);
        allocations += guard.count();
      }
      loop.body.drive(loop.last, 0.025);
    }
    CHECK(allocations == 0);
  }
}

TEST_CASE("a rate at which a law is not stable is refused with the figures, one with little margin is only warned of") {
  LineToFollow line = straight_field(4.0);
  CarParameters car = toy::car();
  car.steering_delay_s = 0.1;
  const auto node =
      parse_yaml("{control_rate_hz: 10, gain_per_s: 12, softening_mps: 0.05, heading_delays: 0, delay_aware: false}", "test.yaml");
  const auto made_it = controllers::make("stanley", *node, car, &line);
  REQUIRE_FALSE(made_it.ok());
  CHECK(made_it.error().message.find("not stable") != std::string::npos);
  CHECK(made_it.error().message.find("10 Hz") != std::string::npos);
  CHECK(made_it.error().message.find("0.19 s of delay") != std::string::npos);
}

TEST_CASE("a law that gives no angle stops the car with its reason") {
  class Broken final : public SteeringLaw {
   public:
    double steer(const LawInput&) override { return NAN; }
    [[nodiscard]] double delay_margin_s(double) const override { return 1.0; }
  };
  const LineToFollow line = straight_field(2.0);
  LineController controller("broken", {}, toy::car(), line, [](const LawSetup&) { return std::make_unique<Broken>(); });
  controller.reset({});
  Loop loop;
  CHECK(reason_after(controller, loop, 5) == Reason::kSteeringLawFailed);
  CHECK(loop.last.speed_mps == 0.0F);
}

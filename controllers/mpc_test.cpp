// SPDX-License-Identifier: Apache-2.0
#include "controllers/mpc.hpp"

#include <doctest/doctest.h>

#include "controllers/line_controller.hpp"
#include "controllers/lqr.hpp"
#include "controllers/make.hpp"
#include "core/hash.hpp"
#include "core/text.hpp"
#include "tests/support/allocation_guard.hpp"
#include "tests/support/law_checks.hpp"
#include "tests/support/pursuit_loop.hpp"

namespace pitwall::controllers {
namespace {

constexpr LateralKind kKinds[] = {LateralKind::kKinematic, LateralKind::kDynamic};

MpcParameters of(LateralKind kind, SlipLaw tyre = SlipLaw::kBrush) {
  MpcParameters p;
  p.model = kind;
  p.tyre = tyre;
  return p;
}

MpcLaw mpc_of(const LawSetup& setup, const MpcParameters& p = {}) {
  REQUIRE(validate(p, setup, "mpc").ok());
  return MpcLaw(p, setup);
}

std::vector<double> mpc_commands(const RigLine& line, const Pose2& start, int ticks, LateralKind kind) {
  return sent_on(line, start, ticks, [kind](const LawSetup& setup) { return mpc_of(setup, of(kind)); });
}

}  // namespace

TEST_CASE("mpc: where no row matters its command is that of the regulator, for both models and at every speed") {
  // Same stage as the period, no delay: then lqr and mpc are one problem. Not between the speeds of the tables: P and K are not
  // interpolated to the same.
  for (const LateralKind kind : kKinds) {
    for (const double v : {1.0, 3.0, 5.5, 8.0}) {
      CarParameters car = rig_car();
      car.steering_delay_s = 0.0;
      const RigLine line(straight_points(60.0), false, v);
      const LawSetup setup = rig_setup(car, line, 25.0);
      LqrParameters q;
      q.model = kind;
      LqrLaw lqr(q, setup);
      MpcLaw mpc = mpc_of(setup, of(kind));
      Rig rig(setup, SlipLaw::kBrush, {1.0, 0.02, -0.01}, v);
      rig.hold(0.003);
      const double wanted = lqr.steer(rig.input());
      const double planned = mpc.steer(rig.input());
      CHECK(std::abs(wanted - planned) < 1e-9);
      CHECK(std::abs(wanted) > 1e-3);
    }
  }
}

TEST_CASE("mpc: the predicted states are the model stepped with the planned mpc_commands, to 1e-9") {
  for (const LateralKind kind : kKinds) {
    const double v = 4.0;
    const RigLine line(straight_points(60.0), false, v);
    const LawSetup setup = rig_setup(rig_car(), line, 50.0);
    MpcLaw mpc = mpc_of(setup, of(kind));
    Rig rig(setup, SlipLaw::kBrush, {1.0, 0.25, -0.1}, v);
    mpc.steer(rig.input());
    REQUIRE(mpc.status() == qp::Status::kSolved);
    const std::size_t n = states(kind);
    const Discrete stage = zero_order_hold(lateral_model(kind, setup.car, v), of(kind).stage_s);
    Matrix x(n, 1);
    for (std::size_t i = 0; i < n; ++i) x(i, 0) = mpc.planned_states()[i];
    for (std::size_t k = 0; k < 20; ++k) {
      x = stage.a * x + mpc.planned_commands()[k] * stage.b;
      for (std::size_t i = 0; i < n; ++i) CHECK(std::abs(x(i, 0) - mpc.planned_states()[(k + 1) * n + i]) < 1e-9);
    }
  }
}

TEST_CASE("mpc: the plan starts where the mpc_commands under way will have brought the car") {
  for (const double curvature : {0.0, 0.25}) {
    const double v = 4.0;
    const std::vector<Vec2> points = curvature == 0.0 ? straight_points(60.0) : circle_points(1.0 / curvature, 800);
    const RigLine line(points, curvature != 0.0, v);
    CarParameters car = rig_car();
    car.steering_delay_s = 0.1;
    const LawSetup setup = rig_setup(car, line, 50.0);
    MpcLaw mpc = mpc_of(setup);
    Rig rig(setup, SlipLaw::kBrush, {points[0].x + 0.1, points[0].y + 0.1, line.path.heading_at(0.0)}, v);
    if (curvature != 0.0) rig.turn(curvature);
    // Some mpc_commands of our own on the way.
    for (const double angle : {0.05, 0.1, 0.15, 0.1, 0.12}) {
      static_cast<void>(mpc.steer(rig.input()));
      rig.send(angle);
      rig.drive(0.02);
    }
    static_cast<void>(mpc.steer(rig.input()));
    const std::vector<double> start(mpc.planned_states().begin(), mpc.planned_states().begin() + 5);
    rig.drive(0.1);
    const double heading = wrap_angle(rig.pose().yaw - line.path.heading_at(rig.fix().on_line.s_m));
    CHECK(std::abs(start[kStateD] - rig.d_m()) < 2e-3);
    CHECK(std::abs(start[kStateE] - heading) < 5e-3);
    CHECK(std::abs(start[kStateR] - rig.yaw_rate_radps()) < 0.03);
    CHECK(std::abs(start[4] - rig.wheel_rad()) < 2e-3);
  }
}

TEST_CASE("mpc: with 0.1 s of delay it comes back as calmly as without, which it would not if it ignored the queue") {
  const double v = 5.0;
  const RigLine line(straight_points(80.0), false, v);
  CarParameters car = rig_car();
  car.steering_delay_s = 0.1;
  const LawSetup setup = rig_setup(car, line, 50.0);
  LawSetup ignorant = setup;
  ignorant.car.steering_delay_s = 0.0;
  double crossed[2];
  for (const int ignore : {0, 1}) {
    MpcLaw mpc = mpc_of(ignore == 1 ? ignorant : setup);
    Rig rig(setup, SlipLaw::kBrush, {1.0, 0.15, 0.0}, v);
    double lowest = 0.0;
    for (int k = 0; k < 200; ++k) {
      rig.tick(mpc);
      lowest = std::min(lowest, rig.d_m());
    }
    crossed[ignore] = -lowest;
  }
  CHECK(crossed[0] < 0.02);
  CHECK(crossed[1] > 2.0 * crossed[0]);
}

TEST_CASE("mpc: on a circle at 2 to 8 m/s no distance from the line is left, with either model") {
  for (const LateralKind kind : kKinds) {
    for (const double v : {2.0, 4.0, 6.0, 8.0}) {
      const double radius = std::max(1.5, v * v / 6.0);
      const RigLine line(circle_points(radius, 720), true, v);
      const LawSetup setup = rig_setup(rig_car(), line, 50.0);
      MpcLaw law = mpc_of(setup, of(kind));
      Rig rig(setup, SlipLaw::kBrush, {radius, 0.0, math::kPi / 2.0}, v);
      rig.turn(1.0 / radius);
      for (int k = 0; k < 300; ++k) rig.tick(law);
      INFO("v ", v, " d ", rig.d_m());
      CHECK(std::abs(rig.d_m()) < 0.01);
    }
  }
}

TEST_CASE("mpc: the octagon has its corners on the circle and its edges inside") {
  const double diagonal = std::sqrt(0.5);
  CHECK(MpcLaw::octagon(0.0) == 1.0);
  CHECK(std::abs(MpcLaw::octagon(1.0)) < 1e-15);
  CHECK(std::abs(MpcLaw::octagon(diagonal) - diagonal) < 1e-12);
  for (double x = -1.2; x <= 1.2; x += 0.01) {
    const double y = MpcLaw::octagon(x);
    CHECK(y >= 0.0);
    CHECK(x * x + y * y <= std::max(1.0, x * x) + 1e-12);
    CHECK(std::abs(MpcLaw::octagon(-x) - y) < 1e-15);
    // Nearest to the middle half-way between corners: cos(22.5 degrees).
    if (std::abs(x) <= 1.0) CHECK(std::sqrt(x * x + y * y) > 0.9238);
  }
}

TEST_CASE("mpc: plans stay within the grip, and leave of it what the speed profile takes") {
  const double v = 6.0;
  CarParameters car = rig_car();
  car.surface_friction = 0.3;
  for (const LateralKind kind : kKinds) {
    const RigLine line(straight_points(60.0), false, v);
    const LawSetup setup = rig_setup(car, line, 50.0);
    for (const bool octagon : {true, false}) {
      MpcParameters p = of(kind, octagon ? SlipLaw::kBrush : SlipLaw::kLinear);
      p.weights.approach_rad = 1.0;
      p.weights.approach_mps = 10.0;
      MpcLaw mpc = mpc_of(setup, p);
      Rig rig(setup, SlipLaw::kBrush, {1.0, 0.5, 0.0}, v);
      static_cast<void>(mpc.steer(rig.input()));
      REQUIRE(mpc.status() == qp::Status::kSolved);
      const std::size_t n = states(kind);
      double most = 0.0;
      for (std::size_t i = 1; i <= 20; ++i) {
        const double turning = kind == LateralKind::kDynamic ? mpc.planned_states()[i * n + kStateR]
                                                             : mpc.planned_states()[i * n + 2] * lateral_model(kind, car, v).a(kStateE, 2);
        most = std::max(most, std::abs(v * turning));
      }
      const double bound = 0.95 * 0.3 * 9.81;
      if (octagon) CHECK(most <= bound + mpc.grip_slack_mps2() + 1e-6);
      if (octagon) CHECK(mpc.grip_slack_mps2() < 0.3);
      if (!octagon) CHECK(most > 1.5 * bound);
    }
  }
}

TEST_CASE("mpc: the line runs nearer to a wall than the car needs: it keeps its distance, on either side") {
  for (const double side : {1.0, -1.0}) {
    const double v = 3.0;
    RigLine line(straight_points(60.0), false, v, 1.0);
    const LawSetup setup = rig_setup(rig_car(), line, 50.0);
    const double needed = setup.car.padded_body().half_width_m + MpcParameters{}.wall_margin_m;
    std::vector<double>& near = side > 0.0 ? line.left : line.right;
    std::fill(near.begin(), near.end(), needed - 0.15);
    MpcLaw mpc = mpc_of(setup);
    Rig rig(setup, SlipLaw::kBrush, {1.0, 0.0, 0.0}, v);
    for (int k = 0; k < 300; ++k) rig.tick(mpc);
    CHECK(rig.d_m() * side < -0.12);
    CHECK(rig.d_m() * side > -0.17);
  }
}

TEST_CASE("mpc: less room than the car is wide on both sides is still a plan, in the middle") {
  const double v = 3.0;
  RigLine line(straight_points(60.0), false, v, 0.1);
  std::fill(line.left.begin(), line.left.end(), 0.2);
  const LawSetup setup = rig_setup(rig_car(), line, 50.0);
  MpcLaw mpc = mpc_of(setup);
  Rig rig(setup, SlipLaw::kBrush, {1.0, 0.3, 0.1}, v);
  for (int k = 0; k < 200; ++k) {
    rig.tick(mpc);
    REQUIRE(mpc.status() == qp::Status::kSolved);
  }
  CHECK(std::abs(rig.d_m() - 0.05) < 0.04);
  CHECK(mpc.room_slack_m() > 0.05);
}

TEST_CASE("mpc: any limit of the steering rate, and a start beyond every bound, has a plan") {
  const double v = 4.0;
  const RigLine line(straight_points(60.0), false, v, 0.4);
  for (const double rate : {0.1, 0.5, 1.0, 3.2, 10.0}) {
    LawSetup setup = rig_setup(rig_car(), line, 50.0);
    setup.steering_rate_radps = rate;
    for (const double beyond : {-1.05, 1.05}) {
      MpcLaw mpc = mpc_of(setup);
      Rig rig(setup, SlipLaw::kBrush, {1.0, 0.5 * beyond, 0.9 * beyond}, v);
      rig.hold(beyond * 0.4189);
      const double wanted = mpc.steer(rig.input());
      CHECK(mpc.status() == qp::Status::kSolved);
      CHECK(std::abs(wanted - beyond * 0.4189) <= rate * 0.02 + 1e-6);
    }
  }
}

TEST_CASE("mpc: taking over with the wheels at 0.3 rad, the first command is within one step of the rate from there") {
  const double v = 3.0;
  const RigLine line(straight_points(60.0), false, v);
  const LawSetup setup = rig_setup(rig_car(), line, 50.0);
  MpcLaw mpc = mpc_of(setup);
  Rig rig(setup, SlipLaw::kBrush, {1.0, 0.0, 0.0}, v);
  rig.hold(0.3);
  const double wanted = mpc.steer(rig.input());
  CHECK(wanted < 0.3);
  CHECK(wanted >= 0.3 - 3.2 * 0.02 - 1e-9);
}

TEST_CASE("mpc: standing still for 10 s the command is constant") {
  const RigLine line(straight_points(60.0), false, 1.0);
  const LawSetup setup = rig_setup(rig_car(), line, 50.0);
  MpcLaw mpc = mpc_of(setup);
  Rig rig(setup, SlipLaw::kBrush, {1.0, 0.3, 0.1}, 0.0);
  rig.hold(-0.1);
  for (int k = 0; k < 500; ++k) CHECK(rig.tick(mpc) == -0.1);
}

TEST_CASE("mpc: a line that starts at the car or ahead of it, and one that ends inside the plan, is followed") {
  const double v = 4.0;
  for (const double at : {0.0, -0.2, 9.0, 9.9}) {
    const RigLine line(straight_points(10.0), false, v);
    const LawSetup setup = rig_setup(rig_car(), line, 50.0);
    MpcLaw mpc = mpc_of(setup);
    Rig rig(setup, SlipLaw::kBrush, {at, 0.1, 0.0}, v);
    const double wanted = mpc.steer(rig.input());
    CHECK(mpc.status() == qp::Status::kSolved);
    CHECK(wanted < -0.005);
    CHECK(wanted > -0.2);
  }
}

TEST_CASE("mpc: a solver that fails is named; one tick of the plan before, then no number, then all is well again") {
  const double v = 4.0;
  const RigLine line(straight_points(200.0), false, v);
  LawSetup setup = rig_setup(rig_car(), line, 50.0);
  setup.steering_rate_radps = 0.5;
  MpcParameters p;
  p.max_iterations = 3;
  MpcLaw mpc = mpc_of(setup, p);
  Rig rig(setup, SlipLaw::kBrush, {1.0, 0.001, 0.0}, v);
  rig.tick(mpc);
  REQUIRE(mpc.status() == qp::Status::kSolved);
  CHECK(!mpc.fell_back());
  const double next = mpc.planned_commands()[1];
  // Far off: several rows act, three iterations are not enough.
  rig.set_pose({5.0, 0.6, 0.5});
  const double wanted = mpc.steer(rig.input());
  CHECK(mpc.status() == qp::Status::kIterationLimit);
  CHECK(mpc.fell_back());
  CHECK(wanted == next);
  rig.send(wanted);
  rig.drive(0.02);
  CHECK(std::isnan(mpc.steer(rig.input())));
  CHECK(!mpc.fell_back());
  CHECK(std::isnan(mpc.steer(rig.input())));
  rig.set_pose({8.0, 0.001, 0.0});
  rig.turn(0.0);
  mpc.reset();
  CHECK(std::isfinite(mpc.steer(rig.input())));
  double fallbacks = 0.0;
  double failures = 0.0;
  for (const auto& [name, value] : mpc.counters()) {
    if (name == "mpc_fallbacks") fallbacks = value;
    if (name == "mpc_failures") failures = value;
  }
  CHECK(fallbacks == 1.0);
  CHECK(failures == 2.0);
}

TEST_CASE("a law's stopgap is a reason of its own that drives on, and a law without a number is a stop: both in the command") {
  struct Failing final : SteeringLaw {
    int left = 0;
    bool stopgap = false;
    double steer(const LawInput& /*in*/) override {
      stopgap = left == 1;
      return left-- > 0 ? 0.01 : std::numeric_limits<double>::quiet_NaN();
    }
    double delay_margin_s(double /*speed_mps*/) const override { return 1.0; }
    bool fell_back() const override { return stopgap; }
  };
  const LineToFollow line = toy::straight_field(2.0);
  Failing* law = nullptr;
  LineController controller("failing", {}, toy::car(), line, [&](const LawSetup& /*setup*/) {
    auto made = std::make_unique<Failing>();
    law = made.get();
    return made;
  });
  toy::Loop loop;
  loop.sense();
  controller.reset(loop.observe());
  law->left = 40;
  for (int k = 0; k < 39; ++k) loop.tick(controller);
  CHECK(loop.last.reason == Reason::kDrive);
  loop.tick(controller);
  CHECK(loop.last.reason == Reason::kSteeringFallback);
  CHECK(loop.last.speed_mps > 0.0F);
  CHECK(loop.last.steering_angle_rad == 0.01F);
  loop.tick(controller);
  CHECK(loop.last.reason == Reason::kSteeringLawFailed);
  CHECK(loop.last.speed_mps == 0.0F);
  law->left = 100;
  loop.tick(controller);
  loop.tick(controller);
  CHECK(loop.last.reason == Reason::kDrive);
}

TEST_CASE("mpc: mirrored, turned and started at another point of the line, the mpc_commands are the same to 1e-9") {
  const std::vector<Vec2> points = wavy_points(300);
  const double heading = RigLine(points, true, 4.0).path.heading_at(0.0);
  const Pose2 start{points[0].x - 0.1, points[0].y + 0.05, wrap_angle(heading + 0.1)};
  for (const LateralKind kind : kKinds)
    check_symmetry(points, start, 150, [kind](const LawSetup& setup) { return mpc_of(setup, of(kind)); });
}

TEST_CASE("mpc: stable with its margin at 25, 50 and 100 Hz with 0 to 100 ms of delay, and so it drives") {
  check_margin(1.2, [](const LawSetup& setup) { return mpc_of(setup); });
}

TEST_CASE("mpc: no allocation in steer") {
  const RigLine line(wavy_points(300), true, 4.0, 0.5);
  const LawSetup setup = rig_setup(rig_car(), line, 50.0);
  MpcLaw law = mpc_of(setup);
  Rig rig(setup, SlipLaw::kBrush, {line.path.points()[0].x, 0.1, 1.5}, 4.0);
  const LawInput in = rig.input();
  const AllocationGuard guard;
  law.reset();
  for (int k = 0; k < 5; ++k) static_cast<void>(law.steer(in));
  const std::size_t count = guard.count();
  CHECK(count == 0);
}

TEST_CASE("mpc: bad parameters are named with value and range") {
  const RigLine line(straight_points(10.0), false, 1.0);
  const LawSetup setup = rig_setup(rig_car(), line, 50.0);
  MpcParameters p;
  p.tyre = SlipLaw::kMagicFormula;
  CHECK(validate(p, setup, "mpc").error().message.find("magic_front_b") != std::string::npos);
  p = {};
  p.stage_s = 0.015;
  CHECK(validate(p, setup, "mpc").error().message.find("control period") != std::string::npos);
  p = {};
  p.stages = 100;
  const std::string message = validate(p, setup, "mpc").error().message;
  CHECK(message.find("mpc_stages") != std::string::npos);
  CHECK(message.find("100") != std::string::npos);
}

TEST_CASE("mpc: mpc_commands are the same to the bit at every optimisation level and with every compiler") {
  const RigLine line(wavy_points(300), true, 5.0, 0.5);
  Hash hash;
  for (const LateralKind kind : kKinds) {
    for (const double c : mpc_commands(line, {line.path.points()[0].x, 0.2, 1.4}, 150, kind)) hash.add(c);
  }
  CHECK(to_hex(hash.value()) == "41d1ad924c0f8778");
}

}  // namespace pitwall::controllers

// SPDX-License-Identifier: Apache-2.0
#include "ros_bridge/controller_node.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "ros_bridge/test_node.hpp"

namespace pitwall::ros_bridge {
namespace {

/// The first command that stops, and none after it moves.
Time stopped_at(const std::vector<Sent>& sent) {
  const auto first = std::find_if(sent.begin(), sent.end(), [](const Sent& s) { return s.speed_mps == 0.0F; });
  REQUIRE(first != sent.end());
  CHECK(std::all_of(first, sent.end(), [](const Sent& s) { return s.speed_mps == 0.0F; }));
  return first->at;
}

bool moves(const std::vector<Sent>& sent) {
  return std::any_of(sent.begin(), sent.end(), [](const Sent& s) { return s.speed_mps != 0.0F; });
}

/// Of a stop for lack of something: zero within 25 ms of the deadline, not before it, and the wheels are held.
void check_stop(const TestRig& rig, Time last_good, std::int64_t deadline_ms) {
  const Time at = stopped_at(rig.car.sent);
  CHECK(at >= last_good + Duration{deadline_ms * kMs});
  CHECK(at <= last_good + Duration{(deadline_ms + 25) * kMs});
  CHECK(rig.car.sent.back().steering_rad == 0.1F);
}

}  // namespace

TEST_CASE("a controller is asked at each scan, and its commands go out while the deadman is held") {
  TestRig rig;
  rig.run_ms(100);
  CHECK(rig.node->gate().cause() == Cause::kDeadmanReleased);
  CHECK_FALSE(moves(rig.car.sent));
  rig.drive();
  rig.controller->at.clear();
  rig.run_ms(1000);
  CHECK(rig.controller->at.size() == 40);
  CHECK(rig.car.sent.size() == 40);
  CHECK(rig.node->counts().zeros == 0);
  // Each goes out in the millisecond in which its scan came, and looks at that scan.
  CHECK(rig.controller->last.scan.arrival == rig.controller->at.back());
  CHECK(rig.car.sent.back().at == rig.controller->at.back());
}

TEST_CASE("a controller with a rate of its own is asked at it") {
  TestRig rig({}, std::make_unique<Eager>(Duration{20 * kMs}));
  rig.run_ms(1000);
  CHECK(rig.controller->at.size() == 50);
  CHECK(rig.controller->reset_at == rig.controller->at.front());
}

TEST_CASE("row 1: the joystick falls silent while the deadman is held: stop 0.25 s later") {
  TestRig rig;
  rig.drive();
  rig.car.joy_on = false;
  const Time last = *rig.node->inputs().state(NodeInputs::kJoy).arrival;
  rig.run_ms(2000);
  check_stop(rig, last, 250);
  CHECK(rig.node->gate().cause() == Cause::kJoyStale);
  // It comes back with the button still held, as a pad that was out of reach does: it has to be let go of.
  rig.car.joy_on = true;
  rig.run_ms(500);
  CHECK_FALSE(moves({rig.car.sent.end() - 10, rig.car.sent.end()}));
  rig.drive();
}

TEST_CASE("row 2: losing the operator hands the car to nobody") {
  TestRig rig;
  rig.drive();
  // Autonomy streams on, its inputs are fresh; there is no other way for a command to get out.
  rig.car.joy_on = false;
  rig.run_ms(5000);
  stopped_at(rig.car.sent);
  CHECK(rig.controller->at.back() > rig.network.now() - Duration{30 * kMs});
}

TEST_CASE("row 3: released, zero goes out at once and again and again; a release that is lost stops by age") {
  TestRig rig;
  rig.drive();
  rig.car.pressed = false;
  while (rig.network.now().ns % (50 * kMs) != 0) rig.step();
  const Time released = rig.network.now();
  rig.car.sent.clear();
  rig.run_ms(1000);
  CHECK(stopped_at(rig.car.sent) == released);
  CHECK(rig.car.sent.size() >= 40);
}

TEST_CASE("row 4: a controller that does not decide any more is stopped, and nothing of its own is repeated") {
  TestRig rig({}, std::make_unique<Eager>());
  rig.drive();
  rig.car.scan_on = false;  // what it decides on
  const Time last = rig.controller->at.back();
  rig.run_ms(3000);
  check_stop(rig, last, 150);
  CHECK(rig.node->gate().cause() == Cause::kScanStale);
  // Zeros for a second, then silence: the driver below has its own timeout.
  CHECK(rig.car.sent.back().at <= last + Duration{1'700 * kMs});
  CHECK(rig.car.sent.size() >= 35);
  CHECK(rig.node->counts().zeros == rig.car.sent.size());
}

TEST_CASE("row 5: a program that was held up does not drive on by what came meanwhile, however fresh it looks") {
  TestRig rig;
  rig.drive();
  rig.node_runs = false;
  rig.run_ms(200);
  rig.car.sent.clear();
  rig.node_runs = true;
  rig.run_ms(500);
  // The first thing that it sends is a stop, and a held deadman is not enough to go on.
  CHECK_FALSE(moves(rig.car.sent));
  CHECK_FALSE(rig.car.sent.empty());
  CHECK(rig.node->gate().cause() == Cause::kDeadmanNotSeenReleased);
  rig.drive();
  rig.node_runs = false;
  rig.run_ms(140);
  rig.node_runs = true;
  rig.run_ms(100);
  CHECK(rig.node->gate().cause() == Cause::kNone);
}

TEST_CASE("row 20: a LiDAR or an odometry that falls silent stops a controller that runs by itself 0.4 s later") {
  for (bool TestCar::*source : {&TestCar::scan_on, &TestCar::odometry_on}) {
    TestRig rig({}, std::make_unique<Eager>(Duration{25 * kMs}));
    rig.drive();
    rig.car.*source = false;
    const auto kind = source == &TestCar::scan_on ? NodeInputs::kScan : NodeInputs::kOdometry;
    const Time last = *rig.node->inputs().state(kind).arrival;
    rig.run_ms(1000);
    check_stop(rig, last, 400);
    // The controller goes on deciding, and so zeros go on.
    CHECK(rig.car.sent.back().at >= rig.network.now() - Duration{26 * kMs});
    rig.car.*source = true;
    rig.drive();
  }
}

TEST_CASE("row 20: scans without returns, or with codes for ranges, are as good as none") {
  TestRig rig;
  rig.drive();
  rig.car.scan_range = NAN;
  rig.run_ms(500);
  stopped_at(rig.car.sent);
  CHECK(rig.node->inputs().state(NodeInputs::kScan).why_refused.find("half of its beams") != std::string::npos);
}

TEST_CASE("row 23: scans that are too old, or from the future, are not driven on") {
  for (const std::int64_t shift_ms : {-3'600'000, -160, 30, 3'600'000}) {
    TestRig rig;
    rig.drive();
    const Time last = *rig.node->inputs().state(NodeInputs::kScan).arrival;
    rig.car.scan_shift = {shift_ms * kMs};
    rig.run_ms(1000);
    check_stop(rig, last, 150);
    CHECK(rig.node->inputs().state(NodeInputs::kScan).refused == 40);
    CHECK(rig.node->inputs().state(NodeInputs::kScan).why_refused.find(shift_ms > 0 ? "ahead" : "ago") != std::string::npos);
  }
  TestRig rig;
  rig.drive();
  rig.car.scan_shift = {-140 * kMs};
  rig.run_ms(1000);
  CHECK(rig.node->gate().cause() == Cause::kNone);
}

TEST_CASE("row 23: a simulated clock that jumps, forward or back, stops") {
  for (const std::int64_t jump_ms : {-5'000, 5'000}) {
    ControllerNodeSetup setup;
    setup.parameters.use_sim_time = true;
    TestRig rig(setup);
    MemoryGraph clock_graph(rig.network, "/sim");
    Publisher<ros_messages::Clock> clock;
    REQUIRE(clock.open(clock_graph, "/clock", Qos::clock()).ok());
    Duration offset;
    const auto run = [&](std::int64_t ms) {
      for (std::int64_t k = 0; k < ms; ++k) {
        clock.publish({ros_messages::to_stamp(rig.network.now() + offset)});
        rig.car.scan_shift = offset;
        rig.step();
      }
    };
    run(300);
    rig.car.pressed = true;
    run(300);
    CHECK(rig.car.sent.back().speed_mps == 2.0F);
    rig.car.sent.clear();
    offset = {jump_ms * kMs};
    run(500);
    // The operator held on: that is not enough to go on.
    stopped_at(rig.car.sent);
    CHECK(rig.car.sent.front().at <= rig.network.now() - Duration{474 * kMs});
    CHECK(rig.node->gate().cause() == Cause::kDeadmanNotSeenReleased);
    CHECK(rig.node->counts().clock_jumps == 1);
    // The clock stands still: nothing is decided, nothing moves.
    rig.car.sent.clear();
    rig.run_ms(500);
    CHECK_FALSE(moves(rig.car.sent));
  }
}

TEST_CASE("row 27: an emergency stop by topic, or by its button, holds until it is acknowledged") {
  ControllerNodeSetup setup;
  setup.parameters.gate.acknowledge_button = 7;
  TestRig rig(setup);
  Publisher<ros_messages::Bool> estop;
  REQUIRE(estop.open(rig.car.graph, "/estop", Qos::publish()).ok());
  rig.drive();
  estop.publish({true});
  const Time at = rig.network.now();
  rig.run_ms(500);
  CHECK(stopped_at(rig.car.sent) <= at + Duration{1 * kMs});
  estop.publish({false});
  rig.car.pressed = false;
  rig.run_ms(300);
  rig.car.pressed = true;
  rig.run_ms(300);
  CHECK_FALSE(moves(rig.car.sent));
  CHECK(rig.node->gate().cause() == Cause::kEmergencyStop);
}

TEST_CASE(
    "row 2 and the mux: who holds the teleop button drives by hand, nobody drives in its silence, and the controller has to be asked "
    "anew") {
  ControllerNodeSetup setup;
  setup.parameters.gate.teleop_button = 5;
  TestRig rig(setup);
  MemoryGraph hands(rig.network, "/teleop_node");
  Publisher<ros_messages::AckermannDriveStamped> teleop;
  REQUIRE(teleop.open(hands, "/teleop", Qos::publish()).ok());
  bool streams = true;
  const auto run = [&](std::int64_t ms) {
    for (std::int64_t k = 0; k < ms; ++k) {
      ros_messages::AckermannDriveStamped message;
      message.drive = {-0.3F, 0.0F, 0.7F};
      if (streams && rig.network.now().ns % (50 * kMs) == 0) teleop.publish(message);
      rig.step();
    }
  };
  const auto speeds = [&] {
    std::set<float> all;
    for (const Sent& s : rig.car.sent) all.insert(s.speed_mps);
    rig.car.sent.clear();
    return all;
  };
  // Teleop publishes all the time, as such nodes do: without its button it masks nobody.
  run(300);
  CHECK(speeds() == std::set<float>{0.0F});
  rig.car.pressed = true;
  run(100);
  speeds();
  run(300);
  CHECK(speeds() == std::set<float>{2.0F});
  rig.car.by_hand = true;
  run(100);
  speeds();
  run(300);
  CHECK(rig.node->gate().cause() == Cause::kTeleop);
  CHECK(rig.car.sent.size() == 6);  // each message once
  CHECK(rig.car.sent.back().steering_rad == -0.3F);
  CHECK(speeds() == std::set<float>{0.7F});
  // Silence is a stop, also with the controller's own deadman held.
  streams = false;
  const Time last = rig.network.now();
  run(500);
  CHECK(stopped_at(rig.car.sent) <= last + Duration{225 * kMs});
  CHECK(rig.node->gate().cause() == Cause::kTeleopStale);
  // Let go of, it does not hand over to a deadman that is held already.
  streams = true;
  run(300);
  rig.car.by_hand = false;
  run(100);
  speeds();
  run(300);
  CHECK(speeds() == std::set<float>{0.0F});
  CHECK(rig.node->gate().cause() == Cause::kDeadmanNotSeenReleased);
  // The joystick is lost while driven by hand: stop.
  rig.car.by_hand = true;
  run(300);
  CHECK(rig.car.sent.back().speed_mps == 0.7F);
  rig.car.joy_on = false;
  rig.car.sent.clear();
  run(600);
  stopped_at(rig.car.sent);
  CHECK(rig.node->gate().cause() == Cause::kJoyStale);
}

TEST_CASE("a second publisher of an input stops, whichever it is, and so does one on the way out") {
  TestRig rig;
  rig.drive();
  {
    TestCar twin(rig.network, "/bag_player");
    twin.publish();
    for (int k = 0; k < 50; ++k) {
      twin.publish();
      rig.step();
    }
    CHECK(stopped_at(rig.car.sent) <= rig.network.now());
    CHECK(rig.node->gate().cause() == Cause::kDuplicatePublisher);
  }
  rig.run_ms(1100);
  rig.drive();
  {
    MemoryGraph other(rig.network, "/other_controller");
    Publisher<ros_messages::AckermannDriveStamped> drive;
    REQUIRE(drive.open(other, "/drive", Qos::publish()).ok());
    rig.run_ms(250);
    CHECK(rig.node->gate().cause() == Cause::kOtherDriver);
    stopped_at(rig.car.sent);
  }
  rig.run_ms(300);
  rig.drive();
}

TEST_CASE("a pad without the deadman's button does not drive, whatever is pressed") {
  TestRig rig;
  rig.car.few_buttons = true;
  rig.car.pressed = true;
  rig.run_ms(500);
  CHECK(rig.node->gate().cause() == Cause::kDeadmanButtonMissing);
  CHECK_FALSE(moves(rig.car.sent));
}

TEST_CASE("row 26: what is not finite stops, what is too much is held at the car's limits, and a controller's own stop passes as it is") {
  TestRig rig;
  rig.drive();
  rig.controller->command = {9.0F, 99.0F};
  rig.run_ms(100);
  CHECK(rig.car.sent.back().speed_mps == static_cast<float>(rig.setup.car.speed_max_mps));
  CHECK(rig.car.sent.back().steering_rad == static_cast<float>(rig.setup.car.steering_max_left_rad));
  rig.controller->command = {0.1F, NAN};
  rig.run_ms(100);
  CHECK(rig.car.sent.back().speed_mps == 0.0F);
  CHECK(rig.node->gate().cause() == Cause::kCommandNotFinite);
  rig.car.pressed = false;
  rig.controller->command = {-0.2F, 0.0F, Reason::kDeadmanReleased, Layer::kWatchdog};
  rig.run_ms(100);
  CHECK(rig.car.sent.back().steering_rad == -0.2F);
}

TEST_CASE("shut down, the node sends zeros") {
  TestRig rig;
  rig.drive();
  rig.node->shut_down();
  rig.run_ms(200);
  CHECK(stopped_at(rig.car.sent) <= rig.network.now() - Duration{175 * kMs});
  CHECK(rig.node->gate().cause() == Cause::kShutdown);
}

TEST_CASE("poses of the laser become poses of the rear axle, and the map's transforms are poses too") {
  for (const PoseSource source : {PoseSource::kTopic, PoseSource::kTf}) {
    ControllerNodeSetup setup;
    setup.parameters.inputs.pose_source = source;
    setup.parameters.inputs.pose_frame = "laser";
    TestRig rig(setup);
    rig.run_ms(100);
    CHECK(rig.node->gate().cause() == Cause::kDeadmanReleased);
    Publisher<ros_messages::TFMessage> tf, fixed;
    REQUIRE(tf.open(rig.car.graph, "/tf", Qos::publish()).ok());
    REQUIRE(fixed.open(rig.car.graph, "/tf_static", Qos::latched()).ok());
    Publisher<ros_messages::PoseStamped> pose;
    REQUIRE(pose.open(rig.car.graph, "/slam_pose", Qos::publish()).ok());
    ros_messages::TFMessage mount;
    mount.transforms.push_back({{{}, "base_link"}, "laser", {{0.3, 0.0, 0.1}, {}}});
    fixed.publish(mount);
    rig.run_ms(5);
    const PoseEstimate at{rig.network.now(), {2.0, 1.0}, to_quaternion(math::kPi / 2)};
    const auto wire = ros_messages::to_ros(at, "map");
    if (source == PoseSource::kTopic) {
      pose.publish(wire);
    } else {
      ros_messages::TFMessage m;
      m.transforms.push_back({wire.header, "base_link", {{2.0, 1.0, 0.0}, wire.pose.orientation}});
      tf.publish(m);
    }
    rig.run_ms(30);
    const PoseEstimate* seen = rig.controller->last.pose.message;
    REQUIRE(seen != nullptr);
    CHECK(seen->stamp == at.stamp);
    CHECK(seen->position.x == doctest::Approx(2.0));
    CHECK(seen->position.y == doctest::Approx(source == PoseSource::kTopic ? 0.7 : 1.0));
    CHECK(yaw_of(seen->orientation) == doctest::Approx(math::kPi / 2));
    if (source == PoseSource::kTf) CHECK(seen->orientation.z == at.orientation.z);
    rig.car.pressed = true;
    rig.run_ms(600);
    CHECK(rig.node->gate().cause() == Cause::kPoseStale);
  }
}

}  // namespace pitwall::ros_bridge

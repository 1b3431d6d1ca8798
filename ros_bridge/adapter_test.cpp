// SPDX-License-Identifier: Apache-2.0
// The adapter's parts without a node: transforms, gate, live parameters, intent, the in-process graph.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "controllers/make.hpp"
#include "core/test_car.hpp"
#include "ros_bridge/gate.hpp"
#include "ros_bridge/in_order.hpp"
#include "ros_bridge/live_parameters.hpp"
#include "ros_bridge/memory_graph.hpp"
#include "ros_bridge/node_inputs.hpp"
#include "ros_bridge/reports.hpp"
#include "ros_bridge/test_node.hpp"
#include "ros_bridge/tf_buffer.hpp"
#include "ros_messages/convert.hpp"

namespace pitwall::ros_bridge {
namespace {

ros_messages::TFMessage transform(const std::string& parent, const std::string& child, Time stamp, const Pose3& T) {
  ros_messages::TFMessage message;
  auto& t = message.transforms.emplace_back();
  t.header = {ros_messages::to_stamp(stamp), parent};
  t.child_frame_id = child;
  t.transform = {{T.x, T.y, T.z}, {T.qx, T.qy, T.qz, T.qw}};
  return message;
}

Pose3 flat(double x, double y, double yaw) { return Pose3::of(Pose2{x, y, yaw}); }

/// Everything right at 10 s, the deadman held.
GateFacts good(Time now = Time{10'000 * kMs}) {
  GateFacts f;
  f.now = now;
  f.joy = f.scan = f.odometry = f.command = now;
  f.button_there = f.deadman = true;
  f.needs_scan = f.needs_odometry = true;
  return f;
}

/// A gate that lets commands through.
Gate open_gate(const GateParameters& parameters = {}) {
  Gate gate(parameters);
  GateFacts f = good();
  f.deadman = false;
  gate.tick(f);
  REQUIRE(gate.tick(good()) == Cause::kNone);
  return gate;
}

}  // namespace

TEST_CASE("a chain of fixed and moving transforms is composed at one instant, and interpolated") {
  TfBuffer tf;
  tf.add(transform("base_link", "laser", {}, flat(0.27, 0.0, 0.0)), true);
  tf.add(transform("odom", "base_link", Time{0}, flat(1.0, 2.0, 0.0)), false);
  tf.add(transform("odom", "base_link", Time{100 * kMs}, flat(2.0, 2.0, math::kPi / 2)), false);
  tf.add(transform("map", "odom", Time{0}, flat(10.0, 0.0, math::kPi)), false);
  tf.add(transform("map", "odom", Time{200 * kMs}, flat(10.0, 0.0, math::kPi)), false);
  const auto at = tf.lookup("map", "laser", Time{50 * kMs});
  REQUIRE_MESSAGE(at.ok(), at.error().message);
  // odom: (1.5, 2) at 45 degrees, the laser 0.27 ahead of it; the map sees that turned by 180 degrees.
  const double half = 0.27 * std::sqrt(0.5);
  CHECK(at->planar().x == doctest::Approx(10.0 - 1.5 - half));
  CHECK(at->planar().y == doctest::Approx(-2.0 - half));
  CHECK(wrap_angle(at->planar().yaw - (math::kPi / 4 + math::kPi)) == doctest::Approx(0.0));
  // The other way is its inverse, and what lies between siblings goes over their parent.
  const auto back = tf.lookup("laser", "map", Time{50 * kMs});
  const Pose2 round = compose(*at, *back).planar();
  CHECK(round.x == doctest::Approx(0.0));
  CHECK(round.yaw == doctest::Approx(0.0));
  tf.add(transform("base_link", "imu", {}, flat(0.1, 0.05, 0.0)), true);
  CHECK(tf.lookup("imu", "laser", Time{5'000 * kMs})->planar().x == doctest::Approx(0.17));
  // The chain is known as far as its slowest part.
  CHECK(tf.latest("map", "laser")->ns == 100 * kMs);
  CHECK_FALSE(tf.latest("imu", "laser"));
  const auto late = tf.lookup("map", "laser", Time{101 * kMs});
  CHECK(late.error().message.find("odom -> base_link") != std::string::npos);
  CHECK(tf.lookup("map", "gps", Time{}).error().message.find("'gps'") != std::string::npos);
}

TEST_CASE("a transform in space turns all three axes") {
  // A quarter turn about y takes z to x; a quarter about z then takes x to y.
  const double h = std::sqrt(0.5);
  const Pose3 about_z{0, 0, 0, 0, 0, h, h};
  const Pose3 about_y{0, 0, 1, 0, h, 0, h};
  const Pose3 both = compose(about_z, compose(about_y, Pose3{0, 0, 1}));
  CHECK(both.x == doctest::Approx(0.0));
  CHECK(both.y == doctest::Approx(1.0));
  CHECK(both.z == doctest::Approx(1.0));
  const Pose3 none = compose(both, inverse(both));
  CHECK(none.x == doctest::Approx(0.0));
  CHECK(none.y == doctest::Approx(0.0));
  CHECK(none.z == doctest::Approx(0.0));
  CHECK(std::fabs(none.qw) == doctest::Approx(1.0));
}

TEST_CASE("what is no transform is refused, a circle of frames ends, old ones are forgotten") {
  TfBuffer tf(Duration{1'000 * kMs});
  tf.add(transform("a", "a", {}, flat(0, 0, 0)), true);
  tf.add(transform("a", "", {}, flat(0, 0, 0)), true);
  tf.add(transform("a", "b", {}, {0, 0, 0, 0, 0, 0, 0}), true);
  tf.add(transform("a", "b", {}, {NAN, 0, 0}), true);
  CHECK(tf.refused() == 4);
  CHECK_FALSE(tf.connected("a", "b"));
  tf.add(transform("a", "b", {}, flat(1, 0, 0)), true);
  tf.add(transform("b", "a", {}, flat(1, 0, 0)), true);
  CHECK_FALSE(tf.lookup("c", "a", {}).ok());
  TfBuffer moving(Duration{1'000 * kMs});
  for (int k = 0; k <= 30; ++k) moving.add(transform("odom", "base_link", Time{k * 100 * kMs}, flat(k, 0, 0)), false);
  CHECK_FALSE(moving.lookup("odom", "base_link", Time{1'900 * kMs}).ok());
  CHECK(moving.lookup("odom", "base_link", Time{2'000 * kMs})->x == 20.0);
  moving.forget_moving();
  CHECK_FALSE(moving.connected("odom", "base_link"));
}

TEST_CASE("odometry of another point of the body becomes that of the rear axle") {
  // On a circle of 2 m about the origin at 1 rad/s: the axle does 2 m/s; a point 0.3 m ahead and 0.1 m to the left 1.9 m/s along x.
  const Pose2 T_odom_base{2.0, 0.0, math::kPi / 2};
  const Pose2 T_base_child{0.3, 0.1, 0.0};
  const Pose2 T_odom_child = T_odom_base * T_base_child;
  Odometry child{{}, T_odom_child.position(), to_quaternion(T_odom_child.yaw), 1.9, 1.0};
  const Odometry base = at_base(child, T_base_child);
  CHECK(base.speed_mps == doctest::Approx(2.0));
  CHECK(base.yaw_rate_radps == 1.0);
  CHECK(base.position.x == doctest::Approx(2.0));
  CHECK(base.position.y == doctest::Approx(0.0));
  CHECK(yaw_of(base.orientation) == doctest::Approx(math::kPi / 2));
}

TEST_CASE("the gate wants all of it at once, and names what is missing") {
  struct Case {
    Cause cause;
    void (*spoil)(GateFacts&);
  };
  const std::vector<Case> cases{
      {Cause::kShutdown, [](GateFacts& f) { f.shutdown = true; }},
      {Cause::kEmergencyStop, [](GateFacts& f) { f.estop = true; }},
      {Cause::kWaitingForJoy, [](GateFacts& f) { f.joy.reset(); }},
      {Cause::kJoyStale, [](GateFacts& f) { f.joy = f.now - Duration{250 * kMs}; }},
      {Cause::kDeadmanButtonMissing, [](GateFacts& f) { f.button_there = f.deadman = false; }},
      {Cause::kDeadmanReleased, [](GateFacts& f) { f.deadman = false; }},
      {Cause::kClockJumped, [](GateFacts& f) { f.clock_jumped = true; }},
      {Cause::kDuplicatePublisher, [](GateFacts& f) { f.duplicate = true; }},
      {Cause::kOtherDriver, [](GateFacts& f) { f.other_driver = true; }},
      {Cause::kLoopLate, [](GateFacts& f) { f.since_last = Duration{150 * kMs}; }},
      {Cause::kScanMissing, [](GateFacts& f) { f.scan.reset(); }},
      {Cause::kScanStale, [](GateFacts& f) { f.scan = f.now - Duration{400 * kMs}; }},
      {Cause::kOdometryMissing, [](GateFacts& f) { f.odometry.reset(); }},
      {Cause::kOdometryStale, [](GateFacts& f) { f.odometry = f.now - Duration{400 * kMs}; }},
      {Cause::kPoseMissing, [](GateFacts& f) { f.needs_pose = true; }},
      {Cause::kPoseStale, [](GateFacts& f) { f.needs_pose = true, f.pose = f.now - Duration{400 * kMs}; }},
      {Cause::kCommandNotFinite, [](GateFacts& f) { f.command_finite = false; }},
      {Cause::kCommandStale, [](GateFacts& f) { f.command = f.now - Duration{150 * kMs}; }},
  };
  for (const Case& c : cases) {
    Gate gate = open_gate();
    GateFacts f = good();
    c.spoil(f);
    CHECK_MESSAGE(gate.tick(f) == c.cause, name(gate.cause()));
    // Trouble is over, the deadman was held all the time: it has to be let go of once. A plain release is no trouble.
    const Cause after = gate.tick(good());
    if (c.cause == Cause::kDeadmanReleased || c.cause == Cause::kShutdown) {
      CHECK_MESSAGE(after == Cause::kNone, name(c.cause));
    } else {
      CHECK_MESSAGE(after == (c.cause == Cause::kEmergencyStop ? Cause::kEmergencyStop : Cause::kDeadmanNotSeenReleased), name(c.cause));
      GateFacts released = good();
      released.deadman = false;
      gate.tick(released);
      CHECK_MESSAGE(gate.tick(good()) == Cause::kNone, name(c.cause));
    }
  }
  // A nanosecond earlier all of them are fresh.
  Gate gate = open_gate();
  GateFacts f = good();
  f.needs_pose = true;
  f.joy = f.now - Duration{250 * kMs - 1};
  f.scan = f.odometry = f.pose = f.now - Duration{400 * kMs - 1};
  f.command = f.now - Duration{150 * kMs - 1};
  f.since_last = Duration{150 * kMs - 1};
  CHECK(gate.tick(f) == Cause::kNone);
}

TEST_CASE("row 29: a deadman that is held from the start does not drive off") {
  Gate gate{GateParameters{}};
  CHECK(gate.tick(good()) == Cause::kDeadmanNotSeenReleased);
  GateParameters trusting;
  trusting.release_first = false;
  Gate other(trusting);
  CHECK(other.tick(good()) == Cause::kNone);
}

TEST_CASE("a press while something is wrong does not drive off when it is right again") {
  Gate gate = open_gate();
  GateFacts f = good();
  f.deadman = false;
  f.scan = f.now - Duration{500 * kMs};
  gate.tick(f);
  f.deadman = true;
  CHECK(gate.tick(f) == Cause::kScanStale);
  CHECK(gate.tick(good()) == Cause::kDeadmanNotSeenReleased);
}

TEST_CASE("row 27: an emergency stop wins over everything and stays until acknowledged with the deadman released") {
  GateParameters parameters;
  parameters.acknowledge_button = 7;
  Gate gate = open_gate(parameters);
  GateFacts f = good();
  f.estop = true;
  CHECK(gate.tick(f) == Cause::kEmergencyStop);
  f.acknowledge = true;
  f.deadman = false;
  CHECK(gate.tick(f) == Cause::kEmergencyStop);  // still asked for
  f = good();
  CHECK(gate.tick(f) == Cause::kEmergencyStop);
  f.acknowledge = true;
  CHECK(gate.tick(f) == Cause::kEmergencyStop);  // deadman held
  f = good();
  f.deadman = false;
  CHECK(gate.tick(f) == Cause::kEmergencyStop);  // not acknowledged
  f.joy = f.now - Duration{300 * kMs};
  f.acknowledge = true;
  CHECK(gate.tick(f) == Cause::kEmergencyStop);  // an old message of the joystick
  f.joy = f.now;
  CHECK(gate.tick(f) == Cause::kDeadmanReleased);
  CHECK(gate.tick(good()) == Cause::kNone);
}

TEST_CASE("parameters change between the bounds of driving, all or none, and never the deadman") {
  CarParameters car = testing::base_car();
  car.speed_max_mps = 6.0;
  car.steering_max_left_rad = 0.4;
  car.steering_max_right_rad = -0.4;
  auto controller = controllers::make("gap_follow", Node::map(), car, nullptr);
  REQUIRE(controller.ok());
  const auto change = [&](const std::string& yaml) { return change_live(**controller, *parse_yaml(yaml, "test")); };
  CHECK(*change("{max_speed_mps: 1.5, enable_ttc: false}") == std::vector<std::string>{"max_speed_mps=1.5", "enable_ttc=false"});
  CHECK(change("{max_speed_mps: 4.5}").error().message.find("from 0.3 to 4") != std::string::npos);
  CHECK(change("{max_speed_mps: .nan}").error().message.find("max_speed_mps") != std::string::npos);
  CHECK(change("{enable_ttc: maybe}").error().message.find("true or false") != std::string::npos);
  CHECK(change("{enable_deadman: false}").error().message.find("live parameter 'enable_deadman'") != std::string::npos);
  CHECK(change("{deadman_button: 5}").error().message.find("unknown") != std::string::npos);
  CHECK_FALSE(change("[1]").ok());
  // One wrong value spoils the batch: min_speed_mps would fit, and must not have been taken.
  CHECK_FALSE(change("{min_speed_mps: 1.4, corner_speed_mps: 9}").ok());
  CHECK(change("{max_speed_mps: 1.45}").ok());  // a minimum speed above it would refuse that
  // Names that a controller does not know would be refused only when someone turns them on the track.
  for (const char* name : {"gap_follow", "pure_pursuit"}) {
    const auto rows = controllers::describe(name);
    for (const LiveParameter& live : live_parameters(name)) {
      const bool known = std::any_of(rows->begin(), rows->end(), [&](const FieldDescription& row) { return row.name == live.name; });
      CHECK_MESSAGE(known, name << " " << live.name);
    }
  }
  CHECK(live_parameters("excite").empty());
}

TEST_CASE("the intent is the exact arc of the command") {
  ReportParameters p;
  const double steering = 0.2, wheelbase = 0.33, speed = 2.0;
  const double radius = wheelbase / std::tan(steering);
  const auto path = intent_path(speed, steering, wheelbase, p);
  REQUIRE(path.size() == 16);
  for (const IntentPoint& point : path) CHECK(distance(point.pose.position(), {0.0, radius}) == doctest::Approx(radius));
  CHECK(path.back().pose.yaw == doctest::Approx(speed * 1.5 / radius));
  CHECK(intent_path(20.0, 0.0, wheelbase, p).back().pose.x == doctest::Approx(8.0));
  CHECK(intent_path(-1.0, 0.0, wheelbase, p).back().pose.x == doctest::Approx(-1.5));
  CHECK(intent_path(0.0, 0.3, wheelbase, p).back().pose.x == 0.0);
}

TEST_CASE("messages are handed out in the order in which they came, also where a transport missed one at first") {
  // Looks at its topics one after another; "late" is found only at the second look, as its message came just after the first.
  class Hasty final : public Graph {
   public:
    Result<PublisherId> advertise(const TopicSpec& /*topic*/) override { return PublisherId{0}; }
    bool publish(PublisherId /*publisher*/, std::string_view /*cdr*/) override { return true; }
    [[nodiscard]] std::size_t readers_of(PublisherId /*publisher*/) const override { return 0; }
    Status subscribe(const TopicSpec& /*topic*/, Handler handler) override {
      handlers.push_back(std::move(handler));
      return {};
    }
    [[nodiscard]] std::vector<Endpoint> endpoints() const override { return {}; }
    [[nodiscard]] Time now() const override { return time; }
    void wait(Time /*until*/) override {
      if (looks++ == 0) {
        handlers[1]("2", {Time{20}, {}, {}});
        time = Time{30};
      } else if (looks == 2) {
        handlers[0]("1", {Time{10}, {}, {}});
        handlers[1]("4", {Time{40}, {}, {}});
      } else {
        time = Time{50};
        if (looks == 3) handlers[0]("3", {Time{35}, {}, {}});
      }
    }
    std::vector<Handler> handlers;
    Time time{25};
    int looks = 0;
  };
  Hasty hasty;
  InOrder ordered(hasty);
  std::string got;
  for (int k = 0; k < 2; ++k) REQUIRE(ordered.subscribe({}, [&](std::string_view cdr, const Arrival&) { got += cdr; }).ok());
  ordered.wait({});
  CHECK(got == "12");
  ordered.wait({});
  ordered.wait({});
  CHECK(got == "1234");
}

TEST_CASE("the graph in one process matches by name, type and QoS, keeps to depths, and gives latched messages to those who come late") {
  MemoryNetwork network(Time{5});
  MemoryGraph a(network, "/a"), b(network, "/b");
  const auto reliable = a.advertise({.name = "/x", .type = "std_msgs/msg/String", .qos = Qos::publish()});
  const auto best_effort = a.advertise({.name = "/x", .type = "std_msgs/msg/String", .qos = Qos::sensor_data()});
  const auto latched = a.advertise({.name = "/map", .type = "std_msgs/msg/String", .qos = Qos::latched(2)});
  CHECK_FALSE(a.advertise({.name = "x", .type = "std_msgs/msg/String", .qos = {}}).ok());
  for (const char* text : {"1", "2", "3"}) a.publish(*latched, text);
  std::vector<std::string> got, latest;
  const auto into = [](std::vector<std::string>& list) {
    return [&list](std::string_view cdr, const Arrival&) { list.emplace_back(cdr); };
  };
  REQUIRE(b.subscribe({.name = "/x", .type = "std_msgs/msg/String", .qos = Qos::publish()}, into(got)).ok());
  REQUIRE(b.subscribe({.name = "/map", .type = "std_msgs/msg/String", .qos = Qos::latched(10)}, into(latest)).ok());
  CHECK(a.readers_of(*reliable) == 1);
  CHECK(a.readers_of(*best_effort) == 0);
  for (int k = 0; k < 12; ++k) a.publish(*reliable, std::to_string(k));
  a.publish(*best_effort, "lost");
  b.wait(Time{7});
  CHECK(got.size() == 10);
  CHECK(got.front() == "2");
  CHECK(latest == std::vector<std::string>{"2", "3"});
  CHECK(network.now().ns == 5);
  b.wait(Time{7});
  CHECK(network.now().ns == 7);
  CHECK(b.endpoints().size() == 5);
  {
    MemoryGraph c(network, "/c");
    REQUIRE(c.subscribe({.name = "/x", .type = "std_msgs/msg/String", .qos = Qos::subscribe()}, into(got)).ok());
    CHECK(a.readers_of(*best_effort) == 1);
  }
  CHECK(a.readers_of(*best_effort) == 0);
}

TEST_CASE("reports come after the command, log what changes at once, and end where the transport fails, without the driving") {
  TestRig rig;
  std::vector<std::string> order, log;
  MemoryGraph listener(rig.network, "/listener");
  const auto hear = [&]<class Message>(const std::string& topic, Message /*of*/, Qos qos) {
    REQUIRE(subscribe<Message>(listener, topic, qos, [&, topic](const Message& m, const Arrival&) {
              order.push_back(topic);
              if constexpr (std::is_same_v<Message, ros_messages::Log>) log.push_back(m.msg);
            }).ok());
  };
  hear("/drive", ros_messages::AckermannDriveStamped(), Qos::subscribe(1000));
  hear("/drive_intent", ros_messages::String(), Qos::subscribe(1000));
  hear("/diagnostics", ros_messages::DiagnosticArray(), Qos::subscribe(1000));
  hear("/rosout", ros_messages::Log(), Qos::subscribe(1000));
  rig.drive();
  order.clear();
  listener.wait(rig.network.now());
  order.clear();
  log.clear();
  rig.run_ms(3000);
  listener.wait(rig.network.now());
  CHECK(order.front() == "/drive");
  CHECK(std::count(order.begin(), order.end(), "/drive_intent") == doctest::Approx(60).epsilon(0.02));
  CHECK(std::count(order.begin(), order.end(), "/diagnostics") == 3);
  CHECK(log.size() == 3);
  CHECK(log.back().find("DRIVE [drive] 2 m/s, steering 0.1 rad") == 0);
  rig.car.pressed = false;
  rig.run_ms(60);
  listener.wait(rig.network.now());
  CHECK(log.back().find("STOP [deadman_released]") == 0);
}

}  // namespace pitwall::ros_bridge

// SPDX-License-Identifier: Apache-2.0
#include "onboard/car_loop.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "calibration/car_profile.hpp"
#include "core/files.hpp"
#include "tests/support/allocation_guard.hpp"
#include "tests/support/source_dir.hpp"

using namespace pitwall;
using namespace pitwall::onboard;

namespace {

Time at_ms(std::int64_t ms) { return Time{} + from_milliseconds(100'000 + ms); }

// Wants 1 m/s and 0.1 rad, and remembers what it saw.
class Steady final : public Controller {
 public:
  explicit Steady(std::optional<Duration> period = {}) : period_(period) {}
  [[nodiscard]] std::string_view name() const override { return "steady"; }
  [[nodiscard]] Trigger trigger() const override { return {period_}; }
  void reset(const Observation& /*first*/) override {}
  Command update(const Observation& obs) override {
    seen = obs;
    calls.push_back(obs.now);
    return {0.1F, speed_mps};
  }
  float speed_mps = 1.0F;
  Observation seen;
  std::vector<Time> calls;

 private:
  std::optional<Duration> period_;
};

class Told final : public RunObserver {
 public:
  void arrived(std::size_t, const Source<LaserScan>& s) override { scan = s.sequence; }
  void arrived(std::size_t, const Source<Odometry>& s) override { odometry = *s.message; }
  void arrived(std::size_t, const Source<PoseEstimate>&) override {}
  void arrived(std::size_t, const Source<Joy>& s) override { joy = *s.message; }
  void arrived(std::size_t, const Source<Imu>& s) override { imu = s.sequence; }
  void changed(std::size_t, const std::string&) override {}
  void decided(std::size_t, std::uint64_t tick, const Observation& seen, const Command&) override {
    ticks = tick;
    scan_told_first = scan_told_first && seen.scan.sequence == scan;
  }
  std::uint64_t scan = 0;
  std::uint64_t imu = 0;
  std::uint64_t ticks = 0;
  Odometry odometry;
  Joy joy;
  bool scan_told_first = true;
};

CarLoopSetup setup(bool bench = false, bool needs_estop = false) {
  const auto profile = calibration::load_car("rb2", source_dir() / "calibration" / "cars");
  REQUIRE(profile.ok());
  CarLoopSetup setup = CarLoopSetup::for_car(profile->parameters, *profile->hardware);
  setup.bench = bench;
  setup.supervisor.bench_speed_mps = 2.0;
  setup.needs_estop = needs_estop;
  return setup;
}

struct Loop {
  explicit Loop(std::optional<Duration> period = {}, bool bench = false, bool needs_estop = false)
      : controller(period), loop(setup(bench, needs_estop), controller, nullptr, told) {
    loop.begin(at_ms(0));
  }

  void give(Event event, std::int64_t ms) { loop.take(event, at_ms(ms)); }
  static drivers::Received<LaserScan> scan(std::int64_t stamp_ms, std::int64_t arrival_ms, float range = 2.0F) {
    drivers::Received<LaserScan> s;
    s.value.range_min = 0.06F;
    s.value.range_max = 10.0F;
    s.value.ranges.assign(100, range);
    s.stamp = at_ms(stamp_ms);
    s.arrival = at_ms(arrival_ms);
    return s;
  }
  static drivers::Received<vesc::Values> values(std::int64_t ms, double erpm, std::int32_t tachometer) {
    drivers::Received<vesc::Values> v;
    v.value.present = vesc::kRacingMask;
    v.value.erpm = erpm;
    v.value.tachometer = tachometer;
    v.value.input_voltage_V = 11.8;
    v.stamp = v.arrival = at_ms(ms);
    return v;
  }
  static JoystickState joystick(std::int64_t ms, bool deadman) {
    JoystickState j;
    j.present = true;
    j.connection = 1;
    j.controls.deadman = deadman;
    j.buttons = {0, 0, 1};
    j.arrival = at_ms(ms);
    return j;
  }
  /// 20 ms of a car that stands, at 100 Hz of ticks; returns the last step.
  LoopStep round(std::int64_t ms, bool deadman) {
    give(values(ms, 0.0, 0), ms);
    give(scan(ms - 19, ms), ms);
    give(joystick(ms, deadman), ms);
    return loop.tick(at_ms(ms));
  }
  LoopStep armed() {
    give(MotorLink{true, true, true, 1, 7}, 0);
    for (std::int64_t ms = 20; ms <= 200; ms += 20) round(ms, false);
    round(220, true);
    return round(240, true);
  }

  Told told;
  Steady controller;
  CarLoop loop;
};

drivers::Received<Imu> imu(std::int64_t ms, double yaw_rate, double up = 9.81) {
  drivers::Received<Imu> i;
  i.value.angular_velocity_radps = {0.0, 0.0, yaw_rate};
  i.value.linear_acceleration_mps2 = {0.0, 0.0, up};
  i.stamp = i.arrival = at_ms(ms);
  return i;
}

}  // namespace

TEST_CASE("armed: the controller's speed as eRPM and its angle as servo position, once a decision") {
  Loop l;
  const LoopStep step = l.armed();
  CHECK(l.loop.supervisor().state() == State::kArmed);
  REQUIRE(step.frame_count == 2);
  CHECK(step.frames[0].kind == vesc::CommandKind::kErpm);
  CHECK(step.frames[0].value == doctest::Approx(4614 * 4.0 * 0.02));  // its ramp's first step
  CHECK(step.frames[1].kind == vesc::CommandKind::kServo);
  CHECK(step.frames[1].value == doctest::Approx(-1.2135 * 0.1 + 0.5304));
  CHECK(step.due == at_ms(240));
  CHECK(l.loop.tick(at_ms(250)).frame_count == 0);
  CHECK(l.told.scan_told_first);
  CHECK(l.told.ticks == l.controller.calls.size());
}

TEST_CASE("the pad's deadman is told to the controller where the profile has it") {
  Loop l;
  l.give(Loop::joystick(10, true), 10);
  REQUIRE(l.told.joy.buttons.size() == 5);
  CHECK(l.told.joy.buttons[4] == 1);
  CHECK(l.told.joy.buttons[2] == 1);
  l.give(Loop::joystick(20, false), 20);
  CHECK(l.told.joy.buttons[4] == 0);
}

TEST_CASE("a controller by rate is called at its instants, whatever scans come") {
  Loop l(from_milliseconds(25));
  for (std::int64_t ms = 5; ms <= 1000; ms += 5) {
    if (ms % 100 == 0) l.give(Loop::scan(ms - 19, ms), ms);
    l.loop.tick(at_ms(ms));
  }
  REQUIRE(l.controller.calls.size() == 40);
  for (std::size_t k = 0; k < 40; ++k) CHECK(l.controller.calls[k] == at_ms(25 * static_cast<std::int64_t>(k + 1)));
}

TEST_CASE("row 16: the locks are alike, the smaller of both sides, and so is what is sent") {
  const CarLoopSetup s = setup();
  CHECK(s.supervisor.steering_left_rad == doctest::Approx(0.26337).epsilon(1e-3));
  CHECK(s.supervisor.steering_right_rad == -s.supervisor.steering_left_rad);
}

TEST_CASE("row 23: a scan that is old, from the future, or mostly without a valid beam is refused and refreshes nothing") {
  Loop l;
  l.give(Loop::scan(81, 100), 100);
  CHECK(l.loop.facts().scan == at_ms(100));
  l.give(Loop::scan(0, 151), 151);
  l.give(Loop::scan(221, 200), 200);
  l.give(Loop::scan(200, 219, std::numeric_limits<float>::quiet_NaN()), 219);
  l.give(Loop::scan(201, 220, 0.01F), 220);
  CHECK(l.loop.facts().scan == at_ms(100));
  CHECK(l.loop.counts().scans_refused == 4);
  CHECK(l.told.scan == 1);
  l.give(Loop::scan(211, 230, std::numeric_limits<float>::infinity()), 230);  // nothing in reach is a valid answer
  CHECK(l.loop.facts().scan == at_ms(230));
}

TEST_CASE("telemetry and gyro become odometry: a turn of 1 rad/s at 1 m/s") {
  Loop l;
  for (std::int64_t ms = 0; ms <= 1000; ms += 10) {
    l.give(imu(ms, 1.0 + 1e-6 * static_cast<double>(ms % 30)), ms);
    if (ms % 20 == 0) l.give(Loop::values(ms, 4614.0, static_cast<std::int32_t>(std::lround(461.4e-3 * static_cast<double>(ms)))), ms);
  }
  CHECK(l.told.odometry.speed_mps == doctest::Approx(1.0));
  CHECK(l.told.odometry.position.x == doctest::Approx(std::sin(1.0)).epsilon(0.03));
  CHECK(l.told.odometry.position.y == doctest::Approx(1.0 - std::cos(1.0)).epsilon(0.05));
}

TEST_CASE("row 31: an IMU that spikes or freezes is not believed") {
  Loop l;
  for (std::int64_t ms = 0; ms < 500; ms += 10) l.give(imu(ms, 1e-4 * static_cast<double>(ms % 70)), ms);
  CHECK(l.told.imu == 50);
  l.give(imu(500, 60.0), 500);
  l.give(imu(510, 0.0, 400.0), 510);
  CHECK(l.told.imu == 50);
  for (std::int64_t ms = 520; ms < 2520; ms += 10) l.give(imu(ms, 0.001), ms);  // 200 equal ones
  CHECK(l.told.imu < 120);
  CHECK(l.loop.counts().imu_refused > 100);
}

TEST_CASE(
    "row 24: a car on a stand, whose IMU feels nothing, stops soon after its wheels turn; in bench mode, without an IMU, and on the floor "
    "not") {
  struct Case {
    bool bench;
    bool imu;
    double felt;  // share of the wheels' acceleration
    bool stops;
  };
  for (const Case& c : {Case{false, true, 0.0, true}, Case{true, true, 0.0, false}, Case{false, false, 0.0, false},
                        Case{false, true, 1.0, false}, Case{false, true, 0.4, true}}) {
    CAPTURE(c.bench);
    CAPTURE(c.felt);
    Loop l({}, c.bench);
    l.controller.speed_mps = 0.0F;
    l.armed();
    double speed = 0.0;
    double counts = 0.0;
    std::int64_t stopped_ms = 0;
    for (std::int64_t ms = 250; ms <= 7000; ms += 10) {
      const double rise = ms > 2000 && speed < 2.95 ? 0.03 : 0.0;  // 3 m/s^2
      speed += rise;
      l.controller.speed_mps = static_cast<float>(speed);
      counts += speed * 0.01 * 461.4;
      if (c.imu) {
        auto felt = imu(ms, 1e-4 * static_cast<double>(ms % 70));
        felt.value.linear_acceleration_mps2[0] = 0.5 + 100.0 * c.felt * rise;  // it sits askew
        l.give(felt, ms);
      }
      if (ms % 20 == 0) {
        l.give(Loop::values(ms, 4614.0 * speed, static_cast<std::int32_t>(counts)), ms);
        l.give(Loop::scan(ms - 19, ms), ms);
        l.give(Loop::joystick(ms, true), ms);
      }
      const LoopStep step = l.loop.tick(at_ms(ms));
      if (stopped_ms == 0 && step.out.state != State::kArmed) {
        stopped_ms = ms;
        CHECK(step.out.cause == Cause::kImuMismatch);
      }
    }
    CHECK((stopped_ms > 0) == c.stops);
    CHECK(stopped_ms < 3700);
  }
}

TEST_CASE("row 27: what an emergency stop input says reaches the supervisor with the tick") {
  Loop l({}, false, true);
  l.give(EstopReport{EstopSays::kGo, at_ms(0)}, 0);
  for (std::int64_t ms = 20; ms <= 200; ms += 20) {
    l.give(EstopReport{EstopSays::kGo, at_ms(ms)}, ms);
    l.armed();
  }
  l.give(EstopReport{EstopSays::kGo, at_ms(240)}, 240);
  CHECK(l.round(240, true).out.state != State::kEstop);
  l.give(EstopReport{EstopSays::kStop, at_ms(241)}, 241);
  CHECK(l.loop.tick(at_ms(242)).out.cause == Cause::kEstopInput);
}

TEST_CASE("without a gyro the yaw rate is that of the steering's model") {
  Loop l;
  l.armed();
  std::int32_t counts = 0;
  for (std::int64_t ms = 260; ms <= 2000; ms += 20) {
    counts += 9;
    l.give(Loop::values(ms, 4614.0, counts), ms);
    l.give(Loop::scan(ms - 19, ms), ms);
    l.give(Loop::joystick(ms, true), ms);
    l.loop.tick(at_ms(ms));
  }
  REQUIRE(l.loop.supervisor().state() == State::kArmed);
  CHECK(l.told.odometry.yaw_rate_radps == doctest::Approx(std::tan(0.1) / 0.36).epsilon(0.01));
}

TEST_CASE("telemetry of the connection before counts for nothing") {
  Loop l;
  l.armed();
  l.give(MotorLink{true, true, true, 2, 7}, 250);
  CHECK_FALSE(l.loop.facts().telemetry.has_value());
  CHECK(l.loop.tick(at_ms(250)).frame_count == 0);
  CHECK(l.loop.supervisor().state() == State::kNoDevice);
}

TEST_CASE("a tick allocates nothing") {
  Loop l;
  l.armed();
  l.controller.calls.reserve(10);
  Event scan = Loop::scan(241, 260);
  const AllocationGuard guard;
  l.loop.take(scan, at_ms(260));
  l.loop.tick(at_ms(260));
  CHECK(guard.count() == 0);
}

TEST_CASE("docs/car.md names every limit with its default, every state and every cause") {
  const auto text = read_file(source_dir() / "docs" / "car.md");
  REQUIRE(text.ok());
  for (const FieldDescription& row : describe_fields(SupervisorParameters{})) {
    INFO(row.name);
    CHECK(text->find("| `" + row.name + "` | " + row.value + " |") != std::string::npos);
  }
  for (int k = static_cast<int>(Cause::kDeadmanReleased); k < kCauses; ++k) {
    INFO(name(static_cast<Cause>(k)));
    CHECK(text->find("`" + std::string(name(static_cast<Cause>(k))) + "`") != std::string::npos);
  }
  for (int k = 0; k <= static_cast<int>(State::kEstop); ++k) CHECK(text->find(name(static_cast<State>(k))) != std::string::npos);
}

// SPDX-License-Identifier: Apache-2.0
// Whatever happens in whatever order: what must hold in every tick, judged from the facts alone.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/rng.hpp"
#include "onboard/test_operator.hpp"

using namespace pitwall;
using namespace pitwall::onboard;

namespace {

// Things that happen to a car, each with its chance per tick.
class Chaos {
 public:
  explicit Chaos(std::uint64_t seed) : rng_(seed, "supervisor") {}

  void disturb(TestCar& car) {
    ++tick_;
    draw_ = 0;
    Facts& f = car.facts;
    if (chance(0.02)) f.deadman = !f.deadman;
    for (bool* missing :
         {&car.no_scan, &car.no_odometry, &car.no_pose, &car.no_command, &car.no_telemetry, &car.no_events, &car.no_estop}) {
      if (chance(*missing ? 0.05 : 0.001)) *missing = !*missing;
    }
    if (chance(f.joystick_present ? 0.001 : 0.05)) {
      f.joystick_present = !f.joystick_present;
      f.joystick_connection += f.joystick_present ? 1 : 0;
    }
    if (chance(f.motor_present ? 0.001 : 0.05)) {
      f.motor_present = !f.motor_present;
      f.motor_connection += f.motor_present ? 1 : 0;
    }
    if (chance(0.0005)) ++f.motor_connection;
    f.estop = chance(f.estop ? 0.9 : 0.0005);
    if (!chance(car.estop_says == EstopSays::kGo ? 0.9995 : 0.9))
      car.estop_says = static_cast<EstopSays>(static_cast<int>(4.0 * uniform()));
    const double off_mps = chance(0.3) ? 2.0 : 0.0;
    f.imu_speed = SpeedRange{car.speed_mps + off_mps, car.speed_mps + off_mps};
    f.acknowledge = chance(0.05);
    car.telemetry.fault_code = chance(car.telemetry.fault_code != 0 ? 0.9 : 0.0005) ? 3 : 0;
    car.telemetry.kill_switch = chance(car.telemetry.kill_switch ? 0.9 : 0.0003);
    if (chance(0.02)) car.wanted_mps = 6.0 * uniform() - 0.5;
    const double roll = uniform();
    if (roll < 0.0005) car.wanted_mps = std::numeric_limits<double>::quiet_NaN();
    if (roll > 0.9995) car.wanted_mps = 1e9;
    car.advance(chance(0.0005) ? 300 : 10);
  }

 private:
  double uniform() { return rng_.uniform(tick_, draw_++); }
  bool chance(double share) { return uniform() < share; }
  Rng rng_;
  std::uint64_t tick_ = 0;
  std::uint32_t draw_ = 0;
};

// The facts under which wheels may be driven, written anew.
bool may_drive(const Facts& f, double dt_s) {
  const auto young = [&](const std::optional<Time>& t, double limit_s) { return t && (f.now - *t).seconds() <= limit_s; };
  return f.deadman && f.joystick_present && f.motor_present && f.motor_identified && !f.estop && young(f.estop_report, 0.25) &&
         f.estop_says < EstopSays::kStop && !f.shutdown && dt_s <= 0.15 && young(f.scan, 0.4) && young(f.odometry, 0.4) &&
         young(f.pose, 0.4) && f.telemetry && young(f.telemetry->arrival, 0.4) && f.telemetry->fault_code == 0 &&
         !f.telemetry->kill_switch && f.command && young(f.command->decided, 0.15) && std::isfinite(f.command->speed_mps) &&
         std::isfinite(f.command->steering_rad);
}

}  // namespace

TEST_CASE("whatever happens: motion only while all is well, a brake in the same tick when it is not, latches hold") {
  int motion = 0;
  int stops = 0;
  int latches = 0;
  bool motion_when_unfit = false;
  bool no_brake = false;
  bool repeated = false;
  bool armed_without_release = false;
  bool latch_left = false;
  bool too_fast = false;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    TestCar car;
    car.facts.needs_estop = true;
    Chaos chaos(seed);
    State before = State::kNoDevice;
    std::uint64_t last_sent = 0;
    std::uint64_t motor = car.facts.motor_connection;
    std::uint64_t joystick = car.facts.joystick_connection;
    bool released = false;  // since the car was last stopped for whatever reason, or a device changed
    bool acknowledged = false;
    Time at = car.facts.now;
    for (int k = 0; k < 20000; ++k) {
      chaos.disturb(car);
      const Output& out = car.tick();
      const Facts& f = car.facts;
      const bool replugged = f.motor_connection != motor || f.joystick_connection != joystick;
      if (!f.joystick_present || replugged) released = false;
      const bool well = may_drive(f, (f.now - at).seconds()) && !replugged;
      if (out.motor == Motor::kSpeed) {
        ++motion;
        motion_when_unfit = motion_when_unfit || !well || out.state != State::kArmed;
        armed_without_release = armed_without_release || !released;
        repeated = repeated || f.command->sequence == last_sent;
        last_sent = f.command->sequence;
        too_fast = too_fast || std::abs(out.speed_mps) > 5.0;
      }
      if (before == State::kArmed && !well) {
        ++stops;
        no_brake = no_brake || (f.motor_present && f.motor_connection == motor && !car.brakes()) || out.state == State::kArmed;
      }
      const bool latch = before == State::kFault || before == State::kEstop;
      if (latch && out.state != State::kFault && out.state != State::kEstop) {
        ++latches;
        latch_left = latch_left || !f.acknowledge || acknowledged || f.deadman || f.estop;
      }
      if (before == State::kArmed && out.state != State::kArmed) released = false;
      if (f.joystick_present && !f.deadman) released = true;
      if (std::isnan(car.wanted_mps)) car.wanted_mps = 1.0;
      acknowledged = f.acknowledge;
      before = out.state;
      motor = f.motor_connection;
      joystick = f.joystick_connection;
      at = f.now;
    }
  }
  CHECK(motion > 5000);  // the chaos leaves room to drive
  CHECK(stops > 200);
  CHECK(latches > 50);
  CHECK_FALSE(motion_when_unfit);
  CHECK_FALSE(no_brake);
  CHECK_FALSE(repeated);
  CHECK_FALSE(armed_without_release);
  CHECK_FALSE(latch_left);
  CHECK_FALSE(too_fast);
}

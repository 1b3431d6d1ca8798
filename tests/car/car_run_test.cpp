// SPDX-License-Identifier: Apache-2.0
// The rows of the safety list that are about a process and its devices: car_run against the emulated ones, timed by the motor controller's
// own log. Where a deadline is near what a loaded machine's scheduler takes, the best of three counts.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "tests/car/car_process.hpp"

using namespace pitwall;
using namespace pitwall::tests;
using emulators::Rig;

namespace {

/// Lets the car stand and drive again.
bool drive_again(CarOnRig& car) {
  car.command("joystick release");
  pause(ms(900));
  return car.wait_driving();
}

/// The best time to brake of three faults, each on a car that drives.
double best_ms_to_brake(CarOnRig& car, Duration timeout, const std::function<void()>& fault, const std::function<void()>& mend) {
  double best = 1e9;
  for (int k = 0; k < 3; ++k) {
    const Time since = Rig::now();
    fault();
    const double took = car.ms_to_brake(since, timeout);
    if (took >= 0.0) best = std::min(best, took);
    mend();
    if (!drive_again(car)) return -1.0;
  }
  return best;
}

}  // namespace

TEST_CASE("rows 1 and 2: deadman released: a brake within 50 ms; joystick gone: within 100 ms, and its return does not drive") {
  CarOnRig car("operator");
  car.start();
  REQUIRE(car.wait_ready());
  REQUIRE(car.wait_driving());
  const double released = best_ms_to_brake(
      car, ms(1000), [&] { car.command("joystick release"); }, [] {});
  CHECK_MESSAGE((released >= 0.0 && released < 50.0), released);
  const double gone = best_ms_to_brake(
      car, ms(1000), [&] { car.command("joystick unplug"); },
      [&] {
        const Time back = Rig::now();
        car.command("joystick plug");
        pause(ms(600));
        CHECK(car.count("SET_RPM", back) == 0);
      });
  CHECK_MESSAGE((gone >= 0.0 && gone < 100.0), gone);
}

TEST_CASE("row 1: a pad that streams and falls silent: a brake after 0.5 to 1 s; one that does not stream: nothing can be seen") {
  {
    CarOnRig car("pad_streams");
    car.command("joystick jitter 25");
    car.start();
    REQUIRE(car.wait_ready());
    pause(ms(6000));
    REQUIRE(car.wait_driving());
    const Time since = Rig::now();
    car.command("joystick mute 1");
    const double took = car.ms_to_brake(since, ms(2000));
    CHECK_MESSAGE((took >= 500.0 && took < 1050.0), took);
    CHECK(car.said().find("joystick_silent") != std::string::npos);
  }
  CarOnRig car("pad_quiet");
  car.start();
  REQUIRE(car.wait_ready());
  REQUIRE(car.wait_driving());
  car.command("joystick mute 1");
  const Time since = Rig::now();
  pause(ms(1500));
  CHECK(car.count("SET_RPM", since + ms(1000)) > 5);
  CHECK(car.said().find("pad_loss_invisible") != std::string::npos);
}

TEST_CASE("rows 10, 19, 20: scan silent, telemetry silent: a brake within 450 ms, and no driving on when they are back") {
  CarOnRig car("silent");
  car.start();
  REQUIRE(car.wait_ready());
  REQUIRE(car.wait_driving());
  const double scan = best_ms_to_brake(
      car, ms(1000), [&] { car.command("hokuyo mute 1"); },
      [&] {
        const Time back = Rig::now();
        car.command("hokuyo mute 0");
        pause(ms(1500));
        CHECK(car.count("SET_RPM", back) == 0);
      });
  CHECK_MESSAGE((scan >= 100.0 && scan < 450.0), scan);
  const double telemetry = best_ms_to_brake(
      car, ms(1000), [&] { car.command("vesc mute 1"); },
      [&] {
        const Time back = Rig::now();
        car.command("vesc mute 0");
        pause(ms(1500));
        CHECK(car.count("SET_RPM", back) == 0);
      });
  CHECK_MESSAGE((telemetry >= 300.0 && telemetry < 450.0), telemetry);
}

TEST_CASE("row 7: SIGTERM: a brake within 100 ms, then centred, released, ended with 0") {
  double best = 1e9;
  for (int k = 0; k < 3 && best >= 100.0; ++k) {
    CarOnRig car("term");
    car.start();
    REQUIRE(car.wait_ready());
    REQUIRE(car.wait_driving());
    pause(ms(500));
    const Time since = Rig::now();
    car.kill(SIGTERM);
    best = std::min(best, car.ms_to_brake(since, ms(1500)));
    CHECK(car.wait_exit(ms(3000)) == 0);
    const auto log = car.rig().vesc_log();
    REQUIRE(log.size() > 2);
    CHECK(log[log.size() - 2].name == "SET_CURRENT");
    CHECK(log[log.size() - 2].value == 0.0);
    CHECK(log.back().name == "SET_SERVO_POS");
    CHECK(log.back().value == doctest::Approx(0.530));
  }
  CHECK_MESSAGE((best >= 0.0 && best < 100.0), best);
}

TEST_CASE("rows 5, 6 and 7: killed or stopped, the car is braked by the motor controller's own timeout; continued, it does not drive") {
  for (const int signal : {SIGKILL, SIGSTOP}) {
    CarOnRig car(signal == SIGKILL ? "kill" : "stop");
    car.command("vesc timeout 150 10");
    car.start();
    REQUIRE(car.wait_ready());
    REQUIRE(car.wait_driving());
    car.kill(signal);
    const Time since = Rig::now();
    CHECK(car.rig().wait(ms(400), [](const Rig::Devices& d) { return d.vesc->timed_out(); }));
    CHECK(car.count("SET_RPM", since + ms(20)) == 0);
    CHECK(car.count("ALIVE", Time{}) == 0);
    if (signal == SIGKILL) {
      CHECK(car.wait_exit(ms(1000)) == 128 + SIGKILL);
      continue;
    }
    pause(ms(600));
    const Time continued = Rig::now();
    car.kill(SIGCONT);
    CHECK(car.ms_to_brake(continued, ms(1000)) >= 0.0);
    pause(ms(500));
    CHECK(car.count("SET_RPM", continued) == 0);
  }
}

TEST_CASE("rows 8, 9: unplugged and plugged in again under another name: disarmed until released and pressed") {
  CarOnRig car("replug");
  car.start();
  REQUIRE(car.wait_ready());
  REQUIRE(car.wait_driving());
  for (const char* fault : {"vesc unplug", "vesc brownout 0.3"}) {
    const Time since = Rig::now();
    car.command(fault);
    REQUIRE(car.wait_said("NO_DEVICE", ms(1000)));
    pause(ms(500));
    if (std::string(fault) == "vesc unplug") car.command("vesc plug");
    pause(ms(3000));
    CHECK(car.count("SET_RPM", since + ms(100)) == 0);
    CHECK(drive_again(car));
  }
}

TEST_CASE("row 11: chopped bytes and garbage on both cables cost nothing") {
  CarOnRig car("garbage");
  car.command("vesc chop 1");
  car.command("hokuyo chop 7");
  car.start();
  REQUIRE(car.wait_ready());
  REQUIRE(car.wait_driving());
  car.command("vesc garbage 200");
  car.command("hokuyo garbage 200");
  const Time since = Rig::now();
  pause(ms(1500));
  CHECK(car.count("SET_RPM", since + ms(1000)) > 5);
}

TEST_CASE("row 17: a fault latches; only an acknowledge with the deadman released ends it, and the brake streams meanwhile") {
  CarOnRig car("fault");
  car.start();
  REQUIRE(car.wait_ready());
  REQUIRE(car.wait_driving());
  const Time since = Rig::now();
  car.command("vesc fault 2");
  REQUIRE(car.wait_said("-> FAULT: motor_fault", ms(500)));
  CHECK(car.wait_said("under-voltage", ms(200)));
  pause(ms(1500));
  CHECK(car.count("SET_RPM", since + ms(100)) == 0);
  CHECK(car.count("SET_CURRENT_BRAKE", since) + car.count("SET_HANDBRAKE", since) > 50);
  car.command("joystick release");
  pause(ms(100));
  car.command("joystick hold");
  pause(ms(500));
  CHECK(car.count("SET_RPM", since + ms(100)) == 0);
  car.command("joystick release");
  pause(ms(100));
  car.command("joystick button 7 1");
  CHECK(car.wait_said("FAULT -> DISARMED: acknowledged", ms(1500)));
  car.command("joystick button 7 0");
  CHECK(car.wait_driving());
}

TEST_CASE("rows 24 and 27: wheels against the command, the kill switch, the emergency stop button: stops that stay") {
  for (const char* fault : {"vesc invert 1", "vesc kill_switch 1", "joystick button 1 1"}) {
    CarOnRig car("latch");
    car.start();
    REQUIRE(car.wait_ready());
    REQUIRE(car.wait_driving());
    const Time since = Rig::now();
    car.command(fault);
    CHECK(car.ms_to_brake(since, ms(1000)) >= 0.0);
    CHECK((car.wait_said("-> FAULT: speed_", ms(10)) || car.wait_said("-> ESTOP: ", ms(10))));
    car.command("joystick release");
    pause(ms(200));
    car.command("joystick hold");
    const Time again = Rig::now();
    pause(ms(500));
    CHECK(car.count("SET_RPM", again) == 0);
  }
}

TEST_CASE("row 18: a battery that runs down: warned of, slow, stopped") {
  CarOnRig car("battery");
  car.start({"--set", "gap_follow.max_speed_mps=2.5"});
  REQUIRE(car.wait_ready());
  REQUIRE(car.wait_driving());
  car.command("vesc battery_ramp -0.5");
  CHECK(car.wait_said("battery_low", ms(6000)));
  CHECK(car.wait_said("speed_capped", ms(3000)));
  CHECK(car.wait_said("ARMED -> STOPPING: battery_empty", ms(3000)));
}

TEST_CASE("rows 21, 22: damaged and short scans are dropped one by one, a scan of mostly error codes is not believed") {
  CarOnRig car("scans");
  car.start({"--json", "--quiet"});
  pause(ms(2500));
  REQUIRE(car.wait_driving());
  car.command("hokuyo badsum 3");
  car.command("hokuyo short 2");
  car.command("hokuyo err 0.2");
  const Time since = Rig::now();
  pause(ms(800));
  CHECK(car.count("SET_RPM", since + ms(500)) > 3);
  car.command("hokuyo err 0.9");
  CHECK(car.ms_to_brake(Rig::now(), ms(800)) >= 0.0);
  CHECK(car.said().find("scan_stale") != std::string::npos);
}

TEST_CASE("row 28: a second program on the same port is told who holds it") {
  CarOnRig car("twice");
  car.start();
  REQUIRE(car.wait_ready());
  const int first = car.process();
  car.start({"--seconds", "1"});
  CHECK(car.wait_said("held by", ms(3000)));
  CHECK(car.said().find(std::to_string(first)) != std::string::npos);
  CHECK(car.wait_exit(ms(5000)) == 0);
  ::kill(first, SIGKILL);
}

TEST_CASE("rows 12, 29, 30 and 32: devices that come late, a deadman held from the start, a first command of 0, bench mode's cap") {
  CarOnRig car("late");
  car.command("vesc unplug");
  car.command("hokuyo unplug");
  car.command("joystick unplug");
  car.command("joystick hold");
  car.start({"--bench", "--set", "gap_follow.max_speed_mps=4"});
  CHECK(car.wait_said("motor controller: waiting", ms(2000)));
  car.command("vesc plug");
  car.command("hokuyo plug");
  car.command("joystick plug");
  REQUIRE(car.wait_ready());
  pause(ms(500));
  CHECK(car.count("SET_RPM", Time{}) == 0);
  CHECK(car.said().find("deadman_not_seen_released") != std::string::npos);
  REQUIRE(drive_again(car));
  pause(ms(1500));
  double first = -1.0;
  double most = 0.0;
  for (const emulators::VescEvent& event : car.rig().vesc_log()) {
    if (event.name != "SET_RPM") continue;
    if (first < 0.0) first = event.value;
    most = std::max(most, event.value);
  }
  CHECK(first < 0.15 * 4614);
  CHECK(most <= 4614.0);
  CHECK(most > 4000.0);
}

TEST_CASE("a firmware that is too old is refused with a reason") {
  CarOnRig car("old");
  car.command("vesc firmware 2 18");
  car.start();
  CHECK(car.wait_said("2.18", ms(3000)));
  car.command("joystick hold");
  pause(ms(500));
  CHECK(car.rig().vesc_log().empty());
}

TEST_CASE(
    "car_run --check: a car that is well set up passes; the firmware's default timeout, a flat battery and a missing LiDAR are named") {
  CarOnRig good("check_good");
  good.command("vesc timeout 150 10");
  good.command("joystick jitter 25");
  good.start({"--check"});
  CarOnRig bad("check_bad");
  bad.command("vesc battery 9.9");
  bad.command("hokuyo unplug");
  bad.start({"--check"});
  const int code = good.wait_exit(ms(20'000));
  std::string said = good.said();
  CHECK_MESSAGE(code == 0, said);
  CHECK_MESSAGE(said.find("ok      timeout: about 0.1") != std::string::npos, said);
  CHECK(said.find("this pad streams at rest") != std::string::npos);
  CHECK(bad.wait_exit(ms(20'000)) == 1);
  said = bad.said();
  CHECK_MESSAGE(said.find("CHANGE  timeout: about 1") != std::string::npos, said);
  CHECK(said.find("CHANGE  battery: 9.9 V") != std::string::npos);
  CHECK(said.find("CHANGE  LiDAR: waiting") != std::string::npos);
  CHECK(said.find("this pad is silent at rest") != std::string::npos);
  CHECK(bad.rig().vesc_log().size() == 2);  // released and centred, once
}

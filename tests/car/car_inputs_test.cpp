// SPDX-License-Identifier: Apache-2.0
// car_run as a process: emergency stop inputs, systemd's watchdog, and the rows of the safety list about brake, steering and IMU.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <functional>

#include "apps/emulated_car.hpp"
#include "core/files.hpp"
#include "core/text.hpp"
#include "tests/car/car_process.hpp"
#include "tests/support/source_dir.hpp"

using namespace pitwall;
using namespace pitwall::tests;
using emulators::Rig;

namespace {

// A terminal, and who sits at it.
struct Terminal {
  int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  std::string name;
  Terminal() {
    std::array<char, 64> text{};
    if (::grantpt(master) == 0 && ::unlockpt(master) == 0 && ::ptsname_r(master, text.data(), text.size()) == 0) name = text.data();
  }
  ~Terminal() { close(); }
  void close() {
    if (master >= 0) ::close(master);
    master = -1;
  }
};

int free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof any;
  const bool bound = ::bind(fd, reinterpret_cast<const sockaddr*>(&any), sizeof any) == 0 &&
                     ::getsockname(fd, reinterpret_cast<sockaddr*>(&any), &size) == 0;
  ::close(fd);
  return bound ? ntohs(any.sin_port) : 0;
}

int connect_to(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
  return fd;
}

/// Says so every 50 ms for that long.
void beat(int fd, Duration length) {
  for (Duration t; t < length; t = t + ms(50)) {
    REQUIRE(::send(fd, "ok\n", 3, MSG_NOSIGNAL) == 3);
    pause(ms(50));
  }
}

/// Acknowledged, with the deadman released.
void acknowledge(CarOnRig& car) {
  car.command("joystick release");
  pause(ms(200));
  car.command("joystick button 7 1");
  pause(ms(100));
  car.command("joystick button 7 0");
}

std::vector<double> values_of(const CarOnRig& car, std::string_view name, Time since) {
  std::vector<double> values;
  for (const emulators::VescEvent& event : car.rig().vesc_log()) {
    if (event.at >= since && event.name == name) values.push_back(event.value);
  }
  return values;
}

}  // namespace

TEST_CASE("row 27: any key in the terminal is an emergency stop; a terminal that goes is a stop and the end") {
  Terminal terminal;
  REQUIRE_FALSE(terminal.name.empty());
  CarOnRig car("keyboard");
  car.start({"--estop", "keyboard"}, terminal.name);
  REQUIRE(car.wait_ready());
  REQUIRE(car.wait_driving());
  Time since = Rig::now();
  REQUIRE(::write(terminal.master, " ", 1) == 1);
  double took = car.ms_to_brake(since, ms(1000));
  CHECK_MESSAGE((took >= 0.0 && took < 250.0), took);  // 20 ms on an idle machine
  CHECK(car.wait_said("ARMED -> ESTOP: estop_input", ms(500)));
  pause(ms(600));
  CHECK(car.count("SET_RPM", since + ms(100)) == 0);
  acknowledge(car);
  CHECK(car.wait_said("ESTOP -> DISARMED: acknowledged", ms(1500)));
  REQUIRE(car.wait_driving());
  since = Rig::now();
  terminal.close();
  took = car.ms_to_brake(since, ms(1000));
  CHECK_MESSAGE((took >= 0.0 && took < 250.0), took);  // 20 ms on an idle machine
  CHECK(car.wait_exit(ms(3000)) == 0);
}

TEST_CASE("row 27: a heartbeat that is not there keeps the car from arming, one that falls silent stops it for good") {
  const int port = free_port();
  CarOnRig car("heartbeat");
  car.start({"--estop", "tcp:" + std::to_string(port)});
  REQUIRE(car.wait_ready());
  car.command("joystick hold");
  CHECK(car.wait_said("does not arm: estop_lost", ms(1000)));
  car.command("joystick release");
  const int fd = connect_to(port);
  beat(fd, ms(200));
  car.command("joystick hold");
  const Time pressed = Rig::now();
  beat(fd, ms(1000));
  CHECK(car.count("SET_RPM", pressed) > 10);
  const Time since = Rig::now();
  const double took = car.ms_to_brake(since, ms(1500));
  CHECK_MESSAGE((took >= 350.0 && took < 600.0), took);  // the last one was 50 ms ago
  CHECK(car.wait_said("ARMED -> ESTOP: estop_lost", ms(500)));
  const Time back = Rig::now();
  beat(fd, ms(500));
  CHECK(car.count("SET_RPM", back) == 0);
  ::close(fd);
}

TEST_CASE("systemd is told of the loop: up, alive, and nothing any more when it hangs, so that it is killed and the car brakes") {
  const std::string name = "@pitwall_car_" + std::to_string(::getpid());
  const int service = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, name.size() - 1, 1);
  REQUIRE(::bind(service, reinterpret_cast<const sockaddr*>(&address),
                 static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size())) == 0);
  const auto heard = [&] {
    std::string all;
    std::array<char, 128> text{};
    for (ssize_t got = 0; (got = ::recv(service, text.data(), text.size(), 0)) > 0;)
      all += std::string(text.data(), static_cast<std::size_t>(got)) + " ";
    return all;
  };
  CarOnRig car("systemd");
  car.command("vesc timeout 150 10");
  ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
  ::setenv("WATCHDOG_USEC", "500000", 1);
  car.start();
  ::unsetenv("NOTIFY_SOCKET");
  ::unsetenv("WATCHDOG_USEC");
  REQUIRE(car.wait_ready());
  CHECK(heard().starts_with("READY=1 WATCHDOG=1 "));
  REQUIRE(car.wait_driving());
  (void)heard();
  pause(ms(500));
  CHECK(heard().starts_with("WATCHDOG=1 WATCHDOG=1 "));
  car.kill(SIGSTOP);
  CHECK(car.rig().wait(ms(400), [](const Rig::Devices& d) { return d.vesc->timed_out(); }));
  (void)heard();
  pause(ms(500));
  CHECK(heard().empty());
  car.kill(SIGKILL);  // what systemd does now
  CHECK(car.wait_exit(ms(1000)) == 128 + SIGKILL);
  ::close(service);
}

TEST_CASE("row 14: the brake ramps up, is held back near a full battery, and the steering stays where it is") {
  for (const bool full : {false, true}) {
    CarOnRig car(full ? "brake_full" : "brake");
    car.command(full ? "vesc battery 13.2" : "vesc battery 11.8");
    car.start({"--set", "gap_follow.max_speed_mps=3"});
    REQUIRE(car.wait_ready());
    REQUIRE(car.wait_driving());
    pause(ms(500));
    const Time since = Rig::now();
    car.command("joystick release");
    REQUIRE(car.ms_to_brake(since, ms(1000)) >= 0.0);
    pause(ms(300));
    const std::vector<double> brakes = values_of(car, "SET_CURRENT_BRAKE", since);
    REQUIRE(brakes.size() > 3);
    CHECK(std::is_sorted(brakes.begin(), brakes.end()));
    // 25 A, from its half on; at 4.4 V a cell two fifths of it.
    CHECK(brakes.front() == doctest::Approx(full ? 10.0 : 12.5).epsilon(0.1));
    CHECK(brakes.back() <= (full ? 10.1 : 25.1));
    CHECK(brakes.back() >= (full ? 9.9 : 20.0));
    CHECK((car.said().find("brake_limited") != std::string::npos) == full);
    bool stopping = false;
    int steered = 0;
    for (const emulators::VescEvent& event : car.rig().vesc_log()) {
      if (event.name == "SET_CURRENT_BRAKE") stopping = event.at >= since;
      if (event.name == "SET_CURRENT") stopping = false;
      steered += stopping && event.name == "SET_SERVO_POS" ? 1 : 0;
    }
    CHECK(steered == 0);
  }
}

TEST_CASE("row 16: steering is cut off alike on both sides, and that is said") {
  CarOnRig car("steering");
  car.start({"--limit", "steering_left_rad=0.02", "--limit", "steering_right_rad=-0.02", "--set",
             "car_parameters.steering_max_left_rad=0.3", "--set", "car_parameters.steering_max_right_rad=-0.3"});
  REQUIRE(car.wait_ready());
  REQUIRE(car.wait_driving());
  CHECK(car.wait_said("steering_clipped", ms(3000)));
  const std::vector<double> servo = values_of(car, "SET_SERVO_POS", Time{});
  REQUIRE(servo.size() > 10);
  const auto [least, most] = std::minmax_element(servo.begin(), servo.end());
  CHECK(*least >= 0.5304 - 1.2135 * 0.02 - 1e-3);
  CHECK(*most <= 0.5304 + 1.2135 * 0.02 + 1e-3);
  CHECK(std::max(0.5304 - *least, *most - 0.5304) >= 1.2135 * 0.02 - 1e-3);
}

TEST_CASE("row 24: a gain that is three times too large, which wheels and commands agree on, is seen by the IMU") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("pitwall_car_gain_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  auto profile = read_file(source_dir() / "calibration" / "cars" / "rb1.yaml");
  REQUIRE(profile.ok());
  const std::string gain = "speed_to_erpm_gain: {value: 4614";
  REQUIRE(profile->find(gain) != std::string::npos);
  profile->replace(profile->find(gain), gain.size(), "speed_to_erpm_gain: {value: 13842");
  REQUIRE(write_file(folder / "thrice.yaml", *profile).ok());
  apps::EmulatedCarOptions options;
  options.track = "indoor_oval";
  options.car = "rb1";
  options.folder = folder;
  auto emulated = apps::EmulatedCar::make(options);
  REQUIRE(emulated.ok());
  start_promptly((*emulated)->rig());
  {
    CarOnRig car((*emulated)->rig(), folder);
    car.start({"--car", (folder / "thrice.yaml").string()});
    REQUIRE(car.wait_ready());
    pause(ms(2000));  // at rest, to learn what the IMU reads there
    REQUIRE(car.wait_driving());
    CHECK_MESSAGE(car.wait_said("ARMED -> STOPPING: imu_mismatch", ms(6000)), car.said());
  }
  (*emulated)->rig().stop();
  std::filesystem::remove_all(folder);
}

TEST_CASE("row 31: an IMU that spikes and one that freezes are refused, told, and the car drives on") {
  CarOnRig car("imu");
  car.start({"--json", "--seconds", "6"});
  const auto feel = [&](double forward_g, double yaw_degps) {
    car.rig().look([&](const Rig::Devices& d) {
      emulators::VescImu felt;
      felt.acceleration_g = {forward_g, 0.0, 1.0};
      felt.rate_degps = {0.0, 0.0, yaw_degps};
      d.vesc->feel(felt);
    });
  };
  const auto shake = [&](Duration length, double spike_degps) {
    int k = 0;
    for (const Time end = Rig::now() + length; Rig::now() < end; ++k) {
      feel(1e-3 * (k % 7), k % 25 == 24 ? spike_degps : 0.1 * (k % 5));
      pause(ms(10));
    }
  };
  REQUIRE(car.wait_ready());
  REQUIRE(car.wait_driving());
  shake(ms(600), 0.3);
  const Time since = Rig::now();
  shake(ms(1200), 3000.0);
  pause(ms(1000));  // the same sample again and again
  CHECK(car.count("SET_RPM", since + ms(1800)) > 5);
  CHECK(car.wait_exit(ms(9000)) == 0);
  const std::string said = car.said();
  const auto number = [&](const std::string& key) {
    const std::size_t at = said.find("\"" + key + "\": ");
    return at == std::string::npos ? std::nullopt
                                   : parse_int(said.substr(at + key.size() + 4, said.find_first_of(",\n", at) - at - key.size() - 4));
  };
  REQUIRE(number("imu_refused"));
  CHECK(*number("imu_refused") > 20);
  CHECK(*number("imu_refused") < *number("imu"));
}

TEST_CASE("calibrate_odometry --live measures the gain of an emulated motor that is turned by hand") {
  emulators::RigOptions options;
  options.hokuyo.reset();
  options.joystick.reset();
  CarOnRig car("calibrate", options);
  constexpr double kTape_m = 2.0;
  const std::string command = std::string(PITWALL_BIN_DIR) + "/calibrate_odometry --car rb1 --live --tape 2 --vesc " +
                              car.rig().vesc_path().string() + " > " + (car.folder() / "said.txt").string() + " 2>&1";
  std::FILE* program = ::popen(command.c_str(), "w");
  REQUIRE(program != nullptr);
  std::vector<double> gains;
  for (int trial = 1; trial <= 3; ++trial) {
    REQUIRE(car.wait_said("trial " + std::to_string(trial), ms(3000)));
    pause(ms(trial == 1 ? 5700 : 100));
    double before = 0.0;
    double after = 0.0;
    car.rig().look([&](const Rig::Devices& d) { before = d.vesc->motor().revolutions; });
    car.command("vesc hear 0205080000120607fa03");  // somebody else's SET_RPM 4614, and SET_CURRENT_BRAKE 10
    pause(ms(900));
    car.command("vesc hear 02050700002710ea9403");
    pause(ms(900));
    car.rig().look([&](const Rig::Devices& d) { after = d.vesc->motor().revolutions; });
    gains.push_back(60.0 * (after - before) / kTape_m);
    std::fputs("\n", program);
    std::fflush(program);
  }
  CHECK(::pclose(program) == 0);
  std::sort(gains.begin(), gains.end());
  const std::string line = car.last_said("speed_to_erpm_gain");
  INFO(car.said());
  const std::size_t arrow = line.find("-> ");
  REQUIRE(arrow != std::string::npos);
  const auto measured = parse_double(line.substr(arrow + 3, line.find(' ', arrow + 3) - arrow - 3));
  REQUIRE(measured);
  CHECK(*measured == doctest::Approx(gains[1]).epsilon(0.01));
  CHECK(car.said().find("speed_to_erpm_offset") != std::string::npos);
  CHECK(car.said().find("nothing was changed") != std::string::npos);
  CHECK(car.rig().vesc_log().size() == 6);  // and it sent nothing itself
}

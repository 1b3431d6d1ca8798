// SPDX-License-Identifier: Apache-2.0
// Two independent readings of one document: the dialogues of drivers/ against the devices of drivers/emulators, on an injected clock.
#include <doctest/doctest.h>

#include <cmath>

#include "drivers/bno055_session.hpp"
#include "drivers/emulators/bno055.hpp"
#include "drivers/emulators/hokuyo.hpp"
#include "drivers/emulators/ld19.hpp"
#include "drivers/emulators/room.hpp"
#include "drivers/emulators/rplidar.hpp"
#include "drivers/emulators/vesc.hpp"
#include "drivers/emulators/wire.hpp"
#include "drivers/ld19_session.hpp"
#include "drivers/rplidar_session.hpp"
#include "drivers/scip_session.hpp"
#include "drivers/vesc_session.hpp"
#include "localization/scan_points.hpp"

namespace pitwall {
namespace {

/// Carries bytes between the two, millisecond by millisecond.
void talk(drivers::Session& session, emulators::Device& device, double from_s, double to_s, const std::function<void()>& each = {},
          std::string_view fault = {}) {
  emulators::Wire wire(1, "tests", [&](emulators::Bytes& message) { device.spoil_sum(message); });
  if (!fault.empty()) REQUIRE(wire.knobs().turn({}, fault).ok());
  if (!fault.empty()) REQUIRE(wire.knobs().turn({}, "chop 300").ok());
  for (auto ms = static_cast<std::int64_t>(1e3 * from_s); ms < static_cast<std::int64_t>(1e3 * to_s); ++ms) {
    const Time now = Time{} + from_milliseconds(ms);
    if (ms == 0) session.start(now);
    session.advance(now);
    const auto sent = session.to_send();
    if (!sent.empty()) device.receive(now, {reinterpret_cast<const std::uint8_t*>(sent.data()), sent.size()});
    device.advance(now);
    for (emulators::Bytes& message : device.take()) wire.send(now, std::move(message));
    for (emulators::Bytes piece = wire.take(now); !piece.empty(); piece = wire.take(now))
      session.receive(std::as_bytes(std::span(piece)), now);
    if (each) each();
  }
}

/// How far a scan of the room on the desk is off at worst, m, edges left aside.
double worst_error_m(const LaserScan& scan) {
  double worst = 0.0;
  for (std::size_t i = 0; i < scan.ranges.size(); ++i) {
    if (!std::isfinite(scan.ranges[i])) continue;
    const double bearing = static_cast<double>(scan.angle_min) + static_cast<double>(i) * static_cast<double>(scan.angle_increment);
    double least = 1e9;
    for (const double aside : {-0.02, -0.01, 0.0, 0.01, 0.02})
      least = std::min(least, std::fabs(static_cast<double>(scan.ranges[i]) - emulators::room_range_m(bearing + aside)));
    worst = std::max(worst, least);
  }
  return worst;
}

// A sensor that drives a circle of 0.2 m radius in a room from -2 to 3 m and from -1 to 1.5 m.
constexpr localization::Twist kTurning{0.5, 0.0, 2.5};

Pose2 sensor_at(Time t) { return Pose2{0.3, 0.1, 0.0} * localization::travelled(kTurning, t.seconds()); }

double to_wall_m(Time at, double bearing_rad) {
  const Pose2 sensor = sensor_at(at);
  const Vec2 d = unit_vector(sensor.yaw + bearing_rad);
  const double along = d.x == 0.0 ? 1e9 : ((d.x > 0.0 ? 3.0 : -2.0) - sensor.x) / d.x;
  const double across = d.y == 0.0 ? 1e9 : ((d.y > 0.0 ? 1.5 : -1.0) - sensor.y) / d.y;
  return std::min(along, across);
}

/// Root mean square of what the points of a scan are off those walls, m, read as that of a sensor that moves so.
double off_walls_m(const LaserScan& scan, const localization::Twist& moving) {
  localization::ScanPoints points;
  points.read(scan, moving, {});
  REQUIRE(points.points().size() > 300);
  const Pose2 sensor = sensor_at(localization::middle_of(scan));
  double squares = 0.0;
  for (const Vec2 seen : points.points().at) {
    const Vec2 p = sensor * seen;
    const double off = std::min({std::fabs(p.x - 3.0), std::fabs(p.x + 2.0), std::fabs(p.y - 1.5), std::fabs(p.y + 1.0)});
    squares += off * off;
  }
  return std::sqrt(squares / static_cast<double>(points.points().size()));
}

/// That the scans of a sensor on that circle have still walls once they are de-skewed, and not before.
template <class Session>
void check_still(const std::string& name, Session& session, emulators::Device& device, double most_m, const std::function<void()>& prepare,
                 const std::function<void()>& each_ms = {}) {
  CAPTURE(name);
  prepare();
  std::vector<LaserScan> scans;
  talk(session, device, 0.0, 3.0, [&] {
    if (each_ms) each_ms();
    while (auto scan = session.next_scan()) scans.push_back(std::move(scan->value));
  });
  REQUIRE(scans.size() > 16);
  for (std::size_t i = 8; i < scans.size(); ++i) {  // the clocks have settled
    CHECK(scans[i].angle_increment > 0.0F);
    const double off_m = off_walls_m(scans[i], kTurning);
    CHECK(off_m < most_m);
    CHECK(off_walls_m(scans[i], {}) > 2.0 * off_m);
  }
}

}  // namespace

TEST_CASE("RPLIDAR: standard scans and all capsules show the room the right way round") {
  using emulators::RplidarCapsule;
  for (const auto& [express, capsule] : {std::pair{false, RplidarCapsule::kLegacy},
                                         {true, RplidarCapsule::kLegacy},
                                         {true, RplidarCapsule::kUltra},
                                         {true, RplidarCapsule::kDense}}) {
    CAPTURE(express);
    CAPTURE(static_cast<int>(capsule));
    drivers::RplidarOptions options;
    options.express = express;
    drivers::RplidarSession session(options);
    emulators::RplidarConfig config;
    config.capsule = capsule;
    emulators::Rplidar device(config);
    std::vector<LaserScan> scans;
    talk(session, device, 0.0, 5.0, [&] {
      while (auto scan = session.next_scan()) scans.push_back(scan->value);
    });
    CHECK(session.phase() == drivers::Phase::kRunning);
    REQUIRE(scans.size() > 20);
    CHECK(worst_error_m(scans.back()) < 0.04);
    CHECK(session.counters().bad_sums == 0);
  }
}

TEST_CASE("LD19: its scans show the room the right way round") {
  drivers::Ld19Session session;
  emulators::Ld19 device;
  std::vector<LaserScan> scans;
  talk(session, device, 0.0, 3.0, [&] {
    while (auto scan = session.next_scan()) scans.push_back(scan->value);
  });
  REQUIRE(scans.size() > 20);
  CHECK(worst_error_m(scans.back()) < 0.03);
  CHECK(session.counters().bad_sums == 0);
}

TEST_CASE("Hokuyo: from the first connection to scans of the room") {
  drivers::ScipSession session;
  emulators::Hokuyo device;
  std::vector<LaserScan> scans;
  talk(session, device, 0.0, 5.0, [&] {
    while (auto scan = session.next_scan()) scans.push_back(scan->value);
  });
  CHECK(session.phase() == drivers::Phase::kRunning);
  REQUIRE(scans.size() > 80);
  CHECK(scans.back().ranges.size() == 1081);
  CHECK(worst_error_m(scans.back()) < 0.001);
}

TEST_CASE("Hokuyo: with a wrong byte in a tenth of the scans no wrong scan comes through, and the others do") {
  drivers::ScipSession session;
  emulators::Hokuyo device;
  int scans = 0;
  talk(
      session, device, 0.0, 20.0,
      [&] {
        while (auto scan = session.next_scan()) {
          ++scans;
          CHECK(worst_error_m(scan->value) < 0.001);
        }
      },
      "flip 0.1");
  CHECK(scans > 600);
  CHECK(session.counters().bad_sums > 30);
}

TEST_CASE("a still room seen while the car turns has the same walls after the de-skew, whichever LiDAR saw it") {
  emulators::HokuyoConfig config;
  config.own_turns = false;
  emulators::Hokuyo hokuyo(config);
  drivers::ScipSession scip;
  Time now;
  Time turn;
  check_still(
      "Hokuyo", scip, hokuyo, 0.003, [] {},
      [&] {
        now = now + from_milliseconds(1);
        if (now - turn < from_milliseconds(25)) return;
        std::vector<std::uint32_t> mm;
        for (int i = 0; i < emulators::Hokuyo::kSteps; ++i) {
          const double range_m = to_wall_m(turn + Duration{25'000'000LL * i / 1440}, (i - 540) * 2.0 * math::kPi / 1440.0);
          mm.push_back(static_cast<std::uint32_t>(emulators::millimetres_of(range_m)));
        }
        hokuyo.turn(now, turn, mm);
        turn = now;
      });
  // Of the others what is left is their beams: a point lies up to half a beam from its own bearing.
  for (const bool express : {false, true}) {
    for (const char* model : {"RPLIDAR A1", "RPLIDAR A2", "RPLIDAR S2"}) {
      drivers::RplidarOptions options;
      options.express = express;
      drivers::RplidarSession session(options);
      emulators::Rplidar device(emulators::rplidar_named(model));
      check_still(model, session, device, 0.02, [&] { device.look(to_wall_m); });
    }
  }
  drivers::Ld19Session session;
  emulators::Ld19 device;
  check_still("LD19", session, device, 0.02, [&] { device.look(to_wall_m); });
}

TEST_CASE("VESC: what the board measures is what the session hands out, of every firmware that it takes") {
  for (const char* firmware : {"firmware 7 1", "firmware 5 2"}) {
    CAPTURE(firmware);
    drivers::VescSession session;
    emulators::VescConfig config;
    config.own_motor = false;
    emulators::Vesc device(config);
    REQUIRE(device.knobs().turn({}, firmware).ok());
    emulators::MotorState motor;
    motor.erpm = -4614.0;
    motor.revolutions = -100.5;
    motor.current_a = 12.5;
    motor.input_a = -3.25;
    device.drive({}, motor);
    device.feel({{}, {0.25, -0.5, 1.0}, {10.0, 0.0, -90.0}});
    std::optional<vesc::Values> values;
    std::optional<Imu> imu;
    talk(session, device, 0.0, 2.0, [&] {
      while (auto telemetry = session.next_telemetry()) values = telemetry->value;
      while (auto sample = session.next_imu()) imu = sample->value;
    });
    CHECK(session.phase() == drivers::Phase::kRunning);
    REQUIRE(values.has_value());
    CHECK(values->erpm == -4614.0);
    CHECK(values->tachometer == -603);
    CHECK(values->motor_current_A == doctest::Approx(12.5).epsilon(0.001));
    CHECK(values->input_current_A == doctest::Approx(-3.25).epsilon(0.004));
    CHECK(values->input_voltage_V == doctest::Approx(11.8).epsilon(0.01));
    REQUIRE(imu.has_value());
    CHECK(imu->linear_acceleration_mps2[1] == doctest::Approx(-0.5 * 9.80665));
    CHECK(imu->angular_velocity_radps[2] == doctest::Approx(-1.5708).epsilon(0.001));
  }
}

TEST_CASE("BNO055: a sample is what the sensor feels, in SI") {
  drivers::Bno055Session session;
  emulators::Bno055 device;
  device.feel({{1.0, -2.0, 9.81}, {10.0, 0.0, -90.0}, {1.0, 0.0, 0.0, 0.0}});
  std::optional<Imu> last;
  talk(session, device, 0.0, 3.0, [&] {
    while (auto sample = session.next_imu()) last = sample->value;
  });
  REQUIRE(last.has_value());
  CHECK(last->linear_acceleration_mps2[1] == doctest::Approx(-2.0));
  CHECK(last->angular_velocity_radps[2] == doctest::Approx(-1.5708).epsilon(0.001));
}

}  // namespace pitwall

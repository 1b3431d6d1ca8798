// SPDX-License-Identifier: Apache-2.0
#include "onboard/wheel_odometry.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/math.hpp"
#include "onboard/actuator_map.hpp"

using namespace pitwall;
using namespace pitwall::onboard;

namespace {

constexpr double kMetresPerCount = 10.0 / 4614.0;

Time at_ms(std::int64_t ms) { return Time{} + from_milliseconds(ms); }

// Drives `counts` in equal steps with equal turns from wherever the counter is.
Odometry drive(WheelOdometry& odometry, std::int64_t& counter, Time& now, int steps, int counts, double turn_rad,
               double metres_per_count = kMetresPerCount) {
  Odometry out;
  for (int k = 0; k < steps; ++k) {
    now = now + from_milliseconds(20);
    counter += counts;
    out = odometry.add(now, static_cast<std::int32_t>(static_cast<std::uint32_t>(counter)), metres_per_count * counts / 0.02, turn_rad,
                       turn_rad / 0.02);
  }
  return out;
}

}  // namespace

TEST_CASE("a full circle returns to where it began, however coarse its steps") {
  for (const int steps : {3, 4, 7, 100}) {
    WheelOdometry odometry(kMetresPerCount, 50.0);
    std::int64_t counter = 0;
    Time now;
    odometry.add(now, 0, 0.0, 0.0, 0.0);
    const Odometry end = drive(odometry, counter, now, steps, 400, 2.0 * math::kPi / steps);
    CHECK(math::hypot(end.position.x, end.position.y) < 1e-9);
    CHECK(odometry.way_m() == doctest::Approx(kMetresPerCount * 400 * steps));
  }
}

TEST_CASE("a quarter of a circle to the left ends at (r, r), to the right at (r, -r), backwards, turning left, at (-r, -r)") {
  const double r = 2.0;
  for (const auto& [way, turn, x, y] : {std::array{1.0, 1.0, r, r}, std::array{1.0, -1.0, r, -r}, std::array{-1.0, 1.0, -r, -r}}) {
    const double per_count = 0.25 * 2.0 * math::kPi * r / 1000.0;
    WheelOdometry odometry(per_count, 200.0);
    std::int64_t counter = 0;
    Time now;
    odometry.add(now, 0, 0.0, 0.0, 0.0);
    const Odometry end = drive(odometry, counter, now, 10, static_cast<int>(100 * way), turn * 0.05 * math::kPi, per_count);
    CHECK(end.position.x == doctest::Approx(x));
    CHECK(end.position.y == doctest::Approx(y));
    CHECK(yaw_of(end.orientation) == doctest::Approx(0.5 * math::kPi * turn));
  }
}

TEST_CASE("the counter wraps at 2^31 in both directions without a jump") {
  for (const int direction : {1, -1}) {
    WheelOdometry odometry(kMetresPerCount, 5.0);
    std::int64_t counter = direction > 0 ? std::numeric_limits<std::int32_t>::max() - 50 : std::numeric_limits<std::int32_t>::min() + 50;
    Time now;
    odometry.add(now, static_cast<std::int32_t>(counter), 0.0, 0.0, 0.0);
    const Odometry end = drive(odometry, counter, now, 10, 20 * direction, 0.0);
    CHECK(end.position.x == doctest::Approx(direction * 200 * kMetresPerCount));
    CHECK(odometry.restarts() == 0);
  }
}

TEST_CASE("a controller that was reset by a brown-out costs no way and makes no jump") {
  WheelOdometry odometry(kMetresPerCount, 5.0);
  std::int64_t counter = 1'000'000;
  Time now;
  odometry.add(now, 1'000'000, 0.0, 0.0, 0.0);
  const double before = drive(odometry, counter, now, 50, 20, 0.0).position.x;
  counter = 0;  // begins anew, while the car rolls on
  const double speed = kMetresPerCount * 20 / 0.02;
  now = now + from_milliseconds(20);
  const Odometry at_reset = odometry.add(now, 0, speed, 0.0, 0.0);
  CHECK(at_reset.position.x - before == doctest::Approx(speed * 0.02));
  CHECK(odometry.restarts() == 1);
  const Odometry after = drive(odometry, counter, now, 10, 20, 0.0);
  CHECK(after.position.x - before == doctest::Approx(11 * speed * 0.02));

  odometry.forget_counter();  // another connection: not even a plausible difference counts
  now = now + from_milliseconds(20);
  const Odometry again = odometry.add(now, static_cast<std::int32_t>(counter) + 60, 0.0, 0.0, 0.0);
  CHECK(again.position.x - after.position.x == doctest::Approx(0.5 * speed * 0.02));
}

TEST_CASE("a negative gain turns the way about") {
  WheelOdometry odometry(-kMetresPerCount, 5.0);
  std::int64_t counter = 0;
  Time now;
  odometry.add(now, 0, 0.0, 0.0, 0.0);
  CHECK(drive(odometry, counter, now, 10, -20, 0.0, -kMetresPerCount).position.x == doctest::Approx(200 * kMetresPerCount));
}

TEST_CASE("heading follows the gyro between its samples, the model where there is none, and changes over without a step") {
  Heading heading;
  CHECK(heading.advance(at_ms(0), 0.5) == 0.0);
  CHECK(heading.advance(at_ms(20), 0.5) == doctest::Approx(0.01));  // by the model
  CHECK_FALSE(heading.by_gyro());
  // A rate that rises evenly: r = 2 t.
  double turned = 0.0;
  for (int ms = 30; ms <= 1030; ms += 10) {
    heading.add_gyro(at_ms(ms), 2.0e-3 * ms);
    if (ms == 30) heading.advance(at_ms(30), 9.9);
    if (ms % 20 == 10 && ms > 30) turned += heading.advance(at_ms(ms), 9.9);
  }
  CHECK(turned == doctest::Approx(1.03 * 1.03 - 0.03 * 0.03));
  CHECK(heading.by_gyro());
  CHECK(heading.advance(at_ms(1080), 9.9) == doctest::Approx(2.06 * 0.05));  // goes on
  CHECK(heading.advance(at_ms(1280), 0.5) == doctest::Approx(0.1));          // has been silent for too long
  CHECK(heading.rate_radps() == 0.5);
}

TEST_CASE("speed and steering to the wire and back, clipped on each side by what the servo reaches") {
  calibration::Hardware h;
  h.servo_gain_per_rad = -1.2135;
  h.servo_offset = 0.5304;
  h.servo_min = 0.15;
  h.servo_max = 0.85;
  h.speed_to_erpm_gain = 4614;
  h.erpm_max = 23250;
  const ActuatorMap map(h);
  CHECK(map.erpm_of(1.0) == doctest::Approx(4614));
  CHECK(map.erpm_of(-1.0) == doctest::Approx(-4614));
  CHECK(map.erpm_of(9.0) == 23250);
  CHECK(map.erpm_of(-9.0) == -23250);
  CHECK(map.speed_of(map.erpm_of(-2.5)) == doctest::Approx(-2.5));
  CHECK(map.speed_max_mps() == doctest::Approx(5.0390));
  CHECK(map.servo_of(0.0) == doctest::Approx(0.5304));
  CHECK(map.left_rad() == doctest::Approx(0.3135).epsilon(1e-3));
  CHECK(map.right_rad() == doctest::Approx(-0.2634).epsilon(1e-3));
  CHECK(map.servo_of(1.0) == 0.15);
  CHECK(map.servo_of(-1.0) == 0.85);
  CHECK(map.metres_per_count() == doctest::Approx(2.167e-3).epsilon(1e-3));
}

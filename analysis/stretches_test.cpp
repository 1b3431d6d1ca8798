// SPDX-License-Identifier: Apache-2.0
#include "analysis/stretches.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace pitwall;
using namespace pitwall::analysis;

namespace {

std::vector<double> times(std::size_t n, double step_s) {
  std::vector<double> t;
  for (std::size_t i = 0; i < n; ++i) t.push_back(step_s * static_cast<double>(i));
  return t;
}

}  // namespace

TEST_CASE("a motor within 5 % for 2 s is a stretch; what is slower, shorter, wider or has a hole is none") {
  // 50 Hz: 3 s at 1000, 1 s at 2000, 3 s slow, 4 s backwards between 990 and 1010.
  std::vector<double> erpm;
  for (int i = 0; i < 150; ++i) erpm.push_back(1000.0);
  for (int i = 0; i < 50; ++i) erpm.push_back(2000.0);
  for (int i = 0; i < 150; ++i) erpm.push_back(499.0);
  for (int i = 0; i < 200; ++i) erpm.push_back(i % 2 == 0 ? -990.0 : -1010.0);
  std::vector<double> t = times(erpm.size(), 0.02);
  const auto found = steady(t, erpm, 500.0);
  REQUIRE(found.size() == 2);
  CHECK(found[0].begin_s == 0.0);
  CHECK(found[0].end_s == doctest::Approx(2.98));
  CHECK(found[0].value == doctest::Approx(1000.0));
  CHECK(found[1].begin_s == doctest::Approx(7.0));
  CHECK(found[1].end_s == doctest::Approx(10.98));
  CHECK(found[1].value == doctest::Approx(1000.0));
  CHECK(found[1].seconds() == doctest::Approx(3.98));

  for (std::size_t i = 75; i < t.size(); ++i) t[i] += 0.25;  // 0.27 s without a sample, in the first
  CHECK(steady(t, erpm, 500.0).size() == 1);
  for (std::size_t i = 75; i < t.size(); ++i) t[i] -= 0.03;
  CHECK(steady(t, erpm, 500.0).size() == 2);

  const std::vector<double> two = times(101, 0.02);
  CHECK(steady(two, std::vector<double>(101, 1000.0), 500.0).size() == 1);
  CHECK(steady(times(100, 0.02), std::vector<double>(100, 1000.0), 500.0).empty());
  const auto alternating = [&](double high) {
    std::vector<double> v;
    for (int i = 0; i < 101; ++i) v.push_back(i % 2 == 0 ? 1000.0 : high);
    return v;
  };
  CHECK(steady(two, alternating(1049.0), 500.0).size() == 1);
  CHECK(steady(two, alternating(1051.0), 500.0).empty());
  CHECK(steady(two, alternating(951.0), 500.0).empty());
  CHECK(steady(two, alternating(NAN), 500.0).empty());
  CHECK(steady(two, std::vector<double>(101, 500.0), 500.0).size() == 1);
  CHECK(steady({}, {}, 500.0).empty());
}

TEST_CASE("standing is where IMU and wheels are still for 2 s, a bias notwithstanding") {
  ImuSeries imu;
  std::vector<double> wheels;
  const auto add = [&](double seconds, double shake, double wheel) {
    for (int i = 0; i < static_cast<int>(seconds * 200.0); ++i) {
      const double sign = i % 2 == 0 ? 1.0 : -1.0;
      imu.t_s.push_back(0.005 * static_cast<double>(imu.t_s.size()));
      imu.gyro_x.push_back(0.0);
      imu.gyro_y.push_back(0.0);
      imu.gyro_z.push_back(0.05 + sign * shake);
      imu.accel_x.push_back(0.0);
      imu.accel_y.push_back(0.0);
      imu.accel_z.push_back(9.8);
      wheels.push_back(wheel);
    }
  };
  add(4.0, 0.001, 0.0);
  add(2.0, 0.1, 1.0);
  add(2.0, 0.001, 0.0);  // 1.5 s once the detector's half second is full
  add(3.0, 0.001, 0.5);  // quiet, but the wheels turn
  add(3.0, 0.001, 0.0);
  const auto found = standing(imu, wheels);
  REQUIRE(found.size() == 2);
  CHECK(found[0].begin_s == doctest::Approx(0.45).epsilon(0.2));
  CHECK(found[0].end_s == doctest::Approx(3.995));
  CHECK(found[1].begin_s == doctest::Approx(11.45).epsilon(0.02));
  CHECK(found[1].end_s == doctest::Approx(13.995));
  // Without wheels a mean of 0.05 rad/s might be a slow turn.
  CHECK(standing(imu, std::vector<double>(wheels.size(), NAN)).empty());
}

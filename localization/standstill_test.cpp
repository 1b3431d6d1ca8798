// SPDX-License-Identifier: Apache-2.0
#include "localization/standstill.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "core/rng.hpp"

using namespace pitwall;
using namespace pitwall::localization;

namespace {

// Whether the detector says so after `seconds` at 200 Hz.
struct Quiet {
  double gyro_mean = 0.0;
  double gyro_std = 0.003;
  double accel_mean = 0.0;
  double accel_std = 0.03;
  std::optional<double> wheel = 0.0;
};

bool stands(StandstillDetector& detector, const Quiet& q, double from_s, double to_s) {
  const Rng noise(9, "standstill");
  bool result = false;
  for (auto k = static_cast<std::uint64_t>(from_s * 200.0); k < static_cast<std::uint64_t>(to_s * 200.0); ++k) {
    result = detector.update(
        Time{} + from_milliseconds(static_cast<std::int64_t>(5 * k)),
        {q.gyro_std * noise.normal(k, 0), q.gyro_std * noise.normal(k, 1), q.gyro_mean + q.gyro_std * noise.normal(k, 2)},
        {q.accel_mean + q.accel_std * noise.normal(k, 3), q.accel_std * noise.normal(k, 4), 9.8 + q.accel_std * noise.normal(k, 5)},
        q.wheel);
  }
  return result;
}

bool stands(const Quiet& q, double to_s = 1.0) {
  StandstillDetector detector({});
  return stands(detector, q, 0.0, to_s);
}

}  // namespace

TEST_CASE("half a second of quiet is a standstill, less is not") {
  CHECK(stands({}));
  CHECK_FALSE(stands({}, 0.4));
  CHECK(stands({}, 0.48));
}

TEST_CASE("each kind of unrest is motion, a biased gyro is not") {
  CHECK(stands({.gyro_mean = 0.2}));
  CHECK_FALSE(stands({.gyro_std = 0.02}));
  CHECK_FALSE(stands({.accel_std = 0.15}));
  CHECK_FALSE(stands({.accel_mean = 3.0}));  // locked wheels, sliding
  CHECK_FALSE(stands({.wheel = 0.02}));
  CHECK_FALSE(stands({.wheel = -0.02}));
  CHECK(stands({.wheel = 0.019}));
}

TEST_CASE("without wheels a steady turn is not taken for a biased gyro") {
  CHECK(stands({.wheel = std::nullopt}));
  CHECK(stands({.gyro_mean = 0.025, .wheel = std::nullopt}));
  CHECK_FALSE(stands({.gyro_mean = 0.2, .wheel = std::nullopt}));
}

TEST_CASE("wheels that move begin the window anew, and so does a gap") {
  StandstillDetector detector({});
  CHECK(stands(detector, {}, 0.0, 1.0));
  CHECK_FALSE(stands(detector, {.wheel = 0.5}, 1.0, 1.01));
  CHECK_FALSE(stands(detector, {}, 1.01, 1.4));
  CHECK(stands(detector, {}, 1.4, 1.6));
  CHECK_FALSE(stands(detector, {}, 5.0, 5.3));
  CHECK(stands(detector, {.gyro_mean = 0.1}, 6.0, 7.0));
  CHECK(detector.mean_gyro()[2] == doctest::Approx(0.1).epsilon(0.01));
  CHECK(detector.mean_accel()[2] == doctest::Approx(9.8).epsilon(0.001));
}

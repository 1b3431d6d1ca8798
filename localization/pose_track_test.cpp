// SPDX-License-Identifier: Apache-2.0
#include "localization/pose_track.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "tests/support/allocation_guard.hpp"

using namespace pitwall;
using namespace pitwall::localization;

namespace {
Time ms(std::int64_t t) { return Time{} + from_milliseconds(t); }
}  // namespace

TEST_CASE("poses are interpolated inside, never outside, and the turn goes the short way") {
  PoseTrack track(from_seconds(2.0));
  CHECK_FALSE(track.at(ms(0)));
  track.add(ms(100), {1.0, 0.0, 3.0});
  track.add(ms(200), {2.0, 4.0, -3.0});
  CHECK_FALSE(track.at(ms(99)));
  CHECK_FALSE(track.at(ms(201)));
  CHECK(*track.at(ms(100)) == Pose2{1.0, 0.0, 3.0});
  CHECK(*track.at(ms(200)) == Pose2{2.0, 4.0, -3.0});
  const Pose2 half = *track.at(ms(150));
  CHECK(half.x == doctest::Approx(1.5));
  CHECK(half.y == doctest::Approx(2.0));
  CHECK(std::abs(half.yaw) == doctest::Approx(math::kPi));
  CHECK_FALSE(track.between(ms(150), ms(201)));
  CHECK(track.between(ms(100), ms(200))->yaw == doctest::Approx(2.0 * math::kPi - 6.0));
}

TEST_CASE("an increment is seen from its start") {
  const Pose2 step = increment({1.0, 2.0, 0.5 * math::kPi}, {1.0, 3.0, -0.9 * math::kPi});
  CHECK(step.x == doctest::Approx(1.0));
  CHECK(step.y == doctest::Approx(0.0));
  CHECK(step.yaw == doctest::Approx(0.6 * math::kPi));
}

TEST_CASE("what is not finite, or not newer, is left out") {
  PoseTrack track(from_seconds(2.0));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(track.add(ms(100), {}));
  CHECK_FALSE(track.add(ms(100), {1.0, 0.0, 0.0}));
  CHECK_FALSE(track.add(ms(50), {1.0, 0.0, 0.0}));
  CHECK_FALSE(track.add(ms(150), {nan, 0.0, 0.0}));
  CHECK_FALSE(track.add(ms(150), {0.0, 0.0, nan}));
  CHECK(track.newest() == ms(100));
}

TEST_CASE("the horizon is kept and older poses are forgotten, without memory once it is full") {
  PoseTrack track(from_seconds(1.0));
  // 1 kHz: more than it begins with.
  for (std::int64_t t = 0; t < 5000; ++t) track.add(ms(t), {0.001 * static_cast<double>(t), 0.0, 0.0});
  const AllocationGuard guard;
  for (std::int64_t t = 5000; t < 9000; ++t) track.add(ms(t), {0.001 * static_cast<double>(t), 0.0, 0.0});
  CHECK(guard.count() == 0);
  CHECK(track.newest() == ms(8999));
  CHECK(track.oldest() <= ms(7999));
  CHECK(track.oldest() >= ms(7990));
  CHECK(track.at(Time{8'500'500'000})->x == doctest::Approx(8.5005));
}

// SPDX-License-Identifier: Apache-2.0
#include "core/time.hpp"

#include <doctest/doctest.h>

using namespace pitwall;

TEST_CASE("seconds and nanoseconds convert to the nearest of each other") {
  CHECK(from_seconds(0.025).ns == 25'000'000);
  CHECK(from_seconds(-0.025).ns == -25'000'000);
  CHECK(from_seconds(1.4e-9).ns == 1);
  CHECK(from_seconds(1.6e-9).ns == 2);
  CHECK(from_seconds(-1.6e-9).ns == -2);
  CHECK(from_seconds(0.5e-9).ns == 1);
  CHECK(from_seconds(-0.5e-9).ns == -1);
  CHECK(from_seconds(0.55e-9).ns == 1);
  CHECK(from_seconds(0.0).ns == 0);
  CHECK(from_milliseconds(-3).ns == -3'000'000);
  CHECK(Duration{300'000'000}.seconds() == 0.3);
  CHECK(Time{1'100'000'000}.seconds() == 1.1);
  for (std::int64_t ms = 0; ms < 5000; ++ms) CHECK(from_seconds(from_milliseconds(ms).seconds()) == from_milliseconds(ms));
}

TEST_CASE("large whole numbers of nanoseconds stay as they are") {
  // Odd, between 2^52 and 2^53: adding a half would round to an even neighbour.
  const double seconds = 4503599.627370497;
  const double ns = seconds * 1e9;
  CHECK(from_seconds(seconds).ns == static_cast<std::int64_t>(ns));
  CHECK(from_seconds(-seconds).ns == -static_cast<std::int64_t>(ns));
}

TEST_CASE("instants and spans add and compare") {
  constexpr Time t{100};
  constexpr Duration d{30};
  CHECK(t + d == Time{130});
  CHECK(t - d == Time{70});
  CHECK(t - Time{40} == Duration{60});
  CHECK(d + d - Duration{10} == Duration{50});
  CHECK(3 * d == Duration{90});
  CHECK(t < t + d);
  CHECK(Duration{-1} < Duration{});
}

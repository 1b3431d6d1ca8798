// SPDX-License-Identifier: Apache-2.0
// Special values, symmetries and identities of core/math; the comparison with MPFR is math_mpfr_test.cpp.
#include "core/math.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/rng.hpp"

using namespace pitwall;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

}  // namespace

TEST_CASE("sine and tangent are odd and cosine even, to the bit") {
  const Rng rng(1, "math_test");
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const double x = std::ldexp(rng.uniform(i, 0), static_cast<int>(rng.uniform(i, 1) * 100.0) - 50);
    CAPTURE(x);
    CHECK(same_bits(math::sin(-x), -math::sin(x)));
    CHECK(same_bits(math::cos(-x), math::cos(x)));
    CHECK(same_bits(math::tan(-x), -math::tan(x)));
    const auto [s, c] = math::sincos(x);
    CHECK(same_bits(s, math::sin(x)));
    CHECK(same_bits(c, math::cos(x)));
  }
}

TEST_CASE("zeros keep their sign, infinities and NaN give NaN") {
  for (const auto f : {math::sin, math::tan, math::asin, math::atan}) {
    CHECK(same_bits(f(0.0), 0.0));
    CHECK(same_bits(f(-0.0), -0.0));
    CHECK(std::isnan(f(kNan)));
  }
  for (const auto f : {math::sin, math::cos, math::tan}) {
    CHECK(std::isnan(f(kInf)));
    CHECK(std::isnan(f(-kInf)));
  }
  CHECK(math::cos(0.0) == 1.0);
}

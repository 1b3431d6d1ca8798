// SPDX-License-Identifier: Apache-2.0
// Special values, symmetries, identities and pinned bits of core/math; accuracy is math_mpfr_test.cpp.
#include "core/math.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/hash.hpp"
#include "core/rng.hpp"

using namespace pitwall;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kMax = std::numeric_limits<double>::max();
constexpr double kTiny = std::numeric_limits<double>::denorm_min();

/// The same double, where every NaN is one value.
bool same(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

/// Either sign, any exponent within 2^low .. 2^high.
double wide(const Rng& rng, std::uint64_t i, int low, int high) {
  const double magnitude = std::ldexp(1.0 + rng.uniform(i, 0), low + static_cast<int>(rng.uniform(i, 1) * (high - low)));
  return rng.uniform(i, 2) < 0.5 ? -magnitude : magnitude;
}

}  // namespace

TEST_CASE("sine, tangent and their inverses are odd and cosine is even, to the bit") {
  const Rng rng(1, "math_test");
  bool odd = true;
  bool even = true;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const double x = wide(rng, i, -1074, 1024);
    const double u = 2.0 * rng.uniform(i, 3) - 1.0;
    odd = odd && same(math::sin(-x), -math::sin(x)) && same(math::tan(-x), -math::tan(x)) && same(math::atan(-x), -math::atan(x)) &&
          same(math::asin(-u), -math::asin(u));
    even = even && same(math::cos(-x), math::cos(x));
  }
  CHECK(odd);
  CHECK(even);
}

TEST_CASE("sincos gives what sin and cos give") {
  const Rng rng(2, "math_test");
  bool equal = true;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const double x = wide(rng, i, -100, 1024);
    const auto [s, c] = math::sincos(x);
    equal = equal && same(s, math::sin(x)) && same(c, math::cos(x));
  }
  CHECK(equal);
}

TEST_CASE("zeros keep their sign; cosine of both is 1") {
  for (const auto f : {math::sin, math::tan, math::asin, math::atan}) {
    CHECK(same(f(0.0), 0.0));
    CHECK(same(f(-0.0), -0.0));
  }
  CHECK(same(math::cos(0.0), 1.0));
  CHECK(same(math::cos(-0.0), 1.0));
  CHECK(same(math::exp(-0.0), 1.0));
  CHECK(same(math::acos(1.0), 0.0));
  CHECK(same(math::log(1.0), 0.0));
}

TEST_CASE("NaN gives NaN, infinities and arguments outside the domain give their limits") {
  for (const auto f : {math::sin, math::cos, math::tan, math::asin, math::acos, math::atan, math::exp, math::log})
    CHECK(std::isnan(f(kNan)));
  for (const auto f : {math::sin, math::cos, math::tan, math::asin, math::acos}) {
    CHECK(std::isnan(f(math::kInfinity)));
    CHECK(std::isnan(f(-math::kInfinity)));
  }
  for (const auto f : {math::asin, math::acos}) {
    CHECK(std::isnan(f(std::nextafter(1.0, 2.0))));
    CHECK(std::isnan(f(std::nextafter(-1.0, -2.0))));
  }
  CHECK(same(math::asin(1.0), 0.5 * math::kPi));
  CHECK(same(math::asin(-1.0), -0.5 * math::kPi));
  CHECK(same(math::acos(-1.0), math::kPi));
  CHECK(same(math::acos(0.0), 0.5 * math::kPi));
  CHECK(same(math::atan(math::kInfinity), 0.5 * math::kPi));
  CHECK(same(math::atan(-math::kInfinity), -0.5 * math::kPi));
  CHECK(same(math::exp(math::kInfinity), math::kInfinity));
  CHECK(same(math::exp(-math::kInfinity), 0.0));
  CHECK(same(math::exp(kMax), math::kInfinity));
  CHECK(same(math::exp(-kMax), 0.0));
  CHECK(same(math::log(0.0), -math::kInfinity));
  CHECK(same(math::log(-0.0), -math::kInfinity));
  CHECK(same(math::log(math::kInfinity), math::kInfinity));
  CHECK(std::isnan(math::log(-kTiny)));
  CHECK(std::isnan(math::log(-math::kInfinity)));
}

TEST_CASE("exp turns to infinity and to zero where IEEE 754 says") {
  CHECK(std::isfinite(math::exp(709.782712893384)));
  CHECK(same(math::exp(709.7827128933841), math::kInfinity));
  CHECK(same(math::exp(-745.1332191019411), kTiny));
  CHECK(same(math::exp(-745.1332191019412), 0.0));
}

TEST_CASE("atan2 follows IEEE 754 at zeros and infinities") {
  struct Row {
    double y, x, angle;
  };
  const double pi = math::kPi;
  for (const Row& row : {Row{0.0, 0.0, 0.0},
                         Row{-0.0, 0.0, -0.0},
                         Row{0.0, -0.0, pi},
                         Row{-0.0, -0.0, -pi},
                         Row{0.0, 1.0, 0.0},
                         Row{-0.0, 1.0, -0.0},
                         Row{0.0, -1.0, pi},
                         Row{-0.0, -1.0, -pi},
                         Row{1.0, 0.0, 0.5 * pi},
                         Row{1.0, -0.0, 0.5 * pi},
                         Row{-1.0, 0.0, -0.5 * pi},
                         Row{1.0, math::kInfinity, 0.0},
                         Row{-1.0, math::kInfinity, -0.0},
                         Row{1.0, -math::kInfinity, pi},
                         Row{-1.0, -math::kInfinity, -pi},
                         Row{math::kInfinity, 1.0, 0.5 * pi},
                         Row{-math::kInfinity, -1.0, -0.5 * pi},
                         Row{math::kInfinity, math::kInfinity, 0.25 * pi},
                         Row{math::kInfinity, -math::kInfinity, 0.75 * pi},
                         Row{-math::kInfinity, math::kInfinity, -0.25 * pi},
                         Row{-math::kInfinity, -math::kInfinity, -0.75 * pi},
                         Row{0.0, math::kInfinity, 0.0},
                         Row{-0.0, -math::kInfinity, -pi},
                         Row{kTiny, kMax, 0.0},
                         Row{-kTiny, kMax, -0.0},
                         Row{kTiny, -kMax, pi},
                         Row{kMax, kTiny, 0.5 * pi},
                         Row{kTiny, kTiny, 0.25 * pi},
                         Row{kMax, -kMax, 0.75 * pi},
                         Row{kNan, 1.0, kNan},
                         Row{1.0, kNan, kNan},
                         Row{kNan, math::kInfinity, kNan}}) {
    CAPTURE(row.y);
    CAPTURE(row.x);
    CHECK(same(math::atan2(row.y, row.x), row.angle));
  }
}

TEST_CASE("atan2 mirrors with its arguments, to the bit") {
  const Rng rng(3, "math_test");
  bool odd = true;
  for (std::uint64_t i = 0; i < 10000; ++i) {
    const double y = wide(rng, 2 * i, -1074, 1024);
    const double x = wide(rng, 2 * i + 1, -1074, 1024);
    odd = odd && same(math::atan2(-y, x), -math::atan2(y, x)) && same(math::hypot(x, y), math::hypot(-y, x));
  }
  CHECK(odd);
}

TEST_CASE("pow follows the table of IEEE 754 special cases") {
  struct Row {
    double x, y, value;
  };
  for (const Row& row :
       {Row{kNan, 0.0, 1.0}, Row{kNan, -0.0, 1.0}, Row{math::kInfinity, 0.0, 1.0}, Row{0.0, 0.0, 1.0}, Row{1.0, kNan, 1.0},
        Row{1.0, math::kInfinity, 1.0}, Row{1.0, -math::kInfinity, 1.0}, Row{-1.0, math::kInfinity, 1.0}, Row{-1.0, -math::kInfinity, 1.0},
        Row{kNan, 1.0, kNan}, Row{2.0, kNan, kNan},
        // Zero bases: the sign survives only odd exponents.
        Row{0.0, 3.0, 0.0}, Row{-0.0, 3.0, -0.0}, Row{-0.0, 2.0, 0.0}, Row{-0.0, 0.5, 0.0}, Row{0.0, -3.0, math::kInfinity},
        Row{-0.0, -3.0, -math::kInfinity}, Row{-0.0, -2.0, math::kInfinity}, Row{-0.0, -0.5, math::kInfinity},
        Row{-0.0, math::kInfinity, 0.0}, Row{-0.0, -math::kInfinity, math::kInfinity},
        // Infinite exponents.
        Row{0.5, math::kInfinity, 0.0}, Row{0.5, -math::kInfinity, math::kInfinity}, Row{-0.5, math::kInfinity, 0.0},
        Row{2.0, math::kInfinity, math::kInfinity}, Row{2.0, -math::kInfinity, 0.0}, Row{-2.0, math::kInfinity, math::kInfinity},
        // Infinite bases.
        Row{math::kInfinity, 2.0, math::kInfinity}, Row{math::kInfinity, -2.0, 0.0}, Row{-math::kInfinity, 3.0, -math::kInfinity},
        Row{-math::kInfinity, 2.0, math::kInfinity}, Row{-math::kInfinity, 0.5, math::kInfinity}, Row{-math::kInfinity, -3.0, -0.0},
        Row{-math::kInfinity, -2.0, 0.0}, Row{-math::kInfinity, -0.5, 0.0}, Row{-math::kInfinity, math::kInfinity, math::kInfinity},
        Row{-math::kInfinity, -math::kInfinity, 0.0},
        // Negative bases.
        Row{-2.0, 0.5, kNan}, Row{-2.0, 3.0, -8.0}, Row{-2.0, 2.0, 4.0}, Row{-2.0, -1.0, -0.5}, Row{-1.0, 9007199254740991.0, -1.0},
        Row{-1.0, 9007199254740992.0, 1.0}, Row{-1.0, kMax, 1.0}, Row{-1.0, 1.0e-300, kNan},
        // Out of range.
        Row{10.0, 400.0, math::kInfinity}, Row{-10.0, 401.0, -math::kInfinity}, Row{10.0, -400.0, 0.0}, Row{-10.0, -401.0, -0.0},
        Row{kMax, kMax, math::kInfinity}, Row{kTiny, kMax, 0.0}, Row{kTiny, -kMax, math::kInfinity}, Row{kMax, -kMax, 0.0}}) {
    CAPTURE(row.x);
    CAPTURE(row.y);
    CHECK(same(math::pow(row.x, row.y), row.value));
  }
}

TEST_CASE("pow of whole numbers is exact where the result fits") {
  for (int base = 2; base <= 12; ++base) {
    double power = 1.0;
    for (int n = 0; power < 0x1p53; ++n) {
      CHECK(math::pow(base, n) == power);
      power *= base;
    }
  }
  CHECK(math::pow(2.0, -1074.0) == kTiny);
  CHECK(math::pow(2.0, 1023.0) == 0x1p1023);
  const Rng rng(4, "math_test");
  for (std::uint64_t i = 0; i < 500; ++i) {
    const double x = std::fabs(wide(rng, i, -1022, 1023));
    CHECK(math::pow(x, 1.0) == x);
  }
}

TEST_CASE("hypot is exact for Pythagorean triples at any scale and never overflows early") {
  for (const int scale : {-1070, -500, 0, 500, 1020}) {
    CHECK(math::hypot(std::ldexp(3.0, scale), std::ldexp(4.0, scale)) == std::ldexp(5.0, scale));
    CHECK(math::hypot(std::ldexp(-5.0, scale), std::ldexp(12.0, scale)) == std::ldexp(13.0, scale));
  }
  CHECK(same(math::hypot(math::kInfinity, kNan), math::kInfinity));
  CHECK(same(math::hypot(kNan, -math::kInfinity), math::kInfinity));
  CHECK(std::isnan(math::hypot(kNan, 1.0)));
  CHECK(same(math::hypot(-0.0, -0.0), 0.0));
  CHECK(same(math::hypot(-kTiny, 0.0), kTiny));
  CHECK(same(math::hypot(kMax, kMax), math::kInfinity));
  CHECK(same(math::hypot(kMax, kTiny), kMax));
}

TEST_CASE("sine squared and cosine squared sum to one, for arguments of any size") {
  const Rng rng(5, "math_test");
  double worst = 0.0;
  for (std::uint64_t i = 0; i < 10000; ++i) {
    const auto [s, c] = math::sincos(wide(rng, i, -30, 1024));
    worst = std::fmax(worst, std::fabs(s * s + c * c - 1.0));
  }
  CHECK(worst < 5e-16);
}

TEST_CASE("the functions are monotonic across the seams of their tables") {
  bool rising = true;
  for (const double seam : {0.0625, 0.1875, 0.3125, 0.5, 0.9375, 1.0, 1.5, 2.0, 0.0108304246, 0.0216608494, 0.6931471805599453, 4.0}) {
    double x = seam * (1.0 - 0x1p-44);
    for (int k = 0; k < 512; ++k) {
      const double next = std::nextafter(x, 10.0);
      rising = rising && math::atan(x) <= math::atan(next) && math::exp(x) <= math::exp(next) && math::log(x) <= math::log(next);
      x = next;
    }
  }
  CHECK(rising);
}

TEST_CASE("the bits are the same on every machine: pinned hash of many results") {
  // Moves only when core/math changes its method; then every golden value of the project moves with it.
  const Rng rng(6, "math_test pinned");
  Hash hash;
  for (std::uint64_t i = 0; i < 4000; ++i) {
    const double x = wide(rng, 2 * i, -40, 60);
    const double y = wide(rng, 2 * i + 1, -6, 7);
    const double u = 2.0 * rng.uniform(i, 5) - 1.0;
    for (const double value : {math::sin(x), math::cos(x), math::tan(x), math::atan(x), math::atan2(x, y), math::hypot(x, y), math::exp(y),
                               math::log(std::fabs(x)), math::pow(std::fabs(x), y), math::asin(u), math::acos(u)}) {
      hash.add(value);
    }
  }
  CHECK(to_hex(hash.value()) == "6f4eb5bcc4c2a9b3");
}

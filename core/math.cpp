// SPDX-License-Identifier: Apache-2.0
// Method: reduce the argument with tables to a small remainder, use the Taylor series there, and carry the parts that
// matter as unevaluated sums of two doubles (Dekker, "A floating-point technique for extending the available
// precision", Numer. Math. 18, 1971). Only +, -, *, /, sqrt and integer operations, each rounded by IEEE 754; no fused
// multiply-add, so all compilers and processors agree.
#include "core/math.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/math_tables.hpp"

namespace pitwall::math {
namespace {

using detail::Pair;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// a + b exactly.
Pair two_sum(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

/// a + b exactly, given |a| >= |b| or a == 0.
Pair quick_two_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

/// a * b exactly, for |a|, |b| below 2^995 and a product above 2^-960.
Pair two_product(double a, double b) {
  constexpr double kSplit = 134217729.0;  // 2^27 + 1
  const double product = a * b;
  const double a_scaled = kSplit * a;
  const double a_high = a_scaled - (a_scaled - a);
  const double a_low = a - a_high;
  const double b_scaled = kSplit * b;
  const double b_high = b_scaled - (b_scaled - b);
  const double b_low = b - b_high;
  return {product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low};
}

Pair add(Pair a, Pair b) {
  const Pair s = two_sum(a.high, b.high);
  return quick_two_sum(s.high, s.low + (a.low + b.low));
}

Pair multiply(Pair a, double b) {
  const Pair p = two_product(a.high, b);
  return quick_two_sum(p.high, p.low + a.low * b);
}

Pair divide(Pair a, Pair b) {
  const double quotient = a.high / b.high;
  const Pair product = two_product(quotient, b.high);
  const double remainder = ((a.high - product.high) - product.low) + (a.low - quotient * b.low);
  return quick_two_sum(quotient, remainder / b.high);
}

Pair square_root(Pair a) {
  const double root = std::sqrt(a.high);
  if (root == 0.0) return {0.0, 0.0};
  const Pair square = two_product(root, root);
  const double remainder = ((a.high - square.high) - square.low) + a.low;
  return quick_two_sum(root, remainder / (2.0 * root));
}

// ---- sine, cosine, tangent --------------------------------------------------------------------------------------

struct Reduced {
  Pair remainder;  // in [-pi/4, pi/4] but for rounding
  int quadrant;    // modulo 4
};

/// Payne and Hanek, "Radian reduction for trigonometric functions", SIGNUM Newsletter 18, 1983: multiply the integer
/// significand by the 192 bits of 2 / pi that decide the quadrant and the fraction.
Reduced reduce_large(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const int exponent = static_cast<int>((bits >> 52) & 0x7FF) - 1075;
  const std::uint64_t significand = (bits & ((std::uint64_t{1} << 52) - 1)) | (std::uint64_t{1} << 52);
  // x = significand 2^exponent. The bits of 2 / pi from index exponent - 2 on give the product modulo 4.
  const int first = exponent - 2;  // index after the binary point; negative only below the range this is called for
  const auto word_at = [](int index) {
    const auto word = static_cast<std::size_t>(index / 64);
    const int shift = index % 64;
    const std::uint64_t high = detail::kTwoOverPiBits[word] << shift;
    return shift == 0 ? high : high | (detail::kTwoOverPiBits[word + 1] >> (64 - shift));
  };
  std::array<std::uint64_t, 3> window{};
  for (int k = 0; k < 3; ++k) {
    const int index = first + 64 * k;
    if (index < 0) {
      window[static_cast<std::size_t>(k)] = detail::kTwoOverPiBits[0] >> -index;
    } else {
      window[static_cast<std::size_t>(k)] = word_at(index);
    }
  }
  // significand * window, the lowest 192 bits.
  __extension__ using Wide = unsigned __int128;
  const Wide low = Wide{significand} * window[2];
  const Wide middle = Wide{significand} * window[1] + (low >> 64);
  const std::uint64_t top = significand * window[0] + static_cast<std::uint64_t>(middle >> 64);
  // `top` holds the product from bit value 2 downwards: two bits of quadrant, then the fraction.
  int quadrant = static_cast<int>(top >> 62);
  std::uint64_t f0 = (top << 2) | (static_cast<std::uint64_t>(middle) >> 62);
  std::uint64_t f1 = (static_cast<std::uint64_t>(middle) << 2) | (static_cast<std::uint64_t>(low) >> 62);
  const bool negative = (f0 >> 63) != 0;  // a fraction above 1/2 becomes the negative rest to the next quadrant
  if (negative) {
    ++quadrant;
    f1 = ~f1 + 1;
    f0 = ~f0 + (f1 == 0 ? 1 : 0);
  }
  // Two exact pieces of 53 and 53 bits below the leading one.
  const int zeros = std::countl_zero(f0);
  if (zeros > 0 && zeros < 64) {
    f0 = (f0 << zeros) | (f1 >> (64 - zeros));
    f1 <<= zeros;
  }
  const double scale = std::ldexp(1.0, -64 - zeros);
  const double high = static_cast<double>(f0 >> 11) * 2048.0 * scale;
  const double low_part = (static_cast<double>(f0 & 0x7FF) + static_cast<double>(f1 >> 11) * 0x1p-53) * scale;
  Pair remainder = multiply(detail::kHalfPiPair, high);
  remainder = add(remainder, {low_part * detail::kHalfPiPair.high, 0.0});
  if (negative) remainder = {-remainder.high, -remainder.low};
  if (x < 0.0) return {{-remainder.high, -remainder.low}, (4 - (quadrant & 3)) & 3};
  return {remainder, quadrant & 3};
}

Reduced reduce(double x) {
  if (std::fabs(x) <= 0.25 * kPi) return {{x, 0.0}, 0};
  if (std::fabs(x) < 1.0e6) {  // the multiple stays below 2^20, so its products with the parts of pi / 2 are exact
    const double k = std::floor(x * detail::kTwoOverPi + 0.5);
    const Pair first = two_sum(x - k * detail::kHalfPi1, -k * detail::kHalfPi2);
    const Pair second = two_sum(first.high, -k * detail::kHalfPi3);
    const Pair r = quick_two_sum(second.high, second.low + (first.low - k * detail::kHalfPi4));
    return {r, static_cast<int>(static_cast<std::int64_t>(k) & 3)};
  }
  return reduce_large(x);
}

/// sin on [-pi/4, pi/4]; the series to x^17, whose first dropped term is below 1e-19.
Pair sine_kernel(Pair r) {
  const double x = r.high;
  const double z = x * x;
  const double tail =
      z * (1.0 / 120 +
           z * (-1.0 / 5040 + z * (1.0 / 362880 + z * (-1.0 / 39916800 + z * (1.0 / 6227020800.0 + z * (-1.0 / 1307674368000.0 +
                                                                                                        z * (1.0 / 355687428096000.0)))))));
  // x + x^3 (-1/6 + tail) + low * cos(x)
  const double cube = x * z;
  return quick_two_sum(x, cube * (-1.0 / 6 + tail) + r.low * (1.0 - 0.5 * z));
}

/// cos on [-pi/4, pi/4]; the series to x^18.
Pair cosine_kernel(Pair r) {
  const double x = r.high;
  const Pair z = two_product(x, x);
  const double zz = z.high;
  const double tail =
      zz * zz *
      (1.0 / 24 +
       zz * (-1.0 / 720 +
             zz * (1.0 / 40320 + zz * (-1.0 / 3628800 +
                                       zz * (1.0 / 479001600.0 + zz * (-1.0 / 87178291200.0 + zz * (1.0 / 20922789888000.0 -
                                                                                                    zz * (1.0 / 6402373705728000.0))))))));
  const Pair head = quick_two_sum(1.0, -0.5 * zz);
  return quick_two_sum(head.high, head.low + (tail - 0.5 * z.low - x * r.low));
}

double sum(Pair p) { return p.high + p.low; }

// ---- arc tangent ------------------------------------------------------------------------------------------------

/// Angle of (x, y) for 0 <= y <= x, x > 0 and finite, to about 100 bits less the series' 2^-64.
Pair atan_first_octant(Pair y, Pair x) {
  const auto k = static_cast<std::size_t>(std::floor(8.0 * (y.high / x.high) + 0.5));
  Pair t;
  if (k == 0) {
    t = divide(y, x);
  } else {
    const double c = static_cast<double>(k) / 8.0;
    // tan of the difference: (y - c x) / (x + c y)
    t = divide(add(y, multiply(x, -c)), add(x, multiply(y, c)));
  }
  const double z = t.high * t.high;
  const double series = z * (-1.0 / 3 + z * (1.0 / 5 + z * (-1.0 / 7 + z * (1.0 / 9 + z * (-1.0 / 11 + z * (1.0 / 13 - z * (1.0 / 15)))))));
  const Pair small = quick_two_sum(t.high, t.low + t.high * series);
  return k == 0 ? small : add(detail::kAtanEighths[k], small);
}

/// Angle of (x, y) in [0, pi] for y >= 0, not both zero.
Pair atan_upper(Pair y, Pair x) {
  const bool left = x.high < 0.0;
  const Pair ax = left ? Pair{-x.high, -x.low} : x;
  Pair angle;
  if (y.high <= ax.high) {
    angle = atan_first_octant(y, ax);
  } else {
    const Pair other = atan_first_octant(ax, y);
    angle = add(detail::kHalfPiPair, {-other.high, -other.low});
  }
  return left ? add(detail::kPiPair, {-angle.high, -angle.low}) : angle;
}

// ---- exponential and logarithm ------------------------------------------------------------------------------------

/// exp(x) for the sum of a pair, x.high in [-800, 800].
double exp_pair(Pair x) {
  if (x.high > 709.79) return math::kInfinity;
  if (x.high < -745.14) return 0.0;
  const double k = std::floor(x.high * detail::kStepsPerUnit + 0.5);
  const Pair reduced = two_sum(x.high - k * detail::kStepHigh, x.low - k * detail::kStepLow);
  const double r = reduced.high;
  const double series = r * r * (0.5 + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120 + r * (1.0 / 720)))));
  const double growth = r + (series + reduced.low);  // exp(r) - 1
  const auto steps = static_cast<std::int64_t>(k);
  const Pair base = detail::kExpSteps[static_cast<std::size_t>(steps & 31)];
  const double value = base.high + (base.low + base.high * growth);
  return std::ldexp(value, static_cast<int>(steps >> 5));
}

/// log(x) for finite x > 0, to about 2^-70.
Pair log_pair(double x) {
  int exponent = 0;
  double m = 2.0 * std::frexp(x, &exponent);  // [1, 2)
  --exponent;
  auto cell = static_cast<std::size_t>((m - 1.0) * 64.0);
  if (cell == 63) {  // just below a power of two: count down from it, so that nothing cancels
    m *= 0.5;
    ++exponent;
    cell = 0;
  }
  const auto& [inverse, minus_log] = detail::kLogCells[cell];
  const Pair scaled = two_product(m, inverse);
  const Pair r = two_sum(scaled.high - 1.0, scaled.low);
  const Pair square = two_product(r.high, r.high);
  const double z = r.high;
  const double tail =
      z * z * z *
      (1.0 / 3 + z * (-0.25 + z * (0.2 + z * (-1.0 / 6 + z * (1.0 / 7 + z * (-0.125 + z * (1.0 / 9 + z * (-0.1 + z * (1.0 / 11)))))))));
  Pair result = add(r, {-0.5 * square.high, -0.5 * square.low - r.high * r.low});
  result = add(result, {tail, 0.0});
  result = add(minus_log, result);
  const double e = exponent;
  result = add({e * detail::kLn2Low.high, e * detail::kLn2Low.low}, result);
  return add({e * detail::kLn2High, 0.0}, result);
}

bool is_odd_integer(double y) { return std::floor(y) == y && std::fabs(y) < 0x1p53 && std::fmod(y, 2.0) != 0.0; }

}  // namespace

SinCos sincos(double x) {
  if (!std::isfinite(x)) return {kNan, kNan};
  const auto [r, quadrant] = reduce(x);
  const double s = r.high == 0.0 ? r.high : sum(sine_kernel(r));
  const double c = sum(cosine_kernel(r));
  switch (quadrant) {
    case 0:
      return {s, c};
    case 1:
      return {c, -s};
    case 2:
      return {-s, -c};
    default:
      return {-c, s};
  }
}

double sin(double x) { return sincos(x).sin; }
double cos(double x) { return sincos(x).cos; }

double tan(double x) {
  if (!std::isfinite(x)) return kNan;
  const auto [r, quadrant] = reduce(x);
  if (r.high == 0.0 && quadrant == 0) return x;
  const Pair s = sine_kernel(r);
  const Pair c = cosine_kernel(r);
  return (quadrant & 1) == 0 ? sum(divide(s, c)) : -sum(divide(c, s));
}

double atan2(double y, double x) {
  if (std::isnan(x) || std::isnan(y)) return kNan;
  const auto with_sign = [y](double angle) { return std::copysign(angle, y); };
  double ay = std::fabs(y);
  if (ay == 0.0) return with_sign(std::signbit(x) ? kPi : 0.0);
  if (x == 0.0) return with_sign(0.5 * kPi);
  if (std::isinf(x) || std::isinf(y)) {
    if (std::isinf(x) && std::isinf(y)) return with_sign(x > 0.0 ? 0.25 * kPi : 0.75 * kPi);
    if (std::isinf(y)) return with_sign(0.5 * kPi);
    return with_sign(x > 0.0 ? 0.0 : kPi);
  }
  // Bring both to moderate size by one power of two, so that no product overflows or loses bits.
  const int ey = std::ilogb(ay);
  const int ex = std::ilogb(x);
  if (ey - ex > 60) return with_sign(0.5 * kPi);
  if (ey - ex < -60) {
    if (x < 0.0) return with_sign(kPi);
    return with_sign(ay / x);
  }
  const int shift = -(ey > ex ? ey : ex);
  ay = std::ldexp(ay, shift);
  return with_sign(sum(atan_upper({ay, 0.0}, {std::ldexp(x, shift), 0.0})));
}

double atan(double x) { return atan2(x, 1.0); }

double asin(double x) {
  if (!(std::fabs(x) <= 1.0)) return kNan;
  if (std::fabs(x) < 0x1p-28) return x;
  const Pair square = two_product(x, x);
  const Pair adjacent = square_root(add({1.0, 0.0}, {-square.high, -square.low}));
  return std::copysign(sum(atan_upper({std::fabs(x), 0.0}, adjacent)), x);
}

double acos(double x) {
  if (!(std::fabs(x) <= 1.0)) return kNan;
  if (x == 1.0) return 0.0;
  const Pair square = std::fabs(x) < 0x1p-60 ? Pair{0.0, 0.0} : two_product(x, x);
  return sum(atan_upper(square_root(add({1.0, 0.0}, {-square.high, -square.low})), {x, 0.0}));
}

double exp(double x) {
  if (std::isnan(x)) return kNan;
  if (x > 800.0) return math::kInfinity;
  if (x < -800.0) return 0.0;
  return exp_pair({x, 0.0});
}

double log(double x) {
  if (std::isnan(x) || x < 0.0) return kNan;
  if (x == 0.0) return -math::kInfinity;
  if (std::isinf(x)) return math::kInfinity;
  return sum(log_pair(x));
}

double pow(double x, double y) {
  if (y == 0.0 || x == 1.0) return 1.0;
  if (std::isnan(x) || std::isnan(y)) return kNan;
  const double ax = std::fabs(x);
  if (std::isinf(y)) {
    if (ax == 1.0) return 1.0;
    return (ax > 1.0) == (y > 0.0) ? math::kInfinity : 0.0;
  }
  const bool odd = is_odd_integer(y);
  const double sign = std::signbit(x) && odd ? -1.0 : 1.0;
  if (ax == 0.0) return y > 0.0 ? sign * 0.0 : sign * math::kInfinity;
  if (std::isinf(ax)) return y > 0.0 ? sign * math::kInfinity : sign * 0.0;
  if (x < 0.0 && std::floor(y) != y) return kNan;
  const Pair logarithm = log_pair(ax);
  const double estimate = y * logarithm.high;
  if (estimate > 800.0) return sign * math::kInfinity;
  if (estimate < -800.0) return sign * 0.0;
  if (std::fabs(estimate) < 0x1p-60) return sign * (1.0 + estimate);
  return sign * exp_pair(multiply(logarithm, y));
}

double hypot(double x, double y) {
  if (std::isinf(x) || std::isinf(y)) return math::kInfinity;
  if (std::isnan(x) || std::isnan(y)) return kNan;
  double a = std::fabs(x);
  double b = std::fabs(y);
  if (a < b) std::swap(a, b);
  if (b == 0.0) return a;
  const int shift = std::ilogb(a);
  a = std::ldexp(a, -shift);
  b = std::ldexp(b, -shift);
  if (b < 0x1p-60) return std::ldexp(a, shift);
  const Pair aa = two_product(a, a);
  const Pair bb = two_product(b, b);
  return std::ldexp(sum(square_root(add(aa, bb))), shift);
}

}  // namespace pitwall::math

// SPDX-License-Identifier: Apache-2.0
// core/math against MPFR with 256 bits: within 1 ulp over wide ranges and at the hard places. Built without MPFR it
// says so and passes. PITWALL_MATH_SAMPLES is the number of arguments per function and range.
#include <doctest/doctest.h>

#ifndef PITWALL_HAVE_MPFR

TEST_CASE("the elementary functions agree with MPFR") { MESSAGE("skipped: built without MPFR (install libmpfr-dev)"); }

#else

#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/math.hpp"
#include "core/rng.hpp"

using namespace pitwall;

namespace {

constexpr double kToleranceUlp = 1.0;

class Big {
 public:
  explicit Big(double value = 0.0) {
    mpfr_init2(value_, 256);
    mpfr_set_d(value_, value, MPFR_RNDN);
  }
  ~Big() { mpfr_clear(value_); }
  Big(const Big&) = delete;
  Big& operator=(const Big&) = delete;
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

/// Spacing of doubles at |value|, at least that of the subnormals.
double ulp(double value) {
  if (value == 0.0) return 0x1p-1074;
  return std::ldexp(1.0, std::max(std::ilogb(value) - 52, -1074));
}

/// |got - exact| in ulp of exact; overflow counts from the largest double on.
double error_ulp(double got, mpfr_ptr exact) {
  const double rounded = mpfr_get_d(exact, MPFR_RNDN);
  if (std::isnan(rounded) || std::isnan(got)) return std::isnan(rounded) == std::isnan(got) ? 0.0 : 1e300;
  if (got == rounded) return std::signbit(got) == std::signbit(rounded) ? 0.0 : 1e300;
  if (std::isinf(rounded)) return got == std::copysign(std::numeric_limits<double>::max(), rounded) ? 1.0 : 1e300;
  if (std::isinf(got)) return rounded == std::copysign(std::numeric_limits<double>::max(), got) ? 1.0 : 1e300;
  if (got != 0.0 && std::signbit(got) != std::signbit(rounded)) return 1e300;
  Big difference(got);
  mpfr_sub(difference.get(), difference.get(), exact, MPFR_RNDN);
  Big unit(ulp(rounded));
  mpfr_div(difference.get(), difference.get(), unit.get(), MPFR_RNDN);
  return std::fabs(mpfr_get_d(difference.get(), MPFR_RNDN));
}

using Unary = double (*)(double);
using Binary = double (*)(double, double);
using BigUnary = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
using BigBinary = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

struct Worst {
  double error = 0.0;
  double x = 0.0;
  double y = 0.0;
  void see(double new_error, double new_x, double new_y = 0.0) {
    if (new_error > error) *this = {new_error, new_x, new_y};
  }
};

void compare(const std::string& name, Unary ours, BigUnary reference, const std::vector<double>& arguments) {
  Worst worst;
  Big exact;
  for (const double x : arguments) {
    reference(exact.get(), Big(x).get(), MPFR_RNDN);
    worst.see(error_ulp(ours(x), exact.get()), x);
  }
  CAPTURE(name);
  CAPTURE(worst.x);
  CHECK(worst.error <= kToleranceUlp);
}

void compare(const std::string& name, Binary ours, BigBinary reference, const std::vector<double>& first,
             const std::vector<double>& second) {
  Worst worst;
  Big exact;
  for (std::size_t i = 0; i < first.size(); ++i) {
    reference(exact.get(), Big(first[i]).get(), Big(second[i]).get(), MPFR_RNDN);
    worst.see(error_ulp(ours(first[i], second[i]), exact.get()), first[i], second[i]);
  }
  CAPTURE(name);
  CAPTURE(worst.x);
  CAPTURE(worst.y);
  CHECK(worst.error <= kToleranceUlp);
}

/// Evenly spread in [low, high].
std::vector<double> linear(const char* stream, double low, double high) {
  const Rng rng(1, stream);
  std::vector<double> values(PITWALL_MATH_SAMPLES);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = low + (high - low) * rng.uniform(i);
  return values;
}

/// Either sign, magnitudes evenly spread in the exponent from 2^low to 2^high.
std::vector<double> logarithmic(const char* stream, int low, int high) {
  const Rng rng(2, stream);
  std::vector<double> values(PITWALL_MATH_SAMPLES);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int exponent = low + static_cast<int>(rng.uniform(i, 0) * (high - low));
    values[i] = std::ldexp(1.0 + rng.uniform(i, 1), exponent);
    if (rng.uniform(i, 2) < 0.5) values[i] = -values[i];
  }
  return values;
}

std::vector<double> positive(std::vector<double> values) {
  for (double& v : values) v = std::fabs(v);
  return values;
}

/// The doubles next to k pi / 2 for small k and for random k up to 2^52.
std::vector<double> near_quarter_turns() {
  const Rng rng(3, "quarters");
  std::vector<double> values;
  Big pi;
  mpfr_const_pi(pi.get(), MPFR_RNDN);
  for (std::size_t i = 0; i < PITWALL_MATH_SAMPLES / 5; ++i) {
    const double k =
        i < 100 ? static_cast<double>(i) : std::floor(std::ldexp(1.0 + rng.uniform(i), static_cast<int>(rng.uniform(i, 1) * 52.0)));
    Big product(0.5 * k);
    mpfr_mul(product.get(), product.get(), pi.get(), MPFR_RNDN);
    double x = mpfr_get_d(product.get(), MPFR_RNDN);
    x = std::nextafter(std::nextafter(x, -1e300), -1e300);
    for (int step = 0; step < 5; ++step) {
      values.push_back(x);
      x = std::nextafter(x, 1e300);
    }
  }
  // The double nearest to a multiple of pi / 2 of all (Muller, "Elementary Functions", section 11.2).
  values.push_back(6381956970095103.0 * 0x1p797);
  values.push_back(-6381956970095103.0 * 0x1p797);
  return values;
}

/// The doubles around the bounds at which the code changes its method, and the extremes.
std::vector<double> edges() {
  std::vector<double> values;
  for (const double centre : {0x1p-28,
                              0x1p-27,
                              0x1p-60,
                              0.0625,
                              0.125,
                              0.25,
                              0.5,
                              0.25 * math::kPi,
                              0.5 * math::kPi,
                              1.0,
                              2.0,
                              1.0e6,
                              709.78,
                              709.79,
                              745.13,
                              745.14,
                              708.4,
                              5e-324,
                              2.3e-308,
                              std::numeric_limits<double>::min(),
                              1.7e308,
                              std::numeric_limits<double>::max()}) {
    double x = centre;
    for (int k = 0; k < 20; ++k) x = std::nextafter(x, -1.0);
    for (int k = 0; k < 40; ++k) {
      values.push_back(x);
      values.push_back(-x);
      x = std::nextafter(x, 1e300);
      if (x >= std::numeric_limits<double>::max()) break;
    }
    values.push_back(centre);
  }
  values.push_back(std::numeric_limits<double>::max());
  return values;
}

std::vector<double> within(std::vector<double> values, double low, double high) {
  values.erase(std::remove_if(values.begin(), values.end(), [=](double v) { return v < low || v > high; }), values.end());
  return values;
}

/// Around 1, closer and closer.
std::vector<double> near_one() {
  const Rng rng(4, "near one");
  std::vector<double> values;
  for (std::size_t i = 0; i < PITWALL_MATH_SAMPLES; ++i) {
    const double offset = std::ldexp(1.0 + rng.uniform(i), -static_cast<int>(rng.uniform(i, 1) * 54.0));
    values.push_back(rng.uniform(i, 2) < 0.5 ? 1.0 + offset : std::fabs(1.0 - offset));
  }
  return within(values, 0x1p-60, 3.0);
}

}  // namespace

TEST_CASE("sine, cosine and tangent agree with MPFR for any argument") {
  struct Function {
    std::string name;
    Unary ours;
    BigUnary reference;
  };
  for (const Function& f :
       {Function{"sin", math::sin, mpfr_sin}, Function{"cos", math::cos, mpfr_cos}, Function{"tan", math::tan, mpfr_tan}}) {
    compare(f.name, f.ours, f.reference, linear("trig", -10.0, 10.0));
    compare(f.name, f.ours, f.reference, linear("trig wide", -1.0e6, 1.0e6));
    compare(f.name, f.ours, f.reference, logarithmic("trig huge", 19, 1023));
    compare(f.name, f.ours, f.reference, logarithmic("trig tiny", -1074, -1));
    compare(f.name, f.ours, f.reference, near_quarter_turns());
    compare(f.name, f.ours, f.reference, edges());
  }
}

TEST_CASE("the inverse functions agree with MPFR") {
  compare("atan", math::atan, mpfr_atan, logarithmic("atan", -1074, 1023));
  compare("atan", math::atan, mpfr_atan, linear("atan", -4.0, 4.0));
  compare("atan", math::atan, mpfr_atan, edges());
  for (const auto& arguments :
       {linear("asin", -1.0, 1.0), logarithmic("asin", -1074, -1), within(near_one(), 0.0, 1.0), within(edges(), -1.0, 1.0)}) {
    compare("asin", math::asin, mpfr_asin, arguments);
    compare("acos", math::acos, mpfr_acos, arguments);
    std::vector<double> negated = arguments;
    for (double& v : negated) v = -v;
    compare("asin", math::asin, mpfr_asin, negated);
    compare("acos", math::acos, mpfr_acos, negated);
  }
}

TEST_CASE("atan2 and hypot agree with MPFR for vectors of any size and direction") {
  struct Function {
    std::string name;
    Binary ours;
    BigBinary reference;
  };
  for (const Function& f : {Function{"atan2", math::atan2, mpfr_atan2}, Function{"hypot", math::hypot, mpfr_hypot}}) {
    compare(f.name, f.ours, f.reference, linear("y", -10.0, 10.0), linear("x", -10.0, 10.0));
    compare(f.name, f.ours, f.reference, logarithmic("y", -1074, 1023), logarithmic("x", -1074, 1023));
    compare(f.name, f.ours, f.reference, logarithmic("y", -40, 40), logarithmic("x", -40, 40));
    compare(f.name, f.ours, f.reference, logarithmic("y", -1074, -1000), logarithmic("x", -1074, -1000));
    compare(f.name, f.ours, f.reference, logarithmic("y", 950, 1024), logarithmic("x", 950, 1024));
    std::vector<double> y, x;
    const std::vector<double> all = edges();
    for (std::size_t i = 0; i < all.size(); i += 5) {
      const double a = all[i];
      for (const double b : {5e-324, 1e-310, 3e-308, 1.0, -1.0, 1e6, 1.7e308, std::numeric_limits<double>::max(), -5e-324, -1e308}) {
        y.push_back(a);
        x.push_back(b);
        y.push_back(b);
        x.push_back(a);
      }
    }
    compare(f.name, f.ours, f.reference, y, x);
  }
}

TEST_CASE("exp agrees with MPFR into overflow and through the subnormals") {
  compare("exp", math::exp, mpfr_exp, linear("exp", -1.0, 1.0));
  compare("exp", math::exp, mpfr_exp, linear("exp wide", -750.0, 715.0));
  compare("exp", math::exp, mpfr_exp, linear("exp subnormal", -746.0, -707.0));
  compare("exp", math::exp, mpfr_exp, linear("exp overflow", 709.0, 710.0));
  compare("exp", math::exp, mpfr_exp, logarithmic("exp tiny", -1074, 10));
  compare("exp", math::exp, mpfr_exp, edges());
}

TEST_CASE("log agrees with MPFR near 1, for subnormals and everywhere else") {
  compare("log", math::log, mpfr_log, positive(logarithmic("log", -1074, 1023)));
  compare("log", math::log, mpfr_log, linear("log", 0.25, 4.0));
  compare("log", math::log, mpfr_log, near_one());
  compare("log", math::log, mpfr_log, within(edges(), 5e-324, 1.7976931348623157e308));
}

TEST_CASE("pow agrees with MPFR, overflow and subnormal results included") {
  compare("pow", math::pow, mpfr_pow, linear("base", 0.0, 20.0), linear("exponent", -20.0, 20.0));
  compare("pow", math::pow, mpfr_pow, positive(logarithmic("base", -1074, 1023)), linear("exponent", -3.0, 3.0));
  compare("pow", math::pow, mpfr_pow, near_one(), std::vector<double>(near_one().size(), 1.0e15));
  compare("pow", math::pow, mpfr_pow, near_one(), std::vector<double>(near_one().size(), -123456.789));
  compare("pow", math::pow, mpfr_pow, positive(logarithmic("base", -1074, 1023)), logarithmic("exponent", -1074, 1023));
  // Bases and exponents that put the result near the ends of the range of doubles.
  std::vector<double> base = positive(logarithmic("base ends", -300, 300));
  std::vector<double> exponent(base.size());
  const Rng rng(5, "ends");
  for (std::size_t i = 0; i < base.size(); ++i) {
    const double target = rng.uniform(i) < 0.5 ? 709.0 + rng.uniform(i, 1) : -708.0 - 38.0 * rng.uniform(i, 1);
    exponent[i] = target / std::log(base[i]);
  }
  compare("pow", math::pow, mpfr_pow, base, exponent);
  std::vector<double> negative = linear("base", -20.0, 0.0);
  std::vector<double> whole = linear("whole", -50.0, 50.0);
  for (double& v : whole) v = std::floor(v);
  compare("pow", math::pow, mpfr_pow, negative, whole);
}

#endif

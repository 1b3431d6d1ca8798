// SPDX-License-Identifier: Apache-2.0
#include "plant/tyre.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/math.hpp"

namespace pitwall::plant {
namespace {

// The force that no slip can be asked of: below it an axle is off the floor.
constexpr double kLeast_n = 1e-9;

// Two arc tangents and a sine per axle and stage are most of the Magic Formula's cost, and core's functions carry twice the
// digits that a tyre curve needs: these have a relative error below 1e-14 and take a third of the time. Plain
// multiplications and additions in a fixed order, so the bits are the same everywhere.
constexpr std::array<double, 9> kAtanEighths = {0.0,
                                                0.12435499454676144,
                                                0.24497866312686415,
                                                0.35877067027057225,
                                                0.46364760900080612,
                                                0.5585993153435624,
                                                0.64350110879328438,
                                                0.71882999962162453,
                                                0.78539816339744831};

double quick_atan(double x) {
  if (std::isnan(x)) return x;  // no cell of the table is a NaN's
  const double a = std::abs(x);
  const bool steep = a > 1.0;
  const double slope = steep ? 1.0 / a : a;
  const auto k = static_cast<std::size_t>(std::floor(8.0 * slope + 0.5));
  const double centre = 0.125 * static_cast<double>(k);
  const double t = (slope - centre) / (1.0 + centre * slope);
  const double z = t * t;
  const double z2 = z * z;
  // |t| <= 1/16: the first term left out is below 1e-17.
  const double series = (-1.0 / 3 + z * (1.0 / 5)) + z2 * ((-1.0 / 7 + z * (1.0 / 9)) + z2 * (-1.0 / 11 + z * (1.0 / 13)));
  const double angle = kAtanEighths[k] + (t + t * z * series);
  return std::copysign(steep ? 0.5 * math::kPi - angle : angle, x);
}

/// Sine of |x| <= 3 pi / 2.
double quick_sin(double x) {
  const double a = std::abs(x);
  const double folded = a > 0.5 * math::kPi ? math::kPi - a : a;
  const double z = folded * folded;
  const double z2 = z * z;
  const double z4 = z2 * z2;
  // Taylor to folded^21: below 3e-17 at pi / 2.
  const double low = (-1.0 / 6 + z * (1.0 / 120)) + z2 * (-1.0 / 5040 + z * (1.0 / 362880));
  const double high = (-1.0 / 39916800 + z * (1.0 / 6227020800.0)) + z2 * (-1.0 / 1307674368000.0 + z * (1.0 / 355687428096000.0));
  const double top = -1.0 / 121645100408832000.0 + z * (1.0 / 51090942171709440000.0);
  const double sine = folded + folded * z * (low + z4 * (high + z4 * top));
  return x < 0.0 ? -sine : sine;
}

}  // namespace

double magic_share(const MagicFormula& curve, double slip) {
  const double x = curve.b * slip;
  const double bent = curve.e == 0.0 ? x : x - curve.e * (x - quick_atan(x));
  return quick_sin(curve.c * quick_atan(bent));
}

double slip_ratio(const AxleTyre& tyre, double stiffness_n, double along_max_n, double along_n) {
  const double share = std::min(std::abs(along_n) / std::max(along_max_n, kLeast_n), 1.0);
  if (share == 0.0) return 0.0;
  double slip = 0.0;
  if (tyre.law == Tyre::kBrush) {
    // share = 1 - (1 - t)^3
    slip = 3.0 * along_max_n / stiffness_n * (1.0 - math::pow(1.0 - share, 1.0 / 3.0));
  } else if (tyre.law == Tyre::kMagicFormula && tyre.curve.c > 1.0) {
    const double bent = math::tan(math::asin(share) / tyre.curve.c);
    // Invert x - e (x - atan x) = bent; its slope is at least 1 - max(e, 0) and it bends but once on either side.
    double x = bent;
    for (int i = 0; i < 30; ++i) {
      const double slope = 1.0 - tyre.curve.e * (1.0 - 1.0 / (1.0 + x * x));
      const double off = x - tyre.curve.e * (x - math::atan(x)) - bent;
      if (slope < 1e-3 || std::abs(off) < 1e-14) break;
      x -= off / slope;
    }
    slip = x / tyre.curve.b;
  } else {
    slip = share * along_max_n / stiffness_n;
  }
  return std::copysign(slip, along_n);
}

}  // namespace pitwall::plant

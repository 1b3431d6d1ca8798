// SPDX-License-Identifier: Apache-2.0
// Elementary functions whose bits do not depend on the C library, compiler, optimisation level or processor.
// glibc picks variants by processor (with and without fused multiply-add), so the same program can give other last
// bits on another machine; everything that enters a simulated state uses these instead. sqrt, floor, fmod and
// remainder are exact by IEEE 754 and are taken from <cmath>.
// All of them: within 1 ulp of the true value (measured against MPFR: 0.9 ulp at worst for tan, 0.75 for sin, cos and
// subnormal results, 0.53 for the others), NaN for NaN, and the IEEE limits at infinities and signed zeros.
#pragma once

#include <limits>

namespace pitwall::math {

inline constexpr double kPi = 3.14159265358979323846;
inline constexpr double kDegree = kPi / 180.0;  ///< rad
inline constexpr double kStandardGravity_mps2 = 9.80665;
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr float kInfinityF = std::numeric_limits<float>::infinity();

constexpr double degrees(double rad) { return rad * 180.0 / kPi; }

struct SinCos {
  double sin;
  double cos;
};

/// Sine and cosine of x rad together (one argument reduction). Any finite x; NaN for infinities.
SinCos sincos(double x);
double sin(double x);
double cos(double x);
double tan(double x);
/// In [-pi/2, pi/2]; NaN outside [-1, 1].
double asin(double x);
/// In [0, pi]; NaN outside [-1, 1].
double acos(double x);
double atan(double x);
/// Angle of the vector (x, y) in [-pi, pi], with the signs of zero of IEEE 754 (atan2(-0, -1) = -pi).
double atan2(double y, double x);
double exp(double x);
/// Natural logarithm; -inf at 0, NaN below.
double log(double x);
/// x to the power y with the special cases of IEEE 754 (pow(x, 0) = 1, negative x only with integral y).
double pow(double x, double y);
/// sqrt(x^2 + y^2) without intermediate overflow.
double hypot(double x, double y);

}  // namespace pitwall::math

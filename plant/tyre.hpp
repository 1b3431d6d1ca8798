// SPDX-License-Identifier: Apache-2.0
// What a tyre gives for a slip, inside the friction circle of its axle.
//
// An axle under the load F_z can pass the force G = mu D F_z to the floor in any direction (D = 1 unless a measured curve
// says otherwise). Drive and brake take F_x of it; sideways at most G_y = sqrt(G^2 - F_x^2) is left. With the lateral slip
// s (the sine of the slip angle) and the cornering stiffness K = mu C F_z:
//   brush          F_y = K s (1 - t + t^2 / 3) for t = K |s| / (3 G_y) < 1, else G_y.
//                  Fromm and Fiala's brush of parabolic pressure (Pacejka, "Tire and Vehicle Dynamics", 3rd ed., 3.2.1),
//                  derated by F_x as Hindiyeh and Gerdes do (J. Dyn. Sys. Meas. Control 136, 2014, eq. 6 to 8).
//   magic formula  F_y = G_y sin(C atan(B s - E (B s - atan(B s)))) (Pacejka, 4.E), K = B C mu D F_z.
// The slip enters as a sine, not as an angle: it stays bounded when the axle moves sideways, and the difference is a sixth
// of the angle cubed.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace pitwall::plant {

/// Which law the tyres follow.
enum class Tyre : std::uint8_t {
  kLinear,       ///< side force in proportion to the slip angle, without a limit (single_track.hpp)
  kBrush,        ///< saturates at the circle, from cornering stiffness and friction alone
  kMagicFormula  ///< a measured curve: needs the car's magic_* coefficients
};
inline constexpr std::array<std::string_view, 3> kTyreNames = {"linear", "brush", "magic_formula"};

/// Shape of a Magic Formula curve; d is per load, on a surface of friction 1.
struct MagicFormula {
  double b = 0.0;
  double c = 0.0;
  double d = 0.0;
  double e = 0.0;
  [[nodiscard]] bool given() const { return b > 0.0 && c > 0.0 && d > 0.0; }
};

/// The tyres of one axle.
struct AxleTyre {
  Tyre law = Tyre::kBrush;
  double grip = 1.0;       ///< G / F_z: mu, times d of a Magic Formula
  double stiffness = 5.0;  ///< K / F_z, 1/rad: mu C, or b c times the grip
  MagicFormula curve;      ///< of Tyre::kMagicFormula
};

/// sin(C atan(B s - E (B s - atan(B s)))), in [-1, 1].
double magic_share(const MagicFormula& curve, double slip);

/// Side force in N with the sign of the slip; never beyond `across_max_n`. `stiffness_n` = K, `across_max_n` = G_y >= 0.
inline double side_force(const AxleTyre& tyre, double stiffness_n, double across_max_n, double slip) {
  if (tyre.law == Tyre::kMagicFormula) return across_max_n * magic_share(tyre.curve, slip);
  const double linear = stiffness_n * slip;
  if (tyre.law == Tyre::kLinear) return linear;
  const double full = 3.0 * across_max_n;
  if (std::abs(linear) >= full) return std::copysign(across_max_n, linear);
  const double t = std::abs(linear) / full;
  return linear * (1.0 - t * (1.0 - t * (1.0 / 3.0)));
}

/// Slip ratio (wheel speed over ground speed, less 1) at which the wheels of the axle pass on the force `along_n`, given K,
/// what the side force leaves of the circle, and the law: the inverse of side_force. At the edge of the circle and beyond it
/// the slip at which the force just saturates.
double slip_ratio(const AxleTyre& tyre, double stiffness_n, double along_max_n, double along_n);

}  // namespace pitwall::plant

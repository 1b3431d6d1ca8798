// SPDX-License-Identifier: Apache-2.0
#include "plant/tyre.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>

namespace pitwall::plant {
namespace {

AxleTyre brush() { return {Tyre::kBrush, 0.8, 0.8 * 5.0, {}}; }

// Front and rear of the ForzaETH car NUC2 (shared/data/maps/forzaeth/NUC2_pacejka.yaml).
constexpr MagicFormula kNuc2Front = {4.798521440254997, 2.1640281784621833, 0.6502296853018044, 0.3732212044732381};
constexpr MagicFormula kNuc2Rear = {19.999999999999996, 1.4999999999999998, 0.6184183350099146, 1.1322308905491715e-16};

AxleTyre measured(const MagicFormula& curve) { return {Tyre::kMagicFormula, 0.9 * curve.d, 0.9 * curve.d * curve.b * curve.c, curve}; }

double textbook(const MagicFormula& m, double s) {
  const long double x = static_cast<long double>(m.b) * s;
  return static_cast<double>(std::sin(m.c * std::atan(x - m.e * (x - std::atan(x)))));
}

}  // namespace

TEST_CASE("a slip that is no number gives a force that is none, whatever the law") {
  for (const AxleTyre& tyre : {brush(), measured(kNuc2Front), measured(kNuc2Rear)})
    CHECK(std::isnan(side_force(tyre, 90.0, 15.0, std::nan(""))));
}

TEST_CASE("the brush starts with its stiffness, is full at three times the friction over it, and stays there") {
  const double stiffness = 90.0;
  const double most = 15.0;
  CHECK(side_force(brush(), stiffness, most, 1e-9) == doctest::Approx(90e-9).epsilon(1e-8));
  const double full = 3.0 * most / stiffness;
  CHECK(side_force(brush(), stiffness, most, full * (1.0 - 1e-9)) == doctest::Approx(most).epsilon(1e-12));
  CHECK(side_force(brush(), stiffness, most, full) == most);
  CHECK(side_force(brush(), stiffness, most, 1.0) == most);
  // Half way: 1 - (1/2)^3.
  CHECK(side_force(brush(), stiffness, most, 0.5 * full) == doctest::Approx(0.875 * most).epsilon(1e-14));
  CHECK(side_force(brush(), stiffness, 0.0, 0.1) == 0.0);
  CHECK(side_force(brush(), stiffness, 0.0, 0.0) == 0.0);
}

TEST_CASE("the Magic Formula is the textbook's to a part in 1e13, on the measured curves of a real car") {
  for (const MagicFormula& curve : {kNuc2Front, kNuc2Rear, MagicFormula{10.0, 2.0, 1.0, -3.0}, MagicFormula{30.0, 2.9, 1.0, -5.0}}) {
    for (int i = -2000; i <= 2000; ++i) {
      const double slip = i / 2000.0;
      CHECK(std::abs(magic_share(curve, slip) - textbook(curve, slip)) < 1e-13);
    }
    // Its slope at the origin is the stiffness.
    CHECK(side_force(measured(curve), curve.b * curve.c * 10.0, 10.0, 1e-7) ==
          doctest::Approx(curve.b * curve.c * 10.0 * 1e-7).epsilon(1e-6));
  }
}

TEST_CASE("a force is odd in its slip to the bit, whatever the law") {
  for (const AxleTyre& tyre : {brush(), measured(kNuc2Front), measured(kNuc2Rear), AxleTyre{Tyre::kLinear, 1, 1, {}}}) {
    for (const double slip : {1e-12, 0.01, 0.1, 0.3, 0.9})
      CHECK(side_force(tyre, 80.0, 14.0, slip) == -side_force(tyre, 80.0, 14.0, -slip));
  }
}

TEST_CASE("slip_ratio undoes the law up to the edge of the circle, in both directions") {
  for (const AxleTyre& tyre : {brush(), measured(kNuc2Front), measured(kNuc2Rear)}) {
    const double most = 14.0;
    const double stiffness = tyre.law == Tyre::kBrush ? 80.0 : tyre.curve.b * tyre.curve.c * most;
    for (const double share : {-0.99, -0.5, -1e-6, 1e-6, 0.1, 0.5, 0.9, 0.99}) {
      const double slip = slip_ratio(tyre, stiffness, most, share * most);
      CHECK(side_force(tyre, stiffness, most, slip) == doctest::Approx(share * most).epsilon(1e-9));
    }
    CHECK(slip_ratio(tyre, stiffness, most, 0.0) == 0.0);
    CHECK(std::isfinite(slip_ratio(tyre, stiffness, most, 20.0)));
    CHECK(std::isfinite(slip_ratio(tyre, stiffness, 0.0, 0.0)));
    CHECK(slip_ratio(tyre, stiffness, most, 20.0) == slip_ratio(tyre, stiffness, most, most));
  }
}

}  // namespace pitwall::plant

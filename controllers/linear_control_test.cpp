// SPDX-License-Identifier: Apache-2.0
#include "controllers/linear_control.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "core/math.hpp"

namespace pitwall::controllers {
namespace {

Matrix of(std::size_t rows, std::size_t cols, std::initializer_list<double> values) {
  Matrix m(rows, cols);
  std::size_t k = 0;
  for (const double v : values) {
    m(k / cols, k % cols) = v;
    ++k;
  }
  return m;
}

bool near(const Matrix& a, const Matrix& b, double relative = 1e-12) { return (a - b).norm() <= relative * (b.norm() + 1e-300); }

/// A double integrator held over h.
Discrete double_integrator(double h) { return {of(2, 2, {1, h, 0, 1}), of(2, 1, {0.5 * h * h, h})}; }

}  // namespace

TEST_CASE("a linear system is solved, a singular one refused") {
  const Matrix a = of(3, 3, {0, 2, 1, 1, -2, -3, -1, 1, 2});
  const Matrix x = of(3, 2, {1, 4, 2, 5, 3, 6});
  CHECK(near(solve(a, a * x).value(), x));
  CHECK(!solve(of(2, 2, {1, 2, 2, 4}), Matrix::identity(2)).has_value());
  CHECK(!solve(of(1, 1, {NAN}), Matrix::identity(1)).has_value());
}

TEST_CASE("the exponential: diagonal, nilpotent, rotation, and e^A e^-A = 1 for a large one") {
  CHECK(near(exponential(of(2, 2, {2, 0, 0, -3})), of(2, 2, {math::exp(2.0), 0, 0, math::exp(-3.0)})));
  CHECK(near(exponential(of(2, 2, {0, 7, 0, 0})), of(2, 2, {1, 7, 0, 1})));
  const double t = 1.1;
  CHECK(near(exponential(of(2, 2, {0, -t, t, 0})), of(2, 2, {math::cos(t), -math::sin(t), math::sin(t), math::cos(t)})));
  const Matrix a = of(3, 3, {-20, 3, 1, 0.5, -9, 2, 4, 1, -5});
  CHECK(near(exponential(a) * exponential(-1.0 * a), Matrix::identity(3), 1e-6));
  CHECK(near(exponential(2.0 * a), exponential(a) * exponential(a), 1e-11));
}

TEST_CASE("the zero-order hold of a double integrator and of a lag are their closed forms") {
  const double h = 0.04;
  const Discrete d = zero_order_hold({of(2, 2, {0, 1, 0, 0}), of(2, 1, {0, 1})}, h);
  CHECK(near(d.a, double_integrator(h).a));
  CHECK(near(d.b, double_integrator(h).b));
  const Discrete lag = zero_order_hold({of(1, 1, {-25}), of(1, 1, {25})}, h);
  CHECK(std::abs(lag.a(0, 0) - math::exp(-1.0)) < 1e-15);
  CHECK(std::abs(lag.b(0, 0) - (1.0 - math::exp(-1.0))) < 1e-15);
}

TEST_CASE("a delayed input acts when it is due: the step response shifted by the delay, whole periods or not") {
  const Continuous lag{of(1, 1, {-4}), of(1, 1, {4})};
  const double h = 0.02;
  for (const double delay : {0.0, 0.005, 0.02, 0.033, 0.1}) {
    const Discrete d = delayed_hold(lag, h, delay);
    CHECK(d.a.rows() == 1 + static_cast<std::size_t>(std::ceil(delay / h - 1e-9)));
    Matrix x(d.a.rows(), 1);
    for (int k = 1; k <= 20; ++k) {
      x = d.a * x + d.b;
      const double since = k * h - delay;
      const double expected = since > 0.0 ? 1.0 - math::exp(-4.0 * since) : 0.0;
      CHECK(std::abs(x(0, 0) - expected) < 1e-13);
    }
  }
}

TEST_CASE("the regulator of a scalar is the root of its quadratic") {
  for (const double a : {0.5, 1.0, 1.3}) {
    for (const double r : {0.01, 1.0, 100.0}) {
      const double b = 0.7;
      const double q = 2.0;
      // p = a^2 p - (a b p)^2 / (r + b^2 p) + q.
      const double half = 0.5 * (r * (1.0 - a * a) - b * b * q);
      const double p = (-half + std::sqrt(half * half + b * b * q * r)) / (b * b);
      const auto found = regulator({of(1, 1, {a}), of(1, 1, {b})}, of(1, 1, {q}), of(1, 1, {r}));
      REQUIRE(found.has_value());
      CHECK(std::abs(found->cost(0, 0) - p) < 1e-12 * p);
      CHECK(std::abs(found->gain(0, 0) - a * b * p / (r + b * b * p)) < 1e-12);
      CHECK(found->residual < 1e-12);
    }
  }
}

TEST_CASE("the regulator of a double integrator, fine steps: sqrt(q / r) and sqrt(2 sqrt(q / r))") {
  const double h = 1e-4;
  const double q = 4.0;
  const auto found = regulator(double_integrator(h), of(2, 2, {q * h, 0, 0, 0}), of(1, 1, {h}));
  REQUIRE(found.has_value());
  CHECK(std::abs(found->gain(0, 0) - 2.0) < 1e-3);
  CHECK(std::abs(found->gain(0, 1) - 2.0) < 1e-3);
}

TEST_CASE("the regulator is what endless backward recursion of the cost comes to") {
  const Discrete d = delayed_hold({of(3, 3, {0, 5, 0, 0, 0, 5, 0, 0, -25}), of(3, 1, {0, 0, 25})}, 0.025, 0.06);
  Matrix q(d.a.rows(), d.a.rows());
  q(0, 0) = 3.0;
  q(1, 1) = 1.0;
  const Matrix r = of(1, 1, {0.2});
  Matrix p = q;
  Matrix k;
  for (int i = 0; i < 4000; ++i) {
    k = solve(r + d.b.transposed() * p * d.b, d.b.transposed() * p * d.a).value();
    p = d.a.transposed() * p * (d.a - d.b * k) + q;
  }
  const auto found = regulator(d, q, r);
  REQUIRE(found.has_value());
  CHECK(near(found->cost, p, 1e-10));
  CHECK(near(found->gain, k, 1e-10));
  CHECK(found->iterations < 20);
}

TEST_CASE("the gains of a delayed input are those of the undelayed one on the state it will meet") {
  // K [A^m, A^(m-1) B, ..., B]: known for pure input delay.
  const Continuous car{of(3, 3, {0, 5, 0, 0, 0, 12, 0, 0, -25}), of(3, 1, {0, 0, 25})};
  const double h = 0.025;
  const Matrix r = of(1, 1, {0.2});
  Matrix q(3, 3);
  q(0, 0) = 3.0;
  q(1, 1) = 1.0;
  const Discrete plain = zero_order_hold(car, h);
  const Matrix k = regulator(plain, q, r)->gain;
  const Discrete late = delayed_hold(car, h, 2.0 * h);
  Matrix q_late(5, 5);
  q_late.set(0, 0, q);
  const Matrix found = regulator(late, q_late, r)->gain;
  CHECK(near(found.part(0, 0, 1, 3), k * plain.a * plain.a, 1e-9));
  CHECK(std::abs(found(0, 3) - (k * plain.b)(0, 0)) < 1e-9);
  CHECK(std::abs(found(0, 4) - (k * plain.a * plain.b)(0, 0)) < 1e-9);
}

TEST_CASE("what cannot be regulated is refused") {
  // An unstable mode that the input does not reach, and one on the unit circle that costs nothing.
  CHECK(!regulator({of(2, 2, {1.2, 0, 0, 0.5}), of(2, 1, {0, 1})}, Matrix::identity(2), Matrix::identity(1)).has_value());
  CHECK(!regulator({of(1, 1, {1}), of(1, 1, {1})}, of(1, 1, {0}), Matrix::identity(1)).has_value());
  CHECK(!regulator({of(1, 1, {1}), of(1, 1, {1})}, of(1, 1, {1}), of(1, 1, {0})).has_value());
}

TEST_CASE("spectral radii: triangular, rotation, nilpotent, barely stable and barely not") {
  CHECK(std::abs(spectral_radius(of(2, 2, {0.5, 100, 0, -0.9})) - 0.9) < 1e-5);
  CHECK(std::abs(spectral_radius(of(2, 2, {0, -1.1, 1.1, 0})) - 1.1) < 1e-6);
  CHECK(spectral_radius(of(2, 2, {0, 1, 0, 0})) == 0.0);
  CHECK(spectral_radius(of(2, 2, {0.9999, 1, 0, 0.9999})) < 1.0);
  CHECK(spectral_radius(of(2, 2, {1.0001, 1, 0, 0.9})) > 1.0);
}

}  // namespace pitwall::controllers

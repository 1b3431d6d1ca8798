// SPDX-License-Identifier: Apache-2.0
#include "controllers/qp/dual_active_set.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/math.hpp"

namespace pitwall::controllers::qp {

namespace {

// A pivot this small against its own diagonal has lost all its digits.
constexpr double kSmallestPivot = 1e-12;
// A row this near, as a sine, to the span of the active ones is one of their combinations.
constexpr double kDependent = 1e-10;
// What the check asks of a solution.
constexpr double kCheck = 1e-7;

double product(const double* a, const double* b, std::size_t n) {
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// The power of two next below 1 / v; 1 for 0.
double power_below(double v) {
  if (!(v > 0.0)) return 1.0;
  int exponent = 0;
  static_cast<void>(std::frexp(v, &exponent));
  return std::ldexp(1.0, std::clamp(-exponent, -1000, 1000));
}

bool finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

struct Rotation {
  double c = 1.0;
  double s = 0.0;
};

// Turns (a, b) into (length, 0).
Rotation rotation(double& a, double& b) {
  const double length = std::sqrt(a * a + b * b);
  if (length == 0.0) return {};
  const Rotation turn{a / length, b / length};
  a = length;
  b = 0.0;
  return turn;
}

void rotate(const Rotation& turn, double* a, double* b, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const double first = turn.c * a[i] + turn.s * b[i];
    b[i] = turn.c * b[i] - turn.s * a[i];
    a[i] = first;
  }
}

}  // namespace

std::string_view name(Status status) {
  switch (status) {
    case Status::kSolved:
      return "solved";
    case Status::kInfeasible:
      return "infeasible";
    case Status::kIterationLimit:
      return "iteration_limit";
    case Status::kNotConvex:
      return "not_convex";
    case Status::kBadInput:
      return "bad_input";
    case Status::kInaccurate:
      return "inaccurate";
  }
  return "unknown";
}

DualActiveSet::DualActiveSet(std::size_t variables_max, std::size_t rows_max)
    : n_max_(variables_max),
      m_max_(rows_max),
      scale_(variables_max),
      row_scale_(rows_max),
      l_(variables_max * variables_max),
      g_(variables_max),
      a_(variables_max * rows_max),
      lower_(rows_max),
      upper_(rows_max),
      x_(variables_max),
      j_(variables_max * variables_max),
      r_(variables_max * variables_max),
      set_(variables_max),
      u_(variables_max + 1),
      in_set_(rows_max),
      d_(variables_max),
      z_(variables_max),
      back_(variables_max),
      multipliers_(rows_max) {}

Status DualActiveSet::solve(const Problem& problem, const Settings& settings) {
  solved_ = false;
  iterations_ = 0;
  active_ = 0;
  residuals_ = {};
  if (!take_in(problem)) return Status::kBadInput;
  for (std::size_t i = 0; i < m_; ++i) {
    if (lower_[i] > upper_[i]) return Status::kInfeasible;
  }
  if (!factorise()) return Status::kNotConvex;
  start();
  if (const Status status = take_equations(settings); status != Status::kSolved) return status;
  for (Side worst; most_violated(settings.tolerance, worst);) {
    if (const Status status = add(worst, settings); status != Status::kSolved) return status;
  }
  polish();
  check(problem);
  if (!residuals_.within(kCheck)) return Status::kInaccurate;
  solved_ = true;
  return Status::kSolved;
}

bool DualActiveSet::take_in(const Problem& p) {
  n_ = p.gradient.size();
  m_ = p.lower.size();
  if (n_ == 0 || n_ > n_max_ || m_ > m_max_ || p.hessian.size() != n_ * n_ || p.rows.size() != m_ * n_ || p.upper.size() != m_) {
    return false;
  }
  if (!finite(p.hessian) || !finite(p.gradient) || !finite(p.rows)) return false;
  for (std::size_t i = 0; i < m_; ++i) {
    if (std::isnan(p.lower[i]) || std::isnan(p.upper[i]) || p.lower[i] == math::kInfinity || p.upper[i] == -math::kInfinity) return false;
  }
  // Variables are scaled so that the diagonal of H lies within [1/4, 1), rows so that their length lies within [1/2, 1).
  for (std::size_t i = 0; i < n_; ++i) scale_[i] = power_below(std::sqrt(std::max(0.0, p.hessian[i * n_ + i])));
  for (std::size_t i = 0; i < n_; ++i) {
    for (std::size_t k = 0; k <= i; ++k) l_[i * n_ + k] = p.hessian[i * n_ + k] * scale_[i] * scale_[k];
    g_[i] = p.gradient[i] * scale_[i];
  }
  for (std::size_t i = 0; i < m_; ++i) {
    double largest = 0.0;
    for (std::size_t k = 0; k < n_; ++k) {
      a_[i * n_ + k] = p.rows[i * n_ + k] * scale_[k];
      largest = std::max(largest, std::abs(a_[i * n_ + k]));
    }
    double square = 0.0;
    const double first = power_below(largest);
    for (std::size_t k = 0; k < n_; ++k) square += (a_[i * n_ + k] * first) * (a_[i * n_ + k] * first);
    row_scale_[i] = first * power_below(std::sqrt(square));
    for (std::size_t k = 0; k < n_; ++k) a_[i * n_ + k] *= row_scale_[i];
    lower_[i] = p.lower[i] * row_scale_[i];
    upper_[i] = p.upper[i] * row_scale_[i];
  }
  return true;
}

// H = L L' in place, and J = inv(L)': its column k is row k of j_.
bool DualActiveSet::factorise() {
  for (std::size_t i = 0; i < n_; ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      l_[i * n_ + k] = (l_[i * n_ + k] - product(&l_[i * n_], &l_[k * n_], k)) / l_[k * n_ + k];
    }
    const double diagonal = l_[i * n_ + i];
    const double pivot = diagonal - product(&l_[i * n_], &l_[i * n_], i);
    if (!(diagonal > 0.0) || !(pivot > kSmallestPivot * diagonal)) return false;
    l_[i * n_ + i] = std::sqrt(pivot);
  }
  // Row k of j_ holds the column e_k of inv(L)', that is row k of inv(L): solve X L = I, from the diagonal to the left.
  for (std::size_t k = 0; k < n_; ++k) {
    double* row = j(k);
    std::fill(row, row + n_, 0.0);
    row[k] = 1.0 / l_[k * n_ + k];
    for (std::size_t c = k; c-- > 0;) {
      double sum = 0.0;
      for (std::size_t i = c + 1; i <= k; ++i) sum += row[i] * l_[i * n_ + c];
      row[c] = -sum / l_[c * n_ + c];
    }
  }
  return true;
}

// The unconstrained minimum x = -J J' g.
void DualActiveSet::start() {
  std::fill(in_set_.begin(), in_set_.begin() + static_cast<std::ptrdiff_t>(m_), false);
  std::fill(x_.begin(), x_.begin() + static_cast<std::ptrdiff_t>(n_), 0.0);
  for (std::size_t k = 0; k < n_; ++k) {
    const double step = product(j(k), g_.data(), n_);
    for (std::size_t i = 0; i < n_; ++i) x_[i] -= step * j(k)[i];
  }
  x_size_ = 0.0;
  measure_x();
}

void DualActiveSet::measure_x() {
  for (std::size_t i = 0; i < n_; ++i) x_size_ = std::max(x_size_, std::abs(x_[i]));
}

double DualActiveSet::value(std::size_t row) const { return product(&a_[row * n_], x_.data(), n_); }

Status DualActiveSet::take_equations(const Settings& settings) {
  for (std::size_t i = 0; i < m_; ++i) {
    if (lower_[i] != upper_[i]) continue;
    const double sign = value(i) <= lower_[i] ? 1.0 : -1.0;
    if (const Status status = add({i, sign, true}, settings); status != Status::kSolved) return status;
  }
  return Status::kSolved;
}

// The row missed by most, of the first ones of equal misses.
bool DualActiveSet::most_violated(double tolerance, Side& worst) const {
  double most = 0.0;
  for (std::size_t i = 0; i < m_; ++i) {
    if (in_set_[i] || lower_[i] == upper_[i]) continue;
    const double v = value(i);
    const Side side{i, lower_[i] - v >= v - upper_[i] ? 1.0 : -1.0, false};
    const double missed = side.sign * (bound(side) - v);
    if (missed > most && missed > tolerance * (x_size_ + std::abs(bound(side)))) {
      most = missed;
      worst = side;
    }
  }
  return most > 0.0;
}

// d = J' n; z, the way in x that frees the row and keeps the active ones; back_ = inv(R) d, what it costs their multipliers.
void DualActiveSet::directions(const Side& side) {
  const double* row = &a_[side.row * n_];
  for (std::size_t k = 0; k < n_; ++k) d_[k] = side.sign * product(j(k), row, n_);
  std::fill(z_.begin(), z_.begin() + static_cast<std::ptrdiff_t>(n_), 0.0);
  for (std::size_t k = active_; k < n_; ++k) {
    for (std::size_t i = 0; i < n_; ++i) z_[i] += d_[k] * j(k)[i];
  }
  for (std::size_t i = active_; i-- > 0;) {
    double sum = d_[i];
    for (std::size_t k = i + 1; k < active_; ++k) sum -= r(i, k) * back_[k];
    back_[i] = sum / r(i, i);
  }
}

Status DualActiveSet::add(const Side& side, const Settings& settings) {
  double multiplier = 0.0;
  for (;;) {
    if (++iterations_ > settings.max_iterations) return Status::kIterationLimit;
    directions(side);
    const double all = product(d_.data(), d_.data(), n_);
    const double free = product(&d_[0] + active_, &d_[0] + active_, n_ - active_);
    const bool dependent = active_ == n_ || free <= kDependent * kDependent * all;
    const double missed = std::max(0.0, violation(side));
    // An equation that the others already imply has nothing to add.
    if (side.equation && dependent && missed <= settings.tolerance * (x_size_ + std::abs(bound(side)))) return Status::kSolved;
    // How far until a multiplier would change its sign: that row lets go.
    double partial = math::kInfinity;
    std::size_t blocking = 0;
    for (std::size_t i = 0; i < active_; ++i) {
      if (set_[i].equation || !(back_[i] > 0.0)) continue;
      if (const double t = u_[i] / back_[i]; t < partial) {
        partial = t;
        blocking = i;
      }
    }
    const double full = dependent ? math::kInfinity : missed / free;
    const double t = std::min(partial, full);
    if (t == math::kInfinity) return Status::kInfeasible;
    for (std::size_t i = 0; i < active_; ++i) u_[i] -= t * back_[i];
    multiplier += t;
    if (!dependent) {
      for (std::size_t i = 0; i < n_; ++i) x_[i] += t * z_[i];
      measure_x();
    }
    if (full <= partial) {
      put_in(side, multiplier);
      return Status::kSolved;
    }
    drop(blocking);
  }
}

void DualActiveSet::put_in(const Side& side, double multiplier) {
  for (std::size_t k = n_ - 1; k > active_; --k) {
    const Rotation turn = rotation(d_[k - 1], d_[k]);
    rotate(turn, j(k - 1), j(k), n_);
  }
  for (std::size_t i = 0; i <= active_; ++i) r(i, active_) = d_[i];
  set_[active_] = side;
  u_[active_] = multiplier;
  in_set_[side.row] = true;
  ++active_;
}

void DualActiveSet::drop(std::size_t place) {
  in_set_[set_[place].row] = false;
  --active_;
  for (std::size_t k = place; k < active_; ++k) {
    set_[k] = set_[k + 1];
    u_[k] = u_[k + 1];
    for (std::size_t i = 0; i <= k + 1; ++i) r(i, k) = r(i, k + 1);
    const Rotation turn = rotation(r(k, k), r(k + 1, k));
    for (std::size_t c = k + 1; c < active_; ++c) {
      // Column c still lies one place to the right.
      const double first = turn.c * r(k, c + 1) + turn.s * r(k + 1, c + 1);
      r(k + 1, c + 1) = turn.c * r(k + 1, c + 1) - turn.s * r(k, c + 1);
      r(k, c + 1) = first;
    }
    rotate(turn, j(k), j(k + 1), n_);
  }
}

// Solution and multipliers anew from the active rows: what the steps have lost in digits comes back.
void DualActiveSet::polish() {
  // R' w = bounds of the active rows; x = J1 w - J2 J2' g; multipliers inv(R) (w + J1' g).
  for (std::size_t i = 0; i < active_; ++i) {
    const Side& side = set_[i];
    double sum = side.sign * bound(side);
    for (std::size_t k = 0; k < i; ++k) sum -= r(k, i) * d_[k];
    d_[i] = sum / r(i, i);
  }
  for (std::size_t k = 0; k < n_; ++k) {
    const double along = product(j(k), g_.data(), n_);
    z_[k] = k < active_ ? d_[k] : -along;
    back_[k] = k < active_ ? d_[k] + along : 0.0;
  }
  std::fill(x_.begin(), x_.begin() + static_cast<std::ptrdiff_t>(n_), 0.0);
  for (std::size_t k = 0; k < n_; ++k) {
    for (std::size_t i = 0; i < n_; ++i) x_[i] += z_[k] * j(k)[i];
  }
  std::fill(multipliers_.begin(), multipliers_.begin() + static_cast<std::ptrdiff_t>(m_), 0.0);
  for (std::size_t i = active_; i-- > 0;) {
    for (std::size_t k = i + 1; k < active_; ++k) back_[i] -= r(i, k) * back_[k];
    back_[i] /= r(i, i);
  }
  for (std::size_t i = 0; i < active_; ++i) multipliers_[set_[i].row] = set_[i].sign * back_[i];
}

// Against the problem as it was given, in the scaled units; then the answer in the caller's.
void DualActiveSet::check(const Problem& p) {
  double size = std::numeric_limits<double>::min();
  double worst = 0.0;
  for (std::size_t i = 0; i < n_; ++i) {
    double sum = g_[i];
    double terms = std::abs(g_[i]);
    for (std::size_t k = 0; k < n_; ++k) {
      const double term = (k <= i ? p.hessian[i * n_ + k] : p.hessian[k * n_ + i]) * scale_[i] * scale_[k] * x_[k];
      sum += term;
      terms += std::abs(term);
    }
    for (std::size_t a = 0; a < active_; ++a) {
      const double term = a_[set_[a].row * n_ + i] * multipliers_[set_[a].row];
      sum -= term;
      terms += std::abs(term);
    }
    worst = std::max(worst, std::abs(sum));
    size = std::max(size, terms);
  }
  residuals_.stationarity = worst / size;
  for (std::size_t a = 0; a < active_; ++a) {
    const Side& side = set_[a];
    if (!side.equation) residuals_.sign = std::max(residuals_.sign, -side.sign * multipliers_[side.row] / size);
  }
  measure_x();
  for (std::size_t i = 0; i < m_; ++i) {
    for (const double sign : {1.0, -1.0}) {
      const Side side{i, sign, false};
      const double missed = violation(side);
      if (missed > 0.0) residuals_.rows = std::max(residuals_.rows, missed / (x_size_ + std::abs(bound(side))));
    }
  }
  // Comparisons with what is no number are all false: it must not look like a solution.
  if (!finite({x_.data(), n_}) || !finite({multipliers_.data(), m_})) residuals_.stationarity = math::kInfinity;
  for (std::size_t i = 0; i < n_; ++i) x_[i] *= scale_[i];
  for (std::size_t i = 0; i < m_; ++i) multipliers_[i] *= row_scale_[i];
}

}  // namespace pitwall::controllers::qp

// SPDX-License-Identifier: Apache-2.0
#include "calibration/fit/objective.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "calibration/fit/parallel.hpp"

namespace pitwall::fit {
namespace {

/// sqrt(rho) with the sign of r, and its derivative.
struct Robust {
  double value;
  double slope;
};

Robust robust(double r) {
  const double w = std::sqrt(1.0 + r * r / (kLoss * kLoss));
  return {r * std::sqrt(2.0 / (w + 1.0)), std::sqrt(0.5 * (w + 1.0)) / w};
}

}  // namespace

Objective::Objective(const Problem& problem, const std::vector<Parameter>& parameters, std::vector<double> values,
                     std::vector<std::size_t> free, std::vector<double> sigma, std::size_t thin, unsigned jobs)
    : problem_(problem),
      parameters_(parameters),
      values_(std::move(values)),
      free_(std::move(free)),
      sigma_(std::move(sigma)),
      jobs_(jobs) {
  std::size_t number = 0;
  for (std::size_t p = 0; p < problem.pieces.size(); ++p) {
    if (problem.pieces[p].held_out || number++ % thin != 0) continue;
    pieces_.push_back(p);
    offsets_.push_back(data_rows_);
    for (const Row& row : problem.pieces[p].rows) {
      blocks_.push_back(row.block);
      channels_.push_back(row.channel);
    }
    data_rows_ += problem.pieces[p].rows.size();
  }
}

double Objective::low(std::size_t column) const {
  const Parameter& p = parameters_[free_[column]];
  return p.to_unit(p.low);
}

double Objective::high(std::size_t column) const {
  const Parameter& p = parameters_[free_[column]];
  return p.to_unit(p.high);
}

std::vector<double> Objective::values_at(const double* z) const {
  std::vector<double> values = values_;
  for (std::size_t i = 0; i < free_.size(); ++i) values[free_[i]] = parameters_[free_[i]].from_unit(z[i]);
  return values;
}

std::vector<double> Objective::start() const {
  std::vector<double> z;
  for (const std::size_t i : free_) z.push_back(parameters_[i].to_unit(values_[i]));
  return z;
}

/// The car at z, and with `around` the two beside it in each coordinate (one-sided at a bound), and how far those are apart.
void Objective::subjects_around(const double* z, bool around, double step, bool one_sided, std::vector<Subject>& into,
                                std::vector<double>& width) const {
  into.push_back(subject_of(problem_.base, parameters_, values_at(z)));
  if (!around) return;
  std::vector<double> beside(z, z + free_.size());
  for (std::size_t i = 0; i < free_.size(); ++i) {
    const double above = std::min(z[i] + step, high(i));
    const double below = std::max(z[i] - step, low(i));
    if (one_sided) {
      beside[i] = above > z[i] ? above : below;
      into.push_back(subject_of(problem_.base, parameters_, values_at(beside.data())));
      width.push_back(beside[i] - z[i]);
    } else {
      for (const double at : {above, below}) {
        beside[i] = at;
        into.push_back(subject_of(problem_.base, parameters_, values_at(beside.data())));
      }
      width.push_back(above - below);
    }
    beside[i] = z[i];
  }
}

bool Objective::piece_rows(std::size_t piece, const std::vector<Subject>& subjects, Played& scratch, std::vector<double>& into) const {
  const Piece& p = problem_.pieces[piece];
  into.resize(subjects.size() * p.rows.size());
  for (std::size_t s = 0; s < subjects.size(); ++s) {
    double* rows = into.data() + s * p.rows.size();
    if (const Status status = residuals_of(problem_, p, subjects[s], scratch, rows); !status) return false;
    for (std::size_t i = 0; i < p.rows.size(); ++i) rows[i] /= sigma_[p.rows[i].channel];
  }
  return true;
}

bool Objective::evaluate(const double* z, double* f, double* jacobian, double step, bool one_sided) {
  std::vector<Subject> subjects;
  std::vector<double> width;
  subjects_around(z, jacobian != nullptr, step, one_sided, subjects, width);
  const std::size_t n = free_.size();
  const unsigned workers = jobs_ == 0 ? std::max(1U, std::thread::hardware_concurrency()) : jobs_;
  std::vector<Played> scratch(workers);
  std::vector<std::vector<double>> rows(workers);
  std::atomic<bool> good{true};
  side_by_side(pieces_.size(), workers, [&](std::size_t item, std::size_t worker) {
    if (!good || !piece_rows(pieces_[item], subjects, scratch[worker], rows[worker])) {
      good = false;
      return;
    }
    const std::size_t count = problem_.pieces[pieces_[item]].rows.size();
    for (std::size_t i = 0; i < count; ++i) {
      const double* r = rows[worker].data() + i;
      const Robust here = robust(r[0]);
      f[offsets_[item] + i] = here.value;
      if (jacobian == nullptr) continue;
      double* row = jacobian + (offsets_[item] + i) * n;
      for (std::size_t j = 0; j < n; ++j) {
        const double change = one_sided ? r[(j + 1) * count] - r[0] : r[(2 * j + 1) * count] - r[(2 * j + 2) * count];
        row[j] = here.slope * change / width[j];
      }
    }
  });
  simulations_ += subjects.size() * pieces_.size();
  if (!good) return false;
  for (std::size_t i = 0; i < n; ++i) {
    f[data_rows_ + i] = z[i];
    if (jacobian == nullptr) continue;
    for (std::size_t j = 0; j < n; ++j) jacobian[(data_rows_ + i) * n + j] = i == j ? 1.0 : 0.0;
  }
  return true;
}

bool Objective::raw_residuals(const double* z, std::vector<double>& into) {
  const Subject subject = subject_of(problem_.base, parameters_, values_at(z));
  into.resize(data_rows_);
  const unsigned workers = jobs_ == 0 ? std::max(1U, std::thread::hardware_concurrency()) : jobs_;
  std::vector<Played> scratch(workers);
  std::atomic<bool> good{true};
  side_by_side(pieces_.size(), workers, [&](std::size_t item, std::size_t worker) {
    const Status status = residuals_of(problem_, problem_.pieces[pieces_[item]], subject, scratch[worker], into.data() + offsets_[item]);
    if (!status) good = false;
  });
  simulations_ += pieces_.size();
  return good;
}

}  // namespace pitwall::fit

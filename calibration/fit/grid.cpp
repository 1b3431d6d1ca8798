// SPDX-License-Identifier: Apache-2.0
#include "calibration/fit/grid.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "calibration/fit/parallel.hpp"
#include "core/text.hpp"

namespace pitwall::fit {
namespace {

constexpr std::size_t kPortion = 64;  // combinations between two looks at the clock of the user

/// Sums of squares of speed and yaw rate, fitted and held out.
struct Sums {
  double speed = 0.0, yaw = 0.0, held_speed = 0.0, held_yaw = 0.0;
  std::size_t speeds = 0, yaws = 0, held_speeds = 0, held_yaws = 0;
  bool refused = false;
};

bool is_speed(Quantity quantity) { return quantity == Quantity::kSpeed || quantity == Quantity::kWheelSpeed; }

Sums sums_of(const Problem& problem, const Subject& subject, Played& scratch) {
  Sums sums;
  std::vector<double> rows;
  for (const Piece& piece : problem.pieces) {
    rows.resize(piece.rows.size());
    if (!residuals_of(problem, piece, subject, scratch, rows.data())) return Sums{0, 0, 0, 0, 0, 0, 0, 0, true};
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Quantity quantity = problem.channels[piece.rows[i].channel].quantity;
      const double square = rows[i] * rows[i];
      if (is_speed(quantity)) {
        (piece.held_out ? sums.held_speed : sums.speed) += square;
        ++(piece.held_out ? sums.held_speeds : sums.speeds);
      } else if (quantity == Quantity::kYawRate) {
        (piece.held_out ? sums.held_yaw : sums.yaw) += square;
        ++(piece.held_out ? sums.held_yaws : sums.yaws);
      }
    }
  }
  return sums;
}

double root_mean(double sum, std::size_t count) { return count == 0 ? 0.0 : std::sqrt(sum / static_cast<double>(count)); }

double relative(double value, double baseline) { return baseline > 0.0 ? value / baseline : 1.0; }

GridPoint scored(std::vector<double> values, const Sums& sums, const Sums& base) {
  GridPoint point;
  point.values = std::move(values);
  point.speed_rms_mps = root_mean(sums.speed, sums.speeds);
  point.yaw_rate_rms_radps = root_mean(sums.yaw, sums.yaws);
  point.score = 0.5 * (relative(point.speed_rms_mps, root_mean(base.speed, base.speeds)) +
                       relative(point.yaw_rate_rms_radps, root_mean(base.yaw, base.yaws)));
  point.held_score = 0.5 * (relative(root_mean(sums.held_speed, sums.held_speeds), root_mean(base.held_speed, base.held_speeds)) +
                            relative(root_mean(sums.held_yaw, sums.held_yaws), root_mean(base.held_yaw, base.held_yaws)));
  if (sums.refused) point.score = point.held_score = INFINITY;
  return point;
}

/// The values of combination `number`, the last axis changing fastest.
std::vector<double> combination(const std::vector<GridAxis>& axes, std::size_t number, bool& at_edge) {
  std::vector<double> values(axes.size());
  at_edge = false;
  for (std::size_t a = axes.size(); a-- > 0;) {
    const std::size_t size = axes[a].values.size();
    const std::size_t k = number % size;
    values[a] = axes[a].values[k];
    at_edge = at_edge || (size > 1 && (k == 0 || k + 1 == size));
    number /= size;
  }
  return values;
}

}  // namespace

Result<GridAxis> parse_axis(const std::string& text, const std::vector<Parameter>& parameters, double tick_s) {
  const auto equals = text.find('=');
  const std::string where = "--grid " + text + ": ";
  if (equals == std::string::npos) return Error{where + "must be name=v1,v2,..."};
  GridAxis axis;
  axis.given = text.substr(0, equals);
  axis.parameter = axis.given;
  if (axis.given == "speed_delay_ticks" || axis.given == "steering_delay_ticks") {
    axis.parameter = axis.given.substr(0, axis.given.size() - 5) + "s";
    axis.unit = tick_s;
  }
  const Result<std::size_t> index = find_parameter(parameters, axis.parameter);
  if (!index) return Error{where + index.error().message};
  const Parameter& p = parameters[*index];
  for (const std::string_view each : split(std::string_view(text).substr(equals + 1), ',')) {
    const auto value = parse_double(each);
    if (!value) return Error{where + "'" + std::string(each) + "' is no number"};
    const double inside = *value * axis.unit;
    if (!(inside >= p.low && inside <= p.high)) {
      return Error{where + format_number(*value, 5) + ": allowed: " + format_number(p.low / axis.unit, 5) + " .. " +
                   format_number(p.high / axis.unit, 5)};
    }
    axis.values.push_back(*value);
  }
  return axis;
}

Result<Grid> search_grid(const Problem& problem, const std::vector<Parameter>& parameters, std::vector<GridAxis> axes, unsigned jobs,
                         const std::function<bool(double share)>& progress) {
  double combinations = 1.0;
  std::vector<std::size_t> places;
  for (const GridAxis& axis : axes) {
    combinations *= static_cast<double>(axis.values.size());
    const Result<std::size_t> index = find_parameter(parameters, axis.parameter);
    if (!index) return index.error();
    if (std::find(places.begin(), places.end(), *index) != places.end()) return Error{"--grid " + axis.given + ": given twice"};
    places.push_back(*index);
  }
  if (combinations > kMostCombinations) {
    return Error{"--grid: " + format_number(combinations, 6) + " combinations; allowed: up to " + format_number(kMostCombinations, 6)};
  }
  std::vector<double> values;
  for (const Parameter& p : parameters) values.push_back(p.prior);
  Played scratch;
  const Sums base = sums_of(problem, subject_of(problem.base, parameters, values), scratch);
  if (base.refused) return Error{"the plant refuses the car as it is"};
  Grid grid;
  grid.axes = std::move(axes);
  grid.baseline = scored({}, base, base);
  const auto count = static_cast<std::size_t>(combinations);
  std::vector<Sums> sums(count);
  const unsigned workers = jobs == 0 ? std::max(1U, std::thread::hardware_concurrency()) : jobs;
  std::vector<Played> played(workers);
  for (std::size_t done = 0; done < count; done += kPortion) {
    side_by_side(std::min(kPortion, count - done), workers, [&](std::size_t item, std::size_t worker) {
      bool edge = false;
      std::vector<double> at = values;
      const std::vector<double> given = combination(grid.axes, done + item, edge);
      for (std::size_t a = 0; a < places.size(); ++a) at[places[a]] = given[a] * grid.axes[a].unit;
      sums[done + item] = sums_of(problem, subject_of(problem.base, parameters, at), played[worker]);
    });
    if (progress && !progress(static_cast<double>(done) / static_cast<double>(count))) return Error{"interrupted"};
  }
  for (std::size_t k = 0; k < count; ++k) {
    bool edge = false;
    std::vector<double> given = combination(grid.axes, k, edge);
    grid.points.push_back(scored(std::move(given), sums[k], base));
    grid.points.back().at_edge = edge;
  }
  std::stable_sort(grid.points.begin(), grid.points.end(), [](const GridPoint& a, const GridPoint& b) { return a.score < b.score; });
  std::vector<double> best = values;
  for (std::size_t a = 0; a < places.size(); ++a) best[places[a]] = grid.points.front().values[a] * grid.axes[a].unit;
  grid.predicted_before = predict_one_second(problem, subject_of(problem.base, parameters, values), true, jobs);
  grid.predicted_best = predict_one_second(problem, subject_of(problem.base, parameters, best), true, jobs);
  return grid;
}

}  // namespace pitwall::fit

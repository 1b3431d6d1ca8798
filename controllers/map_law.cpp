// SPDX-License-Identifier: Apache-2.0
#include "controllers/map_law.hpp"

#include <algorithm>
#include <cmath>

#include "controllers/stability.hpp"
#include "core/text.hpp"

namespace pitwall::controllers {

namespace {

/// Between which nodes `x` lies; outside, at the first or last.
struct Between {
  std::size_t low = 0;
  std::size_t high = 0;
  double share = 0.0;
};

Between between(const std::vector<double>& nodes, double x) {
  if (x <= nodes.front()) return {0, 0, 0.0};
  if (x >= nodes.back()) return {nodes.size() - 1, nodes.size() - 1, 0.0};
  const auto high = static_cast<std::size_t>(std::upper_bound(nodes.begin(), nodes.end(), x) - nodes.begin());
  return {high - 1, high, (x - nodes[high - 1]) / (nodes[high] - nodes[high - 1])};
}

double mix(double a, double b, double share) { return a + share * (b - a); }

bool rising(const std::vector<double>& values) {
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (!(values[i] > values[i - 1])) return false;
  }
  return true;
}

}  // namespace

Status validate(const MapParameters& p, const LawSetup& setup, std::string_view what) {
  if (const Status status = validate(p.pursuit, setup, what); !status) return status;
  const auto refuse = [&](const std::string& reason) { return Error{std::string(what) + ": " + reason}; };
  if (setup.table == nullptr) return refuse("needs the steering table of the car's tyres");
  const SteeringTable& t = *setup.table;
  const std::size_t rows = t.speed_mps.size();
  const std::size_t columns = t.lateral_mps2.size();
  if (rows == 0 || columns == 0 || t.slip_rad.size() != rows * columns || t.peak_mps2.size() != rows) {
    return refuse("the steering table has " + std::to_string(rows) + " speeds, " + std::to_string(columns) + " accelerations, " +
                  std::to_string(t.slip_rad.size()) + " angles and " + std::to_string(t.peak_mps2.size()) + " peaks, which do not fit");
  }
  if (!(t.speed_mps.front() > 0.0) || t.lateral_mps2.front() != 0.0 || !rising(t.speed_mps) || !rising(t.lateral_mps2)) {
    return refuse("speeds above 0 and accelerations from 0 must rise in the steering table");
  }
  const auto finite = [](double x) { return std::isfinite(x); };
  if (!std::all_of(t.slip_rad.begin(), t.slip_rad.end(), finite) ||
      !std::all_of(t.peak_mps2.begin(), t.peak_mps2.end(), [](double x) { return x > 0.0; })) {
    return refuse("the steering table has an angle that is not finite or a peak that is not above 0");
  }
  return {};
}

double steady_steering(const SteeringTable& table, double wheelbase_m, double speed_mps, double kappa_per_m) {
  const double v = std::abs(speed_mps);
  const Between row = between(table.speed_mps, v);
  const double peak = mix(table.peak_mps2[row.low], table.peak_mps2[row.high], row.share);
  // The curvature itself, not a / v^2: at standstill there is no acceleration, but an arc.
  const double wanted = std::abs(kappa_per_m) * v * v;
  const double lateral = std::min(wanted, peak);
  const double kappa = wanted > peak ? peak / (v * v) : std::abs(kappa_per_m);
  const Between column = between(table.lateral_mps2, lateral);
  const std::size_t n = table.lateral_mps2.size();
  const auto slip_in = [&](std::size_t r) {
    return mix(table.slip_rad[r * n + column.low], table.slip_rad[r * n + column.high], column.share);
  };
  const double angle = math::atan(wheelbase_m * kappa) + mix(slip_in(row.low), slip_in(row.high), row.share);
  return std::copysign(angle, kappa_per_m);
}

MapLaw::MapLaw(const MapParameters& parameters, const LawSetup& setup)
    : path_(&setup.line->path()),
      table_(setup.table),
      car_(setup.car),
      period_s_(setup.control_period_s),
      lookahead_(lookahead_for(parameters.pursuit, setup)) {}

double MapLaw::steer(const LawInput& in) {
  const double kappa = wanted_curvature(*path_, in, lookahead_);
  return steady_steering(*table_, car_.wheelbase_m, in.speed_mps, kappa);
}

double MapLaw::delay_margin_s(double speed_mps) const {
  // Near the line the arc through the target is kappa = -2 (d + Ld e) / Ld^2, and the angle is in proportion to it.
  constexpr double kSmall_per_m = 1e-3;
  const double reach = lookahead_.distance_m(speed_mps, 0.0);
  const double per_curvature = steady_steering(*table_, car_.wheelbase_m, speed_mps, kSmall_per_m) / kSmall_per_m;
  const FeedbackGains gains{.lateral = 2.0 * per_curvature / (reach * reach), .heading = 2.0 * per_curvature / reach};
  return controllers::delay_margin_s(gains, car_, speed_mps, period_s_);
}

}  // namespace pitwall::controllers

// SPDX-License-Identifier: Apache-2.0
#include "controllers/gap_finder.hpp"

#include <algorithm>
#include <cmath>

namespace pitwall::controllers {

void GapFinder::reset() {
  sines_.assign(kMaxScanBeams + 1, 0.0);
  capped_.assign(kMaxScanBeams, 0.0);
  prepared_.assign(kMaxScanBeams, 0.0);
  reaches_.assign(kMaxScanBeams + 1, {});
  step_rad_ = 0.0;
  window_ = {};
}

void GapFinder::size_sines(double step_rad) {
  if (step_rad == step_rad_) return;
  step_rad_ = step_rad;
  quarter_ = std::min(kMaxScanBeams, static_cast<std::size_t>(std::ceil(0.5 * math::kPi / step_rad)));
  for (std::size_t k = 0; k < quarter_; ++k) sines_[k] = math::sin(static_cast<double>(k) * step_rad);
  sines_[quarter_] = 1.0;
}

// ceil(asin(half / range) / step) from the table.
std::ptrdiff_t GapFinder::half_beams(double half_width_m, double range_m) const {
  if (half_width_m >= range_m) return static_cast<std::ptrdiff_t>(quarter_);
  const auto end = sines_.begin() + static_cast<std::ptrdiff_t>(quarter_) + 1;
  return std::lower_bound(sines_.begin(), end, half_width_m / range_m) - sines_.begin();
}

// Every edge that rises in this direction bounds the half_beams() behind it. A nearer edge reaches further and starts
// later than those before it that are farther off, so those are dropped: the queue stays sorted, and one pass is enough.
template <bool kForward>
void GapFinder::extend(double half_width_m, double threshold_m) {
  const auto n = static_cast<std::ptrdiff_t>(window_.size());
  const auto beam = [this, n](std::ptrdiff_t k) { return window_.first + static_cast<std::size_t>(kForward ? k : n - 1 - k); };
  std::size_t head = 0;
  std::size_t tail = 0;
  for (std::ptrdiff_t k = 0; k < n; ++k) {
    while (head < tail && reaches_[head].end < k) ++head;
    if (head < tail) prepared_[beam(k)] = std::min(prepared_[beam(k)], reaches_[head].depth_m);
    if (k + 1 == n) break;
    const double near = capped_[beam(k)];
    if (near <= 0.0 || capped_[beam(k + 1)] - near <= threshold_m) continue;
    while (head < tail && reaches_[tail - 1].depth_m >= near) --tail;
    reaches_[tail++] = {near, k + half_beams(half_width_m, near)};
  }
}

void GapFinder::prepare(const ScanView& scan, BeamWindow window, double half_width_m, double disparity_threshold_m, double max_range_m) {
  window_ = window;
  size_sines(scan.step_rad());
  for (std::size_t i = window.first; i < window.end; ++i) {
    capped_[i] = std::min(scan.depth_m(i), max_range_m);
    prepared_[i] = capped_[i];
  }
  extend<true>(half_width_m, disparity_threshold_m);
  extend<false>(half_width_m, disparity_threshold_m);

  const NearestBeam nearest = scan.nearest_range(window);
  if (nearest.beam < 0) return;
  const auto centre = static_cast<std::ptrdiff_t>(nearest.beam);
  const std::ptrdiff_t reach = std::max<std::ptrdiff_t>(1, half_beams(half_width_m, nearest.value_m));
  const auto from = std::max(static_cast<std::ptrdiff_t>(window.first), centre - reach);
  const auto to = std::min(static_cast<std::ptrdiff_t>(window.end) - 1, centre + reach);
  std::fill(prepared_.begin() + from, prepared_.begin() + to + 1, 0.0);
}

std::optional<Gap> GapFinder::best(const ScanView& scan, const GapQuery& query) const {
  std::optional<Gap> best;
  std::optional<Gap> kept;
  const double previous = query.previous_aim_rad ? scan.index_of(*query.previous_aim_rad) : -1.0;
  std::size_t i = window_.first;
  while (i < window_.end) {
    if (prepared_[i] <= query.min_depth_m) {
      ++i;
      continue;
    }
    Gap gap;
    gap.first = i;
    gap.min_depth_m = prepared_[i];
    double sum = 0.0;
    for (; i < window_.end && prepared_[i] > query.min_depth_m; ++i) {
      sum += prepared_[i];
      gap.min_depth_m = std::min(gap.min_depth_m, prepared_[i]);
    }
    gap.last = i - 1;
    gap.score = sum * step_rad_;
    const double half_angle = 0.5 * std::min(math::kPi, static_cast<double>(i - gap.first) * step_rad_);
    if (2.0 * gap.min_depth_m * math::sin(half_angle) < query.min_chord_m) continue;
    // >=: on a tie the later run, which lies to the left.
    if (!best || gap.score >= best->score) best = gap;
    if (query.previous_aim_rad && previous >= static_cast<double>(gap.first) - 0.5 && previous <= static_cast<double>(gap.last) + 0.5)
      kept = gap;
  }
  if (!best) return best;
  if (kept && kept->first != best->first && best->score < query.switch_margin * kept->score) {
    best = kept;
    best->kept = true;
  }
  best->aim_rad = aim_of(scan, *best, query);
  best->depth_m = prepared_[scan.beam_at(best->aim_rad)];
  return best;
}

// The middle of a run that is bounded on both sides; in a run that touches an end of the window, whose true end is
// unknown, the deep beam (95 % of the deepest) that is nearest to straight ahead.
double GapFinder::aim_of(const ScanView& scan, const Gap& gap, const GapQuery& query) const {
  if (gap.first > window_.first && gap.last + 1 < window_.end) return 0.5 * (scan.bearing_rad(gap.first) + scan.bearing_rad(gap.last));
  double deepest = 0.0;
  for (std::size_t i = gap.first; i <= gap.last; ++i) deepest = std::max(deepest, prepared_[i]);
  const double enough = 0.95 * deepest;
  // Nearest to straight ahead on each side; scanning from the right, so the last one not left of zero wins there.
  std::optional<std::size_t> right;
  std::optional<std::size_t> left;
  for (std::size_t i = gap.first; i <= gap.last; ++i) {
    if (prepared_[i] < enough) continue;
    if (scan.bearing_rad(i) <= 0.0) right = i;
    if (scan.bearing_rad(i) >= 0.0) {
      left = i;
      break;
    }
  }
  if (!right) return scan.bearing_rad(*left);
  if (!left) return scan.bearing_rad(*right);
  const double a = scan.bearing_rad(*right);
  const double b = scan.bearing_rad(*left);
  if (std::abs(a + b) > 1e-9) return b < -a ? b : a;
  if (*left - *right <= 1) return 0.5 * (a + b);  // straight ahead lies between two beams
  return query.previous_aim_rad.value_or(0.0) < 0.0 ? a : b;
}

std::optional<double> GapFinder::near_bearing(const ScanView& scan, const Gap& gap, double near_depth_m) const {
  double sum = 0.0;
  std::size_t count = 0;
  for (std::size_t i = gap.first; i <= gap.last; ++i) {
    if (prepared_[i] > near_depth_m) continue;
    sum += scan.bearing_rad(i);
    ++count;
  }
  if (count == 0 || count == gap.last - gap.first + 1) return std::nullopt;
  return sum / static_cast<double>(count);
}

}  // namespace pitwall::controllers

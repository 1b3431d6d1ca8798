// SPDX-License-Identifier: Apache-2.0
#include "drivers/turn.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check.hpp"
#include "core/math.hpp"

namespace pitwall::drivers {
namespace {

constexpr double kTurn = 2.0 * math::kPi;
constexpr double kLeastCover = 0.875 * kTurn;
constexpr double kLongestStep = 0.25 * kTurn;  // between points; beyond it too much was lost to know what turn this is

// In [0, 2 pi).
double wrapped(double angle_rad) {
  const double rest = angle_rad - kTurn * std::floor(angle_rad / kTurn);
  return rest < kTurn ? rest : 0.0;
}

}  // namespace

TurnAssembler::TurnAssembler(const TurnOptions& options) : options_(options) {
  PITWALL_CHECK(options.beams >= 8 && options.beams <= 100'000, options.beams);
  reset();
}

void TurnAssembler::reset() {
  begun_ = false;
  clear();
}

void TurnAssembler::clear() {
  scan_.ranges.assign(static_cast<std::size_t>(options_.beams), std::numeric_limits<float>::quiet_NaN());
  seen_.assign(scan_.ranges.size(), false);
  covered_rad_ = 0.0;
}

std::optional<LaserScan> TurnAssembler::add(const TurnPoint& point) {
  if (!std::isfinite(point.clockwise_rad)) {
    return std::nullopt;
  }
  // Counted clockwise from straight behind, where a turn begins and ends.
  const double phase = wrapped(point.clockwise_rad - options_.front_rad + math::kPi);
  std::optional<LaserScan> finished;
  if (begun_) {
    // Measured angles tremble: a small step back is no turn.
    double step = wrapped(phase - last_phase_);
    step -= step > kTurn - kLongestStep ? kTurn : 0.0;
    if (step > kLongestStep) {
      incomplete_turns_ += covered_rad_ > 0.0 ? 1 : 0;
      clear();
      first_ = point.stamp;
    } else if (step > 0.0 && phase < last_phase_) {
      finished = finish();
      clear();
      first_ = point.stamp;
    } else {
      covered_rad_ += step;
    }
    if (step < 0.0) {
      if (phase < last_phase_) {  // else it belongs to the turn that is done
        lay(point, phase);
      }
      return finished;
    }
  } else {
    begun_ = true;
    first_ = point.stamp;
  }
  last_phase_ = phase;
  last_ = point.stamp;
  lay(point, phase);
  return finished;
}

void TurnAssembler::lay(const TurnPoint& point, double phase) {
  const auto beams = static_cast<double>(options_.beams);
  const auto from_behind = static_cast<std::size_t>(std::min(phase / kTurn * beams, beams - 1.0));
  const std::size_t beam = scan_.ranges.size() - 1 - from_behind;
  float range = point.range_m;
  if (range > options_.range_max_m) {
    range = std::numeric_limits<float>::infinity();
  } else if (range < options_.range_min_m) {
    range = std::numeric_limits<float>::quiet_NaN();
  }
  float& here = scan_.ranges[beam];
  // Whatever was measured beats "no return", which beats "invalid".
  here = !seen_[beam] || std::isnan(here) ? range : std::isnan(range) ? here : std::min(here, range);
  seen_[beam] = true;
}

// Beams between two points, where there are fewer points than beams: on the line between them where that is one surface, else as far as
// the nearer.
void TurnAssembler::fill_gaps() {
  constexpr std::size_t kMostBeams = 2;
  constexpr float kSameSurface = 0.1F;
  const std::size_t beams = seen_.size();
  const auto at = [&](std::size_t i) { return i % beams; };
  for (std::size_t before = 0; before < beams; ++before) {
    std::size_t gap = 0;
    while (seen_[before] && gap <= kMostBeams && !seen_[at(before + 1 + gap)]) {
      ++gap;
    }
    if (gap == 0 || gap > kMostBeams) {
      continue;
    }
    const float left = scan_.ranges[at(before + 1 + gap)];
    const float right = scan_.ranges[before];
    const bool one_surface = std::fabs(left - right) < kSameSurface * std::min(left, right);  // false with NaN and infinity
    for (std::size_t i = 1; i <= gap; ++i) {
      const float nearer = std::isnan(left) ? right : std::isnan(right) ? left : std::min(left, right);
      const float share = static_cast<float>(i) / static_cast<float>(gap + 1);
      scan_.ranges[at(before + i)] = one_surface ? right + share * (left - right) : nearer;
    }
  }
}

std::optional<LaserScan> TurnAssembler::finish() {
  if (covered_rad_ < kLeastCover) {
    ++incomplete_turns_;
    return std::nullopt;
  }
  fill_gaps();
  const double beam_rad = kTurn / options_.beams;
  const double turn_s = (last_ - first_).seconds() * kTurn / covered_rad_;
  LaserScan scan = scan_;
  scan.stamp = last_;
  scan.angle_min = static_cast<float>(-math::kPi + 0.5 * beam_rad);
  scan.angle_max = static_cast<float>(math::kPi - 0.5 * beam_rad);
  scan.angle_increment = static_cast<float>(beam_rad);
  scan.time_increment = static_cast<float>(-turn_s / options_.beams);
  scan.scan_time = static_cast<float>(turn_s);
  scan.range_min = options_.range_min_m;
  scan.range_max = options_.range_max_m;
  return scan;
}

}  // namespace pitwall::drivers

// SPDX-License-Identifier: Apache-2.0
#include "tracks/lap_cleanup.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/math.hpp"
#include "core/text.hpp"
#include "tracks/track.hpp"

namespace pitwall::tracks {
namespace {

constexpr double kSamePoint_m = 1e-3;
constexpr std::size_t kFewestPoints = 8;
constexpr double kLookForStart = 0.7;   // of the points: where the last revolution may begin
constexpr double kWorthTrimming = 0.2;  // of the way: less than that is no revolution more
constexpr double kAsNear_m = 0.5;       // revolutions differ by that much
constexpr double kOpenAfter_m = 4.0;    // ends farther apart than that are no lap
constexpr double kDeviationWindow_m = 3.0;
constexpr std::int64_t kFewestHarmonics = 2;

double way_of(const std::vector<Vec2>& points) {
  double way = 0.0;
  for (std::size_t i = 1; i < points.size(); ++i) way += distance(points[i - 1], points[i]);
  return way;
}

/// The last revolution: from where the way last came as near to its end as it ever did, in the same direction. Left whole where
/// that would take off little.
std::vector<Vec2> last_revolution(std::vector<Vec2> points) {
  const auto considered = static_cast<std::size_t>(kLookForStart * static_cast<double>(points.size()));
  const Vec2 arriving = points.back() - points[points.size() - 2];
  const auto away = [&](std::size_t i) {
    return dot(points[i + 1] - points[i], arriving) > 0.0 ? distance(points[i], points.back()) : math::kInfinity;
  };
  double nearest = math::kInfinity;
  for (std::size_t i = 0; i < considered; ++i) nearest = std::min(nearest, away(i));
  if (nearest == math::kInfinity) return points;
  std::size_t start = considered - 1;
  while (away(start) > nearest + kAsNear_m) --start;
  while (start > 0 && away(start - 1) <= away(start)) --start;
  double before = 0.0;
  for (std::size_t i = 1; i <= start; ++i) before += distance(points[i - 1], points[i]);
  if (before < kWorthTrimming * way_of(points)) return points;
  points.erase(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(start));
  return points;
}

/// A closed curve as harmonics of its points, taken evenly along it.
class Harmonics {
 public:
  Harmonics(const std::vector<Vec2>& points, std::int64_t highest) : n_(static_cast<std::int64_t>(points.size())) {
    for (std::int64_t i = 0; i < n_; ++i) root_.push_back(unit_vector(2.0 * math::kPi * static_cast<double>(i) / static_cast<double>(n_)));
    for (std::int64_t k = -highest; k <= highest; ++k) {
      Vec2 sum;
      for (std::int64_t i = 0; i < n_; ++i) sum = sum + turned(points[static_cast<std::size_t>(i)], root(-k * i));
      coefficient_.push_back((1.0 / static_cast<double>(n_)) * sum);
    }
    highest_ = highest;
    points_.assign(points.size(), Vec2{});
    for (std::int64_t k = -highest; k <= highest; ++k) add(k, 1.0);
  }

  [[nodiscard]] std::int64_t highest() const { return highest_; }
  [[nodiscard]] const std::vector<Vec2>& points() const { return points_; }
  /// Takes the highest harmonic off.
  void lower() {
    add(highest_, -1.0);
    add(-highest_, -1.0);
    coefficient_.erase(coefficient_.begin());
    coefficient_.pop_back();
    --highest_;
  }

 private:
  [[nodiscard]] static Vec2 turned(Vec2 v, Vec2 by) { return {v.x * by.x - v.y * by.y, v.x * by.y + v.y * by.x}; }
  [[nodiscard]] Vec2 root(std::int64_t k) const { return root_[static_cast<std::size_t>(((k % n_) + n_) % n_)]; }
  void add(std::int64_t k, double sign) {
    const Vec2 c = sign * coefficient_[static_cast<std::size_t>(k + highest_)];
    for (std::int64_t i = 0; i < n_; ++i) {
      Vec2& p = points_[static_cast<std::size_t>(i)];
      p = p + turned(c, root(k * i));
    }
  }

  std::int64_t n_;
  std::int64_t highest_ = 0;
  std::vector<Vec2> root_;         // the n-th roots of one
  std::vector<Vec2> coefficient_;  // from -highest to highest
  std::vector<Vec2> points_;
};

std::vector<Vec2> evenly(const Path& path, double spacing_m) {
  const auto count = std::max<std::size_t>(kFewestPoints, static_cast<std::size_t>(std::lround(path.length_m() / spacing_m)));
  std::vector<Vec2> points;
  points.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    points.push_back(path.point_at(path.length_m() * static_cast<double>(i) / static_cast<double>(count)));
  return points;
}

double clearance_of(const Path& path, const OccupancyMap* map, const DistanceField* distance_field) {
  return map == nullptr || distance_field == nullptr ? math::kInfinity : smallest_clearance(*map, *distance_field, path).clearance_m;
}

/// One candidate, measured. `had` is the clearance that what was driven had.
std::optional<CleanedLap> measure(const Path& driven, const Harmonics& harmonics, const LapCleanupSettings& settings,
                                  const OccupancyMap* map, const DistanceField* distance_field, double had) {
  Result<Path> path = Path::make(harmonics.points(), true);
  if (!path) return std::nullopt;  // harmonics so few that points coincide
  CleanedLap lap{*std::move(path)};
  lap.harmonics = harmonics.highest();
  lap.driven_clearance_m = had;
  std::size_t over = 0;
  for (std::size_t i = 0; i < lap.path.size(); ++i) {
    const double kappa = std::fabs(lap.path.vertex_curvature(i));
    lap.max_curvature_per_m = std::max(lap.max_curvature_per_m, kappa);
    over += kappa > settings.max_curvature_per_m ? 1 : 0;
    const double s = driven.length_m() * static_cast<double>(i) / static_cast<double>(lap.path.size());
    const double off = driven.project_near(lap.path.points()[i], s, kDeviationWindow_m, kDeviationWindow_m).lateral_m;
    lap.deviation_m = std::max(lap.deviation_m, std::fabs(off));
  }
  lap.share_over = static_cast<double>(over) / static_cast<double>(lap.path.size());
  lap.clearance_m = clearance_of(lap.path, map, distance_field);
  return lap;
}

/// Whether a is the better line: clear of walls first, then within the rack, then what keeps most detail or bends least.
bool better(const CleanedLap& a, const CleanedLap& b, double clearance_m, double curvature_per_m) {
  const bool a_clear = a.clearance_m >= clearance_m;
  const bool b_clear = b.clearance_m >= clearance_m;
  if (a_clear != b_clear) return a_clear;
  const bool a_bends = a.max_curvature_per_m <= curvature_per_m;
  const bool b_bends = b.max_curvature_per_m <= curvature_per_m;
  if (a_bends != b_bends) return a_bends;
  return a_bends ? a.harmonics > b.harmonics : a.max_curvature_per_m < b.max_curvature_per_m;
}

Status accept(const CleanedLap& lap, const LapCleanupSettings& settings, double clearance_m) {
  if (lap.clearance_m < clearance_m) {
    return Error{"recorded lap: the smoothed line comes within " + format_metres(lap.clearance_m) + " of a wall, at least " +
                 format_metres(clearance_m) + " is needed; drive it again, farther from the walls"};
  }
  const double most = settings.max_over_curvature * settings.max_curvature_per_m;
  if (lap.max_curvature_per_m > most) {
    return Error{"recorded lap: its tightest turn has a radius of " + format_metres(1.0 / lap.max_curvature_per_m) +
                 ", the rack can follow " + format_metres(1.0 / most) + " at best; drive wider turns"};
  }
  if (lap.share_over > settings.max_share_over) {
    return Error{"recorded lap: " + format_number(100.0 * lap.share_over, 3) + " % of it turn tighter than the rack (radius " +
                 format_metres(1.0 / settings.max_curvature_per_m) + "), allowed are " + format_number(100.0 * settings.max_share_over, 3) +
                 " %"};
  }
  return {};
}

}  // namespace

void LapCleanupSettings::fields(FieldVisitor& f) {
  f.number("spacing_m", spacing_m, {"m", 0.01, 10.0, "between the points of the line"});
  f.number("shortest_feature_m", shortest_feature_m, {"m", 0.1, 100.0, "length of the highest harmonic that is tried"});
  f.number("max_deviation_m", max_deviation_m, {"m", 0.01, 10.0, "from what was driven"});
  f.number("max_curvature_per_m", max_curvature_per_m, {"1/m", 0.01, 100.0, "of the steering rack"});
  f.number("clearance_m", clearance_m, {"m", 0.0, 10.0, "from line to wall; less where what was driven had less"});
  f.number("least_clearance_m", least_clearance_m, {"m", 0.0, 10.0, "half the car: a lap nearer than that to a wall is refused"});
  f.number("max_over_curvature", max_over_curvature, {"", 1.0, 10.0, "peak curvature that is still accepted, over the rack's"});
  f.number("max_share_over", max_share_over, {"", 0.0, 1.0, "share of points beyond the rack that is still accepted"});
}

Result<CleanedLap> clean_lap(const std::vector<Vec2>& driven, const LapCleanupSettings& settings, const OccupancyMap* map,
                             const DistanceField* distance_field) {
  std::vector<Vec2> points;
  for (std::size_t i = 0; i < driven.size(); ++i) {
    if (!std::isfinite(driven[i].x) || !std::isfinite(driven[i].y))
      return Error{"recorded lap: point " + std::to_string(i + 1) + " is not finite"};
    if (points.empty() || distance(points.back(), driven[i]) >= kSamePoint_m) points.push_back(driven[i]);
  }
  if (points.size() < kFewestPoints) {
    return Error{"recorded lap: " + std::to_string(points.size()) + " different points, at least " + std::to_string(kFewestPoints) +
                 " are needed"};
  }
  const std::size_t dropped = driven.size() - points.size();
  const double before_m = way_of(points);
  points = last_revolution(std::move(points));
  const double trimmed = before_m - way_of(points);
  const double gap = distance(points.front(), points.back());
  if (gap > kOpenAfter_m)
    return Error{"recorded lap: its ends are " + format_metres(gap) + " apart, at most " + format_metres(kOpenAfter_m) + " are allowed"};
  if (gap < kSamePoint_m) points.pop_back();
  const Result<Path> revolution = Path::make(std::move(points), true);
  if (!revolution) return Error{"recorded lap: " + revolution.error().message};

  const double had = clearance_of(*revolution, map, distance_field);
  if (had < settings.least_clearance_m) {
    return Error{"recorded lap: it was driven within " + format_metres(had) + " of a wall, half the car is " +
                 format_metres(settings.least_clearance_m)};
  }
  const double clearance = std::min(settings.clearance_m, had);
  const std::vector<Vec2> even = evenly(*revolution, settings.spacing_m);
  const auto most = std::min(static_cast<std::int64_t>(revolution->length_m() / settings.shortest_feature_m),
                             static_cast<std::int64_t>(even.size() / 2) - 1);
  std::optional<CleanedLap> best;
  for (Harmonics harmonics(even, std::max(kFewestHarmonics, most)); harmonics.highest() >= kFewestHarmonics; harmonics.lower()) {
    std::optional<CleanedLap> lap = measure(*revolution, harmonics, settings, map, distance_field, had);
    if (!lap) break;
    if (best && lap->deviation_m > settings.max_deviation_m) break;
    const bool fits = lap->clearance_m >= clearance && lap->max_curvature_per_m <= settings.max_curvature_per_m;
    if (!best || better(*lap, *best, clearance, settings.max_curvature_per_m)) best = std::move(lap);
    if (fits) break;
  }
  if (!best) return Error{"recorded lap: no smooth line fits its " + format_metres(revolution->length_m())};
  if (const Status accepted = accept(*best, settings, clearance); !accepted) return accepted.error();
  best->points_dropped = dropped;
  best->trimmed_m = trimmed;
  best->gap_m = gap;
  return *std::move(best);
}

}  // namespace pitwall::tracks

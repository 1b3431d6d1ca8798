// SPDX-License-Identifier: Apache-2.0
#include "tracks/build/raceline.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/text.hpp"
#include "tracks/build/box_qp.hpp"
#include "tracks/build/spline.hpp"
#include "tracks/footprint.hpp"

namespace pitwall::tracks::build {
namespace {

constexpr double kSettled_m = 1e-3;  // a line that moves less has settled
constexpr int kMostSweeps = 8;
constexpr double kSweepTolerance_m = 0.01;
constexpr double kMore_m = 0.01;         // asked for beyond what was missing
constexpr double kOfRack = 0.95;         // used at stations: between them the line may turn a little tighter
constexpr double kTimeTolerance = 1e-4;  // of the lap: a gain below it ends the search

/// Fills the values that are not known with those between their known neighbours.
void fill_gaps(std::vector<double>& value, const std::vector<bool>& known, bool closed) {
  const std::size_t n = value.size();
  const auto nearest = [&](std::size_t i, bool forward) -> std::optional<std::size_t> {
    for (std::size_t k = 1; k < n; ++k) {
      if (!closed && (forward ? i + k >= n : k > i)) return std::nullopt;
      if (known[forward ? (i + k) % n : (i + n - k) % n]) return k;
    }
    return std::nullopt;
  };
  const std::vector<double> given = value;
  for (std::size_t i = 0; i < n; ++i) {
    if (known[i]) continue;
    const auto back = nearest(i, false);
    const auto ahead = nearest(i, true);
    const double before = back ? given[(i + n - *back) % n] : 0.0;
    const double after = ahead ? given[(i + *ahead) % n] : 0.0;
    if (back && ahead) {
      value[i] = before + (after - before) * static_cast<double>(*back) / static_cast<double>(*back + *ahead);
    } else {
      value[i] = back ? before : after;
    }
  }
}

/// Places where the chassis, swept along the line, comes nearer to a wall than the margin.
std::vector<TightPlace> places_too_near(const Room& room, const Path& path, const BodyRectangle& chassis, double margin_m) {
  std::vector<TightPlace> places;
  constexpr double kSweepStep_m = 0.1;
  constexpr double kOutline_m = 0.05;
  for (double s = 0.0; s < path.length_m(); s += kSweepStep_m) {
    const Vec2 p = path.point_at(s);
    const double clearance = footprint_clearance_m(chassis, {p.x, p.y, path.heading_at(s)}, *room.distance, margin_m, kOutline_m);
    if (clearance < margin_m - kSweepTolerance_m) places.push_back({p, margin_m - clearance + kMore_m});
  }
  return places;
}

/// Adds to what was asked for before: the sums where places coincide.
void merge(std::vector<TightPlace>& all, const std::vector<TightPlace>& more, double most_m) {
  constexpr double kSamePlace_m = 0.5;
  for (const TightPlace& place : more) {
    const auto same = std::find_if(all.begin(), all.end(), [&](const TightPlace& a) { return distance(a.at, place.at) < kSamePlace_m; });
    if (same == all.end()) {
      all.push_back(place);
    } else {
      same->more_m = std::min(most_m, std::max(same->more_m + 0.5 * kMore_m, place.more_m));
    }
  }
}

class Optimiser {
 public:
  Optimiser(const Room& room, bool closed, const BodyRectangle& chassis, const RacelineSettings& settings, const RacelineProgress& progress)
      : room_(room),
        closed_(closed),
        settings_(settings),
        corridor_{chassis, settings.margin_m, settings.trust_region_m},
        progress_(progress) {}

  std::vector<Vec2> run(std::vector<Vec2> points) {
    points = least_curvature(std::move(points), settings_.iterations);
    if (settings_.objective == Objective::kTime) points = least_time(std::move(points));
    for (sweeps_ = 1; sweeps_ <= kMostSweeps; ++sweeps_) {
      tell("sweep", static_cast<double>(sweeps_) / kMostSweeps);
      const Result<Path> path = Path::make(points, closed_);
      if (!path) break;
      const std::vector<TightPlace> near = places_too_near(room_, *path, corridor_.chassis, settings_.margin_m);
      if (near.empty()) break;
      merge(tight_, near, 2.0 * settings_.margin_m + corridor_.chassis.half_width_m);
      constexpr std::int64_t kAgain = 3;
      points = settings_.objective == Objective::kTime ? least_time(std::move(points)) : least_curvature(std::move(points), kAgain);
    }
    return points;
  }

  [[nodiscard]] std::int64_t iterations() const { return iterations_; }
  [[nodiscard]] std::int64_t sweeps() const { return sweeps_; }

 private:
  void tell(std::string_view stage, double done) const {
    if (progress_) progress_(stage, done);
  }

  std::vector<Vec2> least_curvature(std::vector<Vec2> points, std::int64_t iterations) {
    for (std::int64_t k = 0; k < iterations; ++k) {
      const Stations line = stations_of(points, closed_, settings_.spacing_m);
      const Bounds bounds = bounds_of(room_, line, corridor_, tight_);
      const std::vector<double> offset = detail::least_curvature_step(line, bounds, settings_.smoothing_weight);
      points = moved(line, offset);
      ++iterations_;
      tell("least curvature", static_cast<double>(k + 1) / static_cast<double>(iterations));
      const auto far = std::max_element(offset.begin(), offset.end(), [](double a, double b) { return std::fabs(a) < std::fabs(b); });
      if (std::fabs(*far) < kSettled_m) break;
    }
    return points;
  }

  [[nodiscard]] double time_of(const std::vector<Vec2>& points) const {
    const Stations line = stations_of(points, closed_, settings_.spacing_m);
    const Result<Path> path = Path::make(line.points, closed_);
    if (!path) return 1e9;
    return lap_time_s(*path, speed_profile(*path, line.curvature_per_m, settings_.speed));
  }

  /// Steps until the exact profile gets no faster. The line that comes in does not count: it may be outside its bounds.
  std::vector<Vec2> least_time(std::vector<Vec2> points) {
    constexpr int kPatience = 2;
    std::vector<Vec2> best = points;
    double best_s = std::numeric_limits<double>::infinity();
    int without_gain = 0;
    for (std::int64_t k = 0; k < 2 * settings_.iterations && without_gain < kPatience; ++k) {
      const Stations line = stations_of(points, closed_, settings_.spacing_m);
      const Bounds bounds = bounds_of(room_, line, corridor_, tight_);
      const std::vector<double> offset =
          detail::least_time_step(line, bounds, settings_.speed, {kOfRack * settings_.max_curvature_per_m, settings_.turning_weight});
      if (offset.empty()) break;
      points = moved(line, offset);
      const double time_s = time_of(points);
      ++iterations_;
      tell("least time", static_cast<double>(k + 1) / static_cast<double>(2 * settings_.iterations));
      without_gain = time_s < (1.0 - kTimeTolerance) * best_s ? 0 : without_gain + 1;
      if (time_s >= best_s) continue;
      best_s = time_s;
      best = points;
    }
    return best;
  }

  const Room& room_;
  bool closed_;
  const RacelineSettings& settings_;
  CorridorSettings corridor_;
  const RacelineProgress& progress_;
  std::vector<TightPlace> tight_;
  std::int64_t iterations_ = 0;
  std::int64_t sweeps_ = 0;
};

void find_faults(Raceline& line, const BodyRectangle& chassis, const RacelineSettings& settings) {
  constexpr double kTouching_m = 1e-6;
  if (line.max_curvature_per_m > settings.max_curvature_per_m) {
    line.faults.push_back("the line turns with a radius of " + format_metres(1.0 / line.max_curvature_per_m) +
                          " at s = " + format_metres(line.max_curvature_s_m) + ", the steering allows " +
                          format_metres(1.0 / settings.max_curvature_per_m));
  }
  if (line.min_clearance_m < kTouching_m) {
    line.faults.push_back("the chassis (" + format_metres(2.0 * chassis.half_width_m) +
                          " wide) touches a wall at s = " + format_metres(line.min_clearance_s_m));
  } else if (line.min_clearance_m < settings.margin_m - 2.0 * kSweepTolerance_m) {
    line.warnings.push_back("the chassis comes within " + format_metres(line.min_clearance_m) + " of a wall at s = " +
                            format_metres(line.min_clearance_s_m) + ", the margin is " + format_metres(settings.margin_m));
  }
}

}  // namespace

void RacelineSettings::fields(FieldVisitor& f) {
  f.number("spacing_m", spacing_m, {"m", 0.05, 2.0, "between the stations of the optimiser"});
  f.number("output_spacing_m", output_spacing_m, {"m", 0.02, 2.0, "between the points of the line"});
  f.integer("iterations", iterations, {"", 1, 100, "re-linearisations"});
  f.number("trust_region_m", trust_region_m, {"m", 0.01, 2.0, "how far a point moves at most in one iteration"});
  f.number("smoothing_weight", smoothing_weight, {"", 0, 1000, "against offsets that change along the line"});
  f.number("max_track_width_m", max_track_width_m, {"m", 0.5, 100, "how far the rays of the centre line's refinement go"});
  f.integer("centreline_passes", centreline_passes, {"", 0, 100, "refinements of the centre line"});
  f.integer("centreline_smoothing", centreline_smoothing, {"", 0, 100, "half width, in points, of the last average over it"});
  f.number("margin_m", margin_m, {"m", 0, 2, "between the swept chassis and walls"});
  f.number("max_curvature_per_m", max_curvature_per_m, {"1/m", 0.01, 100, "of the steering rack"});
  f.number("turning_weight", turning_weight, {"s m^3", 0, 10, "least time's price on the square of the change of curvature per metre"});
  f.enumeration("objective", objective, kObjectives, "what is made least");
  f.nested("speed", speed);
}

std::vector<Vec2> refine_centre_line(const Room& room, const std::vector<Vec2>& points, bool closed, const RacelineSettings& settings) {
  constexpr std::int64_t kBetweenPasses = 2;
  std::vector<Vec2> refined = points;
  for (std::int64_t pass = 0; pass < settings.centreline_passes; ++pass) {
    const Stations line = stations_of(refined, closed, settings.spacing_m);
    std::vector<double> shift(line.size(), 0.0);
    std::vector<bool> known(line.size(), false);
    for (std::size_t i = 0; i < line.size(); ++i) {
      const double left = room.rays->cast(line.points[i], line.normals[i], settings.max_track_width_m);
      const double right = room.rays->cast(line.points[i], -line.normals[i], settings.max_track_width_m);
      known[i] = std::isfinite(left) && std::isfinite(right);
      if (known[i]) shift[i] = 0.5 * (left - right);
    }
    fill_gaps(shift, known, closed);
    refined = smoothed(moved(line, shift), closed, kBetweenPasses);
  }
  return smoothed(refined, closed, settings.centreline_smoothing);
}

Result<Raceline> assess_line(const Room& room, const std::vector<Vec2>& points, bool closed, const BodyRectangle& chassis,
                             const RacelineSettings& settings) {
  Result<Path> path = Path::make(points, closed);
  if (!path) return path.error();
  Raceline line{*std::move(path)};
  // Points of the line are given back as they are; their curvature is that of the spline through them.
  const Spline spline(line.path.points(), closed);
  line.curvature_per_m = spline.curvatures(line.path.size());
  line.speed_mps = speed_profile(line.path, line.curvature_per_m, settings.speed);
  line.lap_time_s = lap_time_s(line.path, line.speed_mps);
  for (std::size_t i = 0; i < line.path.size(); ++i) {
    const double kappa = std::fabs(line.curvature_per_m[i]);
    if (kappa <= line.max_curvature_per_m) continue;
    line.max_curvature_per_m = kappa;
    line.max_curvature_s_m = line.path.s_of(i);
  }
  line.clearance_m = clearance_along(chassis, line.path, *room.distance, kFarClearance_m);
  const SweptClearance swept = swept_clearance(chassis, line.path, *room.distance, kFarClearance_m);
  line.min_clearance_m = swept.clearance_m;
  line.min_clearance_s_m = swept.s_m;
  find_faults(line, chassis, settings);
  return line;
}

Result<Raceline> optimise_raceline(const Room& room, const std::vector<Vec2>& start, bool closed, const BodyRectangle& chassis,
                                   const RacelineSettings& settings, const RacelineProgress& progress) {
  if (const Status good = check_fields("raceline", settings); !good) return good.error();
  const Result<Path> path = Path::make(start, closed);
  if (!path) return path.error();
  constexpr double kFewestStations = 8.0;
  if (path->length_m() < kFewestStations * settings.spacing_m)
    return Error{"the line is " + format_metres(path->length_m()) + " long, at least " +
                 format_metres(kFewestStations * settings.spacing_m) + " is needed"};
  Optimiser optimiser(room, closed, chassis, settings, progress);
  const std::vector<Vec2> points = optimiser.run(path->points());
  const Stations even = stations_of(points, closed, settings.output_spacing_m);
  Result<Raceline> line = assess_line(room, even.points, closed, chassis, settings);
  if (!line) return line;
  line->iterations = optimiser.iterations();
  line->sweeps = optimiser.sweeps();
  return line;
}

std::optional<std::string> worse_than_recorded(const Raceline& line, const Raceline& recorded, const Room& room, double clearance_m,
                                               const RacelineSettings& settings) {
  if (!line.faults.empty()) return line.faults.front();
  const LineClearance nearest = smallest_clearance(*room.map, *room.distance, line.path);
  if (nearest.clearance_m < clearance_m) {
    return format_number(nearest.clearance_m, 3) + " m from a wall at s = " + format_number(nearest.s_m, 4) + " m, needed are " +
           format_number(clearance_m, 3) + " m";
  }
  const double bends = std::max(settings.max_curvature_per_m, recorded.max_curvature_per_m);
  if (line.max_curvature_per_m > bends) {
    return "bends by " + format_number(line.max_curvature_per_m, 3) + " 1/m, the recorded lap and the rack by " + format_number(bends, 3) +
           " 1/m";
  }
  if (line.lap_time_s >= recorded.lap_time_s) {
    return "takes " + format_number(line.lap_time_s, 4) + " s, the recorded lap " + format_number(recorded.lap_time_s, 4) + " s";
  }
  return std::nullopt;
}

namespace detail {

std::vector<double> least_curvature_step(const Stations& line, const Bounds& bounds, double smoothing_weight) {
  const std::size_t n = line.size();
  const double h = line.spacing_m;
  BandedMatrix hessian(n, 1, 2, line.closed);
  std::vector<double> gradient(n, 0.0);
  const double beside = 1.0 / (h * h);
  for (std::size_t i = 0; i < n; ++i) {
    if (!line.closed && (i == 0 || i + 1 == n)) continue;
    const std::size_t index[3] = {i == 0 ? n - 1 : i - 1, i, i + 1 == n ? 0 : i + 1};
    const double kappa = line.curvature_per_m[i];
    const double slope[3] = {beside, -2.0 * beside + kappa * kappa, beside};
    // The station's piece of the line grows shorter as it moves into the turn.
    gradient[i] -= 0.5 * h * kappa * kappa * kappa;
    for (int a = 0; a < 3; ++a) {
      gradient[index[a]] += h * slope[a] * kappa;
      for (int b = 0; b <= a; ++b) hessian.add(index[a], index[b], h * slope[a] * slope[b]);
    }
  }
  if (smoothing_weight > 0.0) {
    for (std::size_t i = 0; i + (line.closed ? 0 : 1) < n; ++i) {
      const std::size_t next = i + 1 == n ? 0 : i + 1;
      hessian.add(i, i, smoothing_weight / h);
      hessian.add(next, next, smoothing_weight / h);
      hessian.add(i, next, -smoothing_weight / h);
    }
  }
  return solve_box_qp(hessian, gradient, bounds.low_m, bounds.high_m).x;
}

}  // namespace detail
}  // namespace pitwall::tracks::build

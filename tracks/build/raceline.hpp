// SPDX-License-Identifier: Apache-2.0
// Racing lines: refined centre lines, lines of least curvature, lines of least time, all within what the chassis, swept along them,
// leaves free.
//
// Least curvature (Heilmeier et al., "Minimum curvature trajectory planning and control for an autonomous race car", Vehicle System
// Dynamics 58, 2020): offsets a along the normals, curvature linearised as kappa + (D^2 + kappa^2) a, the sum of its squares least
// within bounds; then again about the line so found. Least time: offsets and squared speeds w together, T = sum 2 ds / (v + v'),
// inside the friction circle (w' - w)^2 / (2 ds A)^2 + (w kappa / B)^2 <= 1 at both ends of every piece; a barrier method whose
// every step is a drivable line. Both end with a sweep of the true chassis over the map, and start again with more room where it
// comes too near.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/fields.hpp"
#include "core/result.hpp"
#include "tracks/build/corridor.hpp"
#include "tracks/path.hpp"
#include "tracks/speed_profile.hpp"

namespace pitwall::tracks::build {

/// What is made least.
enum class Objective { kCurvature, kTime };
inline constexpr std::array<std::string_view, 2> kObjectives{"curvature", "time"};

struct RacelineSettings {
  double spacing_m = 0.30;
  double output_spacing_m = 0.15;
  std::int64_t iterations = 8;
  double trust_region_m = 0.30;    ///< how far a point moves at most in one iteration
  double smoothing_weight = 0.0;   ///< against offsets that change from one station to the next
  double max_track_width_m = 6.0;  ///< rays of the centre line's refinement
  std::int64_t centreline_passes = 4;
  std::int64_t centreline_smoothing = 3;
  double margin_m = 0.15;             ///< between the swept chassis and walls
  double max_curvature_per_m = 0.82;  ///< of the steering rack
  double turning_weight = 0.05;       ///< s m^3: least time's price on the square of the change of curvature per metre
  Objective objective = Objective::kCurvature;
  SpeedLimits speed;
  void fields(FieldVisitor& f);
};

/// A line, and what it is like.
struct Raceline {
  Path path;
  std::vector<double> curvature_per_m{};  ///< at the points, of the spline through them
  std::vector<double> speed_mps{};
  std::vector<double> clearance_m{};  ///< of the chassis at each point, at most kFarClearance_m
  double lap_time_s = 0.0;
  double min_clearance_m = 0.0;  ///< of the swept chassis
  double min_clearance_s_m = 0.0;
  double max_curvature_per_m = 0.0;
  double max_curvature_s_m = 0.0;
  std::int64_t iterations = 0;
  std::int64_t sweeps = 0;            ///< how often the chassis was swept and more room asked for
  std::vector<std::string> faults{};  ///< why the car cannot drive it: tighter than the rack, or touching a wall
  std::vector<std::string> warnings{};
};
inline constexpr double kFarClearance_m = 2.0;

/// Hears of the stage, and how far it is (0 to 1).
using RacelineProgress = std::function<void(std::string_view stage, double done)>;

/// The line of `points` in the middle of its corridor, as rays along its normals see it.
std::vector<Vec2> refine_centre_line(const Room& room, const std::vector<Vec2>& points, bool closed, const RacelineSettings& settings);

/// The best line from `start` on, which runs within the room. Faults are reported, not refused.
Result<Raceline> optimise_raceline(const Room& room, const std::vector<Vec2>& start, bool closed, const BodyRectangle& chassis,
                                   const RacelineSettings& settings, const RacelineProgress& progress = {});

/// What a line is like as it stands: speeds, clearances, faults.
Result<Raceline> assess_line(const Room& room, const std::vector<Vec2>& points, bool closed, const BodyRectangle& chassis,
                             const RacelineSettings& settings);

/// Why a line is not to be taken in place of the lap that it was made from: its points are nearer than `clearance_m` to a wall, it bends
/// more where the lap is beyond the rack already, it is no faster, or the car cannot drive it. Nothing where it is to be taken.
std::optional<std::string> worse_than_recorded(const Raceline& line, const Raceline& recorded, const Room& room, double clearance_m,
                                               const RacelineSettings& settings);

namespace detail {
/// One step of least curvature from `line`: offsets within bounds.
std::vector<double> least_curvature_step(const Stations& line, const Bounds& bounds, double smoothing_weight);
struct LeastTimeSettings {
  double max_curvature_per_m = 0.0;
  double turning_weight = 0.0;  ///< s m^3: price on the square of the change of curvature per metre
};
/// One step of least time; nothing where no drivable start was found.
std::vector<double> least_time_step(const Stations& line, const Bounds& bounds, const SpeedLimits& limits,
                                    const LeastTimeSettings& settings);
}  // namespace detail

}  // namespace pitwall::tracks::build

// SPDX-License-Identifier: Apache-2.0
#include "calibration/fit/problem.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/geometry.hpp"
#include "core/math.hpp"
#include "core/text.hpp"

namespace pitwall::fit {
namespace {

constexpr double kNear_s = 0.1;
constexpr std::size_t kEveryThird = 3;

std::size_t first_at(const std::vector<double>& t_s, double from_s) {
  return static_cast<std::size_t>(std::lower_bound(t_s.begin(), t_s.end(), from_s) - t_s.begin());
}

/// Least-squares line through the samples near a time, at that time.
double smoothed(const Series& series, double t_s) {
  double n = 0.0, st = 0.0, sv = 0.0, stt = 0.0, stv = 0.0;
  for (std::size_t k = first_at(series.t_s, t_s - kNear_s); k < series.t_s.size() && series.t_s[k] <= t_s + kNear_s; ++k) {
    const double dt = series.t_s[k] - t_s;
    n += 1.0;
    st += dt;
    sv += series.value[k];
    stt += dt * dt;
    stv += dt * series.value[k];
  }
  if (n == 0.0) return NAN;
  const double spread = n * stt - st * st;
  if (n < 3.0 || spread < 1e-9) return sv / n;
  return (sv * stt - st * stv) / spread;
}

/// Whether a series has samples all through [begin, end] without a gap.
bool covers(const std::vector<double>& t_s, double begin_s, double end_s, double gap_s) {
  double last = begin_s;
  for (std::size_t k = first_at(t_s, begin_s); k < t_s.size() && t_s[k] <= end_s; ++k) {
    if (t_s[k] - last > gap_s) return false;
    last = t_s[k];
  }
  return end_s - last <= gap_s;
}

/// Yaw without jumps of a turn, for differences over half a second.
double turn_between(double from_rad, double to_rad) { return wrap_angle(to_rad - from_rad); }

class Cutter {
 public:
  Cutter(Problem& problem, std::size_t drive) : problem_(problem), index_(drive), drive_(problem.drives[drive]) {}

  Status cut() {
    const std::string name = drive_.name.empty() ? "" : drive_.name + ": ";
    if (drive_.commands.size() < 2) return Error{name + "no commands to play"};
    if (speed_times() == nullptr) return Error{name + "nothing measured to compare with: neither a speed nor poses"};
    add_channels();
    const double scale = problem_.base.odometry_scale;
    const ProblemOptions& o = problem_.options;
    const double first = std::max(drive_.commands.t_s.front(), speed_times()->front());
    const double last = std::min(drive_.commands.t_s.back() + o.longest_gap_s, speed_times()->back());
    for (double begin = first + o.warm_s; begin + 0.5 * o.stretch_s <= last;) {
      const double end = std::min(begin + o.stretch_s, last);
      if (usable(begin - o.warm_s, end)) {
        add_piece(begin, end, scale);
        begin = end;
      } else {
        begin += 0.5;
      }
    }
    return {};
  }

 private:
  [[nodiscard]] const std::vector<double>* speed_times() const {
    for (const Quantity quantity : {Quantity::kSpeed, Quantity::kWheelSpeed}) {
      const Series* series = drive_.find(quantity);
      if (series != nullptr && series->t_s.size() > 1) return &series->t_s;
    }
    return nullptr;
  }

  void add_channels() {
    first_channel_ = problem_.channels.size();
    for (const Series& series : drive_.series)
      problem_.channels.push_back({index_, series.quantity, series.source, series.sigma, series.span_s});
    track_channel_ = problem_.channels.size();
    if (!drive_.track) return;
    const Track& track = *drive_.track;
    const double way = 1.4 * track.sigma_m;
    problem_.channels.push_back({index_, Quantity::kAhead, track.source, way, 0.0});
    problem_.channels.push_back({index_, Quantity::kAcross, track.source, way, 0.0});
    problem_.channels.push_back({index_, Quantity::kTurn, track.source, 1.4 * track.sigma_rad, 0.0});
  }

  [[nodiscard]] bool usable(double begin_s, double end_s) const {
    const ProblemOptions& o = problem_.options;
    if (!covers(drive_.commands.t_s, begin_s, end_s, o.longest_gap_s) || !covers(*speed_times(), begin_s, end_s, o.longest_gap_s))
      return false;
    const double scale = problem_.base.odometry_scale;
    double fastest = 0.0;
    for (double t = begin_s; t <= end_s; t += kNear_s) {
      const double speed = measured_speed(drive_, t, scale);
      if (std::isfinite(speed)) fastest = std::max(fastest, std::abs(speed));
    }
    // The plant is only sure of stretches that are commanded the same way throughout.
    const std::size_t first = first_at(drive_.commands.t_s, begin_s);
    const std::size_t last = std::min(first_at(drive_.commands.t_s, end_s), drive_.commands.size() - 1);
    return fastest > o.least_speed_mps && std::isfinite(drive_.commands.speed_mps[first]) == std::isfinite(drive_.commands.speed_mps[last]);
  }

  void add_piece(double begin_s, double end_s, double scale) {
    const ProblemOptions& o = problem_.options;
    Piece piece;
    piece.stretch = {index_, begin_s - o.warm_s, begin_s, end_s, measured_speed(drive_, begin_s - o.warm_s, scale), false, 0.0, NAN};
    piece.stretch.begin_speed_mps = measured_speed(drive_, begin_s, scale);
    // Without a loop that pulls the speed to a target, nothing forgets how wrong the warm-up ended.
    const std::size_t first = std::min(first_at(drive_.commands.t_s, begin_s), drive_.commands.size() - 1);
    piece.stretch.reseed = !std::isfinite(drive_.commands.speed_mps[first]) && std::isfinite(piece.stretch.begin_speed_mps);
    if (!std::isfinite(piece.stretch.warm_speed_mps)) return;
    piece.held_out = problem_.pieces.size() % kEveryThird == kEveryThird - 1;
    for (std::size_t s = 0; s < drive_.series.size(); ++s) {
      const Series& series = drive_.series[s];
      const double half = 0.5 * series.span_s;
      for (std::size_t k = first_at(series.t_s, begin_s + half); k < series.t_s.size() && series.t_s[k] < end_s - half; ++k) {
        if (std::isfinite(series.value[k])) piece.rows.push_back({first_channel_ + s, series.t_s[k], series.t_s[k], series.value[k], 0});
      }
    }
    if (drive_.track) add_increments(begin_s, end_s, piece.rows);
    for (Row& row : piece.rows) row.block = problem_.blocks + static_cast<std::size_t>((row.at_s - begin_s) / o.block_s);
    problem_.blocks += static_cast<std::size_t>(std::ceil((end_s - begin_s) / o.block_s));
    problem_.motion_s += end_s - begin_s;
    problem_.pieces.push_back(std::move(piece));
  }

  void add_increments(double begin_s, double end_s, std::vector<Row>& rows) const {
    const Track& track = *drive_.track;
    const double most = problem_.options.increment_s;
    std::size_t from = first_at(track.t_s, begin_s);
    for (std::size_t to = from; to < track.t_s.size() && track.t_s[to] < end_s; ++to) {
      if (!std::isfinite(track.x_m[to])) {
        from = to + 1;
        continue;
      }
      while (track.t_s[to] - track.t_s[from] > most + 1e-6) ++from;
      if (track.t_s[to] - track.t_s[from] < 0.6 * most) continue;
      const Vec2 way = rotate(-track.yaw_rad[from], Vec2{track.x_m[to] - track.x_m[from], track.y_m[to] - track.y_m[from]});
      const double turn = turn_between(track.yaw_rad[from], track.yaw_rad[to]);
      rows.push_back({track_channel_, track.t_s[to], track.t_s[from], way.x, 0});
      rows.push_back({track_channel_ + 1, track.t_s[to], track.t_s[from], way.y, 0});
      rows.push_back({track_channel_ + 2, track.t_s[to], track.t_s[from], turn, 0});
    }
  }

  Problem& problem_;
  std::size_t index_;
  const Drive& drive_;
  std::size_t first_channel_ = 0;
  std::size_t track_channel_ = 0;
};

/// Where the measured point went, in the measured axes of the beginning.
Pose2 increment(const Moved& from, const Moved& to, const Subject& subject) {
  const Vec2 p{from.x_m, from.y_m};
  const Vec2 q{to.x_m, to.y_m};
  const Vec2 way = q - p + subject.pose_ahead_m * (unit_vector(to.yaw_rad) - unit_vector(from.yaw_rad));
  const Vec2 seen = rotate(-from.yaw_rad - subject.mount_yaw_rad, way);
  return {seen.x, seen.y, to.yaw_rad - from.yaw_rad};
}

double simulated_at(Quantity quantity, const Moved& at, const Subject& subject) {
  switch (quantity) {
    case Quantity::kWheelSpeed:
      return at.wheel_mps;
    case Quantity::kYawRate:
      return at.yaw_rate_radps;
    default:
      break;
  }
  const Vec2 seen = rotate(-subject.mount_yaw_rad, Vec2{at.speed_mps, at.lateral_mps});
  return quantity == Quantity::kLateral ? seen.y : seen.x;
}

/// Motion as the mean over `span_s`: the constant velocity that drives from its beginning to its end, which is how poses and scans
/// give it. Exact where a servo's rate sets in and ends, which rules of quadrature are not (0.3 % of the rate over 50 ms).
Moved mean_about(const Played& played, double t_s, double span_s) {
  const Moved from = played.at(t_s - 0.5 * span_s);
  const Moved to = played.at(t_s + 0.5 * span_s);
  const double half_turn = 0.5 * (to.yaw_rad - from.yaw_rad);
  const Vec2 chord = rotate(-from.yaw_rad - half_turn, Vec2{to.x_m - from.x_m, to.y_m - from.y_m});
  const double arc_over_chord = std::abs(half_turn) < 1e-4 ? 1.0 : half_turn / math::sin(half_turn);
  Moved mean;
  mean.speed_mps = arc_over_chord * chord.x / span_s;
  mean.lateral_mps = arc_over_chord * chord.y / span_s;
  mean.yaw_rate_radps = 2.0 * half_turn / span_s;
  return mean;
}

double simulated(Quantity quantity, const Played& played, double t_s, double span_s, const Subject& subject) {
  const bool mean = span_s > 0.0 && quantity != Quantity::kWheelSpeed;
  return simulated_at(quantity, mean ? mean_about(played, t_s, span_s) : played.at(t_s), subject);
}

}  // namespace

std::size_t Problem::rows(bool held_out) const {
  std::size_t sum = 0;
  for (const Piece& piece : pieces) sum += piece.held_out == held_out ? piece.rows.size() : 0;
  return sum;
}

double measured_speed(const Drive& drive, double t_s, double odometry_scale) {
  if (const Series* series = drive.find(Quantity::kSpeed)) return smoothed(*series, t_s);
  if (const Series* series = drive.find(Quantity::kWheelSpeed)) {
    return (std::isfinite(drive.odometry_scale) ? drive.odometry_scale : odometry_scale) * smoothed(*series, t_s);
  }
  return NAN;
}

double measured_yaw_rate(const Drive& drive, double t_s) {
  const Series* series = drive.find(Quantity::kYawRate);
  return series == nullptr ? NAN : smoothed(*series, t_s);
}

Result<Problem> make_problem(const CarParameters& base, std::vector<Drive> drives, const ProblemOptions& options) {
  Problem problem;
  problem.base = base;
  problem.drives = std::move(drives);
  problem.options = options;
  bool wheels = false;
  for (const Drive& drive : problem.drives) wheels = wheels || drive.find(Quantity::kWheelSpeed) != nullptr;
  problem.options.playback.wheel_speed = wheels;
  for (std::size_t d = 0; d < problem.drives.size(); ++d) {
    if (const Status cut = Cutter(problem, d).cut(); !cut) return cut.error();
  }
  if (problem.motion_s < options.least_motion_s) {
    return Error{(problem.drives.empty() ? std::string("no runs") : problem.drives.front().name) + ": " +
                 format_number(problem.motion_s, 3) +
                 " s of motion with commands, too little for a fit; needed: " + format_number(options.least_motion_s, 3) + " s"};
  }
  return problem;
}

Status residuals_of(const Problem& problem, const Piece& piece, const Subject& subject, Played& scratch, double* into) {
  const Drive& drive = problem.drives[piece.stretch.drive];
  if (const Status played = play(drive, piece.stretch, subject, problem.options.playback, scratch); !played) return played;
  Pose2 moved;
  for (std::size_t i = 0; i < piece.rows.size(); ++i) {
    const Row& row = piece.rows[i];
    const Quantity quantity = problem.channels[row.channel].quantity;
    const Moved at = scratch.at(row.at_s);
    switch (quantity) {
      case Quantity::kAhead:
        // The three rows of an increment follow one another.
        moved = increment(scratch.at(row.from_s), at, subject);
        into[i] = moved.x - row.measured;
        break;
      case Quantity::kAcross:
        into[i] = moved.y - row.measured;
        break;
      case Quantity::kTurn:
        into[i] = wrap_angle(moved.yaw - row.measured);
        break;
      default:
        into[i] = simulated(quantity, scratch, row.at_s, problem.channels[row.channel].span_s, subject) - row.measured;
    }
  }
  return {};
}

double fastest_mps(const Problem& problem) {
  std::vector<double> speeds;
  for (const Piece& piece : problem.pieces) {
    const double own = problem.drives[piece.stretch.drive].odometry_scale;
    for (const Row& row : piece.rows) {
      const Quantity q = problem.channels[row.channel].quantity;
      const double scale = q == Quantity::kWheelSpeed ? (std::isfinite(own) ? own : problem.base.odometry_scale) : 1.0;
      if (q == Quantity::kSpeed || q == Quantity::kWheelSpeed) speeds.push_back(scale * std::abs(row.measured));
    }
  }
  if (speeds.empty()) return INFINITY;
  const auto place = speeds.begin() + static_cast<std::ptrdiff_t>(0.99 * static_cast<double>(speeds.size() - 1));
  std::nth_element(speeds.begin(), place, speeds.end());
  return *place;
}

}  // namespace pitwall::fit

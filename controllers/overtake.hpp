// SPDX-License-Identifier: Apache-2.0
// Passing another car, and following it where there is no room.
//
// A pass is planned on the track before it begins and again on every tick: the car is driven ahead along its line in
// thought, shifted sideways past the opponent, with the speeds that line and shift allow, while every opponent moves on
// at its own rate. The pass is on only if the whole of it fits: beside the opponent with `body_gap_m` between the bodies,
// `wall_gap_m` from the wall, and ahead by `clear_margin_m` before the plan ends. The side is the one with more room.
//
// The sideways shift d(s) has bounded slope and second derivative (arc lengths, so it is the same curve at any speed):
//   d' -> sign(T - d) min(kSlope, sqrt(2 c |T - d|)),   |d''| <= c,   c = shift_accel / v^2
//
// Behind an opponent that is in the way: v <= v_opponent + u, where u t + u^2 / (2 a) = gap - follow_gap and t is what the
// own brakes take to answer. A moving car is never a wall to
// stop for, and where there is no room the car simply follows.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "controllers/opponents.hpp"
#include "core/fields.hpp"
#include "tracks/path.hpp"

namespace pitwall::controllers {

struct OvertakeParameters {
  bool enable = true;
  double trigger_gap_m = 6.0;       ///< between the bodies, at which a pass may begin
  double closing_margin_mps = 0.3;  ///< how much faster the line must allow
  double body_gap_m = 0.30;         ///< between the bodies, side by side, as planned
  double least_body_gap_m = 0.20;   ///< below it the car is in the way
  double wall_gap_m = 0.20;         ///< from the body to the wall, as planned
  double clear_margin_m = 1.0;      ///< lead, centre to centre, at which the pass is over
  double abort_unseen_s = 3.0;
  double shift_accel_mps2 = 1.2;  ///< lateral acceleration of the shift alone
  double horizon_m = 45.0;        ///< a pass that takes longer does not begin
  double follow_gap_m = 0.6;      ///< between the bodies, while following
  double standing_gap_m = 2.5;    ///< more, behind one that stands
  double follow_decel_mps2 = 2.5;
  void fields(FieldVisitor& f);
};

/// What of the line matters for a pass: speeds and room, one value per point of the path.
struct Corridor {
  const tracks::Path* path = nullptr;
  std::span<const double> speed_mps;
  std::span<const double> free_right_m;  ///< from the line to the wall; empty: unknown, no pass
  std::span<const double> free_left_m;
  double accelerate_mps2 = 3.0;
  double brake_mps2 = 4.0;
  double lateral_mps2 = 2.5;
  double max_speed_mps = 4.0;
};

/// The shift from the line, and how it goes on.
struct Shift {
  double d_m = 0.0;
  double slope = 0.0;  ///< d' = dd/ds
};

/// One step of the shift towards `target_m`; `bend_per_m` bounds |d''|. Returns d''.
double advance(Shift& shift, double target_m, double bend_per_m, double step_m);

enum class Mode : std::uint8_t { kFree, kFollow, kPass };

/// What the layer asks of the law on this tick.
struct Manoeuvre {
  Mode mode = Mode::kFree;
  double speed_cap_mps = std::numeric_limits<double>::infinity();
  std::int32_t opponent = 0;  ///< id of the opponent that decides; 0 for none
};

class Overtake {
 public:
  /// `response_s`: from an opponent's braking to the own brakes having answered it.
  Overtake(const OvertakeParameters& parameters, double car_length_m, double car_width_m, double response_s);

  void reset();
  /// Ends what is going on, pass and shift; what was counted is kept.
  void abandon();

  /// The decision of one tick; afterwards shift_at() is the line to follow. `opponents` are brought forward to `now`,
  /// confirmed ones only.
  Manoeuvre update(const Corridor& corridor, std::span<const Opponent> opponents, Time now, double s_m, double lateral_m, double speed_mps);

  /// Shift from the line, left positive, at arc length s; known for kPreview_m ahead, constant beyond.
  [[nodiscard]] double shift_at(const tracks::Path& path, double s_m) const;
  /// Whether the line to follow is shifted at all.
  [[nodiscard]] bool shifted() const { return shifted_; }
  [[nodiscard]] double shift_m() const { return shift_.d_m; }
  [[nodiscard]] bool passing() const { return passing_; }

  struct Counters {
    std::int64_t starts = 0;
    std::int64_t declined = 0;
    std::int64_t completed = 0;
    std::int64_t aborted = 0;
    int last_side = 0;  ///< +1 left, -1 right, 0 none yet
  };
  [[nodiscard]] const Counters& counters() const { return counters_; }

  /// A pass in thought.
  struct Trial {
    bool fits = false;
    double room_m = 0.0;    ///< least room to spare, of wall and body
    double length_m = 0.0;  ///< of track until it is over
  };
  /// Drives the pass of `opponents[target]` on `side` in thought, from the present shift.
  [[nodiscard]] Trial try_pass(const Corridor& corridor, std::span<const Opponent> opponents, std::size_t target, int side, double s_m,
                               double speed_mps) const;

 private:
  static constexpr double kPreview_m = 6.0;
  static constexpr double kPreviewStep_m = 0.1;
  static constexpr std::size_t kPreviewSize = 61;

  [[nodiscard]] double beside(const Opponent& o, int side) const;
  [[nodiscard]] double follow_limit(double rate_mps, double gap_m) const;
  [[nodiscard]] double bend(double speed_mps) const;
  [[nodiscard]] double follow_cap(const Corridor& corridor, std::span<const Opponent> opponents, double s_m, double lateral_m,
                                  std::int32_t& decisive) const;
  bool preview(const Corridor& corridor, int side, double target_m, double bend_per_m, double& speed_cap_mps);
  void lay_out(const Corridor& corridor, double s_m, double target_m, double& speed_cap_mps);
  void begin_or_decline(const Corridor& corridor, std::span<const Opponent> opponents, std::size_t nearest, Time now, double s_m,
                        double speed_mps);

  OvertakeParameters parameters_;
  double length_m_;
  double width_m_;
  double response_s_;
  Shift shift_;
  double bend_per_m_ = 0.06;
  double shift_s_m_ = 0.0;
  bool placed_ = false;
  bool shifted_ = false;
  std::array<double, kPreviewSize> preview_{};
  bool passing_ = false;
  bool declining_ = false;
  std::int32_t target_id_ = 0;
  int side_ = 0;
  int unfit_ticks_ = 0;
  int fit_ticks_ = 0;
  double target_lateral_m_ = 0.0;
  Counters counters_;
};

}  // namespace pitwall::controllers

// SPDX-License-Identifier: Apache-2.0
// The law `mpc`: each tick one quadratic program over the next `stages` stages of `stage_s`, solved exactly (qp/), steering only.
//
//   where the car will be   its state now, rolled on by the nonlinear single track through the commands that are under way: the
//                           plan begins when the command that is about to be given begins to act
//   model                   x+ = A x + B u + c, states (d, e, v_y, r, w) or (d, e, w) of lateral_model.hpp, exact hold over a stage;
//                           A and B change with the speed that the shared profile will have, c with the curvature and the slips
//                           of the tyres there, so that the steady turn of the place is a state of rest
//   cost                    (d / lateral)^2 + ((e - e_steady) / heading)^2 + (du / (rate stage))^2 for every stage, and for all that
//                           comes after the last one x'Px of the regulator: without rows that matter the plan is that of lqr
//   rows                    change of the command, locks; soft, with one slack each: room beside the line, friction octagon.
//                           Of a slack later stages get less, so that what cannot be helped now is helped soon
//
// The octagon stands in the circle of radius mu g over (longitudinal, lateral) acceleration, a corner on each axis. The
// longitudinal one is what the speed profile does there, since speed is not this law's; what is left is a bound on the lateral
// one. (Tyres that are said to be linear have no limit, and the plan no octagon.) Soft rows cost |slack| and slack^2, so that there is
// always a plan; it is a fault if the solver has none. Then the plan before is followed for one tick, and from the second failure in a row
// the law answers with no number: the shared stage stops the car (kSteeringLawFailed).
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "controllers/lateral_model.hpp"
#include "controllers/qp/dual_active_set.hpp"
#include "controllers/speed_table.hpp"
#include "controllers/steering_law.hpp"

namespace pitwall::controllers {

struct MpcParameters {
  LateralKind model = LateralKind::kDynamic;
  SlipLaw tyre = SlipLaw::kBrush;
  LateralWeights weights;
  std::int64_t stages = 20;
  double stage_s = 0.04;
  double wall_margin_m = 0.10;  ///< between the padded body and a wall, where the soft bound begins
  double grip_share = 0.95;     ///< of the friction octagon
  std::int64_t max_iterations = 150;
  void fields(FieldVisitor& f);
};

/// The start-up checks: tyre numbers, and a terminal cost at every speed.
Status validate(const MpcParameters& parameters, const LawSetup& setup, std::string_view what);

class MpcLaw final : public SteeringLaw {
 public:
  using Parameters = MpcParameters;
  /// The parameters must have passed validate().
  MpcLaw(const MpcParameters& parameters, const LawSetup& setup);

  void reset() override;
  double steer(const LawInput& in) override;
  [[nodiscard]] double delay_margin_s(double speed_mps) const override;
  [[nodiscard]] bool fell_back() const override { return fell_back_; }
  [[nodiscard]] std::vector<std::pair<std::string_view, double>> counters() const override;

  /// The last plan: commands, and the states (d, e, [v_y, r,] w) at the ends of the stages, the first the rolled-on start.
  [[nodiscard]] std::span<const double> planned_commands() const { return command_; }
  [[nodiscard]] std::span<const double> planned_states() const { return state_; }
  [[nodiscard]] qp::Status status() const { return status_; }
  [[nodiscard]] int iterations() const { return solver_.iterations(); }
  /// Slack that the last plan needs: room beside the line in m, acceleration in m/s^2.
  [[nodiscard]] double room_slack_m() const { return room_slack_m_; }
  [[nodiscard]] double grip_slack_mps2() const { return grip_slack_mps2_; }
  /// Largest lateral acceleration inside the octagon beside a longitudinal one, both in shares of the circle.
  static double octagon(double longitudinal_share);

 private:
  static constexpr std::size_t kMostStates = 5;
  /// What holds in one stage.
  struct Stage {
    SteadyTurn turn;
    double speed_mps = 0.0;
    double longitudinal_mps2 = 0.0;
    double left_m = 0.0, right_m = 0.0;  ///< room for d
    std::array<double, kMostStates * kMostStates> a{};
    std::array<double, kMostStates> b{};
  };
  void roll_on(const LawInput& in);
  void look_ahead(const LawInput& in);
  void condense(double commanded_rad);
  void add_square(double weight, double value, const double* row, std::size_t count);
  void add_terminal(double commanded_rad);
  void add_rows(double commanded_rad);
  void keep_plan(const LawInput& in);
  double fall_back(const LawInput& in);
  [[nodiscard]] std::array<double, kMostStates> at_rest(const SteadyTurn& turn) const;

  MpcParameters p_;
  LawSetup setup_;
  LateralKind kind_;
  std::size_t n_;       ///< states
  std::size_t stages_;  ///< N
  SpeedTable hold_;     ///< A and B of a stage
  SpeedTable behind_;   ///< P, the cost of what comes after the plan, and the gains of its regulator on (x, u_-1)
  SpeedTable rolling_;  ///< yaw rate per wheel angle of the kinematic model
  SideMotion side_;
  SideMotion rolled_;
  qp::DualActiveSet solver_;
  // Between ticks.
  int failures_ = 0;
  bool fell_back_ = false;
  bool planned_ = false;
  Time planned_at_;
  // The problem.
  double start_s_m_ = 0.0;
  double start_speed_mps_ = 0.0;
  double too_far_m_ = 0.0;  ///< of d, for the cost only
  std::vector<Stage> stage_;
  std::vector<double> free_;  ///< states without changes of the command, (N + 1) x n
  std::vector<double> to_;    ///< sensitivities, (N + 1) x n x N
  std::vector<double> hessian_, gradient_, rows_, lower_, upper_, weighted_;
  std::vector<double> command_, state_;
  qp::Status status_ = qp::Status::kSolved;
  double room_slack_m_ = 0.0, grip_slack_mps2_ = 0.0;
  double plans_ = 0, iterations_sum_ = 0, most_iterations_ = 0, fallbacks_ = 0, failed_ = 0, room_ticks_ = 0, grip_ticks_ = 0;
};

}  // namespace pitwall::controllers

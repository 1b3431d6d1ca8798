// SPDX-License-Identifier: Apache-2.0
// The one file that sees Ceres.
#include <ceres/ceres.h>

#include "calibration/fit/objective.hpp"

namespace pitwall::fit {
namespace {

class Cost final : public ceres::CostFunction {
 public:
  explicit Cost(Objective& objective) : objective_(objective) {
    set_num_residuals(static_cast<int>(objective.rows()));
    mutable_parameter_block_sizes()->push_back(static_cast<int>(objective.columns()));
  }
  bool Evaluate(double const* const* z, double* rows, double** jacobian) const override {
    return objective_.evaluate(z[0], rows, jacobian == nullptr ? nullptr : jacobian[0], Objective::kStep, true);
  }

 private:
  Objective& objective_;
};

class AskToGoOn final : public ceres::IterationCallback {
 public:
  explicit AskToGoOn(const std::function<bool()>& go_on) : go_on_(go_on) {}
  ceres::CallbackReturnType operator()(const ceres::IterationSummary& /*summary*/) override {
    return !go_on_ || go_on_() ? ceres::SOLVER_CONTINUE : ceres::SOLVER_ABORT;
  }

 private:
  const std::function<bool()>& go_on_;
};

}  // namespace

Minimised minimise(Objective& objective, std::vector<double> z, int iterations, const std::function<bool()>& go_on) {
  Minimised out;
  ceres::Problem problem;
  problem.AddResidualBlock(new Cost(objective), nullptr, z.data());
  for (std::size_t i = 0; i < z.size(); ++i) {
    problem.SetParameterLowerBound(z.data(), static_cast<int>(i), objective.low(i));
    problem.SetParameterUpperBound(z.data(), static_cast<int>(i), objective.high(i));
  }
  AskToGoOn ask(go_on);
  ceres::Solver::Options options;
  options.max_num_iterations = iterations;
  options.linear_solver_type = ceres::DENSE_QR;
  options.num_threads = 1;
  options.logging_type = ceres::SILENT;
  options.function_tolerance = 1e-6;
  options.parameter_tolerance = 1e-4;
  options.initial_trust_region_radius = 1e2;
  // With bounds each step is searched along its line; the default interpolation would ask for a whole Jacobian at every trial.
  options.line_search_interpolation_type = ceres::QUADRATIC;
  options.callbacks.push_back(&ask);
  ceres::Solver::Summary summary;
  ceres::Solve(options, &problem, &summary);
  out.z = std::move(z);
  out.cost = summary.final_cost;
  out.iterations = static_cast<int>(summary.iterations.size());
  out.interrupted = summary.termination_type == ceres::USER_FAILURE;
  out.usable = summary.IsSolutionUsable();
  return out;
}

}  // namespace pitwall::fit

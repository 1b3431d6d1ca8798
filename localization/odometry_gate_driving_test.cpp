// SPDX-License-Identifier: Apache-2.0
// The car of every built-in scenario drives by the gated pose: through a controller that hands on what the gate makes of it. Whether it
// drives the same. (What is left of jumps: odometry_gate_loop_test.)
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/files.hpp"
#include "localization/odometry_gate.hpp"
#include "scenarios/run.hpp"
#include "scenarios/scenario.hpp"

using namespace pitwall;
using namespace pitwall::localization;

namespace {

/// Hands gated poses on to the controller that drives.
class DrivesByGate final : public Controller {
 public:
  DrivesByGate(std::unique_ptr<Controller> inner, const CarParameters& car, GateCounts& counts)
      : inner_(std::move(inner)), gate_(OdometryGateParameters::for_car(car, std::max(car.surface_friction, 0.5))), counts_(&counts) {}

  [[nodiscard]] std::string_view name() const override { return inner_->name(); }
  [[nodiscard]] Trigger trigger() const override { return inner_->trigger(); }
  void reset(const Observation& first) override { inner_->reset(through(first)); }
  Command update(const Observation& observation) override { return inner_->update(through(observation)); }
  Status change_parameters(const Node& changes) override { return inner_->change_parameters(changes); }
  [[nodiscard]] std::vector<std::pair<std::string_view, double>> counters() const override { return inner_->counters(); }

 private:
  Observation through(const Observation& in) {
    Observation out = in;
    if (in.odometry.message != nullptr && in.odometry.sequence != odometry_) {
      odometry_ = in.odometry.sequence;
      const Odometry& o = *in.odometry.message;
      gate_.add_wheels(o.stamp, {o.position.x, o.position.y, yaw_of(o.orientation)});
    }
    if (in.pose.message == nullptr) return out;
    if (in.pose.sequence != pose_) {
      pose_ = in.pose.sequence;
      const Pose2 raw = in.pose.message->pose();
      const Pose2 gated = gate_.add_pose(in.pose.message->stamp, raw).T_odom_base;
      *counts_ = gate_.counts();
      message_ = *in.pose.message;
      message_.position = gated.position();
      if (!(gated == raw)) message_.orientation = to_quaternion(gated.yaw);
    }
    out.pose.message = &message_;
    return out;
  }

  std::unique_ptr<Controller> inner_;
  OdometryGate gate_;
  GateCounts* counts_;
  std::uint64_t odometry_ = 0;
  std::uint64_t pose_ = 0;
  PoseEstimate message_;
};

std::vector<scenarios::ResolvedRun> built_in() {
  scenarios::ValidationOptions options;
  options.data = data_folder();
  options.scenario = "all";
  const auto runs = scenarios::resolve(options);
  REQUIRE_MESSAGE(runs.ok(), runs.error().message);
  return *runs;
}

}  // namespace

TEST_CASE("driving by the gated pose, every built-in scenario ends as without the gate: same trace, same verdict, no step replaced") {
  int driven_by_pose = 0;
  for (const scenarios::ResolvedRun& run : built_in()) {
    CAPTURE(run.scenario.id);
    const auto never = [] { return false; };
    const auto plain = scenarios::run_scenario(run, never);
    REQUIRE_MESSAGE(plain.ok(), plain.error().message);
    GateCounts counts;
    scenarios::RunHooks hooks;
    hooks.around = [&](std::unique_ptr<Controller> inner) -> std::unique_ptr<Controller> {
      return std::make_unique<DrivesByGate>(std::move(inner), run.parameters, counts);
    };
    const auto gated = scenarios::run_scenario(run, never, hooks);
    REQUIRE_MESSAGE(gated.ok(), gated.error().message);
    CHECK(plain->passed);
    CHECK(gated->passed == plain->passed);
    CHECK(gated->trace_hash == plain->trace_hash);
    CHECK(gated->reasons == plain->reasons);
    CHECK(counts.replaced() == 0);
    driven_by_pose += counts.of(GateVerdict::kAccepted) > 100 ? 1 : 0;
  }
  CHECK(driven_by_pose >= 5);
}

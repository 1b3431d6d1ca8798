// SPDX-License-Identifier: Apache-2.0
// The car of every built-in scenario drives by the gated pose: through a controller that hands on what the gate makes of it. Whether it
// drives the same, what a way and a turn read, and what is left of jumps that would have put it into the wall.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <optional>
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

/// What happened to the poses on their way.
struct GateLog {
  GateCounts counts;
  int jumps = 0;
  double way_gated_m = 0.0;
  std::vector<std::pair<Time, Pose2>> gated;
};

/// Hands gated poses on to the controller that drives. Each pose may be moved by jumps first, as those of a localiser that falls for the
/// wrong wall and stays there.
class DrivesByGate final : public Controller {
 public:
  DrivesByGate(std::unique_ptr<Controller> inner, const CarParameters& car, double jump_every_s, bool gated, GateLog& log)
      : inner_(std::move(inner)),
        gate_(OdometryGateParameters::for_car(car, std::max(car.surface_friction, 0.5))),
        jump_every_s_(jump_every_s),
        gated_(gated),
        log_(&log) {}

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
      const Time stamp = in.pose.message->stamp;
      if (jump_every_s_ > 0.0 && last_jump_ && (stamp - *last_jump_).seconds() > jump_every_s_) {
        T_jumped_ = Pose2{log_->jumps % 2 == 0 ? 1.6 : -1.4, 1.0, 0.0} * T_jumped_;
        last_jump_ = stamp;
        ++log_->jumps;
      }
      if (!last_jump_) last_jump_ = stamp;
      const GatedPose gated = gate_.add_pose(stamp, T_jumped_ * in.pose.message->pose());
      log_->way_gated_m += gated.step_taken.x;
      log_->counts = gate_.counts();
      log_->gated.emplace_back(stamp, gated.T_odom_base);
      const Pose2 pose = gated_ ? gated.T_odom_base : T_jumped_ * in.pose.message->pose();
      message_ = *in.pose.message;
      message_.position = pose.position();
      if (!(pose == in.pose.message->pose())) message_.orientation = to_quaternion(pose.yaw);
    }
    out.pose.message = &message_;
    return out;
  }

  std::unique_ptr<Controller> inner_;
  OdometryGate gate_;
  double jump_every_s_;
  bool gated_;
  GateLog* log_;
  std::uint64_t odometry_ = 0;
  std::uint64_t pose_ = 0;
  std::optional<Time> last_jump_;
  Pose2 T_jumped_;
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

struct Driven {
  scenarios::Outcome outcome;
  GateLog log;
  double way_m = 0.0;  ///< true, between the first and the last pose
  double off_m = 0.0;  ///< the last gated pose from the true one
};

Driven drive(const scenarios::ResolvedRun& run, double jump_every_s, bool gated) {
  Driven driven;
  scenarios::RunHooks hooks;
  hooks.around = [&](std::unique_ptr<Controller> inner) -> std::unique_ptr<Controller> {
    return std::make_unique<DrivesByGate>(std::move(inner), run.parameters, jump_every_s, gated, driven.log);
  };
  PoseTrack truth(from_seconds(1000.0));
  hooks.after_step = [&](const sim::World& world) { truth.add(world.now(), world.car(0).T_map_base); };
  auto outcome = scenarios::run_scenario(
      run, [] { return false; }, hooks);
  REQUIRE_MESSAGE(outcome.ok(), outcome.error().message);
  driven.outcome = *std::move(outcome);
  if (driven.log.gated.size() < 2) return driven;
  if (const auto at_end = truth.at(driven.log.gated.back().first)) {
    driven.off_m = distance(at_end->position(), driven.log.gated.back().second.position());
  }
  const Duration step = from_milliseconds(5);
  for (Time t = driven.log.gated.front().first; t + step <= driven.log.gated.back().first; t = t + step) {
    if (const auto moved = truth.between(t, t + step)) driven.way_m += moved->x;
  }
  return driven;
}

}  // namespace

TEST_CASE("driving by the gated pose, every built-in scenario ends as without the gate: same trace, same verdict, no step replaced") {
  int driven_by_pose = 0;
  for (const scenarios::ResolvedRun& run : built_in()) {
    CAPTURE(run.scenario.id);
    const auto plain = scenarios::run_scenario(run, [] { return false; });
    REQUIRE_MESSAGE(plain.ok(), plain.error().message);
    const Driven gated = drive(run, 0.0, true);
    CHECK(plain->passed);
    CHECK(gated.outcome.passed == plain->passed);
    CHECK(gated.outcome.trace_hash == plain->trace_hash);
    CHECK(gated.outcome.reasons == plain->reasons);
    CHECK(gated.log.counts.replaced() == 0);
    driven_by_pose += gated.log.counts.of(GateVerdict::kAccepted) > 100 ? 1 : 0;
  }
  CHECK(driven_by_pose >= 5);
}

TEST_CASE("with a jump of two metres every 2 s all are replaced: way and place stay within 5 % of the way driven") {
  // The gate is no localiser: what the steps of the wheels are off by stays, so that a line in the map is left in the end.
  double worst_way_percent = 0.0, worst_off_percent = 0.0;
  for (const scenarios::ResolvedRun& run : built_in()) {
    CAPTURE(run.scenario.id);
    const Driven driven = drive(run, 2.0, true);
    CHECK(driven.log.jumps >= 2);
    CHECK(driven.log.counts.replaced() == driven.log.jumps);
    const double way_percent = 100.0 * std::abs(driven.log.way_gated_m / driven.way_m - 1.0);
    const double off_percent = 100.0 * driven.off_m / driven.way_m;
    MESSAGE(run.scenario.id << ": " << driven.log.jumps << " jumps, way " << driven.way_m << " m, gated off by " << way_percent
                            << " %, place by " << driven.off_m << " m");
    worst_way_percent = std::max(worst_way_percent, way_percent);
    worst_off_percent = std::max(worst_off_percent, off_percent);
  }
  CHECK(worst_way_percent <= 5.0);
  CHECK(worst_off_percent <= 5.0);
}

// SPDX-License-Identifier: Apache-2.0
// The gate in the loop of the simulator: what it makes of scan-matched odometry and of the localiser's pose in every built-in scenario,
// with and without jumps, and whether a way and a turn read what was driven.
#include <doctest/doctest.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "core/files.hpp"
#include "localization/odometry_gate.hpp"
#include "localization/scan_track.hpp"
#include "scenarios/run.hpp"
#include "scenarios/scenario.hpp"

using namespace pitwall;
using namespace pitwall::localization;

namespace {

struct Stamped {
  Time stamp;
  Pose2 pose;
  bool jumped = false;
};

// Whatever car0 receives, through the gate as it would run on the car: a pose waits until the wheels are known at its stamp.
class GateOnTheCar : public RunObserver {
 public:
  GateOnTheCar(const CarParameters& car, double jump_every_s)
      : track_({}, car.lidar_mount()),
        by_scans(parameters_of(car)),
        by_localiser(parameters_of(car)),
        truth(from_seconds(1000.0)),
        jump_every_s_(jump_every_s) {}

  void arrived(std::size_t car, const Source<Odometry>& odometry) override {
    if (car != 0) return;
    const Odometry& o = *odometry.message;
    const Pose2 pose{o.position.x, o.position.y, yaw_of(o.orientation)};
    expected_ = Twist{o.speed_mps, 0.0, o.yaw_rate_radps};
    by_scans.add_wheels(o.stamp, pose);
    by_localiser.add_wheels(o.stamp, pose);
    settle();
  }
  void arrived(std::size_t car, const Source<LaserScan>& scan) override {
    if (car != 0) return;
    if (const auto sample = track_.add(*scan.message, expected_)) scans_waiting_.push_back(with_jumps(*sample));
    settle();
  }
  void arrived(std::size_t car, const Source<PoseEstimate>& pose) override {
    if (car != 0) return;
    poses_waiting_.push_back({pose.message->stamp, pose.message->pose()});
    settle();
  }
  void arrived(std::size_t, const Source<Joy>&) override {}
  void arrived(std::size_t, const Source<Imu>&) override {}
  void changed(std::size_t /*car*/, const std::string& /*assignment*/) override {}
  void decided(std::size_t, std::uint64_t, const Observation&, const Command&) override {}

 private:
  static OdometryGateParameters parameters_of(const CarParameters& car) {
    return OdometryGateParameters::for_car(car, std::max(car.surface_friction, 0.5));
  }
  // A matcher that falls onto the wrong wall now and then and stays there.
  Stamped with_jumps(const MotionSample& sample) {
    if (last_jump_.ns == 0) last_jump_ = sample.stamp;
    const bool jumps_now = jump_every_s_ > 0.0 && (sample.stamp - last_jump_).seconds() > jump_every_s_;
    if (jumps_now) {
      T_jumped_ = T_jumped_ * Pose2{sample.stamp.ns % 2 == 0 ? 0.8 : -0.5, 0.3, 0.05};
      last_jump_ = sample.stamp;
    }
    return {sample.stamp, T_jumped_ * sample.T_track_base, jumps_now};
  }
  void settle() {
    for (; !scans_waiting_.empty() && by_scans.wheels_cover(scans_waiting_.front().stamp); scans_waiting_.pop_front()) {
      const GatedPose out = by_scans.add_pose(scans_waiting_.front().stamp, scans_waiting_.front().pose);
      jumps += scans_waiting_.front().jumped ? 1 : 0;
      way_gated += norm(out.step_taken.position());
      scans_changed = scans_changed || !(out.T_odom_base == scans_waiting_.front().pose);
      gated.push_back({out.stamp, out.T_odom_base});
    }
    for (; !poses_waiting_.empty() && by_localiser.wheels_cover(poses_waiting_.front().stamp); poses_waiting_.pop_front()) {
      const GatedPose out = by_localiser.add_pose(poses_waiting_.front().stamp, poses_waiting_.front().pose);
      poses_changed = poses_changed || !(out.T_odom_base == poses_waiting_.front().pose);
    }
  }

  ScanTrack track_;
  std::optional<Twist> expected_;
  std::deque<Stamped> scans_waiting_;
  std::deque<Stamped> poses_waiting_;
  Pose2 T_jumped_;
  Time last_jump_;

 public:
  OdometryGate by_scans;
  OdometryGate by_localiser;
  PoseTrack truth;
  std::vector<Stamped> gated;
  double way_gated = 0.0;
  bool scans_changed = false;  ///< an output differed from its input by a bit
  bool poses_changed = false;
  int jumps = 0;

 private:
  double jump_every_s_;
};

double way_of(const PoseTrack& truth, Time from, Time to) {
  double way = 0.0;
  for (Time t = from; t + from_milliseconds(25) <= to; t = t + from_milliseconds(25))
    way += norm(truth.between(t, t + from_milliseconds(25))->position());
  return way;
}

std::vector<scenarios::ResolvedRun> runs_of(const std::string& suite) {
  scenarios::ValidationOptions options;
  options.data = data_folder();
  options.scenario = suite;
  options.quick = true;
  options.timeout_s = 12.0;
  const auto runs = scenarios::resolve(options);
  REQUIRE_MESSAGE(runs.ok(), runs.error().message);
  return *runs;
}

std::unique_ptr<GateOnTheCar> watch(const scenarios::ResolvedRun& run, double jump_every_s) {
  auto gate = std::make_unique<GateOnTheCar>(run.parameters, jump_every_s);
  scenarios::RunHooks hooks;
  hooks.begin = [&](sim::World& world) {
    world.observe(gate.get());
    return Status{};
  };
  hooks.after_step = [&](const sim::World& world) { gate->truth.add(world.now(), world.car(0).T_map_base); };
  hooks.end = [](sim::World& world) {
    world.observe(nullptr);
    return Status{};
  };
  const auto outcome = scenarios::run_scenario(
      run, [] { return false; }, hooks);
  REQUIRE_MESSAGE(outcome.ok(), outcome.error().message);
  return gate;
}

}  // namespace

TEST_CASE("in every built-in scenario the gate replaces nothing and changes no bit, so that whoever drives by it drives the same") {
  for (const std::string suite : {"all", "measured_car", "faults"}) {
    for (const scenarios::ResolvedRun& run : runs_of(suite)) {
      CAPTURE(run.scenario.id);
      const auto gate = watch(run, 0.0);
      CHECK(gate->by_scans.counts().of(GateVerdict::kAccepted) > 300);
      CHECK(gate->by_scans.counts().replaced() == 0);
      CHECK_FALSE(gate->scans_changed);
      // The pose of a localiser that jumps by design is another matter.
      if (suite != "all") continue;
      CHECK(gate->by_localiser.counts().of(GateVerdict::kAccepted) > 300);
      CHECK(gate->by_localiser.counts().replaced() == 0);
      CHECK_FALSE(gate->poses_changed);
      const double truth = way_of(gate->truth, gate->gated.front().stamp, gate->gated.back().stamp);
      CHECK(gate->way_gated == doctest::Approx(truth).epsilon(0.02));
    }
  }
}

TEST_CASE("with jumps of half a metre and more every 0.7 s the gated way stays within 5 % of the true one") {
  for (const scenarios::ResolvedRun& run : runs_of("all")) {
    CAPTURE(run.scenario.id);
    const auto gate = watch(run, 0.7);
    const double truth = way_of(gate->truth, gate->gated.front().stamp, gate->gated.back().stamp);
    MESSAGE(run.scenario.id << ": " << gate->jumps << " jumps, " << gate->by_scans.counts().replaced() << " replaced, way "
                            << gate->way_gated << " of " << truth << " m");
    CHECK(gate->jumps > 10);
    CHECK(gate->by_scans.counts().replaced() == gate->jumps);
    CHECK(gate->by_scans.counts().absorbed_m > 0.3 * gate->jumps);
    CHECK(gate->way_gated == doctest::Approx(truth).epsilon(0.02));
  }
}

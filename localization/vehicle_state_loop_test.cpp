// SPDX-License-Identifier: Apache-2.0
// The estimator on what the simulated car's own IMU and wheels say, against the truth.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/files.hpp"
#include "localization/vehicle_state_estimator.hpp"
#include "scenarios/run.hpp"
#include "scenarios/scenario.hpp"

using namespace pitwall;
using namespace pitwall::localization;

namespace {

struct Truth {
  Time stamp;
  Pose2 pose;
  Twist velocity;
};

class EstimatorOnTheCar : public RunObserver {
 public:
  explicit EstimatorOnTheCar(const CarParameters& car) : estimator(VehicleStateParameters::for_car(car)) {}
  void arrived(std::size_t car, const Source<Imu>& imu) override {
    if (car != 0) return;
    estimator.add_imu(*imu.message);
    states.push_back(estimator.state());
  }
  void arrived(std::size_t car, const Source<Odometry>& odometry) override {
    if (car == 0) estimator.add_wheels(odometry.message->stamp, odometry.message->speed_mps);
  }
  void arrived(std::size_t, const Source<LaserScan>&) override {}
  void arrived(std::size_t, const Source<PoseEstimate>&) override {}
  void arrived(std::size_t, const Source<Joy>&) override {}
  void changed(std::size_t /*car*/, const std::string& /*assignment*/) override {}
  void decided(std::size_t, std::uint64_t, const Observation&, const Command&) override {}

  VehicleStateEstimator estimator;
  std::vector<VehicleState> states;
  std::vector<Truth> truth;
};

}  // namespace

TEST_CASE("on the simulated car's IMU and wheels: speed, turn and sideways velocity against the truth") {
  scenarios::ValidationOptions options;
  options.data = data_folder();
  options.quick = true;
  options.timeout_s = 30.0;
  options.scenario = "pure";
  const auto runs = scenarios::resolve(options);
  REQUIRE_MESSAGE(runs.ok(), runs.error().message);
  for (const scenarios::ResolvedRun& run : *runs) {
    EstimatorOnTheCar car(run.parameters);
    scenarios::RunHooks hooks;
    hooks.begin = [&](sim::World& world) {
      world.observe(&car);
      return Status{};
    };
    hooks.after_step = [&](const sim::World& world) {
      const sim::CarState& c = world.car(0);
      car.truth.push_back({world.now(), c.T_map_base, {c.velocity_mps.x, c.velocity_mps.y, c.yaw_rate_radps}});
    };
    hooks.end = [](sim::World& world) {
      world.observe(nullptr);
      return Status{};
    };
    const auto outcome = scenarios::run_scenario(
        run, [] { return false; }, hooks);
    REQUIRE_MESSAGE(outcome.ok(), outcome.error().message);
    REQUIRE(car.states.size() > 1000);
    double vx = 0.0;
    double vy = 0.0;
    double r = 0.0;
    double fastest = 0.0;
    double count = 0.0;
    std::size_t k = 0;
    for (const VehicleState& s : car.states) {
      while (k + 1 < car.truth.size() && car.truth[k + 1].stamp <= s.stamp) ++k;
      if (s.stamp.seconds() < 1.0) continue;
      const Twist& v = car.truth[k].velocity;
      vx += (s.velocity.x_mps - v.x_mps) * (s.velocity.x_mps - v.x_mps);
      vy += (s.velocity.y_mps - v.y_mps) * (s.velocity.y_mps - v.y_mps);
      r += (s.velocity.yaw_radps - v.yaw_radps) * (s.velocity.yaw_radps - v.yaw_radps);
      fastest = std::max(fastest, v.x_mps);
      count += 1.0;
    }
    MESSAGE(run.scenario.id << ": rms " << std::sqrt(vx / count) << " m/s forward, " << std::sqrt(vy / count) << " m/s sideways, "
                            << std::sqrt(r / count) << " rad/s");
    CHECK(fastest > 3.5);
    // The wheels alone are off by 5 % of the speed, and the accelerometer by up to 0.8 m/s^2.
    CHECK(std::sqrt(vx / count) < 0.10);
    CHECK(std::sqrt(vy / count) < 0.06);
    CHECK(std::sqrt(r / count) < 0.03);
    CHECK(car.estimator.counts(Measurement::kWheels).used > 20 * car.estimator.counts(Measurement::kWheels).gated);
  }
}

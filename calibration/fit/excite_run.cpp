// SPDX-License-Identifier: Apache-2.0
#include "calibration/fit/excite_run.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "calibration/fit/fit.hpp"
#include "core/geometry.hpp"
#include "core/rng.hpp"
#include "core/run_observer.hpp"
#include "localization/scan_track.hpp"
#include "localization/twist.hpp"
#include "scenarios/resolve.hpp"
#include "scenarios/run.hpp"

namespace pitwall::fit {
namespace {

constexpr std::size_t kStride = 2;  // scans from one of a pair to the other, as in localization::ScanTrack
// A scan is not of an instant: what a pair of them says of a turn is smeared over this much of a sweep beyond the time between them.
// Measured in the simulated hall; without it a servo's gain comes out 10 % too low and its delay 4 ms too short.
constexpr double kSweepShare = 1.35;

/// From the first beam of a scan to its last.
double sweep_s(const CarParameters& car) { return car.lidar_fov_rad / (2.0 * math::kPi) / car.lidar_rate_hz; }

/// Everything that the car's recorder would have been told, as far as a fit looks.
class Listener final : public RunObserver {
 public:
  Listener(const CarParameters& car, bool match_scans) : track_({}, car.lidar_mount()), sweep_s_(sweep_s(car)), match_scans_(match_scans) {}

  void arrived(std::size_t /*car*/, const Source<LaserScan>& scan) override {
    if (!match_scans_) return;
    const auto sample = track_.add(*scan.message);
    if (sample && sample->status == localization::MatchStatus::kMatched)
      add(sample->stamp.seconds(), sample->dt_s + kSweepShare * sweep_s_, sample->velocity);
  }
  void arrived(std::size_t /*car*/, const Source<Odometry>& odometry) override {
    wheel.t_s.push_back(odometry.message->stamp.seconds());
    wheel.value.push_back(odometry.message->speed_mps);
  }
  void arrived(std::size_t /*car*/, const Source<PoseEstimate>& /*pose*/) override {}
  void arrived(std::size_t /*car*/, const Source<Joy>& /*joy*/) override {}
  void arrived(std::size_t /*car*/, const Source<Imu>& /*imu*/) override {}
  void changed(std::size_t /*car*/, const std::string& /*assignment*/) override {}
  void decided(std::size_t /*car*/, std::uint64_t /*tick*/, const Observation& seen, const Command& command) override {
    commands.t_s.push_back(seen.now.seconds());
    commands.steering_rad.push_back(static_cast<double>(command.steering_angle_rad));
    commands.speed_mps.push_back(static_cast<double>(command.speed_mps));
    commands.acceleration_mps2.push_back(0.0);
  }

  void add(double t_s, double span_s, const localization::Twist& velocity) {
    for (Series* series : {&speed, &lateral, &turn}) series->t_s.push_back(t_s);
    for (Series* series : {&speed, &lateral, &turn}) series->span_s = span_s;
    speed.value.push_back(velocity.x_mps);
    lateral.value.push_back(velocity.y_mps);
    turn.value.push_back(velocity.yaw_radps);
  }

  Commands commands;
  Series speed{Quantity::kSpeed, "scan matching", 0.03, {}, {}};
  Series lateral{Quantity::kLateral, "scan matching", 0.03, {}, {}};
  Series turn{Quantity::kYawRate, "scan matching", 0.02, {}, {}};
  Series wheel{Quantity::kWheelSpeed, "odometry", 0.05, {}, {}};

 private:
  localization::ScanTrack track_;
  double sweep_s_;
  bool match_scans_;
};

/// The true poses, one each physics step.
struct Truth {
  std::vector<double> t_s;
  std::vector<Pose2> T_map_base;

  [[nodiscard]] Pose2 at(double time_s) const {
    const auto after = std::upper_bound(t_s.begin(), t_s.end(), time_s);
    const auto k =
        static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(after - t_s.begin(), 1, static_cast<std::ptrdiff_t>(t_s.size()) - 1));
    const double part = (time_s - t_s[k - 1]) / (t_s[k] - t_s[k - 1]);
    const Pose2& a = T_map_base[k - 1];
    const Pose2& b = T_map_base[k];
    return {a.x + part * (b.x - a.x), a.y + part * (b.y - a.y), wrap_angle(a.yaw + part * wrap_angle(b.yaw - a.yaw))};
  }
};

/// What matching the scans of that drive would have given.
void add_noisy_motion(const Truth& truth, const CarParameters& car, std::int64_t seed, Listener& into) {
  const double period = 1.0 / car.lidar_rate_hz;
  const double middle = 0.5 * sweep_s(car);
  const Rng noise(static_cast<std::uint64_t>(seed), "fit/scan_pose");
  std::vector<Pose2> seen;
  for (std::size_t k = 0;; ++k) {
    const double t = static_cast<double>(k) * period + middle;
    if (t >= truth.t_s.back()) return;
    const auto error = [&](std::uint32_t lane, double sigma) { return sigma * noise.normal(k, lane); };
    const Pose2 T_map_lidar =
        truth.at(t) * car.lidar_mount() * Pose2{error(0, kScanPose_m), error(1, kScanPose_m), error(2, kScanPose_rad)};
    seen.push_back(T_map_lidar * inverse(car.lidar_mount()));
    if (k < kStride) continue;
    const double window = static_cast<double>(kStride) * period;
    into.add(t - 0.5 * window, window, localization::velocity_of(inverse(seen[k - kStride]) * seen[k], window));
  }
}

Status give_truth(const ExciteRunOptions& options, scenarios::ResolvedRun& run) {
  if (options.truth) {
    run.parameters = *options.truth;
    run.scenario.world.surface_friction = options.truth->surface_friction;
  }
  if (options.match_scans) return {};
  const Result<Node> off = parse_yaml("{lidar: {enabled: false}}", "excite");
  if (!off) return off.error();
  lay_over(*off, run.scenario.sensor_settings);
  return {};
}

}  // namespace

Result<ExciteRun> simulate_excite(const ExciteRunOptions& options) {
  scenarios::ValidationOptions wanted;
  wanted.data = options.data;
  wanted.scenario = "excite";
  wanted.car = options.car;
  wanted.car_given = true;
  wanted.seed = options.seed;
  wanted.assignments = options.assignments;
  const Result<std::vector<scenarios::ResolvedRun>> runs = scenarios::resolve(wanted);
  if (!runs) return runs.error();
  const scenarios::ResolvedRun& known = runs->front();
  Result<std::vector<std::unique_ptr<Controller>>> controllers = scenarios::make_controllers(known);
  if (!controllers) return controllers.error();
  scenarios::ResolvedRun run = known;
  if (const Status given = give_truth(options, run); !given) return given.error();

  Listener listener(known.parameters, options.match_scans);
  Truth truth;
  ExciteRun out;
  scenarios::RunHooks hooks;
  hooks.around = [&](std::unique_ptr<Controller> /*of the true car*/) { return std::move(controllers->front()); };
  hooks.begin = [&](sim::World& world) {
    world.observe(&listener);
    return Status{};
  };
  hooks.after_step = [&](const sim::World& world) {
    truth.t_s.push_back(world.now().seconds());
    truth.T_map_base.push_back(world.car(0).T_map_base);
    out.speed_mps.push_back(world.car(0).velocity_mps.x);
    out.yaw_rate_radps.push_back(world.car(0).yaw_rate_radps);
  };
  Result<scenarios::Outcome> outcome = scenarios::run_scenario(
      run, [] { return false; }, hooks);
  if (!outcome) return outcome.error();
  if (!options.match_scans) add_noisy_motion(truth, known.parameters, options.seed, listener);
  out.drive.name = "excite";
  out.drive.commands = std::move(listener.commands);
  out.drive.series = {std::move(listener.speed), std::move(listener.lateral), std::move(listener.turn), std::move(listener.wheel)};
  out.profile = known.parameters;
  out.outcome = *std::move(outcome);
  out.t_s = std::move(truth.t_s);
  return out;
}

Result<ExciteForecast> forecast_excite(const ExciteRunOptions& options, unsigned jobs) {
  Result<ExciteRun> run = simulate_excite(options);
  if (!run) return run.error();
  const Result<Problem> problem = make_problem(run->profile, {run->drive}, {});
  if (!problem) return problem.error();
  ExciteForecast out;
  out.parameters = parameters_of(run->profile);
  free_usual(*problem, out.parameters);
  std::vector<double> values;
  for (const Parameter& p : out.parameters) values.push_back(p.prior);
  Result<std::vector<double>> half_width = forecast(*problem, out.parameters, values, jobs);
  if (!half_width) return half_width.error();
  out.half_width = *std::move(half_width);
  out.run = *std::move(run);
  return out;
}

}  // namespace pitwall::fit

// SPDX-License-Identifier: Apache-2.0
#include "scenarios/run.hpp"

#include <algorithm>
#include <cmath>

#include "controllers/changeable.hpp"
#include "controllers/make.hpp"
#include "core/check.hpp"
#include "core/hash.hpp"
#include "core/text.hpp"
#include "localization/localizer/localizer.hpp"
#include "plant/steady_turn.hpp"
#include "scenarios/car_watch.hpp"
#include "scenarios/course_driver.hpp"
#include "scenarios/course_judge.hpp"
#include "scenarios/course_setup.hpp"
#include "scenarios/fault_judge.hpp"
#include "scenarios/line_setup.hpp"
#include "scenarios/metrics.hpp"
#include "scenarios/turning_circle.hpp"

namespace pitwall::scenarios {
namespace {

constexpr double kStanding_mps = 0.02;

/// What the law `map` knows of the tyres: those that the scenario simulates, on its floor.
Status give_steering_table(const ResolvedRun& run, controllers::LineToFollow& line) {
  const CourseSpec& course = run.scenario.course;
  const bool asked = (course.wanted() && course.race_controller == "map") ||
                     std::any_of(run.cars.begin(), run.cars.end(), [](const CarSpec& car) { return car.controller == "map"; });
  if (!asked) return {};
  const auto car = plant::Plant::make(run.parameters, plant::Options::of(run.scenario.fidelity), run.scenario.world.surface_friction);
  if (!car) return car.error();
  const double fastest = std::min(run.parameters.speed_max_mps, run.scenario.speed.v_max_mps + 1.0);
  line.steering_table = std::make_shared<const SteeringTable>(plant::steering_table(car->slip_model(), fastest));
  return {};
}

Pose2 start_pose(const tracks::Path& line, const CarSpec& car) {
  const double s = line.wrap_s(car.start_s_m);
  const double heading = line.heading_at(s);
  const Vec2 p = line.point_at(s) + car.start_lateral_m * perpendicular(unit_vector(heading));
  return {p.x, p.y, wrap_angle(heading + car.start_heading_rad)};
}

/// Laps are counted on the centre line, from where the car under test starts.
sim::LapLine lap_line(const ResolvedRun& run, const Pose2& start) {
  const tracks::Line& centre = *run.track->centre;
  sim::LapLine line;
  line.path = std::shared_ptr<const tracks::Path>(run.track, &centre.path);
  line.width_right_m = centre.width_right_m;
  line.width_left_m = centre.width_left_m;
  line.settings.line_s_m = centre.path.project(start.position()).s_m;
  return line;
}

/// Errors only in profile car; what a scenario sets by hand holds in every profile.
Result<sim::SensorSettings> sensors_of(const ResolvedRun& run, const CarSpec& car) {
  const bool errors = run.scenario.fidelity == plant::Fidelity::kCar && car.sensing_errors;
  sim::SensorChoice choice = run.scenario.sensors;
  if (run.scenario.localization == Localization::kTruth) choice.pose = sim::SensorProfile::kOff;
  sim::SensorSettings sensors = sim::SensorSettings::of(run.parameters, errors ? choice : sim::SensorChoice::all(sim::SensorProfile::kOff));
  if (!car.sensing_errors) return sensors;
  const Status status = load_fields(run.scenario.sensor_settings, run.scenario.id + ".sensor_settings", sensors);
  if (!status) return status.error();
  return sensors;
}

std::optional<ContactSummary> first_contact(const sim::World& world) {
  for (const sim::ContactEvent& event : world.contacts()) {
    if (event.car != 0 || event.partner == sim::kMapEdge) continue;
    ContactSummary contact;
    contact.at_s = event.time.seconds();
    contact.point_map = event.point;
    contact.closing_speed_mps = event.closing_speed_mps;
    contact.speed_mps = event.speed_mps;
    contact.partner = event.partner == sim::kWall ? "wall" : world.partner_name(event.partner);
    if (event.partner >= 0) {
      const auto partner = static_cast<std::size_t>(event.partner);
      contact.partner_in_car = inverse(event.T_map_base) * world.car(partner).T_map_base.position();
    }
    const Command& command = world.car(0).command;
    contact.during_overtake = command.reason == Reason::kOvertake;
    contact.layer = std::string(name(command.layer));
    return contact;
  }
  return std::nullopt;
}

/// Looks after each step for what ends a run, and keeps the first thing that went wrong.
class Judge {
 public:
  /// `course` may be null.
  Judge(const ResolvedRun& run, const Metrics& metrics, const CarWatch& watch, const sim::World& world, const CourseJudge* course)
      : course_(course),
        criteria_(run.scenario.criteria),
        metrics_(metrics),
        watch_(watch),
        faults_(run.faults, world, 1.0 / run.parameters.lidar_rate_hz),
        length_m_(run.track->centre->path.length_m()) {}

  void look(const sim::World& world) {
    const sim::CarState& car = world.car(0);
    if (criteria_.cross_track_below_m > 0.0 && std::fabs(metrics_.cross_track_m()) >= criteria_.cross_track_below_m) {
      fail(world,
           "cross-track " + text(std::fabs(metrics_.cross_track_m())) + " m, allowed below " + text(criteria_.cross_track_below_m) + " m");
    }
    for (std::size_t i = 0; i < world.size(); ++i) {
      const sim::CarState& any = world.car(i);
      if (any.failure != sim::Failure::kNone) fail(world, world.failure_text(i));
      if (any.off_map) fail(world, world.name(i) + " left the map");
      if (any.contact) fail(world, contact_text(world, i));
      if (criteria_.stall_after_s > 0.0 && watch_.stalled_s(i) >= criteria_.stall_after_s) {
        stalled_ = true;
        fail(world, world.name(i) + " stalled: less than 0.5 m in " + text(criteria_.stall_after_s) + " s, decision " +
                        std::string(name(any.command.reason)));
      }
    }
    if (const auto wrong = faults_.after_step(world, metrics_.cross_track_m())) fail(world, *wrong);
    if (course_ != nullptr) {
      if (const auto wrong = course_->wrong()) fail(world, *wrong);
    }
    // A bound of 0 is none: a car that ends a little behind where it began has a progress below 0.
    const auto reaches = [&](double way_m, double laps) { return laps <= 0.0 || way_m >= laps * length_m_; };
    goals_met_ = faults_.done() && (course_ == nullptr || course_->raced()) && car.lap.laps >= criteria_.laps_at_least &&
                 metrics_.completed_passes() >= criteria_.passes_at_least &&
                 reaches(car.lap.progress_m, criteria_.progress_laps_at_least) &&
                 reaches(watch_.least_progress_m(world), criteria_.every_car_laps_at_least) &&
                 (!criteria_.end_of_path || (car.command.reason == Reason::kEndOfPath && std::fabs(car.velocity_mps.x) < kStanding_mps));
  }

  void time_out(const sim::World& world, double timeout_s) {
    const sim::CarState& car = world.car(0);
    std::string what = "timeout after " + text(timeout_s) + " s: " + std::to_string(car.lap.laps) + " laps, progress " +
                       text(car.lap.progress_m) + " of " + text(length_m_) + " m";
    if (criteria_.passes_at_least > 0) what += ", " + std::to_string(metrics_.completed_passes()) + " passes";
    if (course_ != nullptr) what += ", " + course_->missing();
    what += ", last decision " + std::string(name(car.command.reason));
    fail(world, what);
  }

  [[nodiscard]] const FaultJudge& faults() const { return faults_; }
  [[nodiscard]] bool goals_met() const { return goals_met_; }
  [[nodiscard]] bool given_up() const { return stalled_ || (course_ != nullptr && course_->wrong()); }
  [[nodiscard]] const std::optional<Failure>& failure() const { return failure_; }

 private:
  static std::string text(double value) {
    const double rounded = std::round(value * 1000.0) / 1000.0;
    std::string digits = std::to_string(rounded);
    digits.erase(digits.find('.') + 4);
    return digits;
  }

  static std::string contact_text(const sim::World& world, std::size_t car) {
    for (const sim::ContactEvent& event : world.contacts()) {
      if (event.car != static_cast<int>(car) || event.partner == sim::kMapEdge) continue;
      return world.name(car) + " touched " + world.partner_name(event.partner) + " at " + text(event.closing_speed_mps) +
             " m/s closing speed, decision " + std::string(name(world.car(car).command.reason));
    }
    return world.name(car) + " in contact";
  }

  void fail(const sim::World& world, const std::string& what) {
    if (failure_) return;
    const sim::CarState& car = world.car(0);
    failure_ = Failure{what, world.now().seconds(), car.lap.s_m, car.T_map_base.position()};
  }

  const CourseJudge* course_;
  const Criteria& criteria_;
  const Metrics& metrics_;
  const CarWatch& watch_;
  FaultJudge faults_;
  double length_m_;
  bool goals_met_ = false;
  bool stalled_ = false;
  std::optional<Failure> failure_;
};

bool ended(const sim::World& world, const ResolvedRun& run) {
  for (std::size_t i = 0; i < world.size(); ++i) {
    const sim::CarState& car = world.car(i);
    if (car.failure != sim::Failure::kNone || car.off_map) return true;
    if (car.contact && run.scenario.world.on_contact == sim::ContactPolicy::kStop) return true;
  }
  return false;
}

void describe(const ResolvedRun& run, const tracks::Path& line, const std::vector<double>& speeds, Outcome& outcome) {
  outcome.scenario = run.scenario.id;
  outcome.track = run.track->name;
  outcome.raceline = run.line_name;
  outcome.car = run.scenario.car;
  outcome.fidelity_profile = std::string(plant::kFidelityNames[static_cast<std::size_t>(run.scenario.fidelity)]);
  outcome.seed = run.scenario.world.seed;
  outcome.surface_friction = run.scenario.world.surface_friction;
  outcome.track_length_m = run.track->centre->path.length_m();
  outcome.line_length_m = line.length_m();
  outcome.profile_min_mps = *std::min_element(speeds.begin(), speeds.end());
  outcome.profile_max_mps = *std::max_element(speeds.begin(), speeds.end());
  outcome.estimated_lap_time_s = tracks::lap_time_s(line, speeds);
}

void report(const sim::World& world, Outcome& outcome) {
  const sim::CarState& car = world.car(0);
  outcome.lidar_beams = world.parameters(0).lidar_beams;
  outcome.trace_hash = to_hex(world.trace_hash());
  outcome.sim_time_s = world.now().seconds();
  outcome.collision = car.contact;
  outcome.off_map = car.off_map;
  outcome.contact_steps = car.contact_steps;
  outcome.contact = first_contact(world);
  if (outcome.contact) outcome.contact->forward_scan_m = outcome.min_forward_scan_m;
  outcome.laps = car.lap.laps;
  if (!world.lap_times(0).empty()) outcome.lap_time_s = world.lap_times(0).front();
  outcome.accumulated_progress_m = car.lap.progress_m;
  for (std::size_t i = 1; i < world.size(); ++i) {
    outcome.opponent_collision = outcome.opponent_collision || world.car(i).contact;
    outcome.opponent_laps = std::max<std::int64_t>(outcome.opponent_laps, world.car(i).lap.laps);
  }
  const plant::FrictionReport& friction = world.friction(0);
  outcome.grip = {friction.limit_mps2,
                  friction.steps,
                  friction.limited_steps,
                  friction.max_demanded_lateral_mps2,
                  friction.max_allowed_lateral_mps2,
                  friction.min_lateral_budget_mps2};
  if (world.controller(0) != nullptr) {
    for (const auto& [counter, value] : world.controller(0)->counters()) outcome.counters.emplace_back(std::string(counter), value);
  }
}

/// That the controller takes all of the car's changes, one after another.
Status check_changes(const CarSpec& car, Node parameters, const controllers::Changeable::Maker& maker) {
  const auto changes = load_changes(car);
  if (!changes) return changes.error();
  for (const sim::ParameterChange& change : *changes) {
    Status taken = set_by_path(parameters, change.assignment);
    if (taken) {
      if (const auto made = maker(parameters); !made) taken = made.error();
    }
    if (!taken)
      return Error{"change '" + change.assignment + "' at " + format_number(change.at.seconds(), 6) + " s: " + taken.error().message};
  }
  return {};
}

}  // namespace

Result<std::vector<std::unique_ptr<Controller>>> make_controllers(const ResolvedRun& run) {
  const tracks::Line& followed = followed_line(run);
  controllers::LineToFollow to_follow =
      line_to_follow(std::shared_ptr<const tracks::Path>(run.track, &followed.path),
                     tracks::speed_profile(followed.path, run.scenario.speed), run.track->rays, run.track->distance);
  if (const Status given = give_steering_table(run, to_follow); !given) return given.error();
  std::vector<std::unique_ptr<Controller>> made;
  for (const CarSpec& car : run.cars) {
    if (car.controller == "gap_follow") {
      // A driver without a map would only find out in the corner.
      if (const auto refusal = turning_circle_refusal(*run.track->centre, run.parameters))
        return Error{run.scenario.id + " on " + run.track->name + ", car '" + car.name + "': " + *refusal};
    }
    if (run.scenario.course.wanted() && made.empty()) {
      Result<std::unique_ptr<Controller>> driver = make_course_driver(run, to_follow.steering_table, start_pose(followed.path, car));
      if (!driver) return Error{run.scenario.id + ", car '" + car.name + "': " + driver.error().message};
      made.push_back(*std::move(driver));
      continue;
    }
    const auto maker = [name = car.controller, of = run.parameters, to_follow](const Node& parameters) {
      return controllers::make(name, parameters, of, &to_follow);
    };
    Result<std::unique_ptr<Controller>> controller = controllers::Changeable::make(parameters_of(run.scenario, car), maker);
    if (controller) {
      if (const Status changes = check_changes(car, parameters_of(run.scenario, car), maker); !changes) controller = changes.error();
    }
    if (!controller) return Error{run.scenario.id + ", car '" + car.name + "': " + controller.error().message};
    made.push_back(*std::move(controller));
  }
  return made;
}

Result<sim::World> assemble(const ResolvedRun& run, const AroundController& around_car_0) {
  const tracks::Path& line = followed_line(run).path;
  Result<std::vector<std::unique_ptr<Controller>>> controllers = make_controllers(run);
  if (!controllers) return controllers.error();
  const auto* course = dynamic_cast<const CourseDriver*>(controllers->front().get());
  PITWALL_CHECK(!(around_car_0 && course != nullptr), run.scenario.id);
  if (around_car_0) controllers->front() = around_car_0(std::move(controllers->front()));
  std::vector<sim::CarSetup> setups;
  for (const CarSpec& car : run.cars) {
    sim::CarSetup setup;
    setup.name = car.name;
    setup.parameters = run.parameters;
    setup.plant = plant::Options::of(run.scenario.fidelity);
    const auto sensors = sensors_of(run, car);
    if (!sensors) return sensors.error();
    setup.sensors = *sensors;
    setup.controller = std::move((*controllers)[setups.size()]);
    if (course != nullptr && setups.empty()) {
      setup.localiser = std::make_unique<CourseLocaliser>(course->state(), run.parameters.lidar_mount());
    } else if (run.localizer_map && car.sensing_errors)
      setup.localiser = std::make_unique<localization::Localizer>(run.localizer_map, run.parameters.lidar_mount());
    const auto changes = load_changes(car);
    if (!changes) return changes.error();
    setup.changes = *changes;
    setup.start = start_pose(line, car);
    setup.start_speed_mps = car.start_speed_mps;
    setups.push_back(std::move(setup));
  }
  sim::Place place{run.track->map, run.track->rays, run.track->distance, lap_line(run, setups.front().start)};
  Result<sim::World> world = sim::World::make(std::move(place), run.scenario.world, std::move(setups),
                                              surroundings_of(run.obstacles, run.faults, run.cars, line, run.scenario.world.seed));
  if (!world) return Error{run.scenario.id + " on " + run.track->name + ": " + world.error().message};
  return world;
}

const tracks::Path& followed_path(const ResolvedRun& run) { return followed_line(run).path; }

std::shared_ptr<const CourseState> course_of(const sim::World& world) {
  const auto* driver = dynamic_cast<const CourseDriver*>(world.controller(0));
  return driver == nullptr ? nullptr : driver->state();
}

Result<Outcome> run_scenario(const ResolvedRun& run, const std::function<bool()>& interrupted) {
  return run_scenario(run, interrupted, {});
}

Result<Outcome> run_scenario(const ResolvedRun& run, const std::function<bool()>& interrupted, const RunHooks& hooks) {
  Result<sim::World> made = assemble(run, hooks.around);
  if (!made) return made.error();
  sim::World& world = *made;
  if (hooks.begin) {
    if (const Status begun = hooks.begin(world); !begun) return begun.error();
  }
  const tracks::Path& line = followed_line(run).path;
  Outcome outcome;
  describe(run, line, tracks::speed_profile(line, run.scenario.speed), outcome);

  constexpr int kStepsBetweenInterruptChecks = 64;
  Metrics metrics(run, line, world);
  CarWatch watch(world, run.track->centre->path);
  std::optional<CourseJudge> course;
  if (const auto state = course_of(world)) course.emplace(run.scenario.course, state);
  Judge judge(run, metrics, watch, world, course ? &*course : nullptr);
  const Time timeout = Time{} + from_seconds(run.scenario.timeout_s);
  for (std::int64_t step = 0; !judge.goals_met() && !judge.given_up() && !ended(world, run); ++step) {
    if (world.now() >= timeout) {
      judge.time_out(world, run.scenario.timeout_s);
      break;
    }
    if (step % kStepsBetweenInterruptChecks == 0 && interrupted()) {
      outcome.interrupted = true;
      break;
    }
    world.step();
    metrics.after_step(world);
    watch.after_step(world);
    if (course) course->after_step(world);
    judge.look(world);
    if (hooks.after_step) hooks.after_step(world);
  }
  if (hooks.end) {
    if (const Status done = hooks.end(world); !done) return done.error();
  }
  metrics.report(world, outcome);
  outcome.cars = watch.report(world);
  if (course) outcome.course = course->report();
  report(world, outcome);
  outcome.faults = judge.faults().outcomes(world);
  outcome.failure = judge.failure();
  outcome.passed = judge.goals_met() && !outcome.failure && !outcome.interrupted;
  return outcome;
}

}  // namespace pitwall::scenarios

// SPDX-License-Identifier: Apache-2.0
#include "apps/emulated_world.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "apps/track_library.hpp"
#include "core/files.hpp"
#include "core/rng.hpp"
#include "core/text.hpp"
#include "localization/pose_track.hpp"
#include "localization/twist.hpp"
#include "scenarios/resolve.hpp"
#include "scenarios/run.hpp"

namespace pitwall::apps {
namespace {

using emulators::MotorDemand;
using emulators::MotorMode;
using emulators::Rig;

constexpr double kGravity = 9.80665;
// A 3500 kV motor with two pole pairs: flux linkage 60 / (sqrt(3) 2 pi kV pole pairs), force 1.5 x flux x electrical rad/s per m/s.
constexpr double kFluxLinkage_wb = 0.788e-3;
constexpr double kCoast_mps2 = 0.3;  // of gears and magnets; tyres and air are the plant's
constexpr double kStanding_mps = 0.02;
// A process that did not run for longer than this has no business in catching up.
constexpr Duration kLongestLag = from_milliseconds(500);

/// Hands what the VESC wants of motor and servo to the world, step by step.
class WireController final : public Controller {
 public:
  explicit WireController(Duration period) : period_(period) {}
  [[nodiscard]] std::string_view name() const override { return "wire"; }
  [[nodiscard]] Trigger trigger() const override { return {period_}; }
  void reset(const Observation& /*first*/) override {}
  Command update(const Observation& /*obs*/) override { return command; }

  Command command;

 private:
  Duration period_;
};

/// From the demand on the motor to the speed that the plant's loop is to hold.
class Drive {
 public:
  Drive(const CarParameters& car, const calibration::Hardware& hardware)
      : car_(car),
        hardware_(hardware),
        mps2_per_a_(1.5 * kFluxLinkage_wb * 2.0 * math::kPi * std::fabs(hardware.speed_to_erpm_gain) / 60.0 / car.mass_kg) {}

  [[nodiscard]] double mps2_per_a() const { return mps2_per_a_; }

  [[nodiscard]] double speed_target_mps(const MotorDemand& demand, double speed_mps) const {
    switch (demand.mode) {
      case MotorMode::kSpeed:
        return (demand.value - hardware_.speed_to_erpm_offset) / hardware_.speed_to_erpm_gain;
      case MotorMode::kDuty:
        return demand.value * car_.motor_free_speed_mps;
      case MotorMode::kCurrent: {
        const double direction = hardware_.speed_to_erpm_gain > 0.0 ? 1.0 : -1.0;
        return target_for(speed_mps, direction * demand.value * mps2_per_a_);
      }
      case MotorMode::kBrake:
      case MotorMode::kHandbrake:
        return slowed(speed_mps, kCoast_mps2 + std::fabs(demand.value) * mps2_per_a_);
      case MotorMode::kReleased:
      case MotorMode::kPosition:
        return slowed(speed_mps, kCoast_mps2);
    }
    return 0.0;
  }

 private:
  // The loop a = k (target - v) sees this target a delay later, when v has gone on by a delay's worth.
  [[nodiscard]] double target_for(double speed_mps, double acceleration_mps2) const {
    const double gain = acceleration_mps2 * speed_mps >= 0.0 ? car_.speed_loop_accel_gain_per_s : car_.speed_loop_brake_gain_per_s;
    return speed_mps + acceleration_mps2 * (1.0 / gain + car_.speed_delay_s);
  }
  // Not beyond standstill.
  [[nodiscard]] double slowed(double speed_mps, double deceleration_mps2) const {
    if (std::fabs(speed_mps) < kStanding_mps) return 0.0;
    const double target = target_for(speed_mps, speed_mps > 0.0 ? -deceleration_mps2 : deceleration_mps2);
    return target * speed_mps > 0.0 ? target : 0.0;
  }

  CarParameters car_;
  calibration::Hardware hardware_;
  double mps2_per_a_;
};

/// What a LiDAR that measures point by point sees: the walls of the track, from where the car was at that point.
class Walls {
 public:
  Walls(std::shared_ptr<const tracks::RayCaster> rays, const CarParameters& car, std::int64_t seed)
      : rays_(std::move(rays)), car_(car), noise_(static_cast<std::uint64_t>(seed), "car0/turning_lidar") {}

  void moved(Time at, const sim::CarState& car) {
    (void)way_.add(at, car.T_map_base);
    last_ = car.T_map_base;
    velocity_ = {car.velocity_mps.x, car.velocity_mps.y, car.yaw_rate_radps};
  }

  double range_m(Time at, double bearing_rad) {
    if (way_.empty()) return kNothing;
    const Pose2 sensor = base_at(at) * car_.lidar_mount();
    const double most = car_.lidar_range_max_m;
    const double range = rays_->cast(sensor.position(), unit_vector(sensor.yaw + bearing_rad), most);
    const std::uint64_t sample = sample_++;
    const bool seen = range < most && noise_.uniform(sample, 1) >= car_.lidar_dropout_rate;
    return seen ? std::max(0.0, range + car_.lidar_noise_std_m * noise_.normal(sample, 0)) : kNothing;
  }

 private:
  static constexpr double kNothing = std::numeric_limits<double>::infinity();

  // The world is up to a step behind its sensor.
  [[nodiscard]] Pose2 base_at(Time at) const {
    if (at > way_.newest()) return last_ * localization::travelled(velocity_, (at - way_.newest()).seconds());
    return way_.at(std::max(at, way_.oldest())).value_or(last_);
  }

  std::shared_ptr<const tracks::RayCaster> rays_;
  CarParameters car_;
  Rng noise_;
  std::uint64_t sample_ = 0;
  localization::PoseTrack way_{from_milliseconds(500)};
  Pose2 last_;
  localization::Twist velocity_;
};

/// A scenario with that car alone. Its controller only stands for the one that the wire takes the place of.
std::string scenario_text(const EmulatedWorldOptions& options) {
  return "emulate:\n  id: emulate\n  timeout_s: 1000000\n  cars: {car0: {controller: pure_pursuit, start_s_m: " +
         format_exact(options.start_s_m) +
         "}}\n  world: {command_timeout_s: 0}\n"
         "  sensor_settings:\n"
         "    pose: {enabled: false}\n    joy: {enabled: false}\n    imu: {latency_s: 0}\n"
         "    odometry: {period_s: 0.005, latency_s: 0, wheel_slip: true, speed_noise: 0, quantum_mps: 0, deadband_mps: 0}\n";
}

Result<scenarios::ResolvedRun> resolve(const EmulatedWorldOptions& options) {
  scenarios::ValidationOptions asked;
  asked.data = data_folder();
  asked.own_tracks = own_tracks_folder();
  asked.suite_text = scenario_text(options);
  asked.tracks = {options.track};
  asked.car = options.car;
  asked.car_given = true;
  asked.seed = options.seed;
  asked.assignments = options.assignments;
  Result<std::vector<scenarios::ResolvedRun>> runs = scenarios::resolve(asked);
  if (!runs) return runs.error();
  if (runs->size() != 1) return Error{"--track " + options.track + ": names " + std::to_string(runs->size()) + " tracks; give one"};
  if (!runs->front().profile->hardware)
    return Error{"--car " + options.car + ": exists in the simulator only; a car with hardware is needed, such as rb1 or rb2"};
  return std::move(runs->front());
}

}  // namespace

class EmulatedWorld::Impl {
 public:
  Impl(const scenarios::ResolvedRun& of, sim::World made, WireController* wire, std::int64_t seed)
      : run(of),
        world(std::move(made)),
        controller(wire),
        drive(run.parameters, *run.profile->hardware),
        walls(run.track->rays, run.parameters, seed) {}

  /// The world catches up with the clock; when it is due again.
  Time advance(Time now, const Rig::Devices& devices) {
    if (!begun) begin(now, devices);
    if (now - (epoch + (world.now() - Time{})) > kLongestLag) {
      const Duration lag = now - (epoch + (world.now() - Time{}));
      epoch = epoch + lag;
      skipped = skipped + lag;
    }
    while (due() <= now) step(now, devices);
    latest = now;
    return due();
  }

  void begin(Time now, const Rig::Devices& devices) {
    begun = true;
    began = epoch = now;
    walls.moved(now, world.car(0));
    const emulators::Sight sight = [this](Time at, double bearing_rad) { return walls.range_m(at, bearing_rad); };
    if (devices.rplidar != nullptr) devices.rplidar->look(sight);
    if (devices.ld19 != nullptr) devices.ld19->look(sight);
  }

  [[nodiscard]] Time due() const { return epoch + (world.now() - Time{}) + world.step_duration(); }

  void step(Time now, const Rig::Devices& devices) {
    const double speed = world.car(0).velocity_mps.x;
    controller->command.speed_mps = static_cast<float>(drive.speed_target_mps(devices.vesc->demand(), speed));
    if (const auto servo = devices.vesc->servo())
      controller->command.steering_angle_rad = static_cast<float>(run.profile->hardware->steering_of_servo(*servo));
    world.step();
    walls.moved(epoch + (world.now() - Time{}), world.car(0));
    max_speed = std::max(max_speed, world.car(0).velocity_mps.x);
    turn_motor(now, *devices.vesc);
    const Observation seen = world.observation(0);
    if (seen.imu.message != nullptr) feel(*seen.imu.message, *devices.vesc);
    if (devices.hokuyo != nullptr && seen.scan.message != nullptr && seen.scan.sequence != last_scan) {
      last_scan = seen.scan.sequence;
      send(now, *seen.scan.message, *devices.hokuyo);
    }
  }

  void turn_motor(Time now, emulators::Vesc& vesc) {
    const Observation seen = world.observation(0);
    const double speed = seen.odometry.message != nullptr ? seen.odometry.message->speed_mps : 0.0;
    const double h = world.step_duration().seconds();
    const double acceleration = (speed - wheel_speed) / h;
    wheel_speed = speed;
    motor.erpm = run.profile->hardware->speed_to_erpm_gain * speed;
    motor.revolutions += motor.erpm / 60.0 * h;
    motor.travelled += std::fabs(motor.erpm) / 60.0 * h;
    // What the motor has to push against inertia and rolling, smoothed over some steps.
    const double rolling = speed == 0.0 ? 0.0 : std::copysign(run.parameters.rolling_resistance * kGravity, speed);
    motor.current_a += 0.2 * ((acceleration + rolling) / drive.mps2_per_a() - motor.current_a);
    motor.duty = std::clamp(speed / run.parameters.motor_free_speed_mps, -1.0, 1.0);
    motor.input_a = motor.current_a * motor.duty;
    vesc.drive(now, motor);
  }

  static void feel(const Imu& imu, emulators::Vesc& vesc) {
    emulators::VescImu felt;
    for (std::size_t i = 0; i < 3; ++i) {
      felt.acceleration_g[i] = imu.linear_acceleration_mps2[i] / kGravity;
      felt.rate_degps[i] = imu.angular_velocity_radps[i] * 180.0 / math::kPi;
    }
    vesc.feel(felt);
  }

  /// As the device has them: whole millimetres from -135 to 135 degrees, a code where there is no range.
  void send(Time now, const LaserScan& scan, emulators::Hokuyo& hokuyo) {
    constexpr std::uint32_t kTooNear = 1;
    millimetres.assign(emulators::Hokuyo::kSteps, emulators::Hokuyo::kNoReturn);
    const std::size_t count = std::min(scan.ranges.size(), millimetres.size());
    for (std::size_t i = 0; i < count; ++i) {
      const double range_m = static_cast<double>(scan.ranges[i]);
      if (std::isnan(range_m)) {
        millimetres[i] = kTooNear;
      } else if (std::isfinite(range_m)) {
        millimetres[i] = static_cast<std::uint32_t>(std::lround(1e3 * range_m));
      }
    }
    hokuyo.turn(now, epoch + (scan.stamp - Time{}), millimetres);
  }

  [[nodiscard]] EmulatedCarReport report(const Rig::Devices& devices) const {
    EmulatedCarReport r;
    const sim::CarState& car = world.car(0);
    r.wall_s = (latest - began).seconds();
    r.driven_s = world.now().seconds();
    r.skipped_s = skipped.seconds();
    r.laps = car.lap.laps;
    r.lap_times_s.assign(world.lap_times(0).begin(), world.lap_times(0).end());
    r.progress_m = car.lap.progress_m;
    r.speed_mps = car.velocity_mps.x;
    r.max_speed_mps = max_speed;
    r.contacts = world.contacts().size();
    r.off_map = car.off_map;
    if (r.contacts > 0) {
      const sim::ContactEvent& first = world.contacts().front();
      r.first_contact = world.partner_name(first.partner) + " at " + format_number(first.time.seconds(), 4) + " s";
    }
    for (const emulators::VescEvent& event : devices.vesc->log()) {
      const auto found = r.commands.find(event.name);
      if (found == r.commands.end()) {
        r.commands.emplace(event.name, 1);
      } else {
        ++found->second;
      }
      r.ignored_commands += event.ignored ? 1 : 0;
    }
    for (const int id : {emulators::vesc_id::kGetValues, emulators::vesc_id::kGetValuesSelective, emulators::vesc_id::kGetValuesSetup,
                         emulators::vesc_id::kGetValuesSetupSelective, emulators::vesc_id::kGetImuData}) {
      const auto found = devices.vesc->counts().find(id);
      if (found != devices.vesc->counts().end()) r.polls += found->second;
    }
    if (devices.hokuyo != nullptr) r.scans = devices.hokuyo->scans_sent();
    return r;
  }

  scenarios::ResolvedRun run;
  sim::World world;
  WireController* controller;  // of the world
  Drive drive;
  Walls walls;
  emulators::MotorState motor;
  double wheel_speed = 0.0;
  double max_speed = 0.0;
  std::uint64_t last_scan = 0;
  std::vector<std::uint32_t> millimetres;
  bool begun = false;
  Time began;
  Time epoch;  // where the world's time is 0
  Time latest;
  Duration skipped;
};

EmulatedWorld::EmulatedWorld(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
EmulatedWorld::~EmulatedWorld() = default;

Result<std::unique_ptr<EmulatedWorld>> EmulatedWorld::make(const EmulatedWorldOptions& options) {
  const Result<scenarios::ResolvedRun> run = resolve(options);
  if (!run) return run.error();
  WireController* wire = nullptr;
  Result<sim::World> world = scenarios::assemble(*run, [&](std::unique_ptr<Controller> /*stand_in*/) -> std::unique_ptr<Controller> {
    auto made = std::make_unique<WireController>(from_seconds(run->scenario.world.step_s));
    wire = made.get();
    return made;
  });
  if (!world) return world.error();
  return std::unique_ptr<EmulatedWorld>(new EmulatedWorld(std::make_unique<Impl>(*run, *std::move(world), wire, options.seed)));
}

emulators::RigOptions EmulatedWorld::devices() const {
  const calibration::Hardware& hardware = *impl_->run.profile->hardware;
  emulators::RigOptions rig;
  rig.vesc->own_motor = false;
  rig.vesc->ramp_erpm_per_s = 0.0;  // the profile's speed loop has it
  rig.vesc->battery_v = 3.95 * static_cast<double>(hardware.battery_cells);
  rig.hokuyo->own_turns = false;
  if (lidar() != "hokuyo") rig.hokuyo.reset();
  if (lidar() == "rplidar") rig.rplidar = emulators::rplidar_named(hardware.lidar_model);
  if (lidar() == "ld19") rig.ld19.emplace();
  rig.joystick->deadman_button = static_cast<int>(hardware.joystick_deadman_button);
  rig.joystick->buttons = std::max(rig.joystick->buttons, rig.joystick->deadman_button + 1);
  return rig;
}

std::string EmulatedWorld::lidar() const {
  const std::string& model = impl_->run.profile->hardware->lidar_model;
  return model.starts_with("RPLIDAR") ? "rplidar" : model.starts_with("LD") || model.starts_with("STL") ? "ld19" : "hokuyo";
}

Time EmulatedWorld::advance(Time now, const Rig::Devices& devices) { return impl_->advance(now, devices); }
EmulatedCarReport EmulatedWorld::report(const Rig::Devices& devices) const { return impl_->report(devices); }
const calibration::Hardware& EmulatedWorld::hardware() const { return *impl_->run.profile->hardware; }
const CarParameters& EmulatedWorld::parameters() const { return impl_->run.parameters; }
double EmulatedWorld::mps2_per_a() const { return impl_->drive.mps2_per_a(); }
double EmulatedWorld::speed_mps() const { return impl_->world.car(0).velocity_mps.x; }
double EmulatedWorld::yaw_rate_radps() const { return impl_->world.car(0).yaw_rate_radps; }

}  // namespace pitwall::apps

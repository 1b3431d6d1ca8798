// SPDX-License-Identifier: Apache-2.0
// A published line of the ForzaETH race stack (JFR_racingv5) with the measured tyres of its car: our plant, our speed profile within the
// grip of the tyre file and +-3 m/s^2, the true pose, 50 Hz. What is shown is the law, not the sensors.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "controllers/make.hpp"
#include "plant/plant.hpp"
#include "plant/steady_turn.hpp"
#include "tests/support/law_rig.hpp"
#include "tests/support/test_data.hpp"
#include "tracks/speed_profile.hpp"
#include "tracks/track.hpp"

using namespace pitwall;

namespace {

constexpr double kPeriod_s = 0.02;
constexpr double kSpeedGain_per_s = 10.0;
constexpr double kAcceleration_mps2 = 3.0;

/// NUC2_pacejka.yaml.
CarParameters nuc2() {
  CarParameters car = plant::car_of(plant::Fidelity::kLegacy, {});
  car.wheelbase_m = 0.307;
  car.cog_front_fraction = 0.162 / 0.307;
  car.mass_kg = 3.54;
  car.yaw_inertia_kgm2 = 0.05797;
  car.cog_height_m = 0.014;
  car.surface_friction = 1.0;
  car.magic_front_b = 4.798521440254997, car.magic_front_c = 2.1640281784621833, car.magic_front_d = 0.6502296853018044,
  car.magic_front_e = 0.3732212044732381;
  car.magic_rear_b = 20.0, car.magic_rear_c = 1.5, car.magic_rear_d = 0.6184183350099146, car.magic_rear_e = 0.0;
  car.cornering_stiffness_front = car.magic_front_b * car.magic_front_c * car.magic_front_d;
  car.cornering_stiffness_rear = car.magic_rear_b * car.magic_rear_c * car.magic_rear_d;
  car.steering_servo_gain_per_s = 1.0 / 0.15779476;
  car.acceleration_max_mps2 = car.braking_max_mps2 = 3.2;
  car.speed_loop_accel_gain_per_s = car.speed_loop_brake_gain_per_s = kSpeedGain_per_s;
  car.rolling_resistance = 0.0;
  car.drag_area_m2 = 0.0;
  car.longitudinal_grip_coupling = 1.0;
  car.lidar_fov_rad = 4.7, car.lidar_range_max_m = 30.0, car.lidar_rate_hz = 40.0;
  return car;
}

struct Laps {
  double planned_s = 0.0;
  double achieved_s = 0.0;  ///< the second lap, from the line to the line
  double mean_off_m = 0.0;
  double p95_off_m = 0.0;
};

Laps drive(const std::string& law, const tracks::Line& line) {
  const CarParameters car = nuc2();
  plant::Options options = plant::Options::of(plant::Fidelity::kPlant);
  options.tyre = plant::Tyre::kMagicFormula;
  plant::Plant plant = plant::Plant::make(car, options, car.surface_friction).value();
  const SteeringTable table = plant::steering_table(plant.slip_model(), 10.0);

  tracks::SpeedLimits limits;
  limits.v_max_mps = 8.5;
  // The rear tyres end first; a fifth is left for the forces along the car and for coming back to the line.
  limits.lateral_mps2 = 0.8 * car.magic_rear_d * 9.81;
  limits.accelerate_mps2 = limits.brake_mps2 = kAcceleration_mps2;
  const std::vector<double> speeds = tracks::speed_profile(line.path, line.curvature_per_m, limits);

  controllers::LawBench bench(line.path.points(), true, car, 1.0 / kPeriod_s, 8.5);
  bench.setup.table = &table;
  auto made = controllers::make_law(law, Node{}, bench.setup);
  REQUIRE(made.ok());
  controllers::SteeringLaw& steers = **made;
  steers.reset();

  Laps laps;
  laps.planned_s = tracks::lap_time_s(line.path, speeds);
  const Vec2 start = line.path.point_at(0.0);
  plant.reset({start.x, start.y, line.path.heading_at(0.0)}, 0.0);
  std::vector<double> off;
  Time now;
  double last_s = 0.0;
  double gone = 0.0;
  double commanded = 0.0;
  bool launched = false;
  double first_s = -1.0;
  for (int tick = 0; tick < 3000 && gone < 2.0 * line.path.length_m(); ++tick) {
    const double v = plant.speed_mps();
    controllers::LawInput in = bench.at(plant.base_pose(), v);
    in.fix.on_line = bench.line.path.project_near(plant.base_pose().position(), last_s, 1.0, 2.0);
    in.fix.heading_error_rad = wrap_angle(plant.base_pose().yaw - in.fix.on_line.heading_rad);
    const double s = in.fix.on_line.s_m;
    const double before = gone;
    gone += bench.line.path.s_difference(s, last_s);
    last_s = s;
    const double at = now.seconds();
    const auto crossed = [&](double way) { return at - kPeriod_s * (gone - way) / std::max(1e-9, gone - before); };
    if (before < line.path.length_m() && gone >= line.path.length_m()) first_s = crossed(line.path.length_m());
    if (gone >= 2.0 * line.path.length_m()) laps.achieved_s = crossed(2.0 * line.path.length_m()) - first_s;
    launched = launched || (v > 1.0 && std::abs(in.fix.on_line.lateral_m) < 0.1);
    if (launched) off.push_back(std::abs(in.fix.on_line.lateral_m));

    in.now = now;
    in.wheel_rad = plant.steering_rad();
    in.yaw_rate_radps = plant.yaw_rate_radps();
    in.commanded_rad = in.acting_rad = commanded;
    const double most = car.steering_rate_max_radps * kPeriod_s;
    commanded = std::clamp(steers.steer(in), commanded - most, commanded + most);
    commanded = std::clamp(commanded, car.steering_max_right_rad, car.steering_max_left_rad);
    const double ahead = bench.line.path.wrap_s(s + v * kPeriod_s);
    const double here = controllers::speed_at(line.path, speeds, ahead);
    const double later = controllers::speed_at(line.path, speeds, bench.line.path.wrap_s(ahead + 0.1));
    const double a = (later * later - here * here) / 0.2;
    REQUIRE(plant.command(commanded, here + a / kSpeedGain_per_s, now) == plant::CommandStatus::kAccepted);
    for (int i = 0; i < 4; ++i) {
      plant.step(now, from_milliseconds(5));
      now = now + from_milliseconds(5);
    }
  }
  std::sort(off.begin(), off.end());
  for (const double d : off) laps.mean_off_m += d / static_cast<double>(off.size());
  if (!off.empty()) laps.p95_off_m = off[off.size() * 95 / 100];
  return laps;
}

}  // namespace

TEST_CASE("on a published line with its car's measured tyres the lap is within 5 % of our plan, and 0.055 m from the line") {
  const auto file = test_data("maps/forzaeth/JFR_racingv5/global_traj_wpnts_iqp.csv");
  if (!file) return;
  const auto line = tracks::load_line(*file);
  REQUIRE_MESSAGE(line.ok(), (line.ok() ? "" : line.error().message));
  for (const std::string law : {"pure_pursuit", "stanley", "map"}) {
    const Laps laps = drive(law, *line);
    MESSAGE(law << ": planned " << laps.planned_s << " s, achieved " << laps.achieved_s << " s, off mean " << laps.mean_off_m << " m, p95 "
                << laps.p95_off_m << " m");
    if (law != "stanley") continue;
    CHECK(laps.achieved_s > 0.0);
    CHECK(laps.achieved_s <= 1.05 * laps.planned_s);
    CHECK(laps.mean_off_m <= 0.055);
  }
}

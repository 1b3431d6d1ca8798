// SPDX-License-Identifier: Apache-2.0
#include "scenarios/measured_car.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/math.hpp"
#include "core/text.hpp"
#include "plant/plant.hpp"

namespace pitwall::scenarios {
namespace {

constexpr double kTick_s = 0.025;
constexpr double kSpeedSlew_mps2 = 2.0;
constexpr double kSteeringSlew_radps = 1.0;

/// What was measured of a car, and by how much it differed from run to run.
struct Reference {
  std::string_view car;
  std::string_view figure;
  double measured;
  double spread;
};

// rb2: the reference run 20261019. The others: public logs of two cars, by fit_sim (docs/calibration.md).
constexpr std::array kReferences = {
    Reference{"rb2", "speed lag", 0.275, 0.0},
    Reference{"rb2", "steering lag", 0.15, 0.0},
    Reference{"rb2", "curvature gain", 0.95, 0.0},
    Reference{"rb2", "achieved turn up to 2.0 m/s^2", 0.99, 0.0},
    Reference{"rb2", "achieved turn at 3 to 4.5 m/s^2", 0.74, 0.0},
    Reference{"rb2", "true over odometry speed, straight", 0.95, 0.0},
    Reference{"rb2", "true over odometry speed, tight turns", 0.89, 0.0},
    Reference{"f1tenth_ini", "steering lag", 0.275, 0.075},
    Reference{"frictionmaps", "steering lag", 0.15, 0.05},
};

/// One figure of the drive.
struct Figure {
  std::string_view name;
  std::string_view unit;
  double simulated;
  std::int64_t samples;
};

/// One piece of the drive: a speed and a lateral acceleration that is asked for.
struct Piece {
  double speed_mps;
  double lateral_mps2;
  double seconds;
};

// Like a test day in a hall: mostly gentle, now and then more than the floor gives.
constexpr std::array<Piece, 22> kDrive = {{{2.0, 0.0, 3.0},  {2.0, 1.5, 2.0},  {2.0, -1.5, 2.0}, {2.6, 0.0, 3.0},  {2.6, 1.8, 2.0},
                                           {1.6, 1.0, 2.0},  {1.6, -1.6, 2.0}, {1.2, -0.8, 2.0}, {1.2, 0.9, 2.0},  {2.4, 0.0, 3.0},
                                           {2.4, 3.4, 1.2},  {1.5, 0.0, 2.0},  {1.8, -1.9, 2.0}, {1.8, 1.9, 2.0},  {3.0, 0.0, 3.0},
                                           {2.6, -3.8, 1.2}, {1.5, 0.0, 2.0},  {1.5, 1.5, 2.0},  {1.5, -1.5, 2.0}, {2.2, 0.6, 2.0},
                                           {2.2, -1.2, 2.0}, {2.8, 0.0, 2.0}}};
constexpr int kRounds = 4;

/// The drive as it would be recorded, on the grid of the commands.
struct Record {
  std::vector<double> commanded_speed, commanded_curvature, speed, yaw_rate, odometry;
};

double towards(double value, double goal, double most) { return value + std::clamp(goal - value, -most, most); }

Record drive(plant::Plant& plant) {
  Record record;
  const CarParameters& car = plant.car();
  double speed = 0.0;
  double steering = 0.0;
  Time now;
  for (int round = 0; round < kRounds; ++round) {
    for (const Piece& piece : kDrive) {
      // Each round a little faster and the other way about, so that no two are alike.
      const double asked = piece.speed_mps * (0.94 + 0.04 * round);
      const double side = round % 2 == 0 ? 1.0 : -1.0;
      const int ticks = static_cast<int>(piece.seconds / kTick_s);
      for (int i = 0; i < ticks; ++i) {
        speed = towards(speed, asked, kSpeedSlew_mps2 * kTick_s);
        const double v = std::max(plant.speed_mps(), 0.5);
        const double wanted = math::atan(car.wheelbase_m * side * piece.lateral_mps2 / (v * v));
        steering =
            towards(steering, std::clamp(wanted, car.steering_max_right_rad, car.steering_max_left_rad), kSteeringSlew_radps * kTick_s);
        // A tick's command as the wire carries it.
        const auto steering_sent = static_cast<double>(static_cast<float>(steering));
        const auto speed_sent = static_cast<double>(static_cast<float>(speed));
        (void)plant.command(steering_sent, speed_sent, now);
        record.commanded_speed.push_back(speed_sent);
        record.commanded_curvature.push_back(math::tan(steering_sent) / car.wheelbase_m);
        record.speed.push_back(plant.speed_mps());
        record.yaw_rate.push_back(plant.yaw_rate_radps());
        record.odometry.push_back(plant.wheel_speed_mps() / car.odometry_scale);
        for (int k = 0; k < 5; ++k) {
          plant.step(now, from_milliseconds(5));
          now = now + from_milliseconds(5);
        }
      }
    }
  }
  return record;
}

struct Aligned {
  double lag_s = std::numeric_limits<double>::quiet_NaN();
  double gain = std::numeric_limits<double>::quiet_NaN();
};

/// Lag and gain together, by least squares: measured(t) = gain * command(t - lag), over a grid of an eighth of a tick. The command is
/// held between ticks, as the car holds it.
Aligned best_lag(const std::vector<double>& measured, const std::vector<double>& command) {
  Aligned best;
  double least = std::numeric_limits<double>::infinity();
  const auto n = static_cast<std::ptrdiff_t>(measured.size());
  for (int eighths = 0; eighths <= 8 * 32; ++eighths) {
    const double ticks = eighths / 8.0;
    double mc = 0.0, cc = 0.0, mm = 0.0;
    for (std::ptrdiff_t i = 40; i < n; ++i) {
      const double at = static_cast<double>(i) - ticks;
      const auto k = static_cast<std::ptrdiff_t>(std::floor(at));
      const double part = at - static_cast<double>(k);
      const double c0 = command[static_cast<std::size_t>(k)];
      const double c = part == 0.0 ? c0 : c0 + part * (command[static_cast<std::size_t>(k) + 1] - c0);
      const double m = measured[static_cast<std::size_t>(i)];
      mc += m * c;
      cc += c * c;
      mm += m * m;
    }
    const double left = mm - mc * mc / cc;
    if (left < least) {
      least = left;
      best = {ticks * kTick_s, mc / cc};
    }
  }
  return best;
}

/// Sum of measured over sum of asked, as a ratio that weighs by size.
struct Ratio {
  double top = 0.0;
  double bottom = 0.0;
  std::int64_t samples = 0;
  void add(double measured, double asked) {
    top += measured * asked;
    bottom += asked * asked;
    ++samples;
  }
  [[nodiscard]] double value() const { return top / bottom; }
};

}  // namespace

bool was_measured(std::string_view car) {
  return std::any_of(kReferences.begin(), kReferences.end(), [car](const Reference& r) { return r.car == car; });
}

bool Likeness::passed() const { return samples > 0 && std::abs(simulated - measured) <= 0.1 * measured + spread; }

Result<std::vector<Likeness>> measure_likeness(const CarParameters& car, double friction, std::string_view measured_car) {
  Result<plant::Plant> plant = plant::Plant::make(car, plant::Options::of(plant::Fidelity::kCar), friction);
  if (!plant) return plant.error();
  const Record record = drive(*plant);
  const auto n = static_cast<std::int64_t>(record.speed.size());

  const Aligned speed = best_lag(record.speed, record.commanded_speed);
  std::vector<double> curvature;
  for (std::size_t i = 0; i < record.speed.size(); ++i) {
    curvature.push_back(record.speed[i] > 0.5 ? record.yaw_rate[i] / record.speed[i] : 0.0);
  }
  const Aligned steering = best_lag(curvature, record.commanded_curvature);

  Ratio gentle, hard, straight, tight;
  const auto shift = static_cast<std::size_t>(steering.lag_s / kTick_s + 0.5);
  for (std::size_t i = 40; i < record.speed.size(); ++i) {
    const double v = record.speed[i];
    const double asked = record.commanded_curvature[i - shift];
    const double lateral = v * v * std::abs(asked);
    if (lateral > 0.2 && lateral <= 2.0) gentle.add(curvature[i], asked);
    if (lateral > 3.0 && lateral <= 4.5 && v >= 1.5 && v <= 3.0) hard.add(curvature[i], asked);
    if (v > 0.5 && std::abs(curvature[i]) < 0.15) straight.add(v, record.odometry[i]);
    if (v > 0.5 && std::abs(curvature[i]) > 0.5) tight.add(v, record.odometry[i]);
  }
  const std::array<Figure, 7> figures = {{{"speed lag", "s", speed.lag_s, n},
                                          {"steering lag", "s", steering.lag_s, n},
                                          {"curvature gain", "", steering.gain, n},
                                          {"achieved turn up to 2.0 m/s^2", "", gentle.value(), gentle.samples},
                                          {"achieved turn at 3 to 4.5 m/s^2", "", hard.value(), hard.samples},
                                          {"true over odometry speed, straight", "", straight.value(), straight.samples},
                                          {"true over odometry speed, tight turns", "", tight.value(), tight.samples}}};
  std::vector<Likeness> likeness;
  for (const Reference& reference : kReferences) {
    if (reference.car != measured_car) continue;
    const auto& figure = *std::find_if(figures.begin(), figures.end(), [&](const Figure& f) { return f.name == reference.figure; });
    likeness.push_back({std::string(reference.car), std::string(figure.name), std::string(figure.unit), figure.simulated,
                        reference.measured, reference.spread, figure.samples});
  }
  return likeness;
}

std::string human_line(const Likeness& likeness) {
  std::string line = std::string(likeness.passed() ? "PASS" : "FAIL") + "  measured_car  " + likeness.car + "  " + likeness.name;
  line.resize(std::max<std::size_t>(line.size(), 68), ' ');
  const std::string unit = likeness.unit.empty() ? "" : " " + likeness.unit;
  return line + "  simulated " + format_number(likeness.simulated, 3) + unit + "  measured " + format_number(likeness.measured, 3) +
         (likeness.spread > 0.0 ? " +- " + format_number(likeness.spread, 3) : "") + unit + "  n " + std::to_string(likeness.samples);
}

std::string json_line(const Likeness& likeness) {
  const nlohmann::json json = {
      {"scenario", kMeasuredCar},        {"car", likeness.car},           {"figure", likeness.name},   {"unit", likeness.unit},
      {"simulated", likeness.simulated}, {"measured", likeness.measured}, {"spread", likeness.spread}, {"samples", likeness.samples},
      {"passed", likeness.passed()}};
  return json.dump();
}

}  // namespace pitwall::scenarios

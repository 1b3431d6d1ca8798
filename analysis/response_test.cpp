// SPDX-License-Identifier: Apache-2.0
#include "analysis/response.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "core/test_response.hpp"

using namespace pitwall;
using namespace pitwall::analysis;

namespace {

constexpr double kWheelbase_m = 0.33;
constexpr double kSpeedGain = 0.95;
constexpr double kTurnGain = 0.9;

/// Drives with made-up lags: speed 0.2 s late, curvature 0.12 s, in slow waves; `slides`: turns answer with less from 2 m/s^2 on.
struct Drive {
  CommandSeries command;
  MotionSeries motion;
  OdometrySeries odometry;
  TruthSeries truth;
  explicit Drive(bool slides = false, double noise = 0.0) {
    const Rng errors(5, "errors");
    for (int k = 0; k < 2400; ++k) {
      const double t = 0.025 * k;
      command.t_s.push_back(t);
      command.arrival_s.push_back(t);
      command.speed_mps.push_back(speed(t));
      command.steering_rad.push_back(math::atan(kWheelbase_m * curvature(t)));
      command.yaw_rate_radps.push_back(NAN);
    }
    for (std::uint64_t k = 0; k < 11900; ++k) {
      const double t = 0.005 * static_cast<double>(k);
      const double v = kSpeedGain * speed_held(t - 0.2);
      const double asked = v * curvature_held(t - 0.12);
      const bool sliding = slides && std::abs(asked * v) > 2.0;
      truth.t_s.push_back(t);
      truth.speed_mps.push_back(v);
      truth.yaw_rate_radps.push_back((sliding ? 0.6 : kTurnGain) * asked);
      if (k % 4 == 0) {
        odometry.t_s.push_back(t);
        odometry.speed_mps.push_back(v / 0.9);
        odometry.yaw_rate_radps.push_back(0.0);
      }
    }
    for (std::uint64_t k = 4; k + 16 < truth.size(); k += 5) {
      double mean_v = 0.0;
      double mean_w = 0.0;
      for (std::uint64_t i = k; i < k + 10; ++i) {
        mean_v += 0.1 * truth.speed_mps[i];
        mean_w += 0.1 * truth.yaw_rate_radps[i];
      }
      motion.begin_s.push_back(truth.t_s[k] - 0.0025);
      motion.end_s.push_back(truth.t_s[k] + 0.0475);
      motion.speed_mps.push_back(mean_v + noise * errors.normal(k, 0));
      motion.yaw_rate_radps.push_back(mean_w + noise * errors.normal(k, 1));
      motion.speed_sigma_mps.push_back(0.02);
      motion.yaw_sigma_radps.push_back(0.02);
      motion.speed_seen.push_back(k % 7 == 0 ? 0.0 : 1.0);
      motion.yaw_seen.push_back(1.0);
      if (k % 7 == 0) motion.speed_mps.back() = 9.0;
    }
  }
  static double speed(double t) { return 2.0 + 0.8 * math::sin(1.1 * t) + 0.4 * math::sin(2.7 * t); }
  static double curvature(double t) { return 0.6 * math::sin(0.9 * t) + 0.3 * math::sin(2.3 * t); }
  static double speed_held(double t) { return speed(0.025 * std::floor(std::max(0.0, t) / 0.025 + 1e-9)); }
  static double curvature_held(double t) { return curvature(0.025 * std::floor(std::max(0.0, t) / 0.025 + 1e-9)); }
};

double value(const Response& response, const char* key) {
  const signals::Estimate* found = response.find(key);
  REQUIRE(found != nullptr);
  CHECK_MESSAGE(found->identifiable, key << ": " << found->why);
  return found->value;
}

}  // namespace

TEST_CASE("lags, gains and odometry scale come out as they were made, and samples that the walls do not tell do not count") {
  const Drive drive(false, 0.02);
  const Response response = fit_response(drive.command, drive.odometry, by_scans(drive.motion, 0.0, 60.0), kWheelbase_m);
  CHECK(response.source == "scans");
  CHECK(std::abs(value(response, "speed_lag_s") - 0.2) < 0.005);
  CHECK(std::abs(value(response, "speed_gain") - kSpeedGain) < 0.01 * kSpeedGain);
  CHECK(std::abs(value(response, "steering_lag_s") - 0.12) < 0.005);
  CHECK(std::abs(value(response, "steering_gain") - kTurnGain) < 0.01 * kTurnGain);
  CHECK(std::abs(value(response, "odometry_scale_straight") - 0.9) < 0.01);
  CHECK(std::abs(value(response, "odometry_scale_tight") - 0.9) < 0.01);
}

TEST_CASE("the truth over the same intervals says the same") {
  const Drive drive;
  const MeasuredMotion measured = by_scans(drive.motion, 0.0, 60.0);
  const MeasuredMotion truth = by_truth(drive.truth, measured);
  REQUIRE(truth.size() == measured.size());
  for (std::size_t i = 0; i < truth.size(); ++i) {
    REQUIRE(std::isfinite(truth.speed_mps[i]) == std::isfinite(measured.speed_mps[i]));
    if (std::isfinite(truth.speed_mps[i])) CHECK(std::abs(truth.speed_mps[i] - measured.speed_mps[i]) < 0.02);
  }
  const Response a = fit_response(drive.command, drive.odometry, measured, kWheelbase_m);
  const Response b = fit_response(drive.command, drive.odometry, truth, kWheelbase_m);
  CHECK(std::abs(value(a, "speed_lag_s") - value(b, "speed_lag_s")) < 0.002);
  CHECK(std::abs(value(a, "steering_gain") - value(b, "steering_gain")) < 0.005);
}

TEST_CASE("grip falls in the bins where the tyres slide, and bins without samples say so") {
  const Drive drive(true);
  const Response response = fit_response(drive.command, drive.odometry, by_scans(drive.motion, 0.0, 60.0), kWheelbase_m);
  REQUIRE(response.grip.size() == 4);
  CHECK(std::abs(response.grip[0].gain.value - kTurnGain) < 0.03);
  CHECK(response.grip[2].gain.value < 0.8);
  CHECK(response.grip[3].gain.value < 0.7);
  CHECK(response.grip[0].gain.identifiable);
}

TEST_CASE("a turn rate that was commanded is fitted as such; without steering there is no grip") {
  Drive drive;
  for (std::size_t i = 0; i < drive.command.size(); ++i) {
    drive.command.steering_rad[i] = NAN;
    drive.command.yaw_rate_radps[i] = Drive::curvature(drive.command.t_s[i]);
  }
  for (std::size_t i = 0; i < drive.motion.size(); ++i)
    drive.motion.yaw_rate_radps[i] = 1.1 * Drive::curvature(drive.motion.middle_s(i) - 0.3);
  const Response response = fit_response(drive.command, {}, by_scans(drive.motion, 0.0, 60.0), kWheelbase_m);
  // The command is held: its mean is half a period old.
  CHECK(std::abs(value(response, "turning_lag_s") - 0.3 + 0.0125) < 0.005);
  CHECK(std::abs(value(response, "turning_gain") - 1.1) < 0.01);
  CHECK(response.grip.empty());
  CHECK(response.find("odometry_scale_tight") == nullptr);
}

TEST_CASE("by the wheels alone there is a speed and no turn rate: theirs is computed from the command") {
  const Drive drive;
  const Response response = fit_response(drive.command, drive.odometry, by_odometry(drive.odometry, 0.0, 60.0), kWheelbase_m);
  CHECK(std::abs(value(response, "speed_lag_s") - 0.2) < 0.01);
  CHECK_FALSE(response.find("steering_lag_s")->identifiable);
  CHECK(response.find("odometry_scale_straight") == nullptr);
}

TEST_CASE("the way bridges what is not known by the wheels") {
  MeasuredMotion measured;
  for (int k = 0; k < 100; ++k) {
    measured.begin_s.push_back(0.1 * k);
    measured.end_s.push_back(0.1 * k + 0.1);
    measured.speed_mps.push_back(k >= 40 && k < 60 ? NAN : 2.0);
    measured.speed_sigma_mps.push_back(k == 5 ? 1.0 : 0.01);
  }
  measured.speed_mps[5] = 30.0;
  OdometrySeries wheels;
  for (int k = 0; k < 200; ++k) {
    wheels.t_s.push_back(0.06 * k);
    wheels.speed_mps.push_back(1.0);
    wheels.yaw_rate_radps.push_back(0.0);
  }
  const Way way = way_of(measured, wheels);
  CHECK(way.known_share == doctest::Approx(79.0 / 99.0));
  CHECK(way.distance_m == doctest::Approx(2.0 * 7.9 + 1.0 * 2.0 + 2.8).epsilon(0.01));
  CHECK(way.peak_mps == 2.0);
  CHECK(way_of(measured).distance_m == doctest::Approx(2.0 * 9.9 + 2.8).epsilon(0.01));
}

// SPDX-License-Identifier: Apache-2.0
#include "localization/slam/admission.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using namespace pitwall;
using namespace pitwall::slam;

namespace {

// Which of the poses, `dt_s` apart, are admitted.
std::vector<std::size_t> admitted(const AdmissionParameters& parameters, const std::vector<Pose2>& poses, double dt_s) {
  Admission admission(parameters);
  std::vector<std::size_t> result;
  for (std::size_t k = 0; k < poses.size(); ++k) {
    if (admission.consider(Time{} + from_seconds(dt_s * static_cast<double>(k)), poses[k]) == Admitted::kYes) result.push_back(k);
  }
  return result;
}

std::vector<Pose2> straight(double step_m, std::size_t count) {
  std::vector<Pose2> poses;
  for (std::size_t k = 0; k < count; ++k) poses.push_back({step_m * static_cast<double>(k), 0.0, 0.0});
  return poses;
}

}  // namespace

TEST_CASE("a turn on the spot is admitted at every step of the heading gate") {
  AdmissionParameters parameters;
  std::vector<Pose2> spin;
  for (int k = 0; k <= 628; ++k) spin.push_back({0.0, 0.0, wrap_angle(0.01 * k)});
  CHECK(admitted(parameters, spin, 0.025).size() == static_cast<std::size_t>(2.0 * math::kPi / parameters.min_heading_rad) + 1);
}

TEST_CASE("both gates of our own at both sides of their bounds") {
  const AdmissionParameters parameters;
  const std::vector<Pose2> short_step{{}, {parameters.min_distance_m - 1e-6, 0, 0}};
  const std::vector<Pose2> long_step{{}, {parameters.min_distance_m, 0, 0}};
  const std::vector<Pose2> small_turn{{}, {0, 0, parameters.min_heading_rad - 1e-6}};
  const std::vector<Pose2> turn{{}, {0, 0, -parameters.min_heading_rad}};
  CHECK(admitted(parameters, short_step, 0.1).size() == 1);
  CHECK(admitted(parameters, long_step, 0.1).size() == 2);
  CHECK(admitted(parameters, small_turn, 0.1).size() == 1);
  CHECK(admitted(parameters, turn, 0.1).size() == 2);
}

TEST_CASE("a parked car adds nothing") { CHECK(admitted({}, std::vector<Pose2>(4800), 0.025).size() == 1); }

TEST_CASE("slam_toolbox: the second to fourth scan never pass, and a turn on the spot adds nothing") {
  AdmissionParameters parameters;
  parameters.mode = AdmissionMode::kSlamToolbox;
  // A metre and a second apart everything would pass but for the warm-up.
  CHECK(admitted(parameters, straight(1.0, 8), 1.0) == std::vector<std::size_t>{0, 4, 5, 6, 7});
  std::vector<Pose2> spin;
  for (int k = 0; k < 60; ++k) spin.push_back({0.0, 0.0, wrap_angle(0.3 * k)});
  CHECK(admitted(parameters, spin, 1.0) == std::vector<std::size_t>{0});
}

TEST_CASE("slam_toolbox: the outer gate is 0.447 m for 0.5 m, the inner one 0.5 m from the last that passed it") {
  AdmissionParameters parameters;
  parameters.mode = AdmissionMode::kSlamToolbox;
  // Of steps of 0.46 m the outer gate takes each, the inner one those that are 0.5 m from the last admitted.
  const auto by_inner = admitted(parameters, straight(0.46, 12), 1.0);
  CHECK(by_inner == std::vector<std::size_t>{0, 4, 6, 8, 10});
  // Two steps of 0.22 m are below the outer gate, three above.
  CHECK(admitted(parameters, straight(0.22, 13), 1.0) == std::vector<std::size_t>{0, 4, 7, 10});
}

TEST_CASE("slam_toolbox: the interval and the throttle count from what was let through, and from the first scan") {
  AdmissionParameters parameters;
  parameters.mode = AdmissionMode::kSlamToolbox;
  CHECK(admitted(parameters, straight(1.0, 12), 0.25) == std::vector<std::size_t>{0, 4, 6, 8, 10});
  parameters.toolbox_throttle_scans = 3;
  CHECK(admitted(parameters, straight(1.0, 12), 1.0) == std::vector<std::size_t>{0, 5, 8, 11});
}

TEST_CASE("a recorded list is taken as it is") {
  AdmissionParameters parameters;
  parameters.mode = AdmissionMode::kEvery;
  CHECK(admitted(parameters, std::vector<Pose2>(5), 0.025).size() == 5);
}

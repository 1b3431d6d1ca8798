// SPDX-License-Identifier: Apache-2.0
// Three laps of the scenes of the measurements behind the bars.
#include <doctest/doctest.h>

#include <algorithm>
#include <ctime>
#include <vector>

#include "localization/slam/test_course.hpp"

using namespace pitwall;
using namespace pitwall::slam;

namespace {

double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

// What the scans of a drive cost, for information: median and 95th percentile of the nodes.
Slam timed(const course::Drive& drive, const SlamParameters& parameters) {
  Slam slam(parameters, {}, drive.truth.front());
  std::vector<double> ms;
  for (std::size_t k = 0; k < drive.scans.size(); ++k) {
    const double before = cpu_ms();
    if (slam.add(drive.scans[k], drive.odometry[k]).placement != Placement::kCarried) ms.push_back(cpu_ms() - before);
  }
  std::sort(ms.begin(), ms.end());
  MESSAGE("a node: " << ms[ms.size() / 2] << " ms median, " << ms[ms.size() * 95 / 100] << " ms p95, closures "
                     << (parameters.close_loops ? "on" : "off"));
  return slam;
}

}  // namespace

TEST_CASE("three laps between smooth walls: within 5 cm of the truth, every closure right") {
  const course::Drive drive = course::along(localization::scenes::smooth_track(), 220.0);
  const double odometry_m = evaluate(drive.odometry, drive.truth).ate_rmse_m;
  MESSAGE("odometry alone: " << odometry_m << " m");
  CHECK(odometry_m > 1.5);
  Slam slam = timed(drive, {});
  REQUIRE(slam.finish().ok());
  const Evaluation result = evaluate(course::poses_of(slam.trajectory()), drive.truth);
  std::size_t accepted = 0;
  for (const Edge& edge : slam.graph().edges) accepted += edge.closure ? 1 : 0;
  const course::ClosureErrors worst = course::closure_errors(slam, drive);
  MESSAGE("ATE " << result.ate_rmse_m << " m, max " << result.ate_max_m << " m, closures " << accepted << ", worst " << worst.worst_m
                 << " m, chi2 " << worst.worst_chi2);
  CHECK(result.ate_rmse_m <= 0.05);
  CHECK(accepted >= 20);
  // Between smooth walls a closure knows the way along them to decimetres only, and says so.
  CHECK(worst.worst_chi2 < kChi2Gate);
  CHECK(worst.worst_m < 1.0);
}

TEST_CASE("without closures three laps drift, within 2 % of the way") {
  const course::Drive drive = course::along(localization::scenes::smooth_track(), 220.0);
  SlamParameters parameters;
  parameters.close_loops = false;
  const Slam slam = timed(drive, parameters);
  CHECK(slam.closures().empty());
  CHECK(evaluate(course::poses_of(slam.trajectory()), drive.truth).ate_rmse_m < 4.4);
}

TEST_CASE("three laps with a view of the hall: within 3 cm of the truth") {
  const course::Drive drive = course::along(localization::scenes::hall(), 220.0);
  Slam slam = course::mapped(drive);
  REQUIRE(slam.finish().ok());
  const Evaluation result = evaluate(course::poses_of(slam.trajectory()), drive.truth);
  MESSAGE("ATE " << result.ate_rmse_m << " m, max " << result.ate_max_m << " m");
  CHECK(result.ate_rmse_m <= 0.03);
}

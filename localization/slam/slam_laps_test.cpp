// SPDX-License-Identifier: Apache-2.0
// Three laps of the scenes of the measurements behind the bars.
#include <doctest/doctest.h>

#include "localization/slam/test_course.hpp"

using namespace pitwall;
using namespace pitwall::slam;

TEST_CASE("three laps between smooth walls: within 5 cm of the truth, every closure right") {
  const course::Drive drive = course::along(localization::scenes::smooth_track(), 220.0);
  const double odometry_m = evaluate(drive.odometry, drive.truth).ate_rmse_m;
  MESSAGE("odometry alone: " << odometry_m << " m");
  CHECK(odometry_m > 1.5);
  Slam slam = course::mapped(drive);
  REQUIRE(slam.finish().ok());
  const Evaluation result = evaluate(course::poses_of(slam.trajectory()), drive.truth);
  std::size_t accepted = 0;
  for (const Edge& edge : slam.graph().edges) accepted += edge.closure ? 1 : 0;
  MESSAGE("ATE " << result.ate_rmse_m << " m, max " << result.ate_max_m << " m, closures " << accepted << ", worst "
                 << course::worst_closure_m(slam, drive) << " m");
  CHECK(result.ate_rmse_m <= 0.05);
  CHECK(accepted >= 20);
  CHECK(course::worst_closure_m(slam, drive) < 0.3);
}

TEST_CASE("three laps with a view of the hall: within 3 cm of the truth") {
  const course::Drive drive = course::along(localization::scenes::hall(), 220.0);
  Slam slam = course::mapped(drive);
  REQUIRE(slam.finish().ok());
  const Evaluation result = evaluate(course::poses_of(slam.trajectory()), drive.truth);
  MESSAGE("ATE " << result.ate_rmse_m << " m, max " << result.ate_max_m << " m");
  CHECK(result.ate_rmse_m <= 0.03);
}

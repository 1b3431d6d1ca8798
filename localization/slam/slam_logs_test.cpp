// SPDX-License-Identifier: Apache-2.0
// Logs of real buildings, raw odometry in, against the poses they were corrected to (Radish): the bars of the issue. The corrected poses
// have errors of 0.05 to 0.12 m themselves.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "localization/slam/evaluation.hpp"
#include "localization/slam/slam.hpp"
#include "recording/carmen_log.hpp"
#include "recording/compression.hpp"
#include "tests/support/test_data.hpp"

using namespace pitwall;
using namespace pitwall::slam;

namespace {

struct Bar {
  std::string log;
  double ate_m;
  double loop_m;
};

recording::CarmenLog load_log(const std::filesystem::path& file) {
  const Result<std::string> text = recording::read_text(file);
  REQUIRE(text.ok());
  Result<recording::CarmenLog> log = recording::parse_carmen(*text, file.string());
  REQUIRE(log.ok());
  return std::move(*log);
}

Slam mapped(const recording::CarmenLog& log) {
  Slam slam({}, {});
  for (const recording::CarmenScan& each : log.scans) slam.add(each.scan, each.T_odom);
  REQUIRE(slam.finish().ok());
  return slam;
}

Evaluation judged(const Slam& slam, const recording::CarmenLog& log) {
  std::vector<Pose2> poses;
  std::vector<Pose2> reference;
  const std::vector<Placed> trajectory = slam.trajectory();
  for (std::size_t k = 0; k < trajectory.size(); ++k) {
    if (trajectory[k].placement == Placement::kCarried) continue;
    poses.push_back(trajectory[k].T_map_base);
    reference.push_back(log.scans[k].T_corrected);
  }
  return evaluate(poses, reference);
}

}  // namespace

TEST_CASE("real buildings are mapped within the bars") {
  const auto folder = test_data("slam/carmen");
  if (!folder) return;
  for (const Bar& bar :
       {Bar{"intel", 0.18, 0.13}, Bar{"csail", 0.21, 1.0}, Bar{"freiburg-101", 0.16, 1.0}, Bar{"freiburg-079", 1.0, 1.0}}) {
    CAPTURE(bar.log);
    const recording::CarmenLog log = load_log(*folder / (bar.log + "-corrected.log.gz"));
    const Evaluation result = judged(mapped(log), log);
    MESSAGE(bar.log << ": ATE " << result.ate_rmse_m << " m, loop pairs " << result.loops.mean_m << " m");
    CHECK(result.ate_rmse_m <= bar.ate_m);
    CHECK(result.loops.mean_m <= bar.loop_m);
  }
}

TEST_CASE("five runs of one log give the same poses and the same map to the bit") {
  const auto folder = test_data("slam/carmen");
  if (!folder) return;
  const recording::CarmenLog log = load_log(*folder / "freiburg-101-corrected.log.gz");
  std::string poses;
  std::uint64_t map = 0;
  for (int run = 0; run < 5; ++run) {
    const Slam slam = mapped(log);
    const Result<BuiltMap> built = slam.build_map();
    REQUIRE(built.ok());
    if (run == 0) {
      poses = pose_hash(slam.trajectory());
      map = built->map.content_hash();
    }
    CHECK(pose_hash(slam.trajectory()) == poses);
    CHECK(built->map.content_hash() == map);
  }
}

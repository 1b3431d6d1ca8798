// SPDX-License-Identifier: Apache-2.0
// The gate on what was recorded: ten excursions of a small robot with what its gate made of them, and a particle filter on a 1:10 car.
#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "core/messages.hpp"
#include "localization/odometry_guard.hpp"
#include "tests/support/test_data.hpp"

using namespace pitwall;
using namespace pitwall::localization;

namespace {

using Row = std::map<std::string, std::string>;

// Rows by column names; the header is the last line before the first row, behind # or not.
std::vector<Row> read_rows(const std::filesystem::path& path) {
  std::ifstream in(path);
  REQUIRE(in.good());
  const auto split = [](const std::string& line) {
    std::vector<std::string> cells;
    std::stringstream s(line);
    for (std::string cell; std::getline(s, cell, ',');) cells.push_back(cell);
    return cells;
  };
  std::vector<std::string> names;
  std::vector<Row> rows;
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) continue;
    if (line.rfind("# ", 0) == 0 || names.empty()) {
      names = split(line[0] == '#' ? line.substr(2) : line);
      continue;
    }
    const auto cells = split(line);
    Row row;
    for (std::size_t i = 0; i < std::min(cells.size(), names.size()); ++i) row[names[i]] = cells[i];
    rows.push_back(row);
  }
  return rows;
}

double number(const Row& row, const std::string& name) { return std::stod(row.at(name)); }

struct Stamped {
  Time t;
  Pose2 pose;
};

std::vector<Stamped> read_poses(const std::filesystem::path& path) {
  std::vector<Stamped> poses;
  for (const Row& row : read_rows(path)) {
    const Time t{std::stoll(row.at("s")) * 1'000'000'000 + std::stoll(row.at("ns"))};
    poses.push_back({t, {number(row, "x"), number(row, "y"), yaw_of({number(row, "q.z"), number(row, "q.w")})}});
  }
  return poses;
}

}  // namespace

TEST_CASE("ten recorded excursions: each is replaced, by the step of the wheels that the recording has") {
  const auto folder = test_data("runs/mote");
  if (!folder) return;
  const OdometryGateParameters parameters = OdometryGateParameters::for_differential(0.218, 0.22);
  const auto rows = read_rows(*folder / "icp_excursions_golden.csv");
  REQUIRE(rows.size() == 10);
  for (const Row& row : rows) {
    CAPTURE(row.at("t_s"));
    const double dt_s = number(row, "dt_s");
    const Pose2 icp{number(row, "icp_fwd_m"), number(row, "icp_lat_m"), number(row, "icp_yaw_rate_dps") * math::kPi / 180.0 * dt_s};
    const Pose2 wheels{number(row, "wheel_dx_m"), number(row, "wheel_dy_m"), number(row, "wheel_dyaw_rad")};
    const Time start{1'000'000'000};
    const Time end = start + from_seconds(dt_s);
    OdometryGate gate(parameters);
    const Pose2 T_wheels{0.3, -2.0, 1.1};
    const Pose2 T_raw{-1.0, 0.5, -2.0};
    gate.add_wheels(start, T_wheels);
    gate.add_wheels(end, T_wheels * wheels);
    gate.add_pose(start, T_raw);
    const GatedPose out = gate.add_pose(end, T_raw * icp);
    // The recorded speed is that of the step, and above the bound; its turn is not.
    CHECK(norm(out.step_raw.position()) / dt_s == doctest::Approx(number(row, "icp_speed_mps")).epsilon(0.01));
    CHECK(out.verdict == GateVerdict::kTooFast);
    CHECK(out.by_wheels);
    CHECK(std::abs(out.step_taken.x - wheels.x) < 1e-12);
    CHECK(std::abs(out.step_taken.y - wheels.y) < 1e-12);
    CHECK(std::abs(out.step_taken.yaw - wheels.yaw) < 1e-12);
    CHECK(distance(out.T_odom_base.position(), T_raw * wheels.position()) < 1e-12);
    CHECK(out.velocity.x_mps == doctest::Approx(wheels.x / dt_s).epsilon(1e-9));
  }
}

TEST_CASE("a particle filter that jumps on a 1:10 car: gated it keeps to the bound, and to the way of the wheels where nothing slips") {
  const auto folder = test_data("runs/frictionmaps/DS1");
  if (!folder) return;
  const auto wheels = read_poses(*folder / "odomData.csv");
  const auto filter = read_poses(*folder / "pfPoseData.csv");
  double fastest = 0.0;
  for (const Row& row : read_rows(*folder / "odomData.csv")) fastest = std::max(fastest, number(row, "vx"));
  CHECK(fastest == doctest::Approx(4.859).epsilon(1e-3));
  // Neither servo nor floor of this car is known: speed is what it is judged by.
  OdometryGateParameters parameters;
  parameters.envelope = {fastest, 10.0, 0.0, 0.0};
  parameters.catch_up_s = 1.0;
  const SlipMonitorParameters thresholds = SlipMonitorParameters::for_speed(fastest);
  OdometryGuard guard(parameters, thresholds);
  // Measures the way of the gated pose as the guard's monitor does that of the raw one.
  SlipMonitor gated(thresholds);
  double top_raw = 0.0;
  double top = 0.0;
  double way_raw = 0.0;
  double way = 0.0;
  double way_wheels = 0.0;
  std::size_t windows = 0;
  std::size_t compared = 0;
  std::size_t w = 0;
  Time next = filter.front().t + from_seconds(1.0);
  for (std::size_t i = 0; i < filter.size(); ++i) {
    for (; w < wheels.size() && (w == 0 || wheels[w - 1].t < filter[i].t); ++w) {
      guard.add_wheels(wheels[w].t, wheels[w].pose);
      gated.add_wheels(wheels[w].t, wheels[w].pose);
    }
    const GatedPose out = guard.add_pose(filter[i].t, filter[i].pose);
    gated.add_scan_pose(filter[i].t, out.T_odom_base);
    if (i > 0) top_raw = std::max(top_raw, norm(out.step_raw.position()) / (filter[i].t - filter[i - 1].t).seconds());
    top = std::max(top, norm({out.velocity.x_mps, out.velocity.y_mps}));
    if (filter[i].t < next) continue;
    next = next + from_seconds(1.0);
    ++windows;
    const SlipResidual raw = guard.monitor().residual(filter[i].t);
    if (classify(thresholds, raw, std::nullopt) != SlipState::kOk) continue;
    ++compared;
    way_raw += raw.scan_mps;
    way += gated.residual(filter[i].t).scan_mps;
    way_wheels += raw.wheel_mps;
  }
  const GateCounts& counts = guard.gate().counts();
  MESSAGE("fastest step " << top_raw << " -> " << top << " m/s, " << counts.replaced() << " of " << counts.poses << " replaced; way in "
                          << compared << " of " << windows << " windows: wheels " << way_wheels << ", raw " << way_raw << ", gated " << way
                          << " m");
  CHECK(top_raw > 25.0);
  CHECK(counts.of(GateVerdict::kTooFast) == 171);
  CHECK(counts.without_wheels <= 4);
  CHECK(top <= 1.15 * fastest * (1.0 + 1e-12));
  CHECK(compared >= 35);
  CHECK(way == doctest::Approx(way_wheels).epsilon(0.05));
  CHECK(way_raw > 1.05 * way_wheels);
}

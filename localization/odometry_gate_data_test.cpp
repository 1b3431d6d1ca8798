// SPDX-License-Identifier: Apache-2.0
// The gate on what was recorded: ten excursions of a small robot with what its gate made of them, and a particle filter on a 1:10 car.
#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/messages.hpp"
#include "localization/odometry_gate.hpp"
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
  OdometryGateParameters parameters;
  parameters.envelope = MotionEnvelope::differential(0.218, 0.22);
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

TEST_CASE("a particle filter that jumps on a 1:10 car: gated it keeps to the bound and to the way of the wheels") {
  const auto folder = test_data("runs/frictionmaps/DS1");
  if (!folder) return;
  const auto wheels = read_poses(*folder / "odomData.csv");
  const auto filter = read_poses(*folder / "pfPoseData.csv");
  double fastest = 0.0;
  for (const Row& row : read_rows(*folder / "odomData.csv")) fastest = std::max(fastest, number(row, "vx"));
  CHECK(fastest == doctest::Approx(4.859).epsilon(1e-3));
  OdometryGateParameters parameters;
  parameters.envelope = {fastest, 7.0, 0.0, 0.0};
  OdometryGate gate(parameters);
  std::size_t w = 0;
  double raw = 0.0, gated = 0.0, rolled = 0.0, fwd_raw = 0.0, fwd = 0.0, fwd_wheels = 0.0;
  double top = 0.0;
  for (std::size_t i = 0; i < filter.size(); ++i) {
    while (w < wheels.size() && (w == 0 || wheels[w - 1].t < filter[i].t)) {
      gate.add_wheels(wheels[w].t, wheels[w].pose);
      ++w;
    }
    const GatedPose out = gate.add_pose(filter[i].t, filter[i].pose);
    raw += norm(out.step_raw.position());
    gated += norm(out.step_taken.position());
    fwd_raw += out.step_raw.x;
    fwd += out.step_taken.x;
    top = std::max(top, std::hypot(out.velocity.x_mps, out.velocity.y_mps));
  }
  for (std::size_t i = 1; i < wheels.size(); ++i) {
    rolled += distance(wheels[i].pose.position(), wheels[i - 1].pose.position());
    fwd_wheels += increment(wheels[i - 1].pose, wheels[i].pose).x;
  }
  MESSAGE("raw " << raw << " gated " << gated << " wheels " << rolled << " fwd raw " << fwd_raw << " gated " << fwd << " wheels "
                 << fwd_wheels << " top " << top);
  for (int v = 0; v < 8; ++v) MESSAGE(to_string(static_cast<GateVerdict>(v)) << " " << gate.counts().verdicts[static_cast<std::size_t>(v)]);
  CHECK(top <= fastest * 1.15 + 1e-9);
}

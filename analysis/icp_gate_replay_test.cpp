// SPDX-License-Identifier: Apache-2.0
#include "analysis/icp_gate_replay.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "analysis/odom_health.hpp"
#include "tests/support/tracks.hpp"

using namespace pitwall;
using namespace pitwall::analysis;
using localization::GateVerdict;
using localization::OdometryGateParameters;

namespace {

const OdometryGateParameters kGate = OdometryGateParameters::for_differential(0.218, 0.22);

bool near(const Pose2& a, const Pose2& b, double tolerance) {
  return distance(a.position(), b.position()) < tolerance && std::abs(wrap_angle(a.yaw - b.yaw)) < tolerance;
}

}  // namespace

TEST_CASE("the ten recorded excursions in one drive: each is replaced by the wheels, and nothing else") {
  const auto folder = test_data("runs/mote");
  if (!folder) return;
  const auto rows = golden_rows(*folder / "icp_excursions_golden.csv");
  REQUIRE(rows.size() == 10);
  const TempFolder temp("icp_gate_replay");
  std::vector<Pose2> wheels;
  std::vector<Pose2> scans;
  for (const Row& row : rows) {
    wheels.insert(wheels.end(), 25, {0.015, 0.0, 0.02});
    scans.insert(scans.end(), 25, {0.015, 0.0, 0.02});
    wheels.push_back(wheel_step(row));
    scans.push_back(scan_step(row));
  }
  const auto bag = tracks_bag(temp.path() / "bag", chain(wheels), chain(scans), 100'000'000);
  GateReplayOptions options;
  options.gate = kGate;
  options.out = temp.path() / "gated";
  const auto tracks = load_tracks(bag, {});
  REQUIRE_MESSAGE(tracks.ok(), tracks.error().message);
  const GateReplay replay = replay_gate(*tracks, kGate);
  CHECK(replay.counts.of(GateVerdict::kTooFast) == 10);
  CHECK(replay.counts.replaced() == 10);
  CHECK(replay.counts.without_wheels == 0);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    CAPTURE(rows[k].at("t_s"));
    const localization::GatedPose& pose = replay.poses[26 * (k + 1)];
    CHECK(pose.replaced());
    CHECK(pose.by_wheels);
    CHECK(near(pose.step_taken, wheel_step(rows[k]), 1e-6));
  }
  CHECK(replay.raw_fastest_mps > 1.1);
  CHECK(replay.gated_fastest_mps <= 0.2507 + 1e-9);

  const GatedReport report = icp_gate_replay(bag, options);
  CHECK(report.refused.empty());
  CHECK(report.document.sections.at(0).tables.at(1).rows.size() == 10);
  // What was written has no excursion left, and is what the gate gave, pose by pose.
  const auto written = load_tracks(options.out, {});
  REQUIRE_MESSAGE(written.ok(), written.error().message);
  REQUIRE(written->scans.size() == replay.poses.size());
  CHECK(written->wheels.size() == tracks->wheels.size());
  for (std::size_t i = 0; i < replay.poses.size(); ++i) CHECK(near(written->scans.pose[i], replay.poses[i].T_odom_base, 1e-9));
  const OdomHealth before = health_of(*tracks, kGate.envelope, 1.15);
  const OdomHealth after = health_of(*written, kGate.envelope, 1.15);
  CHECK(before.scan_excursions == 10);
  CHECK(after.scan_excursions == 0);
  // Where something is already, nothing is written.
  CHECK(icp_gate_replay(bag, options).refused.at(0).find("gated: exists") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(temp.path() / "gated.part"));
  options.out.clear();
  options.max_replaced = 10;
  CHECK(icp_gate_replay(bag, options).gate.passed());
  options.max_replaced = 9;
  options.max_path_percent = 0.1;
  CHECK(icp_gate_replay(bag, options).gate.failures().size() == 2);
}

TEST_CASE("a spike, a kept step and a parked robot: the gated way is that of the wheels") {
  std::vector<Pose2> wheels(60, {0.02, 0.0, 0.01});
  std::vector<Pose2> spike = wheels;
  spike[30].x = 0.12;
  spike[31].x = -0.08;
  std::vector<Pose2> kept = wheels;
  kept[30].x = 0.12;
  std::vector<Pose2> parked(60, {0.0, 0.0, 0.0});
  std::vector<Pose2> jumped = parked;
  jumped[20] = {0.1, 0.05, 0.0};
  for (const auto& [w, s, replaced] : {std::tuple{&wheels, &spike, 2}, std::tuple{&wheels, &kept, 1}, std::tuple{&parked, &jumped, 1}}) {
    const GateReplay replay = replay_gate(tracks_of(*w, *s), kGate);
    CHECK(replay.counts.replaced() == replaced);
    CHECK(near(replay.poses.back().T_odom_base, chain(*w).back(), 1e-9));
  }
}

TEST_CASE("a drive without excursions comes out as it went in, to the bit") {
  const std::vector<Pose2> wheels(60, {0.02, 0.0, 0.03});
  const std::vector<Pose2> scans(60, {0.0211, 0.0004, 0.029});
  const OdometryTracks tracks = tracks_of(wheels, scans);
  const GateReplay replay = replay_gate(tracks, kGate);
  CHECK(replay.counts.replaced() == 0);
  CHECK(replay.raw_way_m == replay.gated_way_m);
  for (std::size_t i = 0; i < tracks.scans.size(); ++i) {
    Pose2 raw = tracks.scans.pose[i];
    raw.yaw = wrap_angle(raw.yaw);
    CHECK(replay.poses[i].T_odom_base == raw);
  }
}

// SPDX-License-Identifier: Apache-2.0
#include "analysis/slip_replay.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/tracks.hpp"

using namespace pitwall;
using namespace pitwall::analysis;
using localization::SlipMonitorParameters;
using localization::SlipState;

namespace {

/// 60 s at 10 Hz, straight on at 0.2 m/s; `speed` over [begin, end) s.
std::vector<Pose2> drive(double begin_s = 0.0, double end_s = 0.0, double speed_mps = 0.0) {
  std::vector<Pose2> steps;
  for (int i = 0; i < 600; ++i) {
    const double t = 0.1 * i;
    steps.push_back({0.1 * (t >= begin_s - 1e-9 && t < end_s - 1e-9 ? speed_mps : 0.2), 0.0, 0.0});
  }
  return steps;
}

}  // namespace

TEST_CASE("a jammed robot: the wheels turn and the scans stand, which is slip from about a window and a hold after it began") {
  const SlipReplay replay = replay_slip(tracks_of(drive(), drive(20.0, 29.0, 0.0)), {}, 10.0);
  REQUIRE(replay.verdicts.size() == 1);
  const SlipVerdict& v = replay.verdicts[0];
  CHECK(v.state == SlipState::kSlip);
  // 25 % of the window are gone 0.25 s after the beginning; the state is held 0.5 s; quiet for 2 s at the end, when 75 % are back.
  CHECK(v.begin_s == doctest::Approx(20.8).epsilon(0.005));
  CHECK(v.end_s == doctest::Approx(29.7 + 2.1).epsilon(0.005));
  CHECK(v.wheel_mps == doctest::Approx(0.2));
  CHECK(v.scan_mps == doctest::Approx(0.0));
  CHECK(replay.evaluations == 591);
  CHECK(replay.residual_mps.max_abs == doctest::Approx(0.2));
  CHECK(replay.residual_mps.p50 == doctest::Approx(0.0));
}

TEST_CASE("scans that are faster than the robot can are a fault of theirs, and a quiet drive raises nothing") {
  const SlipReplay fault = replay_slip(tracks_of(drive(), drive(20.0, 24.0, 0.36)), {}, 10.0);
  REQUIRE(fault.verdicts.size() == 1);
  CHECK(fault.verdicts[0].state == SlipState::kScanFault);
  CHECK(fault.verdicts[0].scan_mps == doctest::Approx(0.36));
  const SlipReplay quiet = replay_slip(tracks_of(drive(), drive(20.0, 40.0, 0.21)), {}, 10.0);
  CHECK(quiet.verdicts.empty());
  CHECK(quiet.states[static_cast<std::size_t>(SlipState::kOk)] + quiet.states[static_cast<std::size_t>(SlipState::kUnknown)] == 591);
  CHECK(quiet.residual_mps.p1 == doctest::Approx(-0.01));
}

TEST_CASE("a robot that is told to drive and does not is stuck, one that nobody tells stands") {
  OdometryTracks tracks = tracks_of(drive(20.0, 30.0, 0.0), drive(20.0, 30.0, 0.0));
  CHECK(replay_slip(tracks, {}, 10.0).verdicts.empty());
  for (int i = 0; i < 600; ++i) {
    tracks.command.t_s.push_back(0.1 * i);
    tracks.command.speed_mps.push_back(0.2);
    tracks.command.yaw_rate_radps.push_back(NAN);
  }
  const SlipReplay replay = replay_slip(tracks, {}, 10.0);
  REQUIRE(replay.verdicts.size() == 1);
  CHECK(replay.verdicts[0].state == SlipState::kStuck);
}

TEST_CASE("a source that falls silent is no slip, and the report says what is missing") {
  OdometryTracks tracks = tracks_of(drive(), drive());
  tracks.scans.t_s.resize(300);
  tracks.scans.pose.resize(300);
  const SlipReplay replay = replay_slip(tracks, {}, 10.0);
  CHECK(replay.verdicts.empty());
  CHECK(replay.missing[static_cast<std::size_t>(localization::NoResidual::kStaleScans)] == doctest::Approx(291).epsilon(0.02));
}

TEST_CASE("the report of slip is a gate") {
  const TempFolder folder("slip_replay");
  const auto bag = tracks_bag(folder.path() / "bag", chain(drive()), chain(drive(20.0, 29.0, 0.0)));
  SlipOptions options;
  options.max_verdicts = 1;
  GatedReport report = slip_replay({bag, folder.path() / "nothing"}, options);
  CHECK(report.gate.passed());
  CHECK(report.refused.size() == 1);
  CHECK(report.document.sections.at(0).tables.size() == 3);
  options.max_verdicts = 0;
  options.verdicts_only = true;
  report = slip_replay({bag}, options);
  CHECK(report.gate.failures().size() == 1);
  REQUIRE(report.document.sections.at(0).tables.size() == 1);
  CHECK(report.document.sections[0].tables[0].rows.at(0).at(2).text == "slip");
}

// SPDX-License-Identifier: Apache-2.0
#include "localization/slip_monitor.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <vector>

#include "localization/odometry_guard.hpp"
#include "tests/support/allocation_guard.hpp"

using namespace pitwall;
using namespace pitwall::localization;

namespace {

Time s(double seconds) { return Time{} + from_seconds(100.0 + seconds); }

SlipResidual residual(double wheel_mps, double scan_mps, double wheel_radps = 0.0, double scan_radps = 0.0) {
  SlipResidual r;
  r.missing = NoResidual::kNone;
  r.wheel_mps = wheel_mps;
  r.scan_mps = scan_mps;
  r.wheel_radps = wheel_radps;
  r.scan_radps = scan_radps;
  return r;
}

// Speeds over time, fed at 50 and 10 Hz; reports at 5 Hz.
struct SlipDrive {
  std::function<Pose2(double)> wheels;
  std::function<Pose2(double)> scans;
  std::optional<MotionCommand> command = std::nullopt;
};

std::vector<SlipReport> run(SlipMonitor& monitor, const SlipDrive& drive, double until_s) {
  std::vector<SlipReport> reports;
  for (int ms = 0; ms <= static_cast<int>(1000.0 * until_s); ms += 20) {
    const double t = 1e-3 * ms;
    monitor.add_wheels(s(t), drive.wheels(t));
    if (ms % 100 == 0) monitor.add_scan_pose(s(t), drive.scans(t));
    if (drive.command) monitor.add_command({s(t), drive.command->speed_mps, drive.command->yaw_rate_radps});
    if (ms % 200 == 0) reports.push_back(monitor.evaluate(s(t)));
  }
  return reports;
}

Pose2 straight(double way_m) { return {way_m, 0.0, 0.0}; }
Pose2 circle(double radius_m, double way_m) {
  const double a = way_m / radius_m;
  return {radius_m * math::sin(a), radius_m * (1.0 - math::cos(a)), wrap_angle(a)};
}

}  // namespace

TEST_CASE("residuals are classified in their order, each bound on both sides") {
  const SlipMonitorParameters p;
  const std::optional<MotionCommand> none;
  const MotionCommand drive{{}, 0.2, 0.0};
  CHECK(classify(p, SlipResidual{}, drive) == SlipState::kUnknown);
  CHECK(classify(p, residual(0.2, 0.2), none) == SlipState::kOk);
  // Faster than the robot can: the scans are wrong, whatever else.
  CHECK(classify(p, residual(0.25, 0.2508), none) == SlipState::kScanFault);
  CHECK(classify(p, residual(0.25, 0.2506), none) == SlipState::kOk);
  // Slip needs both the difference and the share.
  CHECK(classify(p, residual(0.110, 0.081), none) == SlipState::kOk);    // 0.029
  CHECK(classify(p, residual(0.110, 0.079), none) == SlipState::kSlip);  // 0.031, 28 %
  CHECK(classify(p, residual(0.218, 0.165), none) == SlipState::kOk);    // 24 %
  CHECK(classify(p, residual(0.218, 0.160), none) == SlipState::kSlip);
  CHECK(classify(p, residual(0.079, 0.110), none) == SlipState::kScanFault);
  CHECK(classify(p, residual(0.165, 0.218), none) == SlipState::kOk);
  // Too slow to tell.
  CHECK(classify(p, residual(0.029, 0.0), none) == SlipState::kUnknown);
  CHECK(classify(p, residual(0.031, 0.0), none) == SlipState::kSlip);
  // Stuck: told to move, and nothing moves.
  CHECK(classify(p, residual(0.009, 0.009, 0.04, -0.04), drive) == SlipState::kStuck);
  CHECK(classify(p, residual(0.009, 0.009), MotionCommand{{}, 0.0, -0.3}) == SlipState::kStuck);
  CHECK(classify(p, residual(0.009, 0.009), MotionCommand{{}, 0.04, 0.1}) == SlipState::kUnknown);
  CHECK(classify(p, residual(0.009, 0.009), none) == SlipState::kUnknown);
  CHECK(classify(p, residual(0.011, 0.009), drive) == SlipState::kUnknown);
  CHECK(classify(p, residual(0.009, 0.011), drive) == SlipState::kUnknown);
  CHECK(classify(p, residual(0.009, 0.009, 0.06, 0.0), drive) == SlipState::kUnknown);
  CHECK(classify(p, residual(0.009, 0.009, 0.0, -0.06), drive) == SlipState::kUnknown);
}

TEST_CASE("thresholds lie above what a quiet drive shows in 99 of 100 windows") {
  const SlipMonitorParameters p;
  CHECK(p.slip_mps > 0.0210);
  CHECK(p.slip_share > 0.179);
  const SlipMonitorParameters car = SlipMonitorParameters::for_speed(5.04);
  CHECK(car.slip_mps == doctest::Approx(0.03 * 5.04 / 0.218));
  CHECK(car.max_speed_mps == doctest::Approx(5.04 * 1.15));
  CHECK(car.slip_share == p.slip_share);
  CHECK(check_fields("slip", car));
}

TEST_CASE("a state is reported once it has lasted, and withdrawn after quiet") {
  SlipFilter filter(0.5, 2.0);
  CHECK(filter.update(s(0.0), SlipState::kUnknown) == SlipState::kUnknown);
  CHECK(filter.update(s(0.1), SlipState::kOk) == SlipState::kOk);
  CHECK(filter.update(s(0.2), SlipState::kSlip) == SlipState::kOk);
  CHECK(filter.update(s(0.6), SlipState::kSlip) == SlipState::kOk);
  CHECK(filter.update(s(0.7), SlipState::kSlip) == SlipState::kSlip);
  // Another candidate begins its own time while the old state stays.
  CHECK(filter.update(s(0.9), SlipState::kScanFault) == SlipState::kSlip);
  CHECK(filter.update(s(1.2), SlipState::kStuck) == SlipState::kSlip);
  CHECK(filter.update(s(1.6), SlipState::kScanFault) == SlipState::kSlip);
  CHECK(filter.update(s(2.1), SlipState::kScanFault) == SlipState::kScanFault);
  // A short quiet does not withdraw it, and begins anew after a new fault.
  CHECK(filter.update(s(2.2), SlipState::kOk) == SlipState::kScanFault);
  CHECK(filter.update(s(4.0), SlipState::kUnknown) == SlipState::kScanFault);
  CHECK(filter.update(s(4.1), SlipState::kScanFault) == SlipState::kScanFault);
  CHECK(filter.update(s(4.2), SlipState::kOk) == SlipState::kScanFault);
  CHECK(filter.update(s(6.1), SlipState::kOk) == SlipState::kScanFault);
  CHECK(filter.update(s(6.2), SlipState::kOk) == SlipState::kOk);
  // An interruption begins the hold anew.
  CHECK(filter.update(s(7.0), SlipState::kSlip) == SlipState::kOk);
  CHECK(filter.update(s(7.3), SlipState::kOk) == SlipState::kOk);
  CHECK(filter.update(s(7.4), SlipState::kSlip) == SlipState::kOk);
  CHECK(filter.update(s(7.8), SlipState::kSlip) == SlipState::kOk);
  CHECK(filter.update(s(7.9), SlipState::kSlip) == SlipState::kSlip);
}

TEST_CASE("wheels that spin from 3 s to 6 s are reported half a second into a full window, and withdrawn 2 s after") {
  SlipMonitor monitor({});
  const auto reports = run(monitor,
                           {[](double t) { return straight(0.2 * t); },
                            [](double t) { return straight(0.2 * std::min(t, 3.0) + 0.2 * std::max(0.0, t - 6.0)); }},
                           12.0);
  double first = -1.0;
  double last = -1.0;
  for (const SlipReport& r : reports) {
    const double t = (r.at - s(0.0)).seconds();
    CHECK((r.state == SlipState::kSlip || r.state == SlipState::kOk || r.state == SlipState::kUnknown));
    if (r.state != SlipState::kSlip) continue;
    if (first < 0.0) first = t;
    last = t;
  }
  CHECK(first > 3.5);
  CHECK(first <= 4.2);
  CHECK(last >= 8.0);
  CHECK(last <= 9.0);
}

TEST_CASE("a loop is as long for the wheels as for the scans, even if the wheels believe in another turn") {
  // A radius of 0.3 m at 0.2 m/s is 0.67 rad/s. The wheels make the same way with a heading that turns half as fast: two chords of
  // different length.
  SlipMonitor monitor({});
  const auto reports = run(monitor, {[](double t) { return circle(0.6, 0.2 * t); }, [](double t) { return circle(0.3, 0.2 * t); }}, 6.0);
  CHECK(reports.back().state == SlipState::kOk);
  CHECK(reports.back().residual.wheel_mps == doctest::Approx(0.2).epsilon(0.005));
  CHECK(reports.back().residual.scan_mps == doctest::Approx(0.2).epsilon(0.005));
  CHECK(reports.back().residual.yaw_residual_radps() == doctest::Approx(0.2 / 0.6 - 0.2 / 0.3).epsilon(0.005));
}

TEST_CASE("a vehicle that is told to drive and stands is stuck, unless the command is old") {
  SlipMonitor monitor({});
  const SlipDrive standing{[](double) { return Pose2{}; }, [](double) { return Pose2{}; }, MotionCommand{{}, 0.15, 0.0}};
  CHECK(run(monitor, standing, 4.0).back().state == SlipState::kStuck);
  SlipMonitor unattended({});
  unattended.add_command({s(-3.0), 0.15, 0.0});
  SlipDrive without = standing;
  without.command.reset();
  CHECK(run(unattended, without, 4.0).back().state == SlipState::kUnknown);
}

TEST_CASE("without a full window of both sources nothing is said, with the reason") {
  SlipMonitor monitor({});
  CHECK(monitor.residual(s(0.0)).missing == NoResidual::kNoWheels);
  monitor.add_wheels(s(0.0), {});
  CHECK(monitor.residual(s(0.0)).missing == NoResidual::kNoScans);
  monitor.add_scan_pose(s(0.0), {});
  CHECK(monitor.residual(s(0.5)).missing == NoResidual::kShortOverlap);
  monitor.add_wheels(s(0.9), {});
  monitor.add_scan_pose(s(0.9), {});
  CHECK(monitor.residual(s(0.9)).missing == NoResidual::kShortOverlap);
  monitor.add_wheels(s(1.0), {});
  monitor.add_scan_pose(s(1.0), {});
  CHECK(monitor.residual(s(1.0)).missing == NoResidual::kNone);
  // A stalled scanner looks exactly like slip: it is named instead.
  monitor.add_wheels(s(2.1), {0.4, 0.0, 0.0});
  CHECK(monitor.residual(s(2.1)).missing == NoResidual::kStaleScans);
  CHECK(monitor.residual(s(3.2)).missing == NoResidual::kStaleWheels);
  CHECK(monitor.evaluate(s(2.1)).state == SlipState::kUnknown);
  CHECK(to_string(NoResidual::kStaleScans) == "scans stale");
}

TEST_CASE("the window ends where the slower source ends") {
  SlipMonitor monitor({});
  for (int i = 0; i <= 20; ++i) monitor.add_wheels(s(0.1 * i), straight(0.02 * i));
  for (int i = 0; i <= 13; ++i) monitor.add_scan_pose(s(0.1 * i), straight(0.02 * i));
  const SlipResidual r = monitor.residual(s(2.0));
  CHECK(r.missing == NoResidual::kNone);
  CHECK(r.end == s(1.3));
  CHECK(r.residual_mps() == doctest::Approx(0.0));
}

TEST_CASE("the monitor reads the track as it was matched: it reports a fault that the gate keeps from the driver") {
  OdometryGateParameters gate;
  gate.envelope = MotionEnvelope::differential(0.218, 0.22);
  OdometryGuard guard(gate, {});
  SlipMonitor after_gate({});
  Pose2 raw;
  Pose2 out;
  SlipState guarded = SlipState::kUnknown;
  SlipState gated = SlipState::kUnknown;
  std::size_t allocations = 0;
  for (int i = 0; i < 40; ++i) {
    const Time t = s(0.1 * i);
    const AllocationGuard allocated;
    // The wheels do 0.1 m/s; the scans jump ahead at 1 m/s, as one that is stuck to the wrong wall does.
    guard.add_wheels(t, straight(0.01 * i));
    after_gate.add_wheels(t, straight(0.01 * i));
    raw = raw * straight(0.1);
    out = guard.add_pose(t, raw).T_odom_base;
    guarded = guard.evaluate(t).state;
    if (i > 30) allocations += allocated.count();
    after_gate.add_scan_pose(t, out);
    gated = after_gate.evaluate(t).state;
  }
  CHECK(guarded == SlipState::kScanFault);
  // What a monitor behind the gate would see.
  CHECK(gated == SlipState::kOk);
  CHECK(out.x == doctest::Approx(0.1 + 0.39).epsilon(0.01));
  CHECK(allocations == 0);
}

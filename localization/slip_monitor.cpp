// SPDX-License-Identifier: Apache-2.0
#include "localization/slip_monitor.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"

namespace pitwall::localization {

namespace {

constexpr double kReferenceSpeed_mps = 0.218;
constexpr int kSteps = 10;  // of a window

struct Way {
  double way_m;
  double turned_rad;
};

// Nothing where the track does not cover the window.
std::optional<Way> way_of(const PoseTrack& track, Time begin, Time end) {
  Vec2 way;
  double turned = 0.0;
  Time from = begin;
  for (std::int64_t i = 1; i <= kSteps; ++i) {
    const Time to{begin.ns + (end.ns - begin.ns) * i / kSteps};
    const std::optional<Pose2> step = track.between(from, to);
    if (!step) return std::nullopt;
    way = way + step->position();
    turned += step->yaw;
    from = to;
  }
  return Way{norm(way), turned};
}

bool raised(SlipState state) { return state == SlipState::kSlip || state == SlipState::kScanFault || state == SlipState::kStuck; }

}  // namespace

void SlipMonitorParameters::fields(FieldVisitor& f) {
  f.number("window_s", window_s, {"s", 0.05, 10, "over which ways are compared"});
  f.number("min_speed_mps", min_speed_mps, {"m/s", 0, 10, "below it nothing is said"});
  f.number("slip_mps", slip_mps, {"m/s", 0, 10, "wheels faster than scans by more are slip, if"});
  f.number("slip_share", slip_share, {"", 0, 1, "they are by more than this share, too"});
  f.number("fault_mps", fault_mps, {"m/s", 0, 10, "scans faster than wheels by more are wrong, if"});
  f.number("fault_share", fault_share, {"", 0, 1, "they are by more than this share, too"});
  f.number("max_speed_mps", max_speed_mps, {"m/s", 0.01, 100, "scans that show more are wrong"});
  f.number("stuck_command_mps", stuck_command_mps, {"m/s", 0, 10, "a command of more is one to drive"});
  f.number("stuck_command_radps", stuck_command_radps, {"rad/s", 0, 10, "or to turn"});
  f.number("stuck_mps", stuck_mps, {"m/s", 0, 10, "less is no motion"});
  f.number("stuck_radps", stuck_radps, {"rad/s", 0, 10, "less is no turn"});
  f.number("hold_s", hold_s, {"s", 0, 60, "a state is reported after this time without a break"});
  f.number("release_s", release_s, {"s", 0, 60, "and withdrawn after this time of quiet"});
  f.number("max_lag_s", max_lag_s, {"s", 0, 60, "what is older counts as absent"});
}

SlipMonitorParameters SlipMonitorParameters::for_speed(double max_speed_mps) {
  SlipMonitorParameters p;
  const double k = max_speed_mps / kReferenceSpeed_mps;
  for (double* speed : {&p.min_speed_mps, &p.slip_mps, &p.fault_mps, &p.stuck_command_mps, &p.stuck_mps}) *speed *= k;
  p.max_speed_mps = 1.15 * max_speed_mps;
  return p;
}

std::string_view to_string(SlipState state) {
  static constexpr std::array<std::string_view, 5> kNames{"unknown", "ok", "slip", "icp_fault", "stuck"};
  return kNames[static_cast<std::size_t>(state)];
}

std::string_view to_string(NoResidual reason) {
  static constexpr std::array<std::string_view, 6> kNames{"", "no wheels", "no scans", "wheels stale", "scans stale", "overlap too short"};
  return kNames[static_cast<std::size_t>(reason)];
}

SlipState classify(const SlipMonitorParameters& p, const SlipResidual& r, const std::optional<MotionCommand>& command) {
  if (r.missing != NoResidual::kNone) return SlipState::kUnknown;
  if (r.scan_mps > p.max_speed_mps) return SlipState::kScanFault;
  const bool told =
      command && (std::abs(command->speed_mps) > p.stuck_command_mps || std::abs(command->yaw_rate_radps) > p.stuck_command_radps);
  const bool still = r.wheel_mps < p.stuck_mps && r.scan_mps < p.stuck_mps && std::abs(r.wheel_radps) < p.stuck_radps &&
                     std::abs(r.scan_radps) < p.stuck_radps;
  if (told && still) return SlipState::kStuck;
  if (r.scale_mps() < p.min_speed_mps) return SlipState::kUnknown;
  if (r.residual_mps() > p.slip_mps && r.relative() > p.slip_share) return SlipState::kSlip;
  if (-r.residual_mps() > p.fault_mps && -r.relative() > p.fault_share) return SlipState::kScanFault;
  return SlipState::kOk;
}

SlipState SlipFilter::update(Time now, SlipState state) {
  if (!raised(state)) {
    candidate_ = state;
    if (!raised(reported_)) return reported_ = state;
    if (!quiet_) quiet_since_ = now;
    quiet_ = true;
    if (now - quiet_since_ >= release_) {
      reported_ = state;
      quiet_ = false;
    }
    return reported_;
  }
  quiet_ = false;
  if (state == reported_) {
    candidate_ = state;
    candidate_since_ = now;
    return reported_;
  }
  if (candidate_ != state) candidate_since_ = now;
  candidate_ = state;
  if (now - candidate_since_ >= hold_) reported_ = state;
  return reported_;
}

SlipMonitor::SlipMonitor(const SlipMonitorParameters& parameters)
    : parameters_(parameters),
      wheels_(from_seconds(std::max(2.0 * parameters.window_s, 2.0) + parameters.max_lag_s)),
      scans_(from_seconds(std::max(2.0 * parameters.window_s, 2.0) + parameters.max_lag_s)),
      filter_(parameters.hold_s, parameters.release_s) {
  const Status status = check_fields("slip_monitor", parameters);
  PITWALL_CHECK(status.ok(), status.error().message);
}

SlipResidual SlipMonitor::residual(Time now) const {
  SlipResidual r;
  const auto none = [&r](NoResidual reason) {
    r.missing = reason;
    return r;
  };
  if (wheels_.empty()) return none(NoResidual::kNoWheels);
  if (scans_.empty()) return none(NoResidual::kNoScans);
  const Duration lag = from_seconds(parameters_.max_lag_s);
  if (now - wheels_.newest() > lag) return none(NoResidual::kStaleWheels);
  if (now - scans_.newest() > lag) return none(NoResidual::kStaleScans);
  r.end = std::min({wheels_.newest(), scans_.newest(), now});
  const Time begin = r.end - from_seconds(parameters_.window_s);
  const std::optional<Way> wheels = way_of(wheels_, begin, r.end);
  const std::optional<Way> scans = way_of(scans_, begin, r.end);
  if (!wheels || !scans) return none(NoResidual::kShortOverlap);
  r.missing = NoResidual::kNone;
  r.wheel_mps = wheels->way_m / parameters_.window_s;
  r.scan_mps = scans->way_m / parameters_.window_s;
  r.wheel_radps = wheels->turned_rad / parameters_.window_s;
  r.scan_radps = scans->turned_rad / parameters_.window_s;
  return r;
}

SlipReport SlipMonitor::evaluate(Time now) {
  SlipReport report;
  report.at = now;
  report.residual = residual(now);
  const bool fresh = command_ && now - command_->stamp <= from_seconds(parameters_.max_lag_s);
  report.immediate = classify(parameters_, report.residual, fresh ? command_ : std::nullopt);
  report.state = filter_.update(now, report.immediate);
  return report;
}

}  // namespace pitwall::localization

// SPDX-License-Identifier: Apache-2.0
#include "sim/faults.hpp"

#include <algorithm>
#include <cmath>

#include "core/math.hpp"
#include "core/rng.hpp"
#include "core/text.hpp"

namespace pitwall::sim {

bool has_size(FaultKind kind) {
  return kind == FaultKind::kPoseJump || kind == FaultKind::kBlindSector || kind == FaultKind::kBatterySag ||
         kind == FaultKind::kSlipperyPatch;
}

Status check(const Fault& fault, std::size_t cars) {
  const std::string who = "fault '" + fault.name + "' (" + std::string(kFaultKindNames[static_cast<std::size_t>(fault.kind)]) + "): ";
  const auto refuse = [&](const char* key, double value, const std::string& allowed) {
    return Error{who + key + " = " + format_exact(value) + "; allowed: " + allowed};
  };
  if (fault.car >= cars) return Error{who + "there is no car " + std::to_string(fault.car)};
  if (!(fault.start_s >= 0.0 && fault.start_s <= 1e6)) return refuse("start_s", fault.start_s, "0 .. 1e6");
  if (!(fault.length_s > 0.0 && fault.length_s <= 1e6)) return refuse("length_s", fault.length_s, "above 0, to 1e6");
  if (!has_size(fault.kind) && fault.size != 0.0) return refuse("size", fault.size, "0: this kind has none");
  if (fault.kind == FaultKind::kPoseJump && !(fault.size > 0.0 && fault.size <= 100.0)) return refuse("size", fault.size, "0 .. 100 m");
  if (fault.kind == FaultKind::kBlindSector && !(fault.size > 0.0 && fault.size <= 2.0 * math::kPi))
    return refuse("size", fault.size, "0 .. 2 pi rad");
  if ((fault.kind == FaultKind::kBatterySag || fault.kind == FaultKind::kSlipperyPatch) && !(fault.size > 0.0 && fault.size <= 0.95))
    return refuse("size", fault.size, "0 .. 0.95");
  if (!(std::abs(fault.bearing_rad) <= math::kPi)) return refuse("bearing_rad", fault.bearing_rad, "-pi .. pi");
  if (fault.kind == FaultKind::kSlipperyPatch) {
    if (!(fault.radius_m > 0.0 && fault.radius_m <= 100.0)) return refuse("radius_m", fault.radius_m, "above 0, to 100");
    if (!std::isfinite(fault.place.x + fault.place.y)) return Error{who + "its place is not finite"};
  }
  return {};
}

void FaultEffects::add(const Fault& fault, Vec2 p_map) {
  switch (fault.kind) {
    case FaultKind::kPoseFrozen:
      pose.frozen = true;
      break;
    case FaultKind::kPoseStale:
      pose.stale = true;
      break;
    case FaultKind::kPoseLoss:
      pose_lost = true;
      break;
    case FaultKind::kPoseJump: {
      const Rng draw(static_cast<std::uint64_t>(fault.seed), fault.name);
      const Vec2 way = fault.size * unit_vector(2.0 * math::kPi * draw.uniform(0));
      pose.jump = pose.jump + way;
      break;
    }
    case FaultKind::kScanLoss:
      scan_lost = true;
      break;
    case FaultKind::kOdometryLoss:
      odometry_lost = true;
      break;
    case FaultKind::kJoyLoss:
      joy_lost = true;
      break;
    case FaultKind::kDeadmanReleased:
      deadman_released = true;
      break;
    case FaultKind::kCommandLoss:
      command_lost = true;
      break;
    case FaultKind::kBlindSector:
      blind = {fault.bearing_rad, fault.size};
      break;
    case FaultKind::kServoStuck:
      servo_stuck = true;
      break;
    case FaultKind::kBatterySag:
      voltage_share = std::min(voltage_share, 1.0 - fault.size);
      break;
    case FaultKind::kSlipperyPatch:
      if (distance(p_map, fault.place) <= fault.radius_m) friction_share = std::min(friction_share, 1.0 - fault.size);
      break;
  }
}

}  // namespace pitwall::sim

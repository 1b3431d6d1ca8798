// SPDX-License-Identifier: Apache-2.0
// What goes wrong during a run, on a schedule: each fault has a kind, a start, a length, a size and a seed, acts on one car (a
// slippery patch on whoever drives over it), and is in the trace hash from its first step to its last.
//
// kind              what happens                                                     size            more
// pose_frozen       the last estimate is repeated with new stamps                    -
// pose_stale        the last estimate is repeated with its old stamp                 -
// pose_loss         no estimates                                                     -
// pose_jump         estimates are off by `size` in a direction that the seed draws   m
// scan_loss         no scans                                                         -
// odometry_loss     no odometry                                                      -
// joy_loss          no joystick messages                                             -
// deadman_released  the joystick says that the button is up                          -
// command_loss      commands do not reach the car's driver                           -
// blind_sector      something covers the scanner's window                            rad, full width bearing_rad
// servo_stuck       the front wheels stay at their angle                             -
// battery_sag       the voltage is down by that share: power and top speed fall      share of 1
// slippery_patch    a disc of floor has lost that share of its friction              share of 1      place, radius_m
//
// A fault acts on what is measured or sent in [start, start + length); what was under way before still arrives.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/geometry.hpp"
#include "core/result.hpp"
#include "core/time.hpp"
#include "sim/obstacles.hpp"
#include "sim/sensors.hpp"

namespace pitwall::sim {

enum class FaultKind : std::uint8_t {
  kPoseFrozen,
  kPoseStale,
  kPoseLoss,
  kPoseJump,
  kScanLoss,
  kOdometryLoss,
  kJoyLoss,
  kDeadmanReleased,
  kCommandLoss,
  kBlindSector,
  kServoStuck,
  kBatterySag,
  kSlipperyPatch
};
inline constexpr std::array<std::string_view, 13> kFaultKindNames = {
    "pose_frozen",      "pose_stale",   "pose_loss",    "pose_jump",   "scan_loss",   "odometry_loss", "joy_loss",
    "deadman_released", "command_loss", "blind_sector", "servo_stuck", "battery_sag", "slippery_patch"};

struct Fault {
  std::string name;
  FaultKind kind = FaultKind::kPoseFrozen;
  std::size_t car = 0;
  double start_s = 0.0;
  double length_s = 1.0;
  double size = 0.0;
  std::int64_t seed = 0;     ///< of what is drawn
  double bearing_rad = 0.0;  ///< blind_sector
  Vec2 place{};              ///< slippery_patch, map frame
  double radius_m = 0.0;     ///< slippery_patch

  [[nodiscard]] Time start() const { return Time{} + from_seconds(start_s); }
  [[nodiscard]] Time end() const { return start() + from_seconds(length_s); }
  [[nodiscard]] bool acts_at(Time t) const { return t >= start() && t < end(); }
};

/// Whether `size` means something for that kind.
bool has_size(FaultKind kind);
/// Refuses, by name, what is out of range, a size where there is none, a car that is not there.
Status check(const Fault& fault, std::size_t cars);

/// Everything that acts on one car at an instant.
struct FaultEffects {
  PoseFault pose;
  bool pose_lost = false;
  bool scan_lost = false;
  bool odometry_lost = false;
  bool joy_lost = false;
  bool deadman_released = false;
  bool command_lost = false;
  bool servo_stuck = false;
  BlindSector blind;
  double voltage_share = 1.0;
  double friction_share = 1.0;

  /// Adds one fault; a patch is felt where `p_map` (of the car) lies within it.
  void add(const Fault& fault, Vec2 p_map);
};

/// What the world noted of one fault.
struct FaultRecord {
  bool begun = false;  ///< has acted at least on one step: a patch only once it was driven over
  bool over = false;   ///< its end has passed
  Time began;          ///< first step on which it acted
  Time ended;          ///< end of the last step on which it acted
  Time last_good;      ///< arrival of the last input that it did not touch; of a released button: of the first message that says so
};

/// What is on the floor and what goes wrong.
struct Surroundings {
  std::vector<Obstacle> obstacles;
  std::vector<Fault> faults;
};

}  // namespace pitwall::sim

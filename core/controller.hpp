// SPDX-License-Identifier: Apache-2.0
// The one seam of the system: a Controller sees an Observation and answers with a Command. The simulator, a replay and
// the car run the very same object; whoever runs it owns time.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/messages.hpp"
#include "core/result.hpp"
#include "core/time.hpp"

namespace pitwall {

struct Node;

/// The latest message of one source. `message` is null until one has arrived; it stays valid during the call only.
template <class Message>
struct Source {
  const Message* message = nullptr;
  Time arrival;                ///< when the runner received it; message->stamp is when it was measured
  std::uint64_t sequence = 0;  ///< counts arrivals, from 1
};

/// What a controller may know at the instant `now`, and nothing else.
struct Observation {
  Time now;  ///< the only clock
  Source<LaserScan> scan;
  Source<Odometry> odometry;
  Source<PoseEstimate> pose;
  Source<Joy> joy;
  Source<Imu> imu;
};

/// Why the command is what it is.
enum class Reason : std::uint8_t {
  kDrive,
  // Operator.
  kWaitingForJoy,
  kJoyStale,
  kDeadmanButtonMissing,
  kDeadmanReleased,
  // Inputs.
  kScanMissing,
  kScanStale,
  kScanMalformed,
  kOdometryMissing,
  kOdometryStale,
  kOdometryInvalid,
  kPoseMissing,
  kPoseStale,
  kPoseFrozen,
  kPoseInvalid,
  // Surroundings.
  kEmergencyClearance,
  kTtcBrake,
  kNoSafeGap,
  kBodyContact,
  kForwardStop,
  kEscapeCreep,
  kAvoid,
  kFollow,
  kOvertake,
  kOffLine,
  kEndOfPath,
  // Own faults.
  kSteeringFallback,  ///< drives on what the law planned before, for one tick
  kSteeringLawFailed,
  // Added later; numbers of reasons stay what they are.
  kRecover,  ///< back to the line from far off it
};

/// "ttc_brake" for kTtcBrake: the snake_case name used in logs, reports and recordings.
std::string_view name(Reason reason);
/// Whether this reason commands zero speed.
bool is_stop(Reason reason);

/// Which layer had the last word.
enum class Layer : std::uint8_t { kWatchdog, kSafety, kLaw, kCommandStage };
std::string_view name(Layer layer);

/// ackermann_msgs/AckermannDrive (float32 fields) and the decision behind it.
struct Command {
  float steering_angle_rad = 0.0F;  ///< positive to the left
  float speed_mps = 0.0F;
  Reason reason = Reason::kDrive;
  Layer layer = Layer::kLaw;
  std::int32_t beam = -1;  ///< index of the beam that decided, or -1
  float ttc_s = INFINITY;  ///< time to collision that decided, or +inf
};

/// When a controller wants to be called.
struct Trigger {
  /// Rate in time; nothing means "whenever a scan arrives".
  std::optional<Duration> period;
};

/// A ROS-free controller. Not thread-safe; one object drives one car.
class Controller {
 public:
  virtual ~Controller() = default;
  Controller() = default;
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual Trigger trigger() const = 0;
  /// Forgets everything and sizes its buffers; `first` may still lack every message.
  virtual void reset(const Observation& first) = 0;
  /// The command at obs.now. No I/O, no clock, no allocation; never throws; a fault inside is a stop with its reason.
  virtual Command update(const Observation& obs) = 0;
  /// Changes some parameters (a map of name to value) while the car drives; what the controller remembers stays. Between calls of
  /// update(), by the runner; may allocate. Errors, with nothing changed: a name or value that make() would refuse, or a controller
  /// whose parameters are fixed once it is made.
  virtual Status change_parameters(const Node& changes);
  /// Right after reset(): goes on from that command, which another gave at `at`, as from its own.
  virtual void resume(const Command& /*last*/, Time /*at*/) {}
  /// What the controller counted since reset (avoid_steps, overtake_starts, ...), for reports only.
  [[nodiscard]] virtual std::vector<std::pair<std::string_view, double>> counters() const { return {}; }
};

}  // namespace pitwall

// SPDX-License-Identifier: Apache-2.0
// Takes down a run beside the control loop: what the loop says is copied into a bounded queue, and a thread of its own does what may block
// (files, terminal). A full queue is a counted drop, never a stall. There is no lock between the two: a worker without priority that is
// put aside while it holds one would hold up the loop (measured: 0.1 s at a load of 7).
#pragma once

#include <atomic>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/run_observer.hpp"
#include "drivers/session.hpp"
#include "drivers/vesc.hpp"
#include "recording/recorder.hpp"

namespace pitwall::onboard {

/// Everything but dropped() is called by one thread.
class Scribe final : public RunObserver {
 public:
  /// `recorder` may be null: then only notes are written, to the log.
  explicit Scribe(std::unique_ptr<recording::Recorder> recorder, std::size_t capacity = 512);
  ~Scribe() override;

  void arrived(std::size_t car, const Source<LaserScan>& scan) override;
  void arrived(std::size_t car, const Source<Odometry>& odometry) override;
  void arrived(std::size_t car, const Source<PoseEstimate>& pose) override;
  void arrived(std::size_t car, const Source<Joy>& joy) override;
  void arrived(std::size_t car, const Source<Imu>& imu) override;
  void changed(std::size_t car, const std::string& assignment) override;
  void decided(std::size_t car, std::uint64_t tick, const Observation& seen, const Command& command) override;
  /// Telemetry of the motor controller, as /sensors/core; raw, with the wire's sign.
  void telemetry(const drivers::Received<vesc::Values>& values, Time now);
  /// Position that the servo was sent, as /sensors/servo_position_command: what became of the commanded steering.
  void servo(Time now, double position);
  /// A line of the log, which the run folder keeps in launch.log. `now` is the run's time.
  void note(Time now, std::string_view line, bool warning = false);

  /// What found the queue full.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }
  /// Writes what waits and ends the recording; nothing may be said afterwards.
  Status close(Time end);

 private:
  enum class Kind : std::uint8_t { kScan, kOdometry, kPose, kJoy, kImu, kChange, kDecision, kTelemetry, kServo, kNote };
  // One thing said. Buffers keep their capacity from use to use.
  struct Slot {
    Kind kind = Kind::kNote;
    Time at;
    std::uint64_t sequence = 0;
    LaserScan scan;
    Odometry odometry;
    PoseEstimate pose;
    Joy joy;
    Imu imu;
    Observation seen;
    Command command;
    vesc::Values values;
    Time stamp;
    double position = 0.0;
    std::string text;
    bool warning = false;
  };

  template <class Fill>
  void put(Kind kind, Time at, const Fill& fill);
  void work();
  void finish();
  void write(Slot& slot);
  void write_telemetry(const Slot& slot);
  void write_note(const Slot& slot);

  std::unique_ptr<recording::Recorder> recorder_;
  std::ofstream log_;
  bool complained_ = false;
  std::vector<Slot> slots_;                // ring
  std::atomic<std::uint64_t> filled_ = 0;  // slots ever filled, by the loop
  std::atomic<std::uint64_t> taken_ = 0;   // and written, by the worker
  std::atomic<std::uint64_t> dropped_ = 0;
  std::atomic<bool> closing_ = false;
  std::thread worker_;
};

}  // namespace pitwall::onboard

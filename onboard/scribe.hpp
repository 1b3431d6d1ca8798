// SPDX-License-Identifier: Apache-2.0
// Takes down a run beside the control loop: what the loop says is copied into a bounded queue, and a thread of its own does what may block
// (files, terminal). A full queue is a counted drop, never a stall.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/run_observer.hpp"
#include "drivers/session.hpp"
#include "drivers/vesc.hpp"
#include "recording/recorder.hpp"

namespace pitwall::onboard {

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
  /// A line of the log, which the run folder keeps in launch.log. `now` is the run's time.
  void note(Time now, std::string_view line, bool warning = false);

  /// What found the queue full.
  [[nodiscard]] std::uint64_t dropped() const;
  /// Writes what waits and ends the recording; nothing may be said afterwards.
  Status close(Time end);

 private:
  enum class Kind : std::uint8_t { kScan, kOdometry, kPose, kJoy, kImu, kChange, kDecision, kTelemetry, kNote };
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
  std::string log_;
  bool complained_ = false;
  mutable std::mutex mutex_;
  std::condition_variable filled_;
  std::vector<Slot> slots_;  // ring
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  std::uint64_t dropped_ = 0;
  bool closing_ = false;
  std::thread worker_;
};

}  // namespace pitwall::onboard

// SPDX-License-Identifier: Apache-2.0
// Who watches a run without being part of it: a recorder. Whoever runs controllers (simulator, car) tells it what each
// controller was given and what it answered.
#pragma once

#include <cstddef>
#include <string>

#include "core/controller.hpp"

namespace pitwall {

/// Told in the order of time. Cars are numbered as the runner numbers them. What is passed holds during the call only.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  RunObserver() = default;
  RunObserver(const RunObserver&) = delete;
  RunObserver& operator=(const RunObserver&) = delete;

  /// A message has arrived, which from now on is the latest of its source.
  virtual void arrived(std::size_t car, const Source<LaserScan>& scan) = 0;
  virtual void arrived(std::size_t car, const Source<Odometry>& odometry) = 0;
  virtual void arrived(std::size_t car, const Source<PoseEstimate>& pose) = 0;
  virtual void arrived(std::size_t car, const Source<Joy>& joy) = 0;
  virtual void arrived(std::size_t car, const Source<Imu>& imu) = 0;
  /// Parameters of the controller were changed ("key=value"), in force from its next decision on.
  virtual void changed(std::size_t car, const std::string& assignment) = 0;
  /// The controller was called with `seen` and answered; `tick` counts the calls, from 1.
  virtual void decided(std::size_t car, std::uint64_t tick, const Observation& seen, const Command& command) = 0;
};

}  // namespace pitwall

// SPDX-License-Identifier: Apache-2.0
// A program that a recording is played into: is it still there, is it still busy with what it was given?
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "core/time.hpp"

namespace pitwall::ros_bridge {

class Peer {
 public:
  virtual ~Peer() = default;
  Peer() = default;
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  /// Whether any of its threads runs or is about to, at this instant.
  virtual bool busy() = 0;
  [[nodiscard]] virtual bool alive() = 0;
  /// Which of its threads were busy most often since the last time this was asked, at most five.
  virtual std::string busiest() = 0;
};

/// A command that was started here, with all that it started. Busy is a thread in state R or D in /proc: one that waits for the disk is not
/// idle. The command gets a process group of its own, SIGINT when this program dies, and what its output says goes where ours goes.
class LaunchedPeer final : public Peer {
 public:
  /// Runs `command` in a shell, with those variables over ours.
  static Result<std::unique_ptr<LaunchedPeer>> start(const std::string& command, const std::map<std::string, std::string>& environment);
  /// Kills what is left.
  ~LaunchedPeer() override;

  bool busy() override;
  [[nodiscard]] bool alive() override;
  std::string busiest() override;
  /// Waits until it has ended; false after `patience`.
  bool wait_end(Duration patience);
  /// SIGINT, then `patience`; who does not end by then is killed, which is an error: its files are not closed. So is an exit code that is
  /// neither 0 nor that of the signal.
  Status stop(Duration patience = {60'000'000'000});

 private:
  explicit LaunchedPeer(pid_t pid) : pid_(pid) {}
  void scan_tree();

  pid_t pid_;
  bool ended_ = false;
  int exit_status_ = 0;
  std::vector<pid_t> tree_;
  std::int64_t scanned_ns_ = 0;
  std::map<std::string, std::uint64_t> busy_;  // "name (pid/tid)", how often
};

}  // namespace pitwall::ros_bridge

// SPDX-License-Identifier: Apache-2.0
// A session on its stream: opens the address (by-id paths are looked up anew each time), feeds and drains the session, and after
// a loss closes, waits 0.1 to 2 s and opens again. One thread calls it; wake() may come from any.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "drivers/byte_stream.hpp"
#include "drivers/session.hpp"

namespace pitwall::drivers {

/// Waits between attempts: 0.1 s, doubling to 2 s; from the start again after a success that lasted 5 s.
class Backoff {
 public:
  [[nodiscard]] Time next_attempt() const { return next_; }
  void failed(Time now);
  void opened(Time now) { opened_ = now; }
  /// The stream that was open is lost.
  void lost(Time now);

 private:
  Duration wait_ = from_milliseconds(100);
  Time next_{INT64_MIN};
  Time opened_{INT64_MIN};
};

class DeviceLink {
 public:
  using Opener = std::function<Result<std::unique_ptr<ByteStream>>()>;

  DeviceLink(Session& session, Opener opener);
  DeviceLink(Session& session, StreamAddress address);
  ~DeviceLink();
  DeviceLink(const DeviceLink&) = delete;
  DeviceLink& operator=(const DeviceLink&) = delete;

  /// Called on each stream that has just been opened, before Session::start().
  void on_open(std::function<void(ByteStream&)> hook) { on_open_ = std::move(hook); }

  /// One round: opens if it is time to (a TCP address may take 1 s: one thread a device), writes what is queued, waits for bytes, deadline,
  /// wake() or `longest_wait`, whichever is first, feeds the session.
  void step(Duration longest_wait);
  /// Ends the waiting of step(): there is something to send. From any thread.
  void wake();
  /// Writes what is queued, within `patience`, then closes for good.
  void close(Duration patience);

  [[nodiscard]] bool connected() const { return stream_ != nullptr; }
  /// "no such file", "held by 1234 (car_run)", ... or empty while the stream is open.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  /// Since when the stream has not been open; nothing while it is.
  [[nodiscard]] std::optional<Time> lost_since() const { return lost_since_; }

 private:
  void open(Time now);
  void lose(const std::string& why, Time now);
  void write_queued(Time now);
  void read_ready();

  Session& session_;
  Opener opener_;
  std::function<void(ByteStream&)> on_open_;
  std::unique_ptr<ByteStream> stream_;
  Backoff backoff_;
  std::string trouble_ = "not opened yet";
  std::optional<Time> lost_since_;
  int wake_descriptor_ = -1;
};

}  // namespace pitwall::drivers

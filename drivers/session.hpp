// SPDX-License-Identifier: Apache-2.0
// What every device's dialogue looks like from outside: a state machine that is fed bytes and time and gives bytes and values.
// It opens nothing, sleeps never and reads no clock, so that every deadline is tested with a made-up one. Who owns the stream
// (drivers/device_link.hpp, or a test) does, in a loop: receive() what was read, advance() at next_deadline(), write to_send(),
// and when phase() says kReconnect: close, wait, open, start(). `now` never decreases; it is the host's monotonic clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/time.hpp"
#include "drivers/bytes.hpp"

namespace pitwall::drivers {

/// A value from a device.
template <class T>
struct Received {
  T value;
  Time stamp;                  ///< when it was measured, on the host's clock; never later than `arrival`
  Time arrival;                ///< when its last byte was received
  std::uint64_t sequence = 0;  ///< counts up by one per value of this kind, over reconnections too
};

/// Values waiting to be taken, oldest first. Holds `capacity`; beyond it the oldest is dropped and counted.
template <class T>
class Outbox {
 public:
  explicit Outbox(std::size_t capacity = 16) : capacity_(capacity) {}

  void push(T value) {
    if (values_.size() == capacity_) {
      values_.pop_front();
      ++dropped_;
    }
    values_.push_back(std::move(value));
  }
  std::optional<T> take() {
    if (values_.empty()) {
      return std::nullopt;
    }
    std::optional<T> value(std::move(values_.front()));
    values_.pop_front();
    return value;
  }
  void clear() { values_.clear(); }
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

 private:
  std::size_t capacity_;
  std::deque<T> values_;
  std::uint64_t dropped_ = 0;
};

enum class Phase {
  kClosed,       ///< before the first start(), and after lost()
  kIdentifying,  ///< the dialogue that leads to data
  kRunning,      ///< data flows
  kSilent,       ///< identified, but the last data are older than the warning limit
  kReconnect,    ///< wants the stream closed, opened and start() called: silent for too long, or in a state only that mends
  kRefused,      ///< the device answers but must not be used (firmware, identity, own error); status() says why and what helps
};
/// "running" etc., for logs.
[[nodiscard]] const char* to_string(Phase phase);

/// What happened on the line since the object was made; never reset.
struct LinkCounters {
  std::uint64_t bytes_received = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t dropped_bytes = 0;    ///< belonged to nothing valid
  std::uint64_t bad_sums = 0;         ///< frames or lines whose checksum was wrong
  std::uint64_t resyncs = 0;          ///< times the reader had to look for the next start
  std::uint64_t rejected = 0;         ///< whole, but implausible: wrong count, length or value, error status
  std::uint64_t unanswered = 0;       ///< requests without a reply in time
  std::uint64_t ignored = 0;          ///< well-formed and of no interest
  std::uint64_t starts = 0;           ///< calls of start()
  std::uint64_t device_restarts = 0;  ///< seen in the device's clock
};

class Session {
 public:
  virtual ~Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// The stream has just been opened, for the first time or again: all that was learnt of the device is forgotten.
  virtual void start(Time now) = 0;
  /// Bytes as they were read, however cut.
  virtual void receive(Bytes bytes, Time now) = 0;
  /// Deals with deadlines that have passed. Harmless at any time.
  virtual void advance(Time now) = 0;
  /// When advance() has something to do next; far in the future if never.
  [[nodiscard]] virtual Time next_deadline() const = 0;
  /// The stream is gone; start() begins anew. Until then the phase is kClosed.
  void lost(const std::string& why) { set_phase(Phase::kClosed, why); }
  /// Moves out the bytes to be written now.
  [[nodiscard]] std::vector<std::byte> to_send();

  [[nodiscard]] Phase phase() const { return phase_; }
  /// One line for a person: what is going on, and in trouble what to look at.
  [[nodiscard]] const std::string& status() const { return status_; }
  /// The next line of the session's log (identified, refused, restart seen, ...), oldest first.
  std::optional<std::string> next_note() { return notes_.take(); }
  [[nodiscard]] const LinkCounters& counters() const { return counters_; }

 protected:
  Session() = default;
  /// Appends to `out` what is not queued until the last moment (a command that a newer one replaces).
  virtual void append_pending(std::vector<std::byte>& /*out*/) {}
  /// Sets both, and notes the line where it is new.
  void set_phase(Phase phase, std::string status);
  void note(std::string line) { notes_.push(std::move(line)); }
  std::vector<std::byte>& out() { return out_; }

  LinkCounters counters_;

 private:
  Phase phase_ = Phase::kClosed;
  std::string status_ = "not opened";
  Outbox<std::string> notes_{64};
  std::vector<std::byte> out_;
};

/// A `next_deadline` of "never".
inline constexpr Time kNever{INT64_MAX};

}  // namespace pitwall::drivers

// SPDX-License-Identifier: Apache-2.0
// Bytes to and from a device: serial line, pseudo terminal, TCP connection, file or FIFO, behind one interface with a deadline on
// every call. Nothing here blocks for longer than it was allowed to, raises a signal, or throws.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "core/result.hpp"
#include "core/time.hpp"
#include "drivers/bytes.hpp"

namespace pitwall::drivers {

/// CLOCK_MONOTONIC, the clock of all sessions on a car.
[[nodiscard]] Time monotonic_now();

enum class IoStatus {
  kDone,       ///< read: at least one byte; write: all of them
  kTimeout,    ///< the deadline passed (a write may have been cut short; `bytes` says where)
  kEnd,        ///< the other side has closed
  kUnplugged,  ///< the device is gone (EIO, ENODEV, hang-up)
  kError,      ///< anything else, in `message`
};
struct IoResult {
  IoStatus status = IoStatus::kDone;
  std::size_t bytes = 0;
  std::string message;  ///< empty for kDone and kTimeout
  [[nodiscard]] bool done() const { return status == IoStatus::kDone; }
  /// The stream is of no more use.
  [[nodiscard]] bool lost() const { return status != IoStatus::kDone && status != IoStatus::kTimeout; }
};

class ByteStream {
 public:
  virtual ~ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  /// What there is, at least one byte, within `patience` (0: only what is there now).
  virtual IoResult read_some(std::span<std::byte> buffer, Duration patience) = 0;
  virtual IoResult write_all(Bytes bytes, Duration patience) = 0;
  virtual void close() = 0;
  /// For poll(); -1 once closed.
  [[nodiscard]] virtual int descriptor() const = 0;
  [[nodiscard]] bool is_open() const { return descriptor() >= 0; }
  /// Where it leads: the path, or host:port.
  [[nodiscard]] virtual const std::string& name() const = 0;
  /// The DTR line of a serial port (the motor of an RPLIDAR A1); false where there is none.
  virtual bool set_dtr(bool on) = 0;

 protected:
  ByteStream() = default;
};

struct TtyOptions {
  int baud = 115200;      ///< any; ignored by USB devices and pseudo terminals
  bool exclusive = true;  ///< one opener: flock on the device and TIOCEXCL
};
/// Raw, 8N1, no flow control, no hang-up on close; what was received before is thrown away. The error of a line that is held names
/// the other process.
[[nodiscard]] Result<std::unique_ptr<ByteStream>> open_tty(const std::string& path, const TtyOptions& options = {});
/// Connected within `patience`, no delay, keep-alive. The error of a refused Hokuyo names both usual causes.
[[nodiscard]] Result<std::unique_ptr<ByteStream>> open_tcp(const std::string& host, int port, Duration patience = from_milliseconds(1'000));
/// A device node of records, or a FIFO (reading only): before its first writer there is nothing to read, after its last one has gone
/// the stream has ended.
[[nodiscard]] Result<std::unique_ptr<ByteStream>> open_file(const std::string& path);

/// A pair of ends for tests and emulators: `near` is the master, `path` what a program opens with open_tty.
struct PtyPair {
  std::unique_ptr<ByteStream> near;
  std::string path;
};
/// The path stays usable while openers come and go: one descriptor on it is kept until `near` is closed.
[[nodiscard]] Result<PtyPair> open_pty();

/// Processes that have locked the file, or where there is none that have it open, as "PID (program)"; empty if none can be seen.
[[nodiscard]] std::string holders_of(const std::string& path);

/// Where a device is: "tcp://host:port", "file:///path", or the path of a serial line with an optional "?baud=N".
struct StreamAddress {
  enum class Kind { kTty, kTcp, kFile } kind = Kind::kTty;
  std::string path;  ///< or host
  int port = 0;
  int baud = 115200;
};
[[nodiscard]] Result<StreamAddress> parse_address(const std::string& text);
[[nodiscard]] Result<std::unique_ptr<ByteStream>> open_stream(const StreamAddress& address);

}  // namespace pitwall::drivers

// SPDX-License-Identifier: Apache-2.0
// Where the host finds an emulated device: a pseudo-terminal behind a link, a TCP port, a FIFO behind a link.
//
//   pty    the link is the by-id name; unplug() takes link and terminal away, plug() brings another terminal behind the same link
//   TCP    one client at a time: while there is one, others are refused
//   FIFO   the device writes; the host may open and close it as it likes
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/result.hpp"
#include "drivers/emulators/device.hpp"

namespace pitwall::emulators {

/// One end of a byte stream that never blocks.
class Port {
 public:
  virtual ~Port() = default;
  Port() = default;
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  /// What poll() should watch for input; -1: nothing now.
  [[nodiscard]] virtual int descriptor() const = 0;
  /// Takes and drops clients. Whether somebody is at the other end after it; between one and the next it says no once.
  virtual bool attend() = 0;
  /// What the host wrote.
  virtual Bytes read() = 0;
  /// How many of the bytes went out; 0 where the host does not read.
  virtual std::size_t write(ByteView bytes) = 0;
  /// As if the cable were pulled, and put back.
  virtual void unplug() = 0;
  virtual Status plug() = 0;
  [[nodiscard]] virtual bool plugged() const = 0;
  /// Hangs up on the host, which may come back at once.
  virtual void drop() = 0;
};

Result<std::unique_ptr<Port>> make_pty_port(const std::filesystem::path& link);
/// `port` 0: any free one of 127.0.0.1; it is kept from then on, and told.
Result<std::unique_ptr<Port>> make_tcp_port(int& port);
Result<std::unique_ptr<Port>> make_fifo_port(const std::filesystem::path& link);

}  // namespace pitwall::emulators

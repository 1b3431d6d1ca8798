// SPDX-License-Identifier: Apache-2.0
#include "drivers/byte_stream.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/text.hpp"
#include "drivers/descriptor_stream.hpp"

namespace pitwall::drivers {

Time monotonic_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return {static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec};
}

namespace {

IoResult failure(int error, std::size_t bytes) {
  const bool gone = error == EIO || error == ENODEV || error == ENXIO || error == ECONNRESET || error == EPIPE || error == ETIMEDOUT;
  return {gone ? IoStatus::kUnplugged : IoStatus::kError, bytes, std::strerror(error)};
}

}  // namespace

int wait_for(int descriptor, short events, Duration patience) {
  const Time deadline = monotonic_now() + patience;
  while (true) {
    const Duration left = std::max(Duration{}, deadline - monotonic_now());
    const timespec wait{left.ns / 1'000'000'000, left.ns % 1'000'000'000};
    pollfd entry{descriptor, events, 0};
    const int ready = ::ppoll(&entry, 1, &wait, nullptr);
    if (ready >= 0) {
      return ready > 0 ? entry.revents : 0;
    }
    if (errno != EINTR) {
      return POLLERR;
    }
  }
}

DescriptorStream::~DescriptorStream() { DescriptorStream::close(); }

void DescriptorStream::close() {
  for (int* descriptor : {&descriptor_, &kept_}) {
    if (*descriptor >= 0) {
      ::close(*descriptor);
    }
    *descriptor = -1;
  }
}

bool DescriptorStream::set_dtr(bool on) {
  int line = TIOCM_DTR;
  return descriptor_ >= 0 && ::ioctl(descriptor_, on ? TIOCMBIS : TIOCMBIC, &line) == 0;
}

IoResult DescriptorStream::read_some(std::span<std::byte> buffer, Duration patience) {
  if (descriptor_ < 0) {
    return {IoStatus::kError, 0, "closed"};
  }
  const Time deadline = monotonic_now() + patience;
  while (true) {
    const ssize_t got = ::read(descriptor_, buffer.data(), buffer.size());
    if (got > 0) {
      return {IoStatus::kDone, static_cast<std::size_t>(got), {}};
    }
    // Never a timeout: a descriptor that does not block says EAGAIN where there is merely nothing. But a FIFO reads like that before
    // its first writer, too.
    if (got == 0 && (kind_ != Kind::kFifo || (wait_for(descriptor_, POLLIN, Duration{}) & POLLHUP) != 0)) {
      return {IoStatus::kEnd, 0, "closed by the other side"};
    }
    if (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
      return failure(errno, 0);
    }
    const Duration left = deadline - monotonic_now();
    if (left.ns <= 0) {
      return {IoStatus::kTimeout, 0, {}};
    }
    wait_for(descriptor_, POLLIN, left);
  }
}

IoResult DescriptorStream::write_all(Bytes bytes, Duration patience) {
  if (descriptor_ < 0) {
    return {IoStatus::kError, 0, "closed"};
  }
  const Time deadline = monotonic_now() + patience;
  std::size_t written = 0;
  while (written < bytes.size()) {
    const Bytes rest = bytes.subspan(written);
    const ssize_t put = kind_ == Kind::kSocket ? ::send(descriptor_, rest.data(), rest.size(), MSG_NOSIGNAL)
                                               : ::write(descriptor_, rest.data(), rest.size());
    if (put > 0) {
      written += static_cast<std::size_t>(put);
      continue;
    }
    if (put < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
      return failure(errno, written);
    }
    const Duration left = deadline - monotonic_now();
    if (left.ns <= 0) {
      return {IoStatus::kTimeout, written, {}};
    }
    wait_for(descriptor_, POLLOUT, left);
  }
  return {IoStatus::kDone, written, {}};
}

Result<std::unique_ptr<ByteStream>> open_file(const std::string& path) {
  struct stat file {};
  const bool fifo = ::stat(path.c_str(), &file) == 0 && S_ISFIFO(file.st_mode);
  // A reader that also wrote to its FIFO would never see the other side go.
  const int mode = fifo ? O_RDONLY : O_RDWR;
  int descriptor = ::open(path.c_str(), mode | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0 && (errno == EACCES || errno == EPERM || errno == EROFS)) {
    descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  }
  if (descriptor < 0) {
    return Error{path + ": " + std::strerror(errno)};
  }
  const auto kind = fifo ? DescriptorStream::Kind::kFifo : DescriptorStream::Kind::kDevice;
  return std::unique_ptr<ByteStream>(std::make_unique<DescriptorStream>(descriptor, path, kind));
}

Result<StreamAddress> parse_address(const std::string& text) {
  StreamAddress address;
  const auto starts = [&](std::string_view prefix) { return text.compare(0, prefix.size(), prefix) == 0; };
  if (starts("tcp://")) {
    const std::size_t colon = text.rfind(':');
    const auto port = colon > 5 ? parse_int(text.substr(colon + 1)) : std::nullopt;
    if (!port || *port < 1 || *port > 65535 || colon == 6) {
      return Error{"address '" + text + "': expected tcp://host:port with a port of 1 to 65535, as tcp://192.168.0.10:10940"};
    }
    return StreamAddress{StreamAddress::Kind::kTcp, text.substr(6, colon - 6), static_cast<int>(*port), 0};
  }
  if (starts("file://")) {
    address.kind = StreamAddress::Kind::kFile;
    address.path = text.substr(7);
  } else if (text.find("://") != std::string::npos) {
    return Error{"address '" + text + "': expected tcp://host:port, file:///path or the path of a serial line"};
  } else {
    const std::size_t question = text.find('?');
    address.path = text.substr(0, question);
    if (question != std::string::npos) {
      const std::string_view option = std::string_view(text).substr(question + 1);
      const auto baud = option.compare(0, 5, "baud=") == 0 ? parse_int(option.substr(5)) : std::nullopt;
      if (!baud || *baud < 50 || *baud > 10'000'000) {
        return Error{"address '" + text + "': expected ?baud=N behind the path, N from 50 to 10000000"};
      }
      address.baud = static_cast<int>(*baud);
    }
  }
  if (address.path.empty()) {
    return Error{"address '" + text + "' names no path"};
  }
  return address;
}

Result<std::unique_ptr<ByteStream>> open_stream(const StreamAddress& address) {
  switch (address.kind) {
    case StreamAddress::Kind::kTcp:
      return open_tcp(address.path, address.port);
    case StreamAddress::Kind::kFile:
      return open_file(address.path);
    case StreamAddress::Kind::kTty:
      break;
  }
  return open_tty(address.path, {.baud = address.baud});
}

}  // namespace pitwall::drivers

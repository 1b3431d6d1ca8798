// SPDX-License-Identifier: Apache-2.0
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "drivers/descriptor_stream.hpp"

namespace pitwall::drivers {
namespace {

template <class Value>
void set_option(int descriptor, int level, int option, Value value) {
  ::setsockopt(descriptor, level, option, &value, sizeof value);
}

void set_options(int descriptor) {
  set_option(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
  // A peer that lost its power answers nothing: unsent or unanswered bytes end the connection after 1 s, a silent one after 3 s.
  set_option(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, 1'000U);
  set_option(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, 1);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, 1);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPCNT, 2);
}

std::string text_of_error(int error) {
  switch (error) {
    case ECONNREFUSED:
      return "refused: another client holds the sensor (it serves one at a time), or the address is that of another machine";
    case EHOSTUNREACH:
    case ENETUNREACH:
      return "no route: give this computer an address in the sensor's network, as 192.168.0.15/24";
    default:
      return std::strerror(error);
  }
}

int connect_within(int descriptor, const addrinfo& to, Duration patience) {
  if (::connect(descriptor, to.ai_addr, to.ai_addrlen) == 0) {
    return 0;
  }
  if (errno != EINPROGRESS) {
    return errno;
  }
  if (wait_for(descriptor, POLLOUT, patience) == 0) {
    return ETIMEDOUT;
  }
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

}  // namespace

Result<std::unique_ptr<ByteStream>> open_tcp(const std::string& host, int port, Duration patience) {
  const std::string name = host + ":" + std::to_string(port);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found); error != 0) {
    return Error{name + ": " + ::gai_strerror(error)};
  }
  std::unique_ptr<ByteStream> stream;
  int error = 0;
  for (const addrinfo* to = found; to != nullptr && !stream; to = to->ai_next) {
    const int descriptor = ::socket(to->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor < 0) {
      error = errno;
      continue;
    }
    error = connect_within(descriptor, *to, patience);
    // A port of one's own that nobody listens on can be connected to itself: the kernel happened to choose it as source.
    if (error == 0) {
      sockaddr_storage here{};
      sockaddr_storage there{};
      socklen_t here_size = sizeof here;
      socklen_t there_size = sizeof there;
      ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&here), &here_size);
      ::getpeername(descriptor, reinterpret_cast<sockaddr*>(&there), &there_size);
      error = here_size == there_size && std::memcmp(&here, &there, here_size) == 0 ? ECONNREFUSED : 0;
    }
    if (error == 0) {
      set_options(descriptor);
      stream = std::make_unique<DescriptorStream>(descriptor, name, DescriptorStream::Kind::kSocket);
    } else {
      ::close(descriptor);
    }
  }
  ::freeaddrinfo(found);
  if (!stream) {
    return Error{name + ": " + text_of_error(error)};
  }
  return stream;
}

}  // namespace pitwall::drivers

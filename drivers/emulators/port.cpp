// SPDX-License-Identifier: Apache-2.0
#include "drivers/emulators/port.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace pitwall::emulators {
namespace {

/// A file descriptor that is closed with its owner.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    close();
    fd_ = std::exchange(other.fd_, -1);
    return *this;
  }
  ~Descriptor() { close(); }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  [[nodiscard]] int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

Error os_error(const std::string& what) { return Error{what + ": " + std::strerror(errno)}; }

/// Everything that waits to be read.
Bytes read_all(int fd) {
  Bytes bytes;
  std::array<std::uint8_t, 4096> piece{};
  ssize_t got = 0;
  while ((got = ::read(fd, piece.data(), piece.size())) > 0) bytes.insert(bytes.end(), piece.begin(), piece.begin() + got);
  return bytes;
}

short events_of(int fd) {
  pollfd watched{fd, POLLIN, 0};
  return ::poll(&watched, 1, 0) > 0 ? watched.revents : short{0};
}

/// Puts `link` in place of whatever link is there.
Status point_link(const std::filesystem::path& link, const std::filesystem::path& target) {
  std::error_code error;
  std::filesystem::remove(link, error);
  std::filesystem::create_symlink(target, link, error);
  if (error) return Error{link.string() + ": " + error.message()};
  return {};
}

void remove_quietly(const std::filesystem::path& path) {
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
}

struct Terminal {
  Descriptor master;
  std::string name;
};

Result<Terminal> open_terminal() {
  Terminal terminal{Descriptor(::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)), {}};
  if (!terminal.master) return os_error("posix_openpt");
  std::array<char, 64> name{};
  if (::grantpt(terminal.master.get()) != 0 || ::unlockpt(terminal.master.get()) != 0 ||
      ::ptsname_r(terminal.master.get(), name.data(), name.size()) != 0)
    return os_error("a pseudo-terminal");
  terminal.name = name.data();
  termios settings{};
  if (::tcgetattr(terminal.master.get(), &settings) != 0) return os_error(terminal.name);
  ::cfmakeraw(&settings);
  if (::tcsetattr(terminal.master.get(), TCSANOW, &settings) != 0) return os_error(terminal.name);
  // Opened and closed once, so that the master tells whether anybody has the other end.
  const Descriptor slave(::open(terminal.name.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!slave) return os_error(terminal.name);
  return terminal;
}

class PtyPort final : public Port {
 public:
  PtyPort(std::filesystem::path link, Terminal terminal) : link_(std::move(link)), terminal_(std::move(terminal)) {}
  ~PtyPort() override { remove_quietly(link_); }

  [[nodiscard]] int descriptor() const override { return open_ ? terminal_.master.get() : -1; }

  bool attend() override {
    open_ = plugged() && (events_of(terminal_.master.get()) & POLLHUP) == 0;
    return open_;
  }

  Bytes read() override { return read_all(terminal_.master.get()); }

  std::size_t write(ByteView bytes) override {
    const ssize_t written = ::write(terminal_.master.get(), bytes.data(), bytes.size());
    return written > 0 ? static_cast<std::size_t>(written) : 0;
  }

  void unplug() override {
    if (!plugged()) return;
    remove_quietly(link_);
    // The next terminal is made before this one goes, so that it cannot have the same name.
    Result<Terminal> next = open_terminal();
    terminal_ = next ? *std::move(next) : Terminal{};
    plugged_ = open_ = false;
  }

  Status plug() override {
    if (plugged()) return {};
    if (!terminal_.master) {
      Result<Terminal> next = open_terminal();
      if (!next) return next.error();
      terminal_ = *std::move(next);
    }
    const Status linked = point_link(link_, terminal_.name);
    plugged_ = linked.ok();
    return linked;
  }

  [[nodiscard]] bool plugged() const override { return plugged_; }

  void drop() override {
    unplug();
    (void)plug();
  }

 private:
  std::filesystem::path link_;
  Terminal terminal_;
  bool plugged_ = false;
  bool open_ = false;
};

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

Result<Descriptor> listen_on(int port) {
  Descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!listener) return os_error("socket");
  const int yes = 1;
  ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const sockaddr_in address = loopback(port);
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 || ::listen(listener.get(), 1) != 0)
    return os_error("127.0.0.1:" + std::to_string(port));
  return listener;
}

class TcpPort final : public Port {
 public:
  TcpPort(int port, Descriptor listener) : port_(port), listener_(std::move(listener)) {}

  [[nodiscard]] int descriptor() const override { return client_ ? client_.get() : listener_.get(); }

  bool attend() override {
    if (!plugged_ || std::exchange(lost_, false)) return false;
    if (!client_ && !listener_) {
      if (Result<Descriptor> again = listen_on(port_)) listener_ = *std::move(again);
    }
    if (!client_ && listener_) accept();
    return static_cast<bool>(client_);
  }

  Bytes read() override {
    Bytes bytes = read_all(client_.get());
    // An end of file, or a reset.
    if (bytes.empty() && (events_of(client_.get()) & (POLLIN | POLLHUP | POLLERR)) != 0) {
      client_.close();
      lost_ = true;
    }
    return bytes;
  }

  std::size_t write(ByteView bytes) override {
    const ssize_t written = ::send(client_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    return written > 0 ? static_cast<std::size_t>(written) : 0;
  }

  // Whoever polls the descriptors meanwhile keeps them alive: shut down, they are dead for the host at once.
  void unplug() override {
    drop();
    if (listener_) ::shutdown(listener_.get(), SHUT_RDWR);
    listener_.close();
    plugged_ = false;
  }
  Status plug() override {
    plugged_ = true;
    return {};
  }
  [[nodiscard]] bool plugged() const override { return plugged_; }
  void drop() override {
    if (client_) ::shutdown(client_.get(), SHUT_RDWR);
    client_.close();
  }

 private:
  void accept() {
    client_ = Descriptor(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!client_) return;
    const int yes = 1;
    ::setsockopt(client_.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    // Nobody else from here on: the next one is refused.
    listener_.close();
  }

  int port_;
  Descriptor listener_;
  Descriptor client_;
  bool lost_ = false;  // since the last attend(): the next client is another one
  bool plugged_ = true;
};

class FifoPort final : public Port {
 public:
  explicit FifoPort(std::filesystem::path link) : link_(std::move(link)) {}
  ~FifoPort() override { unplug(); }

  [[nodiscard]] int descriptor() const override { return -1; }

  bool attend() override {
    if (!plugged_) return false;
    if (end_ && (events_of(end_.get()) & POLLERR) != 0) lose();
    if (std::exchange(lost_, false)) return false;
    // Succeeds once somebody reads.
    if (!end_) end_ = Descriptor(::open(fifo_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    return static_cast<bool>(end_);
  }

  Bytes read() override { return {}; }

  // A reader that has gone is no reason for a signal, in whatever thread this is.
  std::size_t write(ByteView bytes) override {
    sigset_t pipe{};
    sigset_t before{};
    ::sigemptyset(&pipe);
    ::sigaddset(&pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe, &before);
    const ssize_t written = ::write(end_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EPIPE) {
      const timespec at_once{};
      ::sigtimedwait(&pipe, nullptr, &at_once);
      lose();
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return written > 0 ? static_cast<std::size_t>(written) : bytes.size();
  }

  void unplug() override {
    end_.close();
    if (!plugged_) return;
    remove_quietly(link_);
    remove_quietly(fifo_);
    plugged_ = false;
  }

  Status plug() override {
    if (plugged_) return {};
    fifo_ = link_.string() + "." + std::to_string(++number_);
    remove_quietly(fifo_);
    if (::mkfifo(fifo_.c_str(), 0600) != 0) return os_error(fifo_.string());
    const Status linked = point_link(link_, fifo_.filename());
    plugged_ = linked.ok();
    return linked;
  }

  [[nodiscard]] bool plugged() const override { return plugged_; }
  void drop() override { end_.close(); }

 private:
  void lose() {
    end_.close();
    lost_ = true;
  }

  std::filesystem::path link_;
  std::filesystem::path fifo_;
  Descriptor end_;
  bool lost_ = false;  // since the last attend(): the next reader is another one
  int number_ = -1;
  bool plugged_ = false;
};

}  // namespace

Result<std::unique_ptr<Port>> make_pty_port(const std::filesystem::path& link) {
  Result<Terminal> terminal = open_terminal();
  if (!terminal) return terminal.error();
  std::unique_ptr<Port> port = std::make_unique<PtyPort>(link, *std::move(terminal));
  if (const Status plugged = port->plug(); !plugged) return plugged.error();
  return port;
}

Result<std::unique_ptr<Port>> make_tcp_port(int& port) {
  Result<Descriptor> listener = listen_on(port);
  if (!listener) return listener.error();
  sockaddr_in address{};
  socklen_t size = sizeof address;
  if (::getsockname(listener->get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return os_error("getsockname");
  port = ntohs(address.sin_port);
  return std::unique_ptr<Port>(std::make_unique<TcpPort>(port, *std::move(listener)));
}

Result<std::unique_ptr<Port>> make_fifo_port(const std::filesystem::path& link) {
  std::unique_ptr<Port> port = std::make_unique<FifoPort>(link);
  if (const Status plugged = port->plug(); !plugged) return plugged.error();
  return port;
}

}  // namespace pitwall::emulators

// SPDX-License-Identifier: Apache-2.0
// Over real pseudo terminals, FIFOs and loopback TCP. Waits are generous: a loaded machine must not fail them.
#include "drivers/byte_stream.hpp"

#include <arpa/inet.h>
#include <asm/termbits.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "drivers/device_link.hpp"
#include "drivers/test_bytes.hpp"
#include "drivers/vesc_session.hpp"
#include "tests/support/temp_folder.hpp"

using namespace pitwall;
using namespace pitwall::drivers;
using namespace pitwall::drivers::test;

namespace {

constexpr Duration kGenerous = from_milliseconds(10'000);

std::string read_all(ByteStream& stream, std::size_t count) {
  std::vector<std::byte> got(count);
  std::size_t size = 0;
  while (size < count) {
    const IoResult result = stream.read_some(std::span(got).subspan(size), kGenerous);
    if (!result.done()) {
      break;
    }
    size += result.bytes;
  }
  return to_hex(Bytes(got).first(size));
}

// A listening socket on a free port of the loopback.
class Server {
 public:
  Server() : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(listener_, 4) == 0);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port = ntohs(address.sin_port);
  }
  ~Server() { stop(); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  void stop() {
    if (listener_ >= 0) {
      ::close(listener_);
    }
    listener_ = -1;
  }
  int accept() const { return ::accept(listener_, nullptr, nullptr); }
  int port = 0;

 private:
  int listener_;
};

}  // namespace

TEST_CASE("every byte value passes a serial line in both directions, nothing echoed or translated") {
  for (const int baud : {115200, 230400, 256000, 460800, 1000000}) {
    auto pty = open_pty();
    REQUIRE(pty);
    auto far = open_tty(pty->path, {.baud = baud});
    REQUIRE_MESSAGE(far.ok(), far.error().message);
    termios2 settings{};
    REQUIRE(::ioctl((*far)->descriptor(), TCGETS2, &settings) == 0);
    CHECK(settings.c_ospeed == static_cast<speed_t>(baud));
    CHECK(settings.c_ispeed == static_cast<speed_t>(baud));
    CHECK((settings.c_cflag & CLOCAL) != 0);
    CHECK((settings.c_cflag & (HUPCL | CRTSCTS)) == 0);
    std::vector<std::byte> all;
    for (unsigned i = 0; i < 256; ++i) {
      all.push_back(static_cast<std::byte>(i));
    }
    CHECK(pty->near->write_all(all, kGenerous).done());
    CHECK(read_all(**far, 256) == to_hex(all));
    CHECK((*far)->write_all(all, kGenerous).done());
    CHECK(read_all(*pty->near, 256) == to_hex(all));
    std::array<std::byte, 8> buffer{};
    CHECK((*far)->read_some(buffer, from_milliseconds(5)).status == IoStatus::kTimeout);
    CHECK(pty->near->read_some(buffer, Duration{}).status == IoStatus::kTimeout);
  }
}

TEST_CASE("an unplugged line is not a timeout, for reading and writing") {
  auto pty = open_pty();
  REQUIRE(pty);
  auto far = open_tty(pty->path);
  REQUIRE(far);
  CHECK(pty->near->write_all(hex("0102"), kGenerous).done());
  pty->near->close();
  std::array<std::byte, 8> buffer{};
  IoResult result = (*far)->read_some(buffer, kGenerous);
  if (result.done()) {
    result = (*far)->read_some(buffer, kGenerous);
  }
  CHECK(result.lost());
  CHECK((*far)->write_all(hex("00"), kGenerous).status == IoStatus::kUnplugged);
  (*far)->close();
  CHECK_FALSE((*far)->is_open());
  CHECK((*far)->read_some(buffer, Duration{}).status == IoStatus::kError);
}

TEST_CASE("a line that another process holds is refused with its PID; it is free again once that has ended") {
  auto pty = open_pty();
  REQUIRE(pty);
  std::array<int, 2> ready{};
  std::array<int, 2> end{};
  REQUIRE(::pipe(ready.data()) == 0);
  REQUIRE(::pipe(end.data()) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  char byte = 'x';
  if (child == 0) {
    ::close(end[1]);
    const auto held = open_tty(pty->path);
    (void)!::write(ready[1], held ? "y" : "n", 1);
    (void)!::read(end[0], &byte, 1);  // until the parent closes it
    ::_exit(0);
  }
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  REQUIRE(byte == 'y');
  const auto second = open_tty(pty->path);
  REQUIRE_FALSE(second.ok());
  CHECK(second.error().message.find("is held by another program: " + std::to_string(child) + " (") != std::string::npos);
  ::close(end[1]);
  int status = 0;
  ::waitpid(child, &status, 0);
  const auto third = open_tty(pty->path);
  CHECK_MESSAGE(third.ok(), third.error().message);
  for (const int descriptor : {ready[0], ready[1], end[0]}) {
    ::close(descriptor);
  }
}

TEST_CASE("a write that nobody takes ends at its deadline and says how far it got") {
  auto pty = open_pty();
  REQUIRE(pty);
  auto far = open_tty(pty->path);
  REQUIRE(far);
  const std::vector<std::byte> much(1'000'000);
  const IoResult result = (*far)->write_all(much, from_milliseconds(20));
  CHECK(result.status == IoStatus::kTimeout);
  CHECK(result.bytes > 0);
  CHECK(result.bytes < much.size());
}

TEST_CASE("what is no serial line, or is not there, is refused in words") {
  const TempFolder folder("byte_stream");
  const std::string path = folder.path() / "file";
  std::FILE* file = std::fopen(path.c_str(), "w");
  REQUIRE(file != nullptr);
  std::fclose(file);
  CHECK(open_tty(path).error().message.find("is no serial line") != std::string::npos);
  CHECK(open_tty("/dev/nowhere").error().message.find("not plugged in?") != std::string::npos);
  CHECK(open_file("/dev/nowhere").error().message.find("No such file") != std::string::npos);
}

TEST_CASE("records pass a FIFO; before its writer there is nothing, without it the stream has ended") {
  const TempFolder folder("byte_stream");
  const std::string path = folder.path() / "js0";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  for (const int mode : {O_WRONLY, O_RDWR}) {
    auto stream = open_file(path);
    REQUIRE(stream);
    std::array<std::byte, 8> buffer{};
    CHECK((*stream)->read_some(buffer, from_milliseconds(2)).status == IoStatus::kTimeout);
    const int writer = ::open(path.c_str(), mode | O_NONBLOCK);
    REQUIRE(writer >= 0);
    CHECK((*stream)->read_some(buffer, Duration{}).status == IoStatus::kTimeout);
    CHECK(::write(writer, "12345678", 8) == 8);
    CHECK(read_all(**stream, 8) == to_hex(bytes_of("12345678")));
    ::close(writer);
    CHECK((*stream)->read_some(buffer, kGenerous).status == IoStatus::kEnd);
  }
}

TEST_CASE("TCP: bytes both ways, silence is a timeout, a close is an end, a write into it raises no signal") {
  Server server;
  auto stream = open_tcp("127.0.0.1", server.port, kGenerous);
  REQUIRE_MESSAGE(stream.ok(), stream.error().message);
  const int peer = server.accept();
  CHECK((*stream)->write_all(bytes_of("VV\n"), kGenerous).done());
  std::array<char, 3> got{};
  CHECK(::recv(peer, got.data(), got.size(), MSG_WAITALL) == 3);
  std::array<std::byte, 8> buffer{};
  CHECK((*stream)->read_some(buffer, from_milliseconds(5)).status == IoStatus::kTimeout);
  CHECK(::send(peer, "00P", 3, 0) == 3);
  CHECK(read_all(**stream, 3) == to_hex(bytes_of("00P")));
  const linger reset{1, 0};
  ::setsockopt(peer, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  ::close(peer);
  CHECK((*stream)->read_some(buffer, kGenerous).lost());
  CHECK((*stream)->write_all(bytes_of("VV\n"), kGenerous).lost());

  auto orderly = open_tcp("localhost", server.port, kGenerous);
  REQUIRE(orderly);
  ::close(server.accept());
  CHECK((*orderly)->read_some(buffer, kGenerous).status == IoStatus::kEnd);
}

TEST_CASE("TCP: nobody listening is refused naming both causes, an unknown host by its name") {
  Server server;
  server.stop();
  const auto refused = open_tcp("127.0.0.1", server.port, kGenerous);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("another client holds the sensor") != std::string::npos);
  CHECK_FALSE(open_tcp("no-such-host.invalid", 10940, kGenerous).ok());
}

TEST_CASE("addresses are read, and wrong ones refused with what is expected") {
  const auto tcp = parse_address("tcp://192.168.0.10:10940");
  REQUIRE(tcp);
  CHECK(tcp->kind == StreamAddress::Kind::kTcp);
  CHECK(tcp->path == "192.168.0.10");
  CHECK(tcp->port == 10940);
  const auto tty = parse_address("/dev/serial/by-id/usb-VESC?baud=1000000");
  REQUIRE(tty);
  CHECK(tty->kind == StreamAddress::Kind::kTty);
  CHECK(tty->path == "/dev/serial/by-id/usb-VESC");
  CHECK(tty->baud == 1000000);
  CHECK(parse_address("/dev/ttyACM0")->baud == 115200);
  CHECK(parse_address("file:///dev/input/js0")->path == "/dev/input/js0");
  for (const char* bad : {"", "tcp://host", "tcp://:5", "tcp://host:0", "tcp://host:70000", "tcp://host:x", "udp://host:5",
                          "/dev/tty?speed=5", "/dev/tty?baud=x", "/dev/tty?baud=5", "?baud=9600", "file://"}) {
    const auto address = parse_address(bad);
    CHECK_MESSAGE(!address.ok(), bad);
  }
}

TEST_CASE("waits between attempts double from 0.1 to 2 s, and begin anew after a connection that held") {
  Backoff backoff;
  std::vector<std::int64_t> waits;
  Time now = ms(1000);
  CHECK(backoff.next_attempt() <= now);
  for (int i = 0; i < 7; ++i) {
    backoff.failed(now);
    waits.push_back((backoff.next_attempt() - now).ns / 1'000'000);
    now = backoff.next_attempt();
  }
  CHECK(waits == std::vector<std::int64_t>{100, 200, 400, 800, 1600, 2000, 2000});
  backoff.opened(now);
  backoff.lost(now + from_milliseconds(4'900));
  CHECK(backoff.next_attempt() - now == from_milliseconds(6'900));
  backoff.opened(now);
  backoff.lost(now + from_milliseconds(5'000));
  CHECK(backoff.next_attempt() - now == from_milliseconds(5'100));
}

namespace {

// A VESC on a pseudo terminal behind a link of its name, answered from the test's own loop.
struct PtyVesc {
  explicit PtyVesc(std::filesystem::path to) : name(std::move(to)) { plug(); }
  void plug() {
    auto pty = open_pty();
    REQUIRE(pty);
    end = std::move(*pty);
    decoder.clear();
    std::filesystem::remove(name);
    std::filesystem::create_symlink(end.path, name);
  }
  void unplug() {
    std::filesystem::remove(name);
    end.near->close();
  }
  void serve() {
    std::array<std::byte, 4096> buffer{};
    const IoResult got = end.near->read_some(buffer, Duration{});
    if (!got.done()) {
      return;
    }
    decoder.push(Bytes(buffer).first(got.bytes));
    while (const auto payload = decoder.next()) {
      const auto id = static_cast<vesc::Id>((*payload)[0]);
      commands += id == vesc::Id::kSetRpm || id == vesc::Id::kSetCurrentBrake ? 1 : 0;
      std::vector<std::byte> reply;
      if (id == vesc::Id::kFwVersion) {
        vesc::append_frame(hex("00 06 02 41 00"), reply);
      } else if (id == vesc::Id::kGetValuesSelective) {
        vesc::append_frame(hex("32 00208080 00001206 00 00"), reply);
      }
      (void)end.near->write_all(reply, kGenerous);
    }
  }
  std::filesystem::path name;
  PtyPair end;
  vesc::FrameDecoder decoder;
  int commands = 0;
};

}  // namespace

TEST_CASE("a link starts without its device, finds it, loses it, and finds it again under another name, commands gone") {
  const TempFolder folder("byte_stream");
  const std::filesystem::path name = folder.path() / "vesc";
  VescSession session;
  int opened = 0;
  DeviceLink link(session, *parse_address(name.string()));
  link.on_open([&](ByteStream&) { ++opened; });
  link.step(Duration{});
  CHECK_FALSE(link.connected());
  CHECK(link.trouble().find("not plugged in?") != std::string::npos);
  CHECK(link.lost_since().has_value());
  PtyVesc device(name);
  const auto until = [&](auto&& reached) {
    const Time end = monotonic_now() + kGenerous;
    while (!reached() && monotonic_now() < end) {
      link.step(from_milliseconds(2));
      device.serve();
    }
    return reached();
  };
  CHECK(until([&] { return session.phase() == Phase::kRunning; }));
  CHECK(opened == 1);
  CHECK(link.trouble().empty());
  CHECK(session.command({vesc::CommandKind::kErpm, 1000.0}) == VescSession::Handed::kQueued);
  link.wake();
  CHECK(until([&] { return device.commands == 1; }));

  device.unplug();
  CHECK(until([&] { return !link.connected(); }));
  CHECK(session.phase() == Phase::kClosed);
  CHECK(link.lost_since().has_value());
  CHECK(link.trouble().find(name.string()) == 0);
  (void)session.command({vesc::CommandKind::kErpm, 1000.0});
  device.plug();
  CHECK(until([&] { return session.phase() == Phase::kRunning; }));
  CHECK(opened == 2);
  CHECK(device.commands == 1);
  (void)session.command({vesc::CommandKind::kBrakeCurrent, 5.0});
  link.close(kGenerous);
  CHECK_FALSE(link.connected());
  device.serve();
  CHECK(device.commands == 2);
}

TEST_CASE("wake() ends the waiting of a step") {
  VescSession session;
  DeviceLink link(session, [] { return Result<std::unique_ptr<ByteStream>>(Error{"none"}); });
  link.wake();
  const Time begin = monotonic_now();
  link.step(from_milliseconds(60'000));
  CHECK(monotonic_now() - begin < from_milliseconds(30'000));
}

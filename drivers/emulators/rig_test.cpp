// SPDX-License-Identifier: Apache-2.0
// The devices as a program of the host finds them: through the system's own calls, and in real time.
#include "drivers/emulators/rig.hpp"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "drivers/emulators/test_hex.hpp"
#include "tests/support/temp_folder.hpp"

namespace pitwall::emulators {
namespace {

/// A host's descriptor.
class Host {
 public:
  explicit Host(int fd) : fd_(fd) {}
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  ~Host() { close(); }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  [[nodiscard]] bool open() const { return fd_ >= 0; }
  void write(const Bytes& bytes) const { REQUIRE(::write(fd_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size())); }
  /// Reads until `count` bytes are there, the other end has gone, or a second has passed.
  Bytes read(std::size_t count) {
    Bytes bytes;
    while (bytes.size() < count) {
      pollfd watched{fd_, POLLIN, 0};
      if (::poll(&watched, 1, 1000) <= 0) break;
      std::array<std::uint8_t, 4096> piece{};
      const ssize_t got = ::read(fd_, piece.data(), std::min(piece.size(), count - bytes.size()));
      gone_ = got <= 0;
      if (gone_) break;
      bytes.insert(bytes.end(), piece.begin(), piece.begin() + got);
    }
    return bytes;
  }
  [[nodiscard]] bool gone() const { return gone_; }

 private:
  int fd_;
  bool gone_ = false;
};

Host open_device(const std::filesystem::path& path, int flags) { return Host(::open(path.c_str(), flags | O_NOCTTY | O_CLOEXEC)); }

int connected(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  ::close(fd);
  return -1;
}

struct Served {
  TempFolder folder{"rig"};
  std::unique_ptr<Rig> rig;
  /// Whether that holds within a second; asked again after every step of the rig, which may go on meanwhile.
  [[nodiscard]] bool soon(const std::function<bool()>& holds) const {
    const Time end = Rig::now() + from_milliseconds(1000);
    while (!holds()) {
      int looks = 0;
      if (Rig::now() > end || !rig->wait(from_milliseconds(1000), [&](const Rig::Devices&) { return looks++ > 0; })) return false;
    }
    return true;
  }
  Served() {
    RigOptions options;
    options.folder = folder.path();
    options.rplidar.emplace();
    options.ld19.emplace();
    Result<std::unique_ptr<Rig>> made = Rig::make(options);
    REQUIRE_MESSAGE(made.ok(), (made.ok() ? "" : made.error().message));
    rig = *std::move(made);
    rig->start();
  }
  void turn(std::string_view line) const {
    const Result<std::string> done = rig->command(line);
    REQUIRE_MESSAGE(done.ok(), (done.ok() ? "" : done.error().message));
  }
};

Bytes ask_firmware() { return bytes_of("020100000003"); }
constexpr std::size_t kFirmwareReply = 40;
Bytes brake_10() { return bytes_of("02050700002710ea9403"); }

}  // namespace

TEST_CASE("a VESC behind a link answers, keeps a log, and comes back under another name") {
  const Served s;
  const std::string first = std::filesystem::read_symlink(s.rig->vesc_path()).string();
  Host host = open_device(s.rig->vesc_path(), O_RDWR);
  REQUIRE(host.open());
  host.write(ask_firmware());
  const Bytes reply = host.read(kFirmwareReply);
  REQUIRE(reply.size() == kFirmwareReply);
  CHECK(hex_of(ByteView(reply).first(5)) == "0223000701");
  const Time sent = Rig::now();
  host.write(brake_10());
  REQUIRE(s.rig->wait(from_milliseconds(1000), [](const Rig::Devices& d) { return !d.vesc->log().empty(); }));
  CHECK(s.rig->vesc_log()[0].name == "SET_CURRENT_BRAKE");
  CHECK(s.rig->vesc_log()[0].at >= sent);

  s.turn("vesc unplug");
  CHECK(host.read(1).empty());
  CHECK(host.gone());
  CHECK_FALSE(std::filesystem::exists(std::filesystem::symlink_status(s.rig->vesc_path())));
  s.turn("vesc plug");
  CHECK(std::filesystem::read_symlink(s.rig->vesc_path()).string() != first);
  Host again = open_device(s.rig->vesc_path(), O_RDWR);
  REQUIRE(again.open());
  again.write(ask_firmware());
  CHECK(again.read(kFirmwareReply).size() == kFirmwareReply);
}

TEST_CASE("a host that closes the port may open it again, and finds nothing old in it") {
  const Served s;
  for (int i = 0; i < 3; ++i) {
    Host host = open_device(s.rig->vesc_path(), O_RDWR);
    REQUIRE(host.open());
    host.write(ask_firmware());
    CHECK(host.read(kFirmwareReply).size() == kFirmwareReply);
  }
}

TEST_CASE("a brown-out takes the port away, and the board's state with it") {
  const Served s;
  {
    Host host = open_device(s.rig->vesc_path(), O_RDWR);
    host.write(bytes_of("02030c0212217003"));
    REQUIRE(s.rig->wait(from_milliseconds(1000), [](const Rig::Devices& d) { return d.vesc->servo().has_value(); }));
  }
  s.turn("vesc brownout 0.1");
  CHECK_FALSE(std::filesystem::exists(std::filesystem::symlink_status(s.rig->vesc_path())));
  REQUIRE(s.soon([&] { return std::filesystem::exists(s.rig->vesc_path()); }));
  s.rig->look([](const Rig::Devices& d) { CHECK_FALSE(d.vesc->servo().has_value()); });
}

TEST_CASE("mute, deaf and a wrong sum reach the host") {
  const Served s;
  Host host = open_device(s.rig->vesc_path(), O_RDWR);
  s.turn("vesc badsum 1");
  host.write(ask_firmware());
  const Bytes spoilt = host.read(kFirmwareReply);
  host.write(ask_firmware());
  const Bytes good = host.read(kFirmwareReply);
  REQUIRE(spoilt.size() == good.size());
  CHECK(spoilt != good);
  CHECK(s.rig->damaged("vesc") == 1);
  s.turn("vesc deaf 1");
  host.write(brake_10());
  CHECK_FALSE(s.rig->wait(from_milliseconds(50), [](const Rig::Devices& d) { return !d.vesc->log().empty(); }));
  s.turn("vesc deaf 0");
  s.turn("vesc mute 1");
  host.write(ask_firmware());
  host.write(brake_10());
  CHECK(s.rig->wait(from_milliseconds(1000), [](const Rig::Devices& d) { return !d.vesc->log().empty(); }));
}

TEST_CASE("a LiDAR has one client; others are refused until it has gone; a drop is an end of file") {
  const Served s;
  Host first(connected(s.rig->hokuyo_port()));
  REQUIRE(first.open());
  first.write(bytes_of_text("BM\n"));
  const Bytes reply = first.read(8);
  CHECK(std::string(reply.begin(), reply.end()) == "BM\n00P\n\n");
  CHECK(connected(s.rig->hokuyo_port()) < 0);
  CHECK(errno == ECONNREFUSED);
  first.close();
  int again = -1;
  REQUIRE(s.soon([&] { return (again = connected(s.rig->hokuyo_port())) >= 0; }));
  Host second(again);
  second.write(bytes_of_text("MD0000108000000\n"));
  CHECK(second.read(3000).size() == 3000);
  s.turn("hokuyo drop");
  (void)second.read(1'000'000);
  CHECK(second.gone());
  s.turn("hokuyo unplug");
  CHECK(connected(s.rig->hokuyo_port()) < 0);
  s.turn("hokuyo plug");
  CHECK(s.soon([&] {
    const Host third(connected(s.rig->hokuyo_port()));
    return third.open();
  }));
}

TEST_CASE("a joystick bursts on open, says what changes, and ends when it is unplugged") {
  const Served s;
  Host host = open_device(s.rig->joystick_path(), O_RDONLY | O_NONBLOCK);
  REQUIRE(host.open());
  REQUIRE(s.soon([&] { return host.read(19 * 8).size() == 19 * 8; }));
  s.turn("joystick hold");
  const Bytes record = host.read(8);
  REQUIRE(record.size() == 8);
  CHECK(hex_of(ByteView(record).subspan(4)) == "01000104");
  s.turn("joystick unplug");
  CHECK(host.read(1).empty());
  CHECK(host.gone());
  CHECK_FALSE(std::filesystem::exists(std::filesystem::symlink_status(s.rig->joystick_path())));
}

TEST_CASE("a reader of the joystick that goes away does not end the process") {
  const Served s;
  {
    Host host = open_device(s.rig->joystick_path(), O_RDONLY | O_NONBLOCK);
    REQUIRE(s.soon([&] { return host.read(19 * 8).size() == 19 * 8; }));
  }
  for (int i = 0; i < 20; ++i) s.turn(i % 2 == 0 ? "joystick hold" : "joystick release");
  Host host = open_device(s.rig->joystick_path(), O_RDONLY | O_NONBLOCK);
  CHECK(s.soon([&] { return host.read(19 * 8).size() == 19 * 8; }));
}

TEST_CASE("RPLIDAR and LD19 have ports of their own") {
  const Served s;
  Host rplidar = open_device(s.rig->rplidar_path(), O_RDWR);
  rplidar.write(bytes_of("a552"));
  CHECK(hex_of(rplidar.read(10)) == "a55a0300000006000000");
  Host ld19 = open_device(s.rig->ld19_path(), O_RDONLY);
  CHECK(hex_of(ByteView(ld19.read(47)).first(2)) == "542c");
}

TEST_CASE("commands name what is known") {
  const Served s;
  const auto complaint = [&](std::string_view line) {
    const auto done = s.rig->command(line);
    return done ? std::string() : done.error().message;
  };
  CHECK(complaint("vesk mute 1").find("did you mean 'vesc'") != std::string::npos);
  CHECK(complaint("vesc muet 1").find("did you mean 'mute'") != std::string::npos);
  CHECK(complaint("vesc fault 300").find("0 .. 255") != std::string::npos);
  CHECK(complaint("vesc").find("unknown knob ''") != std::string::npos);
  CHECK(s.rig->command("help")->find("hokuyo wrap_in S") != std::string::npos);
}

TEST_CASE("a folder that is not there, and a port that is taken, are refused") {
  RigOptions options;
  options.folder = "/no/such/folder";
  CHECK(Rig::make(options).error().message == "/no/such/folder: no such folder");
  const Served s;
  options.folder = s.folder.path();
  options.vesc.reset();
  options.joystick.reset();
  options.hokuyo_port = s.rig->hokuyo_port();
  const auto second = Rig::make(options);
  REQUIRE_FALSE(second.ok());
  CHECK(second.error().message.find("hokuyo: 127.0.0.1:") != std::string::npos);
}

}  // namespace pitwall::emulators

// SPDX-License-Identifier: Apache-2.0
#include "onboard/estop.hpp"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/gpio.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "onboard/service_notifier.hpp"

using namespace pitwall;
using namespace pitwall::onboard;

namespace {

Time after_ms(std::int64_t ms) { return Time{} + from_milliseconds(1000 + ms); }

// The kernel's side of a GPIO chip with one line.
struct FakeChip {
  bool high = false;
  bool gone = false;
  bool refuses = false;
  std::uint64_t flags = 0;
  unsigned offset = 0;

  IoControl io() {
    return [this](int /*descriptor*/, unsigned long request, void* argument) {
      if (request == GPIO_V2_GET_LINE_IOCTL) {
        auto& asked = *static_cast<gpio_v2_line_request*>(argument);
        offset = asked.offsets[0];
        flags = asked.config.flags;
        asked.fd = refuses ? -1 : ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        errno = EBUSY;
        return refuses || asked.num_lines != 1 ? -1 : 0;
      }
      errno = ENODEV;
      if (request != GPIO_V2_LINE_GET_VALUES_IOCTL || gone) return -1;
      auto& values = *static_cast<gpio_v2_line_values*>(argument);
      values.bits = high && (values.mask & 1U) != 0 ? 1 : 0;
      return 0;
    };
  }
};

// Somebody on the network.
struct Client {
  explicit Client(int port) : fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected = ::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
  }
  ~Client() { ::close(fd); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  void say(const std::string& text) const {
    REQUIRE(::send(fd, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()));
  }
  int fd;
  bool connected = false;
};

// What an input says once what was sent to it has arrived.
EstopSays settled(EstopInput& input, Time now, EstopSays expected) {
  EstopSays says = input.look(now);
  for (int i = 0; i < 200 && says != expected; ++i) {
    ::poll(nullptr, 0, 5);
    says = input.look(now);
  }
  return says;
}

// The port is of the machine: the first of some that is free.
struct Listening {
  std::unique_ptr<EstopInput> input;
  int port = 0;
  Listening() {
    for (port = 27400; port < 27500; ++port) {
      auto made = make_estop("tcp:" + std::to_string(port));
      if (!made) continue;
      input = *std::move(made);
      return;
    }
  }
};

}  // namespace

TEST_CASE("row 27: a GPIO line stops when it is high, when it cannot be read, and goes only when the contact holds it low") {
  FakeChip chip;
  auto made = make_gpio_estop("gpio:chip:17", ::open("/dev/null", O_RDONLY | O_CLOEXEC), 17, chip.io());
  REQUIRE(made.ok());
  EstopInput& input = **made;
  CHECK(chip.offset == 17);
  CHECK((chip.flags & GPIO_V2_LINE_FLAG_INPUT) != 0);
  CHECK((chip.flags & GPIO_V2_LINE_FLAG_BIAS_PULL_UP) != 0);  // a broken wire reads high
  CHECK((chip.flags & GPIO_V2_LINE_FLAG_ACTIVE_LOW) == 0);
  CHECK(input.look(after_ms(0)) == EstopSays::kGo);
  chip.high = true;
  CHECK(input.look(after_ms(10)) == EstopSays::kStop);
  chip.high = false;
  CHECK(input.look(after_ms(20)) == EstopSays::kGo);
  chip.gone = true;
  CHECK(input.look(after_ms(30)) == EstopSays::kLost);
  chip.refuses = true;
  const auto busy = make_gpio_estop("gpio:chip:3", ::open("/dev/null", O_RDONLY | O_CLOEXEC), 3, chip.io());
  REQUIRE_FALSE(busy.ok());
  CHECK(busy.error().message.find(std::strerror(EBUSY)) != std::string::npos);
}

TEST_CASE("row 27: a heartbeat goes on \"ok\"; silence of 0.5 s, its end, and any other line are stops") {
  const Listening at;
  REQUIRE(at.input);
  EstopInput& input = *at.input;
  CHECK(input.look(after_ms(0)) == EstopSays::kWaits);
  {
    const Client client(at.port);
    REQUIRE(client.connected);
    CHECK(settled(input, after_ms(0), EstopSays::kWaits) == EstopSays::kWaits);
    client.say("ok\r\no");
    CHECK(settled(input, after_ms(0), EstopSays::kGo) == EstopSays::kGo);
    CHECK(input.look(after_ms(500)) == EstopSays::kGo);
    CHECK(input.look(after_ms(510)) == EstopSays::kLost);
    client.say("k\n");  // a line in two pieces
    CHECK(settled(input, after_ms(510), EstopSays::kGo) == EstopSays::kGo);
    for (const std::string line : {"stop\n", "okay\n", "\n", "0123456789abcdefg"}) {
      client.say(line);
      CHECK(settled(input, after_ms(520), EstopSays::kStop) == EstopSays::kStop);
      client.say(line.size() > 16 ? "\nok\n" : "ok\n");
      CHECK(settled(input, after_ms(520), EstopSays::kGo) == EstopSays::kGo);
    }
  }
  CHECK(settled(input, after_ms(530), EstopSays::kLost) == EstopSays::kLost);
  const Client again(at.port);
  again.say("ok\n");
  CHECK(settled(input, after_ms(540), EstopSays::kGo) == EstopSays::kGo);
  CHECK_FALSE(make_estop("tcp:" + std::to_string(at.port)).ok());  // taken
}

TEST_CASE("what is no emergency stop input is refused with what there is") {
  for (const char* text :
       {"", "key", "tcp", "tcp:0", "tcp:70000", "gpio:17", "gpio:/dev/gpiochip0:x", "gpio:/dev/null:1", "gpio:/no/chip:1"}) {
    CAPTURE(text);
    CHECK_FALSE(make_estop(text).ok());
  }
  CHECK(make_estop("key").error().message.find("keyboard, gpio:CHIP:LINE") != std::string::npos);
}

TEST_CASE("systemd is told that the service is up, alive four times a watchdog period, and ends") {
  const int listener = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const std::string name = "@pitwall_notify_" + std::to_string(::getpid());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, name.size() - 1, 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  REQUIRE(::bind(listener, reinterpret_cast<const sockaddr*>(&address), size) == 0);
  const auto heard = [&] {
    std::array<char, 128> text{};
    const ssize_t got = ::recv(listener, text.data(), text.size(), 0);
    return got > 0 ? std::string(text.data(), static_cast<std::size_t>(got)) : "";
  };
  {
    ServiceNotifier service(name, from_milliseconds(400));
    service.ready();
    CHECK(heard() == "READY=1");
    int alive = 0;
    for (std::int64_t ms = 0; ms < 1000; ms += 10) {
      service.alive(after_ms(ms));
      while (heard() == "WATCHDOG=1") ++alive;
    }
    CHECK(alive == 10);
    service.stopping();
    CHECK(heard().starts_with("STOPPING=1"));
  }
  ServiceNotifier unwatched(name);
  unwatched.alive(after_ms(0));
  CHECK(heard().empty());
  ServiceNotifier alone("");
  alone.ready();
  CHECK(heard().empty());
  ::close(listener);
}

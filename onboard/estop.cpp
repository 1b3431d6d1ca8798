// SPDX-License-Identifier: Apache-2.0
#include "onboard/estop.hpp"

#include <fcntl.h>
#include <linux/gpio.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "core/text.hpp"
#include "drivers/byte_stream.hpp"
#include "onboard/devices.hpp"

namespace pitwall::onboard {
namespace {

constexpr Duration kHeartbeat = from_milliseconds(500);
constexpr Duration kPeriod = from_milliseconds(10);
constexpr Duration kTold = from_milliseconds(50);
// A key that was hit, a line that bounced: long enough for the control loop to see it.
constexpr Duration kHeld = from_milliseconds(300);
constexpr std::size_t kLongestLine = 16;
constexpr std::string_view kGo = "ok";

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  void reset(int fd = -1) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool open() const { return fd_ >= 0; }

 private:
  int fd_;
};

Error os_error(const std::string& what) { return Error{what + ": " + std::strerror(errno)}; }

// Keys come singly and unseen; Ctrl-C stays what it is. The terminal is as it was when this is gone.
class Keyboard final : public EstopInput {
 public:
  Keyboard(std::string name, Descriptor terminal, const termios& before)
      : EstopInput(std::move(name)), terminal_(std::move(terminal)), before_(before) {}
  ~Keyboard() override { ::tcsetattr(terminal_.get(), TCSANOW, &before_); }

  EstopSays look(Time /*now*/) override {
    std::array<char, 64> keys{};
    const ssize_t got = ::read(terminal_.get(), keys.data(), keys.size());
    // A key that is ready is one hit; nothing ready is good; anything else is no terminal any more.
    if (got > 0) return EstopSays::kStop;
    return got < 0 && (errno == EAGAIN || errno == EINTR) ? EstopSays::kGo : EstopSays::kLost;
  }
  [[nodiscard]] int descriptor() const override { return terminal_.get(); }

 private:
  Descriptor terminal_;
  termios before_;
};

Result<std::unique_ptr<EstopInput>> make_keyboard(const std::string& name) {
  // In the background reading fails, and so stops the car, instead of halting the program.
  std::signal(SIGTTIN, SIG_IGN);
  std::signal(SIGTTOU, SIG_IGN);
  Descriptor terminal(::open("/dev/tty", O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  termios before{};
  if (!terminal.open() || ::tcgetattr(terminal.get(), &before) != 0) return os_error("--estop " + name + ": no terminal");
  termios keys = before;
  keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  keys.c_cc[VMIN] = 1;
  keys.c_cc[VTIME] = 0;
  if (::tcsetattr(terminal.get(), TCSANOW, &keys) != 0) return os_error("--estop " + name);
  return std::unique_ptr<EstopInput>(std::make_unique<Keyboard>(name, std::move(terminal), before));
}

class Gpio final : public EstopInput {
 public:
  Gpio(std::string name, Descriptor line, IoControl io) : EstopInput(std::move(name)), line_(std::move(line)), io_(std::move(io)) {}

  EstopSays look(Time /*now*/) override {
    gpio_v2_line_values values{};
    values.mask = 1;
    if (io_(line_.get(), GPIO_V2_LINE_GET_VALUES_IOCTL, &values) < 0) return EstopSays::kLost;
    return (values.bits & 1U) == 0 ? EstopSays::kGo : EstopSays::kStop;
  }
  [[nodiscard]] int descriptor() const override { return line_.get(); }  // edges wake; the level counts

 private:
  Descriptor line_;
  IoControl io_;
};

Result<std::unique_ptr<EstopInput>> make_gpio(const std::string& name, const std::string& chip, unsigned line) {
  const int descriptor = ::open(chip.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return os_error("--estop " + name + ": " + chip);
  return make_gpio_estop(name, descriptor, line,
                         [](int fd, unsigned long request, void* argument) { return ::ioctl(fd, request, argument); });
}

// One client at a time; the next one's connection waits until this one has gone.
class Heartbeat final : public EstopInput {
 public:
  Heartbeat(std::string name, Descriptor listener) : EstopInput(std::move(name)), listener_(std::move(listener)) {}

  EstopSays look(Time now) override {
    if (!client_.open()) accept(now);
    if (client_.open()) read(now);
    if (!heard_) return ever_ ? EstopSays::kLost : EstopSays::kWaits;
    if (stops_) return EstopSays::kStop;
    return now - *heard_ <= kHeartbeat ? EstopSays::kGo : EstopSays::kLost;
  }
  [[nodiscard]] int descriptor() const override { return client_.open() ? client_.get() : listener_.get(); }

 private:
  void accept(Time now) {
    client_.reset(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    since_ = now;
    line_.clear();
    stops_ = false;
  }
  void read(Time now) {
    std::array<char, 256> bytes{};
    const ssize_t got = ::recv(client_.get(), bytes.data(), bytes.size(), 0);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return hang_up();
    for (const char byte : std::string_view(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)))) take(byte, now);
    // Whoever is silent gives way to somebody else.
    if (now - heard_.value_or(since_) > 4 * kHeartbeat) hang_up();
  }
  void take(char byte, Time now) {
    if (byte != '\n' && line_.size() < kLongestLine) {
      if (byte != '\r') line_ += byte;
      return;
    }
    stops_ = line_ != kGo;
    heard_ = now;
    ever_ = true;
    line_.clear();
  }
  void hang_up() {
    client_.reset();
    heard_.reset();
  }

  Descriptor listener_;
  Descriptor client_;
  std::string line_;
  Time since_;
  std::optional<Time> heard_;
  bool ever_ = false;
  bool stops_ = false;
};

Result<std::unique_ptr<EstopInput>> make_heartbeat(const std::string& name, int port) {
  Descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int yes = 1;
  ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_port = htons(static_cast<std::uint16_t>(port));
  any.sin_addr.s_addr = htonl(INADDR_ANY);
  if (!listener.open() || ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0 ||
      ::listen(listener.get(), 1) != 0)
    return os_error("--estop " + name);
  return std::unique_ptr<EstopInput>(std::make_unique<Heartbeat>(name, std::move(listener)));
}

}  // namespace

Result<std::unique_ptr<EstopInput>> make_gpio_estop(std::string name, int chip_descriptor, unsigned line, IoControl io) {
  const Descriptor chip(chip_descriptor);
  gpio_v2_line_request request{};
  request.offsets[0] = line;
  request.num_lines = 1;
  std::strncpy(request.consumer, "car_run estop", sizeof request.consumer - 1);
  request.config.flags = GPIO_V2_LINE_FLAG_INPUT | GPIO_V2_LINE_FLAG_BIAS_PULL_UP | GPIO_V2_LINE_FLAG_EDGE_RISING;
  if (io(chip.get(), GPIO_V2_GET_LINE_IOCTL, &request) < 0) return os_error("--estop " + name + ": this line with a pull-up");
  return std::unique_ptr<EstopInput>(std::make_unique<Gpio>(std::move(name), Descriptor(request.fd), std::move(io)));
}

Result<std::unique_ptr<EstopInput>> make_estop(const std::string& text) {
  const std::vector<std::string_view> words = split(text, ':');
  const auto number = parse_int(words.back());
  if (text == "keyboard") return make_keyboard(text);
  if (words.size() == 3 && words[0] == "gpio" && number && *number >= 0 && *number < 1024)
    return make_gpio(text, std::string(words[1]), static_cast<unsigned>(*number));
  if (words.size() == 2 && words[0] == "tcp" && number && *number > 0 && *number < 65536)
    return make_heartbeat(text, static_cast<int>(*number));
  return Error{"--estop " + text + ": expected keyboard, gpio:CHIP:LINE (gpio:/dev/gpiochip0:17) or tcp:PORT (tcp:7400)"};
}

EstopWatch::EstopWatch(Inbox& inbox, std::vector<std::unique_ptr<EstopInput>> inputs) : inbox_(inbox), inputs_(std::move(inputs)) {}

void EstopWatch::start() {
  if (!inputs_.empty()) thread_ = std::thread([this] { run(); });
}

void EstopWatch::stop() {
  ending_ = true;
  if (thread_.joinable()) thread_.join();
}

void EstopWatch::wait() const {
  std::vector<pollfd> entries;
  entries.reserve(inputs_.size());
  for (const auto& input : inputs_) entries.push_back({input->descriptor(), POLLIN, 0});
  ::poll(entries.data(), entries.size(), static_cast<int>(kPeriod.ns / 1'000'000));
}

void EstopWatch::run() {
  be_prompt();
  std::vector<EstopSays> said(inputs_.size(), EstopSays::kWaits);
  std::vector<Time> stopped(inputs_.size(), Time{} - kHeld);
  std::optional<EstopReport> told;
  while (!ending_) {
    const Time now = drivers::monotonic_now();
    EstopReport report{EstopSays::kGo, inbox_.clock().of_monotonic(now)};
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      EstopSays says = inputs_[i]->look(now);
      if (says >= EstopSays::kStop) stopped[i] = now;
      if (says < EstopSays::kStop && now - stopped[i] < kHeld) says = EstopSays::kStop;
      if (says != said[i]) inbox_.post(Note{"emergency stop " + inputs_[i]->name() + ": " + std::string(name(says))}, false);
      said[i] = says;
      report.says = std::max(report.says, says);
    }
    const bool changed = !told || report.says != told->says;
    if (changed || report.arrival - told->arrival >= kTold) {
      inbox_.post(report, changed);
      told = report;
    }
    wait();
  }
}

}  // namespace pitwall::onboard

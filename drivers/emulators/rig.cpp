// SPDX-License-Identifier: Apache-2.0
#include "drivers/emulators/rig.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <thread>
#include <utility>

#include "core/text.hpp"
#include "drivers/emulators/port.hpp"
#include "drivers/emulators/wire.hpp"

namespace pitwall::emulators {
namespace {

constexpr Duration kLongestSleep = from_milliseconds(5);
// Longer than this a board on USB does not wait for a host that does not read.
constexpr Duration kPatience = from_milliseconds(100);

/// One device with its cable and port.
class Channel {
 public:
  Channel(std::string name, std::unique_ptr<Device> device, std::unique_ptr<Port> port, std::uint64_t seed)
      : name_(std::move(name)),
        device_(std::move(device)),
        port_(std::move(port)),
        wire_(seed, name_, [this](Bytes& message) { device_->spoil_sum(message); }) {
    add_knobs();
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const Port& port() const { return *port_; }
  [[nodiscard]] const Wire& wire() const { return wire_; }

  /// Everything that can be done at `now`.
  void attend(Time now) {
    if (plug_at_ <= now) {
      plug_at_ = kNever;
      (void)port_->plug();
    }
    const bool open = port_->attend();
    if (open && !open_) device_->opened(now);
    if (!open && open_) hang_up(now);
    open_ = open;
    if (open_) {
      const Bytes heard = port_->read();
      if (!heard.empty() && !wire_.deaf()) device_->receive(now, heard);
    }
    device_->advance(now);
    flush(now);
  }

  /// What it has said goes out, as far as it goes.
  void flush(Time now) {
    for (Bytes& message : device_->take()) {
      if (open_) wire_.send(now, std::move(message));
    }
    if (!open_) return;
    for (;;) {
      if (pending_.empty()) {
        pending_ = wire_.take(now);
        pending_since_ = now;
      }
      if (pending_.empty()) return;
      const std::size_t written = port_->write(pending_);
      pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(written));
      if (!pending_.empty() && now - pending_since_ > kPatience) pending_.clear();
      if (!pending_.empty()) return;
    }
  }

  [[nodiscard]] Time next_event() const { return std::min({device_->next_event(), open_ ? wire_.next_due() : kNever, plug_at_}); }

  Status turn(Time now, std::string_view knob) {
    const std::string_view name = knob.substr(0, knob.find(' '));
    for (Knobs* knobs : {&port_knobs_, &wire_.knobs(), &device_->knobs()}) {
      if (!knobs->has(name)) continue;
      const Status turned = knobs->turn(now, knob);
      flush(now);
      return turned;
    }
    std::vector<std::string> names = port_knobs_.names();
    for (Knobs* knobs : {&wire_.knobs(), &device_->knobs()}) {
      const std::vector<std::string> more = knobs->names();
      names.insert(names.end(), more.begin(), more.end());
    }
    return Error{name_ + ": " + unknown_name("knob", name, names)};
  }

  [[nodiscard]] std::string help() { return port_knobs_.help(name_) + wire_.knobs().help(name_) + device_->knobs().help(name_); }

 private:
  void hang_up(Time now) {
    if (open_) device_->closed(now);
    open_ = false;
    wire_.clear();
    pending_.clear();
    (void)device_->take();
  }

  void add_knobs() {
    port_knobs_.add("unplug", "", "the cable is pulled; the device stays on", [this](Time now, Words) -> Status {
      port_->unplug();
      hang_up(now);
      return {};
    });
    port_knobs_.add("plug", "", "the cable is put back: the same link, another name behind it",
                    [this](Time, Words) { return port_->plug(); });
    port_knobs_.add("drop", "", "the connection breaks; the host may come back at once", [this](Time now, Words) -> Status {
      port_->drop();
      hang_up(now);
      return {};
    });
    port_knobs_.add_number("brownout", "S", "power fails for so long: unplugged, and all its state lost", 0, 600,
                           [this](Time now, double s) {
                             port_->unplug();
                             hang_up(now);
                             device_->restart(now + from_seconds(s));
                             plug_at_ = now + from_seconds(s);
                           });
  }

  std::string name_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Port> port_;
  Wire wire_;
  Knobs port_knobs_;
  Bytes pending_;
  Time pending_since_;
  Time plug_at_ = kNever;
  bool open_ = false;
};

template <class Model, class Config>
std::unique_ptr<Model> of(const std::optional<Config>& config) {
  return config ? std::make_unique<Model>(*config) : nullptr;
}

}  // namespace

class Rig::Impl {
 public:
  RigOptions options;
  int hokuyo_port = 0;
  Devices devices;
  World world;
  Time world_due;
  std::vector<std::unique_ptr<Channel>> channels;
  mutable std::mutex mutex;
  mutable std::condition_variable stepped;
  std::thread thread;
  std::atomic<bool> stopping{false};
  int wake_fd = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { ::close(wake_fd); }

  /// `device` where it is asked for; `model` then points at it.
  template <class Model>
  Status add(const std::string& name, std::unique_ptr<Model> device, Model*& model,
             Result<std::unique_ptr<Port>> (*make)(Impl&, const std::string&)) {
    if (!device) return {};
    Result<std::unique_ptr<Port>> port = make(*this, name);
    if (!port) return Error{name + ": " + port.error().message};
    device->restart(now());
    model = device.get();
    channels.push_back(std::make_unique<Channel>(name, std::move(device), *std::move(port), options.seed));
    return {};
  }

  void step() {
    const std::lock_guard lock(mutex);
    const Time at = now();
    for (const auto& channel : channels) channel->attend(at);
    if (world && world_due <= at) {
      world_due = world(at, devices);
      for (const auto& channel : channels) channel->flush(at);
    }
    stepped.notify_all();
  }

  // Ends a sleep: something has changed.
  void wake() const {
    const std::uint64_t one = 1;
    (void)!::write(wake_fd, &one, sizeof one);
  }

  void sleep() {
    std::vector<pollfd> watched = {{wake_fd, POLLIN, 0}};
    Time due = now() + kLongestSleep;
    {
      const std::lock_guard lock(mutex);
      for (const auto& channel : channels) {
        if (channel->port().descriptor() >= 0) watched.push_back({channel->port().descriptor(), POLLIN, 0});
        due = std::min(due, channel->next_event());
      }
      if (world) due = std::min(due, world_due);
    }
    const std::int64_t ns = std::max<std::int64_t>(0, (due - now()).ns);
    const timespec span{ns / 1'000'000'000, ns % 1'000'000'000};
    ::ppoll(watched.data(), watched.size(), &span, nullptr);
    std::uint64_t count = 0;
    (void)!::read(wake_fd, &count, sizeof count);
  }
};

Rig::Rig(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Rig::~Rig() { stop(); }

Result<std::unique_ptr<Rig>> Rig::make(const RigOptions& options) {
  std::error_code error;
  if (!std::filesystem::is_directory(options.folder, error)) return Error{options.folder.string() + ": no such folder"};
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  impl->hokuyo_port = options.hokuyo_port;
  using Made = Result<std::unique_ptr<Port>>;
  const auto pty = [](Impl& rig, const std::string& name) -> Made { return make_pty_port(rig.options.folder / name); };
  const auto fifo = [](Impl& rig, const std::string& name) -> Made { return make_fifo_port(rig.options.folder / name); };
  const auto tcp = [](Impl& rig, const std::string&) -> Made { return make_tcp_port(rig.hokuyo_port); };
  Devices& d = impl->devices;
  Status added = impl->add("vesc", of<Vesc>(options.vesc), d.vesc, +pty);
  if (added) added = impl->add("hokuyo", of<Hokuyo>(options.hokuyo), d.hokuyo, +tcp);
  if (added) added = impl->add("joystick", of<Joystick>(options.joystick), d.joystick, +fifo);
  if (added) added = impl->add("rplidar", of<Rplidar>(options.rplidar), d.rplidar, +pty);
  if (added) added = impl->add("ld19", of<Ld19>(options.ld19), d.ld19, +pty);
  if (added) added = impl->add("bno055", options.bno055 ? std::make_unique<Bno055>() : nullptr, d.bno055, +pty);
  if (!added) return added.error();
  return std::unique_ptr<Rig>(new Rig(std::move(impl)));
}

std::filesystem::path Rig::path(std::string_view device) const { return impl_->options.folder / device; }
int Rig::hokuyo_port() const { return impl_->hokuyo_port; }

Time Rig::now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return Time{std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec};
}

void Rig::set_world(World world) { impl_->world = std::move(world); }

void Rig::serve(const std::function<bool()>& stop) {
  while (!stop()) {
    impl_->step();
    impl_->sleep();
  }
}

void Rig::start() {
  if (impl_->thread.joinable()) return;
  impl_->stopping = false;
  impl_->thread = std::thread([this] { serve([this] { return impl_->stopping.load(); }); });
}

void Rig::stop() {
  impl_->stopping = true;
  if (impl_->thread.joinable()) impl_->thread.join();
}

Result<std::string> Rig::command(std::string_view line) {
  const std::lock_guard lock(impl_->mutex);
  line = trim(line);
  const std::string_view device = line.substr(0, line.find(' '));
  std::string answer;
  std::vector<std::string> names;
  for (const auto& channel : impl_->channels) {
    names.push_back(channel->name());
    if (device == "help") answer += channel->help();
    if (device != channel->name()) continue;
    const Status turned = channel->turn(now(), trim(line.substr(device.size())));
    if (!turned) return turned.error();
    impl_->wake();
    return answer;
  }
  if (device == "help") return answer;
  return Error{unknown_name("device", device, names)};
}

void Rig::look(const std::function<void(const Devices&)>& at) const {
  const std::lock_guard lock(impl_->mutex);
  at(impl_->devices);
}

bool Rig::wait(Duration timeout, const std::function<bool(const Devices&)>& holds) const {
  std::unique_lock lock(impl_->mutex);
  return impl_->stepped.wait_for(lock, std::chrono::nanoseconds(timeout.ns), [&] { return holds(impl_->devices); });
}

std::vector<VescEvent> Rig::vesc_log() const {
  std::vector<VescEvent> log;
  look([&](const Devices& devices) {
    if (devices.vesc != nullptr) log = devices.vesc->log();
  });
  return log;
}

std::int64_t Rig::damaged(std::string_view device) const {
  const std::lock_guard lock(impl_->mutex);
  for (const auto& channel : impl_->channels) {
    if (channel->name() == device) return channel->wire().damaged();
  }
  return 0;
}

}  // namespace pitwall::emulators

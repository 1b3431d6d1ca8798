// SPDX-License-Identifier: Apache-2.0
#include "onboard/devices.hpp"

#include <pthread.h>

#include <filesystem>
#include <utility>

#include "core/hash.hpp"
#include "core/text.hpp"
#include "drivers/byte_stream.hpp"
#include "drivers/ld19_session.hpp"
#include "drivers/rplidar_session.hpp"

namespace pitwall::onboard {
namespace {

constexpr Duration kLongestWait = from_milliseconds(20);
constexpr Duration kLastFrames = from_milliseconds(40);
constexpr Duration kLastWrites = from_milliseconds(100);
constexpr Duration kJoystickPeriod = from_milliseconds(50);
constexpr int kPriority = 10;
constexpr std::size_t kLatencies = 1U << 20U;  // 7 hours of scans

// A FIFO of joydev records says nothing of itself; such a pad is an F710 in mode X.
joystick::Identity fifo_identity() {
  joystick::Identity pad;
  pad.vendor = 0x046d;
  pad.product = 0xc21f;
  pad.name = "joystick behind a FIFO";
  pad.axes = 8;
  pad.buttons = 11;
  return pad;
}

std::uint64_t identity_of(const vesc::FwVersion& firmware) {
  if (!firmware.uuid) return 0;
  Hash hash;
  for (const std::uint8_t byte : *firmware.uuid) hash.add(std::uint64_t{byte});
  return hash.value();
}

}  // namespace

bool be_prompt() {
  sched_param priority{};
  priority.sched_priority = kPriority;
  return ::pthread_setschedparam(::pthread_self(), SCHED_FIFO, &priority) == 0;
}

DeviceThread::DeviceThread(std::string name, Inbox& inbox, drivers::Session& session, drivers::DeviceLink::Opener opener)
    : inbox_(inbox), link_(session, std::move(opener)), name_(std::move(name)), session_(session) {}

DeviceThread::~DeviceThread() = default;

void DeviceThread::start() {
  thread_ = std::thread([this] { run(); });
}

void DeviceThread::stop() {
  if (!thread_.joinable()) return;
  ending_ = true;
  link_.wake();
  thread_.join();
}

void DeviceThread::run() {
  be_prompt();
  while (!ending_) {
    prepare();
    link_.step(kLongestWait);
    publish();
    while (std::optional<std::string> line = session_.next_note()) inbox_.post(Note{name_ + ": " + *line}, false);
    tell_trouble();
  }
  end();
  link_.close(kLastWrites);
}

void DeviceThread::tell_trouble() {
  const std::string& trouble = link_.trouble();
  if (trouble == trouble_) return;
  trouble_ = trouble;
  inbox_.post(Note{name_ + ": " + (trouble.empty() ? "connected" : "waiting: " + trouble)}, false);
}

MotorDevice::MotorDevice(Inbox& inbox, drivers::DeviceLink::Opener opener, const drivers::VescOptions& options)
    : DeviceThread("motor controller", inbox, session_, std::move(opener)), session_(options) {
  latencies_ms_.reserve(kLatencies);
}

void MotorDevice::send(std::span<const vesc::Command> frames, std::optional<Time> due) {
  if (frames.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    for (const vesc::Command& frame : frames) (frame.kind == vesc::CommandKind::kServo ? servo_ : motor_) = frame;
    due_ = due;
  }
  link_.wake();
}

void MotorDevice::prepare() {
  std::optional<vesc::Command> motor;
  std::optional<vesc::Command> servo;
  std::optional<Time> due;
  {
    const std::lock_guard lock(mutex_);
    motor = std::exchange(motor_, {});
    servo = std::exchange(servo_, {});
    due = std::exchange(due_, {});
  }
  if (!motor && !servo) return;
  bool queued = false;
  if (motor) queued = session_.command(*motor) == drivers::VescSession::Handed::kQueued || queued;
  if (servo) queued = session_.command(*servo) == drivers::VescSession::Handed::kQueued || queued;
  if (!queued) return;
  link_.step({});
  if (due && latencies_ms_.size() < kLatencies) latencies_ms_.push_back(1e3 * (inbox_.clock().now() - *due).seconds());
}

// The last frames, and time for them to get through before the line is closed.
void MotorDevice::end() {
  prepare();
  const Time until = inbox_.clock().now() + kLastFrames;
  while (link_.connected() && inbox_.clock().now() < until) link_.step(kLastFrames);
}

void MotorDevice::publish() {
  const std::optional<vesc::FwVersion>& firmware = session_.firmware();
  MotorLink link;
  link.present = link_.connected();
  link.identified = link.present && firmware.has_value();
  link.supported = link.identified && firmware->supported() && session_.phase() != drivers::Phase::kRefused;
  link.connection = session_.counters().starts;
  link.identity = link.identified ? identity_of(*firmware) : told_.identity;
  if (!(link == told_)) inbox_.post(link, true);
  told_ = link;
  while (auto values = session_.next_telemetry()) inbox_.post(shifted(*std::move(values)), false);
  while (auto imu = session_.next_imu()) inbox_.post(shifted(*std::move(imu)), false);
}

Result<LidarKind> lidar_kind(const std::string& model) {
  LidarKind kind;
  const auto take = [&]<class Session>(std::unique_ptr<Session> session) {
    kind.next_scan = [from = session.get()] { return from->next_scan(); };
    kind.session = std::move(session);
  };
  if (model.starts_with("UST") || model.starts_with("UTM") || model.starts_with("URG") || model.starts_with("UUST")) {
    auto session = std::make_unique<drivers::ScipSession>();
    kind.switch_off = [from = session.get()] { from->stop(); };
    take(std::move(session));
  } else if (model.starts_with("RPLIDAR")) {
    auto session = std::make_unique<drivers::RplidarSession>();
    kind.switch_off = [from = session.get()] { from->stop(); };
    take(std::move(session));
    const bool fast = model.find(" S2") != std::string::npos || model.find(" S3") != std::string::npos;
    kind.baud = fast                                     ? 1'000'000
                : model.find(" C1") != std::string::npos ? 460'800
                : model.find(" A1") != std::string::npos ? 115'200
                                                         : 256'000;
  } else if (model.starts_with("LD") || model.starts_with("STL")) {
    kind.switch_off = [] {};
    take(std::make_unique<drivers::Ld19Session>());
    kind.baud = 230'400;
  } else {
    return Error{"lidar_model '" + model + "': known are UST-10LX and other Hokuyos, RPLIDAR A1 to S3, LD06, LD19"};
  }
  return kind;
}

LidarDevice::LidarDevice(Inbox& inbox, drivers::DeviceLink::Opener opener, LidarKind kind)
    : DeviceThread("LiDAR", inbox, *kind.session, std::move(opener)), kind_(std::move(kind)) {}

void LidarDevice::publish() {
  while (auto scan = kind_.next_scan()) inbox_.post(shifted(*std::move(scan)), true);
}

JoystickDevice::JoystickDevice(Inbox& inbox, const std::string& path)
    : DeviceThread("joystick", inbox, session_, [path] { return drivers::open_file(path); }),
      session_(
          {path.find("event") == std::string::npos ? drivers::JoystickOptions::Format::kJoydev : drivers::JoystickOptions::Format::kEvdev,
           {}}) {
  link_.on_open([this, path](drivers::ByteStream& stream) {
    const bool fifo = std::filesystem::is_fifo(path);
    session_.set_device(fifo ? drivers::fixed_input_device(fifo_identity()) : drivers::input_device(stream.descriptor(), path));
  });
}

void JoystickDevice::publish() {
  const Time now = inbox_.clock().now();
  JoystickState state;
  state.present = link_.connected() && session_.complete();
  state.connection = session_.counters().starts;
  state.controls = session_.controls();
  state.any_event = session_.events() > 0;
  state.last_event = shifted(session_.last_event());
  state.arrival = now;
  const joystick::Controls& c = state.controls;
  const joystick::Controls& t = told_.controls;
  const bool changed = state.present != told_.present || state.connection != told_.connection || c.deadman != t.deadman ||
                       c.estop != t.estop || c.acknowledge != t.acknowledge;
  if (told_once_ && !changed && now - told_.arrival < kJoystickPeriod) return;
  state.buttons = session_.state().buttons;
  told_ = state;
  told_once_ = true;
  inbox_.post(std::move(state), changed);
}

Result<drivers::DeviceLink::Opener> opener_of(const std::string& address, int baud) {
  auto parsed = drivers::parse_address(address);
  if (!parsed) return parsed.error();
  if (address.find("baud=") == std::string::npos) parsed->baud = baud;
  return drivers::DeviceLink::Opener([at = *parsed] { return drivers::open_stream(at); });
}

}  // namespace pitwall::onboard

// SPDX-License-Identifier: Apache-2.0
#include "tests/car/car_process.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "core/check.hpp"
#include "core/files.hpp"
#include "onboard/devices.hpp"

namespace pitwall::tests {
namespace {

constexpr Duration kStep = from_milliseconds(5);

bool stops(const emulators::VescEvent& event) {
  return event.name == "SET_CURRENT_BRAKE" || event.name == "SET_HANDBRAKE" || (event.name == "SET_CURRENT" && event.value == 0.0);
}

}  // namespace

void pause(Duration length) { std::this_thread::sleep_for(std::chrono::nanoseconds(length.ns)); }

bool start_promptly(emulators::Rig& rig) {
  sched_param before{};
  int policy = SCHED_OTHER;
  ::pthread_getschedparam(::pthread_self(), &policy, &before);
  const bool prompt = onboard::be_prompt();
  rig.start();  // its thread inherits it
  ::pthread_setschedparam(::pthread_self(), policy, &before);
  return prompt;
}

CarOnRig::CarOnRig(const std::string& name, emulators::RigOptions options)
    : folder_(std::filesystem::temp_directory_path() / ("pitwall_car_" + name + "_" + std::to_string(::getpid()))) {
  std::filesystem::remove_all(folder_);
  std::filesystem::create_directories(folder_);
  options.folder = folder_;
  auto rig = emulators::Rig::make(options);
  PITWALL_CHECK(rig.ok(), rig.error().message);
  own_rig_ = *std::move(rig);
  rig_ = own_rig_.get();
  start_promptly(*rig_);
}

CarOnRig::~CarOnRig() {
  if (process_ > 0) {
    kill(SIGCONT);
    kill(SIGKILL);
    wait_exit(from_milliseconds(5'000));
  }
  if (!own_rig_) return;
  own_rig_->stop();
  std::filesystem::remove_all(folder_);
}

void CarOnRig::start(const std::vector<std::string>& flags, const std::string& terminal) {
  std::vector<std::string> words{PITWALL_BIN_DIR "/car_run",
                                 "--vesc",
                                 rig_->vesc_path().string(),
                                 "--lidar",
                                 lidar_ == "hokuyo" ? "127.0.0.1:" + std::to_string(rig_->hokuyo_port()) : rig_->path(lidar_).string(),
                                 "--joystick",
                                 rig_->joystick_path().string()};
  words.insert(words.end(), flags.begin(), flags.end());
  if (std::find(words.begin(), words.end(), "--car") == words.end()) words.insert(words.end(), {"--car", "rb1"});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const std::string log = (folder_ / "said.txt").string();
  process_ = ::fork();
  if (process_ != 0) return;
  if (!terminal.empty()) {
    ::setsid();
    ::open(terminal.c_str(), O_RDWR);  // the first that a session opens is its terminal
  }
  const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  ::dup2(out, 1);
  ::dup2(out, 2);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

void CarOnRig::command(const std::string& line) {
  const auto done = rig_->command(line);
  PITWALL_CHECK(done.ok(), done.error().message);
}

void CarOnRig::kill(int signal) const { ::kill(process_, signal); }

int CarOnRig::wait_exit(Duration timeout) {
  for (Duration waited; waited < timeout; waited = waited + kStep) {
    int status = 0;
    if (::waitpid(process_, &status, WNOHANG) == process_) {
      process_ = -1;
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    pause(kStep);
  }
  return -1;
}

std::string CarOnRig::said() const {
  const auto text = read_file(folder_ / "said.txt");
  return text ? *text : "";
}

std::string CarOnRig::last_said(const std::string& with) const {
  const std::string text = said();
  const std::size_t at = text.rfind(with);
  if (at == std::string::npos) return "";
  const std::size_t begin = text.rfind('\n', at) + 1;  // npos + 1 is 0
  return text.substr(begin, text.find('\n', at) - begin);
}

bool CarOnRig::wait_said(const std::string& what, Duration timeout) const {
  for (Duration waited; waited < timeout; waited = waited + kStep) {
    if (said().find(what) != std::string::npos) return true;
    pause(kStep);
  }
  return false;
}

bool CarOnRig::wait_ready() {
  const Duration timeout = from_milliseconds(10'000);
  const bool ready = wait_said("DISARMED", timeout) && wait_said("LiDAR: running", timeout) && wait_said("joystick: running", timeout);
  pause(from_milliseconds(150));  // the first scans
  return ready;
}

bool CarOnRig::wait_driving() {
  command("joystick hold");
  const Time since = emulators::Rig::now();
  return rig_->wait(from_milliseconds(3'000), [&](const emulators::Rig::Devices& d) {
    return !d.vesc->log().empty() && d.vesc->log().back().at >= since && d.vesc->motor().erpm > 1000.0;
  });
}

double CarOnRig::ms_to_brake(Time since, Duration timeout) const {
  // Until a quarter of a second of nothing but stops.
  constexpr Duration kSure = from_milliseconds(250);
  const auto first_stop = [&](const std::vector<emulators::VescEvent>& log) {
    Time at{-1};
    for (const emulators::VescEvent& event : log) {
      if (event.at < since || event.name == "SET_SERVO_POS") continue;
      if (event.name == "SET_RPM") at = Time{-1};
      if (stops(event) && at.ns < 0) at = event.at;
    }
    return at;
  };
  for (const Time end = since + timeout + kSure; emulators::Rig::now() < end; pause(kStep)) {
    const Time at = first_stop(rig_->vesc_log());
    if (at.ns >= 0 && emulators::Rig::now() - at > kSure) return 1e3 * (at - since).seconds();
  }
  return -1.0;
}

int CarOnRig::count(std::string_view name, Time since) const {
  int n = 0;
  for (const emulators::VescEvent& event : rig_->vesc_log()) n += event.at >= since && event.name == name ? 1 : 0;
  return n;
}

}  // namespace pitwall::tests

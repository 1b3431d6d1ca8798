// SPDX-License-Identifier: Apache-2.0
// emulate: a simulated car behind emulated devices in real time, or single devices on the desk, with faults on request.
#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/car_choice.hpp"
#include "apps/emulated_car.hpp"
#include "apps/interrupt.hpp"
#include "apps/program.hpp"
#include "core/text.hpp"

namespace {

using namespace pitwall;
using emulators::Rig;

constexpr const char* kFooter =
    "Example: emulate --track larkfield --car rb2          (then run car_run against the addresses that it prints; the LiDAR is the\n"
    "                                                      one that lidar_model of the car's profile names)\n"
    "         emulate vesc joystick --dir /tmp/desk        (single devices: vesc, hokuyo, joystick, rplidar, ld19, bno055)\n"
    "While it runs every line of stdin is a command: `joystick hold`, `vesc mute 1`, `hokuyo unplug`, `report`, `log`, `quit`; `help`\n"
    "lists them all. The answer is a line `ok` or `error: ...`. drivers/emulators/README.md explains them.\n"
    "Exit code: 0 done; 1 fewer laps than --min-laps, or a contact with it; 2 bad usage or input; 3 internal error.";

constexpr std::array<std::string_view, 6> kDevices = {"vesc", "hokuyo", "joystick", "rplidar", "ld19", "bno055"};

struct Arguments {
  std::vector<std::string> devices;
  std::string track;
  std::optional<std::string> car;
  std::string dir;
  std::int64_t seed = 12345;
  std::optional<double> duration_s;
  int lidar_port = 0;
  double start_s_m = 0.0;
  int min_laps = 0;
  std::vector<std::string> set;
  std::vector<std::string> commands;
};

/// A folder that is gone afterwards, unless the user named one.
class Folder {
 public:
  explicit Folder(std::string given) : path_(std::move(given)), own_(path_.empty()) {
    if (own_) path_ = std::filesystem::temp_directory_path() / ("emulate_" + std::to_string(::getpid()));
    std::error_code ignored;
    std::filesystem::create_directories(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    if (own_) std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  bool own_;
};

nlohmann::json json_of(const apps::EmulatedCarReport& r) {
  return {{"wall_s", r.wall_s},
          {"driven_s", r.driven_s},
          {"skipped_s", r.skipped_s},
          {"laps", r.laps},
          {"lap_times_s", r.lap_times_s},
          {"progress_m", r.progress_m},
          {"speed_mps", r.speed_mps},
          {"max_speed_mps", r.max_speed_mps},
          {"contacts", r.contacts},
          {"first_contact", r.first_contact},
          {"off_map", r.off_map},
          {"commands", r.commands},
          {"ignored_commands", r.ignored_commands},
          {"polls", r.polls},
          {"scans", r.scans},
          {"damaged", r.damaged}};
}

/// Lines of stdin as they come.
class CommandLines {
 public:
  /// The next whole line; nothing now.
  std::optional<std::string> next() {
    pollfd watched{STDIN_FILENO, POLLIN, 0};
    while (!ended_ && ::poll(&watched, 1, 0) > 0) {
      std::array<char, 512> piece{};
      const ssize_t got = ::read(STDIN_FILENO, piece.data(), piece.size());
      if (got <= 0) {
        ended_ = true;
      } else {
        text_.append(piece.data(), static_cast<std::size_t>(got));
      }
    }
    const std::size_t end = text_.find('\n');
    if (end == std::string::npos) return std::nullopt;
    std::string line = text_.substr(0, end);
    text_.erase(0, end + 1);
    return line;
  }

 private:
  std::string text_;
  bool ended_ = false;
};

void print_log(const Rig& rig) {
  for (const emulators::VescEvent& event : rig.vesc_log()) {
    const nlohmann::json line = {{"at_ns", event.at.ns}, {"command", event.name}, {"value", event.value}, {"ignored", event.ignored}};
    std::printf("%s\n", line.dump().c_str());
  }
}

/// One line of the user. Whether to go on.
bool obey(Rig& rig, const apps::EmulatedCar* car, const std::string& text) {
  const std::string_view line = trim(text);
  if (line.empty()) return true;
  if (line == "quit") return false;
  if (line == "log") {
    print_log(rig);
  } else if (line == "report" && car != nullptr) {
    std::printf("%s\n", json_of(car->report()).dump().c_str());
  } else {
    const Result<std::string> answer = rig.command(line);
    if (!answer) {
      std::printf("error: %s\n", answer.error().message.c_str());
      std::fflush(stdout);
      return true;
    }
    std::printf("%s", answer->c_str());
  }
  std::printf("ok\n");
  std::fflush(stdout);
  return true;
}

void print_addresses(const Rig& rig, const std::vector<std::string>& devices) {
  for (const std::string& device : devices) {
    if (device == "hokuyo") {
      std::printf("hokuyo 127.0.0.1:%d\n", rig.hokuyo_port());
    } else {
      std::printf("%s %s\n", device.c_str(), rig.path(device).c_str());
    }
  }
  std::printf("ready\n");
  std::fflush(stdout);
}

/// Serves until the time is over, the user has enough, or a signal comes.
int serve(Rig& rig, const apps::EmulatedCar* car, const Arguments& a, const std::vector<std::string>& devices) {
  for (const std::string& command : a.commands) {
    if (const Result<std::string> done = rig.command(command); !done)
      return apps::bad_input(Error{"--command " + command + ": " + done.error().message});
  }
  print_addresses(rig, devices);
  apps::catch_interrupts();
  CommandLines lines;
  const Time end = a.duration_s ? Rig::now() + from_seconds(*a.duration_s) : emulators::kNever;
  bool going = true;
  rig.serve([&] {
    while (going) {
      const std::optional<std::string> line = lines.next();
      if (!line) break;
      going = obey(rig, car, *line);
    }
    return !going || apps::interrupted() || Rig::now() >= end;
  });
  if (car == nullptr) return apps::kPassed;
  const apps::EmulatedCarReport report = car->report();
  std::printf("%s\n", json_of(report).dump(2).c_str());
  const bool passed = a.min_laps == 0 || (report.laps >= a.min_laps && report.contacts == 0 && !report.off_map);
  return passed ? apps::kPassed : apps::kFailed;
}

int serve_car(const Arguments& a, const Folder& folder) {
  apps::EmulatedCarOptions options;
  options.track = a.track;
  options.car = apps::chosen_car(a.car, "rb2");
  options.folder = folder.path();
  options.seed = a.seed;
  options.lidar_port = a.lidar_port;
  options.start_s_m = a.start_s_m;
  options.assignments = a.set;
  const auto car = apps::EmulatedCar::make(options);
  if (!car) return apps::bad_input(car.error());
  return serve((*car)->rig(), car->get(), a, {"vesc", (*car)->lidar(), "joystick"});
}

int serve_devices(const Arguments& a, const Folder& folder) {
  emulators::RigOptions options;
  options.folder = folder.path();
  options.seed = static_cast<std::uint64_t>(a.seed);
  options.hokuyo_port = a.lidar_port;
  for (const std::string& device : a.devices) {
    if (const auto known = apps::choose("device", device, kDevices); !known) return apps::bad_input(known.error());
  }
  const auto has = [&](std::string_view device) { return std::find(a.devices.begin(), a.devices.end(), device) != a.devices.end(); };
  if (!has("vesc")) options.vesc.reset();
  if (!has("hokuyo")) options.hokuyo.reset();
  if (!has("joystick")) options.joystick.reset();
  if (has("rplidar")) options.rplidar.emplace();
  if (has("ld19")) options.ld19.emplace();
  options.bno055 = has("bno055");
  const auto rig = Rig::make(options);
  if (!rig) return apps::bad_input(rig.error());
  return serve(**rig, nullptr, a, a.devices);
}

}  // namespace

int main(int argc, char** argv) {
  return apps::guarded([&] {
    CLI::App app{"Serves a simulated car behind emulated devices in real time, or single devices, with faults on request.", "emulate"};
    app.footer(kFooter);
    Arguments a;
    app.add_option("devices", a.devices, "single devices in place of a car: vesc, hokuyo, joystick, rplidar, ld19, bno055");
    app.add_option("--track", a.track, "name of a track, or path of its folder");
    app.add_option("--car", a.car, "name of a car with hardware, or path of its .yaml (default: $PITWALL_CAR, else rb2)");
    app.add_option("--dir", a.dir, "folder for the links and FIFOs (default: one of its own in the temporary folder, gone afterwards)");
    app.add_option("--seed", a.seed, "of sensors and of noise on the cables");
    app.add_option("--duration", a.duration_s, "s to serve (default: until `quit`, Ctrl-C or SIGTERM)")->check(CLI::PositiveNumber);
    app.add_option("--lidar-port", a.lidar_port, "TCP port of the LiDAR on 127.0.0.1 (default: any)")->check(CLI::Range(0, 65535));
    app.add_option("--start", a.start_s_m, "where the car starts along the track's line, m");
    app.add_option("--min-laps", a.min_laps, "fail unless the car made so many laps and touched nothing")->check(CLI::NonNegativeNumber);
    app.add_option("--set", a.set, "further keys of the scenario: KEY=VALUE (repeatable; run_validation --print-config)");
    app.add_option("--command", a.commands, "a command to begin with, such as \"vesc timeout 150 10\" (repeatable)");
    if (const auto code = apps::parse(app, argc, argv)) return *code;
    if (a.devices.empty() == a.track.empty())
      return apps::bad_input(
          Error{"give either --track, for a whole car, or single devices: vesc, hokuyo, joystick, rplidar, ld19, bno055"});
    const Folder folder(a.dir);
    return a.devices.empty() ? serve_car(a, folder) : serve_devices(a, folder);
  });
}

// SPDX-License-Identifier: Apache-2.0
// The whole stack closed over a simulated car behind emulated devices, in real time: laps, deadlines, latency, and what the recording says
// afterwards. Bytes come chopped, and one in a hundred of the frames has a wrong one.
#include <doctest/doctest.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "apps/emulated_car.hpp"
#include "core/files.hpp"
#include "onboard/devices.hpp"
#include "tests/car/car_process.hpp"

using namespace pitwall;
using namespace pitwall::tests;

namespace {

// How late threads with priority and nothing to do are woken, one on each processor: what no program on this machine can do anything about.
class StallWatch {
 public:
  StallWatch() {
    for (unsigned k = 0; k < std::max(1U, std::thread::hardware_concurrency()); ++k) threads_.emplace_back([this, k] { watch(k); });
  }
  ~StallWatch() {
    end_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  StallWatch(const StallWatch&) = delete;
  StallWatch& operator=(const StallWatch&) = delete;
  [[nodiscard]] int stalls() const { return stalls_; }
  /// Such as leave a car without a command for its deadline of 150 ms: at 40 Hz with a scan lost to the cable.
  [[nodiscard]] int long_stalls() const { return long_stalls_; }
  [[nodiscard]] double worst_ms() const { return worst_ms_; }

 private:
  void watch(unsigned processor) {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(processor, &only);
    ::pthread_setaffinity_np(::pthread_self(), sizeof only, &only);
    onboard::be_prompt();
    while (!end_) {
      const Time before = emulators::Rig::now();
      pause(from_milliseconds(5));
      const double late_ms = 1e3 * (emulators::Rig::now() - before).seconds() - 5.0;
      if (late_ms > 8.0) ++stalls_;
      if (late_ms > 80.0) ++long_stalls_;
      worst_ms_ = std::max(worst_ms_.load(), late_ms);
    }
  }
  std::atomic<bool> end_ = false;
  std::atomic<int> stalls_ = 0;
  std::atomic<int> long_stalls_ = 0;
  std::atomic<double> worst_ms_ = 0.0;
  std::vector<std::thread> threads_;
};

struct Drive {
  int stops = 0;     ///< before the end
  int silences = 0;  ///< times that telemetry was missed for 150 ms, or the sensor was taken to have restarted
  int stalls = 0;
  int long_stalls = 0;
  double worst_stall_ms = 0.0;
  nlohmann::json summary;
  apps::EmulatedCarReport truth;
  std::filesystem::path run;  ///< folder of the recording
  std::filesystem::path folder;
};

/// Drives for so long, gap_follow on the indoor oval.
Drive drive(const std::string& name, int seconds) {
  Drive out;
  out.folder = std::filesystem::temp_directory_path() / ("pitwall_car_" + name + "_" + std::to_string(::getpid()));
  std::filesystem::remove_all(out.folder);
  std::filesystem::create_directories(out.folder);
  apps::EmulatedCarOptions options;
  options.track = "indoor_oval";
  options.car = "rb1";
  options.folder = out.folder;
  auto emulated = apps::EmulatedCar::make(options);
  REQUIRE(emulated.ok());
  emulators::Rig& rig = (*emulated)->rig();
  if (!start_promptly(rig)) MESSAGE("no real-time priority: other load on this machine may stop the car");
  {
    CarOnRig car(rig, out.folder);
    for (const char* line : {"vesc chop 5", "vesc flip 0.01", "hokuyo chop 300", "hokuyo flip 0.01"}) car.command(line);
    car.start({"--json", "--record", (out.folder / "runs").string(), "--seconds", std::to_string(seconds + 3)});
    REQUIRE(car.wait_ready());
    REQUIRE(car.wait_driving());
    const StallWatch machine;
    int code = -1;
    for (const Time end = emulators::Rig::now() + from_milliseconds(1000 * (seconds + 20)); code < 0 && emulators::Rig::now() < end;) {
      code = car.wait_exit(from_milliseconds(500));
      if (code >= 0 || car.last_said("-> ") != "STOPPING -> DISARMED: stands") continue;
      ++out.stops;
      car.command("joystick release");
      pause(from_milliseconds(200));
      car.command("joystick hold");
    }
    CHECK(code == 0);
    out.stalls = machine.stalls();
    out.long_stalls = machine.long_stalls();
    out.worst_stall_ms = machine.worst_ms();
    const std::string said = car.said();
    INFO(said);
    for (const char* trouble : {"no telemetry for", "clock jumped"}) {
      for (std::size_t at = said.find(trouble); at != std::string::npos; at = said.find(trouble, at + 1)) ++out.silences;
    }
    const std::size_t json = said.rfind("\n{");
    REQUIRE(json != std::string::npos);
    out.summary = nlohmann::json::parse(said.substr(json, said.rfind('}') - json + 1));
    CHECK(said.find("ARMED -> STOPPING: shutdown") != std::string::npos);
  }
  out.truth = (*emulated)->report();
  rig.stop();
  for (const auto& entry : std::filesystem::directory_iterator(out.folder / "runs")) out.run = entry.path();
  return out;
}

int shell(const std::string& line) { return std::system((PITWALL_BIN_DIR "/" + line).c_str()); }

void check_drive(const Drive& d, int seconds) {
  const nlohmann::json& s = d.summary;
  MESSAGE("decision to command " << s["decision_to_command_ms"].dump() << ", ticks " << s["tick_ms"].dump() << ", late "
                                 << s["late_ticks"].dump() << ", processor " << s["cpu_share"].dump() << ", bad sums "
                                 << s["bad_sums"].dump() << ", laps " << d.truth.laps);
  MESSAGE("machine: " << d.stalls << " stalls, " << d.long_stalls << " long, at most " << d.worst_stall_ms << " ms; the car stopped "
                      << d.stops << " times");
  CHECK(d.truth.contacts == 0);
  CHECK_FALSE(d.truth.off_map);
  // Damage costs what it falls on: no stop and no late tick that is not the machine's.
  CHECK(d.stops <= d.long_stalls);
  CHECK(s["late_ticks"].get<int>() <= d.stalls);
  CHECK(d.silences <= d.long_stalls);
  // The simulator's lap is 20.6 s, the first a little longer.
  CHECK(d.truth.laps >= (s["armed_s"].get<int>() - 4) / 21 - d.stops);
  CHECK(s["armed_s"].get<double>() > seconds - 2.0 - 4.0 * d.stops);
  CHECK(s["bad_sums"].get<int>() > seconds / 2);               // the cables were bad
  CHECK(s["scans_refused"].get<int>() <= 10 * d.long_stalls);  // as too old
  CHECK(s["recorder_dropped"].get<int>() == 0);
  CHECK(s["decisions"].get<int>() >= s["scans"].get<int>() - s["scans_skipped"].get<int>() - s["scans_refused"].get<int>());
  CHECK(shell("replay '" + d.run.string() + "' > '" + (d.folder / "replay.txt").string() + "' 2>&1") == 0);
  const auto replayed = read_file(d.folder / "replay.txt");
  REQUIRE(replayed.ok());
  CHECK_MESSAGE(replayed->find("identical, " + std::to_string(s["decisions"].get<int>()) + " ticks") != std::string::npos, *replayed);
  CHECK(shell("analyze_run '" + d.run.string() + "' > '" + (d.folder / "analysis.md").string() + "' 2>&1") == 0);
  const auto analysed = read_file(d.folder / "analysis.md");
  REQUIRE(analysed.ok());
  CHECK(analysed->find("decisions reproduced to the bit [%]: 100.00") != std::string::npos);
  std::filesystem::remove_all(d.folder);
}

}  // namespace

TEST_CASE("a minute of gap_follow over bad cables: laps, no wrong scan, and its recording replays to the bit") {
  check_drive(drive("minute", 60), 60);
}

TEST_CASE("ten minutes of gap_follow over bad cables" * doctest::skip()) { check_drive(drive("ten_minutes", 600), 600); }

// SPDX-License-Identifier: Apache-2.0
// All threads of a car in one process, and its emulated devices in another thread: what the thread sanitizer is to see (preset tsan).
#include "onboard/runner.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "calibration/car_profile.hpp"
#include "drivers/emulators/rig.hpp"
#include "tests/support/source_dir.hpp"

using namespace pitwall;
using namespace pitwall::onboard;
using emulators::Rig;

namespace {

class Steady final : public Controller {
 public:
  [[nodiscard]] std::string_view name() const override { return "steady"; }
  [[nodiscard]] Trigger trigger() const override { return {}; }
  void reset(const Observation& /*first*/) override {}
  Command update(const Observation& /*obs*/) override { return {0.05F, 1.0F}; }
};

// An emergency stop input in the test's hand.
class Hand final : public EstopInput {
 public:
  explicit Hand(const std::atomic<bool>& stops) : EstopInput("hand"), stops_(stops) {}
  EstopSays look(Time /*now*/) override { return stops_ ? EstopSays::kStop : EstopSays::kGo; }
  [[nodiscard]] int descriptor() const override { return -1; }

 private:
  const std::atomic<bool>& stops_;
};

}  // namespace

TEST_CASE("runner, devices, scribe and emergency stop drive an emulated car, record it, stop it and end") {
  const auto profile = calibration::load_car("rb1", source_dir() / "calibration" / "cars");
  REQUIRE(profile.ok());
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("pitwall_runner_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  emulators::RigOptions options;
  options.folder = folder;
  auto rig = Rig::make(options);
  REQUIRE(rig.ok());
  (*rig)->start();

  const RunClock clock;
  recording::RunManifest manifest;
  manifest.run_id = "run";
  manifest.start = clock.now();
  manifest.cars.push_back({"ego", "steady", ""});
  auto recorder = recording::Recorder::create(folder / "run", manifest, {Pose2{}});
  REQUIRE(recorder.ok());
  Scribe scribe(*std::move(recorder));
  CarLoopSetup setup = CarLoopSetup::for_car(profile->parameters, *profile->hardware);
  setup.needs_estop = true;
  std::atomic<bool> stops = false;
  std::vector<std::unique_ptr<EstopInput>> estops;
  estops.push_back(std::make_unique<Hand>(stops));
  Steady controller;
  auto runner = Runner::make(
      setup, {(*rig)->vesc_path().string(), "tcp://127.0.0.1:" + std::to_string((*rig)->hokuyo_port()), (*rig)->joystick_path().string()},
      controller, nullptr, scribe, clock, std::move(estops));
  REQUIRE(runner.ok());

  std::atomic<bool> end = false;
  RunSummary summary;
  std::thread loop([&] { summary = (*runner)->run([&] { return end.load(); }); });
  const auto sent = [&](std::string_view name) {
    return (*rig)->wait(from_milliseconds(20'000),
                        [&](const Rig::Devices& d) { return !d.vesc->log().empty() && d.vesc->log().back().name == name; });
  };
  CHECK(sent("SET_SERVO_POS"));  // disarmed
  (void)(*rig)->wait(from_milliseconds(800), [](const Rig::Devices&) { return false; });
  REQUIRE((*rig)->command("joystick hold").ok());
  CHECK((*rig)->wait(from_milliseconds(10'000), [](const Rig::Devices& d) { return d.vesc->motor().erpm > 1000.0; }));
  stops = true;
  CHECK(sent("SET_HANDBRAKE"));
  end = true;
  loop.join();
  CHECK(scribe.close(clock.now()).ok());
  CHECK(summary.last_state == State::kEstop);
  CHECK(summary.counts.decisions > 10);
  CHECK(summary.dropped == 0);
  (*rig)->stop();
  std::filesystem::remove_all(folder);
}

// SPDX-License-Identifier: Apache-2.0
// gap_follow drives by the other LiDARs too: car_run against a simulated car that has one of them.
#include <doctest/doctest.h>

#include <array>
#include <utility>

#include "apps/emulated_car.hpp"
#include "calibration/car_profile.hpp"
#include "core/files.hpp"
#include "tests/car/car_process.hpp"
#include "tests/support/temp_folder.hpp"

using namespace pitwall;
using namespace pitwall::tests;

namespace {

/// rb1 with another LiDAR, as a profile in that folder.
std::string profile_with(const std::filesystem::path& folder, const std::string& model) {
  std::string text = *read_file(calibration::cars_folder() / "rb1.yaml");
  const std::array<std::pair<const char*, std::string>, 5> entries{{{"lidar_model: {value: ", model},
                                                                    {"lidar_beams: {value: ", "450"},
                                                                    {"lidar_fov_rad: {value: ", "6.26922"},
                                                                    {"lidar_rate_hz: {value: ", "10"},
                                                                    {"lidar_range_max_m: {value: ", "12"}}};
  for (const auto& [key, value] : entries) {
    const std::size_t at = text.find(key) + std::string_view(key).size();
    text.replace(at, text.find(',', at) - at, value);
  }
  const std::filesystem::path file = folder / "car.yaml";
  REQUIRE(write_file(file, text));
  return file.string();
}

/// A car with that LiDAR on the indoor oval.
class Driver {
 public:
  Driver(const std::string& name, const std::string& model) : folder_(name) {
    const std::string profile = profile_with(folder_.path(), model);
    apps::EmulatedCarOptions options;
    options.track = "indoor_oval";
    options.car = profile;
    options.folder = folder_.path();
    auto made = apps::EmulatedCar::make(options);
    REQUIRE_MESSAGE(made.ok(), (made.ok() ? "" : made.error().message));
    emulated_ = *std::move(made);
    if (!start_promptly(emulated_->rig())) MESSAGE("no real-time priority: other load on this machine may stop the car");
    car_ = std::make_unique<CarOnRig>(emulated_->rig(), folder_.path(), emulated_->lidar());
    car_->start({"--car", profile});
  }
  [[nodiscard]] CarOnRig& car() { return *car_; }
  [[nodiscard]] apps::EmulatedCarReport report() const { return emulated_->report(); }

 private:
  TempFolder folder_;
  std::unique_ptr<apps::EmulatedCar> emulated_;
  std::unique_ptr<CarOnRig> car_;
};

/// All of them at once, each as far as its time allows without a touch.
void drive_by(const std::vector<std::string>& models, int seconds) {
  std::vector<std::unique_ptr<Driver>> drivers;
  for (const std::string& model : models) drivers.push_back(std::make_unique<Driver>("lidar" + std::to_string(drivers.size()), model));
  for (const auto& driver : drivers) {
    INFO(driver->car().said());
    REQUIRE(driver->car().wait_ready());
    REQUIRE(driver->car().wait_driving());
  }
  pause(from_milliseconds(1'000 * seconds));
  for (std::size_t i = 0; i < drivers.size(); ++i) {
    const apps::EmulatedCarReport truth = drivers[i]->report();
    INFO(models[i] << "\n" << drivers[i]->car().said());
    CHECK_MESSAGE(truth.contacts == 0, truth.first_contact);
    // It speeds up for a second, then drives at 1.5 m/s or more; the simulator's lap has 2 m/s on average.
    CHECK(truth.progress_m > 1.5 * (seconds - 1));
    CHECK(truth.speed_mps > 1.0);
    CHECK(drivers[i]->car().said().find("scan_stale") == std::string::npos);
  }
}

}  // namespace

TEST_CASE("gap_follow drives by an RPLIDAR and by an LD19 as it does by a Hokuyo") { drive_by({"RPLIDAR A2", "LD19"}, 4); }

TEST_CASE("a minute of gap_follow by each RPLIDAR format and by an LD19 without contact" * doctest::skip()) {
  drive_by({"RPLIDAR A1", "RPLIDAR A2", "RPLIDAR S2", "LD19"}, 60);
}

// SPDX-License-Identifier: Apache-2.0
// Each LiDAR of the car from its bytes to what the localiser and the controllers make of them: a still room stays still when the car
// turns, and gap_follow drives by it.
#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <utility>

#include "apps/emulated_car.hpp"
#include "calibration/car_profile.hpp"
#include "core/files.hpp"
#include "drivers/ld19_session.hpp"
#include "drivers/rplidar_session.hpp"
#include "drivers/scip_session.hpp"
#include "localization/scan_points.hpp"
#include "onboard/devices.hpp"
#include "tests/car/car_process.hpp"
#include "tests/support/temp_folder.hpp"

using namespace pitwall;
using namespace pitwall::tests;

namespace {

// The sensor drives a circle of 0.2 m radius in a room from -2 to 3 m and from -1 to 1.5 m.
constexpr localization::Twist kTurning{0.5, 0.0, 2.5};

Pose2 sensor_at(Time t) { return Pose2{0.3, 0.1, 0.0} * localization::travelled(kTurning, t.seconds()); }

double to_wall_m(Time at, double bearing_rad) {
  const Pose2 sensor = sensor_at(at);
  const Vec2 d = unit_vector(sensor.yaw + bearing_rad);
  const double along = ((d.x > 0.0 ? 3.0 : -2.0) - sensor.x) / d.x;
  const double across = ((d.y > 0.0 ? 1.5 : -1.0) - sensor.y) / d.y;
  return std::min(d.x != 0.0 ? along : 1e9, d.y != 0.0 ? across : 1e9);
}

/// Root mean square of what the points of a scan are off the walls, m, where the scan is read as that of a sensor that moves so.
double off_walls_m(const LaserScan& scan, const localization::Twist& moving) {
  localization::ScanPoints points;
  points.read(scan, moving, {});
  REQUIRE(points.points().size() > 300);
  const Pose2 sensor = sensor_at(localization::middle_of(scan));
  double squares = 0.0;
  for (const Vec2 seen : points.points().at) {
    const Vec2 p = sensor * seen;
    const double off = std::min({std::abs(p.x - 3.0), std::abs(p.x + 2.0), std::abs(p.y - 1.5), std::abs(p.y + 1.0)});
    squares += off * off;
  }
  return std::sqrt(squares / static_cast<double>(points.points().size()));
}

/// Device and session with 0.5 ms between their meetings; `turn` runs at each. The scans of two seconds, without the first ones.
template <class Session>
std::vector<LaserScan> scans_of(emulators::Device& device, Session& session, const std::function<void(Time)>& turn = {}) {
  std::vector<LaserScan> scans;
  device.restart(Time{});
  device.opened(Time{});
  session.start(Time{});
  for (Time now; now.seconds() < 3.0; now = now + Duration{500'000}) {
    const std::vector<std::byte> asked = session.to_send();
    device.receive(now, {reinterpret_cast<const std::uint8_t*>(asked.data()), asked.size()});
    device.advance(now);
    if (turn) turn(now);
    for (const emulators::Bytes& message : device.take()) session.receive(std::as_bytes(std::span(message)), now);
    session.advance(now);
    while (auto scan = session.next_scan()) {
      CHECK(scan->value.stamp <= scan->arrival);
      if (now.seconds() > 1.0) scans.push_back(std::move(scan->value));
    }
  }
  return scans;
}

std::vector<LaserScan> hokuyo_scans() {
  emulators::HokuyoConfig config;
  config.own_turns = false;
  emulators::Hokuyo lidar(config);
  drivers::ScipSession session;
  Time next;
  return scans_of(lidar, session, [&](Time now) {
    if (now - next < from_milliseconds(25)) return;
    std::vector<std::uint32_t> mm;
    for (int i = 0; i < emulators::Hokuyo::kSteps; ++i) {
      const Time at = next + Duration{25'000'000LL * i / 1440};
      mm.push_back(static_cast<std::uint32_t>(emulators::millimetres_of(to_wall_m(at, (i - 540) * 2.0 * math::kPi / 1440.0))));
    }
    lidar.turn(now, next, mm);
    next = next + from_milliseconds(25);
  });
}

std::vector<LaserScan> rplidar_scans(const char* model, bool express) {
  emulators::Rplidar lidar(emulators::rplidar_named(model));
  lidar.look(to_wall_m);
  drivers::RplidarOptions options;
  options.express = express;
  drivers::RplidarSession session(options);
  return scans_of(lidar, session);
}

std::vector<LaserScan> ld19_scans() {
  emulators::Ld19 lidar;
  lidar.look(to_wall_m);
  drivers::Ld19Session session;
  return scans_of(lidar, session);
}

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
    emulated_->rig().start();
    car_ = std::make_unique<CarOnRig>(emulated_->rig(), folder_.path(), profile, emulated_->lidar());
    car_->start();
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
  // The worlds' threads inherit it: devices that are late because of other load would only test the machine.
  if (!onboard::be_prompt()) MESSAGE("no real-time priority: other load on this machine may stop the cars");
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

TEST_CASE("a still room seen while the car turns has the same walls after the de-skew, whichever LiDAR saw it") {
  const std::array<std::pair<std::string, std::function<std::vector<LaserScan>()>>, 5> lidars{
      {{"Hokuyo", hokuyo_scans},
       {"RPLIDAR, standard", [] { return rplidar_scans("RPLIDAR A2", false); }},
       {"RPLIDAR, express", [] { return rplidar_scans("RPLIDAR A2", true); }},
       {"RPLIDAR, dense", [] { return rplidar_scans("RPLIDAR S2", true); }},
       {"LD19", ld19_scans}}};
  for (const auto& [name, take] : lidars) {
    CAPTURE(name);
    const std::vector<LaserScan> scans = take();
    REQUIRE(scans.size() >= 18);
    double worst = 0.0;
    double least_skewed = 1e9;
    for (const LaserScan& scan : scans) {
      CHECK(scan.angle_increment > 0.0F);
      worst = std::max(worst, off_walls_m(scan, kTurning));
      least_skewed = std::min(least_skewed, off_walls_m(scan, {}));
    }
    MESSAGE(name << ": off the walls by " << 1e3 * worst << " mm, skewed " << 1e3 * least_skewed << " mm");
    CHECK(worst < 0.02);
    CHECK(least_skewed > 2.0 * worst);
  }
}

TEST_CASE("gap_follow drives by an RPLIDAR and by an LD19 as it does by a Hokuyo") { drive_by({"RPLIDAR A2", "LD19"}, 4); }

TEST_CASE("a minute of gap_follow by each RPLIDAR format and by an LD19 without contact" * doctest::skip()) {
  drive_by({"RPLIDAR A2", "RPLIDAR S2", "LD19"}, 60);
}

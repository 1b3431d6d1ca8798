// SPDX-License-Identifier: Apache-2.0
#include "calibration/car_profile.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <initializer_list>

#include "core/files.hpp"
#include "tests/support/source_dir.hpp"

namespace pitwall::calibration {
namespace {

const std::filesystem::path kCars = source_dir() / "calibration/cars";

CarProfile shipped(const std::string& name) { return load_car(name, kCars).value(); }

double number(const CarProfile& car, std::string_view name) {
  REQUIRE(car.find(name) != nullptr);
  return std::strtod(car.find(name)->value.scalar.c_str(), nullptr);
}

/// A folder of its own that is gone with the test.
struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / "pitwall_car_profile_test";
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  /// rb2 under another name with one piece of its text replaced.
  void put(const std::string& name, const std::string& from, const std::string& to) const {
    std::string text = read_file(kCars / "rb2.yaml").value();
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    REQUIRE(write_file(path / (name + ".yaml"), text).ok());
  }
};

/// The message that loading rb2 with that change gives.
std::string complaint(const std::string& from, const std::string& to) {
  const Folder folder;
  folder.put("bad", from, to);
  const Result<CarProfile> car = load_car("bad", folder.path);
  return car ? std::string() : car.error().message;
}

bool has(const std::string& text, std::string_view piece) { return text.find(piece) != std::string::npos; }

}  // namespace

TEST_CASE("the cars that ship are rb1, rb2 and f1tenth, and each gives every parameter with a source") {
  CHECK(known_cars(kCars) == std::vector<std::string>{"f1tenth", "f1tenth_ini", "frictionmaps", "rb1", "rb2"});
  for (const std::string& name : known_cars(kCars)) {
    CAPTURE(name);
    const CarProfile car = shipped(name);
    CHECK(car.id == name);
    for (const FieldDescription& field : describe_fields(CarParameters{})) {
      CAPTURE(field.name);
      const Entry* entry = car.find(field.name);
      REQUIRE(entry != nullptr);
      CHECK(entry->unit == field.unit);
      CHECK_FALSE(entry->source.empty());
    }
    CHECK(check_fields(name, car.parameters).ok());
  }
}

TEST_CASE("rb2 carries the newer, measured geometry") {
  const CarParameters car = shipped("rb2").parameters;
  CHECK(car.wheelbase_m == 0.36);
  CHECK(car.body_width_m == 0.30);
  CHECK(car.width_m == 0.31);
  CHECK(car.lidar_x_m == 0.26);
  CHECK(car.lidar_beams == 1081);
  // The padded body holds the chassis.
  CHECK(car.length_m >= car.body_length_m);
  CHECK(car.width_m >= car.body_width_m);
}

TEST_CASE("locks and speed limits of the real cars follow from servo map and motor") {
  for (const char* name : {"rb1", "rb2"}) {
    const CarProfile car = shipped(name);
    REQUIRE(car.hardware.has_value());
    CHECK(car.parameters.steering_max_left_rad == doctest::Approx((0.5304 - 0.15) / 1.2135).epsilon(2e-5));
    CHECK(car.parameters.steering_max_right_rad == doctest::Approx((0.5304 - 0.85) / 1.2135).epsilon(2e-5));
    CHECK(car.parameters.steering_max_left_rad == doctest::Approx(car.hardware->steering_of_servo(car.hardware->servo_min)).epsilon(2e-5));
    CHECK(car.parameters.steering_max_right_rad == doctest::Approx(car.hardware->steering_of_servo(car.hardware->servo_max)).epsilon(2e-5));
    CHECK(car.parameters.speed_max_mps == doctest::Approx(car.hardware->erpm_max / car.hardware->speed_to_erpm_gain).epsilon(1e-5));
    CHECK(car.parameters.speed_min_mps == -car.parameters.speed_max_mps);
    CHECK(car.parameters.acceleration_max_mps2 == doctest::Approx(car.parameters.surface_friction * 9.81));
    CHECK(car.hardware->front_overhang_m + car.hardware->rear_overhang_m + car.parameters.wheelbase_m ==
          doctest::Approx(car.parameters.body_length_m));
    CHECK(car.hardware->vesc_speed_sign == -1);
    CHECK(car.hardware->lidar_ip == "192.168.0.10");
    CHECK(car.hardware->joystick_deadman_button == 4);
    CHECK(car.hardware->battery_cells == 3);
  }
}

TEST_CASE("the lags of rb2 add up to the measured 0.15 s of steering and 0.275 s of speed") {
  const CarParameters car = shipped("rb2").parameters;
  const double half_tick = 0.0125;
  CHECK(car.steering_delay_s + 1.0 / car.steering_servo_gain_per_s + half_tick == doctest::Approx(0.15).epsilon(0.03));
  CHECK(car.speed_delay_s + 1.0 / car.speed_loop_accel_gain_per_s + half_tick == doctest::Approx(0.275).epsilon(0.03));
}

TEST_CASE("the unpublished fits of rb2 say that they are pending") {
  const CarProfile car = shipped("rb2");
  for (const char* name : {"surface_friction", "steering_servo_gain_per_s", "steering_delay_s", "speed_delay_s",
                           "speed_loop_accel_gain_per_s", "speed_loop_brake_gain_per_s"}) {
    CAPTURE(name);
    CHECK(car.find(name)->provenance == Provenance::kEstimated);
    CHECK(has(car.find(name)->source, "fit pending"));
  }
}

TEST_CASE("rb2 counts the six values of the stock car that nobody measured") {
  const CarProfile car = shipped("rb2");
  CHECK(car.stock_count() == 6);
  CHECK(car.stock_names() == std::vector<std::string>{"cog_front_fraction", "cog_height_m", "cornering_stiffness_front",
                                                      "cornering_stiffness_rear", "mass_kg", "yaw_inertia_kgm2"});
  int total = 0;
  for (std::size_t i = 0; i < kProvenanceNames.size(); ++i) total += car.count(static_cast<Provenance>(i));
  CHECK(total == static_cast<int>(car.entries.size()));
}

TEST_CASE("rb1 is rb2, estimated, but for its right lock, which is derived from the servo map") {
  const CarProfile rb1 = shipped("rb1");
  const CarProfile rb2 = shipped("rb2");
  REQUIRE(rb1.entries.size() == rb2.entries.size());
  for (const Entry& entry : rb1.entries) {
    CAPTURE(entry.name);
    REQUIRE(rb2.find(entry.name) != nullptr);
    CHECK(entry.value.scalar == rb2.find(entry.name)->value.scalar);
    if (entry.name == "steering_max_right_rad") {
      CHECK(entry.provenance == Provenance::kDerived);
      CHECK(has(entry.source, "servo map"));
    } else {
      CHECK(entry.provenance == Provenance::kEstimated);
      CHECK((entry.name == "serials" || has(entry.source, "copied from rb2")));
    }
  }
}

TEST_CASE("f1tenth is the stock gym car and says so") {
  const CarProfile car = shipped("f1tenth");
  CHECK_FALSE(car.hardware.has_value());
  CHECK(car.parameters.lf_m() == doctest::Approx(0.15875).epsilon(1e-9));
  CHECK(car.parameters.lr_m() == doctest::Approx(0.17145).epsilon(1e-9));
  CHECK(car.parameters.speed_loop_accel_gain_per_s == doctest::Approx(10.0 * 9.51 / 20.0));
  CHECK(car.parameters.speed_loop_brake_gain_per_s == doctest::Approx(10.0 * 9.51 / 5.0));
  CHECK(car.find("mass_kg")->provenance == Provenance::kStock);
  CHECK(car.find("lidar_beams")->provenance == Provenance::kSpec);
  CHECK(car.stock_count() == 21);
  CHECK(number(car, "lidar_x_m") == 0.275);
}

TEST_CASE("an unknown car is refused with the nearest name and the list") {
  const Result<CarProfile> car = load_car("rb3", kCars);
  REQUIRE_FALSE(car);
  CHECK(has(car.error().message, "unknown car 'rb3'"));
  CHECK(has(car.error().message, "f1tenth, f1tenth_ini, frictionmaps, rb1, rb2"));
  const Result<CarProfile> close = load_car("f1tnth", kCars);
  REQUIRE_FALSE(close);
  CHECK(has(close.error().message, "did you mean 'f1tenth'"));
  const Result<CarProfile> nowhere = load_car("rb2", kCars / "none");
  REQUIRE_FALSE(nowhere);
  CHECK(has(nowhere.error().message, "none"));
}

TEST_CASE("a profile is also found by the path of its file") {
  const Result<CarProfile> car = load_car((kCars / "rb2.yaml").string(), "/nowhere");
  REQUIRE(car);
  CHECK(car->id == "rb2");
  CHECK_FALSE(load_car("/nowhere/rb2.yaml", kCars));
}

TEST_CASE("what is wrong with an entry is said with file, line and key") {
  CHECK(complaint("mass_kg:", "# mass_kg:").find("bad.mass_kg is missing") != std::string::npos);
  CHECK(has(complaint("servo_min:", "# servo_min:"), "bad.servo_min is missing; hardware"));
  std::string said = complaint("mass_kg: {value: 3.74", "mass_kg: {value: -3.74");
  CHECK(has(said, "bad.yaml:16: bad.mass_kg = -3.74: allowed: 0.1 .. 100 kg"));
  said = complaint("unit: kg,", "unit: g,");
  CHECK(has(said, "bad.yaml:16: bad.mass_kg: unit 'g': allowed: 'kg'"));
  said = complaint("provenance: MEASURED", "provenance: MEASURD");
  CHECK(has(said, "bad.yaml:6: bad.wheelbase_m: unknown provenance 'MEASURD'"));
  CHECK(has(said, "did you mean 'MEASURED'"));
  said = complaint(", source: \"tape measure, 24 Aug 2026 (hardware table); was 0.324\"", "");
  CHECK(has(said, "bad.yaml:6: bad.wheelbase_m: 'source' is missing"));
  said = complaint("\"tape measure, 24 Aug 2026 (hardware table); was 0.324\"", "\" \"");
  CHECK(has(said, "bad.yaml:6: bad.wheelbase_m: 'source' is empty"));
  said = complaint("wheelbase_m:", "wheelbas_m:");
  CHECK(has(said, "bad.yaml:6: unknown key 'bad.wheelbas_m'"));
  CHECK(has(said, "did you mean 'bad.wheelbase_m'"));
  said = complaint("wheelbase_m: {value: 0.36", "wheelbase_m: {worth: 0.36");
  CHECK(has(said, "unknown key 'worth'"));
  said = complaint("wheelbase_m: {value: 0.36, unit: m, ", "wheelbase_m: {value: , unit: m, ");
  CHECK(has(said, "bad.wheelbase_m: 'value' is missing"));
  said = complaint("serials: {value: []", "serials: {value: 5");
  CHECK(has(said, "bad.serials: must be a list"));
  said = complaint("vesc_speed_sign: {value: -1", "vesc_speed_sign: {value: 0");
  CHECK(has(said, "bad.vesc_speed_sign = 0"));
}

TEST_CASE("a board's serial number finds its car") {
  const Folder folder;
  folder.put("one", "serials: {value: []", "serials: {value: ['0423', 1421]");
  folder.put("two", "serials: {value: []", "serials: {value: [1422]");
  CHECK(find_by_serial("1422", folder.path).value().id == "two");
  CHECK(find_by_serial(std::string_view("0423\0", 5), folder.path).value().id == "one");
  const Result<CarProfile> unknown = find_by_serial("99", folder.path);
  REQUIRE_FALSE(unknown);
  CHECK(has(unknown.error().message, "unknown car"));
  CHECK(has(unknown.error().message, "one, two"));
  CHECK_FALSE(find_by_serial("", folder.path));
  folder.put("three", "serials: {value: []", "serials: {value: [1422]");
  const Result<CarProfile> both = find_by_serial("1422", folder.path);
  REQUIRE_FALSE(both);
  CHECK(has(both.error().message, "claimed by"));
}

}  // namespace pitwall::calibration

// SPDX-License-Identifier: Apache-2.0
#include "analysis/imu_spectrum.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "core/files.hpp"
#include "tests/support/imu_drive.hpp"
#include "tests/support/temp_folder.hpp"

using namespace pitwall;
using namespace pitwall::analysis;

namespace {

const Section& spectrum_section(const ReportResult& result, const std::string& key) {
  const auto& all = result.document.sections;
  const auto found = std::find_if(all.begin(), all.end(), [&](const Section& each) { return each.key == key; });
  REQUIRE_MESSAGE(found != all.end(), key);
  return *found;
}

/// The value of the row whose result ends with `of`, and the setting beside it.
std::pair<double, std::string> replaced(const ReportResult& result, const std::string& of) {
  for (const auto& row : spectrum_section(result, "replaces").tables.at(0).rows) {
    if (row[0].text.ends_with(of)) return {row[1].number, row[5].text};
  }
  FAIL_CHECK(of);
  return {NAN, ""};
}

}  // namespace

TEST_CASE("noise parked, lines at a steady speed and the answer to steering are those put in, each beside its setting") {
  const TempFolder folder("imu_spectrum");
  ImuDrive drive;
  drive.parked_s = 20.0;
  drive.duration_s = 100.0;
  drive.gyro_delay_s = 0.0;
  drive.gyro_scale = 1.0;
  drive.noise = 0.002;
  drive.vibration_hz = 2.0 * drive.speed_mps / (2.0 * math::kPi * 0.05);  // twice for each turn of a wheel of 5 cm: 12.7 Hz
  drive.vibration_mps2 = 0.1;
  write_drive(folder.path() / "bag", drive);
  ImuSpectrumOptions options;
  options.run.run = folder.path() / "bag";
  options.run.driver.data = data_folder();
  options.max_gyro_noise = 0.02;
  const auto result = imu_spectrum(options);
  REQUIRE_MESSAGE(result.ok(), result.error().message);
  CHECK(result->gate.passed());

  // 0.002 rad/s in each sample at 200 Hz.
  const double density = 0.002 / std::sqrt(200.0);
  CHECK(replaced(*result, "noise of the gyro").first == doctest::Approx(density).epsilon(0.1));
  CHECK(replaced(*result, "noise of the gyro").second.starts_with("imu_gyro_noise = "));
  CHECK(replaced(*result, "noise of the accelerometer").first == doctest::Approx(density).epsilon(0.1));
  CHECK(replaced(*result, "gyro z, mean").first == doctest::Approx(drive.gyro_bias_radps).epsilon(0.01));
  CHECK(replaced(*result, "gyro z, mean").second == "vehicle_state.bias_radps = 0");
  CHECK(replaced(*result, "gyro z, one sample").first == doctest::Approx(0.002).epsilon(0.1));
  CHECK(replaced(*result, ": rate").first == doctest::Approx(200.0));
  CHECK(spectrum_section(*result, "parked").tables.at(0).rows.size() == 6);
  CHECK(spectrum_section(*result, "parked").tables.at(0).rows[2][2].number == doctest::Approx(19.5).epsilon(0.02));

  const Table& lines = spectrum_section(*result, "steady").tables.at(0);
  const auto line = std::find_if(lines.rows.begin(), lines.rows.end(),
                                 [](const auto& row) { return row[3].text == "accel z" && row[6].text == "wheel x2"; });
  REQUIRE(line != lines.rows.end());
  CHECK((*line)[4].number == doctest::Approx(drive.vibration_hz).epsilon(0.04));
  CHECK((*line)[5].number > 20.0);

  // Two sines and what the command's corners leak: late by 0.1 s, at 0.9 of the profile's wheelbase over this car's.
  const auto run = load_imu_run(options.run, true);
  CHECK(replaced(*result, "delay").first == doctest::Approx(drive.steering_lag_s).epsilon(0.03));
  CHECK(replaced(*result, "delay").second.starts_with("steering_delay_s = "));
  CHECK(replaced(*result, "gain").first == doctest::Approx(drive.turning_gain * drive.wheelbase_m / run->car.wheelbase_m).epsilon(0.02));
  CHECK(spectrum_section(*result, "response").tables.at(0).rows.size() == 1);  // the odometry's rate is computed from the command
  for (const auto& row : spectrum_section(*result, "response").tables.at(1).rows) CHECK(row[6].number > 0.6);
  CHECK(spectrum_section(*result, "gyros").notes.size() == 1);

  // The arrays open again.
  REQUIRE(result->arrays);
  NpzWriter arrays = *result->arrays;
  const auto bytes = arrays.finish();
  REQUIRE(bytes.ok());
  const auto read = NpzReader::parse(*bytes);
  REQUIRE(read.ok());
  CHECK(read->text("0/topic") == "/imu");
  CHECK(read->text("response0/source") == "gyro /imu");
  CHECK(read->doubles("response0/gain")->size() == read->doubles("response0/frequency_hz")->size());
  CHECK(read->doubles("0/steady0/accel_z")->size() == read->doubles("0/steady0/frequency_hz")->size());
  CHECK(read->doubles("0/parked/gyro_z/allan")->size() == read->doubles("0/parked/gyro_z/allan_s")->size());
  const std::vector<double> density_z = *read->doubles("0/steady0/accel_z");
  const auto highest = static_cast<std::size_t>(std::max_element(density_z.begin(), density_z.end()) - density_z.begin());
  CHECK(read->doubles("0/steady0/frequency_hz")->at(highest) == doctest::Approx(drive.vibration_hz).epsilon(0.04));

  options.max_gyro_noise = 0.005;
  CHECK_FALSE(imu_spectrum(options)->gate.passed());
}

TEST_CASE("a drive without standstill, steady speed or turning leaves those sections out, each with its reason") {
  const TempFolder folder("imu_spectrum_none");
  ImuDrive drive;
  drive.speed_mps = 0.2;  // slower than what a spectrum of the drive is taken of
  drive.turning_gain = 0.0;
  drive.noise = 0.05;
  drive.duration_s = 20.0;
  write_drive(folder.path() / "bag", drive);
  ImuSpectrumOptions options;
  options.run.run = folder.path() / "bag";
  options.run.driver.data = data_folder();
  options.max_gyro_noise = 100.0;
  const auto result = imu_spectrum(options);
  REQUIRE_MESSAGE(result.ok(), result.error().message);
  CHECK(spectrum_section(*result, "parked").notes.at(0) == "/imu: skipped, the car never stands for 2 s");
  CHECK(spectrum_section(*result, "steady").notes.at(0) == "skipped: the motor never runs within 5 % of one speed for 2 s");
  CHECK(spectrum_section(*result, "gyros").notes.at(0) == "not available: neither scans nor a truth tell the turn");
  CHECK_FALSE(result->gate.passed());  // what is not known does not hold
}

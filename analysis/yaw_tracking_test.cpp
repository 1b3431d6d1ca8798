// SPDX-License-Identifier: Apache-2.0
#include "analysis/yaw_tracking.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/files.hpp"
#include "tests/support/imu_drive.hpp"
#include "tests/support/temp_folder.hpp"

using namespace pitwall;
using namespace pitwall::analysis;

namespace {

RateSource source(RateSource::Kind kind, double from_s, double to_s, double step_s, double (*rate)(double)) {
  RateSource made{kind, "made", {}, {}, {}, {}};
  const auto steps = static_cast<int>(std::lround((to_s - from_s) / step_s));
  for (int k = 0; k <= steps; ++k) {
    const double t = from_s + step_s * k;
    made.begin_s.push_back(t);
    made.end_s.push_back(t);
    made.rate_radps.push_back(rate(t));
    made.weight.push_back(1.0);
  }
  return made;
}

/// Left for a second with a hole of 50 ms, right for 0.2 s, right for 2 s.
double commanded_at(double t) {
  if (t >= 1.0 && t < 2.0) return t >= 1.5 && t < 1.55 ? 0.0 : 0.5;
  if (t >= 3.0 && t < 3.2) return -1.0;
  return t >= 4.0 && t < 6.0 ? -1.0 : 0.0;
}

YawTrackingOptions yaw_options_for(const std::filesystem::path& run) {
  YawTrackingOptions options;
  options.run.run = run;
  options.run.driver.data = data_folder();
  return options;
}

}  // namespace

TEST_CASE("turns: holes are bridged, short ones are none") {
  const std::vector<Turn> turns = find_turns(source(RateSource::Kind::kCommand, 0.0, 7.0, 0.025, commanded_at));
  REQUIRE(turns.size() == 2);
  CHECK(turns[0].left);
  CHECK(turns[0].begin_s == doctest::Approx(1.0));
  CHECK(turns[0].end_s == doctest::Approx(2.0));
  CHECK_FALSE(turns[1].left);
  CHECK(turns[1].end_s - turns[1].begin_s == doctest::Approx(2.0));
}

TEST_CASE("a turn: its angle, its onset and its peak") {
  const RateSource commanded = source(RateSource::Kind::kCommand, 0.0, 7.0, 0.025, commanded_at);
  const RateSource gyro = source(RateSource::Kind::kGyro, 0.0, 7.0, 0.005, [](double t) { return 0.8 * commanded_at(t - 0.15); });
  const Turn turn = find_turns(commanded)[1];
  const TurnSeen told = seen_in(commanded, commanded, turn, 0.0);
  CHECK(told.heading_rad == doctest::Approx(-2.0).epsilon(0.01));
  const TurnSeen seen = seen_in(gyro, commanded, turn, 0.15);
  CHECK(seen.heading_rad == doctest::Approx(-1.6).epsilon(0.01));
  CHECK(seen.onset_s == doctest::Approx(0.15).epsilon(0.05));
  CHECK(seen.peak_radps == doctest::Approx(0.8));
  // A source that ends within the turn does not say by how much it turned.
  CHECK(std::isnan(seen_in(source(RateSource::Kind::kGyro, 0.0, 5.0, 0.005, commanded_at), commanded, turn, 0.0).heading_rad));
}

TEST_CASE("the report: a car that turns 0.9 of what it was told, 0.1 s later") {
  const TempFolder folder("yaw_tracking");
  ImuDrive drive;
  write_drive(folder.path() / "probe", drive);
  YawTrackingOptions options = yaw_options_for(folder.path() / "probe");
  const auto probe = load_imu_run(options.run, true);
  REQUIRE(probe.ok());
  drive.wheelbase_m = probe->car.wheelbase_m;
  drive.gyro_delay_s = 0.0;
  drive.gyro_scale = 1.0;
  drive.gyro_bias_radps = 0.0;
  write_drive(folder.path() / "bag", drive);
  options = yaw_options_for(folder.path() / "bag");
  options.max_ratio_error = 0.12;
  options.max_lag_ms = 120.0;
  auto result = yaw_tracking(options);
  REQUIRE_MESSAGE(result.ok(), result.error().message);
  CHECK(result->gate.passed());
  const auto& sections = result->document.sections;
  const auto turns = std::find_if(sections.begin(), sections.end(), [](const Section& each) { return each.key == "turns"; });
  REQUIRE(turns != sections.end());
  CHECK(turns->facts[0].value.number == doctest::Approx(0.9).epsilon(0.01));
  CHECK(turns->tables[0].rows.size() > 20);
  options.max_ratio_error = 0.05;
  CHECK_FALSE(yaw_tracking(options)->gate.passed());
  options.max_ratio_error = 0.12;
  options.max_lag_ms = 50.0;
  CHECK_FALSE(yaw_tracking(options)->gate.passed());
}

TEST_CASE("without commands or turns there is nothing to say") {
  const TempFolder folder("yaw_refused");
  CHECK(yaw_tracking(yaw_options_for(recording::small_bag(folder, "bag"))).error().message.find("no commands were recorded") !=
        std::string::npos);
  ImuDrive parked;
  parked.parked_s = parked.duration_s;
  write_drive(folder.path() / "parked", parked);
  CHECK(yaw_tracking(yaw_options_for(folder.path() / "parked")).error().message.find("no commanded turn") != std::string::npos);
}

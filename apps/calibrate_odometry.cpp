// SPDX-License-Identifier: Apache-2.0
// calibrate_odometry: what the car's wheels and steering really do, from a tape measure and circles, live or from recordings.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/car_choice.hpp"
#include "apps/program.hpp"
#include "core/files.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "onboard/devices.hpp"
#include "onboard/odometry_calibration.hpp"
#include "onboard/runner.hpp"

namespace {

using namespace pitwall;

constexpr const char* kFooter =
    "Example:\n"
    "  calibrate_odometry --car rb1 --tape 5 runs/t1 runs/t2 runs/t3      # recordings of car_run, each along 5 m of tape\n"
    "  calibrate_odometry --car rb1 --tape 5 --live                       # asks for each trial; push the car by hand\n"
    "  calibrate_odometry --car rb1 --circle 0.2,2.1,left --circle 0.53,inf,left --circle 0.8,2.6,right\n"
    "\n"
    "A trial begins and ends standing and goes forwards. The first that stands for 5 s gives the offset. Circles are SERVO,DIAMETER,SIDE:\n"
    "the position that was sent, and the diameter in m that the middle of the rear axle drew at a crawl.\n"
    "Only --write changes the profile. Exit code: 0 measured; 1 what was measured cannot be trusted; 2 bad usage or input; 3 internal "
    "error.";

struct Arguments {
  std::optional<std::string> car;
  std::vector<std::string> recordings;
  double tape_m = 0.0;
  bool live = false;
  int trials = 3;
  std::string vesc;
  std::vector<std::string> circles;
  bool negated = false;
  bool write = false;
  bool json = false;
};

struct Value {
  std::string key;
  double before = 0.0;
  double measured = 0.0;
  std::string how;
};

Result<std::vector<onboard::CircleTrial>> circles_of(const std::vector<std::string>& texts) {
  std::vector<onboard::CircleTrial> circles;
  for (const std::string& text : texts) {
    const std::size_t first = text.find(',');
    const std::size_t second = first == std::string::npos ? first : text.find(',', first + 1);
    const std::string side = second == std::string::npos ? "" : text.substr(second + 1);
    const auto servo = parse_double(text.substr(0, first));
    const std::string width = second == std::string::npos ? "" : text.substr(first + 1, second - first - 1);
    const auto diameter = width == "inf" ? std::optional(std::numeric_limits<double>::infinity()) : parse_double(width);
    if (!servo || !diameter || (side != "left" && side != "right") || *servo < 0.0 || *servo > 1.0)
      return Error{"--circle " + text + ": expected SERVO,DIAMETER,left|right, as 0.2,2.1,left; SERVO within 0 .. 1, DIAMETER in m or inf"};
    circles.push_back({*servo, *diameter, side == "left"});
  }
  return circles;
}

/// Asks for a trial and listens to the motor controller meanwhile; sends nothing that moves anything.
Result<onboard::ErpmSeries> listen(const Arguments& arguments, const calibration::Hardware& hardware, int trial) {
  const onboard::RunClock clock;
  onboard::Inbox inbox(clock);
  auto opener = onboard::opener_of(arguments.vesc.empty() ? hardware.vesc_port : arguments.vesc, 115'200);
  if (!opener) return opener.error();
  drivers::VescOptions options;
  options.telemetry_rate_hz = hardware.vesc_poll_hz;
  options.imu_rate_hz = 0.0;
  onboard::MotorDevice motor(inbox, *opener, options);
  motor.start();
  std::printf("trial %d: let the car stand at the tape's beginning%s, push it forwards to the tape's end, let it stand, then press Enter: ",
              trial, trial == 1 ? " for 6 s" : "");
  std::fflush(stdout);
  std::string line;
  std::getline(std::cin, line);
  motor.stop();
  std::vector<onboard::Event> events;
  inbox.wait(clock.now(), events);
  onboard::ErpmSeries series;
  for (const onboard::Event& event : events) {
    const auto* values = std::get_if<drivers::Received<vesc::Values>>(&event);
    if (values == nullptr) continue;
    series.t_s.push_back(values->stamp.seconds());
    series.erpm.push_back(values->value.erpm);
  }
  if (series.t_s.empty()) return Error{"no telemetry from the motor controller: car_run --check says why"};
  return series;
}

Result<std::vector<onboard::ErpmSeries>> gather(const Arguments& arguments, const calibration::Hardware& hardware) {
  std::vector<onboard::ErpmSeries> all;
  const int trials = arguments.live ? arguments.trials : 0;
  for (int k = 1; k <= trials; ++k) {
    auto series = listen(arguments, hardware, k);
    if (!series) return series.error();
    all.push_back(*std::move(series));
  }
  for (const std::string& recording : arguments.recordings) {
    auto series = onboard::read_erpm(recording, arguments.negated);
    if (!series) return series.error();
    all.push_back(*std::move(series));
  }
  return all;
}

/// Gain and offset. What cannot be trusted is a failure, not bad input.
Status measure_tape(const Arguments& arguments, const calibration::Hardware& hardware, const std::vector<onboard::ErpmSeries>& all,
                    std::vector<Value>& values) {
  double offset = hardware.speed_to_erpm_offset;
  std::vector<onboard::TapeTrial> trials;
  bool measured_offset = false;
  for (std::size_t k = 0; k < all.size(); ++k) {
    onboard::RestAndDrive parts = onboard::split_at_start(all[k]);
    if (!measured_offset) {
      if (const auto found = onboard::measure_offset(parts.rest); found) {
        offset = *found;
        measured_offset = true;
      }
    }
    const std::string name = arguments.live ? "trial " + std::to_string(k + 1) : arguments.recordings[k];
    trials.push_back({name, std::move(parts.drive), arguments.tape_m});
  }
  const auto gain = onboard::measure_gain(trials, offset);
  if (!gain) return gain.error();
  std::string each;
  for (const double trial : gain->trials) each += (each.empty() ? "" : ", ") + format_number(trial, 5);
  if (measured_offset) values.push_back({"speed_to_erpm_offset", hardware.speed_to_erpm_offset, offset, "median at rest"});
  values.push_back(
      {"speed_to_erpm_gain", hardware.speed_to_erpm_gain, gain->gain,
       "median of " + each + " over " + format_number(arguments.tape_m, 4) + " m of tape, MAD " + format_number(gain->spread, 3)});
  return {};
}

Status measure_circles(const std::vector<onboard::CircleTrial>& circles, const calibration::CarProfile& profile,
                       std::vector<Value>& values) {
  const auto steering = onboard::measure_steering(circles, profile.parameters.wheelbase_m);
  if (!steering) return steering.error();
  const std::string how =
      "line through " + std::to_string(circles.size()) + " circles, off by at most " + format_number(steering->residual_rad, 2) + " rad";
  values.push_back({"servo_gain_per_rad", profile.hardware->servo_gain_per_rad, steering->gain_per_rad, how});
  values.push_back({"servo_offset", profile.hardware->servo_offset, steering->offset, how});
  return {};
}

Status write_profile(const calibration::CarProfile& profile, const std::vector<Value>& values) {
  auto text = read_file(profile.file);
  if (!text) return text.error();
  for (const Value& value : values) {
    auto changed = onboard::with_measured(*text, value.key, value.measured, "calibrate_odometry: " + value.how);
    if (!changed) return Error{profile.file.string() + ": " + changed.error().message};
    text = *std::move(changed);
  }
  return write_file(profile.file, *text);
}

int measure(const Arguments& arguments, const calibration::CarProfile& profile) {
  const auto circles = circles_of(arguments.circles);
  if (!circles) return apps::bad_input(circles.error());
  const bool tape = arguments.live || !arguments.recordings.empty();
  if (!tape && circles->empty())
    return apps::bad_input(Error{"nothing to measure from: give recordings or --live, with --tape, or --circle"});
  if (tape && arguments.tape_m <= 0.0) return apps::bad_input(Error{"--tape: how long was it, in m?"});
  const auto all = gather(arguments, *profile.hardware);
  if (!all) return apps::bad_input(all.error());
  std::vector<Value> values;
  Status measured;
  if (tape) measured = measure_tape(arguments, *profile.hardware, *all, values);
  if (measured && !circles->empty()) measured = measure_circles(*circles, profile, values);
  if (!measured) {
    log::error(measured.error().message);
    return apps::kFailed;
  }
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Value& value : values) {
    list.push_back({{"key", value.key}, {"profile", value.before}, {"measured", value.measured}, {"how", value.how}});
    if (!arguments.json)
      std::printf("%-22s %s -> %s  (%s)\n", value.key.c_str(), format_number(value.before, 6).c_str(),
                  format_number(value.measured, 6).c_str(), value.how.c_str());
  }
  if (arguments.json) std::printf("%s\n", list.dump(2).c_str());
  if (!arguments.write) {
    log::info("nothing was changed; --write puts this into " + profile.file.string());
    return apps::kPassed;
  }
  if (const Status written = write_profile(profile, values); !written) return apps::bad_input(written.error());
  log::info("wrote " + profile.file.string());
  return apps::kPassed;
}

int run(int argc, char** argv) {
  CLI::App app("Measures gain and offset of speed and steering", "calibrate_odometry");
  app.footer(kFooter);
  Arguments arguments;
  app.add_option("recordings", arguments.recordings, "Recorded trials along the tape");
  app.add_option("--car", arguments.car, "Car profile, or its file (default: $PITWALL_CAR)");
  app.add_option("--tape", arguments.tape_m, "Length of the tape, m")->check(CLI::PositiveNumber);
  app.add_flag("--live", arguments.live, "Listen to the motor controller and ask for each trial");
  app.add_option("--trials", arguments.trials, "How many, with --live")->check(CLI::Range(3, 20))->capture_default_str();
  app.add_option("--vesc", arguments.vesc, "Motor controller (default: the profile's port)");
  app.add_option("--circle", arguments.circles, "SERVO,DIAMETER,left|right (may be repeated)")->allow_extra_args(false);
  app.add_flag("--negated", arguments.negated, "The recordings are of the f1tenth ROS driver, which negates eRPM");
  app.add_flag("--write", arguments.write, "Put what was measured into the profile");
  app.add_flag("--json", arguments.json, "Print the result as JSON");
  if (const auto code = apps::parse(app, argc, argv)) return *code;
  const auto profile = apps::load_chosen_car(arguments.car);
  if (!profile) return apps::bad_input(profile.error());
  if (!profile->hardware)
    return apps::bad_input(
        Error{profile->file.string() + ": car '" + profile->id + "' exists in the simulator only, its profile has no hardware"});
  return measure(arguments, *profile);
}

}  // namespace

int main(int argc, char** argv) {
  return pitwall::apps::guarded([&] { return run(argc, argv); });
}

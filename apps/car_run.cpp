// SPDX-License-Identifier: Apache-2.0
// car_run: a controller on the car: drivers, estimator, localiser, controller, supervisor and recorder in one process, no ROS.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "apps/car_choice.hpp"
#include "apps/interrupt.hpp"
#include "apps/program.hpp"
#include "controllers/make.hpp"
#include "core/files.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "localization/localizer/localizer.hpp"
#include "onboard/check.hpp"
#include "onboard/runner.hpp"
#include "scenarios/record.hpp"
#include "scenarios/run.hpp"

namespace {

using namespace pitwall;

constexpr const char* kFooter =
    "Example:\n"
    "  car_run --car rb1 --check                                   # what to change before the first lap\n"
    "  car_run --car rb1 --controller gap_follow --bench           # wheels up\n"
    "  car_run --car rb1 --controller gap_follow --record runs --set gap_follow.max_speed_mps=1.5\n"
    "  car_run --car rb1 --controller pure_pursuit --track ./lab --record runs\n"
    "  car_run --car rb1 --controller gap_follow --estop keyboard --estop gpio:/dev/gpiochip0:17\n"
    "  car_run --vesc /tmp/rig/vesc --lidar 127.0.0.1:10940 --joystick /tmp/rig/joystick   # emulated devices\n"
    "\n"
    "Hold the deadman button to drive; let go of it to stop. Ctrl-C stops the car, then ends. docs/car.md says the rest.\n"
    "Exit code: 0 ended with the car at rest; 1 --check found something to change, or the recording is not complete;\n"
    "2 bad usage or input; 3 internal error.";

std::atomic<bool> g_hung_up{false};
extern "C" void on_hangup(int /*signal*/) { g_hung_up = true; }

struct Arguments {
  std::optional<std::string> car;
  std::string controller = "gap_follow";
  std::string track;
  std::vector<std::string> assignments;
  std::vector<std::string> limits;
  std::vector<double> start;
  std::optional<double> start_s_m;
  std::string vesc;
  std::string lidar;
  std::string joystick;
  std::string record;
  std::vector<std::string> estops;
  double seconds = 0.0;
  bool bench = false;
  bool check = false;
  bool json = false;
  bool quiet = false;
};

bool needs_track(const std::string& controller) { return controller != "gap_follow" && controller != "excite"; }

/// The supervisor's limits: those of the car, and what --limit says. Errors: a key, a value, a lock that the servo does not reach.
Result<onboard::SupervisorParameters> limits_of(const Arguments& arguments, const calibration::CarProfile& profile) {
  onboard::SupervisorParameters limits = onboard::CarLoopSetup::for_car(profile.parameters, *profile.hardware).supervisor;
  Node given = Node::map();
  for (const std::string& assignment : arguments.limits) {
    if (const Status set = set_by_path(given, assignment); !set) return set.error();
  }
  if (const Status loaded = load_fields(given, "--limit", limits); !loaded) return loaded.error();
  const onboard::ActuatorMap map(*profile.hardware);
  constexpr double kRounding_rad = 1e-3;
  if (limits.steering_left_rad > map.left_rad() + kRounding_rad || limits.steering_right_rad < map.right_rad() - kRounding_rad) {
    return Error{"--limit: the servo of car '" + profile.id + "' reaches from " + format_number(map.right_rad(), 4) + " to " +
                 format_number(map.left_rad(), 4) + " rad"};
  }
  return limits;
}

/// What runs, as a scenario, so that `replay` can make the same controller again. It knows the locks that the supervisor keeps to.
Result<scenarios::ResolvedRun> resolve(const Arguments& arguments, const calibration::CarProfile& profile,
                                       const onboard::SupervisorParameters& limits) {
  const std::vector<std::string> known = controllers::names();
  if (std::find(known.begin(), known.end(), arguments.controller) == known.end())
    return Error{"--controller: " + unknown_name("controller", arguments.controller, known)};
  if (needs_track(arguments.controller) && arguments.track.empty())
    return Error{"--controller " + arguments.controller + " follows a line: give its --track"};
  scenarios::ValidationOptions options;
  options.data = data_folder();
  options.own_tracks = "tracks";
  options.suite_text = "car_run:\n  id: car_run\n  cars:\n    ego: {controller: " + arguments.controller + "}\n";
  // A file of the user's own by its path, and not a car that ships and has the same name.
  options.car = profile.file.parent_path() == data_folder() / "cars" ? profile.id : profile.file.string();
  options.tracks = {arguments.track.empty() ? std::string(tracks::kNoTrack) : arguments.track};
  if (needs_track(arguments.controller)) options.localization = scenarios::Localization::kScan;
  options.assignments = {arguments.controller + ".deadman_button=" + std::to_string(profile.hardware->joystick_deadman_button),
                         "car_parameters.steering_max_left_rad=" + format_exact(limits.steering_left_rad),
                         "car_parameters.steering_max_right_rad=" + format_exact(limits.steering_right_rad)};
  options.assignments.insert(options.assignments.end(), arguments.assignments.begin(), arguments.assignments.end());
  auto runs = scenarios::resolve(options);
  if (!runs) return runs.error();
  return std::move(runs->front());
}

std::string time_of_day() {
  const std::time_t now = std::time(nullptr);
  std::array<char, 32> text{};
  std::tm local{};
  localtime_r(&now, &local);
  std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &local);
  return text.data();
}

Result<std::unique_ptr<recording::Recorder>> begin_recording(const Arguments& arguments, const scenarios::ResolvedRun& run, Time now) {
  if (arguments.record.empty()) return std::unique_ptr<recording::Recorder>();
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  recording::RunManifest manifest;
  manifest.run_id = time_of_day() + "-" + arguments.controller;
  manifest.car_id = run.profile->id;
  manifest.scenario = run.scenario.id;
  manifest.track = arguments.track.empty() ? "" : run.track->name;
  manifest.clock = "system";
  manifest.start = now;
  manifest.host = host.data();
  manifest.cars.push_back({run.cars.front().name, arguments.controller, ""});
  const std::filesystem::path folder = std::filesystem::path(arguments.record) / manifest.run_id;
  auto recorder = recording::Recorder::create(folder, manifest, {run.parameters.lidar_mount()});
  if (!recorder) return recorder.error();
  (*recorder)->add_file("scenario.yaml", "resolved scenario", scenarios::to_suite_yaml(run.scenario, run.scenario.id));
  if (const auto car = read_file(run.profile->file); car)
    (*recorder)->add_file(run.profile->id + ".yaml", run.profile->file.string(), *car);
  Node parameters = Node::map();
  parameters.set("scenario", save_fields(run.scenario));
  parameters.set("car", save_fields(run.parameters));
  (*recorder)->set_parameters(parameters);
  if (!arguments.track.empty()) scenarios::record_map(**recorder, run, now);
  return recorder;
}

nlohmann::ordered_json json_of(const onboard::Spread& spread) {
  return {{"p50", spread.p50}, {"p99", spread.p99}, {"largest", spread.largest}, {"count", spread.count}};
}

std::string json_of(const onboard::RunSummary& s) {
  nlohmann::ordered_json counters;
  for (const auto& [name, value] : s.controller) counters[std::string(name)] = value;
  const nlohmann::ordered_json out{{"lasted_s", s.lasted_s},
                                   {"armed_s", s.armed_s},
                                   {"way_m", s.way_m},
                                   {"decisions", s.counts.decisions},
                                   {"scans", s.counts.scans},
                                   {"scans_refused", s.counts.scans_refused},
                                   {"scans_skipped", s.counts.scans_skipped},
                                   {"telemetry", s.counts.telemetry},
                                   {"imu", s.counts.imu},
                                   {"imu_refused", s.counts.imu_refused},
                                   {"poses", s.counts.poses},
                                   {"bad_sums", s.bad_sums},
                                   {"decision_to_command_ms", json_of(s.latency_ms)},
                                   {"scan_interval_ms", json_of(s.interval_ms)},
                                   {"tick_ms", json_of(s.tick_ms)},
                                   {"late_ticks", s.late_ticks},
                                   {"recorder_dropped", s.dropped},
                                   {"cpu_share", s.cpu_share},
                                   {"last_state", onboard::name(s.last_state)},
                                   {"controller", counters}};
  return out.dump(2) + "\n";
}

std::string text_of(const onboard::RunSummary& s) {
  const auto n = [](double value) { return format_number(value, 3); };
  const auto spread = [&](const onboard::Spread& x) {
    return n(x.p50) + " ms median, " + n(x.p99) + " ms in 99 %, " + n(x.largest) + " ms at most (" + std::to_string(x.count) + ")";
  };
  return "ran " + n(s.lasted_s) + " s, armed " + n(s.armed_s) + " s, " + n(s.way_m) + " m by odometry\n" + "scan to command  " +
         spread(s.latency_ms) + "\n" + "between scans    " + spread(s.interval_ms) + "\n" + "between ticks    " + spread(s.tick_ms) + ", " +
         std::to_string(s.late_ticks) + " later than 25 ms\n" + "scans " + std::to_string(s.counts.scans) + " (" +
         std::to_string(s.counts.scans_refused) + " refused), telemetry " + std::to_string(s.counts.telemetry) + ", IMU " +
         std::to_string(s.counts.imu) + " (" + std::to_string(s.counts.imu_refused) + " refused), poses " + std::to_string(s.counts.poses) +
         ", bad checksums " + std::to_string(s.bad_sums) + "\n" + "processor " + n(100.0 * s.cpu_share) +
         " % of a core; recorder dropped " + std::to_string(s.dropped) + "\n";
}

onboard::CarLoopSetup setup_of(const Arguments& arguments, const scenarios::ResolvedRun& run, const onboard::SupervisorParameters& limits) {
  onboard::CarLoopSetup setup = onboard::CarLoopSetup::for_car(run.parameters, *run.profile->hardware);
  setup.supervisor = limits;
  setup.bench = arguments.bench;
  setup.needs_pose = needs_track(arguments.controller);
  setup.needs_estop = !arguments.estops.empty();
  if (!arguments.start.empty()) setup.start = Pose2{arguments.start[0], arguments.start[1], arguments.start[2]};
  if (arguments.start_s_m) {
    const tracks::Path& line = scenarios::followed_path(run);
    const Vec2 at = line.point_at(*arguments.start_s_m);
    setup.start = Pose2{at.x, at.y, line.heading_at(*arguments.start_s_m)};
  }
  return setup;
}

onboard::DeviceAddresses addresses_of(const Arguments& arguments, const calibration::Hardware& hardware) {
  onboard::DeviceAddresses addresses = onboard::DeviceAddresses::of(hardware);
  if (!arguments.vesc.empty()) addresses.vesc = arguments.vesc;
  if (!arguments.joystick.empty()) addresses.joystick = arguments.joystick;
  if (!arguments.lidar.empty()) {
    const bool path = arguments.lidar.starts_with("/") || arguments.lidar.find("://") != std::string::npos;
    addresses.lidar = path ? arguments.lidar : "tcp://" + arguments.lidar;
  }
  return addresses;
}

int check(const Arguments& arguments, const calibration::CarProfile& profile) {
  apps::catch_interrupts();
  log::info("looking at the car for 12 s; it must stand, nothing will move but the servo to its centre");
  const auto findings = onboard::check_car(*profile.hardware, profile.parameters, addresses_of(arguments, *profile.hardware),
                                           [] { return apps::interrupted(); });
  if (!findings) return apps::bad_input(findings.error());
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  bool good = true;
  for (const onboard::Finding& f : *findings) {
    good = good && f.verdict != onboard::Verdict::kChange;
    constexpr std::array<const char*, 3> kVerdicts{"ok", "note", "change"};
    list.push_back(
        {{"verdict", kVerdicts[static_cast<std::size_t>(f.verdict)]}, {"what", f.what}, {"found", f.found}, {"advice", f.advice}});
  }
  const std::string text = arguments.json ? list.dump(2) + "\n" : onboard::text_of(*findings);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return good ? apps::kPassed : apps::kFailed;
}

int drive(const Arguments& arguments, const calibration::CarProfile& profile) {
  const auto limits = limits_of(arguments, profile);
  if (!limits) return apps::bad_input(limits.error());
  const auto run = resolve(arguments, profile, *limits);
  if (!run) return apps::bad_input(run.error());
  auto controllers = scenarios::make_controllers(*run);
  if (!controllers) return apps::bad_input(controllers.error());
  std::unique_ptr<Localiser> localiser;
  if (run->localizer_map) localiser = std::make_unique<localization::Localizer>(run->localizer_map, run->parameters.lidar_mount());
  const onboard::CarLoopSetup setup = setup_of(arguments, *run, *limits);

  std::vector<std::unique_ptr<onboard::EstopInput>> estops;
  for (const std::string& text : arguments.estops) {
    auto input = onboard::make_estop(text);
    if (!input) return apps::bad_input(input.error());
    estops.push_back(*std::move(input));
  }

  const onboard::RunClock clock;
  auto recorder = begin_recording(arguments, *run, clock.now());
  if (!recorder) return apps::bad_input(recorder.error());
  const std::string folder = *recorder ? (*recorder)->folder().string() : "";
  onboard::Scribe scribe(*std::move(recorder));
  auto runner = onboard::Runner::make(setup, addresses_of(arguments, *profile.hardware), *controllers->front(), localiser.get(), scribe,
                                      clock, std::move(estops));
  if (!runner) return apps::bad_input(runner.error());

  apps::catch_interrupts();
  // A terminal that goes is no reason to leave a moving car; under nohup it stays none to stop it.
  if (std::signal(SIGHUP, on_hangup) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
  const Time end = clock.now() + from_seconds(arguments.seconds);
  const onboard::RunSummary summary =
      (*runner)->run([&] { return apps::interrupted() || g_hung_up || (arguments.seconds > 0.0 && clock.now() >= end); });
  const Status closed = scribe.close(clock.now());
  const std::string text = arguments.json ? json_of(summary) : text_of(summary);
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (!folder.empty()) log::info("wrote " + folder);
  if (!closed) log::error(closed.error().message);
  if (summary.dropped > 0) log::error("the recording lacks " + std::to_string(summary.dropped) + " messages: the disk was too slow");
  return closed && summary.dropped == 0 ? apps::kPassed : apps::kFailed;
}

int run(int argc, char** argv) {
  CLI::App app("Runs a controller on the car, without ROS", "car_run");
  app.footer(kFooter);
  Arguments arguments;
  app.add_option("--car", arguments.car, "Car profile (default: $PITWALL_CAR, else the car that this board is in)");
  app.add_option("--controller", arguments.controller, "What drives: " + join(controllers::names()))->capture_default_str();
  app.add_option("--track", arguments.track, "Map and line that it follows: a track that ships, or a folder");
  app.add_option("--start", arguments.start, "Where the car stands on the map, X,Y,YAW in m and rad (default: searched for)")
      ->delimiter(',')
      ->expected(3);
  app.add_option("--start-s", arguments.start_s_m, "The same, by the way along the line, m")->excludes("--start");
  app.add_option("--set", arguments.assignments, "A parameter of the controller, CONTROLLER.KEY=VALUE (may be repeated)")
      ->allow_extra_args(false);
  app.add_option("--limit", arguments.limits, "A parameter of the supervisor, KEY=VALUE (may be repeated; docs/car.md lists them)")
      ->allow_extra_args(false);
  app.add_option("--vesc", arguments.vesc, "Motor controller (default: the profile's port)");
  app.add_option("--lidar", arguments.lidar, "LiDAR, HOST:PORT or a serial line (default: the profile's)");
  app.add_option("--joystick", arguments.joystick, "Joystick device (default: /dev/input/js0)");
  app.add_option("--estop", arguments.estops,
                 "An emergency stop beside the joystick's: keyboard, gpio:CHIP:LINE or tcp:PORT (may be repeated; lost is a stop)")
      ->allow_extra_args(false);
  app.add_option("--record", arguments.record, "Folder that the run's folder is made in");
  app.add_option("--seconds", arguments.seconds, "Stop the car and end after so long (default: at Ctrl-C)")->check(CLI::NonNegativeNumber);
  app.add_flag("--bench", arguments.bench, "Wheels up: speed capped at 1 m/s (--limit bench_speed_mps=)");
  app.add_flag("--check", arguments.check, "Look at the devices and their settings for 12 s, say what to change, and end");
  app.add_flag("--json", arguments.json, "Print the summary as JSON");
  app.add_flag("--quiet", arguments.quiet, "Warnings only");
  if (const auto code = apps::parse(app, argc, argv)) return *code;
  log::set_quiet(arguments.quiet);
  const std::string named = apps::chosen_car(arguments.car, "");
  const auto profile = named.empty() ? apps::load_car_of_this_board() : apps::load_chosen_car(arguments.car, named);
  if (!profile) return apps::bad_input(profile.error());
  if (!profile->hardware) {
    return apps::bad_input(
        Error{profile->file.string() + ": car '" + profile->id + "' exists in the simulator only, its profile has no hardware"});
  }
  return arguments.check ? check(arguments, *profile) : drive(arguments, *profile);
}

}  // namespace

int main(int argc, char** argv) {
  return pitwall::apps::guarded([&] { return run(argc, argv); });
}

// SPDX-License-Identifier: Apache-2.0
// slam_replay: a recorded run through our SLAM again.
#include "analysis/slam_replay.hpp"

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "apps/interrupt.hpp"
#include "apps/program.hpp"
#include "apps/progress.hpp"
#include "apps/slam_replay_ros.hpp"
#include "apps/track_options.hpp"

namespace {

using namespace pitwall;

constexpr const char* kFooter =
    "Examples:\n"
    "  slam_replay runs/001-gap_solo-oval-12345 --label mapped        every scan, as fast as it was recorded\n"
    "  slam_replay runs/001-gap_solo-oval-12345-replay-odom-mapped --exact\n"
    "  slam_replay car.mcap --odom odom_imu --rate 4 --cost-ms 12 --profile wide.yaml --out-root replays\n"
    "  slam_replay car.mcap --exact --engine ros --run 'ros2 run slam_toolbox sync_slam_toolbox_node --ros-args --params-file {params}'\n"
    "\n"
    "Writes RUN-replay-ODOM-LABEL, which must not exist: a run folder with bag, map, graph.g2o, trajectory.tum, slam.json, replay.json.\n"
    "Exit code: 0 done; 1 a limit was not kept, or a replay that must be exact is not; 2 bad usage or input; 3 internal error; 130 "
    "interrupted.";

constexpr const char* kEngineHelp =
    "own: our SLAM; recorded: the recorded poses, to test the replay itself; ros: a SLAM node, started by --run, on ROS domain 77";

int run(int argc, char** argv) {
  CLI::App app("A recorded run through our SLAM again: pose for pose, or at another speed", "slam_replay");
  app.footer(kFooter);
  std::filesystem::path recording;
  analysis::SlamReplayOptions options;
  bool exact = false;
  bool json = false;
  std::string exact_mode = "admitted";
  std::string engine = "own";
  app.add_option("run", recording, "A run folder, a bag or one storage file")->required();
  CLI::Option* exact_flag = app.add_flag("--exact", exact, "The scans that were taken in (stamps of /pose), one at a time");
  app.add_option("--exact-mode", exact_mode, "admitted: those scans; all-scans: every scan, admitted by the recorded settings")
      ->check(CLI::IsMember({"admitted", "all-scans"}))
      ->capture_default_str()
      ->needs(exact_flag);
  app.add_option("--rate", options.rate, "Without --exact: every scan, so many times as fast as recorded")
      ->check(CLI::Range(0.01, 1000.0))
      ->capture_default_str()
      ->excludes(exact_flag);
  app.add_option("--cost-ms", options.cost_ms, "With --rate: what an admitted scan costs, ms of simulated time")
      ->check(CLI::Range(0.0, 60000.0))
      ->capture_default_str()
      ->excludes(exact_flag);
  app.add_option("--engine", engine, kEngineHelp)->check(CLI::IsMember({"own", "recorded", "ros"}))->capture_default_str();
  std::string command;
  app.add_option("--run", command,
                 "Of --engine ros: starts the SLAM; {params} and {out} stand for its parameter file and the folder written");
  int domain = 77;
  app.add_option("--domain", domain, "Of --engine ros: ROS domain")->check(CLI::Range(0, 232))->capture_default_str();
  app.add_option("--odom", options.odom_frame, "Frame of the odometry (default: the one that was corrected)");
  app.add_option("--label", options.label, "Last part of the folder's name (default: by the mode)")->check([](const std::string& label) {
    return label.find('/') == std::string::npos ? std::string() : std::string("no slash in a label");
  });
  app.add_option("--profile", options.profile, "YAML with settings of the engine over the recorded ones");
  app.add_option("--out-root", options.out_root, "Where the folder goes (default: beside the run)");
  app.add_option("--max-position", options.max_position_m, "Gate: difference of a pose, m");
  app.add_option("--max-missing", options.max_missing, "Gate: recorded poses that do not come again");
  app.add_flag("--json", json, "Print the report as JSON");
  if (const auto code = apps::parse(app, argc, argv)) return *code;
  if (exact) options.mode = exact_mode == "admitted" ? analysis::ReplayMode::kAdmitted : analysis::ReplayMode::kAllScans;
  if (engine == "recorded") options.engine = analysis::ReplayEngine::kRecorded;
  if ((engine == "ros") != !command.empty()) return apps::bad_input(Error{"--engine ros and --run COMMAND go together"});
  auto bar = std::make_shared<std::optional<apps::ProgressBar>>();
  options.progress = [bar](std::uint64_t done, std::uint64_t total) {
    if (!bar->has_value()) bar->emplace(total);
    (*bar)->show(done);
    return !apps::interrupted();
  };
  apps::catch_interrupts();
  if (engine == "ros") {
#if PITWALL_HAS_DDS
    return apps::slam_replay_ros(recording, options, {command, domain, json});
#else
    return apps::bad_input(Error{"--engine ros: this build has no DDS (package cyclonedds-dev)"});
#endif
  }
  const analysis::GatedReport report = analysis::slam_replay(recording, options);
  bar->reset();
  return apps::finish(report, json);
}

}  // namespace

int main(int argc, char** argv) {
  return pitwall::apps::guarded([&] { return run(argc, argv); });
}

// SPDX-License-Identifier: Apache-2.0
// bridge_replay: a recording into the nodes of somebody's ROS 2 graph, in lockstep, without ROS.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/bridge_parts.hpp"
#include "apps/interrupt.hpp"
#include "apps/program.hpp"
#include "core/files.hpp"
#include "core/hash.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "recording/bag_reader.hpp"
#include "recording/lockstep.hpp"
#include "ros_bridge/bag_recorder.hpp"
#include "ros_bridge/graph_player.hpp"
#include "ros_bridge/interlock.hpp"
#include "ros_bridge/peer.hpp"

namespace {

using namespace pitwall;

constexpr const char* kFooter =
    "Example:\n"
    "  bridge_replay run1 --run 'ros2 launch my_slam slam.launch.py use_sim_time:=true' --require /scan --outputs out --output-topics "
    "/pose\n"
    "  bridge_replay run1/bag --run 'bridge_controller --lockstep' --exclude /drive --lookahead 0 --outputs out --output-topics /drive\n"
    "  bridge_replay run1 --pace --rate 2                      # at its own pace, twice as fast, to whoever listens\n"
    "\n"
    "With --run all of it is on ROS domain 110, this machine only, unless --domain says otherwise; without, on the graph of the "
    "environment.\n"
    "Exit code: 0 played; 1 the program died, was never idle, or did not end well; 2 bad usage or input, or real drivers; 3 internal "
    "error;\n"
    "130 interrupted.";

constexpr Duration kProgress{30'000'000'000};

struct Arguments {
  std::vector<std::string> recordings;
  std::string command;
  std::vector<std::string> required;
  std::vector<std::string> excluded;
  std::vector<std::string> gated;
  std::string golden;
  std::string outputs;
  std::vector<std::string> output_topics;
  std::string output;
  double lookahead_s = 0.2;
  double rate = 1.0;
  double connect_timeout_s = 60.0;
  double idle_timeout_s = 300.0;
  std::optional<int> domain;
  bool pace = false;
  bool no_clock = false;
  bool json = false;
  bool quiet = false;
};

Result<std::vector<recording::Topic>> topics_of(const Arguments& arguments) {
  std::vector<recording::Topic> topics;
  for (const std::string& path : arguments.recordings) {
    const auto reader = recording::BagReader::open(path);
    if (!reader) return reader.error();
    for (const recording::Topic& topic : reader->topics()) {
      const auto& out = arguments.excluded;
      if (topic.name != "/clock" && std::find(out.begin(), out.end(), topic.name) == out.end()) topics.push_back(topic);
    }
  }
  if (!arguments.golden.empty()) {
    recording::Topic tf;
    tf.name = "/tf";
    tf.type = "tf2_msgs/msg/TFMessage";
    topics.push_back(std::move(tf));
  }
  return topics;
}

/// Count and hash of what was recorded, per topic in the order of names.
Result<nlohmann::ordered_json> summary_of(const std::string& bag) {
  auto reader = recording::BagReader::open(bag);
  if (!reader) return reader.error();
  std::map<std::string, std::pair<std::uint64_t, Hash>> of;
  while (const recording::BagMessage* message = reader->next()) {
    auto& [count, hash] = of[reader->topics()[message->topic].name];
    ++count;
    hash.add(recording::as_text(message->data));
  }
  nlohmann::ordered_json out;
  for (const auto& [topic, value] : of) out[topic] = {{"messages", value.first}, {"hash", to_hex(value.second.value())}};
  return out;
}

/// All that one replay needs, torn down in the order that it must be.
struct Replay {
  std::unique_ptr<ros_bridge::Graph> graph;
  std::unique_ptr<ros_bridge::LaunchedPeer> peer;
  std::unique_ptr<ros_bridge::BagRecorder> recorder;
  std::unique_ptr<ros_bridge::GraphPlayer> player;
};

/// Errors here are of what was asked for.
Status prepare(const Arguments& arguments, const std::vector<recording::Topic>& topics, Replay& replay) {
  auto graph = apps::open_graph("bridge_replay");
  if (!graph) return graph.error();
  replay.graph = *std::move(graph);
  replay.graph->wait(replay.graph->now() + from_milliseconds(500));
  if (const std::string refusal = ros_bridge::interlock_refusal(*replay.graph); !refusal.empty()) return Error{refusal};
  if (!arguments.outputs.empty()) {
    ros_bridge::BagRecorderOptions options;
    options.topics = arguments.output_topics;
    options.all = arguments.output_topics.empty();
    auto recorder = ros_bridge::BagRecorder::make(arguments.outputs, options, *replay.graph);
    if (!recorder) return recorder.error();
    replay.recorder = *std::move(recorder);
  }
  if (!arguments.command.empty()) {
    auto peer = ros_bridge::LaunchedPeer::start(arguments.command, {});
    if (!peer) return peer.error();
    replay.peer = *std::move(peer);
  }
  ros_bridge::GraphPlayerOptions options;
  options.required = arguments.required;
  options.clock = !arguments.no_clock;
  options.lockstep = !arguments.pace;
  options.rate = arguments.rate;
  options.connect_timeout = from_seconds(arguments.connect_timeout_s);
  options.idle_timeout = from_seconds(arguments.idle_timeout_s);
  options.output = arguments.output;
  auto player = ros_bridge::GraphPlayer::make(topics, options, *replay.graph, replay.peer.get(), [] { return apps::interrupted(); });
  if (!player) return player.error();
  replay.player = *std::move(player);
  replay.player->on_wait([&replay, told = replay.graph->now()]() mutable {
    if (replay.recorder) replay.recorder->tick();
    if (replay.graph->now() - told < kProgress) return;
    told = replay.graph->now();
    log::info(std::to_string(replay.player->given()) + " messages played");
  });
  return {};
}

int play(const Arguments& arguments) {
  if (arguments.command.empty() && !arguments.pace)
    return apps::bad_input(Error{"in lockstep the program has to be started here: give --run COMMAND (or --pace, for whoever listens)"});
  // Of this process and of what it starts: never a car's graph.
  if (!arguments.command.empty() || arguments.domain) ::setenv("ROS_DOMAIN_ID", std::to_string(arguments.domain.value_or(110)).c_str(), 1);
  if (!arguments.command.empty()) {
    ::setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST", 1);
    ::unsetenv("ROS_LOCALHOST_ONLY");
  }
  const auto topics = topics_of(arguments);
  if (!topics) return apps::bad_input(topics.error());
  recording::PlayerOptions how;
  how.mode = arguments.pace ? recording::PlayMode::kChunked : recording::PlayMode::kLockstep;
  how.lookahead = from_seconds(arguments.lookahead_s);
  how.left_out = arguments.excluded;
  how.left_out.emplace_back("/clock");
  if (!arguments.gated.empty()) how.gated_types = arguments.gated;
  if (!arguments.golden.empty()) {
    const auto text = read_file(arguments.golden);
    const auto trajectory =
        text ? recording::parse_tum(*text, arguments.golden) : Result<std::vector<recording::StampedPose>>(text.error());
    if (!trajectory) return apps::bad_input(trajectory.error());
    how.injected = *trajectory;
  }
  apps::catch_interrupts();
  Replay replay;
  if (const Status prepared = prepare(arguments, *topics, replay); !prepared) return apps::bad_input(prepared.error());
  std::vector<std::filesystem::path> recordings(arguments.recordings.begin(), arguments.recordings.end());

  Status status = replay.player->connect();
  recording::PlayReport report;
  if (status) {
    auto played = recording::play(recordings, *replay.player, how);
    if (played) report = *played;
    status = played ? replay.player->finish() : Status(played.error());
  }
  if (replay.peer) {
    const Status stopped = replay.peer->stop();
    if (status && !stopped) status = Error{"the program: " + stopped.error().message};
  }
  // What the program sent while it ended is on its way.
  replay.graph->wait(replay.graph->now() + from_milliseconds(100));
  if (replay.recorder) {
    const Status closed = replay.recorder->close();
    if (status && !closed) status = closed;
  }
  for (const recording::Finding& finding : report.findings) log::warn(finding.text());
  nlohmann::ordered_json out{{"messages", replay.player->given()}, {"gated", report.gated}, {"injected", report.injected}};
  if (replay.recorder) {
    const auto outputs = summary_of(arguments.outputs);
    if (outputs) out["outputs"] = *outputs;
  }
  std::string text = out.dump(2) + "\n";
  if (!arguments.json) {
    text = "played " + std::to_string(replay.player->given()) + " messages, " + std::to_string(report.gated) + " of them one at a time\n";
    if (out.contains("outputs")) {
      for (const auto& [topic, value] : out["outputs"].items())
        text += "  " + topic + "  " + std::to_string(value["messages"].get<std::uint64_t>()) + " messages, hash " +
                value["hash"].get<std::string>() + "\n";
    }
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (status) return apps::kPassed;
  log::error(status.error().message);
  return apps::interrupted() ? apps::kInterrupted : apps::kFailed;
}

int run(int argc, char** argv) {
  CLI::App app("A recording into the nodes of a ROS 2 graph, in lockstep", "bridge_replay");
  app.footer(kFooter);
  Arguments a;
  app.add_option("recordings", a.recordings, "Run folders, bags or storage files, one after another")->required();
  app.add_option("--run", a.command,
                 "Command that the recording is played into; it and all that it starts has to be idle before each sensor message");
  app.add_option("--require", a.required, "Topics that must have a reader before anything is played");
  app.add_option("--exclude", a.excluded, "Topics that are not played, such as the outputs of then");
  app.add_option("--gated-types", a.gated, "Types that are played one at a time (default: images, point clouds, scans)");
  app.add_option("--lookahead", a.lookahead_s, "All else comes so many seconds before them")
      ->check(CLI::Range(0.0, 10.0))
      ->capture_default_str();
  app.add_option("--golden", a.golden, "Trajectory (TUM) given as transforms golden_map -> golden_base, 0.5 s ahead");
  app.add_option("--outputs", a.outputs, "Bag for what the programs publish");
  app.add_option("--output-topics", a.output_topics, "Topics of it (default: all)");
  CLI::Option* pace = app.add_flag("--pace", a.pace, "At the recording's pace instead of in lockstep");
  app.add_option("--rate", a.rate, "So many times that pace")->check(CLI::Range(0.01, 1000.0))->needs(pace);
  app.add_option("--output", a.output, "Topic whose stamps have to keep up with the recording, within 2 s")->needs(pace);
  app.add_option("--domain", a.domain, "ROS domain (default: 110 with --run)")->check(CLI::Range(0, 232));
  app.add_option("--connect-timeout", a.connect_timeout_s, "s")->check(CLI::Range(0.1, 3600.0))->capture_default_str();
  app.add_option("--idle-timeout", a.idle_timeout_s, "s")->check(CLI::Range(0.1, 3600.0))->capture_default_str();
  app.add_flag("--no-clock", a.no_clock, "No /clock");
  app.add_flag("--json", a.json, "Print the summary as JSON");
  app.add_flag("--quiet", a.quiet, "Warnings only");
  if (const auto code = apps::parse(app, argc, argv)) return *code;
  log::set_quiet(a.quiet);
  return play(a);
}

}  // namespace

int main(int argc, char** argv) {
  return pitwall::apps::guarded([&] { return run(argc, argv); });
}

// SPDX-License-Identifier: Apache-2.0
#include "apps/slam_replay_ros.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "analysis/slam_player.hpp"
#include "analysis/slam_recording.hpp"
#include "apps/bridge_parts.hpp"
#include "apps/interrupt.hpp"
#include "apps/program.hpp"
#include "core/files.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "recording/bag_reader.hpp"
#include "ros_bridge/bag_recorder.hpp"
#include "ros_bridge/interlock.hpp"
#include "ros_bridge/peer.hpp"
#include "ros_bridge/slam_feed.hpp"
#include "ros_messages/nav.hpp"
#include "scenarios/map_message.hpp"

namespace pitwall::apps {
namespace {

namespace fs = std::filesystem;
using Parameters = std::map<std::string, std::string>;

constexpr Duration kSettle = from_milliseconds(1000);

/// What the node is started with: the recorded settings, its admission opened in an exact replay, the profile over both.
Result<Parameters> parameters_of(const analysis::SlamRecording& run, const analysis::SlamReplayOptions& options) {
  Parameters all = run.slam_parameters;
  if (options.mode == analysis::ReplayMode::kAdmitted) {
    all["throttle_scans"] = "1";
    for (const char* name : {"minimum_time_interval", "minimum_travel_distance", "minimum_travel_heading"}) all[name] = "0.0";
  }
  all["odom_frame"] = run.odom_frame;
  all["use_sim_time"] = "true";
  if (options.profile.empty()) return all;
  const auto profile = load_yaml(options.profile);
  if (!profile) return profile.error();
  for (const auto& [key, value] : profile->entries) {
    if (!value.is_scalar()) return Error{value.where() + ": " + key + ": one value is wanted"};
    all[key] = value.scalar;
  }
  return all;
}

/// As `--ros-args --params-file` takes it, for a node of any name.
std::string parameter_file(const Parameters& parameters) {
  std::string yaml = "/**:\n  ros__parameters:\n";
  for (const auto& [name, value] : parameters) {
    const bool bare = parse_double(value) || value == "true" || value == "false";
    yaml += "    " + name + ": " + (bare ? value : to_yaml(Node(value)));
    if (yaml.back() != '\n') yaml += '\n';
  }
  return yaml;
}

std::string with(std::string command, const std::string& key, const std::string& value) {
  for (std::size_t at = 0; (at = command.find(key, at)) != std::string::npos; at += value.size()) command.replace(at, key.size(), value);
  return command;
}

Result<ros_bridge::AdmissionPlan> plan_of(const analysis::SlamRecording& run) {
  std::set<Time> admitted, scans;
  for (const analysis::PublishedPose& pose : run.poses) admitted.insert(pose.stamp);
  if (admitted.empty()) return Error{run.path.string() + ": no /pose: an exact replay needs the stamps of the scans that were taken in"};
  const Status read =
      analysis::each_scan(run, [&](const LaserScan& scan, const std::string&, Time) { return scans.insert(scan.stamp), true; });
  if (!read) return read.error();
  auto plan = ros_bridge::plan_admissions(admitted, scans);
  if (!plan) return Error{run.path.string() + ": " + plan.error().message};
  return plan;
}

/// The topics that a SLAM is given.
Result<std::vector<recording::Topic>> topics_of(const analysis::SlamRecording& run, std::vector<std::string>& left_out) {
  const auto reader = recording::BagReader::open(run.path);
  if (!reader) return reader.error();
  std::vector<recording::Topic> topics;
  for (const recording::Topic& topic : reader->topics()) {
    const bool odometry = topic.type == "nav_msgs/msg/Odometry" || topic.type == "sensor_msgs/msg/Imu";
    if (topic.name == run.scan_topic || topic.name == "/tf" || topic.name == "/tf_static" || odometry) {
      topics.push_back(topic);
    } else {
      left_out.push_back(topic.name);
    }
  }
  return topics;
}

/// The last /map of the bag into map.yaml and map.pgm; says how that went. (Saving it by a service is not for raw DDS.)
std::string save_map_from(const fs::path& bag, const fs::path& folder) {
  recording::ReadOptions only;
  only.topics = {"/map"};
  auto reader = recording::BagReader::open(bag, only);
  if (!reader) return "no: nothing was published on /map";
  ros_messages::OccupancyGrid grid;
  bool any = false;
  while (const recording::BagMessage* message = reader->next())
    any = ros_messages::read(recording::as_text(message->data), grid).ok() || any;
  if (!any) return "no: nothing was published on /map";
  const auto map = scenarios::map_of(grid);
  if (!map) return "no: " + map.error().message;
  const Status saved = tracks::save_map(*map, folder / "map.yaml");
  return saved ? "from_bag" : "no: " + saved.error().message;
}

struct Played {
  Status status;
  std::map<Time, recording::Pose3> poses;
  std::uint64_t scans_given = 0;
};

/// Errors are of what was asked for; what went wrong while it played is in `status`.
Result<Played> play(const analysis::SlamRecording& run, const analysis::SlamReplayOptions& options, const std::string& command,
                    const ros_bridge::AdmissionPlan& plan, const fs::path& bag) {
  std::vector<std::string> left_out;
  const auto topics = topics_of(run, left_out);
  if (!topics) return topics.error();
  auto graph = open_graph("slam_replay");
  if (!graph) return graph.error();
  (*graph)->wait((*graph)->now() + kSettle);
  if (const std::string refusal = ros_bridge::interlock_refusal(**graph); !refusal.empty()) return Error{refusal};
  ros_bridge::BagRecorderOptions record;
  record.all = true;
  auto recorder = ros_bridge::BagRecorder::make(bag, record, **graph);
  if (!recorder) return recorder.error();
  auto peer = ros_bridge::LaunchedPeer::start(command, {});
  if (!peer) return peer.error();
  ros_bridge::GraphPlayerOptions how;
  how.required = {run.scan_topic};
  how.lockstep = options.mode != analysis::ReplayMode::kRate;
  how.rate = options.rate;
  auto player = ros_bridge::GraphPlayer::make(*topics, how, **graph, peer->get(), [] { return interrupted(); });
  if (!player) return player.error();
  (*player)->on_wait([&] { (*recorder)->tick(); });
  ros_bridge::SlamFeedOptions feeding;
  feeding.scan_topic = run.scan_topic;
  feeding.map_frame = run.map_frame.empty() ? "map" : run.map_frame;
  feeding.plan = plan;
  ros_bridge::SlamFeed feed(feeding, **player);
  if (const Status opened = feed.open(**graph); !opened) return opened.error();

  recording::PlayerOptions playing;
  playing.mode = how.lockstep ? recording::PlayMode::kLockstep : recording::PlayMode::kChunked;
  playing.left_out = left_out;
  Played played;
  played.status = (*player)->connect();
  if (played.status) {
    const auto report = recording::play({run.path}, feed, playing);
    played.status = report ? (*player)->finish() : Status(report.error());
  }
  if (played.status) played.status = feed.finish();
  const Status stopped = (*peer)->stop();
  if (played.status && !stopped) played.status = Error{"the SLAM: " + stopped.error().message};
  (*graph)->wait((*graph)->now() + from_milliseconds(100));
  const Status closed = (*recorder)->close();
  if (played.status && !closed) played.status = closed;
  played.poses = feed.poses();
  played.scans_given = feed.scans_given();
  return played;
}

}  // namespace

int slam_replay_ros(const fs::path& path, const analysis::SlamReplayOptions& options, const RosReplay& ros) {
  const auto run = analysis::load_slam_recording(path, {options.odom_frame, options.progress});
  if (!run) return bad_input(run.error());
  if (run->scan_topic.empty()) return bad_input(Error{path.string() + ": no scans: neither /scan nor one other topic of their type"});
  const fs::path folder = analysis::slam_replay_folder(path, *run, options);
  std::error_code failed;
  if (fs::exists(folder, failed)) return bad_input(Error{folder.string() + ": exists; give another --label or --out-root"});
  ros_bridge::AdmissionPlan plan;
  if (options.mode == analysis::ReplayMode::kAdmitted) {
    auto made = plan_of(*run);
    if (!made) return bad_input(made.error());
    plan = *std::move(made);
  }
  const auto parameters = parameters_of(*run, options);
  if (!parameters) return bad_input(parameters.error());
  {  // A car on the graph that this shell speaks to is a car that is being driven.
    auto graph = open_graph("slam_replay");
    if (!graph) return bad_input(graph.error());
    (*graph)->wait((*graph)->now() + kSettle);
    if (const std::string refusal = ros_bridge::interlock_refusal(**graph); !refusal.empty()) return bad_input(Error{refusal});
  }
  ::setenv("ROS_DOMAIN_ID", std::to_string(ros.domain).c_str(), 1);
  ::setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST", 1);
  ::unsetenv("ROS_LOCALHOST_ONLY");

  const fs::path file = folder / "metadata" / "files" / "slam_params.yaml";
  if (const Status written = write_file(file, parameter_file(*parameters)); !written) return bad_input(written.error());
  const std::string command = with(with(ros.command, "{params}", fs::absolute(file).string()), "{out}", fs::absolute(folder).string());
  const auto played = play(*run, options, command, plan, folder / "bag");
  if (!played) {
    fs::remove_all(folder, failed);
    return bad_input(played.error());
  }
  analysis::PosesByStamp recorded;
  for (const analysis::PublishedPose& each : run->poses) recorded.try_emplace(each.stamp, each.pose);
  const analysis::PoseSequenceError error = analysis::pose_sequence_error(recorded, played->poses);
  const bool exact_mode = options.mode != analysis::ReplayMode::kRate;
  const std::string status = !played->status ? "failed" : !exact_mode ? "done" : error.exact() ? "exact" : "differs";
  const std::string map = save_map_from(folder / "bag", folder);
  nlohmann::ordered_json json{{"status", status},
                              {"source", run->path.string()},
                              {"engine", "ros"},
                              {"command", command},
                              {"odom_frame", run->odom_frame},
                              {"scans", run->scans},
                              {"scans_given", played->scans_given},
                              {"sacrificed", plan.sacrificed.size()},
                              {"poses", played->poses.size()},
                              {"pose_sequence_error",
                               {{"compared", error.compared},
                                {"max_position_m", error.max_position_m},
                                {"max_heading_deg", error.max_heading_deg},
                                {"missing", error.missing},
                                {"extra", error.extra}}},
                              {"map_saved", map}};
  if (!played->status) json["error"] = played->status.error().message;
  const std::string text = json.dump(2) + "\n";
  if (const Status written = write_file(folder / "replay.json", text); !written) return bad_input(written.error());
  std::string out = text;
  if (!ros.json) {
    out = "status: " + status + "\nwritten to: " + folder.string() + "\nposes compared: " + std::to_string(error.compared) + ", missing " +
          std::to_string(error.missing) + ", extra " + std::to_string(error.extra) +
          "\nlargest difference: " + format_number(error.max_position_m, 6) + " m, " + format_number(error.max_heading_deg, 6) +
          " deg\nmap saved: " + map + "\n";
  }
  std::fwrite(out.data(), 1, out.size(), stdout);
  if (!played->status) {
    log::error(played->status.error().message);
    return interrupted() ? kInterrupted : kFailed;
  }
  const bool gates = (!options.max_position_m || error.max_position_m <= *options.max_position_m) &&
                     (!options.max_missing || static_cast<double>(error.missing) <= *options.max_missing);
  return gates ? kPassed : kFailed;
}

}  // namespace pitwall::apps

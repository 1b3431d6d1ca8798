// SPDX-License-Identifier: Apache-2.0
#include "analysis/slam_recording.hpp"

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "analysis/bag_messages.hpp"
#include "analysis/run_texts.hpp"
#include "core/text.hpp"
#include "recording/bag_reader.hpp"
#include "ros_messages/graph.hpp"
#include "ros_messages/nav.hpp"
#include "ros_messages/sensors.hpp"
#include "scenarios/map_message.hpp"

namespace pitwall::analysis {

namespace {

namespace fs = std::filesystem;
namespace ros = ros_messages;
using recording::BagMessage;
using recording::Topic;

constexpr std::string_view kMapFrame = "map";
constexpr std::array<std::string_view, 3> kBaseFrames{"base_link", "base_footprint", "laser"};
constexpr std::uint64_t kReadProgressEvery = 4096;

std::string value_of(const ros::ParameterValue& v) {
  switch (v.type) {
    case 1:
      return v.bool_value ? "true" : "false";
    case 2:
      return std::to_string(v.integer_value);
    case 3:
      return format_exact(v.double_value);
    default:
      return v.string_value;
  }
}

/// One pass over everything but scans.
class Reader {
 public:
  /// `instead_of_tf`: the odometry whose messages are taken for transforms, frame to child frame, as they are meant; empty: none.
  Reader(SlamRecording& into, std::string instead_of_tf) : into_(into), instead_of_tf_(std::move(instead_of_tf)) {}

  void take(const Topic& topic, const BagMessage& message) {
    const std::string_view bytes = recording::as_text(message.data);
    if (topic.type == ros::TFMessage::kType) {
      if (ros::read(bytes, tf_)) transforms(message.log_time, topic.name == "/tf_static");
    } else if (topic.type == ros::Odometry::kType) {
      if (ros::read(bytes, odometry_)) odometry(topic.name, message.log_time);
    } else if (topic.type == ros::PoseWithCovarianceStamped::kType && topic.name == "/pose") {
      if (ros::read(bytes, pose_)) pose(message.log_time);
    } else if (topic.type == ros::OccupancyGrid::kType && topic.name == "/map") {
      map_read_ = ros::read(bytes, map_).ok() || map_read_;
    } else if (topic.type == ros::Log::kType) {
      into_.has_rosout = true;
      if (ros::read(bytes, log_) && log_category(log_.msg) == "scan_dropped") into_.log_drops.push_back(message.log_time);
    } else if (topic.type == ros::ParameterEvent::kType) {
      if (ros::read(bytes, event_)) parameters();
    }
  }

  /// By odometry frame.
  [[nodiscard]] const std::map<std::string, std::vector<MapOdomSample>>& corrections() const { return all_corrections_; }

  void finish() {
    into_.tree.complete();
    if (!map_read_) return;
    auto made = scenarios::map_of(map_);
    if (made) {
      into_.map = *std::move(made);
      into_.map_source = "/map";
    } else {
      into_.warnings.push_back("/map: " + made.error().message);
    }
  }

 private:
  void transforms(Time arrival, bool is_static) {
    for (const ros::TransformStamped& t : tf_.transforms) {
      into_.tree.add(t, is_static);
      const std::string parent = frame_name(t.header.frame_id);
      const std::string child = frame_name(t.child_frame_id);
      if (parent == kMapFrame && !is_static) {
        const auto car = newest_.find(child);
        all_corrections_[child].push_back({arrival, ros::to_time(t.header.stamp), pose_of(t.transform).planar(),
                                           car == newest_.end() ? std::nullopt : std::optional<Time>(car->second)});
      } else if (!is_static) {
        newest_[parent] = ros::to_time(t.header.stamp);
      }
    }
  }

  void odometry(const std::string& topic, Time arrival) {
    auto& all = into_.odometries;
    auto found = std::find_if(all.begin(), all.end(), [&](const NamedOdometry& each) { return each.topic == topic; });
    if (found == all.end()) found = all.insert(all.end(), {topic, {}, {}, {}, {}});
    const pitwall::Odometry m = ros::from_ros(odometry_);
    found->arrival.push_back(arrival);
    found->stamp.push_back(m.stamp);
    found->pose.push_back({m.position.x, m.position.y, yaw_of(m.orientation)});
    found->speed_mps.push_back(m.speed_mps);
    if (topic != instead_of_tf_) return;
    ros::TransformStamped edge;
    edge.header = odometry_.header;
    edge.child_frame_id = odometry_.child_frame_id;
    const ros::Pose& p = odometry_.pose.pose;
    edge.transform.translation = {p.position.x, p.position.y, p.position.z};
    edge.transform.rotation = p.orientation;
    into_.tree.add(edge, false);
  }

  void pose(Time arrival) {
    const ros::Pose& p = pose_.pose.pose;
    into_.poses.push_back({arrival,
                           ros::to_time(pose_.header.stamp),
                           {p.position.x, p.position.y, p.position.z, p.orientation.x, p.orientation.y, p.orientation.z, p.orientation.w}});
  }

  void parameters() {
    if (event_.node.find("slam") == std::string::npos) return;
    for (const auto* list : {&event_.new_parameters, &event_.changed_parameters}) {
      for (const ros::Parameter& p : *list) into_.slam_parameters[p.name] = value_of(p.value);
    }
  }

  SlamRecording& into_;
  std::string instead_of_tf_;
  std::map<std::string, std::vector<MapOdomSample>> all_corrections_;  // by odometry frame
  std::map<std::string, Time> newest_;                                 // stamp of the newest transform received, by parent
  ros::TFMessage tf_;
  ros::Odometry odometry_;
  ros::PoseWithCovarianceStamped pose_;
  ros::OccupancyGrid map_;
  bool map_read_ = false;
  ros::Log log_;
  ros::ParameterEvent event_;
};

Status choose_frames(SlamRecording& run, const Reader& reader, const SlamReadOptions& options) {
  const auto& all = reader.corrections();
  run.odom_frame = options.odom_frame;
  if (run.odom_frame.empty()) {
    // The first car of a run has no prefix; other cars may have corrections where it has none.
    const bool own = run.tree.has("odom");
    std::size_t most = 0;
    for (const auto& [frame, samples] : all) {
      if ((own && frame.find('/') != std::string::npos) || samples.size() <= most) continue;
      most = samples.size();
      run.odom_frame = frame;
    }
    if (run.odom_frame.empty() || all.contains("odom")) run.odom_frame = "odom";
  }
  const std::vector<std::string> frames = run.tree.frames();
  if (!run.tree.has(run.odom_frame)) return Error{run.path.string() + ": " + unknown_name("odometry frame", run.odom_frame, frames)};
  if (const auto found = all.find(run.odom_frame); found != all.end()) {
    run.map_frame = kMapFrame;
    run.corrections = found->second;
  }
  const std::size_t slash = run.odom_frame.rfind('/');
  const std::string prefix = slash == std::string::npos ? "" : run.odom_frame.substr(0, slash + 1);
  for (const std::string_view base : kBaseFrames) {
    if (run.base_frame.empty() && run.tree.has(prefix + std::string(base))) run.base_frame = prefix + std::string(base);
  }
  if (run.base_frame.empty()) {
    const std::vector<std::string> children = run.tree.children_of(run.odom_frame);
    if (children.empty()) return Error{run.path.string() + ": nothing moves in the frame '" + run.odom_frame + "'"};
    run.base_frame = children.front();
  }
  return {};
}

/// Where nobody sent transforms, /odom or else the first odometry says where the car was.
std::string odometry_instead_of_tf(const std::vector<Topic>& topics) {
  std::string chosen;
  for (const Topic& topic : topics) {
    if (topic.message_count == 0) continue;
    if (topic.type == ros::TFMessage::kType && topic.name == "/tf") return {};
    if (topic.type == ros::Odometry::kType && (chosen.empty() || topic.name == "/odom")) chosen = topic.name;
  }
  return chosen;
}

void choose_scans(SlamRecording& run, const std::vector<Topic>& topics) {
  std::vector<const Topic*> of_type;
  for (const Topic& topic : topics) {
    if (topic.type == ros::LaserScan::kType && topic.message_count > 0) of_type.push_back(&topic);
  }
  const auto usual = std::find_if(of_type.begin(), of_type.end(), [](const Topic* t) { return t->name == "/scan"; });
  const Topic* chosen = usual != of_type.end() ? *usual : of_type.size() == 1 ? of_type.front() : nullptr;
  if (chosen == nullptr) return;
  run.scan_topic = chosen->name;
  run.scans = chosen->message_count;
}

void take_saved_map(SlamRecording& run) {
  const fs::path file = run.path / "map.yaml";
  std::error_code failed;
  if (run.map || !fs::exists(file, failed)) return;
  auto loaded = tracks::load_map(file, tracks::UnknownGrey::kUnknown);
  if (loaded) {
    run.map = std::move(loaded->map);
    run.map_source = "map.yaml";
  } else {
    run.warnings.push_back(loaded.error().message);
  }
}

}  // namespace

Result<SlamRecording> load_slam_recording(const fs::path& path, const SlamReadOptions& options) {
  auto reader = recording::BagReader::open(path);
  if (!reader) return reader.error();
  SlamRecording run;
  run.path = path;
  std::error_code failed;
  if (fs::exists(path / "run.json", failed)) {
    const auto manifest = recording::load_manifest(path);
    if (manifest) {
      run.manifest = *manifest;
    } else {
      run.warnings.push_back(manifest.error().message);
    }
  }
  choose_scans(run, reader->topics());
  Reader into(run, odometry_instead_of_tf(reader->topics()));
  std::uint64_t done = 0;
  bool first = true;
  while (const BagMessage* message = reader->next()) {
    if (std::exchange(first, false)) run.origin = message->log_time;
    run.duration_s = seconds_since(run.origin, message->log_time);
    const Topic& topic = reader->topics()[message->topic];
    if (topic.type != ros::LaserScan::kType) into.take(topic, *message);
    if (++done % kReadProgressEvery == 0 && options.progress && !options.progress(done, reader->message_count()))
      return Error{"interrupted"};
  }
  into.finish();
  for (const recording::Finding& finding : reader->findings()) {
    if (finding.severity == recording::Severity::kDamage) run.warnings.push_back(finding.text());
  }
  if (run.tree.frames().empty()) return Error{path.string() + ": no transforms: without /tf or an odometry nothing says where the car was"};
  if (const Status chosen = choose_frames(run, into, options); !chosen) return chosen.error();
  if (run.tree.second_parents() > 0) {
    run.warnings.push_back(path.string() + ": " + std::to_string(run.tree.second_parents()) +
                           " transforms give a frame a second parent and are left out");
  }
  if (run.tree.not_finite() > 0) {
    run.warnings.push_back(path.string() + ": " + std::to_string(run.tree.not_finite()) + " transforms are not finite and are left out");
  }
  take_saved_map(run);
  return run;
}

Status each_scan(const SlamRecording& recording, const TakeScan& take) {
  if (recording.scan_topic.empty()) return {};
  pitwall::recording::ReadOptions only;
  only.topics = {recording.scan_topic};
  auto reader = pitwall::recording::BagReader::open(recording.path, only);
  if (!reader) return reader.error();
  ros::LaserScan wire;
  while (const BagMessage* message = reader->next()) {
    if (!ros::read(pitwall::recording::as_text(message->data), wire)) continue;
    if (!take(ros::from_ros(wire), frame_name(wire.header.frame_id), message->log_time)) break;
  }
  return {};
}

}  // namespace pitwall::analysis

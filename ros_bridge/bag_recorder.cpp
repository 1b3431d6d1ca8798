// SPDX-License-Identifier: Apache-2.0
#include "ros_bridge/bag_recorder.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/log.hpp"
#include "recording/bytes.hpp"
#include "ros_bridge/qos_text.hpp"
#include "ros_messages/describe.hpp"
#include "ros_messages/known_types.hpp"

namespace pitwall::ros_bridge {
namespace {

constexpr Duration kLooks = from_milliseconds(200);
constexpr std::uint32_t kDepth = 1000;  // a disk that is slow for a moment costs nothing

}  // namespace

std::vector<std::string> default_topics() {
  return {"/scan",
          "/odom",
          "/odom/imu",
          "/drive",
          "/ackermann_cmd",
          "/teleop",
          "/auto_map/drive",
          "/auto_race/drive",
          "/joy",
          "/tf",
          "/tf_static",
          "/map",
          "/pose",
          "/slam_pose",
          "/rosout",
          "/parameter_events",
          "/drive_intent",
          "/sensors/core",
          "/sensors/imu",
          "/sensors/imu/raw",
          "/imu/bno",
          "/sensors/servo_position_command",
          "/commands/motor/speed",
          "/commands/servo/position",
          "/plan",
          "/local_plan",
          "/cmd_vel"};
}

Result<std::unique_ptr<BagRecorder>> BagRecorder::make(const std::filesystem::path& folder, const BagRecorderOptions& options,
                                                       Graph& graph) {
  auto writer = recording::BagWriter::create(folder, options.write);
  if (!writer) return writer.error();
  std::unique_ptr<BagRecorder> recorder(new BagRecorder(options, graph, *std::move(writer)));
  recorder->look();
  return recorder;
}

void BagRecorder::keep(const Status& status) {
  if (status_ && !status) status_ = status;
}

void BagRecorder::look() {
  std::map<std::string, std::vector<TopicSpec>> offers;
  for (const Endpoint& endpoint : graph_.endpoints()) {
    const std::string& name = endpoint.topic.name;
    const bool wanted = options_.all || std::find(options_.topics.begin(), options_.topics.end(), name) != options_.topics.end();
    if (endpoint.writes && !endpoint.ours && wanted) offers[name].push_back(endpoint.topic);
  }
  for (const auto& [name, writers] : offers) {
    if (const auto known = types_.find(name); known != types_.end()) {
      for (const TopicSpec& writer : writers) {
        if (writer.type == known->second) continue;
        keep(Error{name + " is published as " + known->second + " and as " + writer.type + "; only the first is recorded"});
      }
      continue;
    }
    TopicSpec topic = writers.front();
    topic.qos.transient_local = std::all_of(writers.begin(), writers.end(), [](const TopicSpec& w) { return w.qos.transient_local; });
    take_in(topic);
  }
}

void BagRecorder::take_in(const TopicSpec& spec) {
  types_[spec.name] = spec.type;
  recording::Topic topic;
  topic.name = spec.name;
  topic.type = spec.type;
  topic.type_hash = spec.type_hash;
  topic.qos = to_text(spec.qos);
  topic.latched = spec.qos.transient_local;
  if (const ros_messages::Definition* definition = ros_messages::known_definition(spec.type)) {
    topic.schema_encoding = "ros2msg";
    topic.schema = ros_messages::schema_text(*definition);
    if (topic.type_hash.empty()) topic.type_hash = ros_messages::type_hash(*definition);
  }
  const auto index = writer_.add_topic(topic);
  if (!index) return keep(index.error());
  TopicSpec reader = spec;
  reader.qos = spec.qos.transient_local ? Qos::latched(kDepth) : Qos::subscribe(kDepth);
  keep(graph_.subscribe(reader, [this, at = *index](std::string_view cdr, const Arrival& arrival) {
    if (!status_) return;
    keep(writer_.write(at, arrival.received, arrival.sent.ns > 0 ? arrival.sent : arrival.received, recording::as_bytes(cdr)));
    ++messages_;
  }));
  log::info("records " + spec.name + " (" + spec.type + ")");
}

void BagRecorder::tick() {
  const Time now = graph_.now();
  if (!looked_ || now - *looked_ >= kLooks) {
    looked_ = now;
    look();
  }
  if (status_) keep(writer_.advance(now));
}

Status BagRecorder::close() {
  keep(writer_.close());
  return status_;
}

std::vector<std::string> BagRecorder::missing() const {
  std::vector<std::string> missing;
  if (options_.all) return missing;
  std::copy_if(options_.topics.begin(), options_.topics.end(), std::back_inserter(missing),
               [&](const std::string& t) { return !types_.contains(t); });
  return missing;
}

}  // namespace pitwall::ros_bridge

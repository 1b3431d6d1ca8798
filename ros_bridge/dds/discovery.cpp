// SPDX-License-Identifier: Apache-2.0
#include "ros_bridge/dds/discovery.hpp"

#include <dds/dds.h>

#include <algorithm>
#include <array>
#include <optional>

#include "ros_bridge/dds/entities.hpp"
#include "ros_bridge/dds/names.hpp"
#include "ros_bridge/dds/plain_cdr.hpp"
#include "ros_messages/graph.hpp"

namespace pitwall::ros_bridge {
namespace {

/// Where ROS processes say which nodes they hold; without the prefix of other topics.
constexpr const char* kInfoTopic = "ros_discovery_info";
constexpr std::size_t kEndpointBatch = 32;
/// What the bytes of the participant and of all that it owns begin with.
constexpr std::size_t kPrefixBytes = 12;

Gid gid_of(const dds_guid_t& guid) {
  Gid gid{};
  std::copy(std::begin(guid.v), std::end(guid.v), gid.begin());
  return gid;
}

std::string user_data_of(const dds_qos_t* qos) {
  void* bytes = nullptr;
  std::size_t size = 0;
  if (!dds_qget_userdata(qos, &bytes, &size) || bytes == nullptr) return "";
  std::string text(static_cast<const char*>(bytes), size);
  dds_free(bytes);
  return text;
}

Qos qos_of(const dds_qos_t* qos) {
  Qos out;
  dds_reliability_kind_t reliability{};
  dds_durability_kind_t durability{};
  dds_history_kind_t history{};
  std::int32_t depth = 0;
  if (dds_qget_reliability(qos, &reliability, nullptr)) out.reliable = reliability == DDS_RELIABILITY_RELIABLE;
  if (dds_qget_durability(qos, &durability)) out.transient_local = durability != DDS_DURABILITY_VOLATILE;
  if (dds_qget_history(qos, &history, &depth)) out.depth = history == DDS_HISTORY_KEEP_ALL ? 0 : static_cast<std::uint32_t>(depth);
  return out;
}

/// Takes what a reader of a built-in topic holds; `visit(sample, handle, alive)`. Of what is gone only the key is there.
template <class Sample, class Visit>
void take_all(dds_entity_t reader, Visit&& visit) {
  for (;;) {
    std::array<void*, kEndpointBatch> samples{};
    std::array<dds_sample_info_t, kEndpointBatch> infos{};
    const dds_return_t count = dds_take(reader, samples.data(), infos.data(), kEndpointBatch, kEndpointBatch);
    if (count <= 0) return;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      const bool alive = infos[i].valid_data && infos[i].instance_state == DDS_IST_ALIVE;
      visit(*static_cast<const Sample*>(samples[i]), infos[i].instance_handle, alive);
    }
    dds_return_loan(reader, samples.data(), count);
  }
}

}  // namespace

Status Discovery::start(std::int32_t participant, const std::string& node, const dds_listener* listener) {
  node_ = node;
  own_ = gid_of_entity(participant);
  participants_ = dds_create_reader(participant, DDS_BUILTIN_TOPIC_DCPSPARTICIPANT, nullptr, listener);
  publications_ = dds_create_reader(participant, DDS_BUILTIN_TOPIC_DCPSPUBLICATION, nullptr, listener);
  subscriptions_ = dds_create_reader(participant, DDS_BUILTIN_TOPIC_DCPSSUBSCRIPTION, nullptr, listener);
  const std::string type(ros_messages::ParticipantEntitiesInfo::kType);
  const TopicSpec written{kInfoTopic, type, Qos::latched(1)};
  const TopicSpec read{kInfoTopic, type, Qos::latched(0)};
  const Result<CdrTopic> topic = create_cdr_topic(participant, kInfoTopic, type);
  if (!topic) return topic.error();
  info_type_ = topic->type;
  const Result<dds_entity_t> reader = create_reader(participant, topic->handle, read, listener, true);
  if (!reader) return reader.error();
  info_reader_ = *reader;
  const Result<dds_entity_t> writer = create_writer(participant, topic->handle, written, nullptr);
  if (!writer) return writer.error();
  info_writer_ = *writer;
  say_own();
  return {};
}

void Discovery::add_own(const Gid& gid, bool writes) {
  (writes ? own_writers_ : own_readers_).push_back(gid);
  nodes_[own_][gid] = node_;
  say_own();
}

void Discovery::say_own() const {
  const std::size_t slash = node_.rfind('/');
  ros_messages::NodeEntitiesInfo node;
  node.node_namespace.value = slash == 0 ? "/" : node_.substr(0, slash);
  node.node_name.value = node_.substr(slash + 1);
  for (const Gid& gid : own_readers_) node.reader_gid_seq.push_back({gid});
  for (const Gid& gid : own_writers_) node.writer_gid_seq.push_back({gid});
  dds_writecdr(info_writer_, make_plain_cdr(info_type_, ros_messages::write(ros_messages::ParticipantEntitiesInfo{{own_}, {node}})));
}

void Discovery::update() {
  update_participants();
  update_endpoints(publications_, true);
  update_endpoints(subscriptions_, false);
  update_nodes();
}

void Discovery::update_participants() {
  take_all<dds_builtintopic_participant_t>(participants_,
                                           [this](const dds_builtintopic_participant_t& participant, std::uint64_t /*handle*/, bool alive) {
                                             if (!alive) nodes_.erase(gid_of(participant.key));
                                           });
}

void Discovery::update_endpoints(std::int32_t reader, bool writes) {
  take_all<dds_builtintopic_endpoint_t>(reader, [this, writes](const dds_builtintopic_endpoint_t& found, std::uint64_t handle, bool alive) {
    const Gid gid = gid_of(found.key);
    if (writes && alive) writers_[handle] = gid;
    if (writes && !alive) gone_.push_back(handle);
    if (!alive) {
      endpoints_.erase(gid);
    } else if (const std::optional<std::string> topic = ros_topic(found.topic_name)) {
      const std::string hash = user_data_value(user_data_of(found.qos), "typehash");
      const bool ours = std::equal(own_.begin(), own_.begin() + kPrefixBytes, gid.begin());
      endpoints_[gid] = {gid, writes, {*topic, ros_type(found.type_name), qos_of(found.qos), hash}, "", ours};
    }
  });
}

void Discovery::update_nodes() {
  std::vector<TakenCdr> taken;
  take_cdr(info_reader_, taken);
  for (const TakenCdr& each : taken) {
    const auto info = ros_messages::read<ros_messages::ParticipantEntitiesInfo>(view_plain_cdr(each.message.get()).cdr);
    if (!info) continue;  // of a distribution before Iron, whose GUIDs are longer
    std::map<Gid, std::string>& nodes = nodes_[info->gid.data];
    nodes.clear();
    for (const ros_messages::NodeEntitiesInfo& node : info->node_entities_info_seq) {
      const std::string& space = node.node_namespace.value;
      const std::string name = (space == "/" ? "" : space) + "/" + node.node_name.value;
      for (const ros_messages::Gid& gid : node.reader_gid_seq) nodes[gid.data] = name;
      for (const ros_messages::Gid& gid : node.writer_gid_seq) nodes[gid.data] = name;
    }
  }
}

std::vector<Endpoint> Discovery::endpoints() const {
  std::vector<Endpoint> out;
  for (const auto& [gid, endpoint] : endpoints_) {
    out.push_back(endpoint);
    for (const auto& [participant, nodes] : nodes_) {
      if (const auto node = nodes.find(gid); node != nodes.end()) out.back().node = node->second;
    }
  }
  return out;
}

Gid Discovery::writer(std::uint64_t publication_handle) const {
  if (const auto known = writers_.find(publication_handle); known != writers_.end()) return known->second;
  // Its first message came with the news of it. Cyclone DDS looks through all that it knows, so this is not the way for every message.
  dds_builtintopic_endpoint_t endpoint{};
  if (dds_instance_get_key(publications_, publication_handle, &endpoint) != DDS_RETCODE_OK) return {};
  return gid_of(endpoint.key);
}

void Discovery::forget_gone() {
  for (const std::uint64_t handle : gone_) writers_.erase(handle);
  gone_.clear();
}

}  // namespace pitwall::ros_bridge

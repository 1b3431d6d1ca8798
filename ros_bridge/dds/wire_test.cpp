// SPDX-License-Identifier: Apache-2.0
// What others see of us, by a participant of plain Cyclone DDS beside the graph: built-in topics, `ros_discovery_info`, bytes.
#include <dds/dds.h>
#include <doctest/doctest.h>

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ros_bridge/dds/entities.hpp"
#include "ros_bridge/dds/names.hpp"
#include "ros_bridge/dds/test_graph.hpp"
#include "ros_messages/known_types.hpp"

namespace pitwall::ros_bridge {
namespace {

/// A participant on the domain of a graph of this process.
class Stranger {
 public:
  explicit Stranger(const DdsSettings& settings) : handle_(dds_create_participant(settings.domain, nullptr, nullptr)) {
    REQUIRE(handle_ > 0);
  }
  ~Stranger() { dds_delete(handle_); }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;
  [[nodiscard]] dds_entity_t handle() const { return handle_; }

  /// `visit` each sample of a built-in topic.
  template <class Sample, class Visit>
  void read(dds_entity_t builtin_topic, Visit&& visit) const {
    const dds_entity_t reader = dds_create_reader(handle_, builtin_topic, nullptr, nullptr);
    std::array<void*, 64> samples{};
    std::array<dds_sample_info_t, 64> infos{};
    const dds_return_t count = dds_read(reader, samples.data(), infos.data(), samples.size(), samples.size());
    REQUIRE(count > 0);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) visit(*static_cast<const Sample*>(samples[i]));
    dds_return_loan(reader, samples.data(), count);
    dds_delete(reader);
  }

  /// A writer that says nothing about hash or enclave, as a plain DDS program.
  CdrTopic writer(const TopicSpec& topic, dds_entity_t& into) const {
    const auto made = create_cdr_topic(handle_, dds_topic(topic.name), topic.type);
    REQUIRE(made.ok());
    into = dds_create_writer(handle_, made->handle, nullptr, nullptr);
    REQUIRE(into > 0);
    return *made;
  }

 private:
  dds_entity_t handle_;
};

std::string user_data(const dds_qos_t* qos) {
  void* bytes = nullptr;
  std::size_t size = 0;
  if (!dds_qget_userdata(qos, &bytes, &size)) return "";
  std::string text(static_cast<const char*>(bytes), size);
  dds_free(bytes);
  return text;
}

struct Announced {
  std::string type, user_data;
  dds_reliability_kind_t reliability{};
  dds_duration_t blocking = 0;
  dds_durability_kind_t durability{};
  dds_history_kind_t history{};
  std::int32_t depth = 0, service_depth = 0;
  std::vector<dds_data_representation_id_t> representations;
  bool has_type_information = true, disposes = true;
  dds_guid_t key{}, participant{};
};

Announced announced(const dds_builtintopic_endpoint_t& endpoint) {
  Announced out;
  out.type = endpoint.type_name;
  out.user_data = user_data(endpoint.qos);
  dds_qget_reliability(endpoint.qos, &out.reliability, &out.blocking);
  dds_qget_durability(endpoint.qos, &out.durability);
  dds_qget_history(endpoint.qos, &out.history, &out.depth);
  dds_qget_durability_service(endpoint.qos, nullptr, nullptr, &out.service_depth, nullptr, nullptr, nullptr);
  dds_qget_writer_data_lifecycle(endpoint.qos, &out.disposes);
  std::uint32_t count = 0;
  dds_data_representation_id_t* ids = nullptr;
  if (dds_qget_data_representation(endpoint.qos, &count, &ids)) {
    out.representations.assign(ids, ids + count);
    dds_free(ids);
  }
  const dds_typeinfo_t* information = nullptr;
  out.has_type_information =
      dds_builtintopic_get_endpoint_type_info(const_cast<dds_builtintopic_endpoint_t*>(&endpoint), &information) == DDS_RETCODE_OK &&
      information != nullptr;
  out.key = endpoint.key;
  out.participant = endpoint.participant_key;
  return out;
}

std::map<std::string, Announced> announced_by_topic(const Stranger& stranger, dds_entity_t builtin_topic) {
  std::map<std::string, Announced> found;
  stranger.read<dds_builtintopic_endpoint_t>(builtin_topic,
                                             [&](const dds_builtintopic_endpoint_t& each) { found[each.topic_name] = announced(each); });
  return found;
}

constexpr const char* kScanHash = "typehash=RIHS01_64c191398013af96509d518dac71d5164f9382553fce5c1f8cca5be7924bd828;";

TEST_CASE("readers and writers announce names, types, QoS, encoding and hash as rmw_cyclonedds_cpp does") {
  const DdsSettings settings = loopback();
  const auto graph = make_graph("/car1/pitwall", settings);
  const std::string theirs = "RIHS01_" + std::string(64, 'c');
  advertise(*graph, {"/scan", "sensor_msgs/msg/LaserScan", Qos::publish()});
  advertise(*graph, {"/map", "nav_msgs/msg/OccupancyGrid", Qos::latched(3)});
  advertise(*graph, {"/clock", "rosgraph_msgs/msg/Clock", Qos::clock()});
  advertise(*graph, {"/their", "their_msgs/msg/Thing", Qos::publish(), theirs});
  advertise(*graph, {"/unknown", "their_msgs/msg/Other", Qos::publish()});
  std::vector<std::string> none;
  collect(*graph, {"/scan", "sensor_msgs/msg/LaserScan", Qos::subscribe(5)}, none);
  collect(*graph, {"/tf_static", "tf2_msgs/msg/TFMessage", Qos::latched(0)}, none);

  const Stranger stranger(settings);
  auto writers = announced_by_topic(stranger, DDS_BUILTIN_TOPIC_DCPSPUBLICATION);
  auto readers = announced_by_topic(stranger, DDS_BUILTIN_TOPIC_DCPSSUBSCRIPTION);
  for (const auto& found : {writers, readers}) {
    for (const auto& [name, each] : found) {
      CAPTURE(name);
      CHECK(each.representations == std::vector<dds_data_representation_id_t>{DDS_DATA_REPRESENTATION_XCDR1});
      CHECK_FALSE(each.has_type_information);
    }
  }

  const Announced& scan = writers.at("rt/scan");
  CHECK(scan.type == "sensor_msgs::msg::dds_::LaserScan_");
  CHECK(scan.user_data == kScanHash);
  CHECK(scan.reliability == DDS_RELIABILITY_RELIABLE);
  CHECK(scan.blocking == DDS_MSECS(100));
  CHECK(scan.durability == DDS_DURABILITY_VOLATILE);
  CHECK(scan.history == DDS_HISTORY_KEEP_LAST);
  CHECK(scan.depth == 10);
  const Announced& map = writers.at("rt/map");
  CHECK(map.durability == DDS_DURABILITY_TRANSIENT_LOCAL);
  CHECK(map.reliability == DDS_RELIABILITY_RELIABLE);
  CHECK(map.depth == 3);
  CHECK(map.service_depth == 3);
  CHECK_FALSE(map.disposes);
  CHECK(writers.at("rt/clock").reliability == DDS_RELIABILITY_BEST_EFFORT);
  CHECK(writers.at("rt/clock").depth == 1);
  CHECK(writers.at("rt/their").user_data == "typehash=" + theirs + ";");
  CHECK(writers.at("rt/unknown").user_data == "");

  CHECK(readers.at("rt/scan").reliability == DDS_RELIABILITY_BEST_EFFORT);
  CHECK(readers.at("rt/scan").depth == 5);
  CHECK(readers.at("rt/scan").user_data == kScanHash);
  CHECK(readers.at("rt/tf_static").durability == DDS_DURABILITY_TRANSIENT_LOCAL);
  CHECK(readers.at("rt/tf_static").history == DDS_HISTORY_KEEP_ALL);

  // The graph's own topic (rmw_dds_common): no prefix, latched, all kept by who reads.
  for (const auto& found : {writers, readers}) {
    const Announced& info = found.at("ros_discovery_info");
    CHECK(info.type == "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_");
    CHECK(info.user_data == "typehash=RIHS01_91a0593bacdcc50ea9bdcf849a938b128412cc1ea821245c663bcd26f83c295e;");
    CHECK(info.reliability == DDS_RELIABILITY_RELIABLE);
    CHECK(info.durability == DDS_DURABILITY_TRANSIENT_LOCAL);
  }
  CHECK(writers.at("ros_discovery_info").depth == 1);
  CHECK(readers.at("ros_discovery_info").history == DDS_HISTORY_KEEP_ALL);
}

TEST_CASE("a participant says its enclave, and ros_discovery_info which node its readers and writers belong to") {
  std::string full_name, space;
  SUBCASE("in a namespace") { full_name = "/car1/pitwall", space = "/car1"; }
  SUBCASE("at the root, whose namespace is never empty") { full_name = "/pitwall", space = "/"; }
  const DdsSettings settings = loopback();
  const auto graph = make_graph(full_name, settings);
  const Stranger stranger(settings);
  std::vector<dds_guid_t> ours;
  stranger.read<dds_builtintopic_participant_t>(DDS_BUILTIN_TOPIC_DCPSPARTICIPANT, [&](const dds_builtintopic_participant_t& each) {
    if (user_data(each.qos) == "enclave=/;") ours.push_back(each.key);
  });
  REQUIRE(ours.size() == 1);

  advertise(*graph, {"/scan", "sensor_msgs/msg/LaserScan", Qos::publish()});
  std::vector<std::string> none;
  collect(*graph, {"/drive", "ackermann_msgs/msg/AckermannDriveStamped", Qos::subscribe()}, none);
  const TopicSpec info{"ros_discovery_info", "rmw_dds_common/msg/ParticipantEntitiesInfo", Qos::latched()};
  const auto topic = create_cdr_topic(stranger.handle(), info.name, info.type);
  const auto reader = create_reader(stranger.handle(), topic->handle, info, nullptr);
  std::vector<TakenCdr> taken;
  take_cdr(*reader, taken);
  REQUIRE(taken.size() == 1);
  const auto said = ros_messages::read<ros_messages::ParticipantEntitiesInfo>(view_plain_cdr(taken[0].message.get()).cdr);
  REQUIRE(said.ok());
  CHECK(std::equal(said->gid.data.begin(), said->gid.data.end(), ours[0].v));
  REQUIRE(said->node_entities_info_seq.size() == 1);
  const ros_messages::NodeEntitiesInfo& node = said->node_entities_info_seq[0];
  CHECK(node.node_namespace.value == space);
  CHECK(node.node_name.value == "pitwall");
  REQUIRE(node.writer_gid_seq.size() == 1);
  REQUIRE(node.reader_gid_seq.size() == 1);
  for (const Endpoint& each : graph->endpoints()) {
    CHECK(each.gid == (each.writes ? node.writer_gid_seq : node.reader_gid_seq)[0].data);
    CHECK(each.node == full_name);
  }
}

TEST_CASE("what plain DDS programs offer is seen: names, no hash, no node; what is not a ROS topic is left out") {
  const DdsSettings settings = loopback();
  const auto graph = make_graph("/test", settings);
  const Stranger stranger(settings);
  dds_entity_t writer = 0;
  stranger.writer({"/scan", "sensor_msgs/msg/LaserScan", {}}, writer);
  const auto service = create_cdr_topic(stranger.handle(), "rq/n/list_parametersRequest", "rcl_interfaces/srv/ListParameters_Request");
  REQUIRE(dds_create_reader(stranger.handle(), service->handle, nullptr, nullptr) > 0);
  REQUIRE(wait_for(*graph, [&] { return !graph->endpoints().empty(); }));
  const std::vector<Endpoint> found = graph->endpoints();
  REQUIRE(found.size() == 1);
  CHECK(found[0].topic.name == "/scan");
  CHECK(found[0].topic.type == "sensor_msgs/msg/LaserScan");
  CHECK(found[0].topic.qos.reliable);  // the writer's default in DDS
  CHECK(found[0].topic.qos.depth == 1);
  CHECK(found[0].topic.type_hash.empty());
  CHECK(found[0].node.empty());
  CHECK_FALSE(found[0].ours);
  dds_delete(writer);
  CHECK(wait_for(*graph, [&] { return graph->endpoints().empty(); }));
}

TEST_CASE("only plain CDR is handed out, of either byte order; the rest is counted, and never published") {
  const DdsSettings settings = loopback();
  const auto graph = make_graph("/test", settings);
  const TopicSpec text{"/text", "std_msgs/msg/String", Qos::subscribe(100)};
  std::vector<std::string> got;
  collect(*graph, text, got);
  const Stranger stranger(settings);
  dds_entity_t writer = 0;
  const CdrTopic topic = stranger.writer(text, writer);
  const std::string body("\0\0\0\0\2a\0", 6);
  const auto id = advertise(*graph, text);
  std::uint64_t bad = 0;
  for (int high = 0; high < 2; ++high) {
    for (int low = 0; low < 13; ++low) {
      const std::string message = std::string{static_cast<char>(high), static_cast<char>(low)} + body;
      dds_writecdr(writer, make_plain_cdr(topic.type, message));
      const bool plain = high == 0 && low < 2;
      bad += plain ? 0 : 1;
      CHECK(graph->publish(id, message) == plain);
    }
  }
  dds_writecdr(writer, make_plain_cdr(topic.type, std::string("\0\1", 2)));
  CHECK_FALSE(graph->publish(id, ""));
  REQUIRE(wait_for(*graph, [&] { return got.size() == 4 && graph->refused() == bad + 1; }));
  CHECK(got[0] == std::string("\0\0", 2) + body);
  CHECK(got[3][1] == '\1');
}

}  // namespace
}  // namespace pitwall::ros_bridge

// SPDX-License-Identifier: Apache-2.0
#include "ros_bridge/dds/entities.hpp"

#include <dds/dds.h>
#include <dds/ddsi/ddsi_serdata.h>

#include <algorithm>
#include <array>

#include "ros_bridge/dds/names.hpp"

namespace pitwall::ros_bridge {
namespace {

constexpr dds_duration_t kMaxBlocking = DDS_MSECS(100);
constexpr std::size_t kMessageBatch = 64;

struct DeleteQos {
  void operator()(dds_qos_t* qos) const { dds_delete_qos(qos); }
};
using QosPointer = std::unique_ptr<dds_qos_t, DeleteQos>;

QosPointer dds_qos_of(const TopicSpec& spec) {
  QosPointer qos(dds_create_qos());
  const Qos& wanted = spec.qos;
  dds_qset_reliability(qos.get(), wanted.reliable ? DDS_RELIABILITY_RELIABLE : DDS_RELIABILITY_BEST_EFFORT, kMaxBlocking);
  dds_qset_durability(qos.get(), wanted.transient_local ? DDS_DURABILITY_TRANSIENT_LOCAL : DDS_DURABILITY_VOLATILE);
  const dds_history_kind_t history = wanted.depth == 0 ? DDS_HISTORY_KEEP_ALL : DDS_HISTORY_KEEP_LAST;
  const auto depth = wanted.depth == 0 ? DDS_LENGTH_UNLIMITED : static_cast<std::int32_t>(wanted.depth);
  dds_qset_history(qos.get(), history, depth);
  if (wanted.transient_local) {
    dds_qset_durability_service(qos.get(), 0, history, depth, DDS_LENGTH_UNLIMITED, DDS_LENGTH_UNLIMITED, DDS_LENGTH_UNLIMITED);
  }
  if (const std::string hash = type_hash_of(spec); !hash.empty()) {
    const std::string user_data = "typehash=" + hash + ";";
    dds_qset_userdata(qos.get(), user_data.data(), user_data.size());
  }
  return qos;
}

Result<std::int32_t> created(dds_entity_t entity, const char* what, const TopicSpec& spec) {
  if (entity >= 0) return entity;
  return Error{spec.name + ": no " + what + ": " + dds_strretcode(entity)};
}

}  // namespace

Result<CdrTopic> create_cdr_topic(std::int32_t participant, const std::string& dds_name, const std::string& ros_type) {
  ddsi_sertype* type = make_plain_cdr_type(dds_type(ros_type));
  const dds_entity_t topic = dds_create_topic_sertype(participant, dds_name.c_str(), &type, nullptr, nullptr, nullptr);
  if (topic >= 0) return CdrTopic{topic, type};
  ddsi_sertype_unref(type);
  return Error{"topic '" + dds_name + "' of " + ros_type + ": " + dds_strretcode(topic)};
}

Result<std::int32_t> create_reader(std::int32_t participant, std::int32_t topic, const TopicSpec& spec, const dds_listener* listener,
                                   bool for_others) {
  const QosPointer qos = dds_qos_of(spec);
  if (for_others) dds_qset_ignorelocal(qos.get(), DDS_IGNORELOCAL_PARTICIPANT);
  return created(dds_create_reader(participant, topic, qos.get(), listener), "reader", spec);
}

Result<std::int32_t> create_writer(std::int32_t participant, std::int32_t topic, const TopicSpec& spec, const dds_listener* listener) {
  const QosPointer qos = dds_qos_of(spec);
  // What was published stays true when its writer goes.
  dds_qset_writer_data_lifecycle(qos.get(), false);
  return created(dds_create_writer(participant, topic, qos.get(), listener), "writer", spec);
}

void TakenCdr::Free::operator()(ddsi_serdata* message) const { ddsi_serdata_unref(message); }

void take_cdr(std::int32_t reader, std::vector<TakenCdr>& into) {
  for (;;) {
    std::array<ddsi_serdata*, kMessageBatch> messages{};
    std::array<dds_sample_info_t, kMessageBatch> infos{};
    const dds_return_t count = dds_takecdr(reader, messages.data(), kMessageBatch, infos.data(), DDS_ANY_STATE);
    for (std::size_t i = 0; i < static_cast<std::size_t>(std::max(count, 0)); ++i) {
      TakenCdr taken{std::unique_ptr<ddsi_serdata, TakenCdr::Free>(messages[i]), infos[i].publication_handle,
                     Time{std::max<dds_time_t>(infos[i].source_timestamp, 0)}};
      if (infos[i].valid_data) into.push_back(std::move(taken));
    }
    if (count < static_cast<dds_return_t>(kMessageBatch)) return;
  }
}

Gid gid_of_entity(std::int32_t entity) {
  dds_guid_t guid{};
  dds_get_guid(entity, &guid);
  Gid gid{};
  std::copy(std::begin(guid.v), std::end(guid.v), gid.begin());
  return gid;
}

}  // namespace pitwall::ros_bridge

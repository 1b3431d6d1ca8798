// SPDX-License-Identifier: Apache-2.0
// Topics, readers and writers of plain CDR with the QoS of ROS 2: what the graph and its discovery are both made of. For the .cpp files of
// this folder.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "ros_bridge/dds/plain_cdr.hpp"
#include "ros_bridge/graph.hpp"

struct dds_listener;

namespace pitwall::ros_bridge {

struct CdrTopic {
  std::int32_t handle = 0;
  const ddsi_sertype* type = nullptr;  ///< lives as long as the topic
};

Result<CdrTopic> create_cdr_topic(std::int32_t participant, const std::string& dds_name, const std::string& ros_type);

/// `for_others`: what this participant writes is not read.
Result<std::int32_t> create_reader(std::int32_t participant, std::int32_t topic, const TopicSpec& spec, const dds_listener* listener,
                                   bool for_others = false);
/// Blocks at most 100 ms in a write.
Result<std::int32_t> create_writer(std::int32_t participant, std::int32_t topic, const TopicSpec& spec, const dds_listener* listener);

/// A message that was taken out of its reader; freed with this.
struct TakenCdr {
  struct Free {
    void operator()(ddsi_serdata* message) const;
  };
  std::unique_ptr<ddsi_serdata, Free> message;
  std::uint64_t writer = 0;  ///< its publication handle
  Time sent;                 ///< the source timestamp; 0 where there is none
};

/// Appends all that the reader holds.
void take_cdr(std::int32_t reader, std::vector<TakenCdr>& into);

Gid gid_of_entity(std::int32_t entity);

}  // namespace pitwall::ros_bridge

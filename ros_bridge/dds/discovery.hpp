// SPDX-License-Identifier: Apache-2.0
// Who is on the graph: readers and writers from the built-in topics of DDS, the names of their nodes from `ros_discovery_info`, on which
// every ROS 2 process says which node each of its readers and writers belongs to (rmw_dds_common; GUIDs of 16 bytes, as since Iron).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "ros_bridge/graph.hpp"

struct dds_listener;
struct ddsi_sertype;

namespace pitwall::ros_bridge {

class Discovery {
 public:
  /// `participant` is the handle of ours, which owns what is made here; `node` our "/namespace/name"; `listener` is told of news.
  Status start(std::int32_t participant, const std::string& node, const dds_listener* listener);

  /// A reader or writer of ours is to be told to the others.
  void add_own(const Gid& gid, bool writes);
  /// Takes in what has come.
  void update();

  [[nodiscard]] std::vector<Endpoint> endpoints() const;
  /// The GUID behind the handle that comes with a message; of a writer that is gone, too, until forget_gone().
  [[nodiscard]] Gid writer(std::uint64_t publication_handle) const;
  /// After the messages of writers that an update() found gone were handed out.
  void forget_gone();

 private:
  void update_participants();
  void update_endpoints(std::int32_t reader, bool writes);
  void update_nodes();
  void say_own() const;

  std::int32_t participants_ = 0, publications_ = 0, subscriptions_ = 0;
  std::int32_t info_reader_ = 0, info_writer_ = 0;
  const ddsi_sertype* info_type_ = nullptr;
  Gid own_{};
  std::string node_;
  std::vector<Gid> own_readers_, own_writers_;
  std::map<Gid, Endpoint> endpoints_;
  std::map<std::uint64_t, Gid> writers_;  ///< of any topic, by publication handle
  std::vector<std::uint64_t> gone_;
  /// Per participant: the node that each of its readers and writers belongs to.
  std::map<Gid, std::map<Gid, std::string>> nodes_;
};

}  // namespace pitwall::ros_bridge

// SPDX-License-Identifier: Apache-2.0
// Messages as structs on a Graph, where the graph itself carries bytes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "ros_bridge/graph.hpp"
#include "ros_messages/describe.hpp"
#include "ros_messages/message.hpp"

namespace pitwall::ros_bridge {

/// The topic of messages of that struct, with their type's hash.
template <class Message>
TopicSpec topic_of(const std::string& topic, const Qos& qos) {
  static const std::string hash = ros_messages::type_hash(ros_messages::describe<Message>());
  return {topic, std::string(Message::kType), qos, hash};
}

/// Publishes messages of one struct on one topic; holds its buffer.
template <class Message>
class Publisher {
 public:
  Status open(Graph& graph, const std::string& topic, const Qos& qos) {
    const Result<Graph::PublisherId> id = graph.advertise(topic_of<Message>(topic, qos));
    if (!id) return id.error();
    graph_ = &graph;
    id_ = *id;
    return {};
  }
  [[nodiscard]] bool opened() const { return graph_ != nullptr; }
  /// False where the transport did not take it.
  bool publish(const Message& message) {
    ros_messages::write(message, bytes_);
    return graph_->publish(id_, bytes_);
  }
  [[nodiscard]] std::size_t readers() const { return graph_->readers_of(id_); }

 private:
  Graph* graph_ = nullptr;
  Graph::PublisherId id_ = 0;
  std::string bytes_;
};

/// `handle(message, arrival)` for each message of that topic; one that cannot be read goes to `unreadable` instead. The message is read
/// into the same memory each time.
template <class Message, class Handle>
Status subscribe(Graph& graph, const std::string& topic, const Qos& qos, Handle handle, std::function<void(const Error&)> unreadable = {}) {
  auto message = std::make_shared<Message>();
  return graph.subscribe(
      {topic, std::string(Message::kType), qos},
      [message, handle = std::move(handle), unreadable = std::move(unreadable)](std::string_view cdr, const Arrival& arrival) {
        if (const Status read = ros_messages::read(cdr, *message); !read) {
          if (unreadable) unreadable(read.error());
          return;
        }
        handle(*message, arrival);
      });
}

}  // namespace pitwall::ros_bridge

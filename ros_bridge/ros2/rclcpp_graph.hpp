// SPDX-License-Identifier: Apache-2.0
// A ROS 2 graph by rclcpp: messages as bytes through generic publishers and subscriptions, so that any type that is installed can be
// carried. Humble and Jazzy.
//
// Handlers are called inside wait() and nowhere else: the subscriptions are in a callback group that no executor serves, and wait() takes
// from them. Services and parameters of the node are its executor's, which the owner of the loop spins between two waits.
#pragma once

#include <chrono>
#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <rclcpp_lifecycle/lifecycle_node.hpp>
#include <string>
#include <vector>

#include "ros_bridge/graph.hpp"

namespace pitwall::ros_bridge {

/// The profile in ROS' terms; all else is ROS' default.
rclcpp::QoS to_rclcpp(const Qos& qos);
/// Of an endpoint of the graph. Where the middleware does not tell the depth it is 0, as for keep all.
Qos from_rclcpp(const rclcpp::QoS& qos);

/// All calls from one thread. Destroyed, its publishers and subscriptions are gone from the graph; the node outlives it.
class RclcppGraph final : public Graph {
 public:
  explicit RclcppGraph(rclcpp_lifecycle::LifecycleNode& node);

  /// Errors: what rclcpp says, such as a type whose package is not installed. The hash is that of the installed type.
  Result<PublisherId> advertise(const TopicSpec& topic) override;
  bool publish(PublisherId publisher, std::string_view cdr) override;
  [[nodiscard]] std::size_t readers_of(PublisherId publisher) const override;
  Status subscribe(const TopicSpec& topic, Handler handler) override;
  /// As the middleware's cache has it; without type hashes, which Humble does not know. Of endpoints under our node's name on a topic as
  /// many are ours as we opened: another process of the same name is another.
  [[nodiscard]] std::vector<Endpoint> endpoints() const override;
  [[nodiscard]] Time now() const override;
  /// A change of the graph does not wake it.
  void wait(Time until) override;

 private:
  struct Reader {
    std::string topic;
    std::shared_ptr<rclcpp::GenericSubscription> subscription;
    Handler handler;
  };
  struct Writer {
    std::string topic;
    std::shared_ptr<rclcpp::GenericPublisher> publisher;
  };
  struct Taken {
    std::size_t reader = 0;
    std::int64_t order_ns = 0;  // when the middleware got it
    std::string cdr;
    Arrival arrival;
  };
  void take_from(std::size_t reader);

  std::string name_;  // "/namespace/name"
  rclcpp::node_interfaces::NodeTopicsInterface::SharedPtr topics_;
  rclcpp::node_interfaces::NodeGraphInterface::SharedPtr graph_;
  std::chrono::nanoseconds to_unix_;
  rclcpp::CallbackGroup::SharedPtr served_by_wait_;
  std::vector<Writer> writers_;
  std::vector<Reader> readers_;
  rclcpp::WaitSet wait_set_;  // after the subscriptions that it holds
  rclcpp::SerializedMessage outgoing_;
  rclcpp::SerializedMessage incoming_;
  std::vector<Taken> taken_;
};

}  // namespace pitwall::ros_bridge

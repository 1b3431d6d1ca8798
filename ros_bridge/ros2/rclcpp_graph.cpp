// SPDX-License-Identifier: Apache-2.0
#include "ros_bridge/ros2/rclcpp_graph.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <thread>
#include <utility>

namespace pitwall::ros_bridge {
namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;
using std::chrono::system_clock;

// A publisher that is faster than we are does not keep wait() from its deadline.
constexpr int kTakenAtOnce = 256;

std::string full_name(const std::string& name_space, const std::string& name) {
  return name_space.empty() || name_space.back() != '/' ? name_space + "/" + name : name_space + name;
}

// The first 16 bytes are the GUID, also where rmw keeps 24 (Humble).
template <class Bytes>
Gid gid_of(const Bytes& bytes) {
  Gid gid{};
  std::copy_n(std::begin(bytes), gid.size(), gid.begin());
  return gid;
}

}  // namespace

rclcpp::QoS to_rclcpp(const Qos& qos) {
  rclcpp::QoS made(10);
  qos.depth == 0 ? made.keep_all() : made.keep_last(qos.depth);
  qos.reliable ? made.reliable() : made.best_effort();
  qos.transient_local ? made.transient_local() : made.durability_volatile();
  return made;
}

Qos from_rclcpp(const rclcpp::QoS& qos) {
  Qos made;
  made.reliable = qos.reliability() != rclcpp::ReliabilityPolicy::BestEffort;
  made.transient_local = qos.durability() == rclcpp::DurabilityPolicy::TransientLocal;
  made.depth = qos.history() == rclcpp::HistoryPolicy::KeepLast ? static_cast<std::uint32_t>(qos.depth()) : 0;
  return made;
}

RclcppGraph::RclcppGraph(rclcpp_lifecycle::LifecycleNode& node)
    : name_(full_name(node.get_namespace(), node.get_name())),
      topics_(node.get_node_topics_interface()),
      graph_(node.get_node_graph_interface()),
      to_unix_(std::chrono::duration_cast<nanoseconds>(system_clock::now().time_since_epoch()) -
               std::chrono::duration_cast<nanoseconds>(steady_clock::now().time_since_epoch())),
      served_by_wait_(node.create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive, false)) {}

Result<Graph::PublisherId> RclcppGraph::advertise(const TopicSpec& topic) {
  try {
    writers_.push_back({topic.name, rclcpp::create_generic_publisher(topics_, topic.name, topic.type, to_rclcpp(topic.qos))});
  } catch (const std::exception& e) {
    return Error{topic.name + " (" + topic.type + "): " + e.what()};
  }
  return writers_.size() - 1;
}

bool RclcppGraph::publish(PublisherId publisher, std::string_view cdr) {
  try {
    outgoing_.reserve(cdr.size());
    rcl_serialized_message_t& raw = outgoing_.get_rcl_serialized_message();
    std::memcpy(raw.buffer, cdr.data(), cdr.size());
    raw.buffer_length = cdr.size();
    writers_.at(publisher).publisher->publish(outgoing_);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

std::size_t RclcppGraph::readers_of(PublisherId publisher) const { return writers_.at(publisher).publisher->get_subscription_count(); }

Status RclcppGraph::subscribe(const TopicSpec& topic, Handler handler) {
  try {
    rclcpp::SubscriptionOptions options;
    options.callback_group = served_by_wait_;
    const std::function<void(std::shared_ptr<rclcpp::SerializedMessage>)> nobody_calls_it = [](const auto&) {};
    auto subscription =
        rclcpp::create_generic_subscription(topics_, topic.name, topic.type, to_rclcpp(topic.qos), nobody_calls_it, options);
    rclcpp::SubscriptionWaitSetMask messages_only;
    messages_only.include_events = false;
    messages_only.include_intra_process_waitable = false;
    wait_set_.add_subscription(subscription, messages_only);
    readers_.push_back({topic.name, std::move(subscription), std::move(handler)});
  } catch (const std::exception& e) {
    return Error{topic.name + " (" + topic.type + "): " + e.what()};
  }
  return {};
}

std::vector<Endpoint> RclcppGraph::endpoints() const {
  std::vector<Endpoint> all;
  std::map<std::pair<std::string, bool>, std::size_t> ours;
  for (const Writer& each : writers_) ++ours[{each.topic, true}];
  for (const Reader& each : readers_) ++ours[{each.topic, false}];
  const auto add = [&](const std::string& topic, const std::vector<rclcpp::TopicEndpointInfo>& of_topic, bool writes) {
    for (const rclcpp::TopicEndpointInfo& info : of_topic) {
      Endpoint endpoint;
      endpoint.gid = gid_of(info.endpoint_gid());
      endpoint.writes = writes;
      endpoint.topic = {topic, info.topic_type(), from_rclcpp(info.qos_profile())};
      endpoint.node = full_name(info.node_namespace(), info.node_name());
      std::size_t& left = ours[{topic, writes}];
      endpoint.ours = left > 0 && endpoint.node == name_;
      if (endpoint.ours) --left;
      all.push_back(std::move(endpoint));
    }
  };
  for (const auto& topic : graph_->get_topic_names_and_types()) {
    add(topic.first, graph_->get_publishers_info_by_topic(topic.first), true);
    add(topic.first, graph_->get_subscriptions_info_by_topic(topic.first), false);
  }
  return all;
}

Time RclcppGraph::now() const {
  return Time{(std::chrono::duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()) + to_unix_).count()};
}

void RclcppGraph::wait(Time until) {
  const nanoseconds left(std::max<std::int64_t>(0, (until - now()).ns));
  if (readers_.empty()) return std::this_thread::sleep_for(left);
  static_cast<void>(wait_set_.wait(left));
  for (std::size_t reader = 0; reader < readers_.size(); ++reader) take_from(reader);
  std::stable_sort(taken_.begin(), taken_.end(), [](const Taken& a, const Taken& b) { return a.order_ns < b.order_ns; });
  // A handler may come back here.
  for (const Taken& each : std::exchange(taken_, {})) readers_[each.reader].handler(each.cdr, each.arrival);
}

void RclcppGraph::take_from(std::size_t reader) {
  rclcpp::MessageInfo info;
  for (int i = 0; i < kTakenAtOnce && readers_[reader].subscription->take_serialized(incoming_, info); ++i) {
    const rcl_serialized_message_t& raw = incoming_.get_rcl_serialized_message();
    const rmw_message_info_t& how = info.get_rmw_message_info();
    taken_.push_back({reader,
                      how.received_timestamp,
                      std::string(reinterpret_cast<const char*>(raw.buffer), raw.buffer_length),
                      {now(), Time{how.source_timestamp}, gid_of(how.publisher_gid.data)}});
  }
}

}  // namespace pitwall::ros_bridge

// SPDX-License-Identifier: Apache-2.0
// What ros_bridge/ros2 uses of rclcpp, by its signatures, on a graph inside the process: what is published arrives at once, in the queue of
// each matching subscription. Jazzy; with RCLCPP_STUB_HUMBLE, where the two differ, Humble.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#ifdef RCLCPP_STUB_HUMBLE
#define RMW_GID_STORAGE_SIZE 24U
#else
#define RMW_GID_STORAGE_SIZE 16U
#endif
#define RCLCPP_ERROR(logger, ...) ((void)(logger), (void)std::fprintf(stderr, __VA_ARGS__), (void)std::fputc('\n', stderr))

struct rmw_gid_t {
  const char* implementation_identifier;
  std::uint8_t data[RMW_GID_STORAGE_SIZE];
};
struct rmw_message_info_t {
  std::int64_t source_timestamp;
  std::int64_t received_timestamp;
  std::uint64_t publication_sequence_number;
  std::uint64_t reception_sequence_number;
  rmw_gid_t publisher_gid;
  bool from_intra_process;
};
struct rcl_serialized_message_t {
  std::uint8_t* buffer;
  std::size_t buffer_length;
  std::size_t buffer_capacity;
};

namespace rcl_interfaces::msg {
struct FloatingPointRange {
  double from_value = 0.0, to_value = 0.0, step = 0.0;
};
struct IntegerRange {
  std::int64_t from_value = 0, to_value = 0;
  std::uint64_t step = 0;
};
struct ParameterDescriptor {
  std::string name;
  std::uint8_t type = 0;
  std::string description, additional_constraints;
  bool read_only = false, dynamic_typing = false;
  std::vector<FloatingPointRange> floating_point_range;
  std::vector<IntegerRange> integer_range;
};
struct SetParametersResult {
  bool successful = false;
  std::string reason;
};
}  // namespace rcl_interfaces::msg

namespace rclcpp {

enum class ReliabilityPolicy { BestEffort, Reliable, SystemDefault, Unknown };
enum class DurabilityPolicy { Volatile, TransientLocal, SystemDefault, Unknown };
enum class HistoryPolicy { KeepLast, KeepAll, SystemDefault, Unknown };

class QoS {
 public:
  QoS(std::size_t history_depth)
      : depth_(history_depth) {}  // NOLINT(google-explicit-constructor): rclcpp::QoS converts from a depth, and callers rely on it
  QoS& keep_last(std::size_t depth) { return history_ = HistoryPolicy::KeepLast, depth_ = depth, *this; }
  QoS& keep_all() { return history_ = HistoryPolicy::KeepAll, depth_ = 0, *this; }
  QoS& reliable() { return reliability_ = ReliabilityPolicy::Reliable, *this; }
  QoS& best_effort() { return reliability_ = ReliabilityPolicy::BestEffort, *this; }
  QoS& transient_local() { return durability_ = DurabilityPolicy::TransientLocal, *this; }
  QoS& durability_volatile() { return durability_ = DurabilityPolicy::Volatile, *this; }
  [[nodiscard]] ReliabilityPolicy reliability() const { return reliability_; }
  [[nodiscard]] DurabilityPolicy durability() const { return durability_; }
  [[nodiscard]] HistoryPolicy history() const { return history_; }
  [[nodiscard]] std::size_t depth() const { return depth_; }

 private:
  ReliabilityPolicy reliability_ = ReliabilityPolicy::Reliable;
  DurabilityPolicy durability_ = DurabilityPolicy::Volatile;
  HistoryPolicy history_ = HistoryPolicy::KeepLast;
  std::size_t depth_;
};

class SerializedMessage {
 public:
  SerializedMessage() = default;
  SerializedMessage(const SerializedMessage&) = delete;
  SerializedMessage& operator=(const SerializedMessage&) = delete;
  ~SerializedMessage() { std::free(raw_.buffer); }
  void reserve(std::size_t capacity) {
    raw_.buffer = static_cast<std::uint8_t*>(std::realloc(raw_.buffer, capacity));
    raw_.buffer_capacity = capacity;
  }
  rcl_serialized_message_t& get_rcl_serialized_message() { return raw_; }
  [[nodiscard]] const rcl_serialized_message_t& get_rcl_serialized_message() const { return raw_; }

 private:
  rcl_serialized_message_t raw_{};
};

class MessageInfo {
 public:
  [[nodiscard]] const rmw_message_info_t& get_rmw_message_info() const { return info_; }
  rmw_message_info_t& get_rmw_message_info() { return info_; }

 private:
  rmw_message_info_t info_{};
};

enum class CallbackGroupType { MutuallyExclusive, Reentrant };
struct CallbackGroup {
  using SharedPtr = std::shared_ptr<CallbackGroup>;
  bool automatically_added = true;
};
template <class Allocator>
struct PublisherOptionsWithAllocator {
  CallbackGroup::SharedPtr callback_group;
};
template <class Allocator>
struct SubscriptionOptionsWithAllocator {
  CallbackGroup::SharedPtr callback_group;
};
using SubscriptionOptions = SubscriptionOptionsWithAllocator<std::allocator<void>>;

}  // namespace rclcpp

/// What is only here: the graph.
namespace rclcpp_stub {

struct Endpoint {
  std::string topic, type, name, name_space;
  rclcpp::QoS qos;
  bool writes;
  std::array<std::uint8_t, RMW_GID_STORAGE_SIZE> gid{};
  std::deque<std::pair<std::string, rmw_message_info_t>> queue = {};
};
struct Graph {
  std::vector<std::weak_ptr<Endpoint>> endpoints;
  std::uint8_t next = 1;
  std::int64_t time_ns = 0;
  std::shared_ptr<Endpoint> add(Endpoint endpoint) {
    if (endpoint.type.rfind("missing_", 0) == 0) throw std::runtime_error("package 'missing_msgs' not found");
    endpoint.gid[0] = next++;
    auto made = std::make_shared<Endpoint>(std::move(endpoint));
    endpoints.push_back(made);
    return made;
  }
  [[nodiscard]] std::vector<std::shared_ptr<Endpoint>> of(const std::string& topic, bool writes) const {
    std::vector<std::shared_ptr<Endpoint>> found;
    for (const auto& each : endpoints) {
      if (auto there = each.lock(); there && there->topic == topic && there->writes == writes) found.push_back(there);
    }
    return found;
  }
};
inline Graph& graph() {
  static Graph all;
  return all;
}

}  // namespace rclcpp_stub

namespace rclcpp {

namespace node_interfaces {
struct NodeBaseInterface {
  using SharedPtr = std::shared_ptr<NodeBaseInterface>;
};
struct NodeTopicsInterface {
  using SharedPtr = std::shared_ptr<NodeTopicsInterface>;
  std::string name, name_space;
};
struct OnSetParametersCallbackHandle {
  using SharedPtr = std::shared_ptr<OnSetParametersCallbackHandle>;
};
}  // namespace node_interfaces

class TopicEndpointInfo {
 public:
  explicit TopicEndpointInfo(const rclcpp_stub::Endpoint& of) : of_(of) {}
  [[nodiscard]] const std::string& node_name() const { return of_.name; }
  [[nodiscard]] const std::string& node_namespace() const { return of_.name_space; }
  [[nodiscard]] const std::string& topic_type() const { return of_.type; }
  [[nodiscard]] const std::array<std::uint8_t, RMW_GID_STORAGE_SIZE>& endpoint_gid() const { return of_.gid; }
  [[nodiscard]] const QoS& qos_profile() const { return of_.qos; }

 private:
  rclcpp_stub::Endpoint of_;
};

namespace node_interfaces {
struct NodeGraphInterface {
  using SharedPtr = std::shared_ptr<NodeGraphInterface>;
  [[nodiscard]] std::map<std::string, std::vector<std::string>> get_topic_names_and_types(bool no_demangle = false) const {
    static_cast<void>(no_demangle);
    std::map<std::string, std::vector<std::string>> all;
    for (const auto& each : rclcpp_stub::graph().endpoints) {
      if (const auto there = each.lock()) all[there->topic].push_back(there->type);
    }
    return all;
  }
  [[nodiscard]] std::vector<TopicEndpointInfo> get_publishers_info_by_topic(const std::string& topic, bool no_mangle = false) const {
    return info(topic, true, no_mangle);
  }
  [[nodiscard]] std::vector<TopicEndpointInfo> get_subscriptions_info_by_topic(const std::string& topic, bool no_mangle = false) const {
    return info(topic, false, no_mangle);
  }

 private:
  static std::vector<TopicEndpointInfo> info(const std::string& topic, bool writes, bool /*no_mangle*/) {
    std::vector<TopicEndpointInfo> all;
    for (const auto& each : rclcpp_stub::graph().of(topic, writes)) all.emplace_back(*each);
    return all;
  }
};
}  // namespace node_interfaces

class GenericPublisher {
 public:
  explicit GenericPublisher(std::shared_ptr<rclcpp_stub::Endpoint> endpoint) : endpoint_(std::move(endpoint)) {}
  void publish(const SerializedMessage& message) {
    const rcl_serialized_message_t& raw = message.get_rcl_serialized_message();
    rmw_message_info_t info{};
    info.source_timestamp = info.received_timestamp = ++rclcpp_stub::graph().time_ns;
    std::copy(endpoint_->gid.begin(), endpoint_->gid.end(), std::begin(info.publisher_gid.data));
    for (const auto& reader : rclcpp_stub::graph().of(endpoint_->topic, false)) {
      reader->queue.emplace_back(std::string(reinterpret_cast<const char*>(raw.buffer), raw.buffer_length), info);
    }
  }
  [[nodiscard]] std::size_t get_subscription_count() const { return rclcpp_stub::graph().of(endpoint_->topic, false).size(); }

 private:
  std::shared_ptr<rclcpp_stub::Endpoint> endpoint_;
};

class SubscriptionBase {
 public:
  explicit SubscriptionBase(std::shared_ptr<rclcpp_stub::Endpoint> endpoint) : endpoint_(std::move(endpoint)) {}
  virtual ~SubscriptionBase() = default;
  bool take_serialized(SerializedMessage& message_out, MessageInfo& message_info_out) {
    if (endpoint_->queue.empty()) return false;
    const auto [bytes, info] = std::move(endpoint_->queue.front());
    endpoint_->queue.pop_front();
    message_out.reserve(bytes.size());
    rcl_serialized_message_t& raw = message_out.get_rcl_serialized_message();
    std::copy(bytes.begin(), bytes.end(), raw.buffer);
    raw.buffer_length = bytes.size();
    message_info_out.get_rmw_message_info() = info;
    return true;
  }
  [[nodiscard]] bool waits() const { return !endpoint_->queue.empty(); }

 private:
  std::shared_ptr<rclcpp_stub::Endpoint> endpoint_;
};
class GenericSubscription final : public SubscriptionBase {
  using SubscriptionBase::SubscriptionBase;
};

template <typename AllocatorT = std::allocator<void>>
std::shared_ptr<GenericPublisher> create_generic_publisher(
    node_interfaces::NodeTopicsInterface::SharedPtr topics_interface, const std::string& topic_name, const std::string& topic_type,
    const QoS& qos, const PublisherOptionsWithAllocator<AllocatorT>& = PublisherOptionsWithAllocator<AllocatorT>()) {
  return std::make_shared<GenericPublisher>(
      rclcpp_stub::graph().add({topic_name, topic_type, topics_interface->name, topics_interface->name_space, qos, true}));
}

#ifdef RCLCPP_STUB_HUMBLE
template <typename AllocatorT = std::allocator<void>>
std::shared_ptr<GenericSubscription> create_generic_subscription(
    node_interfaces::NodeTopicsInterface::SharedPtr topics_interface, const std::string& topic_name, const std::string& topic_type,
    const QoS& qos, std::function<void(std::shared_ptr<SerializedMessage>)> /*callback*/,
    const SubscriptionOptionsWithAllocator<AllocatorT>& options = SubscriptionOptionsWithAllocator<AllocatorT>()) {
#else
template <typename CallbackT, typename AllocatorT = std::allocator<void>>
std::shared_ptr<GenericSubscription> create_generic_subscription(
    node_interfaces::NodeTopicsInterface::SharedPtr topics_interface, const std::string& topic_name, const std::string& topic_type,
    const QoS& qos, CallbackT&& /*callback*/,
    const SubscriptionOptionsWithAllocator<AllocatorT>& options = SubscriptionOptionsWithAllocator<AllocatorT>()) {
  static_assert(std::is_invocable_v<CallbackT, std::shared_ptr<SerializedMessage>>);
#endif
  if (!options.callback_group || options.callback_group->automatically_added)
    throw std::runtime_error("an executor would take the messages");
  return std::make_shared<GenericSubscription>(
      rclcpp_stub::graph().add({topic_name, topic_type, topics_interface->name, topics_interface->name_space, qos, false}));
}

class SubscriptionWaitSetMask {
 public:
  bool include_subscription = true;
  bool include_events = true;
  bool include_intra_process_waitable = true;
};
enum WaitResultKind { Ready, Timeout, Empty };
class WaitSet {
 public:
  void add_subscription(std::shared_ptr<SubscriptionBase> subscription, SubscriptionWaitSetMask = {}) {
    subscriptions_.push_back(std::move(subscription));
  }
  template <class Rep = std::int64_t, class Period = std::milli>
  [[nodiscard]] WaitResultKind wait(std::chrono::duration<Rep, Period> time_to_wait) {
    for (const auto& each : subscriptions_) {
      if (each->waits()) return Ready;
    }
    std::this_thread::sleep_for(time_to_wait);
    return Timeout;
  }

 private:
  std::vector<std::shared_ptr<SubscriptionBase>> subscriptions_;
};

enum ParameterType : std::uint8_t { PARAMETER_NOT_SET, PARAMETER_BOOL, PARAMETER_INTEGER, PARAMETER_DOUBLE, PARAMETER_STRING };
class ParameterValue {
 public:
  ParameterValue() = default;
  explicit ParameterValue(bool value) : type(PARAMETER_BOOL), flag(value) {}
  explicit ParameterValue(std::int64_t value) : type(PARAMETER_INTEGER), integer(value) {}
  explicit ParameterValue(double value) : type(PARAMETER_DOUBLE), number(value) {}
  explicit ParameterValue(const std::string& value) : type(PARAMETER_STRING), text(value) {}
  explicit ParameterValue(const char* value) : ParameterValue(std::string(value)) {}
  bool operator==(const ParameterValue&) const = default;

  ParameterType type = PARAMETER_NOT_SET;  // members: of the stub only
  bool flag = false;
  std::int64_t integer = 0;
  double number = 0.0;
  std::string text;
};
class Parameter {
 public:
  Parameter(std::string name, const ParameterValue& value) : name_(std::move(name)), value_(value) {}
  template <class Value>
  Parameter(std::string name, Value value) : name_(std::move(name)), value_(value) {}
  [[nodiscard]] const std::string& get_name() const { return name_; }
  [[nodiscard]] ParameterType get_type() const { return value_.type; }
  [[nodiscard]] const ParameterValue& get_parameter_value() const { return value_; }
  [[nodiscard]] bool as_bool() const { return value_.flag; }
  [[nodiscard]] std::int64_t as_int() const { return value_.integer; }
  [[nodiscard]] double as_double() const { return value_.number; }
  [[nodiscard]] const std::string& as_string() const { return value_.text; }
  [[nodiscard]] std::string value_to_string() const { return value_.text; }
  template <class Value>
  [[nodiscard]] Value get_value() const {
    if constexpr (std::is_same_v<Value, bool>) return as_bool();
    if constexpr (std::is_same_v<Value, std::int64_t>) return as_int();
    if constexpr (std::is_same_v<Value, double>) return as_double();
    if constexpr (std::is_same_v<Value, std::string>) return as_string();
  }

 private:
  std::string name_;
  ParameterValue value_;
};

class NodeOptions {
 public:
  NodeOptions& parameter_overrides(const std::vector<Parameter>& overrides) { return overrides_ = overrides, *this; }
  [[nodiscard]] const std::vector<Parameter>& parameter_overrides() const { return overrides_; }

 private:
  std::vector<Parameter> overrides_;
};

struct Logger {};
struct InitOptions {};
enum class SignalHandlerOptions { All, SigInt, SigTerm, None };
inline void init(int, const char* const*, const InitOptions& = InitOptions(), SignalHandlerOptions = SignalHandlerOptions::All) {}
inline bool ok() { return true; }
inline bool shutdown() { return true; }

namespace executors {
struct SingleThreadedExecutor {
  void add_node(node_interfaces::NodeBaseInterface::SharedPtr, bool = true) {}
  void spin_some(std::chrono::nanoseconds = std::chrono::nanoseconds(0)) {}
  template <class Rep = std::int64_t, class Period = std::milli>
  void spin_once(std::chrono::duration<Rep, Period> = std::chrono::duration<Rep, Period>(-1)) {}
};
}  // namespace executors

}  // namespace rclcpp

// SPDX-License-Identifier: Apache-2.0
#include "ros_bridge/dds/dds_graph.hpp"

#include <dds/dds.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <utility>

#include "core/check.hpp"
#include "core/log.hpp"
#include "ros_bridge/dds/discovery.hpp"
#include "ros_bridge/dds/domain.hpp"
#include "ros_bridge/dds/entities.hpp"
#include "ros_bridge/dds/names.hpp"
#include "ros_bridge/dds/plain_cdr.hpp"

namespace pitwall::ros_bridge {
namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

/// What Cyclone's threads ring when something came. Its own waitset waits on the time of day, which may jump.
class Bell {
 public:
  void ring() {
    {
      const std::lock_guard lock(mutex_);
      rung_ = true;
    }
    rang_.notify_one();
  }
  /// Whether it was rung since the last call, or is before `until`.
  bool wait(steady_clock::time_point until) {
    std::unique_lock lock(mutex_);
    rang_.wait_until(lock, until, [this] { return rung_; });
    return std::exchange(rung_, false);
  }

 private:
  std::mutex mutex_;
  std::condition_variable rang_;
  bool rung_ = true;
};

struct DeleteListener {
  void operator()(dds_listener_t* listener) const { dds_delete_listener(listener); }
};
using Listener = std::unique_ptr<dds_listener_t, DeleteListener>;

Listener listen_for(Bell& bell) {
  Listener listener(dds_create_listener(&bell));
  dds_lset_data_available(listener.get(), [](dds_entity_t, void* arg) { static_cast<Bell*>(arg)->ring(); });
  dds_lset_publication_matched(listener.get(),
                               [](dds_entity_t, dds_publication_matched_status_t, void* arg) { static_cast<Bell*>(arg)->ring(); });
  return listener;
}

/// Plain CDR of either byte order (DDS-XTypes 7.4.3.4): 00 00 or 00 01.
bool is_plain_cdr(std::string_view cdr) { return cdr.size() >= 4 && cdr[0] == '\0' && (cdr[1] == '\0' || cdr[1] == '\1'); }

std::string hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += {kDigits[byte / 16], kDigits[byte % 16]};
  }
  return out;
}

}  // namespace

struct DdsGraph::Parts {
  struct Publisher {
    dds_entity_t writer = 0;
    const ddsi_sertype* type = nullptr;
  };
  struct Subscription {
    dds_entity_t reader = 0;
    std::string topic;
    Handler handler;
  };
  struct Arrived {
    TakenCdr taken;
    PlainCdrView view;
    std::size_t subscription = 0;
  };

  ~Parts() {
    if (participant > 0) dds_delete(participant);  // before the bell, which its listeners ring
  }

  Result<CdrTopic> topic(const TopicSpec& spec);
  void hand_out();
  void hand_over(Arrived& arrived);

  nanoseconds to_unix{};  ///< what the monotonic clock is moved by
  Bell bell;
  Listener listener;
  std::unique_ptr<Domain> domain;
  dds_entity_t participant = 0;
  Discovery discovery;
  std::vector<Publisher> publishers;
  std::deque<Subscription> subscriptions;  // handlers may subscribe
  std::vector<TakenCdr> taken;
  std::set<std::uint64_t> refused_writers;
  std::uint64_t refused = 0;
};

DdsGraph::DdsGraph(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
DdsGraph::~DdsGraph() = default;

Result<std::unique_ptr<DdsGraph>> DdsGraph::make(const DdsOptions& options) {
  if (Status status = check_node(options.node); !status) return status.error();
  auto parts = std::make_unique<Parts>();
  parts->to_unix = std::chrono::duration_cast<nanoseconds>(std::chrono::system_clock::now().time_since_epoch()) -
                   std::chrono::duration_cast<nanoseconds>(steady_clock::now().time_since_epoch());
  auto domain = Domain::open(options.settings);
  if (!domain) return domain.error();
  parts->domain = std::move(*domain);
  parts->listener = listen_for(parts->bell);
  dds_qos_t* qos = dds_create_qos();
  constexpr std::string_view kEnclave = "enclave=/;";  // without it ROS 2 leaves a participant out
  dds_qset_userdata(qos, kEnclave.data(), kEnclave.size());
  parts->participant = dds_create_participant(options.settings.domain, qos, nullptr);
  dds_delete_qos(qos);
  if (parts->participant < 0) {
    return Error{"DDS domain " + std::to_string(options.settings.domain) + ": no participant: " + dds_strretcode(parts->participant)};
  }
  if (Status status = parts->discovery.start(parts->participant, options.node, parts->listener.get()); !status) return status.error();
  return std::unique_ptr<DdsGraph>(new DdsGraph(std::move(parts)));
}

Result<CdrTopic> DdsGraph::Parts::topic(const TopicSpec& spec) {
  if (Status status = check_topic(spec); !status) return status.error();
  return create_cdr_topic(participant, dds_topic(spec.name), spec.type);
}

Result<Graph::PublisherId> DdsGraph::advertise(const TopicSpec& spec) {
  const Result<CdrTopic> topic = parts_->topic(spec);
  if (!topic) return topic.error();
  const Result<dds_entity_t> writer = create_writer(parts_->participant, topic->handle, spec, parts_->listener.get());
  if (!writer) return writer.error();
  parts_->discovery.add_own(gid_of_entity(*writer), true);
  parts_->publishers.push_back({*writer, topic->type});
  return parts_->publishers.size() - 1;
}

Status DdsGraph::subscribe(const TopicSpec& spec, Handler handler) {
  const Result<CdrTopic> topic = parts_->topic(spec);
  if (!topic) return topic.error();
  const Result<dds_entity_t> reader = create_reader(parts_->participant, topic->handle, spec, parts_->listener.get());
  if (!reader) return reader.error();
  parts_->discovery.add_own(gid_of_entity(*reader), false);
  parts_->subscriptions.push_back({*reader, spec.name, std::move(handler)});
  return {};
}

bool DdsGraph::publish(PublisherId publisher, std::string_view cdr) {
  PITWALL_CHECK(publisher < parts_->publishers.size(), publisher);
  if (!is_plain_cdr(cdr)) return false;
  const Parts::Publisher& to = parts_->publishers[publisher];
  return dds_writecdr(to.writer, make_plain_cdr(to.type, cdr)) == DDS_RETCODE_OK;
}

std::size_t DdsGraph::readers_of(PublisherId publisher) const {
  PITWALL_CHECK(publisher < parts_->publishers.size(), publisher);
  const dds_return_t count = dds_get_matched_subscriptions(parts_->publishers[publisher].writer, nullptr, 0);
  return static_cast<std::size_t>(std::max(count, 0));
}

std::vector<Endpoint> DdsGraph::endpoints() const {
  parts_->discovery.update();
  return parts_->discovery.endpoints();
}

Time DdsGraph::now() const {
  return Time{(std::chrono::duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()) + parts_->to_unix).count()};
}

void DdsGraph::wait(Time until) {
  const steady_clock::time_point end{nanoseconds(until.ns) - parts_->to_unix};
  if (!parts_->bell.wait(end)) return;
  parts_->hand_out();
  parts_->discovery.forget_gone();
  parts_->discovery.update();
}

void DdsGraph::Parts::hand_out() {
  std::vector<Arrived> arrived;
  for (std::size_t i = 0; i < subscriptions.size(); ++i) {
    taken.clear();
    take_cdr(subscriptions[i].reader, taken);
    for (TakenCdr& each : taken) {
      const PlainCdrView view = view_plain_cdr(each.message.get());
      arrived.push_back({std::move(each), view, i});
    }
  }
  std::sort(arrived.begin(), arrived.end(), [](const Arrived& a, const Arrived& b) { return a.view.order < b.view.order; });
  for (Arrived& each : arrived) hand_over(each);
}

void DdsGraph::Parts::hand_over(Arrived& arrived) {
  const std::string_view cdr = arrived.view.cdr;
  const Subscription& to = subscriptions[arrived.subscription];
  const Gid writer = discovery.writer(arrived.taken.writer);
  if (is_plain_cdr(cdr)) return to.handler(cdr, {Time{arrived.view.arrived_ns + to_unix.count()}, arrived.taken.sent, writer});
  ++refused;
  if (!refused_writers.insert(arrived.taken.writer).second) return;
  log::warn(to.topic + ": messages of writer " + hex({reinterpret_cast<const char*>(writer.data()), writer.size()}) + " begin with " +
            hex(cdr.substr(0, 4)) + " and are not taken; plain CDR begins with 0000 or 0001");
}

std::uint64_t DdsGraph::refused() const { return parts_->refused; }

}  // namespace pitwall::ros_bridge

// SPDX-License-Identifier: Apache-2.0
#include "ros_bridge/graph_player.hpp"

#include <algorithm>
#include <utility>

#include "core/text.hpp"
#include "ros_bridge/qos_text.hpp"
#include "ros_messages/convert.hpp"
#include "ros_messages/dynamic.hpp"
#include "ros_messages/known_types.hpp"

namespace pitwall::ros_bridge {
namespace {

constexpr Duration kLook = from_milliseconds(2);
constexpr int kIdleLooks = 2;
constexpr int kLastLooks = 50;
constexpr std::uint64_t kAliveEvery = 100;
// How long the transport may take for one message before it counts as stuck.
constexpr Duration kPublishTimeout = from_milliseconds(10'000);

std::string words(const Qos& qos) {
  return std::string(qos.reliable ? "reliable" : "best effort") + ", " + (qos.transient_local ? "transient local" : "volatile");
}

}  // namespace

Result<std::unique_ptr<GraphPlayer>> GraphPlayer::make(const std::vector<recording::Topic>& topics, const GraphPlayerOptions& options,
                                                       Graph& graph, Peer* peer, std::function<bool()> interrupted) {
  std::unique_ptr<GraphPlayer> player(new GraphPlayer(options, graph, peer, std::move(interrupted)));
  for (const recording::Topic& topic : topics) {
    if (player->channels_.contains(topic.name)) continue;
    if (topic.encoding != "cdr") return Error{topic.name + ": encoded as '" + topic.encoding + "'; only cdr can be played"};
    const Result<Qos> recorded = parse_qos(topic.qos, "QoS of " + topic.name);
    if (!recorded) return recorded.error();
    Qos qos{.reliable = true, .transient_local = topic.latched || recorded->transient_local, .depth = 0};
    if (qos.transient_local) qos.depth = std::max(recorded->depth, 100U);
    const TopicSpec spec{topic.name.front() == '/' ? topic.name : "/" + topic.name, topic.type, qos, topic.type_hash};
    const auto publisher = graph.advertise(spec);
    if (!publisher) return publisher.error();
    player->channels_[topic.name] = {*publisher, spec};
  }
  for (const std::string& topic : options.required) {
    if (!player->channels_.contains(topic)) return Error{"required topic " + topic + " is not in the recording"};
  }
  if (options.clock) {
    if (const Status status = player->clock_.open(graph, "/clock", {.reliable = true, .transient_local = false, .depth = 0}); !status)
      return status.error();
  }
  return player;
}

void GraphPlayer::wait(Duration span) {
  for (const Time end = graph_.now() + span; graph_.now() < end;) graph_.wait(end);
  on_wait_();
}

Status GraphPlayer::look_around() {
  if (interrupted_()) return Error{"interrupted after " + std::to_string(given_) + " messages"};
  if (peer_ != nullptr && !peer_->alive()) return Error{"the program died after " + std::to_string(given_) + " messages"};
  return {};
}

std::string GraphPlayer::unmatched() const {
  std::vector<std::string> lines;
  for (const Endpoint& reader : graph_.endpoints()) {
    const auto channel = channels_.find(reader.topic.name);
    if (reader.writes || reader.ours || channel == channels_.end()) continue;
    const TopicSpec& ours = channel->second.topic;
    if (ours.type != reader.topic.type) {
      lines.push_back(ours.name + ": recorded as " + ours.type + ", " + reader.node + " reads " + reader.topic.type);
    } else if (!matches(ours.qos, reader.topic.qos)) {
      lines.push_back(ours.name + ": offered " + words(ours.qos) + ", " + reader.node + " asks for " + words(reader.topic.qos));
    }
  }
  return join(lines, "; ");
}

Status GraphPlayer::connect() {
  const Time end = graph_.now() + options_.connect_timeout;
  std::optional<Time> since;
  std::vector<std::size_t> before;
  for (;;) {
    wait(from_milliseconds(50));
    if (Status status = look_around(); !status) return status;
    std::vector<std::size_t> readers;
    for (const auto& [name, channel] : channels_) readers.push_back(graph_.readers_of(channel.publisher));
    if (readers != before || !since) since = graph_.now();
    before = readers;
    std::vector<std::string> lacking;
    for (const std::string& topic : options_.required) {
      if (!has_subscriber(topic)) lacking.push_back(topic);
    }
    const std::string wrong = unmatched();
    if (lacking.empty() && graph_.now() - *since >= options_.connect_stable)
      return wrong.empty() ? listen_to_output() : Status(Error{wrong});
    if (graph_.now() >= end)
      return Error{"after " + format_number(options_.connect_timeout.seconds(), 3) + " s nobody reads " + join(lacking) +
                   (wrong.empty() ? "" : "; " + wrong)};
  }
}

bool GraphPlayer::has_subscriber(const std::string& topic) const {
  const auto channel = channels_.find(topic);
  return channel != channels_.end() && graph_.readers_of(channel->second.publisher) > 0;
}

Status GraphPlayer::wait_until_idle(int looks) {
  if (peer_ == nullptr) return {};
  const Time end = graph_.now() + options_.idle_timeout;
  for (int idle = 0; idle < looks;) {
    wait(kLook);
    idle = peer_->busy() ? 0 : idle + 1;
    if (Status status = look_around(); !status) return status;
    if (graph_.now() >= end)
      return Error{"not idle within " + format_number(options_.idle_timeout.seconds(), 3) + " s; busy most often: " + peer_->busiest()};
  }
  peer_->busiest();  // what was busy now is not to blame later
  return {};
}

Status GraphPlayer::wait_for(const std::function<bool()>& done, Duration patience) {
  for (const Time end = graph_.now() + patience; !done() && graph_.now() < end;) {
    wait(kLook);
    if (Status status = look_around(); !status) return status;
  }
  return {};
}

Status GraphPlayer::ready(Time time) {
  if (options_.lockstep) {
    if (Status status = wait_until_idle(kIdleLooks); !status) return status;
  }
  sensor_next_ = true;
  if (!options_.clock || (clock_at_ && time <= *clock_at_)) return {};
  clock_at_ = time;
  clock_.publish({ros_messages::to_stamp(time)});
  return {};
}

Status GraphPlayer::give(const recording::BusMessage& message) {
  const auto channel = channels_.find(message.topic);
  if (channel == channels_.end()) return {};
  if (!options_.lockstep) {
    if (!began_) began_ = {message.time, graph_.now()};
    const double since_s = (message.time - began_->first).seconds() / options_.rate;
    const Time due = began_->second + from_seconds(since_s);
    while (graph_.now() < due && !interrupted_()) wait(std::min(due - graph_.now(), from_milliseconds(50)));
  }
  // What comes after a sensor message must not overtake what is made of it.
  if (std::exchange(sensor_given_, std::exchange(sensor_next_, false)) && !sensor_given_ && options_.lockstep) {
    if (Status status = wait_until_idle(kIdleLooks); !status) return status;
  }
  if (given_ % kAliveEvery == 0) {
    if (Status status = look_around(); !status) return status;
  }
  const std::string_view bytes = recording::as_text(message.data);
  const Time end = graph_.now() + kPublishTimeout;
  while (!graph_.publish(channel->second.publisher, bytes)) {
    wait(kLook);
    if (Status status = look_around(); !status) return status;
    if (graph_.now() >= end) return Error{message.topic + ": its readers take no more messages"};
  }
  ++given_;
  on_wait_();
  return {};
}

Status GraphPlayer::listen_to_output() {
  if (listening_) return {};
  for (const Endpoint& writer : graph_.endpoints()) {
    if (!writer.writes || writer.ours || writer.topic.name != options_.output) continue;
    const ros_messages::Definition* definition = ros_messages::known_definition(writer.topic.type);
    if (definition == nullptr) return Error{options_.output + ": the stamps of " + writer.topic.type + " cannot be read"};
    TopicSpec spec = writer.topic;
    spec.qos = Qos::subscribe(100);
    listening_ = true;
    return graph_.subscribe(spec, [this, definition](std::string_view cdr, const Arrival& /*arrival*/) {
      const auto stamp = ros_messages::first_stamp(*definition, cdr);
      if (stamp && *stamp && (!last_output_ || **stamp > *last_output_)) last_output_ = **stamp;
    });
  }
  return {};
}

Status GraphPlayer::catch_up(Time time) {
  if (options_.output.empty()) return {};
  if (Status status = listen_to_output(); !status) return status;
  const Time end = graph_.now() + options_.stall_timeout;
  while ((!last_output_ || *last_output_ < time) && graph_.now() < end) {
    wait(from_milliseconds(20));
    if (Status status = look_around(); !status) return status;
  }
  if (last_output_ && *last_output_ >= time) return {};
  return Error{"no " + options_.output + " of " + format_number(time.seconds(), 13) + " s or later within " +
               format_number(options_.stall_timeout.seconds(), 3) + " s"};
}

Status GraphPlayer::finish() { return wait_until_idle(kLastLooks); }

}  // namespace pitwall::ros_bridge

// SPDX-License-Identifier: Apache-2.0
#include "ros_bridge/memory_graph.hpp"

#include <algorithm>
#include <utility>

namespace pitwall::ros_bridge {
namespace {

Status check(const TopicSpec& topic) {
  if (topic.name.empty() || topic.name.front() != '/') return Error{"topic '" + topic.name + "': a name begins with /"};
  if (topic.type.find("/msg/") == std::string::npos)
    return Error{"topic " + topic.name + ": type '" + topic.type + "' is not PACKAGE/msg/TYPE"};
  return {};
}

bool connects(const TopicSpec& writer, const TopicSpec& reader) {
  return writer.name == reader.name && writer.type == reader.type && matches(writer.qos, reader.qos);
}

}  // namespace

Gid MemoryNetwork::next_gid() {
  Gid gid{};
  ++gids_;
  for (std::size_t k = 0; k < 8; ++k) gid[15 - k] = static_cast<std::uint8_t>(gids_ >> (8 * k));
  return gid;
}

MemoryGraph::~MemoryGraph() {
  std::erase_if(network_.writers_, [this](const auto& writer) { return writer->owner == this; });
  std::erase_if(network_.readers_, [this](const auto& reader) { return reader->owner == this; });
}

Result<Graph::PublisherId> MemoryGraph::advertise(const TopicSpec& topic) {
  if (const Status status = check(topic); !status) return status.error();
  auto writer = std::make_unique<MemoryNetwork::Writer>(MemoryNetwork::Writer{network_.next_gid(), topic, node_, this, {}});
  publishers_.push_back(writer.get());
  network_.writers_.push_back(std::move(writer));
  return publishers_.size() - 1;
}

void MemoryGraph::put(MemoryNetwork::Reader& reader, std::string_view cdr, const Gid& writer) {
  const std::uint32_t depth = reader.topic.qos.depth;
  const auto of_reader = [&](const Waiting& waiting) { return waiting.reader == &reader; };
  if (depth > 0 && std::count_if(inbox_.begin(), inbox_.end(), of_reader) >= static_cast<std::ptrdiff_t>(depth))
    inbox_.erase(std::find_if(inbox_.begin(), inbox_.end(), of_reader));
  inbox_.push_back({&reader, std::string(cdr), {network_.now_, network_.now_, writer}});
}

bool MemoryGraph::publish(PublisherId publisher, std::string_view cdr) {
  if (refuse_) return false;
  MemoryNetwork::Writer& writer = *publishers_[publisher];
  if (writer.topic.qos.transient_local) {
    writer.kept.emplace_back(cdr);
    if (writer.topic.qos.depth > 0 && writer.kept.size() > writer.topic.qos.depth) writer.kept.pop_front();
  }
  for (const auto& reader : network_.readers_) {
    if (connects(writer.topic, reader->topic)) reader->owner->put(*reader, cdr, writer.gid);
  }
  return true;
}

std::size_t MemoryGraph::readers_of(PublisherId publisher) const {
  const auto reads = [&](const auto& reader) { return connects(publishers_[publisher]->topic, reader->topic); };
  return static_cast<std::size_t>(std::count_if(network_.readers_.begin(), network_.readers_.end(), reads));
}

Status MemoryGraph::subscribe(const TopicSpec& topic, Handler handler) {
  if (Status status = check(topic); !status) return status;
  network_.readers_.push_back(
      std::make_unique<MemoryNetwork::Reader>(MemoryNetwork::Reader{network_.next_gid(), topic, node_, this, std::move(handler)}));
  MemoryNetwork::Reader& reader = *network_.readers_.back();
  for (const auto& writer : network_.writers_) {
    if (!topic.qos.transient_local || !connects(writer->topic, topic)) continue;
    for (const std::string& cdr : writer->kept) put(reader, cdr, writer->gid);
  }
  return {};
}

std::vector<Endpoint> MemoryGraph::endpoints() const {
  std::vector<Endpoint> all;
  for (const auto& writer : network_.writers_) all.push_back({writer->gid, true, writer->topic, writer->node, writer->owner == this});
  for (const auto& reader : network_.readers_) all.push_back({reader->gid, false, reader->topic, reader->node, reader->owner == this});
  return all;
}

bool MemoryGraph::hand_out() {
  const bool any = !inbox_.empty();
  while (!inbox_.empty()) {
    const Waiting next = std::move(inbox_.front());
    inbox_.pop_front();
    next.reader->handler(next.cdr, next.arrival);
  }
  return any;
}

void MemoryGraph::wait(Time until) {
  if (hand_out()) return;
  if (network_.when_idle && !network_.idling_) {
    network_.idling_ = true;
    network_.when_idle();
    network_.idling_ = false;
    if (hand_out()) return;
  }
  network_.now_ = std::max(network_.now_, until);
}

}  // namespace pitwall::ros_bridge

// SPDX-License-Identifier: Apache-2.0
#include "recording/mcap_index.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "recording/mcap_stream.hpp"
#include "recording/mcap_summary.hpp"

namespace pitwall::recording {
namespace {

using namespace mcap;  // NOLINT(google-build-using-namespace): the file's own vocabulary

/// Messages outside chunks are read in stretches of about this many bytes.
constexpr std::uint64_t kStretch = std::uint64_t{1} << 20;

class McapIndexer {
 public:
  McapIndexer(ByteSource& source, std::string name, Findings& findings) : source_(source), name_(std::move(name)), findings_(findings) {
    if (!open_by_index()) open_by_reading();
  }
  [[nodiscard]] McapIndex take() { return std::move(index_); }

 private:
  bool open_by_index();
  void open_by_reading();
  void take_record(const StreamRecord& record);
  void take_message(const StreamRecord& record);
  void take_metadata(Bytes body);
  void add_channel(const Channel& channel);
  [[nodiscard]] Topic topic_of_channel(const Channel& channel);
  [[nodiscard]] std::int32_t known_topic(std::uint16_t channel, bool in_chunk);
  void set_topic(std::uint16_t channel, Topic topic);
  void check_header();
  void count_by_index(const std::vector<ChunkIndex>& chunks);
  void read_metadata_record(const MetadataIndex& index);
  void damage(std::uint64_t offset, std::string what, std::string kept) {
    findings_.add({Severity::kDamage, name_, offset, std::move(what), std::move(kept)});
  }

  ByteSource& source_;
  std::string name_;
  Findings& findings_;
  McapIndex index_;
  std::map<std::uint16_t, Schema> schemas_;
  std::vector<std::unique_ptr<Buffer>> schema_bytes_;
  std::map<std::uint16_t, Channel> channels_;
  std::set<std::uint16_t> lost_channels_;  ///< that messages name and no record defines, so far
  std::uint64_t refused_ = 0;
  std::uint64_t stretch_end_ = 0;  ///< where the record read last ends; beyond a gap a new stretch begins
};

void McapIndexer::add_channel(const Channel& channel) {
  const auto before = channels_.find(channel.id);
  if (before != channels_.end()) {
    if (before->second.topic != channel.topic || before->second.message_encoding != channel.message_encoding ||
        before->second.schema_id != channel.schema_id) {
      damage(
          0,
          "channel " + std::to_string(channel.id) + " is defined twice, as '" + before->second.topic + "' and as '" + channel.topic + "'",
          "kept the first");
    }
    return;
  }
  set_topic(channel.id, topic_of_channel(channel));
  channels_.emplace(channel.id, channel);
  lost_channels_.erase(channel.id);
}

Topic McapIndexer::topic_of_channel(const Channel& channel) {
  Topic topic;
  topic.name = channel.topic;
  topic.encoding = channel.message_encoding;
  const auto value = [&](const char* key) {
    const auto found = channel.metadata.find(key);
    return found == channel.metadata.end() ? std::string() : found->second;
  };
  topic.qos = value("offered_qos_profiles");
  topic.type_hash = value("topic_type_hash");
  topic.latched = is_transient_local(topic.qos) || topic.name == "/tf_static";
  const auto schema = schemas_.find(channel.schema_id);
  if (schema != schemas_.end()) {
    topic.type = normalised_type(schema->second.name);
    topic.schema_encoding = schema->second.encoding;
    topic.schema = as_text(schema->second.data);
  } else if (channel.schema_id != 0) {
    damage(0, "channel " + std::to_string(channel.id) + " ('" + channel.topic + "') has no schema " + std::to_string(channel.schema_id),
           "kept its messages without a type");
  }
  return topic;
}

/// A definition that comes after messages of its channel takes the place that was kept for it.
void McapIndexer::set_topic(std::uint16_t channel, Topic topic) {
  index_.topic_of.resize(std::max<std::size_t>(index_.topic_of.size(), std::size_t{channel} + 1), -1);
  std::int32_t& place = index_.topic_of[channel];
  if (place >= 0) {
    Topic& kept = index_.topics[static_cast<std::size_t>(place)];
    topic.message_count = kept.message_count;
    kept = std::move(topic);
    return;
  }
  place = static_cast<std::int32_t>(index_.topics.size());
  index_.topics.push_back(std::move(topic));
}

/// The topic of a channel. In a chunk, where records are what they seem, also of one whose definition was lost with
/// another chunk; else -1.
std::int32_t McapIndexer::known_topic(std::uint16_t channel, bool in_chunk) {
  const bool known = channel < index_.topic_of.size() && index_.topic_of[channel] >= 0;
  if (!known && !in_chunk) return -1;
  if (!known) {
    Topic topic;
    topic.name = "(channel " + std::to_string(channel) + ", its name is lost)";
    set_topic(channel, std::move(topic));
    lost_channels_.insert(channel);
  }
  return index_.topic_of[channel];
}

bool McapIndexer::open_by_index() {
  auto summary = read_summary(source_);
  const Status complete = summary ? check_index(*summary, source_) : Status{summary.error()};
  if (!complete) {
    findings_.add({Severity::kNote, name_, 0, complete.error().message, "read from front to back"});
    return false;
  }
  check_header();
  schemas_ = summary->schemas;
  schema_bytes_.push_back(std::make_unique<Buffer>(std::move(summary->bytes)));
  for (const auto& [id, channel] : summary->channels) add_channel(channel);
  for (const ChunkIndex& chunk : summary->chunks) {
    if (indexed_messages(chunk) == 0) continue;
    McapBlock block;
    block.offset = chunk.chunk_start_offset;
    block.length = chunk.chunk_length;
    block.chunk = true;
    block.start_ns = static_cast<std::int64_t>(std::min<std::uint64_t>(chunk.message_start_time, INT64_MAX));
    block.end_ns = static_cast<std::int64_t>(std::min<std::uint64_t>(chunk.message_end_time, INT64_MAX));
    for (const auto& [channel, offset] : chunk.message_index_offsets) block.channels.push_back(channel);
    index_.start_ns = std::min(index_.start_ns, block.start_ns);
    index_.end_ns = std::max(index_.end_ns, block.end_ns);
    index_.blocks.push_back(std::move(block));
  }
  if (summary->statistics) {
    for (const auto& [channel, count] : summary->statistics->channel_message_counts) {
      if (channel < index_.topic_of.size() && index_.topic_of[channel] >= 0)
        index_.topics[static_cast<std::size_t>(index_.topic_of[channel])].message_count = count;
    }
  }
  if (!summary->statistics) count_by_index(summary->chunks);
  for (const MetadataIndex& index : summary->metadata) {
    if (index.name == "rosbag2") read_metadata_record(index);
  }
  return true;
}

/// Nothing that follows depends on it, but a damage is a damage.
void McapIndexer::check_header() {
  std::array<std::uint8_t, kRecordHead> head{};
  const bool whole = source_.read(kMagic.size(), head) == head.size();
  if (!whole || head[0] != static_cast<std::uint8_t>(Op::kHeader) || load_le<std::uint64_t>(&head[1]) > source_.size()) {
    damage(kMagic.size(), "the header record is damaged", "read by the index, which is whole");
  }
}

/// Messages by channel where no statistics tell: from the lengths of the message indexes.
void McapIndexer::count_by_index(const std::vector<ChunkIndex>& chunks) {
  constexpr std::size_t kHead = kRecordHead + sizeof(std::uint16_t) + sizeof(std::uint32_t);
  for (const ChunkIndex& chunk : chunks) {
    for (const auto& [channel, offset] : chunk.message_index_offsets) {
      std::array<std::uint8_t, kHead> head{};
      if (source_.read(offset, head) < head.size()) continue;
      const auto bytes = load_le<std::uint32_t>(&head[kHead - sizeof(std::uint32_t)]);
      index_.topics[static_cast<std::size_t>(index_.topic_of[channel])].message_count += bytes / (2 * sizeof(std::uint64_t));
    }
  }
}

void McapIndexer::read_metadata_record(const MetadataIndex& index) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 26;
  if (index.length < kRecordHead || index.length > kMost) return;
  Buffer bytes(static_cast<std::size_t>(index.length));
  if (source_.read(index.offset, bytes) < bytes.size() || bytes[0] != static_cast<std::uint8_t>(Op::kMetadata)) return;
  take_metadata(Bytes(bytes).subspan(kRecordHead));
}

void McapIndexer::take_metadata(Bytes body) {
  const auto record = parse<Metadata>(body);
  if (!record || record->name != "rosbag2") return;
  const auto text = record->metadata.find("serialized_metadata");
  if (text != record->metadata.end()) index_.metadata_text = text->second;
}

void McapIndexer::open_by_reading() {
  StreamReader reader(source_, name_, findings_);
  StreamRecord record;
  while (reader.next(record)) {
    take_record(record);
    stretch_end_ = record.offset + record.length;
  }
  if (refused_ > 0) {
    damage(0, std::to_string(refused_) + " messages belong to channels that are not in the file, or have times out of range",
           "left them out");
  }
  for (const std::uint16_t channel : lost_channels_) {
    damage(0, "no record defines channel " + std::to_string(channel), "kept its messages without name and type");
  }
}

void McapIndexer::take_record(const StreamRecord& record) {
  switch (record.op) {
    case Op::kSchema: {
      auto schema = parse<Schema>(record.body);
      if (!schema || schemas_.contains(schema->id)) return;
      schema_bytes_.push_back(std::make_unique<Buffer>(schema->data.begin(), schema->data.end()));
      schema->data = Bytes32(schema_bytes_.back()->data(), schema_bytes_.back()->size());
      const std::uint16_t id = schema->id;
      schemas_.emplace(id, std::move(*schema));
      return;
    }
    case Op::kChannel: {
      const auto channel = parse<Channel>(record.body);
      if (channel) add_channel(*channel);
      return;
    }
    case Op::kMessage:
      return take_message(record);
    case Op::kMetadata:
      return take_metadata(record.body);
    default:
      return;
  }
}

void McapIndexer::take_message(const StreamRecord& record) {
  const auto channel = load_le<std::uint16_t>(record.body.data());
  const auto time = load_le<std::uint64_t>(record.body.data() + 6);
  const std::int32_t topic = known_topic(channel, record.in_chunk);
  if (topic < 0 || time > INT64_MAX) {
    ++refused_;
    return;
  }
  const auto time_ns = static_cast<std::int64_t>(time);
  McapBlock* block = index_.blocks.empty() ? nullptr : &index_.blocks.back();
  const bool same = block != nullptr && block->chunk == record.in_chunk &&
                    (record.in_chunk ? block->offset == record.offset
                                     : record.offset == stretch_end_ && record.offset + record.length - block->offset <= kStretch);
  if (!same) {
    block = &index_.blocks.emplace_back();
    block->offset = record.offset;
    block->chunk = record.in_chunk;
  }
  block->length = record.offset + record.length - block->offset;
  if (record.in_chunk) block->used = record.end_in_chunk;
  block->start_ns = std::min(block->start_ns, time_ns);
  block->end_ns = std::max(block->end_ns, time_ns);
  const auto place = std::lower_bound(block->channels.begin(), block->channels.end(), channel);
  if (place == block->channels.end() || *place != channel) block->channels.insert(place, channel);
  ++index_.topics[static_cast<std::size_t>(topic)].message_count;
  index_.start_ns = std::min(index_.start_ns, time_ns);
  index_.end_ns = std::max(index_.end_ns, time_ns);
}

}  // namespace

McapIndex index_mcap(ByteSource& source, const std::string& name, Findings& findings) { return McapIndexer(source, name, findings).take(); }

}  // namespace pitwall::recording

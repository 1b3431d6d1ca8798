// SPDX-License-Identifier: Apache-2.0
// An MCAP file as a Storage. The file is a list of blocks (a chunk, or a stretch of messages that lie outside chunks) with
// the times they span: from the index where that is complete, else from one reading of the whole file. Messages come out
// in order by merging the blocks whose times overlap, so memory holds only those.
#include <algorithm>
#include <map>
#include <utility>

#include "recording/mcap_stream.hpp"
#include "recording/mcap_summary.hpp"
#include "recording/storage.hpp"

namespace pitwall::recording {
namespace {

using namespace mcap;  // NOLINT(google-build-using-namespace): the file's own vocabulary

/// Decoded blocks that wait for their turn may take this much together; beyond, they are read again when it comes.
constexpr std::size_t kMostWaiting = std::size_t{96} << 20;
constexpr std::uint64_t kStretch = std::uint64_t{1} << 20;

struct Block {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;  ///< in the file
  std::int64_t start_ns = INT64_MAX;
  std::int64_t end_ns = INT64_MIN;
  bool chunk = false;
  std::size_t used = SIZE_MAX;          ///< decoded bytes to read of a chunk; the rest is damaged
  std::vector<std::uint16_t> channels;  ///< that it has messages of; sorted
};

/// A message of a block that is being read.
struct Entry {
  std::int64_t time_ns = 0;
  std::size_t at = 0;  ///< of its body, in the decoded block
  std::uint32_t size = 0;
};

struct Active {
  const Block* block = nullptr;
  std::vector<Entry> entries;
  std::size_t next = 0;
  Buffer stored;
  Buffer decoded;
  Bytes bytes;  ///< empty: has to be read again
  [[nodiscard]] std::int64_t time_ns() const { return entries[next].time_ns; }
  [[nodiscard]] std::size_t memory() const { return bytes.empty() ? 0 : stored.capacity() + decoded.capacity(); }
};

class McapStorage final : public Storage {
 public:
  McapStorage(std::unique_ptr<ByteSource> source, std::string name, Findings& findings)
      : source_(std::move(source)), name_(std::move(name)), findings_(findings) {
    if (!open_by_index()) open_by_reading();
  }

  void select(const Selection& selection) override;
  const BagMessage* next() override;

 private:
  bool open_by_index();
  void open_by_reading();
  void take_record(const StreamRecord& record);
  void take_message(const StreamRecord& record);
  void add_channel(const Channel& channel);
  void check_header();
  void count_by_index(const std::vector<ChunkIndex>& chunks);
  void read_metadata_record(const MetadataIndex& index);
  void note(std::string what, std::string kept = "") { findings_.add({Severity::kNote, name_, 0, std::move(what), std::move(kept)}); }
  void damage(std::uint64_t offset, std::string what, std::string kept) {
    findings_.add({Severity::kDamage, name_, offset, std::move(what), std::move(kept)});
  }

  void activate(const Block& block);
  bool load(Active& active);
  void list_messages(Active& active);
  void keep_memory_bounded();
  void reuse(std::unique_ptr<Active> active);

  std::unique_ptr<ByteSource> source_;
  std::string name_;
  Findings& findings_;
  std::map<std::uint16_t, Schema> schemas_;
  std::vector<std::unique_ptr<Buffer>> schema_bytes_;
  std::map<std::uint16_t, Channel> channels_;
  std::vector<std::int32_t> topic_of_;  ///< by channel id; -1: unknown
  std::vector<Block> blocks_;
  std::uint64_t unknown_channel_ = 0;
  std::uint64_t stretch_end_ = 0;  ///< where the record read last ends; beyond a gap a new stretch begins

  Selection selection_;
  std::vector<const Block*> waiting_;  ///< by start time, last first
  std::vector<std::unique_ptr<Active>> active_;
  std::vector<std::unique_ptr<Active>> spare_;
  Active* given_ = nullptr;  ///< whose message next() gave last
  std::int64_t last_time_ns_ = INT64_MIN;
  bool order_reported_ = false;
  BagMessage message_;
};

void McapStorage::add_channel(const Channel& channel) {
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
  topic_of_.resize(std::max<std::size_t>(topic_of_.size(), std::size_t{channel.id} + 1), -1);
  topic_of_[channel.id] = static_cast<std::int32_t>(topics_.size());
  topics_.push_back(std::move(topic));
  channels_.emplace(channel.id, channel);
}

bool McapStorage::open_by_index() {
  auto summary = read_summary(*source_);
  const Status complete = summary ? check_index(*summary, *source_) : Status{summary.error()};
  if (!complete) {
    note(complete.error().message + ": read from front to back");
    return false;
  }
  check_header();
  schemas_ = summary->schemas;
  schema_bytes_.push_back(std::make_unique<Buffer>(std::move(summary->bytes)));
  for (const auto& [id, channel] : summary->channels) add_channel(channel);
  for (const ChunkIndex& chunk : summary->chunks) {
    if (indexed_messages(chunk) == 0) continue;
    Block block;
    block.offset = chunk.chunk_start_offset;
    block.length = chunk.chunk_length;
    block.chunk = true;
    block.start_ns = static_cast<std::int64_t>(std::min<std::uint64_t>(chunk.message_start_time, INT64_MAX));
    block.end_ns = static_cast<std::int64_t>(std::min<std::uint64_t>(chunk.message_end_time, INT64_MAX));
    for (const auto& [channel, offset] : chunk.message_index_offsets) block.channels.push_back(channel);
    start_ns_ = std::min(start_ns_, block.start_ns);
    end_ns_ = std::max(end_ns_, block.end_ns);
    blocks_.push_back(std::move(block));
  }
  if (summary->statistics) {
    for (const auto& [channel, count] : summary->statistics->channel_message_counts) {
      if (channel < topic_of_.size() && topic_of_[channel] >= 0)
        topics_[static_cast<std::size_t>(topic_of_[channel])].message_count = count;
    }
  }
  if (!summary->statistics) count_by_index(summary->chunks);
  for (const MetadataIndex& index : summary->metadata) {
    if (index.name == "rosbag2") read_metadata_record(index);
  }
  return true;
}

/// Nothing that follows depends on it, but a damage is a damage.
void McapStorage::check_header() {
  std::array<std::uint8_t, kRecordHead> head{};
  const bool whole = source_->read(kMagic.size(), head) == head.size();
  if (!whole || head[0] != static_cast<std::uint8_t>(Op::kHeader) || load_le<std::uint64_t>(&head[1]) > source_->size()) {
    damage(kMagic.size(), "the header record is damaged", "read by the index, which is whole");
  }
}

/// Messages by channel where no statistics tell: from the lengths of the message indexes.
void McapStorage::count_by_index(const std::vector<ChunkIndex>& chunks) {
  constexpr std::size_t kHead = kRecordHead + sizeof(std::uint16_t) + sizeof(std::uint32_t);
  for (const ChunkIndex& chunk : chunks) {
    for (const auto& [channel, offset] : chunk.message_index_offsets) {
      std::array<std::uint8_t, kHead> head{};
      if (source_->read(offset, head) < head.size()) continue;
      const auto bytes = load_le<std::uint32_t>(&head[kHead - sizeof(std::uint32_t)]);
      topics_[static_cast<std::size_t>(topic_of_[channel])].message_count += bytes / (2 * sizeof(std::uint64_t));
    }
  }
}

void McapStorage::read_metadata_record(const MetadataIndex& index) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 26;
  if (index.length < kRecordHead || index.length > kMost) return;
  Buffer bytes(static_cast<std::size_t>(index.length));
  if (source_->read(index.offset, bytes) < bytes.size() || bytes[0] != static_cast<std::uint8_t>(Op::kMetadata)) return;
  const auto record = parse<Metadata>(Bytes(bytes).subspan(kRecordHead));
  if (!record) return;
  const auto text = record->metadata.find("serialized_metadata");
  if (text != record->metadata.end()) metadata_text_ = text->second;
}

void McapStorage::open_by_reading() {
  StreamReader reader(*source_, name_, findings_);
  StreamRecord record;
  while (reader.next(record)) {
    take_record(record);
    stretch_end_ = record.offset + record.length;
  }
  if (unknown_channel_ > 0) {
    damage(0, std::to_string(unknown_channel_) + " messages belong to channels that are not in the file, or have times out of range",
           "left them out");
  }
}

void McapStorage::take_record(const StreamRecord& record) {
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
    case Op::kMetadata: {
      const auto metadata = parse<Metadata>(record.body);
      if (!metadata || metadata->name != "rosbag2") return;
      const auto text = metadata->metadata.find("serialized_metadata");
      if (text != metadata->metadata.end()) metadata_text_ = text->second;
      return;
    }
    default:
      return;
  }
}

void McapStorage::take_message(const StreamRecord& record) {
  const auto channel = load_le<std::uint16_t>(record.body.data());
  const auto time = load_le<std::uint64_t>(record.body.data() + 6);
  if (channel >= topic_of_.size() || topic_of_[channel] < 0 || time > INT64_MAX) {
    ++unknown_channel_;
    return;
  }
  const auto time_ns = static_cast<std::int64_t>(time);
  Block* block = blocks_.empty() ? nullptr : &blocks_.back();
  const bool same = block != nullptr && block->chunk == record.in_chunk &&
                    (record.in_chunk ? block->offset == record.offset
                                     : record.offset == stretch_end_ && record.offset + record.length - block->offset <= kStretch);
  if (!same) {
    block = &blocks_.emplace_back();
    block->offset = record.offset;
    block->chunk = record.in_chunk;
  }
  block->length = record.offset + record.length - block->offset;
  if (record.in_chunk) block->used = record.end_in_chunk;
  block->start_ns = std::min(block->start_ns, time_ns);
  block->end_ns = std::max(block->end_ns, time_ns);
  const auto place = std::lower_bound(block->channels.begin(), block->channels.end(), channel);
  if (place == block->channels.end() || *place != channel) block->channels.insert(place, channel);
  count(static_cast<std::size_t>(topic_of_[channel]), time_ns);
}

void McapStorage::select(const Selection& selection) {
  selection_ = selection;
  while (!active_.empty()) {
    reuse(std::move(active_.back()));
    active_.pop_back();
  }
  given_ = nullptr;
  last_time_ns_ = INT64_MIN;
  waiting_.clear();
  for (const Block& block : blocks_) {
    const bool wanted = std::any_of(block.channels.begin(), block.channels.end(),
                                    [&](std::uint16_t channel) { return selection_.topics[static_cast<std::size_t>(topic_of_[channel])]; });
    if (wanted && block.start_ns <= selection.end_ns && block.end_ns >= selection.start_ns) waiting_.push_back(&block);
  }
  std::stable_sort(waiting_.begin(), waiting_.end(),
                   [](const Block* a, const Block* b) { return std::pair(a->start_ns, a->offset) > std::pair(b->start_ns, b->offset); });
}

void McapStorage::reuse(std::unique_ptr<Active> active) {
  constexpr std::size_t kSpare = 4;
  active->entries.clear();
  active->bytes = {};
  active->next = 0;
  if (spare_.size() < kSpare) spare_.push_back(std::move(active));
}

void McapStorage::activate(const Block& block) {
  std::unique_ptr<Active> active;
  if (spare_.empty()) {
    active = std::make_unique<Active>();
  } else {
    active = std::move(spare_.back());
    spare_.pop_back();
  }
  active->block = &block;
  if (load(*active)) list_messages(*active);
  if (active->entries.empty()) return reuse(std::move(active));
  active_.push_back(std::move(active));
  keep_memory_bounded();
}

/// Reads and decodes the block; false, with a finding, where that fails.
bool McapStorage::load(Active& active) {
  const Block& block = *active.block;
  active.stored.resize(static_cast<std::size_t>(block.length));
  if (source_->read(block.offset, active.stored) < active.stored.size()) {
    damage(block.offset, "the medium cannot read a chunk", "left out the chunk, kept the others");
    return false;
  }
  active.bytes = active.stored;
  if (!block.chunk) return true;
  const auto claimed = load_le<std::uint64_t>(active.stored.data() + 1);
  const Bytes body = Bytes(active.stored).subspan(kRecordHead);
  if (active.stored[0] != static_cast<std::uint8_t>(Op::kChunk) || (block.used == SIZE_MAX && claimed != body.size())) {
    damage(block.offset, "there is no chunk where the index says", "left it out, kept the others");
    return false;
  }
  const OpenedChunk chunk = open_chunk(body, claimed == body.size(), active.decoded);
  if (!chunk.usable) {
    damage(block.offset, chunk.trouble, "left out the chunk, kept the others");
    return false;
  }
  active.bytes = chunk.records.first(std::min(chunk.records.size(), block.used));
  return true;
}

void McapStorage::list_messages(Active& active) {
  RecordWalk walk(active.bytes, true);
  Op op = Op::kInvalid;
  Bytes body;
  bool sorted = true;
  std::uint64_t refused = 0;
  while (walk.next(op, body)) {
    if (op != Op::kMessage) continue;
    const auto channel = body.size() < Message::kHead ? std::uint16_t{0} : load_le<std::uint16_t>(body.data());
    const auto time = body.size() < Message::kHead ? UINT64_MAX : load_le<std::uint64_t>(body.data() + 6);
    if (channel >= topic_of_.size() || topic_of_[channel] < 0 || time > INT64_MAX || body.size() > UINT32_MAX) {
      ++refused;
      continue;
    }
    const auto time_ns = static_cast<std::int64_t>(time);
    if (!selection_.topics[static_cast<std::size_t>(topic_of_[channel])] || !selection_.holds(time_ns)) continue;
    sorted = sorted && (active.entries.empty() || active.entries.back().time_ns <= time_ns);
    active.entries.push_back({time_ns, walk.last() + kRecordHead, static_cast<std::uint32_t>(body.size())});
  }
  if (walk.end() != active.bytes.size()) damage(active.block->offset, "in a chunk: " + walk.trouble(), "kept the records before");
  // What a reading of the whole file has reported is not said again.
  if (refused > 0 && active.block->used == SIZE_MAX && active.block->chunk) {
    damage(active.block->offset, std::to_string(refused) + " messages of a chunk belong to no channel, or have times out of range",
           "left them out");
  }
  if (!sorted) {
    std::stable_sort(active.entries.begin(), active.entries.end(), [](const Entry& a, const Entry& b) { return a.time_ns < b.time_ns; });
  }
}

/// Blocks whose turn is far off give their bytes back.
void McapStorage::keep_memory_bounded() {
  std::size_t total = 0;
  for (const auto& active : active_) total += active->memory();
  while (total > kMostWaiting) {
    Active* latest = nullptr;
    for (const auto& active : active_) {
      if (active->bytes.empty() || active.get() == given_) continue;
      if (latest == nullptr || active->time_ns() > latest->time_ns()) latest = active.get();
    }
    const bool only = std::count_if(active_.begin(), active_.end(), [](const auto& a) { return !a->bytes.empty(); }) < 2;
    if (latest == nullptr || only) return;
    total -= latest->memory();
    latest->bytes = {};
    Buffer().swap(latest->stored);
    Buffer().swap(latest->decoded);
  }
}

const BagMessage* McapStorage::next() {
  for (;;) {
    Active* best = nullptr;
    for (std::size_t k = 0; k < active_.size();) {
      Active& active = *active_[k];
      if (active.next == active.entries.size()) {
        if (given_ == &active) given_ = nullptr;
        reuse(std::move(active_[k]));
        active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(k));
        continue;
      }
      if (best == nullptr || std::pair(active.time_ns(), active.block->offset) < std::pair(best->time_ns(), best->block->offset)) {
        best = &active;
      }
      ++k;
    }
    if (!waiting_.empty() && (best == nullptr || waiting_.back()->start_ns <= best->time_ns())) {
      const Block* block = waiting_.back();
      waiting_.pop_back();
      activate(*block);
      continue;
    }
    if (best == nullptr) return nullptr;
    given_ = best;
    if (best->bytes.empty() && !load(*best)) {
      best->next = best->entries.size();
      continue;
    }
    const Entry entry = best->entries[best->next++];
    const Bytes body = best->bytes.subspan(entry.at, entry.size);
    if (entry.time_ns < last_time_ns_ && !order_reported_) {
      damage(best->block->offset, "a chunk has messages before the start time that the index gives", "kept them, out of order");
      order_reported_ = true;
    }
    last_time_ns_ = std::max(last_time_ns_, entry.time_ns);
    message_.topic = static_cast<std::size_t>(topic_of_[load_le<std::uint16_t>(body.data())]);
    message_.sequence = load_le<std::uint32_t>(body.data() + 2);
    message_.log_time = {entry.time_ns};
    message_.publish_time = {static_cast<std::int64_t>(std::min<std::uint64_t>(load_le<std::uint64_t>(body.data() + 14), INT64_MAX))};
    message_.data = body.subspan(Message::kHead);
    return &message_;
  }
}

}  // namespace

std::uint64_t Storage::message_count() const {
  std::uint64_t sum = 0;
  for (const Topic& topic : topics_) sum += topic.message_count;
  return sum;
}

void Storage::count(std::size_t topic, std::int64_t log_time_ns) {
  ++topics_[topic].message_count;
  start_ns_ = std::min(start_ns_, log_time_ns);
  end_ns_ = std::max(end_ns_, log_time_ns);
}

std::unique_ptr<Storage> open_mcap(std::unique_ptr<ByteSource> source, std::string name, Findings& findings) {
  return std::make_unique<McapStorage>(std::move(source), std::move(name), findings);
}

}  // namespace pitwall::recording

// SPDX-License-Identifier: Apache-2.0
// An MCAP file as a Storage: messages come out in order by merging the blocks whose times overlap, so memory holds only
// those.
#include <algorithm>
#include <memory>
#include <utility>

#include "recording/mcap_index.hpp"
#include "recording/mcap_stream.hpp"
#include "recording/storage.hpp"

namespace pitwall::recording {
namespace {

using namespace mcap;  // NOLINT(google-build-using-namespace): the file's own vocabulary

/// Decoded blocks that wait for their turn may take this much together; beyond, they are read again when it comes.
constexpr std::size_t kMostWaiting = std::size_t{96} << 20;

/// A message of a block that is being read.
struct Entry {
  std::int64_t time_ns = 0;
  std::size_t at = 0;  ///< of its body, in the decoded block
  std::uint32_t size = 0;
};

struct Active {
  const McapBlock* block = nullptr;
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
    McapIndex index = index_mcap(*source_, name_, findings_);
    topics_ = std::move(index.topics);
    topic_of_ = std::move(index.topic_of);
    blocks_ = std::move(index.blocks);
    start_ns_ = index.start_ns;
    end_ns_ = index.end_ns;
    metadata_text_ = std::move(index.metadata_text);
  }

  void select(const Selection& selection) override;
  const BagMessage* next() override;

 private:
  void damage(std::uint64_t offset, std::string what, std::string kept) {
    findings_.add({Severity::kDamage, name_, offset, std::move(what), std::move(kept)});
  }
  void activate(const McapBlock& block);
  bool load(Active& active);
  void list_messages(Active& active);
  void keep_memory_bounded();
  void reuse(std::unique_ptr<Active> active);
  Active* earliest();

  std::unique_ptr<ByteSource> source_;
  std::string name_;
  Findings& findings_;
  std::vector<std::int32_t> topic_of_;
  std::vector<McapBlock> blocks_;

  Selection selection_;
  std::vector<const McapBlock*> waiting_;  ///< by start time, last first
  std::vector<std::unique_ptr<Active>> active_;
  std::vector<std::unique_ptr<Active>> spare_;
  Active* given_ = nullptr;  ///< whose message next() gave last
  std::int64_t last_time_ns_ = INT64_MIN;
  bool order_reported_ = false;
  BagMessage message_;
};

void McapStorage::select(const Selection& selection) {
  selection_ = selection;
  while (!active_.empty()) {
    reuse(std::move(active_.back()));
    active_.pop_back();
  }
  given_ = nullptr;
  last_time_ns_ = INT64_MIN;
  waiting_.clear();
  for (const McapBlock& block : blocks_) {
    const bool wanted = std::any_of(block.channels.begin(), block.channels.end(),
                                    [&](std::uint16_t channel) { return selection_.topics[static_cast<std::size_t>(topic_of_[channel])]; });
    if (wanted && block.start_ns <= selection.end_ns && block.end_ns >= selection.start_ns) waiting_.push_back(&block);
  }
  std::stable_sort(waiting_.begin(), waiting_.end(), [](const McapBlock* a, const McapBlock* b) {
    return std::pair(a->start_ns, a->offset) > std::pair(b->start_ns, b->offset);
  });
}

void McapStorage::reuse(std::unique_ptr<Active> active) {
  constexpr std::size_t kSpare = 4;
  active->entries.clear();
  active->bytes = {};
  active->next = 0;
  if (spare_.size() < kSpare) spare_.push_back(std::move(active));
}

void McapStorage::activate(const McapBlock& block) {
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
  const McapBlock& block = *active.block;
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

/// The block whose next message is the earliest, or null; what has been given out goes.
Active* McapStorage::earliest() {
  Active* best = nullptr;
  for (std::size_t k = 0; k < active_.size();) {
    Active& active = *active_[k];
    if (active.next == active.entries.size()) {
      if (given_ == &active) given_ = nullptr;
      reuse(std::move(active_[k]));
      active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(k));
      continue;
    }
    if (best == nullptr || std::pair(active.time_ns(), active.block->offset) < std::pair(best->time_ns(), best->block->offset))
      best = &active;
    ++k;
  }
  return best;
}

const BagMessage* McapStorage::next() {
  for (;;) {
    Active* best = earliest();
    if (!waiting_.empty() && (best == nullptr || waiting_.back()->start_ns <= best->time_ns())) {
      const McapBlock* block = waiting_.back();
      waiting_.pop_back();
      activate(*block);
      continue;
    }
    if (best == nullptr) return nullptr;
    given_ = best;
    if (best->bytes.empty()) {
      if (!load(*best)) {
        best->next = best->entries.size();
        continue;
      }
      keep_memory_bounded();
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

std::unique_ptr<Storage> open_mcap(std::unique_ptr<ByteSource> source, std::string name, Findings& findings) {
  return std::make_unique<McapStorage>(std::move(source), std::move(name), findings);
}

}  // namespace pitwall::recording

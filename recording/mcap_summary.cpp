// SPDX-License-Identifier: Apache-2.0
#include "recording/mcap_summary.hpp"

#include <algorithm>

#include "recording/compression.hpp"
#include "recording/mcap_stream.hpp"

namespace pitwall::recording::mcap {
namespace {

constexpr std::uint64_t kFooterRecord = kRecordHead + Footer::kSize;
/// Summaries grow with the number of chunks: about 100 bytes each.
constexpr std::uint64_t kMostSummary = std::uint64_t{1} << 28;

template <class R>
bool put(std::map<std::uint16_t, R>& into, Bytes body) {
  auto record = parse<R>(body);
  if (!record) return false;
  const std::uint16_t id = record->id;
  into.insert_or_assign(id, std::move(*record));
  return true;
}

template <class R>
bool put(std::vector<R>& into, Bytes body) {
  auto record = parse<R>(body);
  if (!record) return false;
  into.push_back(std::move(*record));
  return true;
}

bool take_record(Summary& summary, Op op, Bytes body) {
  switch (op) {
    case Op::kSchema:
      return put(summary.schemas, body);
    case Op::kChannel:
      return put(summary.channels, body);
    case Op::kStatistics:
      summary.statistics = parse<Statistics>(body);
      return summary.statistics.has_value();
    case Op::kChunkIndex:
      return put(summary.chunks, body);
    case Op::kAttachmentIndex:
      return put(summary.attachments, body);
    case Op::kMetadataIndex:
      return put(summary.metadata, body);
    default:
      return true;
  }
}

/// Whether the records between the chunks, up to the end of the data, are none of messages; false where that would be
/// long to find out.
bool no_message_outside(const std::vector<ChunkIndex>& chunks, ByteSource& source) {
  constexpr int kMostRecords = 10000;
  std::map<std::uint64_t, std::uint64_t> end_of;
  for (const ChunkIndex& chunk : chunks) end_of[chunk.chunk_start_offset] = chunk.chunk_start_offset + chunk.chunk_length;
  std::uint64_t at = kMagic.size();
  for (int k = 0; k < kMostRecords; ++k) {
    const auto chunk = end_of.find(at);
    if (chunk != end_of.end()) {
      at = chunk->second;
      continue;
    }
    std::array<std::uint8_t, kRecordHead> head{};
    if (source.read(at, head) < head.size()) return false;
    const auto op = static_cast<Op>(head[0]);
    if (op == Op::kDataEnd) return true;
    const auto length = load_le<std::uint64_t>(&head[1]);
    if (op == Op::kMessage || op == Op::kChunk || op == Op::kInvalid || length > source.size()) return false;
    at += kRecordHead + length;
  }
  return false;
}

}  // namespace

Result<Summary> read_summary(ByteSource& source) {
  const std::uint64_t size = source.size();
  if (size < kMagic.size() + kFooterRecord + kMagic.size()) return Error{"the file is too short for a footer"};
  std::array<std::uint8_t, kMagic.size()> start{};
  if (source.read(0, start) < start.size() || start != kMagic) return Error{"the file does not begin as MCAP does"};
  const std::uint64_t footer_at = size - kMagic.size() - kFooterRecord;
  std::array<std::uint8_t, kFooterRecord + kMagic.size()> tail{};
  if (source.read(footer_at, tail) < tail.size()) return Error{"the footer cannot be read"};
  if (!std::equal(kMagic.begin(), kMagic.end(), tail.begin() + kFooterRecord)) return Error{"the end magic is missing"};
  if (tail[0] != static_cast<std::uint8_t>(Op::kFooter) || load_le<std::uint64_t>(&tail[1]) != Footer::kSize)
    return Error{"there is no footer"};
  const auto footer = parse<Footer>(Bytes(tail).subspan(kRecordHead, Footer::kSize));
  if (!footer || footer->summary_start == 0) return Error{"there is no summary"};
  if (footer->summary_start < kMagic.size() || footer->summary_start > footer_at) return Error{"the footer points outside the file"};
  if (footer_at - footer->summary_start > kMostSummary) return Error{"the summary is too large"};

  Summary summary;
  summary.bytes.resize(static_cast<std::size_t>(footer_at - footer->summary_start));
  if (source.read(footer->summary_start, summary.bytes) < summary.bytes.size()) return Error{"the summary cannot be read"};
  if (footer->summary_crc != 0) {
    const std::size_t covered = kFooterRecord - sizeof(std::uint32_t);
    if (crc32(Bytes(tail).first(covered), crc32(summary.bytes)) != footer->summary_crc)
      return Error{"the checksum of the summary is wrong"};
  }
  RecordWalk walk(summary.bytes, true);
  Op op = Op::kInvalid;
  Bytes body;
  while (walk.next(op, body)) {
    if (!take_record(summary, op, body)) return Error{"a record of the summary makes no sense"};
  }
  if (walk.end() != summary.bytes.size()) return Error{"a record of the summary is cut off"};
  return summary;
}

std::uint64_t indexed_messages(const ChunkIndex& chunk) {
  // A message index is its head, the channel, the length of its list, and 16 bytes a message.
  constexpr std::uint64_t kHead = kRecordHead + sizeof(std::uint16_t) + sizeof(std::uint32_t);
  constexpr std::uint64_t kEntry = 2 * sizeof(std::uint64_t);
  const std::uint64_t heads = kHead * chunk.message_index_offsets.size();
  return chunk.message_index_length < heads ? 0 : (chunk.message_index_length - heads) / kEntry;
}

Status check_index(const Summary& summary, ByteSource& source) {
  const std::uint64_t file_size = source.size();
  std::uint64_t messages = 0;
  bool all_indexed = true;
  for (const ChunkIndex& chunk : summary.chunks) {
    if (chunk.chunk_start_offset > file_size || chunk.chunk_length > file_size - chunk.chunk_start_offset ||
        chunk.chunk_length < kRecordHead) {
      return Error{"a chunk index points outside the file"};
    }
    for (const auto& [channel, offset] : chunk.message_index_offsets) {
      if (!summary.channels.contains(channel)) return Error{"the summary lacks channel " + std::to_string(channel)};
    }
    messages += indexed_messages(chunk);
    all_indexed = all_indexed && indexed_messages(chunk) > 0;
  }
  for (const auto& [id, channel] : summary.channels) {
    if (channel.schema_id != 0 && !summary.schemas.contains(channel.schema_id)) {
      return Error{"the summary lacks schema " + std::to_string(channel.schema_id)};
    }
  }
  if (!summary.statistics) {
    return all_indexed && no_message_outside(summary.chunks, source)
               ? Status{}
               : Status{Error{"there are no statistics, and messages may lie outside the index"}};
  }
  if (messages != summary.statistics->message_count) {
    return Error{"the index lists " + std::to_string(messages) + " of " + std::to_string(summary.statistics->message_count) + " messages"};
  }
  return {};
}

}  // namespace pitwall::recording::mcap

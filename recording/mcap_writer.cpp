// SPDX-License-Identifier: Apache-2.0
#include "recording/mcap_writer.hpp"

#include <algorithm>

#include "core/check.hpp"
#include "recording/compression.hpp"

namespace pitwall::recording::mcap {

Status Writer::put(Bytes bytes) {
  const Status written = sink_.write(bytes);
  if (!written) return written;
  offset_ += bytes.size();
  crc_ = crc32(bytes, crc_);
  return {};
}

Status Writer::open(const Header& header) {
  scratch_.assign(kMagic.begin(), kMagic.end());
  compose(scratch_, header);
  return put(scratch_);
}

Status Writer::put_definition(Bytes bytes) {
  if (!options_.chunked || !options_.definitions_in_chunks) return put(bytes);
  append(chunk_, bytes);
  return {};
}

Status Writer::add_schema(const Schema& schema) {
  PITWALL_CHECK(schema.id != 0 && !schemas_.contains(schema.id), schema.id);
  Buffer& data = schema_data_[schema.id];
  data.assign(schema.data.begin(), schema.data.end());
  Schema kept = schema;
  kept.data = Bytes32(data.data(), data.size());
  schemas_.emplace(schema.id, std::move(kept));
  ++statistics_.schema_count;
  scratch_.clear();
  compose(scratch_, schema);
  return put_definition(scratch_);
}

Status Writer::add_channel(const Channel& channel) {
  PITWALL_CHECK(!channels_.contains(channel.id) && (channel.schema_id == 0 || schemas_.contains(channel.schema_id)), channel.id);
  channels_.emplace(channel.id, channel);
  ++statistics_.channel_count;
  scratch_.clear();
  compose(scratch_, channel);
  return put_definition(scratch_);
}

Status Writer::write(const Message& message) {
  PITWALL_CHECK(channels_.contains(message.channel_id), message.channel_id);
  if (statistics_.message_count == 0) statistics_.message_start_time = statistics_.message_end_time = message.log_time;
  statistics_.message_start_time = std::min(statistics_.message_start_time, message.log_time);
  statistics_.message_end_time = std::max(statistics_.message_end_time, message.log_time);
  ++statistics_.message_count;
  ++statistics_.channel_message_counts[message.channel_id];
  if (!options_.chunked) {
    scratch_.clear();
    compose(scratch_, message);
    return put(scratch_);
  }
  if (messages_in_chunk_ == 0) chunk_start_time_ = chunk_end_time_ = message.log_time;
  chunk_start_time_ = std::min(chunk_start_time_, message.log_time);
  chunk_end_time_ = std::max(chunk_end_time_, message.log_time);
  ++messages_in_chunk_;
  MessageIndex& index = index_[message.channel_id];
  index.channel_id = message.channel_id;
  index.records.emplace_back(message.log_time, chunk_.size());
  compose(chunk_, message);
  return chunk_.size() >= options_.chunk_bytes ? flush() : Status{};
}

Status Writer::write(const Attachment& attachment) {
  const Status flushed = flush();
  if (!flushed) return flushed;
  scratch_.clear();
  compose(scratch_, attachment);
  const std::size_t end = scratch_.size() - sizeof(std::uint32_t);
  const std::uint32_t crc = crc32(Bytes(scratch_).subspan(kRecordHead, end - kRecordHead));
  for (std::size_t k = 0; k < sizeof(crc); ++k) scratch_[end + k] = static_cast<std::uint8_t>(crc >> (8 * k));
  attachment_indexes_.push_back({offset_, scratch_.size(), attachment.log_time, attachment.create_time, attachment.data.size(),
                                 attachment.name, attachment.media_type});
  ++statistics_.attachment_count;
  return put(scratch_);
}

Status Writer::write(const Metadata& metadata) {
  const Status flushed = flush();
  if (!flushed) return flushed;
  scratch_.clear();
  compose(scratch_, metadata);
  metadata_indexes_.push_back({offset_, scratch_.size(), metadata.name});
  ++statistics_.metadata_count;
  return put(scratch_);
}

Status Writer::flush() {
  if (chunk_.empty()) return {};
  Chunk chunk;
  chunk.message_start_time = messages_in_chunk_ > 0 ? chunk_start_time_ : 0;
  chunk.message_end_time = messages_in_chunk_ > 0 ? chunk_end_time_ : 0;
  chunk.uncompressed_size = chunk_.size();
  chunk.uncompressed_crc = crc32(chunk_);
  chunk.records = Bytes64(chunk_.data(), chunk_.size());
  if (options_.compression == Compression::kZstd) {
    compress_zstd(chunk_, options_.zstd_level, compressed_);
    chunk.compression = "zstd";
    chunk.records = Bytes64(compressed_.data(), compressed_.size());
  }
  scratch_.clear();
  compose(scratch_, chunk);
  ChunkIndex index;
  index.message_start_time = chunk.message_start_time;
  index.message_end_time = chunk.message_end_time;
  index.chunk_start_offset = offset_;
  index.chunk_length = scratch_.size();
  index.compression = chunk.compression;
  index.compressed_size = chunk.records.size();
  index.uncompressed_size = chunk.uncompressed_size;
  if (options_.message_index) {
    const std::size_t indexes_at = scratch_.size();
    for (const auto& [channel, entries] : index_) {
      index.message_index_offsets.emplace(channel, offset_ + scratch_.size());
      compose(scratch_, entries);
    }
    index.message_index_length = scratch_.size() - indexes_at;
  }
  chunk_indexes_.push_back(std::move(index));
  ++statistics_.chunk_count;
  chunk_.clear();
  index_.clear();
  messages_in_chunk_ = 0;
  return put(scratch_);
}

void Writer::compose_summary(Buffer& out, std::uint64_t start, std::vector<SummaryOffset>& offsets) const {
  const auto group = [&](Op op, bool wanted, const auto& records) {
    const std::size_t before = out.size();
    if (wanted) {
      for (const auto& record : records) {
        if constexpr (requires { record.second; }) {
          compose(out, record.second);
        } else {
          compose(out, record);
        }
      }
    }
    if (out.size() > before) offsets.push_back({static_cast<std::uint8_t>(op), start + before, out.size() - before});
  };
  group(Op::kSchema, options_.repeat_schemas, schemas_);
  group(Op::kChannel, options_.repeat_channels, channels_);
  group(Op::kStatistics, options_.statistics, std::array{statistics_});
  group(Op::kMetadataIndex, options_.metadata_index, metadata_indexes_);
  group(Op::kAttachmentIndex, options_.attachment_index, attachment_indexes_);
  group(Op::kChunkIndex, options_.chunk_index, chunk_indexes_);
}

Status Writer::close() {
  const Status flushed = flush();
  if (!flushed) return flushed;
  scratch_.clear();
  compose(scratch_, DataEnd{crc_});
  const Status ended = put(scratch_);
  if (!ended) return ended;

  Buffer tail;
  std::vector<SummaryOffset> offsets;
  compose_summary(tail, offset_, offsets);
  Footer footer;
  footer.summary_start = tail.empty() ? 0 : offset_;
  if (options_.summary_offsets && !tail.empty()) {
    footer.summary_offset_start = offset_ + tail.size();
    for (const SummaryOffset& offset : offsets) compose(tail, offset);
  }
  compose(tail, footer);
  const std::size_t crc_at = tail.size() - sizeof(std::uint32_t);
  const std::uint32_t crc = crc32(Bytes(tail).first(crc_at));
  for (std::size_t k = 0; k < sizeof(crc); ++k) tail[crc_at + k] = static_cast<std::uint8_t>(crc >> (8 * k));
  append(tail, kMagic);
  return put(tail);
}

}  // namespace pitwall::recording::mcap

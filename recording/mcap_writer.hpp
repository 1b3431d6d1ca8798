// SPDX-License-Identifier: Apache-2.0
// Writes an MCAP file: records as they come, chunk by chunk, and at the end the summary that readers find messages by.
// Every choice of the format is an option, so that the conformance set can be made byte for byte.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "recording/byte_source.hpp"
#include "recording/mcap_records.hpp"

namespace pitwall::recording {

enum class Compression : std::uint8_t { kNone, kZstd };

namespace mcap {

struct WriterOptions {
  Compression compression = Compression::kNone;
  int zstd_level = 1;                 ///< 1 costs about a third of the time of 3 for a tenth more bytes
  std::size_t chunk_bytes = 1 << 20;  ///< a chunk ends when it has this many
  bool chunked = true;
  bool definitions_in_chunks = true;  ///< schemas and channels go into the chunk of their first message; else before it
  bool message_index = true;
  bool statistics = true;
  bool repeat_schemas = true;
  bool repeat_channels = true;
  bool attachment_index = true;
  bool metadata_index = true;
  bool chunk_index = true;
  bool summary_offsets = true;
};

class Writer {
 public:
  /// Writes to `sink`, which must outlive it.
  Writer(ByteSink& sink, const WriterOptions& options) : sink_(sink), options_(options) {}

  Status open(const Header& header);
  /// The data of a schema are copied.
  Status add_schema(const Schema& schema);
  Status add_channel(const Channel& channel);
  Status write(const Message& message);
  /// The checksum of the attachment is filled in.
  Status write(const Attachment& attachment);
  Status write(const Metadata& metadata);
  /// Ends the chunk and hands it to the sink.
  Status flush();
  /// Summary, footer, end magic. Nothing may be written afterwards.
  Status close();

  /// Bytes in the sink, and waiting in the chunk.
  [[nodiscard]] std::uint64_t written() const { return offset_; }
  [[nodiscard]] std::size_t waiting() const { return chunk_.size(); }

 private:
  Status put(Bytes bytes);
  Status put_definition(Bytes bytes);
  void compose_summary(Buffer& out, std::uint64_t start, std::vector<SummaryOffset>& offsets) const;

  ByteSink& sink_;
  WriterOptions options_;
  std::uint64_t offset_ = 0;
  std::uint32_t crc_ = 0;
  Buffer scratch_;
  Buffer compressed_;
  Buffer chunk_;
  std::uint64_t chunk_start_time_ = 0;
  std::uint64_t chunk_end_time_ = 0;
  std::uint64_t messages_in_chunk_ = 0;
  std::map<std::uint16_t, MessageIndex> index_;
  std::map<std::uint16_t, Buffer> schema_data_;
  std::map<std::uint16_t, Schema> schemas_;
  std::map<std::uint16_t, Channel> channels_;
  Statistics statistics_;
  std::vector<ChunkIndex> chunk_indexes_;
  std::vector<AttachmentIndex> attachment_indexes_;
  std::vector<MetadataIndex> metadata_indexes_;
};

}  // namespace mcap
}  // namespace pitwall::recording

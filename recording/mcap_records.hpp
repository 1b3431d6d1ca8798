// SPDX-License-Identifier: Apache-2.0
// The records of an MCAP file (mcap.dev/spec, version '0'): an opcode, a 64-bit length, a body of little-endian fields.
// Each record lists its fields once, in order and by name; parsing, writing and printing are archives over that list.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "recording/bytes.hpp"

namespace pitwall::recording::mcap {

inline constexpr std::array<std::uint8_t, 8> kMagic = {0x89, 'M', 'C', 'A', 'P', '0', '\r', '\n'};
/// Opcode and length before each body.
inline constexpr std::size_t kRecordHead = 9;

enum class Op : std::uint8_t {
  kInvalid = 0x00,
  kHeader = 0x01,
  kFooter = 0x02,
  kSchema = 0x03,
  kChannel = 0x04,
  kMessage = 0x05,
  kChunk = 0x06,
  kMessageIndex = 0x07,
  kChunkIndex = 0x08,
  kAttachment = 0x09,
  kAttachmentIndex = 0x0A,
  kStatistics = 0x0B,
  kMetadata = 0x0C,
  kMetadataIndex = 0x0D,
  kSummaryOffset = 0x0E,
  kDataEnd = 0x0F,
};
inline constexpr std::uint8_t kLastOp = 0x0F;

using Text = std::string;
using TextMap = std::map<std::string, std::string>;
using CountMap = std::map<std::uint16_t, std::uint64_t>;

/// Bytes with a 32-bit or a 64-bit length before them, or up to the end of the record. Views into the record read.
struct Bytes32 : Bytes {
  using Bytes::Bytes;
};
struct Bytes64 : Bytes {
  using Bytes::Bytes;
};
struct BytesToEnd : Bytes {
  using Bytes::Bytes;
};

struct Header {
  static constexpr Op kOp = Op::kHeader;
  Text profile;
  Text library;
};
struct Footer {
  static constexpr Op kOp = Op::kFooter;
  static constexpr std::size_t kSize = 20;
  std::uint64_t summary_start = 0;         ///< 0: there is no summary
  std::uint64_t summary_offset_start = 0;  ///< 0: there are no summary offsets
  std::uint32_t summary_crc = 0;           ///< from summary_start (or the footer) up to this field; 0: not computed
};
struct Schema {
  static constexpr Op kOp = Op::kSchema;
  std::uint16_t id = 0;  ///< never 0
  Text name;
  Text encoding;
  Bytes32 data;
};
struct Channel {
  static constexpr Op kOp = Op::kChannel;
  std::uint16_t id = 0;
  std::uint16_t schema_id = 0;  ///< 0: none
  Text topic;
  Text message_encoding;
  TextMap metadata;
};
struct Message {
  static constexpr Op kOp = Op::kMessage;
  static constexpr std::size_t kHead = 22;  ///< bytes before the data
  std::uint16_t channel_id = 0;
  std::uint32_t sequence = 0;
  std::uint64_t log_time = 0;
  std::uint64_t publish_time = 0;
  BytesToEnd data;
};
struct Chunk {
  static constexpr Op kOp = Op::kChunk;
  std::uint64_t message_start_time = 0;
  std::uint64_t message_end_time = 0;
  std::uint64_t uncompressed_size = 0;
  std::uint32_t uncompressed_crc = 0;
  Text compression;
  Bytes64 records;
};
struct MessageIndex {
  static constexpr Op kOp = Op::kMessageIndex;
  std::uint16_t channel_id = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> records;  ///< log time, offset in the uncompressed chunk
};
struct ChunkIndex {
  static constexpr Op kOp = Op::kChunkIndex;
  std::uint64_t message_start_time = 0;
  std::uint64_t message_end_time = 0;
  std::uint64_t chunk_start_offset = 0;
  std::uint64_t chunk_length = 0;  ///< with opcode and length
  CountMap message_index_offsets;
  std::uint64_t message_index_length = 0;
  Text compression;
  std::uint64_t compressed_size = 0;
  std::uint64_t uncompressed_size = 0;
};
struct Attachment {
  static constexpr Op kOp = Op::kAttachment;
  std::uint64_t log_time = 0;
  std::uint64_t create_time = 0;
  Text name;
  Text media_type;
  Bytes64 data;
  std::uint32_t crc = 0;  ///< of all fields before; 0: not computed
};
struct AttachmentIndex {
  static constexpr Op kOp = Op::kAttachmentIndex;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::uint64_t log_time = 0;
  std::uint64_t create_time = 0;
  std::uint64_t data_size = 0;
  Text name;
  Text media_type;
};
struct Statistics {
  static constexpr Op kOp = Op::kStatistics;
  std::uint64_t message_count = 0;
  std::uint16_t schema_count = 0;
  std::uint32_t channel_count = 0;
  std::uint32_t attachment_count = 0;
  std::uint32_t metadata_count = 0;
  std::uint32_t chunk_count = 0;
  std::uint64_t message_start_time = 0;
  std::uint64_t message_end_time = 0;
  CountMap channel_message_counts;
};
struct Metadata {
  static constexpr Op kOp = Op::kMetadata;
  Text name;
  TextMap metadata;
};
struct MetadataIndex {
  static constexpr Op kOp = Op::kMetadataIndex;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  Text name;
};
struct SummaryOffset {
  static constexpr Op kOp = Op::kSummaryOffset;
  std::uint8_t group_opcode = 0;
  std::uint64_t group_start = 0;
  std::uint64_t group_length = 0;
};
struct DataEnd {
  static constexpr Op kOp = Op::kDataEnd;
  std::uint32_t data_section_crc = 0;  ///< from the start of the file up to this record; 0: not computed
};

// The fields, in the order of the file. `A` is called as a(name, field).
template <class A, class R>
void fields(A& a, R& r) {
  using T = std::remove_const_t<R>;
  if constexpr (std::is_same_v<T, Header>) {
    a("profile", r.profile), a("library", r.library);
  } else if constexpr (std::is_same_v<T, Footer>) {
    a("summary_start", r.summary_start), a("summary_offset_start", r.summary_offset_start), a("summary_crc", r.summary_crc);
  } else if constexpr (std::is_same_v<T, Schema>) {
    a("id", r.id), a("name", r.name), a("encoding", r.encoding), a("data", r.data);
  } else if constexpr (std::is_same_v<T, Channel>) {
    a("id", r.id), a("schema_id", r.schema_id), a("topic", r.topic), a("message_encoding", r.message_encoding);
    a("metadata", r.metadata);
  } else if constexpr (std::is_same_v<T, Message>) {
    a("channel_id", r.channel_id), a("sequence", r.sequence), a("log_time", r.log_time), a("publish_time", r.publish_time);
    a("data", r.data);
  } else if constexpr (std::is_same_v<T, Chunk>) {
    a("message_start_time", r.message_start_time), a("message_end_time", r.message_end_time);
    a("uncompressed_size", r.uncompressed_size), a("uncompressed_crc", r.uncompressed_crc), a("compression", r.compression);
    a("records", r.records);
  } else if constexpr (std::is_same_v<T, MessageIndex>) {
    a("channel_id", r.channel_id), a("records", r.records);
  } else if constexpr (std::is_same_v<T, ChunkIndex>) {
    a("message_start_time", r.message_start_time), a("message_end_time", r.message_end_time);
    a("chunk_start_offset", r.chunk_start_offset), a("chunk_length", r.chunk_length);
    a("message_index_offsets", r.message_index_offsets), a("message_index_length", r.message_index_length);
    a("compression", r.compression), a("compressed_size", r.compressed_size), a("uncompressed_size", r.uncompressed_size);
  } else if constexpr (std::is_same_v<T, Attachment>) {
    a("log_time", r.log_time), a("create_time", r.create_time), a("name", r.name), a("media_type", r.media_type);
    a("data", r.data), a("crc", r.crc);
  } else if constexpr (std::is_same_v<T, AttachmentIndex>) {
    a("offset", r.offset), a("length", r.length), a("log_time", r.log_time), a("create_time", r.create_time);
    a("data_size", r.data_size), a("name", r.name), a("media_type", r.media_type);
  } else if constexpr (std::is_same_v<T, Statistics>) {
    a("message_count", r.message_count), a("schema_count", r.schema_count), a("channel_count", r.channel_count);
    a("attachment_count", r.attachment_count), a("metadata_count", r.metadata_count), a("chunk_count", r.chunk_count);
    a("message_start_time", r.message_start_time), a("message_end_time", r.message_end_time);
    a("channel_message_counts", r.channel_message_counts);
  } else if constexpr (std::is_same_v<T, Metadata>) {
    a("name", r.name), a("metadata", r.metadata);
  } else if constexpr (std::is_same_v<T, MetadataIndex>) {
    a("offset", r.offset), a("length", r.length), a("name", r.name);
  } else if constexpr (std::is_same_v<T, SummaryOffset>) {
    a("group_opcode", r.group_opcode), a("group_start", r.group_start), a("group_length", r.group_length);
  } else {
    static_assert(std::is_same_v<T, DataEnd>);
    a("data_section_crc", r.data_section_crc);
  }
}

/// Reads fields from a body; `ok()` turns false, and stays so, where a field does not fit.
class Parser {
 public:
  explicit Parser(Bytes body) : rest_(body) {}

  template <std::unsigned_integral T>
  void operator()(const char* /*name*/, T& value) {
    const Bytes from = take(sizeof(T));
    if (ok_) value = load_le<T>(from.data());
  }
  void operator()(const char* name, Text& value);
  void operator()(const char* name, Bytes32& value);
  void operator()(const char* name, Bytes64& value);
  void operator()(const char* name, BytesToEnd& value);
  void operator()(const char* name, TextMap& value);
  void operator()(const char* name, CountMap& value);
  void operator()(const char* name, std::vector<std::pair<std::uint64_t, std::uint64_t>>& value);

  [[nodiscard]] bool ok() const { return ok_; }
  /// What no field has taken yet.
  [[nodiscard]] Bytes rest() const { return rest_; }

 private:
  Bytes take(std::uint64_t count);

  Bytes rest_;
  bool ok_ = true;
};

/// The record in a body (bytes beyond its last field are allowed), or nothing where it does not fit.
template <class R>
std::optional<R> parse(Bytes body) {
  R record;
  Parser parser(body);
  fields(parser, record);
  if (!parser.ok()) return std::nullopt;
  return record;
}

/// Appends fields to a body.
class Composer {
 public:
  explicit Composer(Buffer& out) : out_(out) {}

  template <std::unsigned_integral T>
  void operator()(const char* /*name*/, T value) {
    append_le(out_, value);
  }
  void operator()(const char* name, const Text& value);
  void operator()(const char* name, const Bytes32& value);
  void operator()(const char* name, const Bytes64& value);
  void operator()(const char* name, const BytesToEnd& value);
  void operator()(const char* name, const TextMap& value);
  void operator()(const char* name, const CountMap& value);
  void operator()(const char* name, const std::vector<std::pair<std::uint64_t, std::uint64_t>>& value);

 private:
  Buffer& out_;
};

/// Appends the whole record: opcode, length, body.
template <class R>
void compose(Buffer& out, const R& record) {
  out.push_back(static_cast<std::uint8_t>(R::kOp));
  const std::size_t length_at = out.size();
  append_le(out, std::uint64_t{0});
  Composer composer(out);
  fields(composer, record);
  const std::uint64_t length = out.size() - length_at - sizeof(std::uint64_t);
  for (std::size_t k = 0; k < sizeof(length); ++k) out[length_at + k] = static_cast<std::uint8_t>(length >> (8 * k));
}

}  // namespace pitwall::recording::mcap

// SPDX-License-Identifier: Apache-2.0
// The summary at the end of an MCAP file: what lets a reader find messages without reading all.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/result.hpp"
#include "recording/byte_source.hpp"
#include "recording/mcap_records.hpp"

namespace pitwall::recording::mcap {

struct Summary {
  Buffer bytes;  ///< the summary section; the schemas' data lie in it
  std::map<std::uint16_t, Schema> schemas;
  std::map<std::uint16_t, Channel> channels;
  std::optional<Statistics> statistics;
  std::vector<ChunkIndex> chunks;
  std::vector<AttachmentIndex> attachments;
  std::vector<MetadataIndex> metadata;
};

/// Reads footer and summary. The error says why there is none to rely on: no end magic, no footer, no summary, a wrong
/// checksum, a record that does not fit.
Result<Summary> read_summary(ByteSource& source);

/// Whether the summary indexes every message of the file by channel: the error names what is missing.
Status check_index(const Summary& summary, ByteSource& source);

/// Messages that a chunk's message indexes list.
std::uint64_t indexed_messages(const ChunkIndex& chunk);

}  // namespace pitwall::recording::mcap

// SPDX-License-Identifier: Apache-2.0
// What an MCAP file holds and where: its topics, and its blocks (a chunk, or a stretch of messages that lie outside
// chunks) with the times they span. From the file's own index where that is complete, else from one reading of the whole
// file.
#pragma once

#include <string>
#include <vector>

#include "recording/bag.hpp"
#include "recording/byte_source.hpp"

namespace pitwall::recording {

struct McapBlock {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;  ///< in the file
  std::int64_t start_ns = INT64_MAX;
  std::int64_t end_ns = INT64_MIN;
  bool chunk = false;
  std::size_t used = SIZE_MAX;          ///< decoded bytes to read of a chunk; the rest is damaged
  std::vector<std::uint16_t> channels;  ///< that it has messages of; sorted
};

struct McapIndex {
  std::vector<Topic> topics;
  std::vector<std::int32_t> topic_of;  ///< by channel id; -1: unknown
  std::vector<McapBlock> blocks;       ///< in file order
  std::int64_t start_ns = INT64_MAX;
  std::int64_t end_ns = INT64_MIN;
  std::string metadata_text;  ///< of the record "rosbag2", or empty
};

/// Never fails: `findings` says why there is less than there was.
McapIndex index_mcap(ByteSource& source, const std::string& name, Findings& findings);

}  // namespace pitwall::recording

// SPDX-License-Identifier: Apache-2.0
// metadata.yaml of a rosbag2 folder, versions 1 to 9. What it says is a claim: it is written last, often missing, and
// stale after a crash; the reader compares it with what the files hold.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.hpp"
#include "core/time.hpp"
#include "recording/bag.hpp"

namespace pitwall::recording {

struct FileClaim {
  std::string path;
  Time start;
  Duration duration;
  std::uint64_t message_count = 0;
};

struct BagMetadata {
  static constexpr int kNewest = 9;
  int version = kNewest;
  std::string storage;  ///< "mcap" or "sqlite3"
  Time start;
  Duration duration;
  std::uint64_t message_count = 0;
  std::vector<Topic> topics;       ///< name, type, encoding, QoS, hash and count
  std::string compression_format;  ///< "zstd" or empty
  std::string compression_mode;    ///< "file" or "message" in lower case, or empty
  std::vector<std::string> paths;  ///< of the files, relative to the folder, in play order
  std::vector<FileClaim> files;    ///< empty before version 5
  std::vector<std::pair<std::string, std::string>> custom_data;
  std::string ros_distro;
};

/// Reads any version; a newer one as far as it has the keys of today. The error names the file, the line and the key.
Result<BagMetadata> parse_metadata(std::string_view text, const std::string& name);

/// The text of version 9, or of version 5 for those who still have Humble (QoS as numbers in a string there).
std::string compose_metadata(const BagMetadata& metadata);

/// QoS profiles as version 9 writes them, a YAML list with words, from either form; a topic without any gets the default
/// profile (reliable, keep the last 10), transient-local where `latched`.
std::string qos_in_words(std::string_view qos, bool latched);
/// The same with rmw's numbers, as versions 4 to 8 keep them in a string.
std::string qos_in_numbers(std::string_view qos, bool latched);

}  // namespace pitwall::recording

// SPDX-License-Identifier: Apache-2.0
// One or several recordings into a new one: another storage or compression, some topics, a piece of the time, what of a damaged
// one is left.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "core/time.hpp"
#include "recording/bag_info.hpp"
#include "recording/bag_reader.hpp"
#include "recording/bag_writer.hpp"

namespace pitwall::recording {

enum class StorageFormat : std::uint8_t { kMcap, kSqlite3 };

struct ConvertOptions {
  ReadOptions read;  ///< topics and times; a topic need only be in one of several recordings
  StorageFormat format = StorageFormat::kMcap;
  WriteOptions write;  ///< of sqlite3 only ros_distro is used
};

struct ConvertResult {
  std::uint64_t messages = 0;
  std::uint64_t refused = 0;      ///< messages that the new recording could not take (times before 1970)
  std::vector<Finding> findings;  ///< of all inputs
  bool complete = true;           ///< false where `progress` stopped it
  [[nodiscard]] bool damaged() const;
};

/// Messages of all inputs in order of log time (of the first given where equal). A topic that two of them have must be of one
/// type. Latched messages from before the start are written with the time of the start. On an error nothing is left in `output`.
Result<ConvertResult> convert(const std::vector<std::filesystem::path>& inputs, const std::filesystem::path& output,
                              const ConvertOptions& options, const BagProgress& progress = {});

}  // namespace pitwall::recording

// SPDX-License-Identifier: Apache-2.0
// Whether two recordings say the same, and if not, where each topic first differs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "recording/bag_info.hpp"

namespace pitwall::recording {

struct DiffOptions {
  std::vector<std::string> topics;  ///< empty: all of both
  bool ignore_times = false;        ///< compare contents only, not log times
};

/// One topic that differs.
struct TopicDifference {
  std::string topic;
  std::uint64_t count_a = 0;
  std::uint64_t count_b = 0;
  std::string what;  ///< "message 17 (at 1.250 s): pose.position.x is 1 in one, 1.5 in the other", "only in ..."
};

struct DiffResult {
  std::uint64_t compared = 0;  ///< messages of the first
  std::uint64_t topics = 0;    ///< of both together
  std::vector<TopicDifference> differences;
  bool complete = true;
};

/// Messages are compared topic by topic in the order of their log times: bytes first, and where they differ the fields.
/// Memory does not grow with the recordings.
Result<DiffResult> diff(const std::filesystem::path& a, const std::filesystem::path& b, const DiffOptions& options,
                        const BagProgress& progress = {});

}  // namespace pitwall::recording

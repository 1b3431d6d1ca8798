// SPDX-License-Identifier: Apache-2.0
// The messages of a recording as text: a line of JSON each, or a CSV file a topic.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "recording/bag_info.hpp"
#include "recording/bag_reader.hpp"

namespace pitwall::recording {

struct ExportCounts {
  std::uint64_t written = 0;
  std::uint64_t opaque = 0;  ///< messages of topics that nothing defines: given as bytes (JSON) or left out (CSV)
  std::uint64_t broken = 0;  ///< messages that are not what their type says: likewise
  std::string first_error;   ///< of the first broken one, with its topic
  bool complete = true;      ///< false where `progress` stopped it
};

/// {"log_time":ns,"topic":"/scan","type":"...","message":{...}} for each message; "error" and "bytes" (hexadecimal) instead of "message"
/// where it cannot be read. `out` gets whole lines; at most `limit` messages.
ExportCounts write_json_lines(BagReader& reader, std::uint64_t limit, const std::function<void(std::string_view)>& out,
                              const BagProgress& progress = {});

struct CsvFile {
  std::string topic;
  std::filesystem::path path;
  std::uint64_t rows = 0;
  std::string why_not;  ///< why there is no file
};

/// A file a wanted topic in `folder` ("/drive/raw" becomes drive_raw.csv): log_time_ns, then the columns of ros_messages::csv_columns.
/// Files appear under their names when they are whole. Errors: a file cannot be written.
Result<std::vector<CsvFile>> export_csv(BagReader& reader, const std::filesystem::path& folder, ExportCounts& counts,
                                        const BagProgress& progress = {});

}  // namespace pitwall::recording

// SPDX-License-Identifier: Apache-2.0
// One storage file of a bag: MCAP or sqlite3, as the reader sees both.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recording/bag.hpp"

namespace pitwall::recording {

/// Which messages to read.
struct Selection {
  std::vector<bool> topics;           ///< by index into Storage::topics()
  std::int64_t start_ns = INT64_MIN;  ///< log time, inclusive
  std::int64_t end_ns = INT64_MAX;    ///< inclusive
  [[nodiscard]] bool holds(std::int64_t log_time_ns) const { return start_ns <= log_time_ns && log_time_ns <= end_ns; }
};

class Storage {
 public:
  virtual ~Storage() = default;
  Storage() = default;
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  /// As far as the file says, with counts of what can be read.
  [[nodiscard]] const std::vector<Topic>& topics() const { return topics_; }
  /// First and last log time; only where there is a message.
  [[nodiscard]] std::int64_t start_ns() const { return start_ns_; }
  [[nodiscard]] std::int64_t end_ns() const { return end_ns_; }
  [[nodiscard]] std::uint64_t message_count() const;
  /// The bag's metadata as the storage repeats it, or empty.
  [[nodiscard]] const std::string& metadata_text() const { return metadata_text_; }

  /// Begins to read.
  virtual void select(const Selection& selection) = 0;
  /// The next message in order of (log time, place in the file), with its topic as index into topics(), or null. Its data
  /// are valid until the next call.
  virtual const BagMessage* next() = 0;

 protected:
  /// Counts a message of a topic into topics(), start and end.
  void count(std::size_t topic, std::int64_t log_time_ns);

  std::vector<Topic> topics_;
  std::int64_t start_ns_ = INT64_MAX;
  std::int64_t end_ns_ = INT64_MIN;
  std::string metadata_text_;
};

/// Opens an MCAP file. Never fails: a file in which nothing can be read has no messages, and `findings` (which must
/// outlive it) says why.
std::unique_ptr<Storage> open_mcap(std::unique_ptr<class ByteSource> source, std::string name, Findings& findings);

/// Opens an sqlite3 file likewise.
std::unique_ptr<Storage> open_sqlite(const std::string& path, std::string name, Findings& findings);

}  // namespace pitwall::recording

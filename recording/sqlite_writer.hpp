// SPDX-License-Identifier: Apache-2.0
// Writes a rosbag2 folder with sqlite3 storage (schema 4, as Iron and later write it), for tools that read nothing else.
// BagWriter is for recording; this one is for conversion.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "recording/bag.hpp"

namespace pitwall::recording {

class SqliteWriter {
 public:
  /// Creates the folder, which must not exist or be empty, and its database. `ros_distro` "humble" gives metadata of version 5.
  static Result<SqliteWriter> create(const std::filesystem::path& folder, const std::string& ros_distro = "jazzy");
  SqliteWriter(SqliteWriter&&) noexcept;
  SqliteWriter& operator=(SqliteWriter&&) noexcept;
  /// Closes; an error then goes unseen, so call close().
  ~SqliteWriter();

  /// A name that is there already gives that one's index.
  Result<std::size_t> add_topic(const Topic& topic);
  Status write(std::size_t topic, Time log_time, Bytes data);
  /// Commits, and writes metadata.yaml. May be called twice.
  Status close();

 private:
  struct State;
  explicit SqliteWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pitwall::recording

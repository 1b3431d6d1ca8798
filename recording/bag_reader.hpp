// SPDX-License-Identifier: Apache-2.0
// Reads a ROS 2 recording without ROS: rosbag2 folders and bare files, MCAP and sqlite3, split, compressed, without
// metadata or index, damaged. Messages stay bytes; what is wrong is a finding, never a crash, and never ends the reading of
// what is right.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "recording/bag.hpp"
#include "recording/metadata.hpp"

namespace pitwall::recording {

struct ReadOptions {
  std::vector<std::string> topics;  ///< names; empty: all
  std::optional<Time> start;        ///< first log time wanted
  std::optional<Time> end;          ///< last log time wanted
  /// With `start`: first give the state that was latched then, which is the last message of each latched topic from
  /// before it, and all of them where the type is a list of transforms.
  bool latched_before_start = true;
};

class BagReader {
 public:
  /// Opens a folder, a run folder (its bag/), or one storage file. Errors: no such path, no recording there, an unknown
  /// topic. All else is in findings().
  static Result<BagReader> open(const std::filesystem::path& folder_or_file, const ReadOptions& options = {});
  BagReader(BagReader&&) noexcept;
  BagReader& operator=(BagReader&&) noexcept;
  ~BagReader();

  [[nodiscard]] const std::vector<Topic>& topics() const;
  /// Whether that topic passes the filter.
  [[nodiscard]] bool wanted(std::size_t topic) const;
  /// Storage files in play order.
  [[nodiscard]] const std::vector<std::string>& files() const;
  /// First and last log time of the data, whatever metadata.yaml says; nothing where there is no message.
  [[nodiscard]] std::optional<Time> start() const;
  [[nodiscard]] std::optional<Time> end() const;
  /// Messages in the files, before any filter.
  [[nodiscard]] std::uint64_t message_count() const;
  /// What was found so far; reading may add to it.
  [[nodiscard]] const std::vector<Finding>& findings() const;
  [[nodiscard]] bool damaged() const;
  /// "mcap", "sqlite3" or "mixed".
  [[nodiscard]] const std::string& storage() const;
  /// What metadata.yaml, or else the copy in the storage, claims.
  [[nodiscard]] const std::optional<BagMetadata>& metadata() const;

  /// The next message in order of (log time, file, place in the file), or null at the end. Message compression is undone.
  const BagMessage* next();
  /// Begins again, with the same filters.
  void rewind();

 private:
  struct State;
  explicit BagReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pitwall::recording

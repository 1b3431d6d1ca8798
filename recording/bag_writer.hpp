// SPDX-License-Identifier: Apache-2.0
// Writes a rosbag2 folder: MCAP with profile ros2 (indexed, chunked, checksums on) and metadata.yaml, so that ros2 bag,
// Foxglove and PlotJuggler open it. What was written a second or a MiB ago is in the file whatever happens to the process.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/result.hpp"
#include "recording/bag.hpp"
#include "recording/mcap_writer.hpp"

namespace pitwall::recording {

struct WriteOptions {
  Compression compression = Compression::kZstd;
  std::size_t chunk_bytes = std::size_t{1} << 20;
  Duration flush_every{1'000'000'000};  ///< of log time
  std::uint64_t split_bytes = 0;        ///< a new file after so many; 0: never
  Duration split_after{};               ///< a new file after so much log time; 0: never
  std::string ros_distro = "jazzy";     ///< "humble": metadata version 5 with QoS as numbers; else version 9
  std::vector<std::pair<std::string, std::string>> custom_data;
  bool durable = false;  ///< each flush waits for the disk (on the car, against a power cut)
};

class BagWriter {
 public:
  /// Creates the folder, which must not exist or be empty, and its first file.
  static Result<BagWriter> create(const std::filesystem::path& folder, const WriteOptions& options = {});
  /// Creates one MCAP file of that path, without folder, metadata.yaml and splits; the file must not exist.
  static Result<BagWriter> create_file(const std::filesystem::path& path, const WriteOptions& options = {});
  BagWriter(BagWriter&&) noexcept;
  BagWriter& operator=(BagWriter&&) noexcept;
  /// Closes; an error then goes unseen, so call close().
  ~BagWriter();

  /// A new topic, at any time; gives its index for write(). `latched`, or a QoS that says so, makes its last message (of
  /// transform lists: all) begin each later split. A name that is there already with the same type gives that one's index.
  Result<std::size_t> add_topic(const Topic& topic);
  /// Log times are the runner's own and not negative.
  Status write(std::size_t topic, Time log_time, Time publish_time, Bytes data);
  /// Messages that did not get this far: into the metadata as "dropped:<topic>", and a gap in the sequence numbers.
  void count_dropped(std::size_t topic, std::uint64_t messages = 1);
  /// The runner's time where nothing is written: flushes what is due.
  Status advance(Time now);
  /// Summary and metadata.yaml. May be called twice.
  Status close();

  [[nodiscard]] const std::vector<Topic>& topics() const;  ///< with their counts so far

 private:
  struct State;
  explicit BagWriter(std::unique_ptr<State> state);
  static Result<BagWriter> begin(const std::filesystem::path& folder, const std::string& bare_file, const WriteOptions& options);
  std::unique_ptr<State> state_;
};

}  // namespace pitwall::recording

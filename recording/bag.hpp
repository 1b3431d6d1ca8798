// SPDX-License-Identifier: Apache-2.0
// What a recording holds, whatever file format it lies in: topics, messages as raw bytes, and what was found wrong.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/time.hpp"
#include "recording/bytes.hpp"

namespace pitwall::recording {

/// One stream of messages. This layer never looks into a message: `type` and `schema` say how others may.
struct Topic {
  std::string name;                 ///< "/scan", as recorded
  std::string type;                 ///< "sensor_msgs/msg/LaserScan"; the old "sensor_msgs/LaserScan" is read as that
  std::string encoding = "cdr";     ///< serialization format
  std::string schema_encoding;      ///< "ros2msg", "ros2idl", ..., or empty
  std::string schema;               ///< definition text, or empty
  std::string type_hash;            ///< "RIHS01_...", or empty
  std::string qos;                  ///< offered QoS profiles as recorded (YAML, numbers or words), or empty
  bool latched = false;             ///< transient-local by its QoS, or named /tf_static
  std::uint64_t message_count = 0;  ///< in all files, before any filter
};

/// One recorded message.
struct BagMessage {
  std::size_t topic = 0;              ///< index into the reader's topics()
  std::size_t file = 0;               ///< index into the reader's files()
  Time log_time;                      ///< when the recorder received it
  Time publish_time;                  ///< when it was sent; log_time where the format does not say
  std::uint32_t sequence = 0;         ///< 0 where the format has none
  bool latched_before_start = false;  ///< lies before ReadOptions::start: the latched state at that instant
  Bytes data;                         ///< with its encapsulation header; valid until the next call of next()
};

enum class Severity : std::uint8_t {
  kNote,    ///< nothing is lost: metadata.yaml is missing or stale, there is no index, ...
  kDamage,  ///< something is lost, or may be
};

/// What is odd about a recording, where, and what was kept in spite of it.
struct Finding {
  Severity severity = Severity::kNote;
  std::string file;
  std::uint64_t offset = 0;  ///< byte in the file
  std::string what;
  std::string kept;  ///< empty where nothing was at stake

  /// "file: offset 17: what; kept" in one line.
  [[nodiscard]] std::string text() const;
};

/// Collects findings, each once however often the file is read; a file that is wrong in a million places gets a thousand lines and a count.
class Findings {
 public:
  static constexpr std::size_t kMost = 1000;

  void add(Finding finding);
  [[nodiscard]] const std::vector<Finding>& all() const { return all_; }
  [[nodiscard]] bool damaged() const { return damaged_; }

 private:
  std::vector<Finding> all_;
  std::size_t left_out_ = 0;
  bool damaged_ = false;
};

/// "pkg/msg/Type" also for the "pkg/Type" of old recordings.
std::string normalised_type(std::string_view type);
/// Whether some offered QoS profile (YAML with words, or with rmw's numbers) is transient-local.
bool is_transient_local(std::string_view qos);

}  // namespace pitwall::recording

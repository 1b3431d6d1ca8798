// SPDX-License-Identifier: Apache-2.0
// What a recording holds, in figures: per topic how many, how regular, how late; which clocks; what is damaged.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "core/time.hpp"
#include "recording/bag.hpp"
#include "recording/bag_reader.hpp"

namespace pitwall::recording {

/// Called now and then with the messages read so far, and how many there are (filters aside); false stops the reading.
using BagProgress = std::function<bool(std::uint64_t done, std::uint64_t total)>;

/// Quantiles of a stream in bounded memory: exact up to 2^17 values, then of every 2nd, 4th, ... of them.
class SampledQuantiles {
 public:
  void add(std::int64_t value);
  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// Of a share in [0, 1] (nearest rank); nothing without values.
  [[nodiscard]] std::optional<std::int64_t> quantile(double share) const;
  [[nodiscard]] const std::vector<std::int64_t>& values() const { return values_; }

 private:
  std::vector<std::int64_t> values_;
  std::uint64_t count_ = 0;
  std::uint64_t every_ = 1;
};

/// One topic. Times of receipt are log times; stamps are those in the messages (ros_messages::first_stamp).
struct TopicInfo {
  std::string name;
  std::string type;
  std::string encoding;
  std::string why_opaque;  ///< why its messages cannot be read; empty where they can
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::optional<Time> first;
  std::optional<Time> last;
  std::optional<double> rate_hz;                ///< (count - 1) / (last - first)
  std::optional<Duration> worst_gap;            ///< longest time between two messages
  Time worst_gap_at;                            ///< when it began
  std::optional<Duration> jitter;               ///< 95 % of the intervals lie within this of their median
  std::uint64_t stamped = 0;                    ///< messages with a stamp that is not 0
  std::uint64_t zero_stamps = 0;                ///< the time of receipt stands in for them
  std::uint64_t backward_stamps = 0;            ///< before the stamp of the message before
  std::optional<Duration> receive_minus_stamp;  ///< median
  std::uint64_t undecodable = 0;                ///< messages that are not what the definition says
  std::string first_error;                      ///< of the first of those
  std::uint64_t dropped = 0;                    ///< that the recorder itself counted as lost
};

struct BagInfo {
  std::string path;
  std::string storage;
  std::string ros_distro;
  std::size_t files = 0;
  std::uint64_t messages = 0;
  std::optional<Time> start;
  std::optional<Time> end;
  std::string clock;              ///< which clock the log times are of, and whether the stamps are of the same
  bool complete = true;           ///< false where the reading was stopped
  std::vector<TopicInfo> topics;  ///< sorted by name
  std::vector<Finding> findings;
  [[nodiscard]] bool damaged() const;
};

/// Reads the whole recording. `decode` also reads every message to its last byte (check); without it only stamps are looked at.
BagInfo inspect(BagReader& reader, const std::string& path, bool decode, const BagProgress& progress = {});

/// As people read it, a line a topic.
std::string info_text(const BagInfo& info);
/// The same as JSON, times in whole nanoseconds.
std::string info_json(const BagInfo& info);

/// "2026-12-01 13:00:05.123 UTC" of a time since 1970, "12.345 s" of any other.
std::string time_text(Time time);
/// "12.3 ms", "4.56 s", "2:03:04 h": a span as people read it, sign kept.
std::string duration_text(Duration duration);

}  // namespace pitwall::recording

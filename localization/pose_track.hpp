// SPDX-License-Identifier: Apache-2.0
// The recent way of something, as poses in the order of their stamps, and where it was at any instant in between. Never outside: a source
// that has fallen silent must not look like one that stands.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/geometry.hpp"
#include "core/time.hpp"

namespace pitwall::localization {

/// Whether all three numbers are.
bool is_finite(const Pose2& pose);

/// T_start_end of two poses given in one frame.
Pose2 increment(const Pose2& T_start, const Pose2& T_end);

class PoseTrack {
 public:
  /// Poses older than `horizon` before the newest may be forgotten.
  explicit PoseTrack(Duration horizon) : horizon_(horizon) {}

  void clear();
  /// False, and nothing taken in, for a pose that is not finite or not newer than the newest.
  bool add(Time stamp, const Pose2& pose);
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] Time oldest() const { return at_place(0).stamp; }
  [[nodiscard]] Time newest() const { return at_place(count_ - 1).stamp; }
  /// Linear between the poses on both sides, the turn by the short way; nothing outside [oldest, newest].
  [[nodiscard]] std::optional<Pose2> at(Time t) const;
  /// T_from_to of the two instants; nothing unless both are covered.
  [[nodiscard]] std::optional<Pose2> between(Time from, Time to) const;

 private:
  struct Entry {
    Time stamp;
    Pose2 pose;
  };
  [[nodiscard]] const Entry& at_place(std::size_t i) const { return ring_[(first_ + i) % ring_.size()]; }

  Duration horizon_;
  std::vector<Entry> ring_ = std::vector<Entry>(256);  // doubled when a faster source needs more
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

}  // namespace pitwall::localization

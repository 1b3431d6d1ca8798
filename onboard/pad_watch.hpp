// SPDX-License-Identifier: Apache-2.0
// Whether a joystick's silence means anything. A pad whose sticks tremble sends all the time; if that one is silent, its radio is lost.
// Most pads send on change only: for them a lost radio looks like a hand that does not move, and nothing can be concluded.
#pragma once

#include "core/time.hpp"

namespace pitwall::onboard {

class PadWatch {
 public:
  /// Between two events a pad that streams leaves no more than this.
  static constexpr Duration kLongestGap = from_milliseconds(400);
  /// It must have streamed for so long.
  static constexpr Duration kObserved = from_milliseconds(5'000);

  void reset() { *this = {}; }
  /// Called often; `at_rest`: nobody drives. What was learnt at rest stays until reset().
  void look(Time now, Time last_event, bool any_event, bool at_rest) {
    const bool unbroken = any_event && now - last_event <= kLongestGap;
    if (unbroken && !unbroken_) since_ = now;
    unbroken_ = unbroken;
    if (at_rest && unbroken && now - since_ >= kObserved) streams_ = true;
    if (at_rest && !unbroken) streams_ = false;
  }
  [[nodiscard]] bool streams() const { return streams_; }

 private:
  bool unbroken_ = false;
  Time since_;
  bool streams_ = false;
};

}  // namespace pitwall::onboard

// SPDX-License-Identifier: Apache-2.0
// The clock inside a device: begins when it is switched on, is not exact, wraps, and can be made to jump.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/time.hpp"

namespace pitwall::emulators {

class DeviceClock {
 public:
  /// Reads 0 at `now`, whatever it had been set to; its drift stays.
  void restart(Time now) {
    origin_ = now;
    offset_s_ = 0.0;
  }
  /// From now on it runs fast by that share of time (1e-6: 1 ppm).
  void set_drift(Time now, double share) {
    offset_s_ = seconds(now);
    origin_ = now;
    drift_ = share;
  }
  /// Puts it ahead (or back).
  void jump(double by_s) { offset_s_ += by_s; }
  /// Sets it to a reading.
  void set(Time now, double reading_s) { offset_s_ += reading_s - seconds(now); }

  /// Its reading in s, without wrap.
  [[nodiscard]] double seconds(Time now) const { return offset_s_ + (1.0 + drift_) * (now - origin_).seconds(); }
  /// Its reading in whole ms modulo `wrap`.
  [[nodiscard]] std::uint32_t milliseconds(Time now, std::int64_t wrap) const {
    const auto ms = static_cast<std::int64_t>(std::floor(1e3 * seconds(now) + 1e-6));
    return static_cast<std::uint32_t>(((ms % wrap) + wrap) % wrap);
  }

 private:
  Time origin_;
  double offset_s_ = 0.0;
  double drift_ = 0.0;
};

}  // namespace pitwall::emulators

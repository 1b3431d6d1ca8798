// SPDX-License-Identifier: Apache-2.0
// Time as integer nanoseconds. There is deliberately no now(): whoever runs a controller owns the clock.
#pragma once

#include <compare>
#include <cstdint>

namespace pitwall {

/// A span of time in nanoseconds; may be negative.
struct Duration {
  std::int64_t ns = 0;
  friend constexpr auto operator<=>(Duration, Duration) = default;
  /// The span in seconds, the nearest double.
  [[nodiscard]] constexpr double seconds() const { return static_cast<double>(ns) / 1e9; }
};

/// An instant in nanoseconds since the runner's epoch (start of the simulation, or the Unix epoch of a recording).
struct Time {
  std::int64_t ns = 0;
  friend constexpr auto operator<=>(Time, Time) = default;
  /// Seconds since the epoch; loses nanoseconds beyond about 100 days.
  [[nodiscard]] constexpr double seconds() const { return static_cast<double>(ns) / 1e9; }
};

constexpr Duration operator+(Duration a, Duration b) { return {a.ns + b.ns}; }
constexpr Duration operator-(Duration a, Duration b) { return {a.ns - b.ns}; }
constexpr Duration operator*(std::int64_t k, Duration d) { return {k * d.ns}; }
constexpr Duration operator-(Time a, Time b) { return {a.ns - b.ns}; }
constexpr Time operator+(Time t, Duration d) { return {t.ns + d.ns}; }
constexpr Time operator-(Time t, Duration d) { return {t.ns - d.ns}; }

/// Seconds rounded to the nearest nanosecond, halves away from zero; |seconds| must be below 9e9.
constexpr Duration from_seconds(double seconds) {
  const double ns = seconds * 1e9;
  const auto whole = static_cast<std::int64_t>(ns);
  const double rest = ns - static_cast<double>(whole);  // exact; adding 0.5 first would round above 2^52
  return {whole + (rest >= 0.5 ? 1 : 0) - (rest <= -0.5 ? 1 : 0)};
}
constexpr Duration from_milliseconds(std::int64_t ms) { return {ms * 1'000'000}; }

}  // namespace pitwall

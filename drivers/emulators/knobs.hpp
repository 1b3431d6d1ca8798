// SPDX-License-Identifier: Apache-2.0
// What can be changed about an emulated device while it runs, as one line of text each: "mute 1", "fault 2", "battery 9.5".
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "core/time.hpp"

namespace pitwall::emulators {

/// The words after a knob's name.
using Words = std::span<const std::string_view>;

/// Knobs by name.
class Knobs {
 public:
  using Action = std::function<Status(Time now, Words words)>;

  /// `usage` is what follows the name ("0|1", "VOLTS", empty for none), `what` one line for the list.
  void add(std::string name, std::string usage, std::string what, Action action);
  /// A knob that is one number within [least, most]; `set` is told it.
  void add_number(const std::string& name, std::string usage, std::string what, double least, double most,
                  std::function<void(Time, double)> set);
  /// A knob "0|1".
  void add_switch(const std::string& name, std::string what, bool& value);

  /// Turns one: "NAME WORD...". Errors: an unknown name (with the nearest), words that the knob does not take.
  Status turn(Time now, std::string_view line);
  [[nodiscard]] bool has(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> names() const;
  /// A line per knob, for people; each begins with `prefix`.
  [[nodiscard]] std::string help(std::string_view prefix) const;

 private:
  struct Knob {
    std::string name;
    std::string usage;
    std::string what;
    Action action;
  };
  std::vector<Knob> knobs_;
};

/// "1f 03 AA" or "1f03aa" as bytes.
Result<std::vector<std::uint8_t>> parse_hex(Words words);

}  // namespace pitwall::emulators

// SPDX-License-Identifier: Apache-2.0
// Always-on check for our own bugs: prints the place, the condition and the values, then aborts. Never for bad input
// (that is a Result) and never in place of a status in the control path.
#pragma once

#include <sstream>
#include <string>

namespace pitwall::detail {

[[noreturn]] void check_failed(const char* file, int line, const char* condition, const std::string& values);

template <class... Values>
[[noreturn]] void check_failed_with(const char* file, int line, const char* condition, const Values&... values) {
  std::ostringstream text;
  text.precision(17);
  ((text << ' ' << values), ...);
  check_failed(file, line, condition, text.str());
}

}  // namespace pitwall::detail

/// PITWALL_CHECK(condition, values...): aborts with the values printed unless the condition holds.
#define PITWALL_CHECK(condition, ...)                                                                  \
  do {                                                                                                 \
    if (!(condition)) {                                                                                \
      ::pitwall::detail::check_failed_with(__FILE__, __LINE__, #condition __VA_OPT__(, ) __VA_ARGS__); \
    }                                                                                                  \
  } while (false)

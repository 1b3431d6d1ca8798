// SPDX-License-Identifier: Apache-2.0
// What every program does alike: parse, refuse with one message, answer with the house's exit codes.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/result.hpp"

namespace CLI {
class App;
}

namespace pitwall::apps {

inline constexpr int kPassed = 0;         ///< done, and every criterion met
inline constexpr int kFailed = 1;         ///< ran, and failed its criteria or gate
inline constexpr int kBadInput = 2;       ///< bad usage or bad input, said in one message
inline constexpr int kInternalError = 3;  ///< a bug of ours
inline constexpr int kSkipped = 77;       ///< data that is needed is not there
inline constexpr int kInterrupted = 130;  ///< stopped by the user; what was finished is kept

/// Adds --version ("NAME 0.1.0") and parses the command line. Nothing where the program goes on; else the exit code (0 after --help or
/// --version, 2 after a wrong flag, with the nearest valid one named).
std::optional<int> parse(CLI::App& app, int argc, char** argv);

/// Prints the message and returns kBadInput.
int bad_input(const Error& error);

/// Index of `value` among `names`, or an error that names the flag, the value and what is allowed.
Result<int> choose(std::string_view flag, const std::string& value, std::span<const std::string_view> names);

/// Runs `body`; whatever is thrown becomes a message and kInternalError, results that could not be printed (a full disk) one and kBadInput.
int guarded(const std::function<int()>& body);

}  // namespace pitwall::apps

// SPDX-License-Identifier: Apache-2.0
// Log facade: progress and warnings for people, always on stderr. Results go to stdout by the programs themselves.
#pragma once

#include <string_view>

namespace pitwall::log {

void info(std::string_view message);
/// Prefixed "warning:".
void warn(std::string_view message);
/// Prefixed "error:".
void error(std::string_view message);

/// Only warnings and errors from here on (--quiet).
void set_quiet(bool quiet);

}  // namespace pitwall::log

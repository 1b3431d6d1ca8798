// SPDX-License-Identifier: Apache-2.0
// Reading and writing every known type, for tests: compiled once, since fifty structs take a compiler ten seconds.
#pragma once

#include <string>
#include <string_view>

#include "core/result.hpp"

namespace pitwall::ros_messages {

/// The message read as our struct of that type (known_types.hpp) and written again. Errors: those of reading; an unknown type.
Result<std::string> rewritten(std::string_view type, std::string_view message);

}  // namespace pitwall::ros_messages

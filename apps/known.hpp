// SPDX-License-Identifier: Apache-2.0
// What a user can choose from and set.
#pragma once

#include <filesystem>

#include "core/result.hpp"
#include "tracks/track.hpp"

namespace pitwall::apps {

/// Prints the tracks, cars and scenarios that ship, and the user's own tracks.
Status print_list(const std::filesystem::path& data, const tracks::TrackLibrary& library);

/// Prints every key of a scenario and of the controllers with default, range and meaning.
Status print_config();

}  // namespace pitwall::apps

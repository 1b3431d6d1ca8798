// SPDX-License-Identifier: Apache-2.0
// Where programs find tracks by name: those that ship, and the user's own.
#pragma once

#include <filesystem>

#include "tracks/track.hpp"

namespace pitwall::apps {

/// The folder of the user's own tracks: PITWALL_TRACKS, else pitwall/tracks in the user's data folder (XDG_DATA_HOME, else
/// ~/.local/share); empty where the shell says nothing of either.
std::filesystem::path own_tracks_folder();

/// Both.
tracks::TrackLibrary track_library();

}  // namespace pitwall::apps

// SPDX-License-Identifier: Apache-2.0
// Lines as text that load_line reads.
#pragma once

#include <string>
#include <vector>

#include "tracks/path.hpp"

namespace pitwall::tracks {

/// A number with so many decimals, without the locale; no "-0".
std::string decimals(double value, int count);

/// x, y, speed with 4, 4 and 3 decimals.
std::string profile_csv(const Path& path, const std::vector<double>& speed_mps);

/// x, y, to the bit.
std::string points_csv(const std::vector<Vec2>& points);

}  // namespace pitwall::tracks

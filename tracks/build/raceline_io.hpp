// SPDX-License-Identifier: Apache-2.0
// Racing lines and profiles as the files that load_line reads.
#pragma once

#include <string>
#include <vector>

#include "tracks/build/raceline.hpp"

namespace pitwall::tracks::build {

/// s; x; y; psi; kappa; vx; ax, psi standard, to a micrometre. `remarks` become comment lines in front: how the line came about.
std::string raceline_csv(const Raceline& line, const std::vector<std::string>& remarks);

}  // namespace pitwall::tracks::build

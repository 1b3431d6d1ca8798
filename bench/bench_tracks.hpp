// SPDX-License-Identifier: Apache-2.0
// The tracks that benchmarks run on, loaded once, and poses along them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tracks/track.hpp"

namespace pitwall::bench {

/// Spielberg where the test data is there, and the first circuit that ships.
const std::vector<tracks::Track>& bench_tracks();

/// `count` poses evenly along the centre line.
std::vector<Pose2> poses_along(const tracks::Track& track, std::size_t count);

/// CPU time of this thread in s.
double thread_cpu_s();

}  // namespace pitwall::bench

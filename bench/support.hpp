// SPDX-License-Identifier: Apache-2.0
// What the benchmarks share: the tracks they run on, loaded once, poses along them, CPU time and medians.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tracks/track.hpp"

namespace pitwall::bench {

/// Arguments of the tracks: Spielberg where the test data is there, and the first circuit that ships.
std::vector<std::string> bench_track_arguments();

/// The same tracks, loaded.
const std::vector<tracks::Track>& bench_tracks();

/// `count` poses evenly along the centre line.
std::vector<Pose2> poses_along(const tracks::Track& track, std::size_t count);

/// CPU time of this thread in s.
double thread_cpu_s();

/// The middle one of at least one value (the upper of two).
double median(std::vector<double> values);

}  // namespace pitwall::bench

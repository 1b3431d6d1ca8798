// SPDX-License-Identifier: Apache-2.0
// What every solver of a pose graph asks of it first.
#pragma once

#include <span>

#include "core/result.hpp"
#include "localization/slam/graph.hpp"

namespace pitwall::slam::detail {

/// Whether the graph has a minimum: poses and edges finite, edges between poses that are there, information positive definite, weights
/// as many as edges (or none) and not negative, and every pose joined to the first by edges of weight above 0.
Status check(const Graph& graph, std::span<const double> weights);

}  // namespace pitwall::slam::detail

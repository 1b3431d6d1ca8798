// SPDX-License-Identifier: Apache-2.0
// A graph of planar poses, and its best poses: those that make chi2 = sum of e^T Omega e least, with the error of g2o's EDGE_SE2,
// e = T_from_to^-1 (T_from^-1 T_to) as (x, y, yaw) (Grisetti, Kuemmerle, Stachniss, Burgard, "A tutorial on graph-based SLAM", 2010).
//
// Levenberg-Marquardt finds the minimum next to where it starts. `chordal_start` gives a start that needs no guess: rotations as the
// linear least-squares problem that is left when they need not be rotations, then positions as another one (Martinec and Pajdla, "Robust
// rotation and translation estimation", CVPR 2007; Carlone et al., "Initialization techniques for 3D SLAM", ICRA 2015).
//
// One thread, one fixed order of operations: same graph, same bits, on one machine and one build.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/geometry.hpp"
#include "core/result.hpp"
#include "localization/small_matrix.hpp"

namespace pitwall::slam {

using localization::Matrix3;

/// What is measured between two poses.
struct Edge {
  std::size_t from = 0;
  std::size_t to = 0;
  Pose2 T_from_to;
  Matrix3 information;   ///< of x, y (m) and yaw (rad) of T_from_to, in the axes of its end: inverse of a covariance
  bool closure = false;  ///< joins poses that do not follow each other; may be wrong
};

/// Poses in the map frame, the first of which stays where it is, and what is measured between them.
struct Graph {
  std::vector<Pose2> poses;
  std::vector<Edge> edges;
};

/// e^T Omega e of one edge at the poses of the graph, and of all.
double chi2_of(const Edge& edge, std::span<const Pose2> poses);
double chi2_of(const Graph& graph);

struct OptimizerSettings {
  int max_iterations = 100;
  double function_tolerance = 1e-13;  ///< relative change of chi2 that ends the search
};

struct Optimum {
  double chi2 = 0.0;  ///< with the weights
  int iterations = 0;
  bool converged = false;
};

/// Moves the poses to the minimum next to them. `weights` (empty: all 1) multiply the terms of the edges; an edge with weight 0 is absent.
/// Errors: a pose that no edge joins to the first, an edge with a pose that is not there, a number that is not finite, an information
/// matrix that is not positive definite. On an error the poses are unchanged.
Result<Optimum> optimize(Graph& graph, const OptimizerSettings& settings = {}, std::span<const double> weights = {});

/// Moves the poses to where the relaxed problem has them, whatever they were; the first stays. Errors as above.
Status chordal_start(Graph& graph, std::span<const double> weights = {});

/// The least chi2 among edges that may be wrong.
struct RobustOptimum {
  Optimum optimum;
  std::vector<bool> accepted;  ///< of each edge; those that are no closure always are
};

enum class RobustStart : std::uint8_t {
  kNone,   ///< whatever the poses are: from all edges, and from those that are no closures; the better result counts
  kPoses,  ///< from the poses as they are
};

/// The optimum without the closures that do not go with the rest: those whose chi2 at the result exceeds `gate` (graduated
/// non-convexity with truncated least squares: Yang, Antonante, Tzoumas, Carlone, RA-L 2020). Errors as above.
Result<RobustOptimum> optimize_robustly(Graph& graph, double gate, RobustStart start = RobustStart::kNone);

/// chi2 that a true measurement of three numbers exceeds once in a thousand.
inline constexpr double kChi2Gate = 16.27;

}  // namespace pitwall::slam

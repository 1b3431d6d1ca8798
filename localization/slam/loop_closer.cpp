// SPDX-License-Identifier: Apache-2.0
#include "localization/slam/loop_closer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <queue>
#include <utility>

#include "localization/slam/correlative.hpp"

namespace pitwall::slam {

namespace {

constexpr double kLoopCell_m = 0.05;
constexpr int kLoopLevels = 5;
constexpr double kTurn_rad = 0.015;
constexpr double kLoopThin_m = 0.1;
// An error in yaw counts by what it moves at this distance.
constexpr double kLever_m = 5.0;
constexpr double kLoopWindowSigmas = 3.0;
constexpr double kLeastLoopWindow_m = 0.5;
constexpr double kLeastLoopWindow_rad = 0.1;
// Nodes that the graph holds together this well are registered from where they are.
constexpr double kKnown_m = 0.15;
// A registration may go this far from where it starts.
constexpr double kLooseSigma_m = 0.3;
constexpr double kLooseSigma_rad = 0.15;
// Candidates this many nodes apart are of different chains.
constexpr std::size_t kChainGap = 5;
constexpr std::size_t kMostUnsettled = 10;
const OptimizerSettings kTrial{30, 1e-6};

}  // namespace

const char* name_of(ClosureOutcome outcome) {
  static constexpr std::array<const char*, 8> kNames{"accepted",     "no overlap",  "ambiguous", "not registered",
                                                     "low response", "contradicts", "strains",   "outvoted"};
  return kNames[static_cast<std::size_t>(outcome)];
}

std::vector<LoopCloser::Reach> LoopCloser::reach_from_last(const Survey& survey) const {
  const std::size_t count = survey.graph.poses.size();
  struct Step {
    std::size_t to = 0;
    double m2 = 0.0;
    double rad2 = 0.0;
  };
  std::vector<std::vector<Step>> steps(count);
  for (const Edge& edge : survey.graph.edges) {
    const Matrix3 covariance = localization::inverse_of(edge.information);
    const double m2 = std::max(covariance(0, 0), covariance(1, 1));
    steps[edge.from].push_back({edge.to, m2, covariance(2, 2)});
    steps[edge.to].push_back({edge.from, m2, covariance(2, 2)});
  }
  // Dijkstra by the variance at the lever; equal ones in the order of the nodes.
  constexpr double kFar = std::numeric_limits<double>::infinity();
  std::vector<double> variance(count, kFar);
  std::vector<double> rad2(count, kFar);
  using Entry = std::pair<double, std::size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  variance[count - 1] = rad2[count - 1] = 0.0;
  open.emplace(0.0, count - 1);
  while (!open.empty()) {
    const auto [at, node] = open.top();
    open.pop();
    if (at > variance[node]) continue;
    for (const Step& step : steps[node]) {
      const double next = at + step.m2 + kLever_m * kLever_m * step.rad2;
      if (next >= variance[step.to]) continue;
      variance[step.to] = next;
      rad2[step.to] = rad2[node] + step.rad2;
      open.emplace(next, step.to);
    }
  }
  std::vector<Reach> reach;
  reach.reserve(count);
  for (std::size_t k = 0; k < count; ++k) reach.push_back({std::sqrt(variance[k]), std::sqrt(rad2[k])});
  return reach;
}

std::vector<LoopCloser::Candidate> LoopCloser::candidates(const Survey& survey) const {
  std::vector<Candidate> chains;
  const std::size_t last = survey.nodes.size() - 1;
  const auto apart = static_cast<std::size_t>(parameters_.min_nodes_apart);
  if (last < apart) return chains;
  const std::vector<Reach> reach = reach_from_last(survey);
  const Vec2 here = survey.graph.poses[last].position();
  std::size_t before = 0;
  for (std::size_t k = 0; k + apart <= last; ++k) {
    if (survey.way_m[last] - survey.way_m[k] < parameters_.min_way_apart_m) break;
    const double away = distance(survey.graph.poses[k].position(), here);
    if (away > parameters_.search_distance_m + std::min(parameters_.max_window_m, kLoopWindowSigmas * reach[k].sigma_m)) continue;
    if (survey.walls[k].centres.empty()) continue;
    const Candidate candidate{k, away, reach[k]};
    if (chains.empty() || k - before > kChainGap) {
      chains.push_back(candidate);
    } else if (away < chains.back().distance_m) {
      chains.back() = candidate;
    }
    before = k;
  }
  std::stable_sort(chains.begin(), chains.end(), [](const Candidate& a, const Candidate& b) { return a.distance_m < b.distance_m; });
  if (chains.size() > static_cast<std::size_t>(parameters_.max_chains)) chains.resize(static_cast<std::size_t>(parameters_.max_chains));
  return chains;
}

ClosureAttempt LoopCloser::measure(const Survey& survey, const Candidate& candidate, Edge& edge) const {
  const std::size_t last = survey.nodes.size() - 1;
  const std::size_t other = candidate.node;
  ClosureAttempt result;
  result.node = last;
  result.other = other;
  const Pose2 T_other_map = inverse(survey.graph.poses[other]);
  const Pose2 T_node_map = inverse(survey.graph.poses[last]);
  // What is known around the older node, in its frame.
  const auto half = static_cast<std::size_t>(parameters_.chain_nodes);
  WallMap known;
  std::vector<Vec2> points;
  gather(survey, other - std::min(other, half), std::min(other + half, last - 1), T_other_map, known, &points);
  known.build();
  const ResponseGrid grid(thinned(points, kLoopCell_m), kLoopCell_m, kLoopCell_m, kLoopLevels);
  // What was seen lately, in the frame of the new one.
  WallPieces query;
  const auto queried = static_cast<std::size_t>(parameters_.query_nodes);
  for (std::size_t k = last + 1 - std::min(last + 1, queried); k <= last; ++k)
    append(query, survey.walls[k], T_node_map * survey.graph.poses[k]);
  const std::vector<Vec2> seen = thinned(query.points, kLoopThin_m);
  Pose2 start = T_other_map * survey.graph.poses[last];
  result.searched = candidate.reach.sigma_m > kKnown_m;
  if (result.searched) {
    const SearchWindow window{start, std::clamp(kLoopWindowSigmas * candidate.reach.sigma_m, kLeastLoopWindow_m, parameters_.max_window_m),
                              std::clamp(kLoopWindowSigmas * candidate.reach.sigma_rad, kLeastLoopWindow_rad, parameters_.max_window_rad),
                              kTurn_rad};
    const auto best = search(grid, seen, window, parameters_.min_coarse_response);
    if (!best) return result;
    result.coarse_response = best->response;
    if (const auto second = search(grid, seen, window, parameters_.max_ambiguity * best->response, Excluded{best->T_map_scan, 0.6, 0.2})) {
      result.ambiguity = second->response / best->response;
      result.outcome = ClosureOutcome::kAmbiguous;
      return result;
    }
    start = best->T_map_scan;
  }
  const Prior loose{start, localization::inverse_of(round_covariance(kLooseSigma_m, kLooseSigma_rad))};
  const Registration found = register_walls(known, query, loose, start, registration_);
  result.T_other_node = found.T_map_scan;
  result.response = grid.response(seen, found.T_map_scan);
  result.outcome = ClosureOutcome::kNotRegistered;
  if (!found.usable) return result;
  result.outcome = ClosureOutcome::kLowResponse;
  if (result.response < parameters_.min_response) return result;
  result.outcome = ClosureOutcome::kAccepted;
  const Matrix3 covariance = found.covariance + round_covariance(parameters_.match_least_m, parameters_.match_least_rad);
  edge = {other, last, found.T_map_scan, localization::inverse_of(in_turned_axes(covariance, found.T_map_scan.yaw)), true};
  return result;
}

Status LoopCloser::settle(Survey& survey) {
  if (unsettled_ == 0) return {};
  const Result<Optimum> optimum = optimize(survey.graph, kTrial);
  if (!optimum) return optimum.error();
  settled_chi2_ = optimum->chi2;
  unsettled_ = 0;
  return {};
}

Status LoopCloser::attempt(Survey& survey, const Edge& edge, ClosureAttempt& attempt) {
  const auto accept = [&] {
    attempt_of_edge_.push_back(attempts_.size());
    attempts_.push_back(attempt);
  };
  attempt.chi2 = chi2_of(edge, survey.graph.poses);
  if (attempt.chi2 > parameters_.max_chi2 || attempt.chi2 > parameters_.max_chi2_rise) {
    if (const Status status = settle(survey); !status) return status;
    attempt.chi2 = chi2_of(edge, survey.graph.poses);
  }
  if (attempt.chi2 <= parameters_.max_chi2 && attempt.chi2 <= parameters_.max_chi2_rise) {
    attempt.chi2_rise = attempt.chi2;
    survey.graph.edges.push_back(edge);
    accept();
    if (++unsettled_ >= kMostUnsettled) return settle(survey);
    return {};
  }
  const std::vector<Pose2> before = survey.graph.poses;
  survey.graph.edges.push_back(edge);
  const Result<Optimum> optimum = optimize(survey.graph, kTrial);
  if (!optimum) return optimum.error();
  attempt.chi2 = chi2_of(edge, survey.graph.poses);
  attempt.chi2_rise = optimum->chi2 - settled_chi2_;
  if (attempt.chi2 > parameters_.max_chi2) attempt.outcome = ClosureOutcome::kContradicts;
  if (attempt.outcome == ClosureOutcome::kAccepted && attempt.chi2_rise > parameters_.max_chi2_rise)
    attempt.outcome = ClosureOutcome::kStrains;
  if (attempt.outcome == ClosureOutcome::kAccepted) {
    settled_chi2_ = optimum->chi2;
    accept();
    return {};
  }
  survey.graph.edges.pop_back();
  survey.graph.poses = before;
  attempts_.push_back(attempt);
  return {};
}

Status LoopCloser::close(Survey& survey) {
  if (survey.walls.back().centres.empty()) return {};
  for (const Candidate& candidate : candidates(survey)) {
    Edge edge;
    ClosureAttempt measured = measure(survey, candidate, edge);
    if (measured.outcome != ClosureOutcome::kAccepted) {
      attempts_.push_back(measured);
      continue;
    }
    if (const Status status = attempt(survey, edge, measured); !status) return status;
  }
  return {};
}

Status LoopCloser::finish(Survey& survey) {
  const Result<RobustOptimum> robust = optimize_robustly(survey.graph, kChi2Gate, RobustStart::kPoses);
  if (!robust) return robust.error();
  std::vector<Edge> kept;
  std::vector<std::size_t> attempt_of_kept;
  std::size_t closure = 0;
  for (std::size_t k = 0; k < survey.graph.edges.size(); ++k) {
    const Edge& edge = survey.graph.edges[k];
    if (robust->accepted[k]) kept.push_back(edge);
    if (!edge.closure) continue;
    const std::size_t of = attempt_of_edge_[closure++];
    if (robust->accepted[k]) attempt_of_kept.push_back(of);
    if (!robust->accepted[k]) attempts_[of].outcome = ClosureOutcome::kOutvoted;
  }
  survey.graph.edges = std::move(kept);
  attempt_of_edge_ = std::move(attempt_of_kept);
  settled_chi2_ = robust->optimum.chi2;
  unsettled_ = 0;
  return {};
}

void ClosureParameters::fields(FieldVisitor& f) {
  f.number("search_distance_m", search_distance_m, {"m", 0, 50, "older nodes this near, and what the drift may be, are looked at"});
  f.number("max_window_m", max_window_m, {"m", 0.1, 20, "half width of the search at most"});
  f.number("max_window_rad", max_window_rad, {"rad", 0.01, 3.2, "and in yaw"});
  f.integer("min_nodes_apart", min_nodes_apart, {"", 1, 100000, "nodes that follow each other more closely are no closure"});
  f.number("min_way_apart_m", min_way_apart_m, {"m", 0, 1000, "nor those with less way between them"});
  f.integer("chain_nodes", chain_nodes, {"", 0, 100, "on both sides of the older node make the map that is searched"});
  f.integer("query_nodes", query_nodes, {"", 1, 100, "the last ones together are looked for"});
  f.integer("max_chains", max_chains, {"", 1, 100, "places that are looked at per node"});
  f.number("min_coarse_response", min_coarse_response, {"", 0, 1, "of the search"});
  f.number("min_response", min_response, {"", 0, 1, "of the registered closure"});
  f.number("max_ambiguity", max_ambiguity, {"", 0, 1, "a second place below this share of the best response is none"});
  f.number("max_chi2", max_chi2, {"", 0, 1000, "of the closure in the optimum with it"});
  f.number("max_chi2_rise", max_chi2_rise, {"", 0, 1e6, "of the whole graph by a closure"});
  f.number("match_least_m", match_least_m, {"m", 1e-5, 1, "standard deviation that a closure has at least"});
  f.number("match_least_rad", match_least_rad, {"rad", 1e-6, 1, "and in yaw"});
}

}  // namespace pitwall::slam

// SPDX-License-Identifier: Apache-2.0
#include "localization/slam/graph.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "core/files.hpp"
#include "core/rng.hpp"
#include "recording/pose_graph.hpp"
#include "tests/support/test_data.hpp"

using namespace pitwall;
using namespace pitwall::slam;

namespace {

// A published graph; closures are the edges that do not join poses of successive numbers.
Graph load(const std::filesystem::path& file) {
  const Result<std::string> text = read_file(file);
  REQUIRE(text.ok());
  const Result<recording::PoseGraph> parsed = recording::parse_g2o(*text, file.filename().string());
  REQUIRE(parsed.ok());
  // Some of the files have edges alone.
  std::map<std::int64_t, Pose2> guess;
  for (const recording::GraphEdge& edge : parsed->edges) guess[edge.from] = guess[edge.to] = {};
  for (const recording::GraphNode& node : parsed->nodes) guess[node.id] = node.pose.planar();
  Graph graph;
  std::map<std::int64_t, std::size_t> place;
  for (const auto& [id, pose] : guess) {
    place[id] = graph.poses.size();
    graph.poses.push_back(pose);
  }
  for (const recording::GraphEdge& edge : parsed->edges) {
    const std::vector<double>& o = edge.information;
    graph.edges.push_back({place.at(edge.from), place.at(edge.to), edge.T_from_to.planar(),
                           Matrix3{{o[0], o[1], o[2], o[1], o[3], o[4], o[2], o[4], o[5]}}, std::abs(edge.to - edge.from) != 1});
  }
  return graph;
}

struct Published {
  std::string name;
  double at_guess;
  double optimum;
};
const std::array<Published, 3> kPublished{{{"intel", 551.7, 45.0047}, {"CSAIL", 2.22e6, 40.5551}, {"manhattan", 2.3e10, 3549.04}}};

// Joins places that have nothing to do with each other, as sure of itself as the first closure.
void inject_false_closures(Graph& graph, std::size_t count, const std::vector<Pose2>& truth) {
  const Rng draw(3, "false closures");
  const auto n = static_cast<double>(graph.poses.size());
  const Matrix3 information = [&] {
    for (const Edge& edge : graph.edges) {
      if (edge.closure) return edge.information;
    }
    return localization::identity<3>();
  }();
  for (std::uint64_t k = 0; graph.edges.size() < count; ++k) {
    const auto a = static_cast<std::size_t>(n * draw.uniform(k, 0));
    const auto b = static_cast<std::size_t>(n * draw.uniform(k, 1));
    if (distance(truth[a].position(), truth[b].position()) < 10.0) continue;
    graph.edges.push_back({a, b, {0.2 * draw.normal(k, 2), 0.2 * draw.normal(k, 3), 0.2 * draw.normal(k, 4)}, information, true});
  }
}

}  // namespace

TEST_CASE("published graphs reach their certified optimum to six digits from the chordal start, whatever the poses were") {
  const auto folder = test_data("slam/g2o");
  if (!folder) return;
  for (const Published& published : kPublished) {
    CAPTURE(published.name);
    Graph graph = load(*folder / (published.name + ".g2o"));
    const Rng draw(7, "far off");
    for (std::size_t i = 1; i < graph.poses.size(); ++i) graph.poses[i] = {100 * draw.normal(i, 0), 100 * draw.normal(i, 1), 0.0};
    REQUIRE(chordal_start(graph).ok());
    const Result<Optimum> optimum = optimize(graph);
    REQUIRE(optimum.ok());
    MESSAGE(published.name << ": " << optimum->chi2 << " in " << optimum->iterations);
    CHECK(optimum->chi2 == doctest::Approx(published.optimum).epsilon(1e-6));
    CHECK(chi2_of(graph) == doctest::Approx(optimum->chi2).epsilon(1e-12));
  }
}

namespace {

void withstands_false_closures(const Published& published, const std::filesystem::path& folder) {
  CAPTURE(published.name);
  Graph truth = load(folder / (published.name + ".g2o"));
  REQUIRE(chordal_start(truth).ok());
  REQUIRE(optimize(truth).ok());
  Graph graph = truth;
  inject_false_closures(graph, truth.edges.size() + 100, truth.poses);
  const Result<RobustOptimum> robust = optimize_robustly(graph, kChi2Gate);
  REQUIRE(robust.ok());
  std::size_t believed = 0;
  std::size_t lost = 0;
  for (std::size_t k = 0; k < graph.edges.size(); ++k) {
    if (k < truth.edges.size()) lost += robust->accepted[k] ? 0 : 1;
    if (k >= truth.edges.size()) believed += robust->accepted[k] ? 1 : 0;
  }
  const double chi2 = chi2_of({graph.poses, truth.edges});
  MESSAGE(published.name << ": " << chi2 << ", true closures lost " << lost);
  CHECK(believed == 0);
  CHECK(chi2 == doctest::Approx(published.optimum).epsilon(0.01));
}

}  // namespace

TEST_CASE("a hundred false closures do not move the optimum by one per cent") {
  const auto folder = test_data("slam/g2o");
  if (!folder) return;
  for (const Published& published : kPublished) withstands_false_closures(published, *folder);
}

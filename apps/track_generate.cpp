// SPDX-License-Identifier: Apache-2.0
// Draws tracks from their plans: map, centre line and, on request, a picture of each.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "apps/program.hpp"
#include "core/files.hpp"
#include "core/text.hpp"
#include "tracks/build/generator.hpp"
#include "tracks/build/plan.hpp"
#include "tracks/build/plot.hpp"

namespace {

using namespace pitwall;

struct Options {
  std::vector<std::string> plans;
  std::vector<std::uint64_t> seeds;
  std::string output;
  bool index = false;
  bool plot = false;
  bool json = false;
};

/// The groups in the order in which they first appear, each with its tracks in order.
std::string index_yaml(const std::vector<tracks::build::TrackPlan>& plans) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (const tracks::build::TrackPlan& plan : plans) {
    auto at = std::find_if(groups.begin(), groups.end(), [&plan](const auto& group) { return group.first == plan.group; });
    if (at == groups.end()) at = groups.insert(groups.end(), {plan.group, {}});
    at->second.push_back(plan.name);
  }
  std::string text = "groups:\n";
  for (const auto& [name, members] : groups) text += "  " + name + ": [" + join(members) + "]\n";
  return text;
}

nlohmann::json to_json(const tracks::build::TrackPlan& plan, const tracks::build::GeneratedTrack& track) {
  return {{"name", plan.name},
          {"group", plan.group},
          {"length_m", track.report.length_m},
          {"min_radius_m", track.report.min_radius_m},
          {"longest_straight_m", track.report.longest_straight_m},
          {"cells", {track.map.width(), track.map.height()}}};
}

int run(const Options& options) {
  std::vector<tracks::build::TrackPlan> plans;
  for (const std::string& file : options.plans) {
    Result<tracks::build::TrackPlan> plan = tracks::build::load_plan(file);
    if (!plan) return apps::bad_input(plan.error());
    plans.push_back(*std::move(plan));
  }
  for (const std::uint64_t seed : options.seeds) plans.push_back(tracks::build::random_plan(seed));
  nlohmann::json report = nlohmann::json::array();
  for (const tracks::build::TrackPlan& plan : plans) {
    const Result<tracks::build::GeneratedTrack> track = tracks::build::make_track(plan);
    if (!track) return apps::bad_input(track.error());
    const std::filesystem::path home = std::filesystem::path(options.output) / plan.name;
    Status written = tracks::build::write_track(plan.name, track->map, track->centre, home);
    if (!written) return apps::bad_input(written.error());
    if (options.plot) {
      written = tracks::build::write_plot(track->map, track->centre, home / (plan.name + "_plot.png"));
      if (!written) return apps::bad_input(written.error());
    }
    report.push_back(to_json(plan, *track));
    if (!options.json) {
      const tracks::build::ShapeReport& shape = track->report;
      std::printf("%s: %.1f m, radius at least %.2f m, straight up to %.1f m, wall at least %.2f m -> %s\n", plan.name.c_str(),
                  shape.length_m, shape.min_radius_m, shape.longest_straight_m, shape.min_wall_m, home.c_str());
    }
  }
  if (options.index) {
    const Status written = write_file(std::filesystem::path(options.output) / "index.yaml", index_yaml(plans));
    if (!written) return apps::bad_input(written.error());
  }
  if (options.json) std::printf("%s\n", report.dump(2).c_str());
  return apps::kPassed;
}

}  // namespace

int main(int argc, char** argv) {
  return apps::guarded([&] {
    CLI::App app{"Draws tracks from their plans (tracks/data/*/*.yaml): NAME/NAME_map.pgm, NAME_map.yaml, NAME_centerline.csv.",
                 "track_generate"};
    app.footer(
        "Example:\n  track_generate --plot --output /tmp/tracks tracks/data/circuits/*.yaml\n"
        "Exit codes: 0 done, 2 bad usage or a plan that cannot be drawn, 3 internal error.");
    Options options;
    app.add_option("plans", options.plans, "plans of tracks (YAML)");
    app.add_option("--random", options.seeds, "seeds of circuits drawn at random (named random_SEED)");
    app.add_option("-o,--output", options.output, "folder that gets one folder for each track")->required();
    app.add_flag("--index", options.index, "also write index.yaml, which names the groups and their tracks");
    app.add_flag("--plot", options.plot, "also draw NAME_plot.png");
    app.add_flag("--json", options.json, "print what was made as JSON");
    if (const auto code = apps::parse(app, argc, argv)) return *code;
    if (options.plans.empty() && options.seeds.empty())
      return apps::bad_input(Error{"nothing to draw: name a plan, or --random SEED; see --help"});
    return run(options);
  });
}

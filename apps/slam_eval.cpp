// SPDX-License-Identifier: Apache-2.0
// slam_eval: our SLAM on a log of CARMEN, judged by the poses that the log was corrected to.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analysis/slam_engine.hpp"
#include "apps/program.hpp"
#include "core/fields.hpp"
#include "core/files.hpp"
#include "core/log.hpp"
#include "core/node.hpp"
#include "core/text.hpp"
#include "localization/slam/evaluation.hpp"
#include "localization/slam/slam.hpp"
#include "recording/carmen_log.hpp"
#include "recording/compression.hpp"
#include "recording/pose_graph.hpp"
#include "tracks/map.hpp"

namespace {

using namespace pitwall;

constexpr const char* kFooter =
    "Example:\n"
    "  slam_eval intel-corrected.log.gz --max-ate 0.18 --max-loop 0.13\n"
    "  slam_eval log.gz --parameters slam.yaml --output out    (map.yaml, graph.g2o, trajectory.tum)\n"
    "\n"
    "Raw odometry and scans go in; the corrected poses of the log are the reference. Steps are successive admitted scans, loops pairs\n"
    "less than 3 m and more than 20 scans apart; errors are means over pairs (Kuemmerle et al. 2009). ATE is after rigid alignment.\n"
    "Exit code: 0 done; 1 a limit was exceeded; 2 bad usage or input; 3 internal error.";

struct Limits {
  std::optional<double> ate_m;
  std::optional<double> loop_m;
};

struct Outcome {
  slam::Evaluation odometry;
  slam::Evaluation ours;
  std::size_t scans = 0;
  double way_m = 0.0;
  std::size_t crisp = 0;
  std::size_t crisp_reference = 0;
  std::map<std::string, std::size_t> closures;  // by outcome
  double median_ms = 0.0;
  double p95_ms = 0.0;
};

double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

Result<Outcome> run_log(const recording::CarmenLog& log, slam::Slam& engine) {
  Outcome outcome;
  std::vector<double> ms;
  for (const recording::CarmenScan& each : log.scans) {
    const double before = cpu_ms();
    const slam::Placed placed = engine.add(each.scan, each.T_odom);
    if (placed.placement != slam::Placement::kCarried) ms.push_back(cpu_ms() - before);
  }
  if (const Status status = engine.finish(); !status) return status.error();
  std::vector<Pose2> poses;
  std::vector<Pose2> reference;
  std::vector<Pose2> odometry;
  std::vector<LaserScan> scans;
  const std::vector<slam::Placed> trajectory = engine.trajectory();
  for (std::size_t k = 0; k < trajectory.size(); ++k) {
    if (trajectory[k].placement == slam::Placement::kCarried) continue;
    if (!reference.empty()) outcome.way_m += distance(reference.back().position(), log.scans[k].T_corrected.position());
    poses.push_back(trajectory[k].T_map_base);
    reference.push_back(log.scans[k].T_corrected);
    odometry.push_back(log.scans[k].T_odom);
    scans.push_back(log.scans[k].scan);
  }
  outcome.scans = log.scans.size();
  outcome.ours = slam::evaluate(poses, reference);
  outcome.odometry = slam::evaluate(odometry, reference);
  outcome.crisp = slam::crispness_cells(scans, poses, engine.parameters().registration.max_range_m);
  outcome.crisp_reference = slam::crispness_cells(scans, reference, engine.parameters().registration.max_range_m);
  for (const slam::ClosureAttempt& attempt : engine.closures()) ++outcome.closures[slam::name_of(attempt.outcome)];
  std::sort(ms.begin(), ms.end());
  outcome.median_ms = ms[ms.size() / 2];
  outcome.p95_ms = ms[ms.size() * 95 / 100];
  return outcome;
}

std::string relations(const slam::RelationErrors& e) {
  return format_number(e.mean_m, 3) + " +- " + format_number(e.sd_m, 3) + " m, " + format_number(e.mean_deg, 2) + " +- " +
         format_number(e.sd_deg, 2) + " deg, max " + format_number(e.max_m, 2) + " m (" + std::to_string(e.count) + " pairs)\n";
}

std::string to_text(const std::string& name, const Outcome& o, const slam::Slam& engine) {
  const slam::SlamCounts& c = engine.counts();
  std::string text =
      name + ": " + std::to_string(o.scans) + " scans, " + std::to_string(c.nodes) + " admitted, " + format_number(o.way_m, 0) + " m\n";
  text += "  ATE        " + format_number(o.ours.ate_rmse_m, 3) + " m rmse, " + format_number(o.ours.ate_max_m, 2) + " m max (odometry " +
          format_number(o.odometry.ate_rmse_m, 2) + " m)\n";
  text += "  steps      " + relations(o.ours.steps);
  text += "  loops      " + relations(o.ours.loops);
  text += "  crispness  " + std::to_string(o.crisp) + " cells of 5 cm (reference poses " + std::to_string(o.crisp_reference) + ")\n";
  text += "  nodes      " + std::to_string(c.matched) + " matched, " + std::to_string(c.searched) + " searched, " +
          std::to_string(c.odometry) + " by odometry, " + std::to_string(c.degenerate) + " degenerate\n";
  text += "  closures  ";
  for (const auto& [outcome, count] : o.closures) text += ' ' + std::to_string(count) + ' ' + outcome + ',';
  if (o.closures.empty()) text += " none tried,";
  text += " chi2 " + format_number(slam::chi2_of(engine.graph()), 1) + " of " + std::to_string(engine.graph().edges.size()) + " edges\n";
  text += "  poses      sha256 " + slam::pose_hash(engine.trajectory()) + "\n";
  return text;
}

nlohmann::ordered_json to_json(const slam::RelationErrors& e) {
  return {{"pairs", e.count}, {"mean_m", e.mean_m}, {"sd_m", e.sd_m}, {"max_m", e.max_m}, {"mean_deg", e.mean_deg}, {"sd_deg", e.sd_deg}};
}

std::string to_json(const std::string& name, const Outcome& o, const slam::Slam& engine) {
  nlohmann::ordered_json json{{"log", name},
                              {"scans", o.scans},
                              {"admitted", engine.counts().nodes},
                              {"way_m", o.way_m},
                              {"ate_rmse_m", o.ours.ate_rmse_m},
                              {"ate_max_m", o.ours.ate_max_m},
                              {"odometry_ate_rmse_m", o.odometry.ate_rmse_m},
                              {"steps", to_json(o.ours.steps)},
                              {"loops", to_json(o.ours.loops)},
                              {"crispness_cells", o.crisp},
                              {"crispness_cells_reference", o.crisp_reference},
                              {"closures", o.closures},
                              {"chi2", slam::chi2_of(engine.graph())},
                              {"edges", engine.graph().edges.size()},
                              {"pose_sha256", slam::pose_hash(engine.trajectory())}};
  return json.dump(2) + "\n";
}

Status write_results(const slam::Slam& engine, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Error{folder.string() + ": " + error.message()};
  const auto built = engine.build_map();
  if (!built) return built.error();
  if (const Status status = tracks::save_map(built->map, folder / "map.yaml"); !status) return status;
  if (const Status status = write_file(folder / "graph.g2o", recording::to_g2o(analysis::pose_graph_of(engine.graph()))); !status)
    return status;
  std::vector<recording::StampedPose> poses;
  for (const slam::Placed& placed : engine.trajectory()) poses.push_back({placed.stamp, recording::Pose3::of(placed.T_map_base)});
  return write_file(folder / "trajectory.tum", recording::to_tum(poses));
}

int run(int argc, char** argv) {
  CLI::App app("Our SLAM on a log of CARMEN, judged by its corrected poses", "slam_eval");
  app.footer(kFooter);
  std::filesystem::path file;
  std::filesystem::path parameter_file;
  std::filesystem::path output;
  Limits limits;
  bool json = false;
  bool timing = false;
  app.add_option("log", file, "A corrected log of CARMEN, plain or gzip")->required();
  app.add_option("--parameters", parameter_file, "YAML with parameters of the engine that differ from the defaults");
  app.add_option("-o,--output", output, "Folder for map, graph and trajectory");
  app.add_option("--max-ate", limits.ate_m, "Gate: ATE, m rmse");
  app.add_option("--max-loop", limits.loop_m, "Gate: mean error of loop pairs, m");
  app.add_flag("--timing", timing, "Say on stderr what an admitted scan costs, ms of CPU");
  app.add_flag("--json", json, "Print the result as JSON");
  if (const auto code = apps::parse(app, argc, argv)) return *code;
  slam::SlamParameters parameters;
  if (!parameter_file.empty()) {
    const Result<Node> node = load_yaml(parameter_file);
    if (!node) return apps::bad_input(node.error());
    if (const Status status = load_fields(*node, "slam", parameters); !status) return apps::bad_input(status.error());
  }
  const Result<std::string> text = recording::read_text(file);
  if (!text) return apps::bad_input(text.error());
  const Result<recording::CarmenLog> log = recording::parse_carmen(*text, file.string());
  if (!log) return apps::bad_input(log.error());
  if (log->stamps_replaced) log::warn(file.string() + ": the stamps do not rise; scans are taken to be 0.1 s apart");
  slam::Slam engine(parameters, Pose2{});
  const Result<Outcome> outcome = run_log(*log, engine);
  if (!outcome) return apps::bad_input(outcome.error());
  const std::string name = file.filename().string();
  const std::string said = json ? to_json(name, *outcome, engine) : to_text(name, *outcome, engine);
  std::fwrite(said.data(), 1, said.size(), stdout);
  if (timing) {
    log::info("an admitted scan: " + format_number(outcome->median_ms, 2) + " ms median, " + format_number(outcome->p95_ms, 2) + " ms p95");
  }
  if (!output.empty()) {
    if (const Status status = write_results(engine, output); !status) return apps::bad_input(status.error());
    log::info("wrote " + (output / "map.yaml").string() + ", graph.g2o, trajectory.tum");
  }
  const bool failed =
      (limits.ate_m && outcome->ours.ate_rmse_m > *limits.ate_m) || (limits.loop_m && outcome->ours.loops.mean_m > *limits.loop_m);
  return failed ? apps::kFailed : apps::kPassed;
}

}  // namespace

int main(int argc, char** argv) {
  return pitwall::apps::guarded([&] { return run(argc, argv); });
}

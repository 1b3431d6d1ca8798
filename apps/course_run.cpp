// SPDX-License-Identifier: Apache-2.0
#include "apps/course_run.hpp"

#include <optional>

#include "analysis/slam_recording.hpp"
#include "core/log.hpp"
#include "core/node.hpp"
#include "scenarios/course_spec.hpp"
#include "scenarios/record.hpp"

namespace pitwall::apps {

Result<std::unique_ptr<scenarios::CourseMapper>> map_recording(const std::filesystem::path& run, const std::string& odom_frame,
                                                               const scenarios::MappingSettings& settings, const Pose2& T_base_lidar,
                                                               const recording::BagProgress& progress) {
  const auto recording = analysis::load_slam_recording(run, {odom_frame, progress});
  if (!recording) return recording.error();
  if (recording->scan_topic.empty()) return Error{run.string() + ": no scans: neither /scan nor one other topic of their type"};
  const analysis::TransformTree& tree = recording->tree;
  const std::string& odom = recording->odom_frame;
  const std::string& base = recording->base_frame;
  std::unique_ptr<scenarios::CourseMapper> mapper;
  std::optional<Error> failed;
  std::uint64_t done = 0;
  const auto take = [&](const LaserScan& scan, const std::string& frame, Time /*arrival*/) {
    constexpr std::uint64_t kProgressEvery = 64;
    if (++done % kProgressEvery == 0 && progress && !progress(done, recording->scans)) failed = Error{"interrupted"};
    const auto T_odom_base = tree.planar(odom, base, scan.stamp);
    if (!T_odom_base || failed) return !failed;
    if (!mapper) {
      auto T_base_sensor = frame == base ? Pose2{} : tree.planar(base, frame, scan.stamp);
      if (!T_base_sensor && !tree.has(frame)) {
        log::warn(run.string() + ": no transform says where the scanner '" + frame + "' sits; taken from the profile of the car");
        T_base_sensor = T_base_lidar;
      }
      if (!T_base_sensor) {
        failed = Error{run.string() + ": the transforms do not say where the scanner '" + frame + "' sits on '" + base + "'"};
        return false;
      }
      mapper = std::make_unique<scenarios::CourseMapper>(settings, *T_base_sensor);
    }
    mapper->add(scan, *T_odom_base, analysis::velocity_at(tree, odom, base, scan.stamp));
    return true;
  };
  if (const Status read = analysis::each_scan(*recording, take); !read) return read.error();
  if (failed) return *failed;
  if (!mapper) return Error{run.string() + ": odometry covers none of the scans"};
  return mapper;
}

Result<scenarios::Outcome> record_mapping_drive(const MappingDrive& drive, scenarios::ValidationOptions options,
                                                const std::filesystem::path& folder, const std::function<bool()>& interrupted) {
  const Result<Node> slow = scenarios::gap_follow_at_most({}, drive.speed_mps);
  if (!slow) return slow.error();
  const Result<Node> mapping = parse_yaml(
      "{id: mapping, timeout_s: 36000, cars: {ego: {controller: gap_follow}}, criteria: {laps_at_least: " + std::to_string(drive.laps) +
          ", stall_after_s: 30}}",
      "mapping");
  if (!mapping) return mapping.error();
  Node scenario = *mapping;
  scenario.set("gap_follow", *slow);
  Node suite = Node::map();
  suite.set("mapping", scenario);
  options.suite_text = to_yaml(suite);
  options.tracks = {drive.track};
  options.seed = drive.seed;
  const auto runs = scenarios::resolve(options);
  if (!runs) return runs.error();
  if (runs->size() != 1) return Error{"--simulate " + drive.track + ": one track is needed, not a group"};
  return scenarios::run_recorded(runs->front(), {folder, {}}, interrupted);
}

}  // namespace pitwall::apps

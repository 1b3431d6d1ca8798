// SPDX-License-Identifier: Apache-2.0
#include "scenarios/record.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "core/files.hpp"
#include "core/hash.hpp"
#include "ros_messages/convert.hpp"
#include "ros_messages/nav.hpp"
#include "scenarios/course_driver.hpp"
#include "scenarios/map_message.hpp"
#include "tracks/line_csv.hpp"

namespace pitwall::scenarios {
namespace {

namespace ros = ros_messages;

ros::Pose to_pose(const Pose2& pose) {
  const PlanarQuaternion q = to_quaternion(pose.yaw);
  return {{pose.x, pose.y, 0.0}, {0.0, 0.0, q.z, q.w}};
}

ros::Path path_message(const tracks::Path& path, Time now) {
  ros::Path out;
  out.header.stamp = ros::to_stamp(now);
  out.header.frame_id = "map";
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Vec2 p = path.points()[i];
    out.poses.push_back({out.header, to_pose({p.x, p.y, path.heading_at(path.s_of(i))})});
  }
  return out;
}

recording::RunManifest manifest_of(const ResolvedRun& run, const RecordTo& to) {
  recording::RunManifest manifest;
  manifest.run_id = to.folder.filename().string();
  manifest.car_id = run.scenario.car;
  manifest.scenario = run.scenario.id;
  manifest.track = run.track->name;
  manifest.clock = "simulated";
  manifest.host = to.host;
  for (const CarSpec& car : run.cars) manifest.cars.push_back({car.name, car.controller, manifest.cars.empty() ? "" : "/" + car.name});
  return manifest;
}

Node parameters_of_run(const ResolvedRun& run) {
  Node all = Node::map();
  all.set("scenario", save_fields(run.scenario));
  all.set("car", save_fields(run.parameters));
  return all;
}

/// Begins, feeds and ends the recorder of one run.
class Scribe {
 public:
  Scribe(const ResolvedRun& run, const RecordTo& to) : run_(run), to_(to) {}

  Status begin(sim::World& world) {
    std::vector<Pose2> mounts;
    for (std::size_t i = 0; i < world.size(); ++i) mounts.push_back(world.parameters(i).lidar_mount());
    auto recorder = recording::Recorder::create(to_.folder, manifest_of(run_, to_), mounts);
    if (!recorder) return recorder.error();
    recorder_ = std::move(*recorder);
    recorder_->add_file("scenario.yaml", "resolved scenario", to_suite_yaml(run_.scenario, run_.scenario.id));
    if (const auto car = read_file(run_.profile->file); car) {
      recorder_->add_file(run_.profile->id + ".yaml", run_.profile->file.string(), *car);
    }
    recorder_->set_parameters(parameters_of_run(run_));
    record_map(*recorder_, run_, {});
    world.observe(recorder_.get());
    return recorder_->status();
  }

  void after_step(const sim::World& world) {
    for (; contacts_ < world.contacts().size(); ++contacts_) write_contact(world, world.contacts()[contacts_]);
    for (std::size_t i = 0; i < world.size(); ++i) {
      const sim::CarState& car = world.car(i);
      recorder_->truth(world.now(),
                       {world.now().ns, world.name(i), car.T_map_base.x, car.T_map_base.y, car.T_map_base.yaw, car.velocity_mps.x,
                        car.velocity_mps.y, car.yaw_rate_radps, car.steering_rad, car.lap.laps, car.lap.progress_m, car.touching});
    }
  }

  Status end(sim::World& world) {
    world.observe(nullptr);
    Status ended = recorder_->close(world.now(), to_hex(world.trace_hash()));
    const auto course = course_of(world);
    if (ended && course && course->course) ended = write_course(*course->course);
    return ended;
  }

 private:
  /// What the car made of the course, as a run on the car leaves it behind.
  Status write_course(const CourseMap& course) {
    Status written = tracks::save_map(*course.map, to_.folder / "map.yaml");
    if (!course.line) return written;
    const std::string raw = tracks::points_csv(course.laps[*course.line_from].driven_map);
    if (written) written = write_file(to_.folder / "raceline_raw.csv", raw);
    if (written) written = write_file(to_.folder / "raceline_profiled.csv", tracks::profile_csv(course.line->path, course.speed_mps));
    return written;
  }

  void write_contact(const sim::World& world, const sim::ContactEvent& event) {
    std::string partner = event.partner == sim::kMapEdge ? "map edge" : "wall";
    if (event.partner != sim::kMapEdge && event.partner != sim::kWall) partner = world.partner_name(event.partner);
    recorder_->contact(world.now(), {event.time.ns, world.name(static_cast<std::size_t>(event.car)), partner, event.point.x, event.point.y,
                                     event.normal.x, event.normal.y, event.closing_speed_mps, event.speed_mps});
  }

  const ResolvedRun& run_;
  const RecordTo& to_;
  std::unique_ptr<recording::Recorder> recorder_;
  std::size_t contacts_ = 0;
};

}  // namespace

void record_map(recording::Recorder& recorder, const ResolvedRun& run, Time now) {
  ros::OccupancyGrid map = map_message(*run.track->map);
  map.header.stamp = ros::to_stamp(now);
  recorder.write("/map", now, map, true);
  recorder.write("/path", now, path_message(followed_path(run), now), true);
}

Result<Outcome> run_recorded(const ResolvedRun& run, const RecordTo& to, const std::function<bool()>& interrupted) {
  Scribe scribe(run, to);
  RunHooks hooks;
  hooks.begin = [&](sim::World& world) { return scribe.begin(world); };
  hooks.after_step = [&](const sim::World& world) { scribe.after_step(world); };
  hooks.end = [&](sim::World& world) { return scribe.end(world); };
  return run_scenario(run, interrupted, hooks);
}

}  // namespace pitwall::scenarios

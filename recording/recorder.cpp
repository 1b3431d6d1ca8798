// SPDX-License-Identifier: Apache-2.0
#include "recording/recorder.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/check.hpp"
#include "core/files.hpp"
#include "core/sha256.hpp"
#include "ros_messages/convert.hpp"
#include "ros_messages/geometry.hpp"

namespace pitwall::recording {
namespace {

namespace ros = ros_messages;

ros::TransformStamped transform(Time stamp, const std::string& parent, const std::string& child, const Pose2& T_parent_child) {
  const PlanarQuaternion q = to_quaternion(T_parent_child.yaw);
  ros::TransformStamped out;
  out.header.stamp = ros::to_stamp(stamp);
  out.header.frame_id = parent;
  out.child_frame_id = child;
  out.transform.translation = {T_parent_child.x, T_parent_child.y, 0.0};
  out.transform.rotation = {0.0, 0.0, q.z, q.w};
  return out;
}

/// "/opponent" and "odom" to "opponent/odom".
std::string frame(const std::string& prefix, const char* name) { return prefix.empty() ? name : prefix.substr(1) + "/" + name; }

}  // namespace

Recorder::Recorder(std::filesystem::path folder, RunManifest manifest, BagWriter bag, BagWriter internal)
    : folder_(std::move(folder)), manifest_(std::move(manifest)), bag_(std::move(bag)), internal_(std::move(internal)) {}

Recorder::~Recorder() = default;

Result<std::unique_ptr<Recorder>> Recorder::create(const std::filesystem::path& folder, RunManifest manifest,
                                                   const std::vector<Pose2>& lidar_mounts, const WriteOptions& options) {
  PITWALL_CHECK(lidar_mounts.size() == manifest.cars.size(), lidar_mounts.size());
  std::error_code failed;
  if (std::filesystem::exists(folder, failed) &&
      (!std::filesystem::is_directory(folder, failed) || !std::filesystem::is_empty(folder, failed))) {
    return Error{folder.string() + ": is there already and not empty"};
  }
  auto bag = BagWriter::create(folder / "bag", options);
  if (!bag) return bag.error();
  auto internal = BagWriter::create_file(folder / "internal.mcap", options);
  if (!internal) return internal.error();
  manifest.build = build_id();
  std::unique_ptr<Recorder> recorder(new Recorder(folder, std::move(manifest), std::move(*bag), std::move(*internal)));
  const auto add = [&](std::size_t& index, const Topic& topic) {
    const auto added = recorder->internal_.add_topic(topic);
    recorder->keep(added ? Status() : Status(added.error()));
    if (added) index = *added;
  };
  add(recorder->tick_topic_, topic_for<Tick>(std::string(kTickTopic)));
  add(recorder->contact_topic_, topic_for<ContactRecord>(std::string(kContactTopic)));
  add(recorder->truth_topic_, topic_for<Truth>(std::string(kTruthTopic)));
  for (std::size_t k = 0; k < lidar_mounts.size(); ++k) recorder->keep(recorder->add_car(recorder->manifest_.cars[k], lidar_mounts[k]));
  recorder->write_manifest();
  if (!recorder->status_) return recorder->status_.error();
  return recorder;
}

Status Recorder::add_car(const RecordedCar& car, const Pose2& lidar_mount) {
  Car made;
  made.odom_frame = frame(car.prefix, "odom");
  made.base_frame = frame(car.prefix, "base_link");
  made.laser_frame = frame(car.prefix, "laser");
  std::optional<Error> failed;
  const auto add = [&](std::size_t& index, const Topic& topic) {
    const auto added = bag_.add_topic(topic);
    if (added) index = *added;
    if (!added && !failed) failed = added.error();
  };
  const auto name = [&](std::string_view topic) { return car.prefix + std::string(topic); };
  add(made.scan, topic_for<ros::LaserScan>(name(kScanTopic)));
  add(made.odometry, topic_for<ros::Odometry>(name(kOdometryTopic)));
  add(made.pose, topic_for<ros::PoseStamped>(name(kPoseTopic)));
  add(made.joy, topic_for<ros::Joy>(name(kJoyTopic)));
  add(made.imu, topic_for<ros::Imu>(name(kImuTopic)));
  add(made.drive, topic_for<ros::AckermannDriveStamped>(name(kDriveTopic)));
  add(made.tf, topic_for<ros::TFMessage>("/tf"));
  if (failed) return *failed;
  ros::TFMessage mount;
  mount.transforms.push_back(transform(manifest_.start, made.base_frame, made.laser_frame, lidar_mount));
  write("/tf_static", manifest_.start, mount, true);
  cars_.push_back(std::move(made));
  return status_;
}

void Recorder::keep(const Status& status) {
  if (status_ && !status) status_ = status;
}

Status Recorder::status() const { return status_; }

void Recorder::put(BagWriter& into, std::size_t topic, Time time) {
  if (!status_) return;
  keep(into.write(topic, time, time, as_bytes(bytes_)));
  last_ = std::max(last_, time);
  // Both files keep up with the runner's time, whichever of them is written to.
  keep(bag_.advance(time));
  keep(internal_.advance(time));
}

void Recorder::put(BagWriter& into, const Topic& topic, Time time) {
  if (!status_) return;
  const auto index = into.add_topic(topic);
  keep(index ? Status() : Status(index.error()));
  if (index) put(into, *index, time);
}

void Recorder::write_manifest() { keep(write_file(folder_ / "run.json", to_json(manifest_))); }

void Recorder::add_file(const std::string& name, const std::string& origin, std::string_view text) {
  PITWALL_CHECK(std::filesystem::path(name).filename() == name, name);
  keep(write_file(folder_ / "metadata" / "files" / name, text));
  manifest_.files.push_back({name, origin, sha256_hex(text)});
  write_manifest();
}

void Recorder::set_parameters(const Node& parameters) { keep(write_file(folder_ / "params.json", to_json(parameters))); }

void Recorder::arrived(std::size_t car, const Source<LaserScan>& scan) {
  ros::write(ros::to_ros(*scan.message, cars_[car].laser_frame), bytes_);
  put(bag_, cars_[car].scan, scan.arrival);
}

void Recorder::arrived(std::size_t car, const Source<Odometry>& odometry) {
  Car& of = cars_[car];
  ros::write(ros::to_ros(*odometry.message, of.odom_frame, of.base_frame), bytes_);
  put(bag_, of.odometry, odometry.arrival);
  ros::TFMessage tf;
  tf.transforms.push_back(ros::to_transform(*odometry.message, of.odom_frame, of.base_frame));
  ros::write(tf, bytes_);
  put(bag_, of.tf, odometry.arrival);
  const Vec2 at = odometry.message->position;
  of.T_odom_base = {at.x, at.y, yaw_of(odometry.message->orientation)};
}

void Recorder::arrived(std::size_t car, const Source<PoseEstimate>& pose) {
  const Car& of = cars_[car];
  ros::write(ros::to_ros(*pose.message, "map"), bytes_);
  put(bag_, of.pose, pose.arrival);
  ros::TFMessage tf;
  tf.transforms.push_back(transform(pose.message->stamp, "map", of.odom_frame, pose.message->pose() * inverse(of.T_odom_base)));
  ros::write(tf, bytes_);
  put(bag_, of.tf, pose.arrival);
}

void Recorder::arrived(std::size_t car, const Source<Joy>& joy) {
  ros::write(ros::to_ros(*joy.message), bytes_);
  put(bag_, cars_[car].joy, joy.arrival);
}

void Recorder::arrived(std::size_t car, const Source<Imu>& imu) {
  ros::write(ros::to_ros(*imu.message, cars_[car].base_frame), bytes_);
  put(bag_, cars_[car].imu, imu.arrival);
}

void Recorder::changed(std::size_t car, const std::string& assignment) { cars_[car].changes.push_back(assignment); }

void Recorder::decided(std::size_t car, std::uint64_t tick, const Observation& seen, const Command& command) {
  ros::write(ros::to_ros(command, seen.now, cars_[car].base_frame), bytes_);
  put(bag_, cars_[car].drive, seen.now);
  Tick record;
  record.now_ns = seen.now.ns;
  record.car = manifest_.cars[car].name;
  record.tick = tick;
  record.scan = seen.scan.sequence;
  record.odometry = seen.odometry.sequence;
  record.pose = seen.pose.sequence;
  record.joy = seen.joy.sequence;
  record.imu = seen.imu.sequence;
  record.parameter_changes = std::exchange(cars_[car].changes, {});
  record.steering_angle_rad = command.steering_angle_rad;
  record.speed_mps = command.speed_mps;
  record.reason = name(command.reason);
  record.layer = name(command.layer);
  record.beam = command.beam;
  record.ttc_s = command.ttc_s;
  ros::write(record, bytes_);
  put(internal_, tick_topic_, seen.now);
}

void Recorder::contact(Time now, const ContactRecord& contact) {
  ros::write(contact, bytes_);
  put(internal_, contact_topic_, now);
}

void Recorder::truth(Time now, const Truth& truth) {
  ros::write(truth, bytes_);
  put(internal_, truth_topic_, now);
}

Status Recorder::close(Time end, const std::string& trace_hash) {
  keep(bag_.close());
  keep(internal_.close());
  manifest_.end = std::max(end, last_);
  manifest_.trace_hash = trace_hash;
  manifest_.finished = status_.ok();
  const double seconds = (manifest_.end - manifest_.start).seconds();
  manifest_.topics.clear();
  for (const BagWriter* writer : {&bag_, &internal_}) {
    for (const Topic& topic : writer->topics()) {
      const auto count = static_cast<double>(topic.message_count);
      manifest_.topics.push_back({topic.name, topic.type, topic.message_count, seconds > 0.0 ? count / seconds : 0.0});
    }
  }
  write_manifest();
  return status_;
}

}  // namespace pitwall::recording

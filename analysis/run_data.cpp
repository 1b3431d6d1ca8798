// SPDX-License-Identifier: Apache-2.0
#include "analysis/run_data.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "analysis/topic_reader.hpp"
#include "analysis/topic_roles.hpp"
#include "core/text.hpp"
#include "recording/bag_reader.hpp"
#include "recording/recorder.hpp"
#include "recording/run_messages.hpp"
#include "ros_messages/convert.hpp"
#include "ros_messages/graph.hpp"

namespace pitwall::analysis {

namespace {

namespace fs = std::filesystem;
namespace ros = ros_messages;

/// The value of a parameter as YAML; nothing for lists and unset ones.
std::optional<std::string> parameter_text(const ros::ParameterValue& value) {
  switch (value.type) {
    case 1:
      return value.bool_value ? "true" : "false";
    case 2:
      return std::to_string(value.integer_value);
    case 3:
      return format_exact(value.double_value);
    case 4:
      return value.string_value;
    default:
      return std::nullopt;
  }
}

/// Fills the series of a run from its messages.
class Loader {
 public:
  Loader(RunData& run, const LoadOptions& options) : run_(run), options_(options) {}

  /// The reader of a role, for a topic of that type; null where the type is none of the role's.
  std::unique_ptr<TopicReader> reader(std::string_view role, const recording::Topic& topic);

 private:
  template <class Wire, class Take>
  std::unique_ptr<TopicReader> make(Take take) const {
    return std::make_unique<TypedReader<Wire, Take>>(run_.origin, std::move(take));
  }
  std::unique_ptr<TopicReader> ackermann(CommandSeries& into);
  std::unique_ptr<TopicReader> twist(std::string_view type);
  std::unique_ptr<TopicReader> odometry();
  std::unique_ptr<TopicReader> imu();
  std::unique_ptr<TopicReader> pose(std::string_view type);
  std::unique_ptr<TopicReader> joy();
  std::unique_ptr<TopicReader> scan();
  std::unique_ptr<TopicReader> parameters();
  std::unique_ptr<TopicReader> mount();

  RunData& run_;
  const LoadOptions& options_;
  LaserScan scan_;
};

void add_command(CommandSeries& into, double t_s, double arrival_s, double speed, double steering, double yaw_rate, double acceleration) {
  into.t_s.push_back(t_s);
  into.arrival_s.push_back(arrival_s);
  into.speed_mps.push_back(speed);
  into.steering_rad.push_back(steering);
  into.yaw_rate_radps.push_back(yaw_rate);
  into.acceleration_mps2.push_back(acceleration);
}

std::unique_ptr<TopicReader> Loader::ackermann(CommandSeries& into) {
  return make<ros::AckermannDriveStamped>([&into](const ros::AckermannDriveStamped& m, double t_s, double arrival_s) {
    add_command(into, t_s, arrival_s, static_cast<double>(m.drive.speed), static_cast<double>(m.drive.steering_angle), NAN,
                static_cast<double>(m.drive.acceleration));
  });
}

std::unique_ptr<TopicReader> Loader::twist(std::string_view type) {
  CommandSeries& into = run_.command;
  const auto add = [&into](const ros::Twist& m, double t_s, double arrival_s) {
    add_command(into, t_s, arrival_s, m.linear.x, NAN, m.angular.z, NAN);
  };
  if (type == ros::Twist::kType) return make<ros::Twist>(add);
  return make<ros::TwistStamped>([add](const ros::TwistStamped& m, double t_s, double arrival_s) { add(m.twist, t_s, arrival_s); });
}

std::unique_ptr<TopicReader> Loader::odometry() {
  OdometrySeries& into = run_.odometry;
  return make<ros::Odometry>([&into](const ros::Odometry& wire, double t_s, double arrival_s) {
    const Odometry m = ros::from_ros(wire);
    into.t_s.push_back(t_s);
    into.arrival_s.push_back(arrival_s);
    into.x_m.push_back(m.position.x);
    into.y_m.push_back(m.position.y);
    into.yaw_rad.push_back(yaw_of(m.orientation));
    into.speed_mps.push_back(m.speed_mps);
    into.yaw_rate_radps.push_back(m.yaw_rate_radps);
  });
}

std::unique_ptr<TopicReader> Loader::imu() {
  ImuSeries& into = run_.imu;
  return make<ros::Imu>([&into](const ros::Imu& m, double t_s, double arrival_s) {
    into.t_s.push_back(t_s);
    into.arrival_s.push_back(arrival_s);
    into.gyro_x.push_back(m.angular_velocity.x);
    into.gyro_y.push_back(m.angular_velocity.y);
    into.gyro_z.push_back(m.angular_velocity.z);
    into.accel_x.push_back(m.linear_acceleration.x);
    into.accel_y.push_back(m.linear_acceleration.y);
    into.accel_z.push_back(m.linear_acceleration.z);
  });
}

std::unique_ptr<TopicReader> Loader::pose(std::string_view type) {
  PoseSeries& into = run_.pose;
  const auto add = [&into](const PoseEstimate& m, double t_s, double arrival_s) {
    into.t_s.push_back(t_s);
    into.arrival_s.push_back(arrival_s);
    into.x_m.push_back(m.position.x);
    into.y_m.push_back(m.position.y);
    into.yaw_rad.push_back(yaw_of(m.orientation));
  };
  if (type == ros::PoseStamped::kType) {
    return make<ros::PoseStamped>(
        [add](const ros::PoseStamped& m, double t_s, double arrival_s) { add(ros::from_ros(m), t_s, arrival_s); });
  }
  return make<ros::PoseWithCovarianceStamped>(
      [add](const ros::PoseWithCovarianceStamped& m, double t_s, double arrival_s) { add(ros::from_ros(m), t_s, arrival_s); });
}

std::unique_ptr<TopicReader> Loader::joy() {
  JoySeries& into = run_.joy;
  const auto button = static_cast<std::size_t>(options_.deadman_button);
  return make<ros::Joy>([&into, button](const ros::Joy& m, double /*t_s*/, double arrival_s) {
    into.arrival_s.push_back(arrival_s);
    into.pressed.push_back(button >= m.buttons.size() ? -1.0 : m.buttons[button] == 1 ? 1.0 : 0.0);
  });
}

std::unique_ptr<TopicReader> Loader::scan() {
  return make<ros::LaserScan>([this](const ros::LaserScan& m, double t_s, double arrival_s) {
    run_.scan.t_s.push_back(t_s);
    run_.scan.arrival_s.push_back(arrival_s);
    run_.scan.beams.push_back(static_cast<double>(m.ranges.size()));
    if (!options_.scan) return;
    scan_ = ros::from_ros(m);
    scan_.stamp = run_.origin + from_seconds(t_s);
    options_.scan(run_, scan_);
  });
}

std::unique_ptr<TopicReader> Loader::parameters() {
  return make<ros::ParameterEvent>([this](const ros::ParameterEvent& m, double /*t_s*/, double arrival_s) {
    for (const ros::Parameter& parameter : m.changed_parameters) {
      const auto value = parameter_text(parameter.value);
      if (value) run_.parameter_changes.push_back({run_.origin + from_seconds(arrival_s), m.node + "/" + parameter.name, *value});
    }
  });
}

std::unique_ptr<TopicReader> Loader::mount() {
  return make<ros::TFMessage>([this](const ros::TFMessage& m, double /*t_s*/, double /*arrival_s*/) {
    const std::string before = run_.car.prefix.empty() ? "" : run_.car.prefix.substr(1) + "/";
    for (const ros::TransformStamped& each : m.transforms) {
      if (each.header.frame_id != before + "base_link" || each.child_frame_id != before + "laser") continue;
      const auto& q = each.transform.rotation;
      run_.T_base_lidar = Pose2{each.transform.translation.x, each.transform.translation.y, yaw_of({q.z, q.w})};
    }
  });
}

std::unique_ptr<TopicReader> Loader::reader(std::string_view role, const recording::Topic& topic) {
  if (role == "scan") return scan();
  if (role == "ackermann_cmd") return ackermann(run_.command);
  if (role == "drive") return ackermann(run_.drive);
  if (role == "teleop") return ackermann(run_.teleop);
  if (role == "cmd_vel") return twist(topic.type);
  if (role == "odometry") return odometry();
  if (role == "joy") return joy();
  if (role == "imu") return imu();
  if (role == "pose") return pose(topic.type);
  if (role == "parameter_events") return parameters();
  return mount();
}

Result<recording::RecordedCar> choose_car(const RunData& run, const std::string& name) {
  if (!run.manifest || run.manifest->cars.empty()) {
    if (name.empty()) return recording::RecordedCar{};
    return Error{"--run-car " + name + ": " + run.path.string() + " does not say which cars it has"};
  }
  std::vector<std::string> names;
  for (const recording::RecordedCar& car : run.manifest->cars) {
    if (name.empty() || car.name == name) return car;
    names.push_back(car.name);
  }
  return Error{"--run-car: " + unknown_name("car", name, names)};
}

void note_missing(RunData& run, const std::vector<Cast>& casts) {
  bool commands = false;
  for (const Cast& cast : casts) {
    const std::string_view role = cast.role->name;
    commands = commands || (cast.topic != nullptr && (role == "ackermann_cmd" || role == "drive" || role == "cmd_vel"));
    if (cast.topic == nullptr && !cast.role->consequence.empty()) {
      run.missing.push_back({std::string(role), cast.why, std::string(cast.role->consequence)});
    }
  }
  if (!commands) run.missing.push_back({"command", "none of /ackermann_cmd, /drive, /cmd_vel", "no lags, gains and stops"});
}

Status read_truth(const fs::path& file, RunData& run) {
  std::error_code failed;
  if (!fs::exists(file, failed)) return {};
  recording::ReadOptions only;
  const Result<recording::BagReader> all = recording::BagReader::open(file);
  if (!all) return all.error();
  for (const recording::Topic& topic : all->topics()) {
    run.has_ticks = run.has_ticks || (topic.name == recording::kTickTopic && topic.message_count > 0);
    if (topic.name == recording::kTruthTopic) only.topics = {topic.name};
  }
  if (only.topics.empty()) return {};
  Result<recording::BagReader> reader = recording::BagReader::open(file, only);
  if (!reader) return reader.error();
  recording::Truth truth;
  while (const recording::BagMessage* message = reader->next()) {
    if (!ros::read(recording::as_text(message->data), truth) || truth.car != run.car.name) continue;
    TruthSeries& into = run.truth;
    into.t_s.push_back(seconds_since(run.origin, {truth.time_ns}));
    into.x_m.push_back(truth.x_m);
    into.y_m.push_back(truth.y_m);
    into.yaw_rad.push_back(truth.yaw_rad);
    into.speed_mps.push_back(truth.velocity_x_mps);
    into.lateral_mps.push_back(truth.velocity_y_mps);
    into.yaw_rate_radps.push_back(truth.yaw_rate_radps);
    into.steering_rad.push_back(truth.steering_rad);
  }
  return {};
}

// The mount comes first: whoever is told the scans needs it.
bool is_mount(std::string_view role) { return role == "tf_static"; }
bool is_series(std::string_view role) { return !is_mount(role); }

/// Reads every message of the topics that play a wanted role.
Status read_bag(const fs::path& path, const std::vector<Cast>& casts, bool (*wanted)(std::string_view role), RunData& run,
                const LoadOptions& options) {
  constexpr std::uint64_t kProgressEvery = 256;
  recording::ReadOptions only;
  for (const Cast& cast : casts) {
    if (cast.topic != nullptr && wanted(cast.role->name)) only.topics.push_back(cast.topic->name);
  }
  if (only.topics.empty()) return {};
  Result<recording::BagReader> reader = recording::BagReader::open(path, only);
  if (!reader) return reader.error();
  Loader loader(run, options);
  std::vector<std::unique_ptr<TopicReader>> readers(reader->topics().size());
  for (std::size_t k = 0; k < readers.size(); ++k) {
    for (const Cast& cast : casts) {
      if (cast.topic != nullptr && wanted(cast.role->name) && cast.topic->name == reader->topics()[k].name) {
        readers[k] = loader.reader(cast.role->name, *cast.topic);
        readers[k]->describe(std::string(cast.role->name), *cast.topic);
      }
    }
  }
  std::uint64_t done = 0;
  while (const recording::BagMessage* message = reader->next()) {
    if (readers[message->topic]) readers[message->topic]->read(*message);
    if (options.progress && ++done % kProgressEvery == 0 && !options.progress(done, reader->message_count())) return Error{"interrupted"};
  }
  for (const auto& each : readers) {
    if (each) run.topics.push_back(each->summary());
  }
  for (const recording::Finding& finding : reader->findings()) run.findings.push_back(finding.text());
  run.damaged = reader->damaged();
  return {};
}

}  // namespace

Result<RunData> load_run(const fs::path& path, const LoadOptions& options) {
  Result<recording::BagReader> all = recording::BagReader::open(path);
  if (!all) return all.error();
  RunData run;
  run.path = path;
  if (Result<recording::RunManifest> manifest = recording::load_manifest(path); manifest) run.manifest = *std::move(manifest);
  Result<recording::RecordedCar> car = choose_car(run, options.car);
  if (!car) return car.error();
  run.car = *std::move(car);
  run.messages = all->message_count();
  if (!all->start() || run.messages == 0) return Error{path.string() + ": there are no messages in it"};
  run.origin = *all->start();
  run.duration_s = seconds_since(run.origin, all->end().value_or(run.origin));
  const Result<std::vector<Cast>> casts = cast_all(all->topics(), run, options);
  if (!casts) return casts.error();
  note_missing(run, *casts);
  for (const Cast& cast : *casts) {
    if (cast.topic != nullptr && cast.role->name == "scan")
      run.scan_period_s = run.duration_s / static_cast<double>(cast.topic->message_count);
  }
  for (const auto wanted : {is_mount, is_series}) {
    run.findings.clear();
    if (const Status read = read_bag(path, *casts, wanted, run, options); !read) return read.error();
  }
  if (run.command.empty()) run.command = run.drive;
  if (run.manifest) {
    if (const Status read = read_truth(path / "internal.mcap", run); !read) run.findings.push_back(read.error().message);
  }
  return run;
}

}  // namespace pitwall::analysis

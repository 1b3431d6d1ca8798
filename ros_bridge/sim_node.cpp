// SPDX-License-Identifier: Apache-2.0
#include "ros_bridge/sim_node.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/log.hpp"
#include "ros_bridge/interlock.hpp"
#include "ros_messages/convert.hpp"
#include "scenarios/map_message.hpp"
#include "scenarios/run.hpp"

namespace pitwall::ros_bridge {
namespace {

namespace ros = ros_messages;

constexpr Duration kNotice = from_milliseconds(100);   // how long one waits before asking whether to go on
constexpr Duration kSettled = from_milliseconds(500);  // nothing new on the graph for so long
constexpr Duration kDriverLooks = from_milliseconds(500);
constexpr Duration kImpatience = from_milliseconds(25);  // with a controller that did not answer before
constexpr Duration kSlip = from_milliseconds(100);
// In lockstep nothing may be lost or overtaken.
constexpr Qos kDeep{.reliable = true, .transient_local = false, .depth = 100};

ros::TransformStamped transform(Time stamp, const std::string& parent, const std::string& child, const Pose2& T) {
  const PlanarQuaternion q = to_quaternion(T.yaw);
  return {{ros::to_stamp(stamp), parent}, child, {{T.x, T.y, 0.0}, {0.0, 0.0, q.z, q.w}}};
}

template <class Enum>
Enum named(std::string_view text, Enum last, Enum otherwise) {
  for (int k = 0; k <= static_cast<int>(last); ++k) {
    if (name(static_cast<Enum>(k)) == text) return static_cast<Enum>(k);
  }
  return otherwise;
}

}  // namespace

void SimNodeParameters::fields(FieldVisitor& f) {
  f.text("scan_topic", scan_topic, "sensor_msgs/LaserScan, out");
  f.text("odometry_topic", odometry_topic, "nav_msgs/Odometry, out");
  f.text("pose_topic", pose_topic, "geometry_msgs/PoseStamped, out; empty: none");
  f.text("imu_topic", imu_topic, "sensor_msgs/Imu, out; empty: none");
  f.text("joy_topic", joy_topic, "sensor_msgs/Joy, out; empty: a real joystick is used");
  f.text("map_topic", map_topic, "nav_msgs/OccupancyGrid, latched, out; empty: none");
  f.text("drive_topic", drive_topic, "ackermann_msgs/AckermannDriveStamped, in");
  f.text("map_frame", map_frame, "");
  f.text("odom_frame", odom_frame, "");
  f.text("base_frame", base_frame, "the rear axle's centre");
  f.text("laser_frame", laser_frame, "");
  f.flag("truth_odometry", truth_odometry, "odometry is the true pose on the map");
  f.flag("lockstep", lockstep, "wait for each drive");
  f.number("command_timeout_s", command_timeout_s, {"s", 0.02, 5.0, "an older drive is speed 0 (real time)"});
  f.number("answer_timeout_s", answer_timeout_s, {"s", 0.1, 3600.0, "how long a drive is waited for (lockstep)"});
  f.number("hold_after_s", hold_after_s, {"s", -1.0, 1e6, "the deadman is held from then on; -1: never"});
  f.number("release_after_s", release_after_s, {"s", -1.0, 1e6, "and let go of; -1: never"});
  f.number("silence_after_s", silence_after_s, {"s", -1.0, 1e6, "no /joy any more; -1: never"});
}

SimNodeParameters SimNodeParameters::gym() {
  SimNodeParameters p;
  p.odometry_topic = "/ego_racecar/odom";
  p.pose_topic = "";
  p.imu_topic = "";
  p.odom_frame = "map";
  p.base_frame = "ego_racecar/base_link";
  p.laser_frame = "ego_racecar/laser";
  p.truth_odometry = true;
  return p;
}

// Stands where the controller of the scenario would.
class SimNode::Remote final : public Controller {
 public:
  Remote(SimNode& node, std::string name, Trigger trigger) : node_(node), name_(std::move(name)), trigger_(trigger) {}
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] Trigger trigger() const override { return trigger_; }
  void reset(const Observation& /*first*/) override {}
  Command update(const Observation& seen) override { return node_.parameters_.lockstep ? node_.answer(seen.now) : node_.held(); }

 private:
  SimNode& node_;
  std::string name_;
  Trigger trigger_;
};

Result<std::unique_ptr<SimNode>> SimNode::make(const SimNodeParameters& parameters, Graph& graph) {
  if (const Status status = check_fields("sim", parameters); !status) return status.error();
  std::unique_ptr<SimNode> node(new SimNode(parameters, graph));
  if (const Status status = node->open(); !status) return status.error();
  return node;
}

Status SimNode::open() {
  const SimNodeParameters& p = parameters_;
  const Qos qos = p.lockstep ? kDeep : Qos::publish();
  Status status = scan_.open(graph_, p.scan_topic, qos);
  if (status) status = odometry_.open(graph_, p.odometry_topic, qos);
  if (status && !p.pose_topic.empty()) status = pose_.open(graph_, p.pose_topic, qos);
  if (status && !p.imu_topic.empty()) status = imu_.open(graph_, p.imu_topic, qos);
  if (status && !p.joy_topic.empty()) status = joy_.open(graph_, p.joy_topic, qos);
  if (status && !p.map_topic.empty()) status = map_.open(graph_, p.map_topic, Qos::latched());
  if (status) status = tf_.open(graph_, "/tf", kDeep);
  if (status) status = tf_static_.open(graph_, "/tf_static", Qos::latched());
  if (status) status = clock_.open(graph_, "/clock", kDeep);
  Qos in = p.lockstep ? kDeep : Qos::subscribe();
  if (status) {
    status = subscribe<recording::Tick>(graph_, std::string(recording::kTickTopic), in,
                                        [this](const recording::Tick& tick, const Arrival& /*arrival*/) { tick_ = tick; });
  }
  if (status) {
    status = subscribe<ros::AckermannDriveStamped>(graph_, p.drive_topic, in,
                                                   [this](const auto& drive, const Arrival& arrival) { take(drive, arrival); });
  }
  return status;
}

void SimNode::take(const ros::AckermannDriveStamped& drive, const Arrival& arrival) {
  ++counts_.drives;
  if (scan_sent_) counts_.latencies_ms.push_back(1e3 * (arrival.received - *scan_sent_).seconds());
  scan_sent_.reset();
  drive_ = drive;
  drive_received_ = arrival.received;
}

bool SimNode::controller_is_there() const {
  // All of its readers have to be matched before the first message, or that is lost.
  bool scan_is_read = false;
  bool drives = false;
  std::size_t readers = 0;
  for (const Endpoint& e : graph_.endpoints()) {
    if (e.ours) continue;
    drives = drives || (e.writes && e.topic.name == parameters_.drive_topic);
    if (e.writes || e.topic.name != parameters_.scan_topic || !matches(parameters_.lockstep ? kDeep : Qos::publish(), e.topic.qos))
      continue;
    scan_is_read = true;
    ++readers;
  }
  return scan_is_read && drives && scan_.readers() >= readers;
}

void SimNode::look_for_drivers() {
  const Time wall = graph_.now();
  if (looked_ && wall - *looked_ < kDriverLooks) return;
  looked_ = wall;
  refusal_ = interlock_refusal(graph_, !parameters_.joy_topic.empty());
}

Result<scenarios::Outcome> SimNode::run(const scenarios::ResolvedRun& run, const std::function<bool()>& interrupted) {
  interrupted_ = interrupted;
  refusal_.clear();
  looked_.reset();
  if (map_.opened()) {
    ros::OccupancyGrid map = scenarios::map_message(*run.track->map);
    map.header.frame_id = parameters_.map_frame;
    map_.publish(map);
  }
  scenarios::RunHooks hooks;
  const Duration step = from_seconds(run.scenario.world.step_s);
  hooks.around = [&](std::unique_ptr<Controller> inner) {
    const Trigger trigger = parameters_.lockstep ? inner->trigger() : Trigger{step};
    return std::make_unique<Remote>(*this, std::string(inner->name()), trigger);
  };
  hooks.begin = [this](sim::World& world) { return begin(world); };
  hooks.after_step = [this](const sim::World& world) { after_step(world); };
  hooks.end = [this](sim::World& world) {
    world.observe(nullptr);
    return refusal_.empty() ? Status() : Status(Error{refusal_});
  };
  return scenarios::run_scenario(
      run, [this] { return ends(); }, hooks);
}

Status SimNode::begin(sim::World& world) {
  world_ = &world;
  world.observe(this);
  log::info("waits for a controller: a reader of " + parameters_.scan_topic + " that publishes " + parameters_.drive_topic);
  for (std::optional<Time> since; !since || graph_.now() - *since < kSettled;) {
    graph_.wait(graph_.now() + kNotice);
    look_for_drivers();
    if (ends()) return refusal_.empty() ? Status(Error{"interrupted while it waited for a controller"}) : Status(Error{refusal_});
    if (!controller_is_there()) {
      since.reset();
    } else if (!since) {
      since = graph_.now();
    }
  }
  log::info("found one");
  offset_ = parameters_.lockstep ? Duration{} : graph_.now() - Time{};
  started_ = graph_.now();
  ros::TFMessage mount;
  mount.transforms.push_back(
      transform(Time{} + offset_, parameters_.base_frame, parameters_.laser_frame, world.parameters(0).lidar_mount()));
  tf_static_.publish(mount);
  return {};
}

void SimNode::say_clock(Time t) { clock_.publish({ros::to_stamp(t + offset_)}); }

void SimNode::instant(Time t) {
  if (instant_ == t) return;
  flush_scan();
  instant_ = t;
  say_clock(t);
}

void SimNode::flush_scan() {
  if (!waiting_scan_) return;
  waiting_scan_->stamp = waiting_scan_->stamp + offset_;
  scan_.publish(ros::to_ros(*waiting_scan_, parameters_.laser_frame));
  scan_sent_ = graph_.now();
  waiting_scan_.reset();
  ++counts_.scans;
}

void SimNode::send_transform(const ros::TransformStamped& transform) {
  ros::TFMessage message;
  message.transforms.push_back(transform);
  tf_.publish(message);
}

void SimNode::arrived(std::size_t car, const Source<LaserScan>& scan) {
  if (car != 0) return;
  instant(scan.arrival);
  waiting_scan_ = *scan.message;
}

void SimNode::arrived(std::size_t car, const Source<Odometry>& source) {
  if (car != 0) return;
  instant(source.arrival);
  Odometry odometry = *source.message;
  odometry.stamp = odometry.stamp + offset_;
  if (parameters_.truth_odometry) {
    const sim::CarState& truth = world_->car(0);
    odometry.position = truth.T_map_base.position();
    odometry.orientation = to_quaternion(truth.T_map_base.yaw);
    odometry.speed_mps = truth.velocity_mps.x;
    odometry.yaw_rate_radps = truth.yaw_rate_radps;
  }
  odometry_.publish(ros::to_ros(odometry, parameters_.odom_frame, parameters_.base_frame));
  send_transform(ros::to_transform(odometry, parameters_.odom_frame, parameters_.base_frame));
  T_odom_base_ = {odometry.position.x, odometry.position.y, yaw_of(odometry.orientation)};
}

void SimNode::arrived(std::size_t car, const Source<PoseEstimate>& source) {
  if (car != 0 || !pose_.opened()) return;
  instant(source.arrival);
  PoseEstimate pose = *source.message;
  pose.stamp = pose.stamp + offset_;
  pose_.publish(ros::to_ros(pose, parameters_.map_frame));
  send_transform(transform(pose.stamp, parameters_.map_frame, parameters_.odom_frame, pose.pose() * inverse(T_odom_base_)));
}

void SimNode::arrived(std::size_t car, const Source<Joy>& source) {
  if (car != 0 || !joy_.opened()) return;
  const double t = source.arrival.seconds();
  const auto from = [&](double s) { return s >= 0.0 && t >= s; };
  if (from(parameters_.silence_after_s)) return;
  instant(source.arrival);
  Joy joy = *source.message;
  joy.stamp = joy.stamp + offset_;
  if (!from(parameters_.hold_after_s) || from(parameters_.release_after_s)) std::fill(joy.buttons.begin(), joy.buttons.end(), 0);
  joy_.publish(ros::to_ros(joy));
}

void SimNode::arrived(std::size_t car, const Source<Imu>& source) {
  if (car != 0 || !imu_.opened()) return;
  instant(source.arrival);
  Imu imu = *source.message;
  imu.stamp = imu.stamp + offset_;
  imu_.publish(ros::to_ros(imu, parameters_.base_frame));
}

// The drive that belongs to the decision at `now`: that of our own controllers says so, and its tick comes before it; of others it is
// the first that comes after the scan.
Command SimNode::answer(Time now) {
  drive_.reset();
  instant(now);
  flush_scan();
  say_clock(now + Duration{1});
  const Time patience = graph_.now() + (answered_ ? from_seconds(parameters_.answer_timeout_s) : kImpatience);
  const bool ours = tick_.has_value();
  while (graph_.now() < patience && !ends()) {
    graph_.wait(std::min(patience, graph_.now() + kNotice));
    look_for_drivers();
    if (!drive_) continue;
    const Time stamp = ros::to_time(drive_->header.stamp);
    const bool known = tick_ && tick_->now_ns == now.ns;
    if ((known && stamp == now) || (!ours && !tick_ && (stamp.ns == 0 || stamp >= now - from_milliseconds(25)))) {
      Command command{drive_->drive.steering_angle, drive_->drive.speed};
      const bool meant = known && tick_->speed_mps == command.speed_mps && tick_->steering_angle_rad == command.steering_angle_rad;
      if (meant) {
        command.reason = named(tick_->reason, Reason::kRecover, Reason::kDrive);
        command.layer = named(tick_->layer, Layer::kCommandStage, Layer::kLaw);
        command.beam = tick_->beam;
        command.ttc_s = tick_->ttc_s;
      }
      answered_ = true;
      return command;
    }
  }
  ++counts_.timeouts;
  if (std::exchange(answered_, false) && !ends())
    log::warn("no drive for the decision at " + std::to_string(now.seconds()) + " s: goes on with speed 0 until one comes");
  return {};
}

Command SimNode::held() {
  if (!drive_) return {};
  if (graph_.now() - drive_received_ < from_seconds(parameters_.command_timeout_s))
    return {drive_->drive.steering_angle, drive_->drive.speed};
  ++counts_.timeouts;
  return {drive_->drive.steering_angle, 0.0F};
}

void SimNode::after_step(const sim::World& world) {
  flush_scan();
  look_for_drivers();
  if (parameters_.lockstep) return;
  instant(world.now());
  const Time due = started_ + (world.now() - Time{});
  const Duration late = graph_.now() - due;
  if (late > kSlip) {
    started_ = started_ + late;
    counts_.slipped_s += late.seconds();
    return;
  }
  while (graph_.now() < due) graph_.wait(due);
}

}  // namespace pitwall::ros_bridge

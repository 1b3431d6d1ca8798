// SPDX-License-Identifier: Apache-2.0
#include "ros_bridge/node_inputs.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/text.hpp"
#include "ros_bridge/typed.hpp"
#include "ros_messages/convert.hpp"

namespace pitwall::ros_bridge {
namespace {

namespace ros = ros_messages;

constexpr Duration kTogether = from_milliseconds(1000);
constexpr double kValidBeams = 0.5;

bool enough_beams(const LaserScan& s) {
  const auto valid = std::count_if(s.ranges.begin(), s.ranges.end(),
                                   [&](float r) { return (r >= s.range_min && r <= s.range_max) || (std::isinf(r) && r > 0.0F); });
  return valid > 0 && static_cast<double>(valid) >= kValidBeams * static_cast<double>(s.ranges.size());
}

bool finite(const Odometry& o) {
  return std::isfinite(o.position.x + o.position.y + o.orientation.z + o.orientation.w + o.speed_mps + o.yaw_rate_radps);
}

bool finite(const PoseEstimate& p) { return std::isfinite(p.position.x + p.position.y + p.orientation.z + p.orientation.w); }

}  // namespace

void InputParameters::fields(FieldVisitor& f) {
  f.text("scan_topic", scan_topic, "sensor_msgs/LaserScan");
  f.text("odometry_topic", odometry_topic, "nav_msgs/Odometry");
  f.text("joy_topic", joy_topic, "sensor_msgs/Joy");
  f.text("imu_topic", imu_topic, "sensor_msgs/Imu at base_link, SI units; empty: none");
  f.text("pose_topic", pose_topic, "where pose_source is a topic");
  f.enumeration("pose_source", pose_source, kPoseSources, "where poses on the map come from");
  f.text("pose_frame", pose_frame, "whose pose the topic tells, such as laser; empty: base_frame");
  f.text("map_frame", map_frame, "frame of the map");
  f.text("base_frame", base_frame, "frame of the rear axle's centre");
  f.flag("reliable", reliable, "ask for reliable publishers (lockstep); else any publisher will do");
  f.number("scan_age_s", scan_age_s, {"s", 0.02, 0.5, "an older scan is refused"});
  f.number("future_s", future_s, {"s", 0.0, 0.1, "a scan or pose stamped farther ahead is refused"});
}

Odometry at_base(const Odometry& of_child, const Pose2& T_base_child) {
  const Pose2 T_odom_child{of_child.position.x, of_child.position.y, yaw_of(of_child.orientation)};
  const Pose2 T_odom_base = T_odom_child * inverse(T_base_child);
  Odometry out = of_child;
  out.position = T_odom_base.position();
  out.orientation = to_quaternion(T_odom_base.yaw);
  // v_base = v_child - w x r, along the base's x axis; the child's speed is along its own.
  out.speed_mps = of_child.speed_mps * math::cos(T_base_child.yaw) + of_child.yaw_rate_radps * T_base_child.y;
  return out;
}

NodeInputs::NodeInputs(const InputParameters& parameters, Graph& graph, Localiser* localiser, RunObserver& observer)
    : parameters_(parameters), graph_(graph), localiser_(localiser), observer_(observer) {
  states_[kScan].topic = parameters.scan_topic;
  states_[kOdometry].topic = parameters.odometry_topic;
  states_[kJoy].topic = parameters.joy_topic;
  states_[kPose].topic = parameters.pose_source == PoseSource::kTf ? "/tf" : parameters.pose_topic;
  states_[kImu].topic = parameters.imu_topic;
}

Status NodeInputs::open(std::function<Time()> now) {
  now_ = std::move(now);
  Status status;
  const auto listen = [&]<class Message>(Kind kind, Message /*of*/, auto take) {
    if (!status || states_[kind].topic.empty()) return;
    Qos qos = Qos::subscribe();
    qos.reliable = parameters_.reliable;
    status = subscribe<Message>(
        graph_, states_[kind].topic, qos,
        [this, kind, take](const Message& message, const Arrival& arrival) {
          heard(kind, arrival);
          take(message);
        },
        [this, kind](const Error& error) { refuse(kind, error.message); });
  };
  listen(kScan, ros::LaserScan(), [this](const ros::LaserScan& scan) { take(scan); });
  listen(kOdometry, ros::Odometry(), [this](const ros::Odometry& odometry) { take(odometry); });
  listen(kJoy, ros::Joy(), [this](const ros::Joy& joy) {
    joy_ = ros::from_ros(joy);
    states_[kJoy].arrival = now_();
    seen_.joy = {&joy_, now_(), seen_.joy.sequence + 1};
    observer_.arrived(0, seen_.joy);
  });
  listen(kImu, ros::Imu(), [this](const ros::Imu& imu) {
    imu_ = ros::from_ros(imu);
    states_[kImu].arrival = now_();
    seen_.imu = {&imu_, now_(), seen_.imu.sequence + 1};
    observer_.arrived(0, seen_.imu);
  });
  if (parameters_.pose_source == PoseSource::kTopic)
    listen(kPose, ros::PoseStamped(), [this](const ros::PoseStamped& p) { take_pose(parameters_.pose_frame, ros::from_ros(p)); });
  if (parameters_.pose_source == PoseSource::kCovarianceTopic) {
    listen(kPose, ros::PoseWithCovarianceStamped(),
           [this](const ros::PoseWithCovarianceStamped& p) { take_pose(parameters_.pose_frame, ros::from_ros(p)); });
  }
  if (status)
    status = subscribe<ros::TFMessage>(graph_, "/tf", Qos::subscribe(100),
                                       [this](const ros::TFMessage& m, const Arrival&) { take_tf(m, false); });
  if (status) {
    status = subscribe<ros::TFMessage>(graph_, "/tf_static", Qos::latched(100),
                                       [this](const ros::TFMessage& m, const Arrival&) { take_tf(m, true); });
  }
  return status;
}

void NodeInputs::heard(Kind kind, const Arrival& arrival) {
  InputState& state = states_[kind];
  ++state.received;
  if (state.received > 1 && arrival.writer != state.writer && arrival.received - state.heard < kTogether)
    state.two_writers = arrival.received;
  state.writer = arrival.writer;
  state.heard = arrival.received;
}

void NodeInputs::refuse(Kind kind, const std::string& why) {
  ++states_[kind].refused;
  states_[kind].why_refused = why;
}

std::string NodeInputs::wrong_stamp(Time stamp, Time now) const {
  const double age_s = (now - stamp).seconds();
  if (age_s > parameters_.scan_age_s) return "stamped " + format_number(age_s, 4) + " s ago";
  if (-age_s > parameters_.future_s) return "stamped " + format_number(-age_s, 4) + " s ahead of this machine's clock";
  return "";
}

void NodeInputs::take(const ros::LaserScan& message) {
  const Time now = now_();
  LaserScan scan = ros::from_ros(message);
  if (const std::string wrong = wrong_stamp(scan.stamp, now); !wrong.empty()) return refuse(kScan, wrong);
  if (!enough_beams(scan)) return refuse(kScan, "fewer than half of its beams are valid");
  scan_ = std::move(scan);
  laser_frame_ = message.header.frame_id;
  states_[kScan].arrival = now;
  seen_.scan = {&scan_, now, seen_.scan.sequence + 1};
  observer_.arrived(0, seen_.scan);
  scan_waits_ = true;
  if (localiser_ == nullptr || parameters_.pose_source != PoseSource::kLocaliser) return;
  if (const std::optional<PoseEstimate> pose = localiser_->add(scan_)) give_pose(*pose);
}

void NodeInputs::take(const ros::Odometry& message) {
  Odometry odometry = ros::from_ros(message);
  if (!finite(odometry)) return refuse(kOdometry, "not finite");
  const std::string& child = message.child_frame_id;
  if (!child.empty() && child != parameters_.base_frame) {
    const Result<Pose3> T_base_child = tf_.lookup(parameters_.base_frame, child, odometry.stamp);
    if (!T_base_child) return refuse(kOdometry, "it is of frame '" + child + "': " + T_base_child.error().message);
    odometry = at_base(odometry, T_base_child->planar());
  }
  odometry_ = odometry;
  states_[kOdometry].arrival = now_();
  seen_.odometry = {&odometry_, now_(), seen_.odometry.sequence + 1};
  observer_.arrived(0, seen_.odometry);
  if (localiser_ != nullptr) localiser_->add(odometry_);
}

void NodeInputs::take_pose(const std::string& frame, PoseEstimate pose) {
  if (!finite(pose)) return refuse(kPose, "not finite");
  if ((pose.stamp - now_()).seconds() > parameters_.future_s) return refuse(kPose, wrong_stamp(pose.stamp, now_()));
  if (!frame.empty() && frame != parameters_.base_frame) {
    const Result<Pose3> T_child_base = tf_.lookup(frame, parameters_.base_frame, pose.stamp);
    if (!T_child_base) return refuse(kPose, T_child_base.error().message);
    const Pose2 T_map_base = pose.pose() * T_child_base->planar();
    pose.position = T_map_base.position();
    pose.orientation = to_quaternion(T_map_base.yaw);
  }
  give_pose(pose);
}

void NodeInputs::give_pose(const PoseEstimate& pose) {
  pose_ = pose;
  states_[kPose].arrival = now_();
  seen_.pose = {&pose_, now_(), seen_.pose.sequence + 1};
  observer_.arrived(0, seen_.pose);
}

void NodeInputs::take_tf(const ros::TFMessage& message, bool fixed) {
  tf_.add(message, fixed);
  if (fixed || parameters_.pose_source != PoseSource::kTf) return;
  const std::optional<Time> at = tf_.latest(parameters_.map_frame, parameters_.base_frame);
  if (!at || (seen_.pose.sequence > 0 && *at <= pose_.stamp)) return;
  const Result<Pose3> T_map_base = tf_.lookup(parameters_.map_frame, parameters_.base_frame, *at);
  if (!T_map_base) return;
  const Pose2 flat = T_map_base->planar();
  // A rotation about z keeps its bits.
  const bool upright = T_map_base->qx == 0.0 && T_map_base->qy == 0.0;
  const PlanarQuaternion q = upright ? PlanarQuaternion{T_map_base->qz, T_map_base->qw} : to_quaternion(flat.yaw);
  take_pose("", {*at, flat.position(), q});
}

std::optional<Pose2> NodeInputs::lidar_mount() const {
  if (laser_frame_.empty()) return std::nullopt;
  const Result<Pose3> T = tf_.lookup(parameters_.base_frame, laser_frame_, scan_.stamp);
  if (!T) return std::nullopt;
  return T->planar();
}

bool NodeInputs::take_scan_waits() { return std::exchange(scan_waits_, false); }

bool NodeInputs::duplicate() const {
  const Time now = graph_.now();
  return std::any_of(states_.begin(), states_.end(),
                     [&](const InputState& s) { return s.two_writers && now - *s.two_writers < kTogether; });
}

void NodeInputs::forget() {
  tf_.forget_moving();
  for (InputState& state : states_) {
    state.arrival.reset();
    state.two_writers.reset();
  }
  scan_waits_ = false;
}

}  // namespace pitwall::ros_bridge

// SPDX-License-Identifier: Apache-2.0
#include "ros_bridge/reports.hpp"

#include <algorithm>
#include <cmath>

#include "core/text.hpp"
#include "ros_messages/convert.hpp"

namespace pitwall::ros_bridge {
namespace {

namespace ros = ros_messages;

constexpr double kDiagnosticPeriod_s = 1.0;
constexpr double kMountTolerance_m = 0.03;
constexpr double kMountTolerance_rad = 0.05;
// Logs are kept for those who come late, as rclcpp does.
constexpr Qos kRosout{.reliable = true, .transient_local = true, .depth = 1000};

std::string json_number(double value) { return std::isfinite(value) ? format_number(value, 6) : "null"; }
std::string quoted(std::string_view text) { return '"' + std::string(text) + '"'; }

ros::DiagnosticStatus status_of(std::string name, int level, std::string message) {
  ros::DiagnosticStatus status;
  status.level = static_cast<std::byte>(level);
  status.name = std::move(name);
  status.message = std::move(message);
  return status;
}

constexpr int kOk = 0;
constexpr int kWarn = 1;
constexpr int kError = 2;

int level_of(Cause cause) {
  if (cause == Cause::kNone || cause == Cause::kTeleop) return kOk;
  return cause == Cause::kDeadmanReleased || cause == Cause::kDeadmanNotSeenReleased || cause == Cause::kShutdown ? kWarn : kError;
}

ros::DiagnosticStatus input_status(const std::string& node, const InputState& input, Time now) {
  const double age_s = input.arrival ? (now - *input.arrival).seconds() : INFINITY;
  int level = kOk;
  std::string message = "fresh";
  if (!input.arrival) {
    level = kWarn;
    message = "nothing received";
  } else if (age_s > 0.5) {
    level = kError;
    message = "silent for " + format_number(age_s, 3) + " s";
  }
  if (input.refused > 0 && level != kOk) message += "; refused: " + input.why_refused;
  ros::DiagnosticStatus status = status_of(node + ": " + input.topic, level, message);
  status.values = {
      {"received", std::to_string(input.received)}, {"refused", std::to_string(input.refused)}, {"last_refusal", input.why_refused}};
  return status;
}

}  // namespace

void ReportParameters::fields(FieldVisitor& f) {
  f.text("intent_topic", intent_topic, "std_msgs/String, JSON; empty: none");
  f.number("intent_rate_hz", intent_rate_hz, {"Hz", 1.0, 100.0, "how often"});
  f.number("intent_horizon_s", intent_horizon_s, {"s", 0.1, 10.0, "how far ahead in time"});
  f.integer("intent_samples", intent_samples, {"", 2, 200, "points of its path"});
  f.number("intent_reach_m", intent_reach_m, {"m", 0.5, 50.0, "and how far at most"});
  f.number("decision_log_period_s", decision_log_period_s, {"s", 0.1, 60.0, "between log lines while nothing changes"});
}

std::vector<IntentPoint> intent_path(double speed_mps, double steering_rad, double wheelbase_m, const ReportParameters& p) {
  std::vector<IntentPoint> path;
  const double curvature = math::tan(steering_rad) / wheelbase_m;
  const double far_m = std::min(std::fabs(speed_mps) * p.intent_horizon_s, p.intent_reach_m);
  for (std::int64_t k = 0; k < p.intent_samples; ++k) {
    const double s = std::copysign(far_m * static_cast<double>(k) / static_cast<double>(p.intent_samples - 1), speed_mps);
    const double turn = curvature * s;
    Pose2 pose{s, 0.5 * s * turn, turn};
    if (std::fabs(turn) > 1e-6) pose = {math::sin(turn) / curvature, (1.0 - math::cos(turn)) / curvature, wrap_angle(turn)};
    path.push_back({pose, speed_mps});
  }
  return path;
}

Status Reports::open(Graph& graph) {
  Status status;
  if (!parameters_.intent_topic.empty()) status = intent_.open(graph, parameters_.intent_topic, Qos::publish());
  if (status) status = rosout_.open(graph, "/rosout", kRosout);
  if (status) status = diagnostics_.open(graph, "/diagnostics", Qos::publish());
  if (status) status = events_.open(graph, "/parameter_events", {.reliable = true, .transient_local = false, .depth = 1000});
  if (status) status = answers_.open(graph, "/" + node_ + "/set_answer", Qos::publish());
  return status;
}

bool Reports::due(std::optional<Time>& last, Time now, double period_s) const {
  if (last && now >= *last && now - *last < from_seconds(period_s)) return false;
  last = now;
  return true;
}

void Reports::say(Time now, const std::string& line, bool warning) {
  if (note_) note_(now, line, warning);
  if (!rosout_on_) return;
  ros::Log log;
  log.stamp = ros::to_stamp(now);
  log.level = warning ? 30 : 20;
  log.name = node_;
  log.msg = line;
  rosout_on_ = rosout_.publish(log);
}

void Reports::log_decision(const Report& r) {
  const bool stands = r.cause != Cause::kTeleop && (r.cause != Cause::kNone || is_stop(r.command.reason));
  const std::string why(r.cause != Cause::kNone ? name(r.cause) : pitwall::name(r.command.reason));
  const std::string state = (stands ? "STOP [" : "DRIVE [") + why + "]";
  const bool changed = state != logged_state_;
  if (!changed && !due(logged_, r.now, parameters_.decision_log_period_s)) return;
  logged_ = r.now;
  logged_state_ = state;
  std::string line = state + " " + format_number(static_cast<double>(r.speed_sent_mps), 3) + " m/s, steering " +
                     format_number(static_cast<double>(r.steering_sent_rad), 3) + " rad";
  if (r.cause != Cause::kNone) {
    if (!hint(r.cause).empty()) line += ": " + std::string(hint(r.cause));
  } else {
    line += ", by " + std::string(pitwall::name(r.command.layer));
    if (r.command.beam >= 0) line += ", beam " + std::to_string(r.command.beam);
    if (std::isfinite(r.command.ttc_s)) line += ", ttc " + format_number(static_cast<double>(r.command.ttc_s), 3) + " s";
  }
  say(r.now, line, changed && level_of(r.cause) == kError);
}

void Reports::tell_intent(const Report& r) {
  if (!intent_on_ || !intent_.opened() || !due(intended_, r.now, 1.0 / parameters_.intent_rate_hz)) return;
  const double speed = static_cast<double>(r.speed_sent_mps);
  const double steering = static_cast<double>(r.steering_sent_rad);
  std::string json = "{\"stamp_ns\":" + std::to_string(r.now.ns) + ",\"frame\":\"base_link\",\"controller\":" + quoted(r.controller) +
                     ",\"gate\":" + quoted(name(r.cause)) + ",\"reason\":" + quoted(pitwall::name(r.command.reason)) +
                     ",\"layer\":" + quoted(pitwall::name(r.command.layer)) + ",\"speed_mps\":" + json_number(speed) +
                     ",\"steering_rad\":" + json_number(steering) + ",\"path\":[";
  const char* comma = "";
  for (const IntentPoint& p : intent_path(speed, steering, car_.wheelbase_m, parameters_)) {
    json += comma + ("[" + json_number(p.pose.x)) + "," + json_number(p.pose.y) + "," + json_number(p.pose.yaw) + "," +
            json_number(p.speed_mps) + "]";
    comma = ",";
  }
  // What bounds the speed; the lowest of them binds.
  struct Ceiling {
    std::string_view name;
    double speed_mps;
  };
  std::vector<Ceiling> ceilings{{"car", car_.speed_max_mps}, {"controller", std::fabs(static_cast<double>(r.command.speed_mps))}};
  if (r.cause == Cause::kTeleop) {
    ceilings.back() = {"teleop", std::fabs(speed)};
  } else if (r.cause != Cause::kNone) {
    ceilings.push_back({"gate", 0.0});
  }
  const auto lowest =
      std::min_element(ceilings.rbegin(), ceilings.rend(), [](const Ceiling& a, const Ceiling& b) { return a.speed_mps < b.speed_mps; });
  json += "],\"ceilings\":[";
  comma = "";
  for (const Ceiling& c : ceilings) {
    json += comma + ("{\"name\":" + quoted(c.name)) + ",\"speed_mps\":" + json_number(c.speed_mps) +
            ",\"binding\":" + (&c == &*lowest ? "true" : "false") + "}";
    comma = ",";
  }
  intent_on_ = intent_.publish({json + "]}"});
}

void Reports::diagnose(const Report& r) {
  const bool changed = r.cause != diagnosed_cause_;
  if (!diagnostics_on_ || (!due(diagnosed_, r.now, kDiagnosticPeriod_s) && !changed)) return;
  diagnosed_cause_ = r.cause;
  ros::DiagnosticArray array;
  array.header.stamp = ros::to_stamp(r.now);
  const std::string why(hint(r.cause));
  ros::DiagnosticStatus gate = status_of(node_ + ": drive", level_of(r.cause),
                                         r.cause == Cause::kNone ? "drives" : std::string(name(r.cause)) + (why.empty() ? "" : ": " + why));
  gate.values = {{"controller", std::string(r.controller)},
                 {"reason", std::string(pitwall::name(r.command.reason))},
                 {"layer", std::string(pitwall::name(r.command.layer))},
                 {"decisions", std::to_string(r.decisions)},
                 {"commands_lost", std::to_string(r.lost)},
                 {"speed_mps", format_number(static_cast<double>(r.speed_sent_mps), 4)},
                 {"steering_rad", format_number(static_cast<double>(r.steering_sent_rad), 4)}};
  array.status.push_back(std::move(gate));
  for (const NodeInputs::Kind kind : {NodeInputs::kScan, NodeInputs::kOdometry, NodeInputs::kJoy})
    array.status.push_back(input_status(node_, r.inputs.state(kind), r.now));
  if (r.inputs.needs_pose()) array.status.push_back(input_status(node_, r.inputs.state(NodeInputs::kPose), r.now));
  if (const std::optional<Pose2> seen = r.inputs.lidar_mount()) {
    const Pose2 own = car_.lidar_mount();
    const double off_m = distance(seen->position(), own.position());
    const double off_rad = std::fabs(wrap_angle(seen->yaw - own.yaw));
    const bool good = off_m <= kMountTolerance_m && off_rad <= kMountTolerance_rad;
    array.status.push_back(status_of(node_ + ": lidar mount", good ? kOk : kWarn,
                                     good ? "as the car's profile has it"
                                          : "the transforms put the LiDAR " + format_number(off_m, 3) + " m and " +
                                                format_number(off_rad, 3) + " rad from where the car's profile has it"));
  }
  diagnostics_on_ = diagnostics_.publish(array);
}

void Reports::tick(const Report& report) {
  if (report.decisions > 0 || report.cause != Cause::kNone) log_decision(report);
  tell_intent(report);
  diagnose(report);
}

void Reports::changed(Time now, const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  const std::string value = assignment.substr(equals + 1);
  ros::Parameter parameter;
  parameter.name = assignment.substr(0, equals);
  if (value == "true" || value == "false") {
    parameter.value.type = 1;
    parameter.value.bool_value = value == "true";
  } else {
    parameter.value.type = 3;
    parameter.value.double_value = parse_double(value).value_or(0.0);
  }
  ros::ParameterEvent event;
  event.stamp = ros::to_stamp(now);
  event.node = "/" + node_;
  event.changed_parameters.push_back(std::move(parameter));
  events_.publish(event);
}

void Reports::answer(Time now, const std::string& request, const Status& status) {
  const std::string text = status ? "changed: " + request : "refused: " + status.error().message;
  answers_.publish({text});
  say(now, "parameters " + text, !status.ok());
}

}  // namespace pitwall::ros_bridge

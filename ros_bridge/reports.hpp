// SPDX-License-Identifier: Apache-2.0
// What a node says about itself, after the drive command and never before it: the decision log (a change at once, else every second), the
// intent (JSON, 20 Hz: where the command leads, and what bounds the speed), diagnostics, answers to changes of parameters. A transport that
// does not take them switches them off, one by one; driving goes on.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/car.hpp"
#include "core/controller.hpp"
#include "core/fields.hpp"
#include "ros_bridge/gate.hpp"
#include "ros_bridge/graph.hpp"
#include "ros_bridge/node_inputs.hpp"
#include "ros_bridge/typed.hpp"
#include "ros_messages/diagnostics.hpp"
#include "ros_messages/graph.hpp"
#include "ros_messages/standard.hpp"

namespace pitwall::ros_bridge {

struct ReportParameters {
  std::string intent_topic = "/drive_intent";
  double intent_rate_hz = 20.0;
  double intent_horizon_s = 1.5;
  std::int64_t intent_samples = 16;
  double intent_reach_m = 8.0;
  double decision_log_period_s = 1.0;
  void fields(FieldVisitor& f);
};

/// One tick of the node, as told to people.
struct Report {
  Time now;
  std::string_view controller;
  const Command& command;
  std::uint64_t decisions = 0;
  Cause cause = Cause::kNone;
  float steering_sent_rad = 0.0F;
  float speed_sent_mps = 0.0F;
  const NodeInputs& inputs;
  std::uint64_t lost = 0;  ///< commands that the transport did not take
};

/// A point of the way that a command leads along, from base_link as it stands.
struct IntentPoint {
  Pose2 pose;
  double speed_mps = 0.0;
};

/// Where constant speed and steering angle lead within the horizon, or `reach_m`: exact arcs, points evenly apart in time.
std::vector<IntentPoint> intent_path(double speed_mps, double steering_rad, double wheelbase_m, const ReportParameters& parameters);

class Reports {
 public:
  /// A line of the log for whoever keeps one.
  using Note = std::function<void(Time now, const std::string& line, bool warning)>;

  Reports(const ReportParameters& parameters, std::string node, const CarParameters& car)
      : parameters_(parameters), node_(std::move(node)), car_(car) {}

  Status open(Graph& graph);
  void on_note(Note note) { note_ = std::move(note); }
  void tick(const Report& report);
  /// A parameter was changed: /parameter_events.
  void changed(Time now, const std::string& assignment);
  /// What became of a request to change parameters.
  void answer(Time now, const std::string& request, const Status& status);

 private:
  void say(Time now, const std::string& line, bool warning);
  void log_decision(const Report& report);
  void tell_intent(const Report& report);
  void diagnose(const Report& report);
  [[nodiscard]] bool due(std::optional<Time>& last, Time now, double period_s) const;

  ReportParameters parameters_;
  std::string node_;
  CarParameters car_;
  Note note_;
  Publisher<ros_messages::String> intent_;
  Publisher<ros_messages::Log> rosout_;
  Publisher<ros_messages::DiagnosticArray> diagnostics_;
  Publisher<ros_messages::ParameterEvent> events_;
  Publisher<ros_messages::String> answers_;
  bool intent_on_ = true;
  bool rosout_on_ = true;
  bool diagnostics_on_ = true;
  std::optional<Time> logged_;
  std::optional<Time> intended_;
  std::optional<Time> diagnosed_;
  std::string logged_state_;
  Cause diagnosed_cause_ = Cause::kNone;
};

}  // namespace pitwall::ros_bridge

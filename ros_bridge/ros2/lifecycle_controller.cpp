// SPDX-License-Identifier: Apache-2.0
#include "ros_bridge/ros2/lifecycle_controller.hpp"

#include <stdexcept>
#include <utility>

#include "localization/localizer/localizer.hpp"
#include "ros_bridge/live_parameters.hpp"
#include "ros_bridge/ros2/ros_parameters.hpp"
#include "scenarios/resolve.hpp"
#include "scenarios/run.hpp"

namespace pitwall::ros_bridge {
namespace {

// What was decided before it ends has to get out, and the stop after it.
constexpr Duration kLifecycleFarewell = from_milliseconds(300);
// gap_follow needs no track, a scenario does.
constexpr const char* kTrackOfNone = "indoor_oval";

bool needs_line(const std::string& controller) { return controller != "gap_follow" && controller != "excite"; }

Result<scenarios::ResolvedRun> resolve_choice(const LifecycleChoice& choice, const std::vector<std::string>& assignments) {
  if (needs_line(choice.controller) && choice.track.empty()) return Error{choice.controller + " follows a line: set the parameter track"};
  scenarios::ValidationOptions options;
  options.data = choice.data;
  options.car = choice.car;
  options.car_given = true;
  options.assignments = assignments;
  options.quick = true;
  options.tracks = {choice.track.empty() ? kTrackOfNone : choice.track};
  if (choice.localise) options.localization = scenarios::Localization::kScan;
  // No criterion but contact ends it: laps without end.
  options.suite_text = "bridge:\n  id: bridge\n  cars:\n    ego: {controller: " + choice.controller +
                       "}\n  criteria: {laps_at_least: 1000}\n  timeout_s: 100000\n";
  auto runs = scenarios::resolve(options);
  if (!runs) return runs.error();
  return std::move(runs->front());
}

}  // namespace

void LifecycleChoice::fields(FieldVisitor& f) {
  f.text("controller", controller, "which of our controllers; fixed when the node starts");
  f.text("track", track, "map and line: a track that ships, or a folder");
  f.text("car", car, "car profile");
  f.text("data", data, "folder with tracks and cars");
  f.flag("localise", localise, "poses from the scans on the track's map, by ourselves");
}

LifecycleController::LifecycleController(const rclcpp::NodeOptions& options, const std::string& data)
    : LifecycleNode("bridge_controller", options) {
  choice_.data = data;
  RosParameters declare(*this);
  choice_.fields(declare);
  setup_.parameters.fields(declare);
  const auto of_controller = controller_parameters(*this, choice_.controller);
  if (!of_controller) throw std::invalid_argument(of_controller.error().message);
  parameters_ = add_on_set_parameters_callback([this](const std::vector<rclcpp::Parameter>& all) { return on_parameters(all); });
}

LifecycleController::~LifecycleController() { stop(); }

Status LifecycleController::configure_all() {
  const std::string controller = choice_.controller;
  RosParameters read(*this);
  choice_.fields(read);
  setup_.parameters.fields(read);
  if (!read.status()) return read.status();
  if (choice_.controller != controller) return Error{"the parameter controller is fixed when the node starts: it is " + controller};
  setup_.parameters.name = get_name();
  const auto assignments = controller_parameters(*this, controller);
  if (!assignments) return assignments.error();
  auto run = resolve_choice(choice_, *assignments);
  if (!run) return run.error();
  InputParameters& inputs = setup_.parameters.inputs;
  if (inputs.pose_source == PoseSource::kNone && needs_line(controller))
    inputs.pose_source = choice_.localise ? PoseSource::kLocaliser : PoseSource::kTopic;
  setup_.car = run->parameters;
  setup_.car_name = run->cars.front().name;
  auto made = scenarios::make_controllers(*run);
  if (!made) return made.error();
  controller_ = std::move(made->front());
  localiser_.reset();
  if (run->localizer_map && inputs.pose_source == PoseSource::kLocaliser)
    localiser_ = std::make_unique<localization::Localizer>(run->localizer_map, run->parameters.lidar_mount());
  scribe_ = std::make_unique<onboard::Scribe>(nullptr);
  return {};
}

Status LifecycleController::activate_all() {
  auto graph = std::make_unique<RclcppGraph>(*this);
  auto node = ControllerNode::make(setup_, *graph, *controller_, localiser_.get(), *scribe_);
  if (!node) return node.error();
  (*node)->on_note([this](Time now, const std::string& line, bool warning) { scribe_->note(now, line, warning); });
  graph_ = std::move(graph);
  node_ = *std::move(node);
  return {};
}

LifecycleController::Done LifecycleController::told(const Status& status, const char* what) {
  if (status) return Done::SUCCESS;
  RCLCPP_ERROR(get_logger(), "%s: %s", what, status.error().message.c_str());
  return Done::FAILURE;
}

LifecycleController::Done LifecycleController::on_configure(const rclcpp_lifecycle::State& /*previous*/) {
  return told(configure_all(), "configure");
}

LifecycleController::Done LifecycleController::on_activate(const rclcpp_lifecycle::State& /*previous*/) {
  return told(activate_all(), "activate");
}

LifecycleController::Done LifecycleController::on_deactivate(const rclcpp_lifecycle::State& /*previous*/) {
  stop();
  return Done::SUCCESS;
}

LifecycleController::Done LifecycleController::on_cleanup(const rclcpp_lifecycle::State& /*previous*/) {
  stop();
  scribe_.reset();
  localiser_.reset();
  controller_.reset();
  return Done::SUCCESS;
}

LifecycleController::Done LifecycleController::on_shutdown(const rclcpp_lifecycle::State& previous) { return on_cleanup(previous); }

void LifecycleController::step() {
  if (!drives()) return;
  graph_->wait(node_->next_wake());
  node_->tick();
}

void LifecycleController::stop() {
  if (!drives()) return;
  node_->shut_down();
  for (const Time end = graph_->now() + kLifecycleFarewell; graph_->now() < end;) step();
  node_.reset();
  graph_.reset();
}

rcl_interfaces::msg::SetParametersResult LifecycleController::on_parameters(const std::vector<rclcpp::Parameter>& parameters) {
  const Status status = change(parameters);
  rcl_interfaces::msg::SetParametersResult result;
  result.successful = status.ok();
  if (!status) result.reason = status.error().message;
  return result;
}

Status LifecycleController::change(const std::vector<rclcpp::Parameter>& parameters) {
  if (!controller_) return {};  // looked at when it is configured
  const std::string prefix = choice_.controller + ".";
  Node changes = Node::map();
  for (const rclcpp::Parameter& each : parameters) {
    if (each.get_name().rfind(prefix, 0) != 0) return Error{each.get_name() + ": taken at configure; clean up first"};
    changes.set(each.get_name().substr(prefix.size()), Node(scalar_of(each)));
  }
  if (node_) return node_->set_parameters(changes);
  const auto made = change_live(*controller_, changes);
  return made ? Status() : Status(made.error());
}

}  // namespace pitwall::ros_bridge

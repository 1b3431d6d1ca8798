// SPDX-License-Identifier: Apache-2.0
#include "ros_bridge/live_parameters.hpp"

#include <algorithm>
#include <array>

#include "controllers/make.hpp"
#include "core/text.hpp"

namespace pitwall::ros_bridge {
namespace {

constexpr std::array<LiveParameter, 19> kGapFollow{{
    {"max_speed_mps", 0.3, 4.0},
    {"min_speed_mps", 0.0, 3.0},
    {"corner_speed_mps", 0.1, 2.0},
    {"max_acceleration_mps2", 0.5, 6.0},
    {"max_lateral_accel_mps2", 0.3, 4.0},
    {"min_gap_distance_m", 0.5, 5.0},
    {"fallback_min_gap_distance_m", 0.2, 3.0},
    {"disparity_threshold_m", 0.1, 1.5},
    {"steering_gain", 0.2, 2.5},
    {"max_steering_rate_radps", 0.2, 4.0},
    {"max_braking_decel_mps2", 0.5, 5.0},
    {"safety_margin_m", 0.02, 0.4},
    {"emergency_stop_clearance_m", 0.0, 0.3},
    {"forward_stop_clearance_m", 0.05, 1.0},
    {"forward_stop_fov_rad", 10.0 * math::kDegree, math::kPi},
    {"escape_creep_speed_mps", 0.05, 1.0},
    {"enable_ttc"},
    {"ttc_threshold_s", 0.1, 2.0},
    {"ttc_min_brake_speed_mps", 0.0, 2.0},
}};

// Of every controller that follows a line; the lookahead is of pure_pursuit and what is built on it.
constexpr std::array<LiveParameter, 21> kLine{{
    {"max_speed_mps", 0.3, 6.0},
    {"min_speed_mps", 0.0, 3.0},
    {"max_acceleration_mps2", 1.0, 8.0},
    {"max_braking_decel_mps2", 1.0, 12.0},
    {"max_lateral_accel_mps2", 0.5, 6.0},
    {"max_steering_rate_radps", 0.2, 4.0},
    {"min_lookahead_m", 0.2, 3.0},
    {"max_lookahead_m", 0.5, 5.0},
    {"lookahead_gain_s", 0.0, 0.6},
    {"enable_avoidance"},
    {"avoidance_trigger_m", 0.3, 4.0},
    {"avoidance_min_gap_m", 0.3, 3.0},
    {"avoidance_speed_mps", 0.2, 3.0},
    {"overtake.enable"},
    {"overtake.trigger_gap_m", 0.5, 10.0},
    {"overtake.closing_margin_mps", 0.0, 2.0},
    {"overtake.clear_margin_m", 0.0, 5.0},
    {"emergency_stop_clearance_m", 0.0, 0.4},
    {"forward_stop_fov_rad", 20.0 * math::kDegree, math::kPi},
    {"forward_stop_clearance_m", 0.05, 1.0},
    {"max_cross_track_m", 0.3, 5.0},
}};

Status check(const LiveParameter& parameter, const Node& value) {
  const std::string what = std::string(parameter.name) + " = '" + value.scalar + "'";
  if (parameter.flag()) {
    if (value.is_scalar() && (value.scalar == "true" || value.scalar == "false")) return {};
    return Error{what + ": true or false"};
  }
  const std::optional<double> number = value.is_scalar() ? parse_double(value.scalar) : std::nullopt;
  if (number && *number >= parameter.min && *number <= parameter.max) return {};
  return Error{what + ": while driving from " + format_number(parameter.min, 4) + " to " + format_number(parameter.max, 4)};
}

}  // namespace

std::span<const LiveParameter> live_parameters(std::string_view controller) {
  if (controller == "gap_follow") return kGapFollow;
  const std::vector<std::string> laws = controllers::steering_laws();
  if (std::find(laws.begin(), laws.end(), controller) != laws.end()) return kLine;
  return {};
}

Result<std::vector<std::string>> change_live(Controller& controller, const Node& changes) {
  if (!changes.is_map() || changes.entries.empty()) return Error{"changes are a map of parameter to value, such as {max_speed_mps: 1.5}"};
  const std::span<const LiveParameter> known = live_parameters(controller.name());
  Node nested = Node::map();
  std::vector<std::string> assignments;
  for (const auto& [key, value] : changes.entries) {
    const auto at = std::find_if(known.begin(), known.end(), [&](const LiveParameter& each) { return each.name == key; });
    if (at == known.end()) {
      std::vector<std::string> names;
      for (const LiveParameter& each : known) names.emplace_back(each.name);
      return Error{std::string(controller.name()) + ": " + unknown_name("live parameter", key, names)};
    }
    if (const Status status = check(*at, value); !status) return status.error();
    assignments.push_back(key + "=" + value.scalar);
    if (const Status set = set_by_path(nested, assignments.back()); !set) return set.error();
  }
  if (const Status changed = controller.change_parameters(nested); !changed) return changed.error();
  return assignments;
}

}  // namespace pitwall::ros_bridge

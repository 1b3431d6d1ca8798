// SPDX-License-Identifier: Apache-2.0
// QoS as recordings keep it: a YAML list of profiles, in words (rosbag2 from Jazzy on) or in rmw's numbers.
#pragma once

#include <string>
#include <string_view>

#include "core/result.hpp"
#include "ros_bridge/qos.hpp"

namespace pitwall::ros_bridge {

/// "- history: keep_last\n  depth: 10\n  reliability: reliable\n  durability: volatile\n".
std::string to_text(const Qos& qos);
/// The first profile; what it does not say, or says as "unknown" or "system default", is as of Qos::publish(). An empty text is that. The
/// error names line and key; a wrong file is never more than an error (rosbag2#1125).
Result<Qos> parse_qos(std::string_view yaml, const std::string& name);

}  // namespace pitwall::ros_bridge

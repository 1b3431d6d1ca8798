// SPDX-License-Identifier: Apache-2.0
// Which graph a process takes part in, as ROS 2 asks its environment, and what Cyclone DDS has to be told for it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/result.hpp"

namespace pitwall::ros_bridge {

/// Who is found without being named (ROS_AUTOMATIC_DISCOVERY_RANGE).
enum class DiscoveryRange : std::uint8_t {
  kOff,           ///< nobody
  kLocalhost,     ///< processes of this machine, by unicast: up to 33
  kSubnet,        ///< by multicast
  kSystemDefault  ///< what Cyclone DDS does by itself
};

struct DdsSettings {
  std::uint32_t domain = 0;  ///< 0 to 232
  DiscoveryRange range = DiscoveryRange::kSubnet;
  std::string cyclone_uri;  ///< CYCLONEDDS_URI: comes after what we say, and so has the last word
};

/// From ROS_DOMAIN_ID, ROS_LOCALHOST_ONLY (wins, with a warning), ROS_AUTOMATIC_DISCOVERY_RANGE and CYCLONEDDS_URI. `get` gives the value
/// of a variable, or null. Errors name variable, value and allowed values.
using GetVariable = std::function<const char*(const char* name)>;
Result<DdsSettings> settings_from(const GetVariable& get);
/// The same from the process's environment.
Result<DdsSettings> settings_from_environment();

/// What dds_create_domain is given: fragments of XML, files and URLs, separated by commas.
std::string cyclone_config(const DdsSettings& settings);

}  // namespace pitwall::ros_bridge

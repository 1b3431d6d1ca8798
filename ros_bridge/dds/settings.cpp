// SPDX-License-Identifier: Apache-2.0
#include "ros_bridge/dds/settings.hpp"

#include <dds/features.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "core/log.hpp"
#include "core/text.hpp"

namespace pitwall::ros_bridge {
namespace {

/// The highest one whose ports (7400 + 250 * domain and up) exist.
constexpr std::int64_t kLastDomain = 232;
/// What rmw_cyclonedds_cpp allows; Cyclone DDS by itself allows 9.
constexpr std::string_view kLastParticipantIndex = "32";

struct RangeName {
  std::string_view name;
  DiscoveryRange range;
};
constexpr std::array<RangeName, 4> kRanges = {{{"OFF", DiscoveryRange::kOff},
                                               {"LOCALHOST", DiscoveryRange::kLocalhost},
                                               {"SUBNET", DiscoveryRange::kSubnet},
                                               {"SYSTEM_DEFAULT", DiscoveryRange::kSystemDefault}}};

Error refused(std::string_view variable, std::string_view value, std::string_view allowed) {
  return Error{std::string(variable) + "='" + std::string(value) + "'; allowed: " + std::string(allowed)};
}

Result<DiscoveryRange> parse_range(std::string_view value) {
  for (const RangeName& each : kRanges) {
    if (each.name == value) return each.range;
  }
  return refused("ROS_AUTOMATIC_DISCOVERY_RANGE", value, "OFF, LOCALHOST, SUBNET, SYSTEM_DEFAULT");
}

std::string domain_xml(const std::string& inside) { return "<CycloneDDS><Domain>" + inside + "</Domain></CycloneDDS>"; }

std::string range_xml(DiscoveryRange range) {
  const std::string unicast = "<General><AllowMulticast>false</AllowMulticast></General>";
  const std::string index = "<ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>" + std::string(kLastParticipantIndex) +
                            "</MaxAutoParticipantIndex>";
  switch (range) {
    case DiscoveryRange::kOff:
      // Others of this domain would still find us by our ports: the tag is what keeps them out.
      return domain_xml(unicast + "<Discovery><Tag>pitwall_" + std::to_string(::getpid()) + "</Tag></Discovery>");
    case DiscoveryRange::kLocalhost:
      return domain_xml(unicast + "<Discovery>" + index + "<Peers><Peer address=\"localhost\"/></Peers></Discovery>");
    case DiscoveryRange::kSubnet:
      return domain_xml("<Discovery>" + index + "</Discovery>");
    case DiscoveryRange::kSystemDefault:
      break;
  }
  return "";
}

}  // namespace

Result<DdsSettings> settings_from(const GetVariable& get) {
  // An empty variable is one that is not set, as ROS has it.
  const auto value_of = [&get](const char* name) -> std::optional<std::string> {
    const char* value = get(name);
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
  };
  DdsSettings settings;
  if (const auto value = value_of("ROS_DOMAIN_ID")) {
    const std::optional<std::int64_t> domain = parse_int(*value);
    if (!domain || *domain < 0 || *domain > kLastDomain) return refused("ROS_DOMAIN_ID", *value, "0 to " + std::to_string(kLastDomain));
    settings.domain = static_cast<std::uint32_t>(*domain);
  }
  if (const auto value = value_of("ROS_AUTOMATIC_DISCOVERY_RANGE")) {
    const Result<DiscoveryRange> range = parse_range(*value);
    if (!range) return range.error();
    settings.range = *range;
  }
  if (const auto value = value_of("ROS_LOCALHOST_ONLY")) {
    if (*value != "0" && *value != "1") return refused("ROS_LOCALHOST_ONLY", *value, "0, 1");
    if (*value == "1") {
      log::warn("ROS_LOCALHOST_ONLY=1 is deprecated in ROS 2 and wins here; say ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST");
      settings.range = DiscoveryRange::kLocalhost;
    }
  }
  settings.cyclone_uri = value_of("CYCLONEDDS_URI").value_or("");
  return settings;
}

Result<DdsSettings> settings_from_environment() {
  return settings_from([](const char* name) { return std::getenv(name); });
}

std::string cyclone_config(const DdsSettings& settings) {
  std::string config = range_xml(settings.range);
  const auto add = [&config](const std::string& part) {
    if (!config.empty() && !part.empty()) config += ',';
    config += part;
  };
  add(settings.cyclone_uri);
#ifdef DDS_HAS_SHM
  // Plain CDR has no form for shared memory.
  add(domain_xml("<SharedMemory><Enable>false</Enable></SharedMemory>"));
#endif
  return config;
}

}  // namespace pitwall::ros_bridge

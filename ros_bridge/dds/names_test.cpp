// SPDX-License-Identifier: Apache-2.0
#include "ros_bridge/dds/names.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

#include "ros_bridge/dds/settings.hpp"
#include "ros_messages/known_types.hpp"

namespace pitwall::ros_bridge {
namespace {

Result<DdsSettings> settings(const std::map<std::string, std::string>& variables) {
  return settings_from([&](const char* name) {
    const auto at = variables.find(name);
    return at == variables.end() ? nullptr : at->second.c_str();
  });
}

TEST_CASE("topics and types are called as ROS 2 calls them on DDS, and back") {
  CHECK(dds_topic("/scan") == "rt/scan");
  CHECK(dds_topic("/car1/drive") == "rt/car1/drive");
  CHECK(dds_type("sensor_msgs/msg/LaserScan") == "sensor_msgs::msg::dds_::LaserScan_");
  CHECK(ros_topic("rt/car1/drive") == "/car1/drive");
  for (const char* other :
       {"rq/n/list_parametersRequest", "rr/n/list_parametersReply", "ros_discovery_info", "rtscan", "rt", "rt/", "rt//a"}) {
    CHECK_FALSE(ros_topic(other).has_value());
  }
  for (const std::string& type : ros_messages::known_types()) CHECK(ros_type(dds_type(type)) == type);
  CHECK(ros_type("HelloWorld") == "HelloWorld");
  CHECK(ros_type("") == "");
}

TEST_CASE("user data is read by key") {
  CHECK(user_data_value("enclave=/;", "enclave") == "/");
  CHECK(user_data_value("a=b;typehash=RIHS01_00;", "typehash") == "RIHS01_00");
  CHECK(user_data_value("typehash=x", "typehash") == "x");
  CHECK(user_data_value("notypehash=x;typehashes=y;", "typehash") == "");
  CHECK(user_data_value("", "typehash") == "");
  CHECK(user_data_value(";;=;", "typehash") == "");
}

TEST_CASE("a topic's hash is its own, or that of the messages that we know") {
  CHECK(type_hash_of({"/clock", "rosgraph_msgs/msg/Clock", {}}) ==
        "RIHS01_692f7a66e93a3c83e71765d033b60349ba68023a8c689a79e48078bcb5c58564");
  CHECK(type_hash_of({"/x", "their_msgs/msg/Thing", {}}) == "");
  const std::string theirs = "RIHS01_" + std::string(64, 'a');
  CHECK(type_hash_of({"/x", "their_msgs/msg/Thing", {}, theirs}) == theirs);
}

TEST_CASE("names, types and hashes that cannot be are refused with what is allowed") {
  const auto said = [](const TopicSpec& topic) {
    const Status status = check_topic(topic);
    return status.ok() ? std::string() : status.error().message;
  };
  const std::string type = "std_msgs/msg/String";
  CHECK(said({"/a/b_1", type, {}}) == "");
  for (const char* name : {"", "/", "a", "/a/", "//a", "/1a", "/a b", "/a-b", "/\xc3\xa9"})
    CHECK(said({name, type, {}}).find(name) != std::string::npos);
  CHECK(said({"/" + std::string(254, 'a'), type, {}}) == "");
  CHECK(said({"/" + std::string(255, 'a'), type, {}}).find("255 characters") != std::string::npos);
  for (const char* bad :
       {"", "String", "std_msgs/String", "std_msgs/srv/String", "std_msgs/msg/", "/msg/String", "std_msgs/msg/String/x"}) {
    CHECK(said({"/a", bad, {}}).find("package/msg/Name") != std::string::npos);
  }
  for (const std::string& hash : {std::string("RIHS01_12"), "RIHS02_" + std::string(64, 'a'), "RIHS01_" + std::string(64, 'G')}) {
    CHECK(said({"/a", type, {}, hash}).find(hash) != std::string::npos);
  }
  CHECK(check_node("/car1/pitwall").ok());
  CHECK_FALSE(check_node("pitwall").ok());
}

TEST_CASE("the environment says which graph, and errors name variable, value and what is allowed") {
  CHECK(settings({})->domain == 0);
  CHECK(settings({})->range == DiscoveryRange::kSubnet);
  CHECK(settings({{"ROS_DOMAIN_ID", "77"}})->domain == 77);
  CHECK(settings({{"ROS_DOMAIN_ID", ""}})->domain == 0);
  CHECK(settings({{"ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF"}})->range == DiscoveryRange::kOff);
  CHECK(settings({{"ROS_AUTOMATIC_DISCOVERY_RANGE", "SYSTEM_DEFAULT"}})->range == DiscoveryRange::kSystemDefault);
  CHECK(settings({{"ROS_LOCALHOST_ONLY", "0"}})->range == DiscoveryRange::kSubnet);
  // The older variable wins.
  CHECK(settings({{"ROS_LOCALHOST_ONLY", "1"}, {"ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET"}})->range == DiscoveryRange::kLocalhost);
  CHECK(settings({{"ROS_DOMAIN_ID", "233"}}).error().message == "ROS_DOMAIN_ID='233'; allowed: 0 to 232");
  CHECK(settings({{"ROS_DOMAIN_ID", "-1"}}).error().message == "ROS_DOMAIN_ID='-1'; allowed: 0 to 232");
  CHECK(settings({{"ROS_DOMAIN_ID", "7x"}}).error().message == "ROS_DOMAIN_ID='7x'; allowed: 0 to 232");
  CHECK(settings({{"ROS_AUTOMATIC_DISCOVERY_RANGE", "localhost"}}).error().message ==
        "ROS_AUTOMATIC_DISCOVERY_RANGE='localhost'; allowed: OFF, LOCALHOST, SUBNET, SYSTEM_DEFAULT");
  CHECK(settings({{"ROS_LOCALHOST_ONLY", "yes"}}).error().message == "ROS_LOCALHOST_ONLY='yes'; allowed: 0, 1");
}

TEST_CASE("what Cyclone DDS is told comes before CYCLONEDDS_URI, which so has the last word") {
  const std::string config = cyclone_config({77, DiscoveryRange::kLocalhost, "file:///mine.xml"});
  for (const char* part :
       {"<AllowMulticast>false<", "<ParticipantIndex>auto<", "<MaxAutoParticipantIndex>32<", "<Peer address=\"localhost\"/>"}) {
    CHECK_MESSAGE(config.find(part) < config.find(",file:///mine.xml"), part);
  }
  const std::string subnet = cyclone_config({0, DiscoveryRange::kSubnet, ""});
  CHECK(subnet.find("AllowMulticast") == std::string::npos);
  CHECK(subnet.find("<MaxAutoParticipantIndex>32<") != std::string::npos);
  CHECK(cyclone_config({0, DiscoveryRange::kOff, ""}).find("<Tag>pitwall_") != std::string::npos);
  CHECK(cyclone_config({0, DiscoveryRange::kSystemDefault, "x.xml"}).rfind("x.xml", 0) == 0);
}

}  // namespace
}  // namespace pitwall::ros_bridge

// SPDX-License-Identifier: Apache-2.0
#include "ros_messages/known_types.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace pitwall::ros_messages {

TEST_CASE("type hashes are those that ROS 2 Jazzy has") {
  // All of the spec's table (taken from Jazzy's installed types), and VescState as rosidl generated it.
  const std::vector<std::pair<std::string, std::string>> published = {
      {"vesc_msgs/msg/VescState", "RIHS01_a327638b635aeda64096cca0c64c8d49702151a5ddf85fb1787de014488f54b3"},
      {"builtin_interfaces/msg/Time", "RIHS01_b106235e25a4c5ed35098aa0a61a3ee9c9b18d197f398b0e4206cea9acf9c197"},
      {"std_msgs/msg/Header", "RIHS01_f49fb3ae2cf070f793645ff749683ac6b06203e41c891e17701b1cb597ce6a01"},
      {"std_msgs/msg/String", "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"},
      {"std_msgs/msg/Float64", "RIHS01_705ba9c3d1a09df43737eb67095534de36fd426c0587779bda2bc51fe790182a"},
      {"std_msgs/msg/Bool", "RIHS01_feb91e995ff9ebd09c0cb3d2aed18b11077585839fb5db80193b62d74528f6c9"},
      {"rosgraph_msgs/msg/Clock", "RIHS01_692f7a66e93a3c83e71765d033b60349ba68023a8c689a79e48078bcb5c58564"},
      {"geometry_msgs/msg/TransformStamped", "RIHS01_0a241f87d04668d94099cbb5ba11691d5ad32c2f29682e4eb5653424bd275206"},
      {"geometry_msgs/msg/PoseStamped", "RIHS01_10f3786d7d40fd2b54367835614bff85d4ad3b5dab62bf8bca0cc232d73b4cd8"},
      {"geometry_msgs/msg/PoseWithCovarianceStamped", "RIHS01_26432f9803e43727d3c8f668d1fdb3c630f548af631e2f4e31382371bfea3b6e"},
      {"geometry_msgs/msg/Twist", "RIHS01_9c45bf16fe0983d80e3cfe750d6835843d265a9a6c46bd2e609fcddde6fb8d2a"},
      {"geometry_msgs/msg/TwistStamped", "RIHS01_5f0fcd4f81d5d06ad9b4c4c63e3ea51b82d6ae4d0558f1d475229b1121db6f64"},
      {"geometry_msgs/msg/PoseArray", "RIHS01_af0cc36d190e104d546d168d6b39df04fa4b4ccecf59cb4c9ed328d3d5004aa0"},
      {"tf2_msgs/msg/TFMessage", "RIHS01_e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087"},
      {"nav_msgs/msg/Odometry", "RIHS01_3cc97dc7fb7502f8714462c526d369e35b603cfc34d946e3f2eda2766dfec6e0"},
      {"nav_msgs/msg/OccupancyGrid", "RIHS01_8d348150c12913a31ee0ec170fbf25089e4745d17035792a1ba94d6f0bc0cfc7"},
      {"nav_msgs/msg/Path", "RIHS01_1957a5bb3cee5da65c4e52e52b65a93df227efce4c20f8458b36e73066ca334b"},
      {"sensor_msgs/msg/LaserScan", "RIHS01_64c191398013af96509d518dac71d5164f9382553fce5c1f8cca5be7924bd828"},
      {"sensor_msgs/msg/Imu", "RIHS01_7d9a00ff131080897a5ec7e26e315954b8eae3353c3f995c55faf71574000b5b"},
      {"sensor_msgs/msg/Joy", "RIHS01_0d356c79cad3401e35ffeb75a96a96e08be3ef896b8b83841d73e890989372c5"},
      {"sensor_msgs/msg/PointCloud2", "RIHS01_9198cabf7da3796ae6fe19c4cb3bdd3525492988c70522628af5daa124bae2b5"},
      {"sensor_msgs/msg/JointState", "RIHS01_a13ee3a330e346c9d87b5aa18d24e11690752bd33a0350f11c5882bc9179260e"},
      {"ackermann_msgs/msg/AckermannDriveStamped", "RIHS01_48ca7612a08d3bb72744fd98b71b7cf2ea24c6ad50fa4e1aa0bbad963c90d8cf"},
      {"ackermann_msgs/msg/AckermannDrive", "RIHS01_acf287a224a947dd1b0b87d6d76cdb73f497b0237b8fc73be2173b2ebbb82c99"},
      {"rmw_dds_common/msg/ParticipantEntitiesInfo", "RIHS01_91a0593bacdcc50ea9bdcf849a938b128412cc1ea821245c663bcd26f83c295e"},
      {"rcl_interfaces/msg/Log", "RIHS01_e28ce254ca8abc06abf92773b74602cdbf116ed34fbaf294fb9f81da9f318eac"},
      {"rcl_interfaces/msg/ParameterEvent", "RIHS01_043e627780fcad87a22d225bc2a037361dba713fca6a6b9f4b869a5aa0393204"},
  };
  for (const auto& [type, hash] : published) {
    const Definition* definition = known_definition(type);
    REQUIRE_MESSAGE(definition != nullptr, type);
    CHECK_MESSAGE(type_hash(*definition) == hash, type);
  }
}

TEST_CASE("the schema text of every type reads back as its definition") {
  for (const std::string& type : known_types()) {
    const Definition* definition = known_definition(type);
    const auto read_back = parse_definition(type, schema_text(*definition));
    REQUIRE_MESSAGE(read_back.ok(), read_back.error().message);
    CHECK_MESSAGE(*read_back == *definition, schema_text(*definition));
    CHECK_FALSE(known_definition(type + "x"));
  }
}

TEST_CASE("the schema text is the root, then each dependency once behind its line") {
  const std::string line(80, '=');
  CHECK(schema_text(describe<AckermannDriveStamped>()) ==
        "std_msgs/Header header\nackermann_msgs/AckermannDrive drive\n" + line +
            "\nMSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n" + line +
            "\nMSG: ackermann_msgs/AckermannDrive\nfloat32 steering_angle\nfloat32 "
            "steering_angle_velocity\nfloat32 speed\nfloat32 acceleration\nfloat32 jerk\n" +
            line + "\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n");
  CHECK(schema_text(describe<Empty>()).empty());
  CHECK(schema_text(describe<Log>()).find("uint8 WARN=30\n") != std::string::npos);
  CHECK(schema_text(describe<NodeEntitiesInfo>()).find("string<=256 node_name\nrmw_dds_common/Gid[] reader_gid_seq\n") !=
        std::string::npos);
}

TEST_CASE("a type is known by its full and by its short name") {
  CHECK(known_definition("sensor_msgs/LaserScan") == known_definition("sensor_msgs/msg/LaserScan"));
  CHECK(known_definition("sensor_msgs/msg/LaserScan") == &describe<LaserScan>());
  CHECK(known_definition("LaserScan") == nullptr);
  CHECK(known_definition("") == nullptr);
}

}  // namespace pitwall::ros_messages

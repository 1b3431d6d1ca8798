// SPDX-License-Identifier: Apache-2.0
#include "ros_messages/definition.hpp"

#include <doctest/doctest.h>

#include <string>

#include "ros_messages/known_types.hpp"

namespace pitwall::ros_messages {

namespace {

const std::string kLine(80, '=');

Definition parse(std::string_view type, std::string_view text) {
  auto definition = parse_definition(type, text);
  REQUIRE_MESSAGE(definition.ok(), definition.error().message);
  return *std::move(definition);
}

std::string refusal(std::string_view text, std::string_view type = "a/msg/B") {
  const auto definition = parse_definition(type, text);
  return definition.ok() ? "read" : definition.error().message;
}

}  // namespace

TEST_CASE("constants, arrays, bounds, defaults and comments are read") {
  const Definition definition = parse("a/msg/B",
                                      "# a comment\r\n"
                                      "int32 X=-5  # and one behind\n"
                                      "string GREETING = \"say # 'hi'\" # a constant\n"
                                      "\n"
                                      "uint8[3] bytes [1, 2, 3]\n"
                                      "string<=22[<=5] names ['#1', \"b\"]\n"
                                      "float64   value\t1.5#default\n"
                                      "bool[] flags\n"
                                      "wstring wide\n"
                                      "char c 65\n");
  const MessageType& root = definition.root();
  REQUIRE(root.constants.size() == 2);
  CHECK(root.constants[0].name == "X");
  CHECK(root.constants[0].value == "-5");
  CHECK(root.constants[1].value == "\"say # 'hi'\"");
  REQUIRE(root.fields.size() == 6);
  CHECK(root.fields[0].type == FieldType{Kind::kUint8, Shape::kArray, 3, 0, 0});
  CHECK(root.fields[0].default_value == "[1, 2, 3]");
  CHECK(root.fields[1].type == FieldType{Kind::kString, Shape::kBoundedSequence, 5, 22, 0});
  CHECK(root.fields[1].default_value == "['#1', \"b\"]");
  CHECK(root.fields[2].default_value == "1.5");
  CHECK(root.fields[3].type == FieldType{Kind::kBool, Shape::kSequence, 0, 0, 0});
  CHECK(root.fields[4].type.kind == Kind::kWString);
  CHECK(root.fields[5].type.kind == Kind::kChar);
  CHECK(parse("a/msg/B", schema_text(definition)) == definition);
}

TEST_CASE("types are found in the text: of the same package by their short name, with and without /msg/") {
  const Definition definition =
      parse("a/B", "C[2] c\nd/E e\nHeader header\n" + kLine + "\nMSG: a/C\nint8 x\n" + kLine + "\nMSG: d/msg/E\nF f\n" + kLine +
                       "\nMSG: d/F\nint16 y\n" + kLine + "\nMSG: unused/T\nint16 y\n");
  REQUIRE(definition.types.size() == 6);
  CHECK(definition.types[0].name == "a/msg/B");
  CHECK(definition.types[1].name == "a/msg/C");
  CHECK(definition.types[2].name == "d/msg/E");
  CHECK(definition.types[3].name == "std_msgs/msg/Header");
  CHECK(definition.types[4].name == "d/msg/F");
  CHECK(spell(definition, definition.root().fields[0].type) == "a/C[2]");
}

TEST_CASE("a dependency that the text lacks is one of our own types, or an error that names it") {  // mcap#709, PlotJuggler#458
  const Definition definition = parse("a/msg/B", "std_msgs/Header header\ngeometry_msgs/Pose[] poses\n");
  CHECK(definition.types.size() == 7 - 1);  // B, Header, Pose, Time, Point, Quaternion
  CHECK(refusal("int8 x\nc/D d\n") == "definition of a/msg/B, line 2: nothing defines 'c/D' (field 'd' of a/msg/B)");
}

TEST_CASE("a service event is read from the text of its service") {
  const Definition definition = parse("example_interfaces/srv/AddTwoInts_Event", "int64 a\nint64 b\n---\nint64 sum\n");
  const MessageType& root = definition.root();
  REQUIRE(root.fields.size() == 3);
  CHECK(spell(definition, root.fields[0].type) == "service_msgs/ServiceEventInfo");
  CHECK(root.fields[1].type.shape == Shape::kBoundedSequence);
  CHECK(root.fields[1].type.length == 1);
  CHECK(definition.types[root.fields[1].type.type].name == "example_interfaces/srv/AddTwoInts_Request");
  CHECK(definition.types[root.fields[2].type.type].fields[0].name == "sum");
}

TEST_CASE("what is no definition is refused with type, line and word") {
  CHECK(refusal("int32\n") == "definition of a/msg/B, line 1: 'int32' lacks a name");
  CHECK(refusal("int32 x\n\nint32 x\n") == "definition of a/msg/B, line 3: field 'x' is there twice");
  CHECK(refusal("int32[ x\n") == "definition of a/msg/B, line 1: 'int32[' lacks its ']'");
  CHECK(refusal("int32[0] x") == "definition of a/msg/B, line 1: '0' is not a length (1 to 2147483647)");
  CHECK(refusal("int32[99999999999] x").find("'99999999999' is not a length") != std::string::npos);
  CHECK(refusal("int32[<=] x").find("bounded sequence lacks its length") != std::string::npos);
  CHECK(refusal("int32<=3 x").find("only strings may have") != std::string::npos);
  CHECK(refusal("in?t x").find("'in?t' is not a type") != std::string::npos);
  CHECK(refusal("int32 9x").find("'9x' is not a name") != std::string::npos);
  CHECK(refusal("int32[] X=3").find("constant 'X' must be a number or a string") != std::string::npos);
  CHECK(refusal("int32 x\n" + kLine + "\nint8 y\n").find("expected 'MSG: package/Type', found 'int8 y'") != std::string::npos);
  CHECK(refusal("int32 x", "a b").find("not the name of a type") != std::string::npos);
  CHECK(parse_definition("a/msg/B", "{}", "jsonschema").error().message ==
        "definition of a/msg/B is written in 'jsonschema'; only 'ros2msg' and 'ros2idl' can be read");
}

TEST_CASE("a type that holds itself, or types nested without end, are refused") {
  CHECK(refusal("B b\n").find("a type that holds itself") != std::string::npos);
  CHECK(refusal("C c\n" + kLine + "\nMSG: a/C\nB b\n").find("a type that holds itself") != std::string::npos);
  const auto nested = [](int levels) {
    std::string text = "T1 t\n";
    for (int i = 1; i < levels; ++i) {
      const std::string next = i + 1 < levels ? "T" + std::to_string(i + 1) + " t\nT" + std::to_string(i + 1) + " u\n" : "int8 x\n";
      text += kLine + "\nMSG: a/T" + std::to_string(i) + "\n" + next;
    }
    return text;
  };
  CHECK(refusal(nested(64)) == "read");
  CHECK(refusal(nested(65)).find("deeper than 64") != std::string::npos);
}

TEST_CASE("a type with no fields has the member that IDL needs in its hash, and none in its text") {
  const Definition empty = parse("std_msgs/msg/Empty", "");
  CHECK(type_hash(empty) == "RIHS01_20b625256f32d5dbc0d04fee44f43c41e51c70d3502f84b4a08e7a9c26a96312");
  CHECK(schema_text(empty).empty());
}

TEST_CASE("a char is the uint8 of IDL in the hash, as rosidl generates it") {  // the generated std_msgs/msg/detail/char__description.c
  CHECK(type_hash(parse("std_msgs/msg/Char", "char data\n")) == "RIHS01_3ad2d04dd29ba19d04b16659afa3ccaedd691914b02a64e82e252f2fa6a586a9");
  CHECK(type_hash(parse("std_msgs/msg/Byte", "byte data\n")) == "RIHS01_41e1a3345f73fe93ede006da826a6ee274af23dd4653976ff249b0f44e3e798f");
}

TEST_CASE("constants, defaults and comments do not count in the hash; names, types and bounds do") {
  const auto hash = [](std::string_view text) { return type_hash(parse("a/msg/B", text)); };
  const std::string plain = hash("int32 x\nstring<=5 s\n");
  CHECK(hash("int8 ONE=1\nint32 x 7 # seven\nstring<=5 s\n") == plain);
  CHECK(hash("int32 y\nstring<=5 s\n") != plain);
  CHECK(hash("uint32 x\nstring<=5 s\n") != plain);
  CHECK(hash("int32 x\nstring<=6 s\n") != plain);
  CHECK(hash("int32 x\nstring s\n") != plain);
  CHECK(hash("int32[] x\nstring<=5 s\n") != plain);
}

TEST_CASE("a recorded type is ours by name and hash, else by its fields, else by its name") {  // PlotJuggler#873, rosbag2#1470
  const Definition& ours = describe<Joy>();
  const std::string text = schema_text(ours);
  CHECK(same_type(ours, "sensor_msgs/msg/Joy", type_hash(ours), "").ok());
  CHECK(same_type(ours, "sensor_msgs/Joy", "", text).ok());
  CHECK(same_type(ours, "sensor_msgs/msg/Joy", "hash1", text).ok());  // a hash that is none
  CHECK(same_type(ours, "sensor_msgs/msg/Joy", "", "").ok());
  CHECK(same_type(ours, "sensor_msgs/msg/Imu", "", "").error().message == "recorded as sensor_msgs/msg/Imu, wanted sensor_msgs/msg/Joy");
  std::string older = text;
  older.replace(older.find("float32[] axes"), 14, "float64[] axes");
  const Status differs = same_type(ours, "sensor_msgs/msg/Joy", "", older);
  REQUIRE_FALSE(differs.ok());
  CHECK(differs.error().message.find("has sensor_msgs/msg/Joy {header: std_msgs/Header, axes: float64[], buttons: int32[]}, ours") !=
        std::string::npos);
  const std::string other = type_hash(describe<Imu>());
  CHECK_FALSE(same_type(ours, "sensor_msgs/msg/Joy", other, "").ok());
  CHECK(same_type(ours, "sensor_msgs/msg/Joy", other, text).ok());  // rosbags' hash of a char is not that of ROS 2
  CHECK_FALSE(same_type(ours, "sensor_msgs/msg/Joy", other, older).ok());
  CHECK_FALSE(same_type(ours, "sensor_msgs/msg/Joy", other, "{}", "jsonschema").ok());
  CHECK(same_type(ours, "sensor_msgs/msg/Joy", "", "{}", "jsonschema").ok());
}

}  // namespace pitwall::ros_messages

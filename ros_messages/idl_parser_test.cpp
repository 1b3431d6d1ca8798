// SPDX-License-Identifier: Apache-2.0
// Definitions in IDL, as rosbag2 records types that have no .msg (`ros2idl`).
#include <doctest/doctest.h>

#include <string>

#include "ros_messages/definition.hpp"
#include "ros_messages/known_types.hpp"

namespace pitwall::ros_messages {

namespace {

Definition parse_idl(std::string_view type, std::string_view text) {
  auto definition = parse_definition(type, text, "ros2idl");
  REQUIRE_MESSAGE(definition.ok(), definition.error().message);
  return *std::move(definition);
}

std::string idl_refusal(std::string_view text, std::string_view type = "a/msg/B") {
  const auto definition = parse_definition(type, text, "ros2idl");
  return definition.ok() ? "read" : definition.error().message;
}

/// The members of struct B in their modules.
std::string in_modules(const std::string& members, const std::string& before = "") {
  return "module a { module msg { " + before + " struct B { " + members + " }; }; };";
}

/// How .msg spells the field's type.
std::string spelled(const std::string& member, const std::string& before = "") {
  const Definition definition = parse_idl("a/msg/B", in_modules(member, before));
  REQUIRE(definition.root().fields.size() == 1);
  return spell(definition, definition.root().fields[0].type);
}

/// The definition of one of our types as rosidl_adapter writes it from its .msg: each file with its banner.
std::string idl_of(const Definition& definition) {
  std::string text;
  for (const MessageType& type : definition.types) {
    const std::string package = type.name.substr(0, type.name.find('/'));
    const std::string name = type.name.substr(type.name.rfind('/') + 1);
    std::string typedefs;
    std::string members;
    for (const Field& field : type.fields) {
      std::string idl(kind_name(field.type.kind));
      if (field.type.kind == Kind::kFloat32) idl = "float";
      if (field.type.kind == Kind::kFloat64) idl = "double";
      if (field.type.kind == Kind::kBool) idl = "boolean";
      if (field.type.kind == Kind::kByte) idl = "octet";
      if (field.type.string_limit > 0) idl += "<" + std::to_string(field.type.string_limit) + ">";
      if (field.type.kind == Kind::kMessage) {
        const std::string& full = definition.types[field.type.type].name;
        idl = full.substr(0, full.find('/')) + "::msg::" + full.substr(full.rfind('/') + 1);
      }
      if (field.type.shape == Shape::kArray) {
        const std::string alias = idl + "__" + std::to_string(field.type.length);
        typedefs += "    typedef " + idl + " " + alias + "[" + std::to_string(field.type.length) + "];\n";
        idl = alias;
      } else if (field.type.shape != Shape::kSingle) {
        const std::string bound = field.type.shape == Shape::kSequence ? "" : ", " + std::to_string(field.type.length);
        idl = "sequence<" + idl + bound + ">";
      }
      members +=
          "      @verbatim (language=\"comment\", text=\n        \"what; it (is)\" \"\\n\"\n        \"// no comment {\")\n      @unit "
          "(value=\"m\")\n      " +
          idl + " " + field.name + ";\n\n";
    }
    if (type.fields.empty()) members = "      uint8 structure_needs_at_least_one_member;\n";
    text += std::string(80, '=') + "\nIDL: " + type.name +
            "\n// generated from rosidl_adapter/resource/msg.idl.em\n\n#include \"x/msg/Y.idl\"\n\nmodule " + package +
            " {\n  module msg {\n" + typedefs + "    module " + name +
            "_Constants {\n      const int8 ONE = 1;\n      @verbatim (language=\"comment\", text=\"x\")\n" +
            "      const string TEXT = \"a ; b\";\n    };\n    struct " + name + " {\n" + members + "    };\n  };\n};\n";
  }
  return text;
}

}  // namespace

TEST_CASE("each of our own types reads the same from IDL as from .msg, with the same hash") {
  int types = 0;
  for_each_known_type([&]<class Message>(const Message& /*message*/) {
    const Definition& ours = describe<Message>();
    CAPTURE(ours.root().name);
    if (ours.root().name.find("/msg/") == std::string::npos) return;
    const Definition read = parse_idl(ours.root().name, idl_of(ours));
    CHECK(type_hash(read) == type_hash(ours));
    CHECK(same_type(ours, ours.root().name, "", idl_of(ours), "ros2idl").ok());
    CHECK(parse_definition(ours.root().name, schema_text(read)).value() == read);
    ++types;
  });
  CHECK(types > 50);
}

TEST_CASE("IDL's own names of the numbers, strings, bounds and typedefs are those of .msg") {
  CHECK(spelled("short x;") == "int16");
  CHECK(spelled("unsigned short x;") == "uint16");
  CHECK(spelled("long x;") == "int32");
  CHECK(spelled("unsigned long x;") == "uint32");
  CHECK(spelled("long long x;") == "int64");
  CHECK(spelled("unsigned long long x;") == "uint64");
  CHECK(spelled("float x;") == "float32");
  CHECK(spelled("double x;") == "float64");
  CHECK(spelled("boolean x;") == "bool");
  CHECK(spelled("octet x;") == "byte");
  CHECK(spelled("string x;") == "string");
  CHECK(spelled("string<22> x;") == "string<=22");
  CHECK(spelled("wstring<3> x;") == "wstring<=3");
  CHECK(spelled("sequence<string<22>, 5> x;") == "string<=22[<=5]");
  CHECK(spelled("double x[3];") == "float64[3]");
  CHECK(spelled("t x;", "typedef sequence<octet> t;") == "byte[]");
  CHECK(spelled("t x;", "typedef double s; typedef s t[36];") == "float64[36]");
  CHECK(spelled("::a::msg::t x;", "typedef double t[36];") == "float64[36]");
  CHECK(spelled("C x;", "struct C { long y; };") == "a/C");
  CHECK(spelled("sequence<a::msg::C, 2> x;", "struct C { long y; };") == "a/C[<=2]");
  const Definition several = parse_idl("a/msg/B", in_modules("@key @default (value=\"(1, 2)\") long x, y[2]; /* ; } */ long z; // }\n"));
  CHECK(several.root().fields.size() == 3);
  CHECK(several.root().fields[1].type.shape == Shape::kArray);
}

TEST_CASE("a service event is read from the IDL of its service") {
  const Definition definition =
      parse_idl("a/srv/Do_Event", "module a { module srv { struct Do_Request { long long a; }; struct Do_Response { long b; }; }; };");
  CHECK(definition.root().fields.size() == 3);
  CHECK(definition.types[definition.root().fields[1].type.type].fields[0].name == "a");
}

TEST_CASE("IDL that ROS does not have, or that breaks off, is refused with type, line and word") {
  CHECK(idl_refusal("module a {\n module msg {\n  enum E { X };\n };\n};") ==
        "definition of a/msg/B, line 3: expected module, struct, typedef or const (no ROS type has more), found 'enum'");
  CHECK(idl_refusal(in_modules("long double x;")).find("'long double' is not a type of ROS") != std::string::npos);
  CHECK(idl_refusal(in_modules("wchar x;")).find("'wchar' is not a type of ROS") != std::string::npos);
  CHECK(idl_refusal(in_modules("sequence<sequence<long>> x;")).find("a sequence of sequences") != std::string::npos);
  CHECK(idl_refusal(in_modules("sequence<t> x;", "typedef long t[2];")).find("a sequence of arrays") != std::string::npos);
  CHECK(idl_refusal(in_modules("t x[2];", "typedef long t[2];")).find("an array of arrays") != std::string::npos);
  CHECK(idl_refusal(in_modules("long x[2][3];")).find("two dimensions") != std::string::npos);
  CHECK(idl_refusal(in_modules("long x[0];")).find("'0' is not a length") != std::string::npos);
  CHECK(idl_refusal(in_modules("long x; long x;")).find("field 'x' is there twice") != std::string::npos);
  CHECK(idl_refusal(in_modules("C x;")).find("nothing defines 'C' (field 'x' of a/msg/B)") != std::string::npos);
  CHECK(idl_refusal("module a { module msg { struct C { long x; }; }; };") ==
        "definition of a/msg/B: it defines other types, but not this one");
  CHECK(idl_refusal("module a { module msg { struct B : C { long x; }; }; };").find("expected '{', found ':'") != std::string::npos);
  CHECK(idl_refusal("}").find("'}' closes nothing") != std::string::npos);
  CHECK(idl_refusal(in_modules("B b;")).find("a type that holds itself") != std::string::npos);
  const std::string whole = in_modules("@verbatim (text=\"x\") sequence<long, 3> x; string<4> y[2];", "typedef long t[2];");
  CHECK(idl_refusal(whole) == "read");
  for (std::size_t size = 0; size + 4 < whole.size(); ++size) CHECK(idl_refusal(whole.substr(0, size)) != "read");
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "module a { ";
  CHECK(idl_refusal(deep).find("more than 8 modules deep") != std::string::npos);
}

}  // namespace pitwall::ros_messages

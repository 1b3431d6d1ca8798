// SPDX-License-Identifier: Apache-2.0
#include "core/node.hpp"

#include <doctest/doctest.h>

#include "tests/support/same_tree.hpp"

using namespace pitwall;

namespace {

std::string parse_error_of(std::string_view text) {
  const Result<Node> node = parse_yaml(text, "f.yaml");
  return node ? "" : node.error().message;
}

}  // namespace

TEST_CASE("a document becomes a tree in the order of the file, with lines") {
  const Result<Node> node = parse_yaml("b: 1\na:\n  - x\n  - [y, z]\nc:\n  d: ~\n", "f.yaml");
  REQUIRE(node.ok());
  REQUIRE(node->is_map());
  CHECK(node->entries[0].first == "b");
  CHECK(node->entries[1].first == "a");
  CHECK(node->find("b")->where() == "f.yaml:1");
  CHECK(node->find("a")->where() == "f.yaml:2");
  CHECK(node->find("a")->items[0].where() == "f.yaml:3");
  CHECK(node->find("a")->items[1].items[1].scalar == "z");
  CHECK(node->find("c")->find("d")->is_null());
  CHECK(node->find("c")->find("d")->where() == "f.yaml:6");
  CHECK(node->find("nothing") == nullptr);
}

TEST_CASE("a key that appears twice is refused with its line") {
  CHECK(parse_error_of("a: 1\nb: 2\na: 3\n") == "f.yaml:3: key 'a' appears twice");
}

TEST_CASE("what is no single YAML document is refused") {
  CHECK(parse_error_of("") == "f.yaml: is empty");
  CHECK(parse_error_of("a: 1\n---\nb: 2\n") == "f.yaml:2: a second YAML document, or a bracket too many; one document is expected");
  CHECK(parse_error_of("a: [1, 2\nb: 3\n").starts_with("f.yaml:"));
  // yaml-cpp's own loader never ends on this one.
  CHECK(parse_error_of("a: 1\nb.5, 0.0]\nc: 2\n").starts_with("f.yaml:"));
  CHECK(parse_error_of("[a, b]: 1\n") == "f.yaml:1: a key must be plain text, or a bracket is not closed");
}

TEST_CASE("bytes that are not UTF-8 are refused with their line") {
  CHECK(parse_error_of("a: 1\nb: \xff\n") == "f.yaml:2: holds a byte that is not UTF-8 text");
  CHECK(parse_error_of(std::string_view("a: \0", 4)) == "f.yaml:1: holds a byte that is not UTF-8 text");
  CHECK_FALSE(parse_error_of("a: \xc0\xaf").empty());      // overlong
  CHECK_FALSE(parse_error_of("a: \xed\xa0\x80").empty());  // surrogate
  CHECK_FALSE(parse_error_of("a: \xf4\x90\x80\x80").empty());
  CHECK_FALSE(parse_error_of("a: \xe2\x82").empty());
  for (const std::string escape : {"\\N", "\\_", "\\0", "\\x00", "\\ud800"}) {
    CAPTURE(escape);
    CHECK_FALSE(parse_error_of("a: \"" + escape + "\"").empty());
  }
  CHECK(parse_error_of("a: \xe2\x82\xac \xf0\x9f\x8f\x8e").empty());
}

TEST_CASE("anchors that recur or multiply are refused, plain ones are copied") {
  CHECK(parse_error_of("a: &x [*x]\n") == "f.yaml:1: an anchor that holds itself");
  std::string tower = "a0: &a0 [1]\n";
  for (int k = 1; k < 70; ++k) tower += "a" + std::to_string(k) + ": &a" + std::to_string(k) + " [*a" + std::to_string(k - 1) + "]\n";
  CHECK(parse_error_of(tower).find("nested deeper than 64") != std::string::npos);
  std::string bomb = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int k = 1; k < 8; ++k) {
    const std::string below = "*a" + std::to_string(k - 1);
    bomb += "a" + std::to_string(k) + ": &a" + std::to_string(k) + " [" + below;
    for (int i = 1; i < 10; ++i) bomb += ", " + below;
    bomb += "]\n";
  }
  CHECK(parse_error_of(bomb).find("stands for more than 100000 values") != std::string::npos);
  const Result<Node> node = parse_yaml("a: &x {v: 1}\nb: *x\n", "f.yaml");
  REQUIRE(node.ok());
  CHECK(node->find("b")->find("v")->scalar == "1");
}

TEST_CASE("nesting beyond 64 is refused, 64 is not") {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  CHECK(parse_error_of(nested(64)).empty());
  CHECK(parse_error_of(nested(66)).find("nested deeper than 64") != std::string::npos);
  CHECK_FALSE(parse_error_of(nested(5000)).empty());
}

TEST_CASE("what is written reads back to the same tree") {
  Node root = Node::map();
  for (const std::string text :
       {"",       "~",          "null",  "true", "1.5", "-",   "- a", "a: b", "#no", "'", "\"", "\\", " lead",
        "trail ", "two\nlines", "\ttab", "\r",   "{",   "]",   "*a",  "&a",   "!t",  "%", "@",  "`",  "\xe2\x82\xac",
        "---",    "...",        "\x01",  "<<",   "?",   "? x", "k:",  "a #b", "\n"}) {
    root.set("key " + text, Node(text));
  }
  root.set("list", Node::list({Node("a"), Node(), Node::list({Node("b"), Node("c")}), Node::map(), Node::list()}));
  root.set("empty", Node::map());
  root.set("nothing", Node());
  const Result<Node> back = parse_yaml(to_yaml(root), "back.yaml");
  REQUIRE(back.ok());
  REQUIRE(back->entries.size() == root.entries.size());
  for (std::size_t i = 0; i < root.entries.size(); ++i) {
    CAPTURE(root.entries[i].first);
    CHECK(back->entries[i].first == root.entries[i].first);
    CHECK(same_tree(back->entries[i].second, root.entries[i].second));
  }
  for (const Node& alone : {Node("x"), Node(""), Node(), Node::list(), Node::map()}) {
    const Result<Node> one = parse_yaml(to_yaml(alone), "one.yaml");
    REQUIRE(one.ok());
    CHECK(same_tree(*one, alone));
  }
}

TEST_CASE("--set reaches into groups and lists, makes what is missing, and says where its value came from") {
  Result<Node> parsed = parse_yaml("a: {b: 1, c: 2}\ncars: [{v: 1}, {v: 2}]\nlater:\n", "f.yaml");
  REQUIRE(parsed.ok());
  Node root = *parsed;
  REQUIRE(set_by_path(root, "a.b=7").ok());
  REQUIRE(set_by_path(root, "cars.1.v = 3").ok());
  REQUIRE(set_by_path(root, "later.x.y=[1, 2]").ok());
  REQUIRE(set_by_path(root, "text=a=b").ok());
  REQUIRE(set_by_path(root, "a.c=").ok());
  CHECK(root.find("a")->find("b")->scalar == "7");
  CHECK(root.find("a")->find("b")->where() == "--set a.b=7");
  CHECK(root.find("a")->find("c")->is_null());
  CHECK(root.find("cars")->items[0].find("v")->scalar == "1");
  CHECK(root.find("cars")->items[1].find("v")->scalar == "3");
  CHECK(root.find("later")->find("x")->find("y")->items[1].scalar == "2");
  CHECK(root.find("later")->find("x")->find("y")->items[1].where() == "--set later.x.y=[1, 2]");
  CHECK(root.find("text")->scalar == "a=b");
  Node empty;
  REQUIRE(set_by_path(empty, "a=1").ok());
  CHECK(empty.find("a")->scalar == "1");
}

TEST_CASE("a --set that cannot be meant is refused and named") {
  Node root = parse_yaml("a: 1\ncars: [x]\n", "f.yaml").value();
  const auto message = [&root](std::string_view assignment) {
    const Status status = set_by_path(root, assignment);
    return status ? std::string() : status.error().message;
  };
  for (const std::string wrong : {"", "a", "=1", "a..b=1", ".a=1", "a.=1"}) {
    CAPTURE(wrong);
    CHECK(message(wrong) == "--set " + wrong + ": expected key=value, for example pure_pursuit.max_speed=3");
  }
  CHECK(message("a.b=1") == "--set a.b=1: 'a' is not a group of keys");
  CHECK(message("cars.1=1") == "--set cars.1=1: 'cars' is a list of 1; '1' is none of its places 0, 1, ...");
  CHECK(message("cars.x=1").find("is none of its places") != std::string::npos);
  CHECK(message("a=[1").starts_with("--set a=[1:1: "));
}

TEST_CASE("a value that code made does not claim a file") { CHECK(Node("x").where() == "(in code)"); }

// SPDX-License-Identifier: Apache-2.0
#include "core/node.hpp"

#include <doctest/doctest.h>

using namespace pitwall;

namespace {

std::string error_of(std::string_view text) {
  const Result<Node> node = parse_yaml(text, "f.yaml");
  return node ? "" : node.error().message;
}

bool same_tree(const Node& a, const Node& b) {
  if (a.kind != b.kind || a.scalar != b.scalar || a.items.size() != b.items.size() || a.entries.size() != b.entries.size()) return false;
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    if (!same_tree(a.items[i], b.items[i])) return false;
  }
  for (std::size_t i = 0; i < a.entries.size(); ++i) {
    if (a.entries[i].first != b.entries[i].first || !same_tree(a.entries[i].second, b.entries[i].second)) return false;
  }
  return true;
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
  CHECK(error_of("a: 1\nb: 2\na: 3\n") == "f.yaml:3: key 'a' appears twice");
}

TEST_CASE("what is no single YAML document is refused") {
  CHECK(error_of("") == "f.yaml: is empty");
  CHECK(error_of("a: 1\n---\nb: 2\n") == "f.yaml: holds several YAML documents; one is expected");
  CHECK(error_of("a: [1, 2\nb: 3\n").starts_with("f.yaml:"));
  CHECK(error_of("[a, b]: 1\n") == "f.yaml:1: a key must be plain text");
}

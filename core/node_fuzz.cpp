// SPDX-License-Identifier: Apache-2.0
// Any bytes are a tree or an error; a tree written and read again is the same tree.
#include <cstdint>
#include <string_view>

#include "core/check.hpp"
#include "core/node.hpp"

namespace {

using pitwall::Node;

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

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto node = pitwall::parse_yaml(text, "fuzz");
  if (node) {
    const std::string written = pitwall::to_yaml(*node);
    const auto again = pitwall::parse_yaml(written, "again");
    PITWALL_CHECK(again.ok(), again.error().message, written);
    PITWALL_CHECK(same_tree(*node, *again), written);
  }
  Node root = Node::map();
  (void)pitwall::set_by_path(root, text);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Any bytes are a tree or an error; a tree written and read again is the same tree.
#include <cstdint>
#include <string_view>

#include "core/check.hpp"
#include "core/node.hpp"
#include "tests/support/same_tree.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto node = pitwall::parse_yaml(text, "fuzz");
  if (node) {
    const std::string written = pitwall::to_yaml(*node);
    const auto again = pitwall::parse_yaml(written, "again");
    PITWALL_CHECK(again.ok(), again.error().message, written);
    PITWALL_CHECK(pitwall::same_tree(*node, *again), written);
  }
  pitwall::Node root = pitwall::Node::map();
  (void)pitwall::set_by_path(root, text);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Whether two YAML trees hold the same, whatever lines they stood on. For tests.
#pragma once

#include "core/node.hpp"

namespace pitwall {

inline bool same_tree(const Node& a, const Node& b) {
  if (a.kind != b.kind || a.scalar != b.scalar || a.items.size() != b.items.size() || a.entries.size() != b.entries.size()) return false;
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    if (!same_tree(a.items[i], b.items[i])) return false;
  }
  for (std::size_t i = 0; i < a.entries.size(); ++i) {
    if (a.entries[i].first != b.entries[i].first || !same_tree(a.entries[i].second, b.entries[i].second)) return false;
  }
  return true;
}

}  // namespace pitwall

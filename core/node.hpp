// SPDX-License-Identifier: Apache-2.0
// A parsed YAML document as a plain tree that remembers where each value stood, so that every complaint can name file
// and line. yaml-cpp stays behind node.cpp.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.hpp"

namespace pitwall {

/// One value of a document: nothing, a scalar (as written), a list, or a map in the order of the file.
struct Node {
  enum class Kind { kNull, kScalar, kList, kMap };

  Kind kind = Kind::kNull;
  std::string scalar;
  std::vector<Node> items;                            ///< list
  std::vector<std::pair<std::string, Node>> entries;  ///< map; keys are unique
  int line = 0;                                       ///< 1-based; 0 where the value was not read from a file
  std::shared_ptr<const std::string> file;            ///< null where the value was not read from a file

  Node() = default;
  explicit Node(std::string text) : kind(Kind::kScalar), scalar(std::move(text)) {}
  static Node map();
  static Node list(std::vector<Node> items = {});

  [[nodiscard]] bool is_map() const { return kind == Kind::kMap; }
  [[nodiscard]] bool is_list() const { return kind == Kind::kList; }
  [[nodiscard]] bool is_scalar() const { return kind == Kind::kScalar; }
  [[nodiscard]] bool is_null() const { return kind == Kind::kNull; }

  /// The entry of that key, or null where there is none (or this is no map).
  [[nodiscard]] const Node* find(std::string_view key) const;
  [[nodiscard]] Node* find(std::string_view key);
  /// Sets or replaces an entry of a map (of nothing else).
  void set(std::string key, Node value);
  /// "file:line" for messages; "--set a.b=1" for a value from the command line, "(in code)" for one made by code.
  [[nodiscard]] std::string where() const;
};

/// Parses YAML text; `name` stands for the file in messages. Refused: duplicate keys, keys that are no text, several
/// documents, none, bytes that are not UTF-8, nesting beyond 64, anchors that hold themselves, aliases that multiply
/// beyond 10^5 values.
Result<Node> parse_yaml(std::string_view text, const std::string& name);
/// Reads and parses a YAML file.
Result<Node> load_yaml(const std::filesystem::path& path);
/// The tree as YAML text that parse_yaml reads back to the same tree.
std::string to_yaml(const Node& node);

/// Sets `a.b.c` from a "key=value" pair of the command line; missing maps on the way are made, a number is a place in a
/// list that is there. The value is YAML; an empty one is null.
Status set_by_path(Node& root, std::string_view assignment);

/// `over` on `under`, group by group.
void lay_over(const Node& over, Node& under);

}  // namespace pitwall

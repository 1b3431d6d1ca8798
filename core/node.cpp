// SPDX-License-Identifier: Apache-2.0
#include "core/node.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <exception>
#include <map>
#include <sstream>

#include "core/check.hpp"
#include "core/files.hpp"
#include "core/text.hpp"

namespace pitwall {
namespace {

constexpr std::size_t kMaxDepth = 64;
// Aliases of aliases multiply: ten lines of text can stand for 10^9 values.
constexpr std::size_t kMaxNodes = 100'000;

struct Trouble {
  std::string message;
};

/// Length of the UTF-8 sequence at `at`, or 0 where there is none (overlong forms, surrogates, NUL included).
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(text[at + i])); };
  const unsigned first = byte(0);
  if (first == 0) return 0;
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || at + length > text.size()) return 0;
  unsigned code = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3F);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return overlong || surrogate || code > 0x10FFFF ? 0 : length;
}

/// The line of the first byte that is no text, or 0.
int line_of_garbage(std::string_view text) {
  int line = 1;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (length == 0) return line;
    if (text[at] == '\n') ++line;
    at += length;
  }
  return 0;
}

/// Builds the tree from the parser's events. (yaml-cpp's own loader runs out of memory on a stray bracket, and follows
/// aliases without end.)
class Builder final : public YAML::EventHandler {
 public:
  explicit Builder(std::shared_ptr<const std::string> file) : file_(std::move(file)) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (done_) throw Trouble{where(mark) + ": a second YAML document, or a bracket too many; one document is expected"};
  }
  void OnDocumentEnd() override { done_ = true; }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { leaf(mark, anchor, Node()); }
  void OnScalar(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor, const std::string& value) override {
    // yaml-cpp turns "\N" and "\_" into single bytes.
    if (line_of_garbage(value) != 0) throw Trouble{where(mark) + ": an escape that stands for no UTF-8 text"};
    leaf(mark, anchor, Node(value));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchored_.find(anchor);
    if (found == anchored_.end()) throw Trouble{where(mark) + ": an anchor that holds itself"};
    count(mark, found->second, open_.size());
    add(mark, found->second);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(mark, anchor, Node::list());
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor, YAML::EmitterStyle::value /*style*/) override {
    open(mark, anchor, Node::map());
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

  [[nodiscard]] bool done() const { return done_; }
  Node take() { return std::move(root_); }

 private:
  /// A list or map whose end has not come.
  struct Open {
    Node node;
    YAML::anchor_t anchor;
    YAML::Mark mark;
    bool has_key = false;
    std::string key;
    int key_line = 0;
  };

  [[nodiscard]] std::string where(const YAML::Mark& mark) const { return *file_ + ":" + std::to_string(mark.line + 1); }

  [[nodiscard]] bool at_key() const { return !open_.empty() && open_.back().node.is_map() && !open_.back().has_key; }

  void leaf(const YAML::Mark& mark, YAML::anchor_t anchor, Node node) {
    node.file = file_;
    node.line = mark.line + 1;
    if (anchor != YAML::NullAnchor) anchored_[anchor] = node;
    add(mark, std::move(node));
  }

  void open(const YAML::Mark& mark, YAML::anchor_t anchor, Node node) {
    if (at_key()) throw Trouble{where(mark) + ": a key must be plain text, or a bracket is not closed"};
    if (open_.size() > kMaxDepth) throw Trouble{where(mark) + ": nested deeper than " + std::to_string(kMaxDepth) + " levels"};
    node.file = file_;
    node.line = mark.line + 1;
    open_.push_back({std::move(node), anchor, mark, false, {}, 0});
  }

  void close() {
    Open closed = std::move(open_.back());
    open_.pop_back();
    if (closed.anchor != YAML::NullAnchor) anchored_[closed.anchor] = closed.node;
    add(closed.mark, std::move(closed.node));
  }

  /// Puts a complete value where it belongs.
  void add(const YAML::Mark& mark, Node node) {
    count_one(mark);
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.is_list()) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.has_key) {
      if (!node.is_scalar()) throw Trouble{where(mark) + ": a key must be plain text, or a bracket is not closed"};
      if (parent.node.find(node.scalar) != nullptr) throw Trouble{where(mark) + ": key '" + node.scalar + "' appears twice"};
      parent.has_key = true;
      parent.key = std::move(node.scalar);
      parent.key_line = mark.line + 1;
    } else {
      parent.has_key = false;
      node.line = parent.key_line;
      parent.node.entries.emplace_back(std::move(parent.key), std::move(node));
    }
  }

  void count_one(const YAML::Mark& mark) {
    if (++count_ > kMaxNodes) throw Trouble{where(mark) + ": stands for more than " + std::to_string(kMaxNodes) + " values"};
  }

  /// What an alias brings along, before it is copied.
  void count(const YAML::Mark& mark, const Node& node, std::size_t depth) {
    const bool nests = node.is_list() || node.is_map();
    if (nests && depth > kMaxDepth) throw Trouble{where(mark) + ": nested deeper than " + std::to_string(kMaxDepth) + " levels"};
    count_one(mark);
    for (const Node& item : node.items) count(mark, item, depth + 1);
    for (const auto& [key, value] : node.entries) count(mark, value, depth + 1);
  }

  std::shared_ptr<const std::string> file_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Node> anchored_;
  Node root_;
  bool done_ = false;
  std::size_t count_ = 0;
};

void emit_text(YAML::Emitter& out, const std::string& text) {
  // yaml-cpp would write a carriage return bare, which reads back as a line end.
  if (text.find('\r') != std::string::npos) out << YAML::DoubleQuoted;
  out << text;
}

void emit(YAML::Emitter& out, const Node& node) {
  switch (node.kind) {
    case Node::Kind::kNull:
      out << YAML::Null;
      break;
    case Node::Kind::kScalar:
      emit_text(out, node.scalar);
      break;
    case Node::Kind::kList: {
      const bool flat = std::all_of(node.items.begin(), node.items.end(), [](const Node& item) { return item.is_scalar(); });
      if (flat) out << YAML::Flow;
      out << YAML::BeginSeq;
      for (const Node& item : node.items) emit(out, item);
      out << YAML::EndSeq;
      break;
    }
    case Node::Kind::kMap:
      out << YAML::BeginMap;
      for (const auto& [key, value] : node.entries) {
        out << YAML::Key;
        emit_text(out, key);
        out << YAML::Value;
        emit(out, value);
      }
      out << YAML::EndMap;
      break;
  }
}

void set_origin(Node& node, const std::shared_ptr<const std::string>& origin) {
  node.file = origin;
  node.line = 0;
  for (Node& item : node.items) set_origin(item, origin);
  for (auto& [key, value] : node.entries) set_origin(value, origin);
}

}  // namespace

Node Node::map() {
  Node node;
  node.kind = Kind::kMap;
  return node;
}

Node Node::list(std::vector<Node> items) {
  Node node;
  node.kind = Kind::kList;
  node.items = std::move(items);
  return node;
}

const Node* Node::find(std::string_view key) const {
  for (const auto& [name, value] : entries) {
    if (name == key) return &value;
  }
  return nullptr;
}

Node* Node::find(std::string_view key) { return const_cast<Node*>(static_cast<const Node*>(this)->find(key)); }

void Node::set(std::string key, Node value) {
  PITWALL_CHECK(is_map(), key);
  if (Node* present = find(key)) {
    *present = std::move(value);
  } else {
    entries.emplace_back(std::move(key), std::move(value));
  }
}

std::string Node::where() const {
  if (!file) return "(in code)";
  return line > 0 ? *file + ":" + std::to_string(line) : *file;
}

Result<Node> parse_yaml(std::string_view text, const std::string& name) {
  if (const int line = line_of_garbage(text)) return Error{name + ":" + std::to_string(line) + ": holds a byte that is not UTF-8 text"};
  const auto file = std::make_shared<const std::string>(name);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    Builder builder(file);
    while (parser.HandleNextDocument(builder)) {
    }
    if (!builder.done()) return Error{name + ": is empty"};
    return builder.take();
  } catch (const YAML::Exception& error) {
    const std::string where = error.mark.is_null() ? name : name + ":" + std::to_string(error.mark.line + 1);
    return Error{where + ": not valid YAML: " + error.msg};
  } catch (const Trouble& trouble) {
    return Error{trouble.message};
  } catch (const std::exception& error) {
    return Error{name + ": cannot be read as YAML: " + error.what()};
  }
}

Result<Node> load_yaml(const std::filesystem::path& path) {
  const Result<std::string> text = read_file(path);
  if (!text) return text.error();
  return parse_yaml(*text, path.string());
}

std::string to_yaml(const Node& node) {
  YAML::Emitter out;
  emit(out, node);
  return std::string(out.c_str()) + "\n";
}

Status set_by_path(Node& root, std::string_view assignment) {
  const std::string option = "--set " + std::string(assignment);
  const std::size_t equals = assignment.find('=');
  const auto keys = split(assignment.substr(0, equals), '.');
  if (equals == std::string_view::npos || std::find(keys.begin(), keys.end(), "") != keys.end()) {
    return Error{option + ": expected key=value, for example pure_pursuit.max_speed=3"};
  }
  Node value;
  if (const std::string_view text = trim(assignment.substr(equals + 1)); !text.empty()) {
    Result<Node> parsed = parse_yaml(text, option);
    if (!parsed) return parsed.error();
    value = *std::move(parsed);
  }
  set_origin(value, std::make_shared<const std::string>(option));
  Node* at = &root;
  std::string so_far = "the document";
  for (const std::string_view key : keys) {
    if (at->is_null()) at->kind = Node::Kind::kMap;
    if (at->is_list()) {
      const auto index = parse_int(key);
      if (!index || *index < 0 || static_cast<std::size_t>(*index) >= at->items.size()) {
        return Error{option + ": '" + so_far + "' is a list of " + std::to_string(at->items.size()) + "; '" + std::string(key) +
                     "' is none of its places 0, 1, ..."};
      }
      at = &at->items[static_cast<std::size_t>(*index)];
    } else if (at->is_map()) {
      if (at->find(key) == nullptr) at->set(std::string(key), Node());
      at = at->find(key);
    } else {
      return Error{option + ": '" + so_far + "' is not a group of keys"};
    }
    so_far = key;
  }
  *at = std::move(value);
  return {};
}

void lay_over(const Node& over, Node& under) {
  if (!under.is_map()) under = Node::map();
  for (const auto& [key, value] : over.entries) {
    Node* below = under.find(key);
    if (value.is_map() && below != nullptr) {
      lay_over(value, *below);
    } else {
      under.set(key, value);
    }
  }
}

}  // namespace pitwall

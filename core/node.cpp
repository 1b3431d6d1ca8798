// SPDX-License-Identifier: Apache-2.0
#include "core/node.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>

#include "core/files.hpp"
#include "core/text.hpp"

namespace pitwall {
namespace {

constexpr int kMaxDepth = 64;

struct Trouble {
  std::string message;
};

Node convert(const YAML::Node& from, const std::shared_ptr<const std::string>& file, int depth) {
  Node to;
  to.file = file;
  to.line = from.Mark().line + 1;
  if (depth > kMaxDepth) throw Trouble{to.where() + ": nested deeper than " + std::to_string(kMaxDepth) + " levels"};
  switch (from.Type()) {
    case YAML::NodeType::Undefined:
    case YAML::NodeType::Null:
      break;
    case YAML::NodeType::Scalar:
      to.kind = Node::Kind::kScalar;
      to.scalar = from.Scalar();
      break;
    case YAML::NodeType::Sequence:
      to.kind = Node::Kind::kList;
      for (const auto& item : from) to.items.push_back(convert(item, file, depth + 1));
      break;
    case YAML::NodeType::Map:
      to.kind = Node::Kind::kMap;
      for (const auto& entry : from) {
        const std::string where = *file + ":" + std::to_string(entry.first.Mark().line + 1);
        if (!entry.first.IsScalar()) throw Trouble{where + ": a key must be plain text"};
        const std::string& key = entry.first.Scalar();
        if (to.find(key) != nullptr) throw Trouble{where + ": key '" + key + "' appears twice"};
        to.entries.emplace_back(key, convert(entry.second, file, depth + 1));
        to.entries.back().second.line = entry.first.Mark().line + 1;
      }
      break;
  }
  return to;
}

void emit(YAML::Emitter& out, const Node& node) {
  switch (node.kind) {
    case Node::Kind::kNull:
      out << YAML::Null;
      break;
    case Node::Kind::kScalar:
      out << node.scalar;
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
        out << YAML::Key << key << YAML::Value;
        emit(out, value);
      }
      out << YAML::EndMap;
      break;
  }
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
  if (Node* present = find(key)) {
    *present = std::move(value);
  } else {
    entries.emplace_back(std::move(key), std::move(value));
  }
}

std::string Node::where() const { return file ? *file + ":" + std::to_string(line) : "(command line)"; }

Result<Node> parse_yaml(std::string_view text, const std::string& name) {
  const auto file = std::make_shared<const std::string>(name);
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(std::string(text));
    if (documents.size() > 1) return Error{name + ": holds several YAML documents; one is expected"};
    if (documents.empty()) return Error{name + ": is empty"};
    return convert(documents.front(), file, 0);
  } catch (const YAML::Exception& error) {
    return Error{name + ":" + std::to_string(error.mark.line + 1) + ": not valid YAML: " + error.msg};
  } catch (const Trouble& trouble) {
    return Error{trouble.message};
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
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return Error{"--set '" + std::string(assignment) + "': expected key=value, for example pure_pursuit.max_speed=3"};
  }
  Result<Node> value = parse_yaml(assignment.substr(equals + 1), "--set " + std::string(assignment));
  if (!value) return value.error();
  value->file.reset();
  Node* at = &root;
  const auto keys = split(assignment.substr(0, equals), '.');
  for (std::size_t i = 0; i + 1 < keys.size(); ++i) {
    Node* next = at->find(keys[i]);
    if (next == nullptr) {
      at->set(std::string(keys[i]), Node::map());
      next = at->find(keys[i]);
    }
    if (!next->is_map()) return Error{"--set '" + std::string(assignment) + "': '" + std::string(keys[i]) + "' is not a group of keys"};
    at = next;
  }
  at->set(std::string(keys.back()), *std::move(value));
  return {};
}

}  // namespace pitwall

// SPDX-License-Identifier: Apache-2.0
#include "core/fields.hpp"

#include <cmath>

#include "core/check.hpp"
#include "core/text.hpp"

namespace pitwall::detail {
namespace {

bool bounded_below(const FieldInfo& info) { return info.min > -std::numeric_limits<double>::max(); }
bool bounded_above(const FieldInfo& info) { return info.max < std::numeric_limits<double>::max(); }

/// As people write it where that is the very bound, else with all digits.
std::string bound_text(double bound) {
  const std::string text = format_number(bound, 6);
  return parse_double(text) == bound ? text : format_exact(bound);
}

std::string range_text(const FieldInfo& info) {
  if (!bounded_below(info) && !bounded_above(info)) return "";
  const std::string low = bounded_below(info) ? bound_text(info.min) : "";
  const std::string high = bounded_above(info) ? bound_text(info.max) : "";
  return low + " .. " + high;
}

std::string allowed_text(const FieldInfo& info) {
  const std::string range = range_text(info);
  std::string text = range.empty() ? "a finite number" : "allowed: " + range;
  if (!info.unit.empty()) text += " " + std::string(info.unit);
  return text;
}

bool in_range(double value, const FieldInfo& info) { return std::isfinite(value) && value >= info.min && value <= info.max; }

std::vector<std::string> to_strings(std::span<const std::string_view> names) { return {names.begin(), names.end()}; }

std::string choice_name(std::string_view field, int index, std::span<const std::string_view> names) {
  PITWALL_CHECK(index >= 0 && static_cast<std::size_t>(index) < names.size(), field, index);
  return std::string(names[static_cast<std::size_t>(index)]);
}

/// Reads the fields that a map holds, keeps the first complaint, and knows afterwards which keys nobody asked for.
class Loader final : public FieldVisitor {
 public:
  Loader(const Node& node, std::string what) : node_(node), what_(std::move(what)) {
    if (!node.is_map() && !node.is_null()) complain(node.where() + ": '" + what_ + "' must be a group of keys");
  }

  void number(std::string_view name, double& value, const FieldInfo& info) override {
    const Node* found = take(name);
    if (found == nullptr) return;
    const auto parsed = found->is_scalar() ? parse_double(found->scalar) : std::nullopt;
    if (!parsed || !in_range(*parsed, info)) return complain_value(*found, name, allowed_text(info));
    value = *parsed;
  }
  void integer(std::string_view name, std::int64_t& value, const FieldInfo& info) override {
    const Node* found = take(name);
    if (found == nullptr) return;
    const auto parsed = found->is_scalar() ? parse_int(found->scalar) : std::nullopt;
    if (!parsed || !in_range(static_cast<double>(*parsed), info)) {
      return complain_value(*found, name,
                            bounded_below(info) || bounded_above(info) ? "a whole number, " + allowed_text(info) : "a whole number");
    }
    value = *parsed;
  }
  void flag(std::string_view name, bool& value, std::string_view /*doc*/) override {
    const Node* found = take(name);
    if (found == nullptr) return;
    if (found->is_scalar() && found->scalar == "true") {
      value = true;
    } else if (found->is_scalar() && found->scalar == "false") {
      value = false;
    } else {
      complain_value(*found, name, "allowed: true, false");
    }
  }
  void text(std::string_view name, std::string& value, std::string_view /*doc*/) override {
    const Node* found = take(name);
    if (found == nullptr) return;
    if (found->is_null()) {
      value.clear();
    } else if (found->is_scalar()) {
      value = found->scalar;
    } else {
      complain_value(*found, name, "a text");
    }
  }
  void choice(std::string_view name, int& index, std::span<const std::string_view> names, std::string_view /*doc*/) override {
    const Node* found = take(name);
    if (found == nullptr) return;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (found->is_scalar() && found->scalar == names[i]) {
        index = static_cast<int>(i);
        return;
      }
    }
    const std::vector<std::string> allowed = to_strings(names);
    std::string hint = "allowed: " + join(allowed);
    if (const auto nearest = nearest_name(found->scalar, allowed)) hint += "; did you mean '" + *nearest + "'?";
    complain_value(*found, name, hint);
  }
  void subtree(std::string_view name, Node& value, std::string_view /*doc*/) override {
    if (const Node* found = take(name)) value = *found;
  }
  void group(std::string_view name, const std::function<void(FieldVisitor&)>& visit_group) override {
    const Node* found = take(name);
    static const Node kNothing;
    Loader inner(found == nullptr ? kNothing : *found, what_ + "." + std::string(name));
    visit_group(inner);
    const Status status = inner.finish();
    if (!status) complain(status.error().message);
  }

  Status finish() {
    for (const auto& [key, value] : node_.entries) {
      bool asked = false;
      for (const std::string& name : names_) asked = asked || name == key;
      if (!asked) complain(value.where() + ": " + unknown_name("key", what_ + "." + key, qualified()));
    }
    if (!first_.empty()) return Error{first_};
    return {};
  }

 private:
  const Node* take(std::string_view name) {
    names_.emplace_back(name);
    return node_.find(name);
  }
  void complain(const std::string& message) {
    if (first_.empty()) first_ = message;
  }
  void complain_value(const Node& found, std::string_view name, const std::string& hint) {
    const std::string value = found.is_scalar() ? found.scalar : found.is_null() ? "null" : found.is_list() ? "a list" : "a group";
    complain(found.where() + ": " + what_ + "." + std::string(name) + " = " + value + ": " + hint);
  }
  [[nodiscard]] std::vector<std::string> qualified() const {
    std::vector<std::string> names;
    for (const std::string& name : names_) names.push_back(what_ + "." + name);
    return names;
  }

  const Node& node_;
  std::string what_;
  std::vector<std::string> names_;
  std::string first_;
};

class Saver final : public FieldVisitor {
 public:
  void number(std::string_view name, double& value, const FieldInfo& /*info*/) override { put(name, format_exact(value)); }
  void integer(std::string_view name, std::int64_t& value, const FieldInfo& /*info*/) override { put(name, std::to_string(value)); }
  void flag(std::string_view name, bool& value, std::string_view /*doc*/) override { put(name, value ? "true" : "false"); }
  void text(std::string_view name, std::string& value, std::string_view /*doc*/) override { put(name, value); }
  void choice(std::string_view name, int& index, std::span<const std::string_view> names, std::string_view /*doc*/) override {
    put(name, choice_name(name, index, names));
  }
  void subtree(std::string_view name, Node& value, std::string_view /*doc*/) override { node.set(std::string(name), value); }
  void group(std::string_view name, const std::function<void(FieldVisitor&)>& visit_group) override {
    Saver inner;
    visit_group(inner);
    node.set(std::string(name), std::move(inner.node));
  }

  Node node = Node::map();

 private:
  void put(std::string_view name, std::string value) { node.set(std::string(name), Node(std::move(value))); }
};

class Describer final : public FieldVisitor {
 public:
  explicit Describer(std::string prefix = "") : prefix_(std::move(prefix)) {}

  void number(std::string_view name, double& value, const FieldInfo& info) override {
    rows.push_back({prefix_ + std::string(name), format_exact(value), std::string(info.unit), range_text(info), std::string(info.doc)});
  }
  void integer(std::string_view name, std::int64_t& value, const FieldInfo& info) override {
    rows.push_back({prefix_ + std::string(name), std::to_string(value), std::string(info.unit), range_text(info), std::string(info.doc)});
  }
  void flag(std::string_view name, bool& value, std::string_view doc) override {
    rows.push_back({prefix_ + std::string(name), value ? "true" : "false", "", "true | false", std::string(doc)});
  }
  void text(std::string_view name, std::string& value, std::string_view doc) override {
    rows.push_back({prefix_ + std::string(name), value, "", "", std::string(doc)});
  }
  void choice(std::string_view name, int& index, std::span<const std::string_view> names, std::string_view doc) override {
    rows.push_back({prefix_ + std::string(name), choice_name(name, index, names), "", join(to_strings(names), " | "), std::string(doc)});
  }
  void subtree(std::string_view name, Node& /*value*/, std::string_view doc) override {
    rows.push_back({prefix_ + std::string(name), "", "", "", std::string(doc)});
  }
  void group(std::string_view name, const std::function<void(FieldVisitor&)>& visit_group) override {
    Describer inner(prefix_ + std::string(name) + ".");
    visit_group(inner);
    rows.insert(rows.end(), inner.rows.begin(), inner.rows.end());
  }

  std::vector<FieldDescription> rows;

 private:
  std::string prefix_;
};

}  // namespace

Status load_fields(const Node& node, std::string_view what, const VisitFields& visit) {
  Loader loader(node, std::string(what));
  visit(loader);
  return loader.finish();
}

Node save_fields(const VisitFields& visit) {
  Saver saver;
  visit(saver);
  return std::move(saver.node);
}

Status check_fields(std::string_view what, const VisitFields& visit) {
  // Saving and loading again applies the very checks a file goes through.
  return load_fields(save_fields(visit), what, visit);
}

std::vector<FieldDescription> describe_fields(const VisitFields& visit) {
  Describer describer;
  visit(describer);
  return std::move(describer.rows);
}

}  // namespace pitwall::detail

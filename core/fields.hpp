// SPDX-License-Identifier: Apache-2.0
// Parameters are structs that list their fields once:
//
//   struct Lookahead {
//     double gain_s = 0.15;
//     void fields(FieldVisitor& f) { f.number("gain_s", gain_s, {"s", 0.0, 0.6, "lookahead per speed"}); }
//   };
//
// and from that list come strict YAML load, save, validation with ranges, --print-config, the documentation table and
// the hash in a recording.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/node.hpp"
#include "core/result.hpp"

namespace pitwall {

/// What a field means and may be: unit, allowed closed range, one sentence.
struct FieldInfo {
  std::string_view unit = {};
  double min = -std::numeric_limits<double>::max();
  double max = std::numeric_limits<double>::max();
  std::string_view doc = {};
};

/// Sees each field of a struct once, in order. Implementations load, save, describe.
class FieldVisitor {
 public:
  virtual ~FieldVisitor() = default;
  /// A finite number within [info.min, info.max].
  virtual void number(std::string_view name, double& value, const FieldInfo& info) = 0;
  virtual void integer(std::string_view name, std::int64_t& value, const FieldInfo& info) = 0;
  virtual void flag(std::string_view name, bool& value, std::string_view doc) = 0;
  virtual void text(std::string_view name, std::string& value, std::string_view doc) = 0;
  /// One of `names`; `index` is its place.
  virtual void choice(std::string_view name, int& index, std::span<const std::string_view> names, std::string_view doc) = 0;
  /// Any value, kept as it stands: a group whose keys another reader knows.
  virtual void subtree(std::string_view name, Node& value, std::string_view doc) = 0;
  /// A nested group: `visit_group` visits its fields with the visitor it is given.
  virtual void group(std::string_view name, const std::function<void(FieldVisitor&)>& visit_group) = 0;

  /// Any enum whose enumerators are 0, 1, 2, ... in the order of `names`.
  template <class Enum>
  void enumeration(std::string_view name, Enum& value, std::span<const std::string_view> names, std::string_view doc) {
    int index = static_cast<int>(value);
    choice(name, index, names, doc);
    value = static_cast<Enum>(index);
  }
  /// A struct with its own fields().
  template <class Group>
  void nested(std::string_view name, Group& value) {
    group(name, [&value](FieldVisitor& f) { value.fields(f); });
  }
};

/// One row of the documentation of a struct.
struct FieldDescription {
  std::string name;  ///< dotted for nested groups
  std::string value;
  std::string unit;
  std::string range;  ///< "0 .. 0.6", "a | b | c", or empty
  std::string doc;
};

namespace detail {
using VisitFields = std::function<void(FieldVisitor&)>;
Status load_fields(const Node& node, std::string_view what, const VisitFields& visit);
Node save_fields(const VisitFields& visit);
Status check_fields(std::string_view what, const VisitFields& visit);
std::vector<FieldDescription> describe_fields(const VisitFields& visit);
}  // namespace detail

/// Sets the fields of `value` that the map `node` gives; the others keep what they have. An unknown key, a value of
/// the wrong kind or out of range is an error that names file, line, key, value and what is allowed. `what` names the
/// group in messages ("pure_pursuit"). On an error `value` is unchanged.
template <class Struct>
Status load_fields(const Node& node, std::string_view what, Struct& value) {
  Struct loaded = value;
  Status status = detail::load_fields(node, what, [&loaded](FieldVisitor& f) { loaded.fields(f); });
  if (status) value = loaded;
  return status;
}

/// All fields as a map that load_fields reads back to the same bits.
template <class Struct>
Node save_fields(const Struct& value) {
  Struct copy = value;
  return detail::save_fields([&copy](FieldVisitor& f) { copy.fields(f); });
}

/// Checks the ranges of a struct that was filled by code.
template <class Struct>
Status check_fields(std::string_view what, const Struct& value) {
  Struct copy = value;
  return detail::check_fields(what, [&copy](FieldVisitor& f) { copy.fields(f); });
}

/// The rows of the documentation table and of --print-config.
template <class Struct>
std::vector<FieldDescription> describe_fields(const Struct& value) {
  Struct copy = value;
  return detail::describe_fields([&copy](FieldVisitor& f) { copy.fields(f); });
}

}  // namespace pitwall

// SPDX-License-Identifier: Apache-2.0
// From the field list of a message struct to its Definition, and so to its schema text and type hash.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ros_messages/definition.hpp"
#include "ros_messages/message.hpp"

namespace pitwall::ros_messages {

/// What a struct lists beside its fields where its .msg has constants: `static constexpr NamedValue kConstants[] = ...`.
struct NamedValue {
  Kind kind;
  std::string_view name;
  std::string_view value;
};

namespace detail {

template <class T>
constexpr Kind kind_of() {
  if constexpr (std::is_same_v<T, bool>) return Kind::kBool;
  if constexpr (std::is_same_v<T, std::byte>) return Kind::kByte;
  if constexpr (std::is_same_v<T, float>) return Kind::kFloat32;
  if constexpr (std::is_same_v<T, double>) return Kind::kFloat64;
  if constexpr (std::is_integral_v<T>) {
    constexpr int kWidth = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 2 : sizeof(T) == 4 ? 4 : 6;
    return static_cast<Kind>(kWidth + (std::is_unsigned_v<T> ? 1 : 0));
  }
  if constexpr (std::is_same_v<T, std::string> || kIsBoundedString<T>) return Kind::kString;
  return Kind::kMessage;
}

/// Collects the types in the order in which they are met, the root first: as parse_definition does.
class Describer {
 public:
  template <class Message>
  std::size_t index_of() {
    const auto same = [](const MessageType& type) { return type.name == Message::kType; };
    const auto at = std::find_if(definition_.types.begin(), definition_.types.end(), same);
    const auto index = static_cast<std::size_t>(at - definition_.types.begin());
    if (at == definition_.types.end()) {
      definition_.types.push_back({std::string(Message::kType), {}, {}});
      fill_.push_back(&Describer::fill<Message>);
    }
    return index;
  }

  template <class Root>
  Definition run() {
    index_of<Root>();
    for (std::size_t i = 0; i < fill_.size(); ++i) (this->*fill_[i])(i);
    return definition_;
  }

 private:
  struct FieldsVisitor {
    Describer& describer;
    std::vector<Field> fields;
    template <class T>
    FieldsVisitor& operator()(std::string_view name, const T& /*value*/) {
      fields.push_back({std::string(name), describer.type_of<T>(), ""});
      return *this;
    }
  };

  template <class T>
  FieldType type_of() {
    FieldType type;
    if constexpr (kIsArray<T> || kIsSequence<T>) {
      type = type_of<typename T::value_type>();
      type.shape = kIsArray<T> ? Shape::kArray : Shape::kSequence;
      if constexpr (kIsArray<T>) type.length = std::tuple_size_v<T>;
    } else {
      type.kind = kind_of<T>();
      if constexpr (kIsBoundedString<T>) type.string_limit = T::kLimit;
      if constexpr (kIsMessage<T>) type.type = index_of<T>();
    }
    return type;
  }

  template <class Message>
  void fill(std::size_t index) {
    FieldsVisitor visitor{*this, {}};
    const Message message;
    Message::fields(message, visitor);
    definition_.types[index].fields = visitor.fields;
    if constexpr (requires { Message::kConstants; }) {
      for (const NamedValue& each : Message::kConstants) {
        FieldType type;
        type.kind = each.kind;
        definition_.types[index].constants.push_back({std::string(each.name), type, std::string(each.value)});
      }
    }
  }

  Definition definition_;
  std::vector<void (Describer::*)(std::size_t)> fill_;
};

}  // namespace detail

/// The definition of a message struct.
template <class Message>
const Definition& describe() {
  static const Definition definition = detail::Describer().run<Message>();
  return definition;
}

}  // namespace pitwall::ros_messages

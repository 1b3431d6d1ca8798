// SPDX-License-Identifier: Apache-2.0
#include "ros_messages/known_types.hpp"

#include <map>

namespace pitwall::ros_messages {

namespace {

const std::map<std::string, const Definition*>& table() {
  static const std::map<std::string, const Definition*> definitions = [] {
    std::map<std::string, const Definition*> made;
    for_each_known_type([&]<class Message>(const Message& /*message*/) { made.emplace(Message::kType, &describe<Message>()); });
    return made;
  }();
  return definitions;
}

}  // namespace

const Definition* known_definition(std::string_view type) {
  const auto at = table().find(full_type_name(type));
  return at == table().end() ? nullptr : at->second;
}

std::vector<std::string> known_types() {
  std::vector<std::string> names;
  for (const auto& [name, definition] : table()) names.push_back(name);
  return names;
}

}  // namespace pitwall::ros_messages

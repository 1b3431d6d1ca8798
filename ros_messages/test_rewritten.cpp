// SPDX-License-Identifier: Apache-2.0
#include "ros_messages/test_rewritten.hpp"

#include <map>

#include "ros_messages/known_types.hpp"

namespace pitwall::ros_messages {
namespace {

template <class Message>
Result<std::string> rewritten_as(std::string_view bytes) {
  const Result<Message> message = read<Message>(bytes);
  if (!message) return message.error();
  return write(*message);
}

}  // namespace

Result<std::string> rewritten(std::string_view type, std::string_view message) {
  using Rewrite = Result<std::string> (*)(std::string_view);
  static const std::map<std::string_view, Rewrite> by_type = [] {
    std::map<std::string_view, Rewrite> made;
    for_each_known_type([&]<class Message>(const Message& /*message*/) { made.emplace(Message::kType, &rewritten_as<Message>); });
    return made;
  }();
  const auto found = by_type.find(full_type_name(type));
  if (found == by_type.end()) return Error{std::string(type) + ": no struct of ours"};
  return found->second(message);
}

}  // namespace pitwall::ros_messages

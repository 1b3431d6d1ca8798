// SPDX-License-Identifier: Apache-2.0
#include "ros_bridge/dds/names.hpp"

#include <algorithm>

#include "ros_messages/known_types.hpp"

namespace pitwall::ros_bridge {
namespace {

constexpr std::string_view kTopicPrefix = "rt";
constexpr std::string_view kModule = "::dds_::";
constexpr std::string_view kHashPrefix = "RIHS01_";
constexpr std::size_t kHashDigits = 64;
constexpr std::size_t kLongestName = 255;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Letters, digits and underscores, not beginning with a digit.
bool is_identifier(std::string_view text) {
  return !text.empty() && !is_digit(text.front()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
}

/// Identifiers, each after a slash.
bool is_absolute_name(std::string_view name) {
  if (name.empty() || name.size() > kLongestName) return false;
  while (!name.empty()) {
    if (name.front() != '/') return false;
    name.remove_prefix(1);
    const std::size_t end = std::min(name.find('/'), name.size());
    if (!is_identifier(name.substr(0, end))) return false;
    name.remove_prefix(end);
  }
  return true;
}

bool is_type(std::string_view type) {
  const std::size_t slash = type.find('/');
  constexpr std::string_view kMiddle = "/msg/";
  return slash != std::string_view::npos && type.substr(slash, kMiddle.size()) == kMiddle && is_identifier(type.substr(0, slash)) &&
         is_identifier(type.substr(slash + kMiddle.size()));
}

bool is_hash(std::string_view hash) {
  const auto is_hex = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); };
  return hash.size() == kHashPrefix.size() + kHashDigits && hash.substr(0, kHashPrefix.size()) == kHashPrefix &&
         std::all_of(hash.begin() + kHashPrefix.size(), hash.end(), is_hex);
}

constexpr std::string_view kNameRule =
    "allowed: parts of letters, digits and '_', none beginning with a digit, each after a '/', 255 characters at most";

}  // namespace

std::string dds_topic(std::string_view ros_topic) { return std::string(kTopicPrefix) + std::string(ros_topic); }

std::string dds_type(std::string_view ros_type) {
  const std::size_t last = ros_type.rfind('/');
  std::string out;
  for (const char c : ros_type.substr(0, last)) c == '/' ? out += "::" : out += c;
  return out + std::string(kModule) + std::string(ros_type.substr(last + 1)) + "_";
}

std::optional<std::string> ros_topic(std::string_view dds_topic) {
  if (dds_topic.substr(0, kTopicPrefix.size()) != kTopicPrefix || !is_absolute_name(dds_topic.substr(kTopicPrefix.size())))
    return std::nullopt;
  return std::string(dds_topic.substr(kTopicPrefix.size()));
}

std::string ros_type(std::string_view dds_type) {
  const std::size_t module = dds_type.find(kModule);
  if (module == std::string_view::npos || dds_type.back() != '_') return std::string(dds_type);
  std::string out;
  for (std::string_view rest = dds_type.substr(0, module); !rest.empty();) {
    const std::size_t end = std::min(rest.find("::"), rest.size());
    out += std::string(rest.substr(0, end)) + "/";
    rest.remove_prefix(std::min(end + 2, rest.size()));
  }
  const std::string_view name = dds_type.substr(module + kModule.size());
  return out + std::string(name.substr(0, name.size() - 1));
}

std::string type_hash_of(const TopicSpec& topic) {
  if (!topic.type_hash.empty()) return topic.type_hash;
  const ros_messages::Definition* definition = ros_messages::known_definition(topic.type);
  return definition == nullptr ? "" : ros_messages::type_hash(*definition);
}

std::string user_data_value(std::string_view user_data, std::string_view key) {
  while (!user_data.empty()) {
    const std::size_t end = std::min(user_data.find(';'), user_data.size());
    const std::string_view entry = user_data.substr(0, end);
    if (entry.substr(0, key.size()) == key && entry.substr(key.size(), 1) == "=") return std::string(entry.substr(key.size() + 1));
    user_data.remove_prefix(std::min(end + 1, user_data.size()));
  }
  return "";
}

Status check_topic(const TopicSpec& topic) {
  if (!is_absolute_name(topic.name)) return Error{"topic '" + topic.name + "'; " + std::string(kNameRule)};
  if (!is_type(topic.type)) return Error{topic.name + ": type '" + topic.type + "'; allowed: package/msg/Name"};
  if (!topic.type_hash.empty() && !is_hash(topic.type_hash)) {
    return Error{topic.name + ": type hash '" + topic.type_hash + "'; allowed: RIHS01_ and 64 hexadecimal digits in lower case"};
  }
  return {};
}

Status check_node(std::string_view full_name) {
  if (is_absolute_name(full_name)) return {};
  return Error{"node '" + std::string(full_name) + "'; " + std::string(kNameRule)};
}

}  // namespace pitwall::ros_bridge

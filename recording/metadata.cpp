// SPDX-License-Identifier: Apache-2.0
#include "recording/metadata.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "core/node.hpp"
#include "core/text.hpp"

namespace pitwall::recording {
namespace {

/// Takes values out of the tree; the first that does not fit is kept as the error.
class Taker {
 public:
  void number(const Node& from, const char* key, std::int64_t& into) {
    const Node* node = from.find(key);
    if (node == nullptr || node->is_null()) return;
    const auto value = node->is_scalar() ? parse_int(node->scalar) : std::nullopt;
    if (value) {
      into = *value;
    } else {
      complain(*node, key, "a whole number");
    }
  }
  void count(const Node& from, const char* key, std::uint64_t& into) {
    std::int64_t value = 0;
    number(from, key, value);
    const Node* node = from.find(key);
    if (value < 0 && node != nullptr) complain(*node, key, "a count of 0 or more");
    into = value < 0 ? 0 : static_cast<std::uint64_t>(value);
  }
  void text(const Node& from, const char* key, std::string& into) {
    const Node* node = from.find(key);
    if (node == nullptr || node->is_null()) return;
    if (node->is_scalar()) {
      into = node->scalar;
    } else {
      complain(*node, key, "a text");
    }
  }
  /// The entry of that key where it is of that kind; null where there is none.
  const Node* part(const Node& from, const char* key, Node::Kind kind) {
    const Node* node = from.find(key);
    if (node == nullptr || node->is_null()) return nullptr;
    if (node->kind == kind) return node;
    complain(*node, key, kind == Node::Kind::kMap ? "a map" : "a list");
    return nullptr;
  }
  void complain(const Node& at, const char* key, const char* expected) {
    if (!error_) error_ = Error{at.where() + ": " + key + " must be " + expected};
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  std::optional<Error> error_;
};

void take_span(Taker& taker, const Node& from, Time& start, Duration& duration) {
  if (const Node* node = taker.part(from, "starting_time", Node::Kind::kMap)) taker.number(*node, "nanoseconds_since_epoch", start.ns);
  if (const Node* node = taker.part(from, "duration", Node::Kind::kMap)) taker.number(*node, "nanoseconds", duration.ns);
}

void take_topic(Taker& taker, const Node& from, BagMetadata& metadata) {
  Topic topic;
  taker.count(from, "message_count", topic.message_count);
  if (const Node* about = taker.part(from, "topic_metadata", Node::Kind::kMap)) {
    taker.text(*about, "name", topic.name);
    taker.text(*about, "type", topic.type);
    taker.text(*about, "serialization_format", topic.encoding);
    taker.text(*about, "type_description_hash", topic.type_hash);
    const Node* qos = about->find("offered_qos_profiles");
    if (qos != nullptr && qos->is_list()) topic.qos = qos->items.empty() ? "" : to_yaml(*qos);
    if (qos != nullptr && qos->is_scalar()) topic.qos = qos->scalar;
  }
  topic.type = normalised_type(topic.type);
  topic.latched = is_transient_local(topic.qos) || topic.name == "/tf_static";
  metadata.topics.push_back(std::move(topic));
}

std::string yaml_text(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += "\\x";
      out += kHex[byte >> 4U];
      out += kHex[byte & 15U];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

/// rmw's numbers and their words.
struct Policy {
  const char* key;
  std::array<std::string_view, 5> words;
};
constexpr std::array<Policy, 4> kPolicies = {
    {{"history", {"system_default", "keep_last", "keep_all", "unknown", ""}},
     {"reliability", {"system_default", "reliable", "best_effort", "unknown", "best_available"}},
     {"durability", {"system_default", "transient_local", "volatile", "unknown", "best_available"}},
     {"liveliness", {"system_default", "automatic", "", "manual_by_topic", "unknown"}}}};

std::string policy_value(const std::string& key, const std::string& value, bool words) {
  for (const Policy& policy : kPolicies) {
    if (key != policy.key) continue;
    for (std::size_t k = 0; k < policy.words.size(); ++k) {
      if (value == policy.words[k] || value == std::to_string(k)) {
        return words && !policy.words[k].empty() ? std::string(policy.words[k]) : std::to_string(k);
      }
    }
  }
  return value;
}

std::string default_profile(bool latched) {
  const std::string endless = "\n    sec: 9223372036\n    nsec: 854775807\n";
  return std::string("- history: 1\n  depth: 10\n  reliability: 1\n  durability: ") + (latched ? "1" : "2") + "\n  deadline:" + endless +
         "  lifespan:" + endless + "  liveliness: 1\n  liveliness_lease_duration:" + endless + "  avoid_ros_namespace_conventions: false\n";
}

/// What needs no quotes: letters, digits, '_', '-' and '.', but not what begins as YAML's own signs do ("-", "---", "...") or is its null.
bool is_plain(std::string_view text) {
  if (text == "null" || text == "Null" || text == "NULL") return false;
  const auto alphanumeric = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  const auto inside = [&](char c) { return alphanumeric(c) || c == '_' || c == '-' || c == '.'; };
  const std::string_view unsigned_text = text.substr(text.starts_with('-') ? 1 : 0);
  return !unsigned_text.empty() && (alphanumeric(unsigned_text[0]) || text[0] == '_') && std::all_of(text.begin(), text.end(), inside);
}

/// The lines of one profile; nothing where it is not of the form that rmw gives it.
std::optional<std::string> profile_lines(const Node& profile, bool words) {
  if (!profile.is_map() || profile.entries.empty()) return std::nullopt;
  std::string out;
  for (const auto& [key, value] : profile.entries) {
    if (!is_plain(key)) return std::nullopt;
    out += (out.empty() ? "- " : "  ") + key + ":";
    if (!value.is_map()) {
      if (!is_plain(value.scalar)) return std::nullopt;
      out += " " + policy_value(key, value.scalar, words) + "\n";
      continue;
    }
    if (value.entries.empty()) return std::nullopt;
    out += "\n";
    for (const auto& [unit, number] : value.entries) {
      if (!is_plain(unit) || !is_plain(number.scalar)) return std::nullopt;
      out += "    " + unit + ": " + number.scalar + "\n";
    }
  }
  return out;
}

std::string qos_as(std::string_view qos, bool latched, bool words) {
  const auto parsed = parse_yaml(trim(qos).empty() ? default_profile(latched) : qos, "qos");
  bool fits = parsed && parsed->is_list() && !parsed->items.empty();
  std::string out;
  for (std::size_t k = 0; fits && k < parsed->items.size(); ++k) {
    const auto lines = profile_lines(parsed->items[k], words);
    fits = lines.has_value();
    if (fits) out += *lines;
  }
  return fits ? out : qos_as("", latched, words);
}

std::string indented(std::string_view text, const std::string& by) {
  std::string out;
  for (const char c : text) {
    if (out.empty() || out.back() == '\n') out += by;
    out += c;
  }
  return out;
}

std::string span_lines(const std::string& by, Time start, Duration duration) {
  return by + "starting_time:\n" + by + "  nanoseconds_since_epoch: " + std::to_string(start.ns) + "\n" + by + "duration:\n" + by +
         "  nanoseconds: " + std::to_string(duration.ns) + "\n";
}

std::string topic_lines(const Topic& topic, int version) {
  std::string out = "    - topic_metadata:\n        name: " + yaml_text(topic.name) + "\n        type: " + yaml_text(topic.type) +
                    "\n        serialization_format: " + yaml_text(topic.encoding) + "\n        offered_qos_profiles:";
  if (version < BagMetadata::kNewest) {
    out += " " + yaml_text(qos_in_numbers(topic.qos, topic.latched)) + "\n";
  } else {
    out += "\n" + indented(qos_in_words(topic.qos, topic.latched), "          ") +
           "        type_description_hash: " + yaml_text(topic.type_hash) + "\n";
  }
  return out + "      message_count: " + std::to_string(topic.message_count) + "\n";
}

}  // namespace

Result<BagMetadata> parse_metadata(std::string_view text, const std::string& name) {
  const auto root = parse_yaml(text, name);
  if (!root) return root.error();
  const Node* node = root->find("rosbag2_bagfile_information");
  if (node == nullptr || !node->is_map()) return Error{name + ": has no rosbag2_bagfile_information"};
  const Node& top = *node;
  Taker taker;
  BagMetadata metadata;
  std::int64_t version = 0;
  taker.number(top, "version", version);
  metadata.version = static_cast<int>(std::clamp<std::int64_t>(version, 0, INT32_MAX));
  taker.text(top, "storage_identifier", metadata.storage);
  take_span(taker, top, metadata.start, metadata.duration);
  taker.count(top, "message_count", metadata.message_count);
  if (const Node* topics = taker.part(top, "topics_with_message_count", Node::Kind::kList)) {
    for (const Node& topic : topics->items) take_topic(taker, topic, metadata);
  }
  taker.text(top, "compression_format", metadata.compression_format);
  taker.text(top, "compression_mode", metadata.compression_mode);
  metadata.compression_mode = to_lower(metadata.compression_mode);
  if (const Node* paths = taker.part(top, "relative_file_paths", Node::Kind::kList)) {
    for (const Node& path : paths->items) metadata.paths.push_back(path.scalar);
  }
  if (const Node* files = taker.part(top, "files", Node::Kind::kList)) {
    for (const Node& file : files->items) {
      FileClaim claim;
      taker.text(file, "path", claim.path);
      take_span(taker, file, claim.start, claim.duration);
      taker.count(file, "message_count", claim.message_count);
      metadata.files.push_back(std::move(claim));
    }
  }
  if (const Node* custom = taker.part(top, "custom_data", Node::Kind::kMap)) {
    for (const auto& [key, value] : custom->entries) metadata.custom_data.emplace_back(key, value.scalar);
  }
  taker.text(top, "ros_distro", metadata.ros_distro);
  if (taker.error()) return *taker.error();
  return metadata;
}

std::string compose_metadata(const BagMetadata& metadata) {
  std::string out = "rosbag2_bagfile_information:\n  version: " + std::to_string(metadata.version) +
                    "\n  storage_identifier: " + yaml_text(metadata.storage) + "\n" + span_lines("  ", metadata.start, metadata.duration) +
                    "  message_count: " + std::to_string(metadata.message_count) + "\n  topics_with_message_count:";
  out += metadata.topics.empty() ? " []\n" : "\n";
  for (const Topic& topic : metadata.topics) out += topic_lines(topic, metadata.version);
  out += "  compression_format: " + yaml_text(metadata.compression_format) +
         "\n  compression_mode: " + yaml_text(metadata.compression_mode) +
         "\n  relative_file_paths:" + (metadata.paths.empty() ? " []\n" : "\n");
  for (const std::string& path : metadata.paths) out += "    - " + yaml_text(path) + "\n";
  out += metadata.files.empty() ? "  files: []\n" : "  files:\n";
  for (const FileClaim& file : metadata.files) {
    out += "    - path: " + yaml_text(file.path) + "\n" + span_lines("      ", file.start, file.duration) +
           "      message_count: " + std::to_string(file.message_count) + "\n";
  }
  if (metadata.version < 6) return out;
  out += metadata.custom_data.empty() ? "  custom_data: ~\n" : "  custom_data:\n";
  for (const auto& [key, value] : metadata.custom_data) out += "    " + yaml_text(key) + ": " + yaml_text(value) + "\n";
  return out + "  ros_distro: " + yaml_text(metadata.ros_distro) + "\n";
}

std::string qos_in_words(std::string_view qos, bool latched) { return qos_as(qos, latched, true); }
std::string qos_in_numbers(std::string_view qos, bool latched) { return qos_as(qos, latched, false); }

}  // namespace pitwall::recording

// SPDX-License-Identifier: Apache-2.0
#include "ros_bridge/qos_text.hpp"

#include "core/node.hpp"
#include "core/text.hpp"

namespace pitwall::ros_bridge {
namespace {

// What of two a value means; neither: as it was. rmw counts from 0, system default.
Status choose(const Node& profile, std::string_view key, std::string_view yes, std::string_view yes_number, std::string_view no,
              std::string_view no_number, bool& out) {
  const Node* value = profile.find(key);
  if (value == nullptr) return {};
  const std::string& text = value->scalar;
  if (text == yes || text == yes_number) {
    out = true;
  } else if (text == no || text == no_number) {
    out = false;
  } else if (text != "unknown" && text != "system_default" && text != "0" && text != "3" && text != "4" && text != "5" &&
             text != "best_available") {
    return Error{value->where() + ": " + std::string(key) + " '" + text + "': " + std::string(yes) + " or " + std::string(no)};
  }
  return {};
}

}  // namespace

std::string to_text(const Qos& qos) {
  return std::string("- history: ") + (qos.depth == 0 ? "keep_all" : "keep_last") + "\n  depth: " + std::to_string(qos.depth) +
         "\n  reliability: " + (qos.reliable ? "reliable" : "best_effort") +
         "\n  durability: " + (qos.transient_local ? "transient_local" : "volatile") + "\n";
}

Result<Qos> parse_qos(std::string_view yaml, const std::string& name) {
  Qos qos = Qos::publish();
  if (trim(yaml).empty()) return qos;
  const Result<Node> node = parse_yaml(yaml, name);
  if (!node) return node.error();
  if (!node->is_list()) return Error{node->where() + ": a list of QoS profiles is wanted"};
  if (node->items.empty()) return qos;
  const Node& profile = node->items.front();
  if (!profile.is_map()) return Error{profile.where() + ": a QoS profile is a map"};
  bool keep_all = false;
  Status status = choose(profile, "history", "keep_all", "2", "keep_last", "1", keep_all);
  if (status) status = choose(profile, "reliability", "reliable", "1", "best_effort", "2", qos.reliable);
  if (status) status = choose(profile, "durability", "transient_local", "1", "volatile", "2", qos.transient_local);
  if (!status) return status.error();
  if (const Node* depth = profile.find("depth")) {
    const auto number = parse_int(depth->scalar);
    if (!number || *number < 0 || *number > 1'000'000) return Error{depth->where() + ": depth '" + depth->scalar + "': 0 to 1000000"};
    if (*number > 0) qos.depth = static_cast<std::uint32_t>(*number);
  }
  if (keep_all) qos.depth = 0;
  return qos;
}

}  // namespace pitwall::ros_bridge

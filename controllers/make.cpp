// SPDX-License-Identifier: Apache-2.0
#include "controllers/make.hpp"

#include <array>

#include "controllers/gap_follow.hpp"
#include "controllers/line_follower.hpp"
#include "controllers/pure_pursuit.hpp"
#include "core/text.hpp"

namespace pitwall::controllers {

namespace {

using MadeController = Result<std::unique_ptr<Controller>>;

struct Entry {
  const char* name;
  MadeController (*make)(const Node& parameters, const CarParameters& car, const LineToFollow* line);
  std::vector<FieldDescription> (*describe)();
  Result<Node> (*complete)(const Node& parameters, std::string_view what);
};

/// Parameters of `what`: the defaults, with what the map gives.
template <class Parameters>
Result<Parameters> load(const Node& node, std::string_view what) {
  Parameters parameters;
  if (node.is_null()) return parameters;
  if (const Status status = load_fields(node, what, parameters); !status) return status.error();
  return parameters;
}

MadeController make_gap_follow(const Node& node, const CarParameters& car, const LineToFollow* /*line*/) {
  const auto parameters = load<GapFollowParameters>(node, "gap_follow");
  if (!parameters) return parameters.error();
  if (const Status status = validate(*parameters, car); !status) return status.error();
  return MadeController(std::make_unique<GapFollow>(*parameters, car));
}

MadeController make_pure_pursuit(const Node& node, const CarParameters& car, const LineToFollow* line) {
  const auto parameters = load<PurePursuitParameters>(node, "pure_pursuit");
  if (!parameters) return parameters.error();
  if (const Status status = validate(*parameters, car, line); !status) return status.error();
  return MadeController(std::make_unique<PurePursuit>(*parameters, car, *line));
}

MadeController make_line_follower(const Node& node, const CarParameters& car, const LineToFollow* line) {
  const auto parameters = load<LineFollowerParameters>(node, "line_follower");
  if (!parameters) return parameters.error();
  if (const Status status = validate(*parameters, car, line); !status) return status.error();
  return MadeController(std::make_unique<LineFollower>(*parameters, car, *line));
}

template <class Parameters>
std::vector<FieldDescription> describe_defaults() {
  return describe_fields(Parameters{});
}

template <class Parameters>
Result<Node> complete(const Node& node, std::string_view what) {
  const auto parameters = load<Parameters>(node, what);
  if (!parameters) return parameters.error();
  return save_fields(*parameters);
}

constexpr std::array kEntries{
    Entry{"gap_follow", make_gap_follow, describe_defaults<GapFollowParameters>, complete<GapFollowParameters>},
    Entry{"line_follower", make_line_follower, describe_defaults<LineFollowerParameters>, complete<LineFollowerParameters>},
    Entry{"pure_pursuit", make_pure_pursuit, describe_defaults<PurePursuitParameters>, complete<PurePursuitParameters>},
};

const Entry* find(const std::string& name) {
  for (const Entry& entry : kEntries) {
    if (name == entry.name) return &entry;
  }
  return nullptr;
}

Error unknown(const std::string& name) {
  const std::vector<std::string> known = names();
  return Error{unknown_name("controller", name, known)};
}

}  // namespace

Result<std::unique_ptr<Controller>> make(const std::string& name, const Node& parameters, const CarParameters& car,
                                         const LineToFollow* line) {
  const Entry* entry = find(name);
  if (entry == nullptr) return unknown(name);
  return entry->make(parameters, car, line);
}

Result<Node> complete_parameters(const std::string& name, const Node& parameters) {
  const Entry* entry = find(name);
  if (entry == nullptr) return unknown(name);
  return entry->complete(parameters, name);
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Entry& entry : kEntries) all.emplace_back(entry.name);
  return all;
}

Result<std::vector<FieldDescription>> describe(const std::string& name) {
  const Entry* entry = find(name);
  if (entry == nullptr) return unknown(name);
  return entry->describe();
}

}  // namespace pitwall::controllers

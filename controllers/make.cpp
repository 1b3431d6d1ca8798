// SPDX-License-Identifier: Apache-2.0
#include "controllers/make.hpp"

#include <array>

#include "controllers/excite.hpp"
#include "controllers/gap_follow.hpp"
#include "controllers/line_controller.hpp"
#include "controllers/line_follower.hpp"
#include "controllers/lqr.hpp"
#include "controllers/map_law.hpp"
#include "controllers/mpc.hpp"
#include "controllers/pure_pursuit.hpp"
#include "controllers/stanley.hpp"
#include "core/log.hpp"
#include "core/text.hpp"

namespace pitwall::controllers {

namespace {

using MadeController = Result<std::unique_ptr<Controller>>;

struct Entry {
  const char* name;
  MadeController (*make)(const char* name, const Node& parameters, const CarParameters& car, const LineToFollow* line);
  std::vector<FieldDescription> (*describe)();
  Result<Node> (*complete)(const Node& parameters, std::string_view what);
  Result<std::unique_ptr<SteeringLaw>> (*make_law)(const char* name, const Node& parameters, const LawSetup& setup) = nullptr;
};

/// Parameters of a steering law together with those that all of them share, in one flat group.
template <class LawParameters>
struct WithLaw {
  LineControllerParameters shared;
  LawParameters law;
  void fields(FieldVisitor& f) {
    shared.fields(f);
    law.fields(f);
  }
};

/// Parameters of `what`: the defaults, with what the map gives.
template <class Parameters>
Result<Parameters> load(const Node& node, std::string_view what) {
  Parameters parameters;
  if (node.is_null()) return parameters;
  if (const Status status = load_fields(node, what, parameters); !status) return status.error();
  return parameters;
}

MadeController make_excite(const char* name, const Node& node, const CarParameters& car, const LineToFollow* /*line*/) {
  const auto parameters = load<ExciteParameters>(node, name);
  if (!parameters) return parameters.error();
  if (const Status status = validate(*parameters, car); !status) return status.error();
  return MadeController(std::make_unique<Excite>(*parameters, car));
}

MadeController make_gap_follow(const char* name, const Node& node, const CarParameters& car, const LineToFollow* /*line*/) {
  const auto parameters = load<GapFollowParameters>(node, name);
  if (!parameters) return parameters.error();
  if (const Status status = validate(*parameters, car); !status) return status.error();
  return MadeController(std::make_unique<GapFollow>(*parameters, car));
}

MadeController make_line_follower(const char* name, const Node& node, const CarParameters& car, const LineToFollow* line) {
  const auto parameters = load<LineFollowerParameters>(node, name);
  if (!parameters) return parameters.error();
  if (const Status status = validate(*parameters, car, line); !status) return status.error();
  return MadeController(std::make_unique<LineFollower>(*parameters, car, *line));
}

/// Says what is left of the delay margin; an error where nothing is.
Status judge_stability(const LineController& controller) {
  const StabilityMargin margin = controller.margin();
  const auto text = [&](const char* verdict) {
    return std::string(controller.name()) + ": delay margin over total delay is " + format_number(margin.value, 3) + " at " +
           format_number(margin.speed_mps, 3) + " m/s, " + format_number(controller.setup().total_delay_s(), 3) + " s of delay and " +
           format_number(1.0 / controller.setup().control_period_s, 3) + " Hz: " + verdict;
  };
  if (margin.value < 1.0) return Error{text("not stable; raise control_rate_hz, lower max_speed_mps or soften the law")};
  if (margin.value < kFairMargin) log::warn(text("little left, 1.5 is sound"));
  return {};
}

template <class Law>
Result<std::unique_ptr<SteeringLaw>> make_bare_law(const char* name, const Node& node, const LawSetup& setup) {
  const auto parameters = load<typename Law::Parameters>(node, name);
  if (!parameters) return parameters.error();
  if (const Status status = validate(*parameters, setup, name); !status) return status.error();
  return std::unique_ptr<SteeringLaw>(std::make_unique<Law>(*parameters, setup));
}

/// The controller around the law called `name`; refused where it is not stable on this car.
template <class Law>
MadeController make_with_law(const char* name, const Node& node, const CarParameters& car, const LineToFollow* line) {
  const auto parameters = load<WithLaw<typename Law::Parameters>>(node, name);
  if (!parameters) return parameters.error();
  if (const Status status = validate(parameters->shared, car, line, name); !status) return status.error();
  Status law_status;
  auto controller =
      std::make_unique<LineController>(name, parameters->shared, car, *line, [&](const LawSetup& setup) -> std::unique_ptr<SteeringLaw> {
        law_status = validate(parameters->law, setup, name);
        return law_status ? std::make_unique<Law>(parameters->law, setup) : nullptr;
      });
  if (!law_status) return law_status.error();
  if (const Status status = judge_stability(*controller); !status) return status.error();
  return MadeController(std::move(controller));
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

template <class Parameters>
constexpr Entry entry(const char* name, decltype(Entry::make) make) {
  return {name, make, describe_defaults<Parameters>, complete<Parameters>, nullptr};
}
template <class Law>
constexpr Entry law_entry(const char* name) {
  Entry law = entry<WithLaw<typename Law::Parameters>>(name, make_with_law<Law>);
  law.make_law = make_bare_law<Law>;
  return law;
}

// Steering laws: one line each.
constexpr std::array kEntries{
    entry<ExciteParameters>("excite", make_excite),
    entry<GapFollowParameters>("gap_follow", make_gap_follow),
    entry<LineFollowerParameters>("line_follower", make_line_follower),
    law_entry<LqrLaw>("lqr"),
    law_entry<MapLaw>("map"),
    law_entry<MpcLaw>("mpc"),
    law_entry<PurePursuitLaw>("pure_pursuit"),
    law_entry<StanleyLaw>("stanley"),
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
  return entry->make(entry->name, parameters, car, line);
}

Result<std::unique_ptr<SteeringLaw>> make_law(const std::string& name, const Node& parameters, const LawSetup& setup) {
  const Entry* entry = find(name);
  if (entry == nullptr || entry->make_law == nullptr) return Error{unknown_name("steering law", name, steering_laws())};
  return entry->make_law(entry->name, parameters, setup);
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

std::vector<std::string> steering_laws() {
  std::vector<std::string> laws;
  for (const Entry& entry : kEntries) {
    if (entry.make_law != nullptr) laws.emplace_back(entry.name);
  }
  return laws;
}

Result<std::vector<FieldDescription>> describe(const std::string& name) {
  const Entry* entry = find(name);
  if (entry == nullptr) return unknown(name);
  return entry->describe();
}

}  // namespace pitwall::controllers

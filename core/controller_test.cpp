// SPDX-License-Identifier: Apache-2.0
#include "core/controller.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace pitwall;

namespace {

constexpr int kReasons = static_cast<int>(Reason::kSteeringLawFailed) + 1;

}  // namespace

TEST_CASE("every reason and layer has a name of its own in snake_case") {
  std::set<std::string_view> names;
  for (int i = 0; i < kReasons; ++i) {
    const std::string_view text = name(static_cast<Reason>(i));
    CHECK(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos);
    names.insert(text);
  }
  CHECK(names.size() == kReasons);
  CHECK(name(Reason::kTtcBrake) == "ttc_brake");
  CHECK(name(Layer::kCommandStage) == "command_stage");
}

TEST_CASE("only the six reasons that drive on are no stops") {
  std::set<std::string_view> moving;
  for (int i = 0; i < kReasons; ++i) {
    if (!is_stop(static_cast<Reason>(i))) moving.insert(name(static_cast<Reason>(i)));
  }
  CHECK(moving == std::set<std::string_view>{"drive", "escape_creep", "avoid", "follow", "overtake", "steering_fallback"});
}

TEST_CASE("a command that nobody filled in stands still and accuses no beam") {
  const Command command;
  CHECK(command.speed_mps == 0.0F);
  CHECK(command.steering_angle_rad == 0.0F);
  CHECK(command.beam == -1);
  CHECK(std::isinf(command.ttc_s));
}
